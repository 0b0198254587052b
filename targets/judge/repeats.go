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
	"github.com/ttreport/ttreport/targets/decision"
)

// Repeats reports runs of one release and system that are no repeats of each other: a speed of theirs differs by more
// than repeats do, or they state different engines, precisions, meshes or numbers of chips. Points of one workload that
// differ so are made invalid, in place, where nothing else says which of them counts: in one run, or in several of a
// number with little history. Else the first run is judged, and later ones decide about a suspicion. What people
// excluded is left out; what was measured in turns has a test of its own; what a run of a plan measures again is
// described in full. path is that of the history.
func Repeats(c *columns.Columns, releases []Release, policy *decision.Policy, path string) (out []schema.Problem) {
	policy = policy.For(c.Runs)
	for ri := range releases {
		isOut := func(run int) bool { return policy.ExcludesRun(&c.Runs[run]) != nil }
		counted := slices.DeleteFunc(slices.Clone(releases[ri].Runs), isOut)
		for _, runs := range schema.Alike(counted, func(run int) schema.System { return c.Runs[run].System() }) {
			differ := stateDifferently(c, runs)
			far := doubts(c, releases[:ri], runs, differ, policy)
			if far == "" && differ == "" {
				continue
			}
			found := fmt.Sprintf("%s of %s in %s", plaintext.Plural(len(runs), "run"), name(c.Runs[runs[0]].System()),
				releases[ri].Name) + far
			if differ != "" {
				found += "; they state " + differ
			}
			out = append(out, schema.Problem{
				Severity: schema.SevWarning, Path: path, Code: "runs-differ", Found: found,
				Expected: "repeats of one system, which differ by noise", Used: "no mean of them",
				Hint: "tell them apart with {impl} or {config} in --pattern, or in a manifest, and read the files again; or " +
					"leave one out: decisions: in ttreport.yaml, kind: invalidate",
			})
		}
	}
	return out
}

// stateDifferently lists the facts of which runs state several.
func stateDifferently(c *columns.Columns, runs []int) string {
	var out []string
	for i, name := range blockingFacts {
		var values []string
		for _, run := range runs {
			v := factsOf(&c.Runs[run])[i]
			isKnown := func(w string) bool { return strings.EqualFold(v, w) }
			if v != "" && !slices.ContainsFunc(values, isKnown) {
				values = append(values, v)
			}
		}
		if len(values) > 1 {
			out = append(out, name+" "+strings.Join(values, ", "))
		}
	}
	return strings.Join(out, "; ")
}

// doubts makes points of runs of one system invalid that differ by more than repeats do, and says how those of several
// runs differ; "" where none do. differ is what the runs state differently.
func doubts(c *columns.Columns, earlier []Release, runs []int, differ string, policy *decision.Policy) string {
	workloads, worst, text := 0, schema.RepeatsApart, ""
	for _, group := range repeatsOf(c, runs, policy) {
		metric, least, most := farthest(c, group)
		if metric == "" {
			continue
		}
		info, _ := schema.MetricByName(metric)
		first, last := &c.Points[group[0]], &c.Points[group[len(group)-1]]
		isOneRun := first.Run == last.Run
		if isOneRun || !isDecidable(c, earlier, c.Runs[runs[0]].System(), first.Key) {
			what := "which are not of one system; state what differs"
			if differ != "" {
				what = "and their runs state " + differ + "; tell them apart with {config} in --pattern, " +
					"or the rows of a table with impl, model or dim NAME"
			}
			c.Invalidate(group, fmt.Sprintf("repeats have %s from %.4g to %.4g, %s", info.Label, least, most, what))
		}
		if isOneRun {
			continue // as was said when it was read
		}
		if workloads++; most/least > worst {
			worst, text = most/least, fmt.Sprintf("%s, of which %s is from %.4g to %.4g %s", c.Keys[first.Key].Workload(),
				info.Label, least, most, info.Unit)
		}
	}
	if workloads == 0 {
		return ""
	}
	return fmt.Sprintf(" that differ by more than %g x in %s, such as %s", schema.RepeatsApart,
		plaintext.Plural(workloads, "workload"), text)
}

// enoughEarlier is how many releases must have measured a number for later runs to decide which of two is right.
const enoughEarlier = 3

// isDecidable reports whether enough releases that later ones are compared with measured a workload on a system.
func isDecidable(c *columns.Columns, releases []Release, s schema.System, key int32) bool {
	n := 0
	for i := range releases {
		measured := func(run int) bool {
			h := &c.Runs[run]
			isKey := func(p columns.PointRow) bool { return p.Key == key }
			return h.System() == s && slices.ContainsFunc(c.Points[h.FirstPoint:h.PointsEnd], isKey)
		}
		if releases[i].Serves() && slices.ContainsFunc(releases[i].Runs, measured) {
			n++
		}
	}
	return n >= enoughEarlier
}

// repeatsOf groups the points of runs of one system that were measured more than once, in the order of their keys.
func repeatsOf(c *columns.Columns, runs []int, policy *decision.Policy) (out [][]int) {
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
			w := p.StatusWord()
			switch {
			case p.Block > 0, w == schema.StatusFailed, w == schema.StatusInvalid, !isAgain && (of.plan >= 0 || len(runs) < 2):
				continue
			case policy.ExcludesPoints() && policy.ExcludesPoint(h, c.Keys[p.Key]) != nil:
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

// farthest is the first speed by one statistic of which points are not of one system; "" where there is none.
func farthest(c *columns.Columns, points []int) (metric string, least, most float64) {
	type ends struct{ least, most float64 }
	for _, metric := range schema.Speeds() {
		by := map[string]ends{} // a mean is no repeat of a median
		for _, i := range points {
			v, stat, def, ok := c.Center(&c.Points[i], metric)
			if !ok || v <= 0 {
				continue
			}
			e, has := by[stat+" "+def]
			if !has {
				e = ends{math.Inf(1), 0}
			}
			e = ends{min(e.least, v), max(e.most, v)}
			if by[stat+" "+def] = e; e.most > schema.RepeatsApart*e.least {
				least, most = e.least, e.most
			}
		}
		if most > 0 {
			return metric, least, most
		}
	}
	return "", 0, 0
}
