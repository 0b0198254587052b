package latency

import (
	"math"
	"testing"
)

// The ranks of an interval have at most the stated probability outside, and the next ones inside have more.
func TestOrderBounds(t *testing.T) {
	pmf := func(n, k int, p float64) float64 {
		lg := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
		return math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	for _, n := range []int{1, 5, 6, 8, 100, 1000, 20_000} {
		for _, p := range []float64{.5, .9, .99} {
			below := make([]float64, n+2) // P(Bin < k)
			for k := range n + 1 {
				below[k+1] = below[k] + pmf(n, k, p)
			}
			l, u := orderBounds(n, p, .025)
			if below[l] > .025+1e-9 || below[min(l+1, n+1)] < .025-1e-9 || 1-below[u] > .025+1e-9 ||
				u > 0 && 1-below[u-1] < .025-1e-9 {
				t.Errorf("n %d p %v: ranks %d and %d with %v below and %v above", n, p, l, u, below[l], 1-below[u])
			}
		}
	}
}
