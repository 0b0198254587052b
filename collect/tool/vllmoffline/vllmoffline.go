// Package vllmoffline runs vLLM's benchmarks that bring their own engine: "vllm bench throughput", many requests at once, and
// "vllm bench latency", one batch again and again; or the scripts that came before them.
//
// There is no server, so nobody states an engine but the tool.
package vllmoffline

import (
	"fmt"

	"github.com/ttreport/ttreport/collect/tool"
)

const result = "result.json"

// Throughput is the tool that sends all requests at once.
func Throughput() tool.Adapter {
	return tool.Adapter{Name: "throughput", Program: "vllm", Version: []string{"--version"}, Offline: true, Command: throughput, Read: readThroughput}
}

// Latency is the tool that repeats one batch.
func Latency() tool.Adapter {
	return tool.Adapter{Name: "latency", Program: "vllm", Version: []string{"--version"}, Offline: true, Command: latency, Read: readLatency}
}

func start(j tool.Job, name string) []string {
	if j.Script { // benchmark_throughput.py is the subcommand itself
		return nil
	}
	return []string{"bench", name}
}

func engine(j tool.Job) []string {
	argv := []string{"--model", j.Model}
	if j.Tokenizer != "" {
		argv = append(argv, "--tokenizer", j.Tokenizer)
	}
	return argv
}

func throughput(j tool.Job, out string, _ tool.Flags) tool.Command {
	argv := append(start(j, "throughput"), engine(j)...)
	dataset := j.Dataset
	if dataset == "" {
		dataset = "random"
		argv = append(argv, "--input-len", tool.Int(j.ISL))
	}
	argv = append(argv, "--dataset-name", dataset)
	if j.Path != "" {
		argv = append(argv, "--dataset-path", j.Path)
	}
	if j.OSL > 0 {
		argv = append(argv, "--output-len", tool.Int(j.OSL))
	}
	argv = append(argv, "--num-prompts", tool.Int(j.Requests), "--seed", tool.Seed(j.Seed), "--output-json", out+"/"+result)
	return tool.Command{Argv: append(argv, j.Extra...), Conditions: j.Conditions()}
}

func readThroughput(out string) (tool.Summary, error) {
	s := tool.Summary{File: result}
	var r struct {
		Requests int     `json:"num_requests"`
		Elapsed  float64 `json:"elapsed_time"`
	}
	if err := tool.ReadJSON(out, result, "vllm bench throughput left no "+result, &r); err != nil {
		return s, err
	}
	if r.Elapsed > 0 {
		s.Completed = r.Requests
	}
	return s, nil
}

func latency(j tool.Job, out string, _ tool.Flags) tool.Command {
	times := max(1, j.Requests/max(1, j.Concurrency))
	argv := append(start(j, "latency"), engine(j)...)
	argv = append(argv, "--input-len", tool.Int(j.ISL), "--output-len", tool.Int(j.OSL), "--batch-size", tool.Int(max(1, j.Concurrency)), "--num-iters-warmup", "2", "--num-iters", tool.Int(times), "--output-json", out+"/"+result)
	return tool.Command{Argv: append(argv, j.Extra...), Conditions: j.Conditions("iterations", tool.Int(times))}
}

func readLatency(out string) (tool.Summary, error) {
	s := tool.Summary{File: result}
	var r struct {
		Latencies []float64 `json:"latencies"`
	}
	if err := tool.ReadJSON(out, result, "vllm bench latency left no "+result, &r); err != nil {
		return s, err
	}
	if len(r.Latencies) == 0 {
		return s, fmt.Errorf("%s holds no latency", result)
	}
	s.Completed = len(r.Latencies)
	return s, nil
}
