// This file reads the lifecycle reports of kubernetes-sigs/inference-perf: stage_N_lifecycle_metrics.json
// and summary_lifecycle_metrics.json, in JSON or YAML.
//
// Source: inference_perf/reportgen, 2025 and 2026.
//
// Units are seconds throughout.
//
// Traps: "time_per_output_token" and "inter_token_latency" are over chunks, not tokens: with a server that sends two
// chunks a token both are half of TPOT, so neither is read as TPOT; each stage is a load of its own and the summary
// pools all of them, so the summary counts only where the stages are missing; failures are in a separate object and
// the statistics cover successes only; model and device are not stated.

package format

import (
	"path"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// InferencePerf is the format: the two objects that every lifecycle report has. Next to it are metrics of the server,
// and the requests.
var InferencePerf = draft.Format{
	Name: "inference-perf", Detail: "lifecycle report", Tool: "inference-perf", Point: readInferencePerf,
	Wants: draft.Wants("load_summary{}", "successes{}"),
	Others: []draft.Format{
		{
			Name: inferencePerfAside, Detail: "not a result: the server's own metrics", Aside: true,
			Sniff: func(f *decode.File, m *draft.Check) {
				v := f.First
				m.Want(v.HasAny("avg_queue_length", "avg_kv_cache_usage") || v.Get("successes").Has("rate") ||
					v.Has("prompt_tokens_per_second") && !v.Has("load_summary"), "metrics of the server")
			},
		},
		draft.Aside(inferencePerfAside, "the requests that were sent and their answers",
			"0.request&0.response&0.info.output_token_times"),
	},
}

const inferencePerfAside = "inference-perf-aside"

var inferencePerfStage = lazyregexp.New(`stage_(\d+)_`)

// IsInferencePerfSummary reports a file's name as that of the pool of all stages.
func IsInferencePerfSummary(name string) bool {
	return strings.HasPrefix(path.Base(name), "summary_lifecycle")
}

var inferencePerfLatencies = draft.Table("ttft s first-chunk: time_to_first_token",
	"e2el s last-chunk: request_latency", "ntpot s incl-first: normalized_time_per_output_token",
	"itl s chunk-gap: inter_token_latency", "tpot s mean-gap: time_per_output_token")

func readInferencePerf(d *draft.Draft) {
	load, good := d.In.Get("load_summary").Track(), d.In.Get("successes")
	requested, concurrency := load.Get("requested_rate").Ptr(), load.Get("concurrency").Ptr()
	if IsInferencePerfSummary(d.File.Path) {
		d.Dim("stages", "all")
		d.Reading.Detail = "pool of all stages"
	} else {
		d.Key.Rate, d.Key.Concurrency = requested, concurrency
		if s := inferencePerfStage.FindStringSubmatch(path.Base(d.File.Path)); s != nil {
			d.Condition("stage", s[1])
		}
	}
	for _, x := range inferencePerfLatencies {
		d.Block(good.Get("latency").ObjectOr(x.Key, good.Get(x.Key)), draft.Wide, x) // at the top in early versions
	}
	d.Fields(good, map[string]string{
		"isl": "prompt_len.mean", "osl": "output_len.mean", "rps": "throughput.requests_per_sec",
		"output_tps": "throughput.output_tokens_per_sec", "total_tps": "throughput.total_tokens_per_sec",
	})
	n, rps := good.Get("count"), good.At("throughput", "requests_per_sec").Float0()
	if !d.Of("duration_s", d.In.Get("benchmark_time_seconds")) && rps > 0 && n.Float0() > 0 {
		d.Derived("duration_s", "", "value", n.Float0()/rps)
	}
	d.Requests(n.Ptr(), d.In.At("failures", "count").Ptr(), nil, "")
	size, _ := n.Int()
	for _, metric := range []string{"ttft", "ntpot", "e2el"} {
		d.Size(metric, size)
	}
	// how well the tool kept its schedule
	d.Client = map[string]string{}
	if late, ok := load.At("schedule_delay", "p99").Float(); ok {
		d.Client["send_late_p99_ms"] = strconv.FormatFloat(late*1000, 'g', 6, 64)
	}
	d.Foreign(load, "count schedule_delay.p*")
	if got, ok := load.Get("achieved_rate").Float(); ok {
		d.Client["rate_reached"] = strconv.FormatFloat(got, 'g', 6, 64)
	}
	if len(d.Client) == 0 {
		d.Client = nil
	}
	d.Foreign(d.In, "")
}
