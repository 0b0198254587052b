package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/block"
	"github.com/ttreport/ttreport/targets/regression/pairing"
)

// Interleaved is the test of a row whose sides took turns: the paired differences of their blocks.
const Interleaved = "paired blocks"

// All is the change of all points together in blocks that both sides measured in turns.
type All struct {
	Metric         string
	Points, Blocks int
	Change, Lo, Hi float64 // relative, 95 %
	Kept           bool    // servers kept running
}

// turn names one turn of a server: the pair of runs, and the block.
type turn struct{ pair, block int }

// turns holds the logarithms of what was measured in turns, by cell.
type turns struct {
	values [2]map[cell]map[turn][]float64 // of A and B
	kept   bool
	none   []schema.Mismatch // of runs that name each other
}

// interleave replaces the rows of numbers that runs of both sides measured in turns by their paired differences, which
// is stronger evidence than any comparison of separate runs.
func (r *Result) interleave(a, b Side, several bool) {
	t := turnsOf(a, b, several)
	r.NoPairs = t.none
	byMetric := map[string][]int{}
	for i := range r.Rows {
		byMetric[r.Rows[i].Metric] = append(byMetric[r.Rows[i].Metric], i)
	}
	var list []block.Difference
	var at []int
	for _, metric := range slices.Sorted(maps.Keys(byMetric)) {
		rows, series, times := t.series(r.Rows, byMetric[metric])
		if len(rows) == 0 {
			continue
		}
		design := block.Fresh()
		design.Kept = t.kept
		if known, ok := b.StartNoise[metric]; ok {
			design.Starts = known
		}
		each, all := block.Compare(series, design)
		for k, i := range rows {
			r.Rows[i].Result = t.result(r.Rows[i].of, times, each[k])
			// What is worse is one family of tests, in whichever way a metric counts, as in verdicts.
			x := each[k]
			x.Mean, x.Own.Mean = direction(metric)*x.Mean, direction(metric)*x.Own.Mean
			list, at = append(list, x), append(at, i)
		}
		if !all.Known() {
			continue
		}
		lo, hi := all.Interval(.95)
		r.All = append(r.All, All{
			Metric: metric, Points: len(rows), Blocks: all.Blocks, Kept: t.kept,
			Change: math.Expm1(all.Mean), Lo: math.Expm1(lo), Hi: math.Expm1(hi),
		})
	}
	for k, significant := range block.Significant(list) {
		row := &r.Rows[at[k]]
		row.Badness, row.Sure = badness(row.Metric, row.Change), significant
		if row.NeededEach = 0; !significant {
			row.NeededEach = list[k].Needed(list[k].Mean)
		}
	}
}

// turnsOf finds runs of both sides that name each other, and what they measured by block.
func turnsOf(a, b Side, several bool) *turns {
	t := &turns{values: [2]map[cell]map[turn][]float64{{}, {}}}
	byID := map[string]*schema.Run{}
	for i := range a.Runs {
		byID[a.Runs[i].ID] = &a.Runs[i]
	}
	pair := 0
	for i := range b.Runs {
		right := &b.Runs[i]
		left := byID[right.Interleaved.With]
		if left == nil || left == right || left.Interleaved.With != right.ID {
			continue
		}
		if why := mismatch(a, b, left, right); why != nil {
			t.none = append(t.none, *why)
			continue
		}
		pair++
		t.kept = t.kept || left.Interleaved.IsKept() || right.Interleaved.IsKept()
		for side, run := range []*schema.Run{left, right} {
			t.add(side, pair, run, several)
		}
	}
	return t
}

func (t *turns) add(side, pair int, run *schema.Run, several bool) {
	system := ""
	if several {
		system = systemOf(run)
	}
	for i := range run.Points {
		p := &run.Points[i]
		if p.Block == 0 || failed(p) {
			continue
		}
		for _, x := range numbersOf(p) {
			if !schema.Measurable(x.value) {
				continue
			}
			of, at := cell{system, p.Key.String(), x.metric, x.stat, x.def}, turn{pair, p.Block}
			if t.values[side][of] == nil {
				t.values[side][of] = map[turn][]float64{}
			}
			t.values[side][of][at] = append(t.values[side][of][at], math.Log(x.value))
		}
	}
}

// series returns the rows that have a block of both sides, ln(B/A) of each by block, and the blocks.
func (t *turns) series(all []Row, of []int) (rows []int, series [][]float64, blocks []turn) {
	seen := map[turn]bool{}
	for _, i := range of {
		for at := range t.values[1][all[i].of] {
			seen[at] = true
		}
	}
	blocks = slices.SortedFunc(maps.Keys(seen), func(x, y turn) int {
		return cmp.Or(cmp.Compare(x.pair, y.pair), cmp.Compare(x.block, y.block))
	})
	for _, i := range of {
		c := all[i].of
		both := false
		s := make([]float64, len(blocks))
		for k, at := range blocks {
			left, right := t.values[0][c][at], t.values[1][c][at]
			s[k] = regression.Mean(right) - regression.Mean(left)
			both = both || !math.IsNaN(s[k])
		}
		if both {
			rows, series = append(rows, i), append(series, s)
		}
	}
	return rows, series, blocks
}

// result is a row's comparison by its blocks.
func (t *turns) result(c cell, blocks []turn, d block.Difference) pairing.Result {
	var a, b []float64
	for _, at := range blocks {
		if x, y := t.values[0][c][at], t.values[1][c][at]; len(x) > 0 && len(y) > 0 {
			a, b = append(a, math.Exp(regression.Mean(x))), append(b, math.Exp(regression.Mean(y)))
		}
	}
	out := pairing.Compare(a, b) // means and spreads
	lo, hi := d.Interval(.95)
	out.Change, out.Lo, out.Hi, out.P, out.Test = math.Expm1(d.Mean), math.Expm1(lo), math.Expm1(hi), d.P(), Interleaved
	return out
}

// badness is the log change of a metric, positive for worse.
func badness(metric string, change float64) float64 { return direction(metric) * math.Log1p(change) }

// direction is -1 for a metric whose larger values are better, else 1.
func direction(metric string) float64 {
	if info, _ := schema.MetricByName(metric); info.Better == schema.Higher {
		return -1
	}
	return 1
}
