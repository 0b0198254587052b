package chart

import (
	"math"
)

// Strip is the distribution of a latency over requests, small, on a scale that it shares with others: a whisker from the 3rd to the
// 97th percentile, a box over the middle half, a line at the median, a dot at the slowest.
type Strip struct {
	Low, Q1, Median, Q3, High, Max float64 // positions
	Label                          string
}

const (
	// StripW and StripH are the size of a strip.
	StripW, StripH = 160., 18.
	stripPad       = 4.
)

// NewStrip places 33 quantiles at i/32 between lo and hi, both above zero, on a logarithmic scale.
func NewStrip(quantiles []float64, lo, hi float64, label string) *Strip {
	const n = 33
	if len(quantiles) != n || !(lo > 0) || !(hi >= lo) {
		return nil
	}
	span := math.Max(math.Log(hi/lo), .05) // all the same: one place, and no noise blown up
	x := func(i int) float64 {
		v := math.Min(hi, math.Max(lo, quantiles[i]))
		return round(stripPad + math.Log(v/lo)/span*(StripW-2*stripPad))
	}
	return &Strip{Low: x(1), Q1: x(8), Median: x(16), Q3: x(24), High: x(31), Max: x(32), Label: label}
}
