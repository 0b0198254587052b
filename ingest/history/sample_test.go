package history_test

import (
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

func ptr(v float64) *float64 { return &v }

// sample is a run with everything in it, its point as full as a detailed vLLM result makes one.
func sample(id string) schema.Run {
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return schema.Run{
		ID: id, Start: when, End: when.Add(time.Hour), Release: "v0.17.0", Channel: "release",
		Model: schema.Model{
			ID: "meta-llama/Llama-3.1-8B-Instruct", Name: "Llama-3.1-8B-Instruct", Key: "Llama-3.1-8B", Status: "COMPLETE",
		},
		Impl: "tt-transformers", Device: schema.Device{Name: "n150", Chips: 1},
		Stack: schema.Stack{
			Engine: "vllm", Version: "0.13.0", Commits: map[string]string{"vllm": "6e67d2d", "tt_metal": "25305db"},
		},
		Points: []schema.Point{samplePoint(when)},
		Scores: sampleScores(),
		Targets: []schema.Target{{
			Key: schema.Key{Task: "text", ISL: ptr(2048), OSL: ptr(128), Concurrency: ptr(32)}, Metric: "ttft", Stat: "mean",
			Value: 80, Unit: "ms", Level: "complete", Tolerance: .05, Source: "t.json", SHA256: strings.Repeat("b", 64),
			AsOf: "2026-01-01",
		}},
		Plan:       []schema.Key{{Task: "text", Tool: "vllm", ISL: ptr(1)}},
		Provenance: map[string]schema.Origin{"device.name": {From: schema.FromFlag, Where: "command line"}},
		Problems: []schema.Problem{{
			Severity: "warning", Path: "a.json", Line: 3, Column: 4, Offset: 77, Code: "x", Found: "<b>", Expected: "y",
			Hint: "z",
		}},
	}
}

func samplePoint(when time.Time) schema.Point {
	return schema.Point{
		Key: schema.Key{
			Task: "text", Tool: "vllm", ISL: ptr(2048), OSL: ptr(128), Concurrency: ptr(32), Dataset: "random",
		},
		Status: schema.StatusOK, Repeat: 1, Start: when, End: when.Add(time.Minute),
		Conditions: map[string]string{"ignore_eos": "true", "num_prompts": "256", "client": "openai-chat"},
		Client:     map[string]string{"concurrency_reached": "31.20"},
		Command: []string{
			"vllm", "bench", "serve", "--backend", "openai-chat", "--model", "m", "--max-concurrency", "32", "--num-prompts",
			"256", "--dataset-name", "random", "--random-input-len", "2048",
		},
		Metrics: sampleMetrics(),
		Slices: schema.Slices{Step: 1.25, Series: []schema.SliceOf{
			{Name: "ttft", Values: []float64{12.5, 11, 13, 12}}, {Name: "waiting", Values: []float64{0, 3, 2.5, 0}}}},
		Source: schema.Source{
			Path: "results/run/raw/benchmark_isl-2048_osl-128_maxcon-32_n-256.json", SHA256: strings.Repeat("0af1", 16),
			Format: "vllm-serve", ToolVersion: "0.13.0",
		},
	}
}

func sampleMetrics() schema.MetricList {
	spread := func(base float64) latency.Sample {
		values := make([]float64, 256)
		for i := range values {
			values[i] = base * (1 + float64(i*i%997)/4000)
		}
		return latency.NewSample(values)
	}
	var metrics schema.MetricList
	metrics.Put(schema.NewMetric(schema.Kind{Name: "goodput_rps", Unit: "req/s", Why: "no goodput was asked for"}))
	for name, base := range map[string]float64{"ttft": 2396.53712, "tpot": 44.6912345, "e2el": 8026.66123} {
		metrics.Put(spread(base).Metric(name, schema.DefFirstContent, "", false))
	}
	metrics.Put(spread(44.123456).Metric("itl", schema.DefChunkGap, "", true))
	for name, v := range map[string]float64{
		"output_tps": 502.6234567, "total_tps": 4021.123456, "rps": 3.961234567, "requests_ok": 256, "requests_failed": 0,
		"duration_s": 64.1234567, "tps_user": 22.3751234,
	} {
		metrics.Put(schema.Of(name, "value", v))
	}
	for _, name := range []string{"isl", "osl"} {
		metrics.Put(schema.Of(name, "mean", 2048))
	}
	return metrics
}

func sampleScores() []schema.Score {
	shots, limit := 5, 10.
	source := schema.Source{Path: "e.json", SHA256: strings.Repeat("a", 64), Format: "lm-eval"}
	return []schema.Score{
		{
			Task: "gsm8k", Metric: "exact_match", Filter: "strict-match", Value: schema.Num(.79), Stderr: schema.Num(.011),
			Group: "gsm", N: 1319, Total: 1319, Fewshot: &shots, Limit: &limit, Direction: "higher", Source: source,
		},
		{
			Task: "x", Metric: "acc", Value: schema.Missing("the file says NaN"),
			Stderr: schema.Missing("not in the file"), Source: source,
		},
	}
}
