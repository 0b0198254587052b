package judge

import (
	"cmp"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// Drift is a series that moves in one direction without a change point.
type Drift struct {
	Series *Series
	Effect float64 // relative change a release, positive is worse
	Total  float64 // relative change over all releases of the level
	P      float64 // Mann and Kendall's, two-sided
	N      int
	Cells  int // numbers of the metric of the model on the device that drift together; 0: the series alone
}

const (
	fewestForDrift = 8 // values of a level that is tested
	fewestTogether = 4 // series that can be said to drift together
)

// LargeDrifts returns the drifts in what a release measured that add up to more than the effect that matters since the
// last level that was confirmed: first those of a metric of a model on a device as a whole, by their median, then
// those of series of others. The family of tests is everything with enough history, so that testing only the
// large ones does not lead to more findings. What wanders without a direction is no drift: see [regression.Trend].
//
// A level that is too short is tested with the one before it: a series that drifts is confirmed to have regressed now
// and then, and drifts on.
func (j *Judgement) LargeDrifts(release int) []Drift {
	last, before := j.begins(release)
	type group struct{ system, stratum int32 }
	measured := make([]int32, len(j.byCell[release]))
	for n, i := range j.byCell[release] {
		measured[n] = j.cellOf[i]
	}
	groupOf := func(cell int32) group { return group{j.table.Cells[cell].System, j.table.Cells[cell].Stratum} }
	var together, alone []Drift
	groups, cells := 0, 0
	var courses []held // of one group after the other: they are most of what a release takes
	for _, members := range schema.Alike(measured, groupOf) {
		courses = slices.Grow(courses[:0], len(members))[:len(members)]
		for i, cell := range members {
			j.hold(&courses[i], cell, release)
		}
		first := members[0]
		delta := j.table.Cells[first].Delta
		median, tested := j.medianCourse(courses, release, delta)
		if tested {
			groups++
		}
		if t, ok := drifting(median, 0, delta); ok {
			x := newDrift(&j.Series[first], t)
			x.Cells = len(courses)
			together = append(together, x)
			continue
		}
		for i, cell := range members {
			z := courses[i].since(last[cell])
			here := len(z)
			if here < fewestForDrift && last[cell] > 0 {
				z = courses[i].since(before[cell])
			}
			if len(z) >= fewestForDrift {
				cells++
			}
			if t, ok := drifting(z, len(z)-here, j.table.Cells[cell].Delta); ok {
				alone = append(alone, newDrift(&j.Series[cell], t))
			}
		}
	}
	return append(discovered(together, groups), discovered(alone, cells)...)
}

func newDrift(s *Series, t regression.Trend) Drift {
	badness := Sign(s.Metric)
	return Drift{
		Series: s, Effect: relative(badness, t.Slope), Total: relative(badness, t.Slope*float64(t.N-1)), P: t.P, N: t.N,
	}
}

// drifting returns the trend of values, of which a level begins at step, and whether it adds up to what matters.
func drifting(values []float64, step int, delta float64) (t regression.Trend, ok bool) {
	if len(values) < fewestForDrift || rise(values) < delta/2 { // most are far from it and need no sorting of slopes
		return t, false
	}
	t = regression.TrendOf(values)
	return t, t.Slope*float64(t.N-1) >= delta && t.Steady() && t.Explains(values, step)
}

// rise is how far the last third of values lies above the first.
func rise(values []float64) float64 {
	third := len(values) / 3
	return regression.Mean(values[len(values)-third:]) - regression.Mean(values[:third])
}

// begins returns, for each cell, the observations with which its current level in a release and the one before it
// began.
func (j *Judgement) begins(release int) (last, before map[int32]int32) {
	last, before = map[int32]int32{}, map[int32]int32{}
	for _, l := range j.rows.ChangePoints {
		if int(l.Found) <= release && !l.Dismissed && l.At > last[l.Cell] {
			if before[l.Cell] = last[l.Cell]; l.Source == regression.ByPerson { // nothing before it counts
				before[l.Cell] = l.At
			}
			last[l.Cell] = l.At
		}
	}
	return last, before
}

// held is what a series held when a release had been judged, on the scale where larger is worse, with its observations.
// Builds that never serve as a baseline are left out; the release's own is not.
type held struct {
	z  []float64
	at []int32
}

// hold makes the course of a series, in the memory of another one.
func (j *Judgement) hold(h *held, cell int32, release int) {
	c := &j.table.Cells[cell]
	h.z, h.at = h.z[:0], h.at[:0]
	for i := c.First; i < c.End && int(j.table.Obs[i].Release) <= release; i++ {
		o := &j.table.Obs[i]
		own := int(o.Release) == release
		if own || j.table.Releases[o.Release].Joins && !j.rows.Excluded(j.table, i, int32(release)) {
			h.z, h.at = append(h.z, o.Z), append(h.at, i)
		}
	}
}

// since are the values from an observation on.
func (h *held) since(at int32) []float64 {
	i, _ := slices.BinarySearch(h.at, at)
	return h.z[i:]
}

// medianCourse is the median over the series of a group of how far each release is from the mean of the series, for
// the series that most of the releases have. Changes of single series are part of it: a creep is confirmed here and
// there while it lasts. tested is false where too few series are long enough; there is none where half of them are far
// from a rise by delta, as most are.
func (j *Judgement) medianCourse(list []held, release int, delta float64) (median []float64, tested bool) {
	var rises []float64
	longest := 0
	for i := range list {
		n := len(list[i].z)
		if longest = max(longest, n); n >= fewestForDrift {
			rises = append(rises, rise(list[i].z))
		}
	}
	if len(rises) < fewestTogether {
		return nil, false
	}
	if slices.Sort(rises); rises[len(rises)/2] < delta/2 {
		return nil, true
	}
	off := make([][]float64, release+1) // by release
	for i := range list {
		h := &list[i]
		if 5*len(h.z) < 4*longest {
			continue
		}
		level := regression.Mean(h.z)
		for k, z := range h.z {
			of := &off[j.table.Obs[h.at[k]].Release]
			*of = append(*of, z-level)
		}
	}
	for _, of := range off {
		if len(of) >= fewestTogether {
			median = append(median, regression.Median(of))
		}
	}
	return median, true
}

// discovered returns the drifts that pass the false discovery procedure over a family, smallest p first.
func discovered(list []Drift, family int) []Drift {
	p := make([]float64, len(list))
	for i := range list {
		p[i] = list[i].P
	}
	_, limit := regression.BenjaminiHochberg(p, family, regression.FDR)
	list = slices.DeleteFunc(list, func(d Drift) bool { return !(d.P <= limit) })
	slices.SortStableFunc(list, func(a, b Drift) int { return cmp.Compare(a.P, b.P) })
	return list
}
