package ingest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

// serve is a result of vLLM's client with further members, which come first and so may be overwritten by the others.
func serve(members string) string {
	return `{` + members +
		`"date":"20260101-000000","model_id":"acme/x","completed":8,"duration":2.0,"output_throughput":20.5,` +
		`"mean_ttft_ms":10.25,"p99_ttft_ms":14.75,"mean_tpot_ms":2.125}`
}

// points lists all points of a set.
func points(set ingest.Set) []schema.Point {
	var out []schema.Point
	for _, r := range set.Runs {
		out = append(out, r.Points...)
	}
	return out
}

func gz(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

const hollowArrays = `"num_prompts":3,"ttfts":[0.01,0.02,0.0],"itls":[[0.002,0.002],[0.002,0.002],[]],` +
	`"output_lens":[3,3,0],"input_lens":[5,5,5],"errors":["","",""],`

// The quirks that real files have, one test each, in the order in which they were collected.

// loadOne loads a file with one point.
func loadOne(t *testing.T, name, text string) (ingest.Set, schema.Point) {
	t.Helper()
	set := load(t, ingest.Options{}, map[string]string{name: text})
	list := points(set)
	if len(list) != 1 {
		t.Fatalf("%d points, %v", len(list), set.Problems)
	}
	return set, list[0]
}

// hasCode expects a problem.
func hasCode(t *testing.T, set ingest.Set, code string) {
	t.Helper()
	if !strings.Contains(" "+codes(set.Problems)+" ", " "+code+" ") {
		t.Errorf("no %s among %q", code, codes(set.Problems))
	}
}

// NaN and Infinity are not numbers; within strings they are text.
func TestQuirk01(t *testing.T) {
	set, p := loadOne(t, "a.json",
		serve(`"burstiness":Infinity,"request_rate":"inf","std_ttft_ms":NaN,"note":"NaN of text",`))
	if p.Key.Rate != nil || !math.IsNaN(drafttest.Stat(p, "ttft", "std")) || string(p.Extra["note"]) != `"NaN of text"` {
		t.Errorf("%s %v", p.Key, p.Extra)
	}
	hasCode(t, set, "non-finite")
}

// Several values in one file, the last one truncated.
func TestQuirk02(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		"a.json": serve(``) + "\n" + serve(`"max_concurrency":4,`) + "\n" + serve("")[:60],
	})
	if len(points(set)) != 2 {
		t.Errorf("%d points", len(points(set)))
	}
	hasCode(t, set, "truncated-json")
}

// A warm-up before the results of a file has no time, and theirs is that of the run.
func TestRunsOfAFileBeginAfterItsWarmUp(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		"a.jsonl": serve(`"type":"warmup",`) + "\n" + serve(`"max_concurrency":4,`) + "\n",
	})
	at := time.Date(2025, 12, 31, 23, 59, 58, 0, time.UTC) // the client writes a time when it has ended
	if len(set.Runs) != 1 || len(points(set)) != 1 || !set.Runs[0].Start.Equal(at) {
		t.Errorf("%d runs, %d points, %v", len(set.Runs), len(points(set)), set.Runs[0].Start)
	}
}

// A damaged line in the middle.
func TestQuirk02b(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		"a.jsonl": serve(``) + "\n{\"completed\":what}\n" + serve(`"max_concurrency":4,`) + "\n",
	})
	if len(points(set)) != 2 {
		t.Errorf("%d points", len(points(set)))
	}
	hasCode(t, set, "bad-json")
}

// A log line that begins with a bracket is not JSON.
func TestQuirk03(t *testing.T) {
	_, p := loadOne(t, "a.log",
		"[BENCHMARK] model_name m batch_size 1 input_length 60 output_length 20 tokens_per_sec 5.5 latency(ms) 10.5\n")
	drafttest.Expect(t, p, map[string]float64{"e2el.mean": 10.5})
}

// Byte order mark, gzip, CRLF.
func TestQuirk04(t *testing.T) {
	for _, text := range []string{"\xef\xbb\xbf" + serve(""), gz(serve("")), strings.ReplaceAll(serve(""), ",", ",\r\n")} {
		loadOne(t, "a.json", text)
	}
}

// Zeros of a run in which all requests failed are not data.
func TestQuirk05(t *testing.T) {
	set, p := loadOne(t, "a.json",
		`{"completed":0,"failed":8,"output_throughput":0.0,"mean_ttft_ms":0.0,"mean_tpot_ms":0.0,"request_throughput":0.0}`)
	if p.Status != schema.StatusFailed || len(drafttest.Metric(p, "ttft").Stats)+len(drafttest.Metric(p,
		"rps").Stats) > 0 {
		t.Errorf("%+v", p.Metrics)
	}
	hasCode(t, set, "all-failed")
}

// Partial failure without a failed key.
func TestQuirk06(t *testing.T) {
	_, p := loadOne(t, "a.json", serve(`"num_prompts":10,`))
	if drafttest.Stat(p, "requests_failed", "value") != 2 || drafttest.Metric(p,
		"requests_failed").Kind().From != "derived" ||
		p.Status != schema.StatusPartial {
		t.Errorf("%+v", drafttest.Metric(p, "requests_failed"))
	}
}

// Hollow successes are found in the arrays.
func TestQuirk07(t *testing.T) {
	set, p := loadOne(t, "a.json", strings.Replace(serve(hollowArrays), `"completed":8`, `"completed":3`, 1))
	drafttest.Expect(t, p, map[string]float64{"ttft.mean": 15, "requests_ok.value": 2, "requests_failed.value": 1})
	hasCode(t, set, "hollow-success")
}

// Goodput under a key with a colon; null is not 0.
func TestQuirk08(t *testing.T) {
	_, p := loadOne(t, "a.json", serve(`"request_goodput:":1.5,`))
	_, none := loadOne(t, "a.json", serve(`"request_goodput:":null,`))
	_, zero := loadOne(t, "a.json", serve(`"request_goodput":0.0,`))
	if drafttest.Stat(p, "goodput_rps", "value") != 1.5 || len(drafttest.Metric(none, "goodput_rps").Stats) > 0 ||
		drafttest.Stat(zero, "goodput_rps", "value") != 0 {
		t.Error("goodput")
	}
}

// Any percentile, and neither mean nor median.
func TestQuirk09(t *testing.T) {
	_, p := loadOne(t, "a.json", `{"completed":1,"output_throughput":5.0,"p99.9_ttft_ms":7.5,"p50_ttft_ms":5.5}`)
	drafttest.Expect(t, p, map[string]float64{"ttft.p99.9": 7.5, "ttft.median": 5.5, "ttft.mean": math.NaN()})
}

// Mean and median of E2EL exchanged in v0.6.0 to v0.6.3.
func TestQuirk10(t *testing.T) {
	set, p := loadOne(t, "a.json",
		serve(`"num_prompts":8,"total_token_throughput":5.0,"mean_e2el_ms":50.0,"median_e2el_ms":80.0,`))
	drafttest.Expect(t, p, map[string]float64{"e2el.mean": 80, "e2el.median": 50})
	hasCode(t, set, "swapped-e2el")
}

// TPOT that includes the first token is another metric.
func TestQuirk11(t *testing.T) {
	_, p := loadOne(t, "a.json",
		`{"completed":8,"input_throughput":5.0,"output_throughput":5.0,"mean_ttft_ms":10.5,"mean_tpot_ms":3.5}`)
	if drafttest.Stat(p, "ntpot", "mean") != 3.5 || len(drafttest.Metric(p, "tpot").Stats) > 0 {
		t.Errorf("%+v", p.Metrics)
	}
}

// Seconds and milliseconds.
func TestQuirk12(t *testing.T) {
	_, x := loadOne(t, "a.json", `{"completed":8,"output_throughput":5.0,"median_ttft":0.25}`)
	_, l := loadOne(t, "l.json", `{"avg_latency":2.5,"latencies":[2.5],"percentiles":{"99":2.5}}`)
	if drafttest.Stat(x, "ttft", "median") != 250 || drafttest.Stat(l, "e2el", "mean") != 2500 {
		t.Error("seconds passed as milliseconds")
	}
}

// Tokens a second that count the prompt.
func TestQuirk13(t *testing.T) {
	_, p := loadOne(t, "a.json",
		`{"elapsed_time":2.0,"num_requests":4,"requests_per_second":2.0,"tokens_per_second":99.5}`)
	if drafttest.Stat(p, "total_tps", "value") != 99.5 || len(drafttest.Metric(p, "output_tps").Stats) > 0 {
		t.Errorf("%+v", p.Metrics)
	}
}

// Metadata are strings, with dots in names, empty, or over the tool's own.
func TestQuirk14(t *testing.T) {
	set, p := loadOne(t, "a.json",
		strings.Replace(serve(`"tensor_parallel_size":"8","compilation_config.mode":"","isl":"128","osl":"64",`+
			`"is_fast":"true",`), `"model_id":"acme/x"`, `"model_id":"acme/x","model_id":"acme/told"`, 1))
	if *p.Key.ISL != 128 || set.Runs[0].Model.ID != "acme/told" || string(p.Extra["tensor_parallel_size"]) != `"8"` ||
		p.Extra["compilation_config.mode"] != nil {
		t.Errorf("%s %v", p.Key, p.Extra)
	}
}

// The client's backend is not the server.
func TestQuirk15(t *testing.T) {
	set, p := loadOne(t, "a.json", serve(`"backend":"vllm",`))
	if set.Runs[0].Stack.Engine != "" || p.Conditions["client"] != "vllm" {
		t.Errorf("%+v", set.Runs[0].Stack)
	}
}

// Naive dates are said to be so; a missing one is that of a name, and never the file's own time.
func TestQuirk16(t *testing.T) {
	set, _ := loadOne(t, "a.json", serve(""))
	if !strings.Contains(set.Runs[0].Provenance["start"].Where, "zone not stated") {
		t.Errorf("%+v", set.Runs[0].Provenance["start"])
	}
	for name, want := range map[string]string{
		"a.json": "", "v2.0.1/a_20_30.json": "", "x-20261399.json": "", "n12026031612.json": "",
		"benchmark_2026-03-16_15-33-00.json": "2026-03-16T15:33:00Z by a name, zone not stated",
		"x-20260316-153300.json":             "2026-03-16T15:33:00Z by a name, zone not stated",
		"2026-03-16T1533/x.json":             "2026-03-16T15:33:00Z by a name, zone not stated",
		"2026-03-16/x.json":                  "2026-03-16T00:00:00Z by a name, the day alone",
		"x_12-20-2022-08-28-18.json":         "2022-12-20T08:28:18Z by a name, zone not stated",
		"x_20-12-2022.json":                  "2022-12-20T00:00:00Z by a name, the day alone",
		"x_08-09-2022-08-28-18.json":         "", // of September or of August
	} {
		file := fstest.MapFile{
			Data:    []byte(strings.Replace(serve(""), `"date":"20260101-000000",`, "", 1)),
			ModTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		}
		without, err := ingest.Load(context.Background(), []ingest.Root{
			{FS: fstest.MapFS{name: &file}, Name: "in"},
		}, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		run, got := without.Runs[0], ""
		if !run.Start.IsZero() {
			_, note, _ := strings.Cut(strings.TrimSuffix(run.Provenance["start"].Where, ")"), " (")
			got = run.Start.Format(time.RFC3339) + " " + note
		}
		if got != want || strings.HasPrefix(run.ID, "undated-") != (want == "") {
			t.Errorf("%s: %q, want %q, id %s", name, got, want, run.ID)
		}
	}
}

// Repeats are kept, the same file counts once.
func TestQuirk17(t *testing.T) {
	a := serve(`"max_concurrency":2,"random_input_len":128,"random_output_len":32,"request_throughput":1.5,`)
	b := strings.NewReplacer("000000", "000100", "10.25", "10.5").Replace(a)
	set := load(t, ingest.Options{}, map[string]string{
		"a.json": a, "b.json": b, "again/a.json": a, "packed.json.gz": gz(a),
	})
	list := points(set)
	if len(list) != 2 || len(set.Runs) != 1 || list[0].Key.String() != list[1].Key.String() || list[0].Repeat != 1 ||
		list[1].Repeat != 2 {
		t.Errorf("%d points in %d runs: %v", len(list), len(set.Runs), set.Problems)
	}
	hasCode(t, set, "duplicate")
}

// A sweep's runs count once, and its varied parameters are part of the workload.
func TestQuirk18(t *testing.T) {
	run := func(n, seqs int) string {
		return serve(fmt.Sprintf(`"run_number":%d,"max_num_seqs":%d,"random_input_len":128,"random_output_len":32,`+
			`"request_throughput":%d.25,`, n, seqs, n))
	}
	set := load(t, ingest.Options{}, map[string]string{
		"e/SERVE--max_num_seqs=4-BENCH--c=2/run=0.json":   run(0, 4),
		"e/SERVE--max_num_seqs=4-BENCH--c=2/run=1.json":   run(1, 4),
		"e/SERVE--max_num_seqs=4-BENCH--c=2/summary.json": "[" + run(0, 4) + "," + run(1, 4) + "]",
		"e/SERVE--max_num_seqs=8-BENCH--c=2/summary.json": "[" + run(5, 8) + "," + run(6, 8) + "]",
	})
	list := points(set)
	if len(list) != 4 || len(set.Runs) != 1 || list[0].Key.Dims["max_num_seqs"] != "4" || list[1].Repeat != 2 ||
		list[3].Key.Dims["max_num_seqs"] != "8" {
		t.Errorf("%d points in %d runs: %v", len(list), len(set.Runs), set.Problems)
	}
}

// The .pytorch.json next to a result repeats it, and only it has the arguments.
func TestQuirk19(t *testing.T) {
	rec := func(name string, v float64) string {
		return fmt.Sprintf(`{"benchmark":{"extra_info":{"args":{"dataset_name":"random","random_input_len":128,`+
			`"random_output_len":32}}},"model":{"name":"acme/x"},"metric":{"name":%q,"benchmark_values":[%v]}}`, name, v)
	}
	set := load(t, ingest.Options{}, map[string]string{
		"a.json": serve(""),
		"a.pytorch.json": "[" + rec("mean_ttft_ms", 10.25) + "," + rec("p99_ttft_ms", 14.75) + "," + rec("mean_tpot_ms",
			2.125) + "]",
	})
	list := points(set)
	if len(list) != 1 || list[0].Key.ISL == nil || *list[0].Key.ISL != 128 || list[0].Source.Path != "in/a.json" ||
		list[0].Stated["isl"] != "copy in a.pytorch.json" {
		t.Errorf("%d points: %+v", len(list), list)
	}
}

// A peak of concurrency above the limit.
func TestQuirk20(t *testing.T) {
	_, p := loadOne(t, "a.json", serve(`"max_concurrency":2,"max_concurrent_requests":6,`))
	if *p.Key.Concurrency != 2 || string(p.Extra["max_concurrent_requests"]) != "6" {
		t.Errorf("%s", p.Key)
	}
}

// TensorRT-LLM's None, n/a, zero memory, engine_dir and repeated header.
func TestQuirk21(t *testing.T) {
	_, p := loadOne(t, "a.log",
		"[BENCHMARK] engine_dir /e/m world_size 1 batch_size 1 input_length 60 output_length 1 gpu_peak_mem(gb) 0.0 "+
			"build_time(s) None tokens_per_sec n/a latency(ms) 10.5 generation_time(ms) 0.0\n")
	if len(p.Extra) != 0 || len(p.Metrics) != 1 {
		t.Errorf("%v %v", p.Extra, p.Metrics)
	}
	const head, row = "model_name,batch_size,input_length,output_length,latency(ms)\n", "m,%d,60,20,%d.5\n"
	csv := load(t, ingest.Options{}, map[string]string{
		"m.csv": head + fmt.Sprintf(row, 1, 10) + head + fmt.Sprintf(row, 8, 11),
	})
	twice := load(t, ingest.Options{}, map[string]string{
		"m.log": "[BENCHMARK] num_samples 4\n[BENCHMARK] num_error_samples 1\n\n[BENCHMARK] num_samples 4\n[BENCHMARK] " +
			"total_latency(ms) 5000\n",
	})
	if list := points(twice); len(points(csv)) != 2 || len(list) != 1 ||
		drafttest.Stat(list[0], "requests_ok", "value") != 3 {
		t.Errorf("%v %v", points(csv), list)
	}
}

// Lm-eval: the last comma, N/A, numbers as text, limits, a cut file.
func TestQuirk22(t *testing.T) {
	whole := `{"results":{"a":{"odd, name,flexible-extract":0.5,"acc,none":"0.25","acc_stderr,none":"N/A"}},` +
		`"n-samples":{"a":{"original":541,"effective":28}},"model_name":"acme/x","config":{"limit":28,"model_dtype":"x"}}`
	for _, text := range []string{whole, whole[:strings.Index(whole, `,"model_dtype"`)]} {
		set := load(t, ingest.Options{}, map[string]string{"results.json": text})
		if len(set.Runs) != 1 || len(set.Runs[0].Scores) != 2 || set.Runs[0].Scores[0].N != 28 ||
			set.Runs[0].Scores[0].Total != 541 {
			t.Errorf("%d runs, %v", len(set.Runs), set.Problems)
		}
	}
}

// A store: JSON within strings, versions within names.
func TestQuirk23(t *testing.T) {
	bench := func(version string, v float64) string {
		return fmt.Sprintf(`{"name":"{\"name\":\"mean_ttft_ms\",\"description\":\"d\",\"gpu_description\":\"L4 x 1\",`+
			`\"vllm_version\":\"%s\"}","value":%v,"unit":"ms",`+
			`"extra":"{\"model\":\"acme/x\",\"dataset\":\"sharegpt\",\"gpu_description\":\"L4 x 1\"}"}`, version, v)
	}
	set := load(t, ingest.Options{}, map[string]string{
		"data.js": `window.BENCHMARK_DATA = {"lastUpdate":1,"entries":{"s":[{"commit":{"id":"a"},"date":1720492032018,` +
			`"benches":[` + bench("0.5.1", 10.5) + `]},{"commit":{"id":"b"},"date":1720592032018,"benches":[` + bench("0.5.2",
			11.5) + `]}]}}`,
	})
	list := points(set)
	if len(list) != 2 || list[0].Key.String() != list[1].Key.String() || set.Runs[0].Stack.Version != "0.5.1" {
		t.Errorf("%d points", len(list))
	}
}

// Sglang without streaming.
func TestQuirk24(t *testing.T) {
	_, p := loadOne(t, "a.jsonl",
		`{"completed":4,"mean_e2e_latency_ms":5.5,"mean_tpot_ms":-0.0,"median_itl_ms":0.0,"output_throughput":9.5}`)
	if drafttest.Metric(p, "tpot").Kind().Why == "" || drafttest.Metric(p, "itl").Kind().Why == "" ||
		len(drafttest.Metric(p, "requests_failed").Stats) > 0 {
		t.Errorf("%+v", p.Metrics)
	}
}

// Two evals of one day, whose names state no time, are two: a score that both have by chance is in both.
func TestEvalsOfOneDay(t *testing.T) {
	eval := func(shots, piqa string) string {
		return `{"results":{"wsc":{"acc,none":0.3654,"acc_stderr,none":0.0474},"piqa":{"acc,none":` + piqa +
			`,"acc_stderr,none":0.0103}},"n-shot":{"wsc":` + shots + `,"piqa":` + shots + `},"model_name":"acme/m",` +
			`"versions":{"wsc":1,"piqa":1},"config":{}}`
	}
	set, err := ingest.Load(context.Background(), []ingest.Root{{FS: fstest.MapFS{
		"m-0shot_2022-03-09.json": {Data: []byte(eval("0", "0.7312"))},
		"m-5shot_2022-03-09.json": {Data: []byte(eval("5", "0.7512"))},
	}, Name: "in"}}, ingest.Options{})
	n := 0
	for _, r := range set.Runs {
		n += len(r.Scores)
	}
	if err != nil || n != 4 {
		t.Errorf("%v: %d of 4 scores: %+v", err, n, set.Problems)
	}
}
