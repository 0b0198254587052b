package block

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
)

// Turn is a block of a pair of runs.
type Turn struct{ Pair, Block int }

// Turns are what two servers measured in turns, on the log scale, by number and turn: of A and of B.
type Turns[N comparable] struct {
	Kept   bool // servers kept running
	values [2]map[N]map[Turn][]float64
}

// Add adds a value of side 0 or 1.
func (t *Turns[N]) Add(side int, of N, at Turn, v float64) {
	if t.values[side] == nil {
		t.values[side] = map[N]map[Turn][]float64{}
	}
	if t.values[side][of] == nil {
		t.values[side][of] = map[Turn][]float64{}
	}
	t.values[side][of][at] = append(t.values[side][of][at], v)
}

// blocks returns the turns of some numbers in order.
func (t *Turns[N]) blocks(numbers ...N) []Turn {
	seen := map[Turn]bool{}
	for _, of := range numbers {
		for at := range t.values[1][of] {
			seen[at] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(x, y Turn) int {
		return cmp.Or(cmp.Compare(x.Pair, y.Pair), cmp.Compare(x.Block, y.Block))
	})
}

// Compare compares those of the numbers of one metric that have a block of both sides, by ln(B/A) in each block.
func (t *Turns[N]) Compare(numbers []N) (both []N, each []Difference, all Difference) {
	var series [][]float64
	blocks := t.blocks(numbers...)
	for _, of := range numbers {
		s := make([]float64, len(blocks))
		for k, at := range blocks {
			s[k] = regression.Mean(t.values[1][of][at]) - regression.Mean(t.values[0][of][at])
		}
		if slices.ContainsFunc(s, func(d float64) bool { return !math.IsNaN(d) }) {
			both, series = append(both, of), append(series, s)
		}
	}
	if len(both) == 0 {
		return nil, nil, Difference{}
	}
	each, all = Compare(series, t.Kept)
	return both, each, all
}

// Means returns those of both sides in each block that both have.
func (t *Turns[N]) Means(of N) (a, b []float64) {
	for _, at := range t.blocks(of) {
		if x, y := t.values[0][of][at], t.values[1][of][at]; len(x) > 0 {
			a, b = append(a, regression.Mean(x)), append(b, regression.Mean(y))
		}
	}
	return a, b
}
