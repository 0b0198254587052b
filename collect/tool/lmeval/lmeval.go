// Package lmeval runs EleutherAI's lm-evaluation-harness against a server.
//
// It writes its result at the very end or not at all, and exits 0 when the folder cannot be written to: only the file counts.
package lmeval

import (
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
	c := tool.Command{Argv: []string{"--model", kind, "--model_args", strings.Join(args, ","), "--tasks", j.Task, "--output_path", out, "--log_samples", "--seed", tool.Seed(j.Seed)},
		Conditions: map[string]string{"seed": tool.Seed(j.Seed), "endpoint": path}}
	if j.Chat {
		c.Argv = append(c.Argv, "--apply_chat_template")
	}
	c.Ask(j)
	return c
}

func read(out string) (tool.Summary, error) {
	return tool.ReadHarness(out, "*/results_*.json", "lm-eval")
}
