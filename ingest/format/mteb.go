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

// MTEB is the format: the task and its scores.
var MTEB = draft.Format{
	Name: "mteb", Wants: draft.Wants("task_name&mteb_version", "scores{}"), All: readMTEB,
	Sniff: func(f *decode.File, m *draft.Check) { m.Detail = "mteb " + f.First.Get("mteb_version").Text() },
}

// readMTEB returns a score for each split and subset of the task.
func readMTEB(f *decode.File, r *schema.Reading) {
	v := f.First
	folder := path.Dir(f.Folders())
	revision := path.Base(folder)
	if model := path.Base(path.Dir(folder)); strings.Contains(model, "__") {
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
			s := draft.Score(f, r, task, "main_score", value)
			s.Direction, s.Version = "higher", v.Get("dataset_revision").Str()
			if split.Key != "test" {
				s.Filter = split.Key
			}
		}
	}
}
