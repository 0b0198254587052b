package gate_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// missing a reference, with what the files beside the result state.
func rejectedEval(value float64, a schema.Acceptance) *columns.Columns {
	score := judgetest.Share(value, 2000)
	c := judgetest.History{TTFT: [][]float64{{10}}, Scores: [][]schema.Score{{score}}}.Columns()
	c.Targets = []columns.TargetRow{{Target: schema.Target{
		Key: schema.EvalKey(&schema.Score{Task: score.Task}), Metric: score.Metric, Stat: "value", Value: .9,
		Level: schema.LevelReference, Priority: "must", Tolerance: .05,
	}}}
	c.Runs[0].Acceptance = a
	return c
}

// A known issue excuses the eval that it names, and no other; it is counted as waived.
func TestKnownIssuesWaive(t *testing.T) {
	issue := func(category schema.Category, task string) schema.Acceptance {
		return schema.Acceptance{KnownIssues: []schema.KnownIssue{{
			Category: category, Task: task, Reason: "flaky", Source: "spec.json",
		}}}
	}
	task := judgetest.Share(.5, 1).Task
	for name, c := range map[string]struct {
		of   schema.Acceptance
		want gate.Word
	}{
		"none":         {schema.Acceptance{}, gate.Fail},
		"its task":     {issue(schema.Evals, task), gate.NoBaseline},
		"all evals":    {issue(schema.Evals, ""), gate.NoBaseline},
		"another":      {issue(schema.Evals, "other"), gate.Fail},
		"another kind": {issue(schema.Conformance, ""), gate.Fail},
	} {
		g := gateOf(t, rejectedEval(.5, c.of), nil)
		if w := wordOf(g, 0); w != c.want {
			t.Errorf("%s: %s, want %s", name, w, c.want)
		}
		waived := g.Review(0, "", "").Result.Waived
		if (len(waived) == 1) != (c.want != gate.Fail) {
			t.Errorf("%s: waived %q", name, waived)
		}
	}
}

// A report that rejects a release fails it, unless the same is missed here.
func TestReportRejects(t *testing.T) {
	rejects := schema.Acceptance{Result: schema.Rejected, Source: "report.json", Blockers: []schema.Blocker{
		{Name: "task:evals", Message: "Task 'evals' failed (exit=1)."}, {Name: "b"},
	}}
	g := gateOf(t, rejectedEval(.99, rejects), nil)
	list := lintsOf(g, 0, "report-rejects")
	want := lint.ReportRejects{Report: "report.json", Blocker: "task:evals", Message: "Task 'evals' failed (exit=1).",
		More: 1}
	if len(list) != 1 || list[0].Detail != lint.Detail(want) || wordOf(g, 0) != gate.Fail {
		t.Errorf("%+v, %s", list, wordOf(g, 0))
	}
	rejects.KnownIssues = []schema.KnownIssue{{Category: schema.Evals}}
	for name, c := range map[string]*columns.Columns{
		"missed here too":        rejectedEval(.5, rejects),
		"accepted by the report": rejectedEval(.99, schema.Acceptance{Result: schema.Accepted}),
	} {
		if list := lintsOf(gateOf(t, c, nil), 0, "report-rejects"); len(list) != 0 {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// Required targets are counted by the categories of a release report.
func TestCategories(t *testing.T) {
	of := func(outcome schema.Outcome, key schema.Key, metric string, required bool) schema.Verdict {
		return schema.Verdict{
			Outcome: outcome, Key: key, Metric: metric, Required: required, Against: schema.AgainstTarget,
		}
	}
	eval := schema.EvalKey(&schema.Score{Task: "t"})
	waived := of(schema.Fail, eval, schema.MetricPassed, true)
	waived.Decision = &schema.Decision{ID: "D", Kind: schema.Waive}
	list := []schema.Verdict{
		of(schema.Pass, judgetest.Key(1), "ttft", true), of(schema.Fail, judgetest.Key(2), "ttft", false),
		of(schema.Fail, eval, "acc", true), of(schema.Inconclusive, eval, "acc", true),
		of(schema.NotMeasured, eval, "acc", true), waived,
	}
	text := "Required, by category: benchmarks 1 of 1 met; evals 0 of 3 met (1 missed, 1 missing, 1 inconclusive); " +
		"spec tests 0 of 1 met (1 waived)."
	if got := words.Categories(list); got != text || words.Categories(list[:1]) != "" {
		t.Errorf("%s", got)
	}
}
