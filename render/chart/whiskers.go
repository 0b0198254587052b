package chart

import (
	"fmt"
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// Whiskers are changes with their intervals as a picture of 480 by 26 a row: the scale has room for each, zero, and the
// largest limit to both sides.
type Whiskers struct {
	Height, Bottom, Zero float64
	Band                 Rect
	Ticks                []Label
	Rows                 []WhiskerRow
	Label                string
}

// WhiskerRow is one change.
type WhiskerRow struct {
	Y, X, Low, High, CapTop float64
	Name, Change            string
	Outcome                 schema.Outcome
	Solid                   bool // seen again
	Ends                    bool // both ends of the interval are on the scale
}

const whiskerLeft, whiskerRight, whiskerTop, whiskerRow = 160., 400., 18., 26.

// NewWhiskers places the whiskers of a card. An interval wider than ten times the limit ends at the edge.
func NewWhiskers(in []render.Whisker) Whiskers {
	limit := 0.
	for _, w := range in {
		limit = math.Max(limit, w.Limit)
	}
	lo, hi := -limit, 2*limit
	for _, w := range in {
		lo = math.Min(lo, math.Max(w.Low, math.Min(w.Effect, -10*limit)))
		hi = math.Max(hi, math.Min(w.High, math.Max(w.Effect, 10*limit)))
	}
	if hi <= lo {
		hi = lo + .1
	}
	x := func(v float64) float64 {
		v = math.Min(hi, math.Max(lo, v))
		return round(whiskerLeft + (v-lo)/(hi-lo)*(whiskerRight-whiskerLeft))
	}
	out := Whiskers{Zero: x(0), Bottom: whiskerTop + whiskerRow*float64(len(in))}
	out.Height = out.Bottom + 4
	out.Band = Rect{X0: x(-limit), Y0: whiskerTop, X1: x(limit), Y1: out.Bottom}
	out.Ticks = []Label{{XY{x(limit), 12}, fmt.Sprintf("limit %.3g%s%%", 100*limit, words.Thin), false}}
	for i, w := range in {
		y := whiskerTop + whiskerRow*(float64(i)+.5)
		out.Rows = append(out.Rows, WhiskerRow{
			Y: y, X: x(w.Effect), Low: x(w.Low), High: x(w.High), CapTop: y - 4, Name: w.Name, Change: w.Change,
			Outcome: w.Outcome, Solid: w.Evidence == schema.Confirmed, Ends: w.Low >= lo && w.High <= hi,
		})
		if i > 0 {
			out.Label += "; "
		}
		out.Label += fmt.Sprintf("%s %s %s", w.Name, w.Change, w.Evidence)
	}
	return out
}
