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

// writable reports that others may change what is in a folder.
func writable(dir os.FileInfo) bool { return dir.Mode().Perm()&0o022 != 0 }

// readable reports that others may look into a folder, or change it.
func readable(dir os.FileInfo) bool { return dir.Mode().Perm()&0o077 != 0 }
