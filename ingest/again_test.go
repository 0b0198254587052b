package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// llamaRows are results of llama-bench of some models, all equally fast at writing.
func llamaRows(models ...string) string {
	var rows []string
	for i, m := range models {
		row := `{"build_commit":"abc1234","build_number":9187,"model_filename":"/m/%s.gguf","model_type":"llama 8B Q4_0",` +
			`"gpu_info":"RX 7900","backends":"ROCm","n_prompt":%d,"n_gen":%d,"avg_ts":%g,"stddev_ts":1.1,` +
			`"test_time":"2026-05-03T10:00:00Z"}`
		rows = append(rows, fmt.Sprintf(row, m, 512, 0, 900.123+float64(i)), fmt.Sprintf(row, m, 0, 128, 28.92))
	}
	return "[" + strings.Join(rows, ",") + "]"
}

// A file with results of several models that have a number in common is the same file when it is read again: the second
// reading deleted a model.
func TestOneNumberOfTwoModels(t *testing.T) {
	table := ""
	for _, of := range []string{"A|0.7023", "B|0.8123"} {
		model, score, _ := strings.Cut(of, "|")
		table += "hf (pretrained=acme/" + model + "), gen_kwargs: (None), limit: None, num_fewshot: 5, batch_size: 8\n" +
			"|Tasks|Version|Filter|n-shot|Metric|   |Value|   |Stderr|\n|-----|---|----|---|------|---|-----|---|---|\n" +
			"|gsm8k|3|none|5|acc|↑|" + score + "|±|0.0126|\n|aime|2|none| |acc|↑|0.0333|±|0.0333|\n\n"
	}
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("M%d", i))
	}
	for name, files := range map[string]map[string]string{
		"points": {"b.json": llamaRows("A", "B")}, "scores": {"lm.md": table}, "many": {"b.json": llamaRows(many...)},
	} {
		tmp, history := t.TempDir(), t.TempDir()
		folder := write(t, filepath.Join(tmp, "x"), files, time.Now())
		first, want := into(t, history, ingest.Options{}, folder)
		for range 2 {
			again, got := into(t, history, ingest.Options{}, folder)
			if again.Written != 0 || again.Same != first.Written || len(again.Replaced) > 0 || got != want {
				t.Errorf("%s: %d documents, then %d written, %d the same, %d replaced: %s", name, first.Written, again.Written,
					again.Same, len(again.Replaced), firstDifference(got, want))
			}
		}
		// Another name for one of them stays with it.
		if name == "points" {
			_, got := into(t, history, ingest.Options{Flags: schema.Facts{Device: schema.Device{Name: "dX"}}}, folder)
			if strings.Count(got, `"name":"A"`) != 1 || strings.Count(got, `"name":"B"`) != 1 ||
				strings.Count(got, "34.57815") != 2 {
				t.Errorf("with another device: %s", got)
			}
		}
	}
}

// What divides a stored run into two leaves all its points, however often it is read.
func TestARunIsDivided(t *testing.T) {
	tmp, history := t.TempDir(), t.TempDir()
	files := map[string]string{}
	for i, name := range []string{"x-fp8_c1.json", "x-fp8_c4.json", "x-fp16_c1.json", "x-fp16_c4.json"} {
		files[name] = lengths(result("acme/x", fmt.Sprintf("20260101-00000%d", i), 1+i%2*3))
	}
	folder := write(t, filepath.Join(tmp, "x"), files, time.Now())
	into(t, history, ingest.Options{Flags: schema.Facts{Device: schema.Device{Name: "dX"}}}, folder)
	pattern, err := manifest.NewPattern("x-{precision}_c*")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, got := into(t, history, ingest.Options{Patterns: []manifest.Pattern{pattern}}, folder)
		if strings.Count(got, `"sha256"`) != 4 || strings.Count(got, `"precision":"fp8"`) != 1 ||
			strings.Count(got, `"name":"dX"`) != 2 {
			t.Fatalf("%d points of 4: %s", strings.Count(got, `"sha256"`), got)
		}
	}
}

// A release that a flag states corrects what is stored, also from a copy elsewhere.
func TestAFlagCorrectsAClone(t *testing.T) {
	tmp, history := t.TempDir(), t.TempDir()
	files := map[string]string{"n/a.json": lengths(result("acme/x", "20260101-000000", 1))}
	for _, x := range []string{"data v9", "clone/data v1", "data v2"} {
		at, release, _ := strings.Cut(x, " ")
		folder := write(t, filepath.Join(tmp, at), files, time.Now())
		_, got := into(t, history, ingest.Options{Flags: schema.Facts{Release: release}}, folder)
		if strings.Count(got, `"sha256"`) != 1 || !strings.Contains(got, `"release":"`+release+`"`) {
			t.Errorf("%s: %s", x, got)
		}
	}
}

// Files of one run that move to releases of their own, one by one, have the times at which they were measured.
func TestTheLastOfARunKeepsItsTime(t *testing.T) {
	folder, history := t.TempDir(), t.TempDir()
	write(t, folder, map[string]string{
		"a.json": lengths(result("acme/x", "20260101-000000", 1)), "b.json": lengths(result("acme/x", "20260101-010000", 1)),
	}, time.Now())
	into(t, history, ingest.Options{}, folder)
	for _, x := range []string{"a.json v1", "b.json v2"} {
		name, release, _ := strings.Cut(x, " ")
		into(t, history, ingest.Options{Flags: schema.Facts{Release: release}}, filepath.Join(folder, name))
	}
	for name, run := range documents(t, history) {
		if len(run.Points) != 1 || !run.Start.Equal(run.Points[0].Start) {
			t.Errorf("%s began at %s, its points: %+v", name, run.Start, run.Points)
		}
	}
}

// Rows of one file that another one wraps are one measurement each, in whatever order they are read: they began in one
// second, which is more than few digits say.
func TestRowsOfOneSecond(t *testing.T) {
	var raw, wrapped string
	for i, mode := range []string{"pp", "pp", "tg", "tg", "pp", "tg"} {
		isPrompt := mode == "pp"
		row := fmt.Sprintf(`{"build_commit":"83bc2f28","backends":"ROCm","model_filename":"m-7b.gguf",`+
			`"model_type":"llama 7B","n_threads":16,"flash_attn":%t,`+
			`"n_prompt":%d,"n_gen":%d,"test_time":"2025-08-04T10:3%d:42Z","avg_ts":5%d.041,`+
			`"stddev_ts":0.145}`, i%2 == 0, map[bool]int{true: 512}[isPrompt], map[bool]int{false: 128}[isPrompt], i, i)
		if i > 0 { // a test before the wrapper was there
			wrapped += fmt.Sprintf(`{"mode":%q,"build":"hip","fa":"-fa %d","bench_raw":%s}`+"\n", mode, i%2, row)
		}
		raw += row + "\n"
	}
	folder := write(t, t.TempDir(), map[string]string{"raw.jsonl": raw, "results.jsonl": wrapped}, time.Now())
	for _, order := range [][]string{{"."}, {"raw.jsonl", "results.jsonl"}, {"results.jsonl", "raw.jsonl"}} {
		history, text := t.TempDir(), ""
		for _, name := range order {
			_, text = into(t, history, ingest.Options{}, filepath.Join(folder, name))
		}
		if measurements(text) != 6 {
			t.Errorf("%v: %d measurements of 6", order, measurements(text))
		}
	}
}

// Numbers of two decimals that coincide on one day are of two measurements where the files state two times.
func TestTwoTimesAreTwoMeasurements(t *testing.T) {
	at := func(date string) string {
		return `{"endpoint_type":"vllm","model_id":"acme/A","num_prompts":8,"completed":8,"max_concurrency":4,` +
			`"duration":10.05,"request_throughput":1.57,"output_throughput":100.41,"mean_ttft_ms":52.23,` +
			`"median_ttft_ms":51.19,"mean_tpot_ms":9.13,"median_tpot_ms":9.01,"random_input_len":128,` +
			`"random_output_len":64,"date":"` + date + `"}`
	}
	for second, want := range map[string]int{"20260106-120500": 2, "20260106-130000": 1, "20260106-120000": 1} {
		set := load(t, ingest.Options{}, map[string]string{"a.json": at("20260106-120000"), "c/b.json": at(second) + "\n"})
		if n := len(points(set)); n != want {
			t.Errorf("%s: %d points, want %d", second, n, want)
		}
	}
}

// measurements counts those of a history's documents.
func measurements(documents string) int { return strings.Count(documents, `"sha256"`) }

// Two evals of one model that have a score in common are two, whichever of their files is read again; so are two that a
// person put on one day.
func TestEvalsThatAgree(t *testing.T) {
	eval := func(date int) string {
		return fmt.Sprintf(`{"results":{"gsm8k":{"acc,none":0.5123},"mmlu":{"acc,none":0.6234}},"model_name":"acme/x",`+
			`"versions":{},"config":{},"date":%d}`, date)
	}
	files := map[string]string{"n/results_1.json": eval(1767261600), "n/results_2.json": eval(1767268800)}
	tmp, history := t.TempDir(), t.TempDir()
	folder := write(t, filepath.Join(tmp, "x"), files, time.Now())
	for _, path := range []string{"", "n/results_1.json", "n/results_2.json", "n", ""} {
		if _, got := into(t, history, ingest.Options{}, filepath.Join(folder, path)); measurements(got) != 4 {
			t.Errorf("%q: %d scores: %s", path, measurements(got), got)
		}
	}
	day := ingest.Options{Flags: schema.Facts{Start: time.Date(2026, 2, 2, 0, 0, 0, 0, time.UTC)}}
	for range 2 {
		if _, got := into(t, history, day, folder); measurements(got) != 4 {
			t.Errorf("on one day: %d scores: %s", measurements(got), got)
		}
	}
}

// What a person stated of one file stays with it when its run is that of other files, too.
func TestOneFileOfARunIsCorrected(t *testing.T) {
	tmp, history := t.TempDir(), t.TempDir()
	folder := write(t, filepath.Join(tmp, "x"), map[string]string{
		"a.json": lengths(result("acme/A", "20260101-000000", 1)), "b.json": lengths(result("acme/B", "20260101-010000", 4)),
	}, time.Now())
	named := ingest.Options{Flags: schema.Facts{Model: schema.Model{ID: "acme/A"}}}
	into(t, history, named, filepath.Join(folder, "b.json"))
	into(t, history, ingest.Options{}, folder)
	for range 2 {
		got, text := into(t, history, ingest.Options{}, folder)
		if got.Written != 0 || measurements(text) != 2 || strings.Contains(text, `"name":"B"`) {
			t.Errorf("%d written, %d points: %s", got.Written, measurements(text), text)
		}
	}
}

// A file of two models of which one lies in another place by now is the same file.
func TestAFileInTwoPlaces(t *testing.T) {
	tmp, history := t.TempDir(), t.TempDir()
	files := map[string]string{"b.json": llamaRows("A", "B")}
	first := write(t, filepath.Join(tmp, "x"), files, time.Now())
	into(t, history, ingest.Options{}, first)
	for _, name := range []string{"B", "A"} {
		for _, path := range []string{"x", "clone", "clone", "x"} {
			folder := write(t, filepath.Join(tmp, path), files, time.Now())
			if _, got := into(t, history, ingest.Options{}, folder); measurements(got) != 4 {
				t.Fatalf("%s, %s: %d points: %s", name, path, measurements(got), got)
			}
		}
		for _, doc := range glob(t, filepath.Join(history, name, "*", "*.json")) {
			if err := os.Remove(doc); err != nil {
				t.Fatal(err)
			}
		}
		into(t, history, ingest.Options{}, write(t, filepath.Join(tmp, "clone"), files, time.Now()))
	}
}

// Fields around a wrapped result have no secrets and no prompts, and a place is no device.
func TestSecretsAroundAResult(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{"x.json": `{"gpu":0,"device":"cuda:0","password":"hunter2secret",` +
		`"prompt":"my private text","tp":2,"r":{"a":` + serve("") + `,"b":` + serve("") + `}}`})
	text := fmt.Sprintf("%s %s", set.Runs[0].Points[0].Extra, set.Runs[0].Device.Name)
	if strings.Contains(text, "hunter2") || strings.Contains(text, "private") || set.Runs[0].Device.Name != "" ||
		string(set.Runs[0].Points[0].Extra["tp"]) != "2" {
		t.Error(text)
	}
}

// A document whose id an earlier version derived from the folder keeps it when its results are read again, as a folder
// or file by file, and new results of its run join it.
func TestHistoryOfAnEarlierVersion(t *testing.T) {
	files := map[string]string{
		"a/1.json": lengths(result("acme/x", "20260101-000000", 1)),
		"a/2.json": lengths(result("acme/x", "20260101-010000", 8)),
	}
	dir := write(t, t.TempDir(), files, time.Now())
	for _, given := range []string{"", "a", "a/2.json a/1.json", "a/1.json a"} {
		history := t.TempDir()
		_, now := into(t, history, ingest.Options{}, filepath.Join(dir, "a/1.json"))
		docs := glob(t, filepath.Join(history, "*", "*", "*.json"))
		if len(docs) != 1 {
			t.Fatal(now)
		}
		base := strings.TrimSuffix(filepath.Base(docs[0]), ".json")
		text, err := os.ReadFile(docs[0])
		if err != nil {
			t.Fatal(err)
		}
		old := base[:len(base)-8] + "01d01d01"
		path := filepath.Join(filepath.Dir(docs[0]), old+".json")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), base, old)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(docs[0]); err != nil {
			t.Fatal(err)
		}
		for _, one := range strings.Split(given, " ") {
			_, now = into(t, history, ingest.Options{}, filepath.Join(dir, one))
		}
		docs = glob(t, filepath.Join(history, "*", "*", "*.json"))
		if len(docs) != 1 || docs[0] != path || strings.Count(now, `"status"`) != 2 {
			t.Errorf("%q: %v: %s", given, docs, now)
		}
	}
}

// Folders of one name and one day below two roots are two runs, from the first reading on.
func TestFoldersOfOneName(t *testing.T) {
	tmp, history := t.TempDir(), t.TempDir()
	files := map[string]string{}
	for device, score := range map[string]string{"n150": "0.5123", "n300": "0.5321"} {
		files[device+"/20260102/lm.json"] = `{"results":{"gsm8k":{"acc,none":` + score +
			`}},"model_name":"acme/x","versions":{},"config":{}}`
	}
	folder, last := write(t, tmp, files, time.Now()), ""
	for i, device := range []string{"n150", "n300", "n300", "n150"} {
		_, got := into(t, history, ingest.Options{}, filepath.Join(folder, device))
		if strings.Count(got, `"filter":"none"`) != min(i+1, 2) || i > 1 && got != last {
			t.Errorf("%d: %s", i, got)
		}
		last = got
	}
}

// Evals that a folder's name dates to one day are several, also when they are read again: an equal score of two tasks
// made one of them the copy of the other at every second reading. Few digits are no proof of a copy.
func TestEvalsOfOneDayAgain(t *testing.T) {
	const eval = `{"results":{"%s":{"acc":%s}},"versions":{"mgsm":1.0},"config":{"model":"hf","model_args":` +
		`"pretrained=acme/M","num_fewshot":4,"n":%d}}`
	files := map[string]string{}
	for i, x := range []string{"0.5", "0.5", "0.7", "0.8625", "0.8625"} {
		files[fmt.Sprintf("2025-11-12-e/%c_result.json", 'a'+i)] = fmt.Sprintf(eval, "mgsm", x, i)
	}
	dir := write(t, t.TempDir(), files, time.Time{})
	history := t.TempDir()
	_, first := into(t, history, ingest.Options{}, dir)
	if n := strings.Count(first, `"task":"mgsm"`); n != len(files) {
		t.Fatalf("%d scores of %d files", n, len(files))
	}
	for range 3 {
		if got, again := into(t, history, ingest.Options{}, dir); got.Written != 0 || again != first {
			t.Fatalf("%d written: %s", got.Written, firstDifference(again, first))
		}
	}
}

// A small eval may have the same bytes in two releases.
func TestSmallEvalOfTwoReleases(t *testing.T) {
	const eval = `{"results":{"mgsm":{"acc":0.75}},"versions":{"mgsm":1},"config":{"model":"hf","model_args":` +
		`"pretrained=acme/M","num_fewshot":4}}`
	dir := write(t, t.TempDir(), map[string]string{"v1/r.json": eval, "v2/r.json": eval}, time.Time{})
	pattern, err := manifest.NewPattern("{release}/*")
	if err != nil {
		t.Fatal(err)
	}
	_, got := into(t, t.TempDir(), ingest.Options{Patterns: []manifest.Pattern{pattern}}, dir)
	if n := strings.Count(got, `"task":"mgsm"`); n != 2 {
		t.Errorf("%d scores of two releases", n)
	}
}

// A log gives its date to the report of the same benchmark, which has none, whichever is read first.
func TestReportBehindItsLog(t *testing.T) {
	dir := t.TempDir()
	log := "[06/02/2026-03:16:38] [TRT-LLM] [I] Preparing\n===========\n= PYTORCH BACKEND\n===========\n" +
		"Model:\t\t\tacme/big\nTensorRT LLM Version:\t1.0.0\n===========\n= PERFORMANCE OVERVIEW\n===========\n" +
		"Request Throughput (req/sec): 43.2089\nTotal Output Throughput (tokens/sec): 5530.7382\n" +
		"Total Latency (ms): 115716.9214\nAverage request latency (ms): 75903.4456\n" +
		"Average time-to-first-token [TTFT] (ms): 52667.0339\nAverage time-per-output-token [TPOT] (ms): 182.9639\n"
	report := `{"engine":{"model":"acme/big","version":"1.0.0","backend":"Pytorch"},"world_info":{"tp_size":1},` +
		`"request_info":{"num_requests":5000,"avg_input_length":128.0,"avg_output_length":128.0},"performance":{` +
		`"total_latency_ms":115716.9214,"avg_request_latency_ms":75903.4456,"request_throughput_req_s":43.2089,` +
		`"system_output_throughput_tok_s":5530.7382},"streaming_metrics":{"avg_ttft_ms":52667.0339,"avg_tpot_ms":182.9639}}`
	write(t, dir, map[string]string{"w1.txt": log, "w1.report.json": report}, time.Time{})
	for _, order := range [][]string{
		{"w1.txt", "w1.report.json"}, {"w1.report.json", "w1.txt"}, {"w1.report.json", "w1.txt", ".", "w1.report.json"},
		{"."},
	} {
		history, got := t.TempDir(), ""
		for _, name := range order {
			_, got = into(t, history, ingest.Options{}, filepath.Join(dir, name))
		}
		if n := strings.Count(got, `"schema"`); n != 1 || !strings.Contains(got, `"start":"2026-06-02T03:16:38Z"`) ||
			!strings.Contains(got, "w1.report.json") || strings.Contains(got, "undated") {
			t.Errorf("%v: %d documents:\n%s", order, n, got[:min(len(got), 2500)])
		}
	}
}

// A name that a person stated, and that history knows of one of two copies, is not held against the other one.
func TestCopiesUnderAStatedName(t *testing.T) {
	row := "| gemma-31b | pp1024 (c%d) | %d8.94 ± 1.85 | %d8.94 ± 1.85 | | | 2114.9%d ± 367.64 | 1725.7%d ± 3.5 | " +
		"2114.9%d ± 3.5 |\n| gemma-31b | tg1024 (c%d) | 3.6%d ± 0.01 | 3.6%d ± 0.01 | 5.0%d ± 0.00 | 5.0%d ± 0.00 | | | |\n"
	printed := "| model | test | t/s (total) | t/s (req) | peak t/s | peak t/s (req) | ttfr (ms) | est_ppt (ms) | " +
		"e2e_ttft (ms) |\n|:--|--:|--:|--:|--:|--:|--:|--:|--:|\n"
	for i := 1; i < 4; i++ {
		printed += fmt.Sprintf(row, i, i, i, i, i, i, i, i, i, i, i)
	}
	dir := write(t, t.TempDir(), map[string]string{
		"01.log": "llama-benchy (0.4.0)\nDate: 2026-08-06 14:44:52\n" + printed,
		"01.md":  "# Chat\n\n**Generated:** 2026-08-06 15:18:28\n\n" + printed,
		"09.json": strings.NewReplacer("20260101-000000", "20260806-194140", "acme/x", "google/gemma-31B-it").
			Replace(serve(`"max_concurrency":4,`)),
	}, time.Time{})
	history := t.TempDir()
	stated := ingest.Options{Flags: schema.Facts{Model: schema.Model{Name: "gemma-31b-it"}}}
	_, first := into(t, history, stated, dir)
	_, again := into(t, history, ingest.Options{}, dir)
	if n, m := strings.Count(first, `"status"`), strings.Count(again, `"status"`); n != 4 || m != 4 {
		t.Errorf("%d points, then %d", n, m)
	}
}

// What a log states of points that were read before it may make one workload of two: they are told apart as they are
// where all is read at once.
func TestLogsBehindTheirFiles(t *testing.T) {
	file := func(prompts int) string {
		return strings.Replace(serve(fmt.Sprintf(`"num_prompts":%d,"request_rate":0.3,`, prompts)), "20.5",
			fmt.Sprintf("%d.51", prompts), 1)
	}
	log := func(prompts int) string {
		return fmt.Sprintf("Namespace(num_prompts=%d, dataset_name='random', random_input_len=128, random_output_len=8, "+
			"request_rate=0.3, model='acme/x')\n============ Serving Benchmark Result ============\n"+
			"Successful requests: 8\nBenchmark duration (s): 2.00\nOutput token throughput (tok/s): %d.51\n"+
			"Mean TTFT (ms): 10.25\nMean TPOT (ms): 2.13\n==================================\n", prompts, prompts)
	}
	dir := write(t, t.TempDir(), map[string]string{
		"07-base.json": file(200), "07-base.log": log(200), "11-sweep.json": file(100), "11-sweep.log": log(100),
	}, time.Time{})
	_, want := into(t, t.TempDir(), ingest.Options{}, dir)
	history, got := t.TempDir(), ""
	for _, name := range []string{"07-base.json", "07-base.log", "11-sweep.json", "11-sweep.log"} {
		_, got = into(t, history, ingest.Options{}, filepath.Join(dir, name))
	}
	for _, documents := range []string{want, got} {
		n, told := strings.Count(documents, `"file":"`), strings.Count(documents, `"told-apart"`)
		if n != 2 || told > 1 {
			t.Errorf("%d points that are told apart, said %d times: %s", n, told, documents)
		}
	}
}

// What else a log has, beside the benchmarks whose dated files lie there, is of the same night.
func TestRestOfALogIsDated(t *testing.T) {
	log := "Namespace(backend='vllm', dataset_name='random', max_concurrency=%d, model='acme/x', num_prompts=8, " +
		"random_input_len=128, random_output_len=8, request_rate=inf)\n"
	set := load(t, ingest.Options{}, map[string]string{
		"r/a.json": serve(`"max_concurrency":4,`),
		"r/a.log": fmt.Sprintf(log, 4) + "============ Serving Benchmark Result ============\nSuccessful requests: 8\n" +
			"Benchmark duration (s): 2.00\nOutput token throughput (tok/s): 20.50\nMean TTFT (ms): 10.25\n" +
			"Mean TPOT (ms): 2.13\n==================================\n" + fmt.Sprintf(log, 8) + "killed\n",
	})
	if len(set.Runs) != 1 || len(set.Runs[0].Points) != 2 || set.Runs[0].Start.IsZero() {
		t.Errorf("%d runs, %d points: %+v", len(set.Runs), len(points(set)), set.Runs)
	}
}

// A log that several nights were appended to is dated by none of them.
func TestLogOfSeveralNights(t *testing.T) {
	night := strings.NewReplacer("20260101", "20260108", "20.5", "21.75", "10.25", "11.25", "2.125", "2.375")
	printed := "Namespace(backend='vllm', dataset_name='random', max_concurrency=4, model='acme/x', num_prompts=8, " +
		"random_input_len=128, random_output_len=8, request_rate=inf)\n" +
		"============ Serving Benchmark Result ============\nSuccessful requests: 8\nBenchmark duration (s): 2.00\n" +
		"Output token throughput (tok/s): %s\nMean TTFT (ms): %s\nMean TPOT (ms): %s\n=======================\n"
	one := serve(`"max_concurrency":4,`)
	set := load(t, ingest.Options{}, map[string]string{
		"r/a.json": one, "r/b.json": night.Replace(one),
		"r/all.log": fmt.Sprintf(printed, "20.50", "10.25", "2.13") + fmt.Sprintf(printed, "21.75", "11.25", "2.38") +
			fmt.Sprintf(printed, "22.33", "12.12", "2.51"),
	})
	undated := 0
	for _, r := range set.Runs {
		if r.Start.IsZero() {
			undated += len(r.Points)
		}
	}
	if list := points(set); len(list) != 3 || undated != 1 {
		t.Errorf("%d points, %d undated: %+v", len(list), undated, list)
	}
}

// Scores of two precisions that the paths state need no names of files to be told apart, in whatever order they are
// read.
func TestScoresOfTwoPrecisions(t *testing.T) {
	table := "hf (pretrained=acme/x), gen_kwargs: (None), limit: None, num_fewshot: 5, batch_size: 8\n" +
		"|Tasks|Version|Filter|n-shot|Metric|   |Value|   |Stderr|\n|-|-|-|-|-|-|-|-|-|\n" +
		"|gsm8k|3|none|5|acc|↑|0.%d|±|0.0126|\n"
	dir := write(t, t.TempDir(), map[string]string{
		"FP8_gsm8k.log": fmt.Sprintf(table, 7023), "INT4_gsm8k.log": fmt.Sprintf(table, 6511),
	}, time.Time{})
	pattern, err := manifest.NewPattern("{precision}_*.log")
	if err != nil {
		t.Fatal(err)
	}
	opt := ingest.Options{Patterns: []manifest.Pattern{pattern}}
	for _, order := range [][]string{{"."}, {"FP8_gsm8k.log", "INT4_gsm8k.log"}, {"INT4_gsm8k.log", "FP8_gsm8k.log"}} {
		history, got := t.TempDir(), ""
		for _, name := range order {
			_, got = into(t, history, opt, filepath.Join(dir, name))
		}
		if n := strings.Count(got, `"filter":"none"`); n != 2 || strings.Contains(got, "file fp8") {
			t.Errorf("%v: %d scores: %s", order, n, got)
		}
	}
}
