package render

import (
	"fmt"

	"github.com/ttreport/ttreport/render/words"
)

// RunsPage shows any run: which one, the address says after its #. Without script it says where the same numbers are.
func (r *Report) RunsPage() Page {
	t := &Table{
		Caption: "Runs by release, newest first", Layout: List,
		Cols: []Col{
			{Head: "Release"}, {Head: "Runs", Num: true, Length: Short}, {Head: "Date", Length: Medium},
			{Head: "Every number"}, {Head: "Report"},
		},
	}
	for i := len(r.Releases) - 1; i >= 0; i-- {
		rel, numbers := &r.Releases[i], r.dataLink(i, "points")
		t.row(
			Cell{Text: rel.Name, Head: true, Href: ReleasePath(rel.Name) + "#runs"}, text(words.Count(len(rel.Runs))),
			text(day(rel.Date)), Cell{Text: numbers.Text, Href: numbers.Href},
			Cell{Text: "markdown", Href: ReleaseReportPath(rel.Name)},
		)
	}
	const lead = "Which run?"
	p := Page{
		Path: RunsPath, Title: "Runs", Nav: "releases", Description: "Every run with its sources, commands and hashes.",
		Crumbs: []Link{{"Overview", "index.html"}, {"Runs", ""}}, Simulated: r.simulated(-1),
		Lead: Lead{Text: lead, Paras: []string{"Every number of a release leads to its run, with the commands and the " +
			"hashes of the raw files. One run is shown by script; without it, the files below have the same numbers."}},
		Scripts: []string{"run.js"},
	}
	p.add(Section{ID: "run", Blocks: []Block{Widget{Tool: "run", Data: RunIndexPath}}})
	if len(t.Rows) > 0 {
		p.add(Section{
			ID: "releases", Title: "Runs by release", Intro: fmt.Sprintf("%s in %s.",
				words.Plural(len(r.Columns.Runs), "run"), words.Plural(len(r.Releases), "release")),
			Blocks: []Block{t.cut("data/index.json has all")},
		})
	}
	return p
}
