package format_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var inferencePerfReader = Reader{Detect: format.InferencePerf.Detect, Read: format.InferencePerf.Read}

const (
	inferencePerfReport = `{` +
		`"load_summary":{"count":60,"schedule_delay":{"mean":0.0004,"p99":0.0015},"send_duration":58.5,` +
		`"requested_rate":1.0,"achieved_rate":1.02},"successes":{"count":58,"latency":{"request_latency":{"mean":0.48,` +
		`"median":0.47,"p99.9":0.49,"p5":0.4},"time_per_output_token":{"mean":0.0034},` +
		`"normalized_time_per_output_token":{"mean":0.0077},"time_to_first_token":{"mean":0.031},` +
		`"inter_token_latency":{"mean":0.0034}},"throughput":{"output_tokens_per_sec":64.2,` +
		`"total_tokens_per_sec":271.8,"requests_per_sec":1.01},"prompt_len":{"mean":204.1},"output_len":{"mean":63.1}},` +
		`"failures":{"count":2,"request_latency":null}}`
	inferencePerfYAML = "benchmark_time_seconds: 2.5\n" +
		"load_summary:\n  count: 3\n  requested_rate: 1.0\nsuccesses:\n  count: 3\n  " +
		"latency:\n    time_to_first_token:\n      mean: 0.05\n      p99.9: 0.06\nfailures:\n  count: 0\n"
)

// Its TPOT is over chunks: in real files it is half of the TPOT that follows from the latencies, so it must not be
// read as TPOT.
func TestInferencePerfReport(t *testing.T) {
	r := inferencePerfReader.Must(t, "results/stage_3_lifecycle_metrics.json", inferencePerfReport)
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.mean": 31, "e2el.mean": 480, "e2el.median": 470, "e2el.p99.9": 490, "ntpot.mean": 7.7,
		"output_tps.value": 64.2, "requests_failed.value": 2, "isl.mean": 204.1,
	})
	if Metric(p, "tpot").Kind().Def != schema.DefChunkMean || len(Metric(p, "tps_user").Stats) > 0 {
		t.Errorf("tpot %+v, tps_user %+v", Metric(p, "tpot"), Metric(p, "tps_user"))
	}
	if *p.Key.Rate != 1 || p.Conditions["stage"] != "3" || p.Client["rate_reached"] != "1.02" ||
		Codes(r) != "partly-failed" {
		t.Errorf("%s %v %v %v", p.Key, p.Conditions, p.Client, r.Problems)
	}
}

func TestInferencePerfYAML(t *testing.T) {
	p := inferencePerfReader.Must(t, "stage_0_lifecycle_metrics.yaml", inferencePerfYAML).Points[0]
	Expect(t, p, map[string]float64{"ttft.mean": 50, "ttft.p99.9": 60, "duration_s.value": 2.5})
}

func TestInferencePerfSummaryIsAnotherWorkload(t *testing.T) {
	p := inferencePerfReader.Must(t, "summary_lifecycle_metrics.json", inferencePerfReport).Points[0]
	if p.Key.Rate != nil || p.Key.Dims["stages"] != "all" {
		t.Errorf("%s", p.Key)
	}
	m := format.InferencePerf.Detect(File("stage_0_prometheus_metrics.json",
		`{"load_summary":{},"successes":{"count":3,"rate":8.3,"request_latency":{"mean":3}}}`))
	if m.Format != "inference-perf-aside" {
		t.Errorf("%+v", m)
	}
}

func FuzzInferencePerf(f *testing.F) {
	inferencePerfReader.Fuzz(f, "stage_0_lifecycle_metrics.yaml", inferencePerfReport, inferencePerfYAML)
}
