package latency

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Sorting by digits gives what sorting by comparison does.
func TestSortFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, fewest - 1, fewest, 5_000, 40_000} {
		for name, draw := range map[string]func() float64{
			"any": func() float64 { return rng.NormFloat64() * math.Exp(20*rng.NormFloat64()) },
			"few": func() float64 { return float64(rng.IntN(5)) - 2 }, "one": func() float64 { return .25 },
			"times": func() float64 { return 8 + rng.ExpFloat64() },
		} {
			got := make([]float64, n)
			for i := range got {
				got[i] = draw()
			}
			want := slices.Clone(got)
			slices.Sort(want)
			if sortFloats(got); !slices.Equal(got, want) {
				t.Errorf("%d values of kind %s are not sorted", n, name)
			}
		}
	}
}

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
