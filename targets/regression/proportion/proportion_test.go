package proportion_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/targets/regression/proportion"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.8g, want %.8g", what, got, want)
	}
}

// Newcombe 1998a, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29, method 3 (Wilson's score interval).
func TestWilson(t *testing.T) {
	for _, c := range []struct{ x, n, lo, hi float64 }{
		{81, 263, .2553, .3662}, {15, 148, .0624, .1605}, {0, 20, 0, .1611}, {1, 29, .0061, .1718},
	} {
		lo, hi := proportion.Wilson(c.x/c.n, c.n)
		near(t, "lower", lo, c.lo, 5e-5)
		near(t, "upper", hi, c.hi, 5e-5)
	}
	if lo, hi := proportion.Wilson(.5, 0); lo != 0 || hi != 1 {
		t.Errorf("nothing known: %v to %v", lo, hi)
	}
}

// Newcombe 1998b, table II, method 10: 56/70 − 48/80, 9/10 − 3/10, 10/10 − 0/20 (the differences are first minus second
// there).
func TestNewcombe(t *testing.T) {
	for _, c := range []struct{ a, m, b, n, lo, hi float64 }{
		{56, 70, 48, 80, .0524, .3339}, {9, 10, 3, 10, .1705, .8090}, {10, 10, 0, 20, .6791, 1},
	} {
		d := proportion.Newcombe(c.b/c.n, c.n, c.a/c.m, c.m)
		near(t, "lower", d.Lo, c.lo, 1e-4)
		near(t, "upper", d.Hi, c.hi, 1e-4)
		if d.Rose > d.Fell {
			t.Errorf("a rise has p %v, a fall %v", d.Rose, d.Fell)
		}
	}
}

// Fisher 1935, the tea: three of four cups are told by guessing with 17/70, all four with 1/70. Counts of which the
// tail is most of it, none at all, and counts of servers.
func TestFisher(t *testing.T) {
	for _, c := range []struct {
		k1, n1, k2, n2 int
		want, tol      float64
	}{
		{1, 4, 3, 4, 17. / 70, 1e-12}, {0, 4, 4, 4, 1. / 70, 1e-12}, {4, 4, 0, 4, 1, 1e-12}, {3, 4, 1, 4, 69. / 70, 1e-12},
		{0, 100, 0, 100, 1, 1e-12}, {0, 1000, 1, 1000, .5, 1e-9}, {0, 1000, 2, 1000, .25 - .25/1999, 1e-9},
		{0, 8, 6, 8, 28. / 8008, 1e-12}, {5, 5, 5, 5, 1, 1e-12}, {0, 0, 3, 8, 1, 1e-12},
	} {
		near(t, "Fisher", proportion.Fisher(c.k1, c.n1, c.k2, c.n2), c.want, c.tol)
	}
	if p := proportion.Fisher(0, 1e6, 40, 1e6); !(p > 0 && p < 1e-11) {
		t.Errorf("40 failures of a million: %g", p)
	}
}

// McNemar's exact test: 2·P(X ≤ 1 | 10, ½) = 22/1024 for 9 lost and 1 gained.
func TestMcNemar(t *testing.T) {
	d := proportion.McNemar(9, 1, 100)
	near(t, "p of a fall", d.Fell, 11./1024, 1e-12)
	near(t, "difference", d.D, -.08, 1e-12)
	if d.Lo > d.D || d.Hi < d.D || d.Hi > 0 {
		t.Errorf("%+v", d)
	}
	if same := proportion.McNemar(0, 0, 50); same.D != 0 || same.Fell != 1 || same.Rose != 1 {
		t.Errorf("nothing changed: %+v", same)
	}
	swapped := proportion.McNemar(1, 9, 100)
	if swapped.Rose != d.Fell || swapped.D != -d.D {
		t.Errorf("%+v is not the mirror of %+v", swapped, d)
	}
}

// The interval of two answers to each item holds zero exactly where the exact test does not show a difference.
func TestMcNemarAgrees(t *testing.T) {
	for lost := range 60 {
		for gained := range 60 {
			for _, others := range []int{0, 7, 500} {
				d := proportion.McNemar(lost, gained, lost+gained+others)
				shown := 2*math.Min(d.Fell, d.Rose) <= .05
				if excludes := d.Lo > 0 || d.Hi < 0; excludes != shown {
					t.Errorf("%d lost, %d gained of %d: %+v", lost, gained, lost+gained+others, d)
				}
			}
		}
	}
}

// The intervals have their stated coverage, and p values are not too small.
func TestCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const trials = 4000
	covered, alarms := 0, 0
	for range trials {
		const p, n = .8, 60
		draw := func() float64 {
			k := 0
			for range n {
				if r.Float64() < p {
					k++
				}
			}
			return float64(k) / n
		}
		d := proportion.Newcombe(draw(), n, draw(), n)
		if d.Lo <= 0 && d.Hi >= 0 {
			covered++
		}
		if d.Fell < .05 {
			alarms++
		}
	}
	if share := float64(covered) / trials; share < .94 {
		t.Errorf("Newcombe's interval covers %.3f", share)
	}
	if share := float64(alarms) / trials; share > .065 {
		t.Errorf("p of a fall is below .05 in %.3f of unchanged pairs", share)
	}
}

func TestArcsineAndItems(t *testing.T) {
	near(t, "arcsine of a half", proportion.Arcsine(.5), math.Pi/2, 1e-12)
	if n := proportion.Items(.8, .05); n < 800 || n > 1000 {
		t.Errorf("%d questions to see five points at 80 %%", n)
	}
}
