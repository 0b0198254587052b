package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/table"
)

// mapped reads paths one after the other into a new history, with a mapping of tables of the user's own.
func mapped(t *testing.T, columns map[string]string, paths ...string) (documents string) {
	t.Helper()
	var tables []table.Table
	if columns != nil {
		var err error
		if tables, err = table.Compile([]table.Mapping{{Files: "*.csv", Columns: columns}}); err != nil {
			t.Fatal(err)
		}
	}
	history := t.TempDir()
	for _, path := range paths {
		_, documents = intoBy(t, history, ingest.Options{}, tables, path)
	}
	return documents
}

// A table that somebody made of result files is of their measurements, in all digits or rounded, in whatever order they
// are read; the files have what only the table states. Another measurement in it counts.
func TestTableOfFilesCountsOnce(t *testing.T) {
	const file = `{"date":"20260102-03%02d05","model_id":"acme/M","max_concurrency":%d,"completed":8,"duration":%g,` +
		`"request_throughput":%g,"output_throughput":%g,"mean_ttft_ms":%g,"mean_tpot_ms":%g,"p99_ttft_ms":%g}`
	columns := map[string]string{
		"model": "model", "in": "isl", "out": "osl", "c": "concurrency", "rps": "rps req/s", "tps": "output_tps tok/s",
		"ttft": "ttft mean ms", "tpot": "tpot mean ms", "p99": "ttft p99 ms",
	}
	for name, format := range map[string]string{"in all digits": "%[1]g", "rounded": "%.2[1]f"} {
		files := map[string]string{}
		rows := "model,in,out,c,rps,tps,ttft,tpot,p99\n"
		for i, x := range []float64{1.234567, 2.345678, 3.456789} {
			numbers := []any{x, 64 * x, 101 * x, 7 * x, 303 * x}
			if i < 2 { // the third is nowhere else
				files[fmt.Sprintf("n/raw/%d.json", i)] = fmt.Sprintf(file, append([]any{i, i + 1, 8 / x}, numbers...)...)
			}
			rows += fmt.Sprintf("acme/M,128,64,%d", i+1)
			for _, n := range numbers {
				rows += fmt.Sprintf(","+format, n)
			}
			rows += "\n"
		}
		files["n/all.csv"] = rows
		dir := write(t, t.TempDir(), files, time.Time{})
		raw, csv := filepath.Join(dir, "n", "raw"), filepath.Join(dir, "n", "all.csv")
		for _, order := range [][]string{{filepath.Join(dir, "n")}, {raw, csv}, {csv, raw}, {csv, raw, csv}} {
			got := mapped(t, columns, order...)
			if n := strings.Count(got, `"status":"ok"`); n != 3 || strings.Count(got, `"tool":"vllm"`) != 2 ||
				strings.Count(got, `"isl":128`) != 3 {
				t.Errorf("%s, %v: %d points: %s", name, order, n, got)
			}
		}
	}
}

// The rows of a table are of a whole day: each is of the file of its own time.
func TestTableOfADay(t *testing.T) {
	const file = `{"date":"20260102-%02d0000","model_id":"acme/M","max_concurrency":2,"completed":8,"duration":2,` +
		`"output_throughput":%[2]g,"mean_ttft_ms":%[2]g,"mean_tpot_ms":%[2]g,"p99_ttft_ms":%[2]g}`
	files := map[string]string{}
	rows := "at,c,tps,ttft,tpot,p99\n"
	for i, hour := range []int{3, 20} {
		x := 12.345678 + float64(i)
		files[fmt.Sprintf("n/raw/%d.json", hour)] = fmt.Sprintf(file, hour, x)
		rows += fmt.Sprintf("2026-01-02 %02d:00:00,2,%[2]g,%[2]g,%[2]g,%[2]g\n", hour, x)
	}
	files["n/all.csv"] = rows
	dir := write(t, t.TempDir(), files, time.Time{})
	got := mapped(t, map[string]string{"at": "start", "c": "concurrency", "tps": "output_tps tok/s",
		"ttft": "ttft mean ms", "tpot": "tpot mean ms", "p99": "ttft p99 ms"}, filepath.Join(dir, "n"))
	if n := strings.Count(got, `"status":"ok"`); n != 2 || strings.Contains(got, `"tool":"table"`) {
		t.Errorf("%d points: %s", n, got)
	}
}

// Two nights that have counts and lengths in common are two, also where one is a table.
func TestTableOfAnotherNight(t *testing.T) {
	tables, err := table.Compile([]table.Mapping{{Files: "*.csv", Columns: map[string]string{
		"model": "model", "c": "concurrency", "ok": "requests_ok", "in": "isl tok", "out": "osl tok",
		"fail": "requests_failed", "p99": "ttft p99 ms",
	}}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := ingest.Load(t.Context(), []ingest.Root{{Name: "in", Tables: tables, FS: fstest.MapFS{
		"a.json": {Data: []byte(`{"model_id":"acme/M","max_concurrency":2,"completed":8,"failed":0,` +
			`"total_input_tokens":1024,"total_output_tokens":512,"output_throughput":20.5,"p99_ttft_ms":14.75}`)},
		"b.csv": {Data: []byte("model,c,ok,fail,in,out,p99\nacme/M,2,8,0,128,64,15.25\n")},
	}}}, ingest.Options{})
	if err != nil || len(points(set)) != 2 {
		t.Errorf("%v: %+v", err, points(set))
	}
}

// A table that has percentiles alone beside its one rate is of its file, too.
func TestTableOfPercentiles(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{
		"n/a.json": `{"model_id":"acme/M","max_concurrency":2,"completed":8,"output_throughput":20.51234,` +
			`"median_ttft_ms":14.75123,"p99_ttft_ms":24.12345,"median_tpot_ms":7.98765}`,
		"n/b.csv": "c,tps,ttft,p99,tpot\n2,20.51,14.75,24.12,7.99\n2,20.51,15.75,25.12,8.99\n",
	}, time.Time{})
	got := mapped(t, map[string]string{"c": "concurrency", "tps": "output_tps tok/s", "ttft": "ttft median ms",
		"p99": "ttft p99 ms", "tpot": "tpot median ms"}, filepath.Join(dir, "n"))
	if n := strings.Count(got, `"status":"ok"`); n != 2 {
		t.Errorf("%d points: %s", n, got)
	}
}

// A score in a table beside the file that it was taken from counts once.
func TestTableOfScoresCountsOnce(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{
		"e/r/results_2026-01-02T03-04-05.json": `{"results":{"gsm8k":{"exact_match,strict-match":0.53127},` +
			`"mmlu":{"acc,none":0.6123}},"model_name":"acme/x","versions":{"gsm8k":3},"config":{}}`,
		"e/all.csv": "model,mmlu,arc\nacme/x,61.23,0.412\n",
	}, time.Time{})
	columns := map[string]string{"model": "model", "mmlu": "score mmlu acc %", "arc": "score arc acc"}
	all, file, csv := filepath.Join(dir, "e"), filepath.Join(dir, "e", "r"), filepath.Join(dir, "e", "all.csv")
	for _, order := range [][]string{{all}, {file, csv}, {csv, file}} {
		got := mapped(t, columns, order...)
		if n := strings.Count(got, `"format":`); n != 3 || strings.Count(got, `"mmlu"`) != 1 {
			t.Errorf("%v: %d scores: %s", order, n, got)
		}
	}
}

// The log of an attempt that died says nothing against the result of such a load beside it. The log of another load
// stays.
func TestLogOfAnAttemptThatDied(t *testing.T) {
	const log = "Namespace(backend='vllm', dataset_name='random', model='acme/x', num_prompts=8, " +
		"random_input_len=%d, random_output_len=64, request_rate=2.0)\n 76%%|###  | 6/8 [06:31<01:30,  2.63it/s]"
	const file = `"request_rate":2.0,"total_input_tokens":8192,"total_output_tokens":512,`
	for isl, want := range map[int]int{1024: 1, 128: 2} {
		dir := write(t, t.TempDir(), map[string]string{
			"n/bench-rate2.log": fmt.Sprintf(log, isl), "n/result-rate2.json": serve(file),
		}, time.Time{})
		result, cut := filepath.Join(dir, "n", "result-rate2.json"), filepath.Join(dir, "n", "bench-rate2.log")
		for _, order := range [][]string{{filepath.Join(dir, "n")}, {result, cut}, {cut, result}} {
			got := mapped(t, nil, order...)
			points, told := strings.Count(got, `"format":`), strings.Contains(got, "ended without a number, of a load of which")
			if points != want || strings.Count(got, `"isl":128,"osl":64`) != want-1 || told && want == 2 {
				t.Errorf("ISL %d, %v: %d points, said %t: %s", isl, order, points, told, got)
			}
		}
	}
}

// Two numbers in all digits are enough for a table and the files below its folder, whose readers may both be mappings
// of the user's own. Two that are one number, as a TTFT is of answers of one token, are not.
func TestTableOfTwoNumbers(t *testing.T) {
	columns := map[string]string{"model": "model", "pp": "input_tps tok/s", "tg": "output_tps tok/s",
		"t": "ttft mean ms", "e": "e2el mean ms"}
	tables, err := table.Compile([]table.Mapping{
		{Files: "*.csv", Columns: columns}, {Files: "raw/*.json", Columns: columns},
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, c := range map[string]struct {
		row  string
		want int
	}{
		`{"model":"acme/M","pp":%g,"tg":%g}`:     {"%g,%g,,", 30},
		`{"model":"acme/M","t":%[2]g,"e":%[2]g}`: {",,%[2]g,%[2]g", 60},
	} {
		files, rows := map[string]string{}, "pp,tg,t,e\n"
		for i := range 30 { // more than share a coarse mark
			x := 8.4123457 + float64(i)/1e4
			files[fmt.Sprintf("n/raw/a-%d.json", i)] = fmt.Sprintf(text, 12.345678*x, x)
			rows += fmt.Sprintf(c.row+"\n", 12.345678*x, x)
		}
		files["n/all.csv"] = rows
		dir := write(t, t.TempDir(), files, time.Time{})
		config, err := manifest.NewPattern("{config}/raw/*") // of which the table says nothing
		if err != nil {
			t.Fatal(err)
		}
		for _, patterns := range [][]manifest.Pattern{nil, {config}} {
			set, err := ingest.Load(t.Context(), []ingest.Root{{Name: "in", Tables: tables, FS: os.DirFS(dir)}},
				ingest.Options{Patterns: patterns})
			if n := len(points(set)); err != nil || n != c.want {
				t.Errorf("%v: %d points, want %d", err, n, c.want)
			}
		}
	}
}
