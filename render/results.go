package render

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
)

// resultTables are the tables of some runs' points, with the fields that they fill: one, or where that would be too
// wide one with means and rates and one with the other statistics.
func (r *Report) resultTables(runs []int) []*Table {
	return r.pointTables(r.points(runs))
}

// pointTables are the tables of points.
func (r *Report) pointTables(points []*columns.PointRow) []*Table {
	if len(points) == 0 {
		return nil
	}
	repeats := map[int32]int{}
	for _, p := range points {
		repeats[p.Key]++
	}
	var out []*Table
	for i, fields := range r.tableFields(points) {
		t := &Table{Caption: "Results, by workload", Titled: true, Layout: Numbers, Cols: []Col{
			{Head: "ISL", Num: true, Sort: true}, {Head: "OSL", Num: true, Sort: true},
			{Head: "Max concurrency", Num: true, Sort: true}, {Head: "N", Num: true},
		}}
		if i > 0 {
			t.Caption = "Spread of latencies, by workload"
		}
		for _, f := range fields {
			t.Cols = append(t.Cols, Col{Head: f.Head, Unit: f.Unit, Num: true, Sort: f.sort})
		}
		t.Cols = append(t.Cols, Col{Head: "Tool"}, Col{Head: "Status"})
		for _, p := range points {
			t.Rows = append(t.Rows, Row{Cells: r.resultCells(p, fields, repeats[p.Key] > 1)})
		}
		out = append(out, t)
	}
	return out
}

func (r *Report) resultCells(p *columns.PointRow, fields []Field, several bool) []Cell {
	c := r.Columns
	k := c.Keys[p.Key]
	length := func(v *float64, head bool) Cell {
		if v == nil {
			return Cell{Text: words.Absent, Missing: "not stated", Head: head}
		}
		return Cell{Text: fmt.Sprintf("%.10g", *v), Sort: v, Head: head, Href: RunPath(c.Runs[p.Run].ID)}
	}
	isl, osl, conc := length(k.ISL, true), length(k.OSL, false), length(k.Concurrency, false)
	r.counted(p, &isl, "isl")
	r.counted(p, &osl, "osl")
	osl.Href, conc.Href = "", ""
	if k.Rate != nil {
		conc.Sub = words.Number(*k.Rate) + " req/s"
	}
	n, _ := c.Value(p, "requests_ok", "value")
	cells := []Cell{isl, osl, conc, counted(n)}
	for _, f := range fields {
		cells = append(cells, r.statistic(p, f.Metric, f.Stat))
	}
	status := p.StatusWord()
	if several {
		status += ", repeated"
	}
	return append(cells, Cell{Text: k.Tool, Sub: otherDims(k)}, text(string(status)))
}

// counted fills in a length that the workload does not state with what was counted, such as of a dataset.
func (r *Report) counted(p *columns.PointRow, c *Cell, metric string) {
	v, _ := r.Columns.Value(p, metric, "mean")
	if n, ok := v.Get(); ok && c.Missing != "" {
		c.Text, c.Sub, c.Sort, c.Missing = words.Number(math.Round(n)), "counted", &n, ""
	}
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
	v := r.raw(p, metric, stat)
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
