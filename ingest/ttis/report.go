package ttis

import (
	"encoding/csv"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// RawFile is the condition with the name of the result behind a report's row.
const RawFile = "raw_file"

// readReport reads the data of a report. Its numbers are copies, rounded and without most statistics: they count only
// where the results themselves are not among the files.
func readReport(f *decode.File) schema.Reading {
	v := f.First
	r := schema.Reading{Format: ReportData, Detail: "data of a report"}
	r.Facts = reportFacts(v.Get("metadata"))
	r.Extra = howItRan(v.Get("metadata"))
	readSections(f, &r, v.Get("sections"))
	own := map[string]bool{} // tools whose rows are in a separate list, unrounded
	for _, list := range []struct{ key, tool string }{
		{"aiperf_benchmarks", "aiperf"}, {"genai_perf_benchmarks", "genai-perf"}, {"guidellm_benchmarks", "guidellm"},
		{"benchmarks", "vllm"},
	} {
		for row := range rowsOf(v.Get(list.key)) {
			tool := toolName(row.Get("source").Str(), row.Get("backend").Str(), list.tool)
			if list.key == "benchmarks" && own[tool] {
				continue
			}
			own[tool] = own[tool] || list.key != "benchmarks"
			reportRow(f, &r, row, tool, row.Get("timestamp").Str(), draft.First(row, "completed"))
		}
	}
	for row := range v.Get("evals").Items() {
		reportScore(f, &r, row)
		r.Targets = append(r.Targets, reference(f, row, must)...)
	}
	for row := range v.Get("benchmarks_summary").Items() {
		r.Targets = append(r.Targets, checked(f, row, shapeOf(row))...)
	}
	parameterTests(f, &r, v.Get("parameter_support_tests"))
	serverTests(f, &r, v.Get("server_tests"))
	acceptance(f, &r, v)
	return r
}

// rowsOf iterates over the rows of a table: objects, or the CSV text that some versions put into their JSON.
func rowsOf(v decode.Value) iter.Seq[decode.Value] {
	if v.Kind() != decode.String {
		return v.Items()
	}
	return linesOf(v.Str())
}

// linesOf iterates over the rows of a CSV text, as objects of texts by column.
func linesOf(text string) iter.Seq[decode.Value] {
	return func(yield func(decode.Value) bool) {
		table, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(table) < 2 {
			return
		}
		for _, row := range table[1:] {
			cells := map[string]string{}
			for i, cell := range row {
				cells[table[0][i]] = cell
			}
			text, _ := json.Marshal(cells) // a map of texts always encodes
			if one, problem := decode.Document("", text); problem == nil && !yield(one) {
				return
			}
		}
	}
}

func reportFacts(meta decode.Value) schema.Facts {
	f := schema.Facts{
		Model:  schema.Model{ID: meta.Get("model_repo").Str(), Name: meta.Get("model_name").Str()},
		Impl:   meta.Get("model_impl").Str(),
		Device: schema.Device{Name: strings.ToLower(meta.Get("device").Str())},
		Stack:  schema.Stack{Engine: strings.ToLower(meta.Get("inference_engine").Str())},
	}
	if m := modelID.FindStringSubmatch(meta.Get("model_id").Str()); m != nil && f.Impl == "" {
		f.Impl = m[1]
	}
	if strings.Contains(f.Model.Name, "/") {
		if f.Model.ID == "" {
			f.Model.ID = f.Model.Name
		}
		f.Model.Name = ""
	}
	for _, c := range []string{"tt_metal", "vllm"} {
		if hash := meta.Get(c + "_commit").Str(); hash != "" {
			if f.Stack.Commits == nil {
				f.Stack.Commits = map[string]string{}
			}
			f.Stack.Commits[c] = hash
		}
	}
	if t, err := time.Parse(time.RFC3339, meta.Get("generated_at").Str()); err == nil {
		f.Start, f.End, f.StartNote = t.UTC(), t.UTC(), "when the report was made"
	}
	return f
}

func toolName(names ...string) string {
	for _, n := range names {
		switch n = strings.ToLower(n); {
		case strings.HasPrefix(n, "genai"):
			return "genai-perf"
		case strings.HasPrefix(n, "openai"), n == "benchmarks": // v1 wrote vLLM's client protocol as the tool
			return "vllm"
		case n != "":
			return n
		}
	}
	return "vllm"
}

// reportRow reads one row of results, under the names of either generation. completed is the number of requests, which
// is num_requests since v0.19; before, that is what was asked for.
func reportRow(f *decode.File, r *schema.Reading, row decode.Value, tool, stamp string, completed *float64) {
	if schema.IsMediaTask(row.Get("task_type").Str()) {
		mediaRow(f, r, row)
		return
	}
	if !row.Has("mean_ttft_ms") && !row.Has("mean_tpot_ms") && !row.Has("request_throughput") {
		return
	}
	d := draft.New(f, r, row, tool)
	d.Key.ISL = draft.First(row, "input_sequence_length", "isl")
	d.Key.OSL = draft.First(row, "output_sequence_length", "osl")
	d.Key.Concurrency = draft.First(row, "concurrency", "max_con", "max_concurrency")
	if n := draft.First(row, "num_requests", "num_prompts"); n != nil {
		d.Condition("num_prompts", strconv.FormatFloat(*n, 'f', -1, 64))
	}
	rowLatencies(d, row)
	for metric, keys := range map[string][]string{
		"output_tps": {"tps_output_throughput", "output_token_throughput"},
		"total_tps":  {"tps_total_throughput", "total_token_throughput"}, "rps": {"request_throughput"},
	} {
		for _, k := range keys {
			d.Of(metric, row.Get(k))
		}
	}
	d.Requests(completed, draft.First(row, "error_request_count"), nil, "")
	d.Condition(RawFile, row.Get("filename").Str())
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02_15-04-05"} {
		if t, err := time.Parse(layout, stamp); err == nil {
			d.Start, d.End = t, t
			if r.Facts.Start.IsZero() || t.Before(r.Facts.Start) {
				r.Facts.Start, r.Facts.StartNote = t, "local time of the host, zone not stated"
			}
			if t.After(r.Facts.End) {
				r.Facts.End = t
			}
		}
	}
	d.Done()
}

// rowLatencies reads the latencies of a row; X is replaced by the name of the metric. Where tokens come in blocks, as
// reports since September 2026 mark them, no token has a time of its own.
func rowLatencies(d *draft.Draft, row decode.Value) {
	blocks := row.Get("metric_semantics").Str() == "block_granular"
	d.Condition("output_block_size", row.Get("output_block_size").Text())
	for metric, def := range map[string]string{
		"ttft": schema.DefNotStated, "tpot": schema.DefExclFirst, "itl": schema.DefNotStated, "e2el": schema.DefNotStated,
	} {
		if blocks && (metric == "tpot" || metric == "itl") {
			continue
		}
		stats := map[string][]string{
			"mean": {"mean_X_ms"}, "median": {"p50_X", "median_X_ms", "p50_X_ms"}, "std": {"std_X_ms"},
		}
		for _, p := range []string{"p5", "p25", "p90", "p95", "p99"} {
			stats[p] = []string{p + "_X", p + "_X_ms"}
		}
		for stat, keys := range stats {
			for _, k := range keys {
				if x, ok := row.Get(strings.Replace(k, "X", metric, 1)).Float(); ok {
					d.Stat(metric, def, stat, x)
				}
			}
		}
	}
	rps, _ := row.Get("request_throughput").Float()
	if share, ok := row.Get("goodput_pct").Float(); ok && rps > 0 { // of the requests that completed
		d.Derived("goodput_rps", "", "value", rps*share/100)
	}
}

func reportScore(f *decode.File, r *schema.Reading, row decode.Value) {
	if isMediaScore(row) {
		mediaScores(f, r, row)
		return
	}
	task := row.Get("task_name").Str()
	if task == "" {
		return
	}
	s := schema.Score{Task: task, Source: f.Source(r.Format), Stderr: schema.Missing("not in a report")}
	var scale float64
	s.Metric, s.Filter, scale = headline(task)
	if x, ok := row.Get("score").Float(); ok && s.Metric == wer {
		s.Value, s.Direction = schema.Num(latency.Round(100-x, 7)), "lower" // the report has 100 - WER
	} else if ok {
		s.Value = schema.Num(latency.Round(x/scale, 7))
	} else {
		s.Value = schema.Missing("the report says " + row.Get("score").Text())
	}
	r.Scores = append(r.Scores, s)
}
