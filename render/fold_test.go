package render_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
)

// One finding is one line: a point with all its metrics, and a change with all its points. What is confirmed
// heads what is suspected at the same point; what is no change stays apart.
func TestFold(t *testing.T) {
	number := func(workload, metric string, o schema.Outcome, e schema.Evidence, change string) schema.Verdict {
		return schema.Verdict{
			Model: "M", Device: "d", Key: schema.Key{Task: "eval", Dataset: workload}, Metric: metric, Stat: "mean",
			Outcome: o, Evidence: e, Change: change, Effect: schema.Num(.1),
		}
	}
	list := []schema.Verdict{
		number("a", "ttft", schema.Regressed, schema.Confirmed, ""),
		number("a", "e2el", schema.Regressed, schema.Confirmed, ""),
		number("b", "ttft", schema.Regressed, schema.Confirmed, ""),
		number("b", "tpot", schema.Regressed, schema.Suspected, ""),
		number("k", "tpot", schema.Regressed, schema.Suspected, ""),
		number("k", "ttft", schema.Regressed, schema.Confirmed, ""),
	}
	for _, w := range []string{"c", "d", "e", "f", "g"} {
		list = append(list, number(w, "ttft", schema.Regressed, schema.Suspected, "x"))
	}
	list = append(list, number("h", "ttft", schema.Inconclusive, schema.NoEvidence, ""),
		number("h", "tpot", schema.Inconclusive, schema.NoEvidence, ""))
	for _, w := range []string{"i", "j"} {
		gone := number(w, "", schema.NotMeasured, schema.NoEvidence, "")
		gone.Stat, gone.Effect = "", schema.Missing("not measured")
		gone.Reason = schema.NotRemeasured{Releases: 1}
		list = append(list, gone)
	}
	found := render.Fold(list, false)
	want := []string{
		"Also E2EL mean −10.0\u202fpp.", "Also TPOT mean −10.0\u202fpp (suspected).",
		"Also TPOT mean −10.0\u202fpp (suspected).",
		"Also d TTFT mean −10.0\u202fpp, e TTFT mean −10.0\u202fpp, f TTFT mean −10.0\u202fpp and 1 other number, " +
			"of 5 tasks in all.", "", "", "Also j, of 2 tasks in all.",
	}
	if len(found) != len(want) {
		t.Fatalf("%d findings, want %d", len(found), len(want))
	}
	for i := range want {
		if got := found[i].Folded(); got != want[i] {
			t.Errorf("finding %d: %q, want %q", i, got, want[i])
		}
	}
	if k := found[2]; k.Metric != "ttft" || k.Evidence != schema.Confirmed {
		t.Errorf("a point with a confirmed metric is headed by %s, %s", k.Metric, k.Evidence)
	}
	if n := len(render.Fold(list, true)); n != len(list) {
		t.Errorf("%d findings apart, want %d", n, len(list))
	}
}
