package regression

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// UpperTail returns P(T > t) for Student's t with df degrees of freedom; df may be infinite.
func UpperTail(t, df float64) float64 {
	if math.IsInf(df, 1) || df > 1e7 {
		return .5 * math.Erfc(t/math.Sqrt2)
	}
	if df <= 0 || math.IsNaN(t) {
		return math.NaN()
	}
	// Abramowitz and Stegun 26.7.1: the two-sided tail is I_x(df/2, 1/2) at x = df/(df + t²).
	half := .5 * mathext.RegIncBeta(df/2, .5, df/(df+t*t))
	if t < 0 {
		return 1 - half
	}
	return half
}

// FTail returns P(F > x) for the ratio of variances of d1 and d2 degrees of freedom: Abramowitz and Stegun 26.6.2.
func FTail(x, d1, d2 float64) float64 {
	if !(x >= 0) || !(d1 > 0) || !(d2 > 0) {
		return math.NaN()
	}
	return mathext.RegIncBeta(d2/2, d1/2, d2/(d2+d1*x))
}

// Quantile returns the p quantile of Student's t; df may be infinite.
func Quantile(p, df float64) float64 {
	if math.IsInf(df, 1) || df > 1e7 {
		return distuv.UnitNormal.Quantile(p)
	}
	if df <= 0 {
		return math.Inf(1)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(p)
}

// Quantiles caches quantiles for the few degrees of freedom that occur in one release. It is not safe for concurrent
// use.
type Quantiles struct {
	byDf   map[float64]*tQuantiles
	recent *tQuantiles
}

type tQuantiles struct{ df, t95, t975, t99 float64 }

func (q *Quantiles) of(df float64) *tQuantiles {
	if q.recent != nil && q.recent.df == df {
		return q.recent
	}
	if q.byDf == nil {
		q.byDf = map[float64]*tQuantiles{}
	}
	x := q.byDf[df]
	if x == nil {
		x = &tQuantiles{df: df, t95: Quantile(.95, df), t975: Quantile(.975, df), t99: Quantile(.99, df)}
		q.byDf[df] = x
	}
	q.recent = x
	return x
}

// T975 returns the 97.5 % quantile.
func (q *Quantiles) T975(df float64) float64 { return q.of(df).t975 }

// trigamma is the second derivative of ln Γ: the Hurwitz zeta function at 2.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// inverseTrigamma solves trigamma(x) = y for y > 0 by Newton's method on 1/trigamma, which is nearly linear (Smyth
// 2004, appendix).
func inverseTrigamma(y float64) float64 {
	switch {
	case y > 1e7:
		return 1 / math.Sqrt(y)
	case y < 1e-6:
		return 1 / y
	}
	x := .5 + 1/y
	for range 50 {
		tri := trigamma(x)
		// The derivative of trigamma is −2·ζ(3, x).
		step := tri * (1 - tri/y) / (-2 * mathext.Zeta(3, x))
		x += step
		if -step/x < 1e-10 {
			break
		}
	}
	return x
}
