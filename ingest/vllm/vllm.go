package vllm

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Names of the formats that this package distinguishes.
const (
	Format   = "vllm-serve"
	Pooling  = "vllm-pooling"
	Summary  = "vllm-sweep-summary"
	Commands = "vllm-ci-commands" // the file of vLLM's continuous benchmarks that describes a result
	Display  = "vllm-ci-display"  // its display records, and summaries of its searches
)

// statKey splits a statistic's key: "p99.9_ttft_ms".
func statKey(key string) (stat, family string, ok bool) {
	stat, family, ok = draft.StatKey(key, "_ms")
	return stat, family, ok && family != "e2e_latency" // that of sglang
}

// Detect reports by content whether a file has serving results: "completed" with an output throughput or a latency
// family. sglang has the same keys with "_e2e_latency_ms", tt-inference-server's harmonised copies with
// "output_token_throughput", InferenceX without "_ms"; other packages read these.
func Detect(f *decode.File) schema.Match {
	v := f.First
	if isCommands(f) {
		return schema.Match{
			Format: Commands, Has: []string{"gpu_type"}, Detail: "command lines and device of the result beside it",
		}
	}
	if m, ok := detectBeside(v); ok {
		return m
	}
	if v.Kind() == decode.Array && v.Len() > 0 {
		if m := detectValue(v.Index(0)); m.OK() {
			m.Format = Summary
			return m
		}
	}
	return detectValue(v)
}

func detectValue(v decode.Value) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format}}
	if v.Kind() != decode.Object {
		m.Lacks = []string{"a JSON object"}
		return m.Match
	}
	m.Want(v.Get("completed").Kind() == decode.Number, "completed")
	output, input := v.Has("output_throughput") ||
		hasLatency(v, false), v.Get("request_throughput").Kind() == decode.Number
	if !output && input && hasLatency(v, true) {
		m.Format = Pooling
		m.Want(true, "request_throughput and no output")
	} else {
		m.Want(output, "output_throughput or mean_ttft_ms")
	}
	m.Not(v.Has("output_token_throughput") &&
		!v.Has("output_throughput"), "output_throughput (output_token_throughput is tt-inference-server's copy)")
	seconds := false
	for _, member := range v.Members() {
		if strings.HasSuffix(member.Key, "_e2e_latency_ms") {
			m.Not(true, "vLLM's key names ("+member.Key+" is sglang's)")
			break
		}
		if _, _, bare := draft.StatKey(member.Key, ""); bare {
			seconds = true
		}
	}
	m.Not(seconds && !hasLatency(v, true), "milliseconds (keys without _ms are InferenceX's seconds)")
	if m.OK() {
		m.Detail = eraOf(v).words
	}
	return m.Match
}

// detectBeside recognises what vLLM's continuous benchmarks write next to results.
func detectBeside(v decode.Value) (schema.Match, bool) {
	switch {
	case v.Has("sla_ttft_ms") && v.Has("static_last_pass"):
		return schema.Match{
			Format: Display, Has: []string{"static_last_pass"},
			Detail: "not a result: a search over results that are read from their own files",
		}, true
	}
	// {"serving": {"Test name": {"0": …}}} or records of display names
	for _, kind := range []string{"serving", "latency", "throughput"} {
		rows := v.Get(kind)
		if rows.Get("Test name").Kind() == decode.Object || rows.Index(0).Has("Test name") {
			return schema.Match{
				Format: Display, Has: []string{"Test name"},
				Detail: "not a result: display records of results that are read from their own files",
			}, true
		}
	}
	if first := v.Index(0); first.Has("Test name") {
		return schema.Match{
			Format: Display, Has: []string{"Test name"},
			Detail: "not a result: display records of results that are read from their own files",
		}, true
	}
	return schema.Match{}, false
}

// hasLatency reports a latency family; E2EL counts only with e2el set, because pooling has no other.
func hasLatency(v decode.Value, e2el bool) bool {
	for _, m := range v.Members() {
		if _, family, ok := statKey(m.Key); ok && (e2el || family != "e2el") {
			return true
		}
	}
	return false
}

// era is the version that wrote a value, as far as it matters and its keys show it.
type era struct {
	words       string
	inclFirst   bool // "tpot" includes the first token
	swappedE2EL bool // mean and median of E2EL are exchanged
}

func eraOf(v decode.Value) era {
	present := func(k string) bool { return v.Get(k).Kind() != decode.Invalid }
	anyStat := func(family string) bool {
		return present("mean_"+family+"_ms") || present("median_"+family+"_ms") || present("p99_"+family+"_ms")
	}
	switch {
	case present("user_throughput") || present("avg_decoded_tokens_per_iter"):
		return era{words: "TensorRT-LLM's fork"}
	case present("steady_state") || present("failed_requests"):
		return era{words: "Rust client, v0.24 or later"}
	case present("input_throughput") || present("request_inthroughput"):
		switch {
		case present("request_goodput") || present("request_goodput:") || present("burstiness"):
			return era{words: "a fork that states input throughput"}
		case !anyStat("itl") && !present("std_ttft_ms") && anyStat("tpot"):
			return era{words: "before v0.5.0", inclFirst: true}
		}
		return era{words: "v0.5"}
	case v.Has("failed"):
		return era{words: "v0.11.1 or later"}
	case present("endpoint_type") && present("backend"):
		return era{words: "v0.11.0"}
	case present("endpoint_type"):
		return era{words: "v0.8 to v0.10"}
	case present("request_goodput:"):
		return era{words: "v0.6.4 to v0.9.1"}
	case present("burstiness") || present("max_concurrency"):
		return era{words: "v0.6.4 or later"}
	case present("total_token_throughput") && present("num_prompts"):
		return era{words: "v0.6.0 to v0.6.3", swappedE2EL: anyStat("e2el")}
	}
	return era{words: "version unknown"}
}

// Read returns the point of a result, or those of a sweep's summary.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	r := schema.Reading{Format: m.Format, Detail: m.Detail}
	switch m.Format {
	case Commands, Display:
		return r
	case Summary:
		r.Format = Format
		for v := range f.First.Items() {
			if detectValue(v).OK() {
				readValue(f, v, &r)
			}
			if len(r.Points) > f.Limits().Results {
				break // bound reports it
			}
		}
		r.Detail = fmt.Sprintf("%d runs of a sweep, %s", len(r.Points), m.Detail)
		return r
	}
	readValue(f, f.First, &r)
	return r
}

func readValue(f *decode.File, v decode.Value, r *schema.Reading) {
	e := eraOf(v)
	d := draft.New(f, r, v, "vllm")
	key(v, d)
	facts := identity(v, d)
	if r.Format == Pooling {
		d.Key.Task = schema.TaskPooling
	}
	stated(v, e, d)
	counts(v, d)
	recomputed := recompute(v, d)
	if !recomputed {
		totals(v, d)
	}
	if e.swappedE2EL && !recomputed {
		swapE2EL(v, d, "in a file of v0.6.0 to v0.6.3, which exchange the two")
	}
	d.Foreign(v, func(name string) bool {
		_, _, isStat := statKey(name)
		return isStat || isKnown(name)
	})
	if len(r.Points) == 0 {
		r.Facts = facts
	} else if facts.End.After(r.Facts.End) {
		r.Facts.End = facts.End
	}
	d.Start, d.End = facts.Start, facts.End
	d.Done()
}

// StructuredOn is the dimension of structured output where the file does not state its share of the requests.
const StructuredOn = "on"

// key reads the workload that the file states: the load, and lengths where --metadata or a sweep wrote them.
func key(v decode.Value, d *draft.Draft) {
	first := func(names ...string) *float64 {
		for _, n := range names {
			if p := v.Get(n).Ptr(); p != nil && *p > 0 {
				return p
			}
		}
		return nil
	}
	d.Key.Concurrency, d.Key.Rate = first("max_concurrency"), first("request_rate")
	checkLoad(v, d)
	d.Key.ISL = first("random_input_len", "isl", "input_len")
	d.Key.OSL = first("random_output_len", "osl", "output_len")
	d.Key.Dataset = v.Get("dataset_name").Str()
	if p := first("burstiness"); p != nil && *p != 1 && d.Key.Rate != nil {
		d.Dim("burstiness", v.Get("burstiness").Text())
	}
	if v.Get("mode").Str() == "multi_turn" {
		d.Dim("turns", "several")
	}
	if s := v.Get("ramp_up_strategy").Str(); s != "" {
		d.Dim("ramp_up", strings.Join([]string{s, v.Get("ramp_up_start_rps").Text(), v.Get("ramp_up_end_rps").Text()}, " "))
	}
	if v.Has("correct_rate(%)") || v.Has("structured_output_ratio") {
		if d.Dim("structured", v.Get("structured_output_ratio").Text()); d.Key.Dims["structured"] == "" {
			d.Dim("structured", StructuredOn)
		}
		if x, ok := v.Get("correct_rate(%)").Float(); ok {
			d.Value("correct_rate", x)
		}
	}
	if !v.Has("run_number") {
		for name, dim := range map[string]string{
			"tensor_parallel_size": "tp", "pipeline_parallel_size": "pp", "data_parallel_size": "dp", "tp_size": "tp",
			"pp_size": "pp", "dp_size": "dp",
		} {
			if n, ok := v.Get(name).Float(); ok && n > 1 { // written by --metadata, as vLLM's continuous benchmarks do
				d.Dim(dim, v.Get(name).Text())
			}
		}
		return
	}
	for _, m := range v.Members() { // parameters that a sweep varied
		if t := m.Val.Text(); t != "" && len(t) < 60 && m.Key != "run_number" && !isKnown(m.Key) && !isMeasured(m.Key) &&
			!draft.IsText(m.Key) {
			d.Dim(m.Key, t)
		}
	}
}

// checkLoad reports loads that cannot be.
func checkLoad(v decode.Value, d *draft.Draft) {
	for _, name := range []string{"max_concurrency", "request_rate"} {
		if x, ok := v.Get(name).Float(); ok && x <= 0 {
			p := d.Problem(schema.SevWarning, "bad-load", v.Get(name), fmt.Sprintf("%s of %g", name, x))
			p.Expected, p.Used = "a number above zero", "a load that is not stated"
		}
	}
}

// identity reads the identity, as far as the file states it. Metadata are strings under names that people chose; only
// unambiguous names are used.
func identity(v decode.Value, d *draft.Draft) schema.Facts {
	var f schema.Facts
	f.Model.ID = v.Get("model_id").Str()
	f.Release = v.Get("release").Str()
	f.Device = device(v)
	f.Stack.Engine = v.Get("engine").Str()
	f.Stack.Version = v.Get("engine_version").Str()
	if t := v.Get("tokenizer_id").Str(); t != "" && t != f.Model.ID { // the tokenizer is usually the model's own
		d.Condition("tokenizer", t)
	}
	for _, name := range []string{"num_prompts", "best_of", "use_beam_search", "dtype", "quantization", "kv_cache_dtype"} {
		d.Condition(name, v.Get(name).Text())
	}
	marks(v, d)
	if t, note, ok := draft.ClientTime(v.Get("date")); ok {
		f.End, f.Start, f.StartNote = t, t, note
		if s, ok := v.Get("duration").Float(); ok && s > 0 && s < 1e7 {
			f.Start = t.Add(-time.Duration(s * float64(time.Second))).Truncate(time.Second)
		}
	} else if v.Has("date") {
		p := d.Problem(schema.SevWarning, "bad-date", v.Get("date"), "the date "+v.Get("date").Text())
		p.Expected, p.Used = "a time such as 20260312-003000 or 2026-03-12T00:30:00Z", "no time"
		p.Hint = "a result that nothing dates has no place in the history; --pattern or a manifest can state it"
	}
	return f
}

// marks keeps what people and the client say of a result beside its load. A label is the backend where nobody set one.
func marks(v decode.Value, d *draft.Draft) {
	backend, kind := v.Get("backend").Str(), v.Get("endpoint_type").Str()
	d.Condition("client", cmp.Or(backend, kind))
	if backend != "" && kind != "" && kind != backend {
		d.Keep("endpoint_type", kind)
	}
	for _, name := range []string{"endpoint", "label", "version"} {
		text := v.Get(name).Text()
		if name == schema.DimLabel {
			name = "client_label"
		}
		if text != "" && text != backend && text != kind {
			d.Keep(name, text)
		}
	}
}

var severalOf = regexp.MustCompile(`^(\d{1,4})\s?x\s?([A-Za-z].*)$`)

// device reads the names of hardware in metadata: "4xNVIDIA_L40S".
func device(v decode.Value) schema.Device {
	for _, key := range []string{"device", "gpu", "gpu_type", "gpu_name", "accelerator"} {
		name := v.Get(key).Str()
		if m := severalOf.FindStringSubmatch(name); m != nil {
			n, _ := strconv.Atoi(m[1])
			return schema.Device{Name: m[2], Chips: n}
		}
		if name != "" {
			return schema.Device{Name: name}
		}
	}
	return schema.Device{}
}

// family returns the metric and definition of a family of statistics.
func family(name string, e era) (metric, def string) {
	switch name {
	case "ttft":
		return "ttft", schema.DefFirstChunk
	case "tpot":
		if e.inclFirst {
			return "ntpot", schema.DefInclFirst
		}
		return "tpot", schema.DefExclFirst
	case "itl":
		return "itl", schema.DefChunkGap
	case schema.MetricTTFO:
		return schema.MetricTTFO, schema.DefFirstContent
	}
	return "e2el", schema.DefLastChunk
}

// stated reads the statistics that the file states.
func stated(v decode.Value, e era, d *draft.Draft) {
	for _, m := range v.Members() {
		stat, of, ok := statKey(m.Key)
		if x, has := m.Val.Float(); ok && has {
			name, def := family(of, e)
			d.Stat(name, def, stat, x)
		}
	}
	for _, x := range []struct{ metric, key, old string }{{
		"output_tps", "output_throughput", "",
	}, {"total_tps", "total_token_throughput", ""},
		{"rps", "request_throughput", "request_inthroughput"}, {
			"goodput_rps", "request_goodput", "request_goodput:",
		}, {"duration_s", "duration", ""}} {
		if !d.Of(x.metric, v.Get(x.key)) {
			d.Of(x.metric, v.Get(x.old))
		}
	}
	if x, ok := v.Get("user_throughput").Float(); ok && x > 0 {
		d.Stat("tps_user", schema.DefNotStated, "value", x)
	}
}

// swapE2EL exchanges mean and median of E2EL.
func swapE2EL(v decode.Value, d *draft.Draft, why string) {
	m := d.Metrics["e2el"]
	mean, a := m.Stats.Get("mean")
	median, b := m.Stats.Get("median")
	if !a || !b || mean == median {
		return
	}
	d.Stat("e2el", m.Def, "mean", median)
	d.Stat("e2el", m.Def, "median", mean)
	d.Problem(schema.SevNote, "swapped-e2el", v.Get("mean_e2el_ms"),
		fmt.Sprintf("mean_e2el_ms %.6g and median_e2el_ms %.6g %s", mean, median, why)).Used = "them exchanged back"
}

// isKnown reports the keys that are read; others are kept as unknown fields.
var isKnown = draft.Names(`
	completed failed duration num_prompts max_concurrency request_rate date model_id tokenizer_id backend endpoint_type
	output_throughput total_token_throughput request_throughput request_inthroughput request_goodput request_goodput:
	total_input_tokens total_output_tokens total_input total_output best_of use_beam_search burstiness random_input_len
	random_output_len isl osl input_len output_len dataset_name release device gpu gpu_type gpu_name accelerator engine
	engine_version ramp_up_strategy ramp_up_start_rps ramp_up_end_rps user_throughput failed_requests input_lens
	output_lens ttfts ttfos itls errors generated_texts latencies start_times label endpoint version mean_ttft_ms
	median_ttft_ms
	std_ttft_ms mean_tpot_ms median_tpot_ms std_tpot_ms mean_itl_ms median_itl_ms std_itl_ms mean_e2el_ms median_e2el_ms
	std_e2el_ms correct_rate(%)`)

// measured matches further keys that the tool measures, which a sweep does not vary.
var measured = regexp.MustCompile(`^(p\d|min_|max_(output_tokens_per_s|concurrent_requests)|rtfx$|probe_|` +
	`spec_decode_|diffusion_|input_throughput$|goodput|.*_(completed|failed|count|total)$)`)

func isMeasured(key string) bool {
	_, _, isStat := statKey(key)
	return isStat || measured.MatchString(key)
}

// counts reads how many requests completed and failed, and the mean lengths, and decides the point's status.
func counts(v decode.Value, d *draft.Draft) {
	ok, asked := v.Get("completed").Ptr(), v.Get("num_prompts").Ptr()
	if v.Has("ramp_up_strategy") || d.Key.Task == schema.TaskPooling { // where the argument is not the number sent
		asked = nil
	}
	if ok != nil && *ok > 0 {
		for metric, name := range map[string]string{"isl": "total_input", "osl": "total_output"} { // before 0.5
			if total, have := v.Get(name).Float(); have {
				d.Stat(metric, "", "mean", total / *ok)
			}
		}
		d.MeanTokens(v, ok)
	}
	out, have := v.Get("total_output_tokens").Float()
	switch {
	case !have || out != 0 || ok == nil || *ok <= 0 || v.Has("ttfts") || d.Key.Task == schema.TaskPooling:
	case v.Get("tokenizer_id").Kind() == decode.Null:
		// tokens were not counted: --skip-tokenizer-init, and a server without usage
		delete(d.Metrics, "osl")
	default:
		d.Recomputed("requests_ok", 0)
		d.Recomputed("requests_failed", *ok)
		d.Recomputed("error_rate", 100)
		d.Fail("no request produced a token")
		q := d.Problem(schema.SevError, "hollow-success", v.Get("total_output_tokens"),
			fmt.Sprintf("%.0f requests that count as completed and produced no token", *ok))
		q.Expected, q.Used, q.Hint = "completed requests to have output", "no number",
			"the server refused or dropped the requests; look at its log"
		return
	}
	failed := v.Get("failed").Ptr()
	if errs := v.Get("errors"); failed == nil && errs.Len() > 0 {
		failed = new(float64)
		for x := range errs.Items() {
			if x.Str() != "" {
				*failed++
			}
		}
	}
	d.Requests(ok, failed, asked, firstError(v))
}

// firstError returns the first message of a failure in the file, after a colon.
func firstError(v decode.Value) string {
	for x := range v.Get("errors").Items() {
		if s := x.Str(); s != "" {
			return draft.Quote(s)
		}
	}
	return draft.Quote(v.Get("failed_requests").Index(0).Get("error").Str())
}

// CommandsFile is the content of a .commands file of vLLM's continuous benchmarks, about the result of the same name.
type CommandsFile struct {
	Facts    schema.Facts
	Workload manifest.Workload
	Client   []string // the client's command line
}

// CommandsSuffix replaces ".json" in the result's name.
const CommandsSuffix = ".commands"

// isCommands reports whether a file describes the result of the same name.
func isCommands(f *decode.File) bool {
	return strings.HasSuffix(f.Path, CommandsSuffix) && f.First.Kind() == decode.Object &&
		(f.First.Has("gpu_type") || f.First.Has("client_command") || f.First.Has("latency_command") ||
			f.First.Has("throughput_command"))
}

// ReadCommands reads a .commands file.
func ReadCommands(f *decode.File) CommandsFile {
	v := f.First
	var b CommandsFile
	if names := strings.Split(strings.TrimSpace(v.Get("gpu_type").Str()), "\n"); names[0] != "" {
		b.Facts.Device = schema.Device{Name: strings.TrimSpace(names[0]), Chips: len(names)}
	}
	for _, name := range []string{"client_command", "latency_command", "throughput_command"} {
		if text := v.Get(name).Str(); text != "" {
			b.Client = strings.Fields(text)
		}
	}
	server := v.Get("server_command").Str()
	if server == "" {
		server = strings.Join(b.Client, " ")
	}
	if m := model.FindStringSubmatch(server + " " + strings.Join(b.Client, " ")); m != nil {
		b.Facts.Model.ID = m[1]
	}
	b.Workload.Concurrency = flag(b.Client, "--batch-size")
	b.Workload.ISL, b.Workload.OSL = flag(b.Client, "--random-input-len", "--input-len"),
		flag(b.Client, "--random-output-len", "--output-len")
	if m := dataset.FindStringSubmatch(strings.Join(b.Client, " ")); m != nil {
		b.Workload.Dataset = m[1]
	}
	if n := flag(strings.Fields(server), "--tensor-parallel-size", "-tp"); n != nil && *n > 1 {
		b.Workload.Dims = map[string]string{"tp": strconv.FormatFloat(*n, 'f', -1, 64)}
	}
	if strings.Contains(server, "vllm") {
		b.Facts.Stack.Engine = "vllm"
	}
	return b
}

var model = regexp.MustCompile(`--model[ =](\S+)`)

var dataset = regexp.MustCompile(`--dataset-name[ =](\S+)`)

func flag(argv []string, names ...string) *float64 {
	for i, a := range argv {
		for _, name := range names {
			text, ok := strings.CutPrefix(a, name+"=")
			if a == name && i+1 < len(argv) {
				text, ok = argv[i+1], true
			}
			if x, err := strconv.ParseFloat(text, 64); ok && err == nil && x > 0 && x < 1e12 {
				return &x
			}
		}
	}
	return nil
}
