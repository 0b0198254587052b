package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/ingest/schema/naming"
	"github.com/ttreport/ttreport/targets/decision"
)

// Repeats reports runs of one release and system that are no repeats of each other: a speed of theirs differs by more
// than repeats do. Points of one workload that differ so are made invalid, in place, where nothing else says which of
// them counts: in one run, or in several of a number with little history. Else the first run is judged, and later ones
// decide about a suspicion. What people excluded is left out; what was measured in turns has a test of its own; what a
// run of a plan measures again is described in full. path is that of the history. Before, [setups] are told apart.
func Repeats(c *columns.Columns, releases []Release, policy *decision.Policy, path string) (out []schema.Problem) {
	policy = policy.For(c.Runs)
	counted := make([][]int, len(releases))
	for ri := range releases {
		isOut := func(run int) bool { return policy.ExcludesRun(&c.Runs[run]) != nil }
		counted[ri] = slices.DeleteFunc(slices.Clone(releases[ri].Runs), isOut)
	}
	setups(c, releases)
	out = slices.Concat(inFolders(c, releases, path), inFiles(c, releases, path), unlike(c, releases, path))
	for ri := range releases {
		for _, runs := range schema.Alike(counted[ri], func(run int) schema.System { return c.Runs[run].System() }) {
			if far := doubts(c, releases[:ri], runs, policy); far != "" {
				out = append(out, schema.Problem{
					Severity: schema.SevWarning, Path: path, Code: "runs-differ",
					Found: fmt.Sprintf("%s of %s in %s", plaintext.Plural(len(runs), "run"), name(c.Runs[runs[0]].System()),
						releases[ri].Name) + far,
					Expected: "repeats of one system, which differ by noise", Used: "no mean of them",
					Hint: "tell them apart with {impl} or {config} in --pattern, or in a manifest, and read the files again; or " +
						"leave one out: decisions: in ttreport.yaml, kind: invalidate",
				})
			}
		}
	}
	return out
}

// setups tells runs of one system apart, in place, that state different engines, precisions, meshes or numbers of chips
// in one release: each is an implementation with a history of its own, named by what differs.
func setups(c *columns.Columns, releases []Release) {
	type history struct {
		schema.System
		sequence
	}
	for i := range c.Runs {
		c.Runs[i].Setup, c.Runs[i].Place = "", ""
	}
	places(c, releases)
	known := histories[history]{}
	seqs := sequences(releases)
	for ri := range releases {
		for _, group := range schema.Alike(releases[ri].Runs, func(run int) schema.System { return c.Runs[run].System() }) {
			list := variantsOf(len(group), func(i int) map[string]string { return statesOf(&c.Runs[group[i]]) })
			of := history{c.Runs[group[0]].System(), seqs[ri]}
			for k, setup := range known.next(of, list, releases[ri].Serves(), setupName) {
				for _, i := range list[k].of {
					c.Runs[group[i]].Setup = setup.name
				}
			}
		}
	}
}

// setupName is what a setup states that others do not, or state differently.
func setupName(setup *variant, others []*variant) string {
	var parts []string
	for _, fact := range blockingFacts {
		v := setup.states[fact]
		differs := func(o *variant) bool { return !strings.EqualFold(o.states[fact], v) }
		if v != "" && slices.ContainsFunc(others, differs) {
			if fact == "chips" {
				v = strings.TrimSuffix(v+" chips", map[bool]string{true: "s"}[v == "1"])
			}
			parts = append(parts, v)
		}
	}
	name := strings.Join(parts, ", ")
	if len(others) > 0 {
		name = cmp.Or(name, "unstated")
	}
	return name
}

// places says of the runs of a system what their folders are called, in place, where a release has the same measured in
// folders whose names differ by more than a date, the number of a repeat or a channel: they are of several setups that
// nothing else states. What a collector of ours measured is described in full.
func places(c *columns.Columns, releases []Release) {
	type system struct {
		runs  [][]int // of each release
		isFar bool    // a release has several folders
	}
	systems := map[schema.System]*system{}
	for ri := range releases {
		for _, runs := range schema.Alike(releases[ri].Runs, func(run int) schema.System { return c.Runs[run].System() }) {
			id := c.Runs[runs[0]].System()
			if systems[id] == nil {
				systems[id] = &system{}
			}
			s := systems[id]
			isOther := func(run int) bool { return c.Runs[run].Folder != c.Runs[runs[0]].Folder }
			s.runs, s.isFar = append(s.runs, runs), s.isFar || slices.ContainsFunc(runs, isOther)
		}
	}
	for _, s := range systems {
		if !s.isFar {
			continue
		}
		parts, marks := partsOf(c, slices.Concat(s.runs...)), map[string]bool{}
		for _, runs := range s.runs { // a later release says nothing of an earlier one
			markFolders(c, runs, parts, marks)
			for _, run := range runs {
				if list, isNamed := parts[run]; isNamed && len(marks) > 0 {
					list = slices.DeleteFunc(slices.Clone(list), func(part string) bool { return !marks[part] })
					if len(list) > 0 || !naming.IsAgain(c.Runs[run].Folder) { // recheck/x is of whatever the others are
						c.Runs[run].Place = cmp.Or(strings.Join(list, "/"), "no folder")
					}
				}
			}
		}
	}
}

// CodeNames is the code of the problem of results that only the names of folders or files tell apart.
const CodeNames = "setups-of-names"

// unlike is the problem of builds without a release that are compared, though the names of their folders or files
// differ by more than a date or a number: they may be of two devices, or of two setups. It is one for all systems.
func unlike(c *columns.Columns, releases []Release, path string) []schema.Problem {
	systems, buildOf := map[schema.System][]int{}, map[int]int{}
	for ri := range releases {
		for _, run := range releases[ri].Runs {
			if h := &c.Runs[run]; h.Release == "" && h.Folder != "" {
				systems[h.System()], buildOf[run] = append(systems[h.System()], run), ri
			}
		}
	}
	var of []string
	var first, second string // folders of two builds
	for _, id := range slices.SortedFunc(maps.Keys(systems), compareSystems) {
		if a, b, ok := unlikeFolders(c, systems[id], buildOf); ok {
			if of = append(of, name(id)); len(of) == 1 {
				first, second = a, b
			}
		}
	}
	if len(of) == 0 {
		return nil
	}
	more := ""
	if n := len(of) - 1; n > 0 {
		more = "; the same holds for " + plaintext.Plural(n, "other system")
	}
	root, fact := manifest.Apart(first, second)
	return []schema.Problem{{
		Severity: schema.SevWarning, Path: path, Code: CodeNames,
		Found: fmt.Sprintf("the results in %s and %s are compared as builds of one series, %s, and the names differ by more "+
			"than a date or a number%s", first, second, of[0], more),
		Expected: "builds of one device and setup, or results that state what was different", Used: "one series",
		Hint: fmt.Sprintf("if they are two: {%s} in --pattern, or a manifest in each folder, says what the names are; "+
			"ttreport identify %s shows what a pattern could state", fact, root),
	}}
}

// unlikeFolders are the folders of two builds among runs of one system that have a workload or an eval in common, and
// whose names differ by more than a date or a number.
func unlikeFolders(c *columns.Columns, runs []int, buildOf map[int]int) (first, second string, ok bool) {
	folders, isOfSeveral := make([]string, len(runs)), map[string]bool{}
	for _, run := range runs {
		isOfSeveral[c.Runs[run].Folder] = true
	}
	for i, run := range runs {
		folder := c.Runs[run].Folder
		if dir := path.Dir(folder); isOfSeveral[dir] { // one file, in the folder of a run with several
			folder = dir
		}
		folders[i] = versions.ReplaceAllString(naming.WithoutBuilds(folder), "${1}v$2")
	}
	apart := naming.Differences(folders)
	if apart == nil {
		return "", "", false
	}
	has := map[string]int{} // the first run with a workload or eval, by its place
	for i, run := range runs {
		for _, what := range whatOf(c, run, true) {
			was, isKnown := has[what]
			switch {
			case !isKnown:
				has[what] = i
			case buildOf[runs[was]] != buildOf[run] && !maps.Equal(apart[was], apart[i]):
				a, b := &c.Runs[runs[was]], &c.Runs[run]
				if of, _ := Apart(a, b); of == "" { // else they state what differs, and are not compared
					return a.Folder, b.Folder, true
				}
			}
		}
	}
	return "", "", false
}

// versions matches a folder that is a version alone, or the number of a night.
var versions = lazyregexp.New(`(?i)(^|/)(?:v?\d+(?:\.\d+)+|(?:n|night|day|week)[-_]?\d+)(/|$)`)

// whatOf are the workloads and evals of a run, an eval also by how it was asked for where that counts.
func whatOf(c *columns.Columns, run int, asAsked bool) (out []string) {
	for _, p := range c.Points[c.Runs[run].FirstPoint:c.Runs[run].PointsEnd] {
		out = append(out, c.KeyName(p.Key))
	}
	for _, s := range c.ScoresOf(run) {
		what := s.Task + "\x00" + s.Metric + "\x00" + s.Filter
		if asAsked { // zero shots are not compared with five
			what += fmt.Sprint(s.Asked())
		}
		out = append(out, what)
	}
	return out
}

// inFolders are the problems of runs of the newest release that only their folders tell apart, of what earlier releases
// measured: a re-check in a folder with a name of its own confirms nothing.
func inFolders(c *columns.Columns, releases []Release, path string) (out []schema.Problem) {
	earlier := map[schema.System]bool{}
	stated := func(run int) schema.System {
		return schema.System{Model: c.Runs[run].Model.Name, Device: c.Runs[run].Device, Impl: c.Runs[run].Impl}
	}
	for ri := range releases {
		for _, runs := range schema.Alike(releases[ri].Runs, stated) {
			var folders, paths []string
			another := "" // the last one: a re-check comes later
			for _, run := range runs {
				if place := c.Runs[run].Place; place != "" {
					folders, paths = append(folders, place), append(paths, c.Runs[run].Folder)
				}
				if c.Runs[run].Setup != "" {
					another = c.Runs[run].ID
				}
			}
			slices.Sort(folders)
			folders = slices.Compact(folders)
			id := stated(runs[0])
			isKnown := earlier[id]
			if earlier[id] = true; ri < len(releases)-1 || len(folders) < 2 || !isKnown {
				continue
			}
			_, fact := manifest.Apart(paths...)
			if fact == "config" { // which no flag states
				fact = "impl"
			}
			out = append(out, schema.Problem{
				Severity: schema.SevWarning, Path: path, Code: CodeNames,
				Found: fmt.Sprintf("%s of %s in %s that only the names of their folders tell apart: %s",
					plaintext.Plural(len(runs), "run"), name(id), releases[ri].Name,
					strings.Join(folders[:min(4, len(folders))], ", ")),
				Expected: "runs that state what was different", Used: "a setup for each folder; none confirms what another shows",
				Hint: fmt.Sprintf("of another setup: ttreport identify --%s NAME --write FOLDER states it beside the results of "+
					"each, and ttreport build FOLDER reads it; of a re-check: ttreport history drop --run %s --write, and read it "+
					"again from a folder called recheck", fact, another),
			})
		}
	}
	return out
}

// inFiles are the problems of systems of which the names of files tell workloads apart in some releases only: a night
// with one file of a kind has nothing to be told from, and is not compared with the others.
func inFiles(c *columns.Columns, releases []Release, path string) (out []schema.Problem) {
	type workload struct {
		schema.System
		key string
	}
	named := map[workload][2]bool{} // with a file, without one
	newest := map[schema.System]map[workload]bool{}
	for ri := range releases {
		for _, run := range releases[ri].Runs {
			h := &c.Runs[run]
			for i := h.FirstPoint; i < h.PointsEnd; i++ {
				k := c.Keys[c.Points[i].Key]
				file := k.Dims[naming.File]
				k.Dims = maps.Clone(k.Dims)
				delete(k.Dims, naming.File)
				w := workload{h.System(), k.String()}
				named[w] = [2]bool{named[w][0] || file != "", named[w][1] || file == ""}
				if ri == len(releases)-1 {
					if newest[w.System] == nil {
						newest[w.System] = map[workload]bool{}
					}
					newest[w.System][w] = true
				}
			}
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(newest), compareSystems) {
		n := 0
		for w := range newest[id] {
			if named[w] == [2]bool{true, true} {
				n++
			}
		}
		if n > 0 {
			out = append(out, schema.Problem{
				Severity: schema.SevWarning, Path: path, Code: CodeNames,
				Found: fmt.Sprintf("%s of %s that the names of files tell apart in some releases and not in others",
					plaintext.Plural(n, "workload"), name(id)),
				Expected: "results that state what was different", Used: "each as a workload of its own: these are not compared",
				Hint: "state what the names say with {impl} or {config} in --pattern, or in a manifest, and read all again; " +
					"ttreport identify PATH shows what a pattern could state",
			})
		}
	}
	return out
}

// partsOf is what the folders of runs are called, without what they are known as.
func partsOf(c *columns.Columns, runs []int) map[int][]string {
	var folders []string
	for _, run := range runs {
		folders = append(folders, c.Runs[run].Folder)
	}
	out := map[int][]string{}
	for i, list := range naming.Parts(folders) {
		h := &c.Runs[runs[i]]
		isKnown := func(part string) bool {
			is := func(name string) bool { // v4~2 is v4 again
				rest, isNamed := strings.CutPrefix(part, strings.ToLower(name))
				return isNamed && naming.IsCount(rest)
			}
			known := []string{h.Release, h.Channel, h.Model.Name, h.Model.Precision, h.Device, h.Impl, "nightly", "main"}
			return slices.ContainsFunc(known, is)
		}
		if list = slices.DeleteFunc(list, isKnown); h.Folder != "" {
			out[runs[i]] = list
		}
	}
	return out
}

// markFolders notes the names that tell the folders of runs of one release apart that measured the same.
func markFolders(c *columns.Columns, runs []int, parts map[int][]string, marks map[string]bool) {
	measured := map[string]map[string]int{} // by workload or eval: a run in each folder
	for _, run := range runs {
		list, isNamed := parts[run]
		if !isNamed {
			continue
		}
		for _, what := range whatOf(c, run, false) {
			if measured[what] == nil {
				measured[what] = map[string]int{}
			}
			measured[what][strings.Join(list, "/")] = run
		}
	}
	for _, folders := range measured {
		of := map[string]int{} // how many folders have a part in their names
		for _, run := range folders {
			for _, part := range slices.Compact(slices.Sorted(slices.Values(parts[run]))) {
				of[part]++
			}
		}
		for part, n := range of {
			if n < len(folders) {
				marks[part] = true
			}
		}
	}
}

// doubts makes points of runs of one system invalid that differ by more than repeats do, and says how those of several
// runs differ; "" where none do.
func doubts(c *columns.Columns, earlier []Release, runs []int, policy *decision.Policy) string {
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
			c.Invalidate(group, fmt.Sprintf("repeats have %s from %.4g to %.4g, too far apart for one system; state what "+
				"differs, or map the column of a table that says it as impl, model or dim NAME", info.Label, least, most))
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
	measured := func(run int) bool {
		h := &c.Runs[run]
		isKey := func(p columns.PointRow) bool { return p.Key == key }
		return h.System() == s && slices.ContainsFunc(c.Points[h.FirstPoint:h.PointsEnd], isKey)
	}
	for i := range releases {
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
