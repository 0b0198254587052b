package jsondoc

import (
	"io"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets/compare"
)

type (
	compareJSON struct {
		Schema string           `json:"schema"`
		A      string           `json:"a"`
		B      string           `json:"b"`
		OnlyA  int              `json:"only_a"`
		OnlyB  int              `json:"only_b"`
		Rows   []compareRowJSON `json:"rows"`
		Notes  []string         `json:"notes"`
		// Head is what the pages of the site say of two releases, conditions that differ first.
		Head []string `json:"head,omitempty"`
	}
	compareRowJSON struct {
		System   string          `json:"system,omitempty"`
		Key      keyJSON         `json:"key"`
		Metric   string          `json:"metric"`
		Stat     string          `json:"stat"`
		A        float64         `json:"a"`
		B        float64         `json:"b"`
		NA       int             `json:"n_a"`
		NB       int             `json:"n_b"`
		Change   float64         `json:"change"`
		Lo       *float64        `json:"lo"`
		Hi       *float64        `json:"hi"`
		P        *float64        `json:"p"`
		Test     string          `json:"test"`
		Verdict  compare.Outcome `json:"verdict"`
		RunsEach int             `json:"runs_each_that_might_settle,omitempty"`
		// JudgedB is the verdict on the number of B against its own baseline, where B is a later release.
		JudgedB schema.Outcome `json:"judged_b,omitempty"`
		// Loads are there where answers differ in length or requests failed.
		Loads *loadsJSON `json:"loads,omitempty"`
	}
	loadsJSON struct {
		OSLA    *float64 `json:"osl_a"`
		OSLB    *float64 `json:"osl_b"`
		FailedA *float64 `json:"failed_a"`
		FailedB *float64 `json:"failed_b"`
		OfA     *float64 `json:"of_a"`
		OfB     *float64 `json:"of_b"`
	}
)

// Compare writes a comparison.
func Compare(w io.Writer, c *render.Comparison) error {
	out := compareJSON{"ttreport/compare/v1", c.A, c.B, c.OnlyA, c.OnlyB, []compareRowJSON{}, c.Notes(), c.Head()}
	for i := range c.Rows {
		r := &c.Rows[i]
		var judged schema.Outcome
		if r.Judged != nil {
			judged = r.Judged.Outcome
		}
		out.Rows = append(out.Rows, compareRowJSON{
			r.System, keyOf(r.Key), r.Metric, r.Stat, r.A, r.B, r.NA, r.NB, r.Change,
			finite(r.Lo), finite(r.Hi), finite(r.P), r.Test, r.Outcome(), r.NeededEach, judged, loads(r.Loads),
		})
	}
	return Write(w, out)
}

// loads are those of a row where they differ: absent, and not zero, where a side does not count its requests.
func loads(l *compare.Loads) *loadsJSON {
	if l == nil || !l.Differ() {
		return nil
	}
	out := &loadsJSON{OSLA: l.A.OSL.Ptr(), OSLB: l.B.OSL.Ptr()}
	if l.A.Of > 0 {
		out.FailedA, out.OfA = &l.A.Failed, &l.A.Of
	}
	if l.B.Of > 0 {
		out.FailedB, out.OfB = &l.B.Failed, &l.B.Of
	}
	return out
}
