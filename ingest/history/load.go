package history

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
)

// document is one history file and what the cache knows of it.
type document struct {
	path   string // slash-separated, below the folder
	size   int64
	mtime  int64 // nanoseconds
	sha    string
	cached int // index of its run in the cached columns, or -1
	fresh  int // index in its worker's columns
	worker int
	bad    *schema.Problem
}

// Load reads every document below dir as columns. cache is a file for the next load, or "" for none; a cache that
// cannot be read or written costs time and nothing else. Documents that cannot be read are problems.
func Load(ctx context.Context, dir, cache string) (*Columns, []schema.Problem, error) {
	docs, problems := list(dir)
	old := readCache(cache)
	var stale []*document
	for _, d := range docs {
		if i, ok := old.unchanged(d); ok {
			d.cached, d.sha = i, old.columns.Runs[i].SHA256
			continue
		}
		stale = append(stale, d)
	}
	workers := make([]*scanner, max(1, min(runtime.GOMAXPROCS(0), len(stale))))
	var wg sync.WaitGroup
	for w := range workers {
		workers[w] = newScanner()
		wg.Go(func() {
			for i := w; i < len(stale) && ctx.Err() == nil; i += len(workers) {
				workers[w].read(dir, stale[i], w, old)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	for _, d := range docs {
		if d.bad != nil {
			problems = append(problems, *d.bad)
		}
	}
	if len(stale) == 0 && len(docs) == len(old.columns.Runs) && len(problems) == 0 {
		return old.columns, nil, nil
	}
	cols := merge(docs, old.columns, workers)
	problems = append(problems, uniqueIDs(cols)...)
	if cache != "" && len(problems) == 0 {
		writeCache(cache, docs, cols)
	}
	return cols, problems, nil
}

// list finds the documents, in path order.
func list(dir string) ([]*document, []schema.Problem) {
	var docs []*document
	var problems []schema.Problem
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			if os.IsNotExist(err) && name == dir {
				return nil
			}
			problems = append(problems, schema.Problem{Severity: schema.SevError, Path: filepath.ToSlash(name), Code: "unreadable", Found: err.Error(),
				Expected: "a readable folder", Hint: "check its permissions"})
			return nil
		}
		if e.IsDir() || !strings.HasSuffix(name, ".json") || strings.HasPrefix(e.Name(), ".") {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil // it was there a moment ago: deleted meanwhile
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			rel = name
		}
		docs = append(docs, &document{path: filepath.ToSlash(rel), size: info.Size(), mtime: info.ModTime().UnixNano(), cached: -1, fresh: -1})
		return nil
	})
	if err != nil {
		problems = append(problems, schema.Problem{Severity: schema.SevError, Path: dir, Code: "unreadable", Found: err.Error()})
	}
	sort.Slice(docs, func(i, j int) bool { return docs[i].path < docs[j].path })
	return docs, problems
}

// read hashes a document and parses it unless the cache has the same content.
func (s *scanner) read(dir string, d *document, worker int, old cached) {
	shown := filepath.ToSlash(filepath.Join(dir, d.path))
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(d.path)))
	if err != nil {
		d.bad = &schema.Problem{Severity: schema.SevError, Path: shown, Code: "unreadable", Found: err.Error(), Expected: "a readable document", Hint: "check its permissions"}
		return
	}
	sum := sha256.Sum256(data)
	d.sha = hex.EncodeToString(sum[:])
	if i, ok := old.sameContent(d); ok {
		d.cached = i
		return
	}
	if d.bad = s.document(d.path, d.sha, data); d.bad != nil {
		d.bad.Path = shown
		return
	}
	d.worker, d.fresh = worker, len(s.c.Runs)-1
}

// merge puts the runs of all documents into one set of columns, in path order. Columns of a single source that are in
// order already are used as they are.
func merge(docs []*document, old *Columns, workers []*scanner) *Columns {
	b := newBuilder()
	type batch struct {
		from *Columns
		runs []int
	}
	var now batch
	flush := func() {
		if len(now.runs) > 0 {
			b.appendRuns(now.from, now.runs)
		}
	}
	sourceOf := func(d *document) (*Columns, int) {
		if d.cached >= 0 {
			return old, d.cached
		}
		return workers[d.worker].c, d.fresh
	}
	// Runs of one source are appended together: the mapping of keys and statistics is made once per batch.
	for _, src := range sources(old, workers) {
		now = batch{from: src}
		for _, d := range docs {
			if d.bad != nil {
				continue
			}
			if c, i := sourceOf(d); c == src {
				now.runs = append(now.runs, i)
			}
		}
		flush()
	}
	return b.c
}

func sources(old *Columns, workers []*scanner) []*Columns {
	out := []*Columns{old}
	for _, w := range workers {
		out = append(out, w.c)
	}
	return out
}

// uniqueIDs gives a second run of one id another one, and says so.
func uniqueIDs(c *Columns) []schema.Problem {
	var problems []schema.Problem
	first := map[string]int{}
	for i := range c.Runs {
		h := &c.Runs[i]
		if j, taken := first[h.ID]; taken {
			problems = append(problems, schema.Problem{Severity: schema.SevError, Path: h.Path, Code: "run-id-taken", Found: "run id " + h.ID + ", which " + c.Runs[j].Path + " has already",
				Expected: "one id per run", Used: "both, this one as " + h.ID + "~2", Hint: "delete or rename one of the documents"})
			h.ID += "~2"
		}
		first[h.ID] = i
	}
	return problems
}
