package judge

import (
	"context"
	"maps"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// ChangePoint is a place in a series' history where a new level began.
type ChangePoint struct {
	Series *Series
	At     string  // release
	Found  string  // release that decided it
	Effect float64 // relative, positive is worse
	Source regression.Source
	// Decision is that of a person, where one decided it.
	Decision *schema.Decision
}

// ChangePoints lists the change points in the history of what a release measured, by the release in which they began,
// including those that people dismissed. An empty model or device selects all.
func (j *Judgement) ChangePoints(release int, model, device string) []ChangePoint {
	in := map[int32]bool{}
	for _, i := range j.byCell[release] {
		s := &j.Series[j.cellOf[i]]
		if s.Pair().Selected(model, device) {
			in[j.cellOf[i]] = true
		}
	}
	var points []ChangePoint
	listed := map[int32]bool{}
	for _, l := range j.rows.ChangePoints {
		if in[l.Cell] && int(l.Found) <= release {
			points = append(points, j.changePoint(l))
			listed[l.At] = true
		}
	}
	if j.policy.Dismisses() {
		points = append(points, j.dismissed(in, listed, release)...)
	}
	return points
}

func (j *Judgement) changePoint(l regression.ChangePoint) ChangePoint {
	s := &j.Series[l.Cell]
	out := ChangePoint{
		Series: s, At: j.Releases[j.table.Obs[l.At].Release].Name, Found: j.Releases[l.Found].Name,
		Effect: relative(sign(s.Metric), l.D), Source: l.Source,
	}
	v := schema.Verdict{Release: out.At, Model: s.Model, Device: s.Device, Key: s.Key, Metric: s.Metric}
	switch {
	case l.Dismissed:
		out.Decision = j.policy.Level(&v, schema.Dismiss)
	case l.Source == regression.ByPerson:
		out.Decision = j.policy.Level(&v, schema.Pin, schema.Accept)
	}
	return out
}

// dismissed lists dismissals of change points that were not found: readers need to know that they have no effect.
func (j *Judgement) dismissed(in, listed map[int32]bool, release int) []ChangePoint {
	var out []ChangePoint
	for cell := range j.Series {
		c := &j.table.Cells[cell]
		for i := c.First + 1; in[int32(cell)] && i < c.End && int(j.table.Obs[i].Release) <= release; i++ {
			if o := &j.table.Obs[i]; o.Dismiss && !listed[i] {
				out = append(out, j.changePoint(regression.ChangePoint{
					Cell: int32(cell), At: i, Found: o.Release, D: o.Z - j.table.Obs[i-1].Z,
					Source: regression.ByPerson, Dismissed: true,
				}))
			}
		}
	}
	return out
}

// changePointsOf returns the change points of a cell, in the order in which they were found.
func (j *Judgement) changePointsOf(cell int32) []regression.ChangePoint {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.changePoints == nil {
		j.changePoints = map[int32][]regression.ChangePoint{}
		for _, l := range j.rows.ChangePoints {
			j.changePoints[l.Cell] = append(j.changePoints[l.Cell], l)
		}
	}
	return j.changePoints[cell]
}

// Explain returns the calculation behind a verdict against history; nil for one that no test of that kind decided.
func (j *Judgement) Explain(ctx context.Context, release int, v schema.Verdict) (*regression.Calculation, error) {
	if v.Against != schema.AgainstHistory || v.Key.IsEval() {
		return nil, nil
	}
	for _, i := range j.byCell[release] {
		s := &j.Series[j.cellOf[i]]
		if s.System() == v.System() && s.Metric == v.Metric && s.Stat == v.Stat && s.Def == v.Def &&
			s.Key.String() == v.Key.String() {
			return regression.Explain(ctx, j.table, j.rules, j.cellOf[i], int32(release))
		}
	}
	return nil, nil
}

// LargeDrifts returns the drifts in what a release measured that add up to more than the effect that matters since the
// last level that was shown: first those of a metric of a device as a whole, by the median of its series, then
// those of series of other strata. The family of tests is everything with enough history, so that testing only the
// large ones does not lead to more findings. What wanders without a direction is no drift: see [regression.Trend].
func (j *Judgement) LargeDrifts(release int) []Drift {
	from, before := j.begins(release)
	byStratum := map[int32][]int32{}
	var order []int32
	for _, i := range j.byCell[release] {
		cell := j.cellOf[i]
		s := j.table.Cells[cell].Stratum
		if byStratum[s] == nil {
			order = append(order, s)
		}
		byStratum[s] = append(byStratum[s], cell)
	}
	var together, alone []Drift
	strata, cells := 0, 0
	for _, s := range order {
		rises := j.rises(byStratum[s], release)
		x, tested := j.creep(byStratum[s], rises, release)
		if tested {
			strata++
		}
		if x != nil {
			together = append(together, *x)
			continue
		}
		list, n := j.driftsAlone(byStratum[s], rises, from, before, release)
		alone, cells = append(alone, list...), cells+n
	}
	return append(discovered(together, strata), discovered(alone, cells)...)
}

// fewestForDrift is the number of values of a level that is tested for a drift.
const fewestForDrift = 8

// driftsAlone tests each series of a stratum, of which rises are known, and returns how many it tested.
//
// A level that is too short for that is tested with the one before it: a series that drifts is confirmed to have
// regressed now and then, and drifts on.
func (j *Judgement) driftsAlone(
	cells []int32, rises []risen, from, before map[int32]int32, release int,
) (out []Drift, family int) {
	var values []float64 // room for every cell's
	for i, cell := range cells {
		delta := j.table.Cells[cell].Delta
		if from[cell] == 0 && rises[i].by < delta/2 { // one level, and far from it, as most are
			if rises[i].n >= fewestForDrift {
				family++
			}
			continue
		}
		values = j.held(cell, from[cell], release, values[:0])
		here := len(values)
		if here < fewestForDrift && from[cell] > 0 {
			values = j.held(cell, before[cell], release, values[:0])
		}
		if len(values) < fewestForDrift {
			continue
		}
		family++
		if rise(values) < delta/2 { // most are far from it and need no sorting of slopes
			continue
		}
		t := regression.TrendOf(values)
		if t.Slope*float64(t.N-1) >= delta && t.Steady() && t.Explains(values, len(values)-here) {
			out = append(out, newDrift(&j.Series[cell], t))
		}
	}
	return out, family
}

// rise is how far the last third of values lies above the first.
func rise(values []float64) float64 {
	third := len(values) / 3
	return regression.Mean(values[len(values)-third:]) - regression.Mean(values[:third])
}

// creep tests the median series of a stratum of eight series or more, and returns its drift if that adds up to the
// effect that matters. The series of the drift is the one whose change is the median.
func (j *Judgement) creep(cells []int32, rises []risen, release int) (drift *Drift, tested bool) {
	long := make([]float64, 0, len(rises))
	for _, r := range rises {
		if r.n >= fewestForDrift {
			long = append(long, r.by)
		}
	}
	if len(long) < fewestTogether {
		return nil, false
	}
	delta := j.table.Cells[cells[0]].Delta
	if slices.Sort(long); long[len(long)/2] < delta/2 { // most are far from it
		return nil, true
	}
	median := j.medianSeries(cells, release)
	if len(median) < fewestForDrift {
		return nil, true
	}
	t := regression.TrendOf(median)
	if t.Slope*float64(t.N-1) < delta || !t.Steady() {
		return nil, true
	}
	x := newDrift(&j.Series[cells[0]], t)
	x.Cells = len(cells)
	return &x, true
}

// fewestTogether is the number of series that can be said to drift together.
const fewestTogether = 8

// risen is how far the values of a series rose, and how many there are.
type risen struct {
	n  int
	by float64 // 0 where they are too few to be tested
}

// rises are those of the series of a stratum over all their levels.
func (j *Judgement) rises(cells []int32, release int) []risen {
	var values []float64
	out := make([]risen, len(cells))
	for i, cell := range cells {
		values = j.held(cell, 0, release, values[:0])
		if out[i].n = len(values); out[i].n >= fewestForDrift {
			out[i].by = rise(values)
		}
	}
	return out
}

// medianSeries is the median over the series of a stratum of how far each release is from the mean of the series, for
// the series that most of the releases have; nil where there are fewer than eight. Changes of single series are part of
// it: a creep is confirmed here and there while it lasts.
func (j *Judgement) medianSeries(cells []int32, release int) []float64 {
	off := map[int32][]float64{} // by release
	longest := 0
	var values, list []float64
	for pass := range 2 {
		for _, cell := range cells {
			values = j.held(cell, 0, release, values[:0])
			if pass == 0 {
				longest = max(longest, len(values))
				continue
			}
			if 5*len(values) < 4*longest {
				continue
			}
			level := regression.Mean(values)
			for i, at := range j.heldIn(cell, 0, release) {
				off[at] = append(off[at], values[i]-level)
			}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(off)) {
		if of := off[at]; len(of) >= fewestTogether {
			slices.Sort(of)
			list = append(list, (of[(len(of)-1)/2]+of[len(of)/2])/2)
		}
	}
	return list
}

// reported is the value of an observation that its row is about, on the scale where larger is worse.
func (j *Judgement) reported(obs int32) float64 {
	if o := &j.table.Obs[obs]; !later(&j.rows.Rows[obs]) {
		return o.Z
	} else {
		return o.Z2
	}
}
