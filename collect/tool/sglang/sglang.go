// Package sglang runs SGLang's load client, sglang.bench_serving.
//
// It has no program of its own: a Python that has sglang runs the module. Its file gets one line a run, appended.
package sglang

import (
	"github.com/ttreport/ttreport/collect/tool"
)

const result = "result.jsonl"

// Adapter is the tool.
func Adapter() tool.Adapter {
	return tool.Adapter{Name: "sglang", Program: "python3", Module: "sglang", Command: command, Read: read}
}

func command(j tool.Job, out string, _ tool.Flags) tool.Command {
	backend, dataset := "sglang-oai", "random"
	if j.Dataset != "" {
		dataset = j.Dataset
	}
	if j.Chat {
		backend = "sglang-oai-chat"
	}
	// A range ratio of 1 fixes the lengths here, the opposite of vLLM's 0.
	argv := []string{"-m", "sglang.bench_serving", "--backend", backend, "--base-url", j.URL, "--model", j.Model, "--dataset-name", dataset, "--random-input-len", tool.Int(j.ISL), "--random-output-len", tool.Int(j.OSL),
		"--random-range-ratio", "1", "--num-prompts", tool.Int(j.Requests), "--seed", tool.Seed(j.Seed), "--output-file", out + "/" + result, "--output-details", "--disable-tqdm"}
	if j.Path != "" {
		argv = append(argv, "--dataset-path", j.Path)
	}
	if j.Tokenizer != "" {
		argv = append(argv, "--tokenizer", j.Tokenizer)
	}
	if j.Rate > 0 {
		argv = append(argv, "--request-rate", tool.Float(j.Rate))
	}
	if j.Concurrency > 0 {
		argv = append(argv, "--max-concurrency", tool.Int(j.Concurrency))
	}
	return tool.Command{Argv: append(argv, j.Extra...), Env: []string{"HF_HUB_OFFLINE=1"}, Conditions: j.Conditions("ignore_eos", "true", "endpoint", backend)}
}

func read(out string) (tool.Summary, error) {
	s := tool.Summary{File: result}
	var r struct {
		Completed int
		Prompts   int     `json:"num_prompts"`
		TTFT      float64 `json:"mean_ttft_ms"`
		TPOT      float64 `json:"mean_tpot_ms"`
		Reached   float64 `json:"concurrency"`
	}
	if err := tool.ReadJSON(out, result, "sglang.bench_serving left no "+result, &r); err != nil {
		return s, err
	}
	s.Completed, s.Failed, s.TTFT, s.TPOT, s.Reached = r.Completed, max(0, r.Prompts-r.Completed), r.TTFT, r.TPOT, r.Reached
	return s, nil
}
