// Package lmeval runs EleutherAI's lm-evaluation-harness against a server.
//
// It writes its result at the very end or not at all, and exits 0 when the folder cannot be written to: only the file counts.
package lmeval

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/collect/tool"
)

// Adapter is the tool.
func Adapter() tool.Adapter {
	return tool.Adapter{Name: "lm-eval", Program: "lm_eval", Eval: true, Command: command, Read: read}
}

func command(j tool.Job, out string, _ tool.Flags) tool.Command {
	kind, path := "local-completions", "/v1/completions"
	if j.Chat {
		kind, path = "local-chat-completions", "/v1/chat/completions"
	}
	args := []string{"model=" + j.Model, "base_url=" + j.URL + path}
	if j.Tokenizer != "" {
		args = append(args, "tokenizer="+j.Tokenizer, "tokenized_requests=False")
	} else if !j.Chat {
		args = append(args, "tokenizer_backend=none") // sends text; tasks that score log-likelihoods need a tokenizer
	}
	if n := j.Params["num_concurrent"]; n != "" {
		args = append(args, "num_concurrent="+n)
	}
	argv := []string{"--model", kind, "--model_args", strings.Join(args, ","), "--tasks", j.Task, "--output_path", out, "--log_samples", "--seed", tool.Seed(j.Seed)}
	if j.Chat {
		argv = append(argv, "--apply_chat_template")
	}
	c := tool.Command{Conditions: map[string]string{"seed": tool.Seed(j.Seed), "endpoint": path}}
	for _, p := range [][2]string{{"fewshot", "--num_fewshot"}, {"gen_kwargs", "--gen_kwargs"}} {
		if v := j.Params[p[0]]; v != "" {
			argv = append(argv, p[1], v)
			c.Conditions[p[0]] = v
		}
	}
	if j.Limit > 0 {
		argv = append(argv, "--limit", tool.Int(j.Limit))
		c.Conditions["limit"] = tool.Int(j.Limit)
	}
	if j.Include != "" {
		argv = append(argv, "--include_path", j.Include)
	}
	c.Argv = argv
	return c
}

func read(out string) (tool.Summary, error) {
	s := tool.Summary{File: tool.Newest(out, "*/results_*.json")}
	if s.File == "" {
		return s, fmt.Errorf("lm-eval left no results_*.json")
	}
	var r struct {
		Results map[string]json.RawMessage `json:"results"`
		Version string                     `json:"lm_eval_version"`
		N       map[string]struct {
			Effective int `json:"effective"`
		} `json:"n-samples"`
	}
	if err := tool.ReadJSON(out, s.File, "lm-eval left no results", &r); err != nil {
		return s, err
	}
	if len(r.Results) == 0 {
		return s, fmt.Errorf("%s holds no result", s.File)
	}
	s.Version = r.Version
	for _, n := range r.N {
		s.Completed += n.Effective
	}
	return s, nil
}
