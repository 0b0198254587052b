package main

import (
	"math"
	"math/rand/v2"

	"github.com/ttreport/ttreport/targets/regression"
)

// aged histories have thirty releases of which some were bad, and then 2 % of their points become 10 % slower and stay
// so: how many are confirmed by the next release, with a goal, and by the one after?
func aged(t *table) {
	for _, k := range []struct {
		name   string
		goal   float64
		change func(f *fleet)
	}{
		{"no bad runs", .85, func(*fleet) {}},
		{"3 % of values were 10 % slow", .85, func(f *fleet) { f.slow, f.slowBy = .03, .10 }},
		{"3 % of runs of a system were 10 % slow", .85, func(f *fleet) { f.slowRuns, f.slowBy = .03, .10 }},
		{"one point in ten has two modes, 8 % apart", .85, func(f *fleet) { f.modes = .1 }},
	} {
		f := hall()
		k.change(&f)
		s := t.stays(f, 30, 10, math.Log(1.10), 4)
		t.row(s.confirmed[1] >= k.goal, "aged history of 30 releases, +10 %, "+k.name, "confirmed next >= .85",
			"confirmed at once %.2f, next %.2f, then %.2f; false share %.3f", s.confirmed[0], s.confirmed[1],
			s.confirmed[2], s.falseShare)
	}
	// A change of one point alone needs more evidence than one of many.
	f := hall()
	f.slow, f.slowBy = .03, .10
	s := t.stays(f, 30, 1, math.Log(1.10), 8)
	const measured = "confirmed at once %.2f, next %.2f, then %.2f"
	t.row(true, "  3 % of values were 10 % slow, one point of 500 alone", "", measured,
		s.confirmed[0], s.confirmed[1], s.confirmed[2])
	f.slow = 0
	s = t.stays(f, 30, 1, math.Log(1.10), 8)
	t.row(true, "  no bad runs, one point of 500 alone", "", measured,
		s.confirmed[0], s.confirmed[1], s.confirmed[2])
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
		j, err := regression.Judge(t.ctx, tab, regression.DefaultRules())
		if err != nil {
			return s
		}
		r, w := s.add(tab, j, truth, n)
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
			worse := row.Word == regression.Regressed
			seen = seen || worse
			confirmed = confirmed || worse && row.Evidence == regression.Confirmed
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
