package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/targets/regression"
)

// public measures the judge on public histories, tables in the folder of --series that series.py made: files of a
// pattern, of which measure is called with the names of the series, and with their values on the log scale, NaN where a
// release has none.
func (t *table) public(pattern string, measure func(history string, names []string, z [][]float64)) (found bool) {
	files, _ := filepath.Glob(filepath.Join(t.o.series, pattern)) // the pattern is well formed
	if t.o.series == "" {
		files = nil
	}
	for _, file := range files {
		var rows [][]string
		f, err := os.Open(file)
		if err == nil {
			rows, err = csv.NewReader(f).ReadAll()
			f.Close()
		}
		if err != nil {
			t.row(false, file, "series are readable", "%v", err)
			continue
		}
		var names []string
		z := make([][]float64, len(rows))
		for i, row := range rows {
			names = append(names, row[0])
			for _, cell := range row[1:] {
				v := math.NaN()
				if x, err := strconv.ParseFloat(cell, 64); err == nil && x > 0 {
					v = math.Log(x)
				}
				z[i] = append(z[i], v)
			}
		}
		measure(strings.TrimSuffix(filepath.Base(file), ".csv"), names, z)
	}
	return len(files) > 0
}

// windows measures the judge on real noise: windows of n consecutive releases of public histories, of which 2 % of
// 2,000 series then become 10 % slower and stay so; the release after is the independent run. Real changes in the
// window count as false; how many of those later commits show too is said beside it.
func windows(t *table) {
	if t.o.series == "" {
		t.row(true, "public histories", "", "not measured: --series names no folder")
	}
	t.public("asv-*.csv", func(history string, _ []string, z [][]float64) {
		t.window(history, z, 5, .75, 5)
		t.window(history, z, 8, .80, 10)
		t.window(history, z, 25, .85, 5)
	})
}

// tally counts what a rule said of what did not change, at 0, and of what did, at 1.
type tally struct{ of, seen, confirmed [2]float64 }

func (x *tally) add(change int, seen, confirmed bool) {
	x.of[change]++
	x.seen[change] += one(seen)
	x.confirmed[change] += one(confirmed)
}

// window draws windows of n releases from a history; goals are the share that is confirmed, and how many a thousand
// may be false.
func (t *table) window(history string, series [][]float64, n int, power, wrong float64) {
	const most, share = 2000, 50
	r := rand.New(rand.NewPCG(t.o.seed, uint64(n)))
	var x, ratio tally
	lasting := 0.
	for range t.o.populations {
		from := r.IntN(len(series[0]) - n - 1)
		var whole []int
		for i, s := range series {
			if !slices.ContainsFunc(s[from:from+n+2], math.IsNaN) {
				whole = append(whole, i)
			}
		}
		if len(whole) < 200 {
			continue
		}
		r.Shuffle(len(whole), func(i, k int) { whole[i], whole[k] = whole[k], whole[i] })
		whole = whole[:min(most, len(whole))]
		runs := make([][]float64, n+2)
		for k, i := range whole {
			for r := range runs {
				z := series[i][from+r]
				if r >= n && k%share == 0 {
					z += math.Log(1.10)
				}
				runs[r] = append(runs[r], z)
			}
		}
		seconds := make([][]float64, n+1)
		seconds[n] = runs[n+1]
		tab := fleet{devices: 1, models: 1, workloads: len(whole)}.table(runs[:n+1], seconds, limit)
		j := judge(tab)
		for k, i := range whole {
			change, past := int(one(k%share == 0)), series[i][from:from+n]
			suspected, confirmed := said(tab, j, k, n)
			x.add(change, suspected, confirmed)
			if confirmed && change == 0 && lasts(series[i], from+n) {
				lasting++
			}
			ratio.add(change, isOver(past, runs[n][k]), isOver(past, min(runs[n][k], runs[n+1][k])))
		}
	}
	found, false1000 := x.confirmed[1]/x.of[1], 1000*x.confirmed[0]/x.of[0]
	t.floored(found >= power && false1000 <= wrong, found >= power-.05 && false1000 <= wrong+2.5,
		fmt.Sprintf("%s, n = %d, +10 %% in 2 %%, re-run", history, n),
		fmt.Sprintf("confirmed >= %.2f at <= %.0f false per 1000", power, wrong), "at most .05 and 2.5 off",
		"confirmed %.2f at %.1f false per 1000, %.1f of them real (suspected %.2f at %.1f); 5 %% ratio twice %.2f at %.1f",
		found, false1000, 1000*lasting/x.of[0], x.seen[1]/x.of[1], 1000*x.seen[0]/x.of[0],
		ratio.confirmed[1]/ratio.of[1], 1000*ratio.confirmed[0]/ratio.of[0])
}

// lasts reports whether later commits show a change that nobody planted, within two commits of a place.
func lasts(z []float64, at int) bool {
	for place := max(1, at-2); place <= min(at+1, len(z)-1); place++ {
		past := measured(z[:place])
		if before, after := hindsight(slices.Concat(past, measured(z[place:])), len(past)); after >= before+limit {
			return true
		}
	}
	return false
}

// measured are the values of a series that has them.
func measured(z []float64) []float64 { return slices.DeleteFunc(slices.Clone(z), math.IsNaN) }

// nightlies measures the judge on public nightly results, where nobody planted a change: what is truly worse is known
// from the nights that follow. A series is metric|device|environment|workload, and environments are kept apart.
func nightlies(t *table) {
	if !t.public("gha-*.csv", t.nights) {
		t.row(true, "public nightlies", "", "not measured: --series names no folder with gha-*.csv")
	}
}

// nights judges a nightly history and compares it with a rule of 5 %, broken once or twice.
func (t *table) nights(history string, names []string, series [][]float64) {
	tab, err := nightly(names, series)
	if err != nil {
		t.row(false, history, "series are readable", "%v", err)
		return
	}
	j := judge(tab)
	var sure, seen, once, twice nightCount
	worse := 0.
	for c, cell := range tab.Cells {
		z := values(tab, c)
		truth := worsened(z)
		worse += one(truth >= 0)
		var confirmed, suspected []alarm
		for i := range z {
			if isWorse, isSure := said(tab, j, c, i); isWorse {
				first := j.Rows[cell.First+int32(i)].First // the release that showed the change first
				before := tab.Obs[cell.First : cell.First+int32(i)]
				since := slices.IndexFunc(before, func(o regression.Obs) bool { return o.Release == first })
				if since < 0 {
					since = i
				}
				suspected = append(suspected, alarm{release: i, since: since})
				if isSure {
					confirmed = append(confirmed, alarm{release: i, since: since})
				}
			}
		}
		sure.add(z, confirmed, truth)
		seen.add(z, suspected, truth)
		a, b := ratios(z)
		once.add(z, a, truth)
		twice.add(z, b, truth)
	}
	k := 1000 / float64(len(tab.Obs))
	met := sure.second == worse && sure.wrong*k <= .2
	t.floored(met, sure.second >= .80*worse && sure.wrong*k <= 1,
		fmt.Sprintf("%s: %d series by environment, %d nights of them, %.0f truly worse", history, len(tab.Cells),
			len(tab.Obs), worse),
		"all confirmed by their second night at <= .2 false per 1000", ".80 of them at 1",
		"confirmed %.0f at %.2f (suspected %.0f the first night, %.0f by the second, at %.1f); "+
			"5 %% ratio %.0f the first at %.1f; twice %.0f at %.1f",
		sure.second, sure.wrong*k, seen.first, seen.second, seen.wrong*k,
		once.first, once.wrong*k, twice.second, twice.wrong*k)
}

// nightly is the history of the series that a gate watches and that have some nights.
func nightly(names []string, series [][]float64) (*regression.Table, error) {
	const fewest = 6 // nights
	numbers := map[string]map[string]int32{"metric": {}, "device": {}, "workload": {}}
	number := func(kind string, parts ...string) int32 {
		key := strings.Join(parts, "|")
		if _, isKnown := numbers[kind][key]; !isKnown {
			numbers[kind][key] = int32(len(numbers[kind]))
		}
		return numbers[kind][key]
	}
	tab := newTable(0, len(series[0]))
	for i, name := range names {
		part := strings.Split(name, "|")
		if len(part) != 4 {
			return nil, fmt.Errorf("%q: expected metric|device|environment|workload", name)
		}
		statistic, of, _ := strings.Cut(name, "_") // a gate watches the mean of a metric, else its median
		isOther := statistic == "median" && slices.Contains(names, "mean_"+of) || statistic == "p90" || statistic == "p99"
		if isOther || len(measured(series[i])) < fewest {
			continue
		}
		system := number("workload", part[1], part[2], part[3])
		addCell(tab, regression.Cell{
			Stratum: number("metric", part[0], part[1], part[2]), Device: number("device", part[1], part[2]), Model: system,
			System: system, Point: system, Delta: limit,
		}, series[i])
	}
	tab.Strata = len(numbers["metric"])
	return tab, nil
}

// hindsight is what the nights around one show of a change that begins with it: the median of up to eight before it,
// and of up to five from it on.
func hindsight(z []float64, at int) (before, after float64) {
	const window, later = 8, 5
	return median(z[max(0, at-window):at]), median(z[at:min(len(z), at+later)])
}

func median(z []float64) float64 { return regression.Median(slices.Clone(z)) }

// worsened is the place of the first value of a series that is truly worse, or -1: it and those after it, at least
// three, are more than what matters above the median of those before it, at least three, and above all of those.
func worsened(z []float64) int {
	const fewest, later = 3, 5
	for i := fewest; i+fewest <= len(z); i++ {
		before, _ := hindsight(z, i)
		if least := slices.Min(z[i:min(len(z), i+later)]); least >= before+limit && least > slices.Max(z[max(0, i-8):i]) {
			return i
		}
	}
	return -1
}

// nightCount counts what a rule said about a nightly history.
type nightCount struct{ first, second, wrong float64 }

// add counts the values of a series that a rule called worse. One is wrong where hindsight shows no change that matters
// where it began, and not counted where fewer than three nights can show it.
func (n *nightCount) add(z []float64, said []alarm, truth int) {
	first, second := false, false
	for _, a := range said {
		if before, after := hindsight(z, a.since); a.since+3 <= len(z) && after < before+limit {
			n.wrong++
		}
		first = first || a.release == truth
		second = second || truth >= 0 && (a.release == truth || a.release == truth+1)
	}
	n.first, n.second = n.first+one(first), n.second+one(second)
}

// ratios is the rival: a value is 5 % above the mean of up to eight before it, three at least; twice means that the
// next one is as well.
func ratios(z []float64) (once, twice []alarm) {
	const fewest, window = 3, 8
	for i := range z {
		isAbove := func(at int) bool {
			past := z[max(0, at-window):max(0, at)]
			return len(past) >= fewest && isOver(past, z[at]) && isOver(past, z[i])
		}
		if isAbove(i) {
			once = append(once, alarm{release: i, since: i})
		}
		if isAbove(i - 1) {
			twice = append(twice, alarm{release: i, since: i - 1})
		}
	}
	return once, twice
}
