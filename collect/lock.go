package collect

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/userdir"
)

// ErrBusy is returned when another process on this machine measures the same device or server.
var ErrBusy = errors.New("another process measures there already")

// Lock keeps two collections from measuring one device, or the server at one address, at the same time: each would see
// the other's load as a regression. Locks are files of this machine, not of the workspace, and end with the process
// that holds them. There are two of each: one in a folder of the user, and an empty one in the temporary folder, for
// other users. Nothing is read from the latter; where another user made it unusable, say is told and the collection
// goes on.
func Lock(say func(string), device string, addresses ...string) (release func(), err error) {
	own, err := userdir.Private()
	if err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	var held []*os.File
	release = func() {
		for _, f := range held {
			_ = f.Close() // closing releases
		}
	}
	names := []string{"device " + device}
	for _, a := range addresses { // without credentials: they become parts of file names and of messages
		at := "unknown"
		if u, err := url.Parse(a); err == nil {
			at = cmp.Or(strings.ToLower(u.Host), u.Path) // a path is a name such as "sim"
		}
		if name := "address " + at; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		file := lockName(name)
		f, err := lockOwn(filepath.Join(own, file), name)
		if err == nil {
			held = append(held, f)
			if f, err = lockShared(filepath.Join(os.TempDir(), "ttreport-"+file), name); err == nil {
				held = append(held, f)
			} else if !errors.Is(err, ErrBusy) {
				say(fmt.Sprintf("other users of this machine are not kept from measuring %s: %v", name, err))
				err = nil
			}
		}
		if err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}

// lockName is a file name for a lock. The hash keeps names apart that differ in signs alone.
func lockName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%s-%x.lock", schema.Slug(name), sum[:4])
}

// lockOwn takes a lock in a folder of ours. The process that holds it is noted for the message of others.
func lockOwn(path, name string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|folderlock.NoFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	if err := folderlock.TryFile(f, folderlock.Exclusive); err != nil {
		who, _ := io.ReadAll(io.LimitReader(f, 20)) // for the message alone
		_ = f.Close()
		by := "another process"
		if pid, err := strconv.Atoi(strings.TrimSpace(string(who))); err == nil {
			by = fmt.Sprintf("process %d", pid)
		}
		return nil, fmt.Errorf("%w: %s is held by %s", ErrBusy, name, by)
	}
	_ = f.Truncate(0) // the note is for people
	_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return f, nil
}

// lockShared takes a lock that all users share. It is opened for reading, which is enough to lock it, and never
// written to; a link, or anything but an empty file, is another user's trap.
func lockShared(path, name string) (*os.File, error) {
	const how = os.O_RDONLY | folderlock.NoFollow | syscall.O_NONBLOCK
	f, err := os.OpenFile(path, how, 0)
	if errors.Is(err, os.ErrNotExist) {
		if f, err = os.OpenFile(path, how|os.O_CREATE|os.O_EXCL, 0o644); err == nil {
			_ = f.Chmod(0o644) // for others to open it whatever the umask
		} else if errors.Is(err, os.ErrExist) { // made by another one meanwhile
			f, err = os.OpenFile(path, how, 0)
		}
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > 0 || linked(info) {
		_ = f.Close()
		return nil, fmt.Errorf("%s is not an empty file with one name", path)
	}
	if err := folderlock.TryFile(f, folderlock.Exclusive); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%w: %s is held by another user (%s)", ErrBusy, name, path)
	}
	return f, nil
}
