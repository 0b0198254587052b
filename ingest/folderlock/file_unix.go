//go:build unix

package folderlock

import (
	"errors"
	"os"
	"syscall"
)

// NoFollow is a flag for opening files: a link is not followed.
const NoFollow = syscall.O_NOFOLLOW

// TryFile takes the lock of an open file, which ends when it is closed, or returns [ErrHeld]; another error where the
// file system cannot lock. Taking it again changes its mode.
func TryFile(f *os.File, mode Mode) error { return flock(f, mode, syscall.LOCK_NB) }

// WaitFile returns when it has the lock of a file.
func WaitFile(f *os.File, mode Mode) error { return flock(f, mode, 0) }

func flock(f *os.File, mode Mode, how int) error {
	if how |= syscall.LOCK_EX; mode == Shared {
		how ^= syscall.LOCK_EX | syscall.LOCK_SH
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how); {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrHeld
		case !errors.Is(err, syscall.EINTR):
			return err
		}
	}
}
