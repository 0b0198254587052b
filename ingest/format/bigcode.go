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

// BigCode is the format: the configuration's own names, and tasks beside it.
var BigCode = draft.Format{
	Name: "bigcode-eval", Detail: "results of code evals", All: readBigCode,
	Wants: draft.Wants("config.tasks&config.model", "config.n_samples|config.do_sample|config.max_length_generation"),
	Sniff: func(f *decode.File, m *draft.Check) { m.Not(f.First.Has("results"), "tasks at the top") },
}

func readBigCode(f *decode.File, r *schema.Reading) {
	config := f.First.Get("config")
	r.Facts.Model.ID, r.Facts.Model.Precision = config.Get("model").Str(), config.Get("precision").Str()
	draft.Revision(&r.Facts, config.Get("revision").Str())
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
				s := draft.Score(f, r, task.Key, metric.Key, x)
				s.Filter, s.Limit = strings.Join(filter, ", "), config.Get("limit").Ptr()
			}
		}
	}
}
