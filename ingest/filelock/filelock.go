// Package filelock locks open files between processes: flock on Unix, LockFileEx on Windows.
//
// In: an open file. Out: a lock that ends when the file is closed, also by the end of its process. The package must not
// know what a lock is for, nor whether a folder stands for it.
package filelock

import "errors"

// ErrHeld is returned when another open file has the lock.
var ErrHeld = errors.New("the lock is held")

// Mode says who else may hold the lock at the same time.
type Mode int

// Modes.
const (
	Exclusive Mode = iota // nobody
	Shared                // others that take it shared
)
