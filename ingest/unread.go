package ingest

import (
	"maps"
	"path"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// mostUnread is how many runs of a folder are told of a file in it that could not be read: in a folder of hundreds
// nobody knows whose it was.
const mostUnread = 16

// tellOfUnread gives runs the errors of files in their folders from which nothing was read. The next build may not see
// these files, and what the run lacks would have no cause.
func (g *grouping) tellOfUnread(sources []*source) {
	unread := map[string][]schema.Problem{} // by folder
	for _, src := range sources {
		if n := src.measured(); n.points+n.scores > 0 {
			continue
		}
		for _, p := range src.reading.Problems {
			if p.Severity == schema.SevError {
				p.Code = schema.CodeUnread
				unread[path.Dir(src.shown())] = append(unread[path.Dir(src.shown())], p)
			}
		}
	}
	if len(unread) == 0 {
		return
	}
	runs := map[string]map[string]bool{} // ids by folder
	for src, id := range g.runOf {
		at := path.Dir(src.shown())
		if runs[at] == nil {
			runs[at] = map[string]bool{}
		}
		runs[at][id] = true
	}
	for i := range g.runs {
		run := &g.runs[i]
		for _, at := range slices.Sorted(maps.Keys(unread)) { // the same order each time
			if runs[at][run.ID] && len(runs[at]) <= mostUnread {
				run.Problems = append(run.Problems, unread[at]...)
			}
		}
	}
}
