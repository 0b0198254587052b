package ingest

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/duplicate"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// dropCopies keeps one of several forms of a measurement: vLLM's result and its .pytorch.json, a sweep's run=N.json and
// its summary.json, AIPerf's summary and tt-inference-server's flat copy, a tool's file and the report it was converted
// to.
func dropCopies(sources []*source) {
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
	needed := func(a, b int) int { return neededStatistics(places[a].src, places[b].src) }
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

// neededStatistics is how many statistics must agree for two points of two files to be one measurement: fewer for
// x.json and x.pytorch.json, which belong together; 0 when they cannot be one.
func neededStatistics(a, b *source) int {
	if a.file == b.file || a.file.Content == b.file.Content || !mayBeOne(&a.reading.Facts, &b.reading.Facts) ||
		namedApart(a.shown(), b.shown()) {
		return 0 // dropSameContent handles equal bytes, because it knows the identity
	}
	stem := func(s *source) string { return strings.TrimSuffix(s.stem(), ".pytorch") }
	if path.Dir(a.shown()) == path.Dir(b.shown()) && stem(a) == stem(b) {
		return 1
	}
	return 3
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

// remove drops the points of a source that other sources have.
func remove(s *source, others map[int]*source) {
	var kept []schema.Point
	var other *source
	for i, p := range s.reading.Points {
		if others[i] == nil {
			kept = append(kept, p)
		} else {
			other = cmp.Or(other, others[i])
		}
	}
	s.reading.Points = kept
	s.reading.PartOf = other.shown()
	if len(kept) == 0 { // problems of its points are reported with the source that keeps them
		s.reading.Problems = slices.DeleteFunc(s.reading.Problems, func(p schema.Problem) bool {
			return p.Severity != schema.SevError
		})
	}
}

// dropSameContent keeps the first of several files with the same content, in whatever envelope, or with the same
// numbers in another form: a reformatted copy, a log and the archive it was converted from.
func dropSameContent(results []*result) {
	seen := map[string]*result{}
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
			r.dropCopyOf(first)
			break
		}
	}
}

// mayBeOneForm reports that two results with the same numbers do not state different models or times.
func mayBeOneForm(a, b *result) bool {
	x, y := a.facts.Start, b.facts.Start
	return mayBeOne(&a.facts, &b.facts) && (x.IsZero() || y.IsZero() || x.Equal(y))
}

// dropCopyOf takes the numbers out of a result, since another has them all.
func (r *result) dropCopyOf(first *result) {
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
