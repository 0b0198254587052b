package pairing

import (
	"math"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
)

// Tests.
const (
	NoTest = "none"
	Welch  = "Welch's t on logarithms"
)

// Result is one comparison, B against A. Changes are relative changes of the value itself.
type Result struct {
	A, B       float64 // geometric means
	SpreadA    float64 // half of the range relative to the mean, as ±; 0 for one value
	SpreadB    float64
	Change     float64
	Lo, Hi     float64 // 95 % interval of the change; NaN with one value, or few repeats without any spread
	P          float64 // two-sided; NaN where there is no test
	Test       string
	NA, NB     int
	Sure       bool // p < .05, so that the interval does not hold 0
	NeededEach int  // runs of each side that would probably show it; 0 when it is shown, or when that is unknown
}

// Compare compares positive values.
func Compare(a, b []float64) Result {
	const enough = 4 // values that agree to the last digit, of which fewer give no estimate of the spread
	r := Result{NA: len(a), NB: len(b), Lo: math.NaN(), Hi: math.NaN(), P: math.NaN(), Test: NoTest}
	la, lb := logs(a), logs(b)
	ma, mb := regression.Mean(la), regression.Mean(lb)
	r.A, r.B = math.Exp(ma), math.Exp(mb)
	r.SpreadA, r.SpreadB = spread(a, r.A), spread(b, r.B)
	r.Change = math.Expm1(mb - ma)
	va, vb := regression.NoiseBetween(la), regression.NoiseBetween(lb)
	least := regression.DefaultRules().Floor * regression.DefaultRules().Floor
	switch {
	case !va.Known() || !vb.Known() || va.Variance+vb.Variance == 0 && min(len(a), len(b)) < enough:
		r.NeededEach = enough
		return r
	case va.Variance+vb.Variance == 0:
		va.Variance, vb.Variance = least, least
	}
	na, nb := float64(len(a)), float64(len(b))
	sa, sb := va.Variance/na, vb.Variance/nb
	se, df := math.Sqrt(sa+sb), (sa+sb)*(sa+sb)/(sa*sa/va.Df+sb*sb/vb.Df) // Welch and Satterthwaite
	half := regression.Quantile(.975, df) * se
	r.Lo, r.Hi = math.Expm1(mb-ma-half), math.Expm1(mb-ma+half)
	r.Test, r.P = Welch, 2*regression.UpperTail(math.Abs(mb-ma)/se, df)
	if r.Sure = r.P < .05; !r.Sure {
		r.NeededEach = needed(mb-ma, (va.Variance*va.Df+vb.Variance*vb.Df)/(va.Df+vb.Df), max(len(a), len(b)))
	}
	return r
}

// needed returns how many runs of each side would show a difference of this size at 5 % with power 80 %; 0 for more
// than a hundred.
func needed(d, variance float64, have int) int {
	if d == 0 || variance == 0 {
		return 0
	}
	n := int(math.Ceil(2 * variance * (1.96 + .8416) * (1.96 + .8416) / (d * d)))
	n = max(n, have+1, 4)
	if n > 100 {
		return 0
	}
	return n
}

func logs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	return out
}

func spread(values []float64, mean float64) float64 {
	return (slices.Max(values) - slices.Min(values)) / 2 / mean
}
