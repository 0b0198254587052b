package tool

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// LogName is the file that a tool's output goes to, below the folder of its result.
const LogName = "tool.log"

// vllmEngine is the beginning of both command lines. benchmark_throughput.py is the subcommand itself.
func vllmEngine(j Job, name string) args {
	return args(nil).when(!j.Script, "bench", name).add("--model", j.Model).
		when(j.Tokenizer != "", "--tokenizer", j.Tokenizer)
}

// vllmThroughput is "vllm bench throughput", or the script that preceded it: many requests at once to an engine of
// its own.
var vllmThroughput = Adapter{
	Name: "throughput", Program: "vllm", Engine: "vllm", Version: []string{"--version"}, Offline: true,
	Command: func(j Job, out string, _ Flags) Command {
		argv := vllmEngine(j, "throughput").
			when(j.Dataset == "", "--input-len", itoa(j.ISL)).
			add("--dataset-name", cmp.Or(j.Dataset, "random")).
			when(j.Path != "", "--dataset-path", j.Path).
			when(j.OSL > 0, "--output-len", itoa(j.OSL)).
			add("--num-prompts", itoa(j.Requests), "--seed", utoa(j.Seed), "--output-json", out+"/result.json").
			add(j.Extra...)
		return Command{Argv: argv, Conditions: j.conditions()}
	},
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
	Command: func(j Job, out string, _ Flags) Command {
		batch := max(1, j.Concurrency)
		times := itoa(max(1, j.Requests/batch))
		argv := vllmEngine(j, "latency").
			add("--input-len", itoa(j.ISL), "--output-len", itoa(j.OSL), "--batch-size", itoa(batch)).
			add("--num-iters-warmup", "2", "--num-iters", times, "--output-json", out+"/result.json").
			add(j.Extra...)
		return Command{Argv: argv, Conditions: j.conditions("iterations", times)}
	},
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
	Command: func(j Job, _ string, _ Flags) Command {
		lengths := "--input_output_len"
		if !strings.Contains(j.Lengths, ",") { // of an encoder, which reads no other flag
			lengths = "--input_len"
		}
		c := Command{Argv: args{"-m", j.Model}.when(!slices.Contains(j.Extra, "--mode"), "--mode", "plugin").
			add("--batch_size", j.Batches, lengths, j.Lengths).add(j.Extra...)}
		if j.MPIRanks > 1 {
			c.Before = args{"mpirun", "-n", itoa(j.MPIRanks)}.when(os.Geteuid() == 0, "--allow-run-as-root")
		}
		return c
	},
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
	Command: func(j Job, out string, has Flags) Command {
		argv := args{"--model", j.Model, "throughput", "--dataset", filepath.Join(out, "dataset.jsonl")}.
			add("--report_json", filepath.Join(out, "report.json")).
			when(j.Concurrency > 0, "--concurrency", itoa(j.Concurrency)).
			known(has, "--streaming").
			when(j.MPIRanks > 1, "--tp", itoa(j.MPIRanks)).
			add(j.Extra...)
		return Command{Argv: argv, Conditions: j.conditions()}
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
