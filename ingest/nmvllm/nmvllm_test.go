package nmvllm_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/nmvllm"
	"github.com/ttreport/ttreport/ingest/schema"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var reader = Reader{Detect: nmvllm.Reader.Detect, Read: nmvllm.Reader.Read}

const description = `VLLM Serving - Dense\nmodel - acme/tiny\nmax-model-len - 2048\nsparsity - ` +
	`sparse_w16a16\nbenchmark_serving {}`

const result = `{"json_schema_version":"0.0.0","vllm_version":"0.4.1",` +
	`"benchmarking_context":{"vllm_version":"0.4.1"},"description":"` + description + `",` +
	`"gpu_description":"NVIDIA A10G x 2","epoch_time":1714000000.5,"date":"2024-04-24 23:06:40 UTC",` +
	`"script_name":"benchmark_serving.py",
 "script_args":{"nr_qps_pair_":"300,2.5","server_tensor_parallel_size":2},"model":"acme/tiny","dataset":"sharegpt",` +
	`"metadata":{"completed":290,"num_prompts":300,"duration":100.0,"request_rate":2.5},
 "metrics":{"mean_ttft_ms":{"key":"mean_ttft_ms","unit":"ms","value":23.5,"tool":"customSmallerIsBetter"},` +
	`"mean_tpot_ms":{"key":"mean_tpot_ms","unit":"ms","value":8.0,"type":"SmallerIsBetter"},` +
	`"p99_request_latency":{"key":"p99_request_latency","unit":"ms","value":900.0},` +
	`"request_throughput":{"key":"request_throughput","unit":"prompts/s","value":2.9}}}`

// bench is a value of a store.
func bench(metric, gpu, date string, value float64) map[string]any {
	name, _ := json.Marshal(map[string]string{
		"name": metric, "description": "VLLM Serving - Dense\nmodel - acme/tiny\nmax-model-len - 2048",
		"gpu_description": gpu, "vllm_version": "0.5.1",
	})
	extra, _ := json.Marshal(map[string]any{
		"benchmarking_context": map[string]any{"vllm_version": "0.5.1"}, "gpu_description": gpu,
		"script_args": map[string]any{"nr_qps_pair_": []any{300, "1.0"}}, "date": date, "model": "acme/tiny",
		"dataset": "sharegpt",
	})
	return map[string]any{"name": string(name), "value": value, "unit": "ms", "extra": string(extra)}
}

func store() string {
	entry := func(commit string, ms int, benches ...any) map[string]any {
		return map[string]any{
			"commit": map[string]any{"id": commit, "message": "token=hf_abcdefghijklmnop"}, "date": ms,
			"tool": "customSmallerIsBetter", "benches": benches,
		}
	}
	b, _ := json.Marshal(map[string]any{
		"lastUpdate": 1, "repoUrl": "x",
		"entries": map[string]any{
			"smaller_is_better": []any{
				entry("c1", 1720492032018, bench("mean_ttft_ms", "NVIDIA L4 x 1", "2024-07-09 02:12:27 UTC", 23.5),
					bench("mean_tpot_ms", "NVIDIA L4 x 1", "2024-07-09 02:12:27 UTC", 8)),
				entry("c1", 1720499999018, bench("mean_ttft_ms", "NVIDIA L4 x 1", "2024-07-09 04:30:00 UTC", 24)),
				entry("c2", 1720592032018, bench("mean_ttft_ms", "NVIDIA H100 x 1", "2024-07-10 02:12:27 UTC", 13)),
			},
			"z_others": []any{entry("c3", 1720592032018, map[string]any{"name": "BenchmarkFib", "value": 5, "unit": "ns"})},
		},
	})
	return "window.BENCHMARK_DATA = " + string(b) + ";\n"
}

// A store has the means of a measurement in one suite and its percentiles in another, published seconds later.
func TestSuitesOfOneMeasurement(t *testing.T) {
	entry := func(ms int, benches ...any) []any {
		return []any{map[string]any{"commit": map[string]any{"id": "c1"}, "date": ms, "benches": benches}}
	}
	const first, second = "2024-07-09 02:12:27 UTC", "2024-07-09 02:31:00 UTC"
	data, _ := json.Marshal(map[string]any{"lastUpdate": 1, "repoUrl": "x", "entries": map[string]any{
		"observation_metrics": entry(1720492038018, bench("p90_ttft_ms", "L4 x 1", first, 31),
			bench("p90_ttft_ms", "L4 x 1", second, 32)),
		"smaller_is_better": entry(1720492032018, bench("mean_ttft_ms", "L4 x 1", first, 23),
			bench("mean_ttft_ms", "L4 x 1", second, 24)),
	}})
	r := reader.Must(t, "data.js", "window.BENCHMARK_DATA = "+string(data))
	if n := len(r.Points) + len(r.More); n != 2 {
		t.Fatalf("%d points of two measurements", n)
	}
	Expect(t, r.Points[0], map[string]float64{"ttft.mean": 23, "ttft.p90": 31})
	Expect(t, r.Points[1], map[string]float64{"ttft.mean": 24, "ttft.p90": 32})
}

// Before 0.5.0 TPOT includes the first token.
func TestResult(t *testing.T) {
	r := reader.Must(t, "x.json", result)
	p := r.Points[0]
	Expect(t, p, map[string]float64{
		"ttft.mean": 23.5, "ntpot.mean": 8, "e2el.p99": 900, "rps.value": 2.9, "requests_ok.value": 290,
		"requests_failed.value": 10,
	})
	if Metric(p, "ntpot").Kind().Def != schema.DefInclFirst || *p.Key.Rate != 2.5 ||
		p.Conditions["num_prompts"] != "300" ||
		p.Key.Dims["sparsity"] != "sparse_w16a16" || p.Key.Dims["max_model_len"] != "2048" ||
		p.Key.Dims[schema.DimLabel] != "sharegpt" {
		t.Errorf("%s %v", p.Key, p.Conditions)
	}
	if r.Facts.Device.Name != "NVIDIA A10G" || r.Facts.Device.Chips != 2 || r.Facts.Start.Unix() != 1714000000 {
		t.Errorf("%+v", r.Facts)
	}
}

// A commit measured again is a run of its own; versions are attributes and no part of a series.
func TestStore(t *testing.T) {
	r := reader.Must(t, "data.js", store())
	if len(r.Points) != 1 || len(r.More) != 3 {
		t.Fatalf("%d points, %d more, %v", len(r.Points), len(r.More), r.Problems)
	}
	Expect(t, r.Points[0], map[string]float64{"ttft.mean": 23.5, "tpot.mean": 8})
	if r.Facts.Stack.Commits["nm-vllm"] != "c1" || r.Facts.Stack.Version != "0.5.1" ||
		!r.Facts.Start.Equal(time.Date(2024, 7, 9, 2, 12, 27, 0, time.UTC)) || r.More[1].Facts.Device.Name != "NVIDIA H100" {
		t.Errorf("%+v", r.Facts)
	}
	if r.Facts.Release != "2024-07-09" || r.Facts.Channel != schema.ChannelMain {
		t.Errorf("release %q on channel %q", r.Facts.Release, r.Facts.Channel)
	}
	if a, b := r.Points[0].Key.String(), r.More[0].Points[0].Key.String(); a != b {
		t.Errorf("one workload under two keys: %s and %s", a, b)
	}
}

// A store of any project is read: each value is a workload of its own, a commit is a build on channel main.
func TestStoreOfOthers(t *testing.T) {
	r := reader.Must(t, "data.js", `window.BENCHMARK_DATA = {"lastUpdate":1,"repoUrl":"https://x.org/acme/serve",`+
		`"entries":{"Go":[{"commit":{"id":"abcdef0123"},"date":1720492032018,"tool":"go","benches":[`+
		`{"name":"BenchmarkFib10","value":325,"unit":"ns/op","range":"± 2%"},{"name":"x","value":5,"unit":"widgets"},`+
		`{"name":"y","value":"n/a","unit":"ms"}]}],"py":[{"commit":{"id":"abcdef0123"},"date":1720499032018,"tool":"pytest",`+
		`"benches":[{"name":"test_z","value":12.5,"unit":"iter/sec"}]}],"own":[{"commit":{"id":"abcdef0123"},`+
		`"date":1720499032018,"tool":"customBiggerIsBetter","benches":[`+
		`{"name":"tok/s batch 8","value":99,"unit":"tok/s"}]}]}}`)
	Check(t, r)
	if len(r.Points) != 1 || len(r.More) != 2 || Codes(r) != "other-benchmarks" {
		t.Fatalf("%d points, %d more, %s", len(r.Points), len(r.More), Codes(r))
	}
	Expect(t, r.Points[0], map[string]float64{"value{ns/op,lower}.value": 325, "value{ns/op,lower}.std": 6.5})
	Expect(t, r.More[0].Points[0], map[string]float64{"value{iter/sec,higher}.value": 12.5})
	Expect(t, r.More[1].Points[0], map[string]float64{"value{tok/s,higher}.value": 99})
	for _, f := range []schema.Facts{r.Facts, r.More[0].Facts, r.More[1].Facts} {
		if f.Release != "2024-07-09 abcdef0" || f.Channel != schema.ChannelMain || f.Stack.Commits["serve"] != "abcdef0123" {
			t.Errorf("%+v", f)
		}
	}
	if r.Points[0].Key.Dims[schema.DimLabel] != "BenchmarkFib10" || r.Points[0].Key.Dims["suite"] != "Go" {
		t.Error(r.Points[0].Key)
	}
}

// What a value says of itself is known: the model and device in its extra text. What was set is no result.
func TestStatedByExtra(t *testing.T) {
	r := reader.Must(t, "data.js", `window.BENCHMARK_DATA = {"lastUpdate":1,`+
		`"repoUrl":"https://x.org/acme/serve","entries":{"B":[`+
		`{"commit":{"id":"abcdef0123"},"date":1720499032018,"tool":"customBiggerIsBetter","benches":[`+
		`{"name":"m 1024/128 c=8 tput","value":99,"unit":"tok/s",`+
		`"extra":"Run: https://x.org/1 | GPU: AMD MI355X | Model: acme/m"},`+
		`{"name":"m 1024/128 c=8 _gpu_count","value":8,"unit":""}]}]}}`)
	if f := r.Facts; len(r.Points) != 1 || f.Model.ID != "acme/m" || f.Device.Name != "AMD MI355X" ||
		Codes(r) != "settings" {
		t.Errorf("%d points of %+v, %s", len(r.Points), r.Facts, Codes(r))
	}
}

// A suite that says "higher is better" of everything does not make a latency that rises an improvement.
func TestContradictedDirection(t *testing.T) {
	var benches []string
	for _, b := range []struct {
		name, unit string
		want       string // direction
	}{
		{"conc1 avg latency", "ms", "lower"}, {"load", "s", "lower"}, {"mean_ttft", "", "lower"},
		{"failed requests", "count", "lower"}, {"error rate", "%", "lower"},
		{"request throughput", "req/s", "higher"}, {"low latency mode", "tok/s/gpu", "higher"},
		{"latency SLO attainment", "%", "higher"}, {"error-free answers", "%", "higher"}, {"time saved", "s", "higher"},
	} {
		benches = append(benches, fmt.Sprintf(`{"name":%q,"value":0.5,"unit":%q}`, b.name+" is "+b.want, b.unit))
	}
	text := func(benches ...string) string {
		return `window.BENCHMARK_DATA = {"lastUpdate":1,"repoUrl":"https://x.org/acme/serve","entries":{"own":[{` +
			`"commit":{"id":"abcdef0123"},"date":1720499032018,"tool":"customBiggerIsBetter","benches":[` +
			strings.Join(benches, ",") + `]}]}}`
	}
	r := reader.Must(t, "data.js", text(benches...))
	Check(t, r)
	if len(r.Points) != len(benches) || Codes(r) != "direction" {
		t.Fatalf("%d points, %s", len(r.Points), Codes(r))
	}
	for _, p := range r.Points {
		title := p.Key.Dims[schema.DimLabel]
		for i := range p.Metrics {
			metric := p.Metrics[i].Name()
			if info, _ := schema.MetricByName(metric); title[strings.LastIndexByte(title, ' ')+1:]+" is better" !=
				info.Better.String() {
				t.Errorf("%q is read as %s", title, metric)
			}
		}
	}
	if p := r.Problems[0]; !strings.HasPrefix(p.Found, `5 values that state "higher is better"`) ||
		!strings.Contains(p.Found, `latency is lower" in ms`) || p.Used != "lower is better" || p.Hint == "" {
		t.Errorf("%+v", p)
	}
	if r := reader.Must(t, "data.js", text(benches[5:]...)); Codes(r) != "" {
		t.Errorf("rates alone: %s", Codes(r))
	}
}

// A build has the day of its first measurement in UTC, also at midnight; jobs that run past midnight are one build.
func TestDayOfABuild(t *testing.T) {
	at := func(text string) int64 {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when.UnixMilli()
	}
	var entries []string
	dates := []string{"2026-01-02T00:00:00Z", "2026-01-02T11:59:59Z", "2026-01-02T23:50:00Z", "2026-01-03T00:10:00Z",
		"2026-01-05T00:00:00Z"}
	for i, c := range []string{"aaaaaaa", "bbbbbbb", "ccccccc", "ccccccc", "ccccccc"} {
		entries = append(entries, fmt.Sprintf(`{"commit":{"id":"%s"},"date":%d,"tool":"go","benches":[{"name":"x%d",`+
			`"value":%d,"unit":"ns/op"}]}`, c, at(dates[i]), i, i+1))
	}
	r := reader.Must(t, "data.js", `window.BENCHMARK_DATA = {"lastUpdate":1,"repoUrl":"https://x.org/acme/serve",`+
		`"entries":{"Go":[`+strings.Join(entries, ",")+`]}}`)
	got := []string{r.Facts.Release}
	for _, m := range r.More {
		got = append(got, m.Facts.Release)
	}
	want := []string{"2026-01-02 aaaaaaa", "2026-01-02 bbbbbbb", "2026-01-02 ccccccc", "2026-01-02 ccccccc",
		"2026-01-05 ccccccc"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A commit that published no number is a build that failed, and not one that never was.
func TestEmptyCommits(t *testing.T) {
	entry := func(day, benches string) string {
		return `{"commit":{"id":"` + day + `34567890"},"date":17799134` + day + `00000,"tool":"customBiggerIsBetter",` +
			`"benches":[` + benches + `]}`
	}
	r := reader.Must(t, "data.js", `window.BENCHMARK_DATA = {"lastUpdate":1,"entries":{"speed":[`+
		entry("10", `{"name":"a","value":5.5,"unit":"tok/s"},{"name":"b","value":null}`)+","+
		entry("11", `{"name":"a","value":null,"unit":"tok/s"},{"name":"b","value":""}`)+","+entry("12", "")+`]}}`)
	got := ""
	for _, run := range append([]schema.Reading{r}, r.More...) {
		got += "; " + Codes(run) + " "
		for _, p := range run.Points {
			got += fmt.Sprintf("%s %s %s,", p.Key.Workload(), p.Status, p.Metrics[0].Kind().Why)
		}
	}
	const no = "failed the commit has no value of it,"
	if got != "; other-benchmarks a, suite speed ok ,; all-failed a, suite speed "+no+"b, suite speed "+no+
		"; all-failed suite speed "+no {
		t.Error(got)
	}
}

func FuzzRead(f *testing.F) { reader.Fuzz(f, "data.js", result, store()) }
