package render

import (
	"fmt"
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// courseSection shows what happened during the measurements of a run: latencies, gauges of the server, power.
func courseSection(run *schema.Run) Section {
	t := courses(run)
	if len(t.Rows) == 0 {
		return Section{}
	}
	return Section{ID: "by-time", Title: "By time",
		Intro: "Means over equal parts of each measurement, of the requests sent in them, of the server's gauges and of " +
			"power, each line on a scale of its own that spans at least ±10 % of its values. A gap was not known.",
		Blocks: []Block{t.elsewhere("the history document has all").keep(coursesShown)}}
}

// coursesShown is how many lines by time the page of a run has: a drawer finds the lines of its point there.
const coursesShown = 2000

// courses has a row for each quantity of each point whose course is known. The first column is the point's number.
func courses(run *schema.Run) *Table {
	t := &Table{Caption: "By time", Layout: List, Cols: []Col{
		{Head: "Point", Num: true, Length: Short}, {Head: "Workload", Unit: "ISL/OSL/concurrency"}, {Head: "Quantity"},
		{Head: "Lowest", Num: true, Length: Short}, {Head: "Highest", Num: true, Length: Short},
		{Head: "Over", Num: true, Length: Short}, {Head: "By time", Length: Medium},
	}}
	for i := range run.Points {
		p := &run.Points[i]
		for _, x := range p.Slices.Series {
			if row, ok := courseRow(i+1, p, x); ok {
				t.Rows = append(t.Rows, row)
			}
		}
	}
	return t
}

func courseRow(number int, p *schema.Point, x schema.SliceOf) (Row, bool) {
	lo, hi, ok := x.Range()
	info, known := schema.SliceInfo(x.Name)
	if !ok || !known {
		return Row{}, false
	}
	first, last := math.NaN(), math.NaN()
	for _, v := range x.Values {
		if math.IsNaN(first) {
			first = v
		}
		if !math.IsNaN(v) {
			last = v
		}
	}
	over := words.Number(p.Slices.Step*float64(len(x.Values))) + words.Thin + "s"
	label := fmt.Sprintf("%s from %s to %s %s", info.Label, words.Number(first), words.Number(last), info.Unit)
	return Row{Cells: []Cell{
		{Text: fmt.Sprint(number)}, {Text: words.Workload(p.Key), Sub: p.Key.Tool, Head: true},
		{Text: info.Label, Sub: info.Unit}, text(words.Number(lo)), text(words.Number(hi)), text(over),
		{Spark: &Spark{label, x.Values}},
	}}, true
}
