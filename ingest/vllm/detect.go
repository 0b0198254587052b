package vllm

import (
	"regexp"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
)

// Format is the name of this reader's format.
const Format = "vllm-serve"

// statKey matches a statistic's key: "p99.9_ttft_ms".
var statKey = regexp.MustCompile(`^(mean|median|std|min|max|p\d+(?:\.\d+)?)_(ttft|tpot|itl|e2el)_ms$`)

// Detect says whether a file holds serving results. Content decides: "completed" with an output throughput or a
// latency family. sglang writes the same words with "_e2e_latency_ms", tt-inference-server's harmonised copies with
// "output_token_throughput"; neither is ours.
func Detect(f *decode.File) schema.Match {
	m := schema.Match{Format: Format}
	if len(f.Doc.Values) == 0 || f.Doc.Values[0].Kind() != decode.Object {
		m.Lacks = []string{"a JSON object"}
		return m
	}
	v := f.Doc.Values[0]
	check := func(ok bool, what string) {
		if ok {
			m.Has = append(m.Has, what)
		} else {
			m.Lacks = append(m.Lacks, what)
		}
	}
	check(v.Get("completed").Kind() == decode.Number, "completed")
	check(v.Has("output_throughput") || hasLatency(v), "output_throughput or mean_ttft_ms")
	if v.Has("output_token_throughput") && !v.Has("output_throughput") {
		m.Lacks = append(m.Lacks, "output_throughput (output_token_throughput is tt-inference-server's copy)")
	}
	for _, member := range v.Members() {
		if len(member.Key) > 15 && member.Key[len(member.Key)-15:] == "_e2e_latency_ms" {
			m.Lacks = append(m.Lacks, "vLLM's key names ("+member.Key+" is sglang's)")
			break
		}
	}
	if m.OK() {
		m.Detail = eraOf(v).words
	}
	return m
}

func hasLatency(v decode.Value) bool {
	for _, m := range v.Members() {
		if k := statKey.FindStringSubmatch(m.Key); k != nil && k[2] != "e2el" {
			return true
		}
	}
	return false
}

// era is what the keys of a value tell about the version that wrote it, where the version matters.
type era struct {
	words       string
	inclFirst   bool // "tpot" includes the first token
	swappedE2EL bool // mean and median of E2EL are exchanged
}

func eraOf(v decode.Value) era {
	has := v.Has
	present := func(k string) bool { return v.Get(k).Kind() != decode.Invalid }
	anyStat := func(family string) bool {
		return present("mean_"+family+"_ms") || present("median_"+family+"_ms") || present("p99_"+family+"_ms")
	}
	switch {
	case present("steady_state") || present("failed_requests"):
		return era{words: "Rust client, v0.24 or later"}
	case present("input_throughput") || present("request_inthroughput"):
		if !anyStat("itl") && !present("std_ttft_ms") && anyStat("tpot") {
			return era{words: "before v0.5.0", inclFirst: true}
		}
		return era{words: "v0.5"}
	case has("failed"):
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
