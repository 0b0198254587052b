package chart

import (
	"math"
	"slices"
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// Panel is the history of one series as a picture of 380 by 120.
type Panel struct {
	Left   float64 // where the plot begins, right of the widest label of the scale
	Right  float64 // where it ends, left of the newest value's number, which lies on no line
	Band   *Rect   // where one new value was expected
	Limit  *PanelLimit
	Scale  []Label // of the lowest and highest of what is drawn
	X      []Label // the first release and the last
	Steps  []PanelStep
	Lines  []string // path data
	Points []XY
	Gaps   []XY // releases without a value
	Beyond []PanelBeyond
	Last   *PanelPoint
}

// PanelBeyond is a value beyond the scale: an arrow at the edge with its number.
type PanelBeyond struct {
	XY
	Up    bool
	Label Label
}

// PanelLimit is a target, a line over the whole width.
type PanelLimit struct {
	Y     float64
	Label string
}

// PanelStep is where a level began.
type PanelStep struct {
	X     float64
	Label Label
}

// PanelPoint is the newest value.
type PanelPoint struct {
	XY
	render.Point
	Solid bool // the verdict is certain: confirmed, or unchanged
	Label Label
}

const (
	panelW, panelH                  = 380., 120.
	panelLeft, panelRight, panelTop = 44., 12., 16. // the least on both sides
	panelAxis                       = panelH - 20.
	panelGap                        = 4. // between a label and the plot
)

// NewPanel places a panel. The span is never less than twice what matters to either side.
func NewPanel(in render.Panel) Panel {
	var p Panel
	last := -1
	for i, v := range in.Points {
		if v.OK {
			last = i
		}
	}
	if last < 0 {
		return p
	}
	lo, hi := render.Span(in.Points, 4*in.Effect)
	if e := in.Expected; e != nil {
		lo, hi = math.Min(lo, e.Low), math.Max(hi, e.High)
	}
	low, high := lo, hi
	lo, hi = least(lo, hi, 4*in.Effect*math.Abs(in.Points[last].Value))
	y := func(v float64) float64 {
		at := math.Max(-.04, math.Min(1.04, (v-lo)/(hi-lo))) // what lies beyond is at the edge
		return round(panelAxis - 4 - at*(panelAxis-4-panelTop))
	}
	top, bottom := words.Number(high), words.Number(low)
	p.Left = math.Max(panelLeft, math.Ceil(max(width(top), width(bottom)))+panelGap+1)
	p.Right = panelW - math.Max(panelRight, math.Ceil(1.15*width(in.Last))+panelGap)
	x := func(i int) float64 {
		return round(p.Left + (float64(i)+.5)/float64(len(in.Points))*(p.Right-p.Left))
	}
	p.place(in, last, x, y)
	p.mark(in, x, func(v float64) bool { return v < low || v > high }, y)
	p.Scale = []Label{{XY{p.Left - panelGap, y(high) + 4}, top, true}, {XY{p.Left - panelGap, y(low) + 4}, bottom, true}}
	if e := in.Expected; e != nil {
		half := (x(1) - x(0)) / 2
		p.Band = &Rect{round(math.Max(p.Left, x(e.From)-half)), y(e.High), p.Right, y(e.Low)}
	}
	if l := in.Limit; l != nil && l.Value >= lo && l.Value <= hi {
		p.Limit = &PanelLimit{y(l.Value), l.Label}
	}
	return p
}

// LimitX is where the label of the limit begins.
func (p Panel) LimitX() float64 { return p.Left + 2 }

// Dots are the values as path data: lines of no length, which round ends make dots.
func (p Panel) Dots() string {
	var d []byte
	for _, at := range p.Points {
		d = strconv.AppendFloat(append(d, 'M'), at.X, 'f', -1, 64)
		d = strconv.AppendFloat(append(d, ' '), at.Y, 'f', -1, 64)
		d = append(d, "h0"...)
	}
	return string(d)
}

// place places what stands at releases: values, gaps, levels and names.
func (p *Panel) place(in render.Panel, last int, x func(int) float64, y func(float64) float64) {
	at := make([]XY, len(in.Points))
	for i, v := range in.Points {
		at[i].X = x(i)
		if !v.OK {
			p.Gaps = append(p.Gaps, XY{x(i) - 2.5, panelAxis - 2.5})
			continue
		}
		at[i].Y = y(v.Value)
		p.Points = append(p.Points, at[i])
	}
	p.Lines = lines(at, func(i int) bool { return in.Points[i].OK })
	p.Last = &PanelPoint{
		XY: at[last], Point: in.Points[last],
		Solid: in.Evidence == schema.Confirmed || in.Outcome == schema.Unchanged,
		Label: Label{XY{at[last].X + 8, math.Min(at[last].Y+4, panelAxis-2)}, in.Last, false},
	}
	p.X = []Label{{XY{x(0), panelAxis + 14}, short(in.Releases[0]), false}}
	if n := len(in.Releases); n > 1 {
		p.X = append(p.X, Label{XY{x(n - 1), panelAxis + 14}, short(in.Releases[n-1]), true})
	}
}

// mark names what lies beyond the scale, and the levels that releases began, the newest first: a name that would lie
// over another is left out, its line stays.
func (p *Panel) mark(in render.Panel, x func(int) float64, beyond func(float64) bool, y func(float64) float64) {
	taken := []Label{p.Last.Label}
	free := func(l Label) bool {
		if slices.ContainsFunc(taken, l.over) {
			return false
		}
		taken = append(taken, l)
		return true
	}
	for i, v := range in.Points {
		if v.OK && beyond(v.Value) {
			at := PanelBeyond{XY: XY{x(i), y(v.Value)}, Up: y(v.Value) < panelTop}
			at.Label = Label{XY{at.X + 6, at.Y + 4}, words.Number(v.Value), false}
			if at.X > panelW-60 {
				at.Label.X, at.Label.End = at.X-6, true
			}
			free(at.Label)
			p.Beyond = append(p.Beyond, at)
		}
	}
	for _, s := range slices.Backward(in.Steps) {
		step := PanelStep{x(s.At), Label{XY{x(s.At) + 3, 14}, s.Label, false}}
		if step.X > p.Right-48 {
			step.Label.X, step.Label.End = step.X-3, true
		}
		if !free(step.Label) {
			step.Label.Text = ""
		}
		p.Steps = append(p.Steps, step)
	}
	slices.Reverse(p.Steps)
}
