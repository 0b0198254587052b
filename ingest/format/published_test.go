package format_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

// The fixtures have the form of tests/data of evaleval/every_eval_ever (MIT licence), embeddings-benchmark/results and
// the documentation of the Hub and of Bencher, with other numbers.
func TestPublishedScores(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		reader      Reader
		model, task string
		value       float64
		scores      int
	}{
		{"eee.json", `{"schema_version":"0.2.2","evaluation_id":"x","model_info":{"name":"m","id":"acme/m"},` +
			`"evaluation_results":[{"evaluation_name":"MMLU-Pro (overall)","evaluation_timestamp":"2026-05-01T10:00:00Z",` +
			`"metric_config":{"metric_kind":"accuracy","lower_is_better":false,"min_score":0,"max_score":1},"score_details":` +
			`{"score":0.5225,"uncertainty":{"standard_error":{"value":0.01},"num_samples":12000}}},{"evaluation_name":"law",` +
			`"metric_config":{"metric_kind":"accuracy"},"score_details":{"score":0.4}}]}`,
			Reader{Detect: format.EveryEval.Detect, Read: format.EveryEval.Read}, "acme/m", "MMLU-Pro (overall)", .5225, 2},
		{"r/acme__m/0123456789abcdef/STS17.json", `{"dataset_revision":"faeb","task_name":"STS17","mteb_version":"1.36.26",` +
			`"scores":{"test":[{"pearson":0.86,"main_score":0.8725,"hf_subset":"en-en"},{"main_score":0.75,` +
			`"hf_subset":"es-en"}]},"evaluation_time":0.07}`,
			Reader{Detect: format.MTEB.Detect, Read: format.MTEB.Read}, "acme/m", "STS17/en-en", .8725, 2},
		{".eval_results/hle.yaml", "- dataset:\n    id: cais/hle\n    task_id: default\n  value: 20.5\n" +
			"  date: '2026-01-15'\n- dataset: {id: acme/gpqa, task_id: diamond}\n  value: 71.5\n  notes: with tools\n",
			Reader{Detect: format.HFEval.Detect, Read: format.HFEval.Read}, "", "cais/hle", 20.5, 2},
	} {
		r := c.reader.Must(t, c.name, c.text)
		if len(r.Scores) != c.scores || r.Facts.Model.ID != c.model || len(r.Problems) != 0 {
			t.Errorf("%s: %d scores of %q, %v", c.name, len(r.Scores), r.Facts.Model.ID, r.Problems)
			continue
		}
		s := r.Scores[0]
		if x, _ := s.Value.Get(); s.Task != c.task || x != c.value {
			t.Errorf("%s: %s %g", c.name, s.Task, x)
		}
	}
}

func TestBencher(t *testing.T) {
	r := Reader{Detect: format.Bencher.Detect, Read: format.Bencher.Read}.Must(t, "bmf.json",
		`{"serve/8":{"latency":{"value":88.5,"lower_value":87,"upper_value":90},"tokens":{"value":5}},"load":{"throughput":`+
			`{"value":2.5}}}`)
	if len(r.Points) != 2 || len(r.Problems) != 0 {
		t.Fatalf("%d points, %v", len(r.Points), r.Problems)
	}
	Expect(t, r.Points[0], map[string]float64{
		"latency{ns,lower}.value": 88.5, "latency{ns,lower}.max": 90, "tokens{,neither}.value": 5,
	})
}
