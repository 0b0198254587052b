package main

import (
	"fmt"
	"math"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
)

const (
	agentHistories = 40
	agentReleases  = 4 // before the newest
)

// agents measures whether a loss of a tenth of P90 interactivity is found in histories of conversations whose contexts
// grow, on a simulator whose starts differ by 1 % and whose steps by 2 %: of one load among equal ones, and of all.
func agents(t *table) {
	loads := []int{1, 2, 4, 8, 16, 32} // conversations at once
	for _, all := range []bool{false, true} {
		hit, changes, wrong, equal := 0, 0, 0, 0
		for history := range uint64(agentHistories) {
			runs := make([][]float64, agentReleases+1)
			truth := make([]bool, len(loads))
			for r := range runs {
				for i, c := range loads {
					truth[i] = all || i == int(history)%len(loads)
					slower := 1.
					if truth[i] && r == agentReleases {
						slower = 1 / .9
					}
					seed := t.o.seed<<32 + history<<16 + uint64(r)<<8
					runs[r] = append(runs[r], math.Log(slowestTenth(c, seed, slower)))
				}
			}
			tab := fleet{devices: 1, models: 1, workloads: len(loads)}.table(runs, nil, math.Log(1.05))
			n := count(tab, judge(tab), truth, agentReleases)
			hit, wrong = hit+n.hit, wrong+n.alarms
			for _, is := range truth {
				if is {
					changes++
				} else {
					equal++
				}
			}
		}
		what := "one load"
		if all {
			what = "all loads"
		}
		found, false_ := float64(hit)/float64(changes), float64(wrong)/math.Max(1, float64(equal))
		t.row(found >= .8 && false_ <= .01, fmt.Sprintf("P90 interactivity of conversations 10 %% lower in %s, n = %d, %d "+
			"histories", what, agentReleases, agentHistories), "found >= .8, false <= .01",
			"found %.2f of %d, false %.4f of %d", found, changes, false_, equal)
	}
}

// slowestTenth is the P90 TPOT of so many conversations at once, ms, on a server that takes so many times as long.
func slowestTenth(c int, seed uint64, slower float64) float64 {
	var w plan.Workload
	if err := w.Parse(fmt.Sprintf("isl=lognormal(600,0.6),osl=lognormal(120,0.6),endpoint=chat,turns=5,think=500ms,"+
		"c=%d,n=%d", c, max(100, 10*c))); err != nil {
		panic(err) // a mistake in the line above
	}
	cfg := sim.Defaults()
	cfg.Noise, cfg.Drift, cfg.Seed = .02, .01, seed
	for _, step := range []*time.Duration{&cfg.StepBase, &cfg.PerSequence, &cfg.PerPrefill} {
		*step = time.Duration(float64(*step) * slower)
	}
	out, err := builtin.RunVirtual(builtin.Load{Workload: w, Seed: uint64(c)},
		sim.NewVirtual(cfg, time.Unix(1e9, 0)))
	if err != nil {
		panic(fmt.Sprint("simulator: ", err))
	}
	return out.Set().TPOT.Quantile(.9)
}
