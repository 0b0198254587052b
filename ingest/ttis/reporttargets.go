package ttis

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/perfref"
)

// must is the priority of targets that decide whatever the model's status.
const must = "must"

// unstatedTolerance is what tt-inference-server allows a score to miss by where its report does not state it
// (reference_config/evals/eval_config.py: 0.05 for every task).
const unstatedTolerance = .05

// reference returns the reference score that a report states beside a score. It is that of a GPU; a published one
// counts where there is none, as for the report's own check. A row that the report does not grade has none.
func reference(f *decode.File, row decode.Value, priority string) []schema.Target {
	task := row.Get("task_name").Str()
	value, ok := row.Get("gpu_reference_score").Float()
	if !ok || value <= 0 {
		value, ok = row.Get("published_score").Float()
	}
	if task == "" || !ok || value <= 0 || isUngraded(row) {
		return nil
	}
	t := stated(f)
	t.Priority, t.Tolerance = priority, unstatedTolerance
	if x, has := row.Get("tolerance").Float(); has {
		t.Tolerance = x
	}
	metric, filter, scale := headline(task)
	t.Key, t.Metric, t.Stat, t.Level = evalKey(task, filter), metric, "value", schema.LevelReference
	t.Value = value / scale
	t.Scores = referenceScores(row, scale)
	if metric == wer { // stated as 100 - WER, with the tolerance on that scale
		t.Value = 100 - value
		t.Tolerance = (100-(1-t.Tolerance)*value)/t.Value - 1
	}
	return []schema.Target{t}
}

// referenceScores are both scores that a row states, of which one grades. They stay as stated for an error rate, which
// a report turns into a score.
func referenceScores(row decode.Value, scale float64) *schema.ReferenceScores {
	return &schema.ReferenceScores{
		GPU: row.Get("gpu_reference_score").Float0() / scale, GPUSource: row.Get("gpu_reference_score_ref").Str(),
		Published: row.Get("published_score").Float0() / scale, PublishSource: row.Get("published_score_ref").Str(),
	}
}

// isUngraded reports a row that tt-inference-server marks as skipped or as not gradable.
func isUngraded(row decode.Value) bool {
	switch strings.ToLower(row.Get("status").Str()) {
	case "skip", "na":
		return true
	}
	return false
}

// evalKey is the key of a task's target. A score that is a mean of several has no filter of the harness.
func evalKey(task, filter string) schema.Key {
	return schema.EvalKey(&schema.Score{Task: task, Filter: filter})
}

// checked returns the targets that a row of a report was checked against, of the workload of a key.
func checked(f *decode.File, row decode.Value, k schema.Key) []schema.Target {
	base := stated(f)
	base.Key, base.Key.Tool = k, ""
	return perfref.Checked(row.Get("target_checks"), base)
}

// shapeOf is the workload of a row. That of media is the task.
func shapeOf(row decode.Value) schema.Key {
	if task := row.Get("task_type").Str(); schema.IsMediaTask(task) {
		return schema.Key{Task: task}
	}
	return schema.Key{
		ISL: draft.First(row, "input_sequence_length", "isl"), OSL: draft.First(row, "output_sequence_length", "osl"),
		Concurrency: draft.First(row, "concurrency", "max_con", "max_concurrency"),
	}
}

func stated(f *decode.File) schema.Target { return schema.Target{Source: f.Path, SHA256: f.SHA256} }

// specTest reads a block of the server's conformance tests. Tests of the machine (health, stability) decide nothing
// there, and those that were skipped have no result.
func specTest(f *decode.File, r *schema.Reading, block decode.Value) {
	data := block.Get("data")
	switch block.Get("task_type").Str() {
	case "health", "infra", "unit", "stability", "integration":
		return
	}
	if data.Kind() != decode.Object || isUngraded(data) || isTrue(data.Get("skipped")) {
		return
	}
	name := data.Get("test_name").Str()
	if name == "" {
		name = block.Get("title").Str()
	}
	passed := isTrue(data.Get("success"))
	if status := strings.ToLower(data.Get("status").Str()); status != "" {
		passed = status == "pass"
	}
	passedTests(f, r, name, []bool{passed})
}

// parameterTests reads the conformance tests of a v1 report: {results: {test: [{status}]}}.
func parameterTests(f *decode.File, r *schema.Reading, v decode.Value) {
	for _, test := range v.Get("results").Members() {
		var passed []bool
		for one := range test.Val.Items() {
			passed = append(passed, one.Get("status").Str() == "passed")
		}
		passedTests(f, r, test.Key, passed)
	}
}

// serverTests reads the server tests of a v1 report: [{tests: [{test_name, success}]}].
func serverTests(f *decode.File, r *schema.Reading, v decode.Value) {
	passed := map[string][]bool{}
	var names []string
	for file := range v.Items() {
		for one := range file.Get("tests").Items() {
			name := one.Get("test_name").Str()
			if name == "" {
				name = "unnamed test"
			}
			if passed[name] == nil {
				names = append(names, name)
			}
			passed[name] = append(passed[name], isTrue(one.Get("success")))
		}
	}
	for _, name := range names {
		passedTests(f, r, name, passed[name])
	}
}

// passedTests adds the share of the cases of a test that passed. All must pass, whatever the model's status.
func passedTests(f *decode.File, r *schema.Reading, name string, passed []bool) {
	if name == "" || len(passed) == 0 {
		return
	}
	n := 0
	for _, ok := range passed {
		if ok {
			n++
		}
	}
	s := schema.Score{
		Task: name, Metric: schema.MetricPassed, Value: schema.Num(float64(n) / float64(len(passed))),
		Stderr: schema.Missing("a count of all cases, no sample"), N: len(passed), Total: len(passed),
		Direction: "higher", Source: f.Source(r.Format),
	}
	t := stated(f)
	t.Key, t.Metric, t.Stat, t.Value, t.Level, t.Priority =
		schema.EvalKey(&s), s.Metric, "value", 1, schema.LevelReference, must
	r.Scores, r.Targets = append(r.Scores, s), append(r.Targets, t)
}

func isTrue(v decode.Value) bool { b, ok := v.Truth(); return ok && b }
