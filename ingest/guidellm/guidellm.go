// Package guidellm reads the reports of GuideLLM: benchmarks.json of 0.1 to 0.3, of 0.4 to 0.6 (metadata version 1) and
// of 0.7 and later (version 2). Its CSV and console tables repeat them.
//
// It takes one decoded value and returns a [schema.Reading] with one point for each benchmark, since a report holds all
// strategies and rates of a sweep. Source: guidellm/benchmark/schemas, 2025 and 2026.
//
// Units: times are milliseconds by their names, but request_latency is seconds.
//
// Traps: "time_per_output_token_ms" includes the first token, which is NTPOT here; "inter_token_latency_ms" is the mean
// gap of a request, weighted by its tokens, and its mean is that of TPOT; its "count" counts tokens, not requests;
// request_latency ends with the response and not with the last token; every statistic exists for successful, errored,
// incomplete and all requests, and a block of count 0 is all zeros, which is no data; p001 is the 0.1th percentile.
// Requests are kept as a sample only, with their texts; neither is read.
package guidellm

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Format is the name of the reports' format.
const Format = "guidellm"

// Reader looks for a list of benchmarks whose metrics have a request_latency, or for the table of one.
var Reader = draft.Format{
	Name: Format, Sniff: sniff, All: readReport,
	Others: []draft.Format{{
		Name: Table, Detail: "table of a report", All: readTable,
		Text: func(f *decode.File) bool {
			return bytes.HasPrefix(f.Data, []byte("Run Info,")) ||
				bytes.HasPrefix(f.Data, []byte("Type,Run Id,Id,Name,Start Time,"))
		},
	}},
}

func sniff(f *decode.File, m *draft.Check) {
	list := f.First.Get("benchmarks")
	m.Want(list.Kind() == decode.Array, "benchmarks")
	found := false
	for b := range list.Items() { // which are not held at once: there may be millions
		if found = b.Get("metrics").Has("request_latency"); found {
			break
		}
	}
	m.Want(found, "benchmarks[].metrics.request_latency")
	m.Detail = cmp.Or(f.First.At("metadata", "guidellm_version").Str(), "GuideLLM")
}

// readReport returns a point for each benchmark of a report. Those of another model, which somebody put into one file,
// are another run; one that names none is of the first.
func readReport(f *decode.File, r *schema.Reading) {
	runs, first, n := draft.RunsOf[string](r), "", 0
	for b := range draft.Each(f, f.First.Get("benchmarks").Items()) {
		if b.Get("metrics").Kind() == decode.Object {
			model := cmp.Or(backend(f.First, b).Get("model").Str(), f.First.At("args", "model").Str(),
				backend(f.First, b).Get("backend_model").Str(), first)
			first = cmp.Or(first, model)
			readBenchmark(f, b, runs.Of(model, schema.Facts{Model: schema.Model{ID: model}}))
			n++
		}
	}
	runs.Join(fmt.Sprintf("%s, %d benchmarks", r.Detail, n))
	r.Extra = draft.Foreign(nil, f.First, "benchmarks metadata args config type_")
}

// backend is what a report says of the server.
func backend(report, b decode.Value) decode.Value {
	return first(b.At("config", "backend"), report.At("config", "spec", "backend"), report.At("args", "backend_kwargs"),
		b.Get("worker"), b.At("args", "backend"))
}

var fields = draft.Table("ttft first-content: time_to_first_token_ms", "tpot excl-first: inter_token_latency_ms",
	"ntpot incl-first: time_per_output_token_ms", "e2el s last-chunk: request_latency")

func readBenchmark(f *decode.File, b decode.Value, r *schema.Reading) {
	d := draft.New(f, r, b, "guidellm")
	b = d.In
	d.Source.ToolVersion = f.First.At("metadata", "guidellm_version").Str()
	data := workload(f.First, d)
	metrics := b.Get("metrics")
	for _, x := range fields {
		block := metrics.At(x.Key, "successful")
		if n, ok := block.Get("count").Float(); ok && n == 0 {
			d.Missing(x.Metric, x.Def, "no request that completed has one")
			continue
		}
		percentiles := block.Get("percentiles")
		d.Block(percentiles, draft.Wide, x)
		d.Put(x, "p99.9", percentiles.Get("p999"))
		d.Block(block, draft.Wide, x)
	}
	for metric, name := range map[string]string{"isl": "prompt_token_count", "osl": "output_token_count"} {
		if block := metrics.At(name, "successful"); block.Get("count").Float0() > 0 {
			d.Of(metric, block.Get("mean"))
		}
	}
	start, end := b.Get("start_time"), b.Get("end_time")
	d.Start, d.End = draft.Epoch(start), draft.Epoch(end)
	seconds := lasted(b)
	if !d.Start.IsZero() && seconds >= 0 {
		d.Value("duration_s", seconds)
		d.End = d.Start.Add(time.Duration(seconds * float64(time.Second)))
	}
	rates(d, seconds)
	// older reports have it in run_stats
	totals := metrics.ObjectOr("request_totals", b.ObjectOr("request_totals", b.At("run_stats", "requests_made")))
	ok, failed := totals.Get("successful").Ptr(), totals.Get("errored").Ptr()
	first := b.At("requests", "errored").Index(0)
	d.Requests(ok, failed, nil, draft.Quote(first.At("info", "error").Str()+first.Get("error").Str()))
	if n := totals.Get("incomplete").Float0(); n > 0 {
		d.Condition("incomplete", strconv.FormatFloat(n, 'f', -1, 64))
	}
	for _, metric := range []string{"ttft", "tpot", "ntpot", "e2el"} {
		d.Size(metric, int(math.Min(totals.Get("successful").Float0(), 1e12)))
	}
	r.Facts.Widen(d.Start, d.End, "")
	if text := data.Str(); d.Key.ISL == nil && d.Key.OSL == nil && text != "" && len(text) < 80 {
		d.Dim(schema.DimLabel, path.Base(text))
	}
	if mean, ok := metrics.At("request_concurrency", "successful", "mean").Float(); ok {
		d.Client = map[string]string{"concurrency_reached": strconv.FormatFloat(mean, 'g', 4, 64)}
	}
	d.Foreign(b, `requests config run_stats request_totals scheduler scheduler_state scheduler_metrics benchmarker worker
		request_loader environment request_samples duration type_ id_ run_id run_index extras warmup_duration
		cooldown_duration run_stats_v2 estimated_state`)
	d.Done()
}

// lasted is how long the requests that completed took, in seconds. A benchmark that is limited in time counts those,
// too, that end after its end_time (0.7); a report that lists a sample of them does not say when the last one did.
func lasted(b decode.Value) float64 {
	stated, last, listed := b.Get("end_time").Float0(), 0., 0.
	for r := range b.At("requests", "successful").Items() {
		last, listed = max(last, r.Get("request_end_time").Float0()), listed+1
	}
	if listed == b.At("metrics", "request_latency", "successful", "count").Float0() {
		stated = max(stated, last)
	}
	return stated - b.Get("start_time").Float0()
}

// rates divides what the requests that completed did by the length of the benchmark. The file's own means of rates are
// no throughputs: up to 0.6 they are means over moments (282 tok/s where 59 were made), and later ones leave out the
// requests at the end of a run that had failures, and count tokens from the first one to the last
// (rate_distribution_from_timings without a window), unlike requests. A difference that shows is a note.
func rates(d *draft.Draft, seconds float64) {
	metrics := d.In.Get("metrics")
	total := func(name string) (sum float64, ok bool) {
		block := metrics.At(name, "successful")
		if sum, ok = block.Get("total_sum").Float(); ok {
			return sum, true
		}
		n, has := block.Get("count").Float()
		mean, ok := block.Get("mean").Float()
		return n * mean, ok && has
	}
	n := metrics.At("request_latency", "successful", "count").Float0()
	if n <= 0 {
		return
	}
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		for _, metric := range []string{"rps", "output_tps", "total_tps"} {
			d.Missing(metric, "", "the file states no duration, and its own rates are means over moments")
		}
		return
	}
	set := func(metric, theirs string, rate float64) {
		block := metrics.At(theirs, "successful", "mean")
		stated, ok := block.Float()
		if ok && math.Abs(stated-rate) <= 1e-6*rate {
			d.Value(metric, stated)
			return
		}
		d.Derived(metric, "", "value", rate)
		if ok && math.Abs(stated-rate) > 1e-3*rate { // a person sees two numbers
			d.Problem(schema.SevNote, "own-rate", block, fmt.Sprintf("%s of %.4g in the file", theirs, stated),
				fmt.Sprintf("%.4g, what completed over the %.4g s of the benchmark", rate, seconds),
				"what completed over the benchmark's length",
				"GuideLLM's mean is of another window: of moments up to 0.6, later from the first token to the last")
		}
	}
	set("rps", "requests_per_second", n/seconds)
	out, ok := total("output_token_count")
	if !ok {
		return
	}
	set("output_tps", "output_tokens_per_second", out/seconds)
	if in, ok := total("prompt_token_count"); ok {
		set("total_tps", "tokens_per_second", (in+out)/seconds)
	}
}

// first returns the first value that exists.
func first(list ...decode.Value) decode.Value {
	for _, v := range list {
		if v.Kind() == decode.Object || v.Kind() == decode.String {
			return v
		}
	}
	return decode.Value{}
}

// asked finds a length in "prompt_tokens=128,output_tokens=64", in an object, or in an object written as text.
func asked(data decode.Value, name string) *float64 {
	if p := data.Get(name).Ptr(); p != nil {
		return p
	}
	for _, m := range length.FindAllStringSubmatch(data.Str()+data.Get("data").Str(), -1) {
		if m[1] == name {
			return decode.Of(m[2]).Ptr()
		}
	}
	return nil
}

var length = lazyregexp.New(`(\w+)"?\s*[=:]\s*(\d+)`)

// workload reads the requested workload, wherever the era has it, and returns where the lengths are stated.
func workload(report decode.Value, d *draft.Draft) (data decode.Value) {
	b := d.In
	args, spec := b.Get("args"), report.At("config", "spec")
	strategy := b.Get("config").ObjectOr("strategy",
		first(b.At("scheduler", "strategy"), args.Get("strategy"))) // before 0.7
	data = first(spec.Get("data").Index(0), report.At("args", "data").Index(0), report.At("args", "data"),
		args.Get("requests_loader"), b.At("request_loader"))
	d.Key.ISL, d.Key.OSL = asked(data, "prompt_tokens"), asked(data, "output_tokens")
	d.Key.Dataset = data.Get("kind").Str()
	for _, name := range []string{"prompt_tokens_stdev", "output_tokens_stdev"} {
		if x := asked(data, name); x != nil && *x > 0 {
			d.Dim(name, strconv.FormatFloat(*x, 'f', -1, 64))
		}
	}
	switch kind := strategy.Get("type_").Str(); kind {
	case "concurrent":
		d.Key.Concurrency = strategy.Number("streams", "max_concurrency")
	case "synchronous":
		d.Key.Concurrency = new(1.)
	case "throughput":
		d.Dim("arrival", "as fast as possible")
	default:
		d.Key.Rate = strategy.Get("rate").Ptr()
		if kind == "constant" { // the field's default is a Poisson process
			d.Dim("arrival", kind)
		}
	}
	d.Fields(data, map[string]string{"degree turns": "turns"})
	server := backend(report, b)
	d.Condition("streaming", server.Get("stream").Text())
	d.Condition("endpoint", server.Get("request_format").Str())
	return data
}

// Table is benchmarks.csv: one row a benchmark. Up to 0.3 it has one line of headings ("Successful Time to first token
// ms mean"), from 0.4 on three (group, status and unit, statistic). It states what the report does, with fewer
// percentiles, so that a row is read as the benchmark that it was written from. Sources: benchmark/output.py of 0.3,
// benchmark/outputs/csv.py of 0.6.
const Table = "guidellm-csv"

// row has the cells of one benchmark by heading, in lower case; its three lines since 0.4 are joined by blanks.
type row map[string]string

func readTable(f *decode.File, out *schema.Reading) {
	lines := csv.NewReader(bytes.NewReader(f.Data))
	lines.FieldsPerRecord = -1
	table, err := lines.ReadAll()
	depth := 1
	if bytes.HasPrefix(f.Data, []byte("Run Info,")) {
		depth = 3
	}
	if err != nil || len(table) <= depth || len(table[len(table)-1]) < len(table[0]) {
		draft.Problem(f, out, schema.SevError, "truncated", decode.Value{}, "a table that is cut or damaged",
			"a line of as many columns as the headings for each benchmark", "no number of it",
			"copy the file again, or read the report beside it")
		return
	}
	runs := draft.RunsOf[string](out)
	for _, line := range table[depth:] {
		one := row{}
		for i, cell := range line[:min(len(line), len(table[0]))] {
			heading := ""
			for _, words := range table[:depth] {
				if i < len(words) {
					heading += " " + strings.ToLower(words[i])
				}
			}
			one[strings.TrimSpace(heading)] = cell
		}
		as := f.With(one.report())
		as.Form = decode.JSON
		part := schema.Reading{Format: Table}
		readReport(as, &part)
		start, end := part.Facts.Start, part.Facts.End
		part.Facts = schema.Facts{Model: part.Facts.Model}
		runs.Add(part.Facts.Model.ID, part).Facts.Widen(start, end, "local time of the host, zone not stated")
	}
	runs.Join(fmt.Sprintf("table of %d benchmarks", len(table)-depth))
}

// groups are the metrics of a report, with the beginning of their headings since 0.4. Before, that is made of the name:
// "Successful Time to first token ms mean".
var groups = map[string]string{
	"request_latency": "request latency successful sec", "time_to_first_token_ms": "time to first token successful ms",
	"time_per_output_token_ms": "time per output token successful ms",
	"inter_token_latency_ms":   "inter token latency successful ms",
	"requests_per_second":      "server throughput successful requests/sec",
	"request_concurrency":      "server throughput successful concurrency",
	"prompt_token_count":       "token metrics successful input tokens",
	"output_token_count":       "token metrics successful output tokens",
	"output_tokens_per_second": "token throughput successful output tokens/sec",
	"tokens_per_second":        "token throughput successful total tokens/sec",
}

// block has the statistics of a metric, as a report has them.
func (r row) block(metric string) map[string]any {
	b := map[string]any{}
	for _, begin := range []string{groups[metric], "successful " + strings.ReplaceAll(metric, "_", " ")} {
		for stat, name := range map[string]string{"mean": "mean", "median": "median", "std_dev": "std dev"} {
			if x, err := strconv.ParseFloat(r[begin+" "+name], 64); err == nil && x-x == 0 {
				b[stat] = x
			}
		}
		var list []float64
		text := cmp.Or(r[begin+" percentiles"], r[begin+" [min, 0.1, 1, 5, 10, 25, 75, 90, 95, 99, max]"])
		if json.Unmarshal([]byte(text), &list) == nil && len(list) == 11 {
			b["min"], b["max"] = list[0], list[10]
			b["percentiles"] = map[string]float64{
				"p001": list[1], "p01": list[2], "p05": list[3], "p10": list[4], "p25": list[5], "p75": list[6], "p90": list[7],
				"p95": list[8], "p99": list[9],
			}
		}
	}
	return b
}

// report makes the report of one benchmark.
func (r row) report() decode.Value {
	metrics := map[string]any{}
	done := r.number("successful requests", "request counts successful")
	for name := range groups {
		if b := r.block(name); len(b) > 0 {
			b["count"] = done
			metrics[name] = map[string]any{"successful": b}
		}
	}
	metrics["request_totals"] = map[string]any{
		"successful": done, "errored": r.number("errored requests", "request counts errored"),
		"incomplete": r.number("incomplete requests", "request counts incomplete"),
	}
	benchmark := map[string]any{
		"metrics": metrics, "args": r.object("args"), "worker": r.object("worker"),
		"request_loader": r.object("request loader"),
	}
	strategy := strategyOf(r.object("run info profile"), r["benchmark strategy"])
	if strategy["type_"] != "" { // up to 0.3 it is in the arguments
		benchmark["config"] = map[string]any{"strategy": strategy, "backend": r.object("run info backend")}
		if kind := strategy["type_"]; len(strategy) == 1 && kind != "synchronous" && kind != "throughput" {
			benchmark["row"] = r["run info run index"] // rows of one sweep are no repeats
		}
	}
	start, err := time.Parse(time.DateTime, cmp.Or(r["start time"], r["timings start time"]))
	if seconds := r.number("duration", "timings duration sec"); err == nil && seconds > 0 {
		benchmark["start_time"], benchmark["end_time"] = start.Unix(), float64(start.Unix())+seconds
	}
	arguments := r.object("runtime info arguments")
	return decode.Of(map[string]any{
		"benchmarks": []any{benchmark}, "metadata": r.object("runtime info metadata"),
		"args": arguments, "config": arguments, // until 0.6, and since
	})
}

// number is 0 where there is none, for counts. headings are of either form.
func (r row) number(headings ...string) float64 {
	for _, h := range headings {
		if x, err := strconv.ParseFloat(r[h], 64); err == nil && x-x == 0 {
			return x
		}
	}
	return 0
}

// object is the JSON of a cell, null where there is none.
func (r row) object(heading string) json.RawMessage {
	if text := r[heading]; json.Valid([]byte(text)) && text != "" {
		return json.RawMessage(text)
	}
	return json.RawMessage("null")
}

// strategyOf returns the strategy of a benchmark: "concurrent@8" or, up to 0.6, its type alone. Then its profile states
// the load where it has one; where it has several (a sweep) a row does not say which of them it is of.
func strategyOf(profile json.RawMessage, text string) map[string]any {
	kind, load, _ := strings.Cut(text, "@")
	out := map[string]any{"type_": kind}
	name := "rate"
	if kind == "concurrent" {
		name = "streams"
	}
	v := decode.Of(profile)
	stated := v.Get(name)
	if stated.Len() == 1 {
		stated = stated.Index(0)
	}
	if x, err := strconv.ParseFloat(load, 64); err == nil && x > 0 {
		out[name] = x
	} else if stated.Kind() == decode.Number && stated.Float0() > 0 {
		out[name] = stated.Float0()
	}
	return out
}
