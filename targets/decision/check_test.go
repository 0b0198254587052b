package decision_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/decision"
)

// sound is a decision of a kind that has everything it needs.
func sound(kind schema.DecisionKind) decision.Decision {
	d := decision.Decision{ID: "a", Kind: kind, Reason: "r", Owner: "o", Select: decision.Select{Workload: "128/128/1"}}
	switch kind {
	case schema.Waive:
		d.Expires, d.Select = "2027-01-31", decision.Select{Lint: "saturated"}
	case schema.Pin, schema.Dismiss, schema.Accept:
		d.Release = "v1"
	case schema.Invalidate:
		d.Owner, d.Release = "", "v1"
	case schema.Supersede:
		d.Select, d.By = decision.Select{Run: "r1"}, "r2"
	}
	return d
}

func TestSoundDecisions(t *testing.T) {
	p := decision.Policy{}
	for i, kind := range decision.Kinds() {
		d := sound(kind)
		d.ID = string(rune('a' + i))
		p.Decisions = append(p.Decisions, d)
	}
	whole := sound(schema.Invalidate) // a whole release may be excluded: nothing need be selected
	whole.ID, whole.Select = "whole", decision.Select{}
	byVerdict := sound(schema.Accept) // a verdict names its release
	byVerdict.ID, byVerdict.Release, byVerdict.Select = "verdict", "", decision.Select{Verdict: "0123456789ab"}
	glob := sound(schema.Waive)
	glob.ID, glob.Select.Lint = "glob", "satur*"
	p.Decisions = append(p.Decisions, whole, byVerdict, glob)
	if err := p.Check([]string{"saturated", "drift"}); err != nil {
		t.Error(err)
	}
	if err := (&decision.Policy{}).Check(nil); err != nil {
		t.Error(err)
	}
}

// Each mistake is reported with its decision.
func TestDecisionsAreChecked(t *testing.T) {
	type change func(*decision.Decision)
	for _, c := range []struct {
		kind   schema.DecisionKind
		change change
		want   string
	}{
		{schema.Waive, func(d *decision.Decision) { d.ID = "" }, "decisions[0]: an id is needed"},
		{schema.Waive, func(d *decision.Decision) { d.Kind = "ignore" }, `a: kind "ignore": expected one of pin, dismiss,`},
		{schema.Waive, func(d *decision.Decision) { d.Reason = " " }, "a: a reason is needed"},
		{schema.Waive, func(d *decision.Decision) { d.Owner = " " }, "a: an owner is needed"},
		{schema.Accept, func(d *decision.Decision) { d.Owner = "" }, "a: an owner is needed"},
		{schema.Waive, func(d *decision.Decision) { d.Expires = "" }, "needs an expiry date"},
		{schema.Waive, func(d *decision.Decision) { d.Expires = "31.1.2027" },
			`"31.1.2027" does not have the form 2027-01-31`},
		{schema.Pin, func(d *decision.Decision) { d.Expires = "2027-02-30" }, "does not have the form"},
		{schema.Waive, func(d *decision.Decision) { d.Select.Lint = "saturatd" },
			`unknown lint "saturatd"; the lints are saturated`},
		{schema.Waive, func(d *decision.Decision) { d.Select = decision.Select{} }, "select must say what it covers"},
		{schema.Pin, func(d *decision.Decision) { d.Select = decision.Select{} }, "select must say what it covers"},
		{schema.Pin, func(d *decision.Decision) { d.Release = "" }, "pin needs the release at which the level starts"},
		{schema.Dismiss, func(d *decision.Decision) { d.Release = "" }, "dismiss needs the release"},
		{schema.Accept, func(d *decision.Decision) { d.Release = "" }, "accept needs the release"},
		{schema.Supersede, func(d *decision.Decision) { d.By = "" }, "supersede needs select.run and by"},
		{schema.Supersede, func(d *decision.Decision) { d.Select.Run = "" }, "supersede needs select.run and by"},
		{schema.Supersede, func(d *decision.Decision) { d.By = "r1" }, "a run cannot replace itself"},
		{schema.Invalidate, func(d *decision.Decision) { d.Release = "" }, "invalidate needs select.run or a release"},
		{schema.Invalidate, func(d *decision.Decision) { d.Select.Metric = "ttft" }, "invalidate applies to runs and points"},
		{schema.Invalidate, func(d *decision.Decision) { d.Select.Task = "t" }, "invalidate applies to runs and points"},
		{schema.Invalidate, func(d *decision.Decision) { d.Select.Verdict = "0" }, "invalidate applies to runs and points"},
		{schema.Invalidate, func(d *decision.Decision) { d.Select.Lint = "drift" }, "invalidate applies to runs and points"},
		{schema.Invalidate, func(d *decision.Decision) { d.Select.Level = "target" },
			"invalidate applies to runs and points"},
		{schema.Waive, func(d *decision.Decision) { d.Select.Verdict = "0" }, "a lint is selected by lint, run, model"},
		{schema.Waive, func(d *decision.Decision) { d.Select.Tool = "vllm" }, "a lint is selected by"},
		{schema.Waive, func(d *decision.Decision) { d.Select.Metric = "ttft" }, "a lint is selected by"},
		{schema.Waive, func(d *decision.Decision) { d.Select.Level = "target" }, "a lint is selected by"},
		{schema.Accept, func(d *decision.Decision) { d.Select.Lint = "saturated" }, "a lint can only be waived"},
	} {
		d := sound(c.kind)
		c.change(&d)
		p := decision.Policy{Decisions: []decision.Decision{d}}
		if err := p.Check([]string{"saturated"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.kind, err, c.want)
		}
	}
	twice := decision.Policy{Decisions: []decision.Decision{sound(schema.Waive), sound(schema.Pin)}}
	if err := twice.Check([]string{"saturated"}); err == nil || err.Error() != "decisions[1] a: the id is used twice" {
		t.Error(err)
	}
}
