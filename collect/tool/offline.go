package tool

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// LogName is the file that a tool's output goes to, below the folder of its result.
const LogName = "tool.log"

// vllmThroughput is "vllm bench throughput", or the script that preceded it: many requests at once to an engine of
// its own.
var vllmThroughput = Adapter{
	Name: "throughput", Program: "vllm", Engine: "vllm", Version: []string{"--version"}, Offline: true,
	Read: reads("result.json", "vllm bench throughput left no result.json", func(s *Summary, r struct {
		Requests int     `json:"num_requests"`
		Elapsed  float64 `json:"elapsed_time"`
	}) error {
		if r.Elapsed > 0 {
			s.Completed = r.Requests
		}
		return nil
	}),
}

// vllmLatency is "vllm bench latency", or the script that preceded it: one batch, repeated.
var vllmLatency = Adapter{
	Name: "latency", Program: "vllm", Engine: "vllm", Version: []string{"--version"}, Offline: true,
	Read: reads("result.json", "vllm bench latency left no result.json", func(s *Summary, r struct {
		Latencies []float64 `json:"latencies"`
	}) error {
		if s.Completed = len(r.Latencies); s.Completed == 0 {
			return fmt.Errorf("%s holds no latency", s.File)
		}
		return nil
	}),
}

// trtllmScript is TensorRT-LLM's benchmarks/python/benchmark.py; its path must be configured. It runs once for all
// batches and lengths, because it builds an engine first, and prints its results: the log is the result file. mpirun
// starts several ranks.
var trtllmScript = Adapter{
	Name: "trtllm", Program: "benchmark.py", Engine: "tensorrt-llm", Offline: true, Once: true, Matrix: true,
	Read: func(out string) (Summary, error) {
		s := Summary{File: LogName}
		f, err := os.Open(filepath.Join(out, LogName))
		if err != nil {
			return s, fmt.Errorf("benchmark.py printed nothing")
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			switch text := lines.Text(); {
			case strings.Contains(text, "[BENCHMARK] "):
				s.Completed++
			case strings.Contains(text, "skipping"):
				s.Failed++
			}
			if _, v, ok := strings.Cut(lines.Text(), "TensorRT-LLM version: "); ok {
				s.Version = strings.TrimSpace(v)
			}
		}
		if s.Completed == 0 {
			return s, fmt.Errorf("benchmark.py printed no line with [BENCHMARK]")
		}
		return s, nil
	},
}

// trtllmBench is trtllm-bench, which runs once a workload. Its requests are in the form of prepare_dataset.py: one
// object a line with random token ids.
var trtllmBench = Adapter{
	Name: "trtllm-bench", Program: "trtllm-bench", Engine: "tensorrt-llm", Offline: true,
	Version: []string{"--version"}, Help: []string{"throughput", "--help"},
	Prepare: func(j Job, out string) error {
		f, err := os.Create(filepath.Join(out, "dataset.jsonl"))
		if err != nil {
			return fmt.Errorf("dataset: %w", err)
		}
		defer f.Close()
		rnd := rand.New(rand.NewPCG(j.Seed, 1))
		enc := json.NewEncoder(f)
		for i := range j.Requests {
			ids := make([]int, j.ISL)
			for k := range ids {
				ids[k] = 100 + rnd.IntN(20_000) // above the special tokens, and within the vocabulary of all these models
			}
			if err := enc.Encode(map[string]any{"task_id": i, "input_ids": ids, "output_tokens": j.OSL}); err != nil {
				return fmt.Errorf("dataset: %w", err)
			}
		}
		return f.Close()
	},
	Read: reads("report.json", "trtllm-bench left no report.json", func(s *Summary, r struct {
		Engine struct{ Version string } `json:"engine"`
		Info   struct {
			Requests int     `json:"num_requests"`
			Reached  float64 `json:"avg_num_concurrent_requests"`
		} `json:"request_info"`
		Stream struct {
			TTFT float64 `json:"avg_ttft_ms"`
			TPOT float64 `json:"avg_tpot_ms"`
		} `json:"streaming_metrics"`
	}) error {
		s.Completed, s.Reached, s.Version = r.Info.Requests, r.Info.Reached, r.Engine.Version
		s.TTFT, s.TPOT = r.Stream.TTFT, r.Stream.TPOT
		return nil
	}),
}
