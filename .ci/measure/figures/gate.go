package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ttreport/ttreport/targets/regression"
)

func standard() population {
	return population{cells: 10000, devices: 4, metrics: 4, noise: gaussian, device: -1, delta: math.Log(1.05)}
}

// each judges every population of a kind and calls do with the result.
func (t *table) each(p population, do func(tab *regression.Table, j *regression.Judgement, truth []bool)) {
	for i := range t.o.populations {
		tab, truth := p.make(t.o.seed*1000 + uint64(i))
		j, err := regression.Judge(t.ctx, tab, regression.DefaultRules())
		if err != nil {
			return
		}
		do(tab, j, truth)
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

func heavyTails(t *table) {
	for _, kind := range []struct {
		name  string
		noise func(*rand.Rand, float64) float64
	}{{"t4", student(4)}, {"log-normal", lognormal}, {"bimodal, 3 % of runs 8 % slow", bimodal}} {
		p := standard()
		p.releases, p.noise = 12, kind.noise
		before, after := 0, 0
		t.each(p, func(tab *regression.Table, j *regression.Judgement, truth []bool) {
			before += count(tab, j, truth, 10).alarms
			after += count(tab, j, truth, 11).alarmsConfirmed
		})
		k := float64(t.o.populations)
		t.row(true, "10^4 unchanged series, n = 10, "+kind.name, "",
			"false alarms a population: %.1f suspected, %.1f confirmed", float64(before)/k, float64(after)/k)
	}
}

// change is a population in which 1 % of the series regress permanently, and the goal for its power.
type change struct {
	n                    int // releases before
	effect, delta, shift float64
	power                float64
}

func changed(t *table) {
	for _, c := range []change{
		{2, .10, .05, 0, 0}, {3, .10, .05, 0, .80}, {3, .10, .05, .02, .80}, {10, .05, .02, 0, .40},
	} {
		c.measure(t)
	}
}

func (c change) measure(t *table) {
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
	t.row(power/k >= c.power && share/k <= .08 && worst <= limit, c.name(), goal,
		"power %.3f, false share %.3f, worst %.3f", power/k, share/k, worst)
	t.floored(again/k >= .85 && wrong <= 3, again/k >= .85 && alarms/k <= .05, "  and it stays one more release", confirm,
		"false share <= .05", "confirmed %.3f, at most %d false, false share %.3f", again/k, wrong, alarms/k)
}

func (c change) name() string {
	const format = "%.0f %% in 1 %% of series, n = %d, effect that matters %.0f %%"
	name := fmt.Sprintf(format, 100*c.effect, c.n, 100*c.delta)
	if c.shift > 0 {
		name += fmt.Sprintf(", shifts N(0, %.0f %%)", 100*c.shift)
	}
	return name
}

// wholeDevice populations: all cells of one device become 10 % slower.
func wholeDevice(t *table) {
	for _, shift := range []float64{0, .01} {
		p := standard()
		p.releases, p.from, p.effect, p.device, p.shift = 6, 4, math.Log(1.10), 1, shift
		var x deviceCounts
		t.each(p, func(tab *regression.Table, j *regression.Judgement, truth []bool) {
			x.metrics += p.metrics
			x.addFindings(p, j)
			x.addCells(tab, j, truth)
		})
		name := "a whole device 10 % slower, n = 4"
		goal := "reported; none of its cells unchanged or improved; others untouched"
		if shift > 0 {
			name, goal = name+fmt.Sprintf(", shifts N(0, %.0f %%)", 100*shift), ""
		}
		t.row(x.reported == x.metrics && x.missed == 0 && x.elsewhere <= t.o.populations, name, goal,
			"reported in %d of %d metrics, confirmed in %d; %d cells unchanged or improved; %d false elsewhere",
			x.reported, x.metrics, x.confirmed, x.missed, x.elsewhere)
	}
}

// deviceCounts summarises the verdicts on a device that changes in release 4.
type deviceCounts struct {
	metrics, reported, confirmed int // of the device, summed over populations
	missed                       int // cells of the device that read unchanged or improved
	elsewhere                    int // shifts and cells of other devices that read regressed or improved
}

func (x *deviceCounts) addFindings(p population, j *regression.Judgement) {
	for _, f := range j.Findings {
		if f.Kind != regression.ShiftFinding || f.Word != regression.Regressed {
			continue
		}
		switch {
		case int(f.Stratum)/p.metrics != p.device:
			x.elsewhere++
		case f.Release == 4:
			x.reported++
		case f.Release == 5 && f.Evidence == regression.Confirmed:
			x.confirmed++
		}
	}
}

func (x *deviceCounts) addCells(tab *regression.Table, j *regression.Judgement, truth []bool) {
	for c, cell := range tab.Cells {
		for i := cell.First; i < cell.End; i++ {
			if tab.Obs[i].Release != 4 {
				continue
			}
			switch w := j.Rows[i].Word; {
			case truth[c] && (w == regression.Unchanged || w == regression.Improved):
				x.missed++
			case !truth[c] && (w == regression.Regressed || w == regression.Improved):
				x.elsewhere++
			}
		}
	}
}
