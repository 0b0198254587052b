package regression_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

// textbook is the procedure as Benjamini and Hochberg write it: with p(1) <= ... <= p(m), let k be the largest i for
// which p(i) <= i/m q; reject all H(i), i = 1 ... k.
func textbook(p []float64, family int, level float64) []bool {
	sorted := slices.Sorted(slices.Values(p))
	k := 0
	for i := 1; i <= len(sorted); i++ {
		if sorted[i-1] <= level*float64(i)/float64(family) {
			k = i
		}
	}
	reject := make([]bool, len(p))
	for i, v := range p {
		reject[i] = k > 0 && v <= sorted[k-1]
	}
	return reject
}

// Table 1 of Benjamini and Hochberg 1995: the fifteen p values of the thrombolysis trial, of which four are discoveries
// at .05.
func TestBenjaminiHochbergExample(t *testing.T) {
	p := []float64{.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459, .3240, .4262, .5719, .6528, .7590, 1}
	q, limit := regression.BenjaminiHochberg(p, len(p), .05)
	if limit != .0095 {
		t.Errorf("limit %v, want .0095", limit)
	}
	near(t, "q of the first", q[0], .0015, 1e-12)
	near(t, "q of the fourth", q[3], .035625, 1e-12)
	near(t, "q of the last", q[14], 1, 1e-12)
}

func TestBenjaminiHochbergEdges(t *testing.T) {
	if q, limit := regression.BenjaminiHochberg(nil, 0, .05); len(q) != 0 || limit != -1 {
		t.Errorf("no tests: %v, %v", q, limit)
	}
	q, limit := regression.BenjaminiHochberg([]float64{math.NaN(), .02, .9}, 3, .05)
	if limit != -1 || !math.IsNaN(q[0]) || q[2] != 1 {
		t.Errorf("one of two is too large at .02: %v, %v", q, limit)
	}
	if _, limit := regression.BenjaminiHochberg([]float64{0, .9}, 1000, .05); limit != 0 {
		t.Errorf("a p value of zero is a discovery: limit %v", limit)
	}
	if _, limit := regression.BenjaminiHochberg([]float64{.04, .05}, 2, .05); limit != .05 {
		t.Errorf("the second carries the first: limit %v", limit)
	}
}

func TestBenjaminiHochbergProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		n := 1 + r.IntN(40)
		family := n + r.IntN(20)
		p := make([]float64, n)
		for i := range p {
			p[i] = math.Pow(r.Float64(), 4)
			if i > 0 && r.Float64() < .2 {
				p[i] = p[r.IntN(i)] // ties
			}
		}
		checkDiscoveries(t, p, family, .05, r.Perm(n))
	}
}

func checkDiscoveries(t *testing.T, p []float64, family int, level float64, perm []int) {
	t.Helper()
	q, limit := regression.BenjaminiHochberg(p, family, level)
	want := textbook(p, family, level)
	for i := range p {
		if (p[i] <= limit) != want[i] {
			t.Fatalf("p %v of %v in a family of %d: limit %v, by the textbook %v", p[i], p, family, limit, want[i])
		}
		if q[i] < p[i]*(1-1e-12) || q[i] > 1 {
			t.Fatalf("q %v of p %v", q[i], p[i])
		}
		for k := range p {
			if p[i] < p[k] && q[i] > q[k] || p[i] == p[k] && q[i] != q[k] {
				t.Fatalf("q is not monotone: p %v has q %v, p %v has q %v", p[i], q[i], p[k], q[k])
			}
		}
		// At a level just above its q value each is a discovery, just below it is none.
		if _, at := regression.BenjaminiHochberg(p, family, q[i]*(1+1e-9)); q[i] < 1 && p[i] > at {
			t.Fatalf("p %v is no discovery at its q value %v", p[i], q[i])
		}
		if _, at := regression.BenjaminiHochberg(p, family, q[i]*(1-1e-9)); q[i] < 1 && p[i] > 0 && p[i] <= at {
			t.Fatalf("p %v is a discovery below its q value %v", p[i], q[i])
		}
	}
	shuffled := make([]float64, len(p))
	for k, i := range perm {
		shuffled[k] = p[i]
	}
	again, same := regression.BenjaminiHochberg(shuffled, family, level)
	if same != limit {
		t.Fatalf("in another order the limit is %v, was %v", same, limit)
	}
	for k, i := range perm {
		if again[k] != q[i] {
			t.Fatalf("in another order q is %v, was %v", again[k], q[i])
		}
	}
	if _, wider := regression.BenjaminiHochberg(p, family+1, level); wider > limit {
		t.Fatalf("a larger family has more discoveries: limit %v, was %v", wider, limit)
	}
	if _, stricter := regression.BenjaminiHochberg(p, family, level/2); stricter > limit {
		t.Fatalf("a stricter level has more discoveries: limit %v, was %v", stricter, limit)
	}
}
