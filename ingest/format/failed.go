// This file reads what scripts leave where a benchmark failed: {"error": "…"}, with a few facts of the attempt. The
// point has no number, which is not the same as one that nobody measured.

package format

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Failed is the name of the format.
const Failed = "failed-attempt"

// failedNames are all that such a file may have: a line of a server's log has others.
var failedNames = draft.Names(`error success ok raw_output stdout stderr output returncode return_code exit_code command
	cmd argv model name config timestamp date duration elapsed elapsed_s`)

// DetectFailed asks for an error as text, and nothing but facts of the attempt.
func DetectFailed(f *decode.File) schema.Match {
	v := f.First
	m := draft.Check{Match: schema.Match{Format: Failed, Detail: "an attempt that failed"}}
	m.Want(v.Get("error").Str() != "", "error as a text")
	for _, x := range v.Members() {
		if m.OK() && !failedNames(x.Key) {
			m.Not(true, "only facts of an attempt")
			break
		}
	}
	return m.Match
}

// ReadFailed returns a point without a number.
func ReadFailed(f *decode.File) schema.Reading {
	r := schema.Reading{Format: Failed, Detail: "an attempt that failed"}
	r.Facts.Model.ID = f.First.Get("model").Str()
	d := draft.New(f, &r, f.First, "unknown")
	for _, metric := range []string{"ttft", "output_tps"} {
		d.Missing(metric, "", "it failed")
	}
	d.Fail("it failed" + draft.Quote(d.In.Get("error").Str()))
	d.Problem(schema.SevError, "all-failed", d.In, "an attempt that failed"+draft.Quote(d.In.Get("error").Str()),
		"a result", "a point without a number")
	d.Done()
	return r
}
