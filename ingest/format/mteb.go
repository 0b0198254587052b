// This file reads the results of MTEB (embeddings-benchmark/mteb, Apache 2.0 licence), versions 1.11 and later: a
// file a task. Its folders state the model and its revision: org__model/REVISION/Task.json. Of the statistics the
// main score of each split and subset counts; the others are of the same answers.

package format

import (
	"path"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// MTEB is the name of the format.
const MTEB = "mteb"

// DetectMTEB asks for the task and its scores.
func DetectMTEB(f *decode.File) schema.Match {
	v := f.First
	m := draft.Check{Match: schema.Match{Format: MTEB, Detail: "mteb " + v.Get("mteb_version").Text()}}
	m.Want(v.Has("task_name", "mteb_version"), "task_name and mteb_version")
	m.Want(v.Get("scores").Kind() == decode.Object, "scores")
	return m.Match
}

// ReadMTEB returns a score for each split and subset of the task.
func ReadMTEB(f *decode.File) schema.Reading {
	v := f.First
	r := schema.Reading{Format: MTEB, Detail: DetectMTEB(f).Detail}
	revision := path.Base(path.Dir(f.Path))
	if model := path.Base(path.Dir(path.Dir(f.Path))); strings.Contains(model, "__") {
		r.Facts.Model.ID = strings.Replace(model, "__", "/", 1)
		if len(revision) >= 7 && revision != "no_revision_available" {
			draft.Revision(&r.Facts, revision)
		}
	}
	for _, split := range v.Get("scores").Members() {
		for x := range split.Val.Items() {
			value, ok := x.Get("main_score").Float()
			if !ok {
				continue
			}
			task := v.Get("task_name").Str()
			if subset := x.Get("hf_subset").Str(); subset != "" && subset != "default" {
				task += "/" + subset
			}
			s := draft.Score(f, &r, task, "main_score", value)
			s.Direction, s.Version = "higher", v.Get("dataset_revision").Str()
			if split.Key != "test" {
				s.Filter = split.Key
			}
		}
	}
	return r
}
