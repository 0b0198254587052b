package render

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

const seriesPage Address = "series/index.html"

// SeriesPage shows one series over its releases; which one is in its address, see [Report.SeriesPath].
func (r *Report) SeriesPage() Page {
	p := r.page(seriesPage, "explore", "Series", "One metric of one workload over its releases.",
		Link{"Explore", "explore/index.html"})
	p.Lead, p.Scripts = Lead{Text: "One series over its releases."}, []string{"series.js", "trend.js"}
	p.add(section("series", "", "", Widget{Tool: "trend"}))
	return p
}

// SeriesPath is where a series is shown.
func (r *Report) SeriesPath(s *judge.Series) Address {
	return chosen(seriesPage, "of", pairSegment(s.Model, s.Device), "w", trendOf(s), "k", words.Metric(s.Metric, s.Stat))
}

// trendOf names the workload of a series among those of its model and device.
func trendOf(s *judge.Series) string { return trendName(s.Key, s.Impl) }

func trendName(k schema.Key, impl string) string {
	return strings.Join(strings.Fields(words.Workload(k)+" "+k.Tool+" "+impl), " ")
}

// PairShardPath is the script with the series of a model and device.
func PairShardPath(p schema.Pair) Address {
	return Address("data/shards/pairs/" + pairSegment(p.Model, p.Device) + ".js")
}

// PairShardID names its data.
func PairShardID(p schema.Pair) string { return "pair " + pairSegment(p.Model, p.Device) }

// Trends are the series of a model and device over its releases.
type Trends struct {
	Model    string         `json:"model"`
	Device   string         `json:"device"`
	Page     Address        `json:"page"`
	Releases []TrendRelease `json:"releases"` // oldest first
	Verdicts []string       `json:"verdicts"` // "regressed confirmed"
	Series   []Trend        `json:"series"`
}

// TrendRelease is a release that measured the model on the device.
type TrendRelease struct {
	Name    string  `json:"name"`
	Day     string  `json:"day,omitempty"`
	Commits string  `json:"commits,omitempty"` // what it has that the one before has not: "vllm 1a2b3c4..5d6e7f8"
	Run     Address `json:"run,omitempty"`     // the run of its numbers; "" where several have them
	Note    string  `json:"note,omitempty"`
	Page    Address `json:"page"`
}

// Trend is one series. Values has one a release, null where it was not measured; Verdicts has a letter a release, the
// place of its verdict in [Trends.Verdicts] from "a" on, or "-".
type Trend struct {
	Workload string        `json:"w"`
	Metric   string        `json:"k"`
	Unit     string        `json:"unit"`
	Higher   bool          `json:"higher,omitempty"` // is better
	Verdicts string        `json:"g,omitempty"`
	Values   []*float64    `json:"v"`
	Expected []float64     `json:"expected,omitempty"` // where 95 of 100 new values should be
	From     int           `json:"from,omitempty"`     // the release from which on that was learnt
	Range    []float64     `json:"range,omitempty"`    // of the drawing, where single values lie far beyond it
	Steps    []TrendStep   `json:"steps,omitempty"`
	Targets  []TrendTarget `json:"targets,omitempty"`
}

// TrendStep is where a level began: the change of this series, and of the whole change that it is part of.
type TrendStep struct {
	At       int       `json:"at"`
	Label    string    `json:"label"`
	Levels   []float64 `json:"levels,omitempty"`   // means of the level before and of this one
	Expected []float64 `json:"expected,omitempty"` // as of a series, at the end of the level before
	Whole    string    `json:"whole,omitempty"`
	Page     Address   `json:"page,omitempty"` // of the change
}

// TrendTarget is a target of the workload.
type TrendTarget struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
}

// Trends are those of a model and device.
func (r *Report) Trends(pair Pair) Trends {
	out := Trends{Model: words.OrUnknown(pair.Model), Device: words.Device(pair.Device),
		Page: PairPath(pair.Model, pair.Device), Verdicts: []string{}, Series: []Trend{}}
	releases := r.with[pair.Pair]
	for i, name := range r.namesOf(releases) {
		rel := &r.Releases[releases[i]]
		x := TrendRelease{Name: name, Page: ReleasePath(rel.Name), Commits: r.ranges()[releases[i]]}
		if !rel.Date.IsZero() {
			x.Day = rel.Date.UTC().Format(time.DateOnly)
		}
		x.Note, _ = r.noteOn(rel.Name)
		if runs := r.runs[pair.Pair][releases[i]]; len(runs) == 1 {
			x.Run = RunPath(r.Columns.Runs[runs[0]].ID)
		}
		out.Releases = append(out.Releases, x)
	}
	targets := map[covered][]TrendTarget{}
	for _, v := range r.Gate.PairTargets(pair.Newest, pair.Pair) {
		if ref, ok := v.Ref.Get(); ok && !v.Key.IsEval() && v.Outcome != schema.Unattainable {
			at := newCovered(v.Impl, v.Key, v.Metric, v.Stat)
			targets[at] = append(targets[at], TrendTarget{v.Level, latency.Round(ref, 5)})
		}
	}
	q := judge.Quantiles{}
	for _, s := range r.series[pair.Pair] {
		x := Trend{Workload: trendOf(s), Metric: words.Metric(s.Metric, s.Stat), Unit: s.Unit,
			Higher: judge.Higher(s.Metric), Targets: targets[newCovered(s.Impl, s.Key, s.Metric, s.Stat)]}
		values := make([]float64, len(releases))
		var verdicts strings.Builder
		for i, at := range releases {
			var ok bool
			if values[i], ok = s.At(at); !ok {
				values[i] = math.NaN()
			}
			verdicts.WriteByte(out.letter(r.Gate.Summary(s, at)))
		}
		x.drawn(values)
		x.Verdicts = verdicts.String()
		f := r.Gate.Frame(s, pair.Newest, &q)
		if x.Expected = span(f.Low, f.High); x.Expected != nil {
			x.From = max(0, slices.Index(releases, f.From))
		}
		for _, step := range f.Steps {
			began := TrendStep{At: slices.Index(releases, step.Release), Label: words.Signed(s.Metric, step.Effect),
				Levels: span(step.Before, step.Since), Expected: span(step.Low, step.High)}
			if c := step.Change; c != nil {
				began.Whole, began.Page = words.ChangeSize(c), ChangesPath+"#"+Address(changeAnchor(c.ID))
			}
			if began.At >= 0 {
				x.Steps = append(x.Steps, began)
			}
		}
		out.Series = append(out.Series, x)
	}
	out.Series = append(out.Series, r.shownOnly(pair)...)
	return out
}

// span is two numbers of a series as a chart takes them; nil where they are not known.
func span(a, b float64) []float64 {
	if math.IsNaN(a) || math.IsNaN(b) {
		return nil
	}
	return []float64{latency.Round(a, 5), latency.Round(b, 5)}
}

// noteOn is the first words of a note on a release and where it stands, both "" when nobody wrote one.
func (r *Report) noteOn(release string) (text string, href Address) {
	notes := r.NotesOf(release)
	if len(notes) == 0 {
		return "", ""
	}
	const most = 80
	for line := range strings.Lines(notes[0].Source) {
		if line = strings.Trim(line, "#*_> \t\r\n"); line != "" {
			return release + ": " + opening(line, most), ReleasePath(release) + "#notes"
		}
	}
	return "", ""
}

// opening is the beginning of a text, at most so many letters and at least half of them: whole words, unless one is
// longer than that.
func opening(s string, most int) string {
	if letters := []rune(s); len(letters) > most {
		s = string(letters[:most])
		if at := strings.LastIndex(s, " "); at >= 0 && 2*len([]rune(s[:at])) >= most {
			s = s[:at]
		}
		s += "…"
	}
	return s
}

// letter is that of a verdict; "-" for none.
func (t *Trends) letter(g judge.Summary, ok bool) byte {
	if !ok {
		return '-'
	}
	name := strings.TrimSpace(g.Outcome.String() + " " + g.Evidence.String())
	if !slices.Contains(t.Verdicts, name) {
		t.Verdicts = append(t.Verdicts, name)
	}
	return byte('a' + slices.Index(t.Verdicts, name))
}

// drawn takes over the values of a series, and the range that shows most of them.
func (t *Trend) drawn(values []float64) {
	least, most := math.Inf(1), math.Inf(-1)
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			values[i], t.Values = math.NaN(), append(t.Values, nil)
			continue
		}
		least, most = math.Min(least, v), math.Max(most, v)
		v = latency.Round(v, 5)
		t.Values = append(t.Values, &v)
	}
	const share = .2 // of its values, that a drawing spans at least
	if lo, hi := Span(values, share); lo > least || hi < most {
		t.Range = span(lo, hi)
	}
}

// farther is how many times as wide a drawing would have to be for a value to lie beyond it.
const farther = 4

// Span is the range of values that a drawing over releases shows, NaN without values. Single values that would make it
// more than four times as wide, where it spans at least a share of its values, lie beyond it: a drawing has them at its
// edge, with their numbers, so that all others can be read. The newest value and two in a row never do: they may be a
// new level.
func Span(values []float64, share float64) (lo, hi float64) {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	lo, hi = slices.Min(values), slices.Max(values)
	const few, many = 6, 10
	if len(values) < few {
		return lo, hi
	}
	middle := slices.Sorted(slices.Values(values))[len(values)/2]
	far := make([]int, len(values)) // the farthest first
	for i := range far {
		far[i] = i
	}
	slices.SortStableFunc(far, func(a, b int) int {
		return cmp.Compare(math.Abs(values[b]-middle), math.Abs(values[a]-middle))
	})
	for n := 1; n <= max(1, len(values)/many); n++ {
		beyond := far[:n]
		if slices.Contains(beyond, len(values)-1) {
			break
		}
		if slices.ContainsFunc(beyond, func(i int) bool { return slices.Contains(beyond, i+1) }) {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for i, v := range values {
			if !slices.Contains(beyond, i) {
				low, high = min(low, v), max(high, v)
			}
		}
		if hi-lo > farther*max(high-low, share*math.Abs(middle)) {
			return low, high
		}
	}
	return lo, hi
}

// shownOnly are the numbers that are shown and not judged: percentiles, rates, build times, memory. Only of a few dozen
// workloads, since they are several times as many as those that are judged.
func (r *Report) shownOnly(pair Pair) (out []Trend) {
	const most = 8 // workloads
	releases, newest := r.with[pair.Pair], r.points(r.runs[pair.Pair][pair.Newest])
	type workload struct {
		impl string
		key  int32
	}
	of := func(p *columns.PointRow) workload { return workload{r.Columns.Runs[p.Run].Impl, p.Key} }
	if len(releases) < 2 || len(keysOf(newest)) > most {
		return nil
	}
	var all []*columns.PointRow
	by := make([]map[workload][]*columns.PointRow, len(releases))
	for i, ri := range releases {
		by[i] = map[workload][]*columns.PointRow{}
		for _, p := range r.points(r.runs[pair.Pair][ri]) {
			by[i][of(p)], all = append(by[i][of(p)], p), append(all, p)
		}
	}
	judged := map[string]bool{}
	for _, s := range r.series[pair.Pair] {
		judged[trendOf(s)+words.Metric(s.Metric, s.Stat)] = true
	}
	seen := map[workload]bool{}
	for _, p := range newest {
		w := of(p)
		if seen[w] {
			continue
		}
		seen[w] = true
		name := trendName(r.Columns.Keys[w.key], w.impl)
		for _, f := range r.fields(all) {
			info, _ := schema.MetricByName(f.Metric)
			x := Trend{Workload: name, Metric: words.Metric(f.Metric, f.Stat), Unit: info.Unit,
				Higher: judge.Higher(f.Metric)}
			values, n := make([]float64, len(releases)), 0
			for i := range releases {
				sum, k := 0., 0. // NaN without a measurement
				for _, p := range by[i][w] {
					if v, ok := r.Shown(p, f.Metric, f.Stat).Get(); ok {
						sum, k = sum+v, k+1
					}
				}
				values[i] = sum / k
				n += truth(k > 0)
			}
			if n > 1 && !judged[name+x.Metric] {
				x.drawn(values)
				out = append(out, x)
			}
		}
	}
	return out
}
