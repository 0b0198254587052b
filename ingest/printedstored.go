package ingest

import (
	"path/filepath"
	"slices"

	"github.com/ttreport/ttreport/ingest/console"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
)

// storedFiles finds stored points by what a tool printed of them: a log that is read by itself, after the folder with the
// tool's file was read, has no time and other bytes. Documents are read when the first log is met.
type storedFiles struct {
	dirs   []string
	points map[string][]storedPoint // by what both must have, rounded as it is printed
}

type storedPoint struct {
	model string
	point schema.Point
}

// withoutPrinted leaves out of a run what a tool printed where history has the numbers of its file.
func (f *storedFiles) withoutPrinted(r schema.Run) schema.Run {
	isStored := func(q schema.Point) bool {
		if !isConsole(q.Source.Format) {
			return false
		}
		f.load()
		return slices.ContainsFunc(f.points[printedKey(&q)], func(p storedPoint) bool {
			return (p.model == r.Model.Name || p.model == "" || r.Model.Name == "") && printedAgrees(&p.point, &q)
		})
	}
	if slices.ContainsFunc(r.Points, isStored) {
		r.Points = slices.DeleteFunc(slices.Clone(r.Points), isStored)
	}
	return r
}

// load reads the documents, once.
func (f *storedFiles) load() {
	if f.points != nil {
		return
	}
	f.points = map[string][]storedPoint{}
	for _, dir := range f.dirs {
		names, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.json"))
		if err != nil || dir == "" {
			continue // a malformed pattern is the only error
		}
		for _, name := range names {
			run, problem := history.Read(name)
			if problem != nil {
				continue // it is reported when history is loaded
			}
			for i := range run.Points {
				p := &run.Points[i]
				if key := printedKey(p); key != "" && !isConsole(p.Source.Format) {
					f.points[key] = append(f.points[key], storedPoint{run.Model.Name, *p})
				}
			}
		}
	}
}

// isConsole reports the format of what a tool printed.
func isConsole(format string) bool { return format == console.Serving || format == console.TRTLLM }
