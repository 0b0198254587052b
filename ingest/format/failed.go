// This file reads what scripts leave where a benchmark failed: {"error": "…"}, with a few facts of the attempt. The
// point has no number, which is not the same as one that nobody measured.

package format

import (
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Failed is the format: an error as text, and nothing but facts of the attempt.
var Failed = draft.Format{
	Name: "failed-attempt", Detail: "an attempt that failed", Tool: "unknown", Point: readFailed,
	Wants: draft.Wants(`error""=error as a text`),
	Sniff: func(f *decode.File, m *draft.Check) {
		m.Not(m.OK() && slices.ContainsFunc(f.First.Members(), func(x decode.Member) bool { return !failedNames(x.Key) }),
			"only facts of an attempt")
	},
}

// failedNames are all that such a file may have: a line of a server's log has others.
var failedNames = draft.Names(`error success ok raw_output stdout stderr output returncode return_code exit_code command
	cmd argv model name config timestamp date duration elapsed elapsed_s`)

func readFailed(d *draft.Draft) {
	d.Reading.Facts.Model.ID = d.In.Get("model").Str()
	for _, metric := range []string{"ttft", "output_tps"} {
		d.Missing(metric, "", "")
	}
	d.Fail("it failed" + draft.Quote(d.In.Get("error").Str()))
	d.Problem(schema.SevError, "all-failed", d.In, "an attempt that failed"+draft.Quote(d.In.Get("error").Str()),
		"a result", "a point without a number")
}
