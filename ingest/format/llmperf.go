// This file reads the summaries of Anyscale's llmperf (…_summary.json). Times are in seconds. Its inter-token
// latency is the sum of all gaps, the first token's included, over the output tokens: the normalised time per output
// token here.

package format

import (
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// LLMPerfResponses is the format of the requests of a summary.
const LLMPerfResponses = "llmperf-responses"

// LLMPerf is the format: the names that a summary is made of.
var LLMPerf = draft.Format{
	Name: "llmperf", Detail: "summary", Tool: "llmperf", Point: readLLMPerf,
	Wants: draft.Wants("results_ttft_s_mean|results_end_to_end_latency_s_mean", "num_concurrent_requests"),
	Others: []draft.Format{
		{
			Name: LLMPerfResponses, Detail: "not a result: the requests of a summary",
			Wants: draft.Wants("0.end_to_end_latency_s&0.ttft_s"),
		},
	},
}

func readLLMPerf(d *draft.Draft) {
	v, r := d.In, d.Reading
	all := func(of string) string { return "results_" + of + "_{}|results_" + of + "_quantiles_{}" }
	d.Fields(v, map[string]string{
		"ttft s first-content": all("ttft_s"), "e2el s last-content": all("end_to_end_latency_s"),
		"ntpot s incl-first": all("inter_token_latency_s"), "fact model.id": "model", "fact impl": "framework",
		"tps_user osl/e2el": all("request_output_throughput_token_per_s"), "key isl": "mean_input_tokens",
		"key osl": "mean_output_tokens", "key concurrency": "num_concurrent_requests",
		"isl": "results_number_input_tokens_mean", "osl": "results_number_output_tokens_mean",
		"output_tps": "results_mean_output_throughput_token_per_s",
	})
	for dim, name := range map[string]string{
		"prompt_tokens_stdev": "stddev_input_tokens", "output_tokens_stdev": "stddev_output_tokens",
	} {
		if x := v.Get(name).Float0(); x > 0 {
			d.Dim(dim, strconv.FormatFloat(x, 'f', -1, 64))
		}
	}
	if x, ok := v.Get("results_num_completed_requests_per_min").Float(); ok {
		d.Derived("rps", "", "value", x/60)
	}
	d.Requests(v.Get("results_num_completed_requests").Ptr(), v.Get("results_number_errors").Ptr(), nil, "")
	r.Facts.Start = draft.Epoch(v.Get("timestamp"))
	r.Facts.End = r.Facts.Start
	d.Foreign(v, "results_* mean_* stddev_* version name")
}
