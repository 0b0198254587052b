package ingest

import (
	"cmp"
	"math"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/aiperf"
	"github.com/ttreport/ttreport/ingest/inferenceperf"
	"github.com/ttreport/ttreport/ingest/lmeval"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/ttis"
)

// readableInPart lists the formats whose files may be read up to a cut: what stands before it is whole by itself.
func readableInPart(format string) bool { return format == lmeval.Format || format == lmeval.LMMs }

// joinParts makes one measurement of a summary and its parts, wherever a tool writes both.
func joinParts(items []*item) {
	byDir := map[string][]*item{}
	for _, it := range items {
		dir := path.Dir(it.shown())
		byDir[dir] = append(byDir[dir], it)
	}
	for _, it := range items {
		near := byDir[path.Dir(it.shown())]
		switch it.reading.Format {
		case aiperf.Records:
			joinRecords(it, near)
		case lmeval.Samples:
			joinSamples(it, near)
		}
	}
	for _, it := range items { // after records were joined: a table repeats whatever stands beside it
		near := byDir[path.Dir(it.shown())]
		switch it.reading.Format {
		case aiperf.CSV, aiperf.GenAICSV:
			if own := neighbour(near, func(o *item) bool {
				ours := o.reading.Format == aiperf.Format || o.reading.Format == aiperf.GenAI || o.reading.Format == aiperf.Records && o.counts()
				return ours && (isDefault(it) && isDefault(o) || strings.TrimSuffix(o.file.Stem(), "_aiperf") == strings.TrimSuffix(it.file.Stem(), "_aiperf"))
			}); own != nil {
				it.drop(own.shown())
			}
		case inferenceperf.Format:
			if inferenceperf.IsSummary(it.rel) {
				if own := neighbour(near, func(o *item) bool {
					return o.reading.Format == inferenceperf.Format && !inferenceperf.IsSummary(o.rel)
				}); own != nil {
					it.drop(path.Dir(own.shown()))
				}
			}
		}
	}
	dropCopies(items)
}

// neighbour finds a file of the same folder.
func neighbour(near []*item, fits func(*item) bool) *item {
	for _, o := range near {
		if fits(o) {
			return o
		}
	}
	return nil
}

// joinRecords puts AIPerf's records into the summary that they belong to: the one of the same name, or the only one there.
// Records beside summaries that are none of theirs are a problem.
func joinRecords(it *item, near []*item) {
	var summaries []*item
	var own *item
	for _, o := range near {
		if o.reading.Format == aiperf.Format && o.counts() {
			summaries = append(summaries, o)
			if strings.TrimSuffix(o.file.Stem(), "_aiperf") == it.file.Stem() {
				own = o
			}
		}
	}
	switch {
	case len(summaries) == 0:
		return
	case own == nil && len(summaries) == 1 && (isDefault(it) || isDefault(summaries[0])):
		own = summaries[0]
	case own == nil:
		it.reading.Problems = append(it.reading.Problems, schema.Problem{Severity: schema.SevWarning, Path: it.shown(), Code: "records-of-nobody",
			Found: "request records beside summaries of other names", Used: "the summaries alone", Hint: "keep each run in a folder of its own"})
		it.reading.Points = nil
		return
	}
	aiperf.Combine(&own.reading, it.reading)
	it.drop(own.shown())
	it.reading.Detail += " of " + path.Base(own.rel)
}

// isDefault reports the name that AIPerf gives its files; with a prefix of one's own all files of a run have it.
func isDefault(it *item) bool { return strings.HasPrefix(it.file.Stem(), "profile_export") }

// joinSamples puts the items of a task into the results that they belong to: those of the same time stamp, or the only ones
// there.
func joinSamples(it *item, near []*item) {
	var results []*item
	stamp := lmeval.Stamp(it.rel)
	for _, o := range near {
		if o.reading.Format == lmeval.Format || o.reading.Format == lmeval.LMMs || o.reading.Format == lmeval.Old {
			if stamp == "" || lmeval.Stamp(o.rel) == stamp || lmeval.Stamp(o.rel) == "" {
				results = append(results, o)
			}
		}
	}
	for _, own := range results {
		if lmeval.Combine(&own.reading, it.reading) {
			it.drop(own.shown())
			it.reading.Detail += " of " + path.Base(own.rel)
			return
		}
	}
	if len(results) > 0 { // its scores are pairs and texts that only the harness can count
		it.drop(results[0].shown())
	}
}

// copies are measurements that stand in several files: vLLM's result and its .pytorch.json, a sweep's run=N.json and its
// summary.json, AIPerf's summary and tt-inference-server's flat copy, a tool's file and the report it was converted to. A
// tool writes at least six digits, so equal numbers are one measurement.
func dropCopies(items []*item) {
	type entry struct {
		it     *item
		point  int
		metric string
		mean   float64
	}
	var list []entry
	for _, it := range items {
		if it.reading.Format == ttis.ReportData { // rounded, and told apart by their rows
			continue
		}
		for i := range it.reading.Points {
			for _, name := range []string{"e2el", "ttft", "tpot", "rps"} {
				if mean := anchor(&it.reading.Points[i], name); mean > 0 {
					list = append(list, entry{it, i, name, mean})
				}
			}
		}
	}
	sort.SliceStable(list, func(i, j int) bool {
		return list[i].metric < list[j].metric || list[i].metric == list[j].metric && list[i].mean < list[j].mean
	})
	gone := map[*item]map[int]*item{}
	for i := range list {
		for j := i + 1; j < min(len(list), i+nearby) && list[j].metric == list[i].metric && list[j].mean <= list[i].mean*(1+1e-6); j++ {
			a, b := list[i], list[j]
			if a.it.file == b.it.file || a.it.file.Content == b.it.file.Content || gone[a.it][a.point] != nil || gone[b.it][b.point] != nil {
				continue // equal bytes are told by dropDuplicates, which knows who was measured
			}
			pa, pb := &a.it.reading.Points[a.point], &b.it.reading.Points[b.point]
			if !mayBeOne(a.it, b.it) || !sameMeasurement(pa, pb, needed(a.it, b.it)) {
				continue
			}
			if richness(pb) > richness(pa) {
				a, b, pa, pb = b, a, pb, pa
			}
			learn(a.it, pa, b.it, pb)
			if gone[b.it] == nil {
				gone[b.it] = map[int]*item{}
			}
			gone[b.it][b.point] = a.it
		}
	}
	for it, points := range gone {
		remove(it, points)
	}
}

// nearby is how many points of one anchor are compared: copies stand beside each other.
const nearby = 20

// anchor is a number by which copies of a measurement find each other.
func anchor(p *schema.Point, metric string) float64 {
	for _, stat := range []string{"mean", "median", "value"} {
		if x, ok := p.Metrics[metric].Stats.Get(stat); ok && x > 0 {
			return x
		}
	}
	return 0
}

// needed is how many statistics must agree: fewer between x.json and x.pytorch.json, which are meant to be one.
func needed(a, b *item) int {
	stem := func(it *item) string { return strings.TrimSuffix(it.file.Stem(), ".pytorch") }
	if path.Dir(a.shown()) == path.Dir(b.shown()) && stem(a) == stem(b) {
		return 1
	}
	return 3
}

// mayBeOne reports that two files do not state different models, or days. Their clocks may be of two zones.
func mayBeOne(a, b *item) bool {
	fa, fb := &a.reading.Facts, &b.reading.Facts
	if fa.Model.ID != "" && fb.Model.ID != "" && path.Base(fa.Model.ID) != path.Base(fb.Model.ID) {
		return false
	}
	return fa.Start.IsZero() || fb.Start.IsZero() || fa.Start.Sub(fb.Start).Abs() < 15*time.Hour
}

// sameMeasurement reports that two points of one tool and load agree in so many measured statistics to a millionth, and
// contradict each other in none.
func sameMeasurement(a, b *schema.Point, enough int) bool {
	if a.Key.Tool != b.Key.Tool {
		return false
	}
	for _, x := range [][2]*float64{{a.Key.ISL, b.Key.ISL}, {a.Key.OSL, b.Key.OSL}, {a.Key.Concurrency, b.Key.Concurrency}, {a.Key.Rate, b.Key.Rate}} {
		if x[0] != nil && x[1] != nil && *x[0] != *x[1] {
			return false
		}
	}
	agree := 0
	for name, m := range a.Metrics {
		other, has := b.Metrics[name]
		if !has || m.Def != other.Def && m.Def != "" && other.Def != "" && m.Def != schema.DefNotStated && other.Def != schema.DefNotStated {
			continue
		}
		for _, s := range m.Stats {
			x, ok := other.Stats.Get(s.Name)
			if !ok || s.Name == "std" { // some tools divide by n − 1
				continue
			}
			if math.Abs(x-s.Value) > 1e-6*math.Max(math.Abs(x), math.Abs(s.Value)) {
				return false
			}
			if x != math.Trunc(x) && !isCount(name) {
				agree++
			}
		}
	}
	return agree >= enough
}

// isCount tells numbers that different measurements of one workload share.
func isCount(metric string) bool {
	switch metric {
	case "isl", "osl", "requests_ok", "requests_failed", "error_rate":
		return true
	}
	return false
}

// richness orders copies: measured requests before statistics, then by how many there are.
func richness(p *schema.Point) int {
	n := 0
	for _, m := range p.Metrics {
		n += len(m.Stats)
		if m.From == "recomputed" {
			n += 100
		}
	}
	return n
}

// learn takes from a copy what only it says: identity, and parts of the workload.
func learn(to *item, p *schema.Point, from *item, q *schema.Point) {
	to.reading.Facts = manifest.Merge(to.reading.Facts, from.reading.Facts)
	w := manifest.Workload{ISL: q.Key.ISL, OSL: q.Key.OSL, Concurrency: q.Key.Concurrency, Rate: q.Key.Rate, Dataset: q.Key.Dataset}
	fillKey(p, w, "copy in "+path.Base(from.rel))
	for name, v := range q.Conditions {
		if _, has := p.Conditions[name]; !has {
			p.Conditions = with(p.Conditions, name, v)
		}
	}
}

// remove takes points that stand elsewhere out of a file.
func remove(it *item, points map[int]*item) {
	var kept []schema.Point
	var other *item
	for i, p := range it.reading.Points {
		if points[i] == nil {
			kept = append(kept, p)
		} else {
			other = cmp.Or(other, points[i])
		}
	}
	it.reading.Points = kept
	it.reading.PartOf = other.shown()
	if len(kept) == 0 { // what was said of its points is said where they stand
		it.reading.Problems = slices.DeleteFunc(it.reading.Problems, func(p schema.Problem) bool { return p.Severity != schema.SevError })
	}
}

// dropReports takes out the rows of reports whose results are among the files of the same tree.
func dropReports(items []*item) {
	raw := map[string][]*item{}
	for _, it := range items {
		if it.reading.Format == ttis.ReportData {
			continue
		}
		for i := range it.reading.Points {
			for _, k := range []string{reportKey(it, &it.reading.Points[i].Key), "file\x00" + path.Base(it.rel)} {
				raw[k] = append(raw[k], it)
			}
		}
		for i := range it.reading.Scores {
			k := "score\x00" + it.facts.Model.Name + "\x00" + it.reading.Scores[i].Task
			raw[k] = append(raw[k], it)
		}
	}
	for _, it := range items {
		if it.reading.Format != ttis.ReportData {
			continue
		}
		stands := func(key string) bool {
			for _, other := range raw[key] {
				if strings.HasPrefix(other.shown(), reportTree(it.shown())+"/") {
					it.reading.PartOf = path.Dir(other.shown())
					return true
				}
			}
			return false
		}
		it.reading.Points = slices.DeleteFunc(it.reading.Points, func(p schema.Point) bool {
			return stands(reportKey(it, &p.Key)) || stands("file\x00"+path.Base(p.Conditions[ttis.RawFile]))
		})
		it.reading.Scores = slices.DeleteFunc(it.reading.Scores, func(s schema.Score) bool {
			return stands("score\x00" + it.facts.Model.Name + "\x00" + s.Task)
		})
	}
}

// reportTree is the folder that holds a report's results: above reports_output, else above its data folder, else its own.
func reportTree(shown string) string {
	if i := strings.Index(shown, "/reports_output/"); i >= 0 {
		return shown[:i]
	}
	dir := path.Dir(shown)
	if path.Base(dir) == "data" {
		return path.Dir(dir)
	}
	return dir
}

// reportKey is what a report's row and the result it was made of have in common.
func reportKey(it *item, k *schema.Key) string {
	short := schema.Key{Tool: k.Tool, ISL: k.ISL, OSL: k.OSL, Concurrency: k.Concurrency}
	return it.facts.Model.Name + "\x00" + it.facts.Device.Name + "\x00" + short.String()
}

// apart reports whether what stands beside two files says that they were measured at different times: a script may well find the same
// numbers twice.
func apart(a, b *item) bool {
	if len(a.reading.Points) == 0 || len(b.reading.Points) == 0 {
		return false
	}
	x, y := a.reading.Points[0].Start, b.reading.Points[0].Start
	return a.sidecar && b.sidecar && !x.IsZero() && !y.IsZero() && !x.Equal(y)
}

// dropDuplicates keeps the first of several files with the same content, in whatever envelope.
func dropDuplicates(items []*item) {
	seen := map[string]*item{}
	for _, it := range items {
		if !it.counts() || it.file.Content == "" {
			continue
		}
		first, dup := seen[it.file.Content]
		if !dup || first.file == it.file || apart(first, it) {
			seen[it.file.Content] = it
			continue
		}
		it.drop(first.shown())
		p := schema.Problem{Severity: schema.SevNote, Path: it.shown(), Code: "duplicate", Found: "the same content as " + first.shown(), Used: "the first, once"}
		if system(first.facts) != system(it.facts) || buildName(first.facts) != buildName(it.facts) {
			p.Severity, p.Expected = schema.SevWarning, "one release and system for one measurement; here the two differ"
			p.Hint = "remove the copy that is wrong"
		}
		it.reading.Problems = append(it.reading.Problems, p)
	}
}
