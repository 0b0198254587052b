package render

import (
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
)

// ScriptPath is the page of a benchmark script.
func ScriptPath(script string) Address { return Address("scripts/" + segment(script) + "/index.html") }

// conditionScript is the script of a benchmark that has several.
const conditionScript = "script"

// scriptOf is the script that measured a point: as its result states it, or a benchmark of the users' own; "" for load
// generators, which measure one thing.
func (r *Report) scriptOf(p *columns.PointRow) string {
	if s := r.Columns.Conds[p.Cond][conditionScript]; s != "" {
		return s
	}
	stats, _ := r.Columns.Span(p)
	for _, i := range stats {
		if m := r.Columns.Stats[i].Metric; m != columns.ClientMetric && !schema.IsOwn(m) {
			return ""
		}
	}
	return r.Columns.Keys[p.Key].Tool
}

// Scripts are the benchmark scripts of a history, by name.
func (r *Report) Scripts() []string {
	var runs []int
	for i := range r.Columns.Runs {
		runs = append(runs, i)
	}
	return r.scriptsIn(runs)
}

// scriptsIn are those of some runs.
func (r *Report) scriptsIn(runs []int) []string {
	seen := map[string]bool{}
	for _, run := range runs {
		for i := r.Columns.Runs[run].FirstPoint; i < r.Columns.Runs[run].PointsEnd; i++ {
			seen[r.scriptOf(&r.Columns.Points[i])] = true
		}
	}
	delete(seen, "")
	return sortedNames(seen)
}

// ScriptPage answers: what does a benchmark script measure, with which parameters, and what came of it everywhere? Of a
// model on a device it has the newest release that has any of its points.
func (r *Report) ScriptPage(script string) Page {
	p := r.page(ScriptPath(script), "models", script, "The benchmark script "+script+".",
		Link{"Models", "index.html#models"})
	pairs, hidden := r.shown, len(r.Pairs)-len(r.shown)
	var all []*columns.PointRow
	var sections []Section
	for _, pair := range pairs {
		for _, release := range slices.Backward(r.with[pair.Pair]) {
			points := slices.DeleteFunc(r.points(r.runs[pair.Pair][release]), func(p *columns.PointRow) bool {
				return r.scriptOf(p) != script
			})
			if len(points) == 0 {
				continue
			}
			all = append(all, points...)
			name := words.OnDevice(pair.Model, pair.Device)
			s := section(schema.Slug(pair.Model+" "+pair.Device), name, "Newest results, of "+r.Releases[release].Name+".")
			for _, t := range r.pointTables(points, rowsShown) {
				t.Caption += ", " + name
				s.Blocks = append(s.Blocks, t.cut(r.allIn(release, "points")).whole(r.inExplore(release, schema.Pair{})))
			}
			sections = append(sections, s.leading("over releases", PairPath(pair.Model, pair.Device)+"#charts"))
			break
		}
	}
	p.Lead = Lead{Text: fmt.Sprintf("%s, measured on %s of model and device.",
		words.Plural(len(keysOf(all)), "workload"), words.Plural(len(sections), "pair"))}
	if hidden > 0 {
		p.Lead.Paras = []string{fmt.Sprintf("Hidden by ttreport.yaml: %d.", hidden)}
	}
	p.add(Section{ID: "parameters", Title: "Parameters", Intro: "With all values that the newest results have.",
		Blocks: []Block{r.parameterTable(all)}})
	p.add(sections...)
	return p
}

// parameterTable lists what a script was called with: the workload and its conditions, each with some of its values.
func (r *Report) parameterTable(points []*columns.PointRow) *Table {
	const most = 20
	values := map[string][]string{}
	note := func(name, v string) {
		if v != "" && name != conditionScript && !slices.Contains(values[name], v) {
			values[name] = append(values[name], v)
		}
	}
	for _, p := range points {
		k := r.Columns.Keys[p.Key]
		for name, v := range map[string]*float64{"input length": k.ISL, "output length": k.OSL,
			"max concurrency": k.Concurrency, "request rate": k.Rate} {
			if v != nil {
				note(name, fmt.Sprintf("%.10g", *v))
			}
		}
		note("dataset", k.Dataset)
		for name, v := range k.Dims {
			if name != schema.DimLabel || v != k.Dataset {
				note(name, v)
			}
		}
		for name, v := range r.Columns.Conds[p.Cond] {
			note(name, v)
		}
	}
	t := tableOf("Parameters", KeyValue, sortedNames(values), []Column[string]{
		{col("Parameter"), func(name string) Cell { return Cell{Text: name, Head: true, Code: true} }},
		{col("Values"), func(name string) Cell { return text(someOf(values[name], most)) }},
	})
	t.Total = len(t.Rows)
	return t
}
