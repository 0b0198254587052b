package gate

import (
	"cmp"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// openGroup is what is said in one line: what one release made worse on a model and device, or on a device as a whole,
// with what later releases confirmed of the same points.
type openGroup struct {
	list   []judge.Open
	points map[finding]bool
}

func (x *openGroup) add(list []judge.Open) {
	for i := range list {
		x.points[findingOf(&list[i].Confirmed)] = true
	}
	x.list = append(x.list, list...)
}

// has reports whether all points of another group are among those of this one.
func (x *openGroup) has(other *openGroup) bool {
	for p := range other.points {
		if !x.points[p] {
			return false
		}
	}
	return true
}

// open lists the regressions that earlier releases were confirmed to have and that are still there, unless a decision
// excuses them, worst first.
func (g *Gate) open(release int) []lint.Lint {
	var groups []*openGroup
	for _, x := range openGroups(g.notAccepted(release)) {
		earlier := slices.IndexFunc(groups, func(y *openGroup) bool { return y.has(x) })
		if earlier >= 0 {
			groups[earlier].add(x.list)
			continue
		}
		groups = append(groups, x)
	}
	out := make([]lint.Lint, 0, len(groups))
	for _, x := range groups {
		out = append(out, openLint(g.Releases[release].Name, x))
	}
	slices.SortStableFunc(out, func(a, b lint.Lint) int {
		return cmp.Compare(b.Detail.(lint.OpenRegression).Worst[0].Change, a.Detail.(lint.OpenRegression).Worst[0].Change)
	})
	return out
}

// notAccepted are the open regressions of a release that no decision excuses, by the release that confirmed them.
func (g *Gate) notAccepted(release int) []judge.Open {
	var out []judge.Open
	at := map[string]int{}
	for _, o := range g.Judgement.Open(release) {
		v := &o.Confirmed
		if v.Decision = g.about(v); v.Decision.Excuses() || KindOf(v) != FailConfirmed {
			continue
		}
		at[v.Release] = judge.Named(g.Releases, v.Release)
		out = append(out, o)
	}
	slices.SortStableFunc(out, func(a, b judge.Open) int {
		return cmp.Compare(at[a.Confirmed.Release], at[b.Confirmed.Release])
	})
	return out
}

// openGroups puts together what one release made worse: on a model and device, and on a device where there are several
// models.
func openGroups(list []judge.Open) []*openGroup {
	type place struct {
		pair  schema.Pair
		found string
	}
	const several = 3
	models := map[place]map[string]bool{}
	for i := range list {
		v := &list[i].Confirmed
		at := place{schema.Pair{Device: v.Device}, v.Release}
		if models[at] == nil {
			models[at] = map[string]bool{}
		}
		models[at][v.Model] = true
	}
	groups := map[place]*openGroup{}
	var out []*openGroup
	for i := range list {
		v := &list[i].Confirmed
		at := place{schema.Pair{Device: v.Device}, v.Release}
		if len(models[at]) <= several {
			at.pair = v.Pair()
		}
		if groups[at] == nil {
			groups[at] = &openGroup{points: map[finding]bool{}}
			out = append(out, groups[at])
		}
		groups[at].add(list[i : i+1])
	}
	return out
}

// openLint is the line about a group, with the numbers of the worst case.
func openLint(release string, x *openGroup) lint.Lint {
	worst := slices.MaxFunc(x.list, func(a, b judge.Open) int { return cmp.Compare(a.Effect, b.Effect) })
	v := &worst.Confirmed
	d := lint.OpenRegression{
		Before: cmp.Or(v.First, v.Release), Confirmed: v.Release, Worst: x.worst(),
		Verdicts: map[string][]string{}, Metrics: map[string][]string{},
	}
	for i := range x.list {
		c := &x.list[i].Confirmed
		d.Verdicts[c.Release] = append(d.Verdicts[c.Release], c.ID)
		if at, has := slices.BinarySearch(d.Metrics[c.Release], c.Metric); !has {
			d.Metrics[c.Release] = slices.Insert(d.Metrics[c.Release], at, c.Metric)
		}
	}
	l := lint.New(release, v.Key.Workload(), d)
	if l.Model, l.Device = v.Model, v.Device; len(d.Worst) > 1 {
		l.Model, l.Subject = "", v.Device
	}
	return l
}

// worst is the worst number of each model and device of a group, worst first.
func (x *openGroup) worst() []lint.OpenNumber {
	list := slices.Clone(x.list)
	slices.SortStableFunc(list, func(a, b judge.Open) int { return cmp.Compare(b.Effect, a.Effect) })
	points := map[schema.Pair]int{}
	for f := range x.points {
		points[schema.Pair{Model: f.system.Model, Device: f.system.Device}]++
	}
	var out []lint.OpenNumber
	for i := range list {
		v := &list[i].Confirmed
		if p := v.Pair(); !slices.ContainsFunc(out, func(n lint.OpenNumber) bool { return n.Pair == p }) {
			out = append(out, lint.OpenNumber{
				Pair: p, Workload: v.Key.Workload(), Metric: v.Metric, Stat: v.Stat, Change: list[i].Effect,
				Largest: list[i].Largest, Points: points[p],
			})
		}
	}
	return out
}

// openName tells what is open at one place apart.
func openName(l *lint.Lint) string {
	d, _ := l.Detail.(lint.OpenRegression)
	return d.Confirmed + l.Subject
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
