package regression_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

// Student's t against the published table (Fisher and Yates, table III) and values of scipy.stats.t.sf.
func TestStudent(t *testing.T) {
	for _, c := range []struct{ p, df, want float64 }{{.975, 1, 12.7062}, {.975, 2, 4.30265}, {.975, 5, 2.57058}, {.975, 10, 2.22814}, {.975, 30, 2.04227}, {.95, 3, 2.35336}, {.99, 7, 2.99795}, {.995, 4, 4.60409}, {.975, math.Inf(1), 1.95996}} {
		near(t, "quantile", regression.Quantile(c.p, c.df), c.want, 5e-6)
	}
	for _, c := range []struct{ x, df, want float64 }{{2, 5, 0.050969739414929174}, {10, 6, 2.8959913774768117e-05}, {-1, 3, 0.8044988905221148}, {5, 2.5, 0.011725594985430925}, {30, 9, 1.2418523520791317e-10}, {4, math.Inf(1), 3.167124183311986e-05}} {
		near(t, "tail", regression.UpperTail(c.x, c.df), c.want, 1e-9)
	}
	for _, df := range []float64{1, 2.7, 8, 100, math.Inf(1)} {
		for _, p := range []float64{.6, .9, .975, .999} {
			near(t, "tail of quantile", regression.UpperTail(regression.Quantile(p, df), df), 1-p, 1e-7)
		}
	}
}

// Steps are where they were put, and unchanged series have none.
func TestDecideFindsSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var series [][]float64
	for i := range 200 {
		var s []float64
		for k := range 30 {
			v := r.NormFloat64()
			if i < 50 && k >= 18 {
				v += 6
			}
			s = append(s, v)
		}
		series = append(series, s)
	}
	right, wrong := 0, 0
	for i, steps := range regression.Decide(series, regression.DefaultPenalty(), .05, func(i int) uint64 { return uint64(i) }) {
		for _, s := range steps {
			switch {
			case s.Found && i < 50 && s.At >= 17 && s.At <= 19:
				right++
			case s.Found:
				wrong++
			}
		}
	}
	if right < 48 || wrong > 3 {
		t.Errorf("%d of 50 steps found, %d that are none", right, wrong)
	}
	if steps := regression.Propose([]float64{1, 1, 1, 1, 1, 1, 1, 1}, regression.DefaultPenalty()); len(steps) != 0 {
		t.Errorf("a constant has steps: %v", steps)
	}
	if steps := regression.Propose([]float64{1, 1, 1, 1, 1, 2, 2, 2, 2, 2}, regression.DefaultPenalty()); len(steps) != 1 || steps[0].At != 5 || steps[0].Before >= steps[0].After {
		t.Errorf("a clean step: %v", steps)
	}
}

// Decisions depend on the seed of the series and on nothing else: not on its place among others.
func TestDecideIgnoresOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	var series [][]float64
	for range 40 {
		var s []float64
		for k := range 20 {
			s = append(s, r.NormFloat64()+math.Floor(float64(k)/10)*2)
		}
		series = append(series, s)
	}
	a := regression.Decide(series, regression.DefaultPenalty(), .05, func(i int) uint64 { return uint64(i) })
	perm := r.Perm(len(series))
	shuffled := make([][]float64, len(series))
	for k, i := range perm {
		shuffled[k] = series[i]
	}
	b := regression.Decide(shuffled, regression.DefaultPenalty(), .05, func(k int) uint64 { return uint64(perm[k]) })
	for k, i := range perm {
		if len(a[i]) != len(b[k]) {
			t.Fatalf("series %d", i)
		}
		for n := range a[i] {
			if x, y := a[i][n].P, b[k][n].P; x != y && !(math.IsNaN(x) && math.IsNaN(y)) || a[i][n].Found != b[k][n].Found {
				t.Fatalf("series %d: %+v, %+v", i, a[i][n], b[k][n])
			}
		}
	}
}

// Mann and Kendall's test and Sen's slope; p of a strictly rising series of ten from the normal approximation with continuity.
func TestCreep(t *testing.T) {
	rising := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	c := regression.TrendOf(rising)
	near(t, "slope", c.Slope, 1, 1e-12)
	near(t, "p", c.P, 8.303070332644974e-05, 1e-9) // z = 44/√125
	if flat := regression.TrendOf([]float64{2, 2, 2, 2, 2, 2, 2, 2}); flat.P != 1 || flat.Slope != 0 {
		t.Errorf("%+v", flat)
	}
	if short := regression.TrendOf([]float64{1, 2, 3}); !math.IsNaN(short.P) {
		t.Errorf("three values have a p: %+v", short)
	}
	r := rand.New(rand.NewPCG(2, 3))
	alarms := 0
	for range 2000 {
		var s []float64
		for range 15 {
			s = append(s, r.NormFloat64())
		}
		if regression.TrendOf(s).P < .05 {
			alarms++
		}
	}
	if alarms > 130 {
		t.Errorf("%d of 2000 unchanged series creep at 5 %%", alarms)
	}
}

// Repeats that settle a noisy cell: with enough of them its interval fits.
func TestRepeats(t *testing.T) {
	r := &regression.Calculation{Variance: .0004, Sw2: .0004, Df: 100, SE: .02, Delta: math.Log1p(.05)}
	for range 12 {
		r.Baseline = append(r.Baseline, regression.BaselineValue{K: 1})
	}
	k, more := regression.Repeats(r)
	if k < 1 || k > 4 || more != 0 {
		t.Errorf("%d repeats, %d releases", k, more)
	}
	r.Variance, r.Sw2 = .0016, .0001 // between releases it varies more than repeats can mend
	if k, _ := regression.Repeats(r); k != 0 {
		t.Errorf("%d repeats are said to settle what repeats cannot", k)
	}
}
