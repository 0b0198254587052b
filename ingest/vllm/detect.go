package vllm

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
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
