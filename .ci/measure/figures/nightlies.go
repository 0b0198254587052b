package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/targets/regression"
)

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
	tab := &regression.Table{}
	for i, s := range h.stratum {
		if _, known := dense[s]; !known {
			dense[s] = int32(len(dense))
			tab.Devices = append(tab.Devices, h.unit[i])
		}
	}
	tab.Strata = len(dense)
	for range h.z[0] {
		tab.Releases = append(tab.Releases, regression.Release{Joins: true})
	}
	for i, values := range h.z {
		c := regression.Cell{
			Stratum: dense[h.stratum[i]], System: h.system[i], Point: h.system[i], First: int32(len(tab.Obs)), Delta: delta,
		}
		for r, z := range values {
			if !math.IsNaN(z) {
				tab.Obs = append(tab.Obs, regression.Obs{Release: int32(r), Z: z, K: 1})
			}
		}
		c.End = int32(len(tab.Obs))
		tab.Cells = append(tab.Cells, c)
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
	j, err := regression.Judge(t.ctx, tab, regression.DefaultRules())
	if err != nil {
		return
	}
	var judge, seen, once, twice nightCount
	worse, judged := 0., 0.
	for c, cell := range tab.Cells {
		z := slices.DeleteFunc(slices.Clone(h.z[c]), math.IsNaN)
		truth := worsened(z, delta)
		worse += count1(truth >= 0)
		judged += float64(len(z))
		confirmed, suspected := make([]int, len(z)), make([]int, len(z))
		for i := range z {
			confirmed[i], suspected[i] = -1, -1
			if row := &j.Rows[cell.First+int32(i)]; row.Word == regression.Regressed {
				suspected[i] = began(tab, cell, row, i)
				if row.Evidence == regression.Confirmed {
					confirmed[i] = suspected[i]
				}
			}
		}
		judge.add(z, confirmed, truth, delta)
		seen.add(z, suspected, truth, delta)
		a, b := ratios(z)
		once.add(z, a, truth, delta)
		twice.add(z, b, truth, delta)
	}
	k := 1000 / judged
	met := judge.second == worse && judge.wrong*k <= .2
	t.floored(met, judge.second >= .80*worse && judge.wrong*k <= 1,
		fmt.Sprintf("%s: %d series by environment, %.0f nights of them, %.0f truly worse", name, len(h.z), judged, worse),
		"all confirmed by their second night at <= .2 false per 1000", ".80 of them at 1",
		"confirmed %.0f at %.2f (suspected %.0f the first night, %.0f by the second, at %.1f); "+
			"5 %% ratio %.0f the first at %.1f; twice %.0f at %.1f",
		judge.second, judge.wrong*k, seen.first, seen.second, seen.wrong*k,
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
