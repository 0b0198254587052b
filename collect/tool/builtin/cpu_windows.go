package builtin

import (
	"syscall"
	"time"
)

// cpu returns the processor time of this process so far.
func cpu() time.Duration {
	var begun, ended, kernel, user syscall.Filetime
	self, err := syscall.GetCurrentProcess()
	if err != nil || syscall.GetProcessTimes(self, &begun, &ended, &kernel, &user) != nil {
		return 0
	}
	// Filetime counts in 100 ns; its Nanoseconds are of a date.
	count := func(t syscall.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(100 * (count(kernel) + count(user)))
}
