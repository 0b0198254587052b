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

// storedFiles finds stored measurements by what a tool printed of them, or a report has of them: a log that is read by
// itself, after the folder with the tool's file was read, has no time and other bytes. Documents are read when the first
// such result is met.
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
		return ok && isDerivedScore(s) && slices.ContainsFunc(f.scores[storedFile{r.Model.Name, s.Task}], func(y float64) bool {
			return math.Abs(x-y) <= 6e-5 // a report's score is in per cent with two decimals
		})
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

// settled is a run after a comparison with stored documents of the same measurements under other ids.
type settled struct {
	run      schema.Run       // what remains to be stored
	replaces []string         // documents that run contains completely; to be deleted when it is stored
	problems []schema.Problem // measurements that stay in their document
}

// nothingLeft reports whether all of the run is in history already.
func (s *settled) nothingLeft() bool { return len(s.run.Points) == 0 && len(s.run.Scores) == 0 }

// settle keeps a measurement from being in history twice. The same files read again under another identity (a device
// or a release stated later, by a flag or a manifest) give another id. If the new identity only adds to what was
// unknown, and all of the old document was read again, the new document replaces it and keeps its stamped targets.
// Otherwise the old one stays, and its measurements are left out of the run: a flag must not move history from one
// device to another.
//
// Documents in the folders others count too, and are never replaced. Those of runs that were read together with this
// one are of other measurements, even of the same file: a table has rows of several devices.
func settle(dir string, r schema.Run, b batch, others ...string) settled {
	s := settled{run: r}
	for _, in := range append([]string{dir}, others...) {
		for _, name := range b.writes.candidates(in, &r) {
			if name == filepath.Join(in, history.PathOf(&r)) {
				continue // its own document, which history.Put updates
			}
			old, problem := history.Read(name)
			isOther := b.together[old.ID] && old.ID != r.ID
			if problem != nil || isOther || onlyCopies(&old) || !(field{"model", old.Model.Name}).compatible(r.Model.Name) {
				continue // a damaged document is reported when history is loaded; another model has other measurements
			}
			held := duplicate.In(&old)
			rest, shared := duplicate.Without(s.run, held)
			if shared == 0 {
				continue
			}
			clash := clashes(&old, &r)
			if in == dir && len(clash) == 0 && shared == len(old.Points)+len(old.Scores) && knowsMore(&r, &old) {
				if derived(&old) && derived(&r) && old.Start.Equal(r.Start) && sameIdentity(&old, &r) {
					s.run.ID = old.ID // read from another folder or envelope: the document stays the one it is
					if history.PathOf(&s.run) == history.PathOf(&old) {
						continue
					}
				}
				s.run = history.Update(old, s.run)
				s.replaces = append(s.replaces, name)
				continue
			}
			s.run = rest
			s.problems = append(s.problems, stays(name, clash, shared, firstFile(&r)))
		}
	}
	return s
}

// addsNothing reports that all of a run is in its stored document, and reading it again would not say more: it is a
// part of it, one file of a folder that was read before; or a copy of it in other bytes.
func addsNothing(dir string, r *schema.Run) bool {
	old, ok := history.Peek(dir, r)
	if !ok || !knowsMore(&old, r) || len(clashes(&old, r)) > 0 {
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
	k, o := &p.Key, &other.Key
	for name, v := range other.Conditions {
		if p.Conditions[name] != v {
			return false
		}
	}
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

// derived reports an id that follows from the results, and is stated by nothing.
func derived(r *schema.Run) bool {
	return strings.HasPrefix(r.ID, history.Undated) || strings.HasPrefix(r.ID, r.Start.UTC().Format(history.StartInID))
}

// sameIdentity reports that two runs state the same of who was measured.
func sameIdentity(a, b *schema.Run) bool {
	is := identityOf(b)
	for i, was := range identityOf(a) {
		if was.value != is[i].value && (was.name != deviceField || !schema.SameDevice(was.value, is[i].value)) {
			return false
		}
	}
	return true
}

// field is a part of a run's identity that a later reading may state otherwise.
type field struct{ name, value string }

// compatible reports whether two values of a field do not contradict: they are equal, or one is missing.
func (f field) compatible(value string) bool {
	if f.name == deviceField && schema.SameDevice(f.value, value) {
		return true
	}
	return f.value == "" || value == "" || f.value == value
}

const deviceField = "device"

func identityOf(r *schema.Run) []field {
	return []field{
		{"model", r.Model.Name}, {deviceField, r.Device.Name}, {"release", r.Release}, {"implementation", r.Impl},
	}
}

// clashes lists the contradictions of two identities.
func clashes(old, now *schema.Run) []string {
	var out []string
	is := identityOf(now)
	for i, was := range identityOf(old) {
		if !was.compatible(is[i].value) {
			out = append(out, fmt.Sprintf("%s %s, now %s", was.name, was.value, is[i].value))
		}
	}
	return out
}

// knowsMore reports whether now states everything that old states.
func knowsMore(now, old *schema.Run) bool {
	if now.Start.IsZero() && !old.Start.IsZero() && old.Provenance["start"].From != schema.FromDerived {
		return false // but the times of files, which earlier versions took, are no knowledge
	}
	is := identityOf(now)
	for i, was := range identityOf(old) {
		if was.value != "" && is[i].value == "" {
			return false
		}
	}
	return true
}

// firstFile returns a file of the run, for the path of a problem.
func firstFile(r *schema.Run) string {
	if len(r.Points) > 0 {
		return r.Points[0].Source.Path
	}
	if len(r.Scores) > 0 {
		return r.Scores[0].Source.Path
	}
	return ""
}

// stays returns the problem about measurements that are in a stored document and stay there.
func stays(name string, clash []string, shared int, path string) schema.Problem {
	p := schema.Problem{
		Severity: schema.SevNote, Path: path, Code: "in-history", Expected: "one identity of a measurement",
		Found: fmt.Sprintf("results that are in history already, %d of them in %s", shared, filepath.ToSlash(name)),
		Used:  "what is stored",
		Hint:  "if the stored identity is the wrong one, delete the document and read all of its files again",
	}
	if len(clash) > 0 {
		p.Severity, p.Code = schema.SevError, "other-identity"
		p.Found += ": " + strings.Join(clash, "; ")
	}
	return p
}

// onlyCopies reports that all files of a run are copies of another release's, which has their measurements.
func onlyCopies(r *schema.Run) bool {
	return slices.ContainsFunc(r.Problems, func(p schema.Problem) bool {
		return p.Code == schema.CodeCopy && p.Severity == schema.SevError
	})
}
