//go:build unix

package collect

import (
	"os"
	"syscall"
)

// linked reports a file that has another name too: its lock would be that of the other.
func linked(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}

// diskIsFull are the errors of a disk without room, or of a user's share of it.
func diskIsFull() []error { return []error{syscall.ENOSPC, syscall.EDQUOT} }
