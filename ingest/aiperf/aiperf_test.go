package aiperf_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/aiperf"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

func file(name, text string) *decode.File {
	f := decode.NewFile(name, []byte(text), time.Time{}, decode.DefaultLimits())
	return &f
}

func open(t *testing.T, name string) *decode.File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return file(name, string(data))
}

// The recorded files are genuine outputs of the versions that their folders name.
func TestRecordedVersions(t *testing.T) {
	for _, c := range []struct {
		dir, detail string
		model       string
	}{{"0.3.0", "before 0.4", "m"}, {"0.13.0", "0.13.0", "m"}} {
		summary := open(t, c.dir+"/profile_export_aiperf.json")
		records := open(t, c.dir+"/profile_export.jsonl")
		if m := aiperf.Reader.Detect(summary); !m.OK() || m.Format != aiperf.Format || m.Detail != c.detail {
			t.Fatalf("%s: %+v", c.dir, m)
		}
		if m := aiperf.Reader.Detect(records); !m.OK() || m.Format != aiperf.Records {
			t.Fatalf("%s records: %+v", c.dir, m)
		}
		r := aiperf.Reader.Read(summary)
		p := r.Points[0]
		if *p.Key.ISL != 128 || *p.Key.OSL != 32 || *p.Key.Concurrency != 1 || p.Key.Tool != "aiperf" ||
			r.Facts.Model.ID != c.model || p.Conditions["num_prompts"] != "8" || p.Status != schema.StatusOK {
			t.Errorf("%s: key %s model %q conditions %v status %s", c.dir, p.Key, r.Facts.Model.ID, p.Conditions, p.Status)
		}
		stated := map[string]float64{}
		for _, name := range []string{"ttft", "tpot", "e2el", "itl"} {
			stated[name], _ = p.Value(name, "mean")
		}
		aiperf.Combine(&r, aiperf.Reader.Read(records))
		if len(r.Problems) != 0 {
			t.Errorf("%s: the summary and its records disagree: %v", c.dir, r.Problems)
		}
		p = r.Points[0]
		for name, want := range stated {
			m := drafttest.Metric(p, name)
			if got, _ := m.Stats.Get("mean"); m.Kind().From != "recomputed" || math.Abs(got-want) > 1e-5*want {
				t.Errorf("%s %s: recomputed %v, stated %v", c.dir, name, got, want)
			}
		}
		if drafttest.Metric(p, "ttft").N != 8 || len(drafttest.Metric(p, "ttft").Detail().Quantiles) != 33 ||
			r.Facts.StartNote != "" {
			t.Errorf("%s: n %d, %d quantiles, start %q", c.dir, drafttest.Metric(p, "ttft").N, len(drafttest.Metric(p,
				"ttft").Detail().Quantiles),
				r.Facts.StartNote)
		}
	}
}

const config = `"input_config":{"endpoint":{"model_names":["acme/tiny"],"type":"chat","streaming":true},` +
	`"loadgen":{"concurrency":4,"request_count":10},"input":{"prompt":{"input_tokens":{"mean":100},` +
	`"output_tokens":{"mean":50}}},` +
	`"cli_command":"aiperf profile --model acme/tiny --api-key 's3cretvalue99' --concurrency 4"}`

// era is a summary in the form of a range of AIPerf's versions.
type era struct{ name, text, detail string }

func eras() []era {
	return []era{
		{
			"E0",
			`{"records":{"ttft":{"tag":"ttft","unit":"ms","header":"x","avg":10,"p50":9,"p99":null},` +
				`"request_count":{"unit":"requests","avg":10}},` + config + `,"was_cancelled":false,"error_summary":[]}`,
			"before 0.4",
		},
		{
			"E1",
			`{"time_to_first_token":{"unit":"ms","avg":10},"goodput":null,"request_count":{"unit":"requests","avg":10},` +
				config + `,"was_cancelled":false,"error_summary":[]}`,
			"before 0.4",
		},
		{
			"E2",
			`{"schema_version":"1.0","aiperf_version":"0.8.0","time_to_first_token":{"unit":"ms","avg":10},` +
				`"request_count":{"unit":"requests","avg":10},` + config + `}`,
			"0.8.0",
		},
		{
			"E3",
			`{"schema_version":"1.3","aiperf_version":"0.10.0","time_to_first_token":{"unit":"sec","avg":0.01},` +
				`"request_count":{"unit":"requests","avg":10},"error_summary":[],` +
				`"run_info":{"cli_command":"aiperf profile --isl 100 --osl 50"},` +
				`"input_config":{"models":{"items":[{"name":"acme/tiny"}]},"phases":[{"name":"warmup","kind":"warmup",` +
				`"concurrency":1},{"name":"profiling","concurrency":4,"requests":10}]}}`,
			"0.10.0",
		},
		{
			"E4",
			`{"schema_version":"1.4","aiperf_version":"0.13.0","warmup_metrics":{},"time_to_first_token":{"unit":"ms",` +
				`"avg":10},"request_count":{"unit":"requests","avg":10},"error_summary":[],` +
				`"input_config":{"models":{"items":[{"name":"acme/tiny"}]},"datasets":[{"type":"synthetic",` +
				`"prompts":{"isl":{"mean":100},"osl":50}}],"phases":[{"concurrency":4}]}}`,
			"0.13.0",
		},
	}
}

func TestEras(t *testing.T) {
	for _, c := range eras() {
		f := file("x.json", c.text)
		if m := aiperf.Reader.Detect(f); !m.OK() || m.Detail != c.detail {
			t.Errorf("%s: %+v", c.name, m)
			continue
		}
		r := aiperf.Reader.Read(f)
		p := r.Points[0]
		mean, _ := p.Value("ttft", "mean")
		if mean != 10 || r.Facts.Model.ID != "acme/tiny" || p.Key.ISL == nil || *p.Key.ISL != 100 || p.Key.OSL == nil ||
			*p.Key.OSL != 50 || *p.Key.Concurrency != 4 {
			t.Errorf("%s: ttft %v, model %q, key %s", c.name, mean, r.Facts.Model.ID, p.Key)
		}
		if _, has := p.Value("ttft", "p99"); has {
			t.Errorf("%s: a null became a number", c.name)
		}
		if strings.Contains(strings.Join(p.Command, " "), "s3cret") {
			t.Errorf("%s: a key is in the command: %v", c.name, p.Command)
		}
	}
}

func TestFailures(t *testing.T) {
	all := file("x.json",
		`{"error_request_count":{"unit":"requests","avg":7},`+config+
			`,"error_summary":[{"error_details":{"message":"refused"},"count":7}],"was_cancelled":false}`)
	if m := aiperf.Reader.Detect(all); !m.OK() {
		t.Fatalf("a run in which all failed is not recognised: %+v", m)
	}
	r := aiperf.Reader.Read(all)
	if p := r.Points[0]; p.Status != schema.StatusFailed || drafttest.Metric(p, "ttft").Kind().Why == "" ||
		len(drafttest.Metric(p, "ttft").Stats) > 0 || !strings.Contains(r.Problems[0].Found, "refused") {
		t.Errorf("%+v %v", p, r.Problems)
	}
	part := aiperf.Reader.Read(file("x.json",
		`{"time_to_first_token":{"unit":"ms","avg":10},"request_count":{"unit":"requests","avg":8},`+config+
			`,"error_summary":[{"error_details":{"message":"x"},"count":1},`+
			`{"error_details":{"message":"y"},"count":1}],"was_cancelled":true}`))
	if v, _ := part.Points[0].Value("requests_failed", "value"); v != 2 ||
		part.Points[0].Status != schema.StatusPartial {
		t.Errorf("failures are counted by requests, not by kinds: %v %s", v, part.Points[0].Status)
	}
}

func TestFewerRecordsThanRequests(t *testing.T) {
	r := aiperf.Reader.Read(file("x.json",
		`{"time_to_first_token":{"unit":"ms","avg":10},"request_count":{"unit":"requests","avg":8},`+config+
			`,"error_summary":[]}`))
	rec := aiperf.Reader.Read(file("x.jsonl",
		`{"metadata":{"x_request_id":"a","benchmark_phase":"profiling","request_start_ns":1},`+
			`"metrics":{"time_to_first_token":{"value":99,"unit":"ms"},"request_latency":{"value":199,"unit":"ms"},`+
			`"output_sequence_length":{"value":5,"unit":"tokens"}}}`))
	aiperf.Combine(&r, rec)
	if mean, _ := r.Points[0].Value("ttft", "mean"); mean != 10 || len(r.Problems) != 1 ||
		r.Problems[0].Code != "fewer-records" {
		t.Errorf("%v %v", mean, r.Problems)
	}
}

func TestOtherFilesAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{"timeslices":[{"timeslice_index":0}]}`:                                          aiperf.Aside,
		`{"aggregation_type":"sweep","per_combination_metrics":[]}`:                       aiperf.Aside,
		`{"timestamp_ns":1,"gpu_index":0,"telemetry_data":{"x":1}}`:                       aiperf.Aside,
		`{"request_throughput":{"unit":"x","avg":1},"input_config":{"perf_analyzer":{}}}`: aiperf.GenAI,
		`{"input_config":{},"hello":1}`:                                                   "",
	} {
		m := aiperf.Reader.Detect(file("x.json", text))
		if (want == "") == m.OK() || (want != "" && m.Format != want) {
			t.Errorf("%s: %+v", text, m)
		}
	}
}

var reader = drafttest.Reader{Detect: aiperf.Reader.Detect, Read: aiperf.Reader.Read}

const genai = `{"request_throughput":{"unit":"requests/sec","avg":5.5},"request_latency":{"unit":"ms","avg":900.0,` +
	`"p50":880.0,"p99":1200.0},"inter_token_latency":{"unit":"ms","avg":8.5},"time_to_first_token":{"unit":"ms",` +
	`"avg":45.0},"input_config":{"model_names":["acme/tiny"],"perf_analyzer":{"stimulus":{"concurrency":16}}}}`

// GenAI-Perf writes the same blocks; its inter-token latency is TPOT too.
func TestGenAIPerf(t *testing.T) {
	r := reader.Must(t, "x_genai_perf.json", genai)
	p := r.Points[0]
	drafttest.Expect(t, p, map[string]float64{"tpot.mean": 8.5, "ttft.mean": 45, "e2el.median": 880, "rps.value": 5.5})
	if p.Key.Tool != "genai-perf" || *p.Key.Concurrency != 16 || r.Facts.Model.ID != "acme/tiny" ||
		r.Format != aiperf.GenAI {
		t.Errorf("%s %+v", p.Key, r.Facts)
	}
}

// A table without its summary; columns differ by era.
func TestTable(t *testing.T) {
	r := reader.Must(t, "profile_export_aiperf.csv",
		"Metric,avg,min,max,sum,p1,p50,p99,std\r\nTime to First Token "+
			"(ms),52.83,51.19,60.25,400,51,51.48,59.75,2.88\r\nRequest Latency (sec),0.36,0.3,0.4,1,1,0.35,0.4,0.1\r\nOdd "+
			"Thing (parsec),1,1,1,1,1,1,1,1\r\n\r\nMetric,Value\r\nRequest Count,8.00\r\nError Request Count,2.00\r\nOutput "+
			"Token Throughput (tokens/sec),\"1,086.85\"\r\n\r\nEndpoint,GPU_Index\r\n")
	drafttest.Expect(t, r.Points[0], map[string]float64{
		"ttft.mean": 52.83, "ttft.p99": 59.75, "e2el.mean": 360, "requests_ok.value": 8, "requests_failed.value": 2,
		"output_tps.value": 1086.85,
	})
	if r.Points[0].Status != schema.StatusPartial || drafttest.Codes(r) != "partly-failed" {
		t.Error(r.Points[0].Status, r.Problems)
	}
	r = reader.Must(t, "x.csv", "Metric,avg,min,max,p50\nTime to First Token (fortnights),5,5,5,5\n\nMetric,Value\n"+
		"Request Count,8\n")
	if drafttest.Codes(r) != "unknown-unit" || len(drafttest.Metric(r.Points[0], "ttft").Stats) > 0 {
		t.Errorf("a unit that nobody knows: %v", r.Problems)
	}
}

// A table that ends in its middle says so, and is no whole measurement.
func TestCutTable(t *testing.T) {
	const whole = "Metric,avg,min,max,p50\nTime to First Token (ms),52.83,51.19,60.25,51.5\n" +
		"Request Latency (ms),360,300,400,350\n\nMetric,Value\nRequest Count,8.00\n"
	if r := reader.Must(t, "x.csv", whole); drafttest.Codes(r) != "" || r.Points[0].Status != schema.StatusOK {
		t.Fatalf("%s %v", r.Points[0].Status, r.Problems)
	}
	for n := strings.Index(whole, "\n") + 1; n < len(whole); n++ {
		r := reader.Must(t, "x.csv", whole[:n])
		if p := r.Points[0]; drafttest.Codes(r) != "truncated" || p.Status != schema.StatusPartial {
			t.Errorf("cut after %q: %s %v", whole[:n], p.Status, r.Problems)
		}
	}
}

// The rates of all versions are over the duration, whichever files lie beside the summary.
func TestRatesAreOverTheDuration(t *testing.T) {
	r := reader.Must(t, "profile_export_aiperf.json", `{"request_throughput":{"unit":"requests/sec","avg":14.27},`+
		`"output_token_throughput":{"unit":"tokens/sec","avg":456.64},"request_count":{"unit":"requests","avg":60},`+
		`"benchmark_duration":{"unit":"sec","avg":4.118},"output_sequence_length":{"unit":"tokens","avg":32},`+
		`"time_to_first_token":{"unit":"ms","avg":50},"input_config":{},"aiperf_version":"0.13.0","error_summary":[]}`)
	drafttest.Expect(t, r.Points[0], map[string]float64{"rps.value": 14.57018, "output_tps.value": 466.2457})
	if drafttest.Codes(r) != "rate-window" {
		t.Error(r.Problems)
	}
}

func FuzzRead(f *testing.F) {
	reader.Fuzz(f, "f.csv", printed, `{"records":{"ttft":{"unit":"ms","avg":10}},`+config+`,"error_summary":[]}`,
		`{"metadata":{"x_request_id":"a","request_start_ns":1e300},"metrics":{"request_latency":{"value":-1}}}`, genai,
		"Metric,avg,min,max,p1\nTime to First Token (ms),1,2,3,4\n\nMetric,Value\nRequest Count,1\n")
}

// Hits of the prefix cache, speculative decoding and input throughput are metrics.
func TestLoadsOf2026(t *testing.T) {
	r := reader.Must(t, "profile_export_aiperf.json", `{"aiperf_version":"0.13.0","input_config":{},"error_summary":[],
		"time_to_first_token":{"unit":"ms","avg":10},"input_token_throughput":{"unit":"tokens/sec","avg":512.5},
		"theoretical_prefix_cache_hit":{"unit":"%","avg":94.5},
		"overall_usage_prompt_cache_read_pct":{"unit":"%","avg":65.5},
		"spec_decode_token_weighted_acceptance_length":{"unit":"ratio","avg":3.25},
		"spec_decode_overall_draft_acceptance_rate":{"unit":"%","avg":56.25}}`)
	drafttest.Expect(t, r.Points[0], map[string]float64{
		"input_tps.value": 512.5, "prefix_hits_possible.value": 94.5, "prefix_hits.value": 65.5,
		"acceptance_length.value": 3.25, "acceptance_rate.value": 56.25,
	})
}

// What DCGM states of accelerators is of all of them: one that two exporters see counts once, and of one without a
// power the power of all is not known.
func TestTelemetry(t *testing.T) {
	gpu := func(id, metrics string) string {
		return `"gpu_0":{"gpu_uuid":"` + id + `","metrics":{` + metrics + `}}`
	}
	full := `"gpu_power_usage":{"unit":"W","avg":100},"gpu_utilization":{"unit":"%","avg":90},` +
		`"gpu_memory_used":{"unit":"GB","avg":8,"max":8.589934592}`
	half := `"gpu_utilization":{"unit":"%","avg":30},"gpu_memory_used":{"unit":"GB","avg":8,"max":17.179869184}`
	for second, want := range map[string]map[string]float64{
		gpu("a", full): {"power_w.value": 100, "energy_token.value": 2, "accelerator_busy.value": 90,
			"accelerator_memory.value": 8},
		gpu("b", full): {"power_w.value": 200, "energy_token.value": 4, "accelerator_busy.value": 90,
			"accelerator_memory.value": 8},
		gpu("b", half): {"accelerator_busy.value": 60, "accelerator_memory.value": 16},
	} {
		r := reader.Must(t, "profile_export_aiperf.json", `{"aiperf_version":"0.3.0","input_config":{},"error_summary":[],
			"time_to_first_token":{"unit":"ms","avg":10},"output_token_throughput":{"unit":"tokens/sec","avg":50},
			"telemetry_data":{"endpoints":{"h:9400":{"gpus":{`+gpu("a", full)+`}},"h:9402":{"gpus":{`+second+`}}}}}`)
		drafttest.Expect(t, r.Points[0], want)
		if _, has := r.Points[0].Metric("power_w"); has != (want["power_w.value"] > 0) {
			t.Errorf("%s: power %v", second, has)
		}
	}
}
