// Command curves measures what is said of curves, on the simulator: how often intervals and bands contain the truth,
// how often a change of a whole curve is found, beside tests of its points at the same false rate, how often equal
// systems are told apart, and how far the curve is from loads that it was not given.
//
//	go run ./.ci/measure/curves [--pairs 400] [--runs 4]
//
// The truth of a system is the mean of 150 runs of it, because noise moves the mean too. Draws are by fixed seeds; the
// exit code is 1 where a goal is missed.
package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/targets/curve"
	"github.com/ttreport/ttreport/targets/regression"
)

var loads = []int{1, 2, 4, 8, 16, 32, 64}

// system is a machine of its own kind.
type system struct {
	base, sequence, prefill float64 // in units of the simulator's defaults
	noise, drift            float64
}

// draw draws one whose starts vary by up to drift; without, its steps vary much more.
func draw(r *rand.Rand, drift float64) system {
	s := system{base: .5 + r.Float64(), sequence: .5 + 2*r.Float64(), prefill: .5 + r.Float64(),
		noise: .05 + .1*r.Float64(), drift: drift * (1./3 + 2./3*r.Float64())}
	if drift == 0 {
		s.noise, s.drift = .3+.2*r.Float64(), 1e-9
	}
	return s
}

// slower is the same machine, slower by a share.
func (s system) slower(share float64) system {
	s.base, s.sequence, s.prefill = s.base*(1+share), s.sequence*(1+share), s.prefill*(1+share)
	return s
}

// measure measures one load on one start of the server; an exact one has no noise.
func (s system) measure(load int, seed uint64, exact bool) (speed, output float64) {
	cfg := sim.Defaults()
	cfg.Seed, cfg.Noise, cfg.Drift = seed, s.noise, 1e-9
	if exact {
		cfg.Noise = 1e-9
	}
	scale := func(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }
	cfg.StepBase, cfg.PerSequence = scale(cfg.StepBase, s.base), scale(cfg.PerSequence, s.sequence)
	cfg.PerPrefill = scale(cfg.PerPrefill, s.prefill)
	l := builtin.Load{Workload: traffic.Workload{ISL: 32, OSL: 24, Concurrency: load, Requests: max(8, 3*load)}, Seed: 1}
	out, err := builtin.RunVirtual(l, sim.NewVirtual(cfg, time.Unix(1e9, 0)))
	if err != nil {
		panic(fmt.Sprint("simulator: ", err))
	}
	set := out.Set()
	return 1000 / set.TPOT.Mean, set.OutputTPS()
}

// points are those of some runs, each a start of the server with a drift of its own.
func (s system) points(r *rand.Rand, runs int, exact bool) (out []curve.Point) {
	for run := range runs {
		started := s
		if !exact {
			started = s.slower(math.Expm1(s.drift * r.NormFloat64()))
		}
		for _, load := range loads {
			speed, output := started.measure(load, r.Uint64(), exact)
			out = append(out, curve.Point{Run: run, Load: float64(load), X: speed, Output: output})
		}
	}
	return out
}

// smallest is the smallest p of the loads' own tests of output and speed, pooled variance t as the curve has it.
func smallest(a, b []curve.Point) float64 {
	p := 1.
	for _, load := range loads {
		for _, of := range []func(curve.Point) float64{func(x curve.Point) float64 { return x.Output },
			func(x curve.Point) float64 { return x.X }} {
			var mean, squares [2]float64
			n := 0.
			for side, list := range [][]curve.Point{a, b} {
				var z []float64
				for _, x := range list {
					if x.Load == float64(load) {
						z = append(z, math.Log(of(x)))
						mean[side] += z[len(z)-1]
					}
				}
				n = float64(len(z))
				mean[side] /= n
				for _, v := range z {
					squares[side] += (v - mean[side]) * (v - mean[side])
				}
			}
			se := math.Sqrt((squares[0] + squares[1]) / (2*n - 2) * 2 / n)
			p = math.Min(p, 2*regression.UpperTail(math.Abs(mean[1]-mean[0])/se, 2*n-2))
		}
	}
	return p
}

// share counts.
type share struct{ is, of float64 }

func (s *share) add(is bool) {
	s.of++
	if is {
		s.is++
	}
}

func (s share) rate() float64  { return s.is / s.of }
func (s share) String() string { return fmt.Sprintf("%.1f %% of %.0f", 100*s.rate(), s.of) }

func main() {
	pairs, runs := pflag.Int("pairs", 400, "pairs of systems"), pflag.Int("runs", 4, "runs of each")
	pflag.Parse()
	missed := false
	row := func(what, got, goal string, ok bool) {
		mark := "ok"
		if !ok {
			mark, missed = "MISSED", true
		}
		fmt.Printf("| %-62s | %-22s | %-14s | %-6s |\n", what, got, goal, mark)
	}
	row("measure", "result", "goal", true)
	r := rand.New(rand.NewPCG(1, 2))
	var level, band share
	const truthRuns = 150
	wider := math.Sqrt(1 + float64(*runs)/truthRuns) // the truth has an error of its own
	within := func(y, at, lo, hi float64) bool {     // in logarithms
		return math.Log(y/at) >= wider*math.Log(lo/at) && math.Log(y/at) <= wider*math.Log(hi/at)
	}
	for range *pairs {
		s := draw(r, .03)
		truth, x := curve.Fit(s.points(r, truthRuns, false), false), curve.Fit(s.points(r, *runs, false), false)
		lo, hi := truth.Range()
		inside := true
		for i, at := range x.Band() {
			if at.Level < lo || at.Level > hi {
				continue
			}
			y := truth.At(at.Level)
			inside = inside && within(y, at.Value.Value, at.Band[0], at.Band[1])
			if i == 2 || i == 4 || i == 6 {
				level.add(within(y, at.Value.Value, at.Low, at.High))
			}
		}
		band.add(inside)
	}
	met := func(s share) bool { return s.rate() >= .94 && s.rate() <= .96 }
	row("95 % intervals at a level contain the truth", level.String(), "94 to 96 %", met(level))
	row("95 % joint bands contain the whole true curve", band.String(), "94 to 96 %", met(band))
	power(row, r, *pairs, *runs, 0)
	power(row, r, *pairs, *runs, .03)
	bias(row, r)
	if missed {
		os.Exit(1)
	}
}

// power is how often equal pairs are told apart, and a system that is slower by 5 %: by the curve, and by its points at
// the same false rate.
func power(row func(what, got, goal string, ok bool), r *rand.Rand, pairs, runs int, drift float64) {
	var dominance, whole share
	var equal, points, curves []float64
	for range pairs {
		s := draw(r, drift)
		a, b, low := s.points(r, runs, false), s.points(r, runs, false), s.slower(1/.95-1).points(r, runs, false)
		x, y, z := curve.Fit(a, false), curve.Fit(b, false), curve.Fit(low, false)
		if x == nil || y == nil || z == nil {
			continue // of so much noise no curve is left
		}
		c, slower := curve.Compare(x, y), curve.Compare(x, z)
		if c == nil || slower == nil {
			continue
		}
		dominance.add(slices.ContainsFunc(c.Levels, func(at curve.At) bool { return at.Band[0] > 0 || at.Band[1] < 0 }))
		whole.add(c.Sure())
		equal, points = append(equal, smallest(a, b)), append(points, smallest(a, low))
		curves = append(curves, slower.P)
	}
	name := "loads vary by themselves: "
	if drift > 0 {
		name = "loads of a run vary together: "
	}
	row(name+"equal pairs, one above somewhere", dominance.String(), "<= 5 %", dominance.rate() <= .05)
	row(name+"equal pairs, the whole curve", whole.String(), "<= 5 %", whole.rate() <= .05)
	count := func(list []float64, limit float64) (s share) {
		for _, p := range list {
			s.add(p < limit)
		}
		return s
	}
	slices.Sort(equal)
	found, byPoints := count(curves, .05), count(points, equal[int(.05*float64(len(equal)))])
	goal, ok := "", true
	if drift == 0 { // what all loads of a run share, no number of loads averages
		goal, ok = ">= 1.5 x points", found.rate() >= 1.5*byPoints.rate()
	}
	row(name+"-5 %, by the curve", found.String(), goal, ok)
	row(name+"-5 %, by its points", byPoints.String(), "", true)
}

// bias is how far curves are from loads that they were not given, without noise.
func bias(row func(what, got, goal string, ok bool), r *rand.Rand) {
	worst, sum, n, far := 0., 0., 0., 0.
	for range 100 {
		all := draw(r, .03).points(r, 1, true)
		for held := 1; held < len(loads)-1; held++ {
			c := curve.Fit(slices.Delete(slices.Clone(all), held, held+1), false)
			if c == nil {
				continue
			}
			off := math.Log(c.At(all[held].X) / all[held].Output)
			if math.IsNaN(off) {
				continue
			}
			const step = 1.001 // how steep the curve is there
			slope := math.Abs(math.Log(c.At(all[held].X*step)/c.At(all[held].X/step)) / math.Log(step*step))
			sum, n, worst = sum+off, n+1, math.Max(worst, math.Abs(off))
			far = math.Max(far, math.Abs(off)/(1+slope))
		}
	}
	row("a load held out: mean bias of the output at its speed", fmt.Sprintf("%+.2f %% of %.0f", 100*sum/n, n), "< 1 %",
		math.Abs(sum/n) < .01)
	row("a load held out: largest distance from the curve", fmt.Sprintf("%.2f %%", 100*far), "< 1 %", far < .01)
	row("a load held out: largest bias of the output at its speed", fmt.Sprintf("%.1f %%", 100*worst), "", true)
}
