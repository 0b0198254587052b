package compare_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// historyOf is a history of three workloads with some TTFT, a release a row; the last workload has another condition
// and a window in the newest release.
func historyOf(rows [][3]float64) *columns.Columns {
	b := columns.NewBuilder()
	for i, row := range rows {
		first := len(b.C.Points)
		for k, v := range row {
			c := float64(k + 1)
			key := schema.Key{Task: "text", Tool: "vllm", ISL: new(128.), OSL: new(128.), Concurrency: &c}
			state := map[string]string{"endpoint": "chat"}
			if k == 2 && i == len(rows)-1 {
				state["endpoint"], state[schema.ConditionWindow] = "completions", "steady"
			}
			p := columns.PointRow{Run: int32(i), Key: b.Key(key, key.String()), Repeat: 1, Cond: b.Cond(state)}
			b.Begin(&p)
			b.Value(b.StatID(columns.StatID{Metric: "ttft", Stat: "mean", Unit: "ms"}), v)
			b.End(p)
		}
		b.C.Runs = append(b.C.Runs, columns.RunHead{
			ID: fmt.Sprint("run-", i), SHA256: fmt.Sprint(i), Release: fmt.Sprint("v", i), Model: schema.Model{Name: "m"},
			Device: "n150", Start: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC), FirstPoint: first, PointsEnd: len(b.C.Points),
		})
	}
	return b.Seal()
}

// What two releases come to beside each other: verdicts of the later one against its own baseline, means by metric, and
// a number whose conditions differ in neither.
func TestReleases(t *testing.T) {
	c := historyOf([][3]float64{{100, 50, 70}, {101, 50.1, 70.2}, {100.5, 49.9, 70}, {99.9, 50, 70.1}, {100, 50, 70},
		{150, 50, 90}})
	g, err := gate.New(context.Background(), c, judge.Releases(c, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := compare.Releases(g.Judgement, 4, 5)
	if got.A != "v4" || got.B != "v5" || got.Numbers != 2 || got.Unlike != 1 || got.Regressed != 1 || got.Improved != 0 {
		t.Errorf("%+v", got)
	}
	differ := []compare.Condition{
		{Name: "endpoint", A: "chat", B: "completions", N: 1}, {Name: "window", A: "whole", B: "steady", N: 1},
	}
	if !slices.Equal(got.Differ, differ) {
		t.Errorf("conditions %+v", got.Differ)
	}
	if len(got.Means) != 1 || got.Means[0].N != 2 || math.Abs(got.Means[0].Change-(math.Sqrt(1.5)-1)) > 1e-9 {
		t.Errorf("means %+v", got.Means)
	}
	r := compare.Sides(side("v4", key("vllm", 9), 100), side("v5", key("vllm", 9), 150))
	r.Judge(g.Findings(5).History)
	if v := r.Rows[0].Judged; v != nil { // another workload than that of the history
		t.Errorf("a verdict of another number: %+v", v)
	}
	k := schema.Key{Task: "text", Tool: "vllm", ISL: new(128.), OSL: new(128.), Concurrency: new(1.)}
	r = compare.Sides(side("v4", k, 100), side("v5", k, 150))
	r.Judge(g.Findings(5).History)
	if v := r.Rows[0].Judged; v == nil || v.Outcome != schema.Regressed {
		t.Errorf("the verdict is %+v", v)
	}
}
