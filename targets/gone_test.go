package targets_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets"
)

// decided weighs a release as the gate does.
func decided(j *targets.Judgement, release int) targets.Decided {
	return targets.Decide(targets.Findings{History: j.History(release), Lints: j.Lints(release)}, targets.DefaultFailOn())
}

func lint(list []schema.Lint, id string) *schema.Lint {
	for i := range list {
		if list[i].ID == id {
			return &list[i]
		}
	}
	return nil
}

// What the release before measured and this one did not is said, point by point, and keeps the gate from the plain word.
func TestWhatVanishedIsTold(t *testing.T) {
	values := steady(6)
	values[5][3], values[5][4] = 0, 0
	j := judged(t, made{ttft: values}.columns(), nil)
	gone := 0
	for _, v := range j.History(5) {
		if v.Reason.Code == "gone" {
			gone++
			if v.Word != schema.MissingWord || v.Baseline != "v4" || v.ID == "" {
				t.Errorf("%+v", v)
			}
		}
	}
	if d := decided(j, 5); gone != 2 || d.Word != targets.FitWithNotes {
		t.Errorf("%d gone, %s", gone, d.Word)
	}
	if d := targets.Decide(targets.Findings{History: j.History(5)}, targets.FailOn{targets.FailGone: true}); d.Word != targets.NotFit {
		t.Errorf("--fail-on gone: %s", d.Word)
	}
	if d := decided(j, 4); d.Word != targets.Fit {
		t.Errorf("nothing vanished in v4: %+v", d)
	}
}

// A metric that a point no longer has, or has under another name, is told by itself.
func TestLostMetric(t *testing.T) {
	c := build(run{release: "v1", start: day(1), key: key(1), ttft: []float64{10}, tpot: 5, tps: 100}, run{release: "v2", start: day(2), key: key(1), ttft: []float64{10}, tpot: 5, tps: 100})
	p := &c.Points[1]
	stats, values := c.Span(p)
	for i, s := range stats {
		if c.Stats[s].Metric == "tpot" {
			values[i] = 0 // what no measurement gives is invalid, and so is not gone
		}
	}
	invalid := 0
	for _, v := range judged(t, c, nil).History(1) {
		if v.Reason.Code == "gone" {
			t.Errorf("said already: %+v", v)
		}
		if v.Word == schema.Invalid {
			invalid++
		}
	}
	if invalid != 1 {
		t.Errorf("%d invalid, want the zero alone", invalid)
	}
	b := columns.NewBuilder()
	k := key(1)
	for r, metric := range []string{"tpot", "itl"} {
		h := columns.RunHead{ID: metric, Release: fmt.Sprintf("v%d", r), Start: day(r + 1), Model: schema.Model{Name: "M"}, Device: "n150", FirstPoint: len(b.C.Points)}
		p := columns.PointRow{Run: int32(r), Key: b.Key(k, k.String()), Repeat: 1, Status: 1}
		b.Begin(&p)
		b.Value(b.StatID(columns.StatID{Metric: "ttft", Stat: "mean", Unit: "ms"}), 10)
		b.Value(b.StatID(columns.StatID{Metric: metric, Stat: "mean", Unit: "ms"}), 5)
		b.End(p)
		h.PointsEnd = len(b.C.Points)
		b.C.Runs = append(b.C.Runs, h)
	}
	var lost []string
	for _, v := range judged(t, b.Seal(), nil).History(1) {
		if v.Reason.Code == "gone" {
			lost = append(lost, v.Metric)
		}
	}
	if fmt.Sprint(lost) != "[tpot]" {
		t.Errorf("%v", lost)
	}
}

// A system that was not measured at all is one finding, and a lost eval is one.
func TestLostSystemAndEval(t *testing.T) {
	s := score(.8, 500, "", nil)
	m := made{ttft: steady(4), scores: [][]schema.Score{{s}, {s}, {s}, {}}}
	c := m.columns()
	found := func(j *targets.Judgement) (out []schema.Verdict) {
		for _, v := range j.History(3) {
			if v.Reason.Code == "gone" {
				out = append(out, v)
			}
		}
		return out
	}
	if list := found(judged(t, c, nil)); len(list) != 1 || !targets.IsEval(list[0].Key) || list[0].Key.Dataset != "gsm8k" {
		t.Errorf("a lost eval: %+v", list)
	}
	c.Runs[3].Device = "n300"
	if list := found(judged(t, c, nil)); len(list) != 1 || list[0].Device != "n150" || targets.IsEval(list[0].Key) {
		t.Errorf("a lost system: %+v", list)
	}
}

// A task keeps its metric: a later name changes nothing of what was said, and the old one is told as gone.
func TestEvalKeepsItsMetric(t *testing.T) {
	acc := func(p float64) schema.Score {
		return schema.Score{Task: "gsm8k", Metric: "acc", Value: schema.Num(p), N: 500, Total: 500, Direction: "higher"}
	}
	scores := [][]schema.Score{{acc(.8)}, {acc(.81)}, {acc(.8)}, {acc(.79)}, {acc(.2)}}
	fall := func(m made) schema.Verdict {
		for _, v := range judged(t, m.columns(), nil).History(4) {
			if targets.IsEval(v.Key) {
				return v
			}
		}
		return schema.Verdict{}
	}
	before := fall(made{ttft: steady(5), scores: scores})
	longer := made{ttft: steady(6), scores: append(scores, []schema.Score{score(.2, 500, "", nil)})}
	if after := fall(longer); before.Word != schema.Worse || after.Word != schema.Worse || after.Evidence != "probable" {
		t.Errorf("before %s, after %s %s", before.Word, after.Word, after.Evidence)
	}
	gone := false
	for _, v := range judged(t, longer.columns(), nil).History(5) {
		gone = gone || v.Reason.Code == "gone" && v.Metric == "acc"
	}
	if !gone {
		t.Error("nobody is told that acc is no longer reported")
	}
}

// A build beside its base's own suspect is watched.
func TestBuildIsNotBlamedForItsBasesEval(t *testing.T) {
	good, bad := []schema.Score{score(.8, 800, "", nil)}, []schema.Score{score(.5, 800, "", nil)}
	m := made{ttft: steady(6), scores: [][]schema.Score{good, good, good, good, bad, bad}, channels: []string{"", "", "", "", "", schema.ChannelPR}}
	for _, v := range judged(t, m.columns(), nil).History(5) {
		if targets.IsEval(v.Key) && (v.Word != schema.Watch || v.Reason.Code != "base-suspect" || v.First != "v4") {
			t.Errorf("%+v", v)
		}
	}
}

// A copy of a run confirms nothing, under its own id or another, and other numbers under one id are an error.
func TestCopiesConfirmNothing(t *testing.T) {
	values := steady(7)
	for w := range values[5] {
		if w == 2 {
			values[5][w], values[6][w] = values[5][w]*1.3, values[5][w]*1.3
		} else {
			values[6][w] = values[5][w]
		}
	}
	for name, id := range map[string]string{"same id": "run-5", "another id": "other", "renamed by the load": "run-5~2", "undated": "undated"} {
		c := made{ttft: values}.columns()
		h := &c.Runs[6]
		h.ID, h.Release, h.Start = id, "v5", c.Runs[5].Start
		switch name {
		case "renamed by the load":
			h.Stated, h.Start = "run-5", h.Start.AddDate(0, 0, 1)
		case "undated":
			c.Runs[5].Start, h.Start = time.Time{}, time.Time{}
		}
		j := judged(t, c, nil)
		v := find(j.History(5), "128/128/3")
		if v.Evidence != "probable" {
			t.Errorf("%s: %s %s", name, v.Word, v.Evidence)
		}
		if l := lint(j.Lints(5), "twice"); l == nil || l.Severity != schema.SevWarning {
			t.Errorf("%s: %+v", name, l)
		}
	}
	c := made{ttft: steady(7)}.columns()
	c.Runs[6].ID, c.Runs[6].Release, c.Runs[6].Start = "run-5", "v5", c.Runs[5].Start
	if l := lint(judged(t, c, nil).Lints(5), "twice"); l == nil || l.Severity != schema.SevError {
		t.Errorf("other numbers under one id: %+v", l)
	}
}

// Two implementations are two products: a limit holds for each, not for their mean.
func TestTargetsDoNotAverageImplementations(t *testing.T) {
	tt := target("ttft", schema.LevelFunctional, 120, 0)
	c := build(run{release: "v1", status: "COMPLETE", key: key(1), ttft: []float64{60}, targets: []schema.Target{tt}}, run{release: "v1", status: "COMPLETE", key: key(1), ttft: []float64{200}, targets: []schema.Target{tt}})
	c.Runs[0].Impl, c.Runs[1].Impl = "a", "b"
	got := map[string]string{}
	ids := map[string]bool{}
	for _, v := range judge(t, c) {
		if v.Metric == "ttft" {
			got[v.Impl] = v.Word
			ids[v.ID] = true
		}
	}
	if fmt.Sprint(got) != "map[a:pass b:fail]" || len(ids) != 2 {
		t.Errorf("%v, %d ids", got, len(ids))
	}
}

// An eval that is asked again until it fits does not.
func TestEvalTargetsCountEveryRun(t *testing.T) {
	tt := schema.Target{Key: schema.Key{Task: "eval", Dataset: "gsm8k"}, Metric: "exact_match", Value: .85, Level: schema.LevelFunctional, Priority: "must"}
	m := made{ttft: [][]float64{{10}, {10}}, scores: [][]schema.Score{{score(.5, 800, "", nil)}, {score(.95, 800, "", nil)}}}
	c := m.columns()
	c.Runs[1].Release = "v0"
	c.Targets = append(c.Targets, columns.TargetRow{Run: 0, Target: tt}, columns.TargetRow{Run: 1, Target: tt})
	for _, v := range judged(t, c, nil).Targets(0, "M", "n150") {
		if targets.IsEval(v.Key) {
			if x, _ := v.Value.Get(); v.Word != schema.Fail || math.Abs(x-.725) > 1e-9 {
				t.Errorf("%s %v", v.Word, x)
			}
			return
		}
	}
	t.Error("no verdict on the eval")
}

// Listing some releases orders them among themselves and leaves one order for all, every time.
func TestPartOfTheReleasesListed(t *testing.T) {
	c := made{ttft: steady(3)}.columns()
	listed := []targets.Configured{{Name: "v2"}, {Name: "v0"}}
	for range 20 {
		var got string
		for _, r := range targets.Releases(c, listed) {
			got += r.Name + " "
		}
		if got != "v2 v1 v0 " {
			t.Fatal(got)
		}
	}
	c.Runs[2].Start = time.Time{}
	rel := targets.Releases(c, nil)
	if rel[2].Name != "v2" {
		t.Errorf("a run without a start stands before those that have one: %s", rel[2].Name)
	}
	j, err := targets.New(context.Background(), c, rel, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lint(j.Lints(2), "no-start") == nil {
		t.Error("nobody is told that the run has no start")
	}
}

// What the list of releases or a channel does to a release's place is told.
func TestOddPlacesInTheOrder(t *testing.T) {
	c := made{ttft: steady(5)}.columns()
	c.Runs[2].Channel = "nightly-ish"
	listed := []targets.Configured{{Name: "v0", Line: "main"}, {Name: "v1", Line: "main"}, {Name: "v3", Line: "main"}, {Name: "v33"}}
	releases := targets.Releases(c, listed)
	j, err := targets.New(context.Background(), c, releases, nil)
	if err != nil {
		t.Fatal(err)
	}
	j.Listed = listed
	for r, want := range map[int][]string{3: {"v33"}, 4: {"v4", "v33"}} {
		var got []string
		for _, l := range j.Lints(r) {
			if l.ID == "release-list" {
				got = append(got, l.Subject)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", releases[r].Name, got, want)
		}
	}
	if lint(j.Lints(2), "channel") == nil {
		t.Error("nobody is told of a channel that serves as no baseline")
	}
}

// A build keeps the baseline it had when main gets builds later.
func TestLaterMainChangesNoBuild(t *testing.T) {
	m := made{ttft: steady(5), channels: []string{"", "", "", schema.ChannelPR}}
	values := m.ttft
	values[3][1] *= 1.3
	before := find(judged(t, m.columns(), nil).History(3), "128/128/2")
	m.channels = append(m.channels, schema.ChannelMain)
	after := find(judged(t, m.columns(), nil).History(3), "128/128/2")
	if before.Word != schema.Worse || after.Word != before.Word || after.Baseline != before.Baseline {
		t.Errorf("%s %s, then %s %s", before.Word, before.Baseline, after.Word, after.Baseline)
	}
}

// Decisions that have expired fail, and those that select nothing in the release they name are told.
func TestIdleAndExpiredDecisions(t *testing.T) {
	d := func(id, expires string, s targets.Select) targets.Decision {
		return targets.Decision{ID: id, Kind: targets.Waive, Release: "v4", Select: s, Reason: "r", Owner: "o", Expires: expires}
	}
	p := &targets.Policy{Today: day(20), Decisions: []targets.Decision{d("old", "2026-01-01", targets.Select{Model: "M"}), d("lint", "2027-01-01", targets.Select{Lint: "hollow"}), d("metric", "2027-01-01", targets.Select{Metric: "nosuch"}), d("used", "2027-01-01", targets.Select{Metric: "ttft"})}}
	j := judged(t, made{ttft: steady(5)}.columns(), p)
	said := map[string]bool{}
	for _, l := range j.Lints(4) {
		if l.ID == "unused-decision" {
			said[l.Subject[:3]] = true
		}
	}
	if !said["old"] || !said["lin"] || !said["met"] || said["use"] {
		t.Errorf("%v", said)
	}
	if w := decided(j, 4).Word; w != targets.NotFit {
		t.Errorf("an expired decision of this release: %s", w)
	}
	if w := decided(j, 3).Word; w != targets.Fit {
		t.Errorf("one of another release: %s", w)
	}
}
