// This file reads the scores that a model's repository on the Hub states under .eval_results/ (Hub documentation, eval
// results): a YAML list with a dataset, a task of it and a value each. The model is the repository, which a file does
// not state.

package format

import (
	"cmp"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// HFEval is the format: a dataset by its id, with a value.
var HFEval = draft.Format{
	Name: "hf-eval-results", Detail: "scores of a model card", Wants: draft.Wants(`0.dataset.id""`, "0.value#"),
	All: readHFEval,
}

func readHFEval(f *decode.File, r *schema.Reading) {
	for x := range f.First.Items() {
		value, ok := x.Get("value").Float()
		if !ok {
			continue
		}
		task := x.At("dataset", "id").Str()
		if part := x.At("dataset", "task_id").Str(); part != "" && part != "default" {
			task += "/" + part
		}
		s := draft.Score(f, r, task, cmp.Or(x.Get("metric").Str(), "score"), value)
		s.Filter, s.Version = x.Get("notes").Str(), x.At("dataset", "revision").Str()
		if r.Facts.Start.IsZero() {
			draft.Dated(&r.Facts, draft.Time(x.Get("date").Text()), "")
		}
	}
}
