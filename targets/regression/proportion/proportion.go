package proportion

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Quantiles of the standard normal distribution. 95 % intervals extend to Z975 standard errors.
const (
	Z975 = 1.959963984540054
	z95  = 1.644853626951472
)

// Wilson returns the 95 % score interval of a share p of n items (Wilson 1927). Unlike p ± 1.96 SE it has a width at
// 0 and 1.
func Wilson(p, n float64) (lo, hi float64) {
	const z = Z975
	if n <= 0 {
		return 0, 1
	}
	centre := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return math.Max(0, centre-half), math.Min(1, centre+half)
}

// Difference is a change between two shares, second minus first.
type Difference struct {
	D          float64
	Lo, Hi     float64 // 95 %
	Fell, Rose float64 // one-sided p values of a fall and of a rise
}

// Newcombe compares two independent shares: the hybrid score interval (Newcombe 1998, method 10), and p values of the
// pooled two sample test.
func Newcombe(p1, n1, p2, n2 float64) Difference {
	d := Difference{D: p2 - p1}
	l1, u1 := Wilson(p1, n1)
	l2, u2 := Wilson(p2, n2)
	d.Lo, d.Hi = d.D-math.Hypot(p2-l2, u1-p1), d.D+math.Hypot(u2-p2, p1-l1)
	pool := (p1*n1 + p2*n2) / (n1 + n2)
	se := math.Sqrt(pool * (1 - pool) * (1/n1 + 1/n2))
	return d.normal(se)
}

// McNemar compares two answers to each of the same n items: lost were right before and wrong now, gained the reverse.
// The p values are exact (binomial at one half over the items that changed); the interval is the paired Wald interval
// with one item added (Agresti and Min 2005 advise against the bare one). Of few items the exact test shows less: then
// the interval reaches to zero.
func McNemar(lost, gained, n int) Difference {
	d := Difference{Fell: 1, Rose: 1}
	if n == 0 {
		return d
	}
	d.D = float64(gained-lost) / float64(n)
	se := PairedError(lost, gained, n)
	d.Lo, d.Hi = d.D-Z975*se, d.D+Z975*se
	// P(X >= k) of a binomial X of half a chance is I_½(k, n-k+1): Abramowitz and Stegun 26.5.24.
	if lost > 0 {
		d.Fell = mathext.RegIncBeta(float64(lost), float64(gained)+1, .5)
	}
	if gained > 0 {
		d.Rose = mathext.RegIncBeta(float64(gained), float64(lost)+1, .5)
	}
	if 2*math.Min(d.Fell, d.Rose) > .05 {
		d.Lo, d.Hi = math.Min(d.Lo, 0), math.Max(d.Hi, 0)
	}
	return d
}

// PairedError is the standard error of the difference of two shares of the same n items, with one item added.
func PairedError(lost, gained, n int) float64 {
	total, net := float64(n), float64(gained-lost)
	return math.Sqrt(float64(lost+gained)+1-net*net/total) / total
}

// Fisher is the chance of as many failures among the second n requests, or more, if the failed1 + failed2 failures were
// spread over all n1 + n2 at random: Fisher's exact test, one-sided.
func Fisher(failed1, n1, failed2, n2 int) float64 {
	failed := failed1 + failed2
	all := choose(n1+n2, failed)
	p := 0.
	for k := failed2; k <= min(failed, n2); k++ {
		term := math.Exp(choose(n2, k) + choose(n1, failed-k) - all)
		if p += term; term < 1e-12*p { // the terms fall behind the mode, and what is left is smaller yet
			break
		}
	}
	return math.Min(p, 1)
}

// choose is the logarithm of the ways to choose k of n; -Inf for none.
func choose(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	return lfactorial(n) - lfactorial(k) - lfactorial(n-k)
}

func lfactorial(n int) float64 {
	l, _ := math.Lgamma(float64(n) + 1)
	return l
}

// Normal compares two values with known standard errors.
func Normal(v1, se1, v2, se2 float64) Difference {
	d := Difference{D: v2 - v1}
	se := math.Hypot(se1, se2)
	d.Lo, d.Hi = d.D-Z975*se, d.D+Z975*se
	return d.normal(se)
}

// normal sets the p values of a difference whose standard error is known.
func (d Difference) normal(se float64) Difference {
	d.Fell, d.Rose = .5, .5
	if se > 0 {
		d.Fell = .5 * math.Erfc(-d.D/se/math.Sqrt2)
		d.Rose = 1 - d.Fell
	}
	return d
}

// Arcsine returns 2·asin √p: its variance is 1/n whatever p is, so that shares can be compared like measurements.
func Arcsine(p float64) float64 { return 2 * math.Asin(math.Sqrt(math.Min(1, math.Max(0, p)))) }

// Items returns how many independent items each of two evals needs to show a true fall of delta from p at 5 % with
// power 80 %.
func Items(p, delta float64) int {
	q := math.Max(0, p-delta)
	z := z95 + .8416212335729143
	return int(math.Ceil(z * z * (p*(1-p) + q*(1-q)) / (delta * delta)))
}
