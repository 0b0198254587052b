package ingest

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/duplicate"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/repeat"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// dropCopies keeps one of several forms of a measurement: vLLM's result and its .pytorch.json, a sweep's run=N.json and
// its summary.json, AIPerf's summary and tt-inference-server's flat copy, a tool's file and the report it was converted
// to.
func dropCopies(sources []*source, side *sideFiles, opt Options) {
	type place struct {
		src   *source
		point int
	}
	var places []place
	var points []*schema.Point
	for _, s := range sources {
		if f := s.reading.Format; f == ttis.ReportData || f == ttis.Statistics { // rounded, and identified by their rows
			continue
		}
		for i := range s.reading.Points {
			places, points = append(places, place{s, i}), append(points, &s.reading.Points[i])
		}
	}
	standsIn := map[*source]map[int]*source{}
	who := measuredOn{side: side, opt: opt, known: map[*source]*schema.Facts{}}
	needed := func(a, b int) duplicate.Agreement {
		enough := who.needed(places[a].src, places[b].src)
		if enough.Statistics > 0 && !sameSettings(points[a], points[b]) {
			return duplicate.Agreement{}
		}
		return enough
	}
	duplicate.Copies(points, needed, func(p duplicate.Pair) {
		keep, drop := places[p.Keep], places[p.Drop]
		learn(keep.src, points[p.Keep], drop.src, points[p.Drop])
		if standsIn[drop.src] == nil {
			standsIn[drop.src] = map[int]*source{}
		}
		standsIn[drop.src][drop.point] = keep.src
	})
	for s, others := range standsIn {
		remove(s, others)
	}
}

// How much two points of two files must agree in to be one measurement: less for x.json and x.pytorch.json, which
// belong together. Two runs of one load agree in two or three digits of a number; twelve digits are more than chance.
const (
	neededStatistics = 3
	neededDigits     = 12
	neededOfOneName  = 6 // digits
)

// measuredOn knows what sources state about who was measured, in their files, beside them and in their paths.
type measuredOn struct {
	side  *sideFiles
	opt   Options
	known map[*source]*schema.Facts
}

// facts is who was measured by a source.
func (m *measuredOn) facts(s *source) *schema.Facts {
	f := m.known[s]
	if f == nil {
		bare := *s // its results stay as they are
		bare.reading.Points, bare.reading.Scores, bare.reading.Problems = nil, nil, nil
		f = &identify(&bare, m.side, m.opt).facts
		m.known[s] = f
	}
	return f
}

// needed is how much two points of two files must agree in to be one measurement; nothing when they cannot be one.
func (m *measuredOn) needed(a, b *source) duplicate.Agreement {
	if a.file == b.file || a.file.Content == b.file.Content || !mayBeOne(&a.reading.Facts, &b.reading.Facts) ||
		namedApart(a.shown(), b.shown()) {
		return duplicate.Agreement{} // dropSameContent handles equal bytes, because it knows the identity
	}
	if f, g := m.facts(a), m.facts(b); !mayBeOne(f, g) || !mayBeOneSystem(f, g) {
		return duplicate.Agreement{}
	}
	stem := func(s *source) string { return strings.TrimSuffix(s.stem(), ".pytorch") }
	if path.Dir(a.shown()) == path.Dir(b.shown()) && stem(a) == stem(b) {
		return duplicate.Agreement{Statistics: 1, Digits: neededOfOneName}
	}
	return duplicate.Agreement{Statistics: neededStatistics, Digits: neededDigits}
}

// sameSettings reports that two points do not say that they were set up differently.
func sameSettings(p, q *schema.Point) bool {
	theirs := repeat.Settings(q)
	for name, v := range repeat.Settings(p) {
		if w, has := theirs[name]; has && v != w {
			return false
		}
	}
	return true
}

// mayBeOneSystem reports that two files do not state different devices, releases or builds.
func mayBeOneSystem(a, b *schema.Facts) bool {
	same := func(x, y string) bool { return x == "" || y == "" || strings.EqualFold(x, y) }
	x, y := a.Device.Name, b.Device.Name
	if !same(x, y) && !schema.IsDeviceWithin(x, y) && !schema.SameDevice(x, y) {
		return false
	}
	for name, commit := range a.Stack.Commits {
		if other := b.Stack.Commits[name]; !strings.HasPrefix(commit, other) && !strings.HasPrefix(other, commit) {
			return false
		}
	}
	version := func(s string) string { return strings.TrimPrefix(s, "v") }
	return same(a.Release, b.Release) && same(a.Impl, b.Impl) && same(a.Stack.Engine, b.Stack.Engine) &&
		same(version(a.Stack.Version), version(b.Stack.Version)) && same(a.Stack.Image, b.Stack.Image)
}

// namedApart reports that tt-inference-server named two files after different models or devices: two devices may well
// give some equal numbers.
func namedApart(a, b string) bool {
	first, ok1 := ttis.NameFacts(a)
	second, ok2 := ttis.NameFacts(b)
	return ok1 && ok2 && first.ModelID != "" && second.ModelID != "" && first.ModelID != second.ModelID
}

// mayBeOne reports that two files do not state different models or days. Their times may be in two zones.
func mayBeOne(a, b *schema.Facts) bool {
	if a.Model.ID != "" && b.Model.ID != "" && path.Base(a.Model.ID) != path.Base(b.Model.ID) {
		return false
	}
	return a.Start.IsZero() || b.Start.IsZero() || a.Start.Sub(b.Start).Abs() < 15*time.Hour
}

// learn takes from a copy what only the copy states: identity, and parts of the workload.
func learn(to *source, p *schema.Point, from *source, q *schema.Point) {
	to.reading.Facts = manifest.Merge(to.reading.Facts, from.reading.Facts)
	w := manifest.Workload{
		ISL: q.Key.ISL, OSL: q.Key.OSL, Concurrency: q.Key.Concurrency, Rate: q.Key.Rate, Dataset: q.Key.Dataset,
	}
	fillKey(p, w, "copy in "+path.Base(from.rel))
	p.Conditions = withMissing(p.Conditions, q.Conditions)
}

// remove drops the points of a source that other sources have, and says so.
func remove(s *source, others map[int]*source) {
	var kept []schema.Point
	copied := map[string]int{}
	for i, p := range s.reading.Points {
		if others[i] == nil {
			kept = append(kept, p)
		} else {
			copied[others[i].shown()]++
		}
	}
	s.copies += len(s.reading.Points) - len(kept)
	s.reading.Points = kept
	files := slices.Sorted(maps.Keys(copied))
	s.reading.PartOf = files[0]
	if len(kept) == 0 { // problems of its points are reported with the source that keeps them
		s.reading.Problems = slices.DeleteFunc(s.reading.Problems, func(p schema.Problem) bool {
			return p.Severity != schema.SevError
		})
	}
	for _, of := range files {
		s.report(schema.Problem{
			Severity: schema.SevNote, Path: s.shown(), Code: "duplicate",
			Found: fmt.Sprintf("%s that %s has, equal in every statistic that both state",
				plaintext.Plural(copied[of], "point"), of),
			Used: "each measurement once",
			Hint: "if they are two measurements, state what was different in a manifest or with --pattern",
		})
	}
}

// dropSameContent keeps the first of several files with the same content, in whatever envelope, or with the same
// numbers in another form: a reformatted copy, a log and the archive it was converted from. Of files of two releases
// it keeps that of the earlier one by name.
func dropSameContent(results []*result) {
	seen := map[string]*result{}
	var copies []releaseCopy
	for _, r := range results {
		if !r.counts() || r.file.Content == "" {
			continue
		}
		keys := []string{r.file.Content}
		if hash, ok := duplicate.Content(&r.reading); ok {
			keys = append(keys, hash)
		}
		for i, key := range keys {
			first, dup := seen[key]
			if !dup || first.file == r.file || measuredApart(first, r) || i > 0 && !mayBeOneForm(first, r) {
				seen[key] = r
				continue
			}
			if !ofTwoReleases(first, r) {
				r.dropCopyOf(first)
				break
			}
			if schema.NaturalCompare(r.facts.Release, first.facts.Release) < 0 {
				first, r = r, first
				seen[key] = first
			}
			copies = append(copies, releaseCopy{r, first})
			break
		}
	}
	settleCopies(results, copies)
}

// mayBeOneForm reports that two results with the same numbers do not state different models, systems or times.
func mayBeOneForm(a, b *result) bool {
	x, y := a.facts.Start, b.facts.Start
	return mayBeOne(&a.facts, &b.facts) && mayBeOneSystem(&a.facts, &b.facts) && !namedApart(a.shown(), b.shown()) &&
		(x.IsZero() || y.IsZero() || x.Equal(y))
}

// dropCopyOf takes the numbers out of a result, since another has them all.
func (r *result) dropCopyOf(first *result) {
	r.copies += len(r.reading.Points)
	r.drop(first.shown())
	p := schema.Problem{
		Severity: schema.SevNote, Path: r.shown(), Code: "duplicate",
		Found: "the same content as " + first.shown(), Used: "the first, once",
	}
	if systemOf(&first.facts) != systemOf(&r.facts) || buildOf(&first.facts) != buildOf(&r.facts) {
		p.Severity = schema.SevWarning
		p.Expected = "one release and system for one measurement; here the two differ"
		p.Hint = "remove the copy that is wrong"
	}
	if ofTwoReleases(first, r) {
		p.Code, p.Found = schema.CodeCopy, p.Found+" of "+first.facts.Release
	}
	r.report(p)
}

// measuredApart reports that the sidecars of two files state different times: a script may well find the same numbers
// twice.
func measuredApart(a, b *result) bool {
	if len(a.reading.Points) == 0 || len(b.reading.Points) == 0 {
		return false
	}
	x, y := a.reading.Points[0].Start, b.reading.Points[0].Start
	return a.sidecar && b.sidecar && !x.IsZero() && !y.IsZero() && !x.Equal(y)
}
