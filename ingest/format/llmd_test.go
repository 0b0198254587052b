package format_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var llmdReader = Reader{Detect: format.LLMD.Detect, Read: format.LLMD.Read}

const (
	llmdV01 = `version: '0.1'
scenario:
  host:
    accelerator:
      - {model: H100, count: 1}
      - &big {model: H100, count: 8}
      - *big
  platform:
    engine:
      - {name: vllm, version: 0.9.0.1}
  model: {name: acme/big, quantization: fp16}
  load: {name: guidellm, type: long-input}
metrics:
  time: {duration: 16.5, start: 1749570583.57, stop: 1749570600.0}
  requests: {total: 32, failures: 2, incomplete: 1}
  latency:
    request_latency: {units: ms, mean: 3300, stddev: 100, p99: 5000}
    time_per_output_token: {units: s/token, mean: 0.01}
    inter_token_latency: {units: ms/token, mean: 8.0}
    time_to_first_token: {units: s, mean: 0.8, p50: 0.2, p99p9: 2.5}
  throughput: {output_tokens_per_sec: 99.5, requests_per_sec: 2.0}
`
	llmdV02 = `{"version":"0.2","run":{"uid":"38b1f169","user":"somebody","time":{"start":"2025-11-05T18:00:42Z",` +
		`"end":"2025-11-05T18:17:03Z","duration":"PT1M49.5S"}},
 "scenario":{"stack":[{"standardized":{"kind":"inference_engine","tool":"llm-d",` +
		`"tool_version":"ghcr.io/llm-d/llm-d-cuda:0.3.1","replicas":2,"model":{"name":"acme/tiny"},` +
		`"accelerator":{"model":"H100","count":8}}},{"standardized":{"kind":"generic","tool":"router"}}],
  "load":{"standardized":{"tool":"vllm-benchmark","tool_version":"0.3.0","stage":3,"rate_qps":10,"concurrency":null,` +
		`"input_seq_len":{"distribution":"fixed","value":2148},"output_seq_len":{"distribution":"gaussian","value":1000},` +
		`"source":"sampled"}}},
 "results":{"request_performance":{"aggregate":{"requests":{"total":500,"failures":0},` +
		`"latency":{"time_to_first_token":{"units":"s","mean":0.0368},"time_per_output_token":{"units":"parsec",` +
		`"mean":1}},"throughput":{"output_token_rate":{"units":"tokens/s","mean":2262.4}}}}}}`
)

// The definitions in a report are those of the converted tool.
func TestLLMDFirstVersion(t *testing.T) {
	r := llmdReader.Must(t, "report.yaml", llmdV01)
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.mean": 800, "ttft.median": 200, "ttft.p99.9": 2500, "e2el.mean": 3300, "ntpot.mean": 10, "tpot.mean": 8,
		"output_tps.value": 99.5, "requests_ok.value": 29, "requests_failed.value": 2, "duration_s.value": 16.5,
	})
	if p.Key.Tool != "guidellm" || Metric(p, "ntpot").Kind().Def != schema.DefInclFirst || r.Facts.Device.Chips != 17 ||
		r.Facts.Stack.Version != "0.9.0.1" || r.Facts.Model.Precision != "fp16" {
		t.Errorf("%s %+v", p.Key, r.Facts)
	}
}

func TestLLMDSecondVersion(t *testing.T) {
	r := llmdReader.Must(t, "report.json", llmdV02)
	p := r.Points[0]
	Expect(t, p, map[string]float64{"ttft.mean": 36.8, "output_tps.value": 2262.4, "duration_s.value": 109.5})
	if p.Key.Tool != "vllm" || *p.Key.ISL != 2148 || p.Key.OSL != nil || *p.Key.Rate != 10 ||
		p.Conditions["output_seq_len_distribution"] != "gaussian" {
		t.Errorf("%s %v", p.Key, p.Conditions)
	}
	if r.Facts.RunID != "38b1f169" || r.Facts.Device.Chips != 16 ||
		!r.Facts.Start.Equal(time.Date(2025, 11, 5, 18, 0, 42, 0, time.UTC)) || r.Facts.Stack.Image == "" {
		t.Errorf("%+v", r.Facts)
	}
	if Codes(r) != "unknown-unit" || len(Metric(p, "tpot").Stats) > 0 {
		t.Errorf("a unit that nobody knows: %v %+v", r.Problems, Metric(p, "tpot"))
	}
}

func FuzzLLMD(f *testing.F) { llmdReader.Fuzz(f, "report.yaml", llmdV01, llmdV02) }

// All that a report of 0.2.1 states with a unit is kept: what sessions, servers and the gateway measured.
func TestLLMDWhole(t *testing.T) {
	r := llmdReader.Must(t, "a.yaml", llmdV021)
	Expect(t, r.Points[0], map[string]float64{
		"input_tps.value": 120.5, "input_tps.p99": 180, "isl.mean": 900, "isl.p90": 990,
		"image_count{,neither}.mean": 2, "image_pixels{pixels,neither}.mean": 1024,
		"request_size{bytes,neither}.mean": 90.5, "image_rate{images/s,neither}.mean": 1.5, "session_s.p99": 40,
		"session_rps.mean": .5, "kv_usage.p90": 63, "accelerator_memory.mean": 62.5, "prefix_hits.mean": 35.5,
		"epp_dispatch_latency{s,neither}.std": .1, "vllm_num_requests_running{,neither}.mean": 24.5,
		"sessions_succeeded{,neither}.value": 9, "total_restarts{,neither}.value": 3,
	})
}

// What a router or one pod of several states is no number of the server, and replaces none.
func TestLLMDComponents(t *testing.T) {
	p := llmdReader.Must(t, "a.yaml", llmdV021).Points[0]
	for name, want := range map[string]float64{
		"requests_running": 24.5, "running_requests{,neither}": 12.5,
		"vllm_external_prefix_cache_hit_rate{%,neither}":   40,
		"vllm_external_prefix_cache_hit_rate.2{%,neither}": 60,
	} {
		if x, _ := p.Value(name, "mean"); x != want {
			t.Errorf("%s is %v, want %v", name, x, want)
		}
	}
	router := strings.ReplaceAll(llmdV021, "kind: generic", "kind: inference_engine")
	p = llmdReader.Must(t, "a.yaml", router).Points[0]
	if m, has := p.Metric("requests_running"); has { // of which of two engines?
		t.Errorf("%+v", m)
	}
}

// llmdV021 is a report with the parts that its version 0.2.1 has, of a server with a router.
const llmdV021 = `version: '0.2.1'
scenario:
  stack:
    - {metadata: {label: router}, standardized: {kind: generic}}
    - {metadata: {label: vllm}, standardized: {kind: inference_engine}}
results:
  component_health: [{component_label: vllm, failed_replicas: 1, total_restarts: 3}]
  request_performance:
    aggregate:
      requests:
        total: 10
        input_length: {units: count, mean: 900, p90: 990}
        multimodal: {image: {count: {units: count, mean: 2.0}, pixels: {units: pixels, mean: 1024.0}}}
        request_size: {units: bytes, mean: 90.5}
      throughput:
        input_token_rate: {units: tokens/s, mean: 120.5, p99: 180}
        image_rate: {units: images/s, mean: 1.5}
  session_performance:
    sessions:
      {succeeded: 9, session_duration: {units: s, mean: 20.5, p99: 40}, session_rate: {units: queries/s, mean: 0.5}}
  observability:
    components:
      - component_label: router
        aggregate: {running_requests: {units: count, mean: 12.5}}
      - component_label: vllm
        aggregate:
          kv_cache_usage: {units: percent, mean: 42.5, p90: 63}
          gpu_memory_usage: {units: GiB, mean: 62.5}
          running_requests: {units: count, mean: 24.5}
        time_series: {kv_cache_usage: {units: percent, series: [{value: 1}]}}
    epp_dispatch_latency: {statistics: {units: seconds, mean: 0.25, stddev: 0.1}}
    vllm_prefix_cache_hit_rate: {components: [{component_label: a, statistics: {units: percent, mean: 35.5}}]}
    vllm_external_prefix_cache_hit_rate:
      components:
        - {component_id: a, statistics: {units: percent, mean: 40}}
        - {component_id: b, statistics: {units: percent, mean: 60}}
    vllm_num_requests_running:
      aggregated: {units: count, mean: 24.5}
      components: [{component_label: a, statistics: {units: count, mean: 12.5}}]
`
