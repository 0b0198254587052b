package vllm_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/vllm"
)

var (
	offline = Reader{Detect: vllm.Offline.Detect, Read: vllm.Offline.Read}
	batch   = Reader{Detect: vllm.Batch.Detect, Read: vllm.Batch.Read}
)

const (
	throughput = `{"input":128,"ouput":2048,"elapsed_time":100.0,"num_requests":16,"total_num_tokens":34816,` +
		`"requests_per_second":0.16,"tokens_per_second":348.16}`
	latency = `{"avg_latency":2.0,"latencies":[1.0,2.0,3.0],"percentiles":{"10":1.2,"50":2.0,"99":2.98}}`
	startup = `{"avg_cold_startup_time":10.0,"cold_startup_times":[9.0,11.0],"cold_startup_percentiles":{"99":10.98},` +
		`"avg_warm_compilation_time":1.5}`
)

// tokens_per_second counts the prompt: it must never be an output rate.
func TestThroughput(t *testing.T) {
	p := offline.Must(t, "t.json", throughput).Points[0]
	Expect(t, p, map[string]float64{
		"total_tps.value": 348.16, "rps.value": .16, "output_tps.value": 327.68, "duration_s.value": 100,
	})
	if Metric(p, "output_tps").Kind().From != "derived" || *p.Key.ISL != 128 || *p.Key.OSL != 2048 ||
		p.Key.Dims["requests"] != "16" {
		t.Errorf("%s %+v", p.Key, Metric(p, "output_tps"))
	}
	without := offline.Must(t, "t.json",
		`{"elapsed_time":100.0,"num_requests":16,"requests_per_second":0.16,"tokens_per_second":348.16}`).Points[0]
	if _, has := without.Metric("output_tps"); has {
		t.Error("an output rate was made of a total")
	}
}

func TestLatencyIsOfABatchInMilliseconds(t *testing.T) {
	p := batch.Must(t, "t.json", latency).Points[0]
	Expect(t, p, map[string]float64{"e2el.mean": 2000, "e2el.median": 2000, "e2el.p99": 2980})
	if m := Metric(p, "e2el"); m.Kind().Def != schema.DefBatch || m.N != 3 || m.Kind().From != "recomputed" {
		t.Errorf("%+v", m)
	}
	bad := batch.Must(t, "t.json", `{"avg_latency":5.0,"latencies":[1.0,3.0],"percentiles":{}}`)
	if Codes(bad) != "disagreement" {
		t.Errorf("%v", bad.Problems)
	}
}

func TestStartupParts(t *testing.T) {
	r := offline.Must(t, "t.json", startup)
	if len(r.Points) != 2 || r.Points[0].Key.Dims[schema.DimLabel] != "cold startup" || !r.Points[0].Key.Comparable() {
		t.Fatalf("%+v", r.Points)
	}
	Expect(t, r.Points[0], map[string]float64{"startup_s.mean": 10, "startup_s.p99": 10.98})
	Expect(t, r.Points[1], map[string]float64{"startup_s.mean": 1.5})
}

func TestOfflineNotOurs(t *testing.T) {
	for _, text := range []string{
		`{"elapsed_time":1,"gpu":"x"}`, `{"completed":1,"elapsed_time":1,"num_requests":1,"requests_per_second":1}`, `[]`,
		`hello`,
	} {
		if m := vllm.Offline.Detect(File("x", text)); m.OK() {
			t.Errorf("%s: %+v", text, m)
		}
	}
}

func FuzzReadBatch(f *testing.F) { batch.Fuzz(f, "t.json", latency) }

func FuzzReadOffline(f *testing.F) { offline.Fuzz(f, "t.json", throughput, startup) }
