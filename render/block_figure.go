package render

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// Figure is the values of one metric over releases, one line a workload. Readers switch lines, zoom in, and open the
// run behind a value.
type Figure struct {
	ID       string // stable, from what it shows
	Metric   string // label: "TTFT mean"
	Unit     string
	Better   string // "lower is better"
	Releases []string
	Series   []FigureSeries
	Limits   []Limit
}

// FigureSeries is one line: a point for each release.
type FigureSeries struct {
	Name   string
	Points []Point
}

// Point is one value; a release without one has OK false and breaks the line.
type Point struct {
	OK    bool
	Value float64
	Text  string // value with unit
	Note  string // where it comes from: " in v1.2, mean of 2 measurements"
	Href  Address
}

// Limit is a target.
type Limit struct {
	Value float64
	Label string
}

// linesDrawn is how many series share one figure.
const linesDrawn = 5

// Kind implements Block.
func (f Figure) Kind() string { return "figure" }

// Plain implements Block.
func (f Figure) Plain() []Block { return []Block{Prose{f.Summary()}, f.Table()} }

// Title names what is drawn, in which unit, and which way is better. A unit that the metric's name ends with is not
// repeated.
func (f Figure) Title() string {
	parts := []string{f.Metric, f.Unit, f.Better}
	if strings.HasSuffix(f.Metric, f.Unit) {
		parts = []string{f.Metric, f.Better}
	}
	return strings.Join(parts, ", ")
}

// Summary is the figure in words: where each line begins and ends.
func (f Figure) Summary() string {
	if len(f.Series) == 0 || len(f.Releases) == 0 {
		return f.Metric + ": nothing to draw"
	}
	out := fmt.Sprintf("%s over %s.", f.Title(), words.Plural(len(f.Releases), "release"))
	for _, s := range f.Series {
		first, last := -1, -1
		for i, p := range s.Points {
			if p.OK {
				if first < 0 {
					first = i
				}
				last = i
			}
		}
		switch {
		case first < 0:
			out += fmt.Sprintf(" %s: no value.", s.Name)
		case first == last:
			out += fmt.Sprintf(" %s: %s.", s.Name, words.Number(s.Points[last].Value))
		default:
			out += fmt.Sprintf(" %s: %s to %s.", s.Name, words.Number(s.Points[first].Value),
				words.Number(s.Points[last].Value))
		}
	}
	return out
}

// Table has every value of the figure, newest release first.
func (f Figure) Table() *Table {
	t := &Table{Caption: "The numbers of " + f.Title(), Layout: Numbers, Cols: []Col{{Head: "Release"}}}
	for _, s := range f.Series {
		t.Cols = append(t.Cols, Col{Head: s.Name, Unit: f.Unit, Num: true})
	}
	for i := len(f.Releases) - 1; i >= 0; i-- {
		run, one := f.RunOf(i)
		row := Row{Cells: []Cell{{Text: f.Releases[i], Head: true, Href: run}}}
		for _, s := range f.Series {
			cell := number(schema.Missing("not measured"))
			if p := s.Points[i]; p.OK {
				cell = number(schema.Num(p.Value))
				if !one {
					cell.Href = p.Href
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// RunOf is the run that all values of a release are from; one is false, and the address empty, when there are several.
func (f Figure) RunOf(release int) (run Address, one bool) {
	for _, s := range f.Series {
		switch p := s.Points[release]; {
		case !p.OK || p.Href == run:
		case run != "":
			return "", false
		default:
			run = p.Href
		}
	}
	return run, true
}
