package bisection_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/targets/regression/bisection"
)

// hunt searches a change in made-up builds and returns the answer and the number of measurements.
func hunt(t *testing.T, r *rand.Rand, n, first int, effect, noise, outliers float64, broken map[int]bool) (
	bisection.Answer, bool, int,
) {
	t.Helper()
	s, err := bisection.New(n, bisection.DefaultRules(math.Log1p(.02)))
	if err != nil {
		t.Fatal(err)
	}
	for step := 1; step <= 400; step++ {
		a, decided := s.Best()
		at := s.Next()
		if decided || at == 0 {
			return a, decided, step - 1
		}
		if broken[at] {
			s.Skip(at)
			continue
		}
		d := noise * r.NormFloat64()
		if r.Float64() < outliers {
			d += .15 * (2*r.Float64() - 1)
		}
		if at >= first {
			d += effect
		}
		s.Observe(at, d)
	}
	a, decided := s.Best()
	return a, decided, 400
}

// The first bad build is found in 95 % of trials at least, wherever it is, with outliers; the smaller the change is
// beside the noise, the more measurements it takes.
func TestFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 64))
	before := 0.
	for _, effect := range []float64{.10, .05, .03, .02} {
		const trials = 60
		right, steps := 0, 0
		for range trials {
			first := 1 + r.IntN(64)
			a, decided, n := hunt(t, r, 64, first, effect, .01, .03, nil)
			steps += n
			if decided && !a.None && a.From == first && a.To == first {
				right++
			}
		}
		mean := float64(steps) / trials
		if right < trials*95/100 || mean < before || mean > 90 {
			t.Errorf("%g: found %d of %d in %.1f measurements", effect, right, trials, mean)
		}
		before = mean
	}
}

// A change by orders of magnitude is found as one, and not taken for an outlier.
func TestLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 64))
	for first := 1; first <= 16; first += 3 {
		a, decided, n := hunt(t, r, 16, first, math.Log(100), .05, 0, nil)
		if !decided || a.None || a.From != first || n > 20 {
			t.Errorf("first bad %d: %+v %v in %d", first, a, decided, n)
		}
	}
}

// Ends that do not differ are named as such, and no build is blamed.
func TestNone(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 64))
	wrong := 0
	for range 100 {
		a, decided, _ := hunt(t, r, 64, 65, 0, .01, .03, nil)
		if !decided || !a.None {
			wrong++
		}
	}
	if wrong > 5 {
		t.Errorf("a build was blamed, or nothing decided, in %d of 100", wrong)
	}
}

// Builds that cannot be measured are left out; if the first bad one is among them, the answer names the builds that
// cannot be told apart.
func TestSkips(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 64))
	for first := 1; first <= 20; first++ {
		broken := map[int]bool{}
		for i := 1; i < 20; i++ {
			broken[i] = r.Float64() < .3
		}
		a, decided, _ := hunt(t, r, 20, first, .1, .005, 0, broken)
		if !decided || a.From > first || a.To < first {
			t.Errorf("first bad %d of %v: %+v %v", first, broken, a, decided)
			continue
		}
		for i := a.From; i < a.To; i++ {
			if !broken[i] {
				t.Errorf("first bad %d: %+v includes %d, which could be measured", first, a, i)
			}
		}
	}
}

// The order of measurements changes nothing, and what is no number is no evidence.
func TestOrder(t *testing.T) {
	obs := []struct {
		at int
		d  float64
	}{{8, .05}, {4, .001}, {6, .04}, {5, -.01}, {8, .06}}
	a, _ := bisection.New(8, bisection.DefaultRules(.02))
	b, _ := bisection.New(8, bisection.DefaultRules(.02))
	for i := range obs {
		a.Observe(obs[i].at, obs[i].d)
		last := obs[len(obs)-1-i]
		b.Observe(last.at, last.d)
		b.Observe(last.at, math.NaN())
		b.Observe(99, 1)
	}
	x, y := a.Posterior(), b.Posterior()
	for i := range x.First {
		if math.Abs(x.First[i]-y.First[i]) > 1e-9 {
			t.Errorf("%d: %g and %g", i+1, x.First[i], y.First[i])
		}
	}
	sum := 0.
	for _, v := range x.First {
		sum += v
	}
	if math.Abs(sum-1) > 1e-9 || x.First[5] < .5 {
		t.Errorf("%v", x.First)
	}
}

func TestRules(t *testing.T) {
	for _, r := range []bisection.Rules{{}, {Least: .02, Most: .01, Error: .05}, {Least: .02, Most: .5, Error: .6}} {
		if _, err := bisection.New(10, r); err == nil {
			t.Errorf("%+v: no error", r)
		}
	}
	if _, err := bisection.New(0, bisection.DefaultRules(.02)); err == nil {
		t.Error("no builds: no error")
	}
}
