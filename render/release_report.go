package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// ReleaseReport is what a pull request for a release shows: the decision on each model and device with how much of it
// was graded and what moved, measured numbers beside their targets, what regressed, and which targets changed.
func (r *Report) ReleaseReport(at int, g gate.Review) Page {
	gated := r.GatePage(g, false)
	p := Page{Title: gated.Title, Lead: gated.Lead, Simulated: r.simulated(at)}
	const history = "Against history, worst first"
	for _, s := range gated.Sections {
		if s.Title == "" { // the card of the decision
			p.add(s)
		}
	}
	p.add(Section{Title: "Models and devices", Intro: r.statusIntro(at), Blocks: blocksOf(r.statusTable(at, &g))})
	if t := measuredBesideTargets(g.Targets); len(t.Rows) > 0 {
		p.add(Section{Title: "Measured and target", Intro: words.Grading(gate.GradingOf(g.Targets)),
			Blocks: []Block{t.elsewhere(r.allVerdicts(at))}})
	}
	for _, s := range gated.Sections {
		if s.Title == history {
			p.add(s)
		}
	}
	if list, since := r.Gate.TargetChanges(at); len(list) > 0 {
		p.add(targetChangeSection(list, since))
	}
	for _, s := range gated.Sections {
		switch s.Title {
		case "", "Models and devices", "Targets", history: // they are above, some with more
		default:
			p.add(s)
		}
	}
	return p
}

// blocksOf is a table as blocks, none when it has no rows.
func blocksOf(t *Table) []Block {
	if len(t.Rows) == 0 {
		return nil
	}
	return []Block{t}
}

// before is the release of a model and device that this one is compared with, -1 for none.
func (r *Report) before(at int, pair schema.Pair) int {
	newest := r.Gate.Before(at)
	out := -1
	for _, ri := range r.with[pair] {
		if ri <= newest && ri < at && judge.IsBaseline(r.Releases[ri].Channel) {
			out = ri
		}
	}
	return out
}

func (r *Report) statusIntro(at int) string {
	if b := r.Gate.Before(at); b >= 0 {
		return "An arrow shows what moved since the release before, " + r.nameOf(b) + " where it has the model and device."
	}
	return ""
}

// statusTable is a row for each model and device: the decision, the declared status and the level of targets that was
// reached, each with what it was before.
func (r *Report) statusTable(at int, g *gate.Review) *Table {
	t := &Table{Caption: "Models and devices", Layout: List, Cols: []Col{
		{Head: "Model and device"}, {Head: "Decision"}, {Head: "Declared status"}, {Head: "Level reached"},
		{Head: "Graded"}, {Head: "Regressed", Unit: "points", Num: true}, {Head: "Why"},
	}}
	for _, x := range g.Pairs {
		d := words.Decide(x.Result)
		name := Cell{Text: words.OnDevice(x.Model, x.Device), Head: true, Href: PairPath(x.Model, x.Device)}
		why := Cell{Text: words.Capital(d.Detail), Sentence: true}
		if len(r.runs[x.Pair][at]) == 0 {
			t.row(name, text(d.Word), text(words.Absent), text(words.Absent), text(words.Absent), text(words.Absent), why)
			continue
		}
		moved := func(of func(release int) string) Cell {
			now := cmp.Or(of(at), words.Absent)
			if b := r.before(at, x.Pair); b >= 0 {
				if was := cmp.Or(of(b), words.Absent); was != now {
					return Cell{Text: was + " → " + now, Strong: true}
				}
			}
			return text(now)
		}
		t.row(name,
			moved(func(i int) string { return words.Decide(r.Gate.PairResult(i, x.Pair)).Word }),
			moved(func(i int) string { return r.declared(i, x.Pair) }),
			moved(func(i int) string { return r.Gate.PairResult(i, x.Pair).Level }),
			text(graded(r.Gate.PairGrading(at, x.Pair))), text(words.Count(regressed(x.Result))), why)
	}
	return t.elsewhere("data/index.json has all")
}

// regressed counts the points that regressed, whatever the evidence.
func regressed(x gate.Result) int {
	n := 0
	for _, c := range x.Counts {
		switch c.Kind {
		case gate.FailConfirmed, gate.FailRunWide, gate.FailSuspected:
			n += c.N
		}
	}
	return n
}

// graded is how many workloads have a target that was graded, of those that were measured.
func graded(c gate.Grading) string { return words.Of(c.Graded, c.Workloads) }

// declared is the status that the runs of a model and device in a release declare.
func (r *Report) declared(release int, pair schema.Pair) string {
	out := ""
	for _, i := range r.runs[pair][release] {
		out = cmp.Or(r.Columns.Runs[i].Model.Status, out)
	}
	return out
}

// besideKey is what the levels of a target have in common: a row of the table.
type besideKey struct {
	pair              schema.Pair
	key, metric, stat string
}

// measuredBesideTargets has a row for each number with targets: what was measured, and the target of each level with
// its sign. What nobody measured is there too.
func measuredBesideTargets(list []schema.Verdict) *Table {
	t := &Table{Caption: "Measured and target", Layout: List, Cols: []Col{
		{Head: "Model and device"}, {Head: "Workload", Unit: "ISL/OSL/concurrency"}, {Head: "Metric"},
		{Head: "Measured", Num: true},
	}}
	levels := append(schema.Levels(), schema.LevelReference)
	at := map[besideKey]int{}
	for i := range list {
		v := &list[i]
		if v.Metric == "" || v.Outcome == schema.NoTarget || !slices.Contains(levels, v.Level) {
			continue
		}
		id := besideKey{v.Pair(), v.Key.String(), v.Metric, v.Stat}
		if _, has := at[id]; !has {
			at[id] = len(t.Rows)
			cells := []Cell{
				{Text: words.OnDevice(v.Model, v.Device), Head: true, Href: PairPath(v.Model, v.Device)},
				{Text: words.Workload(v.Key), Sub: v.Key.Tool}, {Text: words.Metric(v.Metric, v.Stat), Sub: direction(v.Metric)},
				number(v.Value),
			}
			t.Rows = append(t.Rows, Row{Cells: append(cells, make([]Cell, len(levels))...)})
		}
		cell := number(v.Ref)
		cell.Outcome = v.Outcome
		if !v.Required {
			cell.Sub = "informational"
		}
		t.Rows[at[id]].Cells[4+slices.Index(levels, v.Level)] = cell
	}
	for _, level := range levels {
		t.Cols = append(t.Cols, Col{Head: words.Capital(level), Num: true})
	}
	for i := len(t.Cols) - 1; i > 3; i-- {
		if !slices.ContainsFunc(t.Rows, func(row Row) bool { return strings.TrimSpace(row.Cells[i].Text) != "" }) {
			t.dropColumn(i)
		}
	}
	return t
}
