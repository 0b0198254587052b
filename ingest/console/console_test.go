package console_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/console"
	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var reader = Reader{Detect: console.Reader.Detect, Read: console.Reader.Read}

const vllm = `INFO 05-04 14:43:16 starting
Namespace(subparser='bench', func=<function a, b at 0x7f>, num_prompts=32, dataset_name='random', seed=7, ` +
	`random_input_len=128, random_output_len=64, random_range_ratio='0.0', max_concurrency=8, model='acme/x', ` +
	`limit={'image': 255, (1, 2): 0.5}, request_rate=inf, backend='openai', ignore_eos=True, temperature=None)
Traffic request rate: inf
Maximum request concurrency: 8
100%|####| 32/32 [00:05<00:00]
============ Serving Benchmark Result ============
Successful requests:                     30
Failed requests:                         2
Benchmark duration (s):                  5.39
Total input tokens:                      3840
Total generated tokens:                  1920
Request throughput (req/s):              5.57
Output token throughput (tok/s):         356.22
Total Token throughput (tok/s):          1068.66
---------------Time to First Token----------------
Mean TTFT (ms):                          66.03
P50 TTFT (ms):                           60.54
P99 TTFT (ms):                           95.67
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          9.99
==================================================
`

const sglang = `# ============ Serving Benchmark Result ============
# Backend:                                 sglang
# Traffic request rate:                    4.0
# Max request concurrency:                 not set
# Successful requests:                     16
# Benchmark duration (s):                  1.64
# Total input tokens:                      2048
# Total generated tokens:                  512
# Output token throughput (tok/s):         311.28
# Mean E2E Latency (ms):                   398.84
# Mean TTFT (ms):                          65.42
# Max ITL (ms):                            102.30
`

const trtllm = `===========================================================
= PYTORCH BACKEND
===========================================================
Model:                  meta-llama/Llama-3.1-8B
Model Path:             /m/llama
TensorRT LLM Version:   1.0.0
TP Size:                2
Concurrency:            16
===========================================================
= PERFORMANCE OVERVIEW
===========================================================
Request Throughput (req/sec):                     43.2089
Total Output Throughput (tokens/sec):             5530.7382
Total Token Throughput (tokens/sec):              94022.5497
Total Latency (ms):                               115716.9214
Average request latency (ms):                     75903.4456
Average time-to-first-token [TTFT] (ms):          52667.0339
Average time-per-output-token [TPOT] (ms):        182.9639

[TPOT] MINIMUM: 32.8005
[TPOT] MAXIMUM: 208.4667
[TPOT] AVERAGE: 182.9639
[TPOT] P50    : 204.0463
[TPOT] P99    : 206.5821
`

func TestServing(t *testing.T) {
	r := reader.Must(t, "x.log", vllm+vllm+sglang)
	if len(r.Points) != 3 || r.Facts.Model.ID != "acme/x" {
		t.Fatalf("%d points, %+v", len(r.Points), r.Facts)
	}
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.mean": 66.03, "ttft.median": 60.54, "ttft.p99": 95.67, "tpot.mean": 9.99, "rps.value": 5.57,
		"output_tps.value": 356.22, "total_tps.value": 1068.66, "isl.mean": 128, "osl.mean": 64, "requests_failed.value": 2,
	})
	if *p.Key.ISL != 128 || *p.Key.OSL != 64 || *p.Key.Concurrency != 8 || p.Key.Rate != nil || p.Key.Tool != "vllm" ||
		p.Status != schema.StatusPartial || p.Conditions["ignore_eos"] != "True" || p.Conditions["num_prompts"] != "32" {
		t.Errorf("%s %v", p.Key, p.Conditions)
	}
	q := r.Points[2]
	Expect(t, q, map[string]float64{"e2el.mean": 398.84, "ttft.mean": 65.42, "itl.max": 102.3})
	if q.Key.Tool != "sglang" || *q.Key.Rate != 4 || q.Key.Concurrency != nil || q.Status != schema.StatusPartial ||
		Metric(q, "ttft").Kind().Def != schema.DefFirstContent || !strings.Contains(Codes(r), "truncated") ||
		q.Key.ISL != nil {
		t.Errorf("%s %s %v", q.Key, q.Status, r.Problems)
	}
}

func TestTRTLLM(t *testing.T) {
	r := reader.Must(t, "x.log", trtllm+trtllm)
	if len(r.Points) != 2 || r.Facts.Model.ID != "meta-llama/Llama-3.1-8B" || r.Facts.Stack.Version != "1.0.0" {
		t.Fatalf("%d points, %+v", len(r.Points), r.Facts)
	}
	p := r.Points[1]
	Expect(t, p, map[string]float64{
		"rps.value": 43.2089, "output_tps.value": 5530.7382, "total_tps.value": 94022.5497, "duration_s.value": 115.7169214,
		"ttft.mean": 52667.0339, "tpot.mean": 182.9639, "tpot.median": 204.0463, "tpot.p99": 206.5821,
		"tpot.min": 32.8005, "e2el.mean": 75903.4456,
	})
	if p.Key.Dims["tp"] != "2" || *p.Key.Concurrency != 16 {
		t.Error(p.Key)
	}
}

func TestOtherTexts(t *testing.T) {
	for _, text := range []string{"Successful requests: 3\n", "=== PERFORMANCE OVERVIEW ===\nTotal Chats: 3\n"} {
		if m := reader.Detect(File("x.log", text)); m.OK() {
			t.Errorf("%q is %+v", text, m)
		}
	}
}

// A log of two models is of two models, and of two versions of the engine too.
func TestTRTLLMOfSeveralModels(t *testing.T) {
	for _, other := range []string{"Model:", "TensorRT LLM Version:"} {
		at := strings.Index(trtllm, other)
		end := at + strings.IndexByte(trtllm[at:], '\n')
		r := reader.Must(t, "x.log", trtllm+trtllm[:at]+other+" another"+trtllm[end:])
		if len(r.Points) != 1 || len(r.More) != 1 || len(r.More[0].Points) != 1 ||
			r.Detail != "output of trtllm-bench, 2 reports" {
			t.Fatalf("%s %+v, %+v", r.Detail, r.Points, r.More)
		}
		a, b := r.Facts, r.More[0].Facts
		if a.Model.ID == b.Model.ID && a.Stack.Version == b.Stack.Version {
			t.Errorf("%s: %+v, %+v", other, a, b)
		}
	}
}

func FuzzRead(f *testing.F) { reader.Fuzz(f, "x.log", vllm, sglang, trtllm, before1, died) }

const died = `[TensorRT-LLM] TensorRT-LLM version: 0.16.0
[07/11/2025-09:05:57] [TRT-LLM] [I] Preparing to run throughput benchmark...
`

const before1 = died + `[07/11/2025-09:06:29] [TRT-LLM] [I] Benchmark started.
= ENGINE DETAILS
Model:			acme/big
TensorRT-LLM Version:	0.16.0
Dtype:			bfloat16
Quantization:		FP8
Issue Rate (req/sec):	8.2110E+13
= PERFORMANCE OVERVIEW 
Number of requests:		1500
Average Input Length (tokens):	2048.0000
Average Output Length (tokens):	1023.5000
Token Throughput (tokens/sec):	7338.2404
Request Throughput (req/sec):	7.1663
Total Latency (ms):		209314.4823
[07/11/2025-09:09:58] [TRT-LLM] [I] Benchmark Shutdown called!
`

// The log around a report states when it was measured, the month first; the report of versions before 1.0 its version
// under another label.
func TestTRTLLMLog(t *testing.T) {
	r := reader.Must(t, "result_2048_1024_1500.txt", before1)
	p := r.Points[0]
	Expect(t, p, map[string]float64{"requests_ok.value": 1500, "isl.mean": 2048, "output_tps.value": 7338.2404})
	if r.Facts.Stack.Version != "0.16.0" || r.Facts.Model.Precision != "FP8" || p.Key.Rate != nil ||
		*p.Key.ISL != 2048 || p.Key.OSL != nil || p.Conditions["num_prompts"] != "1500" {
		t.Errorf("%s %+v %v", p.Key, r.Facts, p.Conditions)
	}
	const layout = "2006-01-02 15:04:05"
	if got := p.Start.Format(layout) + " " + p.End.Format(layout); got != "2025-07-11 09:05:57 2025-07-11 09:09:58" ||
		!strings.Contains(r.Facts.StartNote, "month/day/year") {
		t.Errorf("%s, %s", got, r.Facts.StartNote)
	}
	if two := reader.Must(t, "x.log", before1+strings.ReplaceAll(before1, "07/11", "07/12")); len(two.Points) != 2 ||
		two.Points[1].Start.Day() != 12 || two.Points[0].End.Day() != 11 {
		t.Errorf("%+v", two.Points)
	}
}

// A log that ends before its report is a benchmark that failed, and no text.
func TestTRTLLMDied(t *testing.T) {
	r := reader.Must(t, "x.txt", died)
	if len(r.Points) != 0 || Codes(r) != "benchmark-failed" {
		t.Errorf("%d points, %s", len(r.Points), Codes(r))
	}
	for _, text := range []string{died + before1, before1 + died} { // in a log with the report of another
		r := reader.Must(t, "x.txt", text)
		if len(r.Points) != 1 || Codes(r) != "benchmark-failed" || r.Problems[0].Severity != schema.SevWarning {
			t.Errorf("%d points, %+v", len(r.Points), r.Problems)
		}
	}
	if r := reader.Must(t, "x.txt", before1+before1); len(r.Points) != 2 || Codes(r) != "" {
		t.Errorf("%d points, %s", len(r.Points), Codes(r))
	}
}

// A block of a document that has a mark in place of each number is no result.
func TestServingOfADocument(t *testing.T) {
	const block = "============ Serving Benchmark Result ============\nSuccessful requests:     320\n" +
		"Benchmark duration (s):  xxx\nMean TTFT (ms):          xx\n=======\n"
	r := reader.Must(t, "README.md", block+vllm)
	if len(r.Points) != 1 || Codes(r) != "no-number partly-failed" {
		t.Errorf("%d points, %v", len(r.Points), r.Problems)
	}
}

// What a log measured of another model is another run; lengths that are given for any dataset win.
func TestModelsOfALog(t *testing.T) {
	other := strings.NewReplacer("acme/x", "acme/x2", "random_output_len=64", "random_output_len=64, input_len=20000, "+
		"output_len=5000").Replace(vllm)
	r := reader.Must(t, "x.log", vllm+other+vllm)
	if len(r.Points) != 2 || len(r.More) != 1 || len(r.More[0].Points) != 1 || r.Facts.Model.ID != "acme/x" ||
		r.More[0].Facts.Model.ID != "acme/x2" || r.Detail != "output of 3 load tests" {
		t.Fatalf("%d points, %d more, %+v", len(r.Points), len(r.More), r.Facts)
	}
	if a, b := r.Points[1].Key, r.More[0].Points[0].Key; *a.ISL != 128 || *b.ISL != 20000 || *b.OSL != 5000 {
		t.Error(a, b)
	}
}

// A load test that printed its arguments and no result died: its workload is a point without a number. sglang prints
// its arguments twice.
func TestServingDied(t *testing.T) {
	args := func(isl int) string {
		return fmt.Sprintf("Namespace(backend='vllm', dataset_name='random', max_concurrency=4, model='acme/x', "+
			"num_prompts=10, random_input_len=%d, random_output_len=64, request_rate=inf)\n", isl)
	}
	result := vllm[strings.Index(vllm, "===="):]
	for name, c := range map[string]struct {
		text   string
		failed []float64 // ISL of each
		points int
	}{
		"at its end":   {args(128) + "Starting\nValueError: no server\n", []float64{128}, 1},
		"of several":   {args(128) + result + args(256) + "killed\n", []float64{256}, 2},
		"of a sweep":   {args(128) + "Traceback\n" + args(256) + result, []float64{128}, 2},
		"printed more": {"benchmark_args=" + args(128) + args(128) + result, nil, 1},
		"tried again":  {args(128) + "Traceback\n" + args(128) + result, nil, 1},
	} {
		r := reader.Must(t, "x.log", c.text)
		var failed []float64
		for _, p := range r.Points {
			if p.Status == schema.StatusFailed {
				failed = append(failed, *p.Key.ISL)
			}
		}
		if len(r.Points) != c.points || !slices.Equal(failed, c.failed) {
			t.Errorf("%s: %d points, ISL %v failed, %v", name, len(r.Points), failed, r.Problems)
		}
		if told := strings.Count(Codes(r), "benchmark-failed"); told != len(failed) {
			t.Errorf("%s: told %d times", name, told)
		}
	}
}

// What a fork prints in a block is read or kept: its latency of whole requests is in seconds.
func TestLinesOfForks(t *testing.T) {
	r := reader.Must(t, "x.log", "Loaded adapters: 3\n============ Serving Benchmark Result ============\n"+
		"Successful requests: 8\nBenchmark duration (s): 2.00\nMean Latency(s): 5.32\nP95 Latency(s): 13.39\n"+
		"Mean TTFT (ms): 68.48\nKV cache hits (%): 12.5\n==================================\n")
	p := r.Points[0]
	mean, _ := p.Value("e2el", "mean")
	p95, _ := p.Value("e2el", "p95")
	if mean != 5320 || p95 != 13390 || len(p.Extra) != 1 || string(p.Extra["kv cache hits (%)"]) != "12.5" {
		t.Errorf("E2EL %v, P95 %v, %v", mean, p95, p.Extra)
	}
}
