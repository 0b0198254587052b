package render

import (
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// measuredTable says what was measured, and on what: it heads every report. A fact that runs of the release state
// differently has all their values; one that nobody states is left out.
func (r *Report) measuredTable(runs []int) *Table {
	t := &Table{Caption: "What was measured", Layout: KeyValue, Cols: []Col{{Head: "What"}, {Head: "Value"}}}
	for _, f := range r.measuredFacts() {
		if f.label == commitsLabel {
			r.commitRows(t, runs)
		} else if v := r.distinct(runs, f.of); v != "" {
			t.row(Cell{Text: f.label, Head: true}, Cell{Text: v, Code: true})
		}
	}
	if tools := r.toolVersions(runs); tools != "" {
		t.row(Cell{Text: "Tools", Head: true}, Cell{Text: tools, Code: true})
	}
	return t
}

// measuredFact is a fact of a run and what people call it.
type measuredFact struct {
	label string
	of    func(*columns.RunHead) string
}

const commitsLabel = "Commits"

// commitRows has the commits of each component, with a link where all runs have one.
func (r *Report) commitRows(t *Table, runs []int) {
	stated := map[string]bool{}
	for _, i := range runs {
		for name := range r.Columns.Runs[i].Commits {
			stated[name] = true
		}
	}
	for _, name := range sortedNames(stated) {
		v := r.distinct(runs, func(h *columns.RunHead) string { return h.Commits[name] })
		cell := Cell{Text: v, Code: true, Href: r.commitLinks().of(name, v, only(stated, name))}
		if slices.ContainsFunc(runs, func(i int) bool { return r.Columns.Runs[i].Dirty }) {
			cell.Sub = "with changes that are not committed"
		}
		t.row(Cell{Text: "Commit of " + name, Head: true}, cell)
	}
}

// measuredFacts are those of a report's head, in reading order. Commands and names of machines are not published.
func (r *Report) measuredFacts() []measuredFact {
	setting := func(name string) func(*columns.RunHead) string {
		return func(h *columns.RunHead) string { return h.Setting[name] }
	}
	out := []measuredFact{
		{"Model", func(h *columns.RunHead) string { return h.Model.ID }},
		{"Declared status", func(h *columns.RunHead) string { return h.Model.Status }},
		{"Implementation", func(h *columns.RunHead) string { return h.Impl }},
		{"Hardware", hardware},
		{"Engine", func(h *columns.RunHead) string { return strings.TrimSpace(h.Engine + " " + h.Version) }},
		{"Image", func(h *columns.RunHead) string { return strings.TrimSpace(h.Image + " " + h.Digest) }},
		{commitsLabel, commits},
		{"Server mode", setting(columns.ServerMode)},
	}
	if !r.Public {
		out = append(out, measuredFact{"Run command", setting(columns.RunCommand)},
			measuredFact{"Server command", setting("server")}, measuredFact{"Host", setting("host")})
	}
	return append(out, measuredFact{"Measured", func(h *columns.RunHead) string {
		if h.Start.IsZero() {
			return ""
		}
		return moment(h.Start)
	}}, measuredFact{"Run", func(h *columns.RunHead) string { return h.ID }})
}

// hardware is the device with what is known of its accelerators.
func hardware(h *columns.RunHead) string {
	parts := []string{h.Device}
	for _, s := range []string{h.Mesh, h.Setting["accelerators"], prefixed("firmware ", h.Firmware),
		prefixed("driver ", h.Setting["driver"])} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Trim(strings.Join(parts, ", "), ", ")
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func commits(h *columns.RunHead) string {
	var parts []string
	for _, name := range sortedNames(h.Commits) {
		parts = append(parts, name+" "+h.Commits[name])
	}
	if h.Dirty {
		parts = append(parts, "with changes that are not committed")
	}
	return strings.Join(parts, ", ")
}

// measuredPairs has the same of each model on a device that a gate is about: what somebody who signs must know.
func (r *Report) measuredPairs(g *gate.Review) *Table {
	t := &Table{Caption: "What was measured", Layout: List, Cols: []Col{{Head: "Model and device"}}}
	at := slices.IndexFunc(r.Releases, func(x judge.Release) bool { return x.Name == g.Release })
	if at < 0 {
		return t
	}
	shown := []string{"Hardware", "Engine", "Image", commitsLabel, "Server mode", "Run command", "Run"}
	var facts []measuredFact
	for _, f := range r.measuredFacts() {
		if slices.Contains(shown, f.label) {
			facts = append(facts, f)
			t.Cols = append(t.Cols, Col{Head: f.label})
		}
	}
	for _, x := range g.Pairs {
		runs := r.runs[x.Pair][at]
		if len(runs) == 0 {
			continue
		}
		cells := []Cell{text(words.OnDevice(x.Model, x.Device))}
		for _, f := range facts {
			cells = append(cells, Cell{Text: r.distinct(runs, f.of), Code: true})
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	t.dropEmpty(1)
	return t
}

// valuesOfFact is how many different values of one fact a report lists.
const valuesOfFact = 3

// distinct are the different values of a fact, in the order of the runs.
func (r *Report) distinct(runs []int, of func(*columns.RunHead) string) string {
	var out []string
	for _, i := range runs {
		if v := of(&r.Columns.Runs[i]); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	if more := len(out) - valuesOfFact; more > 0 {
		out = append(out[:valuesOfFact:valuesOfFact], words.Count(more)+" more")
	}
	return strings.Join(out, "; ")
}

// toolVersions are the tools that measured, with their versions.
func (r *Report) toolVersions(runs []int) string {
	var out []string
	for _, p := range r.points(runs) {
		name := strings.TrimSpace(r.Columns.Keys[p.Key].Tool + " " + r.Columns.Conds[p.Cond][columns.ToolVersion])
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// ResultSections are the sections with what was measured of each model on a device in a release, for text: what heads a
// report, then the results. An empty model or device selects all.
func (r *Report) ResultSections(release int, model, device string) []Section {
	var out []Section
	for _, pair := range r.PairsOf(release) {
		if !(schema.Pair{Model: pair.Model, Device: pair.Device}).Selected(model, device) {
			continue
		}
		runs := r.runs[pair.Pair][release]
		name := words.OnDevice(pair.Model, pair.Device)
		out = append(out, Section{Title: name, Blocks: []Block{r.measuredTable(runs)}})
		for i, t := range r.resultTables(runs) {
			title := "Results of " + name
			if i > 0 {
				title = "Spread of latencies of " + name
			}
			out = append(out, Section{Title: title, Blocks: []Block{t}})
		}
	}
	return out
}

// lastPoint is the newest point of a workload, up to a release, that says how many requests completed; nil where none
// does. The tool that measured it does not matter.
func (r *Report) lastPoint(at int, of schema.System, load schema.Key) *columns.PointRow {
	releases := r.with[schema.Pair{Model: of.Model, Device: of.Device}]
	for i := len(releases) - 1; i >= 0; i-- {
		if releases[i] > at {
			continue
		}
		for _, run := range r.runs[schema.Pair{Model: of.Model, Device: of.Device}][releases[i]] {
			h := &r.Columns.Runs[run]
			for n := h.FirstPoint; n < h.PointsEnd && h.Impl == of.Impl; n++ {
				p := &r.Columns.Points[n]
				k := r.Columns.Keys[p.Key]
				if k.Workload() == load.Workload() && r.requests(p) > 0 {
					return p
				}
			}
		}
	}
	return nil
}

// requests is how many requests of a point completed; 0 where it is not stated.
func (r *Report) requests(p *columns.PointRow) float64 {
	n, _ := r.Shown(p, "requests_ok", "value").Get()
	return n
}

// Requests is how many requests the newest measurement of a workload completed, up to a release, so that another one
// can be like it; 0 where that is not known.
func (r *Report) Requests(release string, of schema.System, load schema.Key) int {
	if p := r.lastPoint(judge.Named(r.Releases, release), of, load); p != nil {
		return int(r.requests(p))
	}
	return 0
}

// lasted is how long the requests of a workload took in the newest measurement up to a release: each lane of the load
// made its share of them one after the other. 0 where that is not known.
func (r *Report) lasted(at int, of schema.System, load schema.Key) time.Duration {
	p := r.lastPoint(at, of, load)
	if p == nil {
		return 0
	}
	lanes := r.Columns.Keys[p.Key].Concurrency
	each, ok := r.Shown(p, "e2el", "mean").Get()
	if !ok || lanes == nil || *lanes <= 0 {
		return 0
	}
	return time.Duration(each * r.requests(p) / *lanes * float64(time.Millisecond))
}
