package vllm

import (
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

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
