package guidellm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/guidellm"
	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var reader = Reader{Detect: guidellm.Reader.Detect, Read: guidellm.Reader.Read}

const metrics = `"metrics":{"request_totals":{"successful":24,"errored":8,"incomplete":1,"total":33},
 "requests_per_second":{"successful":{"mean":5.9,"count":24}},` +
	`"output_tokens_per_second":{"successful":{"mean":763.0,"count":99}},` +
	`"tokens_per_second":{"successful":{"mean":1526.0,"count":99}},
 "request_latency":{"successful":{"mean":1.3,"median":1.2,"std_dev":0.1,"min":1.0,"max":2.0,"count":24,` +
	`"percentiles":{"p001":1.0,"p95":1.8,"p99":1.9,"p999":1.99}},"errored":{"mean":0,"count":0}},
 "time_to_first_token_ms":{"successful":{"mean":53.1,"median":53.0,"count":24}},` +
	`"inter_token_latency_ms":{"successful":{"mean":10.0,"count":3000}},` +
	`"time_per_output_token_ms":{"successful":{"mean":10.3,"count":3072}},
 "prompt_token_count":{"successful":{"mean":128.0,"count":24}},"output_token_count":{"successful":{"mean":128.0,` +
	`"count":24}}}`

const (
	v2 = `{"metadata":{"version":2,"guidellm_version":"0.8.1"},"config":{"spec":{"data":[{"kind":"synthetic_text",` +
		`"prompt_tokens":128,"output_tokens":128}]}},"benchmarks":[
	 {"config":{"strategy":{"type_":"concurrent","streams":8},"backend":{"model":"acme/tiny",` +
		`"stream":true}},` + metrics + `,"start_time":1786678148.25,"end_time":1786678153.25},
	 {"config":{"strategy":{"type_":"constant","rate":2.0}},` + metrics + `}]}`
	old = `{"benchmarks":[{"type_":"generative_benchmark","args":{"strategy":{"type_":"poisson","rate":4.0},` +
		`"requests_loader":{"data":"prompt_tokens=256,output_tokens=64"}},"run_stats":{"requests_made":{"successful":24,` +
		`"errored":0,"incomplete":0}},"worker":{"backend_model":"acme/tiny"},` +
		`"metrics":{"request_latency":{"successful":{"mean":1.0,"count":24}},` +
		`"time_to_first_token_ms":{"successful":{"mean":50,"count":24}}}}]}`
	none = `{"benchmarks":[{"config":{"strategy":{"type_":"synchronous"}},"metrics":{"request_totals":{"successful":0,` +
		`"errored":3,"incomplete":0,"total":3},"request_latency":{"successful":{"mean":0,"count":0}},` +
		`"time_to_first_token_ms":{"successful":{"mean":0.0,"count":0}}}}]}`
)

// TPOT is what GuideLLM calls inter-token latency; its own TPOT includes the first token.
func TestBenchmarks(t *testing.T) {
	r := reader.Must(t, "benchmarks.json", v2)
	if len(r.Points) != 2 || r.Facts.Model.ID != "acme/tiny" || r.Points[0].Source.ToolVersion != "0.8.1" {
		t.Fatalf("%d points, %+v", len(r.Points), r.Facts)
	}
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.mean": 53.1, "tpot.mean": 10, "ntpot.mean": 10.3, "e2el.mean": 1300, "e2el.median": 1200, "e2el.p99.9": 1990,
		"e2el.p95": 1800, "output_tps.value": 614.4, "total_tps.value": 1228.8, "rps.value": 4.8, "requests_failed.value": 8,
		"duration_s.value": 5,
	})
	if Metric(p, "ntpot").Kind().Def != schema.DefInclFirst || Metric(p, "tpot").N != 24 || *p.Key.Concurrency != 8 ||
		*p.Key.ISL != 128 || p.Status != schema.StatusPartial {
		t.Errorf("%s %+v", p.Key, Metric(p, "tpot"))
	}
	if q := r.Points[1]; len(Metric(q, "rps").Stats) > 0 || Metric(q,
		"output_tps").Kind().Why == "" { // it states no duration
		t.Errorf("%+v", q.Metrics)
	}
	if q := r.Points[1]; *q.Key.Rate != 2 || q.Key.Concurrency != nil || q.Key.Dims["arrival"] != "constant" {
		t.Errorf("%s", q.Key)
	}
}

// Single requests, as 0.6 writes them: its own rate is a mean over moments.
func TestRatesAreTotalsOverTheDuration(t *testing.T) {
	const text = `{"benchmarks":[{"type_":"generative_benchmark","start_time":1786678148.0,"end_time":1786678150.0,` +
		`"args":{"strategy":{"type_":"synchronous"}},"metrics":{"request_totals":{"successful":1,"errored":0},` +
		`"request_latency":{"successful":{"mean":2.0,"count":1}},"requests_per_second":{"successful":{"mean":0.8,` +
		`"count":1}},"output_token_count":{"successful":{"mean":118,"count":1}},` +
		`"prompt_token_count":{"successful":{"mean":32,` +
		`"count":1}},"output_tokens_per_second":{"successful":{"mean":282.4,"count":118}}}}]}`
	p := reader.Must(t, "benchmarks.json", text).Points[0]
	Expect(t, p, map[string]float64{"output_tps.value": 59, "rps.value": .5, "total_tps.value": 75})
	if Metric(p, "output_tps").Kind().From != schema.FromDerived {
		t.Errorf("%+v", Metric(p, "output_tps"))
	}
}

// GuideLLM 0.7 counts requests that end after the time to which a benchmark was limited: they completed over more than
// that time. A sample of them does not say when the last one ended.
func TestRequestsThatEndAfterTheBenchmark(t *testing.T) {
	for early, seconds := range map[int]float64{23: 6, 3: 5} {
		late := `,"requests":{"successful":[` + strings.Repeat(`{"request_end_time":1786678151},`, early) +
			`{"request_end_time":1786678154.25}]}`
		text := strings.Replace(v2, `"end_time":1786678153.25`, `"end_time":1786678153.25`+late, 1)
		Expect(t, reader.Must(t, "benchmarks.json", text).Points[0], map[string]float64{
			"rps.value": 24 / seconds, "duration_s.value": seconds, "output_tps.value": 24 * 128 / seconds})
	}
}

// A rate that differs from the file's own in the digits that are shown is said; one that agrees is not.
func TestOwnRateIsNoted(t *testing.T) {
	for own, want := range map[string]string{"3.19507": "own-rate", "3.2": ""} {
		r := reader.Must(t, "r.json", `{"metadata":{"version":2},"benchmarks":[{"start_time":1.7e9,"end_time":1700000005.0,`+
			`"metrics":{"request_latency":{"successful":{"count":2,"mean":0.02}},"output_token_count":{"successful":{"mean":8,`+
			`"count":2}},"output_tokens_per_second":{"successful":{"mean":`+own+`}}}}]}`)
		Expect(t, r.Points[0], map[string]float64{"output_tps.value": 3.2})
		if Codes(r) != want {
			t.Errorf("%s: %v", own, r.Problems)
		}
	}
}

func TestOld(t *testing.T) {
	r := reader.Must(t, "benchmarks.json", old)
	p := r.Points[0]
	Expect(t, p, map[string]float64{"e2el.mean": 1000, "requests_ok.value": 24})
	if *p.Key.Rate != 4 || *p.Key.ISL != 256 || *p.Key.OSL != 64 || r.Facts.Model.ID != "acme/tiny" {
		t.Errorf("%s %+v", p.Key, r.Facts)
	}
}

// Benchmarks of two models that somebody put into one file are two runs; one that names no model is of the first.
func TestBenchmarksOfTwoModels(t *testing.T) {
	one := old[strings.Index(old, "[")+1 : strings.LastIndex(old, "]")]
	unnamed := strings.Replace(one, "backend_model", "backend_type", 1)
	r := reader.Must(t, "all.json", `{"benchmarks":[`+one+","+strings.Replace(one, "acme/tiny", "acme/large", 1)+","+
		unnamed+`]}`)
	if r.Facts.Model.ID != "acme/tiny" || len(r.Points) != 2 || len(r.More) != 1 ||
		r.More[0].Facts.Model.ID != "acme/large" || len(r.More[0].Points) != 1 {
		t.Errorf("%+v %d points, %+v", r.Facts, len(r.Points), r.More)
	}
}

// A block of count 0 has only zeros, which are not data.
func TestNothingCompleted(t *testing.T) {
	r := reader.Must(t, "benchmarks.json", none)
	if p := r.Points[0]; p.Status != schema.StatusFailed || Metric(p, "ttft").Kind().Why == "" ||
		Codes(r) != "all-failed" ||
		*p.Key.Concurrency != 1 {
		t.Errorf("%s %+v %v", p.Key, p.Metrics, r.Problems)
	}
}

func FuzzRead(f *testing.F) { reader.Fuzz(f, "benchmarks.json", v2, old, none) }

// A table has the numbers of the report that was written with it, and its workload.
func TestTableOfAReport(t *testing.T) {
	cases, err := filepath.Glob("../../testdata/recorded/guidellm-*/*/out/benchmarks.csv")
	if err != nil || len(cases) == 0 {
		t.Fatal("no recorded table")
	}
	for _, name := range cases {
		table, report := readFile(t, name), readFile(t, strings.TrimSuffix(name, "csv")+"json")
		if len(table.Points) != len(report.Points) || table.Facts.Model.ID != report.Facts.Model.ID {
			t.Fatalf("%s: %d points of %v, the report has %d", name, len(table.Points), table.Facts.Model.ID, len(report.Points))
		}
		for i, p := range table.Points {
			q := report.Points[i]
			if p.Key.String() != q.Key.String() || p.Status != q.Status {
				t.Errorf("%s: %s %s, the report has %s %s", name, p.Key, p.Status, q.Key, q.Status)
			}
			for _, m := range p.Metrics {
				metric := m.Name()
				for _, s := range m.Stats {
					if x, ok := q.Value(metric, s.Name()); !ok || !Near(x, s.Value) {
						t.Errorf("%s: %s %s is %v, the report has %v", name, metric, s.Name(), s.Value, x)
					}
				}
			}
		}
	}
}

func readFile(t *testing.T, name string) schema.Reading {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return reader.Must(t, filepath.Base(name), string(data))
}

// oldTable is what 0.3 writes: one line of headings, the strategy in the arguments.
const oldTable = `Type,Run Id,Id,Name,Start Time,End Time,Duration,Successful Requests,` +
	`Successful Request latency mean,Successful Request latency median,Successful Request latency std dev,` +
	`"Successful Request latency [min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]",Successful Output token count mean,` +
	`Successful Output tokens per second mean,Successful Time to first token ms mean,Errored Requests,Args,` +
	"Request Loader\n" + `generative_benchmark,r,i,concurrent@4,2026-01-02 03:04:05,2026-01-02 03:04:15,10.0,20,1.5,` +
	`1.4,0.25,"[1.0, 1.0, 1.0, 1.1, 1.2, 1.3, 1.6, 1.7, 1.8, 1.9, 2.0]",50.0,282.4,120.5,0,` +
	`"{""strategy"": {""type_"": ""concurrent"", ""streams"": 4}}",` +
	`"{""data"": ""prompt_tokens=128,output_tokens=50""}"` + "\n"

func TestTableBefore04(t *testing.T) {
	r := reader.Must(t, "benchmarks.csv", oldTable)
	Check(t, r)
	if len(r.Points) != 1 || *r.Points[0].Key.Concurrency != 4 || *r.Points[0].Key.ISL != 128 ||
		r.Facts.Start.Minute() != 4 || r.Facts.StartNote == "" {
		t.Fatalf("%+v", r)
	}
	Expect(t, r.Points[0], map[string]float64{
		"e2el.mean": 1500, "e2el.median": 1400, "e2el.p99": 1900, "e2el.max": 2000, "e2el.std": 250, "ttft.mean": 120.5,
		"output_tps.value": 100, "rps.value": 2, "duration_s.value": 10, "requests_ok.value": 20,
	})
	cut := reader.Must(t, "x.csv", oldTable[:len(oldTable)-60])
	if len(cut.Points) != 0 || Codes(cut) != "truncated" {
		t.Errorf("%d points, %s", len(cut.Points), Codes(cut))
	}
}

func FuzzTable(f *testing.F) {
	reader.Fuzz(f, "x.csv", oldTable)
}
