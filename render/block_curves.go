package render

import (
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// Curves show one workload over concurrency: what the device gives against what one user sees.
type Curves struct {
	Name   string // of the workload
	Curves []Curve
	Table  *Table // the numbers of all
}

// Curve is output against the speed or the wait of one user: one line a release, one point a concurrency. Right is
// better where Right is set, left otherwise; up is always better.
type Curve struct {
	ID, Title, XTitle, YTitle string
	Right                     bool
	Lines                     []CurveLine // oldest first
	Limits                    []Limit     // on the horizontal axis
}

// CurveLine is the sweep of one release.
type CurveLine struct {
	Name   string
	Age    Age
	Points []CurvePoint
}

// Age is which of the shown releases a line is of.
type Age string

// Ages of lines.
const (
	Newest   Age = "newest"
	Previous Age = "previous"
	Older    Age = "older"
)

// CurvePoint is one concurrency.
type CurvePoint struct {
	Value, Output float64
	Concurrency   string
	Text          string // both values with their units
	// Front says that no other concurrency of the release gives more output at no worse a speed: only these are worth
	// choosing.
	Front bool
}

// Kind implements Block.
func (c Curves) Kind() string { return "curves" }

// Plain implements Block.
func (c Curves) Plain() []Block {
	var lines Prose
	for _, x := range c.Curves {
		lines = append(lines, x.Summary())
	}
	return []Block{lines, c.Table}
}

// front marks the points that are worth choosing.
func (c *Curve) front() {
	for i := range c.Lines {
		list := c.Lines[i].Points
		for k := range list {
			list[k].Front = !slices.ContainsFunc(list, func(o CurvePoint) bool { return c.beats(o, list[k]) })
		}
	}
}

// beats reports whether a point is at least as good as another in both, and better in one.
func (c *Curve) beats(a, b CurvePoint) bool {
	better, same := a.Value > b.Value, a.Value == b.Value
	if !c.Right {
		better = a.Value < b.Value
	}
	return (better || same) && a.Output >= b.Output && (better || a.Output > b.Output)
}

// Summary is the figure in a sentence: the ends of the newest line.
func (c Curve) Summary() string {
	if len(c.Lines) == 0 || len(c.Lines[len(c.Lines)-1].Points) == 0 {
		return c.Title + "."
	}
	l := c.Lines[len(c.Lines)-1]
	first, last := l.Points[0], l.Points[len(l.Points)-1]
	return fmt.Sprintf("%s: in %s from %s at concurrency %s to %s at concurrency %s.", c.Title, l.Name,
		first.Text, first.Concurrency, last.Text, last.Concurrency)
}

// curvesTable has the numbers behind the curves of a workload, newest release first.
func curvesTable(name string, sweeps []releaseSweep) *Table {
	t := &Table{Caption: "The numbers behind the curves of " + name, Layout: Numbers, Cols: []Col{
		{Head: "Release"}, {Head: "Concurrency", Num: true}, {Head: "Speed per user", Unit: "tok/s", Num: true},
		{Head: "TTFT", Unit: "ms", Num: true}, {Head: "Output", Unit: "tok/s", Num: true},
	}}
	for i := len(sweeps) - 1; i >= 0; i-- {
		for _, x := range sweeps[i].at {
			t.row(
				Cell{Text: sweeps[i].name, Head: true}, text(whole(x.concurrency)), number(x.speed), number(x.ttft),
				number(x.output),
			)
		}
	}
	t.Total = len(t.Rows)
	return t
}

// releaseSweep is a workload of a release over concurrency.
type releaseSweep struct {
	name string
	age  Age
	at   []sweepPoint // by concurrency
}

// sweepPoint is one concurrency of a sweep, in tok/s and milliseconds.
type sweepPoint struct {
	concurrency         float64
	speed, ttft, output schema.Number
}

// curve draws output against one of the other two.
func curve(c Curve, sweeps []releaseSweep, unit string, x func(sweepPoint) schema.Number) Curve {
	for _, s := range sweeps {
		l := CurveLine{Name: s.name, Age: s.age}
		for _, p := range s.at {
			v, ok := x(p).Get()
			out, has := p.output.Get()
			if ok && has {
				l.Points = append(l.Points, CurvePoint{Value: v, Output: out, Concurrency: whole(p.concurrency),
					Text: fmt.Sprintf("%s %s and %s tok/s", words.Number(v), unit, words.Number(out))})
			}
		}
		if len(l.Points) > 1 {
			c.Lines = append(c.Lines, l)
		}
	}
	c.front()
	return c
}
