package gate_test

import (
	"math"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// slowed is a history in which some releases are slower by 12 % at two of 30 workloads.
func slowed(releases int, from, to int) judgetest.History {
	h := judgetest.History{}
	for r := range releases {
		row := make([]float64, 30)
		for w := range row {
			row[w] = 50 * float64(w+1) * (1 + .004*math.Sin(float64(7*r+3*w)))
			if w < 2 && r >= from && r < to {
				row[w] *= 1.12
			}
		}
		h.TTFT = append(h.TTFT, row)
	}
	return h
}

// opens are the open regressions of a release.
func opens(g *gate.Gate, release int) []judge.Change {
	r := g.Review(release, "", "")
	return r.OpenChanges()
}

// A regression that was confirmed and stays is named in every release after it, though it is their baseline by then,
// until it recovers, and fails each. The release that confirms it says so itself.
func TestOpenRegression(t *testing.T) {
	t.Parallel()
	g := gateOf(t, slowed(20, 10, 16).Columns(), &decision.Policy{})
	id := g.Changes(11)[0].ID
	for r := range 20 {
		list := opens(g, r)
		if open := r >= 12 && r < 16; !open {
			if len(list) > 0 {
				t.Errorf("v%d: %+v is open", r, list)
			}
			continue
		}
		if len(list) != 1 {
			t.Fatalf("v%d: %d changes are open, want 1", r, len(list))
		}
		c := &list[0]
		if c.Since != "v10" || c.Found != "v11" || c.Scope.Points != 2 || math.Abs(c.Effect-.12) > .01 || c.ID != id {
			t.Errorf("v%d: %+v", r, c)
		}
		if res := g.Results(r).Whole; res.Word != gate.Fail || res.Exit != 1 {
			t.Errorf("v%d: %s, exit %d", r, res.Word, res.Exit)
		}
	}
	on, err := gate.ParseFailOn("open")
	if err != nil {
		t.Fatal(err)
	}
	g = gateOf(t, slowed(20, 10, 16).Columns(), &decision.Policy{})
	if g.FailOn = on; g.Results(14).Whole.Exit != 1 || g.Results(18).Whole.Exit != 0 {
		t.Errorf("--fail-on open: exits %d and %d", g.Results(14).Whole.Exit, g.Results(18).Whole.Exit)
	}
}

// Two steps of one number are two changes, each with its own size.
func TestTwoOpenSteps(t *testing.T) {
	t.Parallel()
	h := slowed(22, 22, 22)
	for r := range h.TTFT {
		for w := range 2 {
			if r >= 10 {
				h.TTFT[r][w] *= 1.12
			}
			if r >= 16 {
				h.TTFT[r][w] *= 1.6
			}
		}
	}
	list := opens(gateOf(t, h.Columns(), &decision.Policy{}), 20)
	if len(list) != 2 {
		t.Fatalf("%d changes are open, want 2", len(list))
	}
	for i, want := range map[string]float64{"v10": .12, "v16": .6} {
		at := slices.IndexFunc(list, func(c judge.Change) bool { return c.Since == i })
		if at < 0 || math.Abs(list[at].Effect-want) > .02 {
			t.Errorf("since %s: %+v", i, list)
		}
	}
}

// What a person accepted, or waived for a time, is not named; a build of a pull request is not asked about its base.
func TestOpenRegressionIsExcused(t *testing.T) {
	t.Parallel()
	decided := func(d decision.Decision) *gate.Gate {
		d.ID, d.Reason, d.Owner = "D-1", "intended", "ann"
		return gateOf(t, slowed(16, 10, 16).Columns(), &decision.Policy{
			Decisions: []decision.Decision{d}, Today: judgetest.Day(20),
		})
	}
	for name, d := range map[string]decision.Decision{
		"accepted when confirmed": {Kind: schema.Accept, Release: "v11"},
		"accepted when seen":      {Kind: schema.Accept, Release: "v10"},
		"waived":                  {Kind: schema.Waive, Release: "v11", Expires: "2026-03-01"},
		"a pin":                   {Kind: schema.Pin, Release: "v11"},
	} {
		if list := opens(decided(d), 14); len(list) > 0 {
			t.Errorf("%s: %+v is open", name, list)
		}
	}
	over := decided(decision.Decision{Kind: schema.Waive, Release: "v11", Expires: "2026-01-18"})
	if list := opens(over, 14); len(list) != 1 {
		t.Errorf("a waiver that has expired: %d lines", len(list))
	}
	h := slowed(16, 10, 16)
	h.Channels = make([]string, 16)
	h.Channels[15] = schema.ChannelPR
	if list := opens(gateOf(t, h.Columns(), &decision.Policy{}), 15); len(list) > 0 {
		t.Errorf("a pull request is told %+v", list)
	}
}

// A change is accepted when most of its numbers are, whatever decision accepts each: of two one is waived when it
// was confirmed, and the level of the other accepted one release later.
func TestAChangeIsAcceptedByDecisionsOfSeveralKinds(t *testing.T) {
	t.Parallel()
	one := decision.Decision{ID: "D-1", Kind: schema.Accept, Release: "v12", Reason: "intended", Owner: "ann",
		Select: decision.Select{Workload: judgetest.Workload(1)}}
	other := decision.Decision{ID: "D-2", Kind: schema.Waive, Release: "v11", Reason: "known", Owner: "ann",
		Expires: "2026-03-01",
		Select:  decision.Select{Workload: judgetest.Workload(2)}}
	for name, c := range map[string]struct {
		list []decision.Decision
		open int
	}{
		"none": {nil, 1}, "one": {[]decision.Decision{one}, 1}, "both": {[]decision.Decision{one, other}, 0},
	} {
		g := gateOf(t, slowed(16, 10, 16).Columns(), &decision.Policy{Decisions: c.list, Today: judgetest.Day(20)})
		if list := opens(g, 14); len(list) != c.open {
			t.Errorf("%s: %d changes are open, want %d: %+v", name, len(list), c.open, list)
		}
	}
}

// openChange is a regression of an earlier release that nobody accepted, of some models.
func openChange(models ...string) judge.Change {
	c := judge.Change{
		ID: "0a1b2c3d4e5f", Worse: true, Evidence: schema.Confirmed, Since: "v1", Found: "v2", Earlier: true,
		State: judge.StateOpen, Effect: .12, Limit: .05,
	}
	for _, m := range models {
		c.Numbers = append(c.Numbers, &judge.Series{Model: m, Device: "n150", Metric: "ttft", Stat: "mean"})
	}
	return c
}

// stillOpen are findings with a regression of an earlier release that nobody accepted.
func stillOpen() gate.Findings {
	f := found()
	f.Changes = append(f.Changes, openChange("a"))
	return f
}

// A regression under one dtype is not measured against numbers of another one.
func TestOpenRegressionUnderOtherConditions(t *testing.T) {
	t.Parallel()
	h := slowed(20, 10, 20)
	for r := range h.TTFT {
		dtype := "bfloat16"
		if r >= 15 {
			dtype = "float16"
		}
		h.Conditions = append(h.Conditions, columns.Conditions{"dtype": dtype})
	}
	g := gateOf(t, h.Columns(), &decision.Policy{})
	for r, want := range map[int]int{14: 1, 15: 0, 19: 0} {
		if list := opens(g, r); len(list) != want {
			t.Errorf("v%d: %d changes are open, want %d", r, len(list), want)
		}
	}
}

// A number that is open and gets worse in one run is still open: a suspicion passes, what was confirmed does not.
func TestOpenRegressionThatGetsWorse(t *testing.T) {
	t.Parallel()
	h := slowed(20, 10, 20)
	for w := range 2 {
		h.TTFT[15][w] *= 1.1
	}
	g := gateOf(t, h.Columns(), &decision.Policy{})
	g.FailOn, _ = gate.ParseFailOn("open")
	for r := 12; r < 20; r++ {
		if res := g.Results(r).Whole; res.Exit != 1 {
			t.Errorf("v%d: %s, exit %d", r, res.Word, res.Exit)
		}
	}
}

// A regression of several models is one line, and fails each of them and no other.
func TestOpenRegressionOfSeveralModels(t *testing.T) {
	t.Parallel()
	f := gate.Findings{}
	for _, model := range []string{"a", "b", "c"} {
		f.History = append(f.History, schema.Verdict{Model: model, Device: "n150", Outcome: schema.Unchanged})
	}
	f.Changes = []judge.Change{openChange("a", "b")}
	on, err := gate.ParseFailOn("open")
	if err != nil {
		t.Fatal(err)
	}
	whole, pairs := gate.DecidePairs(f, on)
	got := []int{whole.Exit}
	for _, model := range []string{"a", "b", "c"} {
		got = append(got, pairs[schema.Pair{Model: model, Device: "n150"}].Exit)
	}
	if want := []int{1, 1, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("exits %v, want %v", got, want)
	}
	if c := whole.Counts[0]; c.N != 1 || c.Cells != 2 {
		t.Errorf("the release counts %d open regressions of %d numbers, want one of two", c.N, c.Cells)
	}
}
