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
var ErrBusy = errors.New("another process is measuring there")

// AllAccelerators are those of this machine that nothing divides among its servers.
const AllAccelerators = "all"

// Accelerators are those of this machine that a server gets which is started here: those that are named for it, else
// those of a job of Slurm or of the environment, else all.
func Accelerators(named string) []string {
	for _, list := range []string{
		named, os.Getenv("SLURM_STEP_GPUS"), os.Getenv("SLURM_JOB_GPUS"), os.Getenv("TT_VISIBLE_DEVICES"),
		os.Getenv("CUDA_VISIBLE_DEVICES"), os.Getenv("HIP_VISIBLE_DEVICES"), os.Getenv("ROCR_VISIBLE_DEVICES"),
	} {
		if list != "" {
			return slices.Compact(slices.Sorted(strings.SplitSeq(strings.ReplaceAll(list, " ", ""), ",")))
		}
	}
	return []string{AllAccelerators}
}

// lock is a name that one process holds, or several where each shares it.
type lock struct {
	name string
	mode folderlock.Mode
}

// Lock keeps two collections from measuring the server at one address at the same time, or two servers that are started
// here on one accelerator: each would see the other's load as a regression. A server that runs already is its address
// alone, whatever its device is called: a host has several. Locks are files of this machine, not of the workspace, and
// end with the process that holds them. There are two of each: one in a folder of the user, and an empty one in the
// temporary folder, for other users. Nothing is read from the latter; where another user made it unusable, say is told
// and the collection goes on.
func Lock(say func(string), accelerators []string, addresses ...string) (release func(), err error) {
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
	var locks []lock
	if len(accelerators) > 0 { // who has some of them shares the name of all
		all := lock{"accelerators", folderlock.Shared}
		for _, one := range slices.Compact(slices.Sorted(slices.Values(accelerators))) { // two servers may share them
			if one == AllAccelerators {
				all.mode = folderlock.Exclusive
			} else {
				locks = append(locks, lock{"accelerator " + one, folderlock.Exclusive})
			}
		}
		locks = append(locks, all)
	}
	for _, a := range addresses { // without credentials: they become parts of file names and of messages
		at := "unknown"
		if u, err := url.Parse(a); err == nil {
			at = cmp.Or(strings.ToLower(u.Host), u.Path) // a path is a name such as "sim"
		}
		if l := (lock{"address " + at, folderlock.Exclusive}); !slices.Contains(locks, l) {
			locks = append(locks, l)
		}
	}
	for _, l := range locks {
		file := lockName(l.name)
		f, err := l.own(filepath.Join(own, file))
		if err == nil {
			held = append(held, f)
			if f, err = l.shared(filepath.Join(os.TempDir(), "ttreport-"+file)); err == nil {
				held = append(held, f)
			} else if !errors.Is(err, ErrBusy) {
				say(fmt.Sprintf("other users of this machine can measure %s at the same time: %v", l.name, err))
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

// own takes a lock in a folder of ours. The process that holds it is noted for the message of others.
func (l lock) own(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|folderlock.NoFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locks: %w", err)
	}
	if err := folderlock.TryFile(f, l.mode); err != nil {
		who, _ := io.ReadAll(io.LimitReader(f, 20)) // for the message alone
		_ = f.Close()
		by := "another process"
		if pid, err := strconv.Atoi(strings.TrimSpace(string(who))); err == nil {
			by = fmt.Sprintf("process %d", pid)
		}
		return nil, fmt.Errorf("%w: %s is held by %s", ErrBusy, l.name, by)
	}
	_ = f.Truncate(0) // the note is for people
	_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return f, nil
}

// shared takes a lock that all users share. It is opened for reading, which is enough to lock it, and never
// written to; a link, or anything but an empty file, is another user's trap.
func (l lock) shared(path string) (*os.File, error) {
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
	if err := folderlock.TryFile(f, l.mode); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%w: %s is held by another user, or by another job (%s)", ErrBusy, l.name, path)
	}
	return f, nil
}
