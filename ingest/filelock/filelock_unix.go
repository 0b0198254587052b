//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// NoFollow is a flag for opening files: a link is not followed.
const NoFollow = syscall.O_NOFOLLOW

// Try takes the lock of a file, or returns [ErrHeld]; another error where the file system cannot lock.
func Try(f *os.File, mode Mode) error {
	err := flock(f, mode, syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrHeld
	}
	return err
}

// Wait returns when it has the lock of a file.
func Wait(f *os.File, mode Mode) error { return flock(f, mode, 0) }

// Release gives the lock back without closing the file.
func Release(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

func flock(f *os.File, mode Mode, more int) error {
	how := syscall.LOCK_EX | more
	if mode == Shared {
		how = syscall.LOCK_SH | more
	}
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
