package targets_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets"
	"github.com/ttreport/ttreport/targets/regression"
)

func score(p float64, n int, items string, right []bool) schema.Score {
	s := schema.Score{Task: "gsm8k", Metric: "exact_match", Filter: "strict-match", Value: schema.Num(p), N: n, Total: n, Direction: "higher"}
	if right != nil {
		s.Outcomes = &schema.Outcomes{Items: items, Right: right}
	}
	return s
}

func answers(n, wrongFrom int) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = i < wrongFrom
	}
	return out
}

func evalHistory(t *testing.T, scores ...schema.Score) []schema.Verdict {
	t.Helper()
	m := made{}
	for _, s := range scores {
		m.ttft, m.scores = append(m.ttft, nil), append(m.scores, []schema.Score{s})
	}
	j := judged(t, m.columns(), nil)
	var out []schema.Verdict
	for r := range scores {
		for _, v := range j.History(r) {
			if targets.IsEval(v.Key) {
				out = append(out, v)
			}
		}
	}
	return out
}

// The same questions are compared item by item: a fall that two independent shares could not show is seen.
func TestEvalsArePaired(t *testing.T) {
	before, after := score(.9, 500, "a", answers(500, 450)), score(.83, 500, "a", answers(500, 415))
	list := evalHistory(t, before, after, after)
	if v := list[1]; v.Word != schema.Worse || v.Evidence != "probable" || v.Reason.Code != "paired" || v.Reason.Args["lost"] != "35" {
		t.Errorf("%+v", v)
	}
	if v := list[2]; v.Evidence != "confirmed" || v.First != "v1" {
		t.Errorf("seen again: %+v", v)
	}
	if f := list[1].Follow; f.Release != "v2" || !f.Again {
		t.Errorf("followup %+v", f)
	}
	other := score(.83, 500, "b", answers(500, 415))
	if v := evalHistory(t, before, other)[1]; v.Word != schema.NotComparable || v.Reason.Code != "prompt" {
		t.Errorf("other questions: %+v", v)
	}
}

// Thirty questions show nothing, and the verdict says how many would.
func TestFewQuestions(t *testing.T) {
	v := evalHistory(t, score(.8, 30, "", nil), score(.77, 30, "", nil))[1]
	if v.Word != schema.Noisy || v.Reason.Code != "unpaired" || len(v.Reason.Args["needed"]) < 3 {
		t.Errorf("%s %v", v.Word, v.Reason)
	}
	if v := evalHistory(t, score(.8, 20000, "", nil), score(.801, 20000, "", nil))[1]; v.Word != schema.Same {
		t.Errorf("%s", v.Word)
	}
	none := schema.Score{Task: "gsm8k", Metric: "exact_match", Value: schema.Num(.8)}
	if v := evalHistory(t, none, none)[1]; v.Word != schema.Insufficient || v.Reason.Code != "no-error" {
		t.Errorf("%s %v", v.Word, v.Reason)
	}
}

// A metric that improves downwards, by its standard error.
func TestLowerIsBetter(t *testing.T) {
	wer := func(v float64) schema.Score {
		return schema.Score{Task: "asr", Metric: "wer", Value: schema.Num(v), Stderr: schema.Num(.002), Direction: "lower"}
	}
	if v := evalHistory(t, wer(.10), wer(.20))[1]; v.Word != schema.Worse {
		t.Errorf("%+v", v)
	} else if e, _ := v.Effect.Get(); e < .09 || v.Interval[0] > e || v.Interval[1] < e {
		t.Errorf("effect %v in %v", e, v.Interval)
	}
	if v := evalHistory(t, wer(.20), wer(.10))[1]; v.Word != schema.BetterWord {
		t.Errorf("%s", v.Word)
	}
}

// From three releases on the noise between releases counts, and not only that of the questions.
func TestEvalGateUsesReleases(t *testing.T) {
	wild := evalHistory(t, score(.70, 1000, "", nil), score(.85, 1000, "", nil), score(.72, 1000, "", nil), score(.86, 1000, "", nil), score(.71, 1000, "", nil))[4]
	if wild.Word == schema.Worse {
		t.Errorf("%s: it has always jumped by 15 points", wild.Word)
	}
	calm := evalHistory(t, score(.85, 1000, "", nil), score(.851, 1000, "", nil), score(.849, 1000, "", nil), score(.85, 1000, "", nil), score(.70, 1000, "", nil))[4]
	if calm.Word != schema.Worse || calm.Reason.Code != "eval-gate" {
		t.Errorf("%s %v", calm.Word, calm.Reason)
	}
}

// Targets of evals: the interval decides, questions missing make it inconclusive, a missing score is missing.
func TestEvalTargets(t *testing.T) {
	grade := func(s *schema.Score, target schema.Target) schema.Verdict {
		b := columns.NewBuilder()
		b.C.Runs = []columns.RunHead{{ID: "r", Release: "v", Model: schema.Model{Name: "M", Status: "COMPLETE"}, Device: "n150"}}
		if s != nil {
			b.C.Scores = []columns.ScoreRow{{Score: *s}}
		}
		b.C.Targets = []columns.TargetRow{{Target: target}}
		c := b.Seal()
		return judged(t, c, nil).Targets(0, "M", "n150")[0]
	}
	ref := schema.Target{Key: schema.Key{Task: "eval", Dataset: "GSM8K"}, Metric: "exact_match", Stat: "value", Value: 80, Level: schema.LevelReference, Tolerance: .05}
	of := func(p float64, n, total int) *schema.Score { s := score(p, n, "", nil); s.Total = total; return &s }
	for name, c := range map[string]struct {
		s    *schema.Score
		want string
	}{
		"clear":                    {of(.81, 1319, 1319), schema.Pass},
		"clearly short":            {of(.60, 1319, 1319), schema.Fail},
		"too few questions":        {of(.75, 15, 15), schema.Inconclusive},
		"nothing":                  {nil, schema.MissingWord},
		"zero right of many":       {of(0, 500, 500), schema.Fail},
		"almost the whole task":    {of(.765, 1300, 1319), schema.Pass},
		"the same, a random share": {of(.765, 1300, 100000), schema.Inconclusive},
	} {
		v := grade(c.s, ref)
		if v.Word != c.want || !v.Required {
			t.Errorf("%s: %s (required %v), want %s", name, v.Word, v.Required, c.want)
		}
		if ref, _ := v.Ref.Get(); c.s != nil && c.want != schema.MissingWord && ref != .8 && ref != 80 {
			t.Errorf("%s: reference %v", name, ref)
		}
	}
	should := ref
	should.Priority = "should"
	if v := grade(of(.60, 1319, 1319), should); v.Required {
		t.Error("should is required")
	}
	if v := grade(nil, ref); !strings.Contains(v.Reason.Code, "not-run") {
		t.Errorf("%v", v.Reason)
	}
}

// The reckoning behind an eval's verdict adds up to its p, however small.
func TestEvalReckoningAddsUp(t *testing.T) {
	m := made{}
	for _, p := range []float64{.8, .801, .802, .803, .6} {
		m.ttft, m.scores = append(m.ttft, nil), append(m.scores, []schema.Score{score(p, 2000, "", nil)})
	}
	j := judged(t, m.columns(), nil)
	v := j.History(4)[0]
	r := j.ExplainEval(v)
	if r == nil || len(r.Baseline) != 4 || len(r.Now) != 1 {
		t.Fatalf("%+v", r)
	}
	p, _ := v.P.Get()
	if want := regression.UpperTail(-(r.Z-r.Mean)/r.SE, r.Df); p == 0 || math.Abs(p/want-1) > 1e-9 {
		t.Errorf("p %v, by the reckoning %v", p, want)
	}
	if ref, _ := v.Ref.Get(); math.Abs(ref-r.MeanShare) > 1e-9 {
		t.Errorf("told against %v, reckoned against %v", ref, r.MeanShare)
	}
	if q, _ := v.Q.Get(); q < p {
		t.Errorf("q %v below p %v", q, p)
	}
}
