// This file reads Every Eval Ever (evaleval/every_eval_ever, MIT licence), schemas 0.1 to 0.2.2: the aggregate of one
// model's evals.
//
// Traps: a score is on the scale that metric_config states, from min_score to max_score; the metric is named by its
// kind or id; a task's name may have the part of it in brackets.

package format

import (
	"cmp"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// EveryInstances is the format of the answers behind an aggregate, a line each.
const EveryInstances = "every-eval-ever-instances"

// EveryEval is the format: the results with their model.
var EveryEval = draft.Format{
	Name: "every-eval-ever", Wants: draft.Wants("evaluation_results[]", "model_info{}"), All: readEveryEval,
	Sniff: func(f *decode.File, m *draft.Check) { m.Detail = "schema " + f.First.Get("schema_version").Text() },
	Others: []draft.Format{{
		Name: EveryInstances, Detail: "answers", Records: true, All: readEveryInstances,
		Wants: draft.Wants("evaluation_name&sample_id|evaluation_id&sample_id"),
	}},
}

func readEveryEval(f *decode.File, r *schema.Reading) {
	v := f.First
	r.Facts.Model.ID = cmp.Or(v.At("model_info", "id").Str(), v.At("model_info", "name").Str())
	r.Facts.Stack.Engine = v.At("model_info", "inference_engine", "name").Str()
	for x := range v.Get("evaluation_results").Items() {
		metric, details := x.Get("metric_config"), x.Get("score_details")
		value, ok := details.Get("score").Float()
		task := x.Get("evaluation_name").Str()
		if !ok || task == "" {
			draft.Problem(f, r, schema.SevWarning, "no-numbers", x, "a result without a name or a score")
			continue
		}
		name := cmp.Or(metric.Get("metric_kind").Str(), metric.Get("metric_id").Str(), "score")
		s := draft.Score(f, r, task, name, value)
		parameters := metric.Get("metric_parameters")
		s.Filter, s.Direction = parameters.Get("filter").Str(), "higher"
		if shots, ok := parameters.Get("num_fewshot").Int(); ok && shots >= 0 {
			s.Fewshot = &shots
		}
		s.Total = max(int(parameters.Get("num_items").Float0()), 0)
		if lower, _ := metric.Get("lower_is_better").Truth(); lower {
			s.Direction = "lower"
		}
		uncertainty := details.Get("uncertainty")
		s.N = max(int(uncertainty.Get("num_samples").Float0()), 0)
		for _, se := range []decode.Value{uncertainty.At("standard_error", "value"), uncertainty.Get("standard_error")} {
			if e, ok := se.Float(); ok {
				s.Stderr = schema.Num(e)
			}
		}
		if at := cmp.Or(draft.Epoch(x.Get("evaluation_timestamp")),
			draft.Time(x.Get("evaluation_timestamp").Str(), "2006-01-02T15:04:05Z07:00")); !at.IsZero() {
			r.Facts.Start, r.Facts.End = at, at
		}
	}
}
