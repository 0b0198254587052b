package gate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
)

// TestCoverageCountsAWorkloadOnce: what a plan asks for and the release before measured is one gap, and missing; what
// nobody asked for was not measured again.
func TestCoverageCountsAWorkloadOnce(t *testing.T) {
	got := history(schema.Unchanged)
	got.Value, got.Impl = schema.Num(70), "tt"
	left := got
	left.Outcome, left.Value, left.Metric = schema.NotMeasured, schema.Missing("not measured"), ""
	left.Baseline, left.Reason = "v0", schema.NotRemeasured{Releases: 1}
	planned := left
	planned.Impl, planned.Baseline, planned.Against, planned.Reason = "", "", schema.AgainstTarget, schema.Planned{}
	open := at(planned, 3)
	open.Key.Tool, open.Required, open.Reason = "", true, schema.TargetNotMeasured{} // a target that any tool may meet
	score := func(v schema.Verdict) schema.Verdict {
		v.Key = schema.Key{Task: "eval", Dataset: "gsm8k", Dims: map[string]string{"filter": "strict"}}
		return v
	}
	reference := score(open)
	reference.Key.Dims, reference.Reason = nil, schema.EvalNotRun{Task: "gsm8k"}
	for name, c := range map[string]struct {
		history, targets []schema.Verdict
		want             string
	}{
		"all":          {[]schema.Verdict{got}, nil, "1:"},
		"nobody asked": {[]schema.Verdict{got, at(left, 2)}, nil, "1: again 128/128/2 v0"},
		"planned":      {[]schema.Verdict{got}, []schema.Verdict{at(planned, 2)}, "1: missing 128/128/2"},
		"planned and before": {[]schema.Verdict{got, at(left, 2)}, []schema.Verdict{at(planned, 2)},
			"1: missing 128/128/2 v0"},
		"both": {[]schema.Verdict{got, at(left, 2), at(left, 4)}, []schema.Verdict{at(planned, 2)},
			"1: missing 128/128/2 v0, again 128/128/4 v0"},
		"a target of any tool, at every level": {[]schema.Verdict{got, at(left, 3)}, []schema.Verdict{open, open},
			"1: missing 128/128/3 v0"},
		"an eval": {[]schema.Verdict{got, score(left)}, []schema.Verdict{reference}, "1: missing gsm8k v0"},
	} {
		r := gate.Review{Findings: gate.Findings{History: c.history, Targets: c.targets}}
		cover := (&gate.Gate{}).Coverage(&r)
		var gaps []string
		for _, g := range cover.Gaps {
			word := "missing"
			if g.Again {
				word = "again"
			}
			what := g.Key.Workload()
			if g.Key.IsEval() {
				what = g.Key.Dataset
			}
			gaps = append(gaps, strings.TrimSpace(word+" "+what+" "+g.Last))
		}
		text := strings.TrimSpace(fmt.Sprintf("%d: %s", cover.Measured, strings.Join(gaps, ", ")))
		if text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}
