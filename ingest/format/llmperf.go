// This file reads the summaries of Anyscale's llmperf (…_summary.json). Times are in seconds. Its inter-token
// latency is the sum of all gaps, the first token's included, over the output tokens: the normalised time per output
// token here.

package format

import (
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this file distinguishes.
const (
	LLMPerf          = "llmperf"
	LLMPerfResponses = "llmperf-responses" // the requests of a summary
)

// DetectLLMPerf asks for the names that a summary is made of.
func DetectLLMPerf(f *decode.File) schema.Match {
	v := f.First
	if one := v.Index(0); one.Has("end_to_end_latency_s", "ttft_s") {
		return draft.Is(LLMPerfResponses, "end_to_end_latency_s", "not a result: the requests of a summary")
	}
	m := draft.Check{Match: schema.Match{Format: LLMPerf, Detail: "summary"}}
	m.Want(v.HasAny("results_ttft_s_mean", "results_end_to_end_latency_s_mean"), "results_ttft_s_mean")
	m.Want(v.Has("num_concurrent_requests"), "num_concurrent_requests")
	return m.Match
}

var llmPerfFields = []draft.Field{
	{Key: "ttft_s", Metric: "ttft", Def: schema.DefFirstContent, Scale: 1000},
	{Key: "end_to_end_latency_s", Metric: "e2el", Def: schema.DefLastContent, Scale: 1000},
	{Key: "inter_token_latency_s", Metric: "ntpot", Def: schema.DefInclFirst, Scale: 1000},
	{Key: "request_output_throughput_token_per_s", Metric: "tps_user", Def: schema.DefOutOverE2EL},
}

// llmPerfStatistic splits "results_ttft_s_quantiles_p99".
func llmPerfStatistic(key string) (stat, of string, ok bool) {
	key, ok = strings.CutPrefix(key, "results_")
	at := strings.LastIndexByte(key, '_')
	if !ok || at < 0 {
		return "", "", false
	}
	stat, ok = schema.ParseStat(key[at+1:])
	return stat, strings.TrimSuffix(key[:at], "_quantiles"), ok && strings.Contains(draft.Usual, " "+stat+" ")
}

// ReadLLMPerf returns the point of a summary.
func ReadLLMPerf(f *decode.File) schema.Reading {
	m := DetectLLMPerf(f)
	r := schema.Reading{Format: m.Format, Detail: m.Detail}
	if m.Format == LLMPerfResponses {
		return r
	}
	d := draft.New(f, &r, f.First, "llmperf")
	v := d.In
	d.Key.ISL, d.Key.OSL = v.Get("mean_input_tokens").Ptr(), v.Get("mean_output_tokens").Ptr()
	d.Key.Concurrency = v.Get("num_concurrent_requests").Ptr()
	for dim, name := range map[string]string{
		"prompt_tokens_stdev": "stddev_input_tokens", "output_tokens_stdev": "stddev_output_tokens",
	} {
		if x := v.Get(name).Float0(); x > 0 {
			d.Dim(dim, strconv.FormatFloat(x, 'f', -1, 64))
		}
	}
	d.Flat(v, llmPerfStatistic, llmPerfFields)
	d.Fields(v, map[string]string{
		"isl": "results_number_input_tokens_mean", "osl": "results_number_output_tokens_mean",
		"output_tps": "results_mean_output_throughput_token_per_s",
	})
	if x, ok := v.Get("results_num_completed_requests_per_min").Float(); ok {
		d.Derived("rps", "", "value", x/60)
	}
	d.Requests(v.Get("results_num_completed_requests").Ptr(), v.Get("results_number_errors").Ptr(), nil, "")
	r.Facts.Model.ID = v.Get("model").Str()
	r.Facts.Start = draft.Epoch(v.Get("timestamp"))
	r.Facts.End, d.Start, d.End = r.Facts.Start, r.Facts.Start, r.Facts.Start
	d.Foreign(v, "results_* mean_* stddev_* version name")
	d.Done()
	return r
}
