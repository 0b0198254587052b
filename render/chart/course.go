package chart

import (
	"math"
	"strconv"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

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
		c.Scale = append(c.Scale, Label{XY{c.Left - courseGap, y(k*step) + 4}, words.Change(k * step), true})
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
	if first > c.Right-width(c.Began.Label.Text) {
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
