package ttis_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/ttis"
)

func file(name, text string) *decode.File {
	f := decode.NewFile(name, []byte(text), time.Time{}, decode.DefaultLimits())
	return &f
}

const spec = `{"runtime_model_spec":{"model_id":"id_impl-x_Tiny-1B_n150","impl":{"impl_name":"impl-x"},` +
	`"hf_model_repo":"acme/Tiny-1B","model_name":"Tiny-1B","inference_engine":"vLLM","device_type":"N150",
"status":"COMPLETE","version":"0.9.0","tt_metal_commit":"abc","vllm_commit":"def","docker_image":"ghcr.io/x:0.9.0",` +
	`"device_model_spec":{"perf_reference":[{"isl":128,"osl":128,"max_concurrency":1,"task_type":"text",
"targets":{"functional":{"ttft_ms":890.0,"tput_user":2.1,"tput":null,"tolerance":0.05},"target":{"ttft_ms":89.0}}},` +
	`{"isl":1,"osl":1,"max_concurrency":1,"targets":{"theoretical":{"tput":100,"odd_metric":5,"ttft_ms":-1}}}]}},` +
	`"runtime_config":{"run_id":null}}`

func TestRuntimeSpec(t *testing.T) {
	f := file("w/runtime_model_specs/runtime_model_spec_2026-06-20_10-00-00_id_impl-x_Tiny-1B_n150_abc.json", spec)
	if m := ttis.Reader.Detect(f); !m.OK() || m.Format != ttis.Spec {
		t.Fatalf("%+v", m)
	}
	r := ttis.Reader.Read(f)
	x := r.Facts
	if x.Model.ID != "acme/Tiny-1B" || x.Model.Status != "COMPLETE" || x.Device.Name != "n150" ||
		x.Stack.Engine != "vllm" || x.Stack.Commits["tt_metal"] != "abc" || x.Release != "0.9.0" ||
		x.RunID != "2026-06-20_10-00-00_id_impl-x_Tiny-1B_n150_abc" ||
		x.Start.Format(time.RFC3339) != "2026-06-20T10:00:00Z" {
		t.Errorf("%+v", x)
	}
	byLevel := map[string]schema.Target{}
	for _, t := range r.Targets {
		byLevel[t.Metric+"/"+t.Level] = t
	}
	if f := byLevel["ttft/functional"]; f.Value != 890 || f.Tolerance != .05 || *f.Key.ISL != 128 ||
		f.AsOf != "2026-06-20" || f.SHA256 == "" {
		t.Errorf("%+v", f)
	}
	// theoretical expands to three levels; a rate is multiplied.
	if byLevel["output_tps/functional"].Value != 10 || byLevel["output_tps/complete"].Value != 50 ||
		byLevel["output_tps/target"].Value != 100 || byLevel["odd_metric/target"].Value != 5 {
		t.Errorf("%+v", byLevel)
	}
	if len(r.Problems) != 1 || r.Problems[0].Code != "bad-target" {
		t.Errorf("%v", r.Problems)
	}
}

func TestHarmonised(t *testing.T) {
	text := `{"date":"20251210-160152","backend":"aiperf","model_id":"acme/tiny","num_prompts":256,` +
		`"max_concurrency":32,"mean_ttft_ms":2396.53,"median_ttft_ms":2580.12,"p99_ttft_ms":2729.42,"std_ttft_ms":614.01,` +
		`"mean_tpot_ms":40,
"mean_itl_ms":40,"mean_e2el_ms":0,"median_e2el_ms":0,"output_token_throughput":502.62,"request_throughput":3.96,` +
		`"completed":256,"total_input_tokens":32768,"total_output_tokens":32486}`
	f := file("aiperf_benchmark_x.json", text)
	if m := ttis.Reader.Detect(f); !m.OK() || m.Format != ttis.Harmonised {
		t.Fatalf("%+v", m)
	}
	p := ttis.Reader.Read(f).Points[0]
	if v, _ := p.Value("output_tps", "value"); v != 502.62 || p.Key.Tool != "aiperf" ||
		*p.Key.Concurrency != 32 {
		t.Errorf("%v %s", v, p.Key)
	}
	if m := drafttest.Metric(p, "e2el"); len(m.Stats) > 0 || m.Kind().Why == "" {
		t.Errorf("a zero passes for a latency: %+v", m)
	}
	if _, has := p.Metric("itl"); has {
		t.Error("the copy of TPOT passes for an ITL")
	}
	if v, _ := p.Value("tps_user", "value"); v != 25 {
		t.Errorf("tps_user %v", v)
	}
}

func TestNames(t *testing.T) {
	n, ok := ttis.NameFacts("w/benchmarks_output/" +
		"benchmark_id_tt-transformers_Llama-3.1-8B-Instruct_n150_2026-06-20_10-03-00_isl-128_osl-1024_maxcon-32_n-128.json")
	if !ok || n.ModelID != "id_tt-transformers_Llama-3.1-8B-Instruct_n150" || n.Facts.Impl != "tt-transformers" ||
		n.Facts.Model.Name != "Llama-3.1-8B-Instruct" || n.Facts.Device.Name != "n150" ||
		*n.Workload.ISL != 128 || *n.Workload.OSL != 1024 || *n.Workload.Concurrency != 32 ||
		n.Conditions["num_prompts"] != "128" || n.Workload.Dims != nil {
		t.Errorf("%v %+v", ok, n)
	}
	n, _ = ttis.NameFacts("benchmark_id_a_M_n150_2026-06-20_10-03-00_isl-128_osl-128_maxcon-1_n-8_" +
		"images-1_height-512_width-512.json")
	if n.Workload.Task != "vlm" || n.Workload.Dims["height"] != "512" {
		t.Errorf("%+v", n.Workload)
	}
	n, _ = ttis.NameFacts("benchmark_structured_id_a_M_n150_2026-06-20_10-48-00_" +
		"dataset-json_so-1.0_osl-128_maxcon-4_n-100.json")
	if n.Workload.Dims["structured"] != "1.0" || n.Workload.Dataset != "json" {
		t.Errorf("%+v", n.Workload)
	}
	if _, ok := ttis.NameFacts("results/qps_4_concurrency_8.json"); ok {
		t.Error("a foreign name was read as tt-inference-server's")
	}
}

var reader = drafttest.Reader{Detect: ttis.Reader.Detect, Read: ttis.Reader.Read}

const report = `{"metadata":{"report_id":"x","model_name":"acme/M","device":"N150",` +
	`"generated_at":"2026-06-20T10:00:00+00:00","tt_metal_commit":"25305db"},"sections":[
 {"kind":"benchmarks","data":{"concurrency":1,"num_requests":8,"input_sequence_length":128,` +
	`"output_sequence_length":128.0,"mean_ttft_ms":130.5,"p50_ttft":128.7,"mean_tpot_ms":45.5,` +
	`"tps_output_throughput":21.6,"request_throughput":0.169,"error_request_count":null},"targets":{"tool":"vllm",` +
	`"timestamp":"2026-06-20 10:03:00"}},
 {"kind":"evals","data":{"task_name":"meta_ifeval","score":78.1}}],"acceptance_criteria":false}`

// The data of a report, for those who have nothing else; both generations.
// Before there were ids, names had model and device alone.
func TestNamesOf2025(t *testing.T) {
	const shape = "_2025-04-01_10-00-00_isl-128_osl-64_maxcon-1_n-8.json"
	for name, want := range map[string]string{
		"w/benchmarks_output/benchmark_Llama-3.1-8B-Instruct_n150" + shape:       "Llama-3.1-8B-Instruct n150",
		"w/evals_output/eval_Qwen2.5-72B_t3k/x/results_2025-04-01T10-00-00.json": "Qwen2.5-72B t3k",
		"w/eval_Qwen2.5-72B_T3K/results.json":                                    "Qwen2.5-72B t3k",
		"w/eval_results/x.json":                                                  " ",
	} {
		n, _ := ttis.NameFacts(name)
		if got := n.Facts.Model.Name + " " + n.Facts.Device.Name; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Rows of September 2026 have more percentiles, a share of requests that met their service level, and tokens that come
// in blocks, of which none has a time of its own.
func TestRowsOfSeptember(t *testing.T) {
	const row = `{"kind":"benchmarks","data":{"records":[{"tool":"vllm","concurrency":4,"num_requests":8,` +
		`"input_sequence_length":128,"output_sequence_length":128.0,"mean_ttft_ms":130.5,"std_ttft_ms":4,"p50_ttft":128.7,` +
		`"p90_ttft":140,"p99_ttft":150,"mean_tpot_ms":45.5,"std_tpot_ms":1,"mean_itl_ms":45.4,"mean_e2el_ms":6000,` +
		`"tps_input_throughput":85,"tps_output_throughput":80,"tps_total_throughput":165,"request_throughput":0.5,` +
		`"goodput_pct":75`
	text := `{"metadata":{"report_id":"x","model_name":"acme/M","device":"N150"},"sections":[` + row + `}]}},` +
		row + `,"metric_semantics":"block_granular","output_block_size":256}]}}]}`
	r := reader.Must(t, "report_data_x.json", text)
	if len(r.Points) != 2 {
		t.Fatalf("%d points, %v", len(r.Points), r.Problems)
	}
	drafttest.Expect(t, r.Points[0], map[string]float64{
		"ttft.mean": 130.5, "ttft.std": 4, "ttft.median": 128.7, "ttft.p90": 140, "ttft.p99": 150, "tpot.mean": 45.5,
		"tpot.std": 1, "itl.mean": 45.4, "e2el.mean": 6000, "output_tps.value": 80, "total_tps.value": 165,
		"input_tps.value": 85, "goodput_rps.value": .375,
	})
	b := r.Points[1]
	if len(drafttest.Metric(b, "tpot").Stats)+len(drafttest.Metric(b, "itl").Stats) > 0 ||
		b.Conditions["output_block_size"] != "256" {
		t.Errorf("%+v %v", drafttest.Metric(b, "tpot"), b.Conditions)
	}
}

// A score has one name and one scale, whichever file states it: that of the harness.
func TestHeadlineScores(t *testing.T) {
	r := reader.Must(t, "report_data_x.json", `{"metadata":{},"benchmarks_summary":[],"evals":[`+
		`{"task_name":"longbench_code_e","score":46.68},{"task_name":"meta_gpqa_cot","score":27.49},`+
		`{"task_name":"librispeech_test_other","score":96.5}]}`)
	got := ""
	for _, s := range r.Scores {
		x, _ := s.Value.Get()
		got += fmt.Sprintf("%s %s,%s %g; ", s.Task, s.Metric, s.Filter, x)
	}
	if got != "longbench_code_e score,none 0.4668; meta_gpqa_cot exact_match,strict-match 0.2749; "+
		"librispeech_test_other wer,none 3.5; " {
		t.Error(got)
	}
}

func TestReportData(t *testing.T) {
	r := reader.Must(t, "report_data_x.json", report)
	p := r.Points[0]
	drafttest.Expect(t, p, map[string]float64{
		"ttft.mean": 130.5, "ttft.median": 128.7, "tpot.mean": 45.5, "output_tps.value": 21.6,
	})
	if p.Key.Tool != "vllm" || *p.Key.ISL != 128 || *p.Key.Concurrency != 1 || r.Facts.Model.ID != "acme/M" ||
		r.Facts.Device.Name != "n150" || r.Facts.Stack.Commits["tt_metal"] != "25305db" || p.Start.Minute() != 3 {
		t.Errorf("%s %+v %v", p.Key, r.Facts, p.Start)
	}
	if v, _ := r.Scores[0].Value.Get(); v != .781 || r.Scores[0].Filter != "none" || r.Scores[0].Task != "meta_ifeval" {
		t.Errorf("%+v", r.Scores)
	}
	old := reader.Must(t, "report_data_x.json",
		`{"benchmarks_summary":[],"metadata":{},`+
			`"benchmarks":"timestamp,input_sequence_length,output_sequence_length,max_con,mean_ttft_ms,`+
			`backend\n2026-06-20_10-03-00,128,64,4,50.5,openai-chat\n","evals":[{"task_name":"a","score":null}]}`)
	if len(old.Points) != 1 || *old.Points[0].Key.OSL != 64 || len(old.Scores) != 1 {
		t.Fatalf("%+v", old)
	}
	drafttest.Expect(t, old.Points[0], map[string]float64{"ttft.mean": 50.5})
}

func FuzzRead(f *testing.F) {
	reader.Fuzz(f, "report_data.json", spec,
		`{"completed":1,"num_prompts":2,"mean_ttft_ms":1,"output_token_throughput":2}`, `[{"accuracy_check":2}]`, report,
		`{"benchmarks":{"num_requests":2,"latency":0.1,"rtr":2},"model":"m","device":"n150","task_type":"tts"}`,
		`[{"accuracy_check":2,"timestamp":"2026-01-01 00:00:00","task_name":"t","correct":1,"total":0}]`)
}

// The table of a report's results has them where their files are missing.
func TestStatistics(t *testing.T) {
	r := reader.Must(t, "benchmark_stats_x.csv",
		"timestamp,model_name,model_id,backend,device,input_sequence_length,output_sequence_length,max_con,mean_ttft_ms,"+
			"mean_tpot_ms,request_throughput,num_requests,filename\n"+
			"2026-06-20_10-03-00,id_x,acme/m,openai-chat,n150,128,64,1,130.5,45.6,0.169,8,benchmark_x.json\n"+
			"2026-06-20_10-05-00,id_x,acme/m,aiperf,n150,128,64,32,230.5,55.6,4.5,256,\n")
	drafttest.Check(t, r)
	p := r.Points
	if len(p) != 2 || p[0].Key.Tool != "vllm" || p[1].Key.Tool != "aiperf" || *p[1].Key.Concurrency != 32 ||
		p[0].Conditions[ttis.RawFile] != "benchmark_x.json" || r.Facts.Model.ID != "acme/m" || r.Facts.Device.Name != "n150" {
		t.Fatalf("%+v of %+v", p, r.Facts)
	}
	drafttest.Expect(t, p[0], map[string]float64{"ttft.mean": 130.5, "tpot.mean": 45.6, "rps.value": .169})
	if bad := reader.Must(t, "benchmark_stats_y.csv",
		"source,isl,osl,mean_ttft_ms\nvllm,1\n"); drafttest.Codes(bad) != "bad-table" {
		t.Error(drafttest.Codes(bad))
	}
}
