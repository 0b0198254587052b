package aiperf_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/aiperf"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

const sweep = `{"aggregation_type":"sweep","num_profile_runs":6,"failed_runs":[{"label":"x"}],"metadata":{},` +
	`"per_combination_metrics":[{"parameters":{"concurrency":10,"prefill_concurrency":2},"metrics":{` +
	`"request_throughput_avg":{"mean":100.5,"std":5.2,"se":2.3,"unit":"requests/sec"},` +
	`"time_to_first_token_avg":{"mean":0.1,"se":0.005,"unit":"s"},"time_to_first_token_p99":{"mean":120.5,"unit":"ms"},` +
	`"inter_token_latency_p50":{"mean":9.5,"unit":"ms"},"odd_avg":{"mean":1,"unit":"x"}}},` +
	`{"parameters":{"concurrency":20},"metrics":{"request_throughput_avg":{"mean":180.5,"unit":"parsecs"},` +
	`"request_latency_avg":{"mean":500,"unit":"ms"}}}],"best_configurations":{}}`

// The aggregate of a sweep is read where its runs are missing: a point a combination, the error over the trials.
func TestSweepAggregate(t *testing.T) {
	reader := Reader{Detect: aiperf.Reader.Detect, Read: aiperf.Reader.Read}
	r := reader.Must(t, "profile_export_aiperf_sweep.json", sweep)
	Check(t, r)
	if len(r.Points) != 2 || *r.Points[0].Key.Concurrency != 10 || r.Points[0].Key.Dims["prefill_concurrency"] != "2" ||
		Codes(r) != "failed-runs unknown-unit" {
		t.Fatalf("%d points, %s", len(r.Points), Codes(r))
	}
	Expect(t, r.Points[0], map[string]float64{
		"rps.value": 100.5, "ttft.mean": 100, "ttft.p99": 120.5, "tpot.median": 9.5,
	})
	if se, _ := Metric(r.Points[0], "ttft").Detail().SE.Get(); se != 5 {
		t.Errorf("standard error %v ms", se)
	}
	if len(Metric(r.Points[1], "rps").Stats) != 0 {
		t.Error("a rate in parsecs")
	}
}

func FuzzSweep(f *testing.F) {
	reader := Reader{Detect: aiperf.Reader.Detect, Read: aiperf.Reader.Read}
	reader.Fuzz(f, "x", sweep)
}
