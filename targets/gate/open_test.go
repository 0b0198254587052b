package gate_test

import (
	"math"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
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
func opens(g *gate.Gate, release int) []lint.Lint {
	r := g.Review(release, "", "")
	return r.OpenRegressions()
}

// A regression that was confirmed and stays is named in every release after it, though it is their baseline by then,
// until it recovers. The release that confirms it says so itself.
func TestOpenRegression(t *testing.T) {
	t.Parallel()
	g := gateOf(t, slowed(20, 10, 16).Columns(), &decision.Policy{})
	for r := range 20 {
		list := opens(g, r)
		if open := r >= 12 && r < 16; !open {
			if len(list) > 0 {
				t.Errorf("v%d: %+v is open", r, list)
			}
			continue
		}
		if len(list) != 1 {
			t.Fatalf("v%d: %d lines about what is open, want 1", r, len(list))
		}
		d := list[0].Detail.(lint.OpenRegression)
		if d.Before != "v10" || d.Confirmed != "v11" || len(d.Worst) != 1 ||
			d.Worst[0].Points != 2 || math.Abs(d.Worst[0].Change-.12) > .02 {
			t.Errorf("v%d: %+v", r, d)
		}
		if res := g.Results(r).Whole; res.Word != gate.PassWithWarnings || res.Exit != 0 {
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

// Where a later step is most of what is open, that one is named as well: commits are searched there.
func TestOpenRegressionNamesItsLargestStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second float64
		want          string
	}{"the second": {1.12, 1.6, "v16"}, "the first": {1.6, 1.12, ""}} {
		h := slowed(22, 22, 22)
		for r := range h.TTFT {
			for w := range 2 {
				if r >= 10 {
					h.TTFT[r][w] *= c.first
				}
				if r >= 16 {
					h.TTFT[r][w] *= c.second
				}
			}
		}
		list := opens(gateOf(t, h.Columns(), &decision.Policy{}), 20)
		if len(list) != 1 {
			t.Fatalf("%s: %d lines about what is open, want 1", name, len(list))
		}
		d := list[0].Detail.(lint.OpenRegression)
		if d.Before != "v10" || d.Worst[0].Largest != c.want || math.Abs(d.Worst[0].Change-.792) > .03 {
			t.Errorf("%s: %+v", name, d)
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

// stillOpen are findings with a regression of an earlier release that nobody accepted.
func stillOpen() gate.Findings {
	f := found()
	f.Lints = append(f.Lints, lint.New("v3", "128/128/1", lint.OpenRegression{Before: "v1", Confirmed: "v2"}))
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
			t.Errorf("v%d: %d lines about what is open, want %d", r, len(list), want)
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
	l := lint.New("v3", "n150", lint.OpenRegression{
		Before: "v1", Confirmed: "v2", Worst: []lint.OpenNumber{
			{Pair: schema.Pair{Model: "a", Device: "n150"}}, {Pair: schema.Pair{Model: "b", Device: "n150"}},
		},
	})
	l.Device, f.Lints = "n150", []lint.Lint{l}
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
	if n := whole.Counts[0].N; n != 2 {
		t.Errorf("the release counts %d open regressions, its models and devices 2", n)
	}
	only, concerned := l.Only(func(p schema.Pair) bool { return p.Model == "b" })
	if of := only.Pairs(); !concerned || len(of) != 1 || of[0].Model != "b" || len(l.Pairs()) != 2 {
		t.Errorf("what concerns b is about %v", of)
	}
	if _, concerned = l.Only(func(p schema.Pair) bool { return p.Model == "c" }); concerned {
		t.Error("c is told of the regressions of a and b")
	}
}
