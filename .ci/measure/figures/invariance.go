package main

import (
	"math"
	"math/rand/v2"

	"github.com/ttreport/ttreport/targets/regression"
)

// invariance judges one population twice: as it is, and with its cells in another order and in other units.
func invariance(t *table) {
	p := standard()
	p.cells, p.releases, p.from, p.changed, p.effect = 2000, 14, 10, 20, math.Log(1.1)
	tab, _ := p.make(t.o.seed)
	perm := rand.New(rand.NewPCG(t.o.seed, 5)).Perm(len(tab.Cells))
	other := reordered(tab, perm)
	rules := regression.DefaultRules()
	rules.Seed = func(c int) uint64 { return uint64(tab.Cells[c].First) }
	a, err := regression.Judge(t.ctx, tab, rules)
	if err != nil {
		return
	}
	rules.Seed = func(c int) uint64 { return uint64(tab.Cells[perm[c]].First) }
	b, err := regression.Judge(t.ctx, other, rules)
	if err != nil {
		return
	}
	differ := 0
	for k, c := range perm {
		x, y := tab.Cells[c], other.Cells[k]
		for i := range x.End - x.First {
			u, v := a.Rows[x.First+i], b.Rows[y.First+i]
			if u.Word != v.Word || u.Evidence != v.Evidence || u.Why != v.Why {
				differ++
			}
		}
	}
	t.row(differ == 0, "invariance: order of input, ms or s", "same verdicts",
		"%d of %d verdicts differ", differ, len(a.Rows))
}

// reordered is a table with its cells in another order, in seconds instead of milliseconds.
func reordered(tab *regression.Table, perm []int) *regression.Table {
	other := &regression.Table{Releases: tab.Releases, Strata: tab.Strata}
	for _, c := range perm {
		cell := tab.Cells[c]
		first := int32(len(other.Obs))
		for _, o := range tab.Obs[cell.First:cell.End] {
			o.Z += math.Log(1000)
			other.Obs = append(other.Obs, o)
		}
		cell.First, cell.End = first, int32(len(other.Obs))
		other.Cells = append(other.Cells, cell)
	}
	return other
}
