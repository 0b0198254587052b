package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// lmEval is EleutherAI's lm-evaluation-harness. It writes its result at the very end or not at all, and exits 0 when
// it cannot write to the folder, so only the file counts.
var lmEval = Adapter{
	Name: "lm-eval", Program: "lm_eval", Eval: true, Read: readsHarness("lm-eval", "*/results_*.json", 0),
}

// lmmsEval is lmms-eval, the harness for multimodal models. Versions before 0.3 do not count what they completed.
var lmmsEval = Adapter{
	Name: "lmms-eval", Program: "lmms-eval", Eval: true, Read: readsHarness("lmms-eval", "*/*_results.json", 1),
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
