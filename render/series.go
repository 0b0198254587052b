package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// SeriesTable is many series in columns, for the pages that filter and compare them in the browser: texts once, in
// lists, and a row of small numbers a series.
type SeriesTable struct {
	Pairs     []SeriesPair `json:"pairs"`
	Impls     []string     `json:"impls"`
	Workloads []string     `json:"workloads"`
	// Setups are the workloads that state a configuration of the system: each without it, and it.
	Setups   map[int][2]string `json:"setups,omitempty"`
	Tools    []string          `json:"tools"`
	Metrics  []SeriesMetric    `json:"metrics"`
	Words    []SeriesWord      `json:"words"`
	Releases []string          `json:"releases,omitempty"`
	Channels []string          `json:"channels,omitempty"` // of Releases
	// Conds are conditions that change what a number means: two numbers that both state one and differ in it are not
	// compared.
	Conds []map[string]string `json:"conds,omitempty"`

	Pair     column    `json:"p"`
	Impl     column    `json:"i"`
	Workload column    `json:"w"`
	Tool     column    `json:"t"`
	Metric   column    `json:"m"`
	Word     column    `json:"g"`
	Cond     column    `json:"n,omitempty"` // of the tables that are compared: into Conds
	Value    []float64 `json:"v"`
	// Change is that of the number itself against its baseline; null without one.
	Change  []*float64 `json:"c"`
	Release column     `json:"r,omitempty"` // of the value
	// Spark has a letter a release, A lowest to / highest of 64 levels; - where there is no value.
	Spark []string `json:"s,omitempty"`

	*NumberColumns
}

// column has a small number a row. In a file, one that repeats its numbers often is {"runs": [number, how often, …]}.
type column []int

// MarshalJSON implements json.Marshaler.
func (c column) MarshalJSON() ([]byte, error) {
	var runs []int
	for i, n := range c {
		if i == 0 || n != c[i-1] {
			runs = append(runs, n, 0)
		}
		runs[len(runs)-1]++
	}
	if len(c) == 0 || 2*len(runs) > len(c) {
		return json.Marshal([]int(c))
	}
	return json.Marshal(map[string][]int{"runs": runs})
}

// SeriesPair is a model on a device with its page.
type SeriesPair struct {
	Model  string  `json:"model"`
	Device string  `json:"device"`
	Page   Address `json:"page"`
	Of     string  `json:"of"` // in addresses of series
}

// SeriesWord is a verdict with its evidence; of a number that an earlier release made slower and that still is, since
// when.
type SeriesWord struct {
	Verdict  schema.Outcome  `json:"verdict"`
	Evidence schema.Evidence `json:"evidence,omitempty"`
	Since    string          `json:"since,omitempty"`
}

// SeriesMetric is a metric with a statistic.
type SeriesMetric struct {
	Name   string  `json:"name"`
	Label  string  `json:"label"`
	Unit   string  `json:"unit"`
	Higher bool    `json:"higher"` // is better
	Effect float64 `json:"effect"` // least relative change that matters
	// Score is set for an eval, of which changes are differences: the way in which it is better, or "unstated".
	Score string `json:"score,omitempty"`
	// Scale is of a score that is a share: 1 of fractions, 100 of percent. Its changes are in shares of 1. One table can
	// have a metric on both.
	Scale float64 `json:"scale,omitempty"`
}

// seriesTable fills a table. Each index finds the place of an entry in the list of the same name.
type seriesTable struct {
	SeriesTable
	r                                        *Report
	pairs                                    map[schema.Pair]int
	impls, workloads, tools, releases, conds map[string]int
	metrics                                  map[metricStat]int
	words                                    map[SeriesWord]int
	runs                                     map[int]int           // places in Runs
	rows                                     map[*judge.Series]int // that numbers of series are in
	quantiles                                judge.Quantiles
}

// metricStat is a metric with a statistic and a unit.
type metricStat struct{ metric, stat, unit string }

// newSeriesTable is a table without rows: its lists are empty, and not absent.
func (r *Report) newSeriesTable() *seriesTable {
	return &seriesTable{
		r: r, pairs: map[schema.Pair]int{}, impls: map[string]int{}, workloads: map[string]int{},
		tools: map[string]int{}, releases: map[string]int{}, conds: map[string]int{}, metrics: map[metricStat]int{},
		words: map[SeriesWord]int{}, runs: map[int]int{}, rows: map[*judge.Series]int{},
		SeriesTable: SeriesTable{
			Pairs: []SeriesPair{}, Impls: []string{}, Workloads: []string{}, Setups: map[int][2]string{}, Tools: []string{},
			Metrics: []SeriesMetric{}, Words: []SeriesWord{}, Pair: column{}, Impl: column{}, Workload: column{},
			Tool: column{}, Metric: column{}, Word: column{}, Value: []float64{}, Change: []*float64{},
			NumberColumns: &NumberColumns{
				Runs: []RunInAddress{}, Run: column{}, Point: column{}, N: column{}, Base: column{}, Half: []*int{},
				Ref: map[int]float64{}, Why: map[int]string{}, Against: map[int][]NumberTarget{},
			},
		},
	}
}

// place is the place of an entry in a list, to which it is added when it is new.
func place[K comparable, T any](index map[K]int, key K, list *[]T, entry func() T) int {
	at, ok := index[key]
	if !ok {
		at = len(*list)
		index[key] = at
		*list = append(*list, entry())
	}
	return at
}

// tableRow is a row of the table.
type tableRow struct {
	system         schema.System
	key            schema.Key
	workload, tool string
	id             metricStat
	metric         func() SeriesMetric
	word           SeriesWord
	value          float64
	change         *float64
}

func (t *seriesTable) addRow(x tableRow) {
	same := func(s string) func() string { return func() string { return s } }
	pair := schema.Pair{Model: x.system.Model, Device: x.system.Device}
	t.Pair = append(t.Pair, place(t.pairs, pair, &t.Pairs, func() SeriesPair {
		return SeriesPair{words.OrUnknown(pair.Model), words.Device(pair.Device), PairPath(pair.Model, pair.Device),
			pairSegment(pair.Model, pair.Device)}
	}))
	t.Impl = append(t.Impl, place(t.impls, x.system.Impl, &t.Impls, same(x.system.Impl)))
	t.Workload = append(t.Workload, place(t.workloads, x.workload, &t.Workloads, func() string {
		if plain, dims := x.key.Parts(); dims != nil {
			t.Setups[len(t.Workloads)] = [2]string{strings.TrimSpace(words.Workload(plain)), configured(dims)}
		}
		return x.workload
	}))
	t.Tool = append(t.Tool, place(t.tools, x.tool, &t.Tools, same(x.tool)))
	t.Metric = append(t.Metric, place(t.metrics, x.id, &t.Metrics, x.metric))
	t.Word = append(t.Word, place(t.words, x.word, &t.Words, func() SeriesWord { return x.word }))
	t.Value, t.Change = append(t.Value, latency.Round(x.value, 7)), append(t.Change, x.change)
}

// in adds the release that a row is of, and its line.
func (t *seriesTable) in(release int, spark string) {
	rel := &t.r.Releases[release]
	t.Release = append(t.Release, place(t.releases, rel.Name, &t.Releases, func() string {
		t.Channels = append(t.Channels, rel.Channel)
		return rel.Name
	}))
	t.Spark = append(t.Spark, spark)
}

func (t *seriesTable) add(s *judge.Series, g judge.Summary, word SeriesWord) {
	var change *float64
	if !math.IsNaN(g.Effect) {
		c := math.Round(g.Effect*1e6) / 1e6
		if judge.Higher(s.Metric) {
			c = -c
		}
		change = &c
	}
	t.addRow(tableRow{
		system: s.System(), key: s.Key, workload: strings.TrimSpace(words.Workload(s.Key)), tool: s.Key.Tool,
		id: metricStat{s.Metric, s.Stat, s.Unit}, word: word, value: g.Value,
		change: change,
		metric: func() SeriesMetric {
			return SeriesMetric{Name: s.Metric, Label: words.Metric(s.Metric, s.Stat), Unit: s.Unit,
				Higher: judge.Higher(s.Metric), Effect: t.r.Gate.Policy.Effect(s.Metric)}
		},
	})
}

// Explore is the table of all series, each in the newest release that has it, worst first, and of the scores of each
// model and device in its newest release. A number of a regression that is still open has its size, as the page of
// changes has it: against the level since then it is unchanged.
func (r *Report) Explore() SeriesTable {
	t := r.newSeriesTable()
	type row struct {
		s    *judge.Series
		g    judge.Summary
		word SeriesWord
	}
	var rows []row
	newest := r.Newest()
	open := r.stillSlower(newest)
	for i := range r.Gate.Series {
		s := &r.Gate.Series[i]
		g, ok := r.Gate.Summary(s, -1)
		if !ok || s.Tail() {
			continue
		}
		x := row{s, g, SeriesWord{Verdict: g.Outcome, Evidence: g.Evidence}}
		if was, isOpen := open[s]; isOpen && g.Release == newest {
			x.word, x.g.Rank, x.g.Effect, x.g.Weight = was.word, 0, was.by, was.by
		}
		rows = append(rows, x)
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.g.Rank, b.g.Rank), cmp.Compare(b.g.Weight, a.g.Weight))
	})
	for _, x := range rows {
		t.add(x.s, x.g, x.word)
		t.in(x.g.Release, r.sparkLetters(x.s))
		t.measured(x.s, &x.g)
	}
	found := map[int]map[*columns.ScoreRow]*schema.Verdict{}
	for _, p := range r.Pairs {
		runs := r.withScores(r.runs[p.Pair][p.Newest])
		if len(runs) > 0 && found[p.Newest] == nil {
			found[p.Newest] = r.scoreVerdicts(p.Newest)
		}
		t.addScores(runs, found[p.Newest], func(*schema.Verdict) { t.in(p.Newest, "") })
	}
	return t.SeriesTable
}

// slower is a number that an earlier release made slower and that still is: by how much, what Explore calls it, and
// what the drawer says of it.
type slower struct {
	by   float64
	word SeriesWord
	why  string
}

// stillSlower are those of the regressions that are open in a release; none of release -1.
func (r *Report) stillSlower(release int) map[*judge.Series]slower {
	out := map[*judge.Series]slower{}
	if release < 0 {
		return out
	}
	for _, c := range r.Gate.Findings(release).Changes {
		if gate.Open(&c) {
			for _, m := range r.Gate.Moved(&c) {
				out[m.Series] = slower{m.Effect, SeriesWord{schema.Regressed, schema.Confirmed, c.Since},
					words.StillSlower(m.Metric, m.Effect, c.Since)}
			}
		}
	}
	return out
}

// sparkLetters are the last values of a series, each as one of 64 levels. The span is never less than a fifth of the
// values: noise cannot look like news.
func (r *Report) sparkLetters(s *judge.Series) string {
	const levels = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	const most, least = 24, .2
	at := r.with[s.Pair()]
	at = at[max(0, len(at)-most):]
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, ri := range at {
		if v, ok := s.At(ri); ok {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	if span := least * math.Abs(hi); hi-lo < span {
		lo, hi = (lo+hi-span)/2, (lo+hi+span)/2
	}
	out := make([]byte, len(at))
	for i, ri := range at {
		out[i] = '-'
		if v, ok := s.At(ri); ok && !math.IsNaN(v) && hi > lo {
			out[i] = levels[int(math.Round((v-lo)/(hi-lo)*float64(len(levels)-1)))]
		}
	}
	return string(out)
}

// ReleaseSeries is the table of what one release measured.
func (r *Report) ReleaseSeries(at int) SeriesTable {
	t := r.newSeriesTable()
	classes := map[int32]int{} // places of conditions
	for i := range r.Gate.Series {
		s := &r.Gate.Series[i]
		g, ok := r.Gate.Summary(s, at)
		if !ok || s.Tail() {
			continue
		}
		t.add(s, g, SeriesWord{Verdict: g.Outcome, Evidence: g.Evidence})
		t.load(t.measured(s, &g))
		t.judged(s, &g)
		at, known := classes[g.Class]
		if !known {
			at = place(t.conds, fmt.Sprint(g.Conditions), &t.Conds, func() map[string]string { return g.Conditions })
			classes[g.Class] = at
		}
		t.Cond = append(t.Cond, at)
	}
	t.explain(at)
	t.releaseScores(at)
	for series, x := range r.stillSlower(at) {
		if row, ok := t.rows[series]; ok && t.Why[row] == "" {
			t.Why[row] = x.why
		}
	}
	return t.SeriesTable
}

// NumberColumns say of each number of a table where it was measured and how it was judged, for the drawer that opens
// at its address.
type NumberColumns struct {
	Runs  []RunInAddress `json:"runs"`
	Run   column         `json:"u"`           // -1: none has it
	Point column         `json:"o"`           // from 1
	N     column         `json:"x,omitempty"` // measurements behind the value
	Base  column         `json:"k,omitempty"` // releases behind the baseline
	// Half is half of the 95 % interval of the log change, in ten-thousandths; null without a test.
	Half []*int `json:"h,omitempty"`
	// Ref is the baseline where it is not the value less its change.
	Ref map[int]float64 `json:"b,omitempty"`
	// Why is the sentence on a change.
	Why map[int]string `json:"y,omitempty"`
	// Against are the targets of a number.
	Against map[int][]NumberTarget `json:"l,omitempty"`

	*LoadColumns
}

// LoadColumns say what the requests behind each number of a release did: numbers of other loads do not compare systems.
type LoadColumns struct {
	OSL    column          `json:"e"`           // measured tokens of an answer; 0: not stated
	Failed map[int]float64 `json:"f,omitempty"` // share of requests, where it is above what may fail
	Least  float64         `json:"least"`       // of the longer side's answers, below which the shorter side's are marked
}

// RunInAddress is a run as addresses name it: no text, so that a public site leaves it as it is.
type RunInAddress string

// NumberTarget is a target of a number with its verdict.
type NumberTarget struct {
	Level    string         `json:"level"`
	Required bool           `json:"required,omitempty"`
	Outcome  schema.Outcome `json:"outcome"`
	Limit    string         `json:"limit"`
	Why      string         `json:"why"`
}

// sentences is how many sentences on changes, and on targets, a table has: a reader waits for it.
const sentences = 120

// measured adds where a number was measured, and returns that point; nil where none has it.
func (t *seriesTable) measured(s *judge.Series, g *judge.Summary) (p *columns.PointRow) {
	t.rows[s] = len(t.Run)
	run, point := t.r.Gate.PointOf(s, g.Release, g.Rechecked)
	if run >= 0 {
		p = &t.r.Columns.Points[t.r.Columns.Runs[run].FirstPoint+point-1]
	}
	t.at(run, point)
	return p
}

// at adds a run and the number of a point or a score in it; -1 for no run.
func (t *seriesTable) at(run, n int) {
	if run >= 0 {
		run = place(t.runs, run, &t.Runs, func() RunInAddress { return RunInAddress(RunName(t.r.Columns.Runs[run].ID)) })
	}
	t.Run, t.Point = append(t.Run, run), append(t.Point, n)
}

// load adds what the requests of a number's point did.
func (t *seriesTable) load(p *columns.PointRow) {
	if t.LoadColumns == nil {
		t.LoadColumns = &LoadColumns{OSL: column{}, Failed: map[int]float64{}, Least: schema.LeastAnswer}
	}
	row := len(t.OSL)
	t.OSL = append(t.OSL, 0)
	if p == nil {
		return
	}
	get := func(metric, stat string) (float64, bool) {
		n, _ := t.r.Columns.Value(p, metric, stat)
		return n.Get()
	}
	osl, ok := get("osl", "mean")
	if !ok {
		osl, _ = get("osl", "value")
	}
	t.OSL[row] = int(math.Round(osl))
	bad, hasBad := get("requests_failed", "value")
	good, hasGood := get("requests_ok", "value")
	if hasBad && hasGood && bad > schema.MostFailures*(bad+good) {
		t.Failed[row] = latency.Round(bad/(bad+good), 3)
	}
}

// judged adds how it was judged.
func (t *seriesTable) judged(s *judge.Series, g *judge.Summary) {
	row := len(t.N)
	t.N, t.Base = append(t.N, g.N), append(t.Base, g.Releases)
	var half *int
	if g.SE > 0 {
		h := int(math.Round(min(t.quantiles.T975(g.Df)*g.SE, 100) * 1e4))
		half = &h
	}
	t.Half = append(t.Half, half)
	if math.IsNaN(g.Ref) {
		return
	}
	change := g.Effect
	if judge.Higher(s.Metric) {
		change = -change
	}
	if math.Abs(g.Value/(1+change)/g.Ref-1) > 1e-5 {
		t.Ref[row] = latency.Round(g.Ref, 7)
	}
}

// explain adds the sentences of a release: on what changed, where the numbers of a calculation do not tell it whole,
// and on targets.
func (t *seriesTable) explain(release int) {
	found := t.r.Gate.Findings(release)
	for i := range found.History {
		v := &found.History[i]
		silent := v.Key.IsEval() || !v.Large && slices.Contains([]schema.Outcome{
			schema.Unchanged, schema.Inconclusive, schema.NoBaseline, schema.NotMeasured,
		}, v.Outcome)
		if silent || len(t.Why) == sentences {
			continue
		}
		if row, ok := t.rows[t.r.seriesOf(v)]; ok {
			t.Why[row] = words.Why(*v)
		}
	}
	var of schema.Pair
	var rows map[covered][]int
	said := 0
	for i := range found.Targets {
		v := &found.Targets[i]
		limit, ok := v.Ref.Get()
		if !ok || said == sentences {
			continue
		}
		if v.Pair() != of { // those of one stand together
			of, rows = v.Pair(), map[covered][]int{}
			for _, s := range t.r.series[of] {
				if row, ok := t.rows[s]; ok {
					id := newCovered(s.Impl, s.Key, s.Metric, s.Stat)
					rows[id] = append(rows[id], row)
				}
			}
		}
		list := rows[newCovered(v.Impl, v.Key, v.Metric, v.Stat)]
		if len(list) == 0 {
			continue
		}
		x := NumberTarget{v.Level, v.Required, v.Outcome, words.Quantity(limit, schema.Unit(v.Metric)), words.Why(*v)}
		said++
		for _, row := range list {
			t.Against[row] = append(t.Against[row], x)
		}
	}
}

// covered is what a target and the numbers that it covers have in common, of one model and device.
type covered struct{ impl, key, metric, stat string }

func newCovered(impl string, k schema.Key, metric, stat string) covered {
	if stat == "" || slices.Contains(schema.CenterStats(), stat) { // tools write one, and a target of one covers it
		stat = "mean"
	}
	return covered{impl, k.String(), metric, stat}
}

// scoreVerdicts are the verdicts on the scores of a release against history.
func (r *Report) scoreVerdicts(release int) map[*columns.ScoreRow]*schema.Verdict {
	out := map[*columns.ScoreRow]*schema.Verdict{}
	list := r.Gate.Findings(release).History
	for i := range list {
		if s := r.Gate.ScoreOf(&list[i]); s != nil {
			out[s] = &list[i]
		}
	}
	return out
}

// addScores adds the scores of some runs, and calls each with the verdict on every one, or nil. A score differs from a
// number in its change: that is a difference, since a score may be zero, and half of a small one says little.
func (t *seriesTable) addScores(runs []int, found map[*columns.ScoreRow]*schema.Verdict, each func(v *schema.Verdict)) {
	for _, run := range runs {
		h := &t.r.Columns.Runs[run]
		for i, s := range t.r.scoresOf(run) {
			value, ok := s.Value.Get()
			if !ok || math.IsNaN(value) || math.IsInf(value, 0) {
				continue
			}
			v, scale := found[s], judge.ShareScale(&s.Score)
			row := tableRow{
				system: h.System(), workload: strings.Trim(words.Workload(schema.EvalKey(&s.Score))+" "+fewshotText(&s.Score), " "),
				tool: s.Source.Format, id: metricStat{s.Metric, s.Direction, fmt.Sprint("score", scale)}, value: value,
				metric: func() SeriesMetric {
					return SeriesMetric{Name: s.Metric, Label: s.Metric, Higher: !s.Lower(),
						Score: cmp.Or(s.Direction, map[bool]string{true: "lower"}[s.Lower()], "unstated"), Scale: scale}
				},
				word: SeriesWord{Verdict: schema.NoBaseline},
			}
			if v != nil {
				row.word = SeriesWord{Verdict: v.Outcome, Evidence: v.Evidence}
				if worse, ok := v.Effect.Get(); ok && v.Interval != nil { // in shares of 1 of a share
					c := latency.Round(-worse, 7)
					if s.Lower() {
						c = -c
					}
					row.change = &c
				}
			}
			t.addRow(row)
			t.at(run, i+1)
			each(v)
		}
	}
}

// withScores are the runs that have a score.
func (r *Report) withScores(runs []int) []int {
	return slices.DeleteFunc(slices.Clone(runs), func(run int) bool { return r.Columns.Runs[run].Scores == 0 })
}

// releaseScores adds the scores of a release with the sentences of their verdicts.
func (t *seriesTable) releaseScores(at int) {
	runs := t.r.withScores(t.r.Releases[at].Runs)
	if len(runs) == 0 {
		return
	}
	t.addScores(runs, t.r.scoreVerdicts(at), func(v *schema.Verdict) {
		if v != nil && v.Interval != nil && len(t.Why) < 2*sentences {
			t.Why[len(t.N)] = words.Why(*v)
		}
		t.N, t.Base, t.Half = append(t.N, 1), append(t.Base, 0), append(t.Half, nil)
		t.Cond = append(t.Cond, place(t.conds, "map[]", &t.Conds, func() map[string]string { return nil }))
	})
}

// scoreName is what two scores must share to stand beside each other.
type scoreName struct {
	pair                         SeriesPair
	impl, workload, tool, metric string
}

// scoresByName are the verdicts on the scores of a release, as the table that the browser joins has them.
func (r *Report) scoresByName(at int) map[scoreName][]SeriesWord {
	t, out := r.newSeriesTable(), map[scoreName][]SeriesWord{}
	t.releaseScores(at)
	for i := range t.Value {
		name := scoreName{t.Pairs[t.Pair[i]], t.Impls[t.Impl[i]], t.Workloads[t.Workload[i]], t.Tools[t.Tool[i]],
			t.Metrics[t.Metric[i]].Name}
		out[name] = append(out[name], t.Words[t.Word[i]])
	}
	return out
}
