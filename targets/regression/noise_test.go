package regression_test

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"math"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

func TestNoise(t *testing.T) {
	n := regression.NoiseBetween([]float64{1, 2, 3, 4})
	near(t, "variance of 1 to 4", n.Variance, 5./3, 1e-12)
	near(t, "degrees of freedom", n.Df, 3, 0)
	near(t, "margin", n.Margin(.975), 3.18245*math.Sqrt(5./3), 1e-5)
	for _, few := range [][]float64{nil, {1}} {
		if regression.NoiseBetween(few).Known() {
			t.Errorf("%v has a noise", few)
		}
	}
	if n := regression.NoiseBetween([]float64{2, 2}); !n.Known() || n.Sd() != 0 {
		t.Errorf("a constant: %+v", n)
	}
}

// The noise of a row is that of one release: the standard error of its test without the error of the baseline.
func TestNoiseOfARow(t *testing.T) {
	row := regression.Row{N: 4, SE: .05, Df: 7}
	near(t, "variance", row.Noise().Variance, .0025/1.25, 1e-6)
	near(t, "degrees of freedom", row.Noise().Df, 7, 0)
	for _, untested := range []regression.Row{{N: 0, SE: .05}, {N: 3}} {
		if untested.Noise().Known() {
			t.Errorf("%+v has a noise", untested)
		}
	}
	fit := regression.Fit{S0: []float64{.0004, math.NaN()}, D0: math.Inf(1), SumNu: 30}
	near(t, "typical", fit.Typical(0).Sd(), .02, 1e-12)
	near(t, "its degrees of freedom", fit.Typical(0).Df, 30, 0)
	if fit.Typical(1).Known() {
		t.Error("a stratum without history has a typical noise")
	}
}

// Cells whose values scatter by 2 % have a typical noise of 2 %, and so has the row of one of them.
func TestNoiseIsWhatWasPutIn(t *testing.T) {
	tab := history(.05, quiet(21, 200, 12, .02)...)
	j := judge(t, tab)
	near(t, "typical noise of the release", j.Fits[11].Sd, .02, .1)
	near(t, "typical noise of the stratum", j.Fits[11].Typical(0).Sd(), .02, .1)
	near(t, "noise of a row", j.Rows[tab.Cells[0].First+11].Noise().Sd(), .02, .5)
}

// Large distinguishes a change beyond the limit that is not settled from an interval that is too wide.
func TestLarge(t *testing.T) {
	cells := quiet(22, 30, 6, .06)
	tab := history(.05, cells...)
	j := judge(t, tab)
	large, wide := 0, 0
	for c := range cells {
		i := tab.Cells[c].First + 5
		r := &j.Rows[i]
		if r.Word != schema.Inconclusive {
			if r.Large() {
				t.Errorf("%+v is large and not inconclusive", *r)
			}
			continue
		}
		if beyond := math.Abs(r.D) >= tab.Cells[c].Delta; beyond != r.Large() {
			t.Errorf("a change of %.3f where %.3f matters: large is %v", r.D, tab.Cells[c].Delta, r.Large())
		}
		if r.Large() {
			large++
		} else {
			wide++
		}
	}
	if large == 0 || wide == 0 {
		t.Errorf("%d large, %d wide: nothing was tested", large, wide)
	}
}
