package format_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var mosaicReader = Reader{Detect: format.Mosaic.Detect, Read: format.Mosaic.Read}

const mosaicHeavy = `{"name":"heavy","uuid":"5c62d470-d644","model":"acme_1b","model_uuid":"6ed4a1fa-202c-4b2b",` +
	`"creation_date":"2024_06_12-07_07_17","eval_version":"v2","eval_metrics":{"icl":{"mmlu_fewshot":0.719033827384313,` +
	`"gsm8k_cot":0.3866565525531769,"broken":"x"},"downstream_perplexity":{"c4":9.5}},"Core":0.43945,"Extended":0.2595,` +
	`"missing tasks":"[]"}`

func TestMosaicScoresOfAGauntlet(t *testing.T) {
	r := mosaicReader.Must(t, "evaluation_x_heavy.json", mosaicHeavy)
	Check(t, r)
	if len(r.Scores) != 5 || r.Facts.Model.ID != "acme_1b@6ed4a1fa" || r.Facts.Start.Hour() != 7 {
		t.Fatalf("%d scores of %s at %s", len(r.Scores), r.Facts.Model.ID, r.Facts.Start)
	}
	for i, want := range []struct {
		task, metric string
		value        float64
		better       string
	}{
		{"mmlu_fewshot", "accuracy", 0.719033827384313, "higher"},
		{"gsm8k_cot", "accuracy", 0.3866565525531769, "higher"}, {"c4", "perplexity", 9.5, "lower"},
		{"Core", "centered_accuracy", 0.43945, "higher"}, {"Extended", "centered_accuracy", 0.2595, "higher"},
	} {
		s := r.Scores[i]
		if x, _ := s.Value.Get(); s.Task != want.task || s.Metric != want.metric || x != want.value ||
			s.Direction != want.better {
			t.Errorf("%+v, want %+v", s, want)
		}
	}
}

func FuzzMosaic(f *testing.F) { mosaicReader.Fuzz(f, "x.json", mosaicHeavy) }
