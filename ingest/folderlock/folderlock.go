// Package folderlock keeps processes from writing to one folder, or one file, at a time.
//
// In: a folder and how long to wait, or an open file. Out: a lock that ends with the process that holds it: flock on
// Unix, LockFileEx on Windows. The folder itself is locked, so that no file is left behind and another user's processes
// take part; on a file system that cannot lock a folder, as NFS, a file in a private folder of the user stands for it.
// The package must not know what is in a folder, nor what a lock is for.
package folderlock

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ttreport/ttreport/ingest/userdir"
)

// ErrHeld is returned when another process held the lock for as long as was waited.
var ErrHeld = errors.New("another process is at work there")

// Mode says who else may hold the lock at the same time.
type Mode int

// Modes.
const (
	Exclusive Mode = iota // nobody
	Shared                // others that take it shared
)

// Wait says how long to wait for a lock. Waiting is called once, when the lock is held by another process.
type Wait struct {
	Patience time.Duration
	Waiting  func()
}

// Take takes the lock of a folder, which must exist.
func Take(ctx context.Context, dir string, mode Mode, w Wait) (release func(), err error) {
	const interval = 50 * time.Millisecond // how often the lock of a folder is tried
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	if err = TryFile(f, mode); err != nil && !errors.Is(err, ErrHeld) {
		_ = f.Close() // nothing was written
		if f, err = standIn(dir); err == nil {
			err = TryFile(f, mode)
		}
	}
	deadline := time.Now().Add(w.Patience)
	for said := false; errors.Is(err, ErrHeld) && time.Now().Before(deadline); said = true {
		if !said && w.Waiting != nil {
			w.Waiting()
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(min(interval, time.Until(deadline))):
			err = TryFile(f, mode)
		}
	}
	release = func() { _ = f.Close() } // closing releases; nothing was written
	switch {
	case err == nil:
		return release, nil
	case errors.Is(err, ErrHeld):
		err = fmt.Errorf("%s: %w", dir, err)
	case !errors.Is(err, ctx.Err()):
		err = fmt.Errorf("locking %s: %w", dir, err)
	}
	release()
	return nil, err
}

// standIn opens the file that stands for a folder.
func standIn(dir string) (*os.File, error) {
	private, err := userdir.Private()
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	sum := sha256.Sum256([]byte(abs))
	name := filepath.Join(private, fmt.Sprintf("folder-%x.lock", sum[:8]))
	return os.OpenFile(name, os.O_CREATE|os.O_RDWR|NoFollow, 0o600)
}
