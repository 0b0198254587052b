package chart_test

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/render/chart"
)

// A strip keeps the order of its quantiles and its scale's ends, and draws nothing that was not measured.
func TestStrip(t *testing.T) {
	var q []float64
	for i := range 33 {
		q = append(q, 10*math.Pow(1.1, float64(i)))
	}
	s := chart.NewStrip(q, 5, 500, "x")
	places := []float64{s.Low, s.Q1, s.Median, s.Q3, s.High, s.Max}
	for i, x := range places {
		if x < 0 || x > chart.StripW || i > 0 && x <= places[i-1] {
			t.Errorf("place %d is %g after %v", i, x, places[:i])
		}
	}
	same := make([]float64, 33)
	for i := range same {
		same[i] = 7
	}
	if s := chart.NewStrip(same, 7, 7, "x"); s == nil || s.Low != s.Max || math.IsNaN(s.Low) {
		t.Errorf("all alike: %+v", s)
	}
	for _, bad := range []*chart.Strip{chart.NewStrip(nil, 1, 2, ""), chart.NewStrip(q[:5], 1, 2, ""), chart.NewStrip(q, 0, 2, ""), chart.NewStrip(q, 3, 2, "")} {
		if bad != nil {
			t.Errorf("%+v", bad)
		}
	}
}
