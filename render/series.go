package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// SeriesTable is many series in columns, for the pages that filter and compare them in the browser: texts once, in
// lists, and a row of small numbers a series.
type SeriesTable struct {
	Pairs     []SeriesPair   `json:"pairs"`
	Impls     []string       `json:"impls"`
	Workloads []string       `json:"workloads"`
	Tools     []string       `json:"tools"`
	Metrics   []SeriesMetric `json:"metrics"`
	Words     []SeriesWord   `json:"words"`
	Releases  []string       `json:"releases,omitempty"`
	Channels  []string       `json:"channels,omitempty"` // of Releases
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
}

// SeriesWord is a verdict with its evidence.
type SeriesWord struct {
	Verdict  schema.Outcome  `json:"verdict"`
	Evidence schema.Evidence `json:"evidence,omitempty"`
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
}

// metricStat is a metric with a statistic and a unit.
type metricStat struct{ metric, stat, unit string }

// newSeriesTable is a table without rows: its lists are empty, and not absent.
func (r *Report) newSeriesTable() seriesTable {
	return seriesTable{
		r: r, pairs: map[schema.Pair]int{}, impls: map[string]int{}, workloads: map[string]int{},
		tools: map[string]int{}, releases: map[string]int{}, conds: map[string]int{}, metrics: map[metricStat]int{},
		words: map[SeriesWord]int{},
		SeriesTable: SeriesTable{
			Pairs: []SeriesPair{}, Impls: []string{}, Workloads: []string{}, Tools: []string{},
			Metrics: []SeriesMetric{}, Words: []SeriesWord{}, Pair: column{}, Impl: column{}, Workload: column{},
			Tool: column{}, Metric: column{}, Word: column{}, Value: []float64{}, Change: []*float64{},
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

// name is the place of a name in a list.
func name(index map[string]int, s string, list *[]string) int {
	return place(index, s, list, func() string { return s })
}

// tableRow is a row of the table.
type tableRow struct {
	system         schema.System
	workload, tool string
	id             metricStat
	metric         func() SeriesMetric
	word           SeriesWord
	value          float64
	change         *float64
}

func (t *seriesTable) addRow(x tableRow) {
	pair := schema.Pair{Model: x.system.Model, Device: x.system.Device}
	t.Pair = append(t.Pair, place(t.pairs, pair, &t.Pairs, func() SeriesPair {
		return SeriesPair{words.OrUnknown(pair.Model), words.Device(pair.Device), PairPath(pair.Model, pair.Device)}
	}))
	t.Impl = append(t.Impl, name(t.impls, x.system.Impl, &t.Impls))
	t.Workload = append(t.Workload, name(t.workloads, x.workload, &t.Workloads))
	t.Tool = append(t.Tool, name(t.tools, x.tool, &t.Tools))
	t.Metric = append(t.Metric, place(t.metrics, x.id, &t.Metrics, x.metric))
	t.Word = append(t.Word, place(t.words, x.word, &t.Words, func() SeriesWord { return x.word }))
	t.Value, t.Change = append(t.Value, latency.Round(x.value, 7)), append(t.Change, x.change)
}

func (t *seriesTable) add(s *judge.Series, g judge.Summary) {
	var change *float64
	if !math.IsNaN(g.Effect) {
		c := math.Round(g.Effect*1e6) / 1e6
		if judge.Higher(s.Metric) {
			c = -c
		}
		change = &c
	}
	t.addRow(tableRow{
		system: s.System(), workload: strings.TrimSpace(words.Workload(s.Key)), tool: s.Key.Tool,
		id: metricStat{s.Metric, s.Stat, s.Unit}, word: SeriesWord{g.Outcome, g.Evidence}, value: g.Value, change: change,
		metric: func() SeriesMetric {
			return SeriesMetric{Name: s.Metric, Label: words.Metric(s.Metric, s.Stat), Unit: s.Unit,
				Higher: judge.Higher(s.Metric), Effect: t.r.Gate.Policy.Effect(s.Metric)}
		},
	})
}

// Explore is the table of all series, each in the newest release that has it, worst first.
func (r *Report) Explore() SeriesTable {
	t := r.newSeriesTable()
	type row struct {
		s *judge.Series
		g judge.Summary
	}
	var rows []row
	for i := range r.Gate.Series {
		s := &r.Gate.Series[i]
		if g, ok := r.Gate.Summary(s, -1); ok && !s.Tail() {
			rows = append(rows, row{s, g})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		if c := cmp.Compare(a.g.Rank, b.g.Rank); c != 0 {
			return c
		}
		return cmp.Compare(b.g.Weight, a.g.Weight)
	})
	numbers := newNumberTable(r)
	for _, x := range rows {
		t.add(x.s, x.g)
		rel := &r.Releases[x.g.Release]
		t.Release = append(t.Release, place(t.releases, rel.Name, &t.Releases, func() string {
			t.Channels = append(t.Channels, rel.Channel)
			return rel.Name
		}))
		t.Spark = append(t.Spark, r.sparkLetters(x.s))
		numbers.place(x.s, &x.g)
	}
	r.exploreScores(&t, &numbers)
	t.NumberColumns = &numbers.NumberColumns
	return t.SeriesTable
}

// sparkLetters are the last values of a series, each as one of 64 levels. The span is never less than a fifth of the
// values: noise cannot look like news.
func (r *Report) sparkLetters(s *judge.Series) string {
	const levels = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	const most, least = 24, .2
	at := r.measuredIn(s.Model, s.Device)
	at = at[max(0, len(at)-most):]
	values := make([]float64, len(at))
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, ri := range at {
		v, ok := s.At(ri)
		if values[i] = v; !ok {
			values[i] = math.NaN()
			continue
		}
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	if span := least * math.Abs(hi); hi-lo < span {
		lo, hi = (lo+hi-span)/2, (lo+hi+span)/2
	}
	out := make([]byte, len(values))
	for i, v := range values {
		out[i] = '-'
		if !math.IsNaN(v) && hi > lo {
			out[i] = levels[int(math.Round((v-lo)/(hi-lo)*float64(len(levels)-1)))]
		}
	}
	return string(out)
}

// ReleaseSeries is the table of what one release measured.
func (r *Report) ReleaseSeries(at int) SeriesTable {
	t, numbers := r.newSeriesTable(), newNumberTable(r)
	classes := map[int32]int{} // places of conditions
	r.Gate.Summaries(at, func(s *judge.Series, g *judge.Summary) {
		if s.Tail() {
			return
		}
		t.add(s, *g)
		numbers.load(numbers.place(s, g))
		numbers.judged(s, g)
		at, known := classes[g.Class]
		if !known {
			at = place(t.conds, fmt.Sprint(g.Conditions), &t.Conds, func() map[string]string { return g.Conditions })
			classes[g.Class] = at
		}
		t.Cond = append(t.Cond, at)
	})
	numbers.explain(at)
	r.releaseScores(&t, &numbers, at)
	t.NumberColumns = &numbers.NumberColumns
	return t.SeriesTable
}
