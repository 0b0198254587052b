package chart_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/ttreport/ttreport/render/chart"
)

// A concurrency is worth choosing when no other gives at least as much in both ways; which way is better depends on the axis.
func TestFront(t *testing.T) {
	points := []chart.CurvePoint{{Value: 30, Output: 30, Label: "1"}, {Value: 28, Output: 200, Label: "8"}, {Value: 20, Output: 180, Label: "16"}, {Value: 15, Output: 400, Label: "32"}, {Value: 15, Output: 400, Label: "33"}}
	for right, want := range map[bool]string{true: "[true true false true true]", false: "[false false false true true]"} {
		c := chart.NewCurve(chart.Curve{Right: right, Lines: []chart.CurveLine{{Name: "v1", Class: "now", Points: points}}, Limits: []chart.CurveLimit{{Value: 1}, {Value: 20}, {Value: 1000}}})
		var got []bool
		for _, p := range c.Lines[0].Points {
			got = append(got, p.Front)
			if p.X < c.Plot.X0 || p.X > c.Plot.X1 || p.Y < c.Plot.Y0 || p.Y > c.Plot.Y1 {
				t.Errorf("%s lies outside of the plot: %g %g", p.Label, p.X, p.Y)
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("right is better %v: %v, want %s", right, got, want)
		}
		if c.Y.Min != 0 {
			t.Errorf("the axis of output begins at %g", c.Y.Min)
		}
		if off := []int{c.Limits[0].Off, c.Limits[1].Off, c.Limits[2].Off}; fmt.Sprint(off) != "[-1 0 1]" {
			t.Errorf("limits %v", off)
		}
	}
	if points[0].X != 0 {
		t.Error("the input was changed")
	}
}

// Noise never fills a panel, whatever its values; a gap stays a gap; everything lies inside.
func TestPanel(t *testing.T) {
	in := chart.PanelInput{Releases: []string{"a", "b", "c", "d"}, Low: 99, High: 101, From: 1, Begun: []chart.Begun{{At: 1, Label: "+1 %"}}, Limit: 104, Effect: .05}
	for i, v := range []float64{100, 100.2, 0, 100.1} {
		in.Points = append(in.Points, chart.Point{OK: i != 2, Value: v})
	}
	p := chart.NewPanel(in)
	if span := p.Points[0].Y - p.Points[1].Y; span < 0 || span > 3 {
		t.Errorf("a change of .2 %% is drawn %g high", span)
	}
	if p.Points[2].Y != 0 || p.Points[2].X <= p.Points[1].X {
		t.Errorf("the gap: %+v", p.Points[2])
	}
	if p.Band == nil || p.Band.Y0 >= p.Band.Y1 || p.Band.X0 <= p.Points[0].X || p.Band.X1 > p.W {
		t.Errorf("band %+v", p.Band)
	}
	if len(p.Limits) != 1 || len(p.Steps) != 1 || p.Steps[0].X != p.Points[1].X {
		t.Errorf("%+v %+v", p.Limits, p.Steps)
	}
	in.Low, in.High, in.Limit = math.NaN(), math.NaN(), math.NaN()
	if p := chart.NewPanel(in); p.Band != nil || len(p.Limits) != 0 {
		t.Errorf("what nobody knows is drawn: %+v", p)
	}
	in.Points, in.Releases = []chart.Point{{OK: true, Value: 5}}, []string{"a"}
	if p := chart.NewPanel(in); math.IsNaN(p.Points[0].X+p.Points[0].Y) || len(p.X) != 1 {
		t.Errorf("one release: %+v", p)
	}
	in.Points = []chart.Point{{}}
	if p := chart.NewPanel(in); p.Last != "" || len(p.Steps) != 0 {
		t.Errorf("nothing measured: %+v", p)
	}
}
