package gate_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// What the list of releases or a channel does to a release's place is shown.
func TestOddPlacesInTheOrder(t *testing.T) {
	c := steady(5)
	c.Runs[2].Channel = "nightly-ish"
	listed := []judge.Configured{
		{Name: "v0", Line: "main"}, {Name: "v1", Line: "main"}, {Name: "v3", Line: "main"}, {Name: "v33"},
	}
	g := listedGate(t, c, listed, nil)
	cutOff := lint.CutOff{Own: "no line", Others: "main"}
	for r, want := range map[int][]lint.Detail{3: {lint.Unlisted{}}, 4: {cutOff, lint.Unlisted{}}} {
		var got []lint.Detail
		for _, l := range lintsOf(g, r, "release-list") {
			got = append(got, l.Detail)
			subject, severity := "v4", schema.SevWarning
			if l.Detail == lint.Detail(lint.Unlisted{}) {
				subject, severity = "v33", schema.SevNote // it may be planned
			}
			if l.Subject != subject || l.Severity != severity {
				t.Errorf("%+v", l)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", g.Releases[r].Name, got, want)
		}
	}
	for r, want := range []int{0, 0, 1, 0, 0} {
		list := lintsOf(g, r, "channel")
		if len(list) != want {
			t.Errorf("v%d: %+v", r, list)
		}
		for _, l := range list {
			d, _ := l.Detail.(lint.UnknownChannel)
			if d.Channel != "nightly-ish" || len(d.Known) != 4 || l.Subject != "v2" || l.Run != "run-2" {
				t.Errorf("%+v", l)
			}
		}
	}
}

// The newest release that a gate would choose also shows later runs of an unknown channel, which are skipped.
func TestLaterRunsOfAnUnknownChannel(t *testing.T) {
	c := steady(5)
	c.Runs[4].Channel = "nightly-ish"
	g := gateOf(t, c, nil)
	for r, want := range []int{0, 0, 0, 1, 1} {
		if n := len(lintsOf(g, r, "channel")); n != want {
			t.Errorf("v%d: %d", r, n)
		}
	}
}

// A run without a start, or one that starts after the day of judgement, is shown.
func TestStartOfARun(t *testing.T) {
	c := steady(3)
	c.Runs[2].Start = time.Time{}
	if list := lintsOf(gateOf(t, c, nil), 2, "no-start"); len(list) != 1 {
		t.Errorf("%+v", list)
	}
	c = steady(3)                                            // the last starts on day 3
	for today, want := range map[int]int{1: 1, 2: 0, 3: 0} { // a day is allowed for other time zones
		g := gateOf(t, c, &decision.Policy{Today: judgetest.Day(today)})
		list := lintsOf(g, 2, "bad-timestamps")
		if len(list) != want {
			t.Errorf("on day %d: %+v", today, list)
		}
		if want > 0 && list[0].Detail != lint.Detail(lint.BadTimestamps{Start: judgetest.Day(3)}) {
			t.Errorf("%+v", list[0].Detail)
		}
	}
}

// Each value that no measurement can give is an error.
func TestNotPositive(t *testing.T) {
	values := judgetest.Steady(5)
	values[4][1], values[4][2] = -5, 1e308
	g := gateOf(t, judgetest.History{TTFT: values}.Columns(), nil)
	list := lintsOf(g, 4, "not-positive")
	if len(list) != 2 || wordOf(g, 4) != gate.Fail || tally(g, 4, gate.FailInvalid) != 2 {
		t.Fatalf("%+v, %+v", list, g.Results(4).Whole)
	}
	for i, want := range []float64{-5, 1e308} {
		l := list[i]
		if l.Detail != lint.Detail(lint.NotPositive{Metric: "ttft", Value: want}) || l.Severity != schema.SevError ||
			l.Run != "run-4" || l.Device != judgetest.Device {
			t.Errorf("%+v", l)
		}
	}
}

// A duplicate is a warning, one with other numbers under the same id an error.
func TestDuplicateRuns(t *testing.T) {
	values := judgetest.Steady(7)
	for _, same := range []bool{true, false} {
		if same {
			copy(values[6], values[5])
		} else {
			values = judgetest.Steady(7)
		}
		c := judgetest.History{TTFT: values}.Columns()
		c.Runs[6].ID, c.Runs[6].Release, c.Runs[6].Start = "run-5", "v5", c.Runs[5].Start
		c.Runs[5].Path, c.Runs[6].Path = "a.json", "b.json"
		list := lintsOf(gateOf(t, c, nil), 5, "duplicate-run")
		want := lint.DuplicateRun{Path: "b.json", Of: "run-5", Same: same}
		if len(list) != 1 || list[0].Detail != lint.Detail(want) || (list[0].Severity == schema.SevError) == same {
			t.Errorf("same %v: %+v", same, list)
		}
	}
}

// A release of which all files are another's is not measured, which is an error; once it was measured, too, the copies
// are a warning. Neither is judged, however few digits its numbers have.
func TestReleaseOfCopies(t *testing.T) {
	for _, measured := range []bool{false, true} {
		h := judgetest.History{TTFT: judgetest.Steady(7)}
		if measured {
			h.Again = [][]float64{6: judgetest.Steady(7)[6]}
			h.Again[6][0] *= 1.001
		}
		c := h.Columns()
		c.Problems = append(c.Problems, columns.ProblemRow{Run: 6, Problem: schema.Problem{
			Severity: schema.SevError, Path: "v6/a.json", Code: schema.CodeCopy, Found: "the same content as v5/a.json of v5",
		}})
		g := gateOf(t, c, nil)
		want := lint.DuplicateRun{Path: "v6/a.json", Same: true, Copy: "the same content as v5/a.json of v5", Files: 1}
		list := lintsOf(g, 6, "duplicate-run")
		if len(list) != 1 || list[0].Detail != lint.Detail(want) || (list[0].Severity == schema.SevError) == measured {
			t.Errorf("measured %v: %+v", measured, list)
		}
		judgedNumbers := 0
		for _, v := range g.History(6) {
			if v.Outcome == schema.Unchanged {
				judgedNumbers++
			}
		}
		if judgedNumbers > 0 != measured {
			t.Errorf("measured %v: %d numbers judged", measured, judgedNumbers)
		}
	}
}

// A pair in turns that decides nothing is a warning at the run that states it.
func TestNoPairs(t *testing.T) {
	c := judgetest.InTurns(steady(9), judgetest.Blocks{
		Baseline: "v7", Candidate: "v8", A: [][]float64{{100}, {100}}, B: [][]float64{{100}, {100}},
		State: func(a, b *columns.RunHead) { a.Firmware, b.Firmware = "80.10", "80.11" },
	})
	list := lintsOf(gateOf(t, c, nil), 8, "no-pair")
	want := lint.NoPair{With: "turns-a",
		Mismatch: schema.Mismatch{Kind: schema.MismatchPlace, Fact: "firmware", A: "80.10", B: "80.11"}}
	if len(list) != 1 || list[0].Detail != lint.Detail(want) || list[0].Run != "turns-b" ||
		list[0].Severity != schema.SevWarning {
		t.Errorf("%+v", list)
	}
}

// A document that cannot be read fails every release.
func TestLostDocuments(t *testing.T) {
	g := gateOf(t, steady(3), nil)
	g.Lost = []schema.Problem{{Path: "h/a.json", Found: "not JSON"}, {Path: "h/b.json"}}
	list := lintsOf(g, 2, "lost-document")
	want := lint.LostDocument{Path: "h/a.json", Found: "not JSON", More: 1}
	if len(list) != 1 || list[0].Detail != lint.Detail(want) || wordOf(g, 2) != gate.Fail {
		t.Errorf("%+v, %s", list, wordOf(g, 2))
	}
}

// A model and device without a graded number is reported.
func TestNothingGraded(t *testing.T) {
	c := steady(5)
	c.Runs[4].Device = "n300"
	g := gateOf(t, c, nil)
	for r, want := range []int{1, 1, 0, 0, 1} { // one earlier release shows no noise
		if list := lintsOf(g, r, lint.IDNothingGraded); len(list) != want {
			t.Errorf("v%d: %+v", r, list)
		}
	}
	if l := lintsOf(g, 4, lint.IDNothingGraded); len(l) == 1 && l[0].Device != "n300" {
		t.Errorf("%+v", l)
	}
}

// A small regression with every release is reported before it has doubled, and a steady history is not.
func TestSlowRegressionIsShown(t *testing.T) {
	for name, c := range map[string]struct {
		values [][]float64
		shown  bool
	}{
		"steady":                {judgetest.Steady(30), false},
		"half a percent":        {judgetest.Drifting(30, 0, .005), true},
		"two percent in all":    {judgetest.Drifting(20, 0, .001), false},
		"it gets better":        {judgetest.Drifting(30, 0, -.005), false},
		"a percent from the 10": {judgetest.Drifting(30, 10, .01), true},
	} {
		g := gateOf(t, judgetest.History{TTFT: c.values}.Columns(), nil)
		shown := 0
		for r := range c.values {
			for _, l := range lintsOf(g, r, lint.IDDrift) {
				shown++
				if l.Subject != judgetest.Workload(4) || l.Count != 1 || l.Severity != schema.SevWarning {
					t.Errorf("%s: %+v", name, l)
				}
			}
			for _, v := range g.History(r) { // what the gate itself found needs no lint
				if v.Outcome == schema.Regressed && v.Key.Workload() == judgetest.Workload(4) {
					shown++
				}
			}
		}
		if (shown > 0) != c.shown {
			t.Errorf("%s: shown %d times", name, shown)
		}
	}
}

// A drift is a warning in every release in which it lasts, with its numbers.
func TestDriftLasts(t *testing.T) {
	g := gateOf(t, judgetest.History{TTFT: judgetest.Drifting(30, 0, .005)}.Columns(), nil)
	drifts := 0
	for r := range 30 {
		for _, l := range lintsOf(g, r, lint.IDDrift) {
			confirmed := slices.ContainsFunc(g.History(r), func(v schema.Verdict) bool {
				return v.Outcome == schema.Regressed && v.Evidence == schema.Confirmed
			})
			want := gate.PassWithWarnings
			review := g.Review(r, "", "")
			if confirmed || len(review.OpenChanges()) > 0 { // a drift is confirmed now and then, and that fails
				want = gate.Fail
			}
			if w := wordOf(g, r); w != want {
				t.Errorf("v%d: %s, want %s", r, w, want)
			}
			drifts++
			d := l.Detail.(lint.Drift)
			if d.Metric != "ttft" || d.N < 8 || math.Abs(d.Each-.005) > .002 || d.Total < .05 || d.P > .05 {
				t.Errorf("v%d: %+v", r, d)
			}
		}
	}
	if drifts < 15 {
		t.Errorf("shown in %d of 30 releases: small steps of the baseline hide the drift", drifts)
	}
}

// A change within a level that a person dismissed is not a drift.
func TestDismissedLevelIsNoDrift(t *testing.T) {
	values := judgetest.Steady(12)
	for r := 6; r < 12; r++ {
		values[r][0] *= 1.3
	}
	g := gateOf(t, judgetest.History{TTFT: values}.Columns(), policy(0, decision.Decision{
		ID: "D-1", Kind: schema.Dismiss, Select: decision.Select{Workload: judgetest.Workload(1)}, Release: "v6",
		Reason: "the room was hot",
	}))
	for r := 8; r < 12; r++ {
		if list := lintsOf(g, r, lint.IDDrift); len(list) > 0 {
			t.Errorf("v%d: %+v", r, list)
		}
	}
}
