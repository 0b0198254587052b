package format_test

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/ingest/format"
	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var sglangReader = Reader{Detect: format.SGLang.Detect, Read: format.SGLang.Read}

const (
	sglangOld = `{"backend": "sglang", "request_rate": Infinity, "total_input_tokens": 42, "total_output_tokens": 285, ` +
		`"mean_e2e_latency_ms": 5331.9, "median_e2e_latency_ms": 5331.9, "median_ttft_ms": 5332.0, "median_itl_ms": 0.0, ` +
		`"output_throughput": 53.4, "random_input_len": 1024, "random_output_len": 128, "random_range_ratio": 0.0, ` +
		`"duration": 5.33, "completed": 1}`
	sglangNow = `{"backend":"sglang","dataset_name":"random-ids","request_rate":4.0,"max_concurrency":4,` +
		`"input_throughput":128,"accept_length":2.5,` +
		`"random_input_len":128,"random_output_len":32,"random_range_ratio":1.0,"server_info":{"model_path":"acme/tiny",` +
		`"version":"0.5.2"},"completed":2,"total_input_tokens":256,"total_output_tokens":64,"duration":2.0,` +
		`"request_throughput":1.0,"output_throughput":32.0,"total_throughput":160.0,"mean_e2e_latency_ms":400,` +
		`"mean_ttft_ms":65,"median_ttft_ms":65,"mean_tpot_ms":10.5,"mean_itl_ms":10.5,"ttfts":[0.06,0.07],` +
		`"itls":[[0.01,0.01],[0.011,0.011]],"input_lens":[128,128],"output_lens":[32,32],"errors":["",""]}`
)

// Without streaming ITL is 0 and TPOT -0.00, and the lengths of another dataset's options are not the workload.
func TestSGLangOldRecord(t *testing.T) {
	p := sglangReader.Must(t, "x.jsonl", sglangOld).Points[0]
	Expect(t, p, map[string]float64{"e2el.mean": 5331.9, "output_tps.value": 53.4, "isl.mean": 42, "requests_ok.value": 1})
	if Metric(p, "itl").Kind().Why == "" || Metric(p, "ttft").Kind().Why == "" || p.Key.Rate != nil || p.Key.ISL != nil {
		t.Errorf("%s itl %+v", p.Key, Metric(p, "itl"))
	}
	neg := sglangReader.Must(t, "x.jsonl",
		`{"completed":1,"mean_tpot_ms":-0.0001,"mean_e2e_latency_ms":5,"mean_ttft_ms":-7}`)
	if !math.IsNaN(Stat(neg.Points[0], "tpot", "mean")) || !math.IsNaN(Stat(neg.Points[0], "ttft", "mean")) ||
		Codes(neg) != "negative" {
		t.Errorf("negative times: %+v %v", neg.Points[0].Metrics, neg.Problems)
	}
}

func TestSGLangDetails(t *testing.T) {
	r := sglangReader.Must(t, "x.jsonl", sglangNow)
	p := r.Points[0]
	if Metric(p, "ttft").Kind().From != "recomputed" || Metric(p, "ttft").N != 2 || *p.Key.ISL != 128 ||
		*p.Key.Concurrency != 4 || *p.Key.Rate != 4 || r.Facts.Model.ID != "acme/tiny" || r.Facts.Stack.Version != "0.5.2" {
		t.Errorf("%s %+v %+v", p.Key, Metric(p, "ttft"), r.Facts)
	}
	if len(r.Problems) > 0 || Metric(p, "e2el").Kind().Def != schema.DefLastContent {
		t.Errorf("%v", r.Problems)
	}
}

func FuzzSGLang(f *testing.F) { sglangReader.Fuzz(f, "x.jsonl", sglangOld, sglangNow) }

// The router of a disaggregated server states the servers behind it in place of itself.
func TestSGLangDisaggregated(t *testing.T) {
	text := func(prefill, decode string) string {
		return `{"completed":1,"mean_e2e_latency_ms":5,"request_rate":Infinity,"server_info":{"prefill":[` + prefill +
			`],"decode":[` + decode + `]}}`
	}
	const a, b = `{"model_path":"acme/m","version":"0.5.5"}`, `{"model_path":"acme/m","version":"0.5.6"}`
	for _, c := range []struct{ prefill, decode, version, codes, dim string }{
		{a, a, "0.5.5", "", "yes"},
		{a, b + "," + b, "0.5.5 + 0.5.6", "servers-differ", "1p2d"},
		{a, `{"model_path":"acme/other","version":"0.5.5"}`, "0.5.5", "servers-differ", "yes"},
	} {
		r := sglangReader.Must(t, "x.jsonl", text(c.prefill, c.decode))
		if r.Facts.Model.ID != "acme/m" || r.Facts.Stack.Version != c.version || Codes(r) != c.codes ||
			r.Points[0].Key.Dims["disaggregated"] != c.dim {
			t.Errorf("%+v: %+v %s %v", c, r.Facts, Codes(r), r.Points[0].Key.Dims)
		}
	}
}

// The acceptance length of speculative decoding and the input throughput are metrics.
func TestSGLangLoadsOf2026(t *testing.T) {
	p := sglangReader.Must(t, "x.jsonl", sglangNow).Points[0]
	Expect(t, p, map[string]float64{"input_tps.value": 128, "acceptance_length.value": 2.5})
}
