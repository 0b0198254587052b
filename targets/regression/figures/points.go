package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ttreport/ttreport/targets/regression"
)

// changePoints searches unchanged series, and series with one step of five standard deviations.
func changePoints(t *table) {
	for _, kind := range []struct {
		name  string
		noise func(*rand.Rand, float64) float64
	}{{"Gaussian", gaussian}, {"t3", student(3)}} {
		series := made(t.o.seed, kind.noise, 0)
		proposed, found := tally(regression.Decide(series, regression.DefaultPenalty(), .05, seedOf))
		t.row(found <= 1, "change points, 10^4 unchanged series, n = 8 to 50, "+kind.name, "at most 1 found falsely", "%d found, %d proposed", found, proposed)
	}
	series := made(t.o.seed, gaussian, 5)
	near := 0
	for i, steps := range regression.Decide(series, regression.DefaultPenalty(), .05, seedOf) {
		for _, s := range steps {
			if s.Found && abs(s.At-len(series[i])*2/3) <= 1 {
				near++
				break
			}
		}
	}
	t.row(true, "change points, steps of 5 sd at two thirds", "", "%.1f %% found within 1 point", 100*float64(near)/float64(len(series)))
}

func seedOf(i int) uint64 { return uint64(i) }

func abs(x int) int { return max(x, -x) }

func made(seed uint64, noise func(*rand.Rand, float64) float64, step float64) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 31))
	out := make([][]float64, 10000)
	for i := range out {
		n := 8 + r.IntN(43)
		for k := range n {
			v := noise(r, 1)
			if k >= n*2/3 {
				v += step
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

func tally(all [][]regression.Step) (proposed, found int) {
	for _, steps := range all {
		proposed += len(steps)
		for _, s := range steps {
			if s.Found {
				found++
			}
		}
	}
	return proposed, found
}

// invariance judges one population thrice: as it is, with its cells in another order, and in other units.
func invariance(t *table) {
	p := standard()
	p.cells, p.releases, p.from, p.changed, p.effect = 2000, 14, 10, 20, math.Log(1.1)
	tab, _ := p.make(t.o.seed)
	rules := regression.DefaultRules()
	rules.Seed = func(c int) uint64 { return uint64(tab.Cells[c].First) }
	a, err := regression.Judge(t.ctx, tab, rules)
	if err != nil {
		return
	}
	other := &regression.Table{Releases: tab.Releases, Strata: tab.Strata}
	r := rand.New(rand.NewPCG(t.o.seed, 5))
	perm := r.Perm(len(tab.Cells))
	for _, c := range perm {
		cell := tab.Cells[c]
		first := int32(len(other.Obs))
		for _, o := range tab.Obs[cell.First:cell.End] {
			o.Z += math.Log(1000) // seconds instead of milliseconds
			other.Obs = append(other.Obs, o)
		}
		cell.First, cell.End = first, int32(len(other.Obs))
		other.Cells = append(other.Cells, cell)
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
	t.row(differ == 0, "invariance: order of input, ms or s", "same verdicts", "%d of %d verdicts differ", differ, len(a.Rows))
}

// speed judges 10^5 cells over 10 releases, with the collector told to keep below the budget: the time is what that costs.
func speed(t *table) {
	const budget = 190 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(budget))
	p := standard()
	p.cells, p.releases = 100000, 10
	tab, _ := p.make(t.o.seed)
	var took []float64
	var before, after runtime.MemStats
	for range 3 {
		runtime.GC()
		runtime.ReadMemStats(&before)
		begin := time.Now()
		if _, err := regression.Judge(t.ctx, tab, regression.DefaultRules()); err != nil {
			return
		}
		took = append(took, time.Since(begin).Seconds())
		runtime.ReadMemStats(&after)
	}
	slices.Sort(took)
	mb := float64(after.Sys) / 1e6
	t.row(took[1] <= 1 && mb <= 200, "10^5 cells x 10 releases judged", "<= 1 s on two cores, <= 200 MB", "%.2f s (%s), %.0f MB from the system", took[1], fmt.Sprintf("%d cores", runtime.GOMAXPROCS(0)), mb)
}
