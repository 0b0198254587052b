package ttis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// wer is the word error rate in percent; reports have 100 − WER.
const wer = "wer"

// eval is a score with the reference that grades it, on the scale of a report: percent.
type eval struct {
	task             string
	score            schema.Number
	gpu, published   schema.Number
	gpuAt, publishAt string
	tolerance        schema.Number
	n                int
	stderr           schema.Number
	result           int
	verdict          *schema.Verdict // nil: no reference
}

// percent is a score on the scale of a report. Harnesses write shares, or percent.
func percent(metric string, n schema.Number) schema.Number {
	return of(func(v ...float64) float64 {
		switch {
		case metric == wer:
			return 100 - v[0]
		case v[0] <= 1:
			return rounder(100 * v[0])
		}
		return v[0]
	}, n)
}

// rounder takes away what multiplying by a hundred adds to the digits: 57.64 and not 57.63999999999999.
func rounder(v float64) float64 {
	out, _ := rounded(schema.Num(v), 6).Get()
	return out
}

// evalsOf are the evals in the order of their targets, then those without.
func evalsOf(runs []schema.Run, verdicts []schema.Verdict) []eval {
	var out []eval
	seen := map[string]bool{}
	for _, t := range targetsOf(runs) {
		i := slices.IndexFunc(verdicts, func(v schema.Verdict) bool {
			return schema.CategoryOf(&v) == schema.Evals && v.Key.String() == t.Key.String() && v.Metric == t.Metric
		})
		if i < 0 || seen[t.Key.Dataset] {
			continue
		}
		seen[t.Key.Dataset] = true
		out = append(out, graduated(&t, &verdicts[i], runs))
	}
	for i := range verdicts { // of targets that no run was stamped with
		if v := &verdicts[i]; schema.CategoryOf(v) == schema.Evals && v.Metric != "" && !seen[v.Key.Dataset] {
			seen[v.Key.Dataset] = true
			t := schema.Target{Metric: v.Metric}
			t.Value, _ = v.Ref.Get()
			out = append(out, graduated(&t, v, runs))
		}
	}
	for i := range runs {
		for j := range runs[i].Scores {
			s := &runs[i].Scores[j]
			if seen[s.Task] || s.Metric == schema.MetricPassed {
				continue
			}
			seen[s.Task] = true
			out = append(out, eval{
				task: s.Task, score: percent(s.Metric, s.Value), n: s.N, stderr: s.Stderr, result: isNA,
				gpu: schema.Missing(""), published: schema.Missing(""), tolerance: schema.Missing(""),
			})
		}
	}
	return out
}

// targetsOf are the targets of evals that the runs were stamped with, the newest first.
func targetsOf(runs []schema.Run) []schema.Target {
	var out []schema.Target
	for i := len(runs) - 1; i >= 0; i-- {
		for _, t := range runs[i].Targets {
			if t.Key.IsEval() && t.Metric != schema.MetricPassed {
				out = append(out, t)
			}
		}
	}
	return out
}

func graduated(t *schema.Target, v *schema.Verdict, runs []schema.Run) eval {
	e := eval{
		task: v.Key.Dataset, score: percent(v.Metric, v.Value), tolerance: schema.Num(t.Tolerance),
		result: result(v.Outcome), verdict: v, gpu: percent(t.Metric, schema.Num(t.Value)),
		published: schema.Missing("not stated"), stderr: schema.Missing("not stated"),
	}
	if s := t.Scores; s != nil {
		e.gpu, e.gpuAt = stated(t.Metric, s.GPU), s.GPUSource
		e.published, e.publishAt = stated(t.Metric, s.Published), s.PublishSource
	}
	for i := range runs {
		for _, s := range runs[i].Scores {
			if s.Task == e.task && (s.Metric == v.Metric || slices.Contains(schema.PartsOfMean(v.Metric), s.Metric)) {
				e.n, e.stderr = s.N, s.Stderr
			}
		}
	}
	return e
}

// stated is a reference as the source states it: for an error rate that is 100 − WER already.
func stated(metric string, v float64) schema.Number {
	if v == 0 {
		return schema.Missing("not stated")
	}
	if metric == wer {
		return schema.Num(v)
	}
	return percent(metric, schema.Num(v))
}

func (e *eval) ratio(to schema.Number) schema.Number {
	return of(func(v ...float64) float64 { return v[0] / v[1] }, e.score, positive(to))
}

// failure says which reference was missed, and by how much.
func (e *eval) failure() string {
	name, ref := "gpu_reference_score", e.gpu
	if _, ok := ref.Get(); !ok {
		name, ref = "published_score", e.published
	}
	if _, ok := e.score.Get(); !ok {
		return "Accuracy check: a reference exists and the eval was not run."
	}
	return fmt.Sprintf("Accuracy check failed; actual score=%s; reference %s=%s; ratio=%s.",
		fixed(e.score, 4, ""), name, fixed(ref, 4, ""), fixed(e.ratio(ref), 4, ""))
}

// evalColumns are the columns of evals in both layouts: the key in data and in tables of v0.17, the head in those of
// v0.20, and the value.
var evalColumns = []struct {
	key, head string
	of        func(e *eval) any
}{
	{"task_name", "Task", func(e *eval) any { return e.task }},
	{"task_type", "", func(*eval) any { return "text" }},
	{"tolerance", "Tolerance", func(e *eval) any { return e.tolerance }},
	{"accuracy_check", "Accuracy Check", func(e *eval) any { return e.result }},
	{"score", "Score", func(e *eval) any { return e.score }},
	{"ratio_to_reference", "Ratio to Reference", func(e *eval) any { return e.ratio(e.gpu) }},
	{"gpu_reference_score", "GPU Reference Score", func(e *eval) any { return e.gpu }},
	{"gpu_reference_score_ref", "gpu_reference_score_ref", func(e *eval) any { return e.gpuAt }},
	{"ratio_to_published", "Ratio to Published", func(e *eval) any { return e.ratio(e.published) }},
	{"published_score", "Published Score", func(e *eval) any { return e.published }},
	{"published_score_ref", "Published Score Ref", func(e *eval) any { return e.publishAt }},
}

// columns17 and columns20 are the order of the columns in the data of each layout; tables have the same.
const (
	columns17 = "task_name task_type accuracy_check score ratio_to_reference gpu_reference_score " +
		"gpu_reference_score_ref ratio_to_published published_score published_score_ref"
	columns20 = "task_name tolerance published_score published_score_ref gpu_reference_score " +
		"gpu_reference_score_ref score ratio_to_published ratio_to_reference accuracy_check"
)

// each calls with the columns that are named, in that order.
func (e *eval) each(names string, with func(key, head string, v any)) {
	for name := range strings.FieldsSeq(names) {
		for _, c := range evalColumns {
			if c.key == name {
				with(c.key, c.head, c.of(e))
			}
		}
	}
}

// data is an eval as data: a reference that is not stated is null, a score and a ratio without a number is missing.
func (e *eval) data(names string, missing any) (out object) {
	e.each(names, func(key, _ string, v any) {
		switch x := v.(type) {
		case schema.Number:
			if v = value(x); v == nil && (key == "score" || strings.HasPrefix(key, "ratio")) {
				v = missing
			}
		case string:
			v = text(x)
		}
		out.add(key, v)
	})
	return out
}

// evalTable17 is the table of v0.17, with a link behind each reference.
func (in *Input) evalTable17(list []eval) string {
	g := grid{}
	for i := range list {
		heads, cells := []string{"model", "device"}, []string{in.Model, in.device()}
		list[i].each(columns17, func(key, _ string, v any) {
			cell := ""
			switch x := v.(type) {
			case schema.Number:
				if cell = fixed(x, 2, notAvailable); cell == notAvailable && strings.HasSuffix(key, "_score") {
					cell = "None" // of a reference
				}
			case int:
				cell = word(x)
			case string:
				if cell = x; strings.HasSuffix(key, "_ref") { // of the cell before
					if last := len(cells) - 1; strings.Contains(x, "://") {
						cells[last] = "[" + cells[last] + "](" + x + ")"
					}
					return
				}
			}
			heads, cells = append(heads, key), append(cells, cell)
		})
		g.heads = heads
		g.row(cells...)
	}
	return g.aligned()
}

// evalTable20 is the table of v0.20, without columns that no eval fills.
func evalTable20(list []eval) string {
	g := &grid{}
	for i := range list {
		var heads, cells []string
		list[i].each(columns20, func(_, head string, v any) {
			cell := ""
			switch x := v.(type) {
			case schema.Number:
				cell = significant(x)
			case int:
				cell = badge(x)
			case string:
				cell = cmp.Or(x, notAvailable)
			}
			heads, cells = append(heads, head), append(cells, cell)
		})
		g.heads = heads
		g.row(cells...)
	}
	g.withoutColumns(notAvailable, 0)
	return g.left()
}

// scoreTable is the summary of evals of v0.17: every metric as the harness wrote it.
func scoreTable(runs []schema.Run) string {
	g := grid{heads: []string{"Task Name", "Metric", "Value"}}
	for i := range runs {
		for _, s := range runs[i].Scores {
			if s.Metric != schema.MetricPassed {
				g.row(s.Task, s.Metric+","+cmp.Or(s.Filter, "none"), fixed(s.Value, 4, notAvailable))
			}
		}
	}
	return g.aligned() + "\n"
}

// evalNote says which reference decides.
const evalNote = "\n\nNote: the check compares the score with the GPU reference, or where there is none with the " +
	"published score, within the tolerance. The ratio to the published score shows whether the eval ran roughly as the " +
	"publisher ran it."
