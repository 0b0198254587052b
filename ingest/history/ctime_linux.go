package history

import "syscall"

// changeTime is when the system last changed anything about a file, in nanoseconds.
func changeTime(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
