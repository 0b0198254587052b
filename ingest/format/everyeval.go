// This file reads Every Eval Ever (evaleval/every_eval_ever, MIT licence), schemas 0.1 to 0.2.2: the aggregate of one
// model's evals, and its instances (instance_level_eval.schema.json 0.2): a line an answer, with its question, the
// model, and whether it is correct. They give an accuracy and its error, and which questions were right.
//
// Traps: a score is on the scale that metric_config states, from min_score to max_score; the metric is named by its
// kind or id; a task's name may have the part of it in brackets; a question may be asked several times, and nothing
// says which answer is which; texts are never kept.

package format

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

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
		s.Filter = parameters.Get("filter").Str()
		if shots, ok := parameters.Get("num_fewshot").Int(); ok && shots >= 0 {
			s.Fewshot = &shots
		}
		s.Total = max(int(parameters.Get("num_items").Float0()), 0)
		if lower, stated := metric.Get("lower_is_better").Truth(); stated {
			s.Direction = map[bool]string{true: "lower", false: "higher"}[lower]
		}
		uncertainty := details.Get("uncertainty")
		s.N = max(int(uncertainty.Get("num_samples").Float0()), 0)
		if s.Stderr = draft.NumberOf(uncertainty.Get("standard_error"), draft.NoError); s.Stderr.IsZero() {
			s.Stderr = draft.NumberOf(uncertainty.At("standard_error", "value"), draft.NoError)
		}
		at := x.Get("evaluation_timestamp")
		draft.Dated(&r.Facts, cmp.Or(draft.Epoch(at), draft.Time(at.Str())), "")
	}
}

type everyAnswer struct {
	id, hash string
	right    bool
}

func readEveryInstances(f *decode.File, out *schema.Reading) {
	type eval struct{ model, name string }
	answers, order, without := map[eval][]everyAnswer{}, []eval{}, 0
	for v := range f.Values() {
		of := eval{v.Get("model_id").Str(), v.Get("evaluation_name").Str()}
		right, ok := v.At("evaluation", "is_correct").Truth()
		if !ok || of.name == "" || len(answers[of]) == decode.MostItems {
			without++
			continue
		}
		if answers[of] == nil {
			order = append(order, of)
		}
		answers[of] = append(answers[of], everyAnswer{v.Get("sample_id").Text(), v.Get("sample_hash").Str(), right})
	}
	runs := draft.RunsOf[string](out)
	for _, of := range order[:min(len(order), f.Limits().Results+1)] {
		r := runs.Of(of.model, schema.Facts{Model: schema.Model{ID: of.model}})
		everyAccuracy(draft.Score(f, r, of.name, "accuracy", 0), answers[of])
	}
	runs.Join(out.Detail)
	if without > 0 {
		draft.Problem(f, out, schema.SevWarning, "no-outcome", decode.Value{},
			fmt.Sprintf("%d answers that are neither right nor wrong, or of no eval", without), "evaluation.is_correct",
			"the other answers")
	}
}

// everyAccuracy completes the score of some answers.
func everyAccuracy(s *schema.Score, list []everyAnswer) {
	slices.SortStableFunc(list, func(a, b everyAnswer) int { return strings.Compare(a.id, b.id) })
	ids, h, isTwice, n := make([]string, len(list)), sha256.New(), false, 0.
	outcomes := &schema.Outcomes{Right: make([]bool, len(list))}
	for i, x := range list {
		ids[i], outcomes.Right[i] = x.id, x.right
		isTwice = isTwice || i > 0 && x.id == list[i-1].id
		_, _ = fmt.Fprintf(h, "%q %q\n", x.id, x.hash) // a hash never fails
		if x.right {
			n++
		}
	}
	all := float64(len(list))
	p := n / all
	s.Value, s.N, s.Direction, s.From = schema.Num(p), len(list), "higher", schema.FromRecomputed
	if s.Stderr = schema.Missing("one item"); all > 1 {
		s.Stderr = schema.Num(math.Sqrt(p * (1 - p) / (all - 1)))
	}
	if outcomes.Items = hex.EncodeToString(h.Sum(nil))[:16]; !isTwice {
		s.Outcomes, s.Items = outcomes, ids
	}
}
