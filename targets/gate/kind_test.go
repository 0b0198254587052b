package gate_test

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// reasons is one value of each type of reason.
func reasons() []schema.Reason {
	return []schema.Reason{
		schema.NoTargetFor{}, schema.TargetNotMeasured{}, schema.Planned{}, schema.NoNumber{}, schema.MetricNotMeasured{},
		schema.AboveCeiling{}, schema.Limit{}, schema.EvalNotRun{}, schema.EvalLimit{}, schema.NoSystem{},
		schema.NoLengths{}, schema.ExcludedBy{}, schema.InvalidPoint{}, schema.NotPositive{}, schema.NotRemeasured{},
		schema.Change{}, schema.EvalChange{},
	}
}

// against is a verdict of an outcome against history or a target.
func against(a schema.Against, o schema.Outcome) schema.Verdict {
	return schema.Verdict{Against: a, Outcome: o}
}

// The kind of a verdict against history, whatever its reason, and of those reasons that decide.
func TestKindOfHistory(t *testing.T) {
	of := func(o schema.Outcome) schema.Verdict { return against(schema.AgainstHistory, o) }
	confirmed, suspected := of(schema.Regressed), of(schema.Regressed)
	confirmed.Evidence, suspected.Evidence = schema.Confirmed, schema.Suspected
	large := of(schema.Inconclusive)
	large.Large = true
	worse, better := large, large
	worse.Effect, better.Effect = schema.Num(.1), schema.Num(-.1)
	worseWithinLimit := of(schema.Inconclusive)
	worseWithinLimit.Effect = schema.Num(.04)
	for name, c := range map[string]struct {
		v    schema.Verdict
		want gate.Kind
		but  map[string]gate.Kind // by reason
	}{
		"confirmed":              {confirmed, gate.FailConfirmed, nil},
		"suspected":              {suspected, gate.FailSuspected, nil},
		"inconclusive":           {of(schema.Inconclusive), "", nil},
		"worse within the limit": {worseWithinLimit, "", nil},
		"large":                  {large, gate.FailInconclusive, nil}, // of an unknown effect
		"large and worse":        {worse, gate.FailInconclusive, nil},
		"large and better":       {better, "", nil},
		"improved":               {of(schema.Improved), "", nil},
		"recovered":              {of(schema.Recovered), "", nil},
		"unchanged":              {of(schema.Unchanged), "", nil},
		"no baseline":            {of(schema.NoBaseline), gate.NoCase, nil},
		"not comparable":         {of(schema.NotComparable), gate.NoCase, nil},
		"excluded": {of(schema.Excluded), gate.FailInvalid,
			map[string]gate.Kind{"not-positive": gate.NoCase}},
		"missing": {of(schema.NotMeasured), gate.FailMissing,
			map[string]gate.Kind{"not-remeasured": gate.FailNotRemeasured}},
	} {
		for _, r := range reasons() {
			want := c.want
			if k, special := c.but[r.Code()]; special {
				want = k
			}
			c.v.Reason = r
			if got := gate.KindOf(&c.v); got != want {
				t.Errorf("%s, %T: %q, want %q", name, r, got, want)
			}
		}
	}
}

// What another run of the release measured is excluded without a finding; what failed stays one.
func TestKindOfMeasuredByAnotherRun(t *testing.T) {
	elsewhere := against(schema.AgainstHistory, schema.Excluded)
	elsewhere.Reason = schema.ExcludedBy{Other: "run-2"}
	if got := gate.KindOf(&elsewhere); got != gate.NoCase {
		t.Errorf("excluded, and measured by another run: %q", got)
	}
	failed := against(schema.AgainstHistory, schema.NotMeasured)
	failed.Reason = schema.NoNumber{Other: "run-2"} // a run that works does not make the one good that failed
	if got := gate.KindOf(&failed); got != gate.FailMissing {
		t.Errorf("failed, and measured by another run: %q", got)
	}
}

// The kind of a verdict against a target: verdicts that are not required are not counted, unless they were planned.
func TestKindOfTargets(t *testing.T) {
	for _, c := range []struct {
		outcome            schema.Outcome
		required, optional gate.Kind
	}{
		{schema.Pass, "", ""},
		{schema.Fail, gate.FailTarget, gate.NoCase},
		{schema.Inconclusive, gate.FailInconclusive, gate.NoCase},
		{schema.NotMeasured, gate.FailMissing, gate.NoCase},
		{schema.NoTarget, gate.NoCase, gate.NoCase},
		{schema.Unattainable, gate.NoCase, gate.NoCase},
	} {
		for _, required := range []bool{true, false} {
			for _, r := range reasons() {
				if schema.ReasonIs[schema.NotRemeasured](r) {
					continue // of history alone
				}
				v := against(schema.AgainstTarget, c.outcome)
				v.Required, v.Reason = required, r
				want := c.optional
				switch {
				case required:
					want = c.required
				case schema.ReasonIs[schema.Planned](r) && c.outcome == schema.NotMeasured:
					want = gate.FailMissing
				}
				if got := gate.KindOf(&v); got != want {
					t.Errorf("%s, required %v, %T: %q, want %q", c.outcome, required, r, got, want)
				}
			}
		}
	}
}

func TestKindOfLint(t *testing.T) {
	waived, expired := &schema.Decision{Kind: schema.Waive}, &schema.Decision{Kind: schema.Waive, Expired: true}
	for name, c := range map[string]struct {
		l    lint.Lint
		want gate.Kind
	}{
		"an error":           {lint.Lint{Severity: schema.SevError}, gate.FailInvalid},
		"a warning":          {lint.Lint{Severity: schema.SevWarning}, ""},
		"a note":             {lint.Lint{Severity: schema.SevNote}, ""},
		"a waived error":     {lint.Lint{Severity: schema.SevError, Decision: waived}, gate.NoCase},
		"a waived warning":   {lint.Lint{Severity: schema.SevWarning, Decision: waived}, gate.NoCase},
		"an expired waiver":  {lint.Lint{Severity: schema.SevError, Decision: expired}, gate.FailInvalid},
		"an expired warning": {lint.Lint{Severity: schema.SevWarning, Decision: expired}, gate.FailInvalid},
	} {
		if got := gate.KindOfLint(&c.l); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestParseFailOn(t *testing.T) {
	all := gate.KindList()
	on, err := gate.ParseFailOn(all)
	if err != nil || len(on) != len(gate.FailKinds()) {
		t.Errorf("%v, %v", on, err)
	}
	for _, k := range gate.FailKinds() {
		if !on[k] {
			t.Errorf("%s is left out", k)
		}
	}
	const want = "confirmed run-wide suspected inconclusive target invalid missing ungraded not-remeasured absent " +
		"open"
	if got := strings.ReplaceAll(all, ",", ""); got != want {
		t.Errorf("%s", got)
	}
	on, err = gate.ParseFailOn(" suspected , confirmed")
	if err != nil || len(on) != 3 || !on[gate.FailSuspected] || !on[gate.FailRunWide] {
		t.Errorf("%v, %v", on, err)
	}
	if on, err := gate.ParseFailOn("suspected"); err != nil || len(on) != 3 || !on[gate.FailConfirmed] {
		t.Errorf("what is suspected and then confirmed does not fail: %v, %v", on, err)
	}
	if on, err := gate.ParseFailOn("none"); err != nil || on == nil || len(on) != 0 {
		t.Errorf("none: %v, %v", on, err)
	}
	for _, empty := range []string{"", " ", ",", "confirmed,", "none,confirmed"} {
		if on, err := gate.ParseFailOn(empty); err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("%q: %v, %v", empty, on, err)
		}
	}
	for _, wrong := range []string{"confirmd", "watch", "probable", "gone", "confirmed;target", "lint"} {
		if _, err := gate.ParseFailOn(wrong); err == nil || !strings.Contains(err.Error(), "absent, open, none") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
