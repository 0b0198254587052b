// This file reads what MosaicML's eval gauntlet (LLM Foundry, DataComp-LM) writes of a model: one JSON object with
// the accuracy of each task under eval_metrics.icl.
//
// Scores are accuracies from 0 to 1; Core and Extended are means of centred accuracies (0 is chance). Perplexities are
// lower for a better model. A file that states a model_uuid is of a checkpoint: "model" names its architecture alone,
// so that the first digits of the uuid become part of the model's id.

package format

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Mosaic is the format: accuracies of in-context learning.
var Mosaic = draft.Format{
	Name: "mosaic-eval", Detail: "scores of an eval gauntlet", Wants: draft.Wants("eval_metrics.icl{}"), All: readMosaic,
}

// readMosaic returns a score for each task, and for the means that a file states.
func readMosaic(f *decode.File, r *schema.Reading) {
	v := f.First
	r.Facts.Model.ID = v.Get("model").Str()
	if uuid := v.Get("model_uuid").Str(); len(uuid) >= mosaicDigits && r.Facts.Model.ID != "" {
		r.Facts.Model.ID += "@" + uuid[:mosaicDigits]
	}
	draft.Dated(&r.Facts, draft.Time(v.Get("creation_date").Str()), "zone not stated")
	add := func(task, metric string, x decode.Value, direction string) {
		if n, ok := x.Float(); ok {
			s := draft.Score(f, r, task, metric, n)
			s.Version, s.Direction = v.Get("eval_version").Text(), direction
		}
	}
	for _, task := range v.At("eval_metrics", "icl").Members() {
		add(task.Key, "accuracy", task.Val, "higher")
	}
	for _, name := range []string{"perplexity", "downstream_perplexity"} {
		add(name, "perplexity", v.At("eval_metrics", name), "lower")
		for _, task := range v.At("eval_metrics", name).Members() {
			add(task.Key, "perplexity", task.Val, "lower")
		}
	}
	for _, name := range []string{"Core", "Extended"} {
		add(name, "centered_accuracy", v.Get(name), "higher")
	}
}

// mosaicDigits is how much of a checkpoint's uuid tells it from others.
const mosaicDigits = 8
