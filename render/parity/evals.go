package parity

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
			return round(100*v[0], 6) // which adds to the digits: 57.63999999999999
		}
		return v[0]
	}, n)
}

// evalsOf are the evals in the order of the targets that the runs were stamped with, the newest first, then those of
// other targets, then those without.
func evalsOf(runs []schema.Run, verdicts []schema.Verdict) []eval {
	var targets []schema.Target
	for i := len(runs) - 1; i >= 0; i-- {
		for _, t := range runs[i].Targets {
			if t.Key.IsEval() && t.Metric != schema.MetricPassed {
				targets = append(targets, t)
			}
		}
	}
	at := func(v *schema.Verdict) int {
		i := slices.IndexFunc(targets, func(t schema.Target) bool {
			return v.Key.String() == t.Key.String() && v.Metric == t.Metric
		})
		if i < 0 {
			return len(targets)
		}
		return i
	}
	list := slices.DeleteFunc(slices.Clone(verdicts), func(v schema.Verdict) bool {
		return schema.CategoryOf(&v) != schema.Evals || v.Metric == "" && at(&v) == len(targets)
	})
	slices.SortStableFunc(list, func(a, b schema.Verdict) int { return at(&a) - at(&b) })
	var out []eval
	seen := map[string]bool{}
	add := func(task string, of func() eval) {
		if !seen[task] {
			seen[task], out = true, append(out, of())
		}
	}
	for i := range list {
		v := &list[i]
		add(v.Key.Dataset, func() eval {
			t := schema.Target{Metric: v.Metric}
			t.Value, _ = v.Ref.Get()
			if i := at(v); i < len(targets) {
				t = targets[i]
			}
			return graduated(&t, v, runs)
		})
	}
	for i := range runs {
		for _, s := range runs[i].Scores {
			if s.Metric != schema.MetricPassed {
				add(s.Task, func() eval {
					none := schema.Missing("")
					return eval{task: s.Task, score: percent(s.Metric, s.Value), n: s.N, stderr: s.Stderr, result: isNA,
						gpu: none, published: none, tolerance: none}
				})
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

// row has the values of an eval for the columns of both generations.
func (e *eval) row(in *Input) *row {
	link := func(n schema.Number, source string) string { // v0.17 has the source behind its reference
		if strings.Contains(source, "://") {
			return "[" + fixed(n, 2, "None") + "](" + source + ")"
		}
		return fixed(n, 2, "None")
	}
	return &row{values: map[string]any{
		"model": in.Model, "device": in.device(), "task_name": e.task, "task_type": "text", "tolerance": e.tolerance,
		"accuracy_check": e.result, "word": word(e.result), "score": e.score, "gpu_reference_score": e.gpu,
		"gpu_reference_score_ref": e.gpuAt, "published_score": e.published, "published_score_ref": e.publishAt,
		"ratio_to_reference": e.ratio(e.gpu), "ratio_to_published": e.ratio(e.published),
		"gpu_link": link(e.gpu, e.gpuAt), "published_link": link(e.published, e.publishAt),
	}}
}

// data is an eval as data: a reference that is not stated is null, a score and a ratio without a number is missing.
func (e *eval) data(in *Input, columns []column, missing any) object {
	out := objectOf(e.row(in), columns, missing)
	for i, m := range out {
		key := m[0].(string)
		if m[1] == "" && strings.HasSuffix(key, "_ref") || m[1] == missing && strings.HasSuffix(key, "_score") {
			out[i][1] = nil
		}
	}
	return out
}

// evalTable has the evals in columns.
func evalTable(in *Input, list []eval, columns string, write cell) *grid {
	var rows []*row
	for i := range list {
		rows = append(rows, list[i].row(in))
	}
	return tableOf(rows, listed(columns), write)
}

// evalCell20 is a value in the table of evals of v0.20.
func evalCell20(v any, _ int) string {
	switch x := v.(type) {
	case schema.Number:
		return significant(x)
	case int:
		return badge(x)
	}
	return cmp.Or(v.(string), notAvailable)
}
