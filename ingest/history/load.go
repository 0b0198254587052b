package history

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Load reads every document below some folders as columns; where two folders have a document of one name, the later
// one's counts. The order of the runs is not deterministic: readers sort them by content. Documents that cannot be read
// are problems.
func Load(ctx context.Context, dirs ...string) (*columns.Columns, []schema.Problem, error) {
	docs, problems := list(dirs)
	bad := make([]*schema.Problem, len(docs))
	b := columns.NewBuilder()
	var building sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error {
			decoder, room := newDecoder(), []byte(nil)
			decoder.points = []schema.Point{} // columns keep none
			for i := next.Add(1) - 1; i < int64(len(docs)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				data, problem := docs[i].read(room)
				var r schema.Run
				if problem == nil {
					room = data
					r, problem = decoder.document(docs[i].path, data)
				}
				if bad[i] = problem; problem == nil {
					sum := fmt.Sprintf("%x", sha256.Sum256(data)) // while others add
					building.Lock()
					b.Add(&r, docs[i].path, sum)
					building.Unlock()
				}
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	for _, p := range slices.DeleteFunc(bad, func(p *schema.Problem) bool { return p == nil }) {
		p.Lost = true
		problems = append(problems, *p)
	}
	c := b.Seal()
	if slices.Contains(c.Stats, columns.TooManyStats()) {
		problems = append(problems, schema.Problem{
			Severity: schema.SevError, Path: filepath.ToSlash(dirs[0]), Code: "too-many-statistics",
			Found:    "more than 65,535 distinct statistics in one history",
			Expected: "some hundreds", Used: "the first of them",
			Hint: "a tool writes names of metrics or percentiles that never repeat; leave its documents out",
		})
	}
	return c, append(problems, uniqueIDs(c)...), nil
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
