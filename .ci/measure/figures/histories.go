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

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// aged histories have thirty releases of which some were bad, and then 2 % of their points become 10 % slower and stay
// so: how many are confirmed by the next release, with a goal, and by the one after?
func aged(t *table) {
	for _, k := range []struct {
		name   string
		floor  float64
		change func(f *fleet)
	}{
		{"no bad runs", .85, func(*fleet) {}},
		{"3 % of values were 10 % slow", .85, func(f *fleet) { f.slow, f.slowBy = .03, .10 }},
		{"12 % of the values of one device were 10 % slow, no others", .75, func(f *fleet) {
			f.slow, f.slowBy, f.oneDevice = .12, .10, true
		}},
		{"3 % of runs of a system were 10 % slow", .85, func(f *fleet) { f.slowRuns, f.slowBy = .03, .10 }},
		{"one point in ten has two modes, 8 % apart", .85, func(f *fleet) { f.modes = .1 }},
	} {
		f := hall()
		k.change(&f)
		s := t.stays(f, 30, 10, math.Log(1.10), 4)
		t.floored(s.confirmed[1] >= .85, s.confirmed[1] >= k.floor, "aged history of 30 releases, +10 %, "+k.name,
			"confirmed next >= .85", fmt.Sprintf("%.2f", k.floor),
			"confirmed at once %.2f, next %.2f, then %.2f; false share %.3f",
			s.confirmed[0], s.confirmed[1], s.confirmed[2], s.falseShare)
	}
	for _, slow := range []float64{.01, .03} {
		f := hall()
		f.slow, f.slowBy = slow, .20
		s := t.stays(f, 30, 20, math.Log(1.20), 4)
		goal := ""
		if slow == .01 {
			goal = "named by the first run >= .7"
		}
		t.row(s.seen[0] >= .7 && s.falseShare <= .10,
			fmt.Sprintf("aged, %.0f %% of values were 20 %% slow, 20 of 500 points +20 %%", 100*slow), goal,
			"suspected %.2f, then %.2f; confirmed next %.2f; false share of those %.3f", s.seen[0], s.seen[1],
			s.confirmed[1], s.falseShare)
	}
	// A change of one point alone needs more evidence than one of many.
	for _, slow := range []float64{.03, 0} {
		f := hall()
		f.slow, f.slowBy = slow, .10
		s := t.stays(f, 30, 1, math.Log(1.10), 8)
		t.row(true, fmt.Sprintf("  %.0f %% of values were 10 %% slow, one point of 500 alone", 100*slow), "",
			"confirmed at once %.2f, next %.2f, then %.2f", s.confirmed[0], s.confirmed[1], s.confirmed[2])
	}
}

// staysWorse is a change that a quiet history would show at once, in a noisy one.
func staysWorse(t *table) {
	f := fleet{devices: 4, models: 25, workloads: 100, noise: gaussian, sd: .02, spread: true}
	s := t.stays(f, 10, 100, math.Log(1.10), 1)
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

// stays changes some points for good after n releases and judges three more; times multiplies the populations.
func (t *table) stays(f fleet, n, changed int, effect float64, times int) stay {
	var s stay
	right, wrong := 0., 0.
	for i := range t.o.populations * times {
		d := f.draw(t.o.seed*1000 + uint64(i))
		truth := map[int]bool{}
		for _, c := range rand.New(rand.NewPCG(t.o.seed, uint64(i))).Perm(f.cells())[:changed] {
			truth[c] = true
		}
		var runs [][]float64
		for r := range n + 3 {
			runs = append(runs, d.run())
			for c := range truth {
				if r >= n {
					runs[r][c] += effect
				}
			}
		}
		tab := f.table(runs, nil, math.Log1p(.05))
		r, w := s.add(tab, judge(tab), truth, n)
		right, wrong = right+r, wrong+w
	}
	k := float64(t.o.populations * times * changed)
	for i := range 3 {
		s.seen[i], s.confirmed[i] = s.seen[i]/k, s.confirmed[i]/k
	}
	s.falseShare = wrong / math.Max(1, right+wrong)
	return s
}

func (s *stay) add(tab *regression.Table, j *regression.Judgement, truth map[int]bool, n int) (right, wrong float64) {
	for c := range tab.Cells {
		seen, confirmed := false, false
		for i := range 3 {
			row := &j.Rows[tab.Cells[c].First+int32(n+i)]
			worse := row.Word == schema.Regressed
			seen = seen || worse
			confirmed = confirmed || worse && row.Evidence == schema.Confirmed
			if truth[c] && seen {
				s.seen[i]++
			}
			if truth[c] && confirmed {
				s.confirmed[i]++
			}
		}
		if confirmed && truth[c] {
			right++
		} else if confirmed {
			wrong++
		}
	}
	return right, wrong
}

// population describes a made-up history: cells in strata, with a known truth.
type population struct {
	cells, devices, metrics int
	releases                int
	shift                   float64 // sd of a random shift of every stratum in every release, by device
	effect                  float64 // of the changed cells, as log
	changed                 int     // how many change
	from                    int     // release in which they change
	delta                   float64
}

func gaussian(r *rand.Rand, sd float64) float64 { return sd * r.NormFloat64() }

// chiSquared draws from the chi-squared distribution.
func chiSquared(r *rand.Rand, df int) (chi float64) {
	for range df {
		g := r.NormFloat64()
		chi += g * g
	}
	return chi
}

// student returns noise of Student's t distribution, scaled to a standard deviation.
func student(df int) func(*rand.Rand, float64) float64 {
	return func(r *rand.Rand, sd float64) float64 {
		chi := chiSquared(r, df)
		return sd * r.NormFloat64() / math.Sqrt(chi/float64(df)) * math.Sqrt(float64(df-2)/float64(df))
	}
}

// make draws the population and which of its cells change. Standard deviations of cells scatter: CV² = 1e-4 · 4/χ²(4),
// so that the median is about 1 %.
func (p population) make(seed uint64) (*regression.Table, []bool) {
	r := rand.New(rand.NewPCG(seed, 20260101))
	t := newTable(p.devices*p.metrics, p.releases)
	shifts := make([][]float64, p.devices)
	for d := range shifts {
		for range p.releases {
			shifts[d] = append(shifts[d], p.shift*r.NormFloat64())
		}
	}
	truth := make([]bool, p.cells)
	for left := p.changed; left > 0; {
		if i := r.IntN(p.cells); !truth[i] {
			truth[i] = true
			left--
		}
	}
	for c := range p.cells {
		device, metric := c/p.metrics%p.devices, c%p.metrics
		sd := math.Sqrt(1e-4 * 4 / chiSquared(r, 4))
		z := make([]float64, p.releases)
		for rel := range z {
			if z[rel] = 3 + gaussian(r, sd) + shifts[device][rel]; truth[c] && rel >= p.from {
				z[rel] += p.effect
			}
		}
		addCell(t, regression.Cell{
			Stratum: int32(device*p.metrics + metric), Device: int32(device), System: int32(device),
			Point: int32(c / p.metrics), Delta: p.delta,
		}, z)
	}
	return t, truth
}

// counts summarises the verdicts of one release of a population, in cells.
type counts struct {
	hit, alarms               int // changed cells that regressed; unchanged cells that regressed, improved or recovered
	hitAgain, alarmsConfirmed int // likewise, confirmed
}

func count(t *regression.Table, j *regression.Judgement, truth []bool, release int) counts {
	var n counts
	for c, cell := range t.Cells {
		for i := cell.First; i < cell.End; i++ {
			if int(t.Obs[i].Release) != release {
				continue
			}
			confirmed := map[bool]int{true: 1}[j.Rows[i].Evidence == schema.Confirmed]
			switch word := j.Rows[i].Word; {
			case word == schema.Regressed && truth[c]:
				n.hit++
				n.hitAgain += confirmed
			case word == schema.Regressed, word == schema.Improved, word == schema.Recovered:
				n.alarms++
				n.alarmsConfirmed += confirmed
			}
		}
	}
	return n
}

// fleet is a made-up history of points on systems (a model on a device), whose noise has a part of the host, one of the
// start of the server and one of the measurement.
type fleet struct {
	devices, models, workloads int
	noise                      func(r *rand.Rand, sd float64) float64
	sd                         float64 // typical noise of a measurement
	spread                     bool    // points differ in it: CV² = sd² · 4/χ²(4)
	host, start                float64 // sd of a factor of a device in a release, and of a system in a release
	slow, slowBy               float64 // share of values that are slow, and by how much
	oneDevice                  bool    // these are of the first device alone
	slowRuns                   float64 // share of runs of a system that are slow by slowBy, all points together
	modes                      float64 // share of points that take a second mode, 8 % slower, in one of five runs
}

func (f fleet) cells() int { return f.devices * f.models * f.workloads }

// drawn is a fleet whose releases are drawn one after another.
type drawn struct {
	fleet
	r     *rand.Rand
	sd    []float64
	modal []bool
}

func (f fleet) draw(seed uint64) *drawn {
	d := &drawn{fleet: f, r: rand.New(rand.NewPCG(seed, 20260303))}
	for range f.cells() {
		sd := f.sd
		if f.spread {
			sd *= math.Sqrt(4 / chiSquared(d.r, 4))
		}
		d.sd, d.modal = append(d.sd, sd), append(d.modal, d.r.Float64() < f.modes)
	}
	return d
}

func (f fleet) device(cell int) int { return cell / (f.models * f.workloads) }
func (f fleet) system(cell int) int { return cell / f.workloads }

// run draws one run of everything.
func (d *drawn) run() []float64 {
	host, start := make([]float64, d.devices), make([]float64, d.devices*d.models)
	for i := range host {
		host[i] = d.host * d.r.NormFloat64()
	}
	for i := range start {
		start[i] = d.start * d.r.NormFloat64()
		if d.r.Float64() < d.slowRuns {
			start[i] += math.Log1p(d.slowBy)
		}
	}
	z := make([]float64, d.cells())
	for c := range z {
		z[c] = 3 + host[d.device(c)] + start[d.system(c)] + d.noise(d.r, d.sd[c])
		if d.r.Float64() < d.slow && (!d.oneDevice || d.device(c) == 0) {
			z[c] += math.Log1p(d.slowBy)
		}
		if d.modal[c] && d.r.Float64() < .2 {
			z[c] += math.Log(1.08)
		}
	}
	return z
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
			t.window(strings.TrimSuffix(filepath.Base(name), ".csv"), series, n)
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

// window draws windows from a history, in which the next release's value is a later run of the release itself.
func (t *table) window(name string, series [][]float64, n int) {
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
		one(series, whole, from, n, share, &x, &ratio)
	}
	x.done()
	ratio.done()
	goal := goals[n]
	held := x.power >= goal[0]-.05 && x.wrong <= goal[1]+2.5
	t.floored(x.power >= goal[0] && x.wrong <= goal[1], held, fmt.Sprintf("%s, n = %d, +10 %% in 2 %%, re-run", name, n),
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

func one(series [][]float64, whole []int, from, n, share int, x, ratio *tally) {
	f := fleet{devices: 1, models: 1, workloads: len(whole)}
	runs := slower(series, whole, from, n, share)
	seconds := make([][]float64, n+1)
	seconds[n] = runs[n+1]
	tab := f.table(runs[:n+1], seconds, math.Log1p(.05))
	j := judge(tab)
	for k := range whole {
		rows := j.Rows[tab.Cells[k].First+int32(n) : tab.Cells[k].End]
		suspected, confirmed := false, false
		for i := range rows {
			suspected = suspected || rows[i].Word == schema.Regressed
			confirmed = confirmed || rows[i].Word == schema.Regressed && rows[i].Evidence == schema.Confirmed
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

// slower are the values of some series in n releases and two runs after them, in which one of share is 10 % slower.
func slower(series [][]float64, whole []int, from, n, share int) [][]float64 {
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
	return runs
}

func standard() population {
	return population{cells: 10000, devices: 4, metrics: 4, delta: math.Log(1.05)}
}

// each judges every population of a kind and calls do with the result.
func (t *table) each(p population, do func(tab *regression.Table, j *regression.Judgement, truth []bool)) {
	for i := range t.o.populations {
		tab, truth := p.make(t.o.seed*1000 + uint64(i))
		do(tab, judge(tab), truth)
	}
}

// unchanged populations: every change that is reported is false.
func unchanged(t *table) {
	for _, n := range []int{3, 10, 50} {
		p := standard()
		p.releases = n + 2
		most, confirmed := 0, 0
		t.each(p, func(tab *regression.Table, j *regression.Judgement, truth []bool) {
			a, b := count(tab, j, truth, n), count(tab, j, truth, n+1)
			most = max(most, a.alarms, b.alarms)
			confirmed += a.alarmsConfirmed + b.alarmsConfirmed
		})
		t.row(most <= 5 && confirmed == 0, fmt.Sprintf("10^4 unchanged series, n = %d, Gaussian", n),
			"suspected <= 5 in each, confirmed 0",
			"suspected at most %d, confirmed %d in %d populations", most, confirmed, t.o.populations)
	}
}

// changed populations: after n releases 1 % of the series regress permanently; power is the goal.
func changed(t *table) {
	for _, c := range []struct {
		n                           int
		effect, delta, shift, power float64
	}{{2, .10, .05, 0, 0}, {3, .10, .05, 0, .80}, {3, .10, .05, .02, .80}, {10, .05, .02, 0, .40}} {
		p := standard()
		p.releases, p.from, p.changed = c.n+2, c.n, p.cells/100
		p.effect, p.delta, p.shift = math.Log(1+c.effect), math.Log(1+c.delta), c.shift
		power, share, worst, again, alarms, wrong := 0., 0., 0., 0., 0., 0
		t.each(p, func(tab *regression.Table, j *regression.Judgement, truth []bool) {
			a, b := count(tab, j, truth, c.n), count(tab, j, truth, c.n+1)
			power += float64(a.hit) / float64(p.changed)
			s := float64(a.alarms) / math.Max(1, float64(a.hit+a.alarms))
			share, worst = share+s, math.Max(worst, s)
			again += float64(b.hitAgain) / float64(p.changed)
			wrong = max(wrong, b.alarmsConfirmed)
			alarms += float64(b.alarmsConfirmed) / math.Max(1, float64(b.hitAgain+b.alarmsConfirmed))
		})
		k := float64(t.o.populations)
		limit, goal := 1., fmt.Sprintf("power >= %.2f, false share <= .08", c.power)
		confirm := ""
		switch c.n {
		case 2: // what is suspected has no goal
			goal = ""
		case 3:
			limit, goal = .20, goal+", none above .20"
			confirm = "confirmed >= .85 of them, at most 3 false"
		}
		const format = "%.0f %% in 1 %% of series, n = %d, effect that matters %.0f %%"
		name := fmt.Sprintf(format, 100*c.effect, c.n, 100*c.delta)
		if c.shift > 0 {
			name += fmt.Sprintf(", shifts N(0, %.0f %%)", 100*c.shift)
		}
		t.row(power/k >= c.power && share/k <= .08 && worst <= limit, name, goal,
			"power %.3f, false share %.3f, worst %.3f", power/k, share/k, worst)
		t.floored(again/k >= .85 && wrong <= 3, again/k >= .85 && alarms/k <= .05, "  and it stays one more release", confirm,
			"false share <= .05", "confirmed %.3f, at most %d false, false share %.3f", again/k, wrong, alarms/k)
	}
}
