package regression

import (
	"cmp"
	"math"
	"slices"
)

// control is how far the later runs of a release moved in a stratum, by points that the first run did not find
// remarkable: where they moved, the host or the start did it.
type control struct {
	level float64 // beyond what was removed from the first run, of four cells or more; NaN: fewer
	more  float64 // by fewer cells: how far they moved beyond the first run and the baseline; 0: they did not
}

// enoughControls is the number of cells whose median is the level of a stratum.
const enoughControls = 4

// second is the residual change of the later runs of the release: what the controls moved is removed. A few controls
// may be outliers themselves, so they only take from a change, and never add to it.
func (j *judge) second(x *test) float64 {
	return j.rerun(x) - j.hostMoved(x)
}

// rerun is how far the later runs of the release lie from the baseline, without what was removed from the first run.
func (j *judge) rerun(x *test) float64 { return j.t.Obs[x.obs].Z2 - x.removed - x.base.mean }

// hostMoved is how far the controls of a cell moved in the later runs beyond what was removed from the first.
func (j *judge) hostMoved(x *test) float64 {
	c := &j.control[j.t.Cells[x.cell].Stratum]
	switch {
	case !math.IsNaN(c.level):
		return c.level
	case c.more*x.d > 0:
		return c.more
	}
	return 0
}

// controls finds how far the controls of every stratum moved.
func (j *judge) controls(tests []test) {
	for i := range j.control {
		j.control[i] = control{level: math.NaN()}
	}
	remarkable := map[int32]bool{} // points
	for i := range tests {
		if x := &tests[i]; !math.IsNaN(x.p) {
			remarkable[j.t.Cells[x.cell].Point] = true
		}
	}
	levels, few := map[int32][]weighed{}, map[int32][]*test{}
	for i := range tests {
		x := &tests[i]
		if o := &j.t.Obs[x.obs]; o.K2 == 0 || !x.ok || !math.IsNaN(x.p) {
			continue
		}
		c := &j.t.Cells[x.cell]
		levels[c.Stratum] = append(levels[c.Stratum], weighed{j.rerun(x), 1 / math.Sqrt(x.s2)})
		if !remarkable[c.Point] {
			few[c.Stratum] = append(few[c.Stratum], x)
		}
	}
	for s, list := range levels {
		if len(list) >= enoughControls {
			j.control[s].level = weightedMedian(list)
		} else {
			j.control[s].more = j.moved(few[s])
		}
	}
}

// moved is the mean movement of some cells, as much of it as is not their noise (James and Stein 1961, for one mean). A
// cell that was as far off in the first run did not move between the two.
func (j *judge) moved(list []*test) float64 {
	sum, variance, k := 0., 0., float64(len(list))
	for _, x := range list {
		o := &j.t.Obs[x.obs]
		off, since := j.rerun(x), o.Z2-o.Z
		if off*since > 0 {
			sum += math.Copysign(math.Min(math.Abs(off), math.Abs(since)), off)
		}
		variance += x.s2 * (1 + 1/float64(x.base.n))
	}
	if sum == 0 {
		return 0
	}
	mean := sum / k
	return mean * math.Max(0, 1-variance/(k*k)/(mean*mean))
}

// weighed is a change and the inverse of its noise.
type weighed struct{ d, weight float64 }

// weightedMedian is the change that half of the weight lies on either side of. A cell whose baseline is noisy says next
// to nothing about a host: with equal weights, a model that once ran at twice its speed moved all others by 9 %.
func weightedMedian(list []weighed) float64 {
	slices.SortFunc(list, func(a, b weighed) int { return cmp.Compare(a.d, b.d) })
	total, below := 0., 0.
	for _, w := range list {
		total += w.weight
	}
	for i, w := range list {
		switch below += w.weight; {
		case 2*below == total && i+1 < len(list): // between two halves
			return (w.d + list[i+1].d) / 2
		case 2*below > total:
			return w.d
		}
	}
	return math.NaN()
}
