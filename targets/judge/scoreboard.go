package judge

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/board"
	"github.com/ttreport/ttreport/targets/regression/proportion"
)

// Ranking is what is known of the order of scores.
type Ranking = board.Board

// contestant is a score of a ranking with what its comparisons need, which is made once.
type contestant struct {
	*columns.ScoreRow
	settings string // what [promptDiffers] compares: scores with the same need no closer look
	value    float64
	se       float64 // 0 where it is not known
	share    bool    // of right answers; value, error and items are those of the share
	items    float64 // see [itemsBehind]; 0 where it is not known
	right    []uint64
}

func contestants(scores []*columns.ScoreRow) []*contestant {
	out := make([]*contestant, len(scores))
	for i, s := range scores {
		if s == nil {
			continue
		}
		c := &contestant{ScoreRow: s, settings: fmt.Sprintln(scaleOf(&s.Score), asksOf(s))}
		if s.Outcomes != nil {
			c.settings += s.Outcomes.Items
		}
		if c.value, c.share = share(&s.Score); c.share {
			c.se, c.items = spread(&s.Score, c.value), itemsKnown(&s.Score, c.value)
		} else {
			c.value, _ = s.Value.Get()
			c.se, _ = s.Stderr.Get()
		}
		if o := s.Outcomes; o != nil {
			c.right = make([]uint64, (len(o.Right)+63)/64)
			for k, is := range o.Right {
				if is {
					c.right[k/64] |= 1 << (k % 64)
				}
			}
		}
		out[i] = c
	}
	return out
}

// Split are the parts of [board.Size] of the rankings of a board with so many columns: half for the mean over all,
// which is what a board is asked for, and the rest for the columns. One column is all that is asked.
func Split(columns int) (mean, each float64) {
	if columns < 2 {
		return 1, 1
	}
	return .5, .5 / float64(columns)
}

// RankScores ranks scores of one task, which all have values, larger being better unless they say otherwise. Two that
// answer different questions are not compared. share is that of the board's level; see [board.Rank].
func RankScores(scores []*columns.ScoreRow, share float64) *Ranking {
	list := contestants(scores)
	return board.Rank(len(list), share, func(i, j int) (board.Diff, bool) { return list[i].ahead(list[j], false) })
}

// RankMeans ranks models by the mean of their shares of right answers, each two over the tasks that both have. tasks
// has for each task the score of every model, nil where it has none. Where all scores have errors, the tasks are taken
// as they are; else sampled says that they are a sample of tasks, and the error is that of the differences over them.
func RankMeans(tasks [][]*columns.ScoreRow, share float64) (r *Ranking, sampled bool) {
	lists := make([][]*contestant, len(tasks))
	for t, scores := range tasks {
		lists[t] = contestants(scores)
		for _, c := range lists[t] {
			sampled = sampled || c != nil && c.se <= 0
		}
	}
	var diffs []board.Diff
	var a, b []float64
	return board.Rank(len(tasks[0]), share, func(i, j int) (board.Diff, bool) {
		diffs, a, b = diffs[:0], a[:0], b[:0]
		for _, list := range lists {
			x, y := list[i], list[j]
			if x == nil || y == nil || x.differs(y) {
				continue
			}
			if sampled {
				p, q, _ := shares(&x.Score, &y.Score)
				a, b = append(a, p), append(b, q)
			} else if d, ok := x.ahead(y, len(tasks) > 1); ok {
				diffs = append(diffs, d)
			}
		}
		if sampled {
			return board.Over(a, b)
		}
		return board.Mean(diffs), len(diffs) > 0
	}), sampled
}

// differs reports whether two scores are of different questions or settings.
func (c *contestant) differs(o *contestant) bool {
	return c.settings != o.settings && promptDiffers(o.ScoreRow, c.ScoreRow) != ""
}

// ahead is by how much a score is better than another, as [difference] has it. A part of a mean needs no p.
func (c *contestant) ahead(o *contestant, part bool) (board.Diff, bool) {
	if c.differs(o) || c.share != o.share {
		return board.Diff{}, false
	}
	if c.share && sameItems(c.ScoreRow, o.ScoreRow) {
		return c.paired(o, part)
	}
	var d proportion.Difference
	if c.items > 0 && o.items > 0 && c.settings == o.settings {
		d = proportion.Newcombe(o.value, o.items, c.value, c.items)
	} else {
		d, _, _ = difference(o.ScoreRow, c.ScoreRow, schema.EvalChange{})
	}
	if c.Lower() {
		d.D, d.Lo, d.Hi = -d.D, -d.Hi, -d.Lo
	}
	return board.Between(d.D, d.Lo, d.Hi), c.se > 0 && o.se > 0
}

// paired compares answers to the same items.
func (c *contestant) paired(o *contestant, part bool) (board.Diff, bool) {
	if limited(&c.Score) && limited(&o.Score) || byItem(c.Outcomes) {
		return pairedItems(&c.Score, &o.Score)
	}
	lost, gained, n := 0, 0, len(c.Outcomes.Right)
	for k, word := range c.right {
		lost, gained = lost+bits.OnesCount64(o.right[k]&^word), gained+bits.OnesCount64(word&^o.right[k])
	}
	x := board.Of(float64(gained-lost)/float64(n), proportion.PairedError(lost, gained, n))
	if x.Paired = true; !part {
		m := proportion.McNemar(lost, gained, n)
		x.P = math.Min(1, 2*math.Min(m.Fell, m.Rose))
	}
	return x, true
}

// byItem reports whether answers are compared by their shares of right ones: several answers to an item, or items that
// depend on each other, are not independent pairs.
func byItem(o *schema.Outcomes) bool { return o.Samples > 1 || o.Clusters != nil }

// itemsFor are the answers of a score to its items.
func itemsFor(s *schema.Score) board.Items {
	x := board.Shares(s.Outcomes.Shares())
	x.Total, x.Cluster = s.Total, s.Outcomes.Clusters
	return x
}

// pairedItems is by how much the first of two scores of the same items is better. Where all items differ by as much,
// the error is that of one item more, as in McNemar's interval: so few answers say no more.
func pairedItems(a, b *schema.Score) (board.Diff, bool) {
	x, y := itemsFor(a), itemsFor(b)
	d, ok := board.Paired(&x, &y)
	if d.SE == 0 {
		d.SE = 1 / float64(len(x.Means))
	}
	return d, ok
}

// differenceByItem compares two scores of the same questions by the shares of right answers to each.
func differenceByItem(before, now *columns.ScoreRow) proportion.Difference {
	d := proportion.Difference{Fell: 1, Rose: 1}
	if x, ok := pairedItems(&now.Score, &before.Score); ok {
		d.D = x.D
		d.Lo, d.Hi = x.Interval()
		d.Fell, d.Rose = 1-x.P/2, x.P/2
		if x.D < 0 {
			d.Fell, d.Rose = d.Rose, d.Fell
		}
	}
	return d
}

// Flipped are the items of which the second of two scores with the same items has fewer right answers, and more.
func Flipped(before, now *schema.Outcomes) (lost, gained []int) {
	a, _ := before.Shares()
	b, _ := now.Shares()
	for i := range a {
		switch {
		case b[i] < a[i]:
			lost = append(lost, i)
		case b[i] > a[i]:
			gained = append(gained, i)
		}
	}
	return lost, gained
}

// NoiseOf splits the standard error of a score that has several answers to each item by what it is of: the choice of
// the items, and that a model answers one item differently each time. ok is false where it does not vary, and with one
// answer, which cannot tell.
func NoiseOf(s *schema.Score) (items, answers float64, k int, ok bool) {
	if s.Outcomes == nil || s.Outcomes.Samples < 2 {
		return 0, 0, 1, false
	}
	x := itemsFor(s)
	n := x.Noise()
	return n.Data, n.Prediction / math.Sqrt(float64(x.Samples)), x.Samples, n.SE > 0
}
