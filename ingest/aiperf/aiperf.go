// Package aiperf reads what NVIDIA's AIPerf writes: profile_export_aiperf.json of all output eras, and the
// per-request profile_export.jsonl next to it.
//
// It takes one decoded file and returns a [schema.Reading]. [Combine] merges a summary with the records of the same
// run, so that they count once and every statistic is recomputed where records exist.
//
// Eras: E0 (0.1) wraps metrics in "records" and names TTFT "ttft"; E1 (0.2, 0.3) has them flat, unused ones null; E2
// (0.4 to 0.8) adds schema_version and drops nulls; E3 (0.9 on) replaces input_config by a BenchmarkConfig with
// models, datasets and phases; E4 (0.12 on) adds warm-up metrics and more telemetry. Source: aiperf's exporters and
// files of each era.
//
// Traps:
//
//   - "inter_token_latency" is one value a request, which is TPOT here; "inter_chunk_latency" is ITL;
//   - times are milliseconds but benchmark_duration is seconds: the unit of each number decides, not its name;
//   - request_count excludes failures; a run in which all requests failed has no latency metric at all;
//   - start_time is local time without a zone; the epoch nanoseconds of the records are the only clock without that
//     doubt;
//   - phases include the warm-up: the load is read from the last phase that counts;
//   - the average of per-user speeds is a mean of reciprocals and differs from 1000 / mean TPOT.
package aiperf

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Format   = "aiperf"
	Records  = "aiperf-records"
	CSV      = "aiperf-csv"
	GenAI    = "genai-perf"
	GenAICSV = "genai-perf-csv"
	Aside    = "aiperf-aside" // AIPerf's other files: telemetry, inputs, time slices, aggregates
)

// Reader recognises AIPerf's and GenAI-Perf's files. Latencies are not required: a run in which all failed has none.
var Reader = draft.Format{
	Name: Format, Tool: "aiperf", Point: readSummary, Sniff: sniff,
	Others: []draft.Format{
		{
			Name: Records, Detail: "per-request records", Records: true, All: readRecords,
			Sniff: func(f *decode.File, m *draft.Check) { m.Want(isRecord(f.First), "a request record") },
		},
		{
			Name: CSV, Detail: "table of a summary", All: readCSV, Text: begins("Metric,avg,min,max,"),
			Sniff: func(f *decode.File, m *draft.Check) {
				if bytes.Contains(firstLine(f), []byte(",p99,p95,p90")) { // GenAI-Perf counts downwards
					m.Format = GenAICSV
				}
			},
		},
		{
			Name: Console, Detail: "printed table of a summary", All: readConsole,
			Text: func(f *decode.File) bool { return consoleTitle.Match(f.Data) && consoleHead.Match(f.Data) },
		},
		{
			Name: Aside, Detail: "not a result: table of a sweep", Aside: true,
			Text: func(f *decode.File) bool { return sweepColumn.Match(firstLine(f)) },
		},
		asideTable("time slices of a run", "Timeslice,Metric,"),
		asideTable("a table of graded answers", "task,total,passed,unparsed,"),
		asideTable("server metrics", "Endpoint,Type,Metric,"),
		{Name: Sweep, Detail: "aggregate of a sweep", All: readSweep, Sniff: func(f *decode.File, m *draft.Check) {
			m.Want(f.First.Get("aggregation_type").Str() == "sweep" && f.First.Get("per_combination_metrics").Len() > 0,
				"per_combination_metrics")
		}},
		draft.Aside(Aside, "time slices of a run", "timeslices[]"),
		asideIf("an aggregate over runs that are read from their own files", func(v decode.Value) bool {
			return v.Get("aggregation_type").Str() == "sweep" || v.At("metadata", "aggregation_type").Str() == "confidence"
		}),
		asideIf("the mark that a run is written", func(v decode.Value) bool {
			return v.Has("ready", "was_cancelled") && v.Len() <= 4
		}),
		draft.Aside(Aside, "a list of the phases of a run", "phases[]&root_files"),
		draft.Aside(Aside, "GPU telemetry", "telemetry_data&gpu_index"),
		draft.Aside(Aside, "the prompts that were sent", "data.0.payloads|data.0.response_text"),
		draft.Aside(Aside, "server metrics", "metrics{}&summary.endpoints_configured|timestamp_ns&endpoint_url&metrics"),
		draft.Aside(Aside, "the requests that were sent and their answers",
			"metadata.x_request_id&payload|metadata.x_request_id&responses"),
		draft.Aside(Aside, "graded answers", "grader_name&passed"),
		asideIf("statistics pooled over runs that are read from their own files", func(v decode.Value) bool {
			list := v.Get("metrics").Members() // the pool of several trials has no configuration
			return len(list) > 0 && !v.Has("input_config") && v.Get("metadata").Kind() == decode.Object &&
				list[0].Val.Has("unit", "avg")
		}),
		{
			Name: GenAI, Detail: "summary", Tool: "genai-perf", Point: readSummary,
			Sniff: func(f *decode.File, m *draft.Check) { // the same blocks as AIPerf's, its own configuration or none
				v := f.First
				isAIPerf := v.HasAny("aiperf_version", "error_summary", "was_cancelled", "benchmark_id", "schema_version")
				m.Want((v.Get("request_throughput").Has("unit") || v.Get("request_latency").Has("unit")) &&
					(v.Get("input_config").HasAny("perf_analyzer", "subcommand") || !isAIPerf), "a configuration of GenAI-Perf")
			},
		},
	},
}

func asideIf(what string, is func(decode.Value) bool) draft.Format {
	x := draft.Aside(Aside, what)
	x.Sniff = func(f *decode.File, m *draft.Check) { m.Want(is(f.First), what) }
	return x
}

func asideTable(what, header string) draft.Format {
	x := draft.Aside(Aside, what)
	x.Text = begins(header)
	return x
}

// begins reports texts with a header.
func begins(header string) func(*decode.File) bool {
	return func(f *decode.File) bool { return bytes.HasPrefix(f.Data, []byte(header)) }
}

func firstLine(f *decode.File) []byte {
	line, _, _ := bytes.Cut(f.Data[:min(len(f.Data), 1<<16)], []byte("\n"))
	return line
}

func sniff(f *decode.File, m *draft.Check) {
	v := f.First
	wrapped := false // the oldest form: {"records": {tag: {unit, avg}}}
	for _, x := range v.Get("records").Members() {
		wrapped = wrapped || x.Val.Has("unit", "avg")
	}
	m.Want(v.Get("input_config").Kind() == decode.Object || wrapped, "input_config")
	m.Want(wrapped || v.Has("aiperf_version") || v.Get("error_summary").Kind() == decode.Array ||
		v.Get("was_cancelled").Kind() == decode.Bool || v.Has("benchmark_id"),
		"aiperf_version, error_summary or was_cancelled")
	if m.OK() {
		m.Detail = cmp.Or(v.Get("aiperf_version").Str(), "before 0.4")
	}
}

func isRecord(v decode.Value) bool {
	return v.Get("metrics").Kind() == decode.Object &&
		v.Get("metadata").HasAny("x_request_id", "benchmark_phase", "credit_phase")
}

// fields are AIPerf's metrics; in a table, their names have blanks.
var fields = draft.Table("ttft first-content: time_to_first_token",
	schema.MetricTTFO+" first-content: time_to_first_output_token", "tpot excl-first: inter_token_latency",
	"itl chunk-gap: inter_chunk_latency", "e2el last-content: request_latency",
	"tps_user mean-of-1000/tpot: output_token_throughput_per_user", "output_tps: output_token_throughput",
	"total_tps: total_token_throughput", "rps: request_throughput", "goodput_rps: goodput",
	"goodput_rps: request_goodput", "requests_ok: request_count", "requests_failed: error_request_count",
	"isl client-tokenizer: input_sequence_length", "osl client-tokenizer: output_sequence_length",
	"duration_s: benchmark_duration", "input_tps: input_token_throughput",
	"prefix_hits_possible: theoretical_prefix_cache_hit", "prefix_hits: overall_usage_prompt_cache_read_pct",
	"acceptance_length: spec_decode_token_weighted_acceptance_length",
	"acceptance_rate: spec_decode_overall_draft_acceptance_rate")

// statOf returns our name of a metric's statistic; ok is false for one that stays in the raw file. What is no latency
// has one number: its average, or "Value" in a table.
func statOf(metric, theirs string) (stat string, ok bool) {
	stat, ok = schema.ParseStat(theirs)
	info, _ := schema.MetricByName(metric)
	switch {
	case info.Latency:
		return stat, ok && strings.Contains(draft.Usual, " "+stat+" ")
	case info.Unit == "tok" || metric == "tps_user":
		return "mean", stat == "mean" || stat == "value"
	}
	return "value", stat == "mean" || stat == "value"
}

func readSummary(d *draft.Draft) {
	v := d.In
	metrics := v.ObjectOr("records", v).Track()
	d.Source.ToolVersion = v.Get("aiperf_version").Str()
	for _, x := range fields {
		block := metrics.Get(x.Key)
		if x.Metric == "ttft" {
			block = metrics.ObjectOr(x.Key, metrics.Get("ttft"))
		}
		if block.Kind() == decode.Object {
			metric(d, block, x)
		}
	}
	rates(d)
	telemetry(d, v.At("telemetry_data", "endpoints"))
	asked(d)
	judge(v, d)
	for i, m := range v.Members() {
		if m.Val.Has("unit") || d.File.First.At("records", m.Key).Has("unit") {
			v.MarkAt(i)
		}
	}
	d.Foreign(v, "schema_version telemetry_data telemetry_stats warmup_metrics sessions is_complete")
	unmapped(d, metrics)
}

// rates makes the rates of all versions those of one definition, over the stated duration, which goes from the first
// request to the last answer in every version. 0.13 divides by a window of its own that is up to a few per cent longer.
func rates(d *draft.Draft) {
	at := func(metric, stat string) float64 {
		x, _ := d.Point.Value(metric, stat)
		return x
	}
	n, seconds := at("requests_ok", "value"), at("duration_s", "value")
	if n <= 0 || seconds <= 0 {
		return
	}
	said := false
	for _, x := range []struct {
		metric string
		total  float64
	}{
		{"rps", n}, {"output_tps", n * at("osl", "mean")}, {"total_tps", n * (at("isl", "mean") + at("osl", "mean"))},
	} {
		stated, now := at(x.metric, "value"), x.total/seconds
		if stated <= 0 || now <= 0 || !draft.Disagree(stated, now) {
			continue
		}
		d.Derived(x.metric, "", "value", now)
		if !said {
			d.Problem(schema.SevNote, "rate-window", d.In.Get("benchmark_duration"),
				fmt.Sprintf("%s of %.6g, where requests and duration give %.6g", x.metric, stated, now),
				"rates over the duration", "the rates over the duration, as for all versions")
		}
		said = true
	}
}

// telemetry reads what DCGM or NVML stated of the accelerators while AIPerf measured: the power of all, the memory of
// the one that uses most, and how busy they were. One without a value leaves the metric out; one that two exporters
// state counts once.
func telemetry(d *draft.Draft, endpoints decode.Value) {
	power, busy, most, seen := 0., 0., 0., map[string]bool{}
	for _, e := range endpoints.Members() {
		for _, g := range e.Val.Get("gpus").Members() {
			id := cmp.Or(g.Val.Get("gpu_uuid").Str(), e.Key+" "+g.Key)
			if seen[id] {
				continue
			}
			seen[id] = true
			stat := func(name, unit, stat string) float64 {
				block := g.Val.At("metrics", name)
				x, ok := block.Get(stat).Float()
				if !ok || block.Get("unit").Str() != unit {
					return math.NaN()
				}
				return x
			}
			power += stat("gpu_power_usage", "W", "avg")
			busy += stat("gpu_utilization", "%", "avg")
			most = math.Max(most, stat("gpu_memory_used", "GB", "max")*1e9/(1<<30)) // NaN stays
		}
	}
	for name, x := range map[string]float64{
		"accelerator_busy": busy / float64(len(seen)), schema.MetricMemory: most,
	} {
		if schema.Measurable(x) {
			d.Value(name, x)
		}
	}
	if schema.Measurable(power) {
		d.Stat(schema.MetricPower, schema.DefBoards, "value", power)
		if tps, _ := d.Point.Value("output_tps", "value"); tps > 0 {
			d.Derived(schema.MetricEnergy, schema.DefBoards, "value", power/tps)
		}
	}
}

// unmapped keeps the averages of metrics without a canonical name, with their units.
func unmapped(d *draft.Draft, metrics decode.Value) {
	left := 300 // bytes
	for m := range metrics.Unread() {
		avg, ok := m.Val.Get("avg").Float()
		// Time stamps lose digits in a mean, and AIPerf's metrics about itself change with every version.
		if !ok || strings.HasSuffix(m.Key, "_timestamp") || strings.HasPrefix(m.Key, "http_req_") ||
			strings.HasPrefix(m.Key, "stream_") || len(m.Key) > 60 {
			continue
		}
		name := m.Key
		if unit := m.Val.Get("unit").Str(); unit != "" && len(unit) < 30 {
			name += " (" + unit + ")"
		}
		if left -= len(name) + 12; left < 0 {
			break
		}
		d.KeepNumber(name, avg)
	}
}

// metric reads one block {unit, avg, p50 …}; null statistics are absent ones.
func metric(d *draft.Draft, block decode.Value, x draft.Field) {
	if !inUnit(d, &x, block.Get("unit")) {
		return
	}
	for _, s := range block.Members() {
		if stat, ok := statOf(x.Metric, s.Key); ok {
			d.Put(x, stat, s.Val)
		}
	}
	if info, _ := schema.MetricByName(x.Metric); info.Latency {
		n, _ := block.Get("count").Int()
		d.Size(x.Metric, n)
	}
}

// inUnit sets the scale of a field from the unit that a file states, or reports one that is not known.
func inUnit(d *draft.Draft, x *draft.Field, unit decode.Value) (ok bool) {
	if x.Scale, ok = unitScale(unit.Str(), schema.Unit(x.Metric)); !ok {
		d.Problem(schema.SevWarning, "unknown-unit", unit, fmt.Sprintf("unit %q of %s", unit.Text(), x.Key),
			schema.Unit(x.Metric), "no value of this metric")
	}
	return ok
}

// unitScale converts AIPerf's spellings of units; the unit in the file counts.
func unitScale(theirs, ours string) (float64, bool) {
	t := strings.ToLower(theirs)
	switch ours {
	case "tok/s":
		return 1, strings.HasPrefix(t, "tokens/s") || t == "per sec"
	case "req/s":
		return 1, strings.HasPrefix(t, "requests/s") || t == "req/s" || t == "per sec"
	case "req":
		return 1, strings.HasPrefix(t, "request") || t == "count" || t == ""
	case "tok":
		return 1, strings.HasPrefix(t, "token") || t == "count" || t == ""
	}
	return draft.Scale(t, ours)
}

// judge decides the point's status from the counts and the listed errors: versions without a count of failures list
// them by kind.
func judge(v decode.Value, d *draft.Draft) {
	ok, failed, errors := d.Number("requests_ok"), d.Number("requests_failed"), v.Get("error_summary")
	if failed == nil && v.Has("error_summary") {
		failed = new(float64)
		for e := range errors.Items() {
			*failed += e.Get("count").Float0()
		}
	}
	if ok == nil && failed != nil && *failed > 0 {
		ok = new(float64)
	}
	if ok != nil || failed == nil || *failed != 0 {
		d.Requests(ok, failed, nil, draft.Quote(errors.Index(0).At("error_details", "message").Str()))
	}
	if d.Status == schema.StatusFailed {
		for _, name := range []string{"ttft", "tpot", "e2el", "output_tps"} {
			d.Missing(name, "", "no request completed")
		}
	}
	if cancelled, _ := v.Get("was_cancelled").Truth(); cancelled {
		if d.Status == schema.StatusOK {
			d.Status = schema.StatusPartial
		}
		d.Problem(schema.SevWarning, "cancelled", v.Get("was_cancelled"), "the run was cancelled before its end", "",
			"what was measured until then", "repeat the point")
	}
	if reasons := v.Get("runtime_submission_invalid_reasons"); reasons.Len() > 0 {
		d.Status = schema.StatusInvalid
		d.Problem(schema.SevError, "invalid-by-tool", reasons,
			"AIPerf calls the run invalid"+draft.Quote(reasons.Index(0).Text()), "", "no verdict")
	}
}

// asked reads what was asked for and of whom, from the form of input_config of the era, else from the command line, the
// only field that all eras have.
func asked(d *draft.Draft) {
	v, phase, data := d.In, decode.Value{}, decode.Value{}
	in := v.Get("input_config")
	for p := range in.Get("phases").Items() { // the last one that counts (E3 on)
		if skip, _ := p.Get("exclude_from_results").Truth(); !skip && p.Get("kind").Str() != "warmup" &&
			p.Get("name").Str() != "warmup" {
			phase = p
		}
	}
	for x := range in.Get("datasets").Items() {
		data = x
	}
	line := cmp.Or(in.Get("cli_command").Str(), v.At("run_info", "cli_command").Str())
	argv, _ := shellquote.Split(line) // text after an open quotation mark is lost
	d.Command = redact.Argv(argv)
	d.Fields(in, map[string]string{
		"key concurrency": "loadgen.concurrency", "key rate": "loadgen.request_rate",
		"key isl":               "input.prompt.input_tokens|input.prompt.input_tokens.mean",
		"key osl":               "input.prompt.output_tokens|input.prompt.output_tokens.mean",
		"fact model.id":         "endpoint.model_names.0|models.items.0.name|models.0|models.0.name|model_names.0|model.0",
		"condition num_prompts": "loadgen.request_count", "condition tokenizer": "tokenizer.name",
		"condition streaming": "endpoint.streaming", "condition endpoint": "endpoint.type",
		"condition seed": "input.random_seed", "condition warmups": "loadgen.warmup_request_count",
	})
	d.Fields(data, map[string]string{
		"key isl": "prompts.isl|prompts.isl.mean", "key osl": "prompts.osl|prompts.osl.mean", "key dataset": "type",
	})
	d.Fields(phase, map[string]string{
		"key concurrency": "concurrency", "key rate": "rate", "condition num_prompts": "requests",
	})
	d.Fields(v.Get("run_info"), map[string]string{"condition seed": "random_seed"})
	d.Fields(v.At("run_info", "variation_values"), map[string]string{
		"key concurrency": "phases.profiling.concurrency",
	})
	d.Fields(in, map[string]string{ // of GenAI-Perf
		"key concurrency": "perf_analyzer.stimulus.concurrency|concurrency",
		"key rate":        "perf_analyzer.stimulus.request_rate|request_rate",
		"key isl":         "input.synthetic_tokens|input.synthetic_tokens.mean|synthetic_input_tokens_mean",
		"key osl":         "input.output_tokens|input.output_tokens.mean|output_tokens_mean",
	})
	d.Fields(draft.Flags(argv), map[string]string{
		"key concurrency": "--concurrency", "key rate": "--request-rate",
		"key isl":       "--synthetic-input-tokens-mean|--prompt-input-tokens-mean|--isl|--isl-mean",
		"key osl":       "--output-tokens-mean|--prompt-output-tokens-mean|--osl",
		"fact model.id": "--model|-m|--model-names", "condition num_prompts": "--request-count|--num-requests",
		"condition tokenizer": "--tokenizer", "condition seed": "--random-seed",
	})
	for _, a := range argv {
		if eos, ok := strings.CutPrefix(a, "ignore_eos:"); ok {
			d.Condition("ignore_eos", eos)
		}
	}
	f := &d.Reading.Facts
	local := func(name string) time.Time { // without a zone
		return draft.Time(v.Get(name).Str())
	}
	if f.Start, f.End = local("start_time"), local("end_time"); !f.Start.IsZero() {
		f.StartNote = draft.LocalNote
	}
}
