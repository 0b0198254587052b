package render

import (
	"fmt"
	"sort"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
)

type scoreRow = columns.ScoreRow

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
	p := Page{Path: "problems/index.html", Title: "Problems", Nav: "problems", Description: "What could not be read or trusted.", Crumbs: []Link{{"Overview", "index.html"}, {"Problems", ""}}}
	if len(all) == 0 {
		p.Lead = Lead{Tone: words.ToneGood, Text: "No problem was met."}
		p.Sections = []Section{{ID: "none", Title: "Problems", Blocks: []Block{{Empty: &Empty{What: "Nothing here", Why: "Every file was read and every number was believed."}}}}}
		return p
	}
	p.Lead = Lead{Tone: words.ToneWarning, Text: fmt.Sprintf("%s: %s and %s.", words.Plural(len(all), "problem"), words.Plural(errors, "error"), words.Plural(len(all)-errors, "warning"))}
	p.Sections = []Section{{ID: "all", Title: "All problems", Intro: "Errors first. Notes are on the pages of their runs.", Blocks: []Block{{Table: problemTable(all).cut("the history documents have all")}}}}
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
	t := &Table{Caption: "Problems, errors first", Class: "flow", Cols: []Col{{Head: "Where"}, {Head: "Severity", Narrow: "half"}, {Head: "Found"}, {Head: "Expected"}, {Head: "Used"}, {Head: "Hint"}}}
	for _, p := range list {
		t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: p.Where(), Head: true, Mono: true}, text(string(p.Severity)), {Text: p.Found, Wide: true}, {Text: p.Expected, Wide: true}, {Text: p.Used, Wide: true}, {Text: p.Hint, Wide: true}}})
	}
	return t
}

// AboutPage says how the numbers were made and what the words mean.
func (r *Report) AboutPage() Page {
	p := Page{Path: "about/index.html", Title: "About", Nav: "about", Description: "Method, glossary, licences.", Crumbs: []Link{{"Overview", "index.html"}, {"About", ""}},
		Lead: Lead{Text: "How these pages were made, and what their words mean."}}
	for _, topic := range []string{"method", "verdicts"} {
		p.Sections = append(p.Sections, Section{ID: "topic-" + topic, Blocks: []Block{{Topic: topic}}})
	}
	t := &Table{Caption: "Metrics", Class: "flow", Cols: []Col{{Head: "Metric"}, {Head: "Name in data"}, {Head: "Unit", Narrow: "half"}, {Head: "Direction"}, {Head: "Means"}}}
	for _, m := range schema.Metrics() {
		t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: m.Label, Head: true}, {Text: m.Name, Mono: true}, text(m.Unit), text(m.Better.String()), {Text: m.Means, Wide: true}}})
	}
	p.Sections = append(p.Sections, Section{ID: "glossary", Title: "Glossary", Blocks: []Block{{Table: t}}})
	var docs []Link
	for _, name := range r.Topics {
		docs = append(docs, Link{name, "about/" + name + ".html"})
	}
	p.Sections = append(p.Sections, Section{ID: "docs", Title: "Documentation", Intro: "The same pages as ttreport help TOPIC prints.", Blocks: []Block{{Links: docs}}})
	l := &Table{Caption: "Embedded parts and their licences", Class: "flow", Cols: []Col{{Head: "Part"}, {Head: "Version"}, {Head: "Licence"}}}
	for _, x := range r.Licences {
		l.Rows = append(l.Rows, Row{Cells: []Cell{{Text: x.Name, Head: true, Href: x.File}, text(x.Version), text(x.Licence)}})
	}
	p.Sections = append(p.Sections, Section{ID: "licences", Title: "Licences", Blocks: []Block{{Table: l}, {Prose: []string{"Made by " + r.Version + "."}}}})
	return p
}

// TopicPage is a page of the documentation.
func (r *Report) TopicPage(name string) Page {
	return Page{Path: "about/" + name + ".html", Title: name, Nav: "about", Description: "Documentation: " + name, Crumbs: []Link{{"Overview", "index.html"}, {"About", "about/index.html"}, {name, ""}},
		Sections: []Section{{ID: "doc", Blocks: []Block{{Topic: name}}}}}
}

// NotFoundPage is what a host shows for an address that is not there: a permalink of a build that was never released, mostly.
func (r *Report) NotFoundPage() Page {
	return Page{Path: "404.html", Title: "Not found", Description: "There is no such page.", Lead: Lead{Text: "There is no page here.", Paras: []string{"Pages of releases, models and runs keep their addresses for as long as history has them."}},
		Sections: []Section{{ID: "where", Title: "Where to look", Blocks: []Block{{Links: []Link{{"The newest release", "index.html"}, {"All releases", "index.html#releases"}, {"All models and devices", "index.html#models"}}}}}}}
}
