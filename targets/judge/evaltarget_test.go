package judge_test

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// gradeEval judges a score of one run, nil for none, against a target.
func gradeEval(t *testing.T, s *schema.Score, target schema.Target, policy ...*decision.Policy) schema.Verdict {
	t.Helper()
	b := columns.NewBuilder()
	b.C.Runs = []columns.RunHead{{
		ID: "r", Release: "v", Model: schema.Model{Name: judgetest.Model, Status: "COMPLETE"}, Device: judgetest.Device,
	}}
	if s != nil {
		b.C.Scores = []columns.ScoreRow{{Score: *s}}
	}
	b.C.Targets = []columns.TargetRow{{Target: target}}
	if len(policy) > 0 {
		return judged(t, b.Seal(), policy[0]).Targets(0, judgetest.Pair())[0]
	}
	return judged(t, b.Seal(), nil).Targets(0, judgetest.Pair())[0]
}

// A task that was run, with a score of another metric than the reference's, was run: the reason says what it has.
func TestEvalOfAnotherMetric(t *testing.T) {
	ref := schema.Target{Key: schema.EvalKey(&schema.Score{Task: "longbench"}), Metric: "score", Stat: "value", Value: 40,
		Level: schema.LevelReference}
	v := gradeEval(t, &schema.Score{Task: "longbench", Metric: "exact_match", Value: schema.Num(.5), N: 100}, ref)
	want := schema.EvalNotRun{Task: "longbench", Metric: "score", Measured: "exact_match"}
	if v.Outcome != schema.NotMeasured || v.Reason != schema.Reason(want) {
		t.Errorf("%s: %+v, want %+v", v.Outcome, v.Reason, want)
	}
}

// A score that misses its reference fails, with a note where chance could explain it; one that meets it passes if its
// interval does, else too few questions make it inconclusive. A missing score is missing.
func TestEvalTargets(t *testing.T) {
	ref := schema.Target{
		Key: schema.EvalKey(&schema.Score{Task: "GSM8K"}), Metric: "exact_match", Stat: "value", Value: 80,
		Level: schema.LevelReference, Tolerance: .05,
	}
	of := func(p float64, n, total int) *schema.Score {
		s := judgetest.Share(p, n)
		s.Total = total
		return &s
	}
	for name, c := range map[string]struct {
		s    *schema.Score
		want schema.Outcome
	}{
		"clear":                    {of(.81, 1319, 1319), schema.Pass},
		"clearly short":            {of(.60, 1319, 1319), schema.Fail},
		"too few, and it misses":   {of(.75, 15, 15), schema.Fail},
		"too few, and it meets":    {of(.8, 15, 15), schema.Inconclusive},
		"nothing":                  {nil, schema.NotMeasured},
		"zero right of many":       {of(0, 500, 500), schema.Fail},
		"almost the whole task":    {of(.765, 1300, 1319), schema.Pass},
		"the same, a random share": {of(.765, 1300, 100000), schema.Inconclusive},
	} {
		v := gradeEval(t, c.s, ref)
		if v.Outcome != c.want || !v.Required || v.Large {
			t.Errorf("%s: %s (required %v), want %s", name, v.Outcome, v.Required, c.want)
		}
		if c.s == nil {
			if v.Reason != schema.Reason(schema.EvalNotRun{Task: "GSM8K"}) {
				t.Errorf("%s: %+v", name, v.Reason)
			}
			continue
		}
		if ref, _ := v.Ref.Get(); ref != .8 && ref != 80 {
			t.Errorf("%s: reference %v", name, ref)
		}
		checkEvalLimit(t, name, v, c.s)
	}
	byInterval := decision.Policy{TargetRule: decision.ByInterval}
	if v := gradeEval(t, of(.75, 15, 15), ref, &byInterval); v.Outcome != schema.Inconclusive {
		t.Errorf("by interval: %s", v.Outcome)
	}
	should := ref
	should.Priority = "should"
	if v := gradeEval(t, of(.60, 1319, 1319), should); v.Required {
		t.Error("should is required")
	}
}

// checkEvalLimit holds the reason of a graded score against the score.
func checkEvalLimit(t *testing.T, name string, v schema.Verdict, s *schema.Score) {
	t.Helper()
	why, ok := v.Reason.(schema.EvalLimit)
	if !ok {
		t.Errorf("%s: the reason is %T", name, v.Reason)
		return
	}
	of := 0
	if s.Total > s.N {
		of = s.Total
	}
	if why.Task != "gsm8k" || why.Tolerance != .05 || why.N != s.N || why.Of != of {
		t.Errorf("%s: %+v", name, why)
	}
	if (why.Needed > s.N) != why.Chance || v.Outcome == schema.Inconclusive && !why.Chance {
		t.Errorf("%s: %s, and %d questions would settle it", name, v.Outcome, why.Needed)
	}
}

// Repeating an eval until it passes does not help.
func TestEvalTargetsCountEveryRun(t *testing.T) {
	target := schema.Target{
		Key: schema.EvalKey(&schema.Score{Task: "gsm8k"}), Metric: "exact_match", Value: .85,
		Level: schema.LevelFunctional, Priority: "must",
	}
	c := judgetest.History{
		TTFT:   [][]float64{{10}, {10}},
		Scores: [][]schema.Score{{judgetest.Share(.5, 800)}, {judgetest.Share(.95, 800)}},
	}.Columns()
	c.Runs[1].Release = "v0"
	for run := range c.Runs {
		c.Targets = append(c.Targets, columns.TargetRow{Run: int32(run), Target: target})
	}
	list := judgetest.Evals(judged(t, c, nil).Targets(0, judgetest.Pair()))
	if len(list) != 1 {
		t.Fatalf("%d verdicts on the eval", len(list))
	}
	if x, _ := list[0].Value.Get(); list[0].Outcome != schema.Fail || math.Abs(x-.725) > 1e-9 {
		t.Errorf("%s %v", list[0].Outcome, x)
	}
}

// Of several implementations the worst counts: a mean would be of none.
func TestEvalTargetsHoldForEveryImplementation(t *testing.T) {
	target := schema.Target{
		Key: schema.EvalKey(&schema.Score{Task: "gsm8k"}), Metric: "exact_match", Value: .9, Tolerance: .02,
		Level: schema.LevelFunctional, Priority: "must",
	}
	for _, scores := range [][]float64{{.95, .5}, {.5, .95}} {
		h := judgetest.History{TTFT: [][]float64{{10}, {10}}}
		for _, v := range scores {
			h.Scores = append(h.Scores, []schema.Score{judgetest.Share(v, 800)})
		}
		c := h.Columns()
		c.Runs[1].Release, c.Runs[1].Impl = "v0", "other"
		for run := range c.Runs {
			c.Targets = append(c.Targets, columns.TargetRow{Run: int32(run), Target: target})
		}
		list := judgetest.Evals(judged(t, c, nil).Targets(0, judgetest.Pair()))
		if x, _ := list[0].Value.Get(); len(list) != 1 || list[0].Outcome != schema.Fail || x != .5 {
			t.Errorf("%v: %+v", scores, list)
		}
	}
}

// A score that is the mean of several is compared with their mean, and conformance tests are counts: all must pass.
func TestEvalTargetsOfMeansAndCounts(t *testing.T) {
	of := func(metric string, v float64, n int) schema.Score {
		return schema.Score{Task: "ifeval", Metric: metric, Value: schema.Num(v), N: n, Total: n}
	}
	grade := func(target schema.Target, scores ...schema.Score) schema.Verdict {
		target.Stat, target.Level, target.Priority = "value", schema.LevelReference, "must"
		b := columns.NewBuilder()
		b.C.Runs = []columns.RunHead{{
			ID: "r", Release: "v", Model: schema.Model{Name: judgetest.Model}, Device: judgetest.Device,
		}}
		for _, s := range scores {
			b.C.Scores = append(b.C.Scores, columns.ScoreRow{Score: s})
		}
		b.C.Targets = []columns.TargetRow{{Target: target}}
		return judged(t, b.Seal(), nil).Targets(0, judgetest.Pair())[0]
	}
	mean := schema.Target{
		Key: schema.EvalKey(&schema.Score{Task: "ifeval"}), Metric: schema.MeanOf("strict", "loose"), Value: .8,
	}
	strict, loose := of("strict", .7, 5000), of("loose", .86, 5000)
	v := grade(mean, strict, loose)
	if x, _ := v.Value.Get(); v.Outcome != schema.Fail || math.Abs(x-.78) > 1e-9 || v.N != 5000 {
		t.Errorf("%s %v n=%d", v.Outcome, x, v.N)
	}
	if v := grade(mean, strict); v.Outcome != schema.NotMeasured {
		t.Errorf("a mean of two of which one is there: %s", v.Outcome)
	}
	tests := schema.Target{
		Key: schema.EvalKey(&schema.Score{Task: "ifeval"}), Metric: schema.MetricPassed, Value: 1,
	}
	for passed, want := range map[float64]schema.Outcome{1: schema.Pass, 21. / 22: schema.Fail} {
		v := grade(tests, of(schema.MetricPassed, passed, 22))
		if why := v.Reason.(schema.EvalLimit); v.Outcome != want || why.Chance || v.Interval != nil {
			t.Errorf("%g passed: %s %+v", passed, v.Outcome, why)
		}
	}
}
