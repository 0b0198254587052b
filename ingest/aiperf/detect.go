package aiperf

import (
	"strings"

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
