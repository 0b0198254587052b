package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// limit is the log of a change that matters.
var limit = math.Log1p(.05)

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// said is what the judge says of a cell in its i-th value: that it is worse, and surely.
func said(t *regression.Table, j *regression.Judgement, cell, i int) (worse, confirmed bool) {
	row := &j.Rows[t.Cells[cell].First+int32(i)]
	worse = row.Word == schema.Regressed
	return worse, worse && row.Evidence == schema.Confirmed
}

// isOver is the rival: a value is 5 % above the mean of its baseline.
func isOver(past []float64, z float64) bool { return z-regression.Mean(past) > limit }

func newTable(strata, releases int) *regression.Table {
	t := &regression.Table{Strata: strata}
	for range releases {
		t.Releases = append(t.Releases, regression.Release{Joins: true})
	}
	return t
}

// addCell adds a cell with its values, one a release, NaN where a release has none, and returns its observations.
func addCell(t *regression.Table, c regression.Cell, values []float64) []regression.Obs {
	c.First = int32(len(t.Obs))
	for r, z := range values {
		if !math.IsNaN(z) {
			t.Obs = append(t.Obs, regression.Obs{Release: int32(r), Z: z, K: 1})
		}
	}
	c.End = int32(len(t.Obs))
	t.Cells = append(t.Cells, c)
	return t.Obs[c.First:]
}

// chiSquared draws from the chi-squared distribution with four degrees of freedom.
func chiSquared(r *rand.Rand) (chi float64) {
	for range 4 {
		g := r.NormFloat64()
		chi += g * g
	}
	return chi
}

// population has four devices with four metrics each, which shift by shift in each of n + 2 releases. From release n on
// some of its series are worse by effect, where delta matters; both are logs. Standard deviations of series scatter:
// CV² = 1e-4 · 4/χ²(4), so that the median is about 1 %.
type population struct {
	n, changed           int
	effect, delta, shift float64
}

const inPopulation = 10_000 // series

// each judges populations, and counts what is said of the release in which series change, and of the next.
func (t *table) each(p population, do func(at, next counts)) {
	const devices, metrics = 4, 4
	for i := range t.o.populations {
		r := rand.New(rand.NewPCG(t.o.seed*1000+uint64(i), 20260101))
		tab := newTable(devices*metrics, p.n+2)
		var shifts [devices][]float64
		for d := range shifts {
			for range p.n + 2 {
				shifts[d] = append(shifts[d], p.shift*r.NormFloat64())
			}
		}
		changes := map[int]bool{}
		for len(changes) < p.changed {
			changes[r.IntN(inPopulation)] = true
		}
		for c := range inPopulation {
			device, metric := c/metrics%devices, c%metrics
			sd := math.Sqrt(1e-4 * 4 / chiSquared(r))
			z := make([]float64, p.n+2)
			for rel := range z {
				z[rel] = 3 + sd*r.NormFloat64() + shifts[device][rel]
				if changes[c] && rel >= p.n {
					z[rel] += p.effect
				}
			}
			addCell(tab, regression.Cell{
				Stratum: int32(device*metrics + metric), Device: int32(device), System: int32(device),
				Point: int32(c / metrics), Delta: p.delta,
			}, z)
		}
		j := judge(tab)
		do(countIn(tab, j, changes, p.n), countIn(tab, j, changes, p.n+1))
	}
}

// counts are series of a population in one release: changed ones that regressed, others that regressed, improved or
// recovered, and those of both that are confirmed.
type counts struct{ hits, alarms, sureHits, sureAlarms float64 }

func countIn(t *regression.Table, j *regression.Judgement, changes map[int]bool, release int) (n counts) {
	for c := range t.Cells {
		row := &j.Rows[t.Cells[c].First+int32(release)]
		sure := one(row.Evidence == schema.Confirmed)
		switch {
		case row.Word == schema.Regressed && changes[c]:
			n.hits, n.sureHits = n.hits+1, n.sureHits+sure
		case row.Word == schema.Regressed, row.Word == schema.Improved, row.Word == schema.Recovered:
			n.alarms, n.sureAlarms = n.alarms+1, n.sureAlarms+sure
		}
	}
	return n
}

// unchanged populations: every change that is reported is false.
func unchanged(t *table) {
	for _, n := range []int{3, 10, 50} {
		most, confirmed := 0., 0.
		t.each(population{n: n, delta: math.Log(1.05)}, func(at, next counts) {
			most = max(most, at.alarms, next.alarms)
			confirmed += at.sureAlarms + next.sureAlarms
		})
		t.row(most <= 5 && confirmed == 0, fmt.Sprintf("10^4 unchanged series, n = %d, Gaussian", n),
			"suspected <= 5 in each, confirmed 0",
			"suspected at most %.0f, confirmed %.0f in %d populations", most, confirmed, t.o.populations)
	}
}

// changed populations: after n releases 1 % of the series regress permanently; power is the goal.
func changed(t *table) {
	for _, c := range []struct {
		n                           int
		effect, delta, shift, power float64
	}{{2, .10, .05, 0, 0}, {3, .10, .05, 0, .80}, {3, .10, .05, .02, .80}, {10, .05, .02, 0, .40}} {
		const changes = inPopulation / 100
		power, share, worst, again, alarms, wrong := 0., 0., 0., 0., 0., 0.
		p := population{c.n, changes, math.Log(1 + c.effect), math.Log(1 + c.delta), c.shift}
		t.each(p, func(at, next counts) {
			s := at.alarms / math.Max(1, at.hits+at.alarms)
			power, share, worst = power+at.hits/changes, share+s, math.Max(worst, s)
			again, wrong = again+next.sureHits/changes, math.Max(wrong, next.sureAlarms)
			alarms += next.sureAlarms / math.Max(1, next.sureHits+next.sureAlarms)
		})
		k := float64(t.o.populations)
		power, share, again, alarms = power/k, share/k, again/k, alarms/k
		most, goal, confirm := 1., fmt.Sprintf("power >= %.2f, false share <= .08", c.power), ""
		switch c.n {
		case 2: // what is suspected has no goal
			goal = ""
		case 3:
			most, goal = .20, goal+", none above .20"
			confirm = "confirmed >= .85 of them, at most 3 false"
		}
		const format = "%.0f %% in 1 %% of series, n = %d, effect that matters %.0f %%"
		name := fmt.Sprintf(format, 100*c.effect, c.n, 100*c.delta)
		if c.shift > 0 {
			name += fmt.Sprintf(", shifts N(0, %.0f %%)", 100*c.shift)
		}
		t.row(power >= c.power && share <= .08 && worst <= most, name, goal,
			"power %.3f, false share %.3f, worst %.3f", power, share, worst)
		t.floored(again >= .85 && wrong <= 3, again >= .85 && alarms <= .05, "  and it stays one more release", confirm,
			"false share <= .05", "confirmed %.3f, at most %.0f false, false share %.3f", again, wrong, alarms)
	}
}

// fleet is a made-up history of points on systems (a model on a device). Points differ in their noise:
// CV² = sd² · 4/χ²(4).
type fleet struct {
	devices, models, workloads int
	sd                         float64 // typical noise of a measurement
	faults
}

// faults are what values are off by beside Gaussian noise of each.
type faults struct {
	t4            bool    // noise is of Student's t with four degrees of freedom
	host, start   float64 // sd of a factor of a device in a release, and of a system in a release
	slow, slowBy  float64 // share of values that are slow, and by how much
	onFirstDevice bool    // these are of the first device alone
	slowRuns      float64 // share of runs of a system that are slow by slowBy, all points together
	modes         float64 // share of points that take a second mode, 8 % slower, in one of five runs
}

// hall is 500 points: five devices, four models, 25 workloads.
func hall(f faults) fleet { return fleet{devices: 5, models: 4, workloads: 25, sd: .01, faults: f} }

func (f fleet) cells() int          { return f.devices * f.models * f.workloads }
func (f fleet) device(cell int) int { return cell / (f.models * f.workloads) }
func (f fleet) system(cell int) int { return cell / f.workloads }

// draw returns what draws one run of everything after another.
func (f fleet) draw(seed uint64) func() []float64 {
	r := rand.New(rand.NewPCG(seed, 20260303))
	sd, modal := make([]float64, f.cells()), make([]bool, f.cells())
	for c := range sd {
		sd[c], modal[c] = f.sd*math.Sqrt(4/chiSquared(r)), r.Float64() < f.modes
	}
	noise := func(sd float64) float64 {
		if !f.t4 {
			return sd * r.NormFloat64()
		}
		chi := chiSquared(r)
		return sd * r.NormFloat64() / math.Sqrt(chi/4) * math.Sqrt(2./4)
	}
	return func() []float64 {
		host, start, z := make([]float64, f.devices), make([]float64, f.devices*f.models), make([]float64, f.cells())
		for i := range host {
			host[i] = f.host * r.NormFloat64()
		}
		for i := range start {
			start[i] = f.start * r.NormFloat64()
			if r.Float64() < f.slowRuns {
				start[i] += math.Log1p(f.slowBy)
			}
		}
		for c := range z {
			z[c] = 3 + host[f.device(c)] + start[f.system(c)] + noise(sd[c])
			if r.Float64() < f.slow && (!f.onFirstDevice || f.device(c) == 0) {
				z[c] += math.Log1p(f.slowBy)
			}
			if modal[c] && r.Float64() < .2 {
				z[c] += math.Log(1.08)
			}
		}
		return z
	}
}

// table is a history of runs, one a release; seconds is what later runs of each release measured: nil, or NaN, for
// none.
func (f fleet) table(runs, seconds [][]float64, delta float64) *regression.Table {
	t := newTable(f.devices, len(runs))
	for c := range f.cells() {
		z := make([]float64, len(runs))
		for r := range runs {
			z[r] = runs[r][c]
		}
		obs := addCell(t, regression.Cell{
			Stratum: int32(f.device(c)), Device: int32(f.device(c)), Model: int32(f.system(c)), System: int32(f.system(c)),
			Point: int32(c), Delta: delta,
		}, z)
		for r := range seconds {
			if seconds[r] != nil && !math.IsNaN(seconds[r][c]) {
				obs[r].Z2, obs[r].K2 = seconds[r][c], 1
			}
		}
	}
	return t
}

// aged histories have thirty releases of which some were bad, and then 2 % of their points become 10 % slower and stay
// so: how many are confirmed by the next release, with a goal, and by the one after?
func aged(t *table) {
	for _, k := range []struct {
		name  string
		floor float64
		of    faults
	}{
		{"no bad runs", .85, faults{}},
		{"3 % of values were 10 % slow", .85, faults{slow: .03, slowBy: .10}},
		{"12 % of the values of one device were 10 % slow, no others", .75,
			faults{slow: .12, slowBy: .10, onFirstDevice: true}},
		{"3 % of runs of a system were 10 % slow", .85, faults{slowRuns: .03, slowBy: .10}},
		{"one point in ten has two modes, 8 % apart", .85, faults{modes: .1}},
	} {
		s := t.stays(hall(k.of), 30, 10, .10, 4)
		t.floored(s.confirmed[1] >= .85, s.confirmed[1] >= k.floor, "aged history of 30 releases, +10 %, "+k.name,
			"confirmed next >= .85", fmt.Sprintf("%.2f", k.floor),
			"confirmed at once %.2f, next %.2f, then %.2f; false share %.3f",
			s.confirmed[0], s.confirmed[1], s.confirmed[2], s.falseShare)
	}
	for _, k := range []struct {
		slow float64
		goal string
	}{{.01, "named by the first run >= .7"}, {.03, ""}} {
		s := t.stays(hall(faults{slow: k.slow, slowBy: .20}), 30, 20, .20, 4)
		t.row(s.seen[0] >= .7 && s.falseShare <= .10,
			fmt.Sprintf("aged, %.0f %% of values were 20 %% slow, 20 of 500 points +20 %%", 100*k.slow), k.goal,
			"suspected %.2f, then %.2f; confirmed next %.2f; false share of those %.3f", s.seen[0], s.seen[1],
			s.confirmed[1], s.falseShare)
	}
	// A change of one point alone needs more evidence than one of many.
	for _, slow := range []float64{.03, 0} {
		s := t.stays(hall(faults{slow: slow, slowBy: .10}), 30, 1, .10, 8)
		t.row(true, fmt.Sprintf("  %.0f %% of values were 10 %% slow, one point of 500 alone", 100*slow), "",
			"confirmed at once %.2f, next %.2f, then %.2f", s.confirmed[0], s.confirmed[1], s.confirmed[2])
	}
}

// staysWorse is a change that a quiet history would show at once, in a noisy one.
func staysWorse(t *table) {
	s := t.stays(fleet{devices: 4, models: 25, workloads: 100, sd: .02}, 10, 100, .10, 1)
	t.floored(s.confirmed[2] >= .85 && s.falseShare <= .05, s.confirmed[2] >= .80 && s.falseShare <= .06,
		"10^4 points, CV 2 %, n = 10, 1 % +10 % and stays",
		"confirmed by the third >= .85, false share <= .05", "confirmed >= .80, false share <= .06",
		"suspected or confirmed %.2f, %.2f, %.2f; confirmed %.2f, %.2f, %.2f; false share of those %.3f",
		s.seen[0], s.seen[1], s.seen[2], s.confirmed[0], s.confirmed[1], s.confirmed[2], s.falseShare)
}

// stay is how many of the changed points were seen and confirmed, by release after the change.
type stay struct {
	seen, confirmed [3]float64
	falseShare      float64 // of all that were confirmed to have regressed
}

// stays makes some points slower for good after n releases and judges three more; times multiplies the populations.
func (t *table) stays(f fleet, n, changed int, effect float64, times int) (s stay) {
	right, wrong := 0., 0.
	for i := range uint64(t.o.populations * times) {
		run := f.draw(t.o.seed*1000 + i)
		slower := map[int]bool{}
		for _, c := range rand.New(rand.NewPCG(t.o.seed, i)).Perm(f.cells())[:changed] {
			slower[c] = true
		}
		var runs [][]float64
		for r := range n + 3 {
			runs = append(runs, run())
			for c := range slower {
				if r >= n {
					runs[r][c] += math.Log1p(effect)
				}
			}
		}
		tab := f.table(runs, nil, limit)
		j := judge(tab)
		for c := range tab.Cells {
			seen, sure := false, false
			for i := range s.seen {
				worse, confirmed := said(tab, j, c, n+i)
				seen, sure = seen || worse, sure || confirmed
				s.seen[i], s.confirmed[i] = s.seen[i]+one(seen && slower[c]), s.confirmed[i]+one(sure && slower[c])
			}
			right, wrong = right+one(sure && slower[c]), wrong+one(sure && !slower[c])
		}
	}
	for i := range s.seen {
		all := float64(t.o.populations * times * changed)
		s.seen[i], s.confirmed[i] = s.seen[i]/all, s.confirmed[i]/all
	}
	s.falseShare = wrong / math.Max(1, right+wrong)
	return s
}

// weekly gates judge a year in which nothing changes: any that fails is false.
func weekly(t *table) {
	for _, k := range []struct {
		name    string
		goal    float64 // false FAILs a year
		floor   float64 // the same, where the goal is missed
		recheck float64 // weeks that may ask for a re-run; 0: no goal
		of      faults
	}{
		{"iid", 1, 0, 0, faults{}},
		{"t4", 1, 0, 0, faults{t4: true}},
		{"run factor 1 %", 1, 0, 0, faults{start: .01}},
		{"run factor 2 %", 1, 0, 0, faults{start: .02}},
		{"device factor 2 %", .5, 0, 0, faults{host: .02}},
		{"bimodal, 3 % of values 12 % slow", 1, 0, 0, faults{slow: .03, slowBy: .12}},
		{"3 % of runs 10 % slow", 1, 0, 0, faults{slowRuns: .03, slowBy: .10}},
		{"harsh mix", 1, 5, 0,
			faults{t4: true, start: .005, host: .01, slow: .02, slowBy: .10, slowRuns: .02, modes: .1}},
		{"2 % of values 20 % slow", 1, 2, 10, faults{slow: .02, slowBy: .20}},
	} {
		list := make([]year, (t.o.populations+2)/3) // they take seconds each
		var wg sync.WaitGroup
		room := make(chan struct{}, 2)
		for i := range list {
			wg.Go(func() {
				room <- struct{}{}
				list[i] = hall(k.of).year(t.o.seed*1000 + uint64(i))
				<-room
			})
		}
		wg.Wait()
		var y year
		for _, x := range list {
			y = year{y.fails + x.fails, y.asks + x.asks, y.ratio + x.ratio, y.points + x.points}
		}
		n := float64(len(list))
		goal, floor := fmt.Sprintf("false FAIL <= %.1f", k.goal), ""
		met, held := y.fails <= k.goal*n, y.fails <= k.floor*n
		if k.recheck > 0 {
			goal += fmt.Sprintf(", re-runs in <= %.0f weeks", k.recheck)
			met, held = met && y.asks <= k.recheck*n, held && y.asks <= k.recheck*n
		}
		if k.floor > 0 {
			floor = fmt.Sprintf("false FAIL <= %.1f", k.floor)
		}
		t.floored(met, held, "year of weekly gates, 500 unchanged points, "+k.name, goal, floor,
			"FAIL %.1f a year, re-runs in %.1f weeks of %.1f points; 5 %% ratio with re-run FAIL %.1f",
			y.fails/n, y.asks/n, y.points/math.Max(1, y.asks), y.ratio/n)
	}
}

// year is what 52 gates came to, in weeks, and of how many points they asked for a re-run.
type year struct{ fails, asks, ratio, points float64 }

// year gates every week after five, and measures once more, on another start, what the gate suspects; the gate then
// decides with both.
func (f fleet) year(seed uint64) (y year) {
	const before, weeks = 5, 52
	run, other := f.draw(seed), rand.New(rand.NewPCG(seed, 9))
	var runs, seconds [][]float64
	for w := range before + weeks {
		runs, seconds = append(runs, run()), append(seconds, nil)
		if w < before {
			continue
		}
		again := run()
		isWorse := false // by the rival, twice
		for c := range again {
			var past []float64
			for _, z := range runs[:w] {
				past = append(past, z[c])
			}
			isWorse = isWorse || isOver(past, min(runs[w][c], again[c]))
		}
		y.ratio += one(isWorse)
		suspects, confirmed := newest(f.table(runs, seconds, limit), other)
		if len(suspects) > 0 && !confirmed { // the re-run stays a part of the history
			y.asks++
			y.points += float64(len(suspects))
			seconds[w] = slices.Repeat([]float64{math.NaN()}, f.cells())
			for c := range suspects {
				seconds[w][c] = again[c]
			}
			_, confirmed = newest(f.table(runs, seconds, limit), other)
		}
		y.fails += one(confirmed)
	}
	return y
}

// newest are the cells that are worth a re-run, as the gate proposes them: those that the newest release suspects to
// have regressed, eight of a group that does, and one control a stratum; and whether anything is confirmed to have
// regressed.
func newest(tab *regression.Table, r *rand.Rand) (suspects map[int]bool, confirmed bool) {
	j, last := judge(tab), len(tab.Releases)-1
	suspects = map[int]bool{}
	pick := func(n int, of func(c int) bool) { // at random
		for _, c := range r.Perm(len(tab.Cells)) {
			if n > 0 && of(c) && !suspects[c] {
				suspects[c] = true
				n--
			}
		}
	}
	for _, f := range j.Findings {
		switch {
		case int(f.Release) != last || f.Word != schema.Regressed:
		case f.Evidence == schema.Confirmed:
			confirmed = true
		default:
			pick(8, func(c int) bool { return slices.Contains(f.Members, int32(c)) })
		}
	}
	strata := map[int32]bool{}
	for c := range tab.Cells {
		worse, sure := said(tab, j, c, last)
		switch {
		case !worse || j.Rows[tab.Cells[c].End-1].Why == schema.WhyGroup:
		case sure:
			confirmed = true
		default:
			suspects[c], strata[tab.Cells[c].Stratum] = true, true
		}
	}
	for s := range int32(tab.Strata) { // controls
		if strata[s] {
			pick(1, func(c int) bool { return tab.Cells[c].Stratum == s })
		}
	}
	return suspects, confirmed
}
