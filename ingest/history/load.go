package history

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// document is one history file and its entry in the cache.
type document struct {
	path   string // slash-separated, with its folder
	folder *rootfs.Folder
	rel    string // within the folder
	stat   fileStat
	sha    string
	cached int // index of its run in the cached columns, or -1
	fresh  int // index in its worker's columns
	worker int
	bad    *schema.Problem
}

// Load reads every document below some folders as columns; where two folders have a document of one name, the later
// one's counts. cache is a file for the next load, or "" for none, in a folder that nobody else can write to: what it
// says of a document that did not change is believed. A cache that cannot be read or written costs time and nothing
// else. Documents that cannot be read are problems.
func Load(ctx context.Context, cache string, dirs ...string) (*columns.Columns, []schema.Problem, error) {
	began := time.Now()
	var old cached
	var reading sync.WaitGroup
	reading.Go(func() { old = readCache(cache) })
	docs, problems := list(dirs)
	reading.Wait()
	var stale []*document
	for _, d := range docs {
		if i, ok := old.unchanged(d); ok {
			d.cached, d.sha = i, old.columns.Runs[i].SHA256
			continue
		}
		stale = append(stale, d)
	}
	workers := make([]*scanner, max(1, min(runtime.GOMAXPROCS(0), len(stale))))
	group, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		workers[w] = newScanner()
		group.Go(func() error {
			for i := w; i < len(stale) && ctx.Err() == nil; i += len(workers) {
				workers[w].read(stale[i], w, old)
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	for _, d := range docs {
		if d.bad != nil {
			d.bad.Lost = true
			problems = append(problems, *d.bad)
		}
	}
	if len(stale) == 0 && len(docs) == len(old.columns.Runs) {
		return old.columns, append(problems, uniqueIDs(old.columns)...), nil
	}
	cols := merge(docs, old.columns, workers)
	if slices.Contains(cols.Stats, columns.TooManyStats()) {
		problems = append(problems, tooManyStats(dirs[0]))
	} else if cache != "" && old.tells(docs, cols) {
		writeCache(cache, began, docs, cols)
	}
	return cols, append(problems, uniqueIDs(cols)...), nil // ids are those of the documents in the cache
}

func tooManyStats(dir string) schema.Problem {
	return schema.Problem{
		Severity: schema.SevError, Path: filepath.ToSlash(dir), Code: "too-many-statistics",
		Found:    "more than 65,535 distinct statistics in one history",
		Expected: "some hundreds", Used: "the first of them",
		Hint: "a tool writes names of metrics or percentiles that never repeat; leave its documents out",
	}
}

// read hashes a document and parses it unless the cache has the same content.
func (s *scanner) read(d *document, worker int, old cached) {
	data, err := d.folder.Read(d.rel, mostDocument)
	if err != nil {
		d.bad = unreadable(d.path, err)
		return
	}
	sum := sha256.Sum256(data)
	d.sha = hex.EncodeToString(sum[:])
	if i, ok := old.sameContent(d); ok {
		d.cached = i
		return
	}
	if d.bad = s.document(d.path, d.sha, data); d.bad != nil {
		return
	}
	d.worker, d.fresh = worker, len(s.C.Runs)-1
}

// merge puts the runs of all documents into one set of columns. Their order is not deterministic; readers sort them
// by content.
func merge(docs []*document, old *columns.Columns, workers []*scanner) *columns.Columns {
	b := columns.NewBuilder()
	sourceOf := func(d *document) (*columns.Columns, int) {
		if d.cached >= 0 {
			return old, d.cached
		}
		return workers[d.worker].C, d.fresh
	}
	// Runs of one source are appended together: the mapping of keys and statistics is made once per batch.
	runs := map[*columns.Columns][]int{}
	for _, d := range docs {
		if d.bad == nil {
			src, i := sourceOf(d)
			runs[src] = append(runs[src], i)
		}
	}
	points, values := 0, 0
	for src, list := range runs {
		p, v := src.Size(list)
		points, values = points+p, values+v
	}
	b.Reserve(points, values)
	for _, src := range sources(old, workers) {
		b.AppendRuns(src, runs[src])
	}
	return b.Seal()
}

func sources(old *columns.Columns, workers []*scanner) []*columns.Columns {
	out := []*columns.Columns{old}
	for _, w := range workers {
		out = append(out, w.C)
	}
	return out
}

// uniqueIDs gives a second run with the same id another id and reports it. The first by path keeps its id.
func uniqueIDs(c *columns.Columns) []schema.Problem {
	var problems []schema.Problem
	first := map[string]int{}
	for _, i := range c.ByPath() {
		h := &c.Runs[i]
		if j, taken := first[h.ID]; taken {
			problems = append(problems, schema.Problem{
				Severity: schema.SevError, Path: h.Path, Code: "run-id-taken",
				Found:    "run id " + h.ID + ", which " + c.Runs[j].Path + " has already",
				Expected: "one id per run", Used: "both, this one under another id",
				Hint: "delete or rename one of the documents",
			})
			h.Stated = h.ID
			for n := 2; taken; n++ {
				h.ID = fmt.Sprintf("%s~%d", h.Stated, n)
				_, taken = first[h.ID]
			}
		}
		first[h.ID] = i
	}
	return problems
}
