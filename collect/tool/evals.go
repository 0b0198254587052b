package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// lmEval is EleutherAI's lm-evaluation-harness. It writes its result at the very end or not at all, and exits 0 when
// it cannot write to the folder, so only the file counts.
var lmEval = Adapter{
	Name: "lm-eval", Program: "lm_eval", Eval: true, Read: readsHarness("lm-eval", "*/results_*.json", 0),
	Command: func(j Job, out string, _ Flags) Command {
		path := j.endpoint("/v1/completions", "/v1/chat/completions")
		model := args{"model=" + j.Model, "base_url=" + j.URL + path}
		if j.Tokenizer != "" {
			model = model.add("tokenizer="+j.Tokenizer, "tokenized_requests=False")
		} else {
			// Sends text; tasks that score log-likelihoods need a tokenizer.
			model = model.when(!j.Chat, "tokenizer_backend=none")
		}
		model = model.when(j.Params["num_concurrent"] != "", "num_concurrent="+j.Params["num_concurrent"])
		return j.harness(path, args{"--model", j.endpoint("local-completions", "local-chat-completions")}.
			add("--model_args", strings.Join(model, ",")).
			add("--tasks", j.Task, "--output_path", out, "--log_samples", "--seed", utoa(j.Seed)).
			when(j.Chat, "--apply_chat_template"))
	},
}

// lmmsEval is lmms-eval, the harness for multimodal models. Versions before 0.3 do not count what they completed.
var lmmsEval = Adapter{
	Name: "lmms-eval", Program: "lmms-eval", Eval: true, Read: readsHarness("lmms-eval", "*/*_results.json", 1),
	Command: func(j Job, out string, _ Flags) Command {
		c := j.harness("/v1/chat/completions", args{"--model", "openai_compatible", "--model_args",
			"model_version=" + j.Model, "--tasks", j.Task, "--batch_size", "1",
			"--output_path", out, "--log_samples", "--seed", utoa(j.Seed)})
		c.Env = []string{"OPENAI_API_BASE=" + j.URL + "/v1"}
		return c
	},
}

// harness appends the task's parameters and the limit as flags of lm-eval, which lmms-eval shares.
func (j Job) harness(endpoint string, argv args) Command {
	c := j.evalConditions(endpoint)
	for _, p := range [][2]string{{"fewshot", "--num_fewshot"}, {"gen_kwargs", "--gen_kwargs"}} {
		if v := j.Params[p[0]]; v != "" {
			argv = argv.add(p[1], v)
			c[p[0]] = v
		}
	}
	argv = argv.when(j.Limit > 0, "--limit", itoa(j.Limit)).when(j.TaskDir != "", "--include_path", j.TaskDir)
	return Command{Argv: argv, Conditions: c}
}

func (j Job) evalConditions(endpoint string) map[string]string {
	c := map[string]string{"seed": utoa(j.Seed), "endpoint": endpoint}
	if j.Limit > 0 {
		c["limit"] = itoa(j.Limit)
	}
	return c
}

// readsHarness reads a results file of lm-eval's form; at least so many questions were completed.
func readsHarness(name, glob string, least int) func(out string) (Summary, error) {
	return reads(glob, name+" left no results: no file matches "+glob, func(s *Summary, r struct {
		Results map[string]json.RawMessage `json:"results"`
		Version string                     `json:"lm_eval_version"`
		LMMs    string                     `json:"lmms_eval_version"`
		N       map[string]struct {
			Effective int `json:"effective"`
		} `json:"n-samples"`
	}) error {
		if len(r.Results) == 0 {
			return fmt.Errorf("%s holds no result", s.File)
		}
		s.Version = cmp.Or(r.Version, r.LMMs)
		for _, n := range r.N {
			s.Completed += n.Effective
		}
		s.Completed = max(s.Completed, least)
		return nil
	})
}

// inspect is Inspect, the evaluation framework of the UK AI Security Institute. A task is a file or a registered
// name. It exits 0 when the server is down; the status in its log decides. Logs are requested as JSON: its .eval
// archives are compressed with Zstandard within zip, which Go does not read (measured with 0.3.285).
var inspect = Adapter{
	Name: "inspect", Program: "inspect", Package: "inspect-ai", Version: []string{"--version"}, Eval: true,
	Command: func(j Job, out string, _ Flags) Command {
		argv := args{"eval", j.Task, "--model", "openai/" + j.Model, "-M", "responses_api=false"}.
			add("--model-base-url", j.URL+"/v1").
			add("--log-format", "json", "--log-dir", out, "--display", "plain", "--seed", utoa(j.Seed)).
			when(j.Limit > 0, "--limit", itoa(j.Limit))
		return Command{Argv: argv, Conditions: j.evalConditions("/v1/chat/completions")}
	},
	Read: reads("*.json", "inspect left no log", func(s *Summary, r struct {
		Status string
		Error  struct{ Message string }
		Eval   struct {
			Packages map[string]string
		}
		Results *struct {
			Completed int `json:"completed_samples"`
			Total     int `json:"total_samples"`
		}
	}) error {
		if r.Status != "success" || r.Results == nil {
			return fmt.Errorf("inspect reports %q: %.200s", r.Status, r.Error.Message)
		}
		s.Version = r.Eval.Packages["inspect_ai"]
		s.Completed, s.Failed = r.Results.Completed, r.Results.Total-r.Results.Completed
		return nil
	}),
}
