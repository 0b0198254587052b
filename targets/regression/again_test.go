package regression_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

// What the newest runs of a number showed together is told as it was found, also where its group decides afterwards:
// they began after the first release, and their p is above 0.
func TestExplainedRunsAreThoseThatWereTested(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 7))
	for range 6 {
		var cells [][]float64
		for range 24 {
			values := make([]float64, 12)
			for r := range values {
				if values[r] = 100 * math.Exp(.03*rng.NormFloat64()); r > 8 {
					values[r] *= 1.15
				}
			}
			cells = append(cells, values)
		}
		tab := history(.05, cells...)
		for release := int32(9); release < 12; release++ {
			for cell := range tab.Cells {
				x, err := regression.Explain(context.Background(), tab, regression.DefaultRules(), int32(cell), release)
				if err != nil {
					t.Fatal(err)
				}
				if x.Again != nil && (x.Again.Release < 1 || !(x.Again.P > 0)) {
					t.Fatalf("cell %d, release %d: %+v", cell, release, *x.Again)
				}
			}
		}
	}
}
