// This file reads what scripts leave where a benchmark failed: {"error": "…"} or {"error": {"message": "…"}}, with some
// facts of the attempt. The point has no number, which is not the same as one that nobody measured.

package format

import (
	"cmp"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Failed is the format: an error as text, and nothing but facts of the attempt.
var Failed = draft.Format{
	Name: "failed-attempt", Detail: "an attempt that failed", Tool: "unknown", Point: readFailed,
	Wants: draft.Wants(`error""|error{}=error as a text or an object`),
	Sniff: func(f *decode.File, m *draft.Check) {
		isOther := func(x decode.Member) bool { return !failedNames(x.Key) }
		m.Not(m.OK() && slices.ContainsFunc(f.First.Members(), isOther), "only facts of an attempt")
	},
}

// failedNames are all that such a file may have: a line of a server's log has others.
var failedNames = draft.Names(`error success ok raw_output stdout stderr output returncode return_code exit_code command
	cmd argv model name config timestamp date duration elapsed elapsed_s device gpu tp concurrency max_concurrency
	request_rate isl input_len osl output_len num_prompts batch_size`)

func readFailed(d *draft.Draft) {
	v, k := d.In, &d.Key
	d.Reading.Facts.Model.ID = v.Get("model").Str()
	d.Reading.Facts.Device.Name = cmp.Or(v.Get("device").Str(), v.Get("gpu").Str())
	k.ISL, k.OSL = v.Number("isl", "input_len"), v.Number("osl", "output_len")
	k.Concurrency, k.Rate = v.Number("concurrency", "max_concurrency"), v.Number("request_rate")
	d.Dim("tp", v.Get("tp").Text())
	for _, metric := range []string{"ttft", "output_tps"} {
		d.Missing(metric, "", "")
	}
	why := draft.Quote(cmp.Or(v.Get("error").Str(), v.At("error", "message").Str()))
	d.Fail("it failed" + why)
	d.Problem(schema.SevError, "all-failed", v, "an attempt that failed"+why, "a result", "a point without a number")
}
