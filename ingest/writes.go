package ingest

import (
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
)

// writes stores new documents side by side, since most of the time of storing one is waiting for the disk. The result
// is that of storing one after the other: a document of this reading decides about no other run of it, except one of
// the same path, which waits for it.
type writes struct {
	dir     string
	index   *history.Index
	group   errgroup.Group
	pending map[string]bool // paths below dir
	written atomic.Int64
}

// atOnce is how many documents are written at a time.
const atOnce = 8

func newWrites(dir string) *writes {
	w := &writes{dir: dir, index: &history.Index{}, pending: map[string]bool{}}
	w.group.SetLimit(atOnce)
	return w
}

// later stores a run whose document does not exist yet, and reports whether it did so.
func (w *writes) later(r *schema.Run) bool {
	name := history.PathOf(r)
	if _, err := os.Lstat(filepath.Join(w.dir, name)); !os.IsNotExist(err) {
		return false
	}
	w.pending[name] = true
	run := *r
	w.group.Go(func() error {
		if _, err := history.Put(w.dir, run, false); err != nil {
			return cannotWrite(err)
		}
		w.written.Add(1)
		return nil
	})
	return true
}

// finish waits for the document of a path, of all for "".
func (w *writes) finish(name string) error {
	if name != "" && !w.pending[name] || len(w.pending) == 0 {
		return nil
	}
	_, err := w.wait()
	return err
}

// wait waits for all documents, and returns how many were written and the first error.
func (w *writes) wait() (int, error) {
	err := w.group.Wait()
	clear(w.pending)
	return int(w.written.Load()), err
}

// candidates finds documents that may hold measurements of a run.
func (w *writes) candidates(dir string, r *schema.Run) []string { return w.index.Candidates(dir, r) }

// forget looks anew which documents there are, since one is about to change its place.
func (w *writes) forget() { w.index = &history.Index{} }

func cannotWrite(err error) error {
	return &WriteError{err, "history/ cannot be written: see its permissions and the space of the disk"}
}
