package render

import (
	"fmt"
	"sort"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// ProblemsPage lists everything that could not be read, understood or trusted.
func (r *Report) ProblemsPage() Page {
	all := append([]schema.Problem(nil), r.Problems...)
	for _, p := range r.Columns.Problems {
		all = append(all, p.Problem)
	}
	errors := 0
	for _, p := range all {
		if p.Severity == schema.SevError {
			errors++
		}
	}
	p := Page{
		Path: "problems/index.html", Title: "Problems", Nav: "problems",
		Description: "What could not be read or trusted.",
		Crumbs:      []Link{{"Overview", "index.html"}, {"Problems", ""}},
	}
	if len(all) == 0 {
		p.Lead = Lead{Tone: words.ToneGood, Text: "No error and no warning was met. Notes are on the pages of their runs."}
		p.Sections = []Section{
			{
				ID: "none", Title: "Problems",
				Blocks: []Block{Empty{What: "Nothing here", Why: "Every file was read, and no number was refused."}},
			},
		}
		return p
	}
	p.Lead = Lead{
		Tone: words.ToneWarning,
		Text: fmt.Sprintf(
			"%s: %s and %s.", words.Plural(len(all), "problem"), words.Plural(errors, "error"),
			words.Plural(len(all)-errors, "warning"),
		),
	}
	p.Sections = []Section{
		{
			ID: "all", Title: "All problems", Intro: "Errors first. Notes are on the pages of their runs.",
			Blocks: []Block{problemTable(all).cut("the history documents have all")},
		},
	}
	return p
}

func problemTable(list []schema.Problem) *Table {
	rank := map[schema.Severity]int{schema.SevError: 0, schema.SevWarning: 1, schema.SevNote: 2}
	list = append([]schema.Problem(nil), list...)
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if rank[a.Severity] != rank[b.Severity] {
			return rank[a.Severity] < rank[b.Severity]
		}
		return a.Path < b.Path
	})
	t := &Table{
		Caption: "Problems, errors first", Layout: List,
		Cols: []Col{
			{Head: "Where"}, {Head: "Severity", Length: Medium}, {Head: "Found"}, {Head: "Expected"}, {Head: "Used"},
			{Head: "Hint"},
		},
	}
	for _, p := range list {
		t.row(
			Cell{Text: p.Where(), Head: true, Code: true}, text(string(p.Severity)), Cell{Text: p.Found, Sentence: true},
			Cell{Text: p.Expected, Sentence: true}, Cell{Text: p.Used, Sentence: true},
			Cell{Text: p.Hint, Sentence: true},
		)
	}
	return t
}
