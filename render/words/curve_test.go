package words_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/curve"
)

// What the runs of a steep curve say nothing of has no number: an interval up to 10^53 % stood on a page.
func TestSteepCurve(t *testing.T) {
	side := func(noise float64) *curve.Curve {
		r := rand.New(rand.NewPCG(1, 2))
		var list []curve.Point
		for run := range 3 {
			for _, load := range []float64{1, 4, 16, 64, 256} {
				speed := (100.02 - load/100) * math.Exp(noise*r.NormFloat64())
				list = append(list, curve.Point{Run: run, Load: load, X: speed, Output: load * speed})
			}
		}
		return curve.Fit(list, false)
	}
	at := func(noise float64) string {
		return words.CurveAt(&compare.Curve{Axis: compare.AxisSpeed,
			Comparison: curve.Compare(side(noise), side(noise))}, "v2")
	}
	if got := at(.00001); !strings.Contains(got, "at 100") {
		t.Errorf("%q has no difference at a level", got)
	}
	if got := at(.00001); strings.Contains(got, "better") || !strings.Contains(got, "±0.0") {
		t.Errorf("%q, where nothing differs", got)
	}
	if got := at(.002); strings.Contains(got, "better") || strings.Contains(got, "worse") {
		t.Errorf("%q, where runs are far apart", got)
	}
}
