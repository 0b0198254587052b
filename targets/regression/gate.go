package regression

import (
	"cmp"
	"math"
	"slices"
)

// test is the gate's reckoning of one observation.
type test struct {
	obs, cell int32
	base      baseline
	d         float64 // residual change: the run-wide shift removed
	shift     float64 // run-wide change against the level that holds
	s2, df    float64 // moderated variance of one release, floors included
	se        float64
	t         float64
	p         float64 // in the direction of d, one-sided, raised by what earlier predictions taught; NaN where |t| is unremarkable
	raw       float64 // as the t distribution has it
	ok        bool    // there is a baseline and a noise
	prior2    float64 // variance that all cells together expect
}

// total is the change that a person sees.
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
		q := quantiles{}
		for i := lo; i < hi; i++ {
			j.gate(&tests[i], p, within, &q)
		}
	})
}

func (j *judge) gate(x *test, p, within *prior, q *quantiles) {
	cell, o := &j.t.Cells[x.cell], &j.t.Obs[x.obs]
	x.p = math.NaN()
	if x.base.n == 0 || !p.known {
		return
	}
	x.prior2 = p.s02[cell.Stratum]
	x.s2, x.df = p.moderate(x.base.s2, x.base.nu, cell.Stratum)
	x.s2 = j.floored(x.s2, cell, o)
	sw2 := 0.
	if within.known {
		sw2, _ = within.moderate(x.base.ssw/math.Max(1, x.base.nuw), x.base.nuw, cell.Stratum)
	}
	x.se = math.Sqrt(variance(x.s2, sw2, int(o.K), &x.base))
	x.t = x.d / x.se
	x.ok = true
	if math.Abs(x.t) > q.of(x.df).t95 {
		x.p = upperTail(math.Abs(x.t), x.df)
	}
}

// floored applies the noise that no estimate may go below: a floor, the rounding of the stored value, the requests' own
// standard error. They enter by maximum, never by sum: each is part of what releases show already.
func (j *judge) floored(s2 float64, cell *Cell, o *Obs) float64 {
	f := math.Max(j.rules.Floor, cell.Resolution/math.Sqrt(12))
	return math.Max(s2, math.Max(f*f, float64(o.SE)*float64(o.SE)))
}

// discover marks the tests that pass Benjamini and Hochberg's procedure at level q in one direction, over a family of so many
// cells, and sets the q values of all that come near.
func discover(tests []test, dir float64, family int, q float64, qs []float32, passed []int8) {
	var order []int
	for i := range tests {
		if x := &tests[i]; x.ok && x.d*dir > 0 && x.p <= q {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		if c := cmp.Compare(tests[a].p, tests[b].p); c != 0 {
			return c
		}
		return int(tests[a].obs - tests[b].obs)
	})
	least, pass := math.Inf(1), false
	for rank := len(order); rank > 0; rank-- {
		i := order[rank-1]
		least = math.Min(least, tests[i].p*float64(family)/float64(rank))
		qs[i] = float32(math.Min(1, least))
		if pass = pass || least <= q; pass {
			passed[i] = int8(dir)
		}
	}
}

// again tests an independent run given the first: both are compared with the same baseline, whose error they share, so the
// second is expected at d1/(n+1) under no change. Their distance is one more degree of freedom of the cell's own noise. Below
// three releases, where a baseline hardly knows its noise, so is the first change itself: that makes the test the exact predictive
// one, which from three releases on would cost a third of the power for few false alarms fewer. It returns the one-sided p in
// direction dir.
func (j *judge) again(x *test, d1, d2, dir float64, p *prior) float64 {
	n := float64(x.base.n)
	rho := 1 / (n + 1)
	v, df := x.s2, x.df
	if !math.IsInf(p.d0, 1) {
		own, nu := x.base.nu*x.base.s2+(d2-d1)*(d2-d1)/2, x.base.nu+1
		if x.base.n < 3 {
			own, nu = own+d1*d1/(1+1/n), nu+1
		}
		v, df = (p.d0*x.prior2+own)/(p.d0+nu), math.Min(p.d0+nu, p.sumNu)
		v = j.floored(v, &j.t.Cells[x.cell], &j.t.Obs[x.obs])
	}
	se := math.Sqrt(v * (1 + 1/n) * (1 - rho*rho))
	return upperTail(dir*(d2-rho*d1)/se, df)
}

// size of the independent run's test: the more history, the more can be asked of it.
func (j *judge) size(n int) float64 { return j.rules.Confirm * 3 / float64(max(3, n)) }
