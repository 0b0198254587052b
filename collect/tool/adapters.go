package tool

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
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
	Read: reads("result.json", "vllm bench serve wrote no result.json", func(s *Summary, r result) error {
		s.Completed, s.TTFT, s.TPOT = r.count("completed"), r.number("mean_ttft_ms"), r.number("mean_tpot_ms")
		s.Failed = max(r.count("failed"), r.count("num_prompts")-s.Completed)
		busy := 0. // seconds that requests were in flight
		for t := range r.Get("ttfts").Items() {
			busy += t.Float0()
		}
		for gaps := range r.Get("itls").Items() {
			for gap := range gaps.Items() {
				busy += gap.Float0()
			}
		}
		if took := r.number("duration"); took > 0 {
			s.Reached = busy / took
		}
		return nil
	}),
}

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
		kind := "completions"
		if j.Chat {
			kind = "chat"
		}
		load := "concurrency, concurrency: " + fmt.Sprint(max(1, j.Concurrency))
		if j.Rate > 0 {
			load = "poisson, rate: " + fmt.Sprint(j.Rate)
		}
		text := fmt.Sprintf(`schemaVersion: "2.0"
benchmark:
  model: %q
  endpoint: {url: %q, type: %s, api_key: "${OPENAI_API_KEY}"}
  dataset: {type: synthetic, entries: %d, prompts: {isl: %d, osl: %d}}
  phases: [{name: profiling, type: %s, requests: %[4]d}]
`, j.Model, j.URL, kind, j.Requests, j.ISL, j.OSL, load)
		return os.WriteFile(filepath.Join(out, "endpoint.yaml"), []byte(text), 0o666)
	},
	Read: reads("profile_export_aiperf.json",
		"aiperf wrote no profile_export_aiperf.json, as when no request succeeds", func(s *Summary, r result) error {
			s.Completed, s.Failed = r.count("request_count.avg"), r.count("error_request_count.avg")
			s.TTFT, s.TPOT = r.number("time_to_first_token.avg"), r.number("inter_token_latency.avg")
			if took := r.number("benchmark_duration.avg"); took > 0 {
				s.Reached = r.number("request_latency.avg") / 1000 * r.number("request_count.avg") / took
			}
			return nil
		}),
}

// guidellm is GuideLLM, in the form of its command line from 0.8 on. With all requests failed it exits 0 and writes
// zeros; on SIGTERM it leaves eleven processes behind, which is why tools are ended by process group.
var guidellm = Adapter{
	Name: "guidellm", Program: "guidellm", Version: []string{"--version"},
	KeyName: "GUIDELLM__SPEC__BACKEND__API_KEY", Tokens: true, Prompts: "synthetic_text",
	Read: reads("benchmarks.json", "guidellm wrote no benchmarks.json", func(s *Summary, r result) error {
		if r.Get("benchmarks").Len() == 0 {
			return fmt.Errorf("%s holds no benchmark", s.File)
		}
		m := result{r.At("benchmarks", "0", "metrics")}
		mean := func(metric string) float64 { return m.number(metric + ".successful.mean") }
		s.Completed, s.Failed = m.count("request_totals.successful"), m.count("request_totals.errored")
		s.TTFT, s.Reached = mean("time_to_first_token_ms"), mean("request_concurrency")
		s.TPOT = mean("inter_token_latency_ms") // which other tools call TPOT
		return nil
	}),
}

// genaiPerf is NVIDIA's genai-perf, which AIPerf succeeded. Its requests are made by perf_analyzer, a program that
// comes with Triton's SDK image and not with the Python package.
var genaiPerf = Adapter{
	Name: "genai-perf", Program: "genai-perf", Keyless: true, Tokens: true,
	Version: []string{"--version"}, Help: []string{"profile", "--help"},
	Read: reads("*_genai_perf.json */*_genai_perf.json", "genai-perf wrote no *_genai_perf.json: is perf_analyzer there, "+
		"as in Triton's SDK image?", func(s *Summary, r result) error {
		rate := r.number("request_throughput.avg")
		s.Completed, s.Reached = r.count("request_count.avg"), rate*r.number("request_latency.avg")/1000
		s.TTFT, s.TPOT = r.number("time_to_first_token.avg"), r.number("inter_token_latency.avg")
		if s.Completed == 0 && rate > 0 { // versions before 0.0.9 do not count
			s.Completed = 1
		}
		return nil
	}),
}

// sglang is SGLang's load client, sglang.bench_serving. It has no program of its own: a Python that has sglang runs the
// module. Its file gets one line a run, appended.
var sglang = Adapter{
	Name: "sglang", Program: "python3", Module: "sglang", Tokens: true,
	Read: reads("result.jsonl", "sglang.bench_serving wrote no result.jsonl", func(s *Summary, r result) error {
		s.Completed = r.count("completed")
		s.Failed = max(0, r.count("num_prompts")-s.Completed)
		s.TTFT, s.TPOT, s.Reached = r.number("mean_ttft_ms"), r.number("mean_tpot_ms"), r.number("concurrency")
		return nil
	}),
}

// LogName is the file that a tool's output goes to, below the folder of its result.
const LogName = "tool.log"

// vllmThroughput is "vllm bench throughput", or the script that preceded it: many requests at once to an engine of
// its own.
var vllmThroughput = Adapter{
	Name: "throughput", Program: "vllm", Engine: "vllm", Version: []string{"--version"}, Offline: true,
	Read: reads("result.json", "vllm bench throughput wrote no result.json", func(s *Summary, r result) error {
		if r.number("elapsed_time") > 0 {
			s.Completed = r.count("num_requests")
		}
		return nil
	}),
}

// vllmLatency is "vllm bench latency", or the script that preceded it: one batch, repeated.
var vllmLatency = Adapter{
	Name: "latency", Program: "vllm", Engine: "vllm", Version: []string{"--version"}, Offline: true,
	Read: reads("result.json", "vllm bench latency wrote no result.json", func(s *Summary, r result) error {
		if s.Completed = r.Get("latencies").Len(); s.Completed == 0 {
			return fmt.Errorf("%s holds no latency", s.File)
		}
		return nil
	}),
}

// trtllmScript is TensorRT-LLM's benchmarks/python/benchmark.py; its path must be configured. It runs once for all
// batches and lengths, because it builds an engine first, and prints its results: the log is the result file. mpirun
// starts several ranks.
var trtllmScript = Adapter{
	Name: "trtllm", Program: "benchmark.py", Engine: "tensorrt-llm", Offline: true, Once: true, Matrix: true,
	Read: func(out string) (Summary, error) {
		s := Summary{File: LogName}
		f, err := os.Open(filepath.Join(out, LogName))
		if err != nil {
			return s, fmt.Errorf("benchmark.py printed nothing")
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			switch text := lines.Text(); {
			case strings.Contains(text, "[BENCHMARK] "):
				s.Completed++
			case strings.Contains(text, "skipping"):
				s.Failed++
			}
			if _, v, ok := strings.Cut(lines.Text(), "TensorRT-LLM version: "); ok {
				s.Version = strings.TrimSpace(v)
			}
		}
		if s.Completed == 0 {
			return s, fmt.Errorf("benchmark.py printed no line with [BENCHMARK]")
		}
		return s, nil
	},
}

// trtllmBench is trtllm-bench, which runs once a workload. Its requests are in the form of prepare_dataset.py: one
// object a line with random token ids.
var trtllmBench = Adapter{
	Name: "trtllm-bench", Program: "trtllm-bench", Engine: "tensorrt-llm", Offline: true,
	Version: []string{"--version"}, Help: []string{"throughput", "--help"},
	Prepare: func(j Job, out string) error {
		f, err := os.Create(filepath.Join(out, "dataset.jsonl"))
		if err != nil {
			return fmt.Errorf("dataset: %w", err)
		}
		defer f.Close()
		rnd := rand.New(rand.NewPCG(j.Seed, 1))
		enc := json.NewEncoder(f)
		for i := range j.Requests {
			ids := make([]int, j.ISL)
			for k := range ids {
				ids[k] = 100 + rnd.IntN(20_000) // above the special tokens, and within the vocabulary of all these models
			}
			if err := enc.Encode(map[string]any{"task_id": i, "input_ids": ids, "output_tokens": j.OSL}); err != nil {
				return fmt.Errorf("dataset: %w", err)
			}
		}
		return f.Close()
	},
	Read: reads("report.json", "trtllm-bench wrote no report.json", func(s *Summary, r result) error {
		s.Completed, s.Reached = r.count("request_info.num_requests"), r.number("request_info.avg_num_concurrent_requests")
		s.TTFT, s.TPOT = r.number("streaming_metrics.avg_ttft_ms"), r.number("streaming_metrics.avg_tpot_ms")
		s.Version = r.Path("engine.version").Str()
		return nil
	}),
}

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
	return reads(glob, name+" wrote no results: no file matches "+glob, func(s *Summary, r result) error {
		if r.Get("results").Len() == 0 {
			return fmt.Errorf("%s holds no result", s.File)
		}
		s.Version = cmp.Or(r.Get("lm_eval_version").Str(), r.Get("lmms_eval_version").Str())
		for _, task := range r.Get("n-samples").Members() {
			s.Completed += result{task.Val}.count("effective")
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
	Read: reads("*.json", "inspect wrote no log", func(s *Summary, r result) error {
		if status := r.Get("status").Str(); status != "success" || !r.Has("results") {
			return fmt.Errorf("inspect reports %q: %.200s", status, r.Path("error.message").Str())
		}
		s.Version, s.Completed = r.Path("eval.packages.inspect_ai").Str(), r.count("results.completed_samples")
		s.Failed = r.count("results.total_samples") - s.Completed
		return nil
	}),
}
