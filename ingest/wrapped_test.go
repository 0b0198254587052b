package ingest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest"
)

const (
	printedServing = `============ Serving Benchmark Result ============\n` +
		`Successful requests:                     10        \n` +
		`Benchmark duration (s):                  2.00      \nTotal input tokens:                      1280      \n` +
		`Total generated tokens:                  320       \nRequest throughput (req/s):              5.00      \n` +
		`Output token throughput (tok/s):         160.00    \nMean TTFT (ms):                          12.50     \n` +
		`==================================================\n`
	llamaRow = `{"build_commit":"ab12cd3","build_number":5000,"model_filename":"q.gguf","model_type":"qwen 7B Q8_0",` +
		`"n_prompt":0,"n_gen":128,"avg_ts":45.5,"stddev_ts":0.5,"samples_ts":[45,46]}`
	llmperf = `{"mean_input_tokens":550,"mean_output_tokens":150,"num_concurrent_requests":1,` +
		`"results_ttft_s_mean":0.25,"results_end_to_end_latency_s_mean":2.5,"model":"m"}`
)

// What a script wraps is read: a text that a tool printed, results in a map, rows under any key; an attempt that failed
// is a point without a number.
func TestWrappedAnywhere(t *testing.T) {
	for name, c := range map[string]struct {
		text           string
		points, failed int
	}{
		"printed":   {`{"success":true,"raw_output":"` + strings.ReplaceAll(printedServing, "\n", `\n`) + `"}`, 1, 0},
		"stdout":    {`{"runs":[{"stdout":"` + strings.ReplaceAll(printedServing, "\n", `\n`) + `"}]}`, 1, 0},
		"error":     {`{"success":false,"error":"Failed"}`, 1, 1},
		"errors":    {`{"a":` + llmperf + `,"b":{"error":"out of memory"}}`, 2, 1},
		"of a load": {`{"model":"acme/M","concurrency":8,"error":"CUDA out of memory"}`, 1, 1},
		"answered":  {`{"error":{"message":"out of memory","code":500}}`, 1, 1},
		"map":       {`{"low":` + llmperf + `,"high":` + strings.Replace(llmperf, "0.25", "0.5", 1) + `}`, 2, 0},
		"any key":   {`{"date":"2026-01-01","bench":{"rows":[` + llamaRow + `]}}`, 1, 0},
		"several":   {`{"rocm":[` + llamaRow + `],"vulkan":[` + strings.ReplaceAll(llamaRow, "45", "55") + `]}`, 2, 0},
		"lines": {`{"model":"acme/M","raw_output":"` + strings.ReplaceAll(printedServing, "\n", `\n`) + `"}` + "\n" +
			`{"model":"acme/N","raw_output":"` + strings.ReplaceAll(strings.Replace(printedServing, "12.50", "13.50", 1), "\n",
			`\n`) + `"}`, 2, 0},
		"log lines": {`{"error":"x","level":"info"}` + "\n" + `{"error":"y","level":"info"}`, 0, 0},
	} {
		if !json.Valid([]byte(c.text)) && !strings.HasSuffix(name, "lines") {
			t.Fatal(name)
		}
		set := load(t, ingest.Options{}, map[string]string{"r/" + name + ".json": c.text})
		points, failed := 0, 0
		for _, r := range set.Runs {
			for _, p := range r.Points {
				if points++; p.Status == "failed" {
					failed++
				}
			}
		}
		if points != c.points || failed != c.failed {
			t.Errorf("%s: %d points, %d failed, %+v", name, points, failed, set.Problems)
		}
	}
}

// What stands beside a wrapped result says whose it is: two models were two repeats of one workload of an unknown one.
func TestWhoseAWrappedResultIs(t *testing.T) {
	text := strings.ReplaceAll(printedServing, "\n", `\n`)
	set := load(t, ingest.Options{}, map[string]string{"r/x.json": `[{"model":"acme/M","tp":1,"stdout":"` + text +
		`"},{"model":"acme/N","tp":2,"runs":[{"stdout":"` + strings.Replace(text, "12.50", "12.75", 1) + `"}]}]`})
	got := ""
	for _, r := range set.Runs {
		got += fmt.Sprintf("%s %d %s; ", r.Model.ID, len(r.Points), r.Points[0].Extra["tp"])
	}
	if got != "acme/M 1 1; acme/N 1 2; " && got != "acme/N 1 2; acme/M 1 1; " {
		t.Errorf("%s %v", got, set.Problems)
	}
}

// What went wrong with one sample of an eval is no benchmark that failed.
func TestErrorsOfSamples(t *testing.T) {
	sample := `{"id":"x","patch":"…","test_results":{"error":"no test"}}`
	set := load(t, ingest.Options{}, map[string]string{
		"a.json": `{"samples":[` + strings.Repeat(sample+",", 9) + sample + `],"n":10}`})
	if n := len(points(set)); n != 0 {
		t.Errorf("%d points, %v", n, set.Problems)
	}
}

// However many results a list wraps, all of them are read.
func TestManyWrappedResults(t *testing.T) {
	var list []string
	for i := range 60 {
		list = append(list, fmt.Sprintf(`{"stdout":%q}`, fmt.Sprintf("============ Serving Benchmark Result ============\n"+
			"Successful requests: 4\nBenchmark duration (s): 2.5\nOutput token throughput (tok/s): %d.25\n"+
			"Mean TTFT (ms): 10.5\nMean TPOT (ms): 2.5\n==================================================\n", i)))
	}
	set := load(t, ingest.Options{}, map[string]string{"a.json": "[" + strings.Join(list, ",") + "]"})
	if n := len(points(set)); n != 60 {
		t.Errorf("%d points, %v", n, set.Problems)
	}
}

// Numbers of a benchmark that nothing reads are a warning that names them; what has none is left in peace.
func TestUnreadNumbersAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{"setup":{"gpu":"x"},"stats":{"Tok/s":[5.5,6],"mean_ttft_seconds":0.4}}`:               "Tok/s, mean_ttft_seconds",
		`[{"eval":"gsm8k","accuracy":0.5},{"eval":"x","accuracy":0.6}]`:                         "accuracy",
		`{"latency":{"average":1.5,"p95":2},"concurrency":8}`:                                   "latency",
		"x.jsonl\n" + strings.Repeat(`{"model":"gpt","correct":true}`+"\n", 3):                  "correct",
		`{"choices":[{"text":"a","correct":true}]}`:                                             "",
		`{"id":"x","latency":[[3.08,2.5],[1.5]]}`:                                               "latency",
		`{"nbformat":4,"cells":[{"outputs":[{"text":["TTFT: 12 ms","TPOT: 3 ms"]}]}]}`:          "TTFT",
		`{"a":{"b":{"c":{"p99_latency":{"value":3}}}}}`:                                         "",
		"data.js\nwindow.BENCHMARK_DATA = {\n  \"ttft_ms\": 12.5\n}":                            "ttft_ms",
		"data.js\nconst limits = {\n  \"ttft_ms\": 12.5\n}":                                     "",
		"a.xlsx/xl/sharedStrings.xml\n<sst><si><t>Model</t></si><si><t>ITL (ms)</t></si></sst>": "cells called ITL (ms)",
		"a.xlsx/xl/styles.xml\n<sst><si><t>Model</t></si></sst>":                                "",
		"a.csv\ntimestamp,model_name,device,tokens_per_second\n2026-01-02,m,x,12.5\n":           "tokens_per_second",
		"accuracy.txt\nhash=fab\naccuracy=76.000%, good=380, total=500":                         "accuracy=76.000%",
		`{"TTFT":{"A100":12.5,"H100":8.5}}`:                                                     "TTFT",
		`{"throughput":{"batch_size":32,"max_wait":0.5}}`:                                       "",
		`{"model":"x","tasks":{"a":{"passed":12,"failed":3,"total":15}}}`:                       "passed of total",
		`{"suite":"unit","passed":12,"failed":3,"total":15}`:                                    "",
		"a.csv\n# Throughput (tok/s)\nmodel,1,2\nllama,12.5,24.1\n":                             "Throughput (tok/s)",
		"latency_ms.csv\nmodel,1,2\nllama,12,24\n":                                              "latency_ms",
		"latency_ms.csv\nmodel,note\nllama,fast\n":                                              "",
		"a.md\n| Metric | v1 |\n|---|---|\n| **Accuracy** | 91.3 |\n":                           "Accuracy",
		"a.log\nFinal Score: 91 / 100\nPass@1: 86.9%\n":                                         "Final Score",
		"2026-07-11T01.md\n# Bench\n\n- **Final Score**: **91** / 100\n":                        "Final Score",
		"a.md\n# Notes\n\n- Final score: 91 / 100\n":                                            "",
		"a.csv\nModel,Passed,Total\nllama,12,15\n":                                              "passed of total",
		`{"name":"x","version":1,"scores_of":"y","fact":5,"f1c00d":3}`:                          "",
	} {
		name := "x.json"
		if file, rest, is := strings.Cut(text, "\n"); is {
			name, text = file, rest
		}
		set := load(t, ingest.Options{}, map[string]string{name: text})
		found := ""
		for _, p := range set.Problems {
			if (p.Code == "unread-numbers" || p.Code == "benchmark-text") && p.Severity == "warning" {
				found = p.Found
			}
		}
		if want == "" && found != "" || !strings.Contains(found, want) {
			t.Errorf("%s: %q", text, found)
		}
	}
}

// Files of one structure are proposed one mapping, however they are called: which is read by it, their columns say.
func TestOneMappingForAStructure(t *testing.T) {
	const table = "model,ttft_ms\nx,12.5\n"
	set := load(t, ingest.Options{}, map[string]string{
		"r/deep-v3.csv": table, "r/gemma.csv": table, "other/x-1.csv": table, "other/x-2.csv": table,
		"two/a.csv": table, "two/b.csv": "model,tpot_ms\nx,12.5\n",
		"s/speed-a.csv": table, "s/speed-b.csv": table, "s/eval.csv": "a,b\n1,2\n",
	})
	got := map[string]int{}
	for _, p := range set.Problems {
		_, files, _ := strings.Cut(p.Hint, "- files: ")
		name, _, _ := strings.Cut(files, "\n")
		got[name]++
	}
	want := map[string]int{`"*.csv"`: 7, `"b.csv"`: 1}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A text may have the output of several tools.
func TestTextOfTwoTools(t *testing.T) {
	text := "# Notes\n\n| model | size | params | backend | ngl | test | t/s |\n" +
		"| --- | ---: | ---: | --- | --: | --: | --: |\n" +
		"| llama 7B Q4_0 | 3.56 GiB | 6.74 B | CUDA | 99 | pp512 | 1234.56 ± 1.20 |\n\n```\n" +
		"============ Serving Benchmark Result ============\nSuccessful requests:                     50\n" +
		"Benchmark duration (s):                  20.5\nOutput token throughput (tok/s):         55.09\n" +
		"Mean TTFT (ms):                          41.5\n==================================================\n```\n"
	set := load(t, ingest.Options{}, map[string]string{"README.md": text})
	formats := map[string]int{}
	for _, p := range points(set) {
		formats[p.Source.Format]++
	}
	if len(formats) != 2 || formats["llama-bench-md"] != 1 || formats["serving-console"] != 1 {
		t.Errorf("%v, %v", formats, set.Problems)
	}
}
