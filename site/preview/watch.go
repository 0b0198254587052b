package preview

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watched is what is watched, and how.
type Watched struct {
	// Roots are folders, watched with everything below them, and files. One that does not exist is waited for; "" is none.
	Roots []string
	// Except is a folder that is never watched, with everything below it: that which changes because of a change.
	Except string
	// Poll looks at sizes and times instead of waiting for events: network file systems send none.
	Poll time.Duration
}

// Editors write a file in several steps, and tools write many files: a change is reported when nothing has changed for
// quiet, or when it has gone on for longest.
const (
	quiet   = 150 * time.Millisecond
	longest = time.Second
)

// Changes calls changed after every change, never two at once, until ctx ends. A change while changed runs is reported
// after it.
func Changes(ctx context.Context, opt Watched, changed func()) error {
	opt.Roots = slices.DeleteFunc(slices.Clone(opt.Roots), func(r string) bool { return r == "" }) // the folder itself
	if opt.Poll > 0 {
		return poll(ctx, opt, changed)
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watching: %w", err)
	}
	defer w.Close()
	t := &watcher{opt: opt, w: w}
	for _, root := range opt.Roots {
		if err := t.root(root); err != nil {
			return err
		}
	}
	return t.run(ctx, changed)
}

type watcher struct {
	opt Watched
	w   *fsnotify.Watcher
}

// root watches a root: the folder that holds it too, since a file is replaced by renaming and a folder may come later.
func (t *watcher) root(name string) error {
	above := filepath.Dir(filepath.Clean(name))
	if err := t.w.Add(above); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("watching %s: %w; --poll looks at it instead", above, err)
	}
	return t.tree(name)
}

// tree watches every folder from one down.
func (t *watcher) tree(name string) error {
	return filepath.WalkDir(name, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // gone meanwhile, or not ours to read
		case !e.IsDir():
			return nil
		case t.except(path):
			return filepath.SkipDir
		}
		if err := t.w.Add(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("watching %s: %w; --poll looks at it instead", path, err)
		}
		return nil
	})
}

func (t *watcher) except(path string) bool {
	return t.opt.Except != "" && within(t.opt.Except, path)
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// ours reports whether a change is of a root: the folders above the roots are watched, and hold other things.
func (t *watcher) ours(path string) bool {
	if t.except(path) || passing(filepath.Base(path)) {
		return false
	}
	for _, root := range t.opt.Roots {
		if within(root, path) {
			return true
		}
	}
	return false
}

// passing reports names that editors and writers use for a moment.
func passing(name string) bool {
	for _, end := range []string{"~", ".swp", ".swx", ".bck", ".tmp", ".DS_Store"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return name == "4913" || strings.HasPrefix(name, ".goutputstream") || strings.HasPrefix(name, ".#") ||
		strings.HasPrefix(name, "#") ||
		strings.HasPrefix(name, ".ttreport-tmp-")
}

func (t *watcher) run(ctx context.Context, changed func()) error {
	pause := time.NewTimer(time.Hour)
	pause.Stop()
	var since time.Time // the first change that is not reported yet
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-t.w.Events:
			if !ok {
				return nil
			}
			if err := t.created(e); err != nil {
				return err
			}
			if e.Op == fsnotify.Chmod || !t.ours(e.Name) {
				continue
			}
		case err, ok := <-t.w.Errors:
			if !ok {
				return nil
			}
			if err := t.overflowed(err); err != nil {
				return err
			}
		case <-pause.C:
			since = time.Time{}
			changed()
			continue
		}
		if since.IsZero() {
			since = time.Now()
		}
		pause.Reset(max(0, min(quiet, longest-time.Since(since))))
	}
}

// created watches a new folder, and what came into it without an event.
func (t *watcher) created(e fsnotify.Event) error {
	if !e.Has(fsnotify.Create) || t.except(e.Name) {
		return nil
	}
	if info, err := os.Lstat(e.Name); err != nil || !info.IsDir() || !t.ours(e.Name) {
		return nil
	}
	return t.tree(e.Name)
}

// overflowed looks at everything again where there were too many events to tell which; any other error stays one.
func (t *watcher) overflowed(err error) error {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		return fmt.Errorf("watching: %w", err)
	}
	for _, root := range t.opt.Roots {
		if err := t.root(root); err != nil {
			return err
		}
	}
	return nil
}

// poll compares sizes and times.
func poll(ctx context.Context, opt Watched, changed func()) error {
	last, reported := opt.state(), true
	tick := time.NewTicker(opt.Poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := opt.state()
		switch {
		case now != last:
			last, reported = now, false
		case !reported: // as it was a moment ago: whoever writes has finished
			reported = true
			changed() // what it does itself is one more change: taking that for known would lose what came meanwhile
		}
	}
}

// state is a hash of the names, sizes and times of everything watched.
func (opt Watched) state() uint64 {
	h := fnv.New64a()
	for _, root := range opt.Roots {
		// what cannot be read is not there
		_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if e.IsDir() && opt.Except != "" && within(opt.Except, path) {
				return filepath.SkipDir
			}
			if info, err := e.Info(); err == nil && !e.IsDir() && !passing(e.Name()) {
				fmt.Fprintf(h, "%s %d %d\n", path, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return h.Sum64()
}
