package regression

import (
	"math"
	"testing"
)

// What strayed in two runs is of what strays often, such as a number with two modes: that it does so in a third one is
// as likely as outliers were seen to last, and of two runs nothing is known.
func TestThirdStray(t *testing.T) {
	o := outliers{strata: make([]record, 1)}
	for i := range 20 {
		o.happened(0, 5, .1, i%2 == 0)
		o.happened(0, 2, .1, true) // no outlier
	}
	if again := o.again(); again != .25 { // ten of twenty, drawn towards none
		t.Errorf("again %g", again)
	}
	rate := func(float64) float64 { return .01 }
	tail := func([]float64) float64 { return 0 }
	apart := func(float64, []float64) bool { return false }
	for _, c := range []struct {
		runs        int
		again, want float64
	}{{3, .25, .01 * .01 * .25}, {3, 0, 1e-6}, {2, .25, 1e-4}} {
		if p := byOutliers(make([]float64, c.runs), rate, tail, apart, c.again); math.Abs(p/c.want-1) > 1e-9 {
			t.Errorf("%d runs, again %g: %g, want %g", c.runs, c.again, p, c.want)
		}
	}
}
