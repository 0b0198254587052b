package render

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
)

// A release that fails by targets shows how far it misses them and how sure that is, on the scale of the tolerance.
// What changed against history has another scale and is not drawn beside it.
func TestMissedTargetsAreDrawn(t *testing.T) {
	t.Parallel()
	score := schema.Verdict{Against: schema.AgainstTarget, Outcome: schema.Fail, Ref: schema.Num(.8),
		Effect: schema.Num(.08), Interval: &[2]float64{.02, .14}, Reason: schema.EvalLimit{Tolerance: .05}}
	ttft := schema.Verdict{Against: schema.AgainstTarget, Outcome: schema.Fail, Metric: "ttft", Effect: schema.Num(.2),
		Interval: &[2]float64{.1, .3}, Reason: schema.Limit{Tolerance: .05}}
	once, exact, change := ttft, ttft, ttft
	once.Interval, exact.Reason = nil, schema.Limit{}
	change.Against, change.Reason = schema.AgainstHistory, schema.Change{Limit: .05}
	var r Report
	list, caption := r.whiskers([]schema.Verdict{once, exact, score, ttft, change})
	if len(list) != 2 || list[0].Limit != .05 || list[1].Effect != .2 || caption == "" {
		t.Fatalf("%+v, %q", list, caption)
	}
	for got, want := range map[float64]float64{list[0].Effect: .1, list[0].Low: .025, list[0].High: .175} {
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%v of the reference, want %v", got, want)
		}
	}
	if other, about := r.whiskers([]schema.Verdict{change, ttft}); len(other) != 1 || about == caption {
		t.Errorf("a change beside a target: %+v, %q", other, about)
	}
}
