package judge_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// notRemeasured are the verdicts of a release on what the one before measured and it did not.
func notRemeasured(j *judge.Judgement, release int) []schema.Verdict {
	return slices.DeleteFunc(j.History(release), func(v schema.Verdict) bool {
		return !schema.ReasonIs[schema.NotRemeasured](v.Reason)
	})
}

// What the release before measured and this one did not is shown, point by point.
func TestPointsThatVanished(t *testing.T) {
	values := judgetest.Steady(6)
	values[5][3], values[5][4] = 0, 0
	j := judged(t, judgetest.History{TTFT: values}.Columns(), nil)
	list := notRemeasured(j, 5)
	if len(list) != 2 {
		t.Errorf("%d of 2 points", len(list))
	}
	for _, v := range list {
		if v.Outcome != schema.NotMeasured || v.Baseline != "v4" || v.ID == "" || v.Metric != "" {
			t.Errorf("%+v", v)
		}
	}
	if list := notRemeasured(j, 4); len(list) != 0 {
		t.Errorf("nothing vanished in v4: %+v", list)
	}
}

// A metric that a point no longer has, or has under another name, is shown separately.
func TestMetricThatVanished(t *testing.T) {
	at := func(release string, day int) run {
		return run{
			release: release, start: judgetest.Day(day), key: judgetest.Key(1), ttft: []float64{10}, tpot: 5, tps: 100,
		}
	}
	c := build(at("v1", 1), at("v2", 2))
	p := &c.Points[1]
	stats, values := c.Span(p)
	for i, s := range stats {
		if c.Stats[s].Metric == "tpot" {
			values[i] = 0 // what no measurement gives is excluded, and so is not missing
		}
	}
	j := judged(t, c, nil)
	if list := notRemeasured(j, 1); len(list) > 0 {
		t.Errorf("shown already: %+v", list)
	}
	excluded := 0
	for _, v := range j.History(1) {
		if v.Outcome == schema.Excluded {
			excluded++
		}
	}
	if excluded != 1 {
		t.Errorf("%d excluded, want the zero alone", excluded)
	}
	var lost []string
	for _, v := range notRemeasured(judged(t, renamedMetric(), nil), 1) {
		lost = append(lost, v.Metric)
	}
	if fmt.Sprint(lost) != "[tpot]" {
		t.Errorf("%v", lost)
	}
}

// No failures is a measurement, and neither excluded nor missing; no time is none.
func TestNoFailuresIsMeasured(t *testing.T) {
	for metric, measured := range map[string]bool{
		"value{count,lower}": true, "errors{%,lower}": true, "value{ms,lower}": false, "value{count,higher}": false,
	} {
		b := columns.NewBuilder()
		for i, value := range []float64{3, 0} {
			key := judgetest.Key(1)
			p := columns.PointRow{Run: int32(i), Key: b.Key(key, key.String()), Repeat: 1, Status: 1}
			b.Begin(&p)
			b.Value(b.StatID(columns.StatID{Metric: metric, Stat: "value"}), value)
			b.End(p)
			name := fmt.Sprint("v", i)
			b.C.Runs = append(b.C.Runs, columns.RunHead{
				ID: name, Release: name, Start: judgetest.Day(i), Model: schema.Model{Name: judgetest.Model},
				Device: judgetest.Device, FirstPoint: i, PointsEnd: i + 1,
			})
		}
		j := judged(t, b.Seal(), nil)
		if list := j.History(1); (len(list) == 0) != measured {
			t.Errorf("0 of %s: %+v", metric, list)
		}
		if list := notRemeasured(j, 1); measured && len(list) > 0 {
			t.Errorf("0 of %s is missing: %+v", metric, list)
		}
	}
}

// A point of an excluded run that another run measured is checked like all others: metrics that this run lacks are
// shown.
func TestMetricThatTheOtherRunLacks(t *testing.T) {
	at := func(release string, day int, tpot float64) run {
		return run{
			release: release, start: judgetest.Day(day), key: judgetest.Key(1), ttft: []float64{10 + float64(day)/7},
			tpot: tpot, tps: 100,
		}
	}
	c := build(at("v1", 1, 5), at("v2", 2, 5), at("v3", 3, 0), at("v3", 4, 0))
	exclude := &decision.Policy{Decisions: []decision.Decision{{
		ID: "D", Kind: schema.Invalidate, Select: decision.Select{Run: c.Runs[2].ID}, Reason: "x",
	}}}
	j := judged(t, c, exclude)
	other := ""
	for _, v := range j.History(2) {
		if why, ok := v.Reason.(schema.ExcludedBy); ok {
			other = why.Other
		}
	}
	if other != c.Runs[3].ID {
		t.Errorf("measured by %q", other)
	}
	if list := notRemeasured(j, 2); len(list) != 1 || list[0].Metric != "tpot" || list[0].Baseline != "v2" {
		t.Errorf("%+v", list)
	}
}

// renamedMetric is a history in which TPOT is called ITL from the second release on.
func renamedMetric() *columns.Columns {
	b := columns.NewBuilder()
	k := judgetest.Key(1)
	for r, metric := range []string{"tpot", "itl"} {
		h := columns.RunHead{
			ID: metric, Release: fmt.Sprintf("v%d", r), Start: judgetest.Day(r + 1),
			Model: schema.Model{Name: judgetest.Model}, Device: judgetest.Device, FirstPoint: len(b.C.Points),
		}
		p := columns.PointRow{Run: int32(r), Key: b.Key(k, k.String()), Repeat: 1, Status: 1}
		b.Begin(&p)
		b.Value(b.StatID(columns.StatID{Metric: "ttft", Stat: "mean", Unit: "ms"}), 10)
		b.Value(b.StatID(columns.StatID{Metric: metric, Stat: "mean", Unit: "ms"}), 5)
		b.End(p)
		h.PointsEnd = len(b.C.Points)
		b.C.Runs = append(b.C.Runs, h)
	}
	return b.Seal()
}

// A system that was not measured at all is one finding, and a lost eval is one.
func TestSystemAndEvalThatVanished(t *testing.T) {
	s := judgetest.Share(.8, 500)
	c := judgetest.History{TTFT: judgetest.Steady(4), Scores: [][]schema.Score{{s}, {s}, {s}, {}}}.Columns()
	if list := notRemeasured(judged(t, c, nil), 3); len(list) != 1 || !list[0].Key.IsEval() ||
		list[0].Key.Dataset != "gsm8k" {
		t.Errorf("a lost eval: %+v", list)
	}
	c.Runs[3].Device = "n300"
	if list := notRemeasured(judged(t, c, nil), 3); len(list) != 1 || list[0].Device != judgetest.Device ||
		list[0].Key.IsEval() {
		t.Errorf("a lost system: %+v", list)
	}
}

// A model on a device that was last measured long ago is listed once, with that release, and no longer where it is
// measured again. A build of a branch measures what it changes.
func TestSystemsLongGone(t *testing.T) {
	var runs []run
	for i, release := range []string{"v1", "v1", "v2", "v3", "v4", "v5", "v5", "v6"} {
		runs = append(runs, run{
			release: release, start: judgetest.Day(i + 1), key: judgetest.Key(1), ttft: []float64{10}, tpot: 5, tps: 100,
		})
	}
	c := build(runs...)
	c.Runs[1].Device, c.Runs[6].Device, c.Runs[7].Channel = "t3k", "t3k", schema.ChannelPR
	j := judged(t, c, nil)
	for release, want := range []string{"", "v1 1", "v1 2", "v1 3", "", "v5 1"} {
		got := ""
		for _, v := range notRemeasured(j, release) {
			got += fmt.Sprintf("%s %d", v.Baseline, v.Reason.(schema.NotRemeasured).Releases)
			if v.Device != "t3k" || v.Outcome != schema.NotMeasured {
				t.Errorf("%+v", v)
			}
		}
		if got != want {
			t.Errorf("v%d: %q, want %q", release+1, got, want)
		}
	}
}

// A smoke run of one system leaves nothing out of the nights: a build is held to the build before of the same plan.
func TestSmokeRunsLeaveNothingOut(t *testing.T) {
	k := judgetest.Key(1)
	at := func(day, hour int, impl string) run {
		return run{channel: "main", start: judgetest.Day(day).Add(time.Duration(hour) * time.Hour), impl: impl, key: k,
			plan: []schema.Key{k}, ttft: []float64{10}, tps: 100}
	}
	j := judged(t, build(at(1, 0, "a"), at(1, 1, "b"), at(2, 0, "a"), at(2, 1, "b"), at(2, 12, "a"), at(3, 0, "a"),
		at(3, 1, "b"), at(3, 12, "a")), nil)
	got := ""
	for i := range j.Releases {
		got += fmt.Sprintf("%d ", len(notRemeasured(j, i)))
	}
	if got != "0 0 0 0 0 " {
		t.Errorf("not measured again: %s", got)
	}
}

// A failed attempt whose file does not say how long its prompts were, because none was answered, is the attempt at a
// workload that is missing: that workload is not counted a second time. One attempt is of one workload.
func TestFailedAttemptWithoutLengths(t *testing.T) {
	unknown := judgetest.Key(1)
	unknown.ISL, unknown.OSL = nil, nil
	unknown.Dims = map[string]string{schema.DimLabel: "c1"}
	other := judgetest.Key(1)
	isl := 2 * *other.ISL
	other.ISL = &isl
	at := func(release string, day int, key schema.Key, failed bool) run {
		return run{
			release: release, start: judgetest.Day(day), key: key, ttft: []float64{10}, tpot: 5, tps: 100, failed: failed,
		}
	}
	for _, c := range []struct {
		runs []run
		want int
	}{
		{[]run{at("v1", 1, judgetest.Key(1), false), at("v2", 2, unknown, true)}, 0},
		{[]run{at("v1", 1, judgetest.Key(1), false), at("v2", 2, judgetest.Key(8), true)}, 1},
		{[]run{at("v1", 1, judgetest.Key(1), false), at("v1", 1, other, false), at("v2", 2, unknown, true)}, 1},
	} {
		j := judged(t, build(c.runs...), nil)
		if list := notRemeasured(j, 1); len(list) != c.want {
			t.Errorf("%d, want %d: %+v", len(list), c.want, list)
		}
	}
}
