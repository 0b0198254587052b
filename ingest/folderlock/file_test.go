package folderlock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ttreport/ttreport/ingest/folderlock"
)

// Which modes of one file exclude each other; a lock whose file is closed is free.
func TestFileModes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|folderlock.NoFollow, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, c := range []struct {
		first, second folderlock.Mode
		both          bool
	}{
		{folderlock.Exclusive, folderlock.Exclusive, false}, {folderlock.Exclusive, folderlock.Shared, false},
		{folderlock.Shared, folderlock.Exclusive, false}, {folderlock.Shared, folderlock.Shared, true},
	} {
		a, b := open(), open()
		if err := folderlock.WaitFile(a, c.first); err != nil {
			t.Fatal(err)
		}
		err := folderlock.TryFile(b, c.second)
		if (err == nil) != c.both || err != nil && !errors.Is(err, folderlock.ErrHeld) {
			t.Errorf("%v after %v: %v", c.second, c.first, err)
		}
		_ = a.Close()
		if err := folderlock.TryFile(b, c.second); err != nil {
			t.Errorf("after the other file was closed: %v", err)
		}
		_ = b.Close()
	}
}
