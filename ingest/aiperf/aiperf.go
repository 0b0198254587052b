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
	"cmp"
	"fmt"
	"strconv"
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

// Detect reports by content whether a file is AIPerf's or GenAI-Perf's. It does not require latencies: a run in which
// everything failed has none.
func Detect(f *decode.File) schema.Match {
	if f.Form == decode.Text {
		return detectCSV(f)
	}
	m := draft.Check{Match: schema.Match{Format: Format}}
	v := f.First
	config := v.Get("input_config")
	what := aside(v)
	switch {
	case v.Kind() != decode.Object:
		m.Lacks = []string{"a JSON object"}
		return m.Match
	case isRecord(v):
		return schema.Match{
			Format: Records, Has: []string{"metadata and metrics per line"}, Detail: "per-request records", Records: true,
		}
	case isSweep(v):
		return draft.Is(Sweep, "per_combination_metrics", "aggregate of a sweep")
	case what != "":
		return schema.Match{Format: Aside, Has: []string{what}, Detail: "not a result: " + what, Records: true}
	}
	if isGenAI(v) {
		return schema.Match{Format: GenAI, Has: []string{"metric blocks", "a configuration of GenAI-Perf"}, Detail: "summary"}
	}
	wrapped := false // the oldest form: {"records": {tag: {unit, avg}}}
	for _, x := range v.Get("records").Members() {
		wrapped = wrapped || x.Val.Has("unit", "avg")
	}
	m.Want(config.Kind() == decode.Object || wrapped, "input_config")
	m.Want(wrapped || v.Has("aiperf_version") || v.Get("error_summary").Kind() == decode.Array ||
		v.Get("was_cancelled").Kind() == decode.Bool || v.Has("benchmark_id"),
		"aiperf_version, error_summary or was_cancelled")
	if m.OK() {
		m.Detail = eraOf(v)
	}
	return m.Match
}

// isGenAI recognises GenAI-Perf's summary: the same blocks as AIPerf's, with its own configuration or none.
func isGenAI(v decode.Value) bool {
	own := v.HasAny("aiperf_version", "error_summary", "was_cancelled", "benchmark_id", "schema_version")
	return (v.Get("request_throughput").Has("unit") || v.Get("request_latency").Has("unit")) &&
		(v.Get("input_config").HasAny("perf_analyzer", "subcommand") || !own)
}

func isRecord(v decode.Value) bool {
	meta := v.Get("metadata")
	return v.Get("metrics").Kind() == decode.Object &&
		meta.HasAny("x_request_id", "benchmark_phase", "credit_phase")
}

// aside says what a file is that is no result; "" for any other.
func aside(v decode.Value) string {
	collated := false // the pool of several trials has metrics and no configuration
	if list := v.Get("metrics").Members(); len(list) > 0 && !v.Has("input_config") {
		collated = v.Get("metadata").Kind() == decode.Object && list[0].Val.Has("unit") && list[0].Val.Has("avg")
	}
	for _, x := range []struct {
		is   bool
		what string
	}{
		{v.Get("timeslices").Kind() == decode.Array, "time slices of a run"},
		{
			v.Get("aggregation_type").Str() == "sweep" && !isSweep(v) ||
				v.At("metadata", "aggregation_type").Str() == "confidence",
			"an aggregate over runs that are read from their own files",
		},
		{v.Has("ready", "was_cancelled") && v.Len() <= 4, "the mark that a run is written"},
		{v.Get("phases").Kind() == decode.Array && v.Has("root_files"), "a list of the phases of a run"},
		{v.Has("telemetry_data", "gpu_index"), "GPU telemetry"},
		{
			v.Get("data").Index(0).HasAny("payloads", "response_text"),
			"the prompts that were sent",
		},
		{
			v.Get("metrics").Kind() == decode.Object && v.Get("summary").Has("endpoints_configured") ||
				v.Has("timestamp_ns", "endpoint_url", "metrics"),
			"server metrics",
		},
		{
			v.Get("metadata").Has("x_request_id") && v.HasAny("payload", "responses"),
			"the requests that were sent and their answers",
		},
		{v.Has("grader_name", "passed"), "graded answers"},
		{collated, "statistics pooled over runs that are read from their own files"},
	} {
		if x.is {
			return x.what
		}
	}
	return ""
}

func eraOf(v decode.Value) string {
	version := v.Get("aiperf_version").Str()
	if version != "" {
		version = " (" + version + ")"
	}
	config, written := v.Get("input_config"), v.Get("schema_version").Str()
	switch {
	case v.Get("records").Kind() == decode.Object:
		return "era E0"
	case v.Get("warmup_metrics").Kind() != decode.Invalid || strings.HasPrefix(written, "1.4") ||
		strings.HasPrefix(written, "1.5"):
		return "era E4" + version
	case config.Has("phases") || config.Get("models").Kind() == decode.Object:
		return "era E3" + version
	case v.Has("schema_version"):
		return "era E2" + version
	}
	return "era E1"
}

// Read reads a summary, records or a table, or states what else the file is.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	switch m.Format {
	case Records:
		return readRecords(f)
	case Aside:
		return schema.Reading{Format: Aside, Detail: m.Detail}
	case CSV, GenAICSV:
		return readCSV(f, m)
	case Sweep:
		return readSweep(f)
	case SweepTable:
		return readSweepTable(f)
	}
	return readSummary(f, m)
}

// fields are AIPerf's metrics; in a table, their names have blanks.
var fields = []draft.Field{
	{Key: "time_to_first_token", Metric: "ttft", Def: schema.DefFirstContent},
	{Key: "time_to_first_output_token", Metric: schema.MetricTTFO, Def: schema.DefFirstContent},
	{Key: "inter_token_latency", Metric: "tpot", Def: schema.DefExclFirst},
	{Key: "inter_chunk_latency", Metric: "itl", Def: schema.DefChunkGap},
	{Key: "request_latency", Metric: "e2el", Def: schema.DefLastContent},
	{Key: "output_token_throughput_per_user", Metric: "tps_user", Def: schema.DefMeanOfRecip},
	{Key: "output_token_throughput", Metric: "output_tps"},
	{Key: "total_token_throughput", Metric: "total_tps"},
	{Key: "request_throughput", Metric: "rps"},
	{Key: "goodput", Metric: "goodput_rps"},
	{Key: "request_goodput", Metric: "goodput_rps"},
	{Key: "request_count", Metric: "requests_ok"},
	{Key: "error_request_count", Metric: "requests_failed"},
	{Key: "input_sequence_length", Metric: "isl", Def: "client-tokenizer"},
	{Key: "output_sequence_length", Metric: "osl", Def: "client-tokenizer"},
	{Key: "benchmark_duration", Metric: "duration_s"},
	{Key: "input_token_throughput", Metric: "input_tps"},
	{Key: "theoretical_prefix_cache_hit", Metric: "prefix_hits_possible"},
	{Key: "overall_usage_prompt_cache_read_pct", Metric: "prefix_hits"},
	{Key: "spec_decode_token_weighted_acceptance_length", Metric: "acceptance_length"},
	{Key: "spec_decode_overall_draft_acceptance_rate", Metric: "acceptance_rate"},
}

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

func readSummary(f *decode.File, match schema.Match) schema.Reading {
	r := schema.Reading{Format: match.Format, Detail: match.Detail}
	tool := "aiperf"
	if match.Format == GenAI {
		tool = "genai-perf"
	}
	d := draft.New(f, &r, f.First, tool)
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
	c := configOf(v)
	d.Key, d.Conditions = c.key(tool), c.conditions()
	d.Command = redact.Argv(c.argv)
	r.Facts = c.facts()
	d.Start, d.End = r.Facts.Start, r.Facts.End
	judge(v, d)
	for i, m := range v.Members() {
		if m.Val.Has("unit") || f.First.At("records", m.Key).Has("unit") {
			v.MarkAt(i)
		}
	}
	d.Foreign(v, "schema_version telemetry_data telemetry_stats warmup_metrics sessions is_complete")
	unmapped(d, metrics)
	d.Done()
	return r
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
	ok := false
	if x.Scale, ok = unitScale(block.Get("unit").Str(), schema.Unit(x.Metric)); !ok {
		d.Problem(schema.SevWarning, "unknown-unit", block.Get("unit"),
			fmt.Sprintf("unit %q of %s", block.Get("unit").Text(), x.Key), schema.Unit(x.Metric), "no number of this metric")
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

// unitScale converts AIPerf's spellings of units; the unit in the file counts.
func unitScale(theirs, ours string) (float64, bool) {
	t := strings.ToLower(theirs)
	switch ours {
	case "tok/s":
		return 1, strings.HasPrefix(t, "tokens/s") || t == "per sec"
	case "req/s":
		return 1, strings.HasPrefix(t, "requests/s") || t == "per sec"
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

// config is the requested workload of a run, from the form of input_config of the era, else from the command line,
// the only field that all eras have.
type config struct {
	v     decode.Value // the whole summary
	in    decode.Value // input_config
	phase decode.Value // the last phase that counts (E3 on)
	argv  []string
}

func configOf(v decode.Value) config {
	c := config{v: v, in: v.Get("input_config")}
	for p := range c.in.Get("phases").Items() {
		if skip, _ := p.Get("exclude_from_results").Truth(); !skip && p.Get("kind").Str() != "warmup" &&
			p.Get("name").Str() != "warmup" {
			c.phase = p
		}
	}
	line := cmp.Or(c.in.Get("cli_command").Str(), v.At("run_info", "cli_command").Str())
	c.argv, _ = shellquote.Split(line) // text after an open quotation mark is lost
	return c
}

// number returns the first of several values that holds a number above 0 (-1 means not set), else that of a flag; a
// length may be {mean: n}.
func (c config) number(values []decode.Value, flags ...string) *float64 {
	for _, v := range values {
		for _, p := range []*float64{v.Ptr(), v.Get("mean").Ptr()} {
			if p != nil && *p > 0 {
				return p
			}
		}
	}
	for _, name := range flags {
		if x, err := strconv.ParseFloat(c.flag(name), 64); err == nil {
			return &x
		}
	}
	return nil
}

func (c config) key(tool string) schema.Key {
	data := decode.Value{}
	for x := range c.in.Get("datasets").Items() {
		data = x
	}
	type list = []decode.Value
	return schema.Key{
		Task: "text", Tool: tool, Dataset: data.Get("type").Str(),
		Concurrency: c.number(list{
			c.in.At("loadgen", "concurrency"), c.phase.Get("concurrency"),
			c.v.At("run_info", "variation_values", "phases.profiling.concurrency"),
			c.in.At("perf_analyzer", "stimulus", "concurrency"), c.in.Get("concurrency"),
		}, "--concurrency"),
		Rate: c.number(list{
			c.in.At("loadgen", "request_rate"), c.phase.Get("rate"), c.in.At("perf_analyzer", "stimulus", "request_rate"),
			c.in.Get("request_rate"),
		}, "--request-rate"),
		ISL: c.number(list{
			c.in.At("input", "prompt", "input_tokens"), data.At("prompts", "isl"), c.in.At("input", "synthetic_tokens"),
			c.in.Get("synthetic_input_tokens_mean"),
		}, "--synthetic-input-tokens-mean", "--prompt-input-tokens-mean", "--isl", "--isl-mean"),
		OSL: c.number(list{
			c.in.At("input", "prompt", "output_tokens"), data.At("prompts", "osl"), c.in.At("input", "output_tokens"),
			c.in.Get("output_tokens_mean"),
		}, "--output-tokens-mean", "--prompt-output-tokens-mean", "--osl"),
	}
}

// flag returns the value of a flag on the command line.
func (c config) flag(name string) string {
	for i, a := range c.argv {
		if a == name && i+1 < len(c.argv) {
			return c.argv[i+1]
		}
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return v
		}
	}
	return ""
}

func (c config) conditions() map[string]string {
	out := map[string]string{
		"num_prompts": cmp.Or(c.in.At("loadgen", "request_count").Text(), c.phase.Get("requests").Text(),
			c.flag("--request-count"), c.flag("--num-requests")),
		"tokenizer": cmp.Or(c.in.At("tokenizer", "name").Text(), c.flag("--tokenizer")),
		"streaming": c.in.At("endpoint", "streaming").Text(),
		"endpoint":  c.in.At("endpoint", "type").Text(),
		"seed": cmp.Or(c.in.At("input", "random_seed").Text(), c.v.At("run_info", "random_seed").Text(),
			c.flag("--random-seed")),
		"warmups": c.in.At("loadgen", "warmup_request_count").Text(),
	}
	for _, a := range c.argv {
		if eos, ok := strings.CutPrefix(a, "ignore_eos:"); ok {
			out["ignore_eos"] = eos
		}
	}
	for name, text := range out {
		if out[name] = redact.Text(text); text == "" {
			delete(out, name)
		}
	}
	return out
}

func (c config) facts() schema.Facts {
	var f schema.Facts
	models := c.in.Get("models")
	f.Model.ID = cmp.Or(c.in.At("endpoint", "model_names").Index(0).Str(), models.Get("items").Index(0).Get("name").Str(),
		models.Index(0).Str(), models.Index(0).Get("name").Str(), c.in.Get("model_names").Index(0).Str(),
		c.in.Get("model").Index(0).Str(), c.flag("--model"), c.flag("-m"), c.flag("--model-names"))
	local := func(name string) time.Time { // without a zone
		return draft.Time(c.v.Get(name).Str(), time.RFC3339Nano, "2006-01-02T15:04:05.999999999")
	}
	if f.Start, f.End = local("start_time"), local("end_time"); !f.Start.IsZero() {
		f.StartNote = draft.LocalNote
	}
	return f
}
