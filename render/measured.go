package render

import (
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// measuredTable says what was measured, and on what: it heads every report. A fact that runs of the release state
// differently has some of their values; one that nobody states is left out.
func (r *Report) measuredTable(runs []int) *Table {
	t := &Table{Caption: "What was measured", Layout: KeyValue, Cols: []Col{col("What"), col("Value")}}
	stated := map[string]bool{}
	for _, i := range runs {
		for name := range r.Columns.Runs[i].Commits {
			stated[name] = true
		}
	}
	dirty := slices.ContainsFunc(runs, func(i int) bool { return r.Columns.Runs[i].Dirty })
	for _, f := range r.measuredFacts() {
		if f.label != commitsLabel {
			if v := r.distinct(runs, f.of); v != "" {
				t.row(head(f.label, ""), code(v))
			}
			continue
		}
		for _, name := range sortedNames(stated) { // each component's, with a link where all runs have one
			v := r.distinct(runs, func(h *columns.RunHead) string { return h.Commits[name] })
			cell := Cell{Text: v, Code: true, Href: r.commitLinks().of(name, v, only(stated, name))}
			if dirty {
				cell.Sub = uncommitted
			}
			t.row(head("Commit of "+name, ""), cell)
		}
	}
	var tools []string
	for _, p := range r.points(runs) {
		name := strings.TrimSpace(r.Columns.Keys[p.Key].Tool + " " + r.Columns.Conds[p.Cond][columns.ToolVersion])
		if name != "" && !slices.Contains(tools, name) {
			tools = append(tools, name)
		}
	}
	if slices.Sort(tools); len(tools) > 0 {
		t.row(head("Tools", ""), code(strings.Join(tools, ", ")))
	}
	return t
}

// uncommitted marks commits with changes beside them.
const uncommitted = "with changes that are not committed"

// measuredFact is a fact of a run and what people call it.
type measuredFact struct {
	label string
	of    func(*columns.RunHead) string
}

const commitsLabel = "Commits"

// measuredFacts are those of a report's head, in reading order. Commands and names of machines are not published.
func (r *Report) measuredFacts() []measuredFact {
	setting := func(name string) func(*columns.RunHead) string {
		return func(h *columns.RunHead) string { return h.Setting[name] }
	}
	out := []measuredFact{
		{"Model", func(h *columns.RunHead) string { return h.Model.ID }},
		{"Declared status", func(h *columns.RunHead) string { return h.Model.Status }},
		{"Implementation", func(h *columns.RunHead) string { return h.Impl }},
		{"Hardware", func(h *columns.RunHead) string { // the device with what is known of its accelerators
			out := h.Device
			for _, x := range [][2]string{{"", h.Mesh}, {"", h.Setting["accelerators"]}, {"firmware ", h.Firmware},
				{"driver ", h.Setting["driver"]}} {
				if x[1] != "" {
					out += ", " + x[0] + x[1]
				}
			}
			return strings.Trim(out, ", ")
		}},
		{"Engine", func(h *columns.RunHead) string { return strings.TrimSpace(h.Engine + " " + h.Version) }},
		{"Image", func(h *columns.RunHead) string { return strings.TrimSpace(h.Image + " " + h.Digest) }},
		{commitsLabel, func(h *columns.RunHead) string {
			var parts []string
			for _, name := range sortedNames(h.Commits) {
				parts = append(parts, name+" "+h.Commits[name])
			}
			if h.Dirty {
				parts = append(parts, uncommitted)
			}
			return strings.Join(parts, ", ")
		}},
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

// measuredPairs has the same of each model on a device that a gate is about: what somebody who signs must know.
func (r *Report) measuredPairs(g *gate.Review) *Table {
	at := judge.Named(r.Releases, g.Release)
	if at < 0 {
		return &Table{}
	}
	shown := []string{"Hardware", "Engine", "Image", commitsLabel, "Server mode", "Run command", "Run"}
	all := []Column[Pair]{{col("Model and device"), func(p Pair) Cell { return text(words.OnDevice(p.Model, p.Device)) }}}
	for _, f := range r.measuredFacts() {
		if slices.Contains(shown, f.label) {
			all = append(all, Column[Pair]{col(f.label), func(p Pair) Cell { return code(r.distinct(r.RunsOf(at, p), f.of)) }})
		}
	}
	var pairs []Pair
	for _, x := range g.Pairs {
		if len(r.runs[x.Pair][at]) > 0 {
			pairs = append(pairs, Pair{Pair: x.Pair})
		}
	}
	return tableOf("What was measured", List, pairs, all).dropEmpty(1)
}

// distinct are the first different values of a fact, in the order of the runs.
func (r *Report) distinct(runs []int, of func(*columns.RunHead) string) string {
	const most = 3
	var out []string
	for _, i := range runs {
		if v := of(&r.Columns.Runs[i]); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	if more := len(out) - most; more > 0 {
		out = append(out[:most:most], words.Count(more)+" more")
	}
	return strings.Join(out, "; ")
}

// ResultSections are the sections with what was measured of each model on a device in a release, for text: what heads a
// report, then the results. An empty model or device selects all.
func (r *Report) ResultSections(release int, model, device string) []Section {
	var out []Section
	for _, pair := range r.PairsOf(release) {
		if !pair.Selected(model, device) {
			continue
		}
		runs, name := r.runs[pair.Pair][release], words.OnDevice(pair.Model, pair.Device)
		out = append(out, Section{Title: name, Blocks: []Block{r.measuredTable(runs)}})
		points := r.points(runs)
		for i, t := range r.pointTables(points, len(points)) {
			title := []string{"Results of ", "Spread of latencies of "}[min(i, 1)]
			out = append(out, Section{Title: title + name, Blocks: []Block{t}})
		}
	}
	return out
}

// lastPoint is the newest point of a workload, up to a release, that says how many requests completed; nil where none
// does. The tool that measured it does not matter.
func (r *Report) lastPoint(at int, of schema.System, load schema.Key) *columns.PointRow {
	pair := schema.Pair{Model: of.Model, Device: of.Device}
	for _, release := range slices.Backward(r.with[pair]) {
		if release > at {
			continue
		}
		for _, run := range r.runs[pair][release] {
			h := &r.Columns.Runs[run]
			for n := h.FirstPoint; n < h.PointsEnd && h.System().Impl == of.Impl; n++ {
				p := &r.Columns.Points[n]
				if r.Columns.Keys[p.Key].Workload() == load.Workload() && r.requests(p) > 0 {
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
