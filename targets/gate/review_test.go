package gate_test

import (
	"fmt"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// A review of one model and device has its findings, and the lints that are about none.
func TestReview(t *testing.T) {
	values := judgetest.Steady(6)
	values[5][2] *= 1.3
	c := judgetest.History{TTFT: values}.Columns()
	// Two devices: run-4 is of v5 too, on n300.
	c.Runs[4].Device, c.Runs[4].Release = "n300", "v5"
	g := gateOf(t, c, nil)
	g.Lost = []schema.Problem{{Path: "h/a.json", Found: "not JSON"}}
	whole := g.Review(4, "", "")
	if whole.Release != "v5" || whole.Label != "v5" || whole.Baseline != "v3" || len(whole.Pairs) != 2 ||
		whole.Result.Word != gate.Fail {
		t.Errorf("%s %s after %s: %d pairs, %+v", whole.Release, whole.Label, whole.Baseline, len(whole.Pairs), whole.Result)
	}
	if f := g.Findings(4); len(whole.History) != len(f.History) || len(whole.Lints) != len(f.Lints) {
		t.Errorf("%d of %d verdicts, %d of %d lints", len(whole.History), len(f.History), len(whole.Lints), len(f.Lints))
	}
	one := g.Review(4, judgetest.Model, "n300")
	if whole.Fit.Wider || !one.Fit.Wider { // what could have been shown is of all that was compared
		t.Errorf("wider: %v, %v", whole.Fit.Wider, one.Fit.Wider)
	}
	if len(one.Pairs) != 1 || one.Pairs[0].Device != "n300" || len(one.History) != judgetest.Workloads {
		t.Errorf("%+v, %d verdicts", one.Pairs, len(one.History))
	}
	ids := map[lint.ID]int{}
	for _, l := range one.Lints {
		if l.Device != "" && l.Device != "n300" {
			t.Errorf("%+v", l)
		}
		ids[l.ID]++
	}
	if ids["lost-document"] != 1 || ids[lint.IDNothingGraded] != 1 || one.Result.Word != gate.Fail {
		t.Errorf("%v, %+v", ids, one.Result)
	}
	if other := g.Review(4, "", "t3k"); len(other.Pairs)+len(other.History)+len(other.Changes) != 0 {
		t.Errorf("%+v", other)
	}
	first := g.Review(0, "", "")
	if first.Baseline != "" || first.Fit.Single || first.Fit.Cells != 0 {
		t.Errorf("%q, %+v", first.Baseline, first.Fit)
	}
	if second := g.Review(1, "", ""); !second.Fit.Single || second.Baseline != "v0" {
		t.Errorf("%+v", second.Fit)
	}
	if third := g.Review(3, "", ""); third.Fit.Single || third.Fit.Cells == 0 || third.Fit.Noise <= 0 {
		t.Errorf("%+v", third.Fit)
	}
}

func TestCalibrated(t *testing.T) {
	for _, c := range []struct {
		tested, exceeded int
		want             string
	}{
		{0, 0, gate.TooFew}, {199, 199, gate.TooFew}, {200, 8, "passes"},
		{200, 9, "fails"}, {1000, 20, "passes"},
	} {
		if got := (gate.Fit{Tested: c.tested, Exceeded: c.exceeded}).Calibrated(); got != c.want {
			t.Errorf("%d of %d: %s", c.exceeded, c.tested, got)
		}
	}
}

// numbered are verdicts whose ids are their places.
func numbered(list []schema.Verdict) []schema.Verdict {
	for i := range list {
		list[i].ID = fmt.Sprint(i)
	}
	return list
}

func ids(list []schema.Verdict) string {
	out := ""
	for _, v := range list {
		out += v.ID + " "
	}
	return out
}

func TestNeedsAttention(t *testing.T) {
	pin := schema.Decision{ID: "D", Kind: schema.Pin}
	r := gate.Review{Findings: gate.Findings{
		History: numbered([]schema.Verdict{
			regressed(schema.Confirmed),                 // 0
			regressed(schema.Suspected),                 // 1
			history(schema.NotMeasured),                 // 2
			history(schema.Excluded),                    // 3
			large(.5),                                   // 4
			large(-.5),                                  // 5
			history(schema.Improved),                    // 6
			history(schema.Recovered),                   // 7
			history(schema.Inconclusive),                // 8: a count
			history(schema.NotComparable),               // 9
			history(schema.Unchanged),                   // 10: a count
			history(schema.NoBaseline),                  // 11: a count
			decidedBy(history(schema.Unchanged), pin),   // 12
			decidedBy(history(schema.NoBaseline), pin),  // 13
			decidedBy(regressed(schema.Confirmed), pin), // 14
		}),
		Targets: numbered([]schema.Verdict{
			required(schema.Pass),                                      // 0: a count
			required(schema.Fail),                                      // 1
			required(schema.NotMeasured),                               // 2
			required(schema.Inconclusive),                              // 3
			required(schema.Unattainable),                              // 4
			required(schema.NoTarget),                                  // 5: nothing to say
			optional(schema.Fail),                                      // 6: one of a few
			optional(schema.NotMeasured),                               // 7: a count
			optional(schema.Unattainable),                              // 8
			because(optional(schema.NotMeasured), schema.Planned{}),    // 9
			decidedBy(optional(schema.Pass), pin),                      // 10
			decidedBy(optional(schema.NoTarget), pin),                  // 11: nothing to say
			because(required(schema.NotMeasured), schema.NoNumber{}),   // 12
			because(optional(schema.NoTarget), schema.NoTargetFor{}),   // 13: nothing to say
			decidedBy(required(schema.Fail), schema.Decision{ID: "D"}), // 14
		}),
	}}
	history, targets := r.NeedsAttention()
	if got, want := ids(history), "0 1 2 3 4 5 6 7 9 12 13 14 "; got != want {
		t.Errorf("history %s, want %s", got, want)
	}
	if got, want := ids(targets), "1 2 3 4 6 8 9 10 12 14 "; got != want {
		t.Errorf("targets %s, want %s", got, want)
	}
}

// Of what decides nothing a few are listed: informational targets that are missed, and what is worse than the one
// earlier value.
func TestFewNeedAttention(t *testing.T) {
	for n, listed := range map[int]int{10: 10, 11: 0} {
		var r gate.Review
		for range n {
			r.Targets = append(r.Targets, optional(schema.Fail))
		}
		if _, targets := r.NeedsAttention(); len(targets) != listed {
			t.Errorf("%d of %d informational misses are listed", len(targets), n)
		}
	}
	var r gate.Review
	r.Fit.Single = true
	for range 12 {
		r.History = append(r.History, because(large(.5), schema.Change{Why: schema.WhyOneEach}))
	}
	if history, _ := r.NeedsAttention(); len(history) != 10 {
		t.Errorf("%d of 12 numbers beside one earlier value are listed", len(history))
	}
	r.Fit.Single = false
	if history, _ := r.NeedsAttention(); len(history) != 0 {
		t.Errorf("%d numbers without noise are listed among others", len(history))
	}
}

// Where most scores are too few questions to say, a few of them are listed with what would settle them.
func TestOpenScoresAreListed(t *testing.T) {
	for open, listed := range map[int]int{36: 10, 3: 0} {
		var r gate.Review
		for i := range 40 {
			v := schema.Verdict{Key: schema.EvalKey(&schema.Score{Task: "gsm8k"}), Effect: schema.Num(.01),
				Outcome: schema.Unchanged, Reason: schema.EvalChange{Needed: 700}}
			if i < open {
				v.Outcome = schema.Inconclusive
			}
			r.History = append(r.History, v)
		}
		if history, _ := r.NeedsAttention(); len(history) != listed {
			t.Errorf("%d of %d scores that cannot be told are listed, want %d", len(history), open, listed)
		}
	}
}

// A verdict is found by its id in the newest release that has it.
func TestVerdict(t *testing.T) {
	g := gateOf(t, confirmedRegression(), nil)
	last := len(g.Releases) - 1
	want := g.Findings(last).History[0]
	if v, at, ok := g.Verdict(want.ID); !ok || at != last || v.ID != want.ID || v.Release != want.Release {
		t.Errorf("%+v in %d, %v", v, at, ok)
	}
	if _, _, ok := g.Verdict("000000000000"); ok {
		t.Error("a verdict that does not exist is found")
	}
}
