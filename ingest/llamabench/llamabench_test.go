package llamabench_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/llamabench"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	. "github.com/ttreport/ttreport/ingest/schema/draft/drafttest"
)

var reader = Reader{Detect: llamabench.Reader.Detect, Read: llamabench.Reader.Read}

const rows = `[{"build_commit":"4df29be","build_number":1234,"cpu_info":"Xeon","gpu_info":"RTX 4090",` +
	`"backends":"CUDA",` +
	`"model_filename":"/m/llama-7b-Q4_K_M.gguf","model_type":"llama 7B Q4_K - Medium","n_batch":2048,"n_ubatch":512,` +
	`"n_threads":8,"type_k":"q8_0","type_v":"f16","n_gpu_layers":99,"flash_attn":1,"n_prompt":512,"n_gen":0,"n_depth":0,` +
	`"test_time":"2026-09-24T12:40:01Z","avg_ns":1,"avg_ts":1241.5,"stddev_ts":3.5,"samples_ts":[1240.1,1242.9]},` +
	`{"build_commit":"4df29be","build_number":1234,"cpu_info":"Xeon","gpu_info":"RTX 4090","n_threads":8,` +
	`"model_filename":"/m/llama-7b-Q4_K_M.gguf","n_gpu_layers":99,"n_prompt":0,"n_gen":128,"avg_ts":50,"stddev_ts":0.5,` +
	`"test_time":"2026-09-24T12:41:01Z"},` +
	`{"model_filename":"/m/other.gguf","n_prompt":0,"n_gen":128,"avg_ts":20,"stddev_ts":0.5}]`

const table = `ggml_cuda_init: found 1 CUDA devices
| model                          |       size |     params | backend    | ngl |          test |                  t/s |
| ------------------------------ | ---------: | ---------: | ---------- | --: | ------------: | -------------------: |
| llama 7B Q4_0                  |   3.56 GiB |     6.74 B | CUDA       |  99 |         pp512 |      2368.80 ± 93.24 |
| llama 7B Q4_0                  |   3.56 GiB |     6.74 B | CUDA       |  99 |         tg128 |        131.42 ± 0.59 |

build: 4df29be (1234)
`

func TestRows(t *testing.T) {
	r := reader.Must(t, "x.json", rows)
	if len(r.Points) != 2 || len(r.More) != 1 || r.Facts.Model.ID != "llama-7b-Q4_K_M" ||
		r.Facts.Device.Name != "RTX 4090" ||
		r.Facts.Stack.Version != "1234" || r.Facts.Model.Precision != "Q4_K" {
		t.Fatalf("%d points, %d more, %+v", len(r.Points), len(r.More), r.Facts)
	}
	Expect(t, r.Points[0], map[string]float64{"total_tps.value": 1241.5, "total_tps.std": 3.5})
	Expect(t, r.Points[1], map[string]float64{"output_tps.value": 50, "tpot.mean": 20, "tps_user.value": 50})
	if k := r.Points[0].Key; *k.ISL != 512 || *k.OSL != 0 || k.Dims["flash_attn"] != "1" || k.Dims["type_k"] != "q8_0" ||
		k.Dims["batch"] != "" || k.Dims["phase"] != "prompt" {
		t.Error(k)
	}
}

// Phones call their processors CPU, which names none; a fork writes the time to the first token.
func TestRowsOfAPhone(t *testing.T) {
	text := strings.Replace(strings.ReplaceAll(rows, `"cpu_info":"Xeon","gpu_info":"RTX 4090"`,
		`"cpu_info":"CPU","gpu_info":""`), `"avg_ns":1,`, `"avg_ns":1,"avg_ttf_ns":113586961,"stddev_ttf_ns":4788146,`, 1)
	r := reader.Must(t, "cpu.json", text)
	if r.Facts.Device.Name != "" {
		t.Errorf("device %q", r.Facts.Device.Name)
	}
	Expect(t, r.Points[0], map[string]float64{"ttft.mean": 113.586961, "ttft.std": 4.788146})
}

// Rows with what the backends print around and between them are read; a damaged one costs no other.
func TestRowsInText(t *testing.T) {
	row := func(gen string) string {
		return `{"model_filename":"/m/a.gguf","n_prompt":0,"n_gen":` + gen + `,"avg_ts":50,"stddev_ts":0.5}`
	}
	for text, want := range map[string]string{
		"ggml_cuda_init: found 1 ROCm devices:\n  Device 0: gfx1151\n" + row("1") + "\n" + row("2") + "\n": "" +
			"text-between-rows",
		"x\n" + row("1") + "\r\n\n{not a row}\n" + row("2") + "\nmain: done": "text-between-rows",
		"x\n" + row("1") + "\n" + row(`1 2`) + "\n" + row("3"):               "bad-json text-between-rows",
	} {
		if r := reader.Must(t, "x.jsonl", text); r.Format != llamabench.Format || len(r.Points) != 2 || Codes(r) != want {
			t.Errorf("%q: %s, %d points, %s", text, r.Format, len(r.Points), Codes(r))
		}
	}
	if m := reader.Detect(file(`a log that mentions "avg_ts" and {"n_prompt":1}`)); m.OK() {
		t.Errorf("a text without rows: %+v", m)
	}
}

func file(text string) *decode.File {
	f := decode.NewFile("x.log", []byte(text), time.Time{}, decode.DefaultLimits())
	return &f
}

func TestTable(t *testing.T) {
	r := reader.Must(t, "x.md", table)
	if len(r.Points) != 2 || r.Facts.Model.Name != "llama 7B Q4_0" || r.Facts.Stack.Version != "1234" {
		t.Fatalf("%d points, %+v", len(r.Points), r.Facts)
	}
	Expect(t, r.Points[0], map[string]float64{"total_tps.value": 2368.8, "total_tps.std": 93.24})
	Expect(t, r.Points[1], map[string]float64{"output_tps.value": 131.42})
	if k := r.Points[1].Key; *k.OSL != 128 || k.Dims["gpu_layers"] != "99" || k.Dims["backends"] != "CUDA" {
		t.Error(k)
	}
}

// Rows of two models are of two runs: under the name of the first one stood the numbers of both.
func TestTableOfTwoModels(t *testing.T) {
	r := reader.Must(t, "x.md", table+strings.ReplaceAll(table, "llama 7B Q4_0", "qwen3 8B Q8_0"))
	if len(r.More) != 1 || len(r.Points) != 2 || len(r.More[0].Points) != 2 || r.Facts.Model.Name != "llama 7B Q4_0" ||
		r.More[0].Facts.Model.Name != "qwen3 8B Q8_0" || r.More[0].Facts.Model.Precision != "Q8_0" ||
		r.More[0].Facts.Stack.Version != "1234" {
		t.Errorf("%+v", r)
	}
}

// One table for each of two devices is no repeat of the other; one heading over all tables says nothing.
func TestTablesUnderHeadings(t *testing.T) {
	const second = "### GPU 1 ONLY (top slot) ###\n"
	r := reader.Must(t, "x.md", "# Results\n### GPU 0 ONLY ###\n"+table+second+strings.ReplaceAll(table, " ± ", "1 ± "))
	var got []string
	for _, p := range r.Points {
		got = append(got, p.Key.Dims["section"])
	}
	if want := []string{"GPU 0 ONLY", "GPU 0 ONLY", "GPU 1 ONLY", "GPU 1 ONLY"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, p := range reader.Must(t, "x.md", "# Results\n"+table+table).Points {
		if p.Key.Dims["section"] != "" {
			t.Errorf("%v", p.Key)
		}
	}
}

func FuzzRead(f *testing.F) { reader.Fuzz(f, "x.md", rows, table) }

// CSV has the fields of JSON as texts in quotes, switches as 1 and 0; what ggml prints may stand before it.
func TestCSV(t *testing.T) {
	const text = "load_backend: loaded CUDA backend\n" +
		"build_commit,build_number,cpu_info,gpu_info,backends,model_filename,model_type,n_batch,n_threads,type_k," +
		"n_gpu_layers,flash_attn,use_mmap,embeddings,n_prompt,n_gen,n_depth,test_time,avg_ns,stddev_ns,avg_ts,stddev_ts\n" +
		`"d05fe1d7d","9010","Xeon","RTX 4090","CUDA","/m/llama-7b-Q4_K_M.gguf","llama 7B Q4_K - Medium","2048","16","f16",` +
		`"99","1","1","0","512","0","0","2026-05-03T03:17:29Z","380597655","25634298","1350.679089","84.822213"` + "\n" +
		`"d05fe1d7d","9010","Xeon","RTX 4090","CUDA","/m/llama-7b-Q4_K_M.gguf","llama 7B Q4_K - Medium","2048","16","f16",` +
		`"99","1","1","0","0","128","0","2026-05-03T03:17:37Z","1315037385","3664001","97.336351","0.270165"` + "\n"
	r := reader.Must(t, "a.csv", text)
	if len(r.Points) != 2 || r.Facts.Device.Name != "RTX 4090" || r.Facts.Model.ID != "llama-7b-Q4_K_M" ||
		r.Facts.Stack.Version != "9010" || r.Facts.Stack.Commits["llama.cpp"] != "d05fe1d7d" {
		t.Fatalf("%d points, %+v", len(r.Points), r.Facts)
	}
	Expect(t, r.Points[0], map[string]float64{"total_tps.value": 1350.679089, "total_tps.std": 84.822213})
	Expect(t, r.Points[1], map[string]float64{"output_tps.value": 97.336351, "tpot.mean": 1000 / 97.336351})
	dims := r.Points[1].Key.Dims
	if dims["threads"] != "16" || dims["flash_attn"] != "1" || dims["use_mmap"] != "" || *r.Points[1].Key.OSL != 128 {
		t.Errorf("%v", r.Points[1].Key)
	}
	// A table that somebody made of such rows has other names for what tells them apart: it is for a mapping.
	own := "model,starting_depth,n_prompt,n_gen,avg_ts,stddev_ts\nllama-7b,8192,0,128,14.6,.3\n"
	if f := File("summary.csv", own); llamabench.Reader.Detect(f).OK() {
		t.Error("a summary is read as rows, without its model and depth")
	}
	cut := reader.Must(t, "a.csv", text[:len(text)-40])
	if len(cut.Points) != 1 || !strings.Contains(Codes(cut), "truncated") {
		t.Errorf("%d points, %s", len(cut.Points), Codes(cut))
	}
}

// Tables of two builds in one log are of two builds: llama-bench prints its build below, people write it above.
func TestTablesOfBuilds(t *testing.T) {
	table := func(speed string) string {
		return "| model | size | params | test | t/s |\n| --- | --- | --- | --- | --- |\n" +
			"| llama 7B Q4_0 | 3.56 GiB | 6.74 B | pp512 | " + speed + " ± 1.00 |\n\n"
	}
	const a, b = "build: aaaaaaa1 (4000)\n", "build: bbbbbbb2 (5000)\n"
	for name, x := range map[string]struct{ text, want string }{
		"below":    {table("100") + a + table("200") + b, "4000 100, 5000 200"},
		"above":    {a + table("100") + b + table("200"), "4000 100, 5000 200"},
		"cut":      {table("100") + a + table("200") + b + table("300"), "4000 100, 5000 200,  300"},
		"one, top": {a + table("100") + table("200"), "4000 100, 4000 200"},
		"one":      {table("100") + table("200") + a, "4000 100, 4000 200"},
	} {
		r := reader.Must(t, "bench.log", x.text)
		var got []string
		for _, one := range append([]schema.Reading{r}, r.More...) {
			for _, p := range one.Points {
				speed, _ := p.Value("total_tps", "value")
				got = append(got, fmt.Sprint(one.Facts.Stack.Version, " ", speed))
			}
		}
		if strings.Join(got, ", ") != x.want {
			t.Errorf("%s: %v, expected %s", name, got, x.want)
		}
	}
}

// A row that a notebook prints again under another heading is one measurement.
func TestARowPrintedAgain(t *testing.T) {
	const head = "| model | backend | test | t/s |\n| --- | --- | ---: | ---: |\n"
	const row = "| glm-dsa ?B Q4_K - Medium | ROCm | pp16384 | 86.11 ± 0.10 |\n"
	text := "### Entry 1\n\n" + head + row + "\n### Entry 2\n\n" + head + row +
		"| glm-dsa ?B Q4_K - Medium | ROCm | pp32768 | 55.76 ± 0.03 |\n"
	keys, again := map[string]bool{}, 0
	r := reader.Must(t, "notebook.md", text)
	for _, p := range r.Points {
		keys[p.Key.String()] = true
	}
	for _, p := range r.Problems {
		if p.Code == "printed-again" {
			again++
		}
	}
	if len(r.Points) != 2 || len(keys) != 2 || again != 1 || r.Points[0].Key.Dims["section"] != "" {
		t.Errorf("%v, %d; %v", keys, again, r.Problems)
	}
}

// A build that does not know its history calls itself 1: its commit says which it is.
func TestBuildsWithoutTheirHistory(t *testing.T) {
	one := strings.ReplaceAll(rows, `"build_number":1234`, `"build_number":1`)
	both := strings.Replace(one, `"build_commit":"4df29be"`, `"build_commit":"aaaaaa1"`, 1)
	if r := reader.Must(t, "x.json", both); r.Facts.Stack.Version != "" || len(r.Points) != 1 || len(r.More) != 2 ||
		r.Facts.Stack.Commits["llama.cpp"] != "aaaaaa1" || r.More[0].Facts.Stack.Commits["llama.cpp"] != "4df29be" {
		t.Errorf("%+v, %d points, %+v", r.Facts.Stack, len(r.Points), r.More)
	}
}
