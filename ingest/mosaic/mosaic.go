package mosaic

import (
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Format is the name of the format.
const Format = "mosaic-eval"

// Detect asks for accuracies of in-context learning and for the model.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format, Detail: "scores of an eval gauntlet"}}
	v := f.First
	m.Want(v.At("eval_metrics", "icl").Kind() == decode.Object, "eval_metrics.icl")
	m.Want(v.Has("model"), "model")
	return m.Match
}

// Read returns a score for each task, and for the means that a file states.
func Read(f *decode.File) schema.Reading {
	v := f.First
	r := schema.Reading{Format: Format, Detail: "scores of an eval gauntlet"}
	r.Facts.Model.ID = v.Get("model").Str()
	if uuid := v.Get("model_uuid").Str(); len(uuid) >= digits && r.Facts.Model.ID != "" {
		r.Facts.Model.ID += "@" + uuid[:digits]
	}
	if t, err := time.Parse("2006_01_02-15_04_05", v.Get("creation_date").Str()); err == nil {
		r.Facts.Start, r.Facts.End, r.Facts.StartNote = t, t, "zone not stated"
	}
	add := func(task, metric string, x decode.Value, direction string) {
		n, ok := x.Float()
		if !ok {
			return
		}
		r.Scores = append(r.Scores, schema.Score{
			Task: task, Metric: metric, Value: schema.Num(n), Version: v.Get("eval_version").Text(),
			Stderr: schema.Missing("not in the file"), Direction: direction, Source: f.Source(Format),
		})
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
	return r
}

// digits is how much of a checkpoint's uuid tells it from others.
const digits = 8
