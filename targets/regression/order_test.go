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
	same, moved := func(c int) uint64 { return uint64(c) }, func(k int) uint64 { return uint64(perm[k]) }
	a, first := seeded(t, cells)
	b, second := seeded(t, shuffled)
	for k, c := range perm {
		for r := range int32(24) {
			x, y := a.Rows[first.Cells[c].First+r], b.Rows[second.Cells[k].First+r]
			if x.Word != y.Word || x.Evidence != y.Evidence || x.Why != y.Why {
				t.Fatalf("cell %d, release %d: %+v, elsewhere %+v", c, r, x, y)
			}
		}
	}
	if x, y := places(t, a, first, same), places(t, b, second, moved); len(x) != 20 || len(y) != 20 {
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
func places(
	t *testing.T, j *regression.Judgement, tab *regression.Table, seed func(int) uint64,
) map[int32]int32 {
	t.Helper()
	rules := regression.DefaultRules()
	rules.Seed = seed
	steps, err := regression.Search(context.Background(), tab, j, 23, rules, false)
	if err != nil {
		t.Fatal(err)
	}
	out := map[int32]int32{}
	for _, p := range steps {
		out[p.Cell] = p.At - tab.Cells[p.Cell].First
	}
	return out
}

func seeded(t *testing.T, cells [][]float64) (*regression.Judgement, *regression.Table) {
	t.Helper()
	tab := history(.20, cells...)
	j, err := regression.Judge(context.Background(), tab, regression.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	return j, tab
}
