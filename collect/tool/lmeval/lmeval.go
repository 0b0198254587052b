// Package lmeval runs EleutherAI's lm-evaluation-harness against a server.
//
// It writes its result at the very end or not at all, and exits 0 when the folder cannot be written to: only the file counts.
package lmeval

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
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
	argv := []string{"--model", kind, "--model_args", strings.Join(args, ","), "--tasks", j.Task, "--output_path", out, "--log_samples", "--seed", tool.Float(float64(j.Seed))}
	if j.Chat {
		argv = append(argv, "--apply_chat_template")
	}
	c := tool.Command{Conditions: map[string]string{"seed": tool.Float(float64(j.Seed)), "endpoint": path}}
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
	var s tool.Summary
	names, err := filepath.Glob(filepath.Join(out, "*", "results_*.json"))
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, manifest.SidecarSuffix) })
	if err != nil || len(names) == 0 {
		return s, fmt.Errorf("lm-eval left no results_*.json")
	}
	slices.Sort(names)
	newest := names[len(names)-1]
	data, err := os.ReadFile(newest)
	if err != nil {
		return s, fmt.Errorf("lm-eval: %w", err)
	}
	var r struct {
		Results map[string]json.RawMessage `json:"results"`
		Version string                     `json:"lm_eval_version"`
		N       map[string]struct {
			Effective int `json:"effective"`
		} `json:"n-samples"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return s, fmt.Errorf("%s: %w", filepath.Base(newest), err)
	}
	if len(r.Results) == 0 {
		return s, fmt.Errorf("%s holds no result", filepath.Base(newest))
	}
	s.Version = r.Version
	for _, n := range r.N {
		s.Completed += n.Effective
	}
	s.File, err = filepath.Rel(out, newest)
	return s, err
}
