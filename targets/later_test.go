package targets_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets"
)

// rerun adds to a history a second run of its last release, in which workload 3 has another value.
func rerun(values [][]float64, value float64) *columns.Columns {
	values = append(values, append([]float64(nil), values[len(values)-1]...))
	last := len(values) - 1
	for w := range values[last] {
		values[last][w] *= 1.0003 // no copy
	}
	values[last][3] = value
	c := made{ttft: values}.columns()
	c.Runs[last].Release = fmt.Sprintf("v%d", last-1)
	return c
}

// A later run of a release that is far worse than its unremarkable first one is watched and counted, with its own numbers.
func TestLaterRunFarWorse(t *testing.T) {
	for _, first := range []float64{.995, 1, 1.004} {
		values := steady(6)
		base := values[5][3]
		values[5][3] = base * first
		j := judged(t, rerun(values, base*2), nil)
		v := find(j.History(5), "128/128/4")
		e, _ := v.Effect.Get()
		ref, _ := v.Ref.Get()
		if v.Word != schema.Watch || e < .9 || ref > base*1.1 {
			t.Errorf("first run %g: %s, effect %.3f, reference %.4g of about %.4g", first, v.Word, e, ref, base)
		}
		if d := decided(j, 5); d.Word != targets.FitWithNotes {
			t.Errorf("first run %g: %s", first, d.Word)
		}
	}
	score := func(v float64) []schema.Score {
		return []schema.Score{{Task: "mmlu", Metric: "acc", Value: schema.Num(v), N: 1000}}
	}
	m := made{ttft: steady(7), scores: [][]schema.Score{score(.70), score(.702), score(.699), score(.701), score(.7), score(.7), score(.3)}}
	c := m.columns()
	c.Runs[6].Release = "v5"
	j := judged(t, c, nil)
	found := false
	for _, v := range j.History(5) {
		if targets.IsEval(v.Key) {
			e, _ := v.Effect.Get()
			found = v.Word == schema.Watch && e > .3
		}
	}
	if d := decided(j, 5); !found || d.Word == targets.Fit {
		t.Errorf("a later run that lost forty points: watched %v, %s", found, d.Word)
	}
}

// A void run counts as measured again only by a run that has its numbers.
func TestVoidAndMeasuredAgain(t *testing.T) {
	values := steady(6)
	c := rerun(values, values[5][3])
	void := &targets.Policy{Decisions: []targets.Decision{{ID: "D", Kind: targets.Invalidate, Select: targets.Select{Run: "run-5"}, Reason: "throttled"}}}
	if d := decided(judged(t, c, void), 5); d.Exit != 0 || d.Word != targets.FitWithNotes {
		t.Errorf("measured again: %+v", d)
	}
	values[5] = append([]float64(nil), values[5]...)
	again := append([]float64(nil), values[5]...)
	for w := range again {
		if again[w] *= 1.0003; w == 3 {
			again[w] = 1e308 // no measurement
		}
	}
	c = made{ttft: append(values, again)}.columns()
	c.Runs[6].Release = "v5"
	if d := decided(judged(t, c, void), 5); d.Exit != 1 {
		t.Errorf("not measured again: %+v", d)
	}
	for _, by := range []string{"run-5", "nobody"} {
		p := &targets.Policy{Decisions: []targets.Decision{{ID: "D", Kind: targets.Supersede, Select: targets.Select{Run: "run-5"}, By: by, Reason: "x"}}}
		if by == "run-5" {
			if err := p.Check(nil); err == nil || !strings.Contains(err.Error(), "replace itself") {
				t.Error(err)
			}
			continue
		}
		for _, v := range judged(t, c, p).History(5) {
			if v.Word == schema.Invalid && v.Reason.Code == "void" {
				t.Errorf("a run that nobody replaces is void: %+v", v)
			}
		}
	}
}

// What has expired about an earlier release is told in the later one that it bears on; a waiver bears on its own alone.
func TestExpiredDecisionsOfEarlierReleases(t *testing.T) {
	c := made{ttft: steady(7)}.columns()
	for kind, want := range map[string]bool{targets.Invalidate: true, targets.Pin: true, targets.Dismiss: true, targets.Accept: true, targets.Waive: false} {
		p := &targets.Policy{Today: day(100), Decisions: []targets.Decision{{ID: "D-9", Kind: kind, Release: "v4", Select: targets.Select{Model: "M"}, Reason: "x", Owner: "jana", Expires: "2020-01-31"}}}
		d := decided(judged(t, c, p), 6)
		if told := d.Exit == 1; told != want {
			t.Errorf("%s: exit %d", kind, d.Exit)
		}
	}
}

// What fails is never hidden behind what does not.
func TestStrictKindsAreCounted(t *testing.T) {
	v := func(evidence, metric string) schema.Verdict {
		return schema.Verdict{Model: "M", Device: "d", Key: key(1), Metric: metric, Against: schema.AgainstHistory, Word: schema.Worse, Evidence: evidence}
	}
	f := targets.Findings{History: []schema.Verdict{v("confirmed", "ttft"), v("probable", "tpot")}}
	if d := targets.Decide(f, targets.FailOn{targets.FailProbable: true}); d.Exit != 1 {
		t.Errorf("%+v", d)
	}
	if d := targets.Decide(f, targets.DefaultFailOn()); d.Exit != 1 || len(d.Counts) != 1 {
		t.Errorf("%+v", d)
	}
}
