package gate_test

import (
	"testing"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// policy is one of decisions, on a day of January 2026; 0: nothing expires.
func policy(day int, list ...decision.Decision) *decision.Policy {
	p := &decision.Policy{Decisions: list}
	if day > 0 {
		p.Today = judgetest.Day(day)
	}
	return p
}

// confirmedRegression is a history in which workload 1 regressed in v5, and v6 confirms it.
func confirmedRegression() *columns.Columns {
	values := judgetest.Steady(7)
	values[5][0], values[6][0] = values[5][0]*1.3, values[6][0]*1.3
	return judgetest.History{TTFT: values}.Columns()
}

func waiver() decision.Decision {
	return decision.Decision{
		ID: "D-1", Kind: schema.Waive, Release: "v6", Reason: "known", Owner: "jana", Expires: "2026-02-01",
		Select: decision.Select{Model: "M*", Workload: judgetest.Workload(1)},
	}
}

func TestDecisions(t *testing.T) {
	c := confirmedRegression()
	decide := func(p *decision.Policy) (gate.Result, schema.Verdict) {
		g := gateOf(t, c, p)
		return g.Results(6).Whole, judgetest.Find(g.History(6), judgetest.Workload(1))
	}
	if d, v := decide(nil); d.Word != gate.Fail || d.Exit != 1 || v.Evidence != schema.Confirmed || v.Decision != nil {
		t.Errorf("%+v, %s %s", d, v.Outcome, v.Evidence)
	}
	if d, v := decide(policy(20, waiver())); d.Word != gate.PassWithWarnings || v.Outcome != schema.Regressed ||
		v.Decision == nil || v.Decision.Expired || len(d.Waived) != 1 {
		t.Errorf("waived: %+v, %+v", d, v)
	}
	if d, v := decide(policy(90, waiver())); d.Word != gate.Fail || v.Decision == nil || !v.Decision.Expired {
		t.Errorf("an expired waiver: %+v", d)
	}
	exclude := decision.Decision{
		ID: "D-2", Kind: schema.Invalidate, Select: decision.Select{Run: "run-6"}, Reason: "the fan was broken",
	}
	if _, v := decide(policy(0, exclude)); v.Outcome != schema.Excluded || v.Decision.Reason != "the fan was broken" {
		t.Errorf("%+v", v)
	}
	accept := decision.Decision{
		ID: "D-3", Kind: schema.Accept, Select: decision.Select{Workload: judgetest.Workload(1)}, Release: "v5",
		Reason: "wanted", Owner: "jana",
	}
	if d, v := decide(policy(0, accept)); d.Exit != 0 || v.Outcome == schema.Regressed {
		t.Errorf("after an accepted change: %+v, %s", d, v.Outcome)
	}
}

// A valid decision takes precedence over an expired one; a verdict that cannot fail needs no excuse.
func TestWhichDecisionIsShown(t *testing.T) {
	c := confirmedRegression()
	old, pin := waiver(), waiver()
	old.ID, old.Expires = "old", "2026-01-02"
	pin.ID, pin.Kind, pin.Expires, pin.Select = "pin", schema.Pin, "", decision.Select{Workload: judgetest.Workload(2)}
	g := gateOf(t, c, policy(20, old, waiver(), pin))
	for workload, want := range map[float64]string{1: "D-1", 2: "pin", 3: ""} {
		v := judgetest.Find(g.History(6), judgetest.Workload(workload))
		got := ""
		if v.Decision != nil {
			got = v.Decision.ID
		}
		if got != want {
			t.Errorf("%s: %q, want %q", v.Key.Workload(), got, want)
		}
	}
	everything := waiver()
	everything.Select = decision.Select{Model: "M"}
	for _, v := range gateOf(t, c, policy(20, everything)).History(6) {
		if excused := v.Decision != nil; excused != (v.Outcome == schema.Regressed) {
			t.Errorf("%s %s: excused %v", v.Key.Workload(), v.Outcome, excused)
		}
	}
}

// An excluded run counts as measured again only by a run that has its numbers.
func TestExcludedAndMeasuredAgain(t *testing.T) {
	values := judgetest.Steady(6)
	exclude := policy(0, decision.Decision{
		ID: "D", Kind: schema.Invalidate, Select: decision.Select{Run: "run-5"}, Reason: "throttled",
	})
	g := gateOf(t, judgetest.Rerun(values, values[5][3]), exclude)
	if d := g.Results(5).Whole; d.Exit != 0 || d.Word != gate.PassWithWarnings || tally(g, 5, gate.NoteExcluded) != 10 {
		t.Errorf("measured again: %+v", d)
	}
	again := gateOf(t, judgetest.Rerun(values, 1e308), exclude) // no measurement
	if d := again.Results(5).Whole; d.Exit != 1 {
		t.Errorf("not measured again: %+v", d)
	}
}

// Expired decisions about an earlier release are shown in later ones that they affect. A waiver affects only its own
// release.
func TestExpiredDecisionsOfEarlierReleases(t *testing.T) {
	c := steady(7)
	for kind, want := range map[schema.DecisionKind]bool{
		schema.Invalidate: true, schema.Pin: true, schema.Dismiss: true, schema.Accept: true, schema.Waive: false,
	} {
		g := gateOf(t, c, policy(100, decision.Decision{
			ID: "D-9", Kind: kind, Release: "v4", Select: decision.Select{Model: "M"}, Reason: "x", Owner: "jana",
			Expires: "2020-01-31",
		}))
		if d := g.Results(6).Whole; (d.Exit == 1) != want {
			t.Errorf("%s: exit %d", kind, d.Exit)
		}
		if d := g.Results(3).Whole; d.Exit != 0 {
			t.Errorf("%s: an earlier release fails on it", kind)
		}
	}
}

// Decisions that have expired fail, and those that select nothing in the release that they name are shown.
func TestIdleAndExpiredDecisions(t *testing.T) {
	d := func(id, expires string, s decision.Select) decision.Decision {
		return decision.Decision{
			ID: id, Kind: schema.Waive, Release: "v4", Select: s, Reason: "r", Owner: "o", Expires: expires,
		}
	}
	g := gateOf(t, steady(5), policy(20,
		d("old", "2026-01-01", decision.Select{Model: "M"}),
		d("lint", "2027-01-01", decision.Select{Lint: "empty-responses"}),
		d("metric", "2027-01-01", decision.Select{Metric: "nosuch"}),
		d("used", "2027-01-01", decision.Select{Metric: "ttft"}),
	))
	got := map[string]bool{}
	for _, l := range lintsOf(g, 4, "unused-decision") {
		what, _ := l.Detail.(lint.UnusedDecision)
		if what.What != l.Subject {
			t.Errorf("%+v", l)
		}
		got[l.Subject] = l.Decision != nil && l.Decision.Expired
	}
	want := map[string]bool{
		"old: it expired on 2026-01-01": true, "lint: no such lint was found in v4": false,
		"metric: it selects nothing in v4": false,
	}
	if len(got) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
	for what, expired := range want {
		if e, ok := got[what]; !ok || e != expired {
			t.Errorf("%v, want %s", got, what)
		}
	}
	if w := wordOf(g, 4); w != gate.Fail {
		t.Errorf("an expired decision of this release: %s", w)
	}
	if w := wordOf(g, 3); w != gate.Pass {
		t.Errorf("one of another release: %s", w)
	}
}

// A waiver excuses a lint; a waiver of a single workload does not cover a lint of several.
func TestWaivedLints(t *testing.T) {
	waive := func(s decision.Select) decision.Decision {
		d := waiver()
		d.Select = s
		return d
	}
	type sel = decision.Select
	bad := judgetest.Steady(7)
	bad[6][0] = -1
	for name, c := range map[string]struct {
		s    decision.Select
		want gate.Word
	}{
		"by id":               {sel{Lint: "not-positive"}, gate.PassWithWarnings},
		"by glob":             {sel{Lint: "not-*"}, gate.PassWithWarnings},
		"of its run":          {sel{Lint: "not-positive", Run: "run-6"}, gate.PassWithWarnings},
		"of its workload":     {sel{Lint: "not-positive", Workload: judgetest.Workload(1)}, gate.PassWithWarnings},
		"of another run":      {sel{Lint: "not-positive", Run: "run-5"}, gate.Fail},
		"of another device":   {sel{Lint: "not-positive", Device: "t3k"}, gate.Fail},
		"another lint":        {sel{Lint: "drift"}, gate.Fail},
		"of another workload": {sel{Lint: "not-positive", Workload: judgetest.Workload(2)}, gate.Fail},
	} {
		g := gateOf(t, judgetest.History{TTFT: bad}.Columns(), policy(20, waive(c.s)))
		if w := wordOf(g, 6); w != c.want {
			t.Errorf("%s: %s, want %s", name, w, c.want)
		}
	}
	undated := steady(7)
	undated.Runs[6].Start = time.Time{}
	g := gateOf(t, undated, policy(20, waive(decision.Select{Lint: "no-start"})))
	if l := lintsOf(g, 6, "no-start"); len(l) != 1 || !l[0].Decision.Excuses() {
		t.Errorf("%+v", l)
	}
}

// A lint of several workloads is not waived for one of them.
func TestWaiverOfOneWorkload(t *testing.T) {
	values := judgetest.Drifting(30, 0, .006)
	for r := range values {
		values[r][5] *= values[r][3] / judgetest.Steady(30)[r][3]
	}
	c := judgetest.History{TTFT: values}.Columns()
	d := waiver()
	d.Release, d.Select = "v29", decision.Select{Lint: "drift"}
	for workload, want := range map[string]bool{"": true, "128/128/*": false, judgetest.Workload(4): false} {
		d.Select.Workload = workload
		list := lintsOf(gateOf(t, c, policy(20, d)), 29, lint.IDDrift)
		if len(list) != 1 || list[0].Count != 2 || list[0].Decision.Excuses() != want {
			t.Errorf("%q: %+v", workload, list)
		}
	}
}
