package table_test

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
	"github.com/ttreport/ttreport/ingest/table"
)

// benchy is a result of llama-benchy 0.2.2 in the form of its schemas/sample.json, with other numbers.
const benchy = `{"version":"0.2.2","timestamp":"2026-02-07 19:09:00Z","latency_mode":"api","latency_ms":1.25,` +
	`"model":"acme/m","prefix_caching_enabled":true,"max_concurrency":2,"benchmarks":[` +
	`{"concurrency":1,"context_size":0,"prompt_size":2048,"response_size":32,"is_context_prefill_phase":false,` +
	`"pp_throughput":{"mean":980.5,"std":1.5,"values":[979,982]},"pp_req_throughput":null,` +
	`"tg_throughput":{"mean":49.5,"std":0.5,"values":[49,50]},` +
	`"tg_req_throughput":{"mean":49.5,"std":0.5,"values":[49,50]},` +
	`"ttfr":{"mean":2076,"std":2,"values":[2074,2078]},"e2e_ttft":{"mean":2080,"std":2,"values":[2078,2082]}},` +
	`{"concurrency":2,"context_size":4096,"prompt_size":2048,"response_size":32,"is_context_prefill_phase":true,` +
	`"pp_throughput":{"mean":1200,"std":3,"values":[1197,1203]},"tg_throughput":null,"e2e_ttft":null}]}`

// What a user writes reads the same numbers from llama-benchy as the reader of the program.
const ownMapping = `
tables:
  - files: "benchy/*.json"
    tool: llama-benchy
    rows: benchmarks
    columns:
      /model: model
      /timestamp: start
      concurrency: concurrency
      prompt_size: isl
      response_size: osl
      context_size: dim depth
      is_context_prefill_phase: dim context_prefill
      pp_throughput: input_tps tok/s
      tg_throughput: output_tps tok/s
      tg_req_throughput: tps_user tok/s
      e2e_ttft: ttft ms first-content
      ttfr.mean: first_response_ms ms lower
`

func TestOwnMappingReadsLlamaBenchy(t *testing.T) {
	var said struct {
		Tables []table.Mapping `yaml:"tables"`
	}
	if err := yaml.Unmarshal([]byte(ownMapping), &said); err != nil {
		t.Fatal(err)
	}
	tables, err := table.Compile(said.Tables)
	if err != nil {
		t.Fatal(err)
	}
	own := tables[0].Read(File("benchy/a.json", benchy))
	ours := Reader{Detect: table.LlamaBenchy.Detect, Read: table.LlamaBenchy.Read}.Must(t, "benchy/a.json", benchy)
	Check(t, own)
	for _, r := range []schema.Reading{own, ours} {
		if len(r.Points) != 2 || len(r.Problems) != 0 || r.Facts.Model.ID != "acme/m" || r.Facts.Start.Hour() != 19 {
			t.Fatalf("%d points, %v, %+v", len(r.Points), r.Problems, r.Facts)
		}
		Expect(t, r.Points[0], map[string]float64{
			"input_tps.mean": 980.5, "output_tps.mean": 49.5, "output_tps.std": .5, "tps_user.mean": 49.5, "ttft.mean": 2080,
		})
		Expect(t, r.Points[1], map[string]float64{"input_tps.mean": 1200})
		if a, b := r.Points[0].Key.Dims, r.Points[1].Key.Dims; len(a) != 0 || b["depth"] != "4096" ||
			b["context_prefill"] != "true" {
			t.Errorf("%v, %v", a, b)
		}
	}
	if x, _ := own.Points[0].Metric("first_response_ms{ms,lower}"); len(x.Stats) != 1 {
		t.Errorf("%+v", x)
	}
}

// printed is what llama-benchy 0.4 prints, with other numbers.
const printed = `# Chat

llama-benchy (0.4.0)
Date: 2026-08-16 12:02:31

| model  | test | t/s (total) | t/s (req) | peak t/s | peak t/s (req) | ttfr (ms) | e2e_ttft (ms) |
|:-------|-----:|------------:|----------:|---------:|---------------:|----------:|--------------:|
| acme/m |        pp2048 (c1) | 980.50 ± 1.50 | 980.50 ± 1.50 | | | 2076.00 ± 2.00 | 2080.00 ± 2.00 |
| acme/m |          tg32 (c1) | 49.50 ± 0.50 | 49.50 ± 0.50 | 51.60 ± 0.01 | 51.60 ± 0.01 | | |
| acme/m | pp2048 @ d512 (c2) | 970.50 ± 1.50 | 500.50 ± 1.50 | | | 2176.00 ± 2.00 | 2180.00 ± 2.00 |
| acme/m |   tg32 @ d512 (c2) | 89.50 ± 0.50 | 44.50 ± 0.50 | 91.60 ± 0.01 | 51.60 ± 0.01 | | |
| acme/m |    ctx_pp @ d4096  | 1200.00 ± 3.00 | | | | | |
| acme/n |          tg32 (c1) | 20.00 ± 0.50 | | | | | |
`

// The table states the same workloads as the JSON: rows of prompts and of answers are one measurement.
func TestPrintedLlamaBenchy(t *testing.T) {
	r := Reader{Detect: table.Printed.Detect, Read: table.Printed.Read}.Must(t, "01-chat.md", printed)
	Check(t, r)
	if len(r.Points) != 3 || len(r.More) != 1 || len(r.Problems) != 0 || r.Facts.Model.ID != "acme/m" ||
		r.Facts.Start.Hour() != 12 || r.More[0].Facts.Model.ID != "acme/n" {
		t.Fatalf("%d points, %v, %+v", len(r.Points), r.Problems, r.Facts)
	}
	Expect(t, r.Points[0], map[string]float64{
		"input_tps.mean": 980.5, "output_tps.mean": 49.5, "output_tps.std": .5, "tps_user.mean": 49.5, "ttft.mean": 2080,
	})
	Expect(t, r.Points[1], map[string]float64{"input_tps.mean": 970.5, "output_tps.mean": 89.5, "tps_user.mean": 44.5})
	keys := ""
	for _, p := range r.Points {
		keys += p.Key.Workload() + "; "
	}
	if keys != "2048/32/1; 2048/32/2 depth 512; -/-/1 context_prefill true, depth 4096; " {
		t.Error(keys)
	}
	json := Reader{Detect: table.LlamaBenchy.Detect, Read: table.LlamaBenchy.Read}.Must(t, "a.json", benchy)
	if a, b := json.Points[0].Key.String(), r.Points[0].Key.String(); a != b {
		t.Errorf("%s in JSON, %s as printed", a, b)
	}
	if empty := table.Printed.Read(File("x.md", strings.Split(printed, "\n| acme")[0])); Codes(empty) != "empty-table" {
		t.Errorf("%+v", empty)
	}
}

// agentX is an aggregate of an agentic replay in the form that utils/agentic/aggregation of InferenceX writes.
const agentX = `{"hw":"b200-nv","conc":16,"image":"i","model":"acme/m","framework":"vllm","precision":"fp4",
 "spec_decoding":"none","disagg":false,"scenario_type":"agentic-coding","tp":8,"ep":1,"dp_attention":"false",
 "num_requests_total":12,"power_valid":1,
 "avg_total_gpu_power_w":5600,"joules_per_output_token":7.5,
 "num_requests_successful":10,"kv_offload_backend":{"name":"lmcache"},
 "request_accounting":{"records_total":12,"records_warmup_dropped":2,"error_categories":{"Timeout":3}},
 "request_metrics":{"qps":{"window_seconds":1,"samples":7,"mean":1.5,"p50":1,"p75":2,"p90":2.5,"p95":2.75,"std":0.5},
  "latency":{"ttft":{"mean":0.5,"p50":0.25,"p75":0.75,"p90":1.75,"p95":2,"std":0.4},"e2el":{"mean":10},
   "itl":{"mean":0.02},"tpot":{"mean":0.02,"p50":0.02,"p75":0.025,"p90":0.03},
   "intvty":{"mean":50,"p50":50,"p75":40,"p90":33.5,"p95":30,"std":4.5},"e2e_norm_intvty":{"p90":26.5}},
  "tokens":{"input":{"mean":90000,"p90":99000},"output_actual":{"mean":500},"output_expected":{"mean":510}},
  "throughput":{"input":{"tokens_per_second":135000},"output":{"tokens_per_second":750},
   "total":{"tokens_per_second":135750},"duration_seconds":6.5,
   "full_response_output_token_throughput_per_user":{"p90":31.5},
   "per_gpu":{"total_tput_tps":16968.75,"output_tput_tps":93.75,"input_tput_tps":16875}},
  "cache":{"theoretical_cache_hit_rate":0.95}}SERVER}`

// agentXServer are the metrics of the server, which older versions write.
const agentXServer = `,"server_metrics":{"metric_count":61,"cache":{"gpu_cache_hit_rate":0.9,
 "external_cache_hit_rate":0.125,"prefix_cache_hits":123456},"kv_cache":{"gpu_usage_pct":0.5,"gpu_total_tokens":1000},
 "tokens":{"prompt_total":654321,"prompt_by_source":{"computed":54321}},"sources":[{"prompt_tokens":222}]}`

func TestAgentX(t *testing.T) {
	reader := Reader{Detect: table.AgentX.Detect, Read: table.AgentX.Read}
	r := reader.Must(t, "agg.json", strings.Replace(agentX, "SERVER", agentXServer, 1))
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.mean": 500, "ttft.median": 250, "ttft.p95": 2000, "e2el.mean": 10000, "tpot.mean": 20,
		"output_tps.value": 750, "input_tps.value": 135000, "total_tps.value": 135750, "rps.value": 1.5,
		"isl.mean": 90000, "isl.p90": 99000, "prefix_hits.value": 90, "prefix_hits_external.value": 12.5,
		"prefix_hits_possible.value": 95, "kv_usage.value": 50, "duration_s.value": 6.5, "requests_ok.value": 10,
		"interactivity_p75.value": 40, "interactivity_p90.value": 33.5, "output_tps_accelerator.value": 93.75,
		"total_tps_accelerator.value": 16968.75, "power_w.value": 5600, "energy_token.value": 7.5,
	})
	if r.Facts.Device.Name != "b200-nv" || r.Facts.Stack.Engine != "vllm" || p.Key.Dims["tp"] != "8" {
		t.Errorf("%+v %v", r.Facts, p.Key)
	}
	for name, want := range map[string]float64{ // no number is left out
		"request_metrics.qps.p95": 2.75, "request_metrics.qps.window_seconds": 1, "request_metrics.latency.itl.mean": .02,
		"request_metrics.latency.intvty.p50": 50, "request_metrics.latency.e2e_norm_intvty.p90": 26.5,
		"throughput.full_response_output_token_throughput_per_user.p90": 31.5,
		"request_metrics.throughput.per_gpu.input_tput_tps":             16875,
		"request_accounting.error_categories.Timeout":                   3, "server_metrics.sources.0.prompt_tokens": 222,
		"server_metrics.cache.prefix_cache_hits": 123456, "server_metrics.tokens.prompt_by_source.computed": 54321,
	} {
		if x, ok := p.Value(name+"{,neither}", "value"); !ok || x != want {
			t.Errorf("%s is %v, want %v", name, x, want)
		}
	}
	if _, twice := p.Metric("request_metrics.latency.ttft.mean{,neither}"); twice {
		t.Error("a number under two names")
	}
	newest := reader.Must(t, "agg.json", strings.Replace(agentX, "SERVER", "", 1))
	Expect(t, newest.Points[0], map[string]float64{"ttft.mean": 500, "prefix_hits_possible.value": 95})
}

// JSON lines are read by the same mapping as a table.
func TestLinesOfObjects(t *testing.T) {
	m := compile(t, columns())
	var lines strings.Builder
	for _, row := range []string{`8,"TTFT avg":0.5,"TPS":"1,234.5"`, `16,"TTFT avg":null,"TPS":300`} {
		lines.WriteString(`{"Model":"acme/m","GPU":"H100","Date":"2026-01-02","In":128,"Out":64,"Quant":"fp8",` +
			`"Batch":` + row + "}\n")
	}
	r := m.Read(File("sweeps/a.jsonl", lines.String()))
	Check(t, r)
	if len(r.Points) != 2 || r.Facts.Device.Name != "H100" || *r.Points[1].Key.Concurrency != 16 {
		t.Fatalf("%d points, %+v", len(r.Points), r.Problems)
	}
	Expect(t, r.Points[0], map[string]float64{"ttft.mean": 500, "output_tps.value": 1234.5})
}
