package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/regression"
)

// Score is a score of an eval on both sides, of the first run of each that has it.
type Score struct {
	System string // "" where both sides have one
	A, B   *schema.Score
	judge.Beside
	Why          string   // why they are not compared; "" where they are
	Lost, Gained []string // items with fewer right answers in B, and with more
	Sure         bool     // shown to differ, by Holm's procedure over all scores of the comparison
	// What would show a difference as large as this one, four times in five: that many items, or answers to each of the
	// same items; 0 where no number does.
	Items, Answers int
}

// Outcome states what the score shows.
func (s *Score) Outcome() schema.Outcome {
	switch {
	case !s.Sure:
		return schema.Inconclusive
	case s.D < 0 == s.B.Lower():
		return schema.Improved
	}
	return schema.Regressed
}

// scores compares what both sides answered, in the order of tasks.
func (r *Result) scores(a, b Side, name func(*schema.Run) string) {
	type id struct{ system, task, metric, filter string }
	of := func(from Side) (map[id][]*columns.ScoreRow, []id, int) { // one of each way to ask
		out, order, n := map[id][]*columns.ScoreRow{}, []id(nil), 0
		for i := range from.Runs {
			run := &from.Runs[i]
			for k := range run.Scores {
				row := &columns.ScoreRow{Score: run.Scores[k], Precision: run.Model.Precision}
				at := id{name(run), row.Task, row.Metric, schema.NamedFilter(row.Filter)}
				if _, has := row.Value.Get(); has && !slices.ContainsFunc(out[at], func(x *columns.ScoreRow) bool {
					return !judge.AskedApart(x, row)
				}) {
					if out[at] == nil {
						order = append(order, at)
					}
					out[at], n = append(out[at], row), n+1
				}
			}
		}
		return out, order, n
	}
	left, _, others := of(a)
	right, order, _ := of(b)
	for _, at := range order {
		for _, y := range right[at] {
			i := judge.GoesOn(left[at], right[at], y)
			if i < 0 {
				r.ScoresB++
				continue
			}
			x := left[at][i]
			s := Score{System: at.system, A: &x.Score, B: &y.Score}
			if s.Beside, s.Why = judge.ScoreBeside(x, y); s.Test == schema.TestPaired {
				lost, gained := judge.Flipped(x.Outcomes, y.Outcomes)
				s.Lost, s.Gained = ids(y, lost), ids(y, gained)
			}
			r.Scores = append(r.Scores, s)
		}
	}
	r.ScoresA = others - len(r.Scores)
	slices.SortStableFunc(r.Scores, func(x, y Score) int {
		return cmp.Or(cmp.Compare(x.System, y.System), schema.NaturalCompare(x.A.Task, y.A.Task),
			cmp.Compare(x.A.Metric, y.A.Metric), cmp.Compare(x.A.Filter, y.A.Filter))
	})
	r.separate()
}

// separate says which scores are shown to differ, and what would show the others to.
func (r *Result) separate() {
	var p []float64
	var tested []*Score
	for i := range r.Scores {
		if s := &r.Scores[i]; s.Why == "" && (s.Share || s.A.Direction != "") { // else nobody knows what is better
			p, tested = append(p, s.P), append(tested, s)
		}
	}
	limit, next := regression.Holm(p, .05)
	for i, s := range tested {
		if s.Sure = p[i] <= limit; s.Sure || s.B.N == 0 {
			continue
		}
		two := judge.RankScores([]*columns.ScoreRow{{Score: *s.A}, {Score: *s.B}}, 1)
		if d, ok := two.Diff(0, 1); ok && d.Factor(next) < 1000 {
			s.Items = max(s.B.N+1, int(math.Ceil(d.Factor(next)*float64(s.B.N))))
			s.Answers = d.NeededSamples(next)
		}
	}
}

func ids(s *columns.ScoreRow, items []int) (out []string) {
	for _, i := range items {
		out = append(out, s.ItemID(i))
	}
	slices.SortFunc(out, schema.NaturalCompare)
	return out
}
