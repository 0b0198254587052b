package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/targets/regression/bisection"
	"github.com/ttreport/ttreport/targets/regression/block"
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
	load := builtin.Load{Workload: traffic.Workload{ISL: 16, OSL: 16, Concurrency: 1, Requests: 4}, Seed: 1}
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

// Searches for each objective, and the requests that one measurement of the truth has.
const (
	capacityTrials = 40
	trueRequests   = 20_000
	trueArrivals   = 100_000 // of an open loop near its limit, whose queue comes and goes: with a fifth it was 1 % off
)

// capacitiesFound measures how far what --slo finds on a server with 2 % of noise is from where long measurements of
// single loads begin to break the objective.
func capacitiesFound(t *table) {
	for _, text := range []string{
		"isl=128,osl=32,slo=tpot_mean<8ms", "isl=128,osl=32,slo=ttft_p90<60ms",
		"isl=128,osl=32,rate=max,slo=tpot_mean<8ms", "isl=128,osl=32,rate=max,slo=ttft_p90<60ms",
	} {
		var w plan.Workload
		if err := w.Parse(text); err != nil {
			panic(err) // a mistake in the list above
		}
		truth := trueCapacity(w)
		var off []float64
		near, probes := 0., 0
		for seed := range uint64(capacityTrials) {
			found, n := searched(w, seed+1)
			e := math.Abs(found/truth - 1)
			if tolerance := max(.03, 1/truth); e <= tolerance && !w.FindRate || e <= .03 {
				near++
			}
			off, probes = append(off, e), probes+n
		}
		slices.Sort(off)
		share := near / capacityTrials
		t.row(share >= .95, "--slo: "+text, ".95 of answers within 3 % or one",
			"%.2f within, of %.4g; median off by %.1f %%, most %.1f %%; %d measurements", share, truth,
			100*off[len(off)/2], 100*off[len(off)-1], probes/capacityTrials)
	}
}

// trueCapacity is the largest concurrency, or rate, at which a long measurement holds the objective.
func trueCapacity(w plan.Workload) float64 {
	low, high := 1., 2048.
	for high-low > low*.002 {
		mid := (low + high) / 2
		if !w.FindRate {
			if mid = math.Floor(mid); mid == low {
				break
			}
		}
		if w.SLO.Worst(long(w, mid).Set()) <= 1 {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// long is a long measurement of one load, without its beginning.
func long(w plan.Workload, level float64) builtin.Outcome {
	l := builtin.Load{
		Workload: traffic.Workload{ISL: w.ISL, OSL: w.OSL, Requests: trueRequests, Concurrency: int(level)},
		Seed:     99,
	}
	if w.FindRate {
		l.Concurrency, l.Rate, l.Requests = 0, level, trueArrivals
		l.Each = plan.Workload{ISL: w.ISL, OSL: w.OSL, Rate: level}.Random(l.Requests, l.Seed)
	}
	out, err := builtin.RunVirtual(l, sim.NewVirtual(noisySim(7), time.Unix(1e9, 0)))
	if err != nil {
		panic(fmt.Sprint("simulator: ", err))
	}
	out.Requests = out.Requests[len(out.Requests)/10:]
	return out
}

func noisySim(seed uint64) sim.Config { return sim.Config{Noise: .02, Drift: 1e-9, Seed: seed} }

// collected measures a workload on the simulator's own clock, as ttreport collect does, reads its result and returns
// what the client said beside it.
func collected(w plan.Workload, rule precision.Rule, seed uint64, result any) (client map[string]string) {
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	srv := &server.Simulated{Config: noisySim(seed), Virtual: true, Begin: time.Unix(1e9, 0)}
	p := plan.Plan{Model: schema.Model{Name: "sim-8b"}, Device: "simulated", Seed: seed, Until: rule,
		Workloads: []plan.Workload{w}}
	out, err := collect.Run(context.Background(), p, srv, dir, func(collect.Event) {})
	if err != nil || out.Failed > 0 {
		panic(fmt.Sprint("simulator: ", err))
	}
	names, _ := filepath.Glob(filepath.Join(out.Dir, "raw", "*"+manifest.SidecarSuffix))
	data, err := os.ReadFile(names[0])
	if err != nil {
		panic(err)
	}
	side, _ := manifest.ReadSidecar(names[0], data)
	if err := readJSON(strings.TrimSuffix(names[0], manifest.SidecarSuffix), result); err != nil {
		panic(err)
	}
	return side.Client
}

// searched is what --slo finds, with how many measurements.
func searched(w plan.Workload, seed uint64) (found float64, probes int) {
	var r struct {
		Holds  float64
		Probes []struct{}
	}
	collected(w, precision.Rule{}, seed, &r)
	return r.Holds, len(r.Probes)
}

// untilTrials is how many measurements are made of each workload.
const untilTrials = 80

// longRun is how many requests the truth is of.
const longRun = 40_000

// until measures how often the 95 % intervals of --until hold the mean that the server has in the long run, beside
// intervals from a fixed number of requests as if these were independent: of one stream, of streams in step, of drawn
// lengths, and of arrivals that queue.
func until(t *table) {
	rule := precision.Rule{CI: .02, Most: time.Hour}
	for _, text := range []string{
		"isl=128,osl=32,c=1,n=32", "isl=128,osl=32,c=8,n=32", "isl=512,osl=64,c=32,n=128",
		"isl=lognormal(128,0.5),osl=uniform(8,64),c=8,n=32", "isl=128,osl=32,rate=20,n=32", "isl=128,osl=64,rate=60,n=240",
	} {
		var w plan.Workload
		if err := w.Parse(text); err != nil {
			panic(err) // a mistake in the list above
		}
		long := w
		long.Requests = longRun
		truth := simulated(long, precision.Rule{}, 7)
		var in, naive, requests float64
		for trial := range uint64(untilTrials) {
			adaptive := simulated(w, rule, 100+t.o.seed<<20+trial)
			fixed := simulated(w, precision.Rule{}, 100+t.o.seed<<20+trial)
			requests += float64(adaptive.n) / untilTrials
			for i := range truth.mean {
				in += holds(adaptive, truth, i) / untilTrials / float64(len(truth.mean))
				naive += holds(fixed, truth, i) / untilTrials / float64(len(truth.mean))
			}
		}
		t.floored(in >= .92 && in <= .98, in >= .9, "--until ci=2%: "+text, ".92 to .98", ".90 to 1",
			"%.3f of intervals hold the mean, %.0f requests; %.3f of a fixed number as if independent", in, requests, naive)
	}
}

// measuredMeans are the means of TTFT, TPOT and E2EL of one measurement, and half the width of their intervals.
type measuredMeans struct {
	mean, half [3]float64
	n          int
}

func holds(m, truth measuredMeans, i int) float64 {
	return count1(math.Abs(m.mean[i]-truth.mean[i]) <= m.half[i])
}

// simulated measures one workload. The truth is of what is behind the first tenth; intervals are those of the client,
// and without a rule as if requests were independent.
func simulated(w plan.Workload, rule precision.Rule, seed uint64) (m measuredMeans) {
	var r struct {
		TTFTs []float64   `json:"ttfts"`
		ITLs  [][]float64 `json:"itls"`
	}
	client := collected(w, rule, seed, &r)
	from := 0
	if len(r.TTFTs) >= longRun {
		from = len(r.TTFTs) / 10 // the warm-up, for certain
	}
	var values [3][]float64
	for i, ttft := range r.TTFTs {
		decode := 0.
		for _, gap := range r.ITLs[i] {
			decode += gap
		}
		if i >= from {
			values[0] = append(values[0], ttft)
			values[1] = append(values[1], decode/float64(max(1, len(r.ITLs[i]))))
			values[2] = append(values[2], ttft+decode)
		}
	}
	m.n = len(r.TTFTs)
	for i, name := range []string{"ttft", "tpot", "e2el"} {
		sample := latency.NewSample(values[i])
		m.mean[i] = sample.Mean
		if percent, err := strconv.ParseFloat(client[schema.ClientCI+name], 64); err == nil && rule.Set() {
			m.half[i] = percent / 100 * sample.Mean
		} else if n := len(values[i]); n > 1 {
			m.half[i] = 1.96 * sample.Std / math.Sqrt(float64(n-1))
		}
	}
	return m
}

// design is a way to compare a new build with an old one at a number of passes of the machine.
type design struct {
	name   string
	passes int
	find   func(b bench, r *rand.Rand) (point, all bool)
}

// bench is 25 points on one machine: the noise of the host in a pass and of the start of a server, which all points
// share, and that of a measurement.
type bench struct {
	points               int
	host, start, measure float64
	spread               bool    // points differ in it: CV² = measure² · 4/χ²(4)
	one, all             float64 // log change of the first point, and of all
}

// pairLimit is the least change of a point that matters in these figures.
const pairLimit = .03

// powerOfPairs measures how often designs find a change of one point of 25, and of all. Found is: regressed, confirmed
// where the design has an independent run.
func powerOfPairs(t *table) {
	designs := []design{
		{"single and recheck", 2, recheck}, {"five repeats, one start", 5, repeats},
		{"interleaved, 2 blocks, fresh starts", 4, taking(2, true)},
		{"interleaved, 3 blocks, fresh starts", 6, taking(3, true)},
		{"interleaved, 4 blocks, fresh starts", 8, taking(4, true)},
		{"interleaved, 3 blocks, both kept running", 6, taking(3, false)},
	}
	shares := func(x [3]float64) string { return fmt.Sprintf("%.2f %.2f %.2f", x[0], x[1], x[2]) }
	single, pooled := [3]float64{.03, .05, .10}, [3]float64{.01, .02, .03}
	for _, d := range designs {
		var found, all [3]float64
		for i := range single {
			found[i] = t.share(d, bench{one: single[i]}, func(point, _ bool) bool { return point })
			all[i] = t.share(d, bench{all: pooled[i]}, func(_, all bool) bool { return all })
		}
		t.row(true, fmt.Sprintf("25 points, %d passes: %s", d.passes, d.name), "",
			"one point by 3, 5, 10 %%: %s; all by 1, 2, 3 %%: %s", shares(found), shares(all))
	}
	t.falsePairs()
}

// share is how often a design finds what a predicate asks.
func (t *table) share(d design, b bench, found func(point, all bool) bool) float64 {
	b.points, b.host, b.start, b.measure = 25, .01, .005, .01
	r := rand.New(rand.NewPCG(t.o.seed, 20261122))
	n, trials := 0., 30*t.o.populations
	for range trials {
		if found(d.find(b, r)) {
			n++
		}
	}
	return n / float64(trials)
}

// falsePairs measures how often two equal builds differ, also where the starts of servers differ more than everything
// else: a goal, unlike power.
func (t *table) falsePairs() {
	for _, b := range []bench{
		{start: .005, measure: .01}, {start: .02, measure: .01}, {start: .005, measure: .02, spread: true},
	} {
		r := rand.New(rand.NewPCG(t.o.seed, 3))
		b.points, b.host = 25, .05
		find := taking(2, true)
		points, pooled, trials := 0., 0., 100*t.o.populations
		for range trials {
			point, all := find(b, r)
			if point {
				points++
			}
			if all {
				pooled++
			}
		}
		points, pooled = points/float64(trials), pooled/float64(trials)
		chance := 2 * math.Sqrt(.05*.95/float64(trials))
		name := fmt.Sprintf("equal builds, 2 blocks, host 5 %%, starts %g %%, noise %g %%", 100*b.start, 100*b.measure)
		met := points <= .05+chance && pooled <= .05+chance
		t.row(met, name, "a point, or all, in .05 of pairs at most, within chance",
			"one point or more in %.3f, all in %.3f", points, pooled)
	}
}

// noises draws the noise of each point.
func (b bench) noises(r *rand.Rand) []float64 {
	out := make([]float64, b.points)
	for i := range out {
		out[i] = b.measure
		if b.spread {
			out[i] *= math.Sqrt(4 / chiSquared(r, 4))
		}
	}
	return out
}

// pass draws one pass of all points of a server.
func (b bench) pass(r *rand.Rand, sd []float64, host, start float64, changed bool) []float64 {
	z := make([]float64, b.points)
	for i := range z {
		z[i] = 3 + host + start + sd[i]*r.NormFloat64()
		if changed {
			z[i] += math.Log1p(b.all)
			if i == 0 {
				z[i] += math.Log1p(b.one)
			}
		}
	}
	return z
}

// fresh draws a pass with a host and a start of its own.
func (b bench) fresh(r *rand.Rand, changed bool) []float64 {
	return b.pass(r, b.noises(r), b.host*r.NormFloat64(), b.start*r.NormFloat64(), changed)
}

// taking is a pair of servers that take turns. It finds the first point, or any point where none changed, and the
// change of all.
func taking(blocks int, fresh bool) func(bench, *rand.Rand) (bool, bool) {
	return func(b bench, r *rand.Rand) (bool, bool) {
		each, all := block.Compare(b.pair(r, blocks, fresh), !fresh)
		significant := block.Significant(each)
		point := false
		for i, d := range each {
			larger := d.Shown(math.Log1p(pairLimit), significant[i]) == block.Larger
			point = point || larger && (i == 0 || b.one == 0)
		}
		return point, all.Above(0) <= .025
	}
}

// pair draws the blocks of two servers.
func (b bench) pair(r *rand.Rand, blocks int, fresh bool) [][]float64 {
	out, sd := make([][]float64, b.points), b.noises(r)
	left, right := b.start*r.NormFloat64(), b.start*r.NormFloat64()
	for k := range blocks {
		host := b.host * r.NormFloat64()
		if fresh && k > 0 {
			left, right = b.start*r.NormFloat64(), b.start*r.NormFloat64()
		}
		x, y := b.pass(r, sd, host, left, false), b.pass(r, sd, host, right, true)
		for i := range out {
			out[i] = append(out[i], y[i]-x[i])
		}
	}
	return out
}

// before is a history of eight releases.
func (b bench) before(r *rand.Rand) [][]float64 {
	var runs [][]float64
	for range 8 {
		runs = append(runs, b.fresh(r, false))
	}
	return runs
}

// recheck is a release judged by its history, and measured again after another start.
func recheck(b bench, r *rand.Rand) (point, all bool) {
	runs := append(b.before(r), b.fresh(r, true))
	seconds := make([][]float64, len(runs))
	seconds[len(runs)-1] = b.fresh(r, true)
	return b.judge(runs, seconds, 1, schema.Confirmed)
}

// repeats is a release judged by its history with the mean of five repeats after one start.
func repeats(b bench, r *rand.Rand) (point, all bool) {
	host, start := b.host*r.NormFloat64(), b.start*r.NormFloat64()
	sum := make([]float64, b.points)
	const times = 5
	for range times {
		for i, v := range b.pass(r, b.noises(r), host, start, true) {
			sum[i] += v / times
		}
	}
	return b.judge(append(b.before(r), sum), nil, times, schema.Suspected)
}

// judge judges the newest release by the others.
func (b bench) judge(runs, seconds [][]float64, times int16, least schema.Evidence) (point, all bool) {
	f := fleet{devices: 1, models: 1, workloads: b.points}
	tab := f.table(runs, seconds, math.Log1p(pairLimit))
	for _, c := range tab.Cells {
		tab.Obs[c.End-1].K = times
	}
	j := judge(tab)
	row := j.Rows[tab.Cells[0].End-1]
	for _, x := range j.Findings {
		newest := int(x.Release) == len(runs)-1
		all = all || newest && x.Word == schema.Regressed && x.Evidence >= least
	}
	return row.Word == schema.Regressed && row.Evidence >= least, all
}
