package chart

import (
	"math"

	"github.com/ttreport/ttreport/render"
)

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
