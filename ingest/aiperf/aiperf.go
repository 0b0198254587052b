package aiperf

import (
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
	if v.Kind() != decode.Object {
		m.Lacks = []string{"a JSON object"}
		return m.Match
	}
	if isRecord(v) {
		return schema.Match{
			Format: Records, Has: []string{"metadata and metrics per line"}, Detail: "per-request records", Records: true,
		}
	}
	if isSweep(v) {
		return schema.Match{Format: Sweep, Has: []string{"per_combination_metrics"}, Detail: "aggregate of a sweep"}
	}
	if what := aside(v); what != "" {
		return schema.Match{Format: Aside, Has: []string{what}, Detail: "not a result: " + what, Records: true}
	}
	config := v.Get("input_config")
	if isGenAI(v, config) {
		return schema.Match{Format: GenAI, Has: []string{"metric blocks", "a configuration of GenAI-Perf"}, Detail: "summary"}
	}
	wrapped := false // the oldest form: {"records": {tag: {unit, avg}}}
	for _, x := range v.Get("records").Members() {
		wrapped = wrapped || x.Val.Has("unit") && x.Val.Has("avg")
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
func isGenAI(v, config decode.Value) bool {
	blocks := v.Get("request_throughput").Has("unit") || v.Get("request_latency").Has("unit")
	own := v.Has("aiperf_version") || v.Has("error_summary") || v.Has("was_cancelled") || v.Has("benchmark_id")
	return blocks && (config.Has("perf_analyzer") || config.Has("subcommand") || (!own && !v.Has("schema_version")))
}

func isRecord(v decode.Value) bool {
	meta := v.Get("metadata")
	return v.Get("metrics").Kind() == decode.Object &&
		(meta.Has("x_request_id") || meta.Has("benchmark_phase") || meta.Has("credit_phase"))
}

func aside(v decode.Value) string {
	switch {
	case v.Get("timeslices").Kind() == decode.Array:
		return "time slices of a run"
	case v.Get("aggregation_type").Str() == "sweep" && !isSweep(v),
		v.At("metadata", "aggregation_type").Str() == "confidence":
		return "an aggregate over runs that are read from their own files"
	case v.Has("ready") && v.Has("was_cancelled") && v.Len() <= 4:
		return "the mark that a run is written"
	case v.Get("phases").Kind() == decode.Array && v.Has("root_files"):
		return "a list of the phases of a run"
	case v.Has("telemetry_data") && v.Has("gpu_index"):
		return "GPU telemetry"
	case v.Get("data").Index(0).Has("payloads") || v.Get("data").Index(0).Has("response_text"):
		return "the prompts that were sent"
	case v.Get("metrics").Kind() == decode.Object && v.Get("summary").Has("endpoints_configured"),
		v.Has("timestamp_ns") && v.Has("endpoint_url") && v.Has("metrics"):
		return "server metrics"
	case v.Get("metadata").Has("x_request_id") && (v.Has("payload") || v.Has("responses")):
		return "the requests that were sent and their answers"
	case v.Has("grader_name") && v.Has("passed"):
		return "graded answers"
	case isCollated(v):
		return "statistics pooled over runs that are read from their own files"
	}
	return ""
}

// isCollated recognises the pool of several trials, which has metrics and no configuration.
func isCollated(v decode.Value) bool {
	if v.Get("metadata").Kind() != decode.Object || v.Has("input_config") {
		return false
	}
	for _, x := range v.Get("metrics").Members() {
		return x.Val.Has("unit") && x.Val.Has("avg")
	}
	return false
}

func eraOf(v decode.Value) string {
	version := v.Get("aiperf_version").Str()
	if version != "" {
		version = " (" + version + ")"
	}
	config := v.Get("input_config")
	switch {
	case v.Get("records").Kind() == decode.Object:
		return "era E0"
	case v.Get("warmup_metrics").Kind() != decode.Invalid || strings.HasPrefix(v.Get("schema_version").Str(), "1.4") ||
		strings.HasPrefix(v.Get("schema_version").Str(), "1.5"):
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
		return readSweep(f, m)
	case SweepTable:
		return readSweepTable(f, m)
	}
	return readSummary(f, f.First, m)
}

// tag maps an AIPerf metric to ours; stat is the name of a single value, "" for a distribution. header is its name in
// a table.
type tag struct{ tag, header, name, def, stat string }

func tags() []tag {
	return []tag{
		{"time_to_first_token", "Time to First Token", "ttft", schema.DefFirstContent, ""},
		{"time_to_first_output_token", "Time to First Output Token", schema.MetricTTFO, schema.DefFirstContent, ""},
		{"inter_token_latency", "Inter Token Latency", "tpot", schema.DefExclFirst, ""},
		{"inter_chunk_latency", "Inter Chunk Latency", "itl", schema.DefChunkGap, ""},
		{"request_latency", "Request Latency", "e2el", schema.DefLastContent, ""},
		{"output_token_throughput_per_user", "Output Token Throughput Per User", "tps_user", schema.DefMeanOfRecip, "mean"},
		{"output_token_throughput", "Output Token Throughput", "output_tps", "", "value"},
		{"total_token_throughput", "Total Token Throughput", "total_tps", "", "value"},
		{"request_throughput", "Request Throughput", "rps", "", "value"},
		{"goodput", "Goodput", "goodput_rps", "", "value"},
		{"request_goodput", "Request Goodput", "goodput_rps", "", "value"},
		{"request_count", "Request Count", "requests_ok", "", "value"},
		{"error_request_count", "Error Request Count", "requests_failed", "", "value"},
		{"input_sequence_length", "Input Sequence Length", "isl", "client-tokenizer", "mean"},
		{"output_sequence_length", "Output Sequence Length", "osl", "client-tokenizer", "mean"},
		{"benchmark_duration", "Benchmark Duration", "duration_s", "", "value"},
	}
}

// statName maps AIPerf's statistics to ours; those below the median, and p75, stay in the raw file.
func statName(theirs string) string {
	switch theirs {
	case "avg":
		return "mean"
	case "p50":
		return "median"
	case "std", "min", "max", "p90", "p95", "p99":
		return theirs
	}
	return ""
}

func readSummary(f *decode.File, v decode.Value, match schema.Match) schema.Reading {
	r := schema.Reading{Format: match.Format, Detail: match.Detail}
	metrics := v
	if rec := v.Get("records"); rec.Kind() == decode.Object {
		metrics = rec
	}
	tool := "aiperf"
	if match.Format == GenAI {
		tool = "genai-perf"
	}
	d := draft.New(f, &r, v, tool)
	d.Source.ToolVersion = v.Get("aiperf_version").Str()
	for _, t := range tags() {
		block := metrics.Get(t.tag)
		if block.Kind() != decode.Object && t.name == "ttft" {
			block = metrics.Get("ttft")
		}
		if block.Kind() == decode.Object {
			metric(d, block, t)
		}
	}
	rates(v, d)
	c := configOf(v)
	key := c.key()
	key.Tool = tool
	d.Key, d.Conditions = key, c.conditions()
	d.Command = redact.Argv(c.argv)
	r.Facts = c.facts()
	d.Start, d.End = r.Facts.Start, r.Facts.End
	judge(v, d)
	d.Foreign(v, func(name string) bool { return name == "records" || metrics.Get(name).Has("unit") || isKnown(name) })
	unmapped(d, metrics)
	d.Done()
	return r
}

// rates makes the rates of all versions those of one definition, over the stated duration, which goes from the first
// request to the last answer in every version. 0.13 divides by a window of its own that is up to a few per cent longer.
func rates(v decode.Value, d *draft.Draft) {
	at := func(metric, stat string) float64 {
		x, _ := d.Metrics[metric].Stats.Get(stat)
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
			p := d.Problem(schema.SevNote, "rate-window", v.Get("benchmark_duration"),
				fmt.Sprintf("%s of %.6g, where requests and duration give %.6g", x.metric, stated, now))
			p.Expected, p.Used = "rates over the duration", "the rates over the duration, as for all versions"
		}
		said = true
	}
}

// roomForUnmapped is how much is kept of metrics that have no canonical name.
const roomForUnmapped = 300

// unmapped keeps the averages of metrics without a canonical name, with their units.
func unmapped(d *draft.Draft, metrics decode.Value) {
	mapped := map[string]bool{"ttft": true}
	for _, t := range tags() {
		mapped[t.tag] = true
	}
	left := roomForUnmapped
	for _, m := range metrics.Members() {
		avg, ok := m.Val.Get("avg").Float()
		// Time stamps lose digits in a mean, and AIPerf's metrics about itself change with every version.
		if !ok || mapped[m.Key] || strings.HasSuffix(m.Key, "_timestamp") || strings.HasPrefix(m.Key, "http_req_") ||
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

var isKnown = draft.Names(`
	input_config schema_version aiperf_version start_time end_time was_cancelled error_summary telemetry_data
	telemetry_stats run_info warmup_metrics sessions is_complete`)

// metric reads one block {unit, avg, p50 …}; null statistics are absent ones.
func metric(d *draft.Draft, block decode.Value, t tag) {
	ours := schema.Unit(t.name)
	scale, ok := unitScale(block.Get("unit").Str(), ours)
	if !ok {
		p := d.Problem(schema.SevWarning, "unknown-unit", block.Get("unit"),
			fmt.Sprintf("unit %q of %s", block.Get("unit").Text(), t.tag))
		p.Expected, p.Used = ours, "no number of this metric"
		return
	}
	if t.stat != "" {
		if x, ok := block.Get("avg").Float(); ok {
			d.Stat(t.name, t.def, t.stat, x*scale)
		}
		return
	}
	for _, s := range block.Members() {
		if x, ok := s.Val.Float(); ok && statName(s.Key) != "" {
			d.Stat(t.name, t.def, statName(s.Key), x*scale)
		}
	}
	if n, ok := block.Get("count").Int(); ok {
		d.Size(t.name, n)
	}
}

// unitScale converts AIPerf's spellings of units; the unit in the file counts.
func unitScale(theirs, ours string) (float64, bool) {
	t := strings.ToLower(theirs)
	switch ours {
	case "ms":
		switch t {
		case "ms", "milliseconds":
			return 1, true
		case "s", "sec", "seconds":
			return 1000, true
		case "us", "microseconds":
			return 1e-3, true
		case "ns", "nanoseconds":
			return 1e-6, true
		}
	case "s":
		switch t {
		case "s", "sec", "seconds":
			return 1, true
		case "ms":
			return 1e-3, true
		case "ns":
			return 1e-9, true
		}
	case "tok/s":
		return 1, strings.HasPrefix(t, "tokens/s") || t == "per sec"
	case "req/s":
		return 1, strings.HasPrefix(t, "requests/s") || t == "per sec"
	case "req":
		return 1, strings.HasPrefix(t, "request") || t == "count" || t == ""
	case "tok":
		return 1, strings.HasPrefix(t, "token") || t == "count" || t == ""
	}
	return 0, false
}

// judge decides the point's status from the counts and the listed errors: versions without a count of failures list
// them by kind.
func judge(v decode.Value, d *draft.Draft) {
	ok, failed := stat(d, "requests_ok"), stat(d, "requests_failed")
	if failed == nil {
		n := 0.
		for e := range v.Get("error_summary").Items() {
			n += e.Get("count").Float0()
		}
		if v.Has("error_summary") {
			failed = &n
		}
	}
	if ok == nil && failed != nil && *failed > 0 {
		ok = new(float64)
	}
	if !(ok == nil && failed != nil && *failed == 0) {
		d.Requests(ok, failed, nil, reportedError(v))
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
		p := d.Problem(schema.SevWarning, "cancelled", v.Get("was_cancelled"), "the run was cancelled before its end")
		p.Used, p.Hint = "what was measured until then", "repeat the point"
	}
	if reasons := v.Get("runtime_submission_invalid_reasons"); reasons.Len() > 0 {
		d.Status = schema.StatusInvalid
		d.Problem(schema.SevError, "invalid-by-tool", reasons,
			"AIPerf calls the run invalid"+draft.Quote(reasons.Index(0).Text())).Used = "no verdict"
	}
}

func stat(d *draft.Draft, metric string) *float64 {
	if x, ok := d.Metrics[metric].Stats.Get("value"); ok {
		return &x
	}
	return nil
}

// reportedError returns the first error message of the file, after a colon; "" if it lists none.
func reportedError(v decode.Value) string {
	return draft.Quote(v.Get("error_summary").Index(0).At("error_details", "message").Str())
}

// parseLocal reads AIPerf's local time stamps, which have no zone.
func parseLocal(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC().Truncate(time.Second)
		}
	}
	return time.Time{}
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
	line := c.in.Get("cli_command").Str()
	if line == "" {
		line = v.At("run_info", "cli_command").Str()
	}
	c.argv, _ = shellquote.Split(line) // text after an open quotation mark is lost
	return c
}

// first returns the first of several values that holds a number; a length may be {mean: n}.
func first(values ...decode.Value) *float64 {
	for _, v := range values {
		if p := v.Ptr(); p != nil && *p > 0 { // -1 means not set
			return p
		}
		if p := v.Get("mean").Ptr(); p != nil && *p > 0 {
			return p
		}
	}
	return nil
}

func (c config) key() schema.Key {
	data := decode.Value{}
	for x := range c.in.Get("datasets").Items() {
		data = x
	}
	k := schema.Key{Task: "text", Tool: "aiperf"}
	k.Concurrency = c.orFlag(first(c.in.At("loadgen", "concurrency"), c.phase.Get("concurrency"),
		c.v.At("run_info", "variation_values").Get("phases.profiling.concurrency"),
		c.in.At("perf_analyzer", "stimulus", "concurrency"), c.in.Get("concurrency")), "--concurrency")
	k.Rate = c.orFlag(first(c.in.At("loadgen", "request_rate"), c.phase.Get("rate"),
		c.in.At("perf_analyzer", "stimulus", "request_rate"), c.in.Get("request_rate")), "--request-rate")
	k.ISL = c.orFlag(first(c.in.At("input", "prompt", "input_tokens"), data.At("prompts", "isl"),
		c.in.At("input", "synthetic_tokens"), c.in.Get("synthetic_input_tokens_mean")),
		"--synthetic-input-tokens-mean", "--prompt-input-tokens-mean", "--isl", "--isl-mean")
	k.OSL = c.orFlag(first(c.in.At("input", "prompt", "output_tokens"), data.At("prompts", "osl"),
		c.in.At("input", "output_tokens"), c.in.Get("output_tokens_mean")),
		"--output-tokens-mean", "--prompt-output-tokens-mean", "--osl")
	if data.Get("type").Str() != "" {
		k.Dataset = data.Get("type").Str()
	}
	return k
}

func (c config) orFlag(v *float64, names ...string) *float64 {
	if v != nil {
		return v
	}
	for _, n := range names {
		if x, err := strconv.ParseFloat(c.flag(n), 64); err == nil {
			return &x
		}
	}
	return nil
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
	out := map[string]string{}
	set := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				out[name] = redact.Text(v)
				return
			}
		}
	}
	set("num_prompts", c.in.At("loadgen", "request_count").Text(), c.phase.Get("requests").Text(),
		c.flag("--request-count"), c.flag("--num-requests"))
	set("tokenizer", c.in.At("tokenizer", "name").Text(), c.flag("--tokenizer"))
	set("streaming", c.in.At("endpoint", "streaming").Text())
	set("endpoint", c.in.At("endpoint", "type").Text())
	set("seed", c.in.At("input", "random_seed").Text(), c.v.At("run_info", "random_seed").Text(), c.flag("--random-seed"))
	set("warmups", c.in.At("loadgen", "warmup_request_count").Text())
	for _, a := range c.argv {
		if strings.HasPrefix(a, "ignore_eos:") {
			set("ignore_eos", strings.TrimPrefix(a, "ignore_eos:"))
		}
	}
	return out
}

func (c config) facts() schema.Facts {
	var f schema.Facts
	for _, v := range []decode.Value{at0(c.in.At("endpoint", "model_names")), at0(c.in.At("models", "items")).Get("name"),
		at0(c.in.Get("models")),
		at0(c.in.Get("models")).Get("name"), at0(c.in.Get("model_names")), at0(c.in.Get("model"))} {
		if f.Model.ID == "" {
			f.Model.ID = v.Str()
		}
	}
	for _, name := range []string{"--model", "-m", "--model-names"} {
		if f.Model.ID == "" {
			f.Model.ID = c.flag(name)
		}
	}
	f.Start, f.End = parseLocal(c.v.Get("start_time").Str()), parseLocal(c.v.Get("end_time").Str())
	if !f.Start.IsZero() {
		f.StartNote = "local time of the client, zone not stated"
	}
	return f
}

// at0 is the first element of an array.
func at0(v decode.Value) decode.Value {
	return v.Index(0)
}
