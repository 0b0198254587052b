// Package trtllm runs TensorRT-LLM's benchmarks, which bring their own engine: benchmarks/python/benchmark.py, once for all batches and
// lengths because it builds an engine first, and trtllm-bench, once a workload. Several ranks are started by mpirun.
//
// benchmark.py prints its results; the log is the result file.
package trtllm

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/ttreport/ttreport/collect/tool"
)

// LogName is the file that a tool's output goes to, below the folder of its result.
const LogName = "tool.log"

// Script is benchmark.py; where it lies is configured.
func Script() tool.Adapter {
	return tool.Adapter{Name: "trtllm", Program: "benchmark.py", Offline: true, Once: true, Command: script, Read: readLog}
}

func script(j tool.Job, _ string, _ tool.Flags) tool.Command {
	argv := []string{"-m", j.Model, "--mode", "plugin", "--batch_size", j.Batches, "--input_output_len", j.Lengths}
	return tool.Command{Before: j.MPI(), Argv: append(argv, j.Extra...)}
}

func readLog(out string) (tool.Summary, error) {
	s := tool.Summary{File: LogName}
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
}

const report = "report.json"

// Bench is trtllm-bench.
func Bench() tool.Adapter {
	return tool.Adapter{Name: "trtllm-bench", Program: "trtllm-bench", Version: []string{"--version"}, Help: []string{"throughput", "--help"}, Offline: true, Prepare: dataset, Command: bench, Read: readReport}
}

// dataset writes the requests in the form of prepare_dataset.py: one object a line with random token ids.
func dataset(j tool.Job, out string) error {
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
			ids[k] = 100 + rnd.IntN(20_000) // past the special ones, and within every vocabulary of these models
		}
		if err := enc.Encode(map[string]any{"task_id": i, "input_ids": ids, "output_tokens": j.OSL}); err != nil {
			return fmt.Errorf("dataset: %w", err)
		}
	}
	return f.Close()
}

func bench(j tool.Job, out string, has tool.Flags) tool.Command {
	argv := []string{"--model", j.Model, "throughput", "--dataset", filepath.Join(out, "dataset.jsonl"), "--report_json", filepath.Join(out, report)}
	if j.Concurrency > 0 {
		argv = append(argv, "--concurrency", tool.Int(j.Concurrency))
	}
	argv = has.With(argv, "--streaming")
	if j.Ranks > 1 {
		argv = append(argv, "--tp", tool.Int(j.Ranks))
	}
	return tool.Command{Argv: append(argv, j.Extra...), Conditions: j.Conditions()}
}

func readReport(out string) (tool.Summary, error) {
	s := tool.Summary{File: report}
	var r struct {
		Engine struct{ Version string } `json:"engine"`
		Info   struct {
			Requests int     `json:"num_requests"`
			Reached  float64 `json:"avg_num_concurrent_requests"`
		} `json:"request_info"`
		Stream struct {
			TTFT float64 `json:"avg_ttft_ms"`
			TPOT float64 `json:"avg_tpot_ms"`
		} `json:"streaming_metrics"`
	}
	if err := tool.ReadJSON(out, report, "trtllm-bench left no "+report, &r); err != nil {
		return s, err
	}
	s.Completed, s.Reached, s.TTFT, s.TPOT, s.Version = r.Info.Requests, r.Info.Reached, r.Stream.TTFT, r.Stream.TPOT, r.Engine.Version
	return s, nil
}
