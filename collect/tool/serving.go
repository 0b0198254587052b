package tool

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// VLLM is the name of vLLM's load client.
const VLLM = "vllm"

// vllm is vLLM's load client: "vllm bench serve", or the benchmark_serving.py that preceded it. It exits 0 with every
// metric 0.0 when no request succeeded, so its file decides (measured with 0.33.0).
var vllm = Adapter{
	Name: VLLM, Program: "vllm", Version: []string{"--version"}, Help: []string{"bench", "serve", "--help=all"},
	Tokens: true,
	Command: func(j Job, out string, has Flags) Command {
		path := j.endpoint("/v1/completions", "/v1/chat/completions")
		dataset := args{"--dataset-name", "random", "--random-input-len", itoa(j.ISL), "--random-output-len", itoa(j.OSL)}
		if j.Dataset != "" {
			dataset = args{"--dataset-name", j.Dataset}.
				when(j.Path != "", "--dataset-path", j.Path).
				when(j.OSL > 0, "--"+j.Dataset+"-output-len", itoa(j.OSL))
		}
		// The script benchmark_serving.py is the subcommand itself.
		argv := args(nil).when(!j.Script, "bench", "serve").
			add("--backend", j.endpoint("openai", "openai-chat"), "--base-url", j.URL, "--endpoint", path).
			add("--model", j.Model).
			when(j.Tokenizer != "", "--tokenizer", j.Tokenizer).
			add(dataset...).
			add("--num-prompts", itoa(j.Requests), "--seed", utoa(j.Seed)).
			when(j.Rate > 0, "--request-rate", ftoa(j.Rate)).
			when(j.Concurrency > 0, "--max-concurrency", itoa(j.Concurrency)).
			add("--ignore-eos", "--percentile-metrics", "ttft,tpot,itl,e2el").
			add("--metric-percentiles", "5,25,50,75,90,95,99", "--save-result").
			known(has, "--save-detailed").
			known(has, "--disable-tqdm").
			add("--result-dir", out, "--result-filename", "result.json").
			add(j.Extra...)
		return Command{Argv: argv, Conditions: j.conditions("ignore_eos", "true", "endpoint", path)}
	},
	Read: reads("result.json", "vllm bench serve left no result.json", func(s *Summary, r struct {
		Completed, Failed int
		Duration          float64
		TTFT              float64 `json:"mean_ttft_ms"`
		TPOT              float64 `json:"mean_tpot_ms"`
		NumPrompts        int     `json:"num_prompts"`
		TTFTs             []float64
		ITLs              [][]float64
	}) error {
		s.Completed, s.Failed, s.TTFT, s.TPOT = r.Completed, max(r.Failed, r.NumPrompts-r.Completed), r.TTFT, r.TPOT
		busy := 0. // seconds that requests were in flight
		for i, t := range r.TTFTs {
			busy += t
			if i < len(r.ITLs) {
				for _, gap := range r.ITLs[i] {
					busy += gap
				}
			}
		}
		if r.Duration > 0 {
			s.Reached = busy / r.Duration
		}
		return nil
	}),
}

// aiperfKeyFile is the configuration file with the variable of the key, aiperfFile the result.
const (
	aiperfKeyFile = "endpoint.yaml"
	aiperfFile    = "profile_export_aiperf.json"
	aiperfMissing = "aiperf left no " + aiperfFile + ": with no success at all it writes none"
)

// average is how AIPerf and genai-perf state a metric, successful is how GuideLLM does.
type (
	average    struct{ Avg float64 }
	successful struct{ Successful struct{ Mean float64 } }
)

// aiperf is NVIDIA's AIPerf. It leaves sockets and memory maps in its temporary folder, so it gets a folder of its
// own. On its command line every user of the machine could read a key, so it gets one by a configuration file that
// names the variable. AIPerf wants a whole configuration: what flags state replaces the rest of it (measured with
// 0.13.0).
var aiperf = Adapter{
	Name: "aiperf", Program: "aiperf", Version: []string{"--version"}, Help: []string{"profile", "--help"},
	KeyFlag: "--config", Tokens: true, Prompts: "synthetic",
	Prepare: func(j Job, out string) error {
		if !j.Keyed {
			return nil
		}
		load := "concurrency, concurrency: " + itoa(max(1, j.Concurrency))
		if j.Rate > 0 {
			load = "poisson, rate: " + ftoa(j.Rate)
		}
		text := fmt.Sprintf(`schemaVersion: "2.0"
benchmark:
  model: %q
  endpoint: {url: %q, type: %s, api_key: "${OPENAI_API_KEY}"}
  dataset: {type: synthetic, entries: %d, prompts: {isl: %d, osl: %d}}
  phases: [{name: profiling, type: %s, requests: %[4]d}]
`, j.Model, j.URL, j.endpoint("completions", "chat"), j.Requests, j.ISL, j.OSL, load)
		return os.WriteFile(filepath.Join(out, aiperfKeyFile), []byte(text), 0o666)
	},
	Command: func(j Job, out string, has Flags) Command {
		kind := j.endpoint("completions", "chat")
		argv := args{"profile"}.when(j.Keyed, "--config", filepath.Join(out, aiperfKeyFile)).
			add("--model", j.Model, "--url", j.URL, "--endpoint-type", kind, "--streaming").
			when(j.Rate > 0, "--request-rate", ftoa(j.Rate)).
			when(j.Concurrency > 0, "--concurrency", itoa(j.Concurrency)).
			add("--request-count", itoa(j.Requests)).
			add("--isl", itoa(j.ISL), "--isl-stddev", "0", "--osl", itoa(j.OSL), "--osl-stddev", "0").
			add("--extra-inputs", "ignore_eos:true", "--random-seed", utoa(j.Seed)).
			when(j.Tokenizer != "", "--tokenizer", j.Tokenizer).
			add("--artifact-dir", out)
		if has.Has("--ui") {
			argv = argv.add("--ui", "none")
		} else {
			argv = argv.known(has, "--ui-type", "none")
		}
		argv = argv.known(has, "--no-gpu-telemetry").known(has, "--no-server-metrics").add(j.Extra...)
		return Command{Argv: argv, Conditions: j.conditions("ignore_eos", "true", "endpoint", kind)}
	},
	Read: reads(aiperfFile, aiperfMissing, func(s *Summary, r struct {
		Count    average `json:"request_count"`
		Errors   average `json:"error_request_count"`
		TTFT     average `json:"time_to_first_token"`
		TPOT     average `json:"inter_token_latency"`
		Latency  average `json:"request_latency"`
		Duration average `json:"benchmark_duration"`
	}) error {
		s.Completed, s.Failed, s.TTFT, s.TPOT = int(r.Count.Avg), int(r.Errors.Avg), r.TTFT.Avg, r.TPOT.Avg
		if r.Duration.Avg > 0 {
			s.Reached = r.Latency.Avg / 1000 * r.Count.Avg / r.Duration.Avg
		}
		return nil
	}),
}

// guidellm is GuideLLM, in the form of its command line from 0.8 on. With all requests failed it exits 0 and writes
// zeros; on SIGTERM it leaves eleven processes behind, which is why tools are ended by process group.
var guidellm = Adapter{
	Name: "guidellm", Program: "guidellm", Version: []string{"--version"},
	KeyName: "GUIDELLM__SPEC__BACKEND__API_KEY", Tokens: true, Prompts: "synthetic_text",
	Command: func(j Job, out string, _ Flags) Command {
		profile := "kind=concurrent,streams=" + itoa(j.Concurrency)
		if j.Rate > 0 {
			profile = "kind=poisson,rate=" + ftoa(j.Rate)
		}
		argv := args{"run", "--backend", "kind=openai_http,target=" + j.URL + ",model=" + j.Model, "--profile", profile}.
			add("--constraint", "kind=max_requests,count="+itoa(j.Requests)).
			when(j.Tokenizer != "", "--tokenizer", "kind=hf_auto,model="+j.Tokenizer).
			add("--data", fmt.Sprintf("kind=synthetic_text,prompt_tokens=%d,output_tokens=%d", j.ISL, j.OSL)).
			add("--seed", "kind=static,value="+utoa(j.Seed), "--metrics", "kind=generative,sample_size=4").
			add("--output", "kind=json,path="+filepath.Join(out, "benchmarks.json"), "--disable-progress").
			add(j.Extra...)
		c := Command{Argv: argv, Conditions: j.conditions()}
		if info, err := os.Stat(j.Tokenizer); err == nil && info.IsDir() {
			c.Env = []string{"HF_HUB_OFFLINE=1"}
		}
		return c
	},
	Read: reads("benchmarks.json", "guidellm left no benchmarks.json", func(s *Summary, r struct {
		Benchmarks []struct {
			Metrics struct {
				Totals struct{ Successful, Errored int } `json:"request_totals"`
				TTFT   successful                        `json:"time_to_first_token_ms"`
				ITL    successful                        `json:"inter_token_latency_ms"` // called TPOT by other tools
				Busy   successful                        `json:"request_concurrency"`
			}
		}
	}) error {
		if len(r.Benchmarks) == 0 {
			return fmt.Errorf("%s holds no benchmark", s.File)
		}
		m := r.Benchmarks[0].Metrics
		s.Completed, s.Failed = m.Totals.Successful, m.Totals.Errored
		s.TTFT, s.TPOT, s.Reached = m.TTFT.Successful.Mean, m.ITL.Successful.Mean, m.Busy.Successful.Mean
		return nil
	}),
}

// genaiPerf is NVIDIA's genai-perf, which AIPerf succeeded. Its requests are made by perf_analyzer, a program that
// comes with Triton's SDK image and not with the Python package.
var genaiPerf = Adapter{
	Name: "genai-perf", Program: "genai-perf", Keyless: true, Tokens: true,
	Version: []string{"--version"}, Help: []string{"profile", "--help"},
	Command: func(j Job, out string, has Flags) Command {
		kind := j.endpoint("completions", "chat")
		argv := args{"profile", "-m", j.Model, "--endpoint-type", kind, "--streaming"}.
			add("--url", strings.TrimPrefix(j.URL, "http://")).
			known(has, "--service-kind", "openai").
			when(j.Tokenizer != "", "--tokenizer", j.Tokenizer).
			when(j.Rate > 0, "--request-rate", ftoa(j.Rate)).
			when(j.Rate <= 0, "--concurrency", itoa(max(1, j.Concurrency))).
			known(has, "--request-count", itoa(j.Requests)).
			add("--synthetic-input-tokens-mean", itoa(j.ISL), "--synthetic-input-tokens-stddev", "0").
			add("--output-tokens-mean", itoa(j.OSL), "--output-tokens-stddev", "0").
			add("--extra-inputs", "ignore_eos:true", "--extra-inputs", "min_tokens:"+itoa(j.OSL)).
			add("--random-seed", utoa(j.Seed), "--artifact-dir", out).
			add(j.Extra...)
		return Command{Argv: argv, Conditions: j.conditions("ignore_eos", "true", "endpoint", kind)}
	},
	Read: reads("*_genai_perf.json */*_genai_perf.json", "genai-perf left no *_genai_perf.json: is perf_analyzer there, "+
		"as in Triton's SDK image?", func(s *Summary, r struct {
		Count average `json:"request_count"`
		TTFT  average `json:"time_to_first_token"`
		TPOT  average `json:"inter_token_latency"`
		Rate  average `json:"request_throughput"`
		Took  average `json:"request_latency"`
	}) error {
		s.Completed, s.TTFT, s.TPOT, s.Reached = int(r.Count.Avg), r.TTFT.Avg, r.TPOT.Avg, r.Rate.Avg*r.Took.Avg/1000
		if s.Completed == 0 && r.Rate.Avg > 0 { // versions before 0.0.9 do not count
			s.Completed = 1
		}
		return nil
	}),
}

// sglang is SGLang's load client, sglang.bench_serving. It has no program of its own: a Python that has sglang runs the
// module. Its file gets one line a run, appended.
var sglang = Adapter{
	Name: "sglang", Program: "python3", Module: "sglang", Tokens: true,
	Command: func(j Job, out string, _ Flags) Command {
		backend := j.endpoint("sglang-oai", "sglang-oai-chat")
		// A range ratio of 1 fixes the lengths here, the opposite of vLLM's 0.
		argv := args{"-m", "sglang.bench_serving", "--backend", backend, "--base-url", j.URL, "--model", j.Model}.
			add("--dataset-name", cmp.Or(j.Dataset, "random")).
			add("--random-input-len", itoa(j.ISL), "--random-output-len", itoa(j.OSL)).
			add("--random-range-ratio", "1").
			add("--num-prompts", itoa(j.Requests), "--seed", utoa(j.Seed)).
			add("--output-file", out+"/result.jsonl", "--output-details", "--disable-tqdm").
			when(j.Path != "", "--dataset-path", j.Path).
			when(j.Tokenizer != "", "--tokenizer", j.Tokenizer).
			when(j.Rate > 0, "--request-rate", ftoa(j.Rate)).
			when(j.Concurrency > 0, "--max-concurrency", itoa(j.Concurrency)).
			add(j.Extra...)
		return Command{Argv: argv, Env: []string{"HF_HUB_OFFLINE=1"},
			Conditions: j.conditions("ignore_eos", "true", "endpoint", backend)}
	},
	Read: reads("result.jsonl", "sglang.bench_serving left no result.jsonl", func(s *Summary, r struct {
		Completed int
		Prompts   int     `json:"num_prompts"`
		TTFT      float64 `json:"mean_ttft_ms"`
		TPOT      float64 `json:"mean_tpot_ms"`
		Reached   float64 `json:"concurrency"`
	}) error {
		s.Completed, s.Failed = r.Completed, max(0, r.Prompts-r.Completed)
		s.TTFT, s.TPOT, s.Reached = r.TTFT, r.TPOT, r.Reached
		return nil
	}),
}
