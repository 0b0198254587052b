package chart

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
)

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
