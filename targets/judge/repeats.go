package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Repeats tells apart, in place, what one release measured of several systems under one name. Where two of its runs
// measured one workload or task and state different engines, precisions or meshes, these are configurations, and become
// a part of the implementation's name in every release. Where points of one workload then still differ by more than
// repeats of one system do, they are invalid: nothing says which system they are of, and their mean is of none.
// The problems are for people; path is that of the history.
func Repeats(c *columns.Columns, releases []Release, path string) []schema.Problem {
	return append(configurations(c, releases, path), doubts(c, releases, path)...)
}

// systems groups the runs of a release by what they measured, in the order of the first of each.
func systems(c *columns.Columns, r *Release) (order []schema.System, by map[schema.System][]int) {
	by = map[schema.System][]int{}
	for _, run := range r.Runs {
		s := c.Runs[run].System()
		if by[s] == nil {
			order = append(order, s)
		}
		by[s] = append(by[s], run)
	}
	return order, by
}

// configurations names the implementations of systems of which some release has several configurations.
func configurations(c *columns.Columns, releases []Release, path string) (out []schema.Problem) {
	type pair struct {
		system schema.System
		fact   int
	}
	facts := []struct {
		name string
		of   func(*columns.RunHead) string
	}{
		{"engine", func(h *columns.RunHead) string { return h.Engine }},
		{"precision", func(h *columns.RunHead) string { return h.Model.Precision }},
		{"mesh", func(h *columns.RunHead) string { return h.Mesh }},
	}
	apart := map[pair]bool{}
	for ri := range releases {
		order, by := systems(c, &releases[ri])
		for _, s := range order {
			for i, fact := range facts {
				a, b := severalOf(c, by[s], fact.of)
				if a == "" || apart[pair{s, i}] {
					continue
				}
				apart[pair{s, i}] = true
				out = append(out, schema.Problem{
					Severity: schema.SevNote, Path: path, Code: schema.CodeToldApart,
					Found: fmt.Sprintf("runs of %s in %s that measured the same with %s %s and %s", name(s),
						releases[ri].Name, fact.name, a, b),
					Expected: "one configuration under one name", Used: "the " + fact.name + " as a part of the implementation",
					Hint: "name them with {impl} in --pattern, or with impl in a manifest, and read the files again",
				})
			}
		}
	}
	for i := range c.Runs {
		h := &c.Runs[i]
		parts := []string{h.Impl}
		for f, fact := range facts {
			if apart[pair{h.System(), f}] && !strings.EqualFold(h.Impl, fact.of(h)) {
				parts = append(parts, fact.of(h))
			}
		}
		h.Impl = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
	}
	return out
}

// severalOf returns two values of a fact that runs state of one workload or task; "" where all that state one state the
// same.
func severalOf(c *columns.Columns, runs []int, of func(*columns.RunHead) string) (a, b string) {
	stated := map[string]bool{}
	for _, run := range runs {
		if v := of(&c.Runs[run]); v != "" {
			stated[v] = true
		}
	}
	if len(stated) < 2 {
		return "", ""
	}
	measured := map[string]string{}
	for _, run := range runs {
		h := &c.Runs[run]
		v := of(h)
		if v == "" {
			continue
		}
		var of []string
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			of = append(of, c.KeyName(c.Points[i].Key))
		}
		for _, s := range c.ScoresOf(run) {
			of = append(of, s.Task)
		}
		for _, what := range of {
			if w, has := measured[what]; has && w != v {
				return w, v
			}
			measured[what] = v
		}
	}
	return "", ""
}

// doubts makes points of a release invalid whose speeds differ by more than repeats of one system do, and reports those
// of several runs; what differs within one was reported when it was read. What was measured in turns has a test of its
// own, and a run of a plan that measures again decides about a suspicion.
func doubts(c *columns.Columns, releases []Release, path string) (out []schema.Problem) {
	for ri := range releases {
		order, by := systems(c, &releases[ri])
		for _, s := range order {
			workloads, worst, text := 0, schema.RepeatsApart, ""
			for _, group := range repeatsOf(c, by[s]) {
				metric, least, most := farthest(c, group)
				if metric == "" {
					continue
				}
				info, _ := schema.MetricByName(metric)
				c.Invalidate(group, fmt.Sprintf("repeats have %s from %.4g to %.4g, which are not of one system; "+
					"state what differs", info.Label, least, most))
				first, last := &c.Points[group[0]], &c.Points[group[len(group)-1]]
				if first.Run == last.Run {
					continue
				}
				if workloads++; most/least > worst {
					worst, text = most/least, fmt.Sprintf("%s, of which %s is from %.4g to %.4g %s", c.Keys[first.Key].Workload(),
						info.Label, least, most, info.Unit)
				}
			}
			if workloads > 0 {
				out = append(out, schema.Problem{
					Severity: schema.SevWarning, Path: path, Code: "runs-differ",
					Found: fmt.Sprintf("%s of %s in %s that differ by more than %g x in %s, such as %s",
						plaintext.Plural(len(by[s]), "run"), name(s), releases[ri].Name, schema.RepeatsApart,
						plaintext.Plural(workloads, "workload"), text),
					Expected: "repeats of one system, which differ by noise", Used: "none of these numbers",
					Hint: "tell them apart with {impl} or {config} in --pattern, or in a manifest, and read the files again",
				})
			}
		}
	}
	return out
}

// repeatsOf groups the points of runs of one system that were measured more than once, in the order of their keys.
func repeatsOf(c *columns.Columns, runs []int) (out [][]int) {
	type measured struct{ key, plan int32 } // plan: the run that its own plan describes
	groups := map[measured][]int{}
	for _, run := range runs {
		h, of := &c.Runs[run], measured{plan: -1}
		if h.Planned > 0 {
			of.plan = int32(run)
		}
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &c.Points[i]
			isAgain := i > h.FirstPoint && p.Key == c.Points[i-1].Key || i+1 < h.PointsEnd && p.Key == c.Points[i+1].Key
			isRepeat := isAgain || of.plan < 0 && len(runs) > 1
			if w := p.StatusWord(); !isRepeat || p.Block > 0 || w == schema.StatusFailed || w == schema.StatusInvalid {
				continue
			}
			of.key = p.Key
			groups[of] = append(groups[of], i)
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(groups), func(a, b measured) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.plan, b.plan))
	}) {
		if len(groups[of]) > 1 {
			out = append(out, groups[of])
		}
	}
	return out
}

// farthest is the first speed by which points are not of one system; "" where there is none.
func farthest(c *columns.Columns, points []int) (metric string, least, most float64) {
	for _, metric := range schema.Speeds() {
		least, most = math.Inf(1), 0
		for _, i := range points {
			if v, _, _, ok := c.Center(&c.Points[i], metric); ok && v > 0 {
				least, most = min(least, v), max(most, v)
			}
		}
		if most > schema.RepeatsApart*least {
			return metric, least, most
		}
	}
	return "", 0, 0
}
