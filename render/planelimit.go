package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/render/words"
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
	At     float64            `json:"at,omitempty"` // concurrency, between the measured ones
	Output float64            `json:"output,omitempty"`
	Values [planeValues]maybe `json:"values"`

	between *[2]string // loads; nil where it was measured
}

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
// without it is interpolated; beyond the last measured point nothing is known.
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
		last := has[len(has)-1]
		top := (&PlaneLine{Points: slices.DeleteFunc(has, func(p PlanePoint) bool { return !in(p) })}).highest()
		return PlaneBest{Why: fmt.Sprintf("not bracketed: within the limit up to %s, at least %s tok/s",
			loadText(last.Load), words.Number(top.Output)), Output: top.Output}
	}
	best := PlaneBest{Output: math.Inf(-1)}
	take := func(at float64, values [planeValues]maybe, between *[2]string) {
		if out := *values[planeOutput]; out > best.Output {
			best = PlaneBest{At: round(at), Output: out, Values: values, between: between}
		}
	}
	for i, p := range has {
		if in(p) {
			take(p.At, p.Values, nil)
		}
		if i > 0 && in(has[i-1]) != in(p) {
			before := has[i-1]
			a, b := *before.Values[limit.Axis], *p.Values[limit.Axis]
			share := (limit.Value - a) / (b - a)
			var values [planeValues]maybe
			for k := range values {
				if x, y := before.Values[k], p.Values[k]; x != nil && y != nil {
					v := round(*x + share*(*y-*x))
					values[k] = &v
				}
			}
			take(before.At+share*(p.At-before.At), values, &[2]string{before.Load, p.Load})
		}
	}
	return best
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
		planeE2EL:  {200, 500, 1000, 2000, 5000, 10000, 30000, 60000, 120000},
	} {
		for _, v := range list {
			limit := PlaneLimit{Axis: axis, Value: v, Text: limitText(axis, v)}
			n, use := 0, false
			for i := range p.Lines {
				b := p.Lines[i].best(&limit)
				limit.Best = append(limit.Best, b)
				if b.Why == "" {
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
	}
	return "At an E2EL of " + round + " ms"
}

// rankedBest is the best point of a line.
type rankedBest struct {
	PlaneBest
	line *PlaneLine
}

// serves is its output as a sentence has it, which says where nobody measured it.
func (b *rankedBest) serves(unit string) string {
	said := words.Number(b.Output) + unit
	switch {
	case b.Why != "":
		return "at least " + said
	case b.between != nil:
		return "about " + said + " (between " + loadsText(b.between) + ")"
	}
	return said
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

// asked is a load of the line as it is read: a number of requests at once, or a rate.
func (l *PlaneLine) asked(at float64) string {
	if len(l.Points) > 0 && strings.HasSuffix(l.Points[0].Load, perSecond) {
		return words.Number(at) + " req/s"
	}
	return words.Number(at)
}

// Table has the best point of each line within the limit that is drawn first; without a limit the highest output.
func (p *Plane) Table() *Table {
	t := &Table{Layout: List, Cols: []Col{
		{Head: "Configuration"}, {Head: "Concurrency", Num: true, Length: Short},
		{Head: "Output", Unit: "tok/s", Num: true, Length: Short},
		{Head: "Per chip", Unit: "tok/s", Num: true, Length: Short},
		{Head: "Per user", Unit: "tok/s", Num: true, Length: Short},
		{Head: "TTFT", Unit: "ms", Num: true, Length: Short},
	}}
	t.Caption = p.Model + ": highest measured output of each configuration"
	limit := PlaneLimit{}
	if p.Limit >= 0 {
		limit = p.Limits[p.Limit]
		t.Caption = p.Model + ", " + p.Workloads[0] + ": best point of each configuration. " + limit.Text
	}
	type line struct {
		best rankedBest
		row  []Cell
	}
	var lines []line
	for i := range p.Lines {
		l := &p.Lines[i]
		if l.Workload != p.Workloads[0] {
			continue
		}
		b := l.highest()
		if p.Limit >= 0 {
			b = limit.Best[i]
		}
		name := Cell{Text: l.Name, Head: true, Href: l.Href}
		if l.Median {
			name.Sub = "medians: there are no means"
		}
		row := []Cell{name}
		if b.Why != "" {
			row = append(row, Cell{Text: b.Why, Missing: b.Why}, text(words.Absent), text(words.Absent), text(words.Absent),
				text(words.Absent))
		} else {
			row = append(row, text(l.asked(b.At)), text(words.Number(b.Output)), perChip(b.Output, l.Chips),
				valueCell(b.Values[planeSpeed]), valueCell(b.Values[planeTTFT]))
		}
		lines = append(lines, line{rankedBest{b, l}, row})
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.best.Output, a.best.Output) })
	for _, l := range lines {
		t.row(l.row...)
	}
	return t.cut("Explore has all").whole(exploring("All in Explore"))
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

func perChip(output float64, chips int) Cell {
	if chips == 0 {
		return Cell{Text: words.Absent, Missing: "how many chips the device has is not stated"}
	}
	return text(words.Number(output / float64(chips)))
}

func valueCell(v *float64) Cell {
	if v == nil {
		return Cell{Text: words.Absent, Missing: "not measured"}
	}
	return text(words.Number(*v))
}

// NotDrawn says which points are missing from the plane, and why.
func (p *Plane) NotDrawn() string {
	if len(p.Left) == 0 {
		return ""
	}
	return fmt.Sprintf("Not drawn: %s.", strings.Join(p.Left, "; "))
}
