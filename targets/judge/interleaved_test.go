package judge_test

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// turnsOn returns blocks of ten workloads on a machine that is slower by a factor than it was, in which the candidate's
// workload 4 differs by a factor.
func turnsOn(blocks int, machine, fourth float64) judgetest.Blocks {
	x := judgetest.Blocks{Baseline: "v8", Candidate: "v9"}
	for block := range blocks {
		var a, b []float64
		for w := range judgetest.Workloads {
			wave := func(k float64) float64 { return 1 + .003*math.Sin(k*float64(3*w+7*block)) }
			a = append(a, 100*float64(w+1)*machine*wave(1))
			b = append(b, 100*float64(w+1)*machine*wave(2))
		}
		b[3] *= fourth
		x.A, x.B = append(x.A, a), append(x.B, b)
	}
	return x
}

// history is steady, and its newest release has workload 4 slower by a factor.
func historyOf(fourth float64) [][]float64 {
	values := judgetest.Steady(10)
	values[9][3] *= fourth
	return values
}

func fourth(t *testing.T, x *judgetest.Blocks) schema.Verdict {
	t.Helper()
	c := judgetest.History{TTFT: historyOf(1.12)}.Columns()
	if x != nil {
		c = judgetest.InTurns(c, *x)
	}
	j := judged(t, c, nil)
	at := judge.Named(j.Releases, "v9")
	return judgetest.Find(j.History(at), judgetest.Workload(4))
}

// Blocks decide what history suspects, in one go: they confirm it, or clear it where the machine changed.
func TestInTurns(t *testing.T) {
	if v := fourth(t, nil); v.Outcome != schema.Regressed || v.Evidence != schema.Suspected || v.Baseline != "v8" {
		t.Fatalf("history alone: %s %s against %s", v.Outcome, v.Evidence, v.Baseline)
	}
	confirms, clears := turnsOn(3, 1.2, 1.12), turnsOn(3, 1.12, 1)
	for name, c := range map[string]struct {
		x        judgetest.Blocks
		outcome  schema.Outcome
		evidence schema.Evidence
		effect   float64
	}{
		"confirms": {confirms, schema.Regressed, schema.Confirmed, .12},
		"clears":   {clears, schema.Unchanged, schema.NoEvidence, 0},
	} {
		v := fourth(t, &c.x)
		r, ok := v.Reason.(schema.Change)
		if !ok || v.Outcome != c.outcome || v.Evidence != c.evidence || r.Why != schema.WhyInTurns || r.Turns == nil {
			t.Errorf("%s: %s %s %+v", name, v.Outcome, v.Evidence, v.Reason)
			continue
		}
		e, _ := v.Effect.Get()
		ref, _ := v.Ref.Get()
		value, _ := v.Value.Get()
		if math.Abs(e-c.effect) > .01 || v.Interval[0] > c.effect || v.Interval[1] < c.effect || r.Turns.Blocks != 3 ||
			math.Abs(value/ref-1-e) > 1e-9 || r.Turns.Baseline != "v8" || r.Turns.Run != "turns-a" {
			t.Errorf("%s: effect %g %v of %g and %g, %+v", name, e, *v.Interval, ref, value, *r.Turns)
		}
	}
}

// What is no pair decides nothing: one block, another baseline than the verdict's, a partner that names another run.
func TestNotInTurns(t *testing.T) {
	alone := fourth(t, nil)
	for name, change := range map[string]func(x *judgetest.Blocks){
		"one block":        func(x *judgetest.Blocks) { x.A, x.B = x.A[:1], x.B[:1] },
		"another baseline": func(x *judgetest.Blocks) { x.Baseline = "v3" },
		"another partner":  func(x *judgetest.Blocks) { x.With = "nobody" },
	} {
		x := turnsOn(3, 1.2, 1)
		change(&x)
		v := fourth(t, &x)
		if r, ok := v.Reason.(schema.Change); !ok || r.Why == schema.WhyInTurns || v.Outcome == 0 || v.ID != alone.ID {
			t.Errorf("%s: %s %+v", name, v.Outcome, v.Reason)
		}
	}
}

// The baseline of a pair is a build by itself: it changes no verdict on the release that it measured again, and no
// baseline of later ones.
func TestBaselineOfAPairIsNoHistory(t *testing.T) {
	c := judgetest.History{TTFT: historyOf(1)}.Columns()
	before := judged(t, c, nil)
	x := turnsOn(2, 3, 1)
	x.Candidate = "v10"
	after := judged(t, judgetest.InTurns(c, x), nil)
	for i, r := range before.Releases {
		at := judge.Named(after.Releases, r.Name)
		a, b := before.History(i), after.History(at)
		for k := range a {
			if a[k].ID != b[k].ID || a[k].Outcome != b[k].Outcome || a[k].Value != b[k].Value {
				t.Errorf("%s: %+v became %+v", r.Name, a[k], b[k])
			}
		}
	}
}

// A machine that became slower moves every number at once; blocks clear the shift with them.
func TestGroupInTurns(t *testing.T) {
	wide := func(x *judgetest.Blocks) *judge.Judgement {
		h := judgetest.History{}
		for r := range 10 {
			var row []float64
			for w := range 30 {
				v := 100 * float64(w+1) * (1 + .005*math.Sin(float64(7*r+3*w*w)))
				if r == 9 {
					v *= 1.15
				}
				row = append(row, v)
			}
			h.TTFT = append(h.TTFT, row)
		}
		c := h.Columns()
		if x != nil {
			c = judgetest.InTurns(c, *x)
		}
		return judged(t, c, nil)
	}
	changes := func(j *judge.Judgement) []judge.Change { return j.Changes(judge.Named(j.Releases, "v9")) }
	if list := changes(wide(nil)); len(list) != 1 || !list[0].Worse || len(list[0].Numbers) != 30 {
		t.Fatalf("history alone: %+v", list)
	}
	x := judgetest.Blocks{Baseline: "v8", Candidate: "v9"}
	for block := range 3 {
		var a, b []float64
		for w := range 30 {
			a = append(a, 115*float64(w+1)*(1+.004*math.Sin(float64(w+5*block))))
			b = append(b, 115*float64(w+1)*(1+.004*math.Sin(float64(3*w+8*block))))
		}
		x.A, x.B = append(x.A, a), append(x.B, b)
	}
	j := wide(&x)
	if list := changes(j); len(list) != 0 {
		t.Errorf("in turns: %+v", list)
	}
	for _, v := range j.History(judge.Named(j.Releases, "v9")) {
		if v.Outcome != schema.Unchanged || v.Change != "" {
			t.Errorf("%s: %s %+v", v.Key.Workload(), v.Outcome, v.Reason)
		}
	}
}

// Where history has one value or none, which shows no noise, the pair is all there is: it decides, and where its blocks
// do not, the verdict says so with the pair's numbers and not with those of history.
func TestInTurnsWithoutNoise(t *testing.T) {
	const releases = 9
	rough := turnsOn(2, 1, 1)
	for w := range rough.B[1] {
		rough.B[1][w] *= 2.5
	}
	for name, c := range map[string]struct {
		history int
		x       judgetest.Blocks
		outcome schema.Outcome
		why     schema.Why
	}{
		"one value, decided": {1, turnsOn(2, 1, 1.12), schema.Regressed, schema.WhyInTurns},
		"one value, open":    {1, rough, schema.Inconclusive, schema.WhyTurnsOpen},
		"none, decided":      {0, turnsOn(2, 1, 1.12), schema.Regressed, schema.WhyInTurns},
		"none, unchanged":    {0, turnsOn(2, 1, 1), schema.Unchanged, schema.WhyInTurns},
		"none, open":         {0, rough, schema.Inconclusive, schema.WhyTurnsOpen},
		"none, one block": {0, judgetest.Blocks{A: rough.A[:1], B: rough.B[:1], Baseline: "v8", Candidate: "v9"},
			schema.NoBaseline, schema.WhyNoBaseline},
	} {
		values := make([][]float64, releases)
		copy(values[releases-c.history:], judgetest.Steady(c.history))
		j := judged(t, judgetest.InTurns(judgetest.History{TTFT: values}.Columns(), c.x), nil)
		at := judge.Named(j.Releases, "v9")
		v := judgetest.Find(j.History(at), judgetest.Workload(4))
		r, _ := v.Reason.(schema.Change)
		if v.Outcome != c.outcome || r.Why != c.why || c.why != schema.WhyNoBaseline && v.Baseline != "v8" {
			t.Errorf("%s: %s %s against %q: %+v", name, v.Outcome, v.Evidence, v.Baseline, r)
			continue
		}
		if e, _ := v.Effect.Get(); r.Turns != nil && e != r.Turns.Effect {
			t.Errorf("%s: effect %g beside %+v", name, e, r.Turns)
		}
		if open := r.Why == schema.WhyTurnsOpen; open && (!v.Large || r.Turns.Needed < 3) {
			t.Errorf("%s: large %t, %+v", name, v.Large, r.Turns)
		}
		s, _ := j.Summary(seriesOf(t, j, judgetest.Workload(4)), at)
		if s.Outcome != v.Outcome || s.Evidence != v.Evidence || s.Large != v.Large {
			t.Errorf("%s: the summary says %s %s", name, s.Outcome, s.Evidence)
		}
	}
}

// seriesOf finds the series of a workload.
func seriesOf(t *testing.T, j *judge.Judgement, workload string) *judge.Series {
	t.Helper()
	for i := range j.Series {
		if j.Series[i].Key.Workload() == workload {
			return &j.Series[i]
		}
	}
	t.Fatal("no series of", workload)
	return nil
}
