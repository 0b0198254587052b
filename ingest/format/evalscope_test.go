package format_test

import (
	"fmt"
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var evalScopeReader = Reader{Detect: format.EvalScope.Detect, Read: format.EvalScope.Read}

const (
	evalScopeSummary = `{"Test Duration (s)":1.4668,"Concurrency":4,"Request Rate (req/s)":-1.0,"Total Requests":16,` +
		`"Success Requests":16,"Failed Requests":0,"Req Throughput (req/s)":10.9084,"Avg Latency (s)":0.3648,` +
		`"Avg Input Tokens":116.0,"Output Throughput (tok/s)":349.0676,"Total Throughput (tok/s)":1614.4377,` +
		`"Avg TTFT (ms)":54.12,"Avg TPOT (ms)":10.02,"Avg ITL (ms)":10.02,"Avg Output Tokens":32.0}`
	evalScopeOld = `{"Time taken for tests (s)":2.5,"Number of concurrency":8,"Total requests":10,"Succeed requests":9,` +
		`"Failed requests":1,"Average latency (s)":1.5,"Average time to first token (s)":0.2,` +
		`"Average time per output token (s)":0.01,"Output token throughput (tok/s)":399.5}`
	evalScopePercentiles = `[` +
		`{"Percentiles":"min","Latency (s)":0.362,"TTFT (ms)":51.978,"ITL (ms)":7.2,"TPOT (ms)":9.98},` +
		`{"Percentiles":"50%","Latency (s)":0.363,"TTFT (ms)":53,"ITL (ms)":9.5,"TPOT (ms)":10},` +
		`{"Percentiles":"99%","Latency (s)":0.37,"TTFT (ms)":59,"ITL (ms)":19.5,"TPOT (ms)":10.1}]`
	evalScopeArguments = `{"model":"acme/m","outputs_dir":"out","parallel":4,"number":16,"dataset":"random","seed":7,` +
		`"min_prompt_length":128,"max_prompt_length":128,"min_tokens":32,"max_tokens":32}`
	evalScopeReport = `{"name":"m@gsm8k","dataset_name":"gsm8k","model_name":"acme/m","score":0.55,` +
		`"metrics":[{"name":"mean_acc","num":20,"score":0.55,"categories":[]}]}`
)

func TestEvalScopeLoadTest(t *testing.T) {
	r := evalScopeReader.Must(t, "benchmark_summary.json", evalScopeSummary)
	format.CombineEvalScope(&r, format.EvalScope.Read(File("p.json", evalScopePercentiles)))
	format.CombineEvalScope(&r, format.EvalScope.Read(File("a.json", evalScopeArguments)))
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.mean": 54.12, "ttft.min": 51.978, "ttft.median": 53, "ttft.p99": 59, "e2el.mean": 364.8, "e2el.p99": 370,
		"tpot.mean": 10.02, "output_tps.value": 349.0676, "rps.value": 10.9084, "isl.mean": 116,
		"duration_s.value": 1.4668,
	})
	if *p.Key.ISL != 128 || *p.Key.OSL != 32 || *p.Key.Concurrency != 4 || p.Key.Rate != nil ||
		p.Key.Dataset != "random" ||
		r.Facts.Model.ID != "acme/m" || p.Conditions["num_prompts"] != "16" {
		t.Errorf("%s %+v %v", p.Key, r.Facts, p.Conditions)
	}
	Expect(t, evalScopeReader.Must(t, "x.json", evalScopeOld).Points[0], map[string]float64{
		"ttft.mean": 200, "tpot.mean": 10, "e2el.mean": 1500, "requests_failed.value": 1, "output_tps.value": 399.5,
	})
}

func TestEvalScopeReport(t *testing.T) {
	r := evalScopeReader.Must(t, "gsm8k.json", evalScopeReport)
	if len(r.Scores) != 1 || r.Scores[0].N != 20 || r.Scores[0].Task != "gsm8k" || r.Facts.Model.ID != "acme/m" {
		t.Errorf("%+v", r)
	}
	if x, _ := r.Scores[0].Value.Get(); x != .55 {
		t.Error(x)
	}
}

// The first of several metrics is the score of the report, and each of several subsets is a score of its own.
func TestEvalScopeSubsets(t *testing.T) {
	const subsets = `"categories":[{"subsets":[{"name":"en","num":3,"score":0.5},{"name":"fr","num":1,"score":0.25}]}]`
	r := evalScopeReader.Must(t, "multi_if.json", `{"dataset_name":"multi_if","model_name":"acme/m","score":0.44,`+
		`"metrics":[{"name":"mean_turn_1_prompt_level_strict","num":4,"score":0.44,`+subsets+`},`+
		`{"name":"mean_inst_level_loose","num":4,"score":0.6,"categories":[{"subsets":[{"name":"default","score":0.6}]}]}]}`)
	got := ""
	for _, s := range r.Scores {
		got += fmt.Sprintln(s.Task, s.Metric, s.Group, s.N, s.Unknown.Text(schema.Headline))
	}
	if want := `multi_if mean_turn_1_prompt_level_strict  4 true
multi_if/en mean_turn_1_prompt_level_strict multi_if 3 true
multi_if/fr mean_turn_1_prompt_level_strict multi_if 1 true
multi_if mean_inst_level_loose  4 
`; got != want {
		t.Error(got)
	}
}

// Up to 0.7 the time per token is the duration over the tokens of all requests, which is no TPOT.
func TestEvalScopeEarlyVersions(t *testing.T) {
	r := evalScopeReader.Must(t, "summary.json", `{"Time taken for tests (senconds)":10.0,"Number of concurrency":4,`+
		`"Total requests":40,"Succeed requests":40,"Failed requests":0,"Average QPS":4.0,"Average latency (s)":1.5,`+
		`"Average time to first token (s)":0.25,"Average time per output token (s)":0.005,`+
		`"Throughput(average output tokens per second)":200.0,"Average output tokens per request":50}`)
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"rps.value": 4, "duration_s.value": 10, "output_tps.value": 200, "e2el.mean": 1500, "ttft.mean": 250,
	})
	if m := Metric(p, "tpot"); len(m.Stats) != 0 || m.Kind().Why == "" || len(Metric(p, "tps_user").Stats) != 0 {
		t.Errorf("TPOT of %v", m)
	}
}

// Reports up to 0.7 state no model, and their score may be several by name.
func TestEvalScopeReportsBefore08(t *testing.T) {
	for text, want := range map[string]float64{
		`{"name":"ARC-Challenge","metric":"WeightedAverageAccuracy","score":0.3389,"category":[{"name":"DEFAULT",` +
			`"score":0.3389,"subset":[{"name":"ARC-Challenge","score":0.3389}]}],"total_num":100}`: .3389,
		`{"name":"TruthfulQA","metric":"WeightedAverageAccuracy","score":{"mc1":0.25,"mc2":0.375},"category":[],` +
			`"total_num":100}`: .25,
	} {
		r := evalScopeReader.Must(t, "reports/x.json", text)
		Check(t, r)
		if x, _ := r.Scores[0].Value.Get(); x != want || r.Scores[0].N != 100 {
			t.Errorf("%+v", r.Scores)
		}
	}
}

func FuzzEvalScope(f *testing.F) {
	evalScopeReader.Fuzz(f, "x.json", evalScopeSummary, evalScopeOld, evalScopePercentiles, evalScopeReport)
}
