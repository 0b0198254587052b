package aiperf

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Names of the formats that this package tells apart.
const (
	Format  = "aiperf"
	Records = "aiperf-records"
	Aside   = "aiperf-aside" // AIPerf's other files: telemetry, inputs, time slices, aggregates
)

// Detect says whether a file is AIPerf's, by content. It does not demand latencies: a run in which everything failed
// has none.
func Detect(f *decode.File) schema.Match {
	m := schema.Match{Format: Format}
	if len(f.Doc.Values) == 0 || f.Doc.Values[0].Kind() != decode.Object {
		m.Lacks = []string{"a JSON object"}
		return m
	}
	v := f.Doc.Values[0]
	if isRecord(v) {
		return schema.Match{Format: Records, Has: []string{"metadata and metrics per line"}, Detail: "per-request records"}
	}
	if what := aside(v); what != "" {
		return schema.Match{Format: Aside, Has: []string{what}, Detail: "not a result: " + what}
	}
	check := func(ok bool, what string) {
		if ok {
			m.Has = append(m.Has, what)
		} else {
			m.Lacks = append(m.Lacks, what)
		}
	}
	config := v.Get("input_config")
	check(config.Kind() == decode.Object, "input_config")
	if config.Has("perf_analyzer") || config.Has("subcommand") {
		m.Lacks = append(m.Lacks, "a configuration of AIPerf rather than GenAI-Perf")
	}
	check(v.Has("aiperf_version") || v.Get("error_summary").Kind() == decode.Array || v.Get("was_cancelled").Kind() == decode.Bool || v.Has("benchmark_id"),
		"aiperf_version, error_summary or was_cancelled")
	if m.OK() {
		m.Detail = eraOf(v)
	}
	return m
}

func isRecord(v decode.Value) bool {
	meta := v.Get("metadata")
	return v.Get("metrics").Kind() == decode.Object && (meta.Has("x_request_id") || meta.Has("benchmark_phase") || meta.Has("credit_phase"))
}

func aside(v decode.Value) string {
	switch {
	case v.Get("timeslices").Kind() == decode.Array:
		return "time slices of a run"
	case v.Get("aggregation_type").Str() == "sweep" || v.At("metadata", "aggregation_type").Str() == "confidence":
		return "an aggregate over runs that are read from their own files"
	case v.Has("telemetry_data") && v.Has("gpu_index"):
		return "GPU telemetry"
	case v.Get("data").Kind() == decode.Array && v.Get("data").Len() > 0 && v.Get("data").List()[0].Has("payloads"):
		return "the prompts that were sent"
	case v.Get("metrics").Kind() == decode.Object && v.Get("summary").Has("endpoints_configured"):
		return "server metrics"
	}
	return ""
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
	case v.Get("warmup_metrics").Kind() != decode.Invalid || strings.HasPrefix(v.Get("schema_version").Str(), "1.4") || strings.HasPrefix(v.Get("schema_version").Str(), "1.5"):
		return "era E4" + version
	case config.Has("phases") || config.Get("models").Kind() == decode.Object:
		return "era E3" + version
	case v.Has("schema_version"):
		return "era E2" + version
	}
	return "era E1"
}
