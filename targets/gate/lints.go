package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
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
	out = slices.Concat(out, g.nothingGraded(release), g.duplicates(release))
	for _, x := range g.RefusedPairs(release) { // runs that state a pair in turns which decides nothing
		h := &g.Columns.Runs[x.Run]
		out = append(out, lint.New(name, "", lint.NoPair{With: h.Interleaved.With, Mismatch: x.Mismatch}).Of(h))
	}
	out = slices.Concat(out, g.order(release), g.drifts(release), g.rejected(release))
	names := make([]string, len(g.Releases))
	for i := range g.Releases {
		names[i] = g.Releases[i].Name
	}
	for _, what := range append(g.Policy.Unused(names, g.Columns.Runs), g.idle(release, out)...) {
		out = append(out, lint.New(name, what, lint.UnusedDecision{What: what}))
	}
	for i := range out {
		if out[i].Decision == nil {
			out[i].Decision = g.decisionThat(func(d *decision.Decision) bool {
				return d.Kind == schema.Waive && d.Select.Lint != "" && covers(d, &out[i])
			})
		}
	}
	return append(out, g.expired(release)...)
}

// expired lists expired decisions about this release, whether or not they still select anything, and those about an
// earlier release that affect this one: exclusions, pins, acceptances and dismissals decide what this release is
// compared with. People must renew or remove them.
func (g *Gate) expired(release int) []lint.Lint {
	name := g.Releases[release].Name
	var out []lint.Lint
	for _, d := range g.Policy.Decisions {
		named := func(r judge.Release) bool { return decision.Match(d.Release, r.Name) }
		bears := d.Release == "" || named(g.Releases[release]) ||
			d.Kind != schema.Waive && slices.ContainsFunc(g.Releases[:release], named)
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
			list = g.History(release)
			for _, p := range g.Pairs(release) {
				list = append(list, g.Targets(release, p)...)
			}
		}
		is := func(c judge.Change) bool { return c.ID == d.Select.Change }
		if !slices.ContainsFunc(g.Judgement.Changes(release), is) &&
			!slices.ContainsFunc(list, func(v schema.Verdict) bool { return d.Covers(&v) }) {
			out = append(out, fmt.Sprintf("%s: it selects nothing in %s", d.ID, name))
		}
	}
	return out
}

// nothingGraded lists models and devices that were measured and of which no number was graded, by target or history:
// the gate has not passed them.
func (g *Gate) nothingGraded(release int) []lint.Lint {
	graded := g.Compared(release)
	var out []lint.Lint
	for _, run := range g.Releases[release].Runs {
		h := &g.Columns.Runs[run]
		p := h.Pair()
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
		again := func(run int) bool { // whether a run that counts is of its system
			o := &g.Columns.Runs[run]
			return o.Model.Name == h.Model.Name && schema.SameDevice(o.Device, h.Device) && o.System().Impl == h.Impl
		}
		if !d.Same || d.Copy.Files > 0 && !slices.ContainsFunc(g.Counted(release), again) {
			l.Severity = schema.SevError
		}
		out = append(out, l)
	}
	return out
}

// order lists faults that put a release or its runs into a wrong place of the history, where they are compared with
// the wrong releases or with none.
func (g *Gate) order(release int) []lint.Lint {
	out := slices.Concat(g.future(release), g.channels(release), g.disordered(release))
	name := g.Releases[release].Name
	// A release without a line has no predecessor where earlier ones of its channel are all on lines. The first release
	// of a line that the list or its manifest states is meant to have none.
	if r := &g.Releases[release]; r.Line == "" && g.Before(release) < 0 {
		var others []string
		for _, o := range g.Releases[:release] {
			if o.Channel == r.Channel && o.Line != "" && !slices.Contains(others, o.Line) {
				others = append(others, o.Line)
			}
		}
		if len(others) > 0 {
			out = append(out, lint.New(name, name, lint.CutOff{Own: "no line", Others: strings.Join(others, ", ")}))
		}
	}
	for _, l := range g.Listed {
		if !slices.ContainsFunc(g.Releases, func(r judge.Release) bool { return r.Name == l.Name }) {
			x := lint.New(name, l.Name, lint.Unlisted{})
			x.Severity = schema.SevNote // it may be planned
			out = append(out, x)
		}
	}
	return out
}

// versionName recognises names of versions: v0.17.0, release-12, 2.0.
var versionName = lazyregexp.New(`(?i)^((v|r|rel|release|build|nightly)[-_ ]?\d+|\d+\.\d)[\d._-]*$`)

// disordered reports a release that comes after one whose name is that of a later version, in its own line: what is
// dated wrongly, or not at all, is compared with the wrong releases, and another one is taken for the newest. An order
// that ttreport.yaml states for both is a warning.
func (g *Gate) disordered(release int) []lint.Lint {
	r := &g.Releases[release]
	if !r.Label || !versionName.MatchString(r.Name) {
		return nil
	}
	listed := func(name string) bool {
		return slices.ContainsFunc(g.Listed, func(c judge.Configured) bool { return c.Name == name })
	}
	for _, o := range g.Releases[:release] {
		if !o.Label || o.Channel != r.Channel || o.Line != r.Line || skeleton(o.Name) != skeleton(r.Name) ||
			schema.NaturalCompare(o.Name, r.Name) <= 0 {
			continue
		}
		l := lint.New(r.Name, r.Name, lint.ReleaseOrder{Name: r.Name, Before: o.Name})
		if listed(o.Name) && listed(r.Name) {
			l.Severity = schema.SevWarning
		}
		return []lint.Lint{l}
	}
	return nil
}

// skeleton is a name without the digits: names that differ in numbers alone can be ordered.
func skeleton(name string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, name)
}

// channels lists runs of an unknown channel: those of the release, and for the newest release that the gate would
// choose also later ones, which are skipped for that reason.
func (g *Gate) channels(release int) []lint.Lint {
	known := []string{schema.ChannelRelease, schema.ChannelMain, schema.ChannelPR, schema.ChannelDev}
	runs := g.Counted(release)
	serves := func(r judge.Release) bool { return judge.IsBaseline(r.Channel) }
	if serves(g.Releases[release]) && !slices.ContainsFunc(g.Releases[release+1:], serves) {
		for at := release + 1; at < len(g.Releases); at++ {
			runs = append(runs, g.Counted(at)...)
		}
	}
	var out []lint.Lint
	for _, run := range runs {
		h := &g.Columns.Runs[run]
		if c := judge.ChannelOf(h); !slices.Contains(known, c) {
			d := lint.UnknownChannel{Channel: c, Known: known}
			out = append(out, lint.New(g.Releases[release].Name, h.Release, d).Of(h))
		}
	}
	return out
}

// future lists runs that start after today; a day is allowed for other time zones.
func (g *Gate) future(release int) []lint.Lint {
	var out []lint.Lint
	for _, run := range g.Counted(release) {
		h := &g.Columns.Runs[run]
		endsFirst := h.End.Before(h.Start) && !h.End.IsZero() // which has its lint already
		if g.Policy.Today.IsZero() || h.Start.Before(g.Policy.Today.AddDate(0, 0, 2)) || endsFirst {
			continue
		}
		l := lint.New(g.Releases[release].Name, "", lint.BadTimestamps{Start: h.Start, End: h.End}).Of(h)
		l.Severity = schema.SevError // it would be the newest for ever
		out = append(out, l)
	}
	return out
}

// drifts lists regressions that were too slow for any release to fail: drifts that add up to more than the effect that
// matters, one lint for each model on a device with the numbers of the worst; that of all of them is worse than that of
// one. They are warnings: failing would blame the release in which they were found for changes in others.
func (g *Gate) drifts(release int) []lint.Lint {
	found := g.LargeDrifts(release)
	slices.SortStableFunc(found, func(a, b judge.Drift) int {
		return cmp.Or(cmp.Compare(b.Cells, a.Cells), cmp.Compare(b.Total, a.Total))
	})
	var out []lint.Lint
	for _, list := range schema.Alike(found, func(d judge.Drift) schema.Pair { return d.Series.Pair() }) {
		x, s := list[0], list[0].Series
		l := lint.New(g.Releases[release].Name, s.Key.Workload(), lint.Drift{
			Metric: s.Metric, N: x.N, Each: math.Abs(x.Effect), Total: math.Abs(x.Total), P: x.P, Cells: x.Cells,
		})
		if l.Count, l.Model, l.Device = len(list), s.Model, s.Device; x.Cells > 0 {
			l.Subject = ""
		}
		out = append(out, l)
	}
	return out
}
