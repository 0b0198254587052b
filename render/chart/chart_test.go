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

// Noise never fills a panel, whatever its values; a gap stays a gap; everything lies inside.
func TestPanel(t *testing.T) {
	in := render.Panel{Releases: []string{"a", "b", "c", "d"}, Expected: &render.Expected{Low: 99, High: 101, From: 1},
		Steps: []render.Step{{At: 1, Label: "+1 %"}}, Limit: &render.Limit{Value: 104}, Effect: .05}
	for i, v := range []float64{100, 100.2, 0, 100.1} {
		in.Points = append(in.Points, render.Point{OK: i != 2, Value: v})
	}
	p := chart.NewPanel(in)
	if span := p.Points[0].Y - p.Points[1].Y; span < 0 || span > 3 {
		t.Errorf("a change of .2 %% is drawn %g high", span)
	}
	if len(p.Points) != 3 || len(p.Gaps) != 1 || p.Gaps[0].X <= p.Points[1].X || len(p.Lines) != 1 {
		t.Errorf("the gap: %+v %+v %q", p.Points, p.Gaps, p.Lines)
	}
	if p.Band == nil || p.Band.Y0 >= p.Band.Y1 || p.Band.X0 <= p.Points[0].X || p.Band.X1 > 380 {
		t.Errorf("band %+v", p.Band)
	}
	if p.Limit == nil || len(p.Steps) != 1 || p.Steps[0].X != p.Points[1].X {
		t.Errorf("%+v %+v", p.Limit, p.Steps)
	}
	in.Expected, in.Limit = nil, nil
	if p := chart.NewPanel(in); p.Band != nil || p.Limit != nil {
		t.Errorf("what nobody knows is drawn: %+v", p)
	}
	in.Points, in.Releases, in.Steps = []render.Point{{OK: true, Value: 5}}, []string{"a"}, nil
	if p := chart.NewPanel(in); math.IsNaN(p.Points[0].X+p.Points[0].Y) || len(p.X) != 1 {
		t.Errorf("one release: %+v", p)
	}
	in.Points = []render.Point{{}}
	if p := chart.NewPanel(in); p.Last != nil || len(p.Points) != 0 {
		t.Errorf("nothing measured: %+v", p)
	}
}

// The labels of the scale lie inside of the picture, however long, and the plot begins right of them.
func TestPanelScaleFits(t *testing.T) {
	for _, c := range []struct{ value, left float64 }{{5, 44}, {161202, 55}, {12345678, 65}, {-1234567.5, 65}} {
		point := render.Point{OK: true, Value: c.value}
		in := render.Panel{Releases: []string{"a", "b"}, Points: []render.Point{point, point}}
		p := chart.NewPanel(in)
		for _, l := range p.Scale {
			if room := l.X / float64(utf8.RuneCountInString(l.Text)); room < 6.2 {
				t.Errorf("%q ends at %g", l.Text, l.X)
			}
		}
		if p.Left > c.left+8 || p.Left < 44 || p.Points[0].X <= p.Left {
			t.Errorf("%g: the plot begins at %g, its first point is at %g", c.value, p.Left, p.Points[0].X)
		}
	}
}

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

// One number in ten thousand is seen in a bar, and the parts fill it.
func TestBar(t *testing.T) {
	parts := []render.Count{{N: 1, Outcome: schema.Regressed}, {N: 9999, Outcome: schema.Unchanged}}
	b := chart.NewBar(&render.Bar{Parts: parts})
	if p := b.Parts; len(p) != 2 || p[0].W < 3 || math.Abs(p[0].W+p[1].W-160) > .1 || p[1].X != p[0].W {
		t.Errorf("%+v", b.Parts)
	}
}

// An interval beyond the scale ends at its edge without a cap.
func TestInterval(t *testing.T) {
	v := chart.NewInterval(&render.Interval{Effect: 2, Low: 1, High: 9, Evidence: schema.Confirmed})
	if v.CapHigh || !v.CapLow || v.High > 120 || v.Low != v.Band.X1 || !v.Solid || v.Zero != 60 {
		t.Errorf("%+v", v)
	}
}

// Names of levels do not lie over each other or over the newest value; the lines of the levels stay.
func TestPanelNamesDoNotOverlap(t *testing.T) {
	in := render.Panel{Last: "100", Effect: .05}
	for i := range 20 {
		in.Releases = append(in.Releases, "v")
		in.Points = append(in.Points, render.Point{OK: true, Value: 100 + float64(i%3)})
	}
	for _, at := range []int{3, 10, 11, 12, 18, 19} {
		in.Steps = append(in.Steps, render.Step{At: at, Label: "+12.3 %"})
	}
	p := chart.NewPanel(in)
	var named []float64
	for _, s := range p.Steps {
		if s.Label.Text != "" {
			named = append(named, s.X)
		}
	}
	if len(p.Steps) != 6 || len(named) != 3 || named[0] != p.Steps[0].X || named[2] != p.Steps[5].X {
		t.Errorf("%d levels, named are those at %v of %+v", len(p.Steps), named, p.Steps)
	}
}

// One value far outside is an arrow at the edge with its number; the others fill the picture.
func TestPanelBeyond(t *testing.T) {
	in := render.Panel{Effect: .05, Last: "100"}
	for _, v := range []float64{100, 110, 95, 2000, 100, 105, 98, 100} {
		in.Releases = append(in.Releases, "v")
		in.Points = append(in.Points, render.Point{OK: true, Value: v})
	}
	p := chart.NewPanel(in)
	if len(p.Beyond) != 1 || !p.Beyond[0].Up || p.Beyond[0].Label.Text != "2,000" || p.Beyond[0].Y < 0 {
		t.Fatalf("%+v", p.Beyond)
	}
	if high := p.Points[2].Y - p.Points[1].Y; high < 30 {
		t.Errorf("what is between 95 and 110 is %g high", high)
	}
}
