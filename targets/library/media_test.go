package library_test

import (
	"maps"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/library"
)

// The spec of a server has two numbers of a model that writes no text; the performance reference fills in the others
// and replaces none. Of a model that writes text the spec has all.
func TestReferenceFillsInMedia(t *testing.T) {
	l := library.New()
	l.Add("ref.json", []byte(`{"bge":{"n150":[{"max_concurrency":1,"task_type":"embedding","targets":{"theoretical":
	  {"tput_user":5750,"tput_prefill":46000,"e2el_ms":8300}}}]},"tiny":{"n150":[{"isl":128,"osl":128,
	  "max_concurrency":1,"targets":{"theoretical":{"ttft_ms":89,"tput_user":21}}}]}}`), "2026-01-31", everyDevice)
	spec := schema.Target{Key: schema.Key{Task: "embedding"}, Metric: schema.MetricInputUser, Stat: "value", Value: 5000,
		Level: schema.LevelTarget}
	got := map[string]float64{}
	for _, x := range l.For(schema.Model{Name: "bge"}, "n150", []schema.Target{spec}) {
		if x.Level == schema.LevelTarget {
			got[x.Metric] = x.Value
		}
	}
	want := map[string]float64{schema.MetricInputUser: 5000, schema.MetricInputRate: 46000, "e2el": 8300}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	isl := 128.
	spec = schema.Target{Key: schema.Key{ISL: &isl, OSL: &isl}, Metric: "ttft", Stat: "mean", Value: 80,
		Level: schema.LevelTarget}
	if list := l.For(schema.Model{Name: "tiny"}, "n150", []schema.Target{spec}); len(list) != 1 {
		t.Errorf("%+v", list)
	}
}
