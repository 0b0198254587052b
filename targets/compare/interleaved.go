package compare

import (
	"maps"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/regression/block"
	"github.com/ttreport/ttreport/targets/regression/pairing"
)

// Interleaved is the test of a row whose sides took turns: the paired differences of their blocks.
const Interleaved = "paired blocks"

// Untested stands for the test of a row that none decides.
const Untested = pairing.NoTest

// All is the change of all points together in blocks that both sides measured in turns.
type All struct {
	Metric         string
	Points, Blocks int
	Change, Lo, Hi float64 // relative, 95 %
	Kept           bool    // servers kept running
}

// interleave replaces the rows of numbers that runs of both sides measured in turns by their paired differences, which
// is stronger evidence than any comparison of separate runs.
func (r *Result) interleave(a, b Side, name func(*schema.Run) string) {
	t := r.turnsOf(a, b, name)
	byMetric, rowOf := map[string][]cell{}, map[cell]*Row{}
	for i := range r.Rows {
		row := &r.Rows[i]
		byMetric[row.Metric], rowOf[row.of] = append(byMetric[row.Metric], row.of), row
	}
	var list []block.Difference
	var at []*Row
	for _, metric := range slices.Sorted(maps.Keys(byMetric)) {
		cells, each, all := t.Compare(byMetric[metric])
		for k, c := range cells {
			x, row := each[k], rowOf[c]
			a, b := t.Means(c)
			for i := range a {
				a[i], b[i] = math.Exp(a[i]), math.Exp(b[i])
			}
			lo, hi := x.Interval(.95)
			row.Result = pairing.Compare(a, b) // for means and spreads
			row.Change, row.Lo, row.Hi = math.Expm1(x.Mean), math.Expm1(lo), math.Expm1(hi)
			row.P, row.Test = x.P(), Interleaved
			// What is worse is one family of tests, in whichever way a metric counts, as in verdicts.
			x.Mean, x.Own.Mean = judge.Sign(metric)*x.Mean, judge.Sign(metric)*x.Own.Mean
			list, at = append(list, x), append(at, row)
		}
		if !all.Known() {
			continue
		}
		lo, hi := all.Interval(.95)
		r.All = append(r.All, All{
			Metric: metric, Points: len(cells), Blocks: all.Blocks, Kept: t.Kept,
			Change: math.Expm1(all.Mean), Lo: math.Expm1(lo), Hi: math.Expm1(hi),
		})
	}
	for k, significant := range block.Significant(list) {
		row := at[k]
		row.Badness, row.Sure = badness(row.Metric, row.Change), significant
		if row.NeededEach = 0; !significant {
			row.NeededEach = list[k].Needed(list[k].Mean)
		}
	}
}

// turnsOf finds runs of both sides that name each other, and what they measured by block.
func (r *Result) turnsOf(a, b Side, name func(*schema.Run) string) *block.Turns[cell] {
	t := &block.Turns[cell]{}
	byID := map[string]*schema.Run{}
	for i := range a.Runs {
		byID[a.Runs[i].ID] = &a.Runs[i]
	}
	for pair := range b.Runs {
		right := &b.Runs[pair]
		left := byID[right.Interleaved.With]
		if left == nil || left == right || left.Interleaved.With != right.ID {
			continue
		}
		if why := mismatch(a, b, left, right); why != nil {
			r.NoPairs = append(r.NoPairs, *why)
			continue
		}
		t.Kept = t.Kept || left.Interleaved.IsKept() || right.Interleaved.IsKept()
		for side, run := range []*schema.Run{left, right} {
			take(t, side, pair, run, name(run))
		}
	}
	return t
}

// take adds what a run measured in turns to a side of a pair.
func take(t *block.Turns[cell], side, pair int, run *schema.Run, system string) {
	for i := range run.Points {
		p := &run.Points[i]
		if p.Block == 0 || failed(p) {
			continue
		}
		for _, x := range numbersOf(p) {
			if schema.Measurable(x.value) {
				t.Add(side, cell{system, p.Key.String(), x.metric, x.stat, x.def}, block.Turn{Pair: pair, Block: p.Block},
					math.Log(x.value))
			}
		}
	}
}

// badness is the log change of a metric, positive for worse.
func badness(metric string, change float64) float64 { return judge.Sign(metric) * math.Log1p(change) }
