package ingest_test

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/table"
)

// A result of a tool that is not read is a warning that names its numbers.
func TestOtherToolsAreNamed(t *testing.T) {
	set := load(t, ingest.Options{}, map[string]string{"x.json": `{"config":{"model":"x"},"timestamp":"2026-01-01",` +
		`"mm_processor_stats":{"preprocess":{"mean":1}},"mean_e2el_ms":5.5,"p99_e2el_ms":7.5}`})
	if len(set.Problems) != 1 || !strings.Contains(set.Problems[0].Found, "mean_e2el_ms, p99_e2el_ms") {
		t.Errorf("%v", set.Problems)
	}
}

// What other people's tools write of a model is named, whatever the file is.
func TestNumbersOfOtherToolsAreNamed(t *testing.T) {
	for name, text := range map[string]string{
		"ppl.txt":    "=== fp16 ===\n{\"model_id\": \"a-14b\", \"perplexity\": 5.8056}\n",
		"locust.log": "9 tok/s (12353 tok/min) | TTFT p50=246.9ms p95=480.0ms over 66 requests of this run\n",
		"stats.csv":  "Type,Name,Request Count,Median Response Time,Requests/s\nPOST,chat,421,7800,2.07\n",
		"turns.json": `{"turns":[{"turn":"a","requests":66,"median_ms":9600,"p95_ms":12000}]}`,
		"sum.csv":    "toolbox,ubatch,avg_ts,stddev_ts\nrocm,512,16.1,.3\n",
		"aiperf.md": "│ Metric │ avg │\n│ Time to First Token (ms) │ 18.26 │\n" +
			"│ Output Token Throughput (tokens/sec) │ 10,944.03 │\n",
		"code.json": `{"name":"audi_filter","unit_tests_passed":3,"model":"yi:34b","device":"RTX-4090"}`,
	} {
		set := load(t, ingest.Options{}, map[string]string{name: text})
		if len(set.Problems) != 1 || set.Problems[0].Severity != schema.SevWarning {
			t.Errorf("%s: %v", name, set.Problems)
		}
	}
}

// Files next to results are recognised by their content, not by their name.
func TestWhatIsNoResultIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{"metadata":{"x_request_id":"a","benchmark_phase":"profiling"},"payload":{"messages":[]},` +
			`"responses":[]}`: "the requests that were sent",
		`{"task":"gsm8k","grader_name":"x","passed":true,"expected":"4"}`:      "graded answers",
		`{"timestamp_ns":1,"endpoint_url":"http://x","metrics":{"vllm:x":[]}}`: "server metrics",
		`{"schema_version":"1.0.0","metadata":{"runs":3},"metrics":{"ttft":{"unit":"ms",` +
			`"avg":1}}}`: "pooled over runs",
		"Timeslice,Metric,Unit,Stat,Value\n0,TTFT,ms,avg,5\n":                   "time slices",
		"task,total,passed,unparsed,accuracy_rate\ngsm8k,100,80,1,0.8\n":        "graded answers",
		`[{"request":"x","response":"y","info":{"output_token_times":[1]}}]`:    "the requests that were sent",
		`{"$schema":"https://json-schema.org/x","properties":{"completed":{}}}`: "JSON schema",
		"load:\n  type: constant\n":                                             "text",
		"\x00\x01\x02":                                                          "binary",
	} {
		set := load(t, ingest.Options{}, map[string]string{"some-file": text, "result.json": readResult})
		if f := set.Files[1]; f.Format == ingest.Unknown || f.Points+f.Scores > 0 || !strings.Contains(f.Detail, want) ||
			len(set.Problems) > 0 {
			t.Errorf("%.40q: %+v", text, f)
		}
	}
}

// readResult is a result of a tool that is read.
const readResult = `{"completed":1,"output_throughput":5,"mean_ttft_ms":5,"max_concurrency":1,"date":"20260401-000000"}`

// What a tool made of its results counts for nothing beside them, and alone it is not passed over in silence.
func TestAsidesAlone(t *testing.T) {
	for name, text := range map[string]string{
		"s/sweep_aggregate/x.csv": "concurrency,request_throughput_avg_mean,time_to_first_token_p99_mean\n1,2.5,12.5\n",
		"pool.json":               `{"schema_version":"1","metadata":{},"metrics":{"ttft":{"unit":"ms","avg":1}}}`,
		"d/display.json":          `{"serving":{"Test name":{"0":"x"},"P99 TTFT (ms)":{"0":5.5,"1":6.5}}}`,
		"r/reports_output/r.md":   "# Tenstorrent\n\n| ISL | TTFT (ms) |\n|---|---|\n| 128 | 55.5 |\n",
	} {
		alone := load(t, ingest.Options{}, map[string]string{name: text, "a/b/c/note.txt": "nothing"})
		if p := alone.Problems; len(p) != 1 || p[0].Code != "without-results" || p[0].Severity != "warning" {
			t.Errorf("%s: %v", name, alone.Problems)
		}
		beside := load(t, ingest.Options{}, map[string]string{name: text,
			path.Join(path.Dir(path.Dir(name)), "runs/1/result.json"): readResult})
		if len(beside.Problems) != 0 {
			t.Errorf("%s beside its results: %v", name, beside.Problems)
		}
	}
}

// A folder with logs or tables of a benchmark that nothing reads never ends in "no problems".
func TestLogsOfABenchmarkAreNamed(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"run.log":     {"Throughput: 3.45 requests/s\nAvg latency: 12.3 s\n", "benchmark-text"},
		"bench":       {"TTFT p50 = 12 ms\nInter-token latency 3.2\n", "benchmark-text"},
		"results.csv": {"model,batch,ttft_ms,tokens_per_second\nx,1,30.5,200\n", "benchmark-text"},
		"server.log":  {strings.Repeat("INFO Avg prompt throughput: 5.0 tokens/s, Running: 1 reqs\n", 9), ""},
		"names.csv":   {"name,city\nx,y\n", ""},
		"notes.txt":   {"we looked at the throughput of 3 machines\n", ""},
		"sum.log": {"=== Results ===\nStart: x\n\nISL,OSL,Throughput(tokens/sec),Latency(ms)\n128,64,14.5,26.7\n" +
			"128,128,15.5,29.7\n", "benchmark-text"},
		"sum.csv": {"=== Results ===\n\nISL,OSL,Throughput(tokens/sec),Latency(ms)\n128,64,14.5,26.7\n", "benchmark-text"},
		"lines.txt": {`{"np":4,"aggregate_tps":124.2,"mean_ttft_s":0.39}` + "\n" + `{"np":4,"aggregate_tps":139.2,` +
			`"mean_ttft_s":0.21}` + "\n", "unread-numbers"},
		"guide.md": {"Throughput: 3.45 requests/s\nAvg latency: 12.3 s\n", "benchmark-text"},
	} {
		set := load(t, ingest.Options{}, map[string]string{name: c.text})
		if codes(set.Problems) != c.want || len(set.Files) != 1 || set.Files[0].Format != ingest.NotResult {
			t.Errorf("%s: %v", name, set.Problems)
		}
	}
	beside := load(t, ingest.Options{}, map[string]string{
		"run.log": "Throughput: 3.45 requests/s\nAvg latency: 12.3 s\n", "out/a.json": serve(""),
	})
	if codes(beside.Problems) != "" {
		t.Errorf("a log beside its result: %v", beside.Problems)
	}
	beside = load(t, ingest.Options{}, map[string]string{
		"out/other.csv": "model,batch,ttft_ms\nx,1,30.5\n", "out/a.json": serve(""),
	})
	if codes(beside.Problems) != "benchmark-text" {
		t.Errorf("a table beside a result: %v", beside.Problems)
	}
}

// Whatever else has numbers of a benchmark in it is named with what they are called: tables in markdown, JSON that
// resembles another format, pages, databases. Code, prose and logs of servers are not.
func TestNothingIsSilent(t *testing.T) {
	for name, text := range map[string]string{
		"hey.md":     "# a\n```\n  Requests/sec:\t908.17\n```\n# b\n```\n  Requests/sec:\t2147.05\n```\n",
		"mlx.log":    "Generation: 100 tokens, 45.6 tokens-per-sec\nPeak memory: 4.5 GB\n",
		"json.log":   "boot\nBENCH_RESULT: {\"tokens\": 64, \"tok_per_s\": 4.25}\ndone\n",
		"pair.txt":   "requests: 10\nttft_mean: 0.534\n",
		"server.txt": "vllm:time_to_first_token_seconds_sum{model=\"x\"} 12.5\n",
		"dot.txt":    "requests: 10\nttft_mean: 0.534.\n",
		"titled.txt": "TTFT (s):\n  Average:   0.123\n  P50:       0.120\n",
		"eval.log":   "INFO step 100\n[eval] exact_match=0.71 f1=0.83\n",
		"speed.txt":  "Speed: 45.3 tok/sec, first token after 0.23 s\n",
		"row.txt":    "Test   Metric        Median    Min/Max\nshort  prompt tok/s   68.03  63.37/75.87\n",
		"wer.json":   `{"model":"whisper","wer":0.0512}`, "elo.jsonl": `{"model":"m","elo":1203.5}`,
	} {
		set := load(t, ingest.Options{}, map[string]string{name: text})
		if len(set.Problems) != 1 || set.Problems[0].Severity != schema.SevWarning {
			t.Errorf("%s: %v", name, set.Problems)
		}
	}
	for name, c := range map[string]struct{ text, code, found string }{
		"runs/a.md": {"# run\n| metric | value |\n|---|---:|\n| `output_tok_s` | 40.19 |\n", "benchmark-text",
			"output_tok_s"},
		"wide.md": {"| model | TTFT (ms) | tok/s |\n|---|---|---|\n| tiny | 12.5 | 80.25 |\n", "benchmark-text",
			"TTFT (ms)"},
		"board.md": {"| Model | MMLU | GSM8K |\n|:--|--:|--:|\n| BLOOM-176B | 39.1 | 12.0 |\n", "benchmark-text", "MMLU"},
		"table.txt": {"| task | language | metric | a |\n|---|---|---|---|\n| arc_challenge | eng | acc ↑ | 0.41 |\n",
			"benchmark-text", "arc_challenge"},
		"cells.md": {"| System | Eval Rate | Power |\n|:--|:--|:--|\n| [Pi 5 with 16 GB](https://example.org/boards/" +
			"issues/7) | 1.20 Tokens/s | 13.0W |\n", "benchmark-text", "a table with numbers"},
		"long.csv": {"model,metric,value\na,accuracy,0.53\na,wall_s,12.5\n", "benchmark-text", "accuracy"},
		"quoted.csv": {"model,subtask,Metric,Value\na,gsm,\"exact_match,none\",0.53\n", "benchmark-text",
			"exact_match"},
		"probes.csv": {"host,metric,value\na,temperature,53.5\n", "", ""},
		"board.csv":  {"model,mmlu,hellaswag\na,0.6,0.8\n", "benchmark-text", "mmlu"},
		"rows.jsonl": {`{"model":"x","date":"2026-06-28","tp":4,"output_tok_s":35.6,"ttft_p50_ms":534.7}` + "\n" +
			`{"model":"x","date":"2026-06-29","tp":4,"output_tok_s":36.6,"ttft_p50_ms":531.7}` + "\n",
			"unread-numbers", "called output_tok_s, ttft_p50_ms"},
		"one.txt": {"Throughput: 5.25 requests/s, 1000.5 total tokens/s\n", "benchmark-text", "1 line"},
		"run.ipynb": {`{"cells":[{"source":["x"],"outputs":[{"text":["Mean TTFT: 12.5 ms\n","Output: 90 tok/s\n"]}]}]}`,
			"benchmark-text", "Mean TTFT: 12.5 ms"},
		"ppl.txt": {"Final estimate: PPL = 13.2885 +/- 0.09725\n", "benchmark-text", "PPL = 13.2885"},
		"tps.csv": {"variant,Decode TPS (avg)\nQ4_K_M,19.5\n", "benchmark-text", "Decode TPS"},
		"eval.log": {"I0505 20:33:11.895241 139628692432000 run_eval.py:62] Accuracy: 0.606667\nI0505 20:33:12.451820 " +
			"139628692432000 run_eval.py:62] Accuracy: 0.643333\n", "benchmark-text", "the first \"Accuracy: 0.606667"},
		"strict.txt": {"summary: total num 46328 | acc 0.77761\nmodel: [tiny]\n\nsubject: arts | num: 160 | acc: 0.90625\n",
			"benchmark-text", "acc 0.77761"},
		"ceval.md": {"# All\n| model | CEval | CMMLU |\n|---|---|---|\n| a | 71.84 | 76.56 |\n", "benchmark-text", "CEval"},
		"requests.jsonl": {`{"success":true,"wall_time":3.867,"ttft":null,"output_tokens":128}` + "\n" +
			`{"success":true,"wall_time":3.895,"ttft":null,"output_tokens":128}` + "\n", "unread-numbers", "output_tokens"},
		"failed.json": {`{"a":{"decode_tps_avg":30.6,"n":1},"b":{"error":"oom","isl":1},"c":{"error":"oom","isl":2}}`,
			"all-failed all-failed unread-numbers", ""},
		"ranks.csv": {"model,k,recall,ndcg,mrr\nbm25,1,0.122,0.234,0.234\n", "benchmark-text", "recall, ndcg, mrr"},
		"agree.json": {`{"method":"x","cosine_similarity":0.998,"top1_match_rate":0.92}`, "unread-numbers",
			"cosine_similarity, top1_match_rate"},
		"session.jsonl": {"{\"type\":\"session\",\"v\":3}\n{\"type\":\"turn\"}\n{\"type\":\"end\",\"ttft\":1359.5}\n",
			"unread-numbers", "ttft"},
		"bold.md":      {`[{"Model":"m","Score":"**40.2**","OS":"x"}]`, "unread-numbers", "Score"},
		"compose.yaml": {"image: ghcr.io/acme/latency-predictor:0.3.1\nother: acme/ttft-server:1.2.3\n", "", ""},
		"plot.ipynb":   {`{"cells":[{"source":["plot(ttft=1)","tpot: 2"],"outputs":[]}]}`, "", ""},
		"notes.txt":    {"The throughput of the 2 systems differs.\n", "", ""},
		"charts.html": {`<script>Plotly.newPlot("a", [{"y":[12.5,13.5]}], {"yaxis":{"title":{"text":"TTFT (ms)"}}})</script>`,
			"unread-numbers", "charts or data of TTFT (ms)"},
		"data.html": {`<p>x</p><script>const RAW = [{"id": "a", "ttft": 86.2}, {"id": "b", "ttft": 90.5}]</script>`,
			"unread-numbers", "charts or data of ttft"},
		"drawn.html": {`<script>new Chart(c, {data: [12.5], label: "Users"})</script><p>TTFT</p>`, "", ""},
		"page.html":  {"<p>TTFT p50 = 12 ms</p>\n<p>Throughput: 3.45 requests/s</p>\n", "benchmark-text", "2 lines"},
		"runs.sqlite": {"SQLite format 3\x00\x10CREATE TABLE m (model text, ttft_ms real, tokens_per_s real)",
			"unread-numbers", "ttft_ms, tokens_per_s"},
		"tsconfig.json": {"{\n  /* of a compiler */\n  \"strict\": true\n}\n", "bad-json", "of a compiler"},
		"chat.json":     {`{"prompt_tokens":512,"output_tokens":256,"output_tokens_stdev":4}`, "", ""},
		"page.htm":      {"<p>{% if run.latency_p50_ms %}latency p50: {{ 5 }}</p>\n", "", ""},
		"conf.yaml":     {"output_dropout: 0.1\nlatency_budget_ms: 12.5\n", "", ""},
		"points.yaml": {"runs:\n- {c: 1, ttft_ms: 120, tok_s: 90}\n- {c: 8, ttft_ms: 340, tok_s: 410}\n", "unread-numbers",
			"called ttft_ms, tok_s"},
		"loads.yml": {"c1:\n  ttft_ms: 120\nc8:\n  ttft_ms: 340\n", "unread-numbers", "called ttft_ms"},
		"goals.yaml": {"ttft_ms: 500\nslos:\n- {ttft_ms: 120}\n- {ttft_ms: 340}\nmodels:\n- {max_latency_ms: 5}\n" +
			"- {max_latency_ms: 7}\n", "", ""},
		"bench.py":     {"# TTFT p50 = 12 ms\n# Throughput: 3.45 requests/s\n", "", ""},
		"README.md":    {"It reaches 80 tok/s.\nTTFT is 12 ms.\n| file | what |\n|---|---|\n| a.py | the latency |", "", ""},
		"blob.bin":     {"\x00\x01ttft_ms", "", ""},
		"names.sqlite": {"SQLite format 3\x00\x10CREATE TABLE m (name text)", "", ""},
	} {
		set := load(t, ingest.Options{}, map[string]string{name: c.text})
		if codes(set.Problems) != c.code || c.code != "" && !strings.Contains(set.Problems[0].Found, c.found) {
			t.Errorf("%s: %v", name, set.Problems)
		}
		if c.code == "bad-json" && set.Problems[0].Severity != "note" {
			t.Errorf("%s: %v", name, set.Problems)
		}
	}
}

// The mapping that is proposed for JSON of no known format reads it.
func TestProposedMappingReads(t *testing.T) {
	row := `{"model":"acme/x","timestamp":"2026-06-28","lat":{"ttft_p50_ms":534.7},"output_tok_s":35.6,"note":"y"}`
	for name, text := range map[string]string{
		"a/rows-1.jsonl": row + "\n" + strings.Replace(row, "35.6", "36.1", 1) + "\n",
		"a/list-1.json":  "[" + row + "," + strings.Replace(row, "35.6", "36.1", 1) + "]",
		"a/deep-1.json": `{"version":1,"data":{"runs":[` + row + "," + strings.Replace(row, "35.6", "36.1", 1) +
			`]}}`,
		"a/map-1.json": `{"version":1,"runs":{"one":` + row + `,"two":` + strings.Replace(row, "35.6", "36.1", 1) + `}}`,
	} {
		set := load(t, ingest.Options{}, map[string]string{name: text})
		at := strings.Index(hints(set), "tables:\n")
		if at < 0 {
			t.Errorf("%s: no mapping: %v", name, set.Problems)
			continue
		}
		var said struct {
			Tables []table.Mapping `yaml:"tables"`
		}
		if p := decode.YAML("ttreport.yaml", []byte(hints(set)[at:]), &said); p != nil {
			t.Errorf("%s: %v", name, p)
			continue
		}
		tables, err := table.Compile(said.Tables)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		root := ingest.Root{FS: fstest.MapFS{name: {Data: []byte(text)}}, Name: "in", Tables: tables}
		set, err = ingest.Load(context.Background(), []ingest.Root{root}, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := set.Files[0].Points; n != 2 {
			t.Errorf("%s: %d points by\n%s%v", name, n, hints(set)[at:], set.Problems)
			continue
		}
		p := set.Runs[0].Points[0]
		ttft, _ := p.Value("ttft", "median")
		if set.Runs[0].Model.ID != "acme/x" || set.Runs[0].Start.IsZero() || ttft != 534.7 {
			t.Errorf("%s: %+v, TTFT %g", name, set.Runs[0].Model, ttft)
		}
	}
}

// hints are those of all problems.
// Every mapping that is printed can be followed as it stands: together they read each file of which one was proposed,
// and no other.
func TestProposedFilesAreTheirs(t *testing.T) {
	files := map[string]string{
		"res/phase1_summary.csv": "models", "res/phase2_concurrency_summary.csv": "load", // of which one pattern has both
		"res/phase3_concurrency_summary.csv": "load",
		"n1/run-a.csv":                       "load", "n1/run-b.csv": "load", "n1/other.csv": "note,text\na,b\n",
		"n2/run-a.csv": "models", "n2/run-[1].csv": "load", // called like those of another folder
		"s/x-1.json": `{"v.1":ROW,"v.2":ROW}`, "s/x-2.json": `{"a":{"device":"n150","b.1":[ROW]}}`,
		"s/x-3.json": `{"completed":1,"output_throughput":5,"mean_ttft_ms":5,"max_concurrency":1}`, // of a tool
	}
	for i, name := range slices.Sorted(maps.Keys(files)) { // no file is a copy of another
		row := fmt.Sprintf(`{"ttft_mean_ms":%d.5,"concurrency":1}`, i)
		files[name] = strings.NewReplacer("models", fmt.Sprintf("model,e2e_mean_ms\na,%d.25\n", i),
			"load", fmt.Sprintf("concurrency,ttft_mean_ms\n1,%d.75\n", i), "ROW", row).Replace(files[name])
	}
	set := loadWith(t, files, nil)
	var tables []table.Mapping
	proposed := map[string]bool{}
	for _, p := range set.Problems {
		text, list := table.Proposed(p.Hint)
		if proposed[p.Path] = len(list) > 0; len(list) == 0 {
			continue
		}
		var said struct {
			Tables []table.Mapping `yaml:"tables"`
		}
		if p := decode.YAML("ttreport.yaml", []byte(strings.TrimPrefix(table.Hint(text, list...), text)), &said); p != nil {
			t.Fatal(p)
		}
		tables = append(tables, said.Tables...)
	}
	compiled, err := table.Compile(tables)
	if err != nil || len(proposed) != 9 {
		t.Fatalf("%v; %d of %+v", err, len(proposed), proposed)
	}
	for _, f := range loadWith(t, files, compiled).Files {
		want := strings.Count(files[f.Path[3:]], `"v.2"`)
		if proposed[f.Path] || f.Path == "in/s/x-3.json" {
			want++
		}
		if isRead := f.Format == table.Format; isRead != proposed[f.Path] || f.Points != want {
			t.Errorf("%s is %s with %d points, want %d, by %+v", f.Path, f.Format, f.Points, want, tables)
		}
	}
}

func loadWith(t *testing.T, files map[string]string, tables []table.Table) ingest.Set {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	set, err := ingest.Load(t.Context(), []ingest.Root{{FS: tree, Name: "in", Tables: tables}}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Two lists of one file are read by a mapping each.
func TestTwoMappingsOfAFile(t *testing.T) {
	tables, err := table.Compile([]table.Mapping{
		{Files: "a.json", Rows: "online", Columns: map[string]string{"c": "concurrency", "ttft": "ttft ms"}},
		{Files: "a.json", Rows: "offline", Columns: map[string]string{"c": "concurrency", "tps": "output_tps tok/s"}},
		{Files: "a.json", Rows: "gone", Columns: map[string]string{"x": "ttft ms"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := `{"online":[{"c":1,"ttft":5},{"c":2,"ttft":6}],"offline":[{"c":64,"tps":900}]}`
	root := ingest.Root{FS: fstest.MapFS{"a.json": {Data: []byte(text)}}, Name: "in", Tables: tables}
	set, err := ingest.Load(t.Context(), []ingest.Root{root}, ingest.Options{})
	if err != nil || len(points(set)) != 3 {
		t.Errorf("%d points, %v, %v", len(points(set)), err, set.Problems)
	}
}

func hints(set ingest.Set) (out string) {
	for _, p := range set.Problems {
		out += p.Hint + "\n"
	}
	return out
}

// The text of a program is no result: a test of a reader has one in quotes.
func TestCodeIsNoResult(t *testing.T) {
	printed := strings.ReplaceAll(printedServing, `\n`, "\n")
	for name, points := range map[string]int{"test_bench.py": 0, "bench.out": 1} {
		set := load(t, ingest.Options{}, map[string]string{name: "OUTPUT = '''\n" + printed + "'''\n"})
		if set.Files[0].Points != points {
			t.Errorf("%s: %+v", name, set.Files[0])
		}
	}
}
