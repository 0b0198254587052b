package judge

import (
	"fmt"
	"math"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/board"
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/proportion"
)

// Ranking is what is known of the order of scores.
type Ranking = board.Board

// RankScores ranks scores of one task, which all have values, larger being better unless they say otherwise. Two that
// answer different questions are not compared.
func RankScores(scores []*columns.ScoreRow) *Ranking {
	settings := settingsOf(scores)
	return board.Rank(len(scores), func(i, j int) (board.Diff, bool) {
		if settings[i] != settings[j] && promptDiffers(scores[j], scores[i]) != "" {
			return board.Diff{}, false
		}
		return aheadBy(scores[i], scores[j])
	})
}

// RankMeans ranks models by the mean of their shares of right answers, each two over the tasks that both have. tasks
// has for each task the score of every model, nil where it has none. Where all scores have errors, the tasks are taken
// as they are; else sampled says that they are a sample of tasks, and the error is that of the differences over them.
func RankMeans(tasks [][]*columns.ScoreRow) (r *Ranking, sampled bool) {
	settings := make([][]string, len(tasks))
	for t, scores := range tasks {
		settings[t] = settingsOf(scores)
		for _, s := range scores {
			if s != nil && !hasError(s) {
				sampled = true
			}
		}
	}
	return board.Rank(len(tasks[0]), func(i, j int) (board.Diff, bool) {
		var diffs []board.Diff
		var a, b []float64
		for t, scores := range tasks {
			x, y := scores[i], scores[j]
			if x == nil || y == nil || settings[t][i] != settings[t][j] && promptDiffers(y, x) != "" {
				continue
			}
			if sampled {
				p, q, _ := shares(&x.Score, &y.Score)
				a, b = append(a, p), append(b, q)
			} else if d, ok := aheadBy(x, y); ok {
				diffs = append(diffs, d)
			}
		}
		if sampled {
			return board.Over(a, b)
		}
		return board.Mean(diffs), len(diffs) > 0
	}), sampled
}

// settingsOf are what [promptDiffers] compares, as one text of each score: scores with the same need no closer look.
func settingsOf(scores []*columns.ScoreRow) []string {
	out := make([]string, len(scores))
	for i, s := range scores {
		if s == nil {
			continue
		}
		parts := []string{s.Version, fmt.Sprint(scaleOf(&s.Score))}
		if s.Fewshot != nil {
			parts = append(parts, fmt.Sprint(*s.Fewshot))
		}
		if s.Outcomes != nil {
			parts = append(parts, s.Outcomes.Items)
		}
		for _, name := range schema.ModelSettings() {
			parts = append(parts, s.Unknown.Text(name))
		}
		out[i] = strings.Join(parts, "\x00")
	}
	return out
}

// hasError reports whether the noise of a share is known.
func hasError(s *columns.ScoreRow) bool {
	e, has := s.Stderr.Get()
	return s.N > 0 || has && e > 0
}

// aheadBy is by how much the first of two scores is better than the second: item by item where both answered the same
// items, with the finite correction where the items are a part of the task.
func aheadBy(x, y *columns.ScoreRow) (board.Diff, bool) {
	limited := x.Total > x.N && y.Total > y.N && x.N > 0 && y.N > 0
	p, q, isShare := shares(&x.Score, &y.Score)
	switch {
	case isShare && sameItems(x, y) && (limited || x.Outcomes.Samples > 1):
		a, b := itemsFor(x), itemsFor(y)
		return board.Paired(&a, &b)
	case isShare && limited:
		e, _ := spread(&x.Score, p)
		f, _ := spread(&y.Score, q)
		return board.Of(p-q, math.Hypot(e, f)), true
	}
	d, r, why := difference(y, x, schema.EvalChange{})
	if why != "" {
		return board.Diff{}, false
	}
	out := board.Of(d.D, (d.Hi-d.Lo)/(2*regression.Quantile(.975, math.Inf(1))))
	out.P, out.Paired = math.Min(1, 2*math.Min(d.Fell, d.Rose)), r.Test == schema.TestPaired
	if x.Direction == "lower" {
		out.D = -out.D
	}
	return out, true
}

// itemsFor are the answers of a score to its items.
func itemsFor(s *columns.ScoreRow) board.Items {
	x := board.Shares(s.Outcomes.Shares())
	x.Total = s.Total
	return x
}

// byItem compares two scores that have several answers to each of the same questions, by the shares of right ones.
func byItem(before, now *columns.ScoreRow, r schema.EvalChange) (proportion.Difference, schema.EvalChange) {
	a, b := itemsFor(now), itemsFor(before)
	for i := range a.Means {
		switch {
		case a.Means[i] < b.Means[i]:
			r.Lost++
		case a.Means[i] > b.Means[i]:
			r.Gained++
		}
	}
	r.Test = schema.TestPaired
	d := proportion.Difference{Fell: 1, Rose: 1, Lost: r.Lost, Gained: r.Gained, Paired: true}
	if x, ok := board.Paired(&a, &b); ok {
		d.D = x.D
		d.Lo, d.Hi = x.Interval()
		d.Fell, d.Rose = 1-x.P/2, x.P/2
		if x.D < 0 {
			d.Fell, d.Rose = d.Rose, d.Fell
		}
	}
	return d, r
}
