package collect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ttreport/ttreport/ingest/schema"
)

// errBusy is returned when another process on this machine measures the same device or server.
var errBusy = errors.New("another process measures there already")

// Lock keeps two collections from measuring one device, or one address, at the same time: each would measure the
// other's load as a regression. The lock is a file of this machine, not of the workspace, and ends with the process
// that holds it.
func Lock(names ...string) (release func(), err error) {
	dir := filepath.Join(os.TempDir(), "ttreport-locks")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	var held []*os.File
	release = func() {
		for _, f := range held {
			_ = f.Close() // closing releases
		}
	}
	for _, name := range names {
		f, err := os.OpenFile(filepath.Join(dir, schema.Slug(name)+".lock"), os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			release()
			return nil, fmt.Errorf("locks: %w", err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			who, _ := io.ReadAll(io.LimitReader(f, 100)) // for the message only
			_ = f.Close()
			release()
			return nil, fmt.Errorf("%w: %s is held by process %s", errBusy, name, strings.TrimSpace(string(who)))
		}
		_ = f.Truncate(0) // the note is for people
		_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
		held = append(held, f)
	}
	return release, nil
}
