package gate_test

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// gateOf judges a history without listed releases.
func gateOf(t *testing.T, c *columns.Columns, p *decision.Policy) *gate.Gate {
	t.Helper()
	return listedGate(t, c, nil, p)
}

// listedGate judges a history with a list of releases.
func listedGate(t *testing.T, c *columns.Columns, listed []judge.Configured, p *decision.Policy) *gate.Gate {
	t.Helper()
	g, err := gate.New(context.Background(), c, judge.Releases(c, listed), p)
	if err != nil {
		t.Fatal(err)
	}
	g.Listed = listed
	return g
}

// wordOf is the word of a release.
func wordOf(g *gate.Gate, release int) gate.Word { return g.Results(release).Whole.Word }

// tally is how many findings of a kind a release has.
func tally(g *gate.Gate, release int, k gate.Kind) int {
	for _, c := range g.Results(release).Whole.Counts {
		if c.Kind == k {
			return c.N
		}
	}
	return 0
}

// lintsOf are the lints of a release with an id.
func lintsOf(g *gate.Gate, release int, id lint.ID) []lint.Lint {
	return slices.DeleteFunc(g.Lints(release), func(l lint.Lint) bool { return l.ID != id })
}

// steady is a history of a number of releases in which nothing changes.
func steady(releases int) *columns.Columns {
	return judgetest.History{TTFT: judgetest.Steady(releases)}.Columns()
}

// What the release before measured and this one did not is counted and prevents a PASS without warnings.
func TestWhatVanishedIsCounted(t *testing.T) {
	values := judgetest.Steady(6)
	values[5][3], values[5][4] = 0, 0
	g := gateOf(t, judgetest.History{TTFT: values}.Columns(), nil)
	if n := tally(g, 5, gate.FailNotRemeasured); n != 2 || wordOf(g, 5) != gate.PassWithWarnings {
		t.Errorf("%d of 2, %s", n, wordOf(g, 5))
	}
	strict := gate.Decide(gate.Findings{History: g.History(5)}, gate.FailOn{gate.FailNotRemeasured: true})
	if strict.Word != gate.Fail {
		t.Errorf("--fail-on not-remeasured: %s", strict.Word)
	}
	if wordOf(g, 4) != gate.Pass {
		t.Errorf("nothing vanished in v4: %+v", g.Results(4).Whole)
	}
}

// A later run that is far worse than an unremarkable first one is counted, and fails if the gate is configured to.
func TestLaterRunFarWorseIsCounted(t *testing.T) {
	values := judgetest.Steady(6)
	c := judgetest.Rerun(values, values[5][3]*2)
	g := gateOf(t, c, nil)
	if n := tally(g, 5, gate.FailInconclusive); n != 1 || wordOf(g, 5) != gate.Pass {
		t.Errorf("%d of 1, %s", n, wordOf(g, 5))
	}
	strict := gateOf(t, c, nil)
	strict.FailOn = gate.FailOn{gate.FailInconclusive: true}
	if wordOf(strict, 5) != gate.Fail {
		t.Errorf("--fail-on inconclusive: %+v", strict.Results(5).Whole)
	}

	score := func(v float64) []schema.Score {
		return []schema.Score{{Task: "mmlu", Metric: "acc", Value: schema.Num(v), N: 1000}}
	}
	evals := judgetest.History{TTFT: judgetest.Steady(7), Scores: [][]schema.Score{
		score(.70), score(.702), score(.699), score(.701), score(.7), score(.7), score(.3),
	}}.Columns()
	evals.Runs[6].Release = "v5"
	if g := gateOf(t, evals, nil); tally(g, 5, gate.FailInconclusive) != 1 {
		t.Errorf("a later run that lost forty points: %+v", g.Results(5).Whole)
	}
}

// The parts of a gate agree: findings, those of each model and device, results.
func TestPartsAgree(t *testing.T) {
	values := judgetest.Steady(6)
	values[5][2] *= 1.3 // beyond its target
	c := judgetest.History{TTFT: values}.Columns()
	c.Runs[4].Device = "n300"
	for run := range c.Runs {
		k := judgetest.Key(3)
		k.Tool = ""
		c.Targets = append(c.Targets, columns.TargetRow{Run: int32(run), Target: schema.Target{
			Key: k, Metric: "ttft", Stat: "mean", Value: 310, Level: schema.LevelTarget, Priority: "must",
		}})
	}
	g := gateOf(t, c, nil)
	for r := range g.Releases {
		f := g.Findings(r)
		pairs := g.Pairs(r)
		absent := map[int]int{4: 1, 5: 1}[r] // the device that the release before measured
		if len(pairs) != 1 || len(g.Results(r).Pairs) != 1+absent || len(f.Targets) != judgetest.Workloads {
			t.Fatalf("v%d: %v, %d verdicts on targets", r, pairs, len(f.Targets))
		}
		ofPair := slices.Clone(f.History)
		ofPair = slices.DeleteFunc(ofPair, func(v schema.Verdict) bool { return v.Pair() != pairs[0] })
		history, targets := g.PairHistory(r, pairs[0]), g.PairTargets(r, pairs[0])
		if !sameIDs(history, ofPair) || !sameIDs(targets, f.Targets) {
			t.Errorf("v%d: %d and %d verdicts of %d and %d", r, len(history), len(targets), len(ofPair), len(f.Targets))
		}
		if lost := len(f.History) - len(ofPair); (lost == 1) != (r >= 4) { // one system takes the place of another
			t.Errorf("v%d: %d systems were not measured again", r, lost)
		}
		if got, want := g.Results(r).Whole, gate.Decide(f, g.FailsOn(r)); got.Word != want.Word || got.Graded != want.Graded {
			t.Errorf("v%d: %+v, want %+v", r, got, want)
		}
	}
	if got := g.PairResult(0, schema.Pair{Model: "other"}); got.Word != gate.NotGraded {
		t.Errorf("%+v", got)
	}
	if wordOf(g, 5) != gate.Fail || tally(g, 5, gate.FailTarget) != 1 || tally(g, 3, gate.NoteMet) != 1 {
		t.Errorf("%+v, %+v", g.Results(5).Whole, g.Results(3).Whole)
	}
}

func sameIDs(a, b []schema.Verdict) bool {
	return slices.EqualFunc(a, b, func(x, y schema.Verdict) bool { return x.ID == y.ID })
}

// Pairs are in natural order.
func TestPairsInOrder(t *testing.T) {
	c := steady(3)
	for i, device := range []string{"n300", "n150", "n1500"} {
		c.Runs[i].Device, c.Runs[i].Release = device, "v0"
	}
	var got []string
	for _, p := range gateOf(t, c, nil).Pairs(0) {
		got = append(got, p.Device)
	}
	if !slices.Equal(got, []string{"n150", "n300", "n1500"}) {
		t.Errorf("%v", got)
	}
}

// Results of an earlier gate over the same data are used unchanged.
func TestKnow(t *testing.T) {
	g := gateOf(t, steady(3), nil)
	known := gate.Results{
		Whole: gate.Result{Word: gate.Fail},
		Pairs: []gate.PairResult{{Pair: judgetest.Pair(), Result: gate.Result{Word: gate.NoBaseline}}},
	}
	g.Know(2, known)
	if wordOf(g, 2) != gate.Fail || g.PairResult(2, judgetest.Pair()).Word != gate.NoBaseline {
		t.Errorf("%+v", g.Results(2))
	}
	if wordOf(g, 1) == gate.Fail {
		t.Errorf("%+v", g.Results(1))
	}
}

// A model and device that the release did not measure has no decision of an earlier one; it is listed with the last
// release that measured it, and fails if that is asked for.
func TestAbsentPairs(t *testing.T) {
	c := judgetest.History{TTFT: judgetest.Steady(6)}.Columns()
	c.Runs[1].Device = "n300"
	g := gateOf(t, c, nil)
	want := gate.PairResult{
		Pair: schema.Pair{Model: judgetest.Model, Device: "n300"}, Result: gate.Result{Word: gate.NotMeasured, Last: "v1"},
	}
	list := g.Results(5).Pairs
	if len(list) != 2 || !reflect.DeepEqual(list[1], want) || g.Results(5).Whole.Word != gate.Pass {
		t.Errorf("%+v", list)
	}
	strict := gateOf(t, c, nil)
	strict.FailOn = gate.FailOn{gate.FailAbsent: true}
	if r := strict.Results(5); r.Whole.Word != gate.Fail || r.Pairs[1].Result.Exit != 1 {
		t.Errorf("%+v", r)
	}
}

// Evals that no reference and no earlier score grades are named.
func TestUngradedEvalsAreNamed(t *testing.T) {
	other := judgetest.Share(.5, 100)
	other.Task = "mmlu"
	c := judgetest.History{
		TTFT:   judgetest.Steady(2),
		Scores: [][]schema.Score{{judgetest.Share(.8, 500)}, {judgetest.Share(.8, 500), other}},
	}.Columns()
	g := gateOf(t, c, nil)
	if got := g.Results(1).Whole.Evals; !slices.Equal(got, []string{"mmlu"}) {
		t.Errorf("%q", got)
	}
	c.Targets = []columns.TargetRow{{Run: 1, Target: schema.Target{
		Key: schema.EvalKey(&other), Stat: "value", Value: .5, Level: schema.LevelReference,
	}}}
	if got := gateOf(t, c, nil).Results(1).Whole.Evals; len(got) != 0 {
		t.Errorf("%q", got)
	}
}
