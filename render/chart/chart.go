// Package chart places the small pictures that stand in a page: panels, sparklines and strips.
//
// In go views of package render; out go positions in the units of the picture's own width and height, which the
// templates of figures write as SVG. Figures that readers work with are not here: scripts of package static draw those.
// The package must not know how a picture looks: colours, classes and text sizes are the templates'.
package chart

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// XY is a position.
type XY struct{ X, Y float64 }

// Rect is an area.
type Rect struct{ X0, Y0, X1, Y1 float64 }

// Label is a text at a place.
type Label struct {
	XY
	Text string
	End  bool // the text ends at the place; else it begins there
}

func round(v float64) float64 { return math.Round(v*10) / 10 }

// least widens a span around its middle to at least so much: noise must not look like news.
func least(lo, hi, span float64) (float64, float64) {
	if hi-lo < span {
		middle := (hi + lo) / 2
		lo, hi = middle-span/2, middle+span/2
	}
	if lo == hi {
		lo, hi = lo-1, hi+1
	}
	return lo, hi
}

// NiceStep is 1, 2 or 5 times a power of ten, at least so much.
func NiceStep(raw float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// lines are the paths through neighbouring values, as SVG path data: a missing one breaks the line, and one alone draws
// none.
func lines(points []XY, ok func(i int) bool) []string {
	var out []string
	var path []byte
	n := 0
	for i := range len(points) + 1 {
		if i < len(points) && ok(i) {
			op := byte('L')
			if n == 0 {
				op, path = 'M', nil
			}
			path = strconv.AppendFloat(append(path, op), points[i].X, 'g', -1, 64)
			path = strconv.AppendFloat(append(path, ' '), points[i].Y, 'g', -1, 64)
			n++
			continue
		}
		if n > 1 {
			out = append(out, string(path))
		}
		n = 0
	}
	return out
}

// short cuts a long release name for an axis; the whole name is in the table.
func short(name string) string {
	const most = 11
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// Span is an interval of ranks as a picture of 120 by 12: the first rank at the left, each as wide as any other.
type Span struct {
	Label string
	X, W  float64
}

// NewSpan places an interval of ranks.
func NewSpan(in *render.RankSpan) Span {
	slot := intervalW / float64(in.Of)
	return Span{
		Label: in.Label, X: round(float64(in.Low-1) * slot), W: round(float64(in.High-in.Low+1) * slot),
	}
}

// Bullet is a value among the levels of its targets as a picture of 160 by 18, on a logarithmic scale; right is better.
type Bullet struct {
	X     float64 // of what was measured; negative for none
	Ticks []BulletTick
	Label string
}

// BulletTick is a level.
type BulletTick struct {
	X        float64
	Required bool
}

// NewBullet places a value and its levels between the lowest and the highest of them; one alone stands in the middle.
func NewBullet(in *render.Bullet) Bullet {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, t := range append(in.Ticks[:len(in.Ticks):len(in.Ticks)], render.BulletTick{Value: in.Measured}) {
		if t.Value > 0 {
			lo, hi = math.Min(lo, t.Value), math.Max(hi, t.Value)
		}
	}
	const least = 1.2 // a span below it would make a miss of one percent look large
	if hi < lo*least {
		middle := math.Sqrt(lo * hi)
		lo, hi = middle/math.Sqrt(least), middle*math.Sqrt(least)
	}
	x := func(v float64) float64 {
		return round(stripPad + math.Log(v/lo)/math.Log(hi/lo)*(stripW-2*stripPad))
	}
	out := Bullet{X: -1, Label: in.Label}
	if in.Measured > 0 {
		out.X = x(in.Measured)
	}
	for _, t := range in.Ticks {
		out.Ticks = append(out.Ticks, BulletTick{x(t.Value), t.Required})
	}
	return out
}

// Interval is a change with its interval as a picture of 120 by 18, in units of the limit: the scale has four limits to
// both sides, and what lies beyond ends at the edge without a cap.
type Interval struct {
	X, Low, High    float64
	Band            Rect
	Zero            float64
	CapLow, CapHigh bool
	Solid           bool // seen again
	Outcome         schema.Outcome
	Label           string
}

const intervalW, intervalPad, intervalLimits = 120., 5., 4.

// NewInterval places an interval.
func NewInterval(in *render.Interval) Interval {
	x := func(v float64) float64 {
		v = math.Max(-intervalLimits, math.Min(intervalLimits, v))
		return round(intervalPad + (v/intervalLimits+1)/2*(intervalW-2*intervalPad))
	}
	return Interval{
		X: x(in.Effect), Low: x(in.Low), High: x(in.High), Zero: x(0), Band: Rect{X0: x(-1), Y0: 1, X1: x(1), Y1: 17},
		CapLow: in.Low > -intervalLimits, CapHigh: in.High < intervalLimits, Solid: in.Evidence == schema.Confirmed,
		Outcome: in.Outcome, Label: in.Label,
	}
}

// Spark is a row's history as a picture of 116 by 30: raw values in release order, evenly spaced, gaps left open.
type Spark struct {
	Label string
	Lines []string // path data
	Alone []XY     // values without a neighbour, but for the last
	Last  XY
}

const (
	sparkW, sparkH, sparkPad = 116., 30., 4.
	sparkLeast               = .2 // the span is never less than ±10 % of the values
)

// NewSpark places the values of a row.
func NewSpark(in *render.Spark) Spark {
	lo, hi, last := math.Inf(1), math.Inf(-1), -1
	for i, v := range in.Values {
		if !math.IsNaN(v) {
			lo, hi, last = math.Min(lo, v), math.Max(hi, v), i
		}
	}
	s := Spark{Label: in.Label}
	if last < 0 {
		return s
	}
	lo, hi = least(lo, hi, sparkLeast*math.Abs(hi))
	ok := func(i int) bool { return i >= 0 && i < len(in.Values) && !math.IsNaN(in.Values[i]) }
	at := make([]XY, len(in.Values))
	for i, v := range in.Values {
		if !ok(i) {
			continue
		}
		x := sparkW - 8
		if len(in.Values) > 1 {
			x = sparkPad + float64(i)/float64(len(in.Values)-1)*(sparkW-12)
		}
		at[i] = XY{round(x), round(sparkH - sparkPad - (v-lo)/(hi-lo)*(sparkH-2*sparkPad))}
		if !ok(i-1) && !ok(i+1) && i != last {
			s.Alone = append(s.Alone, at[i])
		}
	}
	s.Last, s.Lines = at[last], lines(at, ok)
	return s
}

// Strip is a distribution as a picture of 160 by 18: a whisker from the 3rd to the 97th percentile, a box over the
// middle half, a line at the median, a dot at the slowest. All are places from left to right.
type Strip struct {
	Low, Q1, Median, Q3, High, Max float64
	Label                          string
}

const stripW, stripPad = 160., 4.

// NewStrip places 33 quantiles on the logarithmic scale that a strip shares with others.
func NewStrip(in *render.Strip) Strip {
	span := math.Max(math.Log(in.High/in.Low), .05) // all the same: one place, and no noise blown up
	x := func(i int) float64 {
		v := math.Min(in.High, math.Max(in.Low, in.Quantiles[i]))
		return round(stripPad + math.Log(v/in.Low)/span*(stripW-2*stripPad))
	}
	return Strip{Low: x(1), Q1: x(8), Median: x(16), Q3: x(24), High: x(31), Max: x(32), Label: in.Label}
}

// Course is how the numbers of a change went, as a picture of 480 by 200: a line of medians in a band, the oldest
// release at the left, a line where the change began. Slower is up.
type Course struct {
	Left, Right, Axis float64
	Limit             Rect // what does not matter
	Scale             []Label
	X                 []Label // the first release and the newest
	Bands, Lines      []string
	Began             CourseStep
	Size              CourseStep // where the level since then is, up to Right
	Label             string
}

// CourseStep is a place with its label.
type CourseStep struct {
	X     float64
	Label Label
}

const (
	courseW, courseH                   = 480., 200.
	courseLeft, courseRight, courseTop = 52., 68., 26.
	courseAxis                         = courseH - 24.
	courseTicks                        = 5  // at most
	courseGap                          = 4. // between a label and the plot
)

// NewCourse places a course. The scale has zero and the limit to both sides.
func NewCourse(in render.Course) Course {
	lo, hi := math.Min(-1.2*in.Limit, in.Size), math.Max(1.2*in.Limit, in.Size)
	for i := range in.Middle {
		if !math.IsNaN(in.Middle[i]) {
			lo, hi = math.Min(lo, in.Low[i]), math.Max(hi, in.High[i])
		}
	}
	c := Course{Left: courseLeft, Right: courseW - courseRight, Axis: courseAxis, Label: in.Label}
	x := func(i int) float64 {
		return round(c.Left + (float64(i)+.5)/float64(len(in.Middle))*(c.Right-c.Left))
	}
	y := func(v float64) float64 { return round(courseAxis - (v-lo)/(hi-lo)*(courseAxis-courseTop)) }
	c.Limit = Rect{c.Left, y(in.Limit), c.Right, y(-in.Limit)}
	step := NiceStep((hi - lo) / courseTicks)
	for k := math.Ceil(lo / step); k*step <= hi; k++ {
		said := strings.Replace(strings.TrimPrefix(words.Change(k*step), "±"), ".0", "", 1)
		c.Scale = append(c.Scale, Label{XY{c.Left - courseGap, y(k*step) + 4}, said, true})
	}
	ok := func(i int) bool { return !math.IsNaN(in.Middle[i]) }
	at := make([]XY, len(in.Middle))
	for i, v := range in.Middle {
		if at[i] = (XY{x(i), 0}); ok(i) {
			at[i].Y = y(v)
		}
	}
	c.Lines = lines(at, ok)
	for from := 0; from < len(at); {
		to := from
		for to < len(at) && ok(to) {
			to++
		}
		if to-from > 1 {
			c.Bands = append(c.Bands, between(in, from, to, x, y))
		}
		from = to + 1
	}
	first := x(in.At) - (x(1)-x(0))/2
	c.Began = CourseStep{round(first), Label{XY{round(first) + 4, 16}, in.Releases[in.At], false}}
	// at least how wide a text of 12 units is in a sans-serif face: digits are 6.7 wide in Arial and its likes
	width := 7.2 * float64(utf8.RuneCountInString(in.Releases[in.At]))
	for _, narrow := range []string{",", ".", " "} {
		width -= 3.6 * float64(strings.Count(in.Releases[in.At], narrow))
	}
	if first > c.Right-width {
		c.Began.Label.X, c.Began.Label.End = c.Began.X-4, true
	}
	c.Size = CourseStep{c.Began.X, Label{XY{c.Right + 6, y(in.Size) + 4}, words.Change(in.Size), false}}
	c.X = []Label{{XY{c.Left, courseAxis + 16}, short(in.Releases[0]), false}}
	if n := len(in.Releases); n > 1 {
		c.X = append(c.X, Label{XY{c.Right, courseAxis + 16}, short(in.Releases[n-1]), true})
	}
	return c
}

// between is the area of the band from one release to before another, as SVG path data.
func between(in render.Course, from, to int, x func(int) float64, y func(float64) float64) string {
	var d []byte
	add := func(op byte, i int, v float64) {
		d = strconv.AppendFloat(append(d, op), x(i), 'g', -1, 64)
		d = strconv.AppendFloat(append(d, ' '), y(v), 'g', -1, 64)
	}
	for i := from; i < to; i++ {
		add(map[bool]byte{true: 'M', false: 'L'}[i == from], i, in.High[i])
	}
	for i := to - 1; i >= from; i-- {
		add('L', i, in.Low[i])
	}
	return string(append(d, 'z'))
}
