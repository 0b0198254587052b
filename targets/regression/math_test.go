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
	for _, c := range []struct{ p, df, want float64 }{
		{.975, 1, 12.7062}, {.975, 2, 4.30265}, {.975, 5, 2.57058}, {.975, 10, 2.22814}, {.975, 30, 2.04227},
		{.95, 3, 2.35336}, {.99, 7, 2.99795}, {.995, 4, 4.60409}, {.975, math.Inf(1), 1.95996},
	} {
		near(t, "quantile", regression.Quantile(c.p, c.df), c.want, 5e-6)
	}
	for _, c := range []struct{ x, df, want float64 }{
		{2, 5, 0.050969739414929174}, {10, 6, 2.8959913774768117e-05}, {-1, 3, 0.8044988905221148},
		{5, 2.5, 0.011725594985430925}, {30, 9, 1.2418523520791317e-10}, {4, math.Inf(1), 3.167124183311986e-05},
	} {
		near(t, "tail", regression.UpperTail(c.x, c.df), c.want, 1e-9)
	}
	for _, df := range []float64{1, 2.7, 8, 100, math.Inf(1)} {
		for _, p := range []float64{.6, .9, .975, .999} {
			near(t, "tail of quantile", regression.UpperTail(regression.Quantile(p, df), df), 1-p, 1e-7)
		}
	}
}

// Mann and Kendall's test and Sen's slope; p of a strictly rising series of ten from the normal approximation with
// continuity.
func TestTrend(t *testing.T) {
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
		t.Errorf("%d of 2000 unchanged series have a trend at 5 %%", alarms)
	}
}

// Repeats that settle a noisy cell: with enough of them its interval fits, unless its baseline alone is too noisy.
func TestSettle(t *testing.T) {
	want := new(regression.Quantiles).Wanted(100)
	if k, more := regression.Settle(math.Log1p(.05), .0004, want, 12); k < 1 || k > 4 || more != 0 {
		t.Errorf("%d repeats, %d releases", k, more)
	}
	if k, more := regression.Settle(math.Log1p(.05), .0016, want, 3); k != 0 || more != 0 {
		t.Errorf("%d repeats or %d releases settle what neither can", k, more)
	}
}
