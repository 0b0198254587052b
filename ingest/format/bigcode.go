// This file reads the evaluation_results.json of bigcode-evaluation-harness: {"humaneval": {"pass@1": …},
// "config": {"model": …, "tasks": …}}. Temperature and samples are part of what was asked,
// and stand in the task's filter.

package format

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// BigCode is the name of the format.
const BigCode = "bigcode-eval"

// DetectBigCode asks for the configuration's own names and for a task with a number.
func DetectBigCode(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: BigCode, Detail: "results of code evals"}}
	config := f.First.Get("config")
	m.Want(config.Has("tasks", "model"), "config.tasks and config.model")
	m.Want(config.HasAny("n_samples", "do_sample", "max_length_generation"), "config.n_samples")
	m.Not(f.First.Has("results"), "tasks at the top")
	return m.Match
}

// ReadBigCode returns a score for each metric of each task.
func ReadBigCode(f *decode.File) schema.Reading {
	r := schema.Reading{Format: BigCode, Detail: "results of code evals"}
	config := f.First.Get("config")
	r.Facts.Model.ID = config.Get("model").Str()
	draft.Revision(&r.Facts, config.Get("revision").Str())
	r.Facts.Model.Precision = config.Get("precision").Str()
	var filter []string
	for _, name := range []string{"temperature", "n_samples"} {
		if text := config.Get(name).Text(); text != "" {
			filter = append(filter, name+" "+text)
		}
	}
	for _, task := range f.First.Members() {
		if task.Key == "config" {
			continue
		}
		for _, metric := range task.Val.Members() {
			if x, ok := metric.Val.Float(); ok {
				s := draft.Score(f, &r, task.Key, metric.Key, x)
				s.Filter, s.Limit = strings.Join(filter, ", "), config.Get("limit").Ptr()
			}
		}
	}
	return r
}
