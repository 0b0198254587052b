package judge_test

import (
	"math"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
	"github.com/ttreport/ttreport/targets/regression"
)

// answered is a share of n questions of which those before wrongFrom are right.
func answered(n, wrongFrom int, items string) schema.Score {
	right := make([]bool, n)
	for i := range right {
		right[i] = i < wrongFrom
	}
	s := judgetest.Share(float64(wrongFrom)/float64(n), n)
	s.Outcomes = &schema.Outcomes{Items: items, Right: right}
	return s
}

// evalHistory judges one score a release.
func evalHistory(t *testing.T, scores ...schema.Score) (*judge.Judgement, []schema.Verdict) {
	t.Helper()
	h := judgetest.History{}
	for _, s := range scores {
		h.TTFT, h.Scores = append(h.TTFT, nil), append(h.Scores, []schema.Score{s})
	}
	j := judged(t, h.Columns(), nil)
	var out []schema.Verdict
	for r := range scores {
		out = append(out, judgetest.Evals(j.History(r))...)
	}
	return j, out
}

// last is the verdict on the last of some releases.
func last(t *testing.T, scores ...schema.Score) (schema.Verdict, schema.EvalChange) {
	t.Helper()
	_, list := evalHistory(t, scores...)
	v := list[len(list)-1]
	why, ok := v.Reason.(schema.EvalChange)
	if !ok {
		t.Fatalf("the reason is %T: %+v", v.Reason, v)
	}
	return v, why
}

// shares are scores without answers, of n questions each.
func shares(n int, of ...float64) []schema.Score {
	var out []schema.Score
	for _, p := range of {
		out = append(out, judgetest.Share(p, n))
	}
	return out
}

// The same questions are compared item by item: a fall that two independent shares could not show is seen.
func TestEvalsArePaired(t *testing.T) {
	before, after := answered(500, 450, "a"), answered(500, 415, "a")
	_, list := evalHistory(t, before, after, after)
	v := list[1]
	why, _ := v.Reason.(schema.EvalChange)
	want := schema.EvalChange{Test: schema.TestPaired, Releases: 1, Limit: .01, N: 500, Lost: 35}
	if v.Outcome != schema.Regressed || v.Evidence != schema.Confirmed || why != want {
		t.Errorf("the same questions need no second run: %+v", v)
	}
	if v := list[2]; v.Outcome != schema.Unchanged || v.Baseline != "v1" {
		t.Errorf("afterwards: %+v", v)
	}
	v, why = last(t, before, answered(500, 415, "b"))
	if v.Outcome != schema.NotComparable || why.Test != schema.TestPrompt || why.Conditions == "" {
		t.Errorf("other questions: %+v", v)
	}
}

// Three points of GSM8K and of MMLU are a regression, as one point of MMLU is; half a point is not.
func TestPointsThatMatter(t *testing.T) {
	for _, c := range []struct {
		n, before, after int
		want             schema.Outcome
	}{
		{1319, 1187, 1147, schema.Regressed}, {14042, 9800, 9400, schema.Regressed}, {14042, 9800, 9650, schema.Regressed},
		{14042, 9800, 9760, schema.Unchanged}, {1319, 1187, 1186, schema.Unchanged}, {164, 120, 119, schema.Unchanged},
	} {
		v, why := last(t, answered(c.n, c.before, "a"), answered(c.n, c.after, "a"))
		if v.Outcome != c.want {
			t.Errorf("%d of %d to %d: %s, limit %v", c.before, c.n, c.after, v.Outcome, why.Limit)
		}
	}
}

// A person may accept that the questions changed: the scores are then compared all the same.
func TestAcceptedQuestions(t *testing.T) {
	h := judgetest.History{
		TTFT:   [][]float64{nil, nil},
		Scores: [][]schema.Score{{answered(500, 450, "a")}, {answered(500, 451, "b")}},
	}
	accept := &decision.Policy{Decisions: []decision.Decision{{
		ID: "D", Kind: schema.Accept, Release: "v1", Select: decision.Select{Task: "gsm8k"}, Reason: "typos", Owner: "o",
	}}}
	v := judgetest.Evals(judged(t, h.Columns(), accept).History(1))[0]
	if why, _ := v.Reason.(schema.EvalChange); v.Outcome != schema.Unchanged || why.Test != schema.TestUnpaired {
		t.Errorf("%+v", v)
	}
}

// Thirty questions are too few, and the verdict states how many would be enough.
func TestFewQuestions(t *testing.T) {
	v, why := last(t, shares(30, .8, .77)...)
	if v.Outcome != schema.Inconclusive || v.Large || why.Test != schema.TestUnpaired || why.Needed < 100 {
		t.Errorf("%s %+v", v.Outcome, why)
	}
	if v, _ := last(t, shares(20000, .8, .801)...); v.Outcome != schema.Unchanged {
		t.Errorf("%s", v.Outcome)
	}
	v, why = last(t, shares(30, .8, .7)...)
	if v.Outcome != schema.Inconclusive || !v.Large || why.Why != schema.WhyNotSignificant || why.Code() != "unpaired" {
		t.Errorf("%s %+v", v.Outcome, why)
	}
	none := schema.Score{Task: "gsm8k", Metric: "exact_match", Value: schema.Num(.8)}
	if v, why := last(t, none, none); v.Outcome != schema.NoBaseline || why.Test != schema.TestNoError {
		t.Errorf("%s %+v", v.Outcome, why)
	}
}

// What counts surprise or mistakes is no share of right answers, whether or not the file says so: a perplexity that
// rises has not improved, and its questions do not give it an error.
func TestPerplexityIsNoShare(t *testing.T) {
	of := func(v float64, stderr schema.Number) schema.Score {
		return schema.Score{Task: "wikitext", Metric: "ppl", Value: schema.Num(v), N: 5000, Stderr: stderr}
	}
	v, why := last(t, of(9.2, schema.Missing("")), of(15, schema.Missing("")))
	if v.Outcome != schema.NoBaseline || why.Test != schema.TestNoError || why.N != 5000 {
		t.Errorf("%s %+v", v.Outcome, why)
	}
	if v, _ := last(t, of(9.2, schema.Num(.1)), of(15, schema.Num(.1))); v.Outcome != schema.Regressed {
		t.Errorf("%s", v.Outcome)
	}
}

// A metric for which lower is better, by its standard error.
func TestLowerIsBetter(t *testing.T) {
	wer := func(v float64) schema.Score {
		return schema.Score{
			Task: "asr", Metric: "wer", Value: schema.Num(v), Stderr: schema.Num(.002), Direction: "lower",
		}
	}
	v, why := last(t, wer(.10), wer(.20))
	if e, _ := v.Effect.Get(); v.Outcome != schema.Regressed || why.Test != schema.TestByError ||
		e < .09 || v.Interval[0] > e || v.Interval[1] < e {
		t.Errorf("%+v: effect %v in %v", v, e, v.Interval)
	}
	if v, _ := last(t, wer(.20), wer(.10)); v.Outcome != schema.Improved {
		t.Errorf("%s", v.Outcome)
	}
}

// Scores that are no shares of right answers: BLEU and TER count to 100, a Brier score to 1, and a perplexity is
// compared relative to itself. Without a direction in the file what counts mistakes is better lower.
func TestScalesOfOtherScores(t *testing.T) {
	for _, c := range []struct {
		metric         string
		before, now, e float64
		effect         float64
		outcome        schema.Outcome
	}{
		{"bleu", 30.1, 28.4, .2, .017, schema.Inconclusive},
		{"bleu", 30.1, 29.9, .2, .002, schema.Unchanged},
		{"bleu", 30.1, 24.1, .2, .06, schema.Regressed},
		{"ter", 55, 55.9, .15, .009, schema.Unchanged},
		{"wer", 6.2, 6.51, .05, .0031, schema.Unchanged},
		{"brier_score", .401, .461, .005, .06, schema.Regressed},
		{"word_perplexity", 12, 12.1, .03, .1 / 12, schema.Unchanged},
		{"word_perplexity", 12, 15, .1, .25, schema.Regressed},
		{"likelihood_diff", 3.4, 3.9, .01, .5 / 3.4, schema.Regressed},
	} {
		of := func(v float64) schema.Score {
			return schema.Score{Task: "x", Metric: c.metric, Value: schema.Num(v), Stderr: schema.Num(c.e), N: 3000}
		}
		v, why := last(t, of(c.before), of(c.now))
		e, _ := v.Effect.Get()
		relative := strings.Contains(c.metric, "perplexity") || strings.Contains(c.metric, "diff")
		if math.Abs(e-c.effect) > 1e-9 || v.Outcome != c.outcome || why.Relative != relative {
			t.Errorf("%+v: %s, effect %g, %+v", c, v.Outcome, e, why)
		}
	}
}

// From three releases on the noise between releases counts, and not only that of the questions.
func TestEvalGateUsesReleases(t *testing.T) {
	if v, _ := last(t, shares(1000, .70, .85, .72, .86, .71)...); v.Outcome == schema.Regressed {
		t.Errorf("%s: it has always jumped by 15 points", v.Outcome)
	}
	v, why := last(t, shares(1000, .85, .851, .849, .85, .70)...)
	if v.Outcome != schema.Regressed || why.Test != schema.TestGate || why.Releases != 4 {
		t.Errorf("%s %+v", v.Outcome, why)
	}
}

// The calculation behind an eval's verdict adds up to its p, however small.
func TestEvalCalculationAddsUp(t *testing.T) {
	j, list := evalHistory(t, shares(2000, .8, .801, .802, .803, .6)...)
	v := list[4]
	r := j.ExplainEval(v)
	if r == nil || len(r.Baseline) != 4 || len(r.Now) != 1 {
		t.Fatalf("%+v", r)
	}
	p, _ := v.P.Get()
	if want := regression.UpperTail(-(r.Z-r.Mean)/r.SE, r.Df); p == 0 || math.Abs(p/want-1) > 1e-9 {
		t.Errorf("p %v, by the calculation %v", p, want)
	}
	if ref, _ := v.Ref.Get(); math.Abs(ref-r.MeanShare) > 1e-9 {
		t.Errorf("shown against %v, computed against %v", ref, r.MeanShare)
	}
	if q, _ := v.Q.Get(); q < p {
		t.Errorf("q %v below p %v", q, p)
	}
	if j.ExplainEval(schema.Verdict{ID: "000000000000"}) != nil {
		t.Error("a verdict that nobody made is explained")
	}
}

// A task keeps its metric: a later name does not change earlier verdicts, and the old one is shown as not measured
// again.
func TestEvalKeepsItsMetric(t *testing.T) {
	acc := func(p float64) schema.Score {
		s := judgetest.Share(p, 500)
		s.Metric, s.Filter = "acc", ""
		return s
	}
	scores := [][]schema.Score{{acc(.8)}, {acc(.81)}, {acc(.8)}, {acc(.79)}, {acc(.2)}}
	fall := func(h judgetest.History) schema.Verdict {
		if list := judgetest.Evals(judged(t, h.Columns(), nil).History(4)); len(list) > 0 {
			return list[0]
		}
		return schema.Verdict{}
	}
	before := fall(judgetest.History{TTFT: judgetest.Steady(5), Scores: scores})
	longer := judgetest.History{
		TTFT: judgetest.Steady(6), Scores: append(scores, []schema.Score{judgetest.Share(.2, 500)}),
	}
	after := fall(longer)
	if before.Outcome != schema.Regressed || after.Outcome != schema.Regressed || after.Evidence != schema.Suspected {
		t.Errorf("before %s, after %s %s", before.Outcome, after.Outcome, after.Evidence)
	}
	lost := false
	for _, v := range judged(t, longer.Columns(), nil).History(5) {
		lost = lost || schema.ReasonIs[schema.NotRemeasured](v.Reason) && v.Metric == "acc"
	}
	if !lost {
		t.Error("nothing shows that acc is no longer reported")
	}
}

// A build near its base's own suspect is large and inconclusive, because the change is that of its base.
func TestBuildIsNotBlamedForItsBasesEval(t *testing.T) {
	good, bad := []schema.Score{judgetest.Share(.8, 800)}, []schema.Score{judgetest.Share(.5, 800)}
	h := judgetest.History{
		TTFT: judgetest.Steady(6), Scores: [][]schema.Score{good, good, good, good, bad, bad},
		Channels: []string{"", "", "", "", "", schema.ChannelPR},
	}
	list := judgetest.Evals(judged(t, h.Columns(), nil).History(5))
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	v := list[0]
	why, _ := v.Reason.(schema.EvalChange)
	if v.Outcome != schema.Inconclusive || !v.Large || why.Why != schema.WhyBaseSuspect || v.First != "v4" {
		t.Errorf("%+v", v)
	}
}

// A later run of a release that lost forty points is large and inconclusive, with its own score.
func TestLaterEvalFarWorse(t *testing.T) {
	score := func(v float64) []schema.Score {
		return []schema.Score{{Task: "mmlu", Metric: "acc", Value: schema.Num(v), N: 1000}}
	}
	h := judgetest.History{TTFT: judgetest.Steady(7), Scores: [][]schema.Score{
		score(.70), score(.702), score(.699), score(.701), score(.7), score(.7), score(.3),
	}}
	c := h.Columns()
	c.Runs[6].Release = "v5"
	list := judgetest.Evals(judged(t, c, nil).History(5))
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	v := list[0]
	e, _ := v.Effect.Get()
	value, _ := v.Value.Get()
	why, _ := v.Reason.(schema.EvalChange)
	if v.Outcome != schema.Inconclusive || !v.Large || e < .3 || value != .3 || v.Run != "run-6" {
		t.Errorf("%+v", v)
	}
	if q, has := v.Q.Get(); has {
		t.Errorf("q %v beside the change of another run", q)
	}
	if why.Why != schema.WhyRunsDisagree || why.Code() != "runs-disagree" || math.Abs(why.First-.7) > 1e-9 {
		t.Errorf("%+v", why)
	}
}

// An eval that releases ask for in two ways is two, whether in one run or in two: the score of one way does not confirm
// what the other saw, and both are judged.
func TestTwoWaysToAskAreTwoEvals(t *testing.T) {
	score := func(shots int, v float64) schema.Score {
		s := judgetest.Share(v, 1319)
		s.Fewshot = &shots
		return s
	}
	apart := judgetest.History{TTFT: judgetest.Steady(12)}
	together := judgetest.History{TTFT: judgetest.Steady(6)}
	for _, five := range []float64{.9, .9, .9, .9, .9, .872} {
		first, second := score(5, five), score(0, .6)
		apart.Scores = append(apart.Scores, []schema.Score{first}, []schema.Score{second})
		first.Filter += schema.FilterMark + "shots 5"
		second.Filter += schema.FilterMark + "shots 0"
		together.Scores = append(together.Scores, []schema.Score{second, first})
	}
	runs := apart.Columns()
	for i := range runs.Runs {
		runs.Runs[i].Release = runs.Runs[i/2*2].Release
	}
	for name, c := range map[string]*columns.Columns{"two runs": runs, "one run": together.Columns()} {
		j := judged(t, c, nil)
		list := judgetest.Evals(j.History(5))
		if len(list) != 2 {
			t.Fatalf("%s: %+v", name, list)
		}
		want := map[string]schema.Outcome{
			"strict-match | shots 0": schema.Unchanged, "strict-match | shots 5": schema.Regressed,
		}
		for _, v := range list {
			filter := v.Key.Dims["filter"]
			if v.Outcome != want[filter] || v.Evidence == schema.Confirmed {
				t.Errorf("%s: %+v", name, v)
			}
			delete(want, filter)
			if s := j.ScoreOf(&v); s == nil || s.Value != v.Value {
				t.Errorf("%s: the verdict is about %+v", name, s)
			}
		}
	}
}

// Where each release asks in one way, another way is the same eval, and no baseline.
func TestOtherShotsAreNotComparable(t *testing.T) {
	list := shares(1000, .9, .9, .6)
	five, none := 5, 0
	list[0].Fewshot, list[1].Fewshot, list[2].Fewshot = &five, &five, &none
	if v, why := last(t, list...); v.Outcome != schema.NotComparable || why.Conditions != "few-shot 5 → 0" {
		t.Errorf("%+v", v)
	}
}

// The rows of a table that a column names are numbers of their own; a tool's filters are readings of one.
func TestRowsOfATableAreEvals(t *testing.T) {
	h := judgetest.History{TTFT: judgetest.Steady(2)}
	for range 2 {
		var scores []schema.Score
		for _, filter := range []string{"subtask=1", "subtask=2", "strict-match", "flexible-extract"} {
			s := judgetest.Share(.5, 1000)
			s.Filter = filter
			scores = append(scores, s)
		}
		h.Scores = append(h.Scores, scores)
	}
	if list := judgetest.Evals(judged(t, h.Columns(), nil).History(1)); len(list) != 3 {
		t.Errorf("%+v", list)
	}
}
