//go:build unix

package userdir

import (
	"os"
	"syscall"
)

// owner is the user that a file belongs to; -1 where the system does not tell.
func owner(info os.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
