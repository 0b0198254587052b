package format_test

import (
	"math"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var everyInstances = Reader{Detect: format.EveryEval.Detect, Read: format.EveryEval.Read}

const everyInstancesText = `{"schema_version":"instance_level_eval_0.2.1","evaluation_id":"gsm8k/acme_m/1",` +
	`"model_id":"acme/m","evaluation_name":"GSM8K","sample_id":"q2","sample_hash":"b","interaction_type":"single_turn",` +
	`"input":{"raw":"2+2?","reference":["4"]},"output":{"raw":["4"]},"evaluation":{"score":1,"is_correct":true}}
{"evaluation_id":"g","model_id":"acme/m","evaluation_name":"GSM8K","sample_id":"q1","evaluation":{"is_correct":false}}
{"evaluation_id":"g","model_id":"acme/m","evaluation_name":"GSM8K","sample_id":"q3","evaluation":{"is_correct":true}}
{"evaluation_id":"g","model_id":"acme/m","evaluation_name":"GSM8K","sample_id":"q4","evaluation":{}}
{"evaluation_id":"x","model_id":"acme/n","evaluation_name":"GSM8K","sample_id":"q1","evaluation":{"is_correct":true}}
`

func TestEveryInstances(t *testing.T) {
	r := everyInstances.Must(t, "samples.jsonl", everyInstancesText)
	if len(r.Scores) != 1 || len(r.More) != 1 || r.Facts.Model.ID != "acme/m" || Codes(r) != "no-outcome" {
		t.Fatalf("%d scores of %q, %d more runs, %v", len(r.Scores), r.Facts.Model.ID, len(r.More), r.Problems)
	}
	s := r.Scores[0]
	value, _ := s.Value.Get()
	se, _ := s.Stderr.Get()
	if s.Task != "GSM8K" || s.Metric != "accuracy" || s.N != 3 || !Near(value, 2./3) || !Near(se, math.Sqrt(1./9)) {
		t.Errorf("%s %s of %d: %g ± %g", s.Task, s.Metric, s.N, value, se)
	}
	if !slices.Equal(s.Outcomes.Right, []bool{false, true, true}) || !slices.Equal(s.Items, []string{"q1", "q2", "q3"}) {
		t.Errorf("%v of %v", s.Outcomes, s.Items)
	}
}

// Several answers to one question are of the same file; which of them is which is not said.
func TestEveryInstancesTwice(t *testing.T) {
	one := `{"evaluation_id":"x","model_id":"m","evaluation_name":"E","sample_id":"q1",` +
		`"evaluation":{"is_correct":true}}` + "\n"
	r := everyInstances.Must(t, "samples.jsonl", one+one)
	if s := r.Scores[0]; s.N != 2 || s.Outcomes != nil || s.Items != nil {
		t.Errorf("%d answers, %v of %v", s.N, s.Outcomes, s.Items)
	}
}

func FuzzEveryInstances(f *testing.F) { everyInstances.Fuzz(f, "samples.jsonl", everyInstancesText) }
