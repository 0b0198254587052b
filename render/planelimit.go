package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/curve"
)

// PlaneLimit is a service level: a value of a user that must not be missed.
type PlaneLimit struct {
	Axis  int     `json:"axis"` // index of the value: speed, TTFT or E2EL
	Value float64 `json:"value"`
	Text  string  `json:"text"`
	// Best are the best points within it, by line; Why says that there is none, or that it is not known.
	Best []PlaneBest `json:"best"`
}

// PlaneBest is the highest output of a line within a limit: measured, or between two measured points.
type PlaneBest struct {
	Why    string             `json:"why,omitempty"`
	Least  bool               `json:"least,omitempty"` // the line never leaves the limit: at least so much
	At     float64            `json:"at,omitempty"`    // concurrency, between the measured ones
	Output float64            `json:"output,omitempty"`
	Values [planeValues]maybe `json:"values"`

	between bool // two points: it was not measured
}

// bracketed reports whether the limit lies between two points of the line.
func (b *PlaneBest) bracketed() bool { return b.Why == "" && !b.Least }

// maybe is a value that may be absent.
type maybe = *float64

// within reports whether a value meets the limit.
func (l *PlaneLimit) within(v float64) bool {
	if l.Axis == planeSpeed {
		return v >= l.Value
	}
	return v <= l.Value
}

// best finds the point of a line with the highest output within a limit. Between a point within and the next one
// without it is interpolated, as for a target at that level; beyond the last measured point nothing is known.
func (l *PlaneLine) best(limit *PlaneLimit) PlaneBest {
	var has []PlanePoint
	for _, p := range l.Points {
		if p.Values[limit.Axis] != nil {
			has = append(has, p)
		}
	}
	in := func(p PlanePoint) bool { return limit.within(*p.Values[limit.Axis]) }
	switch {
	case len(has) == 0:
		return PlaneBest{Why: "not measured"}
	case !slices.ContainsFunc(has, in):
		return PlaneBest{Why: "no point is within the limit"}
	case in(has[len(has)-1]):
		top := (&PlaneLine{Points: slices.DeleteFunc(has, func(p PlanePoint) bool { return !in(p) })}).highest()
		top.Least = true
		return top
	}
	best := PlaneBest{Output: math.Inf(-1)}
	take := func(at float64, values [planeValues]maybe, between bool) {
		if out := *values[planeOutput]; out > best.Output {
			best = PlaneBest{At: round(at), Output: out, Values: values, between: between}
		}
	}
	for i, p := range has {
		if in(p) {
			take(p.At, p.Values, false)
		}
		if i > 0 && in(has[i-1]) != in(p) {
			before := has[i-1]
			a, b := *before.Values[limit.Axis], *p.Values[limit.Axis]
			share := (limit.Value - a) / (b - a)
			at, values := l.between(limit, before, p, share)
			take(at, values, true)
		}
	}
	return best
}

// between are the load and the values at a limit, a share of the way from a point to the next one; load and output are
// those of the curve, which leaves out loads that another one beats: between few loads a line is off by half.
func (l *PlaneLine) between(
	limit *PlaneLimit, before, p PlanePoint, share float64,
) (at float64, values [planeValues]maybe) {
	load, v := l.curve(limit.Axis).Reach(limit.Value)
	x, y := *before.Values[planeOutput], *p.Values[planeOutput]
	onCurve := v >= min(x, y) && v <= max(x, y)
	if onCurve {
		share = (load - before.At) / (p.At - before.At)
	}
	for k := range values {
		if x, y := before.Values[k], p.Values[k]; x != nil && y != nil {
			v := round(*x + share*(*y-*x))
			values[k] = &v
		}
	}
	if values[limit.Axis] = &limit.Value; onCurve {
		v = round(v)
		values[planeOutput] = &v
	}
	return before.At + share*(p.At-before.At), values
}

// curve is what the line gives over a value; without one, where fewer than three loads make it, nothing is known.
func (l *PlaneLine) curve(axis int) *curve.Curve {
	if _, done := l.fitted[axis]; !done {
		var points []curve.Point
		for _, p := range l.Points {
			if x := p.Values[axis]; x != nil {
				points = append(points, curve.Point{Load: p.At, X: *x, Output: *p.Values[planeOutput]})
			}
		}
		if l.fitted == nil {
			l.fitted = map[int]*curve.Curve{}
		}
		l.fitted[axis] = curve.Fit(points, axis != planeSpeed)
	}
	return l.fitted[axis]
}

// trace adds points of the line's curves between the loads.
func (l *PlaneLine) trace() {
	const parts = 4
	for axis := planeSpeed; axis < planeValues; axis++ {
		if !l.curve(axis).Whole() {
			continue
		}
		for i := 1; i < len(l.Points); i++ {
			a, b := l.Points[i-1].Values[axis], l.Points[i].Values[axis]
			for part := 1; part < parts && a != nil && b != nil && *a > 0 && *b > 0; part++ {
				level := *a * math.Pow(*b / *a, float64(part)/parts)
				if v := l.curve(axis).At(level); !math.IsNaN(v) {
					l.Paths[axis-1] = append(l.Paths[axis-1], [2]float64{latency.Round(level, 4), latency.Round(v, 4)})
				}
			}
		}
	}
}

// limits offers the round values that lie among what was measured, and draws the one first that most lines cross; of
// several the one nearest to 20 tok/s of a user.
func (p *Plane) limits() {
	drawn := func(l *PlaneLine) bool { return l.Workload == p.Workloads[0] }
	p.Limit = -1
	crossed := 0
	for axis, list := range [planeValues][]float64{
		planeSpeed: {5, 10, 20, 30, 50, 100, 200, 500},
		planeTTFT:  {20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000},
		planeTail:  {20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000},
		planeE2EL:  {200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 120000},
	} {
		for _, v := range list {
			limit := PlaneLimit{Axis: axis, Value: v, Text: limitText(axis, v)}
			n, use := 0, false
			for i := range p.Lines {
				b := p.Lines[i].best(&limit)
				limit.Best = append(limit.Best, b)
				if b.bracketed() {
					use = true
					if drawn(&p.Lines[i]) {
						n++
					}
				}
			}
			if !use {
				continue
			}
			p.Limits = append(p.Limits, limit)
			first := p.Limit < 0 || crossed == 0
			same := !first && p.Limits[p.Limit].Axis == axis // another axis is drawn first only where the speed has none
			if n > 0 && (first || same && (n > crossed || n == crossed && nearer(limit, p.Limits[p.Limit]))) {
				p.Limit, crossed = len(p.Limits)-1, n
			}
		}
	}
}

func nearer(a, b PlaneLimit) bool {
	const usual = 20
	far := func(l PlaneLimit) float64 { return math.Abs(math.Log(l.Value / usual)) }
	return a.Axis == planeSpeed && (b.Axis != planeSpeed || far(a) < far(b))
}

func limitText(axis int, v float64) string {
	round := words.Count(int(v))
	switch axis {
	case planeSpeed:
		return "At " + round + " tok/s per user"
	case planeTTFT:
		return "At a TTFT of " + round + " ms"
	case planeTail:
		return "At a TTFT P90 of " + round + " ms"
	}
	return "At an E2EL of " + round + " ms"
}

// rankedBest is the best point of a line.
type rankedBest struct {
	PlaneBest
	line *PlaneLine
}

// serves is its output as a sentence has it, which says where nobody measured it: "concurrency 32 and 64", "10 and 20
// req/s".
func (b *rankedBest) serves(unit string) string {
	said := words.Number(b.Output) + unit
	switch {
	case b.Least:
		return "at least " + said
	case b.between:
		return "about " + said
	}
	return said
}

// bound is a number of a best point; with "≥" where its line never leaves the limit.
func (b *rankedBest) bound(v float64) Cell {
	if b.Least {
		return text("≥" + words.Thin + words.Number(v))
	}
	return text(words.Number(v))
}

// ranked are the best points of the lines that are drawn first, highest output first; of a line that never leaves the
// limit, its highest output, which it serves at least.
func (p *Plane) ranked() []rankedBest {
	if p.Limit < 0 {
		return nil
	}
	var out []rankedBest
	for i, b := range p.Limits[p.Limit].Best {
		if b.Output > 0 && p.Lines[i].Workload == p.Workloads[0] {
			out = append(out, rankedBest{b, &p.Lines[i]})
		}
	}
	slices.SortStableFunc(out, func(a, b rankedBest) int { return cmp.Compare(b.Output, a.Output) })
	return out
}

// Table has the best point of each line within the limit that is drawn first; without a limit the highest output.
func (p *Plane) Table() *Table {
	var lines []rankedBest
	for i := range p.Lines {
		l := &p.Lines[i]
		if l.Workload != p.Workloads[0] {
			continue
		}
		b := l.highest()
		if p.Limit >= 0 {
			b = p.Limits[p.Limit].Best[i]
		}
		lines = append(lines, rankedBest{b, l})
	}
	slices.SortStableFunc(lines, func(a, b rankedBest) int { return cmp.Compare(b.Output, a.Output) })
	caption := p.Model + ": highest measured output of each configuration"
	if p.Limit >= 0 {
		caption = p.Model + ", " + p.Workloads[0] + ": best point of each configuration. " + p.Limits[p.Limit].Text
	}
	known := func(c Col, cell func(rankedBest) Cell) Column[rankedBest] {
		return Column[rankedBest]{c, func(b rankedBest) Cell {
			if b.Why != "" {
				return text(words.Absent)
			}
			return cell(b)
		}}
	}
	value := func(v *float64) Cell {
		if v == nil {
			return missing("not measured")
		}
		return text(words.Number(*v))
	}
	return tableOf(caption, List, lines, []Column[rankedBest]{
		{col("Configuration"), func(b rankedBest) Cell {
			name := head(b.line.Name, b.line.Href)
			if b.line.Median {
				name.Sub = "medians: there are no means"
			}
			return name
		}},
		{num("Concurrency"), func(b rankedBest) Cell {
			if b.Why != "" {
				return Cell{Text: b.Why, Missing: b.Why}
			}
			at := b.bound(b.At)
			if points := b.line.Points; len(points) > 0 && strings.HasSuffix(points[0].Load, perSecond) {
				at.Text += " req/s"
			}
			return at
		}},
		known(num("Output").in("tok/s"), func(b rankedBest) Cell { return b.bound(b.Output) }),
		known(num("Per chip").in("tok/s"), func(b rankedBest) Cell {
			if b.line.Chips == 0 {
				return missing("how many chips the device has is not stated")
			}
			return b.bound(b.Output / float64(b.line.Chips))
		}),
		known(num("Per user").in("tok/s"), func(b rankedBest) Cell { return value(b.Values[planeSpeed]) }),
		known(num("TTFT").in("ms"), func(b rankedBest) Cell { return value(b.Values[planeTTFT]) }),
	}).cut("Explore has all").whole(exploring("All in Explore"))
}

// highest is the point with the highest output that was measured.
func (l *PlaneLine) highest() PlaneBest {
	var best PlaneBest
	for _, p := range l.Points {
		if out := *p.Values[planeOutput]; out >= best.Output {
			best = PlaneBest{At: p.At, Output: out, Values: p.Values}
		}
	}
	return best
}

// NotDrawn says which points are missing from the plane, and why.
func (p *Plane) NotDrawn() string {
	if len(p.Left) == 0 {
		return ""
	}
	return fmt.Sprintf("Not drawn: %s.", strings.Join(p.Left, "; "))
}
