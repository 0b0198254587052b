package regression_test

import (
	"context"
	"testing"

	"github.com/ttreport/ttreport/targets/regression"
)

// A system that joins a history later changes nothing that was said of the releases before it: neither whether systems
// move as one, which needs two of them, nor how rare outliers are on a system.
func TestSystemsThatComeLater(t *testing.T) {
	const from = 16
	whole := eventful(11, 160, 26)
	for i := range whole.Cells { // of four systems, three begin later
		c := &whole.Cells[i]
		for c.System > 0 && whole.Obs[c.First].Release < from {
			c.First++
		}
	}
	for i := range whole.Obs { // a system that moves as one
		if o := &whole.Obs[i]; o.Release >= 6 && o.Release < from {
			o.Z += .03 * float64(o.Release%2)
		}
	}
	alone := withoutEmpty(upToRelease(whole, from-1))
	before, err := regression.Judge(context.Background(), alone, regression.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	after, err := regression.Judge(context.Background(), whole, regression.DefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	k := 0
	for c := range whole.Cells {
		if whole.Cells[c].System > 0 {
			continue
		}
		for i := range alone.Cells[k].End - alone.Cells[k].First {
			a, b := before.Rows[alone.Cells[k].First+i], after.Rows[whole.Cells[c].First+i]
			x, y := said(&a), said(&b)
			if x != y || a.SE != b.SE || a.Q != b.Q && a.Q == a.Q {
				t.Fatalf("cell %d, release %d: %+v, later %+v", c, i, a, b)
			}
		}
		k++
	}
}

// withoutEmpty leaves out the cells of which nothing was measured.
func withoutEmpty(of *regression.Table) *regression.Table {
	out := *of
	out.Cells = nil
	for _, c := range of.Cells {
		if c.End > c.First {
			out.Cells = append(out.Cells, c)
		}
	}
	return &out
}
