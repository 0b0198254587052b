package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ttreport/ttreport/ingest/filelock"
)

// Who may hold a lock beside whom; a lock that is given back, or whose file is closed, is free.
func TestModes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|filelock.NoFollow, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, c := range []struct {
		first, second filelock.Mode
		both          bool
	}{
		{filelock.Exclusive, filelock.Exclusive, false}, {filelock.Exclusive, filelock.Shared, false},
		{filelock.Shared, filelock.Exclusive, false}, {filelock.Shared, filelock.Shared, true},
	} {
		a, b := open(), open()
		if err := filelock.Wait(a, c.first); err != nil {
			t.Fatal(err)
		}
		if err := filelock.Try(b, c.second); (err == nil) != c.both || err != nil && !errors.Is(err, filelock.ErrHeld) {
			t.Errorf("%v after %v: %v", c.second, c.first, err)
		}
		if err := filelock.Release(a); err != nil {
			t.Error(err)
		}
		if err := filelock.Try(b, c.second); err != nil {
			t.Errorf("after it was given back: %v", err)
		}
		_ = b.Close()
		if err := filelock.Try(a, filelock.Exclusive); err != nil {
			t.Errorf("after the file was closed: %v", err)
		}
		_ = a.Close()
	}
}
