package userdir

import (
	"os"
	"path/filepath"
	"testing"
)

// only sets where private folders may be.
func only(t *testing.T, runtime, state, temp string) {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("TMPDIR", temp)
	t.Setenv("HOME", "")
}

func TestPrivate(t *testing.T) {
	t.Run("made with mode 0700", func(t *testing.T) {
		run := t.TempDir()
		only(t, run, "", t.TempDir())
		dir, err := Private()
		info, statErr := os.Stat(dir)
		if err != nil || statErr != nil || dir != filepath.Join(run, "ttreport") || info.Mode().Perm() != 0o700 {
			t.Fatalf("%q, %v, %v", dir, err, statErr)
		}
	})
	t.Run("an open one is closed", func(t *testing.T) {
		run := t.TempDir()
		only(t, run, "", t.TempDir())
		if err := os.Mkdir(filepath.Join(run, "ttreport"), 0o777); err != nil {
			t.Fatal(err)
		}
		dir, err := Private()
		if info, statErr := os.Stat(dir); err != nil || statErr != nil || info.Mode().Perm() != 0o700 {
			t.Fatalf("%q, %v", dir, err)
		}
	})
	t.Run("a link is passed over", func(t *testing.T) {
		run, state, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
		only(t, run, state, t.TempDir())
		if err := os.Symlink(elsewhere, filepath.Join(run, "ttreport")); err != nil {
			t.Fatal(err)
		}
		dir, err := Private()
		if err != nil || !within(dir, state) {
			t.Fatalf("%q, %v", dir, err)
		}
	})
	t.Run("the folder of another user is passed over", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can make one")
		}
		run, state := t.TempDir(), t.TempDir()
		only(t, run, state, t.TempDir())
		if err := os.Chown(run, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		dir, err := Private()
		if err != nil || !within(dir, state) {
			t.Fatalf("%q, %v", dir, err)
		}
	})
	t.Run("nowhere", func(t *testing.T) {
		temp := t.TempDir()
		only(t, "", "", temp)
		for _, dir := range privatePlaces() {
			if err := os.WriteFile(dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if dir, err := Private(); err == nil {
			t.Fatalf("a file was taken for a folder: %s", dir)
		}
	})
}

func within(dir, base string) bool {
	rel, err := filepath.Rel(base, dir)
	return err == nil && filepath.IsLocal(rel)
}
