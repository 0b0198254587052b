package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/curve"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/regression"
)

// Curve is a workload over its loads on both sides: what is given at what a user sees.
type Curve struct {
	System string // "" where both sides have one
	Key    schema.Key
	Axis   string // of what a user sees, one of [AxisSpeed], [AxisTail], [AxisWait]
	Beside bool   // it stands beside the curve of the workload against speed, which is what is tested
	// PerChip says that output is that of an accelerator, because all runs state how many they have.
	PerChip      bool
	RunsA, RunsB int
	*curve.Comparison
}

// Axes of curves: what output stands against.
const (
	AxisSpeed = "tps_user"
	AxisTail  = "ttft_p90"
	AxisWait  = "ttft" // where it has no P90 on both sides
)

// sweeps gathers the measurements of workloads over their loads.
type sweeps struct {
	order  []sweep
	points map[sweep]map[int][]curve.Point // by side: A, B, then what is given for the spread alone
	keys   map[sweep]schema.Key
	takes  func(workload schema.Key, rate bool) bool // which points of columns count; nil for all
	loads  map[int32]*load                           // by key of columns
	unders map[int32]string                          // likewise: conditions that numbers depend on
	total  bool                                      // some run does not state its accelerators
	whole  bool                                      // output is that of the deployment, also where all runs state theirs
	// apart are systems without enough repeats: neighbours among the releases before are taken as such.
	apart map[string]bool
}

// sweep names a workload but for its load, with the definition of what a user sees and conditions that numbers depend
// on.
type sweep struct {
	system, key, axis, def string
	rate                   bool // the load is a rate
}

// load is a workload at a load.
type load struct {
	at   *float64
	key  schema.Key // without it
	name string     // of the key
	rate bool       // the load is a rate
}

func loadOf(k schema.Key) *load {
	at, key := k.Load()
	return &load{at, key, key.String(), k.Concurrency == nil}
}

func axes() []string { return []string{AxisSpeed, AxisTail, AxisWait} }

// typical is the number that stands for a metric of a point, or for [AxisTail], with its statistic and definition.
type typical func(metric string) (v float64, def string)

// add takes a point of a run of a side.
func (s *sweeps) add(side, run int, system string, l *load, chips int, of typical) {
	output, _ := of("output_tps")
	if l.at == nil || !schema.Measurable(output) {
		return
	}
	if chips > 0 && !s.whole {
		output /= float64(chips)
	}
	for _, axis := range axes() {
		x, def := of(axis)
		if tpot, of := of("tpot"); axis == AxisSpeed && schema.Measurable(tpot) {
			x, def = 1000/tpot, of // tools average speeds in ways that differ by percents
		}
		at := sweep{system, l.name, axis, def, l.rate}
		if !schema.Measurable(x) {
			continue
		}
		if s.points[at] == nil {
			if s.points == nil {
				s.points, s.keys = map[sweep]map[int][]curve.Point{}, map[sweep]schema.Key{}
			}
			s.points[at], s.keys[at], s.order = map[int][]curve.Point{}, l.key, append(s.order, at)
		}
		s.total = s.total || chips == 0
		s.points[at][side] = append(s.points[at][side], curve.Point{Run: run, Load: *l.at, X: x, Output: output})
	}
}

// curves compares the sides, in the order of workloads.
func (s *sweeps) curves() (out []Curve) {
	type question struct {
		system, key string
		speed       bool
	}
	done := map[question]bool{}
	slices.SortStableFunc(s.order, func(a, b sweep) int {
		return cmp.Or(cmp.Compare(a.system, b.system), s.keys[a].Compare(s.keys[b]),
			cmp.Compare(slices.Index(axes(), a.axis), slices.Index(axes(), b.axis)))
	})
	for _, at := range s.order {
		q := question{at.system, at.key, at.axis == AxisSpeed}
		if done[q] {
			continue
		}
		a, b, others := s.fit(at)
		if a == nil || b == nil {
			continue
		}
		beside := !q.speed && done[question{at.system, at.key, true}]
		c := Curve{at.system, s.keys[at], at.axis, beside, !s.total, a.Runs(), b.Runs(), curve.Compare(a, b, others...)}
		if c.Comparison != nil {
			out, done[q] = append(out, c), true
		}
	}
	return out
}

// fit makes the curves of a workload: of the two sides, nil for none, and those that are given for their spread.
func (s *sweeps) fit(at sweep) (a, b *curve.Curve, others []*curve.Curve) {
	var waits []curve.Point // of a release whose neighbour comes next
	for _, side := range slices.Sorted(maps.Keys(s.points[at])) {
		points := s.points[at][side]
		if side > 1 && s.apart[at.system] {
			if waits == nil {
				waits = points
				continue
			}
			points, waits = slices.Concat(waits, points), nil
		}
		switch c := curve.Fit(points, at.axis != AxisSpeed); {
		case c == nil:
		case side == 0:
			a = c
		case side == 1:
			b = c
		default:
			others = append(others, c)
		}
	}
	if s.apart[at.system] {
		others = curve.Alike(others)
	}
	return a, b, others
}

// curvesOf compares the curves of two sides. Of two systems there is no test of the whole, which is at the same loads.
func curvesOf(a, b Side, name func(*schema.Run) string) []Curve {
	var s sweeps
	run, first, other, several := 0, "", false, false
	for side, from := range []Side{a, b} {
		for i := range from.Runs {
			r := &from.Runs[i]
			run++
			system, one := name(r), systemOf(r)
			other = other || first != "" && one != first
			first, several = one, several || system != ""
			for k := range r.Points {
				p := &r.Points[k]
				if failed(p) {
					continue
				}
				s.add(side, run, system, loadOf(p.Key), r.Device.Chips, func(metric string) (float64, string) {
					if metric == AxisTail {
						m, _ := p.Metric("ttft")
						v, _ := m.Stats.Get("p90")
						return v, m.Kind().Def
					}
					x, _ := numberOf(p, metric)
					return x.value, x.stat + x.def
				})
			}
		}
	}
	if other && !several {
		return s.untested()
	}
	return s.curves()
}

// untested compares two systems, of whose whole curves there is no test: that is at the same loads.
func (s *sweeps) untested() []Curve {
	out, nan := s.curves(), math.NaN()
	for i := range out {
		out[i].Whole, out[i].P = curve.Value{Value: nan, Low: nan, High: nan}, nan
	}
	return out
}

// DeviceCurves compares a model on two devices, by some runs of each, which are repeats.
func DeviceCurves(c *columns.Columns, a, b []int) []Curve {
	var s sweeps
	for side, runs := range [][]int{a, b} {
		for _, run := range runs {
			s.addRun(c, side, run, "")
		}
	}
	return s.untested()
}

// ReleaseCurves compares the curves of two releases of a history by some runs of each; the repeats of the releases
// before the later one say how much runs vary, or, without repeats, how far each two neighbours are apart. tested
// leaves out systems without repeats.
func ReleaseCurves(j *judge.Judgement, a, b int, runs func(release int) []int, tested bool) []Curve {
	var s sweeps
	s.addReleases(j, a, b, runs, tested)
	return s.curves()
}

// Band is the joint band of what is given at what a user sees.
type Band struct {
	Axis   string
	Levels []curve.At
}

// ReleaseBands are the bands of workloads of a release of a history, of the runs of one configuration, by their repeats
// and the releases before, as [ReleaseCurves] has them; of a workload that was measured in two ways, that of the first.
// Output is that of the whole deployment.
func ReleaseBands(
	j *judge.Judgement, release int, runs func(release int) []int, is func(workload schema.Key, rate bool) bool,
) (out []Band) {
	s := sweeps{whole: true, takes: is}
	s.addReleases(j, release, release, runs, false)
	for _, at := range s.order {
		if slices.ContainsFunc(out, func(b Band) bool { return b.Axis == at.axis }) {
			continue
		}
		_, c, others := s.fit(at)
		if c == nil {
			continue
		}
		levels := slices.DeleteFunc(c.Band(others...), func(x curve.At) bool { // where the curve is too steep
			return !(x.Band[1] < 100*x.Band[0])
		})
		if len(levels) > 1 {
			out = append(out, Band{at.axis, levels})
		}
	}
	return out
}

// addReleases takes the runs of two releases as sides, of one alone as the second, and those of the releases before the
// later one for the spread.
func (s *sweeps) addReleases(j *judge.Judgement, a, b int, runs func(release int) []int, tested bool) {
	const window = 20 // releases, as of a baseline
	c := j.Columns
	type group struct {
		system  string
		release int
	}
	repeats, df := map[group]int{}, map[string]int{}
	s.apart = map[string]bool{}
	eachRun := func(do func(ri, run int, g group)) {
		for ri := min(a, max(0, b-window)); ri <= b; ri++ {
			for _, run := range runs(ri) {
				h := &c.Runs[run]
				do(ri, run, group{strings.TrimSuffix(onDevice(h.Model.Name, h.Device)+", "+h.System().Impl, ", "), ri})
			}
		}
	}
	eachRun(func(_, _ int, g group) {
		if repeats[g]++; repeats[g] > 1 {
			df[g.system]++
		}
	})
	eachRun(func(ri, run int, g group) {
		at := 2 + ri
		switch ri {
		case b:
			at = 1
		case a:
			at = 0
		}
		s.apart[g.system] = df[g.system] < curve.FewestDF
		switch apart, beside := s.apart[g.system], at > 1; {
		case !apart && beside && repeats[g] < 2, apart && tested, apart && beside && !j.Releases[ri].Serves():
			return
		}
		s.addRun(c, at, run, g.system)
	})
}

// addRun takes the points of a run of a history.
func (s *sweeps) addRun(c *columns.Columns, side, run int, system string) {
	if s.loads == nil {
		s.loads, s.unders = map[int32]*load{}, map[int32]string{}
	}
	h := &c.Runs[run]
	for i := h.FirstPoint; i < h.PointsEnd; i++ {
		p := &c.Points[i]
		l := s.loads[p.Key]
		if l == nil {
			if l = loadOf(c.Keys[p.Key]); s.takes != nil && !s.takes(l.key, l.rate) {
				l.at = nil
			}
			s.loads[p.Key] = l
		}
		if w := p.StatusWord(); w == schema.StatusFailed || w == schema.StatusInvalid || l.at == nil {
			continue
		}
		under, known := s.unders[p.Cond]
		if !known {
			for _, name := range slices.Sorted(maps.Keys(c.Conds[p.Cond])) {
				if judge.Blocking(name) {
					under += "/" + name + "=" + c.Conds[p.Cond][name]
				}
			}
			s.unders[p.Cond] = under
		}
		s.add(side, run, system, l, h.Chips, func(metric string) (float64, string) {
			if metric == AxisTail {
				n, def := c.Value(p, "ttft", "p90")
				v, _ := n.Get()
				return v, def + under
			}
			v, stat, def, _ := c.Center(p, metric)
			return v, stat + def + under
		})
	}
}

// Moved are the curves that are shown to have moved as a whole, by Holm's procedure over those that are tested.
func Moved(list []Curve) (moved []*Curve) {
	var p []float64
	for i := range list {
		if !math.IsNaN(list[i].P) && !list[i].Beside {
			p = append(p, list[i].P)
		}
	}
	limit, _ := regression.Holm(p, .05)
	for i := range list {
		if list[i].P <= limit && !list[i].Beside {
			moved = append(moved, &list[i])
		}
	}
	return moved
}
