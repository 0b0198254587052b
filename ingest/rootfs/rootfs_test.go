//go:build unix

package rootfs

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// hostile is a folder with everything that a fork could commit, or a shared folder could hold.
func hostile(t *testing.T) string {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "ws")
	ln, listenErr := net.Listen("unix", filepath.Join(top, "s"))
	if listenErr != nil {
		t.Fatal(listenErr)
	}
	t.Cleanup(func() { _ = ln.Close() })
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "sub"), 0o777),
		os.WriteFile(filepath.Join(top, "secret"), []byte("secret"), 0o600),
		os.WriteFile(filepath.Join(dir, "plain"), []byte("plain"), 0o600),
		os.WriteFile(filepath.Join(dir, "large"), make([]byte, 101), 0o600),
		os.Truncate(filepath.Join(dir, "large"), 1<<40), // no block of it is on the disk
		os.Symlink("../secret", filepath.Join(dir, "out")),
		os.Symlink("../../secret", filepath.Join(dir, "sub", "out")),
		os.Symlink("/proc/self/environ", filepath.Join(dir, "environ")),
		os.Symlink("out", filepath.Join(dir, "chain")),
		os.Symlink("..", filepath.Join(dir, "above")),
		os.Symlink("loop", filepath.Join(dir, "loop")),
		os.Symlink("plain", filepath.Join(dir, "inside")),
		os.Symlink("sub/../plain", filepath.Join(dir, "inside2")),
		os.Symlink(filepath.Join(dir, "plain"), filepath.Join(dir, "sub", "absolute")),
		os.Symlink(filepath.Join(dir, "out"), filepath.Join(dir, "absolute-out")),
		os.Symlink("/dev/zero", filepath.Join(dir, "zero")),
		os.Rename(filepath.Join(top, "s"), filepath.Join(dir, "socket")),
		syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// readBelow opens a folder, reads one file of it and closes it.
func readBelow(dir, name string, most int64) ([]byte, error) {
	f, err := Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.root.Close()
	return f.Read(filepath.ToSlash(filepath.Clean(name)), most)
}

// Nothing waits for the other end of a pipe, or reads what never ends.
func TestFolderRefuses(t *testing.T) {
	waits := time.AfterFunc(time.Minute, func() { panic("something is read that never ends") })
	defer waits.Stop()
	dir := hostile(t)
	for name, want := range map[string]error{
		"plain": nil, "inside": nil, "inside2": nil, "out": ErrLeadsOut, "sub/out": ErrLeadsOut, "sub/absolute": nil,
		"absolute-out": ErrLeadsOut, "environ": ErrLeadsOut,
		"chain": ErrLeadsOut, "above/secret": ErrLeadsOut, "zero": ErrLeadsOut, "../secret": fs.ErrInvalid,
		"/etc/passwd": fs.ErrInvalid, "loop": syscall.ELOOP, "fifo": ErrNotRegular, "socket": ErrNotRegular,
		"sub": ErrNotRegular, "large": ErrTooLarge, "none": fs.ErrNotExist,
	} {
		data, err := readBelow(dir, name, 100)
		if want == nil && (err != nil || string(data) != "plain") || want != nil && (!errors.Is(err, want) || len(data) > 0) {
			if !(name == "../secret" && errors.Is(err, ErrLeadsOut)) {
				t.Errorf("%s: %q, %v", name, data, err)
			}
		}
	}
}

func TestReadFileOfTheUser(t *testing.T) {
	dir := hostile(t)
	if data, err := ReadFile(filepath.Join(dir, "out"), 100); err != nil || string(data) != "secret" {
		t.Errorf("a link that the user named: %q, %v", data, err)
	}
	for name, want := range map[string]error{"fifo": ErrNotRegular, "zero": ErrNotRegular, "sub": ErrNotRegular,
		"large": ErrTooLarge} {
		if _, err := ReadFile(filepath.Join(dir, name), 100); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTrustedName(t *testing.T) {
	dir := hostile(t)
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	f.Trust("out", filepath.Join(dir, "out"))
	if data, err := f.Read("out", 100); err != nil || string(data) != "secret" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := f.Read("chain", 100); !errors.Is(err, ErrLeadsOut) {
		t.Errorf("another name: %v", err)
	}
}
