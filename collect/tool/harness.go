package tool

import (
	"encoding/json"
	"fmt"
)

// Ask appends what a task's data and the limit say, in the flags that lm-eval has and lmms-eval took over from it.
func (c *Command) Ask(j Job) {
	for _, p := range [][2]string{{"fewshot", "--num_fewshot"}, {"gen_kwargs", "--gen_kwargs"}} {
		if v := j.Params[p[0]]; v != "" {
			c.Argv = append(c.Argv, p[1], v)
			c.Conditions[p[0]] = v
		}
	}
	c.AskAtMost(j)
	if j.Include != "" {
		c.Argv = append(c.Argv, "--include_path", j.Include)
	}
}

// AskAtMost appends the limit of questions, which every eval tool calls --limit.
func (c *Command) AskAtMost(j Job) {
	if j.Limit > 0 {
		c.Argv = append(c.Argv, "--limit", Int(j.Limit))
		c.Conditions["limit"] = Int(j.Limit)
	}
}

// ReadHarness reads a results file of lm-eval's form, the newest of those that match a glob below out. name is the tool's, for words.
func ReadHarness(out, glob, name string) (Summary, error) {
	s := Summary{File: Newest(out, glob)}
	if s.File == "" {
		return s, fmt.Errorf("%s left no results: nothing is called %s", name, glob)
	}
	var r struct {
		Results map[string]json.RawMessage `json:"results"`
		Version string                     `json:"lm_eval_version"`
		LMMs    string                     `json:"lmms_eval_version"`
		N       map[string]struct {
			Effective int `json:"effective"`
		} `json:"n-samples"`
	}
	if err := ReadJSON(out, s.File, name+" left no results", &r); err != nil {
		return s, err
	}
	if len(r.Results) == 0 {
		return s, fmt.Errorf("%s holds no result", s.File)
	}
	if s.Version = r.Version; s.Version == "" {
		s.Version = r.LMMs
	}
	for _, n := range r.N {
		s.Completed += n.Effective
	}
	return s, nil
}
