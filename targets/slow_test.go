package targets_test

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets"
)

// creeping is a history in which workload 3 gets worse by a share with every release from one on.
func creeping(releases, from int, each float64) [][]float64 {
	values := steady(releases)
	for r := from; r < releases; r++ {
		values[r][3] *= math.Pow(1+each, float64(r-from))
	}
	return values
}

// What gets a little worse with every release is told before it has doubled, and a steady history is not accused.
func TestSlowWorseningIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		values [][]float64
		told   bool
	}{
		"steady":                {steady(30), false},
		"half a percent":        {creeping(30, 0, .005), true},
		"two percent in all":    {creeping(20, 0, .001), false},
		"it gets better":        {creeping(30, 0, -.005), false},
		"a percent from the 10": {creeping(30, 10, .01), true},
	} {
		j := judged(t, made{ttft: c.values}.columns(), nil)
		told := 0
		for r := range c.values {
			for _, l := range j.Lints(r) {
				if l.ID != "creep" && l.ID != "late-step" {
					continue
				}
				told++
				if l.Subject != "128/128/4" || l.Count != 1 || l.Severity != schema.SevWarning {
					t.Errorf("%s: %+v", name, l)
				}
			}
			for _, v := range j.History(r) { // what the gate itself found needs no lint
				if v.Word == schema.Worse && v.Key.Workload() == "128/128/4" {
					told++
				}
			}
		}
		if (told > 0) != c.told {
			t.Errorf("%s: told %d times", name, told)
		}
	}
	j := judged(t, made{ttft: creeping(30, 0, .005)}.columns(), nil)
	noted := map[string]int{}
	for r := range 30 {
		for _, id := range []string{"creep", "late-step"} {
			if lint(j.Lints(r), id) == nil {
				continue
			}
			noted[id]++
			if d := decided(j, r); d.Word != targets.FitWithNotes {
				t.Errorf("v%d: %+v", r, d)
			}
		}
	}
	if noted["creep"] < 15 {
		t.Errorf("told in %v of 30 releases: small steps of the baseline hide the creep", noted)
	}
}

// A dismissed level does not begin, whoever found it, and stands in the list of levels with its reason.
func TestDismissedLevels(t *testing.T) {
	values := steady(12)
	for r := 6; r < 12; r++ {
		values[r][0] *= 1.3
	}
	c := made{ttft: values}.columns()
	level := func(policy *targets.Policy) (steps []targets.Step, last schema.Verdict) {
		j := judged(t, c, policy)
		steps, _ = j.Levels(11, "", "")
		return steps, find(j.History(11), "128/128/1")
	}
	if steps, last := level(nil); len(steps) != 1 || steps[0].At != "v6" || last.Word != schema.Same {
		t.Errorf("%+v, %s", steps, last.Word)
	}
	dismissed := &targets.Policy{Decisions: []targets.Decision{{ID: "D-1", Kind: targets.Dismiss, Select: targets.Select{Workload: "128/128/1"}, Release: "v6", Reason: "the room was hot"}}}
	steps, _ := level(dismissed)
	// What was dismissed is no noise either: that it goes on is told again, as clearly as the first time.
	j := judged(t, c, dismissed)
	again := 0
	for r := 8; r < 12; r++ {
		v := find(j.History(r), "128/128/1")
		if e, _ := v.Effect.Get(); v.Word == schema.Worse && e > .25 {
			again++
		}
		if lint(j.Lints(r), "creep") != nil {
			t.Errorf("v%d: a step is called a creep", r)
		}
	}
	if again == 0 {
		t.Error("the change went on after its dismissal and nobody is told")
	}
	told := false
	for _, s := range steps {
		if s.At == "v6" && s.Decision == nil {
			t.Error("the new level began although it was dismissed")
		}
		told = told || s.At == "v6" && s.Decision != nil && s.Decision.Reason == "the room was hot"
	}
	if !told {
		t.Errorf("%+v", steps)
	}
	// Where nothing was found, the dismissal is listed all the same.
	quiet := judged(t, made{ttft: steady(12)}.columns(), &targets.Policy{Decisions: []targets.Decision{{ID: "D-1", Kind: targets.Dismiss, Select: targets.Select{Workload: "128/128/1"}, Release: "v6", Reason: "r"}}})
	if steps, _ := quiet.Levels(11, "", ""); len(steps) != 1 || steps[0].Decision == nil {
		t.Errorf("%+v", steps)
	}
}
