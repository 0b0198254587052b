package chart_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ttreport/ttreport/ingest/schema"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/chart"
)

// Two workloads have two names, and a name ends left of the scale, inside of the picture.
func TestWhiskerNames(t *testing.T) {
	for _, names := range [][2]string{
		{"1024/1024/32 Output tok/s", "8192/1024/32 Output tok/s"},
		{"1024/1024/32 prefix_tokens 512, prefixes 8, TTFT p99", "8192/1024/32 prefix_tokens 512, prefixes 8, TTFT p99"},
		{"tests/bench/test_serving.py::test_decode TTFT mean", "tests/bench/test_serving.py::test_prefill TTFT mean"},
	} {
		var in []render.Whisker
		for _, name := range names {
			in = append(in, render.Whisker{Name: name, Effect: .1, Low: .05, High: .2, Limit: .05})
		}
		p := chart.NewWhiskers(in)
		if p.Rows[0].Name == p.Rows[1].Name || p.Rows[0].Whole != names[0] {
			t.Errorf("%s and %s are both %q", names[0], names[1], p.Rows[0].Name)
		}
		for _, r := range p.Rows {
			if room := p.Names / float64(utf8.RuneCountInString(r.Name)); room < 7 || r.Low <= p.Names || p.Names > 250 {
				t.Errorf("%q ends at %g, its interval begins at %g", r.Name, p.Names, r.Low)
			}
		}
	}
	two := chart.NewWhiskers([]render.Whisker{{Name: "1/1/1 TTFT mean", Of: "a on n150", Limit: .05},
		{Name: "1/1/1 TTFT mean", Of: "b on n150", Limit: .05}})
	if two.Rows[0].Of != "a on n150" || two.Rows[1].Of != "b on n150" || two.Rows[1].Y-two.Rows[0].Y < 32 ||
		!strings.Contains(two.Label, "b on n150 1/1/1") {
		t.Errorf("two models have one name: %+v", two)
	}
	short := chart.NewWhiskers([]render.Whisker{{Name: "128/64/8 TTFT mean", Effect: .1, Limit: .05}})
	if short.Names != 150 {
		t.Errorf("a short name takes the room of the scale: %g", short.Names)
	}
}

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
