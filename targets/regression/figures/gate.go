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

// each judges every population of a kind and hands over what came of it.
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

// unchanged populations: what is said of them is false.
func unchanged(t *table) {
	for _, n := range []int{3, 10, 50} {
		p := standard()
		p.releases = n + 2
		most, confirmed := 0, 0
		t.each(p, func(tab *regression.Table, j *regression.Judgement, truth []bool) {
			most = max(most, count(tab, j, truth, n).false_, count(tab, j, truth, n+1).false_)
			confirmed += count(tab, j, truth, n).falseOK + count(tab, j, truth, n+1).falseOK
		})
		t.row(most <= 5 && confirmed == 0, fmt.Sprintf("10^4 unchanged series, n = %d, Gaussian", n), "probable <= 5 in each, confirmed 0", "probable at most %d, confirmed %d in %d populations", most, confirmed, t.o.populations)
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
			before += count(tab, j, truth, 10).false_
			after += count(tab, j, truth, 11).falseOK
		})
		t.row(true, "10^4 unchanged series, n = 10, "+kind.name, "", "false alarms a population: %.1f before the recheck, %.1f after", float64(before)/float64(t.o.populations), float64(after)/float64(t.o.populations))
	}
}

// changed populations: 1 % of the series become worse and stay so.
func changed(t *table) {
	for _, c := range []struct {
		n                    int
		effect, delta, shift float64
		power                float64
	}{{3, .10, .05, 0, .80}, {3, .10, .05, .02, .80}, {10, .05, .02, 0, .40}} {
		p := standard()
		p.releases, p.from, p.changed, p.effect, p.delta, p.shift = c.n+2, c.n, p.cells/100, math.Log(1+c.effect), math.Log(1+c.delta), c.shift
		power, share, worst, again, false_ := 0., 0., 0., 0., 0
		t.each(p, func(tab *regression.Table, j *regression.Judgement, truth []bool) {
			a, b := count(tab, j, truth, c.n), count(tab, j, truth, c.n+1)
			power += float64(a.hit) / float64(p.changed)
			s := float64(a.false_) / math.Max(1, float64(a.hit+a.false_))
			share, worst = share+s, math.Max(worst, s)
			again += float64(b.hitOK) / float64(p.changed)
			false_ = max(false_, b.falseOK)
		})
		k := float64(t.o.populations)
		name := fmt.Sprintf("%.0f %% in 1 %% of series, n = %d, effect that matters %.0f %%", 100*c.effect, c.n, 100*c.delta)
		if c.shift > 0 {
			name += fmt.Sprintf(", shifts N(0, %.0f %%)", 100*c.shift)
		}
		limit := 1.
		goal := fmt.Sprintf("power >= %.2f, false share <= .08", c.power)
		if c.n == 3 {
			limit, goal = .20, goal+", none above .20"
		}
		t.row(power/k >= c.power && share/k <= .08 && worst <= limit, name, goal, "power %.3f, false share %.3f, worst %.3f", power/k, share/k, worst)
		goal = ""
		if c.n == 3 {
			goal = "confirmed >= .75 of them, at most 3 false"
		}
		t.row(again/k >= .75 && false_ <= 3, "  and it stays one more release", goal, "confirmed %.3f, at most %d false", again/k, false_)
	}
}

// wholeDevice populations: all cells of one device become 10 % slower.
func wholeDevice(t *table) {
	for _, shift := range []float64{0, .01} {
		p := standard()
		p.releases, p.from, p.effect, p.device, p.shift = 6, 4, math.Log(1.10), 1, shift
		said, confirmed, of, sameOrBetter, elsewhere := 0, 0, 0, 0, 0
		t.each(p, func(tab *regression.Table, j *regression.Judgement, truth []bool) {
			of += p.metrics
			for _, f := range j.Findings {
				if f.Kind != regression.ShiftFinding || f.Word != regression.Regressed {
					continue
				}
				mine := int(f.Stratum)/p.metrics == p.device
				switch {
				case !mine:
					elsewhere++
				case f.Release == 4:
					said++
				case f.Release == 5 && f.Evidence == regression.Confirmed:
					confirmed++
				}
			}
			a, b := sides(tab, j, truth, 4)
			sameOrBetter, elsewhere = sameOrBetter+a, elsewhere+b
		})
		name, goal := "a whole device 10 % slower, n = 4", "said; no cell of it same or better; others untouched"
		if shift > 0 {
			name, goal = name+fmt.Sprintf(", shifts N(0, %.0f %%)", 100*shift), ""
		}
		t.row(said == of && sameOrBetter == 0 && elsewhere <= t.o.populations, name, goal,
			"said in %d of %d metrics, confirmed by the next release in %d; %d cells same or better; %d false elsewhere", said, of, confirmed, sameOrBetter, elsewhere)
	}
}

// sides counts cells of the changed device that read same or better, and cells of others that read worse or better.
func sides(tab *regression.Table, j *regression.Judgement, truth []bool, release int) (sameOrBetter, elsewhere int) {
	for c, cell := range tab.Cells {
		for i := cell.First; i < cell.End; i++ {
			if int(tab.Obs[i].Release) != release {
				continue
			}
			switch w := j.Rows[i].Word; {
			case truth[c] && (w == regression.Unchanged || w == regression.Improved):
				sameOrBetter++
			case !truth[c] && (w == regression.Regressed || w == regression.Improved):
				elsewhere++
			}
		}
	}
	return sameOrBetter, elsewhere
}
