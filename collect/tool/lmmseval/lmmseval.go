// Package lmmseval runs lmms-eval, the harness for models that see and hear, against a server.
package lmmseval

import (
	"github.com/ttreport/ttreport/collect/tool"
)

// Adapter is the tool.
func Adapter() tool.Adapter {
	return tool.Adapter{Name: "lmms-eval", Program: "lmms-eval", Eval: true, Command: command, Read: read}
}

func command(j tool.Job, out string, _ tool.Flags) tool.Command {
	c := tool.Command{Argv: []string{"--model", "openai_compatible", "--model_args", "model_version=" + j.Model, "--tasks", j.Task, "--batch_size", "1", "--output_path", out, "--log_samples", "--seed", tool.Seed(j.Seed)},
		Env: []string{"OPENAI_API_BASE=" + j.URL + "/v1"}, Conditions: map[string]string{"seed": tool.Seed(j.Seed), "endpoint": "/v1/chat/completions"}}
	c.Ask(j)
	return c
}

func read(out string) (tool.Summary, error) {
	s, err := tool.ReadHarness(out, "*/*_results.json", "lmms-eval")
	if err == nil {
		s.Completed = max(s.Completed, 1) // versions before 0.3 do not count
	}
	return s, err
}
