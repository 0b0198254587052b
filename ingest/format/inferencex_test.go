package format_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var inferenceXReader = Reader{Detect: format.InferenceX.Detect, Read: format.InferenceX.Read}

const (
	inferenceXRaw = `{"date":"20260213-075258","model_id":"acme/big","num_prompts":160,"request_rate":"inf",` +
		`"max_concurrency":16,"duration":50.0,"completed":150,"request_goodput:":null,"output_throughput":403.5,` +
		`"median_ttft":0.2914,"p99_ttft":2.077,"median_tpot":0.0336,"total_input_tokens":150,"total_output_tokens":300}`
	inferenceXRows = `[` +
		`{"hw":"h200","conc":16,"model":"acme/big","framework":"sglang","precision":"fp8","isl":1024,"osl":8192,` +
		`"tp":8,"ep":1,"tput_per_gpu":100.0,"output_tput_per_gpu":80.0,"mean_ttft":0.5,"p99_tpot":0.02,"p99_intvty":50.0},
	 {"hw":"gb200","conc":64,"model":"acme/big","framework":"trt","isl":1024,"osl":1024,"num_prefill_gpu":4,` +
		`"num_decode_gpu":12,"tput_per_gpu":10.0,"output_tput_per_gpu":9.5,"mean_ttft":0.25}]`
)

// Seconds are never read as milliseconds.
func TestInferenceXRaw(t *testing.T) {
	r := inferenceXReader.Must(t, "glm_isl1024_osl128_conc16.json", inferenceXRaw)
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.median": 291.4, "ttft.p99": 2077, "tpot.median": 33.6, "requests_failed.value": 10, "osl.mean": 2,
	})
	if r.Format != "inferencex-raw" || r.Facts.Model.ID != "acme/big" || *p.Key.Concurrency != 16 ||
		p.Key.Rate != nil || Codes(r) != "partly-failed" {
		t.Errorf("%s %+v %v", p.Key, r.Facts, r.Problems)
	}
}

// Throughputs are per accelerator, and rows of different systems are different runs.
func TestInferenceXRows(t *testing.T) {
	r := inferenceXReader.Must(t, "agg.json", inferenceXRows)
	if len(r.More) != 1 {
		t.Fatalf("%d more", len(r.More))
	}
	Expect(t, r.Points[0], map[string]float64{
		"ttft.mean": 500, "tpot.p99": 20, "output_tps.value": 640, "total_tps.value": 800,
	})
	// 12 of 16 decode
	Expect(t, r.More[0].Points[0], map[string]float64{"ttft.mean": 250, "total_tps.value": 160, "output_tps.value": 114})
	if r.Facts.Device.Name != "h200" || r.Facts.Device.Chips != 8 || r.More[0].Facts.Device.Chips != 16 ||
		r.Facts.Stack.Engine != "sglang" {
		t.Errorf("%+v %+v", r.Facts, r.More[0].Facts)
	}
	context := inferenceXReader.Must(t, "agg.json",
		`{"hw":"x","conc":1,"tp":4,"pp":2,"pcp_size":2,"dcp_size":4,"tput_per_gpu":5.0,"output_tput_per_gpu":1.5,`+
			`"output_tput_tps":25.0,"mean_ttft":1.0}`)
	Expect(t, context.Points[0], map[string]float64{"total_tps.value": 80, "output_tps.value": 25})
	alone := inferenceXReader.Must(t, "agg.json", `{"hw":"x","conc":1,"tput_per_gpu":5.0,"mean_ttft":1.0}`)
	if Metric(alone.Points[0], "total_tps").Kind().Why == "" {
		t.Error("a rate for each of an unknown number of accelerators became a rate")
	}
}

func FuzzInferenceX(f *testing.F) {
	inferenceXReader.Fuzz(f, "agg.json", inferenceXRaw, inferenceXRows)
}

// What rows state for each accelerator, of slow requests and of energy are metrics, unless the file calls it invalid.
func TestInferenceXLoadsOf2026(t *testing.T) {
	const row = `{"hw":"x","conc":1,"tp":4,"tput_per_gpu":5,"output_tput_per_gpu":1.5,"mean_ttft":1.0,"p75_intvty":40,` +
		`"p90_intvty":33.5,"power_valid":1,"avg_total_gpu_power_w":2800,"joules_per_output_token":12.5}`
	r := inferenceXReader.Must(t, "agg.json", row)
	Expect(t, r.Points[0], map[string]float64{
		"output_tps_accelerator.value": 1.5, "total_tps_accelerator.value": 5, "interactivity_p75.value": 40,
		"interactivity_p90.value": 33.5, "power_w.value": 2800, "energy_token.value": 12.5,
	})
	r = inferenceXReader.Must(t, "agg.json", strings.Replace(row, `valid":1`, `valid":0`, 1))
	if m, has := r.Points[0].Metric("energy_token"); has {
		t.Errorf("energy that the file calls invalid: %+v", m)
	}
}
