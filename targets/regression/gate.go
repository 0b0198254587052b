package regression

import "math"

// test is the gate's calculation for one observation.
type test struct {
	obs, cell int32
	base      baseline
	d         float64 // residual change: the run-wide shift removed
	shift     float64 // run-wide change against the level that holds
	removed   float64 // run-wide level removed from the first run's value
	group     int32   // the system within its stratum; -1: too small to move as one
	s2, df    float64 // moderated variance of one release, floors included
	se        float64
	t         float64
	p         float64 // one-sided, in the direction of d, outliers included; NaN where |t| is unremarkable
	raw       float64 // of the t distribution
	ok        bool    // there are a baseline and a noise
	joint     joint   // of the newest runs together
	small     joint   // the same of a change of any size, where that is a discovery
}

// total returns the change of the number itself: residual and run-wide.
func (x *test) total() float64 { return x.d + x.shift }

// variance of the difference between a new value with k repeats and the baseline's mean (Var d in the method page):
// s²(1 + 1/n) whatever k is, plus what unequal repeats change, never below σw²/k + s²/n.
func variance(s2, sw2 float64, k int, b *baseline) float64 {
	n := float64(b.n)
	v := s2 * (1 + 1/n)
	if sw2 <= 0 {
		return v
	}
	v += sw2 * (1/float64(k) - 1/b.kbar())
	return math.Max(v, sw2/float64(k)+s2/n)
}

// run makes the tests of one release.
func (j *judge) run(tests []test, p, within *prior) {
	j.each(len(tests), func(lo, hi int) {
		q := Quantiles{}
		for i := lo; i < hi; i++ {
			j.gate(&tests[i], p, within, &q)
		}
	})
}

func (j *judge) gate(x *test, p, within *prior, q *Quantiles) {
	cell, o := &j.t.Cells[x.cell], &j.t.Obs[x.obs]
	x.p, x.raw = math.NaN(), math.NaN()
	if x.base.n == 0 || !p.known {
		return
	}
	x.s2, x.df = p.moderate(x.base.s2, x.base.nu, cell.Stratum)
	x.s2, x.df = j.floored(x.s2, x.df, o)
	sw2 := 0.
	if within.known {
		sw2, _ = within.moderate(x.base.ssw/math.Max(1, x.base.nuw), x.base.nuw, cell.Stratum)
	}
	x.se = math.Sqrt(variance(x.s2, sw2, int(o.K), &x.base))
	x.t = x.d / x.se
	x.ok = true
	if math.Abs(x.t) > q.of(x.df).t95 {
		x.raw = UpperTail(math.Abs(x.t), x.df)
		x.p = math.Min(1, x.raw+j.outliers.rate(x.cell, cell.Stratum, x.t, x.d, true))
	}
}

// least returns the floor of a variance estimate.
func (j *judge) least(o *Obs) float64 {
	f := math.Max(j.rules.Floor, float64(o.SE))
	return f * f
}

// floored applies the lower bounds of the noise: a fixed floor, the rounding of the stored value, the requests' own
// standard error. The largest counts, never their sum, because each is part of what releases show already.
func (j *judge) floored(s2, df float64, o *Obs) (v, dfv float64) { return math.Max(s2, j.least(o)), df }

// discover marks the tests of one direction that are discoveries over a family of cells, and sets the q values of
// those that come near: only p values up to the level are ranked, so that ten thousand large ones need no sorting.
func discover(tests []test, dir float64, family int, level float64, qs []float32, passed []int8) {
	var at []int
	var ps []float64
	for i := range tests {
		if x := &tests[i]; x.ok && x.d*dir > 0 && x.p <= level {
			at, ps = append(at, i), append(ps, x.p)
		}
	}
	q, limit := BenjaminiHochberg(ps, family, level)
	for k, i := range at {
		qs[i] = float32(q[k])
		if ps[k] <= limit {
			passed[i] = int8(dir)
		}
	}
}
