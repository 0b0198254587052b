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

// windows measures the judge on real noise: windows of n consecutive releases of public histories, of which 2 % of
// 2,000 series then become 10 % slower and stay so; the release after is the independent run. Real changes in the
// window count as false; how many of those later commits show too is said beside it. They are measured when --series
// names a folder with tables that series.py made.
func windows(t *table) {
	if t.o.series == "" {
		t.row(true, "public histories", "", "not measured: --series names no folder")
		return
	}
	names, _ := filepath.Glob(filepath.Join(t.o.series, "asv-*.csv")) // the pattern is well formed
	for _, name := range names {
		_, series, err := readSeries(name)
		if err != nil {
			t.row(false, name, "series are readable", "%v", err)
			continue
		}
		for _, n := range []int{5, 8, 25} {
			for _, rerun := range []bool{false, true} {
				t.window(strings.TrimSuffix(filepath.Base(name), ".csv"), series, n, rerun)
			}
		}
	}
}

// readSeries reads a series a row, its name first: values on the log scale, NaN where a release has none.
func readSeries(name string) (names []string, z [][]float64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, row := range rows {
		var values []float64
		for _, cell := range row[1:] {
			v := math.NaN()
			if x, err := strconv.ParseFloat(cell, 64); err == nil && x > 0 {
				v = math.Log(x)
			}
			values = append(values, v)
		}
		names, z = append(names, row[0]), append(z, values)
	}
	return names, z, nil
}

// window draws windows from a history. With rerun the next release's value is a later run of the release itself.
func (t *table) window(name string, series [][]float64, n int, rerun bool) {
	const most, share = 2000, 50
	goals := map[int][2]float64{5: {.75, 5}, 8: {.80, 10}, 25: {.85, 5}}
	r := rand.New(rand.NewPCG(t.o.seed, uint64(n)))
	var x, ratio tally
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
		t.one(series, whole, from, n, share, rerun, &x, &ratio)
	}
	how := "next release"
	if rerun {
		how = "re-run"
	}
	x.done()
	ratio.done()
	goal := goals[n]
	held := x.power >= goal[0]-.05 && x.wrong <= goal[1]+2.5
	t.floored(x.power >= goal[0] && x.wrong <= goal[1], held, fmt.Sprintf("%s, n = %d, +10 %% in 2 %%, %s", name, n, how),
		fmt.Sprintf("confirmed >= %.2f at <= %.0f false per 1000", goal[0], goal[1]), "at most .05 and 2.5 off",
		"confirmed %.2f at %.1f false per 1000, %.1f of them real (suspected %.2f at %.1f); 5 %% ratio twice %.2f at %.1f",
		x.power, x.wrong, x.lasting, x.first, x.alarms, ratio.power, ratio.wrong)
}

// lasts reports whether later commits show a change that nobody planted, within two commits of a place.
func lasts(z []float64, at int, delta float64) bool {
	for place := max(1, at-2); place <= min(at+1, len(z)-1); place++ {
		whole := func(z []float64) []float64 { return slices.DeleteFunc(slices.Clone(z), math.IsNaN) }
		past := whole(z[:place])
		before, after := hindsight(slices.Concat(past, whole(z[place:])), len(past))
		if after >= before+delta {
			return true
		}
	}
	return false
}

// tally counts what was found of what changed, and of what did not per thousand.
type tally struct {
	power, wrong, first, alarms, changed, same float64
	lasting                                    float64 // of the wrong ones, those that later commits show as well
}

func (x *tally) done() {
	x.power, x.first = x.power/x.changed, x.first/x.changed
	x.wrong, x.alarms, x.lasting = 1000*x.wrong/x.same, 1000*x.alarms/x.same, 1000*x.lasting/x.same
}

func (x *tally) add(changed, suspected, confirmed bool) {
	hit, first := &x.wrong, &x.alarms
	if changed {
		hit, first = &x.power, &x.first
		x.changed++
	} else {
		x.same++
	}
	if suspected {
		*first++
	}
	if confirmed {
		*hit++
	}
}

func (t *table) one(series [][]float64, whole []int, from, n, share int, rerun bool, x, ratio *tally) {
	f := fleet{devices: 1, models: 1, workloads: len(whole)}
	runs := make([][]float64, n+2)
	for r := range runs {
		for k, i := range whole {
			z := series[i][from+r]
			if r >= n && k%share == 0 {
				z += math.Log(1.10)
			}
			runs[r] = append(runs[r], z)
		}
	}
	tab := f.table(runs, nil, math.Log1p(.05))
	if rerun {
		seconds := make([][]float64, n+1)
		seconds[n] = runs[n+1]
		tab = f.table(runs[:n+1], seconds, math.Log1p(.05))
	}
	j, err := regression.Judge(t.ctx, tab, regression.DefaultRules())
	if err != nil {
		return
	}
	for k := range whole {
		rows := j.Rows[tab.Cells[k].First+int32(n) : tab.Cells[k].End]
		suspected, confirmed := false, false
		for i := range rows {
			suspected = suspected || rows[i].Word == regression.Regressed
			confirmed = confirmed || rows[i].Word == regression.Regressed && rows[i].Evidence == regression.Confirmed
		}
		x.add(k%share == 0, suspected, confirmed)
		if confirmed && k%share != 0 && lasts(series[whole[k]], from+n, math.Log1p(.05)) {
			x.lasting++
		}
		mean := 0.
		for r := range n {
			mean += runs[r][k] / float64(n)
		}
		first, second := runs[n][k]-mean > math.Log(1.05), runs[n+1][k]-mean > math.Log(1.05)
		ratio.add(k%share == 0, first, first && second)
	}
}
