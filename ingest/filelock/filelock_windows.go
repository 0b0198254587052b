package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// NoFollow is a flag for opening files: Windows follows links, which ordinary users cannot make.
const NoFollow = 0

// Try takes the lock of a file, or returns [ErrHeld]; another error where it cannot be locked, as a folder.
func Try(f *os.File, mode Mode) error {
	err := lock(f, mode, windows.LOCKFILE_FAIL_IMMEDIATELY)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrHeld
	}
	return err
}

// Wait returns when it has the lock of a file.
func Wait(f *os.File, mode Mode) error { return lock(f, mode, 0) }

// Release gives the lock back without closing the file.
func Release(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, place())
}

func lock(f *os.File, mode Mode, flags uint32) error {
	if mode == Exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, place())
}

// place is the byte that is locked: one that no file has, because locked bytes cannot be read.
func place() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }
