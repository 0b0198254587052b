package vllm

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
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
	display  = "vllm-ci-display"  // its display records, and summaries of its searches
)

// Reader recognises serving results: "completed" with an output throughput or a latency family. sglang has the same
// keys with "_e2e_latency_ms", tt-inference-server's harmonised copies with "output_token_throughput", InferenceX
// without "_ms"; other packages read these.
var Reader = draft.Format{
	Name: Format, All: func(f *decode.File, r *schema.Reading) { readValue(f, f.First, r) },
	Sniff: func(f *decode.File, m *draft.Check) { m.Match = detectValue(f.First) },
	Others: []draft.Format{
		{
			Name: Commands, Detail: "command lines and device of the result beside it",
			Wants: draft.Wants("gpu_type|client_command|latency_command|throughput_command"),
			Sniff: func(f *decode.File, m *draft.Check) {
				m.Not(!strings.HasSuffix(f.Path, CommandsSuffix), "the name of such a file")
			},
		},
		draft.Aside(display, "a search over results that are read from their own files", "sla_ttft_ms&static_last_pass"),
		// {"serving": {"Test name": {"0": …}}} or records of display names
		draft.Aside(display, "display records of results that are read from their own files",
			"0.Test name|serving.0.Test name|latency.0.Test name|throughput.0.Test name|serving.Test name{}|"+
				"latency.Test name{}|throughput.Test name{}"),
		{Name: Summary, All: readSummary, Sniff: func(f *decode.File, m *draft.Check) {
			if m.Lacks = []string{"a list"}; f.First.Kind() == decode.Array {
				m.Match = detectValue(f.First.Index(0))
				m.Format = Summary
			}
		}},
	},
}

func detectValue(v decode.Value) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format}}
	latencies := draft.StatIn(v, ofText...) != ""
	e2el, sglangs := latencies || draft.StatIn(v, fields[3]) != "", draft.StatIn(v, draft.Field{Key: "{}_e2e_latency_ms"})
	seconds := draft.StatIn(v, inSeconds...) != ""
	m.Want(v.Get("completed").Kind() == decode.Number, "completed")
	output := v.Has("output_throughput") || latencies
	if !output && v.Get("request_throughput").Kind() == decode.Number && e2el { // pooling has no other latency
		m.Format = Pooling
		m.Want(true, "request_throughput and no output")
	} else {
		m.Want(output, "output_throughput or mean_ttft_ms")
	}
	m.Not(v.Has("output_token_throughput") && !v.Has("output_throughput"),
		"output_throughput (output_token_throughput is tt-inference-server's copy)")
	m.Not(sglangs != "", "vLLM's key names ("+sglangs+" is sglang's)")
	m.Not(seconds && !e2el, "milliseconds (keys without _ms are InferenceX's seconds)")
	if m.OK() {
		m.Detail = eraOf(v)
	}
	return m.Match
}

// Eras of which a number says something else.
const (
	inclFirst   = "before v0.5.0"    // "tpot" includes the first token
	swappedE2EL = "v0.6.0 to v0.6.3" // mean and median of E2EL are exchanged
)

// eraOf is that of these which wrote a value, as far as its keys show it; "" for any other.
func eraOf(v decode.Value) string {
	present := func(keys string) bool { // one of them, also null
		return slices.ContainsFunc(v.Members(), func(m decode.Member) bool { return draft.Names(keys)(m.Key) })
	}
	isLater := present("request_goodput request_goodput: burstiness")
	switch {
	case present("user_throughput avg_decoded_tokens_per_iter steady_state failed_requests"): // forks, and a rewrite
	case present("input_throughput request_inthroughput"):
		if !isLater && present("mean_tpot_ms median_tpot_ms p99_tpot_ms") &&
			!present("mean_itl_ms median_itl_ms p99_itl_ms std_ttft_ms") {
			return inclFirst
		}
	case !present("endpoint_type burstiness max_concurrency request_goodput:") && !v.Has("failed") &&
		present("total_token_throughput") && present("num_prompts"):
		return swappedE2EL
	}
	return ""
}

// readSummary returns the points of a list of results: the summary of a sweep, or what somebody put together. Those of
// another model, device or build are another run. Package ingest takes lists of other tools apart, which is no
// replacement: each item is a source there, and 20,000 take 2 GB.
func readSummary(f *decode.File, r *schema.Reading) {
	r.Format = Format
	runs, n := draft.RunsOf[string](r), 0
	for v := range draft.Each(f, f.First.Items()) {
		if !detectValue(v).OK() {
			continue
		}
		part := schema.Reading{Format: Format}
		if readValue(f, v, &part); len(part.Points) == 0 {
			r.Problems = append(r.Problems, part.Problems...)
			continue
		}
		who := part.Facts
		who.Start, who.End, who.StartNote = time.Time{}, time.Time{}, ""
		one := runs.Add(fmt.Sprint(who), part)
		if part.Facts.End.After(one.Facts.End) {
			one.Facts.End = part.Facts.End
		}
		n += len(part.Points)
	}
	runs.Join(fmt.Sprintf("%d runs of a sweep, %s", n, r.Detail))
}

func readValue(f *decode.File, v decode.Value, r *schema.Reading) {
	if v.Get("type").Str() == "warmup" { // of a script around the client
		draft.Problem(f, r, schema.SevNote, "warm-up", v, "a result that calls itself a warm-up", "a measurement",
			"nothing of it")
		return
	}
	era := eraOf(v)
	d := draft.New(f, r, v, "vllm")
	if r.Format == Pooling {
		d.Key.Task = schema.TaskPooling
	}
	key(v, d)
	identity(v, d)
	if era == inclFirst {
		d.Flat(d.In, oldFields)
	} else {
		d.Flat(d.In, fields)
	}
	d.Fields(d.In, numbers)
	d.Above(d.In, map[string]string{"tps_user not-stated": "user_throughput"})
	counts(d)
	recomputed := recompute(d)
	if !recomputed {
		totals(d)
	}
	if mean, ok := d.Point.Value("osl", "mean"); ok && mean == 1 && d.Key.OSL == nil { // all were cut there: prefill alone
		d.Key.OSL = &mean
	}
	if why := v.Get("busy_client").Str(); why != "" { // ttreport's own client
		d.Invalid("busy-client", v.Get("busy_client"), why, "a client that reads in time", "no latency of it",
			"measure again while nothing else runs on this machine, or with fewer streams")
	}
	if era == swappedE2EL && !recomputed {
		swapE2EL(d, "in a file of v0.6.0 to v0.6.3, which exchange the two")
	}
	if v.Has("run_number") {
		sweep(d)
	}
	d.Foreign(d.In, texts)
	d.Done()
}

// texts are members that are read by rules of their own.
const texts = "endpoint_type ramp_up_start_rps ramp_up_end_rps busy_client"

// sweep makes the parameters that a sweep varied dimensions: what nothing has read, and the tool does not measure.
func sweep(d *draft.Draft) {
	known := draft.Names(texts + " run_number")
	for m := range d.In.Unread() {
		if t := m.Val.Text(); len(t) < 60 && !known(m.Key) && !measured.MatchString(m.Key) && !draft.IsText(m.Key) {
			d.Dim(m.Key, t)
		}
	}
}

// StructuredOn is the dimension of structured output where the file does not state its share of the requests.
const StructuredOn = "on"

// key reads the workload that the file states: the load, and lengths where --metadata or a sweep wrote them. What is
// read of v rather than of the draft is kept as an unknown field as well.
func key(v decode.Value, d *draft.Draft) {
	in := d.In
	d.Fields(in, workload)
	for _, name := range []string{"max_concurrency", "request_rate"} {
		if x, ok := v.Get(name).Float(); ok && x <= 0 {
			d.Problem(schema.SevWarning, "bad-load", v.Get(name), fmt.Sprintf("%s of %g", name, x), "a number above zero",
				"a load that is not stated")
		}
	}
	if x := in.Get("burstiness"); x.Float0() > 0 && x.Float0() != 1 && d.Key.Rate != nil {
		d.Dim("burstiness", x.Text())
	}
	if v.Get("mode").Str() == "multi_turn" {
		d.Dim("turns", "several")
	}
	if s := in.Get("ramp_up_strategy").Str(); s != "" {
		d.Dim("ramp_up", strings.Join([]string{s, v.Get("ramp_up_start_rps").Text(), v.Get("ramp_up_end_rps").Text()}, " "))
	}
	if d.Of("correct_rate", in.Get("correct_rate(%)")); v.HasAny("correct_rate(%)", "structured_output_ratio") {
		d.Dim("structured", cmp.Or(v.Get("structured_output_ratio").Text(), StructuredOn))
	}
	if !v.Has("run_number") { // written by --metadata, as vLLM's continuous benchmarks do
		d.Fields(v, map[string]string{
			"degree tp": "tensor_parallel_size|tp_size", "degree pp": "pipeline_parallel_size|pp_size",
			"degree dp": "data_parallel_size|dp_size",
		})
	}
}

// identity reads the identity, as far as the file states it. Metadata are strings under names that people chose; only
// unambiguous names are used.
func identity(v decode.Value, d *draft.Draft) {
	in, f := d.In, &d.Reading.Facts
	d.Fields(in, map[string]string{"fact device.name": "device|gpu|gpu_type|gpu_name|accelerator"})
	if m := severalOf.FindStringSubmatch(f.Device.Name); m != nil {
		f.Device.Name = m[2]
		f.Device.Chips, _ = strconv.Atoi(m[1])
	}
	if t := in.Get("tokenizer_id").Str(); t != in.Get("model_id").Str() { // the tokenizer is usually the model's own
		d.Condition("tokenizer", t)
	}
	d.Fields(v, map[string]string{
		"condition dtype": "dtype", "condition quantization": "quantization", "condition kv_cache_dtype": "kv_cache_dtype",
	})
	// What people and the client say of a result beside its load. A label is the backend where nobody set one.
	backend, kind := in.Get("backend").Str(), v.Get("endpoint_type").Str()
	d.Condition("client", cmp.Or(backend, kind))
	if backend != "" && kind != "" && kind != backend {
		d.Keep("endpoint_type", kind)
	}
	for _, name := range []string{"endpoint", "label", "version"} {
		text := in.Get(name).Text()
		if name == schema.DimLabel {
			name = "client_label"
		}
		if text != "" && text != backend && text != kind {
			d.Keep(name, text)
		}
	}
	date, times := in.Get("date"), schema.Facts{}
	if !draft.ClientTime(&times, date, in.Get("duration")) && v.Has("date") {
		d.Problem(schema.SevWarning, "bad-date", date, "the date "+date.Text(),
			"a time such as 20260312-003000 or 2026-03-12T00:30:00Z", "no time",
			"a result that nothing dates has no place in the history; --pattern or a manifest can state it")
	}
	if len(d.Reading.Points) == 0 {
		f.Start, f.StartNote = times.Start, times.StartNote
	}
	if d.Start, d.End = times.Start, times.End; d.End.After(f.End) {
		f.End = d.End
	}
}

// severalOf matches the name of several accelerators in metadata: "4xNVIDIA_L40S".
var severalOf = lazyregexp.New(`^(\d{1,4})\s?x\s?([A-Za-z].*)$`)

// fields are the families of statistics; before v0.5.0 those of oldFields.
var (
	fields = append(draft.VLLM("{}_X_ms", 1),
		draft.Table(schema.MetricTTFO+" first-content: {}_"+schema.MetricTTFO+"_ms")...)
	ofText    = slices.Concat(fields[:3], fields[4:])
	inSeconds = draft.VLLM("{}_X", 1) // of InferenceX
	oldFields = slices.Replace(slices.Clone(fields), 1, 2, draft.Table("ntpot incl-first: {}_tpot_ms")...)
	workload  = map[string]string{
		"key concurrency": "max_concurrency", "key rate": "request_rate", "key dataset": "dataset_name",
		"key isl": "random_input_len|isl|input_len", "key osl": "random_output_len|osl|output_len",
		"fact model.id": "model_id", "fact release": "release", "fact stack.engine": "engine",
		"fact stack.version": "engine_version", "condition num_prompts": "num_prompts", "condition best_of": "best_of",
		"condition use_beam_search": "use_beam_search",
	}
	numbers = map[string]string{
		"output_tps": "output_throughput", "total_tps": "total_token_throughput", "duration_s": "duration",
		"rps": "request_throughput|request_inthroughput", "goodput_rps": "request_goodput|request_goodput:",
		"input_tps": "input_throughput", "acceptance_rate": "spec_decode_acceptance_rate",
		"acceptance_length": "spec_decode_acceptance_length",
		// of ttreport's own client
		"ttft_later": "later_turns_ttft", "session_s": "conversation_duration",
		"prefix_hits_possible": "prefix_hits_possible",
	}
)

// swapE2EL exchanges mean and median of E2EL.
func swapE2EL(d *draft.Draft, why string) {
	m, _ := d.Metric("e2el")
	mean, a := m.Stats.Get("mean")
	median, b := m.Stats.Get("median")
	if !a || !b || mean == median {
		return
	}
	d.Stat("e2el", m.Kind().Def, "mean", median)
	d.Stat("e2el", m.Kind().Def, "median", mean)
	d.Problem(schema.SevNote, "swapped-e2el", d.In.Get("mean_e2el_ms"),
		fmt.Sprintf("mean_e2el_ms %.6g and median_e2el_ms %.6g %s", mean, median, why), "", "them exchanged back")
}

// measured matches further keys that the tool measures, which a sweep does not vary.
var measured = lazyregexp.New(`^(p\d|min_|max_(output_tokens_per_s|concurrent_requests)|rtfx$|probe_|` +
	`spec_decode_|diffusion_|input_throughput$|goodput|.*_(completed|failed|count|total)$)`)

// counts reads how many requests completed and failed, and the mean lengths, and decides the point's status.
func counts(d *draft.Draft) {
	v := d.In
	ok, asked := v.Get("completed").Ptr(), v.Get("num_prompts").Ptr()
	if v.Has("ramp_up_strategy") || d.Key.Task == schema.TaskPooling { // where the argument is not the number sent
		asked = nil
	}
	d.MeanTokens(v, ok)
	places(d, "spec_decode_per_position_acceptance_rates", schema.MetricAccepted, 100)
	places(d, "ttft_by_turn", schema.MetricTurn, 1) // of ttreport's own client
	out, have := v.Get("total_output_tokens").Float()
	failed, message := failures(v)
	switch {
	case !have || out != 0 || ok == nil || *ok <= 0 || v.Has("ttfts") || d.Key.Task == schema.TaskPooling:
	case v.Get("tokenizer_id").Kind() == decode.Null:
		// tokens were not counted: --skip-tokenizer-init, and a server without usage
		d.Metrics.Drop("osl")
	default:
		d.Recomputed("requests_ok", 0)
		d.Recomputed("requests_failed", *ok)
		d.Recomputed("error_rate", 100)
		d.Fail("no request produced a token")
		d.Problem(schema.SevError, "hollow-success", v.Get("total_output_tokens"),
			fmt.Sprintf("%.0f requests that count as completed and produced no token", *ok),
			"completed requests to have output", "no number", "the server refused or dropped the requests; look at its log")
		return
	}
	d.Requests(ok, failed, asked, draft.Quote(message))
}

// places reads a list of which each of the first places is a metric.
func places(d *draft.Draft, key string, metric func(place int) string, scale float64) {
	place := 0
	for x := range d.In.Get(key).Items() {
		if place++; place > schema.Places {
			return
		}
		if v, ok := x.Float(); ok && (v > 0 || scale > 1) { // no time is 0
			d.Value(metric(place), scale*v)
		}
	}
}

// failures returns how many requests failed, where the file says so, and the first message of a failure.
func failures(v decode.Value) (failed *float64, message string) {
	failed, errors := v.Get("failed").Ptr(), v.Get("errors")
	n := 0.
	for x := range errors.Items() {
		if s := x.Str(); s != "" {
			n++
			message = cmp.Or(message, s)
		}
	}
	if failed == nil && errors.Len() > 0 {
		failed = &n
	}
	return failed, cmp.Or(message, v.Get("failed_requests").Index(0).Get("error").Str())
}

// CommandsFile is the content of a .commands file of vLLM's continuous benchmarks, about the result of the same name.
type CommandsFile struct {
	Facts    schema.Facts
	Workload manifest.Workload
	Client   []string // the client's command line
}

// CommandsSuffix replaces ".json" in the result's name.
const CommandsSuffix = ".commands"

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
	started := cmp.Or(v.Get("server_command").Str(), strings.Join(b.Client, " "))
	client, server := draft.Flags(b.Client), draft.Flags(strings.Fields(started))
	b.Facts.Model.ID = cmp.Or(server.Get("--model").Str(), client.Get("--model").Str())
	b.Workload = manifest.Workload{
		Concurrency: client.Number("--batch-size"), ISL: client.Number("--random-input-len", "--input-len"),
		OSL: client.Number("--random-output-len", "--output-len"), Dataset: client.Get("--dataset-name").Str(),
	}
	if n := server.Number("--tensor-parallel-size", "-tp"); n != nil && *n > 1 {
		b.Workload.Dims = map[string]string{"tp": strconv.FormatFloat(*n, 'f', -1, 64)}
	}
	if strings.Contains(started, "vllm") {
		b.Facts.Stack.Engine = "vllm"
	}
	return b
}
