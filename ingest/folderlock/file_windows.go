package folderlock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// NoFollow is a flag for opening files: Windows follows links, which ordinary users cannot make.
const NoFollow = 0

// TryFile takes the lock of an open file, which ends when it is closed, or returns [ErrHeld]; another error where it
// cannot be locked, as a folder.
func TryFile(f *os.File, mode Mode) error { return lock(f, mode, windows.LOCKFILE_FAIL_IMMEDIATELY) }

// WaitFile returns when it has the lock of a file.
func WaitFile(f *os.File, mode Mode) error { return lock(f, mode, 0) }

// lock locks one byte that no file has, because locked bytes cannot be read.
func lock(f *os.File, mode Mode, flags uint32) error {
	if mode == Exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrHeld
	}
	return err
}
