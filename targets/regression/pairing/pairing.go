package pairing

import (
	"math"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
)

// Tests.
const (
	NoTest      = "none"
	MannWhitney = "Mann-Whitney U, exact"
	Normal      = "Mann-Whitney U, normal"
	Welch       = "Welch's t on logarithms"
)

// Result is one comparison, B against A. Changes are relative changes of the value itself.
type Result struct {
	A, B       float64 // geometric means
	SpreadA    float64 // half of the range relative to the mean, as ±; 0 for one value
	SpreadB    float64
	Change     float64
	Lo, Hi     float64 // 95 % interval of the change, Welch's; NaN with one value, or repeats without any spread
	P          float64 // two-sided; NaN where there is no test
	Test       string
	NA, NB     int
	Sure       bool // p < .05 under a test that can reach that
	NeededEach int  // runs of each side that would probably show it; 0 when it is shown, or when that is unknown
}

// Compare compares positive values.
func Compare(a, b []float64) Result {
	r := Result{NA: len(a), NB: len(b), Lo: math.NaN(), Hi: math.NaN(), P: math.NaN(), Test: NoTest}
	la, lb := logs(a), logs(b)
	ma, va := moments(la)
	mb, vb := moments(lb)
	r.A, r.B = math.Exp(ma), math.Exp(mb)
	r.SpreadA, r.SpreadB = spread(a, r.A), spread(b, r.B)
	r.Change = math.Expm1(mb - ma)
	if len(a) < 2 || len(b) < 2 {
		r.NeededEach = 4
		return r
	}
	na, nb := float64(len(a)), float64(len(b))
	se2 := va/na + vb/nb
	df := se2 * se2 / (va*va/(na*na*(na-1)) + vb*vb/(nb*nb*(nb-1))) // Welch and Satterthwaite
	if se2 > 0 {
		half := regression.Quantile(.975, df) * math.Sqrt(se2)
		r.Lo, r.Hi = math.Expm1(mb-ma-half), math.Expm1(mb-ma+half)
	}
	const enough = 4 // with three and three the smallest p of U is .1
	switch {
	case len(a) >= enough && len(b) >= enough:
		r.P, r.Test = mannWhitney(a, b)
	case se2 == 0: // two or three identical repeats give no estimate of the spread
		r.NeededEach = enough
		return r
	default:
		r.Test = Welch
		r.P = 2 * regression.UpperTail(math.Abs(mb-ma)/math.Sqrt(se2), df)
	}
	r.Sure = r.P < .05
	if !r.Sure {
		r.NeededEach = needed(mb-ma, (va*(na-1)+vb*(nb-1))/(na+nb-2), max(len(a), len(b)))
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

func moments(values []float64) (mean, variance float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	if len(values) < 2 {
		return mean, 0
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return mean, variance
}

func spread(values []float64, mean float64) float64 {
	return (slices.Max(values) - slices.Min(values)) / 2 / mean
}
