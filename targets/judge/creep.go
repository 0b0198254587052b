package judge

import (
	"maps"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
)

// LargeDrifts returns the drifts in what a release measured that add up to more than the effect that matters since the
// last level that was shown: first those of a metric of a device as a whole, by the median of its series, then
// those of series of other strata. The family of tests is everything with enough history, so that testing only the
// large ones does not lead to more findings. What wanders without a direction is no drift: see [regression.Trend].
func (j *Judgement) LargeDrifts(release int) []Drift {
	from, before := j.begins(release, true), j.beginsBefore(release)
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
