package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
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
			list[i] = f.year(t.o.seed*1000 + uint64(i))
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
func (f fleet) year(seed uint64) year {
	const before, weeks = 5, 52
	d := f.draw(seed)
	other := rand.New(rand.NewPCG(seed, 9))
	var y year
	var runs, seconds [][]float64
	for w := range before + weeks {
		runs, seconds = append(runs, d.run()), append(seconds, nil)
		if w < before {
			continue
		}
		again := d.run()
		y.ratio += count1(ratioFails(runs, again))
		tab := f.table(runs, seconds, math.Log1p(.05))
		suspects, confirmed := newest(tab, judge(tab), other)
		if len(suspects) > 0 && !confirmed { // the re-run stays a part of the history
			y.asks++
			y.points += float64(len(suspects))
			second := slices.Repeat([]float64{math.NaN()}, f.cells())
			for _, c := range suspects {
				second[c] = again[c]
			}
			seconds[w] = second
			tab = f.table(runs, seconds, math.Log1p(.05))
			_, confirmed = newest(tab, judge(tab), other)
		}
		y.fails += count1(confirmed)
	}
	return y
}

// newest lists the cells that are worth a re-run, as the gate proposes them: those that the newest release suspects to
// have regressed, eight of a group that does, and one control a stratum; and reports whether anything is
// confirmed to have regressed.
func newest(tab *regression.Table, j *regression.Judgement, r *rand.Rand) (suspects []int, confirmed bool) {
	last := int32(len(tab.Releases) - 1)
	ask := map[int]bool{}
	some := func(n int, of func(c int) bool) { pick(tab, r, ask, n, of) }
	for _, f := range j.Findings {
		switch {
		case f.Release != last || f.Word != schema.Regressed:
		case f.Evidence == schema.Confirmed:
			confirmed = true
		default:
			some(8, func(c int) bool { return slices.Contains(f.Members, int32(c)) })
		}
	}
	strata := map[int32]bool{}
	for c := range tab.Cells {
		switch row := &j.Rows[tab.Cells[c].End-1]; {
		case row.Word != schema.Regressed || row.Why == schema.WhyGroup:
		case row.Evidence == schema.Confirmed:
			confirmed = true
		default:
			ask[c] = true
			strata[tab.Cells[c].Stratum] = true
		}
	}
	for s := range tab.Strata { // controls
		if strata[int32(s)] {
			some(1, func(c int) bool { return int(tab.Cells[c].Stratum) == s })
		}
	}
	for c := range tab.Cells {
		if ask[c] {
			suspects = append(suspects, c)
		}
	}
	return suspects, confirmed
}

// pick adds some cells of a kind to those that are asked for, at random.
func pick(tab *regression.Table, r *rand.Rand, ask map[int]bool, n int, of func(c int) bool) {
	for _, c := range r.Perm(len(tab.Cells)) {
		if n > 0 && of(c) && !ask[c] {
			ask[c] = true
			n--
		}
	}
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

// nightlies measures the judge on public nightly results, where nobody planted a change: what is truly worse is known
// from the nights that follow. Environments are kept apart. They are measured when --series names a folder with
// gha-*.csv of series.py.
func nightlies(t *table) {
	names, _ := filepath.Glob(filepath.Join(t.o.series, "gha-*.csv")) // the pattern is well formed
	if t.o.series == "" || len(names) == 0 {
		t.row(true, "public nightlies", "", "not measured: --series names no folder with gha-*.csv")
		return
	}
	for _, name := range names {
		h, err := readNights(name)
		if err != nil {
			t.row(false, name, "series are readable", "%v", err)
			continue
		}
		t.night(strings.TrimSuffix(filepath.Base(name), ".csv"), h)
	}
}

// nights is a history of nightly results: a night without a value has NaN.
type nights struct {
	z                     [][]float64 // ln of the value by series and night; larger is worse
	stratum, system, unit []int32     // by series: metric, device and environment; model and workload; device
	names                 []string
}

func readNights(name string) (*nights, error) {
	series, z, err := readSeries(name)
	if err != nil {
		return nil, err
	}
	primary := primaries(series)
	const fewest = 6
	h := &nights{}
	ids := map[string]int32{}
	id := func(parts ...string) int32 {
		key := strings.Join(parts, "|")
		if _, known := ids[key]; !known {
			ids[key] = int32(len(ids))
		}
		return ids[key]
	}
	for i, title := range series {
		part := strings.Split(title, "|")
		if len(part) != 4 {
			return nil, fmt.Errorf("%s: series %q: expected metric|device|environment|workload", name, title)
		}
		measured := slices.DeleteFunc(slices.Clone(z[i]), math.IsNaN)
		if len(measured) < fewest || !primary[title] {
			continue
		}
		h.z = append(h.z, z[i])
		h.names = append(h.names, title)
		h.stratum = append(h.stratum, id("metric", part[0], part[1], part[2]))
		h.system = append(h.system, id("workload", part[1], part[2], part[3]))
		h.unit = append(h.unit, id("device", part[1], part[2]))
	}
	return h, nil
}

// table is the history as the judge takes it.
func (h *nights) table(delta float64) *regression.Table {
	dense := map[int32]int32{}
	for _, s := range h.stratum {
		if _, known := dense[s]; !known {
			dense[s] = int32(len(dense))
		}
	}
	tab := newTable(len(dense), len(h.z[0]))
	for i, values := range h.z {
		addCell(tab, regression.Cell{
			Stratum: dense[h.stratum[i]], Device: h.unit[i], Model: h.system[i], System: h.system[i], Point: h.system[i],
			Delta: delta,
		}, values)
	}
	return tab
}

// primaries are the series that a gate watches: of the statistics of one metric its mean, else its median.
func primaries(series []string) map[string]bool {
	all, out := map[string]bool{}, map[string]bool{}
	for _, name := range series {
		all[name] = true
	}
	for name := range all {
		statistic, rest, _ := strings.Cut(name, "_")
		switch {
		case statistic == "median" && all["mean_"+rest], statistic == "p90", statistic == "p99":
		default:
			out[name] = true
		}
	}
	return out
}

// hindsight is what the nights around one show of a change that begins with it: the median of up to eight before it,
// and of up to five from it on.
func hindsight(z []float64, at int) (before, after float64) {
	const window, later = 8, 5
	return median(z[max(0, at-window):at]), median(z[at:min(len(z), at+later)])
}

func median(z []float64) float64 {
	sorted := slices.Sorted(slices.Values(z))
	if len(sorted) == 0 {
		return math.NaN()
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// worsened is the place of the first value of a series that is truly worse, or -1: it and those after it, at least
// three, are more than what matters above the median of those before it, at least three, and above all of those.
func worsened(z []float64, delta float64) int {
	const fewest, later = 3, 5
	for i := fewest; i+fewest <= len(z); i++ {
		before, _ := hindsight(z, i)
		if least := slices.Min(z[i:min(len(z), i+later)]); least >= before+delta && least > slices.Max(z[max(0, i-8):i]) {
			return i
		}
	}
	return -1
}

// nightCount counts what a rule said about a nightly history.
type nightCount struct{ first, second, wrong float64 }

// add counts what a rule said of the values of a series: of each whether it is worse, and where that began. It is wrong
// where hindsight shows no change that matters there, and not counted where fewer than three nights can show it.
func (n *nightCount) add(z []float64, said []int, truth int, delta float64) {
	found := func(upTo int) bool {
		return slices.ContainsFunc(said[truth:upTo], func(at int) bool { return at >= 0 })
	}
	for _, at := range said {
		if at < 0 || at+3 > len(z) {
			continue
		}
		if before, after := hindsight(z, at); after < before+delta {
			n.wrong++
		}
	}
	if truth >= 0 {
		n.first += count1(found(truth + 1))
		n.second += count1(found(truth + 2))
	}
}

func count1(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// night judges a nightly history and compares it with a rule of 5 %, broken once or twice.
func (t *table) night(name string, h *nights) {
	delta := math.Log1p(.05)
	tab := h.table(delta)
	j := judge(tab)
	var sure, seen, once, twice nightCount
	worse, judged := 0., 0.
	for c, cell := range tab.Cells {
		z := slices.DeleteFunc(slices.Clone(h.z[c]), math.IsNaN)
		truth := worsened(z, delta)
		worse += count1(truth >= 0)
		judged += float64(len(z))
		confirmed, suspected := make([]int, len(z)), make([]int, len(z))
		for i := range z {
			confirmed[i], suspected[i] = -1, -1
			if row := &j.Rows[cell.First+int32(i)]; row.Word == schema.Regressed {
				suspected[i] = began(tab, cell, row, i)
				if row.Evidence == schema.Confirmed {
					confirmed[i] = suspected[i]
				}
			}
		}
		sure.add(z, confirmed, truth, delta)
		seen.add(z, suspected, truth, delta)
		a, b := ratios(z)
		once.add(z, a, truth, delta)
		twice.add(z, b, truth, delta)
	}
	k := 1000 / judged
	met := sure.second == worse && sure.wrong*k <= .2
	t.floored(met, sure.second >= .80*worse && sure.wrong*k <= 1,
		fmt.Sprintf("%s: %d series by environment, %.0f nights of them, %.0f truly worse", name, len(h.z), judged, worse),
		"all confirmed by their second night at <= .2 false per 1000", ".80 of them at 1",
		"confirmed %.0f at %.2f (suspected %.0f the first night, %.0f by the second, at %.1f); "+
			"5 %% ratio %.0f the first at %.1f; twice %.0f at %.1f",
		sure.second, sure.wrong*k, seen.first, seen.second, seen.wrong*k,
		once.first, once.wrong*k, twice.second, twice.wrong*k)
}

// began is the place of the value of a cell that first showed the change that a row reports.
func began(tab *regression.Table, cell regression.Cell, row *regression.Row, at int) int {
	for i := range at {
		if tab.Obs[cell.First+int32(i)].Release == row.First {
			return i
		}
	}
	return at
}

// ratios is the rival: a value is 5 % above the mean of up to eight before it, three at least; twice means that the
// next one is as well. Of each value it returns where the change began, or -1.
func ratios(z []float64) (once, twice []int) {
	const fewest, window = 3, 8
	for i := range z {
		once, twice = append(once, -1), append(twice, -1)
		over := func(at int) bool {
			past := z[max(0, at-window):max(0, at)]
			mean := 0.
			for _, v := range past {
				mean += v / float64(len(past))
			}
			return len(past) >= fewest && z[at]-mean > math.Log(1.05) && z[i]-mean > math.Log(1.05)
		}
		if over(i) {
			once[i] = i
		}
		if i > 0 && over(i-1) {
			twice[i] = i - 1
		}
	}
	return once, twice
}
