package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// Whiskers are changes with their intervals as a picture of 480 by 26 a row, 40 where rows say of which model they are:
// the scale has room for each, zero, and the largest limit to both sides. Names end at Names.
type Whiskers struct {
	Height, Bottom, Zero float64
	Names                float64
	Band                 Rect
	Ticks                []Label
	Rows                 []WhiskerRow
	Label                string
}

// WhiskerRow is one change.
type WhiskerRow struct {
	Y, X, Low, High, CapTop float64
	Name, Whole, Change     string // the name as there is room for it; all of it
	Of                      string // model and device below the name
	Outcome                 schema.Outcome
	Solid                   bool // seen again
	Ends                    bool // both ends of the interval are on the scale
}

// whiskerName is how many letters of a name there is room for at most.
const whiskerName = 34

// The scale begins right of the longest name: whiskerLetter is how wide a letter is.
const whiskerLeft, whiskerRight, whiskerTop, whiskerRow, whiskerTall, whiskerLetter = 160., 400., 18., 26., 40., 7.

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
	left := whiskersLeft(in)
	x := func(v float64) float64 {
		v = math.Min(hi, math.Max(lo, v))
		return round(left + (v-lo)/(hi-lo)*(whiskerRight-left))
	}
	row := whiskerRow
	if slices.ContainsFunc(in, func(w render.Whisker) bool { return w.Of != "" }) {
		row = whiskerTall
	}
	out := Whiskers{Names: left - 10, Zero: x(0), Bottom: whiskerTop + row*float64(len(in))}
	out.Height = out.Bottom + 4
	out.Band = Rect{X0: x(-limit), Y0: whiskerTop, X1: x(limit), Y1: out.Bottom}
	out.Ticks = []Label{{XY{x(limit), 12}, fmt.Sprintf("limit %.3g%s%%", 100*limit, words.Thin), false}}
	names := make([]string, len(in))
	for i, w := range in {
		names[i] = w.Name
	}
	names = words.ShortApart(names, whiskerName)
	for i, w := range in {
		y := whiskerTop + row*(float64(i)+.5)
		out.Rows = append(out.Rows, WhiskerRow{
			Y: y, X: x(w.Effect), Low: x(w.Low), High: x(w.High), CapTop: y - 4,
			Name: names[i], Change: w.Change,
			Of: words.Short(w.Of, whiskerName), Whole: strings.TrimSpace(w.Of + " " + w.Name),
			Outcome: w.Outcome, Solid: w.Evidence == schema.Confirmed, Ends: w.Low >= lo && w.High <= hi,
		})
		if i > 0 {
			out.Label += "; "
		}
		out.Label += fmt.Sprintf("%s %s %s", out.Rows[i].Whole, w.Change, w.Evidence)
	}
	return out
}

// whiskersLeft is where the scale begins.
func whiskersLeft(in []render.Whisker) float64 {
	left := whiskerLeft
	for _, w := range in {
		for _, name := range []string{w.Name, w.Of} {
			letters := utf8.RuneCountInString(words.Short(name, whiskerName))
			left = math.Max(left, math.Ceil(whiskerLetter*float64(letters))+10)
		}
	}
	return left
}
