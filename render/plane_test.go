package render

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// The best point within a limit lies between two measured ones; beyond the last measured one nothing is claimed.
func TestPlaneBest(t *testing.T) {
	l := PlaneLine{Points: []PlanePoint{
		planePoint(1, 100, 40, 10), planePoint(4, 300, 30, 20), planePoint(16, 600, 10, 80),
	}}
	for _, c := range []struct {
		axis       int
		value      float64
		at, output float64
		why        string
	}{
		{planeSpeed, 20, 8.0256, 450.72, ""}, // by the curve that a target at a level is read from
		{planeSpeed, 30, 4, 300, ""},
		{planeTTFT, 50, 10.741, 515.82, ""},
		{planeSpeed, 5, 16, 600, ""}, // not bracketed: at least
		{planeSpeed, 50, 0, 0, "no point is within the limit"},
		{planeE2EL, 50, 0, 0, "not measured"},
	} {
		b := l.best(&PlaneLimit{Axis: c.axis, Value: c.value})
		if b.At != c.at || b.Output != c.output || b.Why != c.why || b.Least != (c.value == 5) {
			t.Errorf("axis %d at %v: %+v", c.axis, c.value, b)
		}
	}
	// A line that leaves the limit and comes back: the highest output that holds it counts, not the first crossing.
	back := PlaneLine{Points: []PlanePoint{planePoint(1, 100, 40, 1), planePoint(2, 150, 10, 1), planePoint(4, 400, 25, 1),
		planePoint(8, 500, 5, 1)}}
	if b := back.best(&PlaneLimit{Axis: planeSpeed, Value: 20}); b.At != 4.6545 || b.Output != 455.51 {
		t.Errorf("back within the limit: %+v", b)
	}
}

// The highest output is not that of a few tokens, where reading the prompt is most of what was measured.
func TestHighestOutputWritesEnough(t *testing.T) {
	few, enough := 8., 128.
	short, long := planePoint(64, 9000, 40, 10), planePoint(16, 500, 40, 10)
	short.osl, long.osl = &few, &enough
	p := &Plane{Model: "m", Limit: -1, Lines: []PlaneLine{
		{Name: "a", planeID: planeID{Device: "a", Workload: "1024/8"}, Points: []PlanePoint{short, short}},
		{Name: "a", planeID: planeID{Device: "a", Workload: "1024/128"}, Points: []PlanePoint{long}},
	}}
	if p.arrange(); p.Workloads[0] != "1024/128" {
		t.Errorf("drawn first is %v", p.Workloads)
	}
	if got := p.headline(); got != "m: the highest output is 500 tok/s, on a at concurrency 16." {
		t.Error(got)
	}
}

// What has a rate and no latency has no curve, and is on the page of its model with its number: prompts that are read,
// too.
func TestThroughputAlone(t *testing.T) {
	b := columns.NewBuilder()
	for i, x := range []struct {
		device, metric string
		value          float64
	}{{"dev-a", "output_tps", 40}, {"dev-b", "output_tps", 90}, {"dev-a", "input_tps", 1200}} {
		isl := 512.
		p := schema.Point{Key: schema.Key{Tool: "llama-bench", Task: "text", ISL: &isl}, Status: schema.StatusOK}
		p.Metrics.Put(schema.Of(x.metric, "value", x.value))
		run := schema.Run{ID: fmt.Sprint("run-", i), Points: []schema.Point{p}}
		run.Model.Name, run.Device.Name = "m", x.device
		b.Add(&run, "", "")
	}
	c := b.Seal()
	judged, err := gate.New(context.Background(), c, judge.Releases(c, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	page := New(Input{Gate: judged}).ModelPage("m")
	if want := "m: the highest output is 90.0 tok/s, on dev-b."; page.Lead.Text != want {
		t.Errorf("%q, want %q", page.Lead.Text, want)
	}
	var got []string
	for _, r := range page.Sections[0].Blocks[0].(*Table).Rows {
		got = append(got, r.Cells[0].Text+" "+r.Cells[2].Text+" "+r.Cells[3].Text)
	}
	if want := "dev-b – 90.0, dev-a – 40.0, dev-a 1,200 –"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The page of a model on a device draws its newest four releases, the newest first, of the workloads that one of them
// measured at three loads.
func TestReleasesOnAPlane(t *testing.T) {
	b := columns.NewBuilder()
	for release := range 6 {
		run := schema.Run{ID: fmt.Sprint("run-", release), Release: fmt.Sprint("v", release+8)}
		run.Start = time.Date(2026, 1, 1+release, 0, 0, 0, 0, time.UTC)
		run.Model.Name, run.Device.Name = "m", "d"
		for _, load := range []struct{ isl, c float64 }{{128, 1}, {128, 4}, {128, 16}, {512, 1}, {512, 4}} {
			osl := 64.
			p := schema.Point{Key: schema.Key{Tool: "vllm", ISL: &load.isl, OSL: &osl, Concurrency: &load.c}}
			p.Status = schema.StatusOK
			p.Metrics.Put(schema.Of("output_tps", "value", 100*load.c+float64(release)))
			p.Metrics.Put(schema.Of("tpot", "mean", 10+2*load.c))
			run.Points = append(run.Points, p)
		}
		b.Add(&run, "", "")
	}
	c := b.Seal()
	judged, err := gate.New(context.Background(), c, judge.Releases(c, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := New(Input{Gate: judged})
	page := r.PairPage(r.Pairs[0])
	at := slices.IndexFunc(page.Sections, func(s Section) bool { return s.ID == "curves" })
	if at < 0 || !slices.Contains(page.Scripts, planeScript) {
		t.Fatalf("no plane: %+v", page.Sections)
	}
	plane := page.Sections[at].Blocks[0].(*Plane)
	var got []string
	for _, l := range plane.Lines {
		got = append(got, fmt.Sprintf("%s %s %s %d %g", l.Name, l.Workload, l.Href, len(l.Points), *l.Points[0].Values[0]))
	}
	want := []string{
		"v13 128/64 releases/v13/index.html 3 105", "v12 128/64 releases/v12/index.html 3 104",
		"v11 128/64 releases/v11/index.html 3 103", "v10 128/64 releases/v10/index.html 3 102",
	}
	if !slices.Equal(got, want) {
		t.Errorf("lines\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if tab := plane.Table(); tab.Cols[0].Head != "Release" || len(tab.Rows) != 4 ||
		!strings.HasPrefix(tab.Caption, "m on d, 128/64: best point of each release.") {
		t.Errorf("table %+v", tab)
	}
}

// A rate is shown as a rate.
func TestPlaneRate(t *testing.T) {
	p := &Plane{Model: "m", Lines: []PlaneLine{
		{Name: "a", planeID: planeID{Device: "a", Workload: "w"}, Points: []PlanePoint{planePoint(10, 100, 40, 10)}},
		{Name: "b", planeID: planeID{Device: "b", Workload: "w"}, Points: []PlanePoint{planePoint(20, 90, 40, 10)}},
	}}
	p.Lines[0].Points[0].Load = "10/s"
	p.arrange()
	p.limits()
	rows := p.Table().Rows
	if len(rows) != 2 || rows[0].Cells[1].Text != "10.0 req/s" || rows[1].Cells[1].Text != "20.0" {
		t.Errorf("%+v", rows)
	}
}

// The sentence compares at the limit that is drawn, and does not compare where nothing crosses one.
func TestPlaneHeadline(t *testing.T) {
	p := &Plane{Model: "m", Lines: []PlaneLine{
		{Name: "a", planeID: planeID{Device: "a", Workload: "w"}, Points: []PlanePoint{
			planePoint(1, 100, 40, 10), planePoint(16, 600, 10, 80),
		}},
		{Name: "b", planeID: planeID{Device: "b", Workload: "w"}, Points: []PlanePoint{
			planePoint(1, 200, 50, 10), planePoint(16, 900, 10, 80),
		}},
	}}
	p.arrange()
	p.limits()
	if got := p.headline(); got != "At 20 tok/s per user on m: b serves about 725 tok/s "+
		"and a about 433." {
		t.Errorf("headline %q", got)
	}
	// A device that never leaves the limit serves at least what was measured: it is not left out of the sentence.
	p = &Plane{Model: "m", Lines: append(p.Lines, PlaneLine{Name: "c", planeID: planeID{Device: "c", Workload: "w"},
		Points: []PlanePoint{planePoint(1, 300, 50, 10), planePoint(16, 2000, 30, 80)}})}
	p.arrange()
	p.limits()
	if got := p.headline(); got != "At 20 tok/s per user on m: c serves at least 2,000 tok/s and b about 725." {
		t.Errorf("headline %q", got)
	}
	// What was measured is said as it is, and a rate is one.
	p = &Plane{Model: "m", Lines: []PlaneLine{
		{Name: "a", planeID: planeID{Device: "a", Workload: "w"}, Points: []PlanePoint{
			planePoint(1, 100, 40, 10), planePoint(8, 300, 20, 10), planePoint(16, 310, 10, 80),
		}},
		{Name: "b", planeID: planeID{Device: "b", Workload: "w"}, Points: []PlanePoint{
			planePoint(2, 90, 40, 10), planePoint(4, 110, 10, 80),
		}},
	}}
	p.Lines[1].Points[0].Load, p.Lines[1].Points[1].Load = "2/s", "4/s"
	p.arrange()
	p.limits()
	got := p.headline()
	if got != "At 20 tok/s per user on m: a serves 300 tok/s and b about 103." {
		t.Errorf("headline %q", got)
	}
	flat := &Plane{Model: "m", Lines: []PlaneLine{{Name: "a", planeID: planeID{Device: "a", Workload: "w"},
		Points: []PlanePoint{planePoint(1, 100, 42, 101), planePoint(2, 150, 41, 102)}}}}
	flat.arrange()
	flat.limits()
	if got := flat.headline(); flat.Limit >= 0 || got != "m: the highest output is 150 tok/s, on a at concurrency 2." {
		t.Errorf("limit %d, headline %q", flat.Limit, got)
	}
	if tab := flat.Table(); !strings.Contains(tab.Caption, "highest measured output") || len(tab.Rows) != 1 {
		t.Errorf("table %+v", tab)
	}
}
