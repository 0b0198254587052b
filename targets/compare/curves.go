package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/curve"
	"github.com/ttreport/ttreport/targets/judge"
)

// Curve is a workload over its loads on both sides: what is given at what a user sees.
type Curve struct {
	System string // "" where both sides have one
	Key    schema.Key
	Axis   string // metric of what a user sees: tps_user or ttft
	// PerChip says that output is that of an accelerator, because all runs state how many they have.
	PerChip      bool
	RunsA, RunsB int
	*curve.Comparison
}

// Axes of curves, the first that both sides measured counts.
const (
	AxisSpeed = "tps_user"
	AxisWait  = "ttft"
)

// sweeps gathers the measurements of workloads over their loads.
type sweeps struct {
	order  []sweep
	points map[sweep]map[int][]curve.Point // by side: A, B, then what is given for the spread alone
	keys   map[sweep]schema.Key
	total  bool // some run does not state its accelerators
}

// sweep names a workload but for its load, with the definition of what a user sees and conditions that numbers depend
// on.
type sweep struct{ system, key, axis, def string }

// typical is the number that stands for a metric of a point, with its statistic and definition.
type typical func(metric string) (v float64, def string)

// add takes a point of a run of a side.
func (s *sweeps) add(side, run int, system string, k schema.Key, chips int, of typical) {
	load, k := k.Load()
	output, _ := of("output_tps")
	if load == nil || !schema.Measurable(output) {
		return
	}
	if chips > 0 {
		output /= float64(chips)
	}
	for _, axis := range []string{AxisSpeed, AxisWait} {
		x, def := of(axis)
		if tpot, of := of("tpot"); axis == AxisSpeed && schema.Measurable(tpot) {
			x, def = 1000/tpot, of // tools average speeds in ways that differ by percents
		}
		at := sweep{system, k.String(), axis, def}
		if !schema.Measurable(x) {
			continue
		}
		if s.points[at] == nil {
			if s.points == nil {
				s.points, s.keys = map[sweep]map[int][]curve.Point{}, map[sweep]schema.Key{}
			}
			s.points[at], s.keys[at], s.order = map[int][]curve.Point{}, k, append(s.order, at)
		}
		s.total = s.total || chips == 0
		s.points[at][side] = append(s.points[at][side], curve.Point{Run: run, Load: *load, X: x, Output: output})
	}
}

// curves compares the sides, in the order of workloads.
func (s *sweeps) curves() (out []Curve) {
	done := map[[2]string]bool{}
	slices.SortStableFunc(s.order, func(a, b sweep) int {
		return cmp.Or(cmp.Compare(a.system, b.system), compareKeys(s.keys[a], s.keys[b]), cmp.Compare(a.axis, b.axis))
	})
	for _, at := range s.order {
		if done[[2]string{at.system, at.key}] {
			continue
		}
		fitted := map[int]*curve.Curve{}
		var others []*curve.Curve
		for side, points := range s.points[at] {
			if fitted[side] = curve.Fit(points, at.axis == AxisWait); fitted[side] != nil && side > 1 {
				others = append(others, fitted[side])
			}
		}
		if fitted[0] == nil || fitted[1] == nil {
			continue
		}
		c := Curve{at.system, s.keys[at], at.axis, !s.total, fitted[0].Runs(), fitted[1].Runs(),
			curve.Compare(fitted[0], fitted[1], others...)}
		if c.Comparison != nil {
			out, done[[2]string{at.system, at.key}] = append(out, c), true
		}
	}
	return out
}

// curvesOf compares the curves of two sides. Of two systems there is no test of the whole, which is at the same loads.
func curvesOf(a, b Side, several bool) []Curve {
	var s sweeps
	run, first, other := 0, "", false
	for side, from := range []Side{a, b} {
		for i := range from.Runs {
			r := &from.Runs[i]
			run++
			system, one := "", systemOf(r)
			other = other || first != "" && one != first
			first = one
			if several {
				system = one
			}
			for k := range r.Points {
				p := &r.Points[k]
				if failed(p) {
					continue
				}
				s.add(side, run, system, p.Key, r.Device.Chips, func(metric string) (float64, string) {
					x, _ := numberOf(p, metric)
					return x.value, x.stat + x.def
				})
			}
		}
	}
	out := s.curves()
	for i := range out {
		if other && !several {
			nan := math.NaN()
			out[i].Whole, out[i].P = curve.Value{Value: nan, Low: nan, High: nan}, nan
		}
	}
	return out
}

// ReleaseCurves compares the curves of two releases of a history; the repeats of all up to the later one say how much
// runs vary.
func ReleaseCurves(j *judge.Judgement, a, b int) []Curve {
	var s sweeps
	c := j.Columns
	for ri := range b + 1 {
		side := map[int]int{a: 0, b: 1}
		at, compared := side[ri]
		if !compared {
			at = 2 + ri
		}
		for _, run := range j.Releases[ri].Runs {
			h := &c.Runs[run]
			system := onDevice(h.Model.Name, h.Device)
			if h.Impl != "" {
				system += ", " + h.Impl
			}
			for i := h.FirstPoint; i < h.PointsEnd; i++ {
				p := &c.Points[i]
				if w := p.StatusWord(); w == schema.StatusFailed || w == schema.StatusInvalid {
					continue
				}
				s.add(at, run, system, c.Keys[p.Key], h.Chips, func(metric string) (float64, string) {
					for _, stat := range schema.CenterStats() {
						n, def := c.Value(p, metric, stat)
						if v, ok := n.Get(); ok {
							return v, stat + def + blocking(c.Conds[p.Cond])
						}
					}
					return 0, ""
				})
			}
		}
	}
	return s.curves()
}

// blocking are the conditions that numbers depend on.
func blocking(c columns.Conditions) (out string) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if judge.Blocking(name) {
			out += "/" + name + "=" + c[name]
		}
	}
	return out
}
