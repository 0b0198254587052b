package gate

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// order lists faults that put a release or its runs into a wrong place of the history, where they are compared with
// the wrong releases or with none.
func (g *Gate) order(release int) []lint.Lint {
	out := slices.Concat(g.future(release), g.channels(release), g.disordered(release))
	name := g.Releases[release].Name
	if others, cut := g.cutOff(release); cut {
		own := "no line"
		if l := g.Releases[release].Line; l != "" {
			own = "line " + l
		}
		out = append(out, lint.New(name, name, lint.CutOff{Own: own, Others: others}))
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
var versionName = regexp.MustCompile(`(?i)^((v|r|rel|release|build|nightly)[-_ ]?\d+|\d+\.\d)[\d._-]*$`)

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

// cutOff reports whether a release has no predecessor while earlier releases of its channel are all on other lines,
// which it returns. The first release of a line that the list or its manifest states is meant to have none.
func (g *Gate) cutOff(release int) (lines string, cut bool) {
	r := &g.Releases[release]
	if r.Line != "" || g.Before(release) >= 0 {
		return "", false
	}
	var others []string
	for _, o := range g.Releases[:release] {
		if o.Channel == r.Channel && o.Line != "" && !slices.Contains(others, o.Line) {
			others = append(others, o.Line)
		}
	}
	return strings.Join(others, ", "), len(others) > 0
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

// slow lists regressions that were too slow for any release to fail: late change points, and drifts that add up to
// more than the effect that matters. They are warnings: failing would blame the release in which they were found for
// changes in others.
func (g *Gate) slow(release int) []lint.Lint {
	var found []slowRegression
	for _, c := range g.LateChangePoints(release) {
		d := lint.LateChangePoint{Metric: c.Series.Metric, Since: c.At, Change: math.Abs(c.Effect), P: c.P}
		found = append(found, slowRegression{s: c.Series, effect: c.Effect, detail: d})
	}
	for _, x := range g.LargeDrifts(release) {
		d := lint.Drift{
			Metric: x.Series.Metric, N: x.N, Each: math.Abs(x.Effect), Total: math.Abs(x.Total), P: x.P, Cells: x.Cells,
		}
		found = append(found, slowRegression{x.Series, x.Total, d, x.Cells})
	}
	return g.fold(release, found)
}

// slowRegression is one number that regressed slowly.
type slowRegression struct {
	s      *judge.Series
	effect float64
	detail lint.Detail
	// together is the number of series that changed as one; 0: the series alone.
	together int
}

// fold makes one lint for each metric of a model and device, and of drifts one for each device, with the numbers of the
// worst case; a drift of a device as a whole is worse than one of a series.
func (g *Gate) fold(release int, found []slowRegression) []lint.Lint {
	slices.SortStableFunc(found, func(a, b slowRegression) int {
		return cmp.Or(cmp.Compare(b.together, a.together), cmp.Compare(b.effect, a.effect))
	})
	type place struct {
		id     lint.ID
		pair   schema.Pair
		metric string
	}
	at := map[place]int{}
	var out []lint.Lint
	for _, f := range found {
		id := place{f.detail.ID(), f.s.Pair(), f.s.Metric}
		if id.id == lint.IDDrift {
			id = place{id: id.id, pair: schema.Pair{Device: f.s.Device}}
		}
		if i, seen := at[id]; seen {
			out[i].Count++
			continue
		}
		at[id] = len(out)
		l := lint.New(g.Releases[release].Name, f.s.Key.Workload(), f.detail)
		if l.Model, l.Device = f.s.Model, f.s.Device; f.together > 0 {
			l.Model, l.Subject = "", f.s.Device
		}
		out = append(out, l)
	}
	return out
}
