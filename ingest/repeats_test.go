package ingest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/table"
)

// Results of one workload with different settings are not repeats; the number of the repeat, its place and its time
// are not settings.
func TestMetadataTellApart(t *testing.T) {
	file := func(n int, metadata string) string {
		return serve(fmt.Sprintf(`"random_input_len":128,"random_output_len":32,"max_concurrency":4,`+
			`"request_throughput":%d.25,%s`, n, metadata))
	}
	for name, c := range map[string]struct {
		files     map[string]string
		workloads int
		repeats   int
		codes     string
	}{
		"a setting": {map[string]string{
			"a.json": file(1, `"kv_cache":"fp8",`), "b.json": file(2, `"kv_cache":"auto",`),
			"c.json": file(3, `"kv_cache":"auto",`),
		}, 2, 2, "told-apart"},
		"a setting that one states": {
			map[string]string{"a.json": file(1, `"kv_cache":"fp8",`), "b.json": file(2, ``)}, 2, 1, "told-apart",
		},
		"parallelism": {map[string]string{
			"a.json": file(1, `"tensor_parallel_size":"8",`), "b.json": file(2, `"tensor_parallel_size":"1",`),
		}, 2, 1, ""},
		"repeats": {map[string]string{
			"a.json": file(1, `"run_id":"x1","seed":"1","host":"a","kv_cache":"fp8",`),
			"b.json": file(2, `"run_id":"x2","seed":"2","host":"b","kv_cache":"fp8",`),
		}, 1, 2, ""},
		"numbers of the tool": {map[string]string{
			"a.json": file(1, `"max_concurrent_requests":5,`), "b.json": file(2, `"max_concurrent_requests":6,`),
		}, 1, 2, ""},
	} {
		set := load(t, ingest.Options{}, c.files)
		keys, repeats := map[string]bool{}, 0
		for _, p := range points(set) {
			keys[p.Key.String()] = true
			repeats = max(repeats, p.Repeat)
		}
		if len(keys) != c.workloads || repeats != c.repeats || codes(set.Problems) != c.codes || len(set.Runs) != 1 {
			t.Errorf("%s: %d workloads, %d repeats, %q: %v", name, len(keys), repeats, codes(set.Problems), keys)
		}
	}
}

// What tells results of one folder apart in ways that their files do not state.
func TestUnlikeResultsAreNotAveraged(t *testing.T) {
	inf := `"random_input_len":128,"random_output_len":8,"request_rate":"inf","request_throughput":%d.25,"num_prompts":%d,`
	structured := "workflow_logs/benchmarks_output/benchmark_structured_id_tt-transformers_x_n150_2026-06-20_10-5%d-00_" +
		"dataset-xgrammar_bench_so-%s_osl-128_maxcon-4_n-100.json"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // a part of the key of each workload
	}{
		"as fast as possible": {map[string]string{
			"a.json": serve(fmt.Sprintf(inf, 1, 1)), "b.json": serve(fmt.Sprintf(inf, 2, 64)),
		}, []string{"num_prompts=1", "num_prompts=64"}},
		"structured output": {map[string]string{
			fmt.Sprintf(structured, 1, "0.0"): serve(`"max_concurrency":4,"correct_rate(%)":98.0,"request_throughput":1.25,`),
			fmt.Sprintf(structured, 2, "1.0"): serve(`"max_concurrency":4,"correct_rate(%)":61.0,"request_throughput":2.25,`),
		}, []string{"/xgrammar_bench/label=structured output/structured=0.0", "structured=1.0"}},
		"models in names alone": {map[string]string{
			"l/llama-70b-1.json":  serve(`"max_concurrency":4,"isl":"8","osl":"8","request_throughput":1.25,`),
			"l/llama-405b-1.json": serve(`"max_concurrency":4,"isl":"8","osl":"8","request_throughput":2.25,`),
		}, []string{"file=llama-405b", "file=llama-70b"}},
	} {
		set := load(t, ingest.Options{}, c.files)
		got := points(set)
		if len(got) != len(c.want) {
			t.Fatalf("%s: %d points", name, len(got))
		}
		for i, p := range got {
			if p.Repeat != 1 || !strings.Contains(p.Key.String(), c.want[i]) {
				t.Errorf("%s: repeat %d of %s, want %s", name, p.Repeat, p.Key, c.want[i])
			}
		}
	}
}

// ModelScope writes a point in a name as three underscores.
func TestModelScopeNames(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{
		"a.json": strings.Replace(serve(``), "acme/x", "/root/.cache/modelscope/hub/models/Qwen/Qwen2___5-7B", 1),
	})
	if got := set.Runs[0].Model.Name; got != "Qwen2.5-7B" {
		t.Error(got)
	}
}

// A sweep whose files are named after their load is one workload at several loads.
func TestNamesOfASweep(t *testing.T) {
	for name, c := range map[string]struct {
		files  map[string]string // name → members
		labels string
	}{
		"concurrency": {map[string]string{
			"a/sweep_c1.json": `"max_concurrency":1,"request_rate":"inf",`, "a/sweep_c8.json": `"max_concurrency":8,`,
			"a/sweep-conc16.json": `"max_concurrency":16,`, "a/sweep_32.json": `"max_concurrency":32,`,
		}, "sweep"},
		"rate": {map[string]string{
			"b/serving_tp1_qps_inf.json": `"request_rate":"inf",`, "b/serving_tp1_qps_4.json": `"request_rate":4.0,`,
			"b/serving_tp1_rate-0.5_c2.json": `"request_rate":0.5,"max_concurrency":2,`,
		}, "serving_tp1"},
		"another number": {map[string]string{"c/abc8_v4.json": `"max_concurrency":8,`}, "abc8_v4"},
	} {
		files := map[string]string{}
		for file, members := range c.files {
			files[file] = serve(members + fmt.Sprintf(`"duration":%d.5,`, len(file)))
		}
		labels := map[string]bool{}
		for _, p := range points(load(t, ingest.Options{}, files)) {
			labels[p.Key.Dims[schema.DimLabel]] = true
		}
		if len(labels) != 1 || !labels[c.labels] {
			t.Errorf("%s: labels %v, want %s", name, labels, c.labels)
		}
	}
}

// Eval files of one model that differ in their names alone are not one series, however far apart they were made; dates
// and counters in names tell nothing apart.
func TestUnlikeScoresAreNotOneSeries(t *testing.T) {
	eval := func(dtype string, acc float64) string {
		return fmt.Sprintf(`{"config_general":{"model_name":"acme/m","model_dtype":%q},"results":{"s|t|0":{"acc":%v}}}`,
			dtype, acc)
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string // filters
	}{
		"a name after the tool's, alone": {map[string]string{
			"results_2026-01-02T03-04-05.678_gptq_2bit.json": eval("f", .2),
		}, " | file gptq_2bit"},
		"over days": {map[string]string{
			"results_2026-01-02T03-04-05.678_gptq_2bit.json": eval("f", .2),
			"results_2026-01-05T03-04-05.678.json":           eval("f", .5),
			"results_2026-01-07T03-04-05.678.json":           eval("f", .6),
		}, ",, | file gptq_2bit"},
		"names of people": {map[string]string{"e_int4_2026-01-02.json": eval("f", .2),
			"e_int8_2026-02-03.json": eval("f", .3)},
			" | file e_int4, | file e_int8"},
		"what the file states": {map[string]string{
			"results_2026-01-02T03-04-05.678.json": eval("torch.float16", .2),
			"results_2026-01-02T04-04-05.678.json": eval("torch.bfloat16", .3),
		}, " | dtype bfloat16, | dtype float16"},
		"repeats": {map[string]string{
			"results_2026-01-02T03-04-05.678_run1.json": eval("f", .2),
			"results_2026-01-09T03-04-05.678_run2.json": eval("f", .3),
			"results_2026-01-11T03-04-05.678.json":      eval("f", .4),
		}, ",,"},
		"the model's name": {map[string]string{"results_2026-01-02T03-04-05_m.json": eval("f", .2)}, ""},
	} {
		set := load(t, ingest.Options{}, c.files)
		var got []string
		for _, r := range set.Runs {
			for _, s := range r.Scores {
				got = append(got, s.Filter)
			}
		}
		slices.Sort(got)
		if strings.Join(got, ",") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if (codes(set.Problems) != "") != strings.Contains(c.want, "|") {
			t.Errorf("%s: %q", name, codes(set.Problems))
		}
	}
}

// The number of a repeat in a name tells no workloads of unknown lengths apart.
func TestRepeatsByName(t *testing.T) {
	files := map[string]string{}
	for i, name := range []string{"caseA_rep1", "caseA_rep2", "caseA_run3", "caseB_rep1"} {
		files["r/"+name+".json"] = fmt.Sprintf(`{"date":"20260102-03040%d","model_id":"acme/M","num_prompts":4,`+
			`"request_rate":"inf","max_concurrency":2,"duration":2.0,"completed":4,"failed":0,"total_input_tokens":512,`+
			`"total_output_tokens":256,"request_throughput":2.0,"output_throughput":12%d.5,"mean_ttft_ms":1%d.5}`, i, i, i)
	}
	labels := map[string]int{}
	for _, run := range load(t, ingest.Options{}, files).Runs {
		for _, p := range run.Points {
			labels[p.Key.Dims[schema.DimLabel]]++
		}
	}
	if len(labels) != 2 || labels["caseA"] != 3 || labels["caseB"] != 1 {
		t.Errorf("%v", labels)
	}
}

// A row of a table has one workload, whichever other rows are of its run, and is compared over days by what differs in
// its file. What says something else each day, or with what was measured, makes no other workload.
func TestRowsOfATable(t *testing.T) {
	const head = "ts,model,scenario,n_prompt,driver_version,session,tg\n"
	row := func(day, scenario, n, driver string, tg float64) string {
		return fmt.Sprintf("2026-05-%sT02:00:00Z,acme/M,%s,%s,%s,s%s,%g\n", day, scenario, n, driver, day, tg)
	}
	text := head + row("03", "p256", "256", "1.2", 53.9595) + row("04", "p256", "256", "1.2", 46.1087) +
		row("04", "p1024", "1024", "1.2", 48.3549) + row("05", "p1024", "1024", "1.3", 48.7731)
	tables, err := table.Compile([]table.Mapping{{Files: "*.csv", Columns: map[string]string{
		"ts": "start", "model": "model", "tg": "output_tps tok/s"}}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := ingest.Load(context.Background(), []ingest.Root{{
		FS: fstest.MapFS{"x.csv": {Data: []byte(text)}}, Tables: tables,
	}}, ingest.Options{})
	days := map[string]int{}
	for _, p := range points(set) {
		days[p.Key.String()]++
	}
	if err != nil || len(set.Runs) != 3 || len(days) != 2 {
		t.Errorf("%d runs of %v, %v", len(set.Runs), days, err)
	}
	for key, n := range days {
		if n != 2 || !strings.Contains(key, "scenario=p") || strings.Contains(key, "session") ||
			strings.Contains(key, "driver") {
			t.Errorf("%d of %s", n, key)
		}
	}
}
