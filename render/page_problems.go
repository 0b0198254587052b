package render

import (
	"slices"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// ProblemsPage lists everything that could not be read, understood or trusted.
func (r *Report) ProblemsPage() Page {
	all := r.allProblems()
	p := Page{
		Path: "problems/index.html", Title: "Problems", Nav: "problems",
		Description: "What could not be read or trusted.",
		Crumbs:      []Link{{"Overview", "index.html"}, {"Problems", ""}},
	}
	p.Lead = Lead{Tone: words.ToneWarning, Text: severities(all) + "."}
	if graver(all) == 0 {
		p.Lead = Lead{Tone: words.ToneGood, Text: "No error and no warning."}
	}
	if len(all) == 0 {
		p.Sections = []Section{{ID: "none", Title: "Problems", Blocks: []Block{Empty{What: "Nothing here",
			Why: "Notes are on the pages of their runs. What each file is, also one that is no result, is listed by:",
			Cmd: "ttreport inspect PATH"}}}}
		return p
	}
	p.Sections = []Section{
		{
			ID: "all", Title: "All problems", Intro: "Errors first. Notes are on the pages of their runs.",
			Blocks: []Block{problemTable(all).cut("the history documents have all")},
		},
	}
	return p
}

// allProblems are those of files that made no run, and those of runs.
func (r *Report) allProblems() []schema.Problem {
	all := slices.Clone(r.Problems)
	for _, p := range r.Columns.Problems {
		all = append(all, p.Problem)
	}
	return all
}

// graver is how many problems are errors or warnings: a note is none.
func graver(list []schema.Problem) int {
	return len(list) - schema.CountSeverity(list, schema.SevNote)
}

// severities counts problems by their severity: "2 errors and 1 warning".
func severities(list []schema.Problem) string {
	var parts []string
	for _, sev := range schema.Severities() {
		if n := schema.CountSeverity(list, sev); n > 0 {
			parts = append(parts, words.Plural(n, string(sev)))
		}
	}
	return strings.Join(parts, ", ")
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
