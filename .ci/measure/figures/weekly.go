package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/ttreport/ttreport/targets/regression"
)

// hall is 500 points: five devices, four models, 25 workloads.
func hall() fleet {
	return fleet{devices: 5, models: 4, workloads: 25, noise: gaussian, sd: .01, spread: true}
}

// weeks are gates over a year in which nothing changes: any that fails is false.
func weekly(t *table) {
	kinds := []struct {
		name    string
		goal    float64 // false FAILs a year
		floor   float64 // false FAILs a year, where the goal is missed
		recheck float64 // weeks that may ask for a re-run; 0: no goal
		change  func(f *fleet)
	}{
		{"iid", 1, 0, 0, func(*fleet) {}},
		{"t4", 1, 0, 0, func(f *fleet) { f.noise = student(4) }},
		{"run factor 1 %", 1, 0, 0, func(f *fleet) { f.start = .01 }},
		{"run factor 2 %", 1, 0, 0, func(f *fleet) { f.start = .02 }},
		{"device factor 2 %", .5, 0, 0, func(f *fleet) { f.host = .02 }},
		{"bimodal, 3 % of values 12 % slow", 1, 0, 0, func(f *fleet) { f.slow, f.slowBy = .03, .12 }},
		{"3 % of runs 10 % slow", 1, 0, 0, func(f *fleet) { f.slowRuns, f.slowBy = .03, .10 }},
		{"harsh mix", 1, 5, 0, func(f *fleet) {
			f.noise, f.start, f.host = student(4), .005, .01
			f.slow, f.slowBy, f.slowRuns, f.modes = .02, .10, .02, .1
		}},
		{"2 % of values 20 % slow", 1, 2, 10, func(f *fleet) { f.slow, f.slowBy = .02, .20 }},
	}
	for _, k := range kinds {
		f := hall()
		k.change(&f)
		y := t.years(f)
		name := "year of weekly gates, 500 unchanged points, " + k.name
		goal, met, held := fmt.Sprintf("false FAIL <= %.1f", k.goal), y.fails <= k.goal, y.fails <= k.floor
		if k.recheck > 0 {
			goal += fmt.Sprintf(", re-runs in <= %.0f weeks", k.recheck)
			met, held = met && y.asks <= k.recheck, held && y.asks <= k.recheck
		}
		floor := ""
		if k.floor > 0 {
			floor = fmt.Sprintf("false FAIL <= %.1f", k.floor)
		}
		t.floored(met, held, name, goal, floor,
			"FAIL %.1f a year, re-runs in %.1f weeks of %.1f points; 5 %% ratio with re-run FAIL %.1f",
			y.fails, y.asks, y.points, y.ratio)
	}
}

// year is what 52 gates came to, in weeks.
type year struct {
	fails, asks, ratio float64
	points             float64 // that a week asks about, of those that ask
}

// years is the mean over several years, one for three populations: they take seconds each.
func (t *table) years(f fleet) year {
	list := make([]year, (t.o.populations+2)/3)
	var wg sync.WaitGroup
	room := make(chan struct{}, 2)
	for i := range list {
		wg.Go(func() {
			room <- struct{}{}
			list[i] = t.year(f, t.o.seed*1000+uint64(i))
			<-room
		})
	}
	wg.Wait()
	var y year
	for _, x := range list {
		y.fails, y.asks, y.ratio, y.points = y.fails+x.fails, y.asks+x.asks, y.ratio+x.ratio, y.points+x.points
	}
	k := float64(len(list))
	return year{y.fails / k, y.asks / k, y.ratio / k, y.points / math.Max(1, y.asks)}
}

// year gates every week after five, and measures once more, on another start, what the gate suspects; the gate then
// decides with both.
func (t *table) year(f fleet, seed uint64) year {
	const before, weeks = 5, 52
	d := f.draw(seed)
	other := rand.New(rand.NewPCG(seed, 9))
	var y year
	var runs, seconds [][]float64
	for w := range before + weeks {
		runs, seconds = append(runs, d.run()), append(seconds, nil)
		if w < before || t.ctx.Err() != nil {
			continue
		}
		again := d.run()
		if ratioFails(runs, again) {
			y.ratio++
		}
		y.gate(t, f, runs, seconds, again, other)
	}
	return y
}

// gate judges the newest week, once and after a re-run of what it suspects, which stays a part of the history.
func (y *year) gate(t *table, f fleet, runs, seconds [][]float64, again []float64, other *rand.Rand) {
	tab := f.table(runs, seconds, math.Log1p(.05))
	j, err := regression.Judge(t.ctx, tab, regression.DefaultRules())
	if err != nil {
		return
	}
	suspects, confirmed := newest(tab, j, other)
	if len(suspects) > 0 && !confirmed {
		y.asks++
		y.points += float64(len(suspects))
		second := make([]float64, f.cells())
		for c := range second {
			second[c] = math.NaN()
		}
		for _, c := range suspects {
			second[c] = again[c]
		}
		seconds[len(seconds)-1] = second
		tab = f.table(runs, seconds, math.Log1p(.05))
		if j, err = regression.Judge(t.ctx, tab, regression.DefaultRules()); err != nil {
			return
		}
		_, confirmed = newest(tab, j, other)
	}
	if confirmed {
		y.fails++
	}
}

// newest lists the cells that are worth a re-run, as the gate proposes them: those that the newest release suspects to
// have regressed, of a stratum or system that does eight, and one control a device; and reports whether anything is
// confirmed to have regressed.
func newest(tab *regression.Table, j *regression.Judgement, r *rand.Rand) (suspects []int, confirmed bool) {
	last := int32(len(tab.Releases) - 1)
	ask := map[int]bool{}
	some := func(left int, of func(c *regression.Cell) bool) {
		for _, c := range r.Perm(len(tab.Cells)) {
			if left > 0 && of(&tab.Cells[c]) && !ask[c] {
				ask[c] = true
				left--
			}
		}
	}
	for _, f := range j.Findings {
		if f.Release != last || f.Word != regression.Regressed {
			continue
		}
		confirmed = confirmed || f.Evidence == regression.Confirmed
		if f.Evidence == regression.Suspected {
			some(8, func(c *regression.Cell) bool {
				return c.Stratum == f.Stratum && (f.System < 0 || c.System == f.System)
			})
		}
	}
	strata := map[int32]bool{}
	for c := range tab.Cells {
		row := &j.Rows[tab.Cells[c].End-1]
		if row.Word != regression.Regressed || row.Why == regression.WhyShift {
			continue
		}
		if row.Evidence == regression.Confirmed {
			confirmed = true
			continue
		}
		ask[c] = true
		strata[tab.Cells[c].Stratum] = true
	}
	for s := range tab.Strata { // controls
		if strata[int32(s)] {
			some(1, func(c *regression.Cell) bool { return int(c.Stratum) == s })
		}
	}
	for c := range tab.Cells {
		if ask[c] {
			suspects = append(suspects, c)
		}
	}
	return suspects, confirmed
}

// ratioFails is the rival: a point is 5 % above the mean of its baseline, twice.
func ratioFails(runs [][]float64, again []float64) bool {
	last := len(runs) - 1
	for c := range again {
		mean := 0.
		for _, z := range runs[:last] {
			mean += z[c] / float64(last)
		}
		if math.Min(runs[last][c], again[c])-mean > math.Log(1.05) {
			return true
		}
	}
	return false
}
