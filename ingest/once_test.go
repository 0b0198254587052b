package ingest_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/table"
)

// tree is results of several kinds: dated, dated by their names alone, undated, lines, scores.
func tree() map[string]string {
	undated := strings.Replace(serve(`"isl":"128","osl":"8","max_concurrency":%d,"request_throughput":%d.25,`),
		`"date":"20260101-000000",`, "", 1)
	undated = strings.NewReplacer("10.25", "10.2534512", "2.125", "2.1251234", "20.5", "20.5123456").Replace(undated)
	line := `{"backend":"sglang","completed":8,"mean_e2e_latency_ms":%d.125,"median_ttft_ms":%d.375,` +
		`"mean_ttft_ms":9.875,"output_throughput":%d.0625,"random_input_len":8,` +
		`"random_output_len":8,"dataset_name":"random","max_concurrency":%d}`
	return map[string]string{
		"d/a.json":                        lengths(result("acme/x", "20260101-000000", 1)),
		"d/b.json":                        lengths(result("acme/x", "20260101-010000", 8)),
		"n/x_2026-03-16_15-33-00_c1.json": fmt.Sprintf(undated, 1, 1),
		"n/x_2026-03-16_15-40-00_c2.json": fmt.Sprintf(undated, 2, 2),
		"u/1.json":                        fmt.Sprintf(undated, 4, 4),
		"u/sub/2.json":                    fmt.Sprintf(undated, 8, 8),
		"s/out.jsonl":                     fmt.Sprintf(line+"\n"+line+"\n"+line+"\n", 1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1),
		"e/results_2026-01-02T03-04-05.json": `{"results":{"gsm8k":{"acc,none":0.53125,"acc_stderr,none":0.0123456}},` +
			`"model_name":"acme/x","versions":{"gsm8k":1},"config":{}}`,
	}
}

// write lays files under a folder, with a time of modification.
func write(t *testing.T, dir string, files map[string]string, modified time.Time) string {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// into reads paths into a history folder and returns all documents as one text.
func into(t *testing.T, dir string, opt ingest.Options, paths ...string) (ingest.Result, string) {
	t.Helper()
	return intoBy(t, dir, opt, nil, paths...)
}

// intoBy is [into] with mappings of tables of the user's own.
func intoBy(
	t *testing.T, dir string, opt ingest.Options, tables []table.Table, paths ...string,
) (ingest.Result, string) {
	t.Helper()
	store := ingest.Store{Dir: dir, Targets: func([]schema.Run) (ingest.Targets, []schema.Problem, error) {
		return inForce(0), nil, nil
	}}
	var roots []ingest.Root
	for _, p := range paths {
		root, err := ingest.OSRoot(p)
		if err != nil {
			t.Fatal(err)
		}
		root.Tables = tables
		roots = append(roots, root)
	}
	got, err := store.Read(context.Background(), roots, opt)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range glob(t, filepath.Join(dir, "*", "*", "*.json")) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n%s\n", strings.TrimPrefix(name, dir), data)
	}
	return got, b.String()
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A tree that is read again in whatever way leaves history as it is, byte for byte.
func TestOneHistoryWhateverTheWay(t *testing.T) {
	tmp, history := t.TempDir(), t.TempDir()
	before := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	folder := write(t, filepath.Join(tmp, "folder"), tree(), before)
	first, want := into(t, history, ingest.Options{}, folder)
	if first.Written != 6 || !strings.Contains(want, "2026-03-16T15:33:00Z") || strings.Contains(want, "2026-05-01") ||
		strings.Count(want, `"tool":"sglang"`) != 2 {
		t.Fatalf("%d written: %s", first.Written, want)
	}
	indented := map[string]string{}
	for name, text := range tree() {
		if indented[name] = text; strings.HasSuffix(name, ".json") {
			indented[name] = strings.ReplaceAll(text, ",\"", ",\n  \"")
		}
	}
	ways := map[string]string{
		"again":       folder,
		"clone":       write(t, filepath.Join(tmp, "clone"), tree(), before.AddDate(0, 1, 0)),
		"archive":     zipped(t, filepath.Join(tmp, "tree.zip"), tree()),
		"reformatted": write(t, filepath.Join(tmp, "reformatted"), indented, before),
		"a subfolder": filepath.Join(folder, "u"),
	}
	for name := range tree() {
		ways[name] = filepath.Join(folder, filepath.FromSlash(name))
	}
	for name, way := range ways {
		got, now := into(t, history, ingest.Options{}, way)
		if now != want || got.Written != 0 || got.Same != got.Runs || len(got.Replaced) != 0 {
			t.Errorf("%s: %d written, %d unchanged of %d, history is the same: %t", name, got.Written, got.Same,
				got.Runs, now == want)
		}
	}
}

func zipped(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for member, text := range files { // in any order
		f, err := w.Create(member)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// Two nights that nothing dates and that leave files of one name are two runs.
func TestUndatedNightsStandByThemselves(t *testing.T) {
	dir, history := t.TempDir(), t.TempDir()
	line := `{"backend":"sglang","completed":8,"mean_e2e_latency_ms":%d.125,"median_ttft_ms":%d.375,` +
		`"output_throughput":5.0625}`
	for i := range 2 {
		night := filepath.Join(dir, fmt.Sprint("night", i))
		write(t, night, map[string]string{"out.jsonl": fmt.Sprintf(line, i, i)}, time.Now())
		if got, _ := into(t, history, ingest.Options{}, night); got.Written != 1 {
			t.Errorf("night %d: %d written", i, got.Written)
		}
	}
	if got := glob(t, filepath.Join(history, "*", "*", "undated-*.json")); len(got) != 2 {
		t.Error(got)
	}
}

// Scores that tools write into several files count once; those of two evals with one value count twice.
func TestScoresOfSeveralFiles(t *testing.T) {
	eval := func(task string, acc string, stderr string) string {
		return fmt.Sprintf(`{"results":{%q:{"acc,none":%s%s}},"model_name":"acme/x","versions":{},"config":{}}`,
			task, acc, stderr)
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  int
	}{
		"a task and its suite": {map[string]string{
			"results_2026-01-02T03-04-05.json":   eval("a", "0.53125", ""),
			"s/results_2026-01-02T03-04-05.json": eval("a", "0.53125", `,"acc_stderr,none":0.0125`),
		}, 1},
		"two greedy evals": {map[string]string{
			"results_2026-01-02T03-04-05.json":   eval("a", "0.53125", ""),
			"s/results_2026-01-03T03-04-05.json": eval("a", "0.53125", `,"acc_stderr,none":0.0125`),
		}, 2},
		"two of one second": {map[string]string{
			"step10_results_2026-01-02T03-04-05.json": eval("a", "0.53125", `,"b,none":0.4375`),
			"step20_results_2026-01-02T03-04-05.json": eval("a", "0.53125", `,"b,none":0.5625`),
		}, 4},
		"two by chance": {map[string]string{
			"x.json": eval("a", "0.53125", ""), "y.json": eval("a", "0.53125", `,"b,none":1`),
		}, 3},
	} {
		set := load(t, ingest.Options{}, c.files)
		n, stated := 0, false
		for _, r := range set.Runs {
			n += len(r.Scores)
			for _, s := range r.Scores {
				_, has := s.Stderr.Get()
				stated = stated || has
			}
		}
		if n != c.want || !stated && c.want < 3 {
			t.Errorf("%s: %d scores, error stated %t", name, n, stated)
		}
	}
}

// The folders that a workspace makes of results are no results, wherever the walk begins.
func TestOwnFoldersAreNotRead(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{
		"results/a.json": serve(""), "history/m/d/x.json": serve(`"model":"a",`), "x/history/b.json": serve(`"model":"b",`),
	}, time.Now())
	root, err := ingest.OSRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Stat(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	root.Own = []os.FileInfo{own}
	set, err := ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
	if err != nil || len(set.Files) != 2 {
		t.Errorf("%d files, %v", len(set.Files), err)
	}
}

// What people state by a flag replaces what a manifest and a result say; the result's word stays as a label, and a note
// says so once in a folder.
func TestAStatementWins(t *testing.T) {
	flags := schema.Facts{Device: schema.Device{Name: "a100"}, Release: "r9"}
	set := load(t, ingest.Options{Flags: flags}, map[string]string{
		"a.json":                 serve(`"gpu_name":"H100","max_concurrency":4,`),
		"b.json":                 serve(`"gpu_name":"H100","max_concurrency":8,`),
		"ttreport.manifest.yaml": "release: r1\n",
	})
	r := set.Runs[0]
	if r.Device.Name != "a100" || r.Provenance["device.name"].From != schema.FromFlag || r.Release != "r9" ||
		r.Provenance["device.name"].Over != "H100 by the file" {
		t.Errorf("%s by %+v, %s", r.Device.Name, r.Provenance["device.name"], r.Release)
	}
	if codes(set.Problems) != "contradiction contradiction" || set.Problems[0].Used != "a100" ||
		set.Problems[0].Severity != schema.SevNote || !strings.Contains(set.Problems[0].Found, "in 2 files") {
		t.Error(set.Problems)
	}
}

// A device's number and its full name are no contradiction; another number is.
func TestShortNamesOfDevices(t *testing.T) {
	for short, want := range map[string]string{"h100": "", "h200": "contradiction"} {
		set := load(t, ingest.Options{Flags: schema.Facts{Device: schema.Device{Name: short}}}, map[string]string{
			"a.json": serve(`"gpu_name":"NVIDIA H100 80GB HBM3","max_concurrency":4,`),
		})
		if codes(set.Problems) != want || set.Runs[0].Device.Name != short {
			t.Errorf("%s: %v on %s", short, set.Problems, set.Runs[0].Device.Name)
		}
	}
}

// Records that AIPerf was killed over are no whole measurement; its table alone says that it came to its end.
func TestRecordsOfAKilledRun(t *testing.T) {
	record := `{"metadata":{"x_request_id":"a","request_start_ns":1795229372236008700,"benchmark_phase":"profiling"},` +
		`"metrics":{"request_latency":{"value":360.5,"unit":"ms"},"time_to_first_token":{"value":50.5,"unit":"ms"},` +
		`"output_sequence_length":{"value":32,"unit":"tokens"}}}` + "\n"
	table := "Metric,avg,min,max,p50\nTime to First Token (ms),50.5,50.5,50.5,50.5\n\nMetric,Value\nRequest Count,1.00\n"
	for name, c := range map[string]struct {
		files  map[string]string
		status schema.Status
		codes  string
	}{
		"alone": {map[string]string{"profile_export.jsonl": record}, schema.StatusPartial, "no-summary"},
		"with a table": {
			map[string]string{"profile_export.jsonl": record, "profile_export_aiperf.csv": table}, schema.StatusOK, "",
		},
	} {
		set := load(t, ingest.Options{}, c.files)
		if p := points(set); len(p) != 1 || p[0].Status != c.status || codes(set.Problems) != c.codes {
			t.Errorf("%s: %d points, %v", name, len(p), set.Problems)
		}
	}
}

// What a tool printed is its file again, rounded; the arguments that it printed state the lengths.
func TestPrintedResultsCountOnce(t *testing.T) {
	printed := "Namespace(dataset_name='random', random_input_len=128, random_output_len=8, max_concurrency=4, " +
		"model='acme/x')\n" +
		"============ Serving Benchmark Result ============\nSuccessful requests: 8\nBenchmark duration (s): 2.00\n" +
		"Output token throughput (tok/s): 20.50\nMean TTFT (ms): 10.25\nMean TPOT (ms): 2.13\n" +
		"==================================\n"
	set := load(t, ingest.Options{}, map[string]string{
		"out/result.json": serve(`"max_concurrency":4,`), "stdout.txt": printed,
		"other/stdout.txt": strings.Replace(printed, "20.50", "21.50", 1),
	})
	got := points(set)
	if len(got) != 2 {
		t.Fatalf("%d points, %v", len(got), set.Problems)
	}
	for _, p := range got {
		if *p.Key.ISL != 128 || *p.Key.OSL != 8 || p.Source.Path == "in/stdout.txt" {
			t.Errorf("%s of %s", p.Key, p.Source.Path)
		}
	}
}

// What lm-evaluation-harness printed beside the file of its scores, or in a folder above, is of them, in whatever order
// the two are read. Printed alone, it counts.
func TestPrintedScores(t *testing.T) {
	const log = "e/run.log"
	files := map[string]string{
		"e/acme__x/results_2026-01-02T03-04-05.json": `{"results":{"gsm8k":{"exact_match,strict-match":0.53127,` +
			`"exact_match_stderr,strict-match":0.0123456}},"model_name":"acme/x","versions":{"gsm8k":3},"config":{}}`,
		log: "hf (pretrained=acme/x), gen_kwargs: (None), limit: None, num_fewshot: None, batch_size: 8\n" +
			"|Tasks|Version|   Filter   |n-shot|  Metric   |   |Value |   |Stderr|\n|-|-|-|-|-|-|-|-|-|\n" +
			"|gsm8k|      3|strict-match|     5|exact_match|↑  |0.5313|±  |0.0123|\n",
	}
	dir := write(t, t.TempDir(), files, time.Time{})
	both, alone := filepath.Join(dir, "e"), filepath.Join(dir, log)
	for name, order := range map[string][]string{
		"at once": {both}, "the log first": {alone, both}, "the log last": {filepath.Join(both, "acme__x"), both, alone},
	} {
		history := t.TempDir()
		var documents string
		for _, path := range order {
			_, documents = into(t, history, ingest.Options{}, path)
		}
		if strings.Count(documents, `"task":"gsm8k"`) != 1 || !strings.Contains(documents, "0.53127") {
			t.Errorf("%s: %s", name, documents)
		}
	}
	_, documents := into(t, t.TempDir(), ingest.Options{}, alone)
	if !strings.Contains(documents, "0.5313") || !strings.Contains(documents, `"acme/x"`) {
		t.Errorf("alone: %s", documents)
	}
	set := load(t, ingest.Options{}, map[string]string{log: files[log], "other/x.json": strings.Replace(
		files["e/acme__x/results_2026-01-02T03-04-05.json"], "0.53127", "0.6", 1)})
	if n := len(set.Runs); n != 2 {
		t.Errorf("another eval elsewhere: %d runs", n)
	}
}

// The row of a report is one with the result that it was made of, also where that lies elsewhere, and whichever was
// read before: reading both again takes nothing away.
func TestReportOfAnotherFolder(t *testing.T) {
	const data = `{"metadata":{"model_name":"acme/x","device":"N150","generated_at":"2026-01-01T01:00:00+00:00",` +
		`"report_id":"r"},"sections":[{"kind":"benchmarks","data":{"concurrency":1,"num_requests":8,` +
		`"input_sequence_length":128,"output_sequence_length":8,"mean_ttft_ms":10.25,"mean_tpot_ms":2.125,` +
		`"mean_e2el_ms":25.5,"tps_output_throughput":20.5,"request_throughput":4.125},` +
		`"targets":{"tool":"vllm","model":"acme/x","device":"N150","timestamp":"2026-01-01 00:00:00"}}]}`
	file := serve(`"request_throughput":4.125,"max_concurrency":1,"mean_e2el_ms":25.5,` +
		`"total_input_tokens":1024,"total_output_tokens":64,"num_prompts":8,`)
	dir := write(t, t.TempDir(), map[string]string{
		"old/bench_isl-128_osl-8_maxcon-1_n-8.json": file, "new/data/report_data_x.json": data,
	}, time.Now())
	opt := ingest.Options{Flags: schema.Facts{Device: schema.Device{Name: "n150"}}}
	for _, way := range [][]string{{""}, {"old", "new"}, {"new", "old"}, {"new", "old", "", ""}} {
		history := t.TempDir()
		var now string
		for _, folder := range way {
			_, now = into(t, history, opt, filepath.Join(dir, folder))
		}
		if n := strings.Count(now, `"concurrency":1`); n != 1 || !strings.Contains(now, "old/bench") {
			t.Errorf("%q: %d points: %s", way, n, now)
		}
	}
}

// Reports of two nights in one folder are two runs, whatever the order in which they are read.
func TestReportsOfTwoNights(t *testing.T) {
	report := func(night int) string {
		return fmt.Sprintf(`{"metadata":{"model_name":"acme/x","device":"N150","report_id":"r%[1]d",`+
			`"generated_at":"2026-01-%02[1]dT01:00:00+00:00"},`+
			`"sections":[{"kind":"benchmarks","data":{"concurrency":1,"num_requests":8,`+
			`"input_sequence_length":128,"output_sequence_length":8,"mean_ttft_ms":1%[1]d.25,"mean_tpot_ms":2.%[1]d25,`+
			`"mean_e2el_ms":2%[1]d.5,"tps_output_throughput":20.5,"request_throughput":4.125},`+
			`"targets":{"tool":"vllm","model":"acme/x","device":"N150","timestamp":"2026-01-%02[1]d 00:00:00"}}]}`, night)
	}
	for _, folder := range []string{"", "reports_output/release/data/"} {
		dir := write(t, t.TempDir(), map[string]string{
			folder + "report_data_1.json": report(1), folder + "report_data_2.json": report(2),
		}, time.Now())
		for _, way := range [][]string{{""}, {"1", "2"}, {"2", "1"}, {"2", "1", "", ""}} {
			history := t.TempDir()
			var now string
			for _, night := range way {
				at := dir
				if night != "" {
					at = filepath.Join(dir, folder, "report_data_"+night+".json")
				}
				_, now = into(t, history, ingest.Options{}, at)
			}
			if n := strings.Count(now, `"concurrency":1`); n != 2 {
				t.Errorf("%q of %q: %d points: %s", way, folder, n, now)
			}
		}
	}
}

// A sweep whose runs are read before its summary gives each point once: what tells the runs apart by the names of their
// files says nothing of the measurement.
func TestSummaryAfterItsRuns(t *testing.T) {
	run := func(n int) string {
		return strings.NewReplacer("10.25", fmt.Sprintf("10.2512%d", n), "-000000", fmt.Sprintf("-00000%d", n)).Replace(
			serve(fmt.Sprintf(`"request_throughput":4.125%d,"max_concurrency":2,"run_number":%d,`, n, n)))
	}
	const folder = "sweep/SERVE--max_num_seqs=4-BENCH--max_concurrency=2/"
	dir := write(t, t.TempDir(), map[string]string{
		folder + "run=0.json": run(0), folder + "run=1.json": strings.Replace(run(1), "20.5", "61.5", 1),
		folder + "summary.json": "[" + run(0) + "," + strings.Replace(run(1), "20.5", "61.5", 1) + "]",
	}, time.Now())
	_, want := into(t, t.TempDir(), ingest.Options{}, dir)
	for _, order := range [][]string{
		{"run=0", "run=1", "summary"}, {"summary", "run=1", "run=0"}, {"run=1", "summary", "run=0"},
	} {
		history := t.TempDir()
		var now string
		for _, name := range order {
			_, now = into(t, history, ingest.Options{}, filepath.Join(dir, folder, name+".json"))
		}
		if n := strings.Count(now, `"concurrency":2`); n != 2 || now != want {
			t.Errorf("%q: %d points of 2: %s", order, n, firstDifference(now, want))
		}
	}
}

// What a tool printed is its file again also where the file was stored: seven digits of a number may be rounded
// otherwise to two decimals than the number itself.
func TestPrintedAfterItsFile(t *testing.T) {
	file := strings.NewReplacer(`"output_throughput":20.5`, `"output_throughput":308.56503`, "10.25", "10.2512",
		"2.125", "2.1251").Replace(serve(`"request_throughput":4.1251,"request_rate":1.0,"mean_e2el_ms":25.5012,`))
	dir := write(t, t.TempDir(), map[string]string{"n/x.json": file, "n/x.log": "" +
		"============ Serving Benchmark Result ============\nSuccessful requests:                     8\n" +
		"Benchmark duration (s):                  2.00\nRequest throughput (req/s):              4.13\n" +
		"Output token throughput (tok/s):         308.57\n---------------Time to First Token----------------\n" +
		"Mean TTFT (ms):                          10.25\n-----Time per Output Token (excl. 1st token)------\n" +
		"Mean TPOT (ms):                          2.13\n----------------End-to-end Latency----------------\n" +
		"Mean E2EL (ms):                          25.50\n==================================================\n",
	}, time.Now())
	history := t.TempDir()
	into(t, history, ingest.Options{}, filepath.Join(dir, "n", "x.json"))
	if _, now := into(t, history, ingest.Options{}, filepath.Join(dir, "n", "x.log")); strings.Count(now, `"ok"`) != 1 {
		t.Errorf("two points: %s", now)
	}
}

// The answers behind an aggregate of Every Eval Ever give its score the outcomes, and none of their own.
func TestAnswersBesideTheirAggregate(t *testing.T) {
	answer := `{"evaluation_id":"e","model_id":"acme/m","evaluation_name":"GSM8K","sample_id":"q%d","evaluation":` +
		`{"is_correct":%t}}` + "\n"
	set := load(t, ingest.Options{}, map[string]string{
		"a/1f0c.json": `{"model_info":{"id":"acme/m"},"evaluation_results":[{"evaluation_name":"GSM8K","metric_config":` +
			`{"metric_kind":"accuracy"},"score_details":{"score":0.5}}]}`,
		"a/1f0c_samples.jsonl": fmt.Sprintf(answer+answer, 1, true, 2, false),
	})
	if len(set.Runs) != 1 || len(set.Runs[0].Scores) != 1 || set.Runs[0].Scores[0].Outcomes == nil {
		t.Errorf("%d runs: %+v", len(set.Runs), set.Runs)
	}
}

// A table in seconds with three decimals and one in milliseconds of the same runs are one measurement each, as are that
// table and the file of the tool, in both orders; another night with close numbers is one of its own.
func TestRoundedInAnotherUnit(t *testing.T) {
	var said struct {
		Tables []table.Mapping `yaml:"tables"`
	}
	const mapping = "tables:\n" +
		"  - files: '*-s.csv'\n    columns: {model: model, c: concurrency, ttft: ttft mean s, tpot: tpot mean s, " +
		"e2el: e2el mean s, tps: output_tps value tok/s}\n" +
		"  - files: '*-ms.csv'\n    columns: {model: model, c: concurrency, ttft: ttft mean ms, tpot: tpot mean ms, " +
		"e2el: e2el mean ms, tps: output_tps value tok/s}\n"
	if p := decode.YAML("ttreport.yaml", []byte(mapping), &said); p != nil {
		t.Fatal(p)
	}
	tables, err := table.Compile(said.Tables)
	if err != nil {
		t.Fatal(err)
	}
	in := func(decimals int, unit, night float64) string {
		text := "model,c,ttft,tpot,e2el,tps\n"
		for c := 1.; c <= 8; c *= 2 {
			x := unit * night
			text += fmt.Sprintf("acme/x,%g,%.*f,%.*f,%.*f,%.*f\n", c, decimals, 123.4567*c*x, decimals, 21.2345*x, decimals,
				3456.789*c*x, decimals, 287.6543*c/night)
		}
		return text
	}
	seconds, millis := in(3, .001, 1), in(2, 1, 1)
	file := `{"model_id":"acme/x","max_concurrency":4,"completed":32,"mean_ttft_ms":493.8268,"mean_tpot_ms":21.2345,` +
		`"mean_e2el_ms":13827.156,"output_throughput":1150.6172}`
	for name, c := range map[string]struct {
		files map[string]string
		want  int
	}{
		"s and ms":         {map[string]string{"a-s.csv": seconds, "b-ms.csv": millis}, 4},
		"ms and s":         {map[string]string{"a-ms.csv": millis, "b-s.csv": seconds}, 4},
		"s and a file":     {map[string]string{"a.json": file, "b-s.csv": seconds}, 4},
		"another night":    {map[string]string{"a-s.csv": seconds, "b-ms.csv": in(2, 1, 1.03)}, 8},
		"another night, s": {map[string]string{"a-s.csv": seconds, "b-s.csv": in(3, .001, 1.004)}, 8},
	} {
		files := fstest.MapFS{}
		for name, text := range c.files {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		set, err := ingest.Load(t.Context(), []ingest.Root{{FS: files, Name: "in", Tables: tables}}, ingest.Options{})
		list := points(set)
		if err != nil || len(list) != c.want {
			t.Errorf("%s: %d points, want %d; %v %v", name, len(list), c.want, err, set.Problems)
		}
		for _, p := range list {
			if c.want == 4 && strings.HasSuffix(p.Source.Path, "-s.csv") && (name != "s and a file" || *p.Key.Concurrency == 4) {
				t.Errorf("%s: the point of %s stays", name, p.Source.Path)
			}
		}
	}
}

// A README that shows rounded scores, of a model that only its folder names, is of the files below it in every order:
// with two decimals, per cent, of two suites that share a task. Scores that no file has stay, and so does the table of
// a model without files.
func TestTablesBesideTheirFiles(t *testing.T) {
	const file = `{"results":{"arc":{"acc,none":%g,"acc_stderr,none":0.01,"alias":"arc"},` +
		`"gsm8k":{"exact_match,none":%g,"exact_match_stderr,none":0.01,"alias":"gsm8k"},` +
		`"mmlu":{"acc,none":%g,"acc_stderr,none":0.01,"alias":"mmlu"}},"versions":{"arc":1,"gsm8k":3,"mmlu":1},` +
		`"config":{"model":"hf","model_args":"pretrained=acme/%s"},"date":%d}`
	const head = "\n|Task|Version|Metric|Value|   |Stderr|\n|----|------:|------|----:|---|-----:|\n"
	readme := func(values ...string) string {
		var rows []string
		for i, v := range values {
			task := []string{"arc|1|acc", "gsm8k|3|exact_match", "mmlu|1|acc", "boolq|1|acc"}[i%4]
			if i%4 == 0 {
				rows = append(rows, head)
			}
			rows = append(rows, fmt.Sprintf("|%s|%s|±  |0.01|\n", task, v))
		}
		return strings.Join(rows, "")
	}
	files := map[string]string{
		"e/A/few/x.json":  fmt.Sprintf(file, .58537, .75588, .65817, "A", 1700000000),
		"e/A/zero/x.json": fmt.Sprintf(file, .50413, .00712, .61234, "A", 1700009000),
		"e/A/README.md":   readme("0.59", "0.76", "0.66", "0.5", "50.41", "0.71", "61.23"),
		"e/B/README.md":   readme("0.48", "0.71", "0.60"),
	}
	dir := write(t, t.TempDir(), files, time.Time{})
	for _, order := range [][]string{
		{"e"}, {"e/A/few", "e/A/zero", "e/A/README.md", "e/B"}, {"e/B", "e/A/README.md", "e/A/zero", "e/A/few"},
	} {
		var roots []string
		for _, p := range order {
			roots = append(roots, filepath.Join(dir, p))
		}
		got := mapped(t, nil, roots...)
		n, of := strings.Count(got, `"format":"lm-eval`), strings.Count(got, `lm-eval-table`)
		if n != 10 || of != 4 {
			t.Errorf("%v: %d scores, %d of tables; want 6 of files, one of A's table, three of B's: %s", order, n, of, got)
		}
	}
}

// mlPerf is a summary of MLPerf's load generator, as a file or in what its program printed.
func mlPerf(scenario, rate string) string {
	return "=====\nMLPerf Results Summary\n=====\nSUT name : PySUT\nScenario : " + scenario + "\n" +
		"Mode     : PerformanceOnly\nSamples per second: " + rate + "\nResult is : VALID\n=====\nAdditional Stats\n=====\n" +
		"Mean latency (ns)               : 20745868016\n"
}

// A log in which MLPerf printed several summaries is of the files below it, and not of those in another folder.
func TestMLPerfPrintedSummaries(t *testing.T) {
	of := func(rates ...string) map[string]string {
		return map[string]string{
			"run/run.log":                          mlPerf("Offline", rates[0]) + mlPerf("Server", rates[1]) + "end\n",
			"run/a/Offline/mlperf_log_summary.txt": mlPerf("Offline", "3209.72"),
			"run/a/Server/mlperf_log_summary.txt":  mlPerf("Server", "320.217"),
		}
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int
	}{
		{"the same", of("3209.72", "320.217"), 2}, {"one of another run", of("3209.72", "311.5"), 3},
		{"few digits", of("3200", "310"), 4},
		{"of another folder", map[string]string{
			"a/run.log":                mlPerf("Offline", "3209.72") + mlPerf("Server", "1.5"),
			"b/mlperf_log_summary.txt": mlPerf("Offline", "3209.72"),
		}, 3},
	} {
		set := load(t, ingest.Options{}, c.files)
		list := points(set)
		if len(list) != c.want {
			t.Errorf("%s: %d points, want %d", c.name, len(list), c.want)
		}
		for _, p := range list {
			if c.name == "the same" && !strings.HasSuffix(p.Source.Path, "mlperf_log_summary.txt") {
				t.Errorf("%s is kept", p.Source.Path)
			}
		}
	}
}
