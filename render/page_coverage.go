package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
)

// CoveragePath is the page of what was measured by workload.
const CoveragePath Address = "coverage/index.html"

// filterScript lets a reader filter tables.
const filterScript = "filter.js"

// CoveragePage answers: what do we not know, and since when?
func (r *Report) CoveragePage() Page {
	p := r.page(CoveragePath, "coverage", "Coverage", "What was measured, by workload, and what was not.")
	p.Lead = Lead{Text: "Nothing has been measured."}
	at := r.Newest()
	if at < 0 {
		p.add(section("map", "By workload", "", Empty{What: "Nothing to show",
			Why: "The history folder holds no run.", Cmd: "ttreport build PATH"}))
		return p
	}
	review := r.Gate.Review(at, "", "")
	cover := r.Gate.Coverage(&review)
	p.Eyebrow = fmt.Sprintf("Newest: %s, %s.", r.Releases[at].Name, day(r.Releases[at].Date))
	p.Lead = Lead{Tone: words.ToneGood, Mark: schema.Pass, Word: "All measured", Text: fmt.Sprintf(
		"%s of %s have a number in %s.", words.Count(cover.Measured),
		words.Plural(cover.Measured+len(cover.Gaps), "expected point"), r.Releases[at].Name)}
	if o := cover.Oldest(); o != nil {
		p.Lead.Tone, p.Lead.Mark, p.Lead.Word = words.ToneWarning, schema.NotMeasured, gapsText(&cover)
		if o.Last != "" {
			p.Lead.Paras = []string{fmt.Sprintf("The oldest gap: %s was last measured in %s.",
				words.OnDevice(o.Model, o.Device), o.Last)}
		}
	}
	p.Scripts = []string{filterScript}
	rows := r.coverages(&review, &cover)
	t := tableOf("Coverage by workload, gaps first", List, rows, []Column[coverage]{
		{col("Workload").in("ISL/OSL, tool").filtered(), func(x coverage) Cell { return Cell{Text: x.workload, Head: true} }},
		{medium("Model").filtered(), func(x coverage) Cell {
			return Cell{Text: words.OrUnknown(x.Model), Sub: x.Impl, Href: PairPath(x.Model, x.Device)}
		}},
		{medium("Device").filtered(), func(x coverage) Cell { return text(words.OrUnknown(x.Device)) }},
		{num("Expected").in("points"), func(x coverage) Cell { return count(x.measured + len(x.gaps)) }},
		{num("Measured").in("points"), func(x coverage) Cell { return count(x.measured) }},
		{medium("Last seen"), func(x coverage) Cell {
			switch {
			case len(x.gaps) == 0:
				return text(review.Release)
			case x.gaps[0].Last == "":
				return Cell{Text: "never", Missing: "planned or required, and never measured"}
			}
			return Cell{Text: x.gaps[0].Last, Href: ReleasePath(x.gaps[0].Last),
				Sub: words.Plural(x.gaps[0].Releases, "release") + " without"}
		}},
		{medium("Why not").filtered(), coverage.why},
		{col("Command"), func(x coverage) Cell { return r.measureCell(&review, x) }},
	})
	t.dropEmpty(6).filtered(allInJSON) // nothing is missing: neither reasons nor commands
	s := section("map", "By workload", "One row per workload: all its loads, of one model and device. Expected: measured "+
		"before, planned, or required by a target. Last seen: the newest release with a number of what is missing."+
		r.hiddenNote())
	if line, cost := r.missingLine(&review, &cover); line != "" && len(cover.Gaps) > 0 {
		s.Blocks = append(s.Blocks, Prose{"Measure all that has no number: " + cost + "."}, Commands{line})
	}
	s.Blocks = append(s.Blocks, t)
	p.add(s)
	return p
}

// coverage is a model and device with lengths of prompts and answers under all loads that were measured or expected, or
// with a task.
type coverage struct {
	schema.System
	workload string
	measured int
	gaps     []gate.Gap
}

// coverages are what a release has and lacks by workload; of those with gaps, what was open for longest first.
func (r *Report) coverages(g *gate.Review, cover *gate.Coverage) []coverage {
	type id struct {
		of       schema.System
		workload string
	}
	var by groups[id, coverage]
	at := func(of schema.System, k schema.Key) *coverage {
		w := words.Workload(k)
		if !k.IsEval() {
			lengths, parallel := split(k)
			w = listed(" · ", planeWorkload(lengths), parallel, k.Tool)
		}
		x, _ := by.of(id{of, w})
		x.System, x.workload = of, w
		return x
	}
	type point struct {
		of  schema.System
		key string
	}
	seen := map[point]bool{}
	for i := range g.History {
		v := &g.History[i]
		of := point{v.System(), v.Key.String()}
		if _, has := v.Value.Get(); has && !seen[of] {
			seen[of] = true
			at(of.of, v.Key).measured++
		}
	}
	for _, x := range cover.Gaps {
		row := at(x.System, x.Key)
		row.gaps = append(row.gaps, x)
	}
	by.list = slices.DeleteFunc(by.list, func(x coverage) bool {
		return r.Models.hides(x.Model) || r.Devices.hides(x.Device)
	})
	open := func(x coverage) (n int) {
		for _, g := range x.gaps {
			n = max(n, g.Releases)
		}
		return n
	}
	for _, x := range by.list {
		slices.SortStableFunc(x.gaps, func(a, b gate.Gap) int { return b.Releases - a.Releases })
	}
	slices.SortStableFunc(by.list, func(a, b coverage) int {
		return cmp.Or(open(b)-open(a), len(b.gaps)-len(a.gaps), r.compareDevices(a.Device, b.Device),
			schema.NaturalCompare(a.Model, b.Model), schema.NaturalCompare(a.workload, b.workload))
	})
	return by.list
}

// why says what is missing of a workload, under which loads, and the reason of what has been missing for longest.
func (x coverage) why() Cell {
	if len(x.gaps) == 0 {
		return text("")
	}
	c, loads := Cell{Outcome: schema.NotMeasured}, []string{}
	if x.gaps[0].Again {
		c.Text = words.NotMeasuredAgain
	} else {
		c.Sub = words.Why(schema.Verdict{Reason: x.gaps[0].Reason})
	}
	for i := range x.gaps {
		if l := load(x.gaps[i].Key); l != "" {
			loads = append(loads, l)
		}
	}
	if x.measured > 0 && len(loads) > 0 {
		c.Sub = strings.TrimSpace(loadText(strings.Join(loads, ", ")) + ". " + c.Sub)
	}
	return c
}

// measureCell is the command that measures what a workload lacks: of collect, or of llama.cpp's own tool.
func (r *Report) measureCell(g *gate.Review, x coverage) Cell {
	if len(x.gaps) == 0 {
		return text("")
	}
	var loads []schema.Key
	for i := range x.gaps {
		if x.gaps[i].Loadable() {
			loads = append(loads, x.gaps[i].Key)
		}
	}
	if len(loads) > 0 && g.Label != "" {
		argv := append(r.collectAgain(x.System, r.serverFlag(g, x.System)), "--release", g.Label, "--only", "benchmarks")
		return code(shellescape.QuoteCommand(r.withLoads(argv, g.Release, x.System, loads)))
	}
	if line := llamaBench(x.gaps[0].Key, r.modelID(x.System), g.Release); line != "" && len(x.gaps) == 1 {
		return code(line)
	}
	return missing("collect does not make this load: measure it again with its own tool")
}

// modelID is the id of the model of a system, as its newest run that has one states it; "" for none.
func (r *Report) modelID(of schema.System) string {
	pair := schema.Pair{Model: of.Model, Device: of.Device}
	for _, release := range slices.Backward(r.with[pair]) {
		for _, run := range slices.Backward(r.runs[pair][release]) {
			if id := r.Columns.Runs[run].Model.ID; id != "" {
				return id
			}
		}
	}
	return ""
}

// llamaBench is the command of llama-bench that measures a workload of it again, into a file of results/; "" for
// another tool, and where something of the workload is not a setting of it. A model has the id that its file names;
// without one, or with a space in it, which is a type, people have to say which file it is.
func llamaBench(k schema.Key, model, release string) string {
	if k.Tool != "llama-bench" || k.ISL == nil || k.OSL == nil {
		return ""
	}
	argv := []string{"llama-bench", "-p", whole(*k.ISL), "-n", whole(*k.OSL)}
	if *k.ISL > 0 && *k.OSL > 0 { // one batch of both
		argv = []string{"llama-bench", "-p", "0", "-n", "0", "-pg", whole(*k.ISL) + "," + whole(*k.OSL)}
	}
	set := 0
	for _, s := range schema.LlamaBenchSettings() {
		if value := k.Dims[s.Dim()]; value != "" {
			if set++; s.Flag != "" {
				argv = append(argv, s.Flag, cmp.Or(map[string]string{"true": "1", "false": "0"}[value], value))
			}
		}
	}
	if len(k.Dims) > set+truth(k.Dims["phase"] != "") {
		return ""
	}
	file := "'….gguf'"
	if model != "" && !strings.Contains(model, " ") {
		file = shellescape.Quote(model + ".gguf")
	}
	return fmt.Sprintf("%s -m %s -o json > results/%s.json", shellescape.QuoteCommand(argv), file,
		schema.Slug("llama-bench "+release+" "+k.Workload()))
}
