package tool_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/tool"
	"github.com/ttreport/ttreport/collect/traffic"
)

func named(t *testing.T, name string) tool.Adapter {
	t.Helper()
	a, ok := tool.Named(name)
	if !ok {
		t.Fatalf("no adapter is called %q", name)
	}
	return a
}

// Recorded output of real tools: what counts as a result, and what does not although the tool exited 0.
func TestReadRecorded(t *testing.T) {
	for _, tt := range []struct {
		read       func(string) (tool.Summary, error)
		dir        string
		ok, failed int
		reached    float64 // at least
		wrong      string
	}{
		{named(t, "vllm").Read, "vllm-bench-0.33.0/isl128-osl128-c8-n32/out", 32, 0, 5, ""},
		{named(t, "vllm").Read, "vllm-bench-0.33.0/partial-http500-25pct-c8-n32/out", 24, 8, 0, ""},
		{named(t, "vllm").Read, "vllm-bench-0.33.0/allfail-http500-c8-n32/out", 0, 32, 0, ""},
		{named(t, "vllm").Read, "vllm-bench-0.33.0/interrupted-INT/out", 0, 0, 0, "wrote no result.json"},
		{named(t, "aiperf").Read, "aiperf-0.13.0/isl128-osl128-c8-n32/out", 32, 0, 5, ""},
		{named(t, "aiperf").Read, "aiperf-0.13.0/partial-http500-25pct-c8-n32/out", 24, 8, 0, ""},
		{named(t, "aiperf").Read, "aiperf-0.13.0/allfail-http500-c8-n32/out", 0, 0, 0, "wrote no profile_export_aiperf.json"},
		{named(t, "guidellm").Read, "guidellm-0.8.1/isl128-osl128-c8-n32/out", 32, 0, 4, ""},
		{named(t, "guidellm").Read, "guidellm-0.8.1/partial-http500-25pct-c8-n32/out", 24, 8, 0, ""},
		{named(t, "guidellm").Read, "guidellm-0.8.1/server-down/out", 0, 0, 0, "wrote no benchmarks.json"},
		{named(t, "lm-eval").Read, "lm-eval-0.4.13/limit-10/out", 10, 0, 0, ""},
		{named(t, "lm-eval").Read, "lm-eval-0.4.13/bad-output/out", 0, 0, 0, "wrote no results"},
		{named(t, "inspect").Read, "inspect-ai-0.3.285/json-a/logs", 20, 0, 0, ""},
		{named(t, "inspect").Read, "inspect-ai-0.3.285/eval-a/logs", 0, 0, 0, "wrote no log"},
	} {
		dir := filepath.Join("../../testdata/recorded", filepath.FromSlash(tt.dir))
		if _, err := os.Stat(filepath.Dir(dir)); err != nil {
			t.Fatal(err)
		}
		s, err := tt.read(dir)
		switch {
		case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
			t.Errorf("%s: %v, want %s", tt.dir, err, tt.wrong)
		case tt.wrong == "" && (err != nil || s.Completed < tt.ok || s.Failed != tt.failed || s.Reached < tt.reached ||
			s.Reached > 9):
			t.Errorf("%s: %+v %v", tt.dir, s, err)
		case tt.wrong == "":
			if _, err := os.Stat(filepath.Join(dir, s.File)); err != nil {
				t.Errorf("%s: %v", tt.dir, err)
			}
		}
	}
}

// Flags that a version does not have are left out, and keys are never on a command line.
func TestCommands(t *testing.T) {
	job := tool.Job{URL: "http://127.0.0.1:8000", Model: "m", Tokenizer: "./tok",
		Workload: traffic.Workload{ISL: 128, OSL: 64, Concurrency: 8, Requests: 32}, Seed: 7, Task: "gsm8k", Limit: 5}
	old := tool.ParseFlags("--backend --base-url --endpoint --model --result_dir --save-result --random-input-len")
	for name, tt := range map[string]struct {
		a        tool.Adapter
		has      tool.Flags
		want, no string
	}{
		"vllm": {named(t, "vllm"), nil,
			"bench serve --backend openai --base-url http://127.0.0.1:8000 --endpoint /v1/completions --model m " +
				"--tokenizer ./tok --dataset-name random --random-input-len 128 --random-output-len 64 --num-prompts 32 " +
				"--seed 7 --max-concurrency 8", "request-rate"},
		"vllm, old": {named(t, "vllm"), old, "--save-result --result-dir OUT", "--save-detailed"},
		"aiperf": {named(t, "aiperf"), nil, "--concurrency 8 --request-count 32 --isl 128 --isl-stddev 0 --osl 64",
			"api-key"},
		"aiperf, plain": {named(t, "aiperf"), tool.ParseFlags("--model --url --ui-type --streaming --concurrency"),
			"--artifact-dir OUT --ui-type none", "--no-gpu-telemetry"},
		"guidellm": {named(t, "guidellm"), nil,
			"kind=concurrent,streams=8 --constraint kind=max_requests,count=32 --tokenizer kind=hf_auto,model=./tok", "poisson"},
		"sglang": {named(t, "sglang"), nil,
			"-m sglang.bench_serving --backend sglang-oai --base-url http://127.0.0.1:8000 --model m --dataset-name random " +
				"--random-input-len 128 --random-output-len 64 --random-range-ratio 1 --num-prompts 32", "request-rate"},
		"genai-perf": {named(t, "genai-perf"), nil,
			"--url 127.0.0.1:8000 --service-kind openai --tokenizer ./tok --concurrency 8 --request-count 32 " +
				"--synthetic-input-tokens-mean 128", "api-key"},
		"throughput": {named(t, "throughput"), nil,
			"bench throughput --model m --tokenizer ./tok --input-len 128 --dataset-name random --output-len 64 " +
				"--num-prompts 32 --seed 7 --output-json OUT/result.json", "base-url"},
		"latency": {named(t, "latency"), nil,
			"bench latency --model m --tokenizer ./tok --input-len 128 --output-len 64 --batch-size 8 --num-iters-warmup 2 " +
				"--num-iters 4", "base-url"},
		"trtllm-bench": {named(t, "trtllm-bench"), nil,
			"--model m throughput --dataset OUT/dataset.jsonl --report_json OUT/report.json --concurrency 8", "--tp"},
		"lmms-eval": {named(t, "lmms-eval"), nil,
			"--model_args model_version=m --tasks gsm8k --batch_size 1 --output_path OUT", "api"},
		"inspect": {named(t, "inspect"), nil,
			"eval gsm8k --model openai/m -M responses_api=false --model-base-url http://127.0.0.1:8000/v1 --log-format " +
				"json --log-dir OUT", "api-key"},
		"lm-eval": {named(t, "lm-eval"), nil,
			"base_url=http://127.0.0.1:8000/v1/completions,tokenizer=./tok,tokenized_requests=False --tasks gsm8k " +
				"--output_path OUT --log_samples --seed 7 --limit 5", "apply_chat_template"},
	} {
		line := strings.Join(tt.a.Command(job, "OUT", tt.has).Argv, " ")
		if !strings.Contains(line, tt.want) || strings.Contains(line, tt.no) {
			t.Errorf("%s: %s", name, line)
		}
	}
}

// What --tool-arg passes reaches every tool, and a parameter of a task may have several lines.
func TestFurtherArguments(t *testing.T) {
	job := tool.Job{Model: "m", Task: "gsm8k", Params: map[string]string{"gen_kwargs": "a=1\nb=2"},
		Workload: traffic.Workload{Extra: []string{"--more", "two words"}}}
	for _, a := range tool.Adapters() {
		argv := a.Command(job, "OUT", nil).Argv
		if n := len(argv); n < 3 || argv[n-2] != "--more" || argv[n-1] != "two words" {
			t.Errorf("%s: %q", a.Name, argv)
		}
		if a.Name == "lm-eval" && !slices.Contains(argv, "a=1\nb=2") {
			t.Errorf("%q", argv)
		}
	}
}

// The old benchmark_serving.py is the subcommand itself; a dataset is named as vLLM names it.
func TestScriptsAndDatasets(t *testing.T) {
	job := tool.Job{URL: "http://127.0.0.1:8000", Model: "m", Script: true, Workload: traffic.Workload{
		Requests: 150, Rate: .5, Dataset: "sharegpt", Path: "/d/s.json", Extra: []string{"--burstiness", "2"}}}
	line := strings.Join(named(t, "vllm").Command(job, "OUT", nil).Argv, " ")
	for _, want := range []string{"--backend openai --base-url",
		"--dataset-name sharegpt --dataset-path /d/s.json --num-prompts 150", "--request-rate 0.5", "--burstiness 2"} {
		if !strings.Contains(line, want) || strings.Contains(line, "bench serve") {
			t.Errorf("%q is not in %s", want, line)
		}
	}
	job = tool.Job{Model: "gpt_350m", Batches: "1;8", Lengths: "60,20", MPIRanks: 4}
	c := named(t, "trtllm").Command(job, "OUT", nil)
	if before := strings.Join(c.Before, " "); !strings.HasPrefix(before, "mpirun -n 4") ||
		strings.Join(c.Argv, " ") != "-m gpt_350m --mode plugin --batch_size 1;8 --input_output_len 60,20" {
		t.Errorf("%v %v", c.Before, c.Argv)
	}
}

// The output of benchmark.py is its result: lines are counted and a version is found; no output is no result.
func TestPrintedResult(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, tool.LogName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("[TensorRT-LLM] TensorRT-LLM version: 0.12.0\n[BENCHMARK] model_name m batch_size 1\nnoise\n[BENCHMARK] " +
		"model_name m batch_size 8\n[WARNING] check inlen(60) ... skipping\n")
	if s, err := named(t, "trtllm").Read(dir); err != nil || s.Completed != 2 || s.Failed != 1 || s.Version != "0.12.0" {
		t.Errorf("%+v %v", s, err)
	}
	write("Traceback\n")
	if _, err := named(t, "trtllm").Read(dir); err == nil {
		t.Error("a traceback was taken for a result")
	}
}

// trtllm-bench reads a dataset of token ids that is made for it.
func TestDatasetOfTokens(t *testing.T) {
	dir := t.TempDir()
	job := tool.Job{Workload: traffic.Workload{ISL: 12, OSL: 5, Requests: 3}, Seed: 1}
	if err := named(t, "trtllm-bench").Prepare(job, dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "dataset.jsonl"))
	if err != nil || strings.Count(string(data), "\n") != 3 || strings.Count(string(data), ",") != 3*(11+2) ||
		!strings.Contains(string(data), `"output_tokens":5`) {
		t.Errorf("%s %v", data, err)
	}
}

// A command line in ttreport.yaml is a tool. It runs for every workload if it uses a workload's placeholder, else once;
// one without {out} is refused.
func TestExecTools(t *testing.T) {
	a, err := tool.Script("mine", `python3 my.py --url {url} --n {requests} --note 'two words' -o {out}`)
	if err != nil || !a.Once || a.Offline || a.Program != "python3" {
		t.Fatalf("%+v %v", a, err)
	}
	if got := strings.Join(a.Command(tool.Job{URL: "U", Workload: traffic.Workload{Requests: 5}}, "OUT", nil).Argv,
		"|"); got != "my.py|--url|U|--n|5|--note|two words|-o|OUT" {
		t.Error(got)
	}
	if a, err := tool.Script("mine", "x {isl} {out}"); err != nil || a.Once || !a.Offline {
		t.Errorf("%+v %v", a, err)
	}
	for line, want := range map[string]string{"": "no command", "x": "{out}", "x {out} {colour}": "unknown placeholder",
		"x '{out}": "cannot be split"} {
		if _, err := tool.Script("mine", line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

// result is a tool's file and its expected summary.
type result struct {
	tool, file, text string
	want             tool.Summary
	wrong            string // part of the error
}

func results() []result {
	return []result{
		{"vllm", "result.json", `{"completed":3,"num_prompts":4,"duration":2,"mean_ttft_ms":9,"mean_tpot_ms":4,
"ttfts":[1,1],"itls":[[1],[1]]}`,
			tool.Summary{File: "result.json", Completed: 3, Failed: 1, TTFT: 9, TPOT: 4, Reached: 2}, ""},
		{"vllm", "result.json", `{"completed":0,"num_prompts":4,"duration":2,"mean_ttft_ms":0}`,
			tool.Summary{File: "result.json", Failed: 4}, ""},
		{"vllm", "result.json", `{"completed":`, tool.Summary{}, "result.json:1:14: the file ends here"},
		{"vllm", "other.json", `{}`, tool.Summary{}, "vllm bench serve wrote no result.json"},
		{"aiperf", "profile_export_aiperf.json",
			`{"request_count":{"avg":8},"error_request_count":{"avg":2},"request_latency":{"avg":500},
"benchmark_duration":{"avg":2}}`,
			tool.Summary{File: "profile_export_aiperf.json", Completed: 8, Failed: 2, Reached: 2}, ""},
		{"guidellm", "benchmarks.json", `{"benchmarks":[{"metrics":{"request_totals":{"successful":5,"errored":1}}}]}`,
			tool.Summary{File: "benchmarks.json", Completed: 5, Failed: 1}, ""},
		{"guidellm", "benchmarks.json", `{"benchmarks":[]}`, tool.Summary{}, "holds no benchmark"},
		{"genai-perf", "x_genai_perf.json", `{"request_throughput":{"avg":4},"request_latency":{"avg":500}}`,
			tool.Summary{File: "x_genai_perf.json", Completed: 1, Reached: 2}, ""},
		{"genai-perf", "x.json", `{}`, tool.Summary{}, "is perf_analyzer there"},
		{"sglang", "result.jsonl", `{"completed":6,"num_prompts":8,"mean_ttft_ms":7,"mean_tpot_ms":3,"concurrency":1.5}`,
			tool.Summary{File: "result.jsonl", Completed: 6, Failed: 2, TTFT: 7, TPOT: 3, Reached: 1.5}, ""},
		{"throughput", "result.json", `{"num_requests":9,"elapsed_time":3}`,
			tool.Summary{File: "result.json", Completed: 9}, ""},
		{"throughput", "result.json", `{"num_requests":9,"elapsed_time":0}`, tool.Summary{File: "result.json"}, ""},
		{"latency", "result.json", `{"latencies":[1,2]}`, tool.Summary{File: "result.json", Completed: 2}, ""},
		{"latency", "result.json", `{"latencies":[]}`, tool.Summary{}, "holds no latency"},
		{"trtllm-bench", "report.json", `{"engine":{"version":"1.0"},"request_info":{"num_requests":4,
"avg_num_concurrent_requests":2}}`,
			tool.Summary{File: "report.json", Completed: 4, Reached: 2, Version: "1.0"}, ""},
		{"lm-eval", "m/results_1.json", `{"results":{"t":{}},"lm_eval_version":"0.4.13","n-samples":{"t":{"effective":10}}}`,
			tool.Summary{File: "m/results_1.json", Completed: 10, Version: "0.4.13"}, ""},
		{"lm-eval", "m/results_1.json", `{"results":{}}`, tool.Summary{}, "holds no result"},
		{"lmms-eval", "m/1_results.json", `{"results":{"t":{}},"lmms_eval_version":"0.5"}`,
			tool.Summary{File: "m/1_results.json", Completed: 1, Version: "0.5"}, ""},
		{"inspect", "log.json", `{"status":"success","eval":{"packages":{"inspect_ai":"0.3"}},
"results":{"completed_samples":4,"total_samples":5}}`,
			tool.Summary{File: "log.json", Completed: 4, Failed: 1, Version: "0.3"}, ""},
		{"inspect", "log.json", `{"status":"error","error":{"message":"connection refused"}}`, tool.Summary{},
			"connection refused"},
	}
}

// A result file of each tool, judged: completed and failed requests, means, and what is no result.
func TestRead(t *testing.T) {
	for _, tt := range results() {
		dir := t.TempDir()
		file := filepath.Join(dir, filepath.FromSlash(tt.file))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := named(t, tt.tool).Read(dir)
		switch {
		case tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)):
			t.Errorf("%s: %s: %v, want %q", tt.tool, tt.text, err, tt.wrong)
		case tt.wrong == "" && (err != nil || got != tt.want):
			t.Errorf("%s: %s:\n got %+v %v\nwant %+v", tt.tool, tt.text, got, err, tt.want)
		}
	}
}

// The file of an exec command is a result if it has a metric.
func TestReadScript(t *testing.T) {
	a, err := tool.Script("mine", "x {out}")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"metrics":{"a":{"value":1},"b":{}}}`: "",
		`{"metrics":{"a":{}}}`:                 "holds no metric",
		`{`:                                    "the file ends here",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, tool.ScriptResult), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := a.Read(dir)
		if want == "" && (err != nil || s.Completed != 1) || want != "" &&
			(err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %+v %v", text, s, err)
		}
	}
	if _, err := a.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "wrote no metrics.json") {
		t.Error(err)
	}
}

// AIPerf gets a key by a file that names the variable; neither the file nor a command line has it.
func TestAIPerfKey(t *testing.T) {
	a, _ := tool.Named("aiperf")
	for _, j := range []tool.Job{
		{Model: "m", URL: "http://h", Keyed: true,
			Workload: traffic.Workload{ISL: 3, OSL: 4, Concurrency: 2, Requests: 8}},
		{Model: "m", URL: "http://h", Keyed: true,
			Workload: traffic.Workload{ISL: 3, OSL: 4, Rate: 2.5, Requests: 8}},
		{Model: "m", URL: "http://h"},
	} {
		out := t.TempDir()
		if err := a.Prepare(j, out); err != nil {
			t.Fatal(err)
		}
		argv := strings.Join(a.Command(j, out, nil).Argv, " ")
		data, err := os.ReadFile(filepath.Join(out, "endpoint.yaml"))
		if !j.Keyed {
			if err == nil || strings.Contains(argv, "--config") {
				t.Errorf("without a key: %q %q", argv, data)
			}
			continue
		}
		text := string(data)
		if !strings.Contains(argv, "--config "+out+"/endpoint.yaml") || !strings.Contains(text, `"${OPENAI_API_KEY}"`) ||
			!strings.Contains(text, "requests: 8") || j.Rate > 0 != strings.Contains(text, "type: poisson, rate: 2.5") {
			t.Errorf("%q\n%s", argv, text)
		}
	}
}
