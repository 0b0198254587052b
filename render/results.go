package render

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
)

// statColumn is a column of the table of results that a point may or may not fill.
type statColumn struct {
	metric, stat string
	head, unit   string
	always       bool // it is shown although no point has it, unless points have the median
	sort         bool
}

// statColumns are the columns in order. People know the first ones from tt-inference-server's reports; E2EL is what
// engines without a server report.
func statColumns() []statColumn {
	return []statColumn{
		{"ttft", "mean", "TTFT Avg", "ms", true, true}, {"ttft", "median", "TTFT P50", "ms", false, false},
		{"ttft", "p99", "TTFT P99", "ms", false, false},
		{"tpot", "mean", "TPOT Avg", "ms", true, true}, {"tpot", "median", "TPOT P50", "ms", false, false},
		{"tpot", "p99", "TPOT P99", "ms", false, false},
		{"e2el", "mean", "E2EL Avg", "ms", false, true}, {"e2el", "p95", "E2EL P95", "ms", false, false},
		{"e2el", "p99", "E2EL P99", "ms", false, false},
		{"output_tps", "value", "Tok/s", "output", true, true}, {"total_tps", "value", "Tok/s", "total", false, true},
		{"rps", "value", "Req/s", "", false, true}, {"startup_s", "value", "Start-up", "s", false, true},
	}
}

// filledColumns are the columns that the points fill. Where no point has TTFT or TPOT, as of an engine without a
// server, their columns go too.
func (r *Report) filledColumns(points []*columns.PointRow) []statColumn {
	all := statColumns()
	for _, name := range r.ownMetrics() {
		info, _ := schema.MetricByName(name)
		all = append(all, statColumn{metric: name, stat: "value", head: info.Label, unit: info.Unit, sort: true})
	}
	has := func(metric, stat string) bool {
		return slices.ContainsFunc(points, func(p *columns.PointRow) bool {
			v, _ := r.Columns.Value(p, metric, stat)
			_, ok := v.Get()
			return ok
		})
	}
	latency := has("ttft", "mean") || has("tpot", "median") || !has("e2el", "mean")
	return slices.DeleteFunc(all, func(c statColumn) bool {
		always := c.always && latency && !has(c.metric, "median")
		return !always && !has(c.metric, c.stat)
	})
}

// ownMetrics are the metrics of the users' own in history, by name.
func (r *Report) ownMetrics() []string {
	var out []string
	for _, s := range r.Columns.Stats {
		if schema.IsOwn(s.Metric) && s.Stat == "value" && !slices.Contains(out, s.Metric) {
			out = append(out, s.Metric)
		}
	}
	sort.Strings(out)
	return out
}

// resultTable is the table of a run's or release's points, with the columns that they fill.
func (r *Report) resultTable(runs []int) *Table {
	points := r.points(runs)
	filled := r.filledColumns(points)
	t := &Table{
		Caption: "Results, by workload", Titled: true, Layout: Numbers,
		Cols: []Col{
			{Head: "ISL", Num: true, Sort: true}, {Head: "OSL", Num: true, Sort: true},
			{Head: "Max concurrency", Num: true, Sort: true}, {Head: "N", Num: true},
		},
	}
	for _, c := range filled {
		t.Cols = append(t.Cols, Col{Head: c.head, Unit: c.unit, Num: true, Sort: c.sort})
	}
	t.Cols = append(t.Cols, Col{Head: "Tool"}, Col{Head: "Status"})
	repeats := map[int32]int{}
	for _, p := range points {
		repeats[p.Key]++
	}
	for _, p := range points {
		t.Rows = append(t.Rows, Row{Cells: r.resultCells(p, filled, repeats[p.Key] > 1)})
	}
	return t
}

func (r *Report) resultCells(p *columns.PointRow, filled []statColumn, several bool) []Cell {
	c := r.Columns
	k := c.Keys[p.Key]
	length := func(v *float64, head bool) Cell {
		if v == nil {
			return Cell{Text: words.Absent, Missing: "not stated", Head: head}
		}
		return Cell{Text: fmt.Sprintf("%.10g", *v), Sort: v, Head: head, Href: RunPath(c.Runs[p.Run].ID)}
	}
	osl, conc := length(k.OSL, false), length(k.Concurrency, false)
	osl.Href, conc.Href = "", ""
	if k.Rate != nil {
		conc.Sub = words.Number(*k.Rate) + " req/s"
	}
	n, _ := c.Value(p, "requests_ok", "value")
	cells := []Cell{length(k.ISL, true), osl, conc, counted(n)}
	for _, col := range filled {
		cells = append(cells, r.statistic(p, col.metric, col.stat))
	}
	status := p.StatusWord()
	if several {
		status += ", repeated"
	}
	return append(cells, Cell{Text: k.Tool, Sub: otherDims(k)}, text(string(status)))
}

func (r *Report) points(runs []int) []*columns.PointRow {
	c := r.Columns
	var points []*columns.PointRow
	for _, run := range runs {
		for i := c.Runs[run].FirstPoint; i < c.Runs[run].PointsEnd; i++ {
			points = append(points, &c.Points[i])
		}
	}
	sort.SliceStable(points, func(i, j int) bool {
		a, b := c.Keys[points[i].Key], c.Keys[points[j].Key]
		if points[i].Key != points[j].Key {
			return a.Less(b)
		}
		return false
	})
	return points
}

// Shown is a point's statistic as every surface shows it: a P99 of fewer than 100 requests is no number.
func (r *Report) Shown(p *columns.PointRow, metric, stat string) schema.Number {
	v, _ := r.Columns.Value(p, metric, stat)
	if _, ok := v.Get(); !ok || stat != "p99" {
		return v
	}
	n, _ := r.Columns.Value(p, metric, "n")
	count, known := n.Get()
	if !known {
		n, _ = r.Columns.Value(p, "requests_ok", "value")
		count, known = n.Get()
	}
	if known && count < schema.FewForTail {
		return schema.Missing(fmt.Sprintf("n = %.0f", count))
	}
	return v
}

// statistic is a statistic's cell.
func (r *Report) statistic(p *columns.PointRow, metric, stat string) Cell {
	v := r.Shown(p, metric, stat)
	if strings.HasPrefix(v.Why(), "n = ") {
		return Cell{Text: v.Why(), Missing: "a P99 of fewer than 100 requests is no number"}
	}
	return number(v)
}

// counted is a cell with a whole number.
func counted(n schema.Number) Cell {
	if v, ok := n.Get(); ok && v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return Cell{Text: words.Count(int(v)), Sort: &v}
	}
	return number(n)
}

func otherDims(k schema.Key) string {
	var parts []string
	if k.Dataset != "" {
		parts = append(parts, k.Dataset)
	}
	names := make([]string, 0, len(k.Dims))
	for name := range k.Dims {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if name == schema.DimLabel {
			parts = append(parts, k.Dims[name])
		} else {
			parts = append(parts, name+" "+k.Dims[name])
		}
	}
	return strings.Join(parts, ", ")
}
