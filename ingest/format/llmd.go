// This file reads llm-d's benchmark reports, versions 0.1, 0.2 and 0.2.1, in YAML or JSON: a common form into which
// llm-d-benchmark converts the results of other tools.
//
// Source: llmdbenchmark/analysis/benchmark_report of llm-d/llm-d-benchmark, schemas and examples.
//
// Every distribution states its unit, which is used: s, ms, s/token, ms/token, tokens/s, queries/s.
//
// Traps: the definition of a metric is that of the converted tool: GuideLLM's time_per_output_token includes the
// first token, inference-perf's is over chunks; in 0.1 throughputs are bare numbers; failures are part of total;
// requested lengths are known only if their distribution is fixed; the pid, user and cluster of a run are not kept.

package format

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// LLMD is the format: the version and the two parts of a report.
var LLMD = draft.Format{
	Name: "llm-d-report", Wants: draft.Wants("version", "scenario{}", "metrics{}|results{}=metrics or results"),
	All:   readLLMD,
	Sniff: func(f *decode.File, m *draft.Check) { m.Detail = "version " + f.First.Get("version").Text() },
}

// llmdNames are the report's names of latencies.
var llmdNames = []string{
	"time_to_first_token", "request_latency", "time_per_output_token", "inter_token_latency",
	"normalized_time_per_output_token",
}

// llmdLatencies are what these are by the definitions of the tool whose results were converted, "" of any other.
var llmdLatencies = map[string]string{
	"vllm":           "ttft first-chunk, e2el last-chunk, tpot excl-first, itl chunk-gap, ntpot incl-first",
	"guidellm":       "ttft first-content, e2el last-chunk, ntpot incl-first, tpot excl-first",
	"inference-perf": "ttft first-chunk, e2el last-chunk, tpot mean-gap, itl chunk-gap, ntpot incl-first",
	"":               "ttft not-stated, e2el not-stated, tpot not-stated, itl not-stated, ntpot incl-first",
}

// readLLMD returns the point of a report.
func readLLMD(f *decode.File, r *schema.Reading) {
	load := f.First.At("scenario", "load", "standardized") // of 0.2
	part, tool := f.First.Get("metrics"), f.First.At("scenario", "load", "name").Str()
	if f.First.Get("results").Kind() == decode.Object {
		part, tool = f.First.At("results", "request_performance", "aggregate"), load.Get("tool").Str()
	}
	tool = strings.Replace(cmp.Or(tool, "llm-d"), "vllm-benchmark", "vllm", 1)
	d := draft.New(f, r, f.First, tool)
	r.Facts = llmdFacts(d.In)
	llmdKey(d, load)
	requests, through := part.Get("requests"), part.Get("throughput")
	total, failed := requests.Get("total").Ptr(), requests.Get("failures").Ptr()
	ok := total
	if total != nil && failed != nil {
		n := *total - *failed - requests.Get("incomplete").Float0()
		ok = &n
	}
	for i, words := range strings.Split(cmp.Or(llmdLatencies[tool], llmdLatencies[""]), ", ") {
		block := part.At("latency", llmdNames[i])
		if block.Kind() != decode.Object {
			continue
		}
		x, isUnit := draft.Table(words + ": ")[0], false
		if x.Scale, isUnit = draft.Scale(strings.TrimSuffix(block.Get("units").Str(), "/token"), "ms"); !isUnit {
			d.Problem(schema.SevWarning, "unknown-unit", block.Get("units"),
				"units "+strconv.Quote(block.Get("units").Text())+" of "+x.Metric, "s or ms", "no value of this metric")
			continue
		}
		d.Block(block, draft.Wide, x)
		if ok != nil && x.Metric != "itl" { // gaps, which nobody counted
			d.Size(x.Metric, int(min(max(*ok, 0), 1e12)))
		}
	}
	for _, x := range llmdRates {
		v := through.Get(x.Key)
		if v.Kind() == decode.Invalid {
			v = requests.Get(x.Key)
		}
		d.Of(x.Metric, v)                // a number in 0.1
		d.Of(x.Metric, v.Get("mean"))    // what is judged
		d.Block(v, draft.WithoutMean, x) // over the time of the measurement, or over the requests
	}
	if !d.Of("duration_s", d.In.At("metrics", "time", "duration")) {
		if s, have := isoDuration(d.In.At("run", "time", "duration").Str()); have {
			d.Value("duration_s", s)
		}
	}
	d.Requests(ok, failed, nil, "")
	results := f.First.Get("results")
	w := llmdWalk{Draft: d, engines: llmdEngines(f.First)}
	w.whole(results.Get("session_performance"), "", true)
	w.counts(results.At("session_performance", "sessions"), "sessions_")
	w.whole(results.Get("observability"), "", true)
	for x := range results.Get("component_health").Items() {
		w.counts(x, "")
	}
	w.whole(part.Get("service"), "", true)   // of 0.1
	w.whole(part.Get("resources"), "", true) // of 0.1
	w.whole(part.At("requests", "multimodal"), "", true)
	w.whole(part.At("requests", "request_size"), "request_size", true)
	for _, name := range []string{"audio_rate", "image_rate", "video_rate"} {
		w.whole(through.Get(name), name, true)
	}
	d.Source.ToolVersion = load.Get("tool_version").Text()
	d.Foreign(d.In, "version results")
	d.Foreign(f.First.At("scenario", "metadata"), "")
	d.Done()
}

// llmdRates are the report's names of rates and lengths, those of 0.1 among them.
var llmdRates = draft.Table("output_tps: output_token_rate", "output_tps: output_tokens_per_sec",
	"total_tps: total_token_rate", "total_tps: total_tokens_per_sec", "input_tps: input_token_rate",
	"input_tps: input_tokens_per_sec", "rps: request_rate", "rps: requests_per_sec", "isl: input_length",
	"osl: output_length")

// llmdServer are the report's names of what its servers and sessions state, by the last part of a path. What is not
// among them is kept as a metric of the report's own, with its unit.
var llmdServer = map[string]string{
	"vllm_prefix_cache_hit_rate": "prefix_hits", "vllm_external_prefix_cache_hit_rate": "prefix_hits_external",
	"kv_cache_usage": "kv_usage", "running_requests": "requests_running", "waiting_requests": "requests_waiting",
	"vllm_num_preemptions_total": "preemptions", "gpu_utilization": "accelerator_busy",
	"gpu_memory_usage": "accelerator_memory", "pod_startup_times": "pod_startup_s", "session_duration": "session_s",
	"session_rate": "session_rps", "events_per_session": "session_requests",
	"events_cancelled_per_session": "session_cancelled", "input_tokens_per_session": "session_isl",
	"output_tokens_per_session": "session_osl",
}

// llmdUnits are the report's units under the names that metrics have here.
var llmdUnits = map[string]string{
	"percent": "%", "count": "", "seconds": "s", "queries/s": "req/s", "tokens": "tok", "tokens/s": "tok/s",
}

// Parts of a report whose names say nothing of a distribution, those whose names are half of one's, and the samples
// behind distributions.
var (
	llmdLevels  = draft.Names("statistics components aggregate sessions")
	llmdMedia   = draft.Names("audio image video memory compute")
	llmdSamples = draft.Names("time_series metadata")
)

// llmdWalk reads every distribution in a part of a report.
type llmdWalk struct {
	*draft.Draft
	engines []string // labels of the components that are inference engines
}

// llmdEngines are the labels of the components that are inference engines.
func llmdEngines(v decode.Value) (labels []string) {
	for c := range v.At("scenario", "stack").Items() {
		if c.At("standardized", "kind").Str() == "inference_engine" {
			labels = append(labels, c.At("metadata", "label").Str())
		}
	}
	return labels
}

// whole keeps every distribution in a part of the report, under the name that its path gives it: of a part with an
// aggregate that, else each component's. isServer says that it is of the server as a whole, or of its only engine: what
// is of one pod of several, or of a router, is no metric of the server.
func (w *llmdWalk) whole(v decode.Value, name string, isServer bool) {
	switch {
	case v.Kind() == decode.Array:
		isAlone := v.Len() == 1
		for x := range v.Items() {
			label := x.Get("component_label").Str()
			isIt := isAlone || name == "" && len(w.engines) == 1 && w.engines[0] == label
			w.whole(x, name, isServer && isIt)
		}
	case v.Kind() != decode.Object:
	case v.Has("units"):
		w.block(v, name, isServer)
	case v.HasAny("aggregated", "aggregate") && !v.Has("component_label"):
		w.whole(v.ObjectOr("aggregated", v.Get("aggregate")), name, isServer)
	default:
		for _, m := range v.Members() {
			of := m.Key
			switch {
			case llmdSamples(m.Key):
				continue
			case llmdLevels(m.Key):
				of = name
			case llmdMedia(name):
				of = name + "_" + m.Key
			}
			w.whole(m.Val, of, isServer)
		}
	}
}

// counts keeps the numbers of an object, which have no unit.
func (w *llmdWalk) counts(v decode.Value, prefix string) {
	for _, m := range v.Members() {
		if x, ok := m.Val.Float(); ok && m.Val.Kind() == decode.Number {
			if own, ok := w.own(prefix+m.Key, ""); ok {
				w.Value(own, x)
			}
		}
	}
}

// own is the name of a metric of the report's own that nothing has yet.
func (w *llmdWalk) own(name, unit string) (own string, ok bool) {
	if w.Full() {
		return "", false
	}
	own, ok = schema.OwnMetric(name, unit, "neither")
	for n := 2; ok; n++ {
		if _, taken := w.Metric(own); !taken {
			break
		}
		own, ok = schema.OwnMetric(fmt.Sprintf("%s.%d", name, n), unit, "neither")
	}
	return own, ok
}

func (w *llmdWalk) block(block decode.Value, name string, isServer bool) {
	unit := block.Get("units").Str()
	if plain, known := llmdUnits[unit]; known {
		unit = plain
	}
	if metric := llmdServer[name]; isServer && metric != "" {
		scale, ok := draft.Scale(unit, schema.Unit(metric))
		if _, taken := w.Metric(metric); !taken && (ok || unit == "") { // a count has none
			w.Block(block, draft.Wide, draft.Field{Metric: metric, Scale: scale})
			return
		}
	}
	if own, ok := w.own(name, unit); ok {
		w.Block(block, draft.Wide, draft.Field{Metric: own})
		if x, ok := block.Get("count").Float(); ok {
			w.Stat(own, "", "value", x)
		}
	}
}

// llmdKey reads the load; args are the tool's own arguments, in 0.1.
func llmdKey(d *draft.Draft, load decode.Value) {
	length := func(name string) *float64 {
		block := load.Get(name)
		if kind := block.Get("distribution").Str(); kind != "fixed" {
			d.Condition(name+"_distribution", kind)
			return nil
		}
		return block.Get("value").Ptr()
	}
	args := d.In.At("scenario", "load", "args")
	d.Key.ISL, d.Key.OSL = length("input_seq_len"), length("output_seq_len")
	d.Key.Concurrency = cmp.Or(load.Number("concurrency"),
		args.Number("max-concurrency", "max_concurrency", "concurrency"))
	d.Key.Rate = cmp.Or(load.Number("rate_qps"), args.Number("request-rate", "qps_values", "rate"))
	d.Key.Dataset = load.Get("source").Text()
	if enabled, _ := load.At("multi_turn", "enabled").Truth(); enabled {
		d.Dim("turns", "several")
	}
	if n := load.At("prefix", "prefix_len", "value").Float0(); n > 0 {
		d.Dim("prefix", strconv.FormatFloat(n, 'f', -1, 64))
	}
	d.Condition("stage", load.Get("stage").Text())
	if d.Key.ISL == nil {
		d.Dim(schema.DimLabel, d.In.At("scenario", "load", "type").Str())
	}
}

func llmdFacts(v decode.Value) schema.Facts {
	var f schema.Facts
	s := v.Get("scenario")
	f.Model.ID, f.Model.Precision = s.At("model", "name").Str(), s.At("model", "quantization").Text()
	device, engine := s.At("host", "accelerator").Index(0), s.At("platform", "engine").Index(0)
	f.Stack.Engine, f.Stack.Version = engine.Get("name").Str(), engine.Get("version").Text()
	chips := 0
	for a := range s.At("host", "accelerator").Items() {
		n, _ := a.Get("count").Int()
		chips += max(n, 0)
	}
	for c := range s.Get("stack").Items() { // 0.2
		part := c.Get("standardized")
		if part.Get("kind").Str() != "inference_engine" {
			continue
		}
		if device.Kind() != decode.Object {
			device = part.Get("accelerator")
			f.Model.ID, f.Stack.Engine = part.At("model", "name").Str(), part.Get("tool").Str()
			if tool := part.Get("tool_version").Text(); strings.ContainsAny(tool, "/:") {
				f.Stack.Image = tool
			} else {
				f.Stack.Version = tool
			}
		}
		n, _ := part.At("accelerator", "count").Int()
		replicas, ok := part.Get("replicas").Int()
		if !ok {
			replicas = 1
		}
		chips += min(max(n, 0), 1<<20) * min(max(replicas, 0), 1<<20)
	}
	f.Device.Name, f.Device.Chips = device.Get("model").Text(), min(chips, 1<<30)
	run, old := v.Get("run"), v.At("metrics", "time")
	f.RunID = run.Get("uid").Str()
	f.Start, f.End = llmdMoment(run.At("time", "start")), llmdMoment(run.At("time", "end"))
	if f.Start.IsZero() {
		f.Start, f.End = llmdMoment(old.Get("start")), llmdMoment(old.Get("stop"))
	}
	return f
}

// llmdMoment reads RFC 3339 or seconds since 1970.
func llmdMoment(v decode.Value) time.Time {
	if t := draft.Time(v.Str()); !t.IsZero() {
		return t
	}
	return draft.Epoch(v)
}

// isoDuration reads ISO 8601's PT1H2M3.5S.
func isoDuration(s string) (seconds float64, ok bool) {
	rest, ok := strings.CutPrefix(s, "PT")
	d, err := time.ParseDuration(strings.ToLower(rest))
	return d.Seconds(), ok && err == nil && strings.Trim(rest, "0123456789.HMS") == ""
}
