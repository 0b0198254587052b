package history

import (
	"io/fs"
	"syscall"
)

// changeOf is when the system last changed anything about a file, in nanoseconds, and the file's number; 0 for unknown.
func changeOf(info fs.FileInfo) (ctime int64, inode uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano(), st.Ino
	}
	return 0, 0
}
