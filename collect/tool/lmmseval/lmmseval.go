// Package lmmseval runs lmms-eval, the harness for models that see and hear, against a server.
package lmmseval

import (
	"encoding/json"
	"fmt"

	"github.com/ttreport/ttreport/collect/tool"
)

// Adapter is the tool.
func Adapter() tool.Adapter {
	return tool.Adapter{Name: "lmms-eval", Program: "lmms-eval", Eval: true, Command: command, Read: read}
}

func command(j tool.Job, out string, _ tool.Flags) tool.Command {
	argv := []string{"--model", "openai_compatible", "--model_args", "model_version=" + j.Model, "--tasks", j.Task, "--batch_size", "1", "--output_path", out, "--log_samples", "--seed", tool.Seed(j.Seed)}
	c := tool.Command{Env: []string{"OPENAI_API_BASE=" + j.URL + "/v1"}, Conditions: map[string]string{"seed": tool.Seed(j.Seed), "endpoint": "/v1/chat/completions"}}
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
	s := tool.Summary{File: tool.Newest(out, "*/*_results.json")}
	if s.File == "" {
		return s, fmt.Errorf("lmms-eval left no *_results.json")
	}
	var r struct {
		Results map[string]json.RawMessage `json:"results"`
		Version string                     `json:"lmms_eval_version"`
		N       map[string]struct {
			Effective int `json:"effective"`
		} `json:"n-samples"`
	}
	if err := tool.ReadJSON(out, s.File, "lmms-eval left no results", &r); err != nil {
		return s, err
	}
	if len(r.Results) == 0 {
		return s, fmt.Errorf("%s holds no result", s.File)
	}
	s.Version = r.Version
	for _, n := range r.N {
		s.Completed += n.Effective
	}
	s.Completed = max(s.Completed, 1) // versions before 0.3 do not count
	return s, nil
}
