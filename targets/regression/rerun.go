package regression

import "math"

// again tests an independent run given the first: both are compared with the same baseline, whose error they share, so
// the second is expected at d1/(n+1) under no change. Their distance is one more degree of freedom of the cell's own
// noise. It returns the one-sided p in direction dir.
//
// Rejected: the exact predictive test, which also counts the first change as noise. It halves the false
// confirmations, which are few, and costs a third of the power.
func (j *judge) again(x *test, d1, d2, dir float64, p *prior) float64 {
	mean, se, df := j.given(x, d1, d2, p)
	return UpperTail(dir*(d2-mean)/se, df)
}

// given returns the distribution of a second value given the first: its mean, standard error and degrees of freedom.
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

// odds returns the posterior odds of a change, given both values, against chance in a cell with more noise than
// estimated: the ratio of the predictive density of both values under some change (uniform up to a factor of two) to
// that under none (a bivariate t with the baseline's error in common), times the share of cells that changed in the
// release in which the change was first seen. A single change among ten thousand cells needs more evidence than one
// of a hundred.
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
	// ln f = lnΓ((m+k)/2) − lnΓ(m/2) − (k/2) ln π − ½ ln|Σ| + (m/2) ln a − ((m+k)/2) ln(a + Q); the terms in Γ(m/2) and
	// (m/2) ln a cancel.
	ln1 := lg((m+1)/2) - .5*math.Log(math.Pi) - .5*math.Log(a) - (m+1)/2*math.Log1p(u2/a) - math.Log(widest*math.Sqrt2)
	ln0 := lg((m+2)/2) - math.Log(math.Pi) - .5*math.Log(det) - math.Log(a) - (m+2)/2*math.Log1p(q0/a)
	return share / (1 - math.Min(share, .5)) * math.Exp(math.Min(700, ln1-ln0))
}

// runsNeeded returns how many independent runs must see a change again before it is confirmed. With a baseline of one
// or two releases it is two: the noise is hardly known, and the second value shares the baseline's error.
func runsNeeded(n int) int {
	if n < 3 {
		return 2
	}
	return 1
}

// size returns the size of the independent run's test: more history allows a stricter test.
func (j *judge) size(n int) float64 { return j.rules.Confirm * 3 / float64(max(3, n)) }
