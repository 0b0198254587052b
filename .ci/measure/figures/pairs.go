package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/block"
)

// design is a way to compare a new build with an old one at a number of passes of the machine, and the power of each
// effect that was stated for it: of one point of 25 by effects, of all 25 points by pooled; -1 where none was stated.
type design struct {
	name           string
	passes         int
	find           func(b bench, r *rand.Rand) (point, all bool)
	single, pooled [3]float64
}

// bench is 25 points on one machine: the noise of the host in a pass and of the start of a server, which all points
// share, and that of a measurement.
type bench struct {
	points               int
	host, start, measure float64
	spread               bool    // points differ in it: CV² = measure² · 4/χ²(4)
	earlier              float64 // noise of the start in earlier pairs, where it was another
	one, all             float64 // log change of the first point, and of all
}

// pairLimit is the least change of a point that matters in these figures.
const pairLimit = .03

// powerOfPairs measures how often designs find a change, beside figures that were stated for them before they were
// built. Found is: regressed, confirmed where the design has an independent run.
func powerOfPairs(t *table) {
	designs := []design{
		{"single and recheck", 2, recheck, [3]float64{.01, .14, .98}, [3]float64{-1, -1, -1}},
		{"five repeats, one start", 5, repeats, [3]float64{.13, .57, 1}, [3]float64{.06, .22, .50}},
		{"interleaved, 2 blocks, fresh starts", 4, taking(2, true, false), [3]float64{.26, .82, 1},
			[3]float64{-1, -1, -1}},
		{"the same, starts known from 8 pairs", 4, taking(2, true, true), [3]float64{.26, .82, 1},
			[3]float64{.21, .76, .98}},
		{"interleaved, 3 blocks, fresh starts", 6, taking(3, true, false), [3]float64{.50, .98, 1},
			[3]float64{.35, .93, 1}},
		{"interleaved, 3 blocks, both kept running", 6, taking(3, false, false), [3]float64{.32, .89, 1},
			[3]float64{.12, .49, .87}},
	}
	for _, d := range designs {
		d.measure(t)
	}
	t.falsePairs()
}

// measure prints the power of a design beside what was stated.
func (d design) measure(t *table) {
	single, pooled := [3]float64{.03, .05, .10}, [3]float64{.01, .02, .03}
	var found, all [3]float64
	for i := range single {
		found[i] = t.share(d, bench{one: single[i]}, func(point, _ bool) bool { return point })
		all[i] = t.share(d, bench{all: pooled[i]}, func(_, all bool) bool { return all })
		if t.ctx.Err() != nil {
			return
		}
	}
	stated := ""
	if d.pooled[0] >= 0 {
		stated = "; all by 1, 2, 3 %: " + shares(d.pooled)
	}
	t.row(true, fmt.Sprintf("25 points, %d passes: %s", d.passes, d.name), "",
		"one point by 3, 5, 10 %%: %s; all by 1, 2, 3 %%: %s (stated %s%s)",
		shares(found), shares(all), shares(d.single), stated)
}

func shares(x [3]float64) string { return fmt.Sprintf("%.2f %.2f %.2f", x[0], x[1], x[2]) }

// share is how often a design finds what a predicate asks.
func (t *table) share(d design, b bench, found func(point, all bool) bool) float64 {
	b.points, b.host, b.start, b.measure = 25, .01, .005, .01
	r := rand.New(rand.NewPCG(t.o.seed, 20261122))
	n, trials := 0., 30*t.o.populations
	for range trials {
		if t.ctx.Err() != nil {
			return 0
		}
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
		{start: .005, measure: .01, earlier: .005}, {start: .02, measure: .01, earlier: .02},
		{start: .02, measure: .01, earlier: .005}, // no goal: with two blocks nothing shows that starts have changed
	} {
		r := rand.New(rand.NewPCG(t.o.seed, 3))
		b.points, b.host = 25, .05
		find := taking(2, true, b.earlier > 0)
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
		if b.earlier > 0 {
			name += fmt.Sprintf(", starts of 8 earlier pairs %g %%", 100*b.earlier)
		}
		goal, met := "a point, or all, in .05 of pairs at most, within chance", points <= .05+chance && pooled <= .05+chance
		if b.earlier > 0 && b.earlier < b.start {
			goal, met = "", true
		}
		t.row(met, name, goal, "one point or more in %.3f, all in %.3f", points, pooled)
	}
}

// noises draws the noise of each point.
func (b bench) noises(r *rand.Rand) []float64 {
	out := make([]float64, b.points)
	for i := range out {
		out[i] = b.measure
		if b.spread {
			chi := 0.
			for range 4 {
				g := r.NormFloat64()
				chi += g * g
			}
			out[i] *= math.Sqrt(4 / chi)
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
func taking(blocks int, fresh, known bool) func(bench, *rand.Rand) (bool, bool) {
	return func(b bench, r *rand.Rand) (bool, bool) {
		design := block.Fresh()
		design.Kept = !fresh
		if known {
			var before [][][]float64
			same := b
			same.one, same.all = 0, 0
			if b.earlier > 0 {
				same.start = b.earlier
			}
			for range 8 {
				before = append(before, same.pair(r, blocks, fresh))
			}
			design.Starts = block.Starts(before)
		}
		each, all := block.Compare(b.pair(r, blocks, fresh), design)
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
	return b.judge(runs, seconds, 1, regression.Confirmed)
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
	return b.judge(append(b.before(r), sum), nil, times, regression.Suspected)
}

// judge judges the newest release by the others.
func (b bench) judge(runs, seconds [][]float64, times int16, least regression.Evidence) (point, all bool) {
	f := fleet{devices: 1, models: 1, workloads: b.points}
	tab := f.table(runs, seconds, math.Log1p(pairLimit))
	for _, c := range tab.Cells {
		tab.Obs[c.End-1].K = times
	}
	j, err := regression.Judge(context.Background(), tab, regression.DefaultRules())
	if err != nil {
		return false, false
	}
	row := j.Rows[tab.Cells[0].End-1]
	for _, x := range j.Findings {
		newest := int(x.Release) == len(runs)-1
		all = all || newest && x.Kind == regression.ShiftFinding && x.Word == regression.Regressed && x.Evidence >= least
	}
	return row.Word == regression.Regressed && row.Evidence >= least, all
}
