package gate

import (
	"cmp"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// open lists the regressions that earlier releases were confirmed to have and that are still there, unless a decision
// excuses them: one line for what one release made worse on a model and device, or on a device as a whole.
func (g *Gate) open(release int) []lint.Lint {
	type change struct {
		pair  schema.Pair
		found string
	}
	parts := map[change][]judge.Open{}
	var order []change
	pairs := map[change]int{} // by device alone
	for _, o := range g.Judgement.Open(release) {
		v := &o.Confirmed
		if v.Decision = g.about(v); v.Decision.Excuses() || KindOf(v) != FailConfirmed {
			continue
		}
		c := change{v.Pair(), v.Release}
		if parts[c] == nil {
			order = append(order, c)
			pairs[change{schema.Pair{Device: v.Device}, v.Release}]++
		}
		parts[c] = append(parts[c], o)
	}
	const several = 3
	var out []lint.Lint
	for _, c := range order {
		device := change{schema.Pair{Device: c.pair.Device}, c.found}
		switch n := pairs[device]; {
		case n == 0: // said with the others of the device
		case n > several:
			var all []judge.Open
			for _, other := range order {
				if other.found == c.found && other.pair.Device == c.pair.Device {
					all = append(all, parts[other]...)
				}
			}
			pairs[device] = 0
			out = append(out, openLint(g.Releases[release].Name, all, n))
		default:
			out = append(out, openLint(g.Releases[release].Name, parts[c], 1))
		}
	}
	slices.SortStableFunc(out, func(a, b lint.Lint) int {
		return cmp.Compare(b.Detail.(lint.OpenRegression).Change, a.Detail.(lint.OpenRegression).Change)
	})
	return out
}

// openLint is the line about what one release made worse, with the numbers of the worst case.
func openLint(release string, list []judge.Open, models int) lint.Lint {
	worst := slices.MaxFunc(list, func(a, b judge.Open) int { return cmp.Compare(a.Effect, b.Effect) })
	v := &worst.Confirmed
	d := lint.OpenRegression{
		Metric: v.Metric, Stat: v.Stat, Change: worst.Effect, Before: cmp.Or(v.First, v.Release), Confirmed: v.Release,
		Models: models,
	}
	points := map[finding]bool{}
	for i := range list {
		points[findingOf(&list[i].Confirmed)] = true
		d.Verdicts = append(d.Verdicts, list[i].Confirmed.ID)
	}
	d.Points = len(points)
	l := lint.New(release, v.Key.Workload(), d)
	if l.Model, l.Device = v.Model, v.Device; models > 1 {
		l.Model, l.Subject = "", v.Device
	}
	return l
}

// openName tells what is open at one place apart.
func openName(l *lint.Lint) string {
	d, _ := l.Detail.(lint.OpenRegression)
	return d.Confirmed + d.Metric + l.Subject
}

// OpenRegressions are the lints about regressions of earlier releases that nobody accepted, worst first.
func (r *Review) OpenRegressions() []lint.Lint {
	var out []lint.Lint
	for i := range r.Lints {
		if KindOfLint(&r.Lints[i]) == FailOpen {
			out = append(out, r.Lints[i])
		}
	}
	return out
}
