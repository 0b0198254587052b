package main

import (
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ttreport/ttreport/targets/regression"
)

// speed judges 10^5 cells over 10 releases with the garbage collector limited to the memory budget, and measures the
// time. It runs only with --speed, because it depends on the machine.
func speed(t *table) {
	if !t.o.speed {
		return
	}
	const budget = 190 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(budget))
	p := standard()
	p.cells, p.releases = 100000, 10
	tab, _ := p.make(t.o.seed)
	var took []float64
	var after runtime.MemStats
	for range 3 {
		runtime.GC()
		begin := time.Now()
		if _, err := regression.Judge(t.ctx, tab, regression.DefaultRules()); err != nil {
			return
		}
		took = append(took, time.Since(begin).Seconds())
		runtime.ReadMemStats(&after)
	}
	slices.Sort(took)
	mb := float64(after.Sys) / 1e6
	t.row(took[1] <= 1 && mb <= 200, "10^5 cells x 10 releases judged", "<= 1 s on two cores, <= 200 MB",
		"%.2f s (%d cores), %.0f MB from the system", took[1], runtime.GOMAXPROCS(0), mb)
}
