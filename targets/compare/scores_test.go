package compare_test

import (
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/compare"
)

// answered is a run of a model with a score for each task, of the answers that a text has: x for right.
func answered(model string, tasks map[string]string) compare.Side {
	r := run(model)
	for task, answers := range tasks {
		s := schema.Score{Task: task, Metric: "acc", N: len(answers), Outcomes: &schema.Outcomes{Items: "same"}}
		right := 0.
		for _, c := range answers {
			s.Outcomes.Right = append(s.Outcomes.Right, c == 'x')
			if c == 'x' {
				right++
			}
		}
		s.Value = schema.Num(right / float64(len(answers)))
		r.Scores = append(r.Scores, s)
	}
	return compare.Side{Name: model, Runs: []schema.Run{r}}
}

// Scores of two models are compared item by item: which items flipped is known by id, a difference is one of a family,
// and what is not shown has how many items might show it.
func TestScores(t *testing.T) {
	a := answered("A", map[string]string{"one": "xxxxxxxxxxxxxxxxxxxx", "two": "xxxxxxxxxx----------", "three": "x"})
	b := answered("B", map[string]string{"one": "xxxxxxxxxx----------", "two": "xxxxxxxx-x----x-----", "four": "x"})
	a.Runs[0].Scores[0].Items = nil
	r := compare.Sides(a, b)
	if len(r.Scores) != 2 || r.ScoresA != 1 || r.ScoresB != 1 {
		t.Fatalf("%+v", r)
	}
	one, two := &r.Scores[0], &r.Scores[1]
	if one.Outcome() != schema.Regressed || one.Items != 0 || len(one.Lost) != 10 || one.Lost[0] != "10" ||
		one.Gained != nil {
		t.Errorf("%+v", one)
	}
	if two.Outcome() != schema.Inconclusive || !slices.Equal(two.Lost, []string{"8"}) ||
		!slices.Equal(two.Gained, []string{"14"}) {
		t.Errorf("%+v", two)
	}
	for i := range b.Runs[0].Scores { // of as many tasks that differ as little, none is shown
		if s := &b.Runs[0].Scores[i]; s.Task == "one" {
			s.Outcomes.Right = append(slices.Repeat([]bool{true}, 15), make([]bool, 5)...)
			s.Value = schema.Num(.75)
		}
	}
	if one = &compare.Sides(a, b).Scores[0]; one.P < .06 || one.Sure || one.Items <= 20 {
		t.Errorf("%+v", one)
	}
}

// Questions about one text are no independent pairs: what ten of them say together is said once.
func TestScoresOfGroups(t *testing.T) {
	a := answered("A", map[string]string{"t": "xxxxxxxxxxxx----xxxx"})
	b := answered("B", map[string]string{"t": "------------xxxxxxxx"})
	if s := compare.Sides(a, b).Scores[0]; s.P > .1 {
		t.Fatalf("%+v", s)
	}
	for _, side := range []compare.Side{a, b} {
		side.Runs[0].Scores[0].Outcomes.Clusters = []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}
	}
	if s := compare.Sides(a, b).Scores[0]; s.P < .2 || s.Sure || s.Test != schema.TestPaired {
		t.Errorf("%+v", s)
	}
}
