// Package inspect runs Inspect, the evaluation framework of the UK AI Security Institute, against a server. A task is a file or a
// registered name.
//
// It exits 0 with the server down; the status in its log decides. Logs are asked for as JSON: its .eval archives are compressed with
// Zstandard, which Go's library does not read (measured with 0.3.285).
package inspect

import (
	"fmt"

	"github.com/ttreport/ttreport/collect/tool"
)

// Adapter is the tool.
func Adapter() tool.Adapter {
	return tool.Adapter{Name: "inspect", Program: "inspect", Version: []string{"--version"}, Eval: true, Command: command, Read: read}
}

func command(j tool.Job, out string, _ tool.Flags) tool.Command {
	c := tool.Command{Argv: []string{"eval", j.Task, "--model", "openai/" + j.Model, "-M", "responses_api=false", "--model-base-url", j.URL + "/v1", "--log-format", "json", "--log-dir", out, "--display", "plain", "--seed", tool.Seed(j.Seed)},
		Conditions: map[string]string{"seed": tool.Seed(j.Seed), "endpoint": "/v1/chat/completions"}}
	c.AskAtMost(j)
	return c
}

func read(out string) (tool.Summary, error) {
	s := tool.Summary{File: tool.Newest(out, "*.json")}
	if s.File == "" {
		return s, fmt.Errorf("inspect left no log")
	}
	var r struct {
		Status string
		Error  struct{ Message string }
		Eval   struct {
			Packages map[string]string
		}
		Results *struct {
			Completed int `json:"completed_samples"`
			Total     int `json:"total_samples"`
		}
	}
	if err := tool.ReadJSON(out, s.File, "inspect left no log", &r); err != nil {
		return s, err
	}
	if r.Status != "success" || r.Results == nil {
		return s, fmt.Errorf("inspect says %q: %.200s", r.Status, r.Error.Message)
	}
	s.Version, s.Completed, s.Failed = r.Eval.Packages["inspect_ai"], r.Results.Completed, r.Results.Total-r.Results.Completed
	return s, nil
}
