package words

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/curve"
)

// CurveAxis is what output stands against, with its unit: "tok/s/user".
func CurveAxis(axis string) string {
	return cmp.Or(map[string]string{compare.AxisWait: "ms TTFT", compare.AxisTail: "ms TTFT P90"}[axis], "tok/s/user")
}

// curveLevel is a level of a curve.
func curveLevel(axis string, level float64) string { return Quantity(level, CurveAxis(axis)) }

// curveChange is a change with its 95 % interval: "−4.2 % (−5.1 % to −3.3 %)".
func curveChange(v curve.Value) string {
	out := Change(v.Value)
	if !math.IsNaN(v.Low) {
		out += " (" + Change(v.Low) + " to " + Change(v.High) + ")"
	}
	return out
}

// CurveWhere says where B is shown to give more than A or less.
func CurveWhere(c *compare.Curve) string {
	if above, ok := c.Everywhere(); ok {
		return map[bool]string{true: "above everywhere", false: "below everywhere"}[above]
	}
	var parts []string
	for _, r := range c.Regions() {
		side := "below"
		if r.Above {
			side = "above"
		}
		if r.Low == r.High {
			parts = append(parts, side+" at "+curveLevel(c.Axis, r.Low))
			continue
		}
		parts = append(parts, side+" from "+Number(r.Low)+" to "+curveLevel(c.Axis, r.High))
	}
	if low, high, ok := c.Crossing(); ok {
		parts = append(parts, "they cross between "+Number(low)+" and "+curveLevel(c.Axis, high))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case math.IsNaN(c.Levels[0].Band[0]):
		return "not known: no repeats"
	}
	return "not shown to differ at any level"
}

// CurveWhole says whether the curve moved.
func CurveWhole(c *compare.Curve) string {
	switch {
	case math.IsNaN(c.Whole.Value):
		return "too few loads in common"
	case math.IsNaN(c.P):
		return curveChange(c.Whole) + ", not tested: no repeats"
	case !c.Sure():
		return curveChange(c.Whole) + ", not shown to have moved"
	}
	return curveChange(c.Whole)
}

// CurveAt says how much more or less the second side gives at some levels: "n300 12.3 % (9.1 to 15.2) better at 35
// tok/s/user". Where a curve is so steep that its runs say next to nothing of a level, neither does it.
func CurveAt(c *compare.Curve, b string) string {
	const nothing = 10 // times as much or more
	var at []string
	for _, level := range c.Round() {
		x, ok := c.At(level)
		if !ok || x.High > nothing {
			continue
		}
		v, lo, hi, word := x.Value.Value, x.Low, x.High, "better "
		switch {
		case hundredths(v) == hundredths(0):
			word = "" // neither
		case v < 0:
			v, lo, hi, word = -v, -hi, -lo, "worse "
		}
		plain := func(share float64) string { return strings.TrimPrefix(hundredths(share), "+") }
		text := b + " " + plain(v) + Thin + "% "
		if !math.IsNaN(lo) {
			text += "(" + plain(lo) + " to " + plain(hi) + ") "
		}
		at = append(at, text+word+"at "+curveLevel(c.Axis, level))
	}
	if len(at) == 0 && len(c.Round()) > 0 {
		return "not known: the runs are too far apart at every level"
	}
	return strings.Join(at, ", ")
}

// Curves are a sentence for each curve of a comparison: how that of B lies to that of A as a whole, at some levels, and
// where.
func Curves(r *compare.Result) (list []string) {
	for i := range r.Curves {
		c := &r.Curves[i]
		out := fmt.Sprintf("curve: %s against %s, ", r.B, r.A)
		if c.System != "" {
			out += c.System + ", "
		}
		out += fmt.Sprintf("%s from %s to %s: ", WorkloadOverLoads(c.Key), Number(c.Low), curveLevel(c.Axis, c.High))
		if !math.IsNaN(c.Whole.Value) {
			out += "as a whole " + CurveWhole(c) + "; "
		}
		out += "output"
		if c.PerChip {
			out += " per accelerator"
		}
		if at := CurveAt(c, r.B); at != "" {
			out += ": " + at
		}
		list = append(list, out+"; "+CurveWhere(c))
	}
	return list
}

// CurvesMoved says which curves the repeats show to have moved as a whole; "" for none.
func CurvesMoved(list []compare.Curve, against string) string {
	moved := compare.Moved(list)
	if len(moved) == 0 {
		return ""
	}
	const most = 3
	var out []string
	for _, c := range moved[:min(most, len(moved))] {
		side := "higher"
		if c.Whole.Value < 0 {
			side = "lower"
		}
		out = append(out, fmt.Sprintf("the curve of %s, %s is %s %s between %s and %s (%s to %s)", c.System,
			WorkloadOverLoads(c.Key), Percent(math.Abs(c.Whole.Value)), side, Number(c.Low),
			curveLevel(c.Axis, c.High), Change(c.Whole.Low), Change(c.Whole.High)))
	}
	if n := len(moved) - most; n > 0 {
		out = append(out, Count(n)+" more")
	}
	return "by repeats, since " + Release(against) + " " + strings.Join(out, "; ")
}
