package render

import (
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// Distribution is a latency over the requests of some workloads: at each percentile the value that this share of the
// requests did not exceed. Readers switch workloads and zoom in on the tail.
type Distribution struct {
	ID     string // stable, from what it shows
	Metric string // label: "TTFT"
	Unit   string
	Series []DistributionSeries
}

// DistributionSeries is one workload.
type DistributionSeries struct {
	Name      string
	Quantiles []float64 // at i/(len-1)
}

// Kind implements Block.
func (d Distribution) Kind() string { return "distribution" }

// Plain implements Block.
func (d Distribution) Plain() []Block { return []Block{Prose{d.Summary()}, d.Table()} }

// Title names what is drawn, and in which unit.
func (d Distribution) Title() string { return d.Metric + " over requests, " + d.Unit }

// Summary is the figure in words: the median and the maximum of each workload.
func (d Distribution) Summary() string {
	out := d.Title() + "."
	for _, s := range d.Series {
		n := len(s.Quantiles)
		out += fmt.Sprintf(" %s: median %s, maximum %s.", s.Name, words.Number(s.Quantiles[n/2]),
			words.Number(s.Quantiles[n-1]))
	}
	return out
}

// Percent is the percentile of a quantile, 0 to 100.
func (s DistributionSeries) Percent(i int) float64 {
	return 100 * float64(i) / float64(len(s.Quantiles)-1)
}

// Note says what a point of a line is.
func (d Distribution) Note(s DistributionSeries, i int) string {
	return fmt.Sprintf("%.4g %% of requests within %s", s.Percent(i), words.Quantity(s.Quantiles[i], d.Unit))
}

// Table has every value of the figure, one row a percentile.
func (d Distribution) Table() *Table {
	t := &Table{Caption: "The numbers of " + d.Title(), Layout: Numbers, Cols: []Col{{Head: "Percentile"}}}
	for _, s := range d.Series {
		t.Cols = append(t.Cols, Col{Head: s.Name, Unit: d.Unit, Num: true})
	}
	if len(d.Series) == 0 {
		return t
	}
	for i := range d.Series[0].Quantiles {
		row := Row{Cells: []Cell{{Text: fmt.Sprintf("%.4g", d.Series[0].Percent(i)), Head: true}}}
		for _, s := range d.Series {
			row.Cells = append(row.Cells, number(schema.Num(s.Quantiles[i])))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// distributionFigures are the distributions of a run, one a latency, each of at most as many workloads as a figure has
// lines.
func distributionFigures(run *schema.Run) []Block {
	var out []Block
	for _, metric := range []string{"ttft", "tpot", "e2el"} {
		info, _ := schema.MetricByName(metric)
		d := Distribution{ID: "distribution-" + metric, Metric: info.Label, Unit: info.Unit}
		for i := range run.Points {
			q := run.Points[i].Metrics[metric].Quantiles
			if len(q) == quantiles && q[0] > 0 && len(d.Series) < linesDrawn {
				d.Series = append(d.Series, DistributionSeries{pointName(&run.Points[i]), q})
			}
		}
		if len(d.Series) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// pointName tells the points of a run apart.
func pointName(p *schema.Point) string {
	name := words.Workload(p.Key) + " " + words.OrUnknown(p.Key.Tool)
	if p.Repeat > 1 {
		name += fmt.Sprintf(", repeat %d", p.Repeat)
	}
	return name
}
