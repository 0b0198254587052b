package regression

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Trend is a drift of a series that no single release shows.
type Trend struct {
	Slope float64 // change a release, in the units of the values (Sen 1968: the median of all pairwise slopes)
	P     float64 // two-sided, Mann (1945) and Kendall's test with continuity and ties corrected
	N     int
}

// TrendOf measures the trend of a series in order. With fewer than eight values P is NaN.
func TrendOf(values []float64) Trend {
	n := len(values)
	t := Trend{N: n, P: math.NaN()}
	if n < 2 {
		return t
	}
	var slopes []float64
	s := 0
	for i := range values {
		for k := i + 1; k < n; k++ {
			slopes = append(slopes, (values[k]-values[i])/float64(k-i))
			s += cmp.Compare(values[k], values[i])
		}
	}
	slices.Sort(slopes)
	t.Slope = middle(slopes)
	if n < 8 {
		return t
	}
	t.P = 1
	if v := kendallVariance(values); v > 0 {
		z := math.Max(0, math.Abs(float64(s))-1) / math.Sqrt(v)
		t.P = 2 * distuv.UnitNormal.Survival(z)
	}
	return t
}

// kendallVariance is the variance of Kendall's S under no trend, corrected for ties.
func kendallVariance(values []float64) float64 {
	n := len(values)
	v := float64(n*(n-1)*(2*n+5)) / 18
	sorted := slices.Sorted(slices.Values(values))
	for i := 0; i < n; {
		k := i
		for k < n && sorted[k] == sorted[i] {
			k++
		}
		tied := k - i
		v -= float64(tied*(tied-1)*(2*tied+5)) / 18
		i = k
	}
	return v
}
