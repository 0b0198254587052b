// Package vllm runs vLLM's load client: "vllm bench serve", or the benchmark_serving.py that came before it.
//
// It exits 0 with every metric 0.0 when no request succeeded, so its file decides (measured with 0.33.0).
package vllm

import (
	"github.com/ttreport/ttreport/collect/tool"
)

const result = "result.json"

// Adapter is the tool.
func Adapter() tool.Adapter {
	return tool.Adapter{Name: "vllm", Program: "vllm", Version: []string{"--version"}, Help: []string{"bench", "serve", "--help=all"}, Command: command, Read: read}
}

func command(j tool.Job, out string, has tool.Flags) tool.Command {
	backend, endpoint := "openai", "/v1/completions"
	if j.Chat {
		backend, endpoint = "openai-chat", "/v1/chat/completions"
	}
	argv := []string{"bench", "serve"}
	if j.Script {
		argv = nil // benchmark_serving.py is the subcommand itself
	}
	argv = append(argv, "--backend", backend, "--base-url", j.URL, "--endpoint", endpoint, "--model", j.Model)
	if j.Tokenizer != "" {
		argv = append(argv, "--tokenizer", j.Tokenizer)
	}
	argv = append(argv, dataset(j)...)
	argv = append(argv, "--num-prompts", tool.Int(j.Requests), "--seed", tool.Seed(j.Seed))
	if j.Rate > 0 {
		argv = append(argv, "--request-rate", tool.Float(j.Rate))
	}
	if j.Concurrency > 0 {
		argv = append(argv, "--max-concurrency", tool.Int(j.Concurrency))
	}
	argv = append(argv, "--ignore-eos", "--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "5,25,50,75,90,95,99", "--save-result")
	argv = has.With(argv, "--save-detailed")
	argv = has.With(argv, "--disable-tqdm")
	argv = append(argv, "--result-dir", out, "--result-filename", result)
	return tool.Command{Argv: append(argv, j.Extra...), Conditions: j.Conditions("ignore_eos", "true", "endpoint", endpoint)}
}

func dataset(j tool.Job) []string {
	if j.Dataset == "" {
		return []string{"--dataset-name", "random", "--random-input-len", tool.Int(j.ISL), "--random-output-len", tool.Int(j.OSL)}
	}
	argv := []string{"--dataset-name", j.Dataset}
	if j.Path != "" {
		argv = append(argv, "--dataset-path", j.Path)
	}
	if j.OSL > 0 {
		argv = append(argv, "--"+j.Dataset+"-output-len", tool.Int(j.OSL))
	}
	return argv
}

func read(out string) (tool.Summary, error) {
	s := tool.Summary{File: result}
	var r struct {
		Completed, Failed int
		Duration          float64
		TTFT              float64 `json:"mean_ttft_ms"`
		TPOT              float64 `json:"mean_tpot_ms"`
		NumPrompts        int     `json:"num_prompts"`
		TTFTs             []float64
		ITLs              [][]float64
	}
	if err := tool.ReadJSON(out, result, "vllm bench serve left no "+result, &r); err != nil {
		return s, err
	}
	s.Completed, s.Failed, s.TTFT, s.TPOT = r.Completed, max(r.Failed, r.NumPrompts-r.Completed), r.TTFT, r.TPOT
	busy := 0.
	for i, t := range r.TTFTs {
		busy += t
		if i < len(r.ITLs) {
			for _, gap := range r.ITLs[i] {
				busy += gap
			}
		}
	}
	if r.Duration > 0 {
		s.Reached = busy / r.Duration
	}
	return s, nil
}
