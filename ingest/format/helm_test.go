package format_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var helmReader = Reader{Detect: format.HELM.Detect, Read: format.HELM.Read}

const helmStats = `[{"name":{"name":"num_instances","split":"test"},"count":1,"sum":100,"mean":100.0},` +
	`{"name":{"name":"exact_match","split":"test"},"count":1,"sum":0.53,"mean":0.53125,"stddev":0.0},` +
	`{"name":{"name":"exact_match","split":"test","perturbation":{"name":"dialect"}},"count":1,"sum":0.5,"mean":0.5},` +
	`{"name":{"name":"inference_runtime","split":"test"},"count":1,"sum":0.5,"mean":0.5}]`

func TestHELMStats(t *testing.T) {
	r := helmReader.Must(t, "runs/v1/mmlu:subject=anatomy,method=x,model=acme_m/stats.json", helmStats)
	if len(r.Scores) != 1 || r.Facts.Model.ID != "acme/m" {
		t.Fatalf("%+v", r)
	}
	if s := r.Scores[0]; s.Task != "mmlu:subject=anatomy,method=x" || s.N != 100 || s.Metric != "exact_match" {
		t.Errorf("%+v", s)
	}
}

func FuzzHELM(f *testing.F) { helmReader.Fuzz(f, "x/stats.json", helmStats) }
