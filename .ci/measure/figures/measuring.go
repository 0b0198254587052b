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
		found, plain, passes, most, undecided := 0., 0., 0, 0, 0
		for range trials {
			first := 1 + r.IntN(commits)
			got, n := search(newRig(r, first, step))
			passes, most = passes+n, max(most, n)
			if found += one(got == first); got == 0 {
				undecided++
			}
			plain += one(halving(newRig(r, first, step)) == first)
		}
		k := float64(trials)
		t.row(found/k >= .95, fmt.Sprintf("a step of %g %% among %d commits, drift 5 %%, 3 %% outliers", 100*step, commits),
			"found in >= .95 of trials", "%.3f in %.0f passes on average, at most %d, %d undecided; git bisect run %.2f in 7",
			found/k, float64(passes)/k, most, undecided, plain/k)
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
		x, y := 0, at
		if block%2 == 1 { // both orders alike, so that drift cancels
			x, y = at, 0
		}
		first, second := g.measure(x), g.measure(y)
		if x == at {
			first, second = second, first
		}
		s.Observe(at, second-first)
	}
	return 0, g.pass
}

// halving is git bisect run with a script that measures once and compares with the good build, measured once.
func halving(g *rig) int {
	middle := g.measure(0) + math.Log1p(g.step)/2
	good, bad := 0, commits
	for bad-good > 1 {
		if mid := (good + bad) / 2; g.measure(mid) > middle {
			bad = mid
		} else {
			good = mid
		}
	}
	return bad
}

func noisySim(seed uint64) sim.Config { return sim.Config{Noise: .02, Drift: 1e-9, Seed: seed} }

// workload is a workload of the lists below.
func workload(text string) (w plan.Workload) {
	if err := w.Parse(text); err != nil {
		panic(err) // a mistake in the list
	}
	return w
}

// capacity measures how far what --slo finds on a server with 2 % of noise is from where long measurements of single
// loads begin to break the objective.
func capacity(t *table) {
	const trials = 40
	for _, text := range []string{
		"isl=128,osl=32,slo=tpot_mean<8ms", "isl=128,osl=32,slo=ttft_p90<60ms",
		"isl=128,osl=32,rate=max,slo=tpot_mean<8ms", "isl=128,osl=32,rate=max,slo=ttft_p90<60ms",
	} {
		w := workload(text)
		truth := trueCapacity(w)
		var off []float64
		near, probes := 0., 0
		for seed := range uint64(trials) {
			var r struct {
				Holds  float64
				Probes []struct{}
			}
			collected(w, precision.Rule{}, seed+1, &r)
			e := math.Abs(r.Holds/truth - 1)
			near += one(e <= .03 || !w.FindRate && e <= 1/truth)
			off, probes = append(off, e), probes+len(r.Probes)
		}
		slices.Sort(off)
		share := near / trials
		t.row(share >= .95, "--slo: "+text, ".95 of answers within 3 % or one",
			"%.2f within, of %.4g; median off by %.1f %%, most %.1f %%; %d measurements", share, truth,
			100*off[len(off)/2], 100*off[len(off)-1], probes/trials)
	}
}

// trueCapacity is the largest concurrency, or rate, at which a long measurement holds the objective, without its
// beginning.
func trueCapacity(w plan.Workload) float64 {
	low, high := 1., 2048.
	for high-low > low*.002 {
		mid := (low + high) / 2
		if !w.FindRate {
			if mid = math.Floor(mid); mid == low {
				break
			}
		}
		l := builtin.Load{
			Workload: traffic.Workload{ISL: w.ISL, OSL: w.OSL, Requests: 20_000, Concurrency: int(mid)}, Seed: 99,
		}
		if w.FindRate { // near its limit a queue comes and goes: with a fifth of the requests it was 1 % off
			l.Concurrency, l.Rate, l.Requests = 0, mid, 100_000
			l.Each = plan.Workload{ISL: w.ISL, OSL: w.OSL, Rate: mid}.Random(l.Requests, l.Seed)
		}
		out, err := builtin.RunVirtual(l, sim.NewVirtual(noisySim(7), time.Unix(1e9, 0)))
		if err != nil {
			panic(fmt.Sprint("simulator: ", err))
		}
		if out.Requests = out.Requests[len(out.Requests)/10:]; w.SLO.Worst(out.Set()) <= 1 {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

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

// longRun is how many requests the truth is of.
const longRun = 40_000

// until measures how often the 95 % intervals of --until hold the mean that the server has in the long run, beside
// intervals from a fixed number of requests as if these were independent: of one stream, of streams in step, of drawn
// lengths, and of arrivals that queue.
func until(t *table) {
	const trials = 80
	rule := precision.Rule{CI: .02, Most: time.Hour}
	for _, text := range []string{
		"isl=128,osl=32,c=1,n=32", "isl=128,osl=32,c=8,n=32", "isl=512,osl=64,c=32,n=128",
		"isl=lognormal(128,0.5),osl=uniform(8,64),c=8,n=32", "isl=128,osl=32,rate=20,n=32", "isl=128,osl=64,rate=60,n=240",
	} {
		w := workload(text)
		long := w
		long.Requests = longRun
		truth := simulated(long, precision.Rule{}, 7)
		var in, naive, requests float64
		for trial := range uint64(trials) {
			adaptive := simulated(w, rule, 100+t.o.seed<<20+trial)
			fixed := simulated(w, precision.Rule{}, 100+t.o.seed<<20+trial)
			requests += float64(adaptive.n) / trials
			for i, mean := range truth.mean {
				in += one(math.Abs(adaptive.mean[i]-mean) <= adaptive.half[i]) / trials / float64(len(truth.mean))
				naive += one(math.Abs(fixed.mean[i]-mean) <= fixed.half[i]) / trials / float64(len(truth.mean))
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
	for i := from; i < len(r.TTFTs); i++ {
		decode := 0.
		for _, gap := range r.ITLs[i] {
			decode += gap
		}
		values[0] = append(values[0], r.TTFTs[i])
		values[1] = append(values[1], decode/float64(max(1, len(r.ITLs[i]))))
		values[2] = append(values[2], r.TTFTs[i]+decode)
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

// bench is 25 points on one machine: the noise of the host in a pass and of the start of a server, which all points
// share, and that of a measurement.
type bench struct {
	host, start, measure float64
	spread               bool    // points differ in it: CV² = measure² · 4/χ²(4)
	one, all             float64 // change of the first point, and of all
}

const (
	benchPoints = 25
	pairLimit   = .03 // the least change of a point that matters in these figures
)

// design is a way to compare a new build with an old one: whether it finds the change of the first point, or of any
// where none changed, and that of all. Found is: regressed, confirmed where the design has an independent run.
type design func(b bench, r *rand.Rand) (point, all bool)

// often is how often a design finds what it should.
func (find design) often(b bench, trials int, r *rand.Rand) (points, pooled float64) {
	for range trials {
		point, all := find(b, r)
		points, pooled = points+one(point), pooled+one(all)
	}
	return points / float64(trials), pooled / float64(trials)
}

// pairs measures how often designs find a change of one point of 25, and of all, at a number of passes of the machine;
// and how often two equal builds differ, also where the starts of servers differ more than everything else. The latter
// has a goal.
func pairs(t *table) {
	for _, d := range []struct {
		name   string
		passes int
		find   design
	}{
		{"single and recheck", 2, recheck}, {"five repeats, one start", 5, repeats},
		{"interleaved, 2 blocks, fresh starts", 4, taking(2, true)},
		{"interleaved, 3 blocks, fresh starts", 6, taking(3, true)},
		{"interleaved, 4 blocks, fresh starts", 8, taking(4, true)},
		{"interleaved, 3 blocks, both kept running", 6, taking(3, false)},
	} {
		var found [6]any
		for i := range 3 {
			b := bench{host: .01, start: .005, measure: .01, one: []float64{.03, .05, .10}[i]}
			found[i], _ = d.find.often(b, 30*t.o.populations, rand.New(rand.NewPCG(t.o.seed, 20261122)))
			b.one, b.all = 0, []float64{.01, .02, .03}[i]
			_, found[3+i] = d.find.often(b, 30*t.o.populations, rand.New(rand.NewPCG(t.o.seed, 20261122)))
		}
		t.row(true, fmt.Sprintf("25 points, %d passes: %s", d.passes, d.name), "",
			"one point by 3, 5, 10 %%: %.2f %.2f %.2f; all by 1, 2, 3 %%: %.2f %.2f %.2f", found[:]...)
	}
	for _, b := range []bench{
		{host: .05, start: .005, measure: .01}, {host: .05, start: .02, measure: .01},
		{host: .05, start: .005, measure: .02, spread: true},
	} {
		trials := 100 * t.o.populations
		points, pooled := taking(2, true).often(b, trials, rand.New(rand.NewPCG(t.o.seed, 3)))
		chance := 2 * math.Sqrt(.05*.95/float64(trials))
		t.row(points <= .05+chance && pooled <= .05+chance,
			fmt.Sprintf("equal builds, 2 blocks, host 5 %%, starts %g %%, noise %g %%", 100*b.start, 100*b.measure),
			"a point, or all, in .05 of pairs at most, within chance",
			"one point or more in %.3f, all in %.3f", points, pooled)
	}
}

// noises draws the noise of each point.
func (b bench) noises(r *rand.Rand) (sd [benchPoints]float64) {
	for i := range sd {
		if sd[i] = b.measure; b.spread {
			sd[i] *= math.Sqrt(4 / chiSquared(r))
		}
	}
	return sd
}

// pass draws one pass of all points of a server.
func (b bench) pass(r *rand.Rand, sd [benchPoints]float64, host, start float64, changed bool) []float64 {
	z := make([]float64, benchPoints)
	for i := range z {
		z[i] = 3 + host + start + sd[i]*r.NormFloat64()
		if changed {
			z[i] += math.Log1p(b.all)
		}
		if changed && i == 0 {
			z[i] += math.Log1p(b.one)
		}
	}
	return z
}

// fresh draws a pass with a host and a start of its own.
func (b bench) fresh(r *rand.Rand, changed bool) []float64 {
	return b.pass(r, b.noises(r), b.host*r.NormFloat64(), b.start*r.NormFloat64(), changed)
}

// taking is a pair of servers that take turns.
func taking(blocks int, fresh bool) design {
	return func(b bench, r *rand.Rand) (point, all bool) {
		z, sd := make([][]float64, benchPoints), b.noises(r)
		left, right := b.start*r.NormFloat64(), b.start*r.NormFloat64()
		for k := range blocks {
			host := b.host * r.NormFloat64()
			if fresh && k > 0 {
				left, right = b.start*r.NormFloat64(), b.start*r.NormFloat64()
			}
			x, y := b.pass(r, sd, host, left, false), b.pass(r, sd, host, right, true)
			for i := range z {
				z[i] = append(z[i], y[i]-x[i])
			}
		}
		each, pooled := block.Compare(z, !fresh)
		significant := block.Significant(each)
		for i, d := range each {
			larger := d.Shown(math.Log1p(pairLimit), significant[i]) == block.Larger
			point = point || larger && (i == 0 || b.one == 0)
		}
		return point, pooled.Above(0) <= .025
	}
}

// recheck is a release judged by its history, and measured again after another start.
func recheck(b bench, r *rand.Rand) (point, all bool) {
	const before = 8
	var runs [][]float64
	for i := range before + 1 {
		runs = append(runs, b.fresh(r, i == before))
	}
	return judgeNewest(runs, b.fresh(r, true), 1, schema.Confirmed)
}

// repeats is a release judged by its history with the mean of five repeats after one start.
func repeats(b bench, r *rand.Rand) (point, all bool) {
	const before, times = 8, 5
	host, start := b.host*r.NormFloat64(), b.start*r.NormFloat64()
	sum := make([]float64, benchPoints)
	for range times {
		for i, v := range b.pass(r, b.noises(r), host, start, true) {
			sum[i] += v / times
		}
	}
	var runs [][]float64
	for range before {
		runs = append(runs, b.fresh(r, false))
	}
	return judgeNewest(append(runs, sum), nil, times, schema.Suspected)
}

// judgeNewest judges the newest of some runs, and what a second run of it measured.
func judgeNewest(runs [][]float64, second []float64, times int16, least schema.Evidence) (point, all bool) {
	seconds := make([][]float64, len(runs))
	seconds[len(runs)-1] = second
	tab := fleet{devices: 1, models: 1, workloads: benchPoints}.table(runs, seconds, math.Log1p(pairLimit))
	for _, c := range tab.Cells {
		tab.Obs[c.End-1].K = times
	}
	j := judge(tab)
	row := j.Rows[tab.Cells[0].End-1]
	for _, x := range j.Findings {
		isNewest := int(x.Release) == len(runs)-1
		all = all || isNewest && x.Word == schema.Regressed && x.Evidence >= least
	}
	return row.Word == schema.Regressed && row.Evidence >= least, all
}
