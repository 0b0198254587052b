package sim

import (
	"syscall"
	"time"
)

// nap blocks the thread, which wakes within some 50 µs; time.Sleep would round up to the poller's millisecond.
func nap(d time.Duration) {
	ts := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&ts, nil) // an early wake by a signal shortens one step; the absolute schedule corrects it
}
