package ingest

import (
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/duplicate"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// storedFiles finds stored measurements by what a tool printed of them, or a report has: a log that is read by itself,
// after the folder with the tool's file was read, has no time and other bytes. Documents are read when the first such
// result is met.
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

// isSecondHand reports a format of which stored documents may have the numbers at first hand.
func isSecondHand(format string) bool { return isPrinted(format) || isDerived(format) }

// withoutPrinted leaves out of a run what a tool printed, and rows of reports, where history has the numbers of their
// files.
func (f *storedFiles) withoutPrinted(r schema.Run, w *writes) (schema.Run, error) {
	isDerivedScore := func(s schema.Score) bool { return isDerived(s.Source.Format) }
	isPoint := func(p schema.Point) bool { return isSecondHand(p.Source.Format) }
	if !slices.ContainsFunc(r.Points, isPoint) && !slices.ContainsFunc(r.Scores, isDerivedScore) {
		return r, nil
	}
	if err := w.finish(""); err != nil {
		return r, err
	}
	f.load()
	r.Points = slices.DeleteFunc(slices.Clone(r.Points), func(q schema.Point) bool {
		raw := q.Conditions[ttis.RawFile]
		return isPoint(q) && (raw != "" && f.files[storedFile{r.Model.Name, path.Base(raw)}] ||
			slices.ContainsFunc(f.points[duplicate.PrintedKey(&q)], func(p storedPoint) bool {
				return (p.model == r.Model.Name || p.model == "" || r.Model.Name == "") && duplicate.Printed(&p.point, &q)
			}))
	})
	r.Scores = slices.DeleteFunc(slices.Clone(r.Scores), func(s schema.Score) bool {
		x, ok := s.Value.Get()
		isRounded := func(y float64) bool { return math.Abs(x-y) <= 6e-5 } // to per cent with two decimals
		return ok && isDerivedScore(s) && slices.ContainsFunc(f.scores[storedFile{r.Model.Name, s.Task}], isRounded)
	})
	return r, nil
}

// load reads the documents, once.
func (f *storedFiles) load() {
	if f.points != nil {
		return
	}
	f.points, f.files, f.scores = map[string][]storedPoint{}, map[storedFile]bool{}, map[storedFile][]float64{}
	for _, dir := range f.dirs {
		if dir == "" {
			continue
		}
		history.Each(dir, func(_ string, run *schema.Run) { // problems are reported when history is loaded
			model := run.Model.Name
			for i := range run.Scores {
				s := &run.Scores[i]
				if x, ok := s.Value.Get(); ok && !isDerived(s.Source.Format) {
					at := storedFile{model, s.Task}
					f.scores[at] = append(f.scores[at], x)
				}
			}
			for i := range run.Points {
				p := &run.Points[i]
				if isSecondHand(p.Source.Format) {
					continue
				}
				f.files[storedFile{model, path.Base(p.Source.Path)}] = true
				if key := duplicate.PrintedKey(p); key != "" {
					f.points[key] = append(f.points[key], storedPoint{model, *p})
				}
			}
		})
	}
}

// settle keeps a measurement from being in history twice. The same files read again under another identity (a device
// or a release stated later, by a flag or a manifest) give another id. If the new identity only adds to what was
// unknown, and all of the old document was read again, the new document replaces it and keeps its stamped targets.
// Otherwise the old one stays, and its measurements are left out of the run: a flag must not move history from one
// device to another.
//
// Documents in other folders than the first count too, and are never replaced. Those of runs that were read together
// with this one are of other measurements, even of the same file: a table has rows of several devices.
func settle(dirs []string, r schema.Run, b batch) settled {
	s := settled{run: r}
	for i, dir := range dirs {
		for _, name := range b.writes.index.Candidates(dir, &r) {
			old, problem := history.Read(name)
			if name == filepath.Join(dir, history.PathOf(&r)) {
				if clashes, _ := compareIdentity(&old, &r); len(clashes) == 0 {
					continue // its own document, which history.Put updates
				}
			}
			isOther := b.together[old.ID] && old.ID != r.ID || // another model has other measurements
				old.Model.Name != "" && r.Model.Name != "" && old.Model.Name != r.Model.Name
			if problem == nil && !isOther && !onlyCopies(&old) { // a damaged document is reported when history is loaded
				s.settle(name, old, &r, i == 0)
			}
		}
	}
	return s
}

// settled is a run after a comparison with stored documents of the same measurements under other ids.
type settled struct {
	run      schema.Run       // what remains to be stored
	replaces []string         // documents that run contains completely; to be deleted when it is stored
	problems []schema.Problem // measurements that stay in their document
}

// nothingLeft reports whether all of the run is in history already.
func (s *settled) nothingLeft() bool { return len(s.run.Points)+len(s.run.Scores) == 0 }

// settle compares what remains of the run that was read with one document.
func (s *settled) settle(name string, old schema.Run, read *schema.Run, mayReplace bool) {
	left, shared := duplicate.Without(s.run, duplicate.In(&old))
	if shared == 0 {
		return
	}
	clashes, isEqual := compareIdentity(&old, read)
	isWhole := shared == len(old.Points)+len(old.Scores) && knowsMore(read, &old)
	if !mayReplace || !isWhole || len(clashes) > 0 {
		s.run = left
		s.problems = append(s.problems, stays(name, clashes, shared, firstFile(read)))
		return
	}
	if isDerivedID(&old) && isDerivedID(read) && old.Start.Equal(read.Start) && isEqual {
		s.run.ID = old.ID // read from another folder or envelope: the document stays the one it is
		if history.PathOf(&s.run) == history.PathOf(&old) {
			return
		}
	}
	s.run = history.Update(old, s.run)
	s.replaces = append(s.replaces, name)
}

// addsNothing reports that all of a run is in its stored document, and reading it again would not say more: it is a
// part of it, one file of a folder that was read before; or a copy of it in other bytes.
func addsNothing(dir string, r *schema.Run) bool {
	old, ok := history.Peek(dir, r)
	if !ok || !knowsMore(&old, r) {
		return false
	}
	if clashes, _ := compareIdentity(&old, r); len(clashes) > 0 {
		return false
	}
	rest, _ := duplicate.Without(*r, duplicate.In(&old))
	isPart := len(r.Points)+len(r.Scores) < len(old.Points)+len(old.Scores)
	return len(rest.Points)+len(rest.Scores) == 0 && (isPart || !sharesBytes(&old, r) || saysLess(r, &old))
}

// saysLess reports that stored points state more of their workloads than the same points do now: the log or the
// arguments that stated it were beside the file when the folder was read, and the file was read alone now.
func saysLess(now, old *schema.Run) bool {
	stored := map[string]*schema.Point{}
	for i := range old.Points {
		stored[old.Points[i].Source.SHA256] = &old.Points[i]
	}
	less := false
	for i := range now.Points {
		p := &now.Points[i]
		q := stored[p.Source.SHA256]
		if q == nil || !statesAll(q, p) {
			return false
		}
		less = less || !statesAll(p, q)
	}
	return less
}

// statesAll reports that a point states every length, load and condition that the other states.
func statesAll(p, other *schema.Point) bool {
	has := func(mine, theirs *float64) bool { return theirs == nil || mine != nil && *mine == *theirs }
	for name, v := range other.Conditions {
		if p.Conditions[name] != v {
			return false
		}
	}
	k, o := &p.Key, &other.Key
	return has(k.ISL, o.ISL) && has(k.OSL, o.OSL) && has(k.Concurrency, o.Concurrency) && has(k.Rate, o.Rate) &&
		(o.Dataset == "" || k.Dataset == o.Dataset)
}

// sharesBytes reports that two runs have results of the same bytes.
func sharesBytes(a, b *schema.Run) bool {
	hashes := map[string]bool{}
	for i := range a.Points {
		hashes[a.Points[i].Source.SHA256] = true
	}
	for i := range a.Scores {
		hashes[a.Scores[i].Source.SHA256] = true
	}
	return slices.ContainsFunc(b.Points, func(p schema.Point) bool { return hashes[p.Source.SHA256] }) ||
		slices.ContainsFunc(b.Scores, func(s schema.Score) bool { return hashes[s.Source.SHA256] })
}

// isDerivedID reports an id that follows from the results, and is stated by nothing.
func isDerivedID(r *schema.Run) bool {
	return strings.HasPrefix(r.ID, history.Undated) || strings.HasPrefix(r.ID, r.Start.UTC().Format(history.StartInID))
}

// identityFacts are what a later reading may state otherwise of who was measured.
func identityFacts(r *schema.Run) [][2]string {
	return [][2]string{
		{"model", r.Model.Name}, {"device", r.Device.Name}, {"release", r.Release}, {"implementation", r.Impl},
	}
}

// compareIdentity lists where two runs contradict each other, and reports whether they state the same.
func compareIdentity(old, now *schema.Run) (clashes []string, isEqual bool) {
	isEqual = true
	for i, fact := range identityFacts(old) {
		what, was, is := fact[0], fact[1], identityFacts(now)[i][1]
		if was == is || what == "device" && schema.SameDevice(was, is) {
			continue
		}
		if isEqual = false; was != "" && is != "" {
			clashes = append(clashes, fmt.Sprintf("%s %s, now %s", what, was, is))
		}
	}
	return clashes, isEqual
}

// knowsMore reports whether now states everything that old states. The times of files, which earlier versions took, are
// no knowledge.
func knowsMore(now, old *schema.Run) bool {
	is := identityFacts(now)
	for i, was := range identityFacts(old) {
		if was[1] != "" && is[i][1] == "" {
			return false
		}
	}
	return !now.Start.IsZero() || old.Start.IsZero() || old.Provenance["start"].From == schema.FromDerived
}

// firstFile returns a file of the run, for the path of a problem.
func firstFile(r *schema.Run) string {
	for i := range r.Points {
		return r.Points[i].Source.Path
	}
	for i := range r.Scores {
		return r.Scores[i].Source.Path
	}
	return ""
}

// stays returns the problem about measurements that are in a stored document and stay there.
func stays(name string, clashes []string, shared int, path string) schema.Problem {
	p := schema.Problem{
		Severity: schema.SevNote, Path: path, Code: "in-history", Expected: "one identity of a measurement",
		Found: fmt.Sprintf("results that are in history already, %d of them in %s", shared, filepath.ToSlash(name)),
		Used:  "what is stored",
		Hint:  "if the stored identity is the wrong one, delete the document and read all of its files again",
	}
	if len(clashes) > 0 {
		p.Severity, p.Code = schema.SevError, "other-identity"
		p.Found += ": " + strings.Join(clashes, "; ")
	}
	return p
}

// onlyCopies reports that all files of a run are copies of another release's, which has their measurements.
func onlyCopies(r *schema.Run) bool {
	return slices.ContainsFunc(r.Problems, func(p schema.Problem) bool {
		return p.Code == schema.CodeCopy && p.Severity == schema.SevError
	})
}
