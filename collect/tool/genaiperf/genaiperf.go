// Package genaiperf runs NVIDIA's genai-perf, which AIPerf succeeded. Its requests are made by perf_analyzer, a program that comes with
// Triton's SDK image and not with the Python package.
package genaiperf

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/collect/tool"
)

// Adapter is the tool.
func Adapter() tool.Adapter {
	return tool.Adapter{Name: "genai-perf", Program: "genai-perf", Version: []string{"--version"}, Help: []string{"profile", "--help"}, Keyless: true, Command: command, Read: read}
}

func command(j tool.Job, out string, has tool.Flags) tool.Command {
	kind := "completions"
	if j.Chat {
		kind = "chat"
	}
	address := strings.TrimPrefix(j.URL, "http://")
	argv := []string{"profile", "-m", j.Model, "--endpoint-type", kind, "--streaming", "--url", address}
	argv = has.With(argv, "--service-kind", "openai")
	if j.Tokenizer != "" {
		argv = append(argv, "--tokenizer", j.Tokenizer)
	}
	if j.Rate > 0 {
		argv = append(argv, "--request-rate", tool.Float(j.Rate))
	} else {
		argv = append(argv, "--concurrency", tool.Int(max(1, j.Concurrency)))
	}
	argv = has.With(argv, "--request-count", tool.Int(j.Requests))
	argv = append(argv, "--synthetic-input-tokens-mean", tool.Int(j.ISL), "--synthetic-input-tokens-stddev", "0", "--output-tokens-mean", tool.Int(j.OSL), "--output-tokens-stddev", "0",
		"--extra-inputs", "ignore_eos:true", "--extra-inputs", "min_tokens:"+tool.Int(j.OSL), "--random-seed", tool.Seed(j.Seed), "--artifact-dir", out)
	return tool.Command{Argv: append(argv, j.Extra...), Conditions: j.Conditions("ignore_eos", "true", "endpoint", kind)}
}

func read(out string) (tool.Summary, error) {
	var s tool.Summary
	for _, glob := range []string{"*_genai_perf.json", "*/*_genai_perf.json"} {
		if s.File = tool.Newest(out, glob); s.File != "" {
			break
		}
	}
	if s.File == "" {
		return s, fmt.Errorf("genai-perf left no *_genai_perf.json: is perf_analyzer there, as in Triton's SDK image?")
	}
	type metric struct{ Avg float64 }
	var r struct {
		Count metric `json:"request_count"`
		TTFT  metric `json:"time_to_first_token"`
		TPOT  metric `json:"inter_token_latency"`
		Rate  metric `json:"request_throughput"`
		Took  metric `json:"request_latency"`
	}
	if err := tool.ReadJSON(out, s.File, "genai-perf left no result", &r); err != nil {
		return s, err
	}
	s.Completed, s.TTFT, s.TPOT, s.Reached = int(r.Count.Avg), r.TTFT.Avg, r.TPOT.Avg, r.Rate.Avg*r.Took.Avg/1000
	if s.Completed == 0 && r.Rate.Avg > 0 { // versions before 0.0.9 do not count
		s.Completed = 1
	}
	return s, nil
}
