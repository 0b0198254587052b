package judge_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// target is a target for [judgetest.Key] at one request at a time.
func target(metric string, value, tolerance float64) schema.Target {
	stat := "mean"
	if metric != "ttft" {
		stat = "value"
	}
	k := judgetest.Key(1)
	k.Tool = ""
	return schema.Target{Key: k, Metric: metric, Stat: stat, Value: value, Level: schema.LevelTarget, Tolerance: tolerance}
}

// run is one run: a point for each TTFT with the given TPOT and throughput, all of one workload.
type run struct {
	release, status, impl, channel string

	start     time.Time
	targets   []schema.Target
	plan      []schema.Key
	ttft      []float64
	tpot, tps float64 // 0: none
	key       schema.Key
	failed    bool
}

// build makes columns of runs.
func build(runs ...run) *columns.Columns {
	b := columns.NewBuilder()
	for i, r := range runs {
		h := columns.RunHead{
			ID: r.release + string(rune('a'+i)), Release: r.release, Start: r.start, Impl: r.impl, Channel: r.channel,
			Model: schema.Model{Name: judgetest.Model, Status: r.status}, Device: judgetest.Device,
			FirstPoint: len(b.C.Points),
		}
		for _, v := range r.ttft {
			r.point(b, i, v)
		}
		h.PointsEnd = len(b.C.Points)
		for _, t := range r.targets {
			b.C.Targets = append(b.C.Targets, columns.TargetRow{Run: int32(i), Target: t})
		}
		for _, p := range r.plan {
			b.C.Plans = append(b.C.Plans, columns.PlanRow{Run: int32(i), Key: b.Key(p, p.String())})
		}
		b.C.Runs = append(b.C.Runs, h)
	}
	return b.Seal()
}

// point adds one measurement of a run.
func (r run) point(b *columns.Builder, at int, ttft float64) {
	p := columns.PointRow{Run: int32(at), Key: b.Key(r.key, r.key.String()), Repeat: 1, Status: 1}
	b.Begin(&p)
	if r.failed {
		p.Status, p.Reason = 3, b.Reason("no request completed")
	} else {
		b.Value(b.StatID(columns.StatID{Metric: "ttft", Stat: "mean", Unit: "ms"}), ttft)
		if r.tpot != 0 {
			b.Value(b.StatID(columns.StatID{Metric: "tpot", Stat: "mean", Unit: "ms"}), r.tpot)
		}
		if r.tps != 0 {
			b.Value(b.StatID(columns.StatID{Metric: "output_tps", Stat: "value", Unit: "tok/s"}), r.tps)
		}
	}
	b.End(p)
}

// graded are the newest release's verdicts against targets, judged with its whole history.
func graded(t *testing.T, c *columns.Columns) []schema.Verdict {
	t.Helper()
	j := judged(t, c, nil)
	return j.Targets(len(j.Releases)-1, judgetest.Pair())
}

// outcomes are the verdicts in short: "ttft/target pass, no-target".
func outcomes(list []schema.Verdict) string {
	var out []string
	for _, v := range list {
		out = append(out, strings.Trim(fmt.Sprintf("%s/%s %s", v.Metric, v.Level, v.Outcome), "/ "))
	}
	return strings.Join(out, ", ")
}

func TestTargets(t *testing.T) {
	ttft := func(limit, tolerance float64) []schema.Target {
		return []schema.Target{target("ttft", limit, tolerance)}
	}
	user := func(limit, tolerance float64) []schema.Target {
		return []schema.Target{target("tps_user", limit, tolerance)}
	}
	one := []float64{1}
	rtr := []schema.Target{target("rtr", 100, 0)}
	beyond := []schema.Target{target("output_tps", 5329, 0), target("tps_user", 50, 0)}
	for _, c := range []struct {
		name, want string
		r          run
	}{
		{"met", "ttft/target pass", run{ttft: []float64{99}, targets: ttft(100, 0)}},
		{"met exactly", "ttft/target pass", run{ttft: []float64{100}, targets: ttft(100, 0)}},
		{"met exactly, three times", "ttft/target pass", run{ttft: []float64{100, 100, 100}, targets: ttft(100, 0)}},
		{"met exactly by a rate", "tps_user/target pass",
			run{ttft: []float64{1, 1, 1}, tpot: 1000 / 37., targets: user(37, 0)}},
		{"missed", "ttft/target fail", run{ttft: []float64{101}, targets: ttft(100, 0)}},
		{"within tolerance", "ttft/target pass", run{ttft: []float64{104}, targets: ttft(100, .05)}},
		{"beyond tolerance", "ttft/target fail", run{ttft: []float64{106}, targets: ttft(100, .05)}},
		{"a rate is met from above", "tps_user/target pass", run{ttft: one, tpot: 40, targets: user(25, 0)}},
		{"a rate within tolerance", "tps_user/target pass", run{ttft: one, tpot: 41, targets: user(25, .05)}},
		{"a rate missed", "tps_user/target fail", run{ttft: one, tpot: 41, targets: user(25, 0)}},
		{"three repeats, clear", "ttft/target pass", run{ttft: []float64{90, 91, 92}, targets: ttft(100, 0)}},
		{"three repeats across the limit", "ttft/target inconclusive",
			run{ttft: []float64{90, 99, 108}, targets: ttft(100, 0)}},
		{"a crash is not a zero", "ttft/target missing", run{ttft: []float64{0}, failed: true, targets: ttft(100, 0)}},
		{"another workload", "ttft/target missing, no-target",
			run{key: judgetest.Key(32), ttft: one, targets: ttft(100, 0)}},
		{"no target", "no-target", run{ttft: one}},
		{"a metric that no tool measures", "rtr/target no-target", run{ttft: one, targets: rtr}},
		{"more output than users can have", "output_tps/target unattainable, tps_user/target pass",
			run{ttft: one, tpot: 10, tps: 90, targets: beyond}},
		{"planned and not measured", "no-target, missing",
			run{ttft: one, plan: []schema.Key{judgetest.Key(1), judgetest.Key(8)}}},
	} {
		if c.r.key.Task == "" {
			c.r.key = judgetest.Key(1)
		}
		if got := outcomes(graded(t, build(c.r))); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The reason of a graded number has the numbers that it was compared with.
func TestReasonsOfTargets(t *testing.T) {
	limit := []schema.Target{target("ttft", 100, .05)}
	beyond := []schema.Target{target("output_tps", 5329, 0), target("tps_user", 50, 0)}
	for name, c := range map[string]struct {
		r    run
		want schema.Reason
	}{
		"one run": {run{ttft: []float64{99}, targets: limit},
			schema.Limit{Interval: schema.FromNothing, Tolerance: .05, Runs: 1}},
		"above the ceiling": {run{ttft: []float64{99}, targets: beyond},
			schema.AboveCeiling{Target: 5329, Ceiling: 50, User: 50, Concurrency: 1}},
		"not measured": {run{key: judgetest.Key(32), ttft: []float64{99}, targets: limit}, schema.TargetNotMeasured{}},
		"a crash": {run{ttft: []float64{0}, failed: true, targets: limit},
			schema.NoNumber{Why: "no request completed"}},
		"no target": {run{ttft: []float64{99}}, schema.NoTargetFor{}},
		"a metric that no tool measures": {run{ttft: []float64{99}, targets: []schema.Target{target("rtr", 1, 0)}},
			schema.MetricNotMeasured{Metric: "rtr"}},
	} {
		if c.r.key.Task == "" {
			c.r.key = judgetest.Key(1)
		}
		if v := graded(t, build(c.r))[0]; v.Reason != c.want {
			t.Errorf("%s: %+v, want %+v", name, v.Reason, c.want)
		}
	}
	repeats := graded(t, build(run{key: judgetest.Key(1), ttft: []float64{90, 91, 92}, targets: limit}))[0]
	why, _ := repeats.Reason.(schema.Limit)
	// The noise is that of the mean of the three: their standard deviation, a hundredth, over √3.
	if why.Interval != schema.FromRepeats || why.Runs != 3 || !near(why.Noise, .01099/math.Sqrt(3), .01) {
		t.Errorf("%+v", why)
	}
}

// The interval of a graded number has the noise of its history.
func TestIntervalFromHistory(t *testing.T) {
	var runs []run
	for i, v := range []float64{99, 101, 100, 98, 102, 101, 99, 100} {
		runs = append(runs, run{
			release: fmt.Sprintf("v%d", i), start: judgetest.Day(i + 1), key: judgetest.Key(1), ttft: []float64{v},
			tpot: 10, tps: 90,
		})
	}
	for limit, want := range map[float64]schema.Outcome{
		90: schema.Fail, 99: schema.Fail, 101: schema.Inconclusive, 110: schema.Pass,
	} {
		runs[len(runs)-1].targets = []schema.Target{target("ttft", limit, 0)}
		v := graded(t, build(runs...))[0]
		why, _ := v.Reason.(schema.Limit)
		if v.Outcome != want || why.Chance != (limit == 99 || limit == 101) || why.Interval != schema.FromOwn ||
			!(why.Noise > .005 && why.Noise < .04) {
			t.Errorf("%g: %s, %+v", limit, v.Outcome, why)
		}
		if value, _ := v.Value.Get(); v.Interval == nil || v.Interval[0] > value/limit-1 || v.Interval[1] < value/limit-1 {
			t.Errorf("%g: %v", limit, v.Interval)
		}
	}
}

// Repeating a measurement until it passes does not help: all runs of a release count together.
func TestRunsOfAReleaseCountTogether(t *testing.T) {
	tg := []schema.Target{target("ttft", 100, 0)}
	list := graded(t, build(
		run{release: "v1", key: judgetest.Key(1), ttft: []float64{120}, targets: tg},
		run{release: "v1", key: judgetest.Key(1), ttft: []float64{95}, targets: tg},
	))
	if len(list) != 1 || list[0].Outcome != schema.Fail || list[0].N != 2 {
		t.Fatalf("%+v", list)
	}
	if got, _ := list[0].Value.Get(); math.Abs(got-math.Sqrt(120*95)) > 1e-9 {
		t.Errorf("value %v", got)
	}
}

// Two implementations are two products: a limit holds for each, not for their mean.
func TestTargetsDoNotAverageImplementations(t *testing.T) {
	tg := []schema.Target{target("ttft", 120, 0)}
	c := build(
		run{release: "v1", status: "COMPLETE", impl: "a", key: judgetest.Key(1), ttft: []float64{60}, targets: tg},
		run{release: "v1", status: "COMPLETE", impl: "b", key: judgetest.Key(1), ttft: []float64{200}, targets: tg},
	)
	got := map[string]schema.Outcome{}
	ids := map[string]bool{}
	for _, v := range graded(t, c) {
		if v.Metric == "ttft" {
			got[v.Impl] = v.Outcome
			ids[v.ID] = true
		}
	}
	if fmt.Sprint(got) != "map[a:pass b:fail]" || len(ids) != 2 {
		t.Errorf("%v, %d ids", got, len(ids))
	}
}

func TestRequired(t *testing.T) {
	for status, want := range map[string]string{
		"": "", "EXPERIMENTAL": "", "FUNCTIONAL": "functional", "COMPLETE": "functional complete",
		"TOP_PERF": "functional complete target",
	} {
		var got []string
		for _, l := range schema.Levels() {
			if judge.Required(status, l) {
				got = append(got, l)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q requires %v, want %s", status, got, want)
		}
		if judge.Required(status, schema.LevelReference) != (want != "") {
			t.Errorf("%q: reference scores", status)
		}
	}
}

// A priority that the source of a target states decides before the model's status.
func TestPriorityDecidesBeforeStatus(t *testing.T) {
	for priority, want := range map[string]bool{"must": true, "should": false, "": true} {
		tt := target("ttft", 100, 0)
		tt.Priority = priority
		r := run{status: "TOP_PERF", key: judgetest.Key(1), ttft: []float64{99}, targets: []schema.Target{tt}}
		if v := graded(t, build(r))[0]; v.Required != want {
			t.Errorf("%q: required %v", priority, v.Required)
		}
	}
}

// Targets that differ from those of the release before.
func TestTargetChanges(t *testing.T) {
	at := func(release string, day int, limits ...schema.Target) run {
		return run{release: release, start: judgetest.Day(day), key: judgetest.Key(1), ttft: []float64{9}, targets: limits}
	}
	j := judged(t, build(
		at("v1", 1, target("ttft", 100, 0), target("e2el", 900, 0)),
		at("v2", 2, target("ttft", 200, 0), target("tps_user", 20, 0)),
		at("v3", 3, target("ttft", 200, 0), target("tps_user", 20, 0)),
	), nil)
	changes, since := j.TargetChanges(1)
	got := map[string][2]string{}
	for _, c := range changes {
		value := func(n schema.Number) string {
			if v, ok := n.Get(); ok {
				return fmt.Sprint(v)
			}
			return n.Why()
		}
		got[c.Metric] = [2]string{value(c.Was), value(c.Is)}
	}
	want := map[string][2]string{
		"ttft": {"100", "200"}, "e2el": {"900", "none any more"}, "tps_user": {"none before", "20"},
	}
	if since != "v1" || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("since %s: %v", since, got)
	}
	if changes, since := j.TargetChanges(2); len(changes) != 0 || since != "v2" {
		t.Errorf("%v since %s", changes, since)
	}
	if changes, since := j.TargetChanges(0); changes != nil || since != "" {
		t.Errorf("%v since %q", changes, since)
	}
}
