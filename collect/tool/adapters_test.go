package tool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/aiperf"
	"github.com/ttreport/ttreport/collect/tool/guidellm"
	"github.com/ttreport/ttreport/collect/tool/lmeval"
	"github.com/ttreport/ttreport/collect/tool/vllm"
)

// What real tools left, recorded: what counts as a result, and what as none although the tool exited 0.
func TestReadRecorded(t *testing.T) {
	for _, tt := range []struct {
		read       func(string) (tool.Summary, error)
		dir        string
		ok, failed int
		reached    float64 // at least
		wrong      string
	}{
		{vllm.Adapter().Read, "vllm-bench-0.33.0/isl128-osl128-c8-n32/out", 32, 0, 5, ""},
		{vllm.Adapter().Read, "vllm-bench-0.33.0/partial-http500-25pct-c8-n32/out", 24, 8, 0, ""},
		{vllm.Adapter().Read, "vllm-bench-0.33.0/allfail-http500-c8-n32/out", 0, 32, 0, ""},
		{vllm.Adapter().Read, "vllm-bench-0.33.0/interrupted-INT/out", 0, 0, 0, "left no result.json"},
		{aiperf.Adapter().Read, "aiperf-0.13.0/isl128-osl128-c8-n32/out", 32, 0, 5, ""},
		{aiperf.Adapter().Read, "aiperf-0.13.0/partial-http500-25pct-c8-n32/out", 24, 8, 0, ""},
		{aiperf.Adapter().Read, "aiperf-0.13.0/allfail-http500-c8-n32/out", 0, 0, 0, "left no profile_export_aiperf.json"},
		{guidellm.Adapter().Read, "guidellm-0.8.1/isl128-osl128-c8-n32/out", 32, 0, 4, ""},
		{guidellm.Adapter().Read, "guidellm-0.8.1/partial-http500-25pct-c8-n32/out", 24, 8, 0, ""},
		{guidellm.Adapter().Read, "guidellm-0.8.1/server-down/out", 0, 0, 0, "left no benchmarks.json"},
		{lmeval.Adapter().Read, "lm-eval-0.4.13/limit-10/out", 10, 0, 0, ""},
		{lmeval.Adapter().Read, "lm-eval-0.4.13/bad-output/out", 0, 0, 0, "left no results"},
	} {
		dir := filepath.Join("../../../shared/recorded", filepath.FromSlash(tt.dir))
		if _, err := os.Stat(filepath.Dir(dir)); err != nil {
			t.Logf("skipped: %s is not beside the repository", filepath.Dir(dir))
			continue
		}
		s, err := tt.read(dir)
		switch {
		case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
			t.Errorf("%s: %v, want %s", tt.dir, err, tt.wrong)
		case tt.wrong == "" && (err != nil || s.Completed < tt.ok || s.Failed != tt.failed || s.Reached < tt.reached || s.Reached > 9):
			t.Errorf("%s: %+v %v", tt.dir, s, err)
		case tt.wrong == "":
			if _, err := os.Stat(filepath.Join(dir, s.File)); err != nil {
				t.Errorf("%s: %v", tt.dir, err)
			}
		}
	}
}

// Flags that a version does not have are left out, and keys never stand on a command line.
func TestCommands(t *testing.T) {
	job := tool.Job{URL: "http://127.0.0.1:8000", Model: "m", Tokenizer: "./tok", ISL: 128, OSL: 64, Concurrency: 8, Requests: 32, Seed: 7, Task: "gsm8k", Limit: 5}
	old := tool.ParseFlags("--backend --base-url --endpoint --model --result_dir --save-result --random-input-len")
	for name, tt := range map[string]struct {
		a        tool.Adapter
		has      tool.Flags
		want, no string
	}{
		"vllm":          {vllm.Adapter(), nil, "bench serve --backend openai --base-url http://127.0.0.1:8000 --endpoint /v1/completions --model m --tokenizer ./tok --dataset-name random --random-input-len 128 --random-output-len 64 --num-prompts 32 --seed 7 --max-concurrency 8", "request-rate"},
		"vllm, old":     {vllm.Adapter(), old, "--save-result --result-dir OUT", "--save-detailed"},
		"aiperf":        {aiperf.Adapter(), nil, "--concurrency 8 --request-count 32 --isl 128 --isl-stddev 0 --osl 64", "api-key"},
		"aiperf, plain": {aiperf.Adapter(), tool.ParseFlags("--model --url --ui-type --streaming --concurrency"), "--artifact-dir OUT --ui-type none", "--no-gpu-telemetry"},
		"guidellm":      {guidellm.Adapter(), nil, "kind=concurrent,streams=8 --constraint kind=max_requests,count=32 --tokenizer kind=hf_auto,model=./tok", "poisson"},
		"lm-eval":       {lmeval.Adapter(), nil, "base_url=http://127.0.0.1:8000/v1/completions,tokenizer=./tok,tokenized_requests=False --tasks gsm8k --output_path OUT --log_samples --seed 7 --limit 5", "apply_chat_template"},
	} {
		line := strings.Join(tt.a.Command(job, "OUT", tt.has).Argv, " ")
		if !strings.Contains(line, tt.want) || strings.Contains(line, tt.no) {
			t.Errorf("%s: %s", name, line)
		}
	}
}
