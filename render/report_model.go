package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// PairReport is the markdown report of one model and device in one release, with every row.
func (r *Report) PairReport(release int, pair Pair) Page {
	rel := r.Releases[release]
	runs := r.runs[pair.Pair][release]
	verdicts := r.pairVerdicts(pair, release)
	d := words.Decide(r.PairResult(pair, release))
	p := Page{
		Path:  ReportPath(rel.Name, pair.Model, pair.Device),
		Title: fmt.Sprintf("%s on %s, %s", words.OrUnknown(pair.Model), words.Device(pair.Device), rel.Name),
		Lead:  Lead{Word: d.Word, Text: words.Capital(d.Detail)},
	}
	if pair.Device == schema.Simulated {
		p.Simulated = "made by the embedded simulator; nothing was measured on a device."
	}
	p.add(Section{Title: "What was measured", Blocks: []Block{r.measuredTable(runs)}},
		Section{Title: "Parameters", Intro: "What was run, with which tools.", Blocks: []Block{r.parameters(runs)}})
	for i, t := range r.resultTables(runs) {
		s := Section{Title: "Results", Blocks: []Block{t.elsewhere(r.allIn(release, "points"))},
			Intro: "N counts completed requests. TPOT leaves the first token out."}
		if i > 0 {
			s.Title = "Spread of latencies"
		}
		if slices.ContainsFunc(t.Cols, func(c Col) bool { return strings.HasSuffix(c.Head, "P99") }) {
			s.Intro += " A P99 of fewer than 100 requests is not given."
		}
		p.add(s)
	}
	if t := r.targetTable(verdicts, false); len(t.Rows) > 0 {
		p.add(Section{Title: "Targets", Intro: noTargetNote(verdicts),
			Blocks: []Block{t.elsewhere(r.allVerdicts(release))}})
	} else {
		p.add(Section{Title: "Targets", Blocks: []Block{
			Empty{What: "No targets", Why: "Nothing was graded, which is not a pass."},
		}})
	}
	evals := r.evalList(runs)
	evals.Intro = ""
	p.add(evals)
	if t := r.changeReport(comparedOnly(r.pairChanges(pair, release)), false); len(t.Rows) > 0 {
		p.add(Section{Title: "Against history", Intro: r.baselineIntro(release),
			Blocks: []Block{t.elsewhere(r.allVerdicts(release))}})
	}
	return p
}

// parameters is the table of what was asked for: the one that is printed before a collection, too. Tools that measured
// the same share a row.
func (r *Report) parameters(runs []int) *Table {
	t := &Table{
		Caption: "Parameters",
		Cols: []Col{
			{Head: "#", Num: true}, {Head: "ISL", Num: true}, {Head: "OSL", Num: true},
			{Head: "Max concurrency", Num: true}, {Head: "Dataset"}, {Head: "Tools"},
		},
	}
	num := func(v *float64) Cell {
		if v == nil {
			return Cell{Text: words.Absent}
		}
		return text(fmt.Sprintf("%.10g", *v))
	}
	rows := map[string]int{}
	for _, p := range r.points(runs) {
		k := r.Columns.Keys[p.Key]
		tool := k.Tool
		k.Tool = ""
		i, has := rows[k.String()]
		if !has {
			i = len(t.Rows)
			rows[k.String()] = i
			t.row(text(words.Count(i+1)), num(k.ISL), num(k.OSL), num(k.Concurrency), text(otherDims(k)), Cell{})
		}
		cell := &t.Rows[i].Cells[len(t.Cols)-1]
		if !slices.Contains(strings.Split(cell.Text, ", "), tool) {
			cell.Text = strings.TrimPrefix(cell.Text+", "+tool, ", ")
		}
	}
	return t.elsewhere("the results below have all")
}

// PairsOf lists the models on devices that a release has.
func (r *Report) PairsOf(release int) []Pair {
	var out []Pair
	for _, p := range r.Pairs {
		if len(r.runs[p.Pair][release]) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// evalList lists every score of some runs, newest first; a section without blocks when there is none.
func (r *Report) evalList(runs []int) Section {
	t := &Table{
		Caption: "Evals by release, newest first", Layout: List,
		Cols: []Col{
			{Head: "Task"}, {Head: "Metric"}, {Head: "Release", Length: Medium},
			{Head: "Value", Num: true, Sort: true, Length: Short}, {Head: "Standard error", Num: true, Length: Short},
			{Head: "n", Num: true, Length: Short},
		},
	}
	for i := len(runs) - 1; i >= 0; i-- {
		h := &r.Columns.Runs[runs[i]]
		for _, s := range r.Columns.ScoresOf(runs[i]) {
			n := Cell{Text: words.Absent, Missing: "not stated"}
			if s.N > 0 {
				n = text(words.Count(s.N))
			}
			t.row(
				Cell{Text: s.Task, Head: true, Href: RunPath(h.ID)}, Cell{Text: s.Metric, Sub: words.Filter(s.Filter)},
				text(releaseOrStart(h)), number(s.Value), number(s.Stderr), n,
			)
		}
	}
	if len(t.Rows) == 0 {
		return Section{}
	}
	return Section{
		ID: "evals", Title: "Evals", Intro: "Scores in the tool's own scale.",
		Blocks: []Block{t.cut("data/ has all rows, by release")},
	}
}
