package judge

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/board"
)

func answered(task string, right []bool, samples int) *columns.ScoreRow {
	n := 0.
	for _, r := range right {
		if r {
			n++
		}
	}
	return &columns.ScoreRow{Score: schema.Score{
		Task: task, Metric: "accuracy", Value: schema.Num(n / float64(len(right))), N: len(right) / max(1, samples),
		Outcomes: &schema.Outcomes{Items: "same", Right: right, Samples: samples},
	}}
}

// Sixteen answers to each of eight questions are not 128 questions: a model that answers three of the eight otherwise
// is not shown to be worse, however often it is asked.
func TestEpochsAreNoQuestions(t *testing.T) {
	var before, now []bool
	for item := range 8 {
		for range 16 {
			before, now = append(before, true), append(now, item > 2)
		}
	}
	b, _ := ScoreBeside(answered("a", before, 16), answered("a", now, 16))
	if b.Test != schema.TestPaired || b.D != -.375 || !(b.Hi > 0) {
		t.Errorf("%+v", b)
	}
	if b, _ := ScoreBeside(answered("a", before, 0), answered("a", now, 0)); !(b.Hi < 0) {
		t.Errorf("128 questions: %+v", b)
	}
	if r := RankScores([]*columns.ScoreRow{answered("a", before, 16), answered("a", now, 16)}, 1); r.Separated() != 0 {
		t.Errorf("%+v", r)
	}
}

// A mean over tasks is of those that both have: a missing score is not a zero. Questions of another wording are not
// compared.
func TestRankMeans(t *testing.T) {
	share := func(task string, v float64, n int) *columns.ScoreRow {
		return &columns.ScoreRow{Score: schema.Score{Task: task, Metric: "acc", Value: schema.Num(v), N: n}}
	}
	tasks := [][]*columns.ScoreRow{
		{share("easy", .9, 1000), share("easy", .8, 1000), share("easy", .9, 1000)},
		{share("hard", .2, 1000), share("hard", .1, 1000), nil},
	}
	r, sampled := RankMeans(tasks, 1)
	if sampled || r.Best() != -1 || len(r.Ties(0)) != 1 || r.Low[1] != 3 {
		t.Errorf("%+v, sampled %v", r, sampled)
	}
	d, _ := r.Diff(0, 1)
	if math.Abs(d.D-.1) > 1e-12 || !(d.P < .001) {
		t.Errorf("%+v", d)
	}
	if d, ok := r.Diff(0, 2); !ok || d.D != 0 {
		t.Errorf("against the model with a gap: %+v", d)
	}
	tasks[0][1].Version, tasks[0][0].Version = "1", "2"
	if r, _ := RankMeans(tasks[:1], 1); r.Tied(0, 1) || r.Separated() != 1 {
		t.Errorf("other versions of the task are compared: %+v", r)
	}
	for _, scores := range tasks {
		for _, s := range scores {
			if s != nil {
				s.N = 0
			}
		}
	}
	if _, sampled := RankMeans(tasks, 1); !sampled {
		t.Error("scores without an error have one")
	}
}

// Half of the questions of a task leave less open than as many of an endless one.
func TestLimitedRuns(t *testing.T) {
	row := func(v float64, total int) *columns.ScoreRow {
		return &columns.ScoreRow{Score: schema.Score{Task: "a", Metric: "acc", Value: schema.Num(v), N: 500, Total: total}}
	}
	diff := func(total int) (board.Diff, bool) {
		return RankScores([]*columns.ScoreRow{row(.8, total), row(.7, total)}, 1).Diff(0, 1)
	}
	whole, _ := diff(0)
	half, ok := diff(1000)
	if ratio := half.SE / whole.SE; !ok || math.Abs(ratio-math.Sqrt(.5)) > .01 {
		t.Errorf("%g of the error", ratio)
	}
	beside, _ := ScoreBeside(row(.7, 1000), row(.8, 1000)) // what releases are compared by
	if lo, hi := half.Interval(); math.Abs(beside.Lo-lo) > .003 || math.Abs(beside.Hi-hi) > .003 {
		t.Errorf("from %g to %g between releases, %g to %g on a board", beside.Lo, beside.Hi, lo, hi)
	}
}

// Ranks compare what a difference of two compares: no scores of two precisions, whose verdict is not-comparable.
func TestRanksOfOnePrecision(t *testing.T) {
	row := func(v float64, precision string) *columns.ScoreRow {
		return &columns.ScoreRow{Precision: precision,
			Score: schema.Score{Task: "a", Metric: "acc", Value: schema.Num(v), N: 1000}}
	}
	for _, precision := range []string{"fp8", "bf16", ""} {
		a, b := row(.9, "bf16"), row(.7, precision)
		_, why := ScoreBeside(a, b)
		_, ok := RankScores([]*columns.ScoreRow{a, b}, 1).Diff(0, 1)
		if ok != (why == "") || ok != (precision != "fp8") {
			t.Errorf("bf16 and %q: ranked %v, beside: %q", precision, ok, why)
		}
	}
}

// What few answers to the same questions do not separate has an interval that holds zero.
func TestFewAnswersAgree(t *testing.T) {
	for _, lost := range []int{5, 6} {
		before, now := make([]bool, 40), make([]bool, 40)
		for i := range before {
			before[i], now[i] = true, i >= lost
		}
		a, b := answered("a", before, 0), answered("a", now, 0)
		r := RankScores([]*columns.ScoreRow{a, b}, 1)
		d, _ := r.Diff(0, 1)
		lo, hi := r.Interval(d)
		beside, _ := ScoreBeside(a, b)
		if holds := lo <= 0 && hi >= 0; holds != r.Tied(0, 1) || holds != (beside.Hi >= 0) || holds != (lost == 5) {
			t.Errorf("%d lost: tied %v, from %g to %g, beside %+v", lost, r.Tied(0, 1), lo, hi, beside)
		}
	}
}
