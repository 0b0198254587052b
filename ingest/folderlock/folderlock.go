// Package folderlock keeps processes from writing to one folder at a time.
//
// In: a folder, and how long to wait. Out: a lock that ends with the process that holds it. The folder itself is locked
// (flock), so that no file is left behind and another user's processes take part; on a file system that cannot lock a
// folder, as NFS, a file in a private folder of the user stands for it. The package must not know what is in a folder.
package folderlock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ttreport/ttreport/ingest/filelock"
	"github.com/ttreport/ttreport/ingest/userdir"
)

// ErrHeld is returned when another process held the lock for as long as was waited.
var ErrHeld = errors.New("another process is at work there")

// Mode says who else may hold the lock at the same time.
type Mode = filelock.Mode

// Modes.
const (
	Exclusive = filelock.Exclusive
	Shared    = filelock.Shared
)

// interval is how often a lock is tried.
const interval = 50 * time.Millisecond

// Wait says how long to wait for a lock. Waiting is called once, when the lock is held by another process.
type Wait struct {
	Patience time.Duration
	Waiting  func()
}

// Take takes the lock of a folder, which must exist.
func Take(ctx context.Context, dir string, mode Mode, w Wait) (release func(), err error) {
	f, err := open(dir)
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	deadline, said := time.Now().Add(w.Patience), false
	for {
		err := filelock.Try(f, mode)
		switch {
		case err == nil:
			return func() { _ = f.Close() }, nil // closing releases
		case !errors.Is(err, filelock.ErrHeld):
			_ = f.Close() // nothing was written
			return nil, fmt.Errorf("locking %s: %w", dir, err)
		case !time.Now().Before(deadline):
			_ = f.Close() // nothing was written
			return nil, fmt.Errorf("%s: %w", dir, ErrHeld)
		}
		if !said && w.Waiting != nil {
			w.Waiting()
		}
		said = true
		select {
		case <-ctx.Done():
			_ = f.Close() // nothing was written
			return nil, ctx.Err()
		case <-time.After(min(interval, time.Until(deadline))):
		}
	}
}

// open opens what is locked: the folder, or a file that stands for it.
func open(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = filelock.Try(f, Shared)
	if err == nil {
		_ = filelock.Release(f) // it is taken as the caller wants it
	}
	if err == nil || errors.Is(err, filelock.ErrHeld) {
		return f, nil
	}
	_ = f.Close() // nothing was written
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
	name := filepath.Join(private, "folder-"+hex.EncodeToString(sum[:8])+".lock")
	return os.OpenFile(name, os.O_CREATE|os.O_RDWR|filelock.NoFollow, 0o600)
}
