package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// SeriesTable is many series in columns, for the pages that filter and compare them in the browser: texts once, in lists, and a row of
// small numbers a series.
type SeriesTable struct {
	Pairs     [][3]string    `json:"pairs"` // model, device, page
	Impls     []string       `json:"impls"`
	Workloads []string       `json:"workloads"`
	Tools     []string       `json:"tools"`
	Metrics   []SeriesMetric `json:"metrics"`
	Words     [][2]string    `json:"words"` // verdict and evidence
	Releases  []string       `json:"releases,omitempty"`
	// Conds are conditions that change what a number means: two numbers that both state one and differ in it are not compared.
	Conds []map[string]string `json:"conds,omitempty"`

	Pair     []int      `json:"p"`
	Impl     []int      `json:"i"`
	Workload []int      `json:"w"`
	Tool     []int      `json:"t"`
	Metric   []int      `json:"m"`
	Word     []int      `json:"g"`
	Cond     []int      `json:"n,omitempty"` // of the tables that are compared: into Conds
	Value    []float64  `json:"v"`
	Change   []*float64 `json:"c"`           // of the number itself against its baseline; null without one
	Release  []int      `json:"r,omitempty"` // of the value
	Spark    []string   `json:"s,omitempty"` // a letter a release, A lowest to / highest of 64 levels; - where there is no value
}

// SeriesMetric is a metric with a statistic.
type SeriesMetric struct {
	Name   string  `json:"name"`
	Label  string  `json:"label"`
	Unit   string  `json:"unit"`
	Higher bool    `json:"higher"` // is better
	Effect float64 `json:"effect"` // least relative change that matters
}

// seriesTable fills a table.
type seriesTable struct {
	SeriesTable
	r     *Report
	index map[string]int
}

// newSeriesTable is a table without rows: its lists are empty, and not absent.
func (r *Report) newSeriesTable() seriesTable {
	return seriesTable{r: r, index: map[string]int{}, SeriesTable: SeriesTable{Pairs: [][3]string{}, Impls: []string{}, Workloads: []string{}, Tools: []string{}, Metrics: []SeriesMetric{}, Words: [][2]string{},
		Pair: []int{}, Impl: []int{}, Workload: []int{}, Tool: []int{}, Metric: []int{}, Word: []int{}, Value: []float64{}, Change: []*float64{}}}
}

// place is the place of a text in one of the lists, which it is added to.
func place[T any](t *seriesTable, kind, name string, list *[]T, of func() T) int {
	at, ok := t.index[kind+name]
	if !ok {
		at = len(*list)
		t.index[kind+name] = at
		*list = append(*list, of())
	}
	return at
}

func (t *seriesTable) add(s *judge.Series, g judge.Glance) {
	same := func(s string) func() string { return func() string { return s } }
	t.Pair = append(t.Pair, place(t, "p", s.Model+"\x00"+s.Device, &t.Pairs, func() [3]string {
		return [3]string{nameOr(s.Model), nameOr(s.Device), PairPath(s.Model, s.Device)}
	}))
	workload := strings.TrimSpace(words.Workload(s.Key))
	t.Impl = append(t.Impl, place(t, "i", s.Impl, &t.Impls, same(s.Impl)))
	t.Workload = append(t.Workload, place(t, "w", workload, &t.Workloads, same(workload)))
	t.Tool = append(t.Tool, place(t, "t", s.Key.Tool, &t.Tools, same(s.Key.Tool)))
	t.Metric = append(t.Metric, place(t, "m", s.Metric+"\x00"+s.Stat+"\x00"+s.Unit, &t.Metrics, func() SeriesMetric {
		return SeriesMetric{s.Metric, metricLabel(s.Metric, s.Stat), s.Unit, judge.Higher(s.Metric), t.r.Gate.Policy.Effect(s.Metric)}
	}))
	t.Word = append(t.Word, place(t, "g", string(g.Outcome+" ")+string(g.Evidence), &t.Words, func() [2]string { return [2]string{string(g.Outcome), string(g.Evidence)} }))
	t.Value = append(t.Value, latency.Round(g.Value, 7))
	var change *float64
	if !math.IsNaN(g.Effect) {
		c := math.Round(g.Effect*1e6) / 1e6
		if judge.Higher(s.Metric) {
			c = -c
		}
		change = &c
	}
	t.Change = append(t.Change, change)
}

// Explore is the table of all series, each in the newest release that has it, worst first.
func (r *Report) Explore() SeriesTable {
	t := r.newSeriesTable()
	type row struct {
		s *judge.Series
		g judge.Glance
	}
	var rows []row
	for i := range r.Gate.Series {
		s := &r.Gate.Series[i]
		if g, ok := r.Gate.Glance(s, -1); ok {
			rows = append(rows, row{s, g})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		if c := cmp.Compare(a.g.Rank, b.g.Rank); c != 0 {
			return c
		}
		return cmp.Compare(b.g.Weight, a.g.Weight)
	})
	for _, x := range rows {
		t.add(x.s, x.g)
		name := r.Releases[x.g.Release].Name
		t.Release = append(t.Release, place(&t, "r", name, &t.Releases, func() string { return name }))
		t.Spark = append(t.Spark, r.sparkLetters(x.s))
	}
	return t.SeriesTable
}

// sparkLetters are the last values of a series, each as one of 64 levels. The span is never less than a fifth of the values: noise
// cannot look like news.
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
	t := r.newSeriesTable()
	for i := range r.Gate.Series {
		s := &r.Gate.Series[i]
		if g, ok := r.Gate.Glance(s, at); ok {
			t.add(s, g)
			t.Cond = append(t.Cond, place(&t, "n", fmt.Sprint(g.Conditions), &t.Conds, func() map[string]string { return g.Conditions }))
		}
	}
	return t.SeriesTable
}

// ExplorePage finds series: by model, device, metric, verdict and text.
func (r *Report) ExplorePage() Page {
	return r.widgetPage("explore", "Explore", "Find any number that was judged.", "Each series stands in the newest release that has it, worst first. The address keeps what you choose.", Widget{Kind: "explore", Data: ExploreShardPath})
}

// ComparePage lays two releases, devices or tools beside each other.
func (r *Report) ComparePage() Page {
	w := Widget{Kind: "compare"}
	for i := range r.Releases {
		name := r.Releases[i].Name
		w.Releases = append(w.Releases, [2]string{name, ReleaseShardPath(name)})
	}
	w.A, w.B = r.beside()
	return r.widgetPage("compare", "Compare", "What differs between two releases, models, devices or tools?", "What both sides choose differently is compared; everything else must be the same. One number a side says nothing of noise: the verdicts of a release do, and so does ttreport compare with repeats.", w)
}

// beside are the releases that stand beside each other at first: the newest that has an earlier one with a pair in common, and that one.
func (r *Report) beside() (a, b string) {
	newest := r.Newest()
	if newest < 0 {
		return "", ""
	}
	b, found := r.Releases[newest].Name, -1
	for _, p := range r.Pairs {
		for _, at := range r.measuredIn(p.Model, p.Device) {
			if has := r.runs[p.Pair]; at < newest && len(has[newest]) > 0 && at > found {
				found = at
			}
		}
	}
	if found >= 0 {
		return r.Releases[found].Name, b
	}
	for _, p := range r.Pairs { // the newest stands alone: any pair that was measured twice
		if list := r.measuredIn(p.Model, p.Device); len(list) > 1 && list[len(list)-1] > found {
			found = list[len(list)-1]
			a, b = r.Releases[list[len(list)-2]].Name, r.Releases[found].Name
		}
	}
	return a, b
}

// widgetPage is a page whose content needs script; without it, it lists the pages that need none.
func (r *Report) widgetPage(name, title, lead, para string, w Widget) Page {
	return Page{Path: name + "/index.html", Title: title, Nav: name, Description: lead, Crumbs: []Link{{"Overview", "index.html"}, {title, ""}}, Lead: Lead{Text: lead, Paras: []string{para}}, Simulated: r.simulated(-1), Script: "explore.js",
		Sections: []Section{{ID: name, Blocks: []Block{{Widget: &w}}}, {ID: "pages", Title: "Pages that need no script", Intro: "The same numbers, by model and device.", Blocks: []Block{{Table: r.pairList()}}}}}
}

// Widget is a part of a page that a script fills.
type Widget struct {
	Kind     string      // explore or compare
	Data     string      // path of its shard
	Releases [][2]string // name and shard, oldest first
	A, B     string      // releases that stand beside each other at first
}

// ExploreShardPath is the script with all series.
const ExploreShardPath = "data/shards/explore.js"

// ReleaseShardPath is the script with the series of a release.
func ReleaseShardPath(release string) string {
	return "data/shards/releases/" + schema.Slug(release) + ".js"
}
