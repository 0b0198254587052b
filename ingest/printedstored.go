package ingest

import (
	"math"
	"path"
	"path/filepath"
	"slices"

	"github.com/ttreport/ttreport/ingest/console"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// storedFiles finds stored points by what a tool printed of them: a log that is read by itself, after the folder
// with the tool's file was read, has no time and other bytes. Documents are read when the first log is met.
type storedFiles struct {
	dirs   []string
	points map[string][]storedPoint // by what both must have, rounded as it is printed
	files  map[storedFile]bool
	scores map[storedFile][]float64 // by the name of their task
}

// storedFile is the name of a file with results of a model, as a row of a report names it, or of a task.
type storedFile struct{ model, name string }

type storedPoint struct {
	model string
	point schema.Point
}

// withoutPrinted leaves out of a run what a tool printed, and rows of reports, where history has the numbers of their
// files.
func (f *storedFiles) withoutPrinted(r schema.Run, w *writes) (schema.Run, error) {
	if hasPrinted(&r) {
		if err := w.finish(""); err != nil {
			return r, err
		}
	}
	isStored := func(q schema.Point) bool {
		if !isConsole(q.Source.Format) && !isDerived(q.Source.Format) {
			return false
		}
		f.load()
		raw := q.Conditions[ttis.RawFile]
		return raw != "" && f.files[storedFile{r.Model.Name, path.Base(raw)}] ||
			slices.ContainsFunc(f.points[printedKey(&q)], func(p storedPoint) bool {
				return (p.model == r.Model.Name || p.model == "" || r.Model.Name == "") && printedAgrees(&p.point, &q)
			})
	}
	if slices.ContainsFunc(r.Points, isStored) {
		r.Points = slices.DeleteFunc(slices.Clone(r.Points), isStored)
	}
	if slices.ContainsFunc(r.Scores, func(s schema.Score) bool { return isDerived(s.Source.Format) }) {
		f.load()
		r.Scores = slices.DeleteFunc(slices.Clone(r.Scores), func(s schema.Score) bool {
			x, ok := s.Value.Get()
			return ok && isDerived(s.Source.Format) &&
				slices.ContainsFunc(f.scores[storedFile{r.Model.Name, s.Task}], func(y float64) bool {
					return math.Abs(x-y) <= rounding
				})
		})
	}
	return r, nil
}

// hasPrinted reports that stored documents decide about a part of the run.
func hasPrinted(r *schema.Run) bool {
	return slices.ContainsFunc(r.Points, func(p schema.Point) bool {
		return isConsole(p.Source.Format) || isDerived(p.Source.Format)
	}) || slices.ContainsFunc(r.Scores, func(s schema.Score) bool { return isDerived(s.Source.Format) })
}

// rounding is how much a report's score, in per cent with two decimals, differs from that of the eval.
const rounding = 6e-5

// load reads the documents, once.
func (f *storedFiles) load() {
	if f.points != nil {
		return
	}
	f.points, f.files, f.scores = map[string][]storedPoint{}, map[storedFile]bool{}, map[storedFile][]float64{}
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
			for i := range run.Scores {
				s := &run.Scores[i]
				if x, ok := s.Value.Get(); ok && !isDerived(s.Source.Format) {
					at := storedFile{run.Model.Name, s.Task}
					f.scores[at] = append(f.scores[at], x)
				}
			}
			for i := range run.Points {
				p := &run.Points[i]
				if isConsole(p.Source.Format) || isDerived(p.Source.Format) {
					continue
				}
				f.files[storedFile{run.Model.Name, path.Base(p.Source.Path)}] = true
				if key := printedKey(p); key != "" {
					f.points[key] = append(f.points[key], storedPoint{run.Model.Name, *p})
				}
			}
		}
	}
}

// isDerived reports the format of a report, or of the table that it is made of.
func isDerived(format string) bool { return format == ttis.Statistics || format == ttis.ReportData }

// isConsole reports the format of what a tool printed.
func isConsole(format string) bool { return format == console.Serving || format == console.TRTLLM }
