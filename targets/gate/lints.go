package gate

import (
	"fmt"
	"slices"
	"sync"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// Lints returns the lints of a release, worst first, with the decisions of people about them.
func (g *Gate) Lints(release int) []lint.Lint {
	earlier := func(yield func([]int) bool) {
		for i := range g.Earlier(release) {
			if !yield(g.Counted(i)) {
				return
			}
		}
	}
	name := g.Releases[release].Name
	var slow []lint.Lint
	var history sync.WaitGroup
	history.Go(func() { slow = g.slow(release) }) // as long as all others together
	out := lint.Release(g.Columns, name, g.Counted(release), earlier)
	for _, v := range g.NotPositive(release) {
		r := v.Reason.(schema.NotPositive)
		l := lint.New(name, v.Key.Workload(), lint.NotPositive{Metric: r.Metric, Value: r.Value})
		l.Run, l.Model, l.Device = v.Run, v.Model, v.Device
		out = append(out, l)
	}
	if n := len(g.Lost); n > 0 {
		first := g.Lost[0]
		out = append(out, lint.New(name, first.Path,
			lint.LostDocument{Path: first.Path, Found: first.Found, More: n - 1}))
	}
	out = slices.Concat(out, g.nothingGraded(release), g.duplicates(release), g.noPairs(release), g.order(release),
		g.open(release))
	history.Wait()
	out = slices.Concat(out, slow, g.rejected(release))
	for _, what := range append(g.unused(), g.idle(release, out)...) {
		out = append(out, lint.New(name, what, lint.UnusedDecision{What: what}))
	}
	for i := range out {
		if out[i].Decision == nil {
			out[i].Decision = g.aboutLint(&out[i])
		}
	}
	return append(out, g.expired(release)...)
}

// unused lists decisions that select nothing that exists.
func (g *Gate) unused() []string {
	names := make([]string, len(g.Releases))
	for i := range g.Releases {
		names[i] = g.Releases[i].Name
	}
	return g.Policy.Unused(names, g.Columns.Runs)
}

// expired lists expired decisions about this release, whether or not they still select anything, and those about an
// earlier release that affect this one: exclusions, pins, acceptances and dismissals decide what this release is
// compared with. People must renew or remove them.
func (g *Gate) expired(release int) []lint.Lint {
	name := g.Releases[release].Name
	var out []lint.Lint
	for _, d := range g.Policy.Decisions {
		bears := d.Release == "" || decision.Match(d.Release, name) || d.Kind != schema.Waive && g.earlier(d.Release,
			release)
		if g.Policy.Holds(d) || !bears {
			continue
		}
		what := d.ID + ": it expired on " + d.Expires
		l := lint.New(name, what, lint.UnusedDecision{What: what})
		l.Decision = g.Policy.Shown(d)
		out = append(out, l)
	}
	return out
}

// earlier reports whether a name is that of an earlier release.
func (g *Gate) earlier(name string, release int) bool {
	return slices.ContainsFunc(g.Releases[:release], func(r judge.Release) bool { return decision.Match(name, r.Name) })
}

// idle lists decisions that name this release and select nothing in it.
func (g *Gate) idle(release int, lints []lint.Lint) []string {
	name := g.Releases[release].Name
	var list []schema.Verdict
	var out []string
	for i := range g.Policy.Decisions {
		d := &g.Policy.Decisions[i]
		excuses := d.Kind == schema.Waive || d.Kind == schema.Accept
		if !excuses || d.Release == "" || !decision.Match(d.Release, name) || !g.Policy.Holds(*d) {
			continue
		}
		if d.Select.Lint != "" {
			if !slices.ContainsFunc(lints, func(l lint.Lint) bool { return covers(d, &l) }) {
				out = append(out, d.ID+": no such lint was found in "+name)
			}
			continue
		}
		if list == nil {
			list = g.all(release)
		}
		if !slices.ContainsFunc(list, func(v schema.Verdict) bool { return d.Covers(&v) }) {
			out = append(out, fmt.Sprintf("%s: nothing in %s is what it selects", d.ID, name))
		}
	}
	return out
}

// all is every verdict of a release.
func (g *Gate) all(release int) []schema.Verdict {
	list := g.History(release)
	seen := map[schema.Pair]bool{}
	for _, run := range g.Releases[release].Runs {
		h := &g.Columns.Runs[run]
		if p := (schema.Pair{Model: h.Model.Name, Device: h.Device}); !seen[p] {
			seen[p] = true
			list = append(list, g.Targets(release, p)...)
		}
	}
	return list
}

// nothingGraded lists models and devices that were measured and of which no number was graded, by target or history:
// the gate has not passed them.
func (g *Gate) nothingGraded(release int) []lint.Lint {
	graded := g.Compared(release)
	var out []lint.Lint
	for _, run := range g.Releases[release].Runs {
		h := &g.Columns.Runs[run]
		p := schema.Pair{Model: h.Model.Name, Device: h.Device}
		if graded[p] {
			continue
		}
		graded[p] = true
		some := slices.ContainsFunc(g.Targets(release, p), func(v schema.Verdict) bool {
			return v.Outcome == schema.Pass || v.Outcome == schema.Fail || v.Outcome == schema.Inconclusive
		})
		if !some {
			out = append(out, lint.New(g.Releases[release].Name, "", lint.NothingGraded{}).Of(h))
		}
	}
	return out
}

// noPairs lists the runs of a release that state a pair in turns which decides nothing.
func (g *Gate) noPairs(release int) []lint.Lint {
	var out []lint.Lint
	for _, x := range g.RefusedPairs(release) {
		h := &g.Columns.Runs[x.Run]
		d := lint.NoPair{With: h.Interleaved.With, Mismatch: x.Mismatch}
		out = append(out, lint.New(g.Releases[release].Name, "", d).Of(h))
	}
	return out
}

// duplicates lists the runs of a release that are in the history twice.
func (g *Gate) duplicates(release int) []lint.Lint {
	var out []lint.Lint
	for _, run := range g.Releases[release].Runs {
		h := &g.Columns.Runs[run]
		d, twice := g.Duplicate(h)
		if !twice {
			continue
		}
		what := lint.DuplicateRun{Path: h.Path, Of: d.Of, Same: d.Same}
		if d.Copy.Files > 0 {
			what.Path, what.Copy, what.Files = d.Copy.Path, d.Copy.Found, d.Copy.Files
		}
		l := lint.New(g.Releases[release].Name, "", what).Of(h)
		if !d.Same || d.Copy.Files > 0 && !g.measured(release, h) {
			l.Severity = schema.SevError
		}
		out = append(out, l)
	}
	return out
}

// measured reports whether a run of a release that counts is of the model and device of another run.
func (g *Gate) measured(release int, of *columns.RunHead) bool {
	return slices.ContainsFunc(g.Counted(release), func(run int) bool {
		h := &g.Columns.Runs[run]
		return h.Model.Name == of.Model.Name && schema.SameDevice(h.Device, of.Device) && h.Impl == of.Impl
	})
}
