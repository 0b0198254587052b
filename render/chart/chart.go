package chart

import (
	"fmt"
	"math"
	"strings"

	"github.com/ttreport/ttreport/render/words"
)

// Chart is a picture of values over releases with its geometry resolved, in units of its own width and height.
type Chart struct {
	ID      string // stable, from what it shows
	Metric  string // label of the metric: "TTFT mean"
	Unit    string
	Better  string // "lower is better"
	Summary string // one sentence in place of the picture
	W, H    float64
	Plot    Rect
	X       []Tick // one per release; Label is "" where there is no room
	Names   []string
	Y       Axis
	Lines   []Line
	Limits  []Limit
}

// Title names what is drawn, in which unit, which way is better, and an axis that is not even. A unit that the metric's
// name ends with is not said twice.
func (c *Chart) Title() string {
	parts := []string{c.Metric, c.Unit, c.Better}
	if strings.HasSuffix(c.Metric, c.Unit) {
		parts = []string{c.Metric, c.Better}
	}
	if c.Y.Log {
		parts = append(parts, "logarithmic")
	}
	return strings.Join(parts, ", ")
}

// Rect is the plot area.
type Rect struct{ X0, Y0, X1, Y1 float64 }

// Tick is a labelled position on an axis.
type Tick struct {
	Value, Pos float64
	Label      string
}

// Axis is the value axis.
type Axis struct {
	Min, Max, Step float64
	Log            bool
	Ticks          []Tick
}

// Line is one series.
type Line struct {
	Name   string
	Label  string // Name as far as there is room for it beside the line
	Role   int    // 1 to 5: colour, marker and dash
	Points []Point
	// LabelY is where its name stands, moved apart from the other names.
	LabelY float64
}

// Point is one value; a release without one has OK false and breaks the line.
type Point struct {
	OK    bool
	Value float64
	X, Y  float64
	Text  string // value with unit
	Note  string // what stands behind it: "mean of 2 runs"
	Href  string // page of the run, from the site's root
}

// Limit is a target line. Off is -1 below the scale, +1 above it, 0 on it.
type Limit struct {
	Value, Pos float64
	Label      string
	Off        int
	LabelY     float64
}

// Input is what a chart is asked to show.
type Input struct {
	ID, Metric, Unit, Better string
	Releases                 []string
	Series                   []Series
	Limits                   []Limit // Value and Label
}

// Series is one line of the input; a missing release has OK false.
type Series struct {
	Name   string
	Points []Point
}

// MaxLines is how many series share one chart.
const MaxLines = 5

// sizes of the picture, in pixels at full width.
const (
	width, height            = 760, 272
	left, right, top, bottom = 66, 150, 28, 34
	logFrom                  = 20 // a span over this ratio is drawn on a logarithmic axis
	labelRoom                = 72 // pixels that one release label needs
	nameRoom                 = 13 // pixels between two names
	lineLetters              = 20 // letters of a name beside its line
)

// New resolves the geometry. Series beyond MaxLines are left out; the caller says so.
func New(in Input) Chart {
	c := Chart{ID: in.ID, Metric: in.Metric, Unit: in.Unit, Better: in.Better, W: width, H: height,
		Plot: Rect{left, top, width - right, height - bottom}, Names: in.Releases}
	if len(in.Series) > MaxLines {
		in.Series = in.Series[:MaxLines]
	}
	lo, hi := extent(in.Series)
	c.Y = axis(lo, hi)
	for i := range c.Y.Ticks {
		c.Y.Ticks[i].Pos = c.y(c.Y.Ticks[i].Value)
	}
	every := max(1, int(math.Ceil(labelRoom*float64(len(in.Releases))/(c.Plot.X1-c.Plot.X0))))
	for i, name := range in.Releases {
		t := Tick{Value: float64(i), Pos: c.x(i)}
		if (len(in.Releases)-1-i)%every == 0 {
			t.Label = short(name)
		}
		c.X = append(c.X, t)
	}
	for i, s := range in.Series {
		l := Line{Name: s.Name, Label: cut(s.Name, lineLetters), Role: i + 1}
		for j, p := range s.Points {
			p.X = c.x(j)
			if p.OK {
				p.Y = c.y(p.Value)
			}
			l.Points = append(l.Points, p)
			if p.OK {
				l.LabelY = p.Y
			}
		}
		c.Lines = append(c.Lines, l)
	}
	spread(len(c.Lines), func(i int) *float64 { return &c.Lines[i].LabelY }, c.Plot)
	c.limits(in.Limits)
	c.Summary = summary(in)
	return c
}

func (c *Chart) x(i int) float64 {
	n := len(c.Names)
	return round(c.Plot.X0 + (float64(i)+.5)/float64(n)*(c.Plot.X1-c.Plot.X0))
}

func (c *Chart) y(v float64) float64 {
	return c.Y.place(v, c.Plot.Y1, c.Plot.Y0)
}

// place is where a value lies on an axis that runs from one position to another.
func (a *Axis) place(v, from, to float64) float64 {
	share := (v - a.Min) / (a.Max - a.Min)
	if a.Log {
		share = math.Log(v/a.Min) / math.Log(a.Max/a.Min)
	}
	return round(from + share*(to-from))
}

// limit is where a promise lies on an axis: at its end, and to which side it is off, when the scale does not reach it.
func (a *Axis) limit(v, from, to float64) (pos float64, off int) {
	switch {
	case v < a.Min:
		return from, -1
	case v > a.Max:
		return to, 1
	}
	return a.place(v, from, to), 0
}

func round(v float64) float64 { return math.Round(v*10) / 10 }

func extent(series []Series) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for _, p := range s.Points {
			if p.OK {
				lo, hi = math.Min(lo, p.Value), math.Max(hi, p.Value)
			}
		}
	}
	if lo > hi {
		return 0, 1
	}
	return lo, hi
}

// axis chooses a scale: from zero for values near each other relative to zero is not needed, since position is read and
// not length; steps are 1, 2 or 5 times a power of ten; a wide span is logarithmic by whole decades.
func axis(lo, hi float64) Axis {
	if lo > 0 && hi/lo > logFrom {
		a := Axis{Log: true, Min: math.Pow(10, math.Floor(math.Log10(lo))), Max: math.Pow(10, math.Ceil(math.Log10(hi)))}
		for v := a.Min; v <= a.Max*1.001; v *= 10 {
			a.Ticks = append(a.Ticks, Tick{Value: v, Label: words.Number(v)})
		}
		return a
	}
	span := hi - lo
	// Noise must not look like news: the scale spans at least a fifth of the values shown.
	if least := .2 * math.Abs(hi); span < least {
		lo, hi = lo-(least-span)/2, hi+(least-span)/2
		span = least
	}
	if span == 0 {
		lo, hi, span = lo-1, hi+1, 2
	}
	step := niceStep(span / 4)
	a := Axis{Step: step, Min: math.Floor(lo/step) * step, Max: math.Ceil(hi/step) * step}
	if a.Min < 0 && lo >= 0 {
		a.Min = 0
	}
	for i := 0; ; i++ {
		v := a.Min + float64(i)*step
		if v > a.Max+step/2 {
			break
		}
		a.Ticks = append(a.Ticks, Tick{Value: v, Label: tickLabel(v, step)})
	}
	a.Max = a.Ticks[len(a.Ticks)-1].Value
	return a
}

// tickLabel writes a tick with the decimals of its step.
func tickLabel(v, step float64) string {
	if step >= 1 {
		return words.Count(int(math.Round(v)))
	}
	return fmt.Sprintf("%.*f", int(math.Ceil(-math.Log10(step)-1e-9)), v)
}

func niceStep(raw float64) float64 {
	mag := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*mag >= raw*(1-1e-9) {
			return m * mag
		}
	}
	return 10 * mag
}

// limits places target lines; one off the scale is named at the edge.
func (c *Chart) limits(in []Limit) {
	for _, l := range in {
		l.Pos, l.Off = c.Y.limit(l.Value, c.Plot.Y1, c.Plot.Y0)
		l.LabelY = l.Pos
		c.Limits = append(c.Limits, l)
	}
}

// spread moves labels apart so that none covers another, keeping their order.
func spread(n int, at func(int) *float64, in Rect) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := 1; i < n; i++ {
		for j := i; j > 0 && *at(order[j]) < *at(order[j-1]); j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
	for i := 1; i < n; i++ {
		if gap := *at(order[i]) - *at(order[i-1]); gap < nameRoom {
			*at(order[i]) = *at(order[i-1]) + nameRoom
		}
	}
	if n > 0 {
		for i, over := n-1, *at(order[n-1])-in.Y1; i >= 0 && over > 0; i-- {
			*at(order[i]) -= over
		}
	}
}

// short cuts a long release name for the axis; the whole name is in the table.
func short(name string) string { return cut(name, 11) }

// cut leaves so many letters of a name.
func cut(name string, most int) string {
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// summary says the picture in words.
func summary(in Input) string {
	if len(in.Series) == 0 || len(in.Releases) == 0 {
		return in.Metric + ": nothing to draw"
	}
	out := fmt.Sprintf("%s in %s over %s, %s.", in.Metric, in.Unit, words.Plural(len(in.Releases), "release"), in.Better)
	for _, s := range in.Series {
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
			out += fmt.Sprintf(" %s: %s to %s.", s.Name, words.Number(s.Points[first].Value), words.Number(s.Points[last].Value))
		}
	}
	return out
}
