package render

import (
	"fmt"
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
		Title: fmt.Sprintf("%s on %s, %s", words.OrUnknown(pair.Model), words.OrUnknown(pair.Device), rel.Name),
		Lead:  Lead{Word: d.Word, Text: words.Capital(d.Detail)},
	}
	if pair.Device == schema.Simulated {
		p.Simulated = "made by the embedded simulator; nothing was measured on a device."
	}
	p.Sections = append(
		p.Sections,
		Section{Title: "Parameters", Intro: "What was run.", Blocks: []Block{r.parameters(runs)}},
	)
	if t := r.resultTable(runs); len(t.Rows) > 0 {
		p.Sections = append(p.Sections, Section{
			Title: "Results",
			Intro: "N counts completed requests. A P99 of fewer than 100 requests is not given. " +
				"TPOT leaves the first token out.",
			Blocks: []Block{t},
		})
	}
	if t := targetTable(verdicts, false); len(t.Rows) > 0 {
		p.Sections = append(p.Sections, Section{Title: "Targets", Intro: noTargetNote(verdicts), Blocks: []Block{t}})
	} else {
		p.add(Section{Title: "Targets", Blocks: []Block{
			Empty{What: "No targets", Why: "Nothing was graded, which is not a pass."},
		}})
	}
	evals := r.evalSection(runs)
	evals.Intro = ""
	p.add(evals)
	if t := r.changeReport(comparedOnly(r.pairChanges(pair, release)), false); len(t.Rows) > 0 {
		p.Sections = append(
			p.Sections,
			Section{Title: "Against history", Intro: r.baselineIntro(release), Blocks: []Block{t}},
		)
	}
	return p
}

// parameters is the table of what was asked for: the one that is printed before a collection, too.
func (r *Report) parameters(runs []int) *Table {
	t := &Table{
		Caption: "Parameters",
		Cols: []Col{
			{Head: "#", Num: true}, {Head: "ISL", Num: true}, {Head: "OSL", Num: true},
			{Head: "Max concurrency", Num: true}, {Head: "Tool"}, {Head: "Dataset"}, {Head: "Run"},
		},
	}
	n := 0
	for _, p := range r.points(runs) {
		k := r.Columns.Keys[p.Key]
		num := func(v *float64) Cell {
			if v == nil {
				return Cell{Text: words.Absent}
			}
			return text(fmt.Sprintf("%.10g", *v))
		}
		n++
		t.row(
			text(fmt.Sprint(n)), num(k.ISL), num(k.OSL), num(k.Concurrency), text(k.Tool),
			text(strings.Trim(otherDims(k), ", ")), text(r.Columns.Runs[p.Run].ID),
		)
	}
	return t
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
