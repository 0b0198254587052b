package tool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/tool/aiperf"
	"github.com/ttreport/ttreport/collect/tool/genaiperf"
	"github.com/ttreport/ttreport/collect/tool/guidellm"
	"github.com/ttreport/ttreport/collect/tool/inspect"
	"github.com/ttreport/ttreport/collect/tool/lmeval"
	"github.com/ttreport/ttreport/collect/tool/lmmseval"
	"github.com/ttreport/ttreport/collect/tool/script"
	"github.com/ttreport/ttreport/collect/tool/sglang"
	"github.com/ttreport/ttreport/collect/tool/trtllm"
	"github.com/ttreport/ttreport/collect/tool/vllm"
	"github.com/ttreport/ttreport/collect/tool/vllmoffline"
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
		{inspect.Adapter().Read, "inspect-ai-0.3.285/json-a/logs", 20, 0, 0, ""},
		{inspect.Adapter().Read, "inspect-ai-0.3.285/eval-a/logs", 0, 0, 0, "left no log"},
	} {
		dir := filepath.Join("../../testdata/recorded", filepath.FromSlash(tt.dir))
		if _, err := os.Stat(filepath.Dir(dir)); err != nil {
			t.Fatal(err)
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
		"sglang":        {sglang.Adapter(), nil, "-m sglang.bench_serving --backend sglang-oai --base-url http://127.0.0.1:8000 --model m --dataset-name random --random-input-len 128 --random-output-len 64 --random-range-ratio 1 --num-prompts 32", "request-rate"},
		"genai-perf":    {genaiperf.Adapter(), nil, "--url 127.0.0.1:8000 --service-kind openai --tokenizer ./tok --concurrency 8 --request-count 32 --synthetic-input-tokens-mean 128", "api-key"},
		"throughput":    {vllmoffline.Throughput(), nil, "bench throughput --model m --tokenizer ./tok --input-len 128 --dataset-name random --output-len 64 --num-prompts 32 --seed 7 --output-json OUT/result.json", "base-url"},
		"latency":       {vllmoffline.Latency(), nil, "bench latency --model m --tokenizer ./tok --input-len 128 --output-len 64 --batch-size 8 --num-iters-warmup 2 --num-iters 4", "base-url"},
		"trtllm-bench":  {trtllm.Bench(), nil, "--model m throughput --dataset OUT/dataset.jsonl --report_json OUT/report.json --concurrency 8", "--tp"},
		"lmms-eval":     {lmmseval.Adapter(), nil, "--model_args model_version=m --tasks gsm8k --batch_size 1 --output_path OUT", "api"},
		"inspect":       {inspect.Adapter(), nil, "eval gsm8k --model openai/m -M responses_api=false --model-base-url http://127.0.0.1:8000/v1 --log-format json --log-dir OUT", "api-key"},
		"lm-eval":       {lmeval.Adapter(), nil, "base_url=http://127.0.0.1:8000/v1/completions,tokenizer=./tok,tokenized_requests=False --tasks gsm8k --output_path OUT --log_samples --seed 7 --limit 5", "apply_chat_template"},
	} {
		line := strings.Join(tt.a.Command(job, "OUT", tt.has).Argv, " ")
		if !strings.Contains(line, tt.want) || strings.Contains(line, tt.no) {
			t.Errorf("%s: %s", name, line)
		}
	}
}

// The old benchmark_serving.py is the subcommand itself; a dataset is named as vLLM names it.
func TestScriptsAndDatasets(t *testing.T) {
	job := tool.Job{URL: "http://127.0.0.1:8000", Model: "m", Requests: 150, Rate: .5, Dataset: "sharegpt", Path: "/d/s.json", Script: true, Extra: []string{"--burstiness", "2"}}
	line := strings.Join(vllm.Adapter().Command(job, "OUT", nil).Argv, " ")
	for _, want := range []string{"--backend openai --base-url", "--dataset-name sharegpt --dataset-path /d/s.json --num-prompts 150", "--request-rate 0.5", "--burstiness 2"} {
		if !strings.Contains(line, want) || strings.Contains(line, "bench serve") {
			t.Errorf("%q is not in %s", want, line)
		}
	}
	job = tool.Job{Model: "gpt_350m", Batches: "1;8", Lengths: "60,20", Ranks: 4}
	c := trtllm.Script().Command(job, "OUT", nil)
	if before := strings.Join(c.Before, " "); !strings.HasPrefix(before, "mpirun -n 4") || strings.Join(c.Argv, " ") != "-m gpt_350m --mode plugin --batch_size 1;8 --input_output_len 60,20" {
		t.Errorf("%v %v", c.Before, c.Argv)
	}
}

// What benchmark.py printed is its result: lines counted, a version found, and nothing is no result.
func TestPrintedResult(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, trtllm.LogName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("[TensorRT-LLM] TensorRT-LLM version: 0.12.0\n[BENCHMARK] model_name m batch_size 1\nnoise\n[BENCHMARK] model_name m batch_size 8\n[WARNING] check inlen(60) ... skipping\n")
	if s, err := trtllm.Script().Read(dir); err != nil || s.Completed != 2 || s.Failed != 1 || s.Version != "0.12.0" {
		t.Errorf("%+v %v", s, err)
	}
	write("Traceback\n")
	if _, err := trtllm.Script().Read(dir); err == nil {
		t.Error("a traceback was taken for a result")
	}
}

// trtllm-bench reads a dataset of token ids that is made for it.
func TestDatasetOfTokens(t *testing.T) {
	dir := t.TempDir()
	if err := trtllm.Bench().Prepare(tool.Job{ISL: 12, OSL: 5, Requests: 3, Seed: 1}, dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "dataset.jsonl"))
	if err != nil || strings.Count(string(data), "\n") != 3 || strings.Count(string(data), ",") != 3*(11+2) || !strings.Contains(string(data), `"output_tokens":5`) {
		t.Errorf("%s %v", data, err)
	}
}

// A line of ttreport.yaml is a tool: run for every workload when it asks for one, once otherwise, and refused when it leaves no room for a result.
func TestExecTools(t *testing.T) {
	a, err := script.Adapter("mine", `python3 my.py --url {url} --n {requests} --note 'two words' -o {out}`)
	if err != nil || !a.Once || a.Offline || a.Program != "python3" {
		t.Fatalf("%+v %v", a, err)
	}
	if got := strings.Join(a.Command(tool.Job{URL: "U", Requests: 5}, "OUT", nil).Argv, "|"); got != "my.py|--url|U|--n|5|--note|two words|-o|OUT" {
		t.Error(got)
	}
	if a, err := script.Adapter("mine", "x {isl} {out}"); err != nil || a.Once || !a.Offline {
		t.Errorf("%+v %v", a, err)
	}
	for line, want := range map[string]string{"": "no command", "x": "{out}", "x {out} {colour}": "unknown hole", "x '{out}": "not closed"} {
		if _, err := script.Adapter("mine", line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}
