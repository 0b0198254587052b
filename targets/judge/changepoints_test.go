package judge_test

import (
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// shifted is a history in which workload 1 is on another level from release 6 on.
func shifted() *columns.Columns {
	values := judgetest.Steady(12)
	for r := 6; r < 12; r++ {
		values[r][0] *= 1.3
	}
	return judgetest.History{TTFT: values}.Columns()
}

// dismiss is the decision that no level of workload 1 begins at v6.
func dismiss() *decision.Policy {
	return &decision.Policy{Decisions: []decision.Decision{{
		ID: "D-1", Kind: schema.Dismiss, Release: "v6", Reason: "the room was hot",
		Select: decision.Select{Workload: judgetest.Workload(1)},
	}}}
}

func TestChangePoints(t *testing.T) {
	j := judged(t, shifted(), nil)
	points := j.ChangePoints(11, "", "")
	if len(points) != 1 || points[0].At != "v6" {
		t.Fatalf("%+v", points)
	}
	if e := points[0].Effect; e < .28 || e > .32 {
		t.Errorf("effect %v", e)
	}
	if v := judgetest.Find(j.History(11), judgetest.Workload(1)); v.Outcome != schema.Unchanged {
		t.Errorf("within its new level it is %s", v.Outcome)
	}
	if points := j.ChangePoints(11, judgetest.Model, "t3k"); len(points) != 0 {
		t.Errorf("of another device: %+v", points)
	}
	if points := j.ChangePoints(5, "", ""); len(points) != 0 {
		t.Errorf("found in a release before it: %+v", points)
	}
}

// A dismissed level does not begin, whatever found it, and is in the list of change points with its reason.
func TestDismissedLevels(t *testing.T) {
	j := judged(t, shifted(), dismiss())
	// A dismissed change is not noise either: if it continues, it is shown again as clearly as the first time.
	again := 0
	for r := 8; r < 12; r++ {
		v := judgetest.Find(j.History(r), judgetest.Workload(1))
		if e, _ := v.Effect.Get(); v.Outcome == schema.Regressed && e > .25 {
			again++
		}
		if len(j.LargeDrifts(r)) > 0 {
			t.Errorf("v%d: a change point is called a drift", r)
		}
	}
	if again == 0 {
		t.Error("the change went on after its dismissal and nothing shows it")
	}
	points := j.ChangePoints(11, "", "")
	shown := false
	for _, p := range points {
		if p.At == "v6" && p.Decision == nil {
			t.Error("the new level began although it was dismissed")
		}
		shown = shown || p.At == "v6" && p.Decision != nil && p.Decision.Reason == "the room was hot"
	}
	if !shown {
		t.Errorf("%+v", points)
	}
	// A dismissal is listed even if nothing was found.
	quiet := judged(t, judgetest.History{TTFT: judgetest.Steady(12)}.Columns(), dismiss())
	if points := quiet.ChangePoints(11, "", ""); len(points) != 1 || points[0].Decision == nil {
		t.Errorf("%+v", points)
	}
}

// A pin begins a level at its release: nothing before it is a baseline.
func TestPinnedLevel(t *testing.T) {
	pin := dismiss()
	pin.Decisions[0].Kind = schema.Pin
	j := judged(t, shifted(), pin)
	v := judgetest.Find(j.History(6), judgetest.Workload(1))
	if v.Outcome != schema.NoBaseline || change(t, v).Why != schema.WhyPinned {
		t.Errorf("%s %+v", v.Outcome, v.Reason)
	}
	if v := judgetest.Find(j.History(7), judgetest.Workload(1)); v.Baseline != "v6" || v.Outcome == schema.Regressed {
		t.Errorf("%s against %s", v.Outcome, v.Baseline)
	}
}

// A drift that has added up to more than matters is found, with its slope and total; a steady history has none.
func TestLargeDrifts(t *testing.T) {
	j := judged(t, judgetest.History{TTFT: judgetest.Drifting(30, 0, .005)}.Columns(), nil)
	list := j.LargeDrifts(29)
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	d := list[0]
	if d.Series.Key.Workload() != judgetest.Workload(4) || !near(d.Effect, .005, .2) || d.Total < .05 || d.P > .05 {
		t.Errorf("%+v", d)
	}
	steady := judged(t, judgetest.History{TTFT: judgetest.Steady(30)}.Columns(), nil)
	for r := range 30 {
		if list := steady.LargeDrifts(r); len(list) > 0 {
			t.Errorf("v%d: %+v", r, list)
		}
	}
}
