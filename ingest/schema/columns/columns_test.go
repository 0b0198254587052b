package columns_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// point adds a point with statistics of TTFT to the last run; its key has a concurrency.
func point(b *columns.Builder, run int32, c float64, stats map[string]float64) {
	k := schema.Key{Task: "text", Tool: "vllm", Concurrency: &c}
	p := columns.PointRow{Run: run, Repeat: 1, Key: b.Key(k, k.String()), Status: 1}
	p.Cond = b.Cond(columns.Conditions{"seed": fmt.Sprint(c), "streaming": "true"})
	if len(stats) == 0 {
		p.Status, p.Reason = 3, b.Reason("the server was down")
	}
	b.Begin(&p)
	for _, name := range []string{"mean", "p99"} {
		if v, ok := stats[name]; ok {
			b.Value(b.StatID(columns.StatID{Metric: "ttft", Stat: name, Unit: "ms", Def: schema.DefFirstChunk}), v)
		}
	}
	b.End(p)
}

// addRun adds a run with two points, a score, a target, a planned key and a problem; its numbers begin at base.
func addRun(b *columns.Builder, id string, base float64) {
	run := int32(len(b.C.Runs))
	head := columns.RunHead{ID: id, Path: "history/" + id + ".json", FirstPoint: len(b.C.Points)}
	point(b, run, base, map[string]float64{"mean": base, "p99": base + 1})
	point(b, run, base+1, nil)
	head.PointsEnd = len(b.C.Points)
	b.C.Runs = append(b.C.Runs, head)
	b.C.Scores = append(b.C.Scores, columns.ScoreRow{Run: run, Score: schema.Score{Task: "task of " + id}})
	b.C.Targets = append(b.C.Targets, columns.TargetRow{Run: run, Target: schema.Target{Value: base}})
	k := schema.Key{Task: "planned", Tool: id}
	b.C.Plans = append(b.C.Plans, columns.PlanRow{Run: run, Key: b.Key(k, k.String())})
	b.C.Problems = append(b.C.Problems, columns.ProblemRow{Run: run, Problem: schema.Problem{Code: "of-" + id}})
}

// dump writes everything that a run has, by names and not by indexes.
func dump(c *columns.Columns, run int) string {
	var b strings.Builder
	h := &c.Runs[run]
	fmt.Fprintln(&b, h.ID)
	for i := h.FirstPoint; i < h.PointsEnd; i++ {
		p := &c.Points[i]
		fmt.Fprint(&b, p.Run == int32(run), " ", c.KeyName(p.Key), " ", p.StatusWord(), " ", c.Conds[p.Cond], " ")
		fmt.Fprint(&b, c.Reasons[p.Reason])
		c.Values(p, func(id columns.StatID, v float64) { fmt.Fprint(&b, " ", id, "=", v) })
		fmt.Fprintln(&b)
	}
	for _, s := range c.ScoresOf(run) {
		fmt.Fprintln(&b, s.Task)
	}
	for _, t := range c.TargetsOf(run) {
		fmt.Fprintln(&b, t.Target.Value)
	}
	for _, p := range c.PlanOf(run) {
		fmt.Fprintln(&b, c.KeyName(p.Key))
	}
	for _, p := range c.Problems {
		if p.Run == int32(run) {
			fmt.Fprintln(&b, p.Code)
		}
	}
	return b.String()
}

func TestBuilderInterns(t *testing.T) {
	b := columns.NewBuilder()
	addRun(b, "a", 1)
	addRun(b, "b", 1)
	c := b.Seal()
	if len(c.Keys) != 4 || len(c.Stats) != 2 || len(c.Reasons) != 2 {
		t.Errorf("%d keys, %d statistics, %d reasons", len(c.Keys), len(c.Stats), len(c.Reasons))
	}
	if len(c.Conds) != 2 || c.Conds[1]["seed"] != "" || c.Conds[1]["streaming"] != "true" {
		t.Errorf("conditions %v: a seed is none", c.Conds)
	}
}

func TestValue(t *testing.T) {
	b := columns.NewBuilder()
	addRun(b, "a", 5)
	c := b.Seal()
	if v, def := c.Value(&c.Points[0], "ttft", "p99"); def != schema.DefFirstChunk {
		t.Errorf("definition %q", def)
	} else if x, ok := v.Get(); !ok || x != 6 {
		t.Errorf("p99 %v", v)
	}
	for i, why := range []string{"not in the file", "the server was down"} {
		if v, _ := c.Value(&c.Points[i], "tpot", "mean"); v.Why() != why {
			t.Errorf("point %d: %q, want %q", i, v.Why(), why)
		}
	}
	if stats, values := c.Span(&c.Points[1]); len(stats)+len(values) != 0 {
		t.Errorf("a failed point has %v", values)
	}
}

func TestAppendRunsRenumbers(t *testing.T) {
	first, second := columns.NewBuilder(), columns.NewBuilder()
	addRun(first, "a", 1)
	addRun(first, "b", 10)
	addRun(second, "x", 10)
	addRun(second, "y", 100)
	c1, c2 := first.Seal(), second.Seal()
	b := columns.NewBuilder()
	b.AppendRuns(c2, []int{1, 0})
	b.AppendRuns(c1, []int{1})
	merged := b.Seal()
	for i, want := range []string{dump(c2, 1), dump(c2, 0), dump(c1, 1)} {
		if got := dump(merged, i); got != want {
			t.Errorf("run %d:\n%swant\n%s", i, got, want)
		}
	}
	if len(merged.Runs) != 3 {
		t.Errorf("%d runs", len(merged.Runs))
	}
	if got := fmt.Sprint(merged.ByPath()); got != "[2 1 0]" {
		t.Errorf("runs by path: %s", got)
	}
}

// Statistics beyond those that 16 bits can number share one name, which the load reports.
func TestTooManyStatistics(t *testing.T) {
	b := columns.NewBuilder()
	for i := range math.MaxUint16 + 10 {
		b.StatID(columns.StatID{Metric: "m", Stat: fmt.Sprint(i)})
	}
	if got := b.StatID(columns.StatID{Metric: "m", Stat: "one more"}); b.C.Stats[got] != columns.TooManyStats() {
		t.Errorf("%d is %v", got, b.C.Stats[got])
	}
	if got := b.StatID(columns.StatID{Metric: "m", Stat: "7"}); got != 7 {
		t.Errorf("a known statistic is now %d", got)
	}
}
