package chart

import (
	"github.com/ttreport/ttreport/ingest/schema"

	"fmt"
	"math"
	"slices"

	"github.com/ttreport/ttreport/render/words"
)

// Curve is output against what one user sees, over concurrency: one line a release. Right is better where Right is set, left
// otherwise; up is always better.
type Curve struct {
	Title, XTitle, YTitle string
	Summary, Key          string // Key: which release is drawn how
	W, H                  float64
	Plot                  Rect
	X, Y                  Axis
	Right                 bool
	Lines                 []CurveLine
	Limits                []CurveLimit
}

// CurveLine is the sweep of one release.
type CurveLine struct {
	Name   string
	Class  string // now, base or old
	Points []CurvePoint
}

// CurvePoint is one concurrency.
type CurvePoint struct {
	Value, Output float64
	Label         string // concurrency
	Text          string // both values with their units
	X, Y          float64
	// Front says that no other concurrency of the release gives more output at no worse a speed: the others are never worth choosing.
	Front bool
}

// CurveLimit is a promise on the horizontal axis. Off is -1 before the scale, +1 beyond it, 0 on it.
type CurveLimit struct {
	Value, Pos float64
	Label      string
	Off        int
}

const (
	curveW, curveH                               = 560, 300
	curveLeft, curveRight, curveTop, curveBottom = 58, 24, 34, 44
)

// NewCurve resolves the geometry. Lines are given oldest first; the last is the newest.
func NewCurve(c Curve) Curve {
	c.W, c.H = curveW, curveH
	c.Plot = Rect{curveLeft, curveTop, curveW - curveRight, curveH - curveBottom}
	lo, hi, top := math.Inf(1), math.Inf(-1), 0.
	for _, l := range c.Lines {
		for _, p := range l.Points {
			lo, hi, top = math.Min(lo, p.Value), math.Max(hi, p.Value), math.Max(top, p.Output)
		}
	}
	c.X, c.Y = axis(lo, hi), axis(0, top)
	for i := range c.X.Ticks {
		c.X.Ticks[i].Pos = c.X.place(c.X.Ticks[i].Value, c.Plot.X0, c.Plot.X1)
	}
	for i := range c.Y.Ticks {
		c.Y.Ticks[i].Pos = c.Y.place(c.Y.Ticks[i].Value, c.Plot.Y1, c.Plot.Y0)
	}
	for i := range c.Lines {
		list := slices.Clone(c.Lines[i].Points)
		for k := range list {
			p := &list[k]
			p.X, p.Y = c.X.place(p.Value, c.Plot.X0, c.Plot.X1), c.Y.place(p.Output, c.Plot.Y1, c.Plot.Y0)
			p.Front = !slices.ContainsFunc(list, func(o CurvePoint) bool { return c.beats(o, *p) })
		}
		c.Lines[i].Points = list
	}
	for i := range c.Limits {
		l := &c.Limits[i]
		l.Pos, l.Off = c.X.limit(l.Value, c.Plot.X0, c.Plot.X1)
	}
	c.Summary = c.summary()
	return c
}

// beats reports whether a point is at least as good as another in both, and better in one.
func (c *Curve) beats(a, b CurvePoint) bool {
	better, same := a.Value > b.Value, a.Value == b.Value
	if !c.Right {
		better = a.Value < b.Value
	}
	return (better || same) && a.Output >= b.Output && (better || a.Output > b.Output)
}

// summary is the picture in a sentence: the ends of the newest line.
func (c *Curve) summary() string {
	if len(c.Lines) == 0 || len(c.Lines[len(c.Lines)-1].Points) == 0 {
		return c.Title
	}
	l := c.Lines[len(c.Lines)-1]
	first, last := l.Points[0], l.Points[len(l.Points)-1]
	return fmt.Sprintf("%s: in %s from %s at concurrency %s to %s at concurrency %s.", c.Title, l.Name, first.Text, first.Label, last.Text, last.Label)
}

// Panel is the history of one series, small: raw values in release order, where one new value was expected, and where levels began.
type Panel struct {
	Title, Sub  string
	Outcome     schema.Outcome
	Evidence    schema.Evidence
	Change      string
	Points      []Point
	Band        *Rect
	Steps       []Step
	Limits      []PanelLimit
	Low, High   Tick // of what is drawn
	X           []Tick
	Last        string // the newest value
	Summary     string
	W, H        float64
	PlotX, Axis float64
}

// Begun is a level that a release began.
type Begun struct {
	At                int // place of the release
	Label, Note, Href string
}

// Step is where a level began.
type Step struct {
	X     float64
	Label string
	Note  string // what people wrote about the release, or ""
	Href  string // where it stands
}

// PanelLimit is a promise.
type PanelLimit struct {
	Pos   float64
	Label string
}

// PanelInput is what a panel shows.
type PanelInput struct {
	Panel
	Releases  []string
	Low, High float64 // where one new value was expected; NaN when nobody knows
	From      int     // place of the release from which on
	Begun     []Begun // levels, by the release that began them
	Limit     float64 // promised value; NaN without one
	LimitText string
	Effect    float64 // least relative change that matters
}

const (
	panelW, panelH                               = 380, 120
	panelLeft, panelRight, panelTop, panelBottom = 44, 12, 16, 20
)

// NewPanel resolves the geometry. The span is never less than twice what matters to either side: noise cannot look like news.
func NewPanel(in PanelInput) Panel {
	p := in.Panel
	p.W, p.H, p.PlotX, p.Axis = panelW, panelH, panelLeft, panelH-panelBottom
	lo, hi := math.Inf(1), math.Inf(-1)
	last := -1
	for i, v := range in.Points {
		if v.OK {
			lo, hi, last = math.Min(lo, v.Value), math.Max(hi, v.Value), i
		}
	}
	if last < 0 {
		return p
	}
	for _, v := range []float64{in.Low, in.High} {
		if !math.IsNaN(v) {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	low, high := lo, hi
	middle := math.Abs(in.Points[last].Value)
	if least := 4 * in.Effect * middle; hi-lo < least {
		lo, hi = lo-(least-(hi-lo))/2, hi+(least-(hi-lo))/2
	}
	y := func(v float64) float64 { return round(p.Axis - 4 - (v-lo)/(hi-lo)*(p.Axis-4-panelTop)) }
	x := func(i int) float64 {
		return round(panelLeft + (float64(i)+.5)/float64(len(in.Points))*(panelW-panelLeft-panelRight))
	}
	p.Points = slices.Clone(in.Points)
	for i := range p.Points {
		p.Points[i].X = x(i)
		if p.Points[i].OK {
			p.Points[i].Y = y(p.Points[i].Value)
		}
	}
	p.Low, p.High = Tick{low, y(low), words.Number(low)}, Tick{high, y(high), words.Number(high)}
	if !math.IsNaN(in.Low) {
		half := (x(1) - x(0)) / 2
		p.Band = &Rect{round(math.Max(panelLeft, x(in.From)-half)), y(in.High), panelW - panelRight, y(in.Low)}
	}
	for _, b := range in.Begun {
		p.Steps = append(p.Steps, Step{x(b.At), b.Label, b.Note, b.Href})
	}
	if v := in.Limit; !math.IsNaN(v) && v >= lo && v <= hi {
		p.Limits = append(p.Limits, PanelLimit{y(v), in.LimitText})
	}
	p.X = []Tick{{0, x(0), short(in.Releases[0])}}
	if n := len(in.Releases); n > 1 {
		p.X = append(p.X, Tick{float64(n - 1), x(n - 1), short(in.Releases[n-1])})
	}
	return p
}
