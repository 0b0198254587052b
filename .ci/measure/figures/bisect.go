package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/targets/regression/bisection"
)

// commits is how many builds there are after the good one.
const commits = 64

// bisect plants a step at random among commits of the simulator, on a machine that drifts and has outliers, and counts
// how often the search names the commit, with how many measurements, beside git bisect run with one measurement a
// commit and a limit in the middle.
func bisect(t *table) {
	for _, step := range []float64{.02, .03, .05, .10} {
		r := rand.New(rand.NewPCG(t.o.seed, 64))
		trials := 10 * t.o.populations
		found, plain, passes, most, undecided := 0., 0., 0., 0, 0
		for range trials {
			if t.ctx.Err() != nil {
				return
			}
			first := 1 + r.IntN(commits)
			got, n := search(newRig(r, first, step))
			if got == first {
				found++
			}
			if got == 0 {
				undecided++
			}
			passes, most = passes+float64(n), max(most, n)
			if halving(newRig(r, first, step), step) == first {
				plain++
			}
		}
		k := float64(trials)
		t.row(found/k >= .95, fmt.Sprintf("a step of %g %% among %d commits, drift 5 %%, 3 %% outliers", 100*step, commits),
			"found in >= .95 of trials", "%.3f in %.0f passes on average, at most %d, %d undecided; git bisect run %.2f in 7",
			found/k, passes/k, most, undecided, plain/k)
	}
}

// rig is a machine with the builds of a trial.
type rig struct {
	r     *rand.Rand
	first int // bad build
	step  float64
	trend float64 // of the machine, by pass, as ln
	level float64
	pass  int
}

func newRig(r *rand.Rand, first int, step float64) *rig {
	return &rig{r: r, first: first, step: step, trend: .05 * (2*r.Float64() - 1) / 50}
}

// measure starts the server of a build, 0 for the good one, and returns ln of its mean TPOT.
func (g *rig) measure(build int) float64 {
	g.pass++
	g.level += g.trend + .001*g.r.NormFloat64()
	z := g.level
	if build >= g.first {
		z += math.Log1p(g.step)
	}
	if g.r.Float64() < .03 {
		z += math.Log1p(.08)
	}
	cfg := sim.Defaults()
	cfg.Seed, cfg.Drift, cfg.Noise = g.r.Uint64(), .005, .03
	cfg.StepBase = time.Duration(float64(cfg.StepBase) * math.Exp(z))
	load := builtin.Load{ISL: 16, OSL: 16, Concurrency: 1, Requests: 4, Seed: 1}
	out, err := builtin.RunVirtual(load, sim.NewVirtual(cfg, time.Unix(1e9, 0)))
	if err != nil {
		return math.NaN()
	}
	return math.Log(out.Set().TPOT.Mean)
}

// search bisects as ttreport does, and returns the commit, 0 without one, and the passes of the machine.
func search(g *rig) (commit, passes int) {
	s, err := bisection.New(commits, bisection.DefaultRules(math.Log1p(.02)))
	if err != nil {
		return 0, 0
	}
	for block := range 300 {
		if a, decided := s.Best(); decided {
			return a.From, g.pass
		}
		at := s.Next()
		if at == 0 {
			break
		}
		// Both orders alike, so that drift cancels.
		if block%2 == 0 {
			good := g.measure(0)
			s.Observe(at, g.measure(at)-good)
		} else {
			bad := g.measure(at)
			s.Observe(at, bad-g.measure(0))
		}
	}
	return 0, g.pass
}

// halving is git bisect run with a script that measures once and compares with the good build, measured once.
func halving(g *rig, step float64) int {
	limit := g.measure(0) + math.Log1p(step)/2
	good, bad := 0, commits
	for bad-good > 1 {
		if mid := (good + bad) / 2; g.measure(mid) > limit {
			bad = mid
		} else {
			good = mid
		}
	}
	return bad
}
