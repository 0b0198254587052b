package render

import (
	"fmt"
	"slices"
	"strings"

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

// scriptPoints are the points of a script of a model on a device in the newest release that has any of them.
func (r *Report) scriptPoints(pair Pair, script string) (points []*columns.PointRow, release int) {
	for _, ri := range slices.Backward(r.measuredIn(pair.Model, pair.Device)) {
		of := slices.DeleteFunc(r.points(r.runs[pair.Pair][ri]), func(p *columns.PointRow) bool {
			return r.scriptOf(p) != script
		})
		if len(of) > 0 {
			return of, ri
		}
	}
	return nil, -1
}

// Scripts are the benchmark scripts of a history, by name.
func (r *Report) Scripts() []string {
	seen := map[string]bool{}
	for i := range r.Columns.Points {
		if s := r.scriptOf(&r.Columns.Points[i]); s != "" {
			seen[s] = true
		}
	}
	return sortedNames(seen)
}

// scriptsOf are those of a model on a device.
func (r *Report) scriptsOf(pair Pair) []string {
	seen := map[string]bool{}
	for _, ri := range r.measuredIn(pair.Model, pair.Device) {
		for _, run := range r.runs[pair.Pair][ri] {
			h := &r.Columns.Runs[run]
			for i := h.FirstPoint; i < h.PointsEnd; i++ {
				if s := r.scriptOf(&r.Columns.Points[i]); s != "" {
					seen[s] = true
				}
			}
		}
	}
	return sortedNames(seen)
}

// ScriptPage answers: what does a benchmark script measure, with which parameters, and what came of it everywhere?
func (r *Report) ScriptPage(script string) Page {
	p := Page{
		Path: ScriptPath(script), Title: script, Nav: "models", Description: "The benchmark script " + script + ".",
		Crumbs: []Link{{"Overview", "index.html"}, {"Models", "index.html#models"}, {script, ""}}, Simulated: r.simulated(-1),
	}
	pairs, hidden := r.listed()
	var all []*columns.PointRow
	var sections []Section
	for _, pair := range pairs {
		points, release := r.scriptPoints(pair, script)
		if len(points) == 0 {
			continue
		}
		all = append(all, points...)
		name := words.OnDevice(pair.Model, pair.Device)
		s := Section{
			ID: schema.Slug(pair.Model + " " + pair.Device), Title: name,
			Intro: "Newest results, of " + r.Releases[release].Name + ".",
			End:   &Link{"over releases", PairPath(pair.Model, pair.Device) + "#charts"},
		}
		for _, t := range r.pointTables(points) {
			t.Caption += ", " + name
			s.Blocks = append(s.Blocks, t.cut(r.allIn(release, "points")).whole(r.inExplore(release, schema.Pair{})))
		}
		sections = append(sections, s)
	}
	p.Lead = Lead{Text: fmt.Sprintf("%s, measured on %s.", words.Plural(len(r.keysOf(all)), "workload"),
		words.Plural(len(sections), "pair")+" of model and device")}
	if hidden > 0 {
		p.Lead.Paras = []string{fmt.Sprintf("Hidden by ttreport.yaml: %d.", hidden)}
	}
	p.add(Section{ID: "parameters", Title: "Parameters", Intro: "With all values that the newest results have.",
		Blocks: []Block{r.parameterTable(all)}})
	p.add(sections...)
	return p
}

// parameterTable lists what a script was called with: the workload and its conditions.
func (r *Report) parameterTable(points []*columns.PointRow) *Table {
	values := map[string][]string{}
	note := func(name, v string) {
		if v != "" && name != conditionScript && !slices.Contains(values[name], v) {
			values[name] = append(values[name], v)
		}
	}
	number := func(name string, v *float64) {
		if v != nil {
			note(name, fmt.Sprintf("%.10g", *v))
		}
	}
	for _, p := range points {
		k := r.Columns.Keys[p.Key]
		number("input length", k.ISL)
		number("output length", k.OSL)
		number("max concurrency", k.Concurrency)
		number("request rate", k.Rate)
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
	t := &Table{Caption: "Parameters", Layout: KeyValue, Cols: []Col{{Head: "Parameter"}, {Head: "Values"}}}
	for _, name := range sortedNames(values) {
		list := values[name]
		if more := len(list) - mostParameterValues; more > 0 {
			list = append(list[:mostParameterValues:mostParameterValues], fmt.Sprintf("and %d more", more))
		}
		t.row(Cell{Text: name, Head: true, Code: true}, Cell{Text: strings.Join(list, ", ")})
	}
	t.Total = len(t.Rows)
	return t
}

// mostParameterValues is how many values of one parameter a page lists.
const mostParameterValues = 20
