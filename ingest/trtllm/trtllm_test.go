package trtllm_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/trtllm"
)

var reader = Reader{Detect: trtllm.Reader.Detect, Read: trtllm.Reader.Read}

const (
	lines = `some MPI noise
[TensorRT-LLM] TensorRT-LLM version: 0.17.0
[1,0]<stdout>: [BENCHMARK] model_name llama_7b world_size 2 num_heads 32 precision float16 batch_size 8 ` +
		`gpu_weights_percent 1.0 input_length 60 output_length 20 gpu_peak_mem(gb) 0.0 build_time(s) None tokens_per_sec ` +
		`1478.55 percentile95(ms) 108.641 percentile99(ms) 109.546 latency(ms) 108.214 compute_cap sm90 quantization ` +
		`QuantMode.FP8_QDQ|FP8_KV_CACHE generation_time(ms) 95.0 total_generated_tokens 152.0 ` +
		`generation_tokens_per_second 1547.951
[WARNING] check inlen(60) <= max_inlen(10) failed, skipping.
[BENCHMARK] engine_dir /data/engines/qwen world_size 1 batch_size 1 input_length 32 output_length 1 tokens_per_sec ` +
		`n/a percentile95(ms) 11.6 percentile99(ms) 12.5 latency(ms) 9.8 generation_time(ms) 0.0
`
	table = "model_name,world_size,batch_size,input_length,output_length,tokens_per_sec,latency(ms)\r\nm,1,1,60,20," +
		"100.5,200.0\r\nmodel_name,world_size,batch_size,input_length,output_length,tokens_per_sec,latency(ms)\r\nm,1,8,60," +
		"20,700.5,220.0\r\n"
	cpp    = "[BENCHMARK] batch_size 1 input_length 20 output_length 20 latency(ms) 432.51\n"
	gptman = "[BENCHMARK] num_samples 10\n[BENCHMARK] num_error_samples 1\n\n[BENCHMARK] num_samples 10\n[BENCHMARK] " +
		"total_latency(ms) 5000.0\n[BENCHMARK] seq_throughput(seq/sec) 2.0\n[BENCHMARK] token_throughput(token/sec) " +
		"400.0\n[BENCHMARK] avg_sequence_latency(ms) 900.0\n[BENCHMARK] p99_sequence_latency(ms) 1200.0\n[BENCHMARK] " +
		"p50_sequence_latency(ms) 880.0\n"
	report = `{"engine":{"model":"acme/big","version":"1.0.0","backend":"Pytorch","dtype":"bfloat16",` +
		`"quantization":"FP8"},"world_info":{"tp_size":8,"pp_size":1,"world_size":8,"max_batch_size":64,` +
		`"issue_rate":Infinity},"request_info":{"num_requests":100,"avg_num_concurrent_requests":31.2,` +
		`"avg_input_length":128.0,"avg_output_length":256.0},
 "performance":{"total_latency_ms":20000.0,"avg_request_latency_ms":900.0,"request_throughput_req_s":5.0,` +
		`"system_output_throughput_tok_s":1280.0,"output_throughput_per_user_tok_s":284.0,` +
		`"request_latency_percentiles_ms":{"p50":880.0,"p99":1200.0,"minimum":700.0,"maximum":1300.0,"average":900.0}},
 "streaming_metrics":{"avg_ttft_ms":45.0,"avg_tpot_ms":3.3,"ttft_percentiles":{"p50":44.0,"p99":90.0},` +
		`"tpot_percentiles":{"p99":NaN}},"energy":{"total_energy_j":1e5},
 "dataset":{"isl_stats":{"minimum":128,"maximum":128},"osl_stats":{"minimum":200,"maximum":300}}}`
)

func TestLines(t *testing.T) {
	r := reader.Must(t, "bench.log", lines)
	if len(r.Points) != 1 || len(r.More) != 1 || r.Facts.Model.ID != "llama_7b" || r.More[0].Facts.Model.ID != "qwen" ||
		r.Facts.Stack.Version != "0.17.0" || r.Facts.Device.Chips != 2 {
		t.Fatalf("%+v %+v", r.Facts, r.More)
	}
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"e2el.mean": 108.214, "e2el.p95": 108.641, "e2el.p99": 109.546, "output_tps.value": 1478.55, "tpot.mean": 5,
	})
	if Metric(p, "e2el").Kind().Def != schema.DefBatch || Metric(p, "tpot").Kind().From != "derived" ||
		*p.Key.Concurrency != 8 ||
		p.Key.Dims["tp"] != "2" || len(Metric(p, "tps_user").Stats) > 0 {
		t.Errorf("%s %+v", p.Key, p.Metrics)
	}
	q := r.More[0].Points[0]
	if _, has := q.Metric("output_tps"); has || len(Metric(q, "tpot").Stats) > 0 {
		t.Errorf("n/a and one token became numbers: %+v", q.Metrics)
	}
	if _, has := p.Extra["gpu_peak_mem(gb)"]; has || Codes(r) != "point-not-run" {
		t.Errorf("%v %v", p.Extra, r.Problems)
	}
}

func TestTableRepeatsItsHeader(t *testing.T) {
	r := reader.Must(t, "m_float16.csv", table)
	if len(r.Points) != 2 {
		t.Fatalf("%d points", len(r.Points))
	}
	Expect(t, r.Points[1], map[string]float64{"e2el.mean": 220, "output_tps.value": 700.5})
}

func TestPrograms(t *testing.T) {
	Expect(t, reader.Must(t, "a.txt", cpp).Points[0], map[string]float64{"e2el.mean": 432.51})
	r := reader.Must(t, "b.txt", gptman)
	if len(r.Points) != 1 {
		t.Fatalf("%d points: a record spans lines and says num_samples twice", len(r.Points))
	}
	Expect(t, r.Points[0], map[string]float64{
		"e2el.mean": 900, "e2el.p99": 1200, "e2el.median": 880, "requests_ok.value": 9, "requests_failed.value": 1,
		"duration_s.value": 5, "output_tps.value": 400, "rps.value": 2,
	})
	if two := reader.Must(t, "c.txt", gptman+gptman); len(two.Points) != 2 {
		t.Errorf("two runs in one log are %d points", len(two.Points))
	}
}

func TestReport(t *testing.T) {
	r := reader.Must(t, "report.json", report)
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.mean": 45, "ttft.p99": 90, "tpot.mean": 3.3, "e2el.mean": 900, "e2el.max": 1300, "rps.value": 5,
		"tps_user.mean": 284, "duration_s.value": 20, "osl.mean": 256,
	})
	if Metric(p, "tps_user").Kind().Def != schema.DefOutOverE2EL || *p.Key.ISL != 128 || p.Key.OSL != nil ||
		p.Key.Rate != nil ||
		p.Key.Dims["tp"] != "8" || p.Client["concurrency_reached"] != "31.2" || r.Facts.Model.Precision != "FP8" {
		t.Errorf("%s %+v %+v", p.Key, p.Client, r.Facts)
	}
}

func TestNotOurs(t *testing.T) {
	for _, text := range []string{
		"BENCHMARK of something", `{"performance":{},"request_info":{}}`, "model_name,other\n1,2",
	} {
		if m := trtllm.Reader.Detect(File("x.log", text)); m.OK() {
			t.Errorf("%q: %+v", text, m)
		}
	}
	if m := trtllm.Reader.Detect(File("x.log", strings.Repeat("log line\n", 1000)+cpp)); !m.OK() {
		t.Error("a line deep in a log was not found")
	}
}

func FuzzRead(f *testing.F) { reader.Fuzz(f, "b.log", lines, table, cpp, gptman, report) }

// gptManagerBenchmark in streaming mode is one measurement, though one of its names has a blank.
func TestManagerInStreamingMode(t *testing.T) {
	r := reader.Must(t, "b.log",
		"[BENCHMARK] num_samples 100\n[BENCHMARK] num_error_samples 0\n\n[BENCHMARK] num_samples 100\n[BENCHMARK] "+
			"total_latency(ms) 5012.33\n[BENCHMARK] token_throughput(token/sec) 2553.60\n"+
			"[BENCHMARK] avg_acceptance_rate(tokens/decoding steps) 1.25\n\n[BENCHMARK] avg_sequence_latency(ms) "+
			"2500.12\n[BENCHMARK] p50_sequence_latency(ms) 2600.0\n\n[BENCHMARK] avg_time_to_first_token(ms) "+
			"50.5\n[BENCHMARK] avg_inter_token_latency(ms) 12.5\n")
	if len(r.Points) != 1 {
		t.Fatalf("%d points", len(r.Points))
	}
	Expect(t, r.Points[0], map[string]float64{
		"requests_ok.value": 100, "output_tps.value": 2553.6, "e2el.mean": 2500.12, "e2el.median": 2600, "ttft.mean": 50.5,
		"itl.mean": 12.5,
	})
	if string(r.Points[0].Extra["avg_acceptance_rate(tokens/decoding steps)"]) != `"1.25"` {
		t.Errorf("%v", r.Points[0].Extra)
	}
}

// Every process of a run on several ranks may print its own line; they are one measurement. Without the launcher's
// marks, lines that differ are repeats.
func TestSeveralRanks(t *testing.T) {
	line := func(mark, latency string) string {
		return mark + "[BENCHMARK] model_name m world_size 2 batch_size 1 input_length 60 output_length 20 latency(ms) " +
			latency + "\n"
	}
	for text, want := range map[string]int{
		line("[1,0]<stdout>:", "328.1") + line("[1,1]<stdout>:",
			"328.4"): 1,
		line("[1,1]<stdout>:", "328.4") + line("[1,0]<stdout>:",
			"328.1"): 1,
		line("", "328.1") + line("",
			"328.1"): 1,
		line("", "328.1") + line("",
			"330.5"): 2,
		line("[1,0]<stdout>:", "328.1") + line("[1,0]<stdout>:", "330.5") + line("[1,1]<stdout>:",
			"328.4"): 2,
		line("[1,0]<stdout>:", "328.1") + strings.ReplaceAll(line("[1,1]<stdout>:", "9.5"), "batch_size 1",
			"batch_size 8"): 2,
	} {
		if r := reader.Must(t, "b.log", text); len(r.Points) != want {
			t.Errorf("%d points instead of %d of\n%s", len(r.Points), want, text)
		}
	}
}
