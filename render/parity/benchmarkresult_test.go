package parity_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/parity"
)

func number(x float64) *float64 { return &x }

func run(tool string, n float64) schema.Run {
	var metrics schema.MetricList
	set := func(name string, stats ...any) {
		m := schema.NewMetric(schema.Kind{Name: name})
		for i := 0; i < len(stats); i += 2 {
			m.Stats.Set(stats[i].(string), stats[i+1].(float64))
		}
		metrics.Put(m)
	}
	set("ttft", "mean", 23.5, "median", 22., "p90", 30., "p99", 41.)
	set("tpot", "mean", 8., "median", 7.5, "p99", 9.)
	set("e2el", "median", 500., "p99", 900.)
	set("rps", "value", 2.9)
	set("output_tps", "value", 120.)
	set("total_tps", "value", 300.)
	set("requests_ok", "value", n)
	set("isl", "mean", 200.)
	return schema.Run{
		Model: schema.Model{ID: "acme/tiny", Name: "tiny"}, Device: schema.Device{Name: "NVIDIA A10G", Chips: 2},
		Stack: schema.Stack{Engine: "vllm", Version: "0.13.0"},
		Points: []schema.Point{{
			Key:   schema.Key{Task: "text", Tool: tool, Dataset: "sharegpt", Rate: number(2.5)},
			Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Metrics: metrics,
			Conditions: map[string]string{"num_prompts": "300"},
		}},
	}
}

// The keys of BenchmarkResult in benchmark_result.py, all of them; ours is written_by.
func TestKeys(t *testing.T) {
	files, err := parity.BenchmarkResults([]schema.Run{run("vllm", 300)}, "ttreport 1")
	if err != nil || len(files) != 1 || files[0].Path != "benchmark_serving-vllm-2.5qps-tiny-20260102-030405.json" {
		t.Fatalf("%v, %v", files, err)
	}
	var r map[string]any
	if err := json.Unmarshal(files[0].Data, &r); err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(`benchmarking_context dataset date description epoch_time gpu_description json_schema_version
		metadata metrics model script_args script_name tensor_parallel_size tokenizer vllm_version written_by`)
	if got := slices.Sorted(maps.Keys(r)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if r["gpu_description"] != "NVIDIA A10G x 2" || r["date"] != "2026-01-02 03:04:05 UTC" ||
		r["script_name"] != "benchmark_serving.py" {
		t.Errorf("%v", r)
	}
	metrics := r["metrics"].(map[string]any)
	for key, value := range map[string]float64{
		"request_throughput": 2.9, "input_throughput": 180, "output_throughput": 120, "median_request_latency": 500,
		"p99_request_latency": 900, "mean_ttft_ms": 23.5, "p90_ttft_ms": 30, "p99_ttft_ms": 41, "median_tpot_ms": 7.5,
	} {
		m, ok := metrics[key].(map[string]any)
		if !ok || m["value"] != value || m["key"] != key || m["unit"] == "" || m["type"] == "" {
			t.Errorf("%s: %v", key, m)
		}
	}
	if _, has := metrics["p90_request_latency"]; has {
		t.Error("a number that nobody measured")
	}
	if metrics["p99_ttft_ms"].(map[string]any)["type"] != "Observation" {
		t.Error("P99 is an observation")
	}
}

// A P99 of few requests is the slowest of them; an engine's benchmark has two metrics; what has no number is no file.
func TestWhatIsLeftOut(t *testing.T) {
	empty := run("vllm", 300)
	empty.Points[0].Metrics = nil
	files, err := parity.BenchmarkResults([]schema.Run{run("vllm", 99), run("vllm-throughput", 1000), empty}, "ttreport 1")
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for i, want := range []string{
		"input_throughput mean_tpot_ms mean_ttft_ms median_request_latency median_tpot_ms median_ttft_ms " +
			"output_throughput p90_ttft_ms request_throughput",
		"request_throughput token_throughput",
	} {
		var r struct {
			Metrics map[string]any `json:"metrics"`
		}
		if err := json.Unmarshal(files[i].Data, &r); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(r.Metrics)), " "); got != want {
			t.Errorf("%s: %s, want %s", files[i].Path, got, want)
		}
	}
}
