package chart_test

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart"
)

// A sparkline breaks at a gap, keeps a value that stands alone, and does not blow up noise.
func TestSpark(t *testing.T) {
	nan := math.NaN()
	s := chart.NewSpark(&render.Spark{Label: "x", Values: []float64{100, 100.1, nan, 99, nan, 100, 101}})
	if len(s.Lines) != 2 || len(s.Alone) != 1 || s.Last.X != 108 {
		t.Errorf("%+v", s)
	}
	if d := math.Abs(s.Alone[0].Y - s.Last.Y); d == 0 || d > 5 {
		t.Errorf("a change of 2 %% is drawn %g high", d)
	}
	if s := chart.NewSpark(&render.Spark{Values: []float64{0}}); math.IsNaN(s.Last.Y) || len(s.Lines) != 0 {
		t.Errorf("one value of zero: %+v", s)
	}
	if s := chart.NewSpark(&render.Spark{Values: []float64{nan}}); len(s.Lines)+len(s.Alone) != 0 {
		t.Errorf("nothing measured: %+v", s)
	}
}

// A strip keeps the order of its quantiles and its scale's ends.
func TestStrip(t *testing.T) {
	var q []float64
	for i := range 33 {
		q = append(q, 10*math.Pow(1.1, float64(i)))
	}
	s := chart.NewStrip(&render.Strip{Quantiles: q, Low: 5, High: 500})
	places := []float64{s.Low, s.Q1, s.Median, s.Q3, s.High, s.Max}
	for i, x := range places {
		if x < 0 || x > 160 || i > 0 && x <= places[i-1] {
			t.Errorf("place %d is %g after %v", i, x, places[:i])
		}
	}
	same := make([]float64, 33)
	for i := range same {
		same[i] = 7
	}
	if s := chart.NewStrip(&render.Strip{Quantiles: same, Low: 7, High: 7}); s.Low != s.Max || math.IsNaN(s.Low) {
		t.Errorf("all alike: %+v", s)
	}
}

// An interval beyond the scale ends at its edge without a cap.
func TestInterval(t *testing.T) {
	v := chart.NewInterval(&render.Interval{Effect: 2, Low: 1, High: 9, Evidence: schema.Confirmed})
	if v.CapHigh || !v.CapLow || v.High > 120 || v.Low != v.Band.X1 || !v.Solid || v.Zero != 60 {
		t.Errorf("%+v", v)
	}
}
