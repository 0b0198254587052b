package regression_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

// Rows and change points do not depend on the place of a series among others. The steps are clear ones, too small for a
// gate at 20 %, so that the search finds them whichever permutations it draws: sooner or later, which is why rows are
// compared up to there.
func TestOrderOfCellsChangesNothing(t *testing.T) {
	cells := quiet(31, 80, 24, .01)
	for c := range 20 {
		for r := 12; r < 24; r++ {
			cells[c][r] *= 1.10
		}
	}
	perm := rand.New(rand.NewPCG(9, 9)).Perm(len(cells))
	shuffled := make([][]float64, len(cells))
	for k, c := range perm {
		shuffled[k] = cells[c]
	}
	a, first := seeded(t, cells, func(c int) uint64 { return uint64(c) })
	b, second := seeded(t, shuffled, func(k int) uint64 { return uint64(perm[k]) })
	for k, c := range perm {
		for r := range int32(15) {
			x, y := a.Rows[first.Cells[c].First+r], b.Rows[second.Cells[k].First+r]
			if x.Word != y.Word || x.Evidence != y.Evidence || x.Why != y.Why {
				t.Fatalf("cell %d, release %d: %+v, elsewhere %+v", c, r, x, y)
			}
		}
	}
	if x, y := places(a, first), places(b, second); len(x) != 20 || len(y) != 20 {
		t.Errorf("%d change points, in another order %d, want 20", len(x), len(y))
	} else {
		for k, c := range perm {
			if x[int32(c)] != y[int32(k)] {
				t.Errorf("cell %d: a level begins at %d, elsewhere at %d", c, x[int32(c)], y[int32(k)])
			}
		}
	}
}

// places are the observations of each cell with which the search began a level, counted within the cell.
func places(j *regression.Judgement, tab *regression.Table) map[int32]int32 {
	out := map[int32]int32{}
	for _, p := range j.ChangePoints {
		if p.Source == regression.BySearch {
			out[p.Cell] = p.At - tab.Cells[p.Cell].First
		}
	}
	return out
}

func seeded(t *testing.T, cells [][]float64, seed func(int) uint64) (*regression.Judgement, *regression.Table) {
	t.Helper()
	tab := history(.20, cells...)
	rules := regression.DefaultRules()
	rules.Seed = seed
	j, err := regression.Judge(context.Background(), tab, rules)
	if err != nil {
		t.Fatal(err)
	}
	return j, tab
}
