package regression

import "math"

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
		q := Quantiles{}
		for i := lo; i < hi; i++ {
			j.gate(&tests[i], p, within, &q)
		}
	})
}

func (j *judge) gate(x *test, p, within *prior, q *Quantiles) {
	cell, o := &j.t.Cells[x.cell], &j.t.Obs[x.obs]
	x.p = math.NaN()
	if x.base.n == 0 || !p.known {
		return
	}
	x.prior2 = p.s02[cell.Stratum]
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
		x.p = UpperTail(math.Abs(x.t), x.df)
	}
}

// least is the variance that no estimate may go below.
func (j *judge) least(o *Obs) float64 {
	f := math.Max(j.rules.Floor, float64(o.SE))
	return f * f
}

// floored applies the noise that no estimate may go below: a floor, the rounding of the stored value, the requests' own
// standard error. They enter by maximum, never by sum: each is part of what releases show already.
//
// A floor that is far above the estimate leaves little of the estimate's uncertainty: by Satterthwaite's rule the degrees of
// freedom grow with the square of their ratio.
func (j *judge) floored(s2, df float64, o *Obs) (v, dfv float64) {
	f := j.least(o)
	if f <= s2 {
		return s2, df
	}
	if s2 <= 0 {
		return f, math.Inf(1)
	}
	return f, df * (f / s2) * (f / s2)
}

// discover marks the tests of one direction that are discoveries over a family of so many cells, and sets the q values of all
// that come near: only p values up to the level are ranked, so that ten thousand unremarkable ones need not be sorted.
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

// again tests an independent run given the first: both are compared with the same baseline, whose error they share, so the
// second is expected at d1/(n+1) under no change. Their distance is one more degree of freedom of the cell's own noise. It returns
// the one-sided p in direction dir.
//
// Rejected: the exact predictive test, which counts the first change as noise too. It halves the false confirmations, which are
// few, and costs a third of the power.
func (j *judge) again(x *test, d1, d2, dir float64, p *prior) float64 {
	mean, se, df := j.given(x, d1, d2, p)
	return UpperTail(dir*(d2-mean)/se, df)
}

// given is what is expected of a second value once the first is known: its mean, standard error and degrees of freedom.
func (j *judge) given(x *test, d1, d2 float64, p *prior) (mean, se, df float64) {
	n := float64(x.base.n)
	rho := 1 / (n + 1)
	v, df := x.s2, x.df
	if !math.IsInf(p.d0, 1) {
		own, nu := x.base.nu*x.base.s2+(d2-d1)*(d2-d1)/2, x.base.nu+1
		v, df = (p.d0*x.prior2+own)/(p.d0+nu), math.Min(p.d0+nu, p.sumNu)
		v, df = j.floored(v, df, &j.t.Obs[x.obs])
	}
	return rho * d1, math.Sqrt(v * (1 + 1/n) * (1 - rho*rho)), df
}

// odds are the posterior odds of a change, given what was seen twice, against chance in a cell whose noise is larger than it
// seemed: the ratio of the predictive density of both values under some change (uniform up to a factor of two) to that under none
// (a bivariate t with the baseline's error in common), times the share of cells that changed in the release of the first sighting.
// A lone change among ten thousand cells needs more than one of a hundred.
func (j *judge) odds(x *test, d1, d2, share float64, p *prior) float64 {
	const widest = math.Ln2
	m := math.Min(p.d0+x.base.nu, 1e6)
	a := m * x.s2 // prior and own squares together, floors included
	n := float64(x.base.n)
	v, c := 1+1/n, 1/n
	det := v*v - c*c
	q0 := (v*(d1*d1+d2*d2) - 2*c*d1*d2) / det
	u2 := (d1 - d2) * (d1 - d2) / 2
	lg := func(z float64) float64 { g, _ := math.Lgamma(z); return g }
	// ln f = lnΓ((m+k)/2) − lnΓ(m/2) − (k/2) ln π − ½ ln|Σ| + (m/2) ln a − ((m+k)/2) ln(a + Q); the terms in Γ(m/2) and (m/2) ln a
	// cancel.
	ln1 := lg((m+1)/2) - .5*math.Log(math.Pi) - .5*math.Log(a) - (m+1)/2*math.Log1p(u2/a) - math.Log(widest*math.Sqrt2)
	ln0 := lg((m+2)/2) - math.Log(math.Pi) - .5*math.Log(det) - math.Log(a) - (m+2)/2*math.Log1p(q0/a)
	return share / (1 - math.Min(share, .5)) * math.Exp(math.Min(700, ln1-ln0))
}

// witnesses is how many independent runs must see a change again before it is confirmed. A baseline of one or two releases hardly
// knows its own noise, and a second value that shares its error says little: it takes two.
func witnesses(n int) int {
	if n < 3 {
		return 2
	}
	return 1
}

// size of the independent run's test: the more history, the more can be asked of it.
func (j *judge) size(n int) float64 { return j.rules.Confirm * 3 / float64(max(3, n)) }
