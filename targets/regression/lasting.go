package regression

import "math"

// lasting tests the newest two and three runs of a cell together for a change of any size: one below what matters is in
// the baseline a release later, and would be told only on the day that it came.
func (j *judge) lasting(x *test, p *prior) {
	x.small = joint{}
	if !x.ok || x.joint.runs > 0 || !j.joins(x.obs) || x.base.prevs == 0 {
		return
	}
	var room [4]sighting
	list, own := j.sightings(x, room[:0])
	dir := math.Copysign(1, x.d)
	base := x.base.summary()
	for k := 2; k <= min(3, len(list)); k++ {
		if k > own {
			base = base.without(&x.base.prev[k-own-1])
		}
		if base.n < 3 {
			return
		}
		if w, ok := j.small(x, list[:k], base, dir, p); ok && (x.small.runs == 0 || w.p < x.small.p) {
			x.small = w
		}
	}
}

// small tests some runs together that agree: each is off by half of what they are off by together.
func (j *judge) small(x *test, runs []sighting, base summary, dir float64, p *prior) (w joint, ok bool) {
	const worth = 2.5 // standard errors: less needs no p value
	sum, least, k, n := 0., math.Inf(1), float64(len(runs)), float64(base.n)
	for _, r := range runs {
		d := dir * (r.z - base.mean)
		sum, least = sum+d, math.Min(least, d)
	}
	if !(sum > 0) || least < sum/k/2 {
		return w, false
	}
	v, df := p.moderate(base.ss/math.Max(1, base.nu), base.nu, j.t.Cells[x.cell].Stratum)
	v, df = j.floored(v, df, &j.t.Obs[x.obs])
	se := math.Sqrt(v * (1/k + 1/n))
	if sum/k < worth*se {
		return w, false
	}
	return joint{
		runs: len(runs), n: base.n, first: runs[len(runs)-1].obs, mean: base.mean, d: dir * sum / k,
		sd: math.Sqrt(v), se: se, df: df, p: math.Min(1, 2*UpperTail(sum/k/se, df)), // two windows
	}, true
}

// smalls keeps the small changes that are discoveries over a family of cells, separately for each direction.
func (j *judge) smalls(tests []test, family int) {
	for _, dir := range []float64{1, -1} {
		var p []float64
		var at []int
		for i := range tests {
			if w := &tests[i].small; w.runs > 0 && w.d*dir > 0 {
				at, p = append(at, i), append(p, w.p)
			}
		}
		_, limit := BenjaminiHochberg(p, family, j.rules.FDR)
		for k, i := range at {
			if p[k] > limit {
				tests[i].small = joint{}
			}
		}
	}
}

// lasted names a change below what matters that the newest runs show together.
func (c *claim) lasted(first int32) bool {
	w := &c.x.small
	d := c.x.base.mean + c.x.d - w.mean + c.x.shift
	if w.runs == 0 || math.Abs(d) >= c.cell.Delta || d*w.d <= 0 || math.Abs(w.d) >= c.cell.Delta {
		return false
	}
	row := c.row
	row.Word, row.Why, row.D = BelowLimit, WhyBelowLimit, d
	if first != c.release {
		row.First = first
	}
	row.N, row.SE, row.Df = int16(w.n), float32(w.sd*math.Sqrt(1+1/float64(w.n))), float32(w.df)
	row.P, row.Q = float32(w.p), float32(math.NaN())
	return true
}
