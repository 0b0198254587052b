// Package guidellm runs GuideLLM, in the form of its command line from 0.8 on.
//
// With all requests failed it exits 0 and writes zeros; on SIGTERM it leaves eleven processes behind, which is why tools end by group.
package guidellm

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ttreport/ttreport/collect/tool"
)

const result = "benchmarks.json"

// Adapter is the tool.
func Adapter() tool.Adapter {
	return tool.Adapter{Name: "guidellm", Program: "guidellm", Version: []string{"--version"}, Keyless: true, Command: command, Read: read}
}

func command(j tool.Job, out string, _ tool.Flags) tool.Command {
	profile := "kind=concurrent,streams=" + tool.Int(j.Concurrency)
	if j.Rate > 0 {
		profile = "kind=poisson,rate=" + tool.Float(j.Rate)
	}
	argv := []string{"run", "--backend", "kind=openai_http,target=" + j.URL + ",model=" + j.Model, "--profile", profile, "--constraint", "kind=max_requests,count=" + tool.Int(j.Requests)}
	if j.Tokenizer != "" {
		argv = append(argv, "--tokenizer", "kind=hf_auto,model="+j.Tokenizer)
	}
	argv = append(argv, "--data", fmt.Sprintf("kind=synthetic_text,prompt_tokens=%d,output_tokens=%d", j.ISL, j.OSL), "--seed", "kind=static,value="+tool.Seed(j.Seed),
		"--metrics", "kind=generative,sample_size=4", "--output", "kind=json,path="+filepath.Join(out, result), "--disable-progress")
	c := tool.Command{Argv: append(argv, j.Extra...), Conditions: j.Conditions()}
	if info, err := os.Stat(j.Tokenizer); err == nil && info.IsDir() {
		c.Env = []string{"HF_HUB_OFFLINE=1"}
	}
	return c
}

func read(out string) (tool.Summary, error) {
	s := tool.Summary{File: result}
	type of struct {
		Successful struct{ Mean float64 } `json:"successful"`
	}
	var r struct {
		Benchmarks []struct {
			Metrics struct {
				Totals struct{ Successful, Errored int } `json:"request_totals"`
				TTFT   of                                `json:"time_to_first_token_ms"`
				ITL    of                                `json:"inter_token_latency_ms"` // what the others call TPOT
				Busy   of                                `json:"request_concurrency"`
			}
		}
	}
	if err := tool.ReadJSON(out, result, "guidellm left no "+result, &r); err != nil {
		return s, err
	}
	if len(r.Benchmarks) == 0 {
		return s, fmt.Errorf("%s holds no benchmark", result)
	}
	m := r.Benchmarks[0].Metrics
	s.Completed, s.Failed, s.TTFT, s.TPOT, s.Reached = m.Totals.Successful, m.Totals.Errored, m.TTFT.Successful.Mean, m.ITL.Successful.Mean, m.Busy.Successful.Mean
	return s, nil
}
