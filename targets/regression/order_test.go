package regression_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

// Rows and change points do not depend on the place of a series among others, nor on units.
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
		for _, v := range cells[c] {
			shuffled[k] = append(shuffled[k], 1000*v)
		}
	}
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
	if len(a.ChangePoints) == 0 || len(a.ChangePoints) != len(b.ChangePoints) {
		t.Errorf("%d change points, in another order %d", len(a.ChangePoints), len(b.ChangePoints))
	}
}

func seeded(t *testing.T, cells [][]float64) (*regression.Judgement, *regression.Table) {
	t.Helper()
	tab := history(.05, cells...)
	j, err := regression.Judge(context.Background(), tab, regression.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	return j, tab
}
