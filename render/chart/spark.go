package chart

import (
	"math"

	"github.com/ttreport/ttreport/render"
)

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
