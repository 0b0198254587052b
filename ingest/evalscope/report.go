package evalscope

import (
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// readReport returns a score for each metric of a report.
func readReport(f *decode.File, r *schema.Reading) {
	v := f.First
	r.Facts.Model.ID = v.Get("model_name").Str()
	for m := range v.Get("metrics").Items() {
		add(f, r, v.Get("dataset_name").Str(), m.Get("name").Str(), m.Get("score"), m.Get("num"))
	}
}

// readOldReport returns the scores of a report up to 0.7, which states no model: one number, or several by name.
func readOldReport(f *decode.File, r *schema.Reading) {
	v := f.First
	task, score := v.Get("name").Str(), v.Get("score")
	if score.Kind() != decode.Object {
		add(f, r, task, v.Get("metric").Str(), score, v.Get("total_num"))
	}
	for _, m := range score.Members() {
		add(f, r, task, m.Key, m.Val, v.Get("total_num"))
	}
}

// add appends a score, with the number of items that it is of.
func add(f *decode.File, r *schema.Reading, task, metric string, score, items decode.Value) {
	if task == "" || metric == "" {
		return
	}
	s := schema.Score{
		Task: task, Metric: metric, Source: f.Source(r.Format), Stderr: schema.Missing("not in the file"),
	}
	if n, ok := items.Int(); ok && n > 0 {
		s.N = n
	}
	if x, ok := score.Float(); ok {
		s.Value = schema.Num(x)
	} else {
		s.Value = schema.Missing("the file says " + strconv.Quote(score.Text()))
	}
	r.Scores = append(r.Scores, s)
}
