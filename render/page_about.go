package render

import "github.com/ttreport/ttreport/ingest/schema"

// AboutPage is how the numbers were made and what the words mean.
func (r *Report) AboutPage() Page {
	p := Page{
		Path: "about/index.html", Title: "About", Nav: "about", Description: "Method, glossary, licences.",
		Crumbs: []Link{{"Overview", "index.html"}, {"About", ""}},
		Lead:   Lead{Text: "How these pages were made, and what their words mean."},
	}
	for _, topic := range []string{"method", "verdicts"} {
		p.add(Section{ID: "topic-" + topic, Blocks: []Block{Topic(topic)}})
	}
	t := &Table{Caption: "Metrics", Layout: List, Cols: []Col{
		{Head: "Metric"}, {Head: "Name in data"}, {Head: "Unit", Length: Medium}, {Head: "Direction"},
		{Head: "Means"},
	}}
	for _, m := range schema.Metrics() {
		t.row(
			Cell{Text: m.Label, Head: true}, Cell{Text: m.Name, Code: true}, text(m.Unit), text(m.Better.String()),
			Cell{Text: m.Means, Sentence: true},
		)
	}
	var docs Links
	for _, name := range r.Topics {
		docs = append(docs, Link{name, topicPath(name)})
	}
	p.add(Section{ID: "glossary", Title: "Glossary", Blocks: []Block{t}})
	if len(docs) > 0 {
		p.add(Section{ID: "docs", Title: "Documentation", Intro: "The same pages as ttreport help TOPIC prints.",
			Blocks: []Block{docs}})
	}
	p.add(
		Section{
			ID: "licences", Title: "Licences", Blocks: []Block{r.licenceTable(), Prose{"Made by " + r.Version + "."}},
		},
	)
	return p
}

// licenceTable lists what is embedded in the site.
func (r *Report) licenceTable() *Table {
	t := &Table{Caption: "Embedded parts and their licences", Layout: List, Cols: []Col{
		{Head: "Part"}, {Head: "Version"}, {Head: "Licence"},
	}}
	for _, x := range r.Licences {
		t.row(Cell{Text: x.Name, Head: true, Href: x.File}, text(x.Version), text(x.Licence))
	}
	return t
}

func topicPath(name string) Address { return Address("about/" + name + ".html") }

// TopicPage is a page of the documentation.
func (r *Report) TopicPage(name string) Page {
	return Page{
		Path: topicPath(name), Title: name, Nav: "about", Description: "Documentation: " + name,
		Crumbs:   []Link{{"Overview", "index.html"}, {"About", "about/index.html"}, {name, ""}},
		Sections: []Section{{ID: "doc", Blocks: []Block{Topic(name)}}},
	}
}

// NotFoundPage is what a host shows for an address that is not there: a permalink of a build that was never released,
// mostly.
func (r *Report) NotFoundPage() Page {
	return Page{
		Path: "404.html", Title: "Not found", Description: "There is no such page.", Scripts: []string{"moved.js"},
		Lead: Lead{
			Text:  "There is no page here.",
			Paras: []string{"Pages of releases, models and runs keep their addresses for as long as history has them."},
		},
		Sections: []Section{
			{
				ID: "where", Title: "Where to look",
				Blocks: []Block{
					Links{
						{"The newest release", "index.html"}, {"All releases", "index.html#releases"},
						{"All models and devices", "index.html#models"},
					},
				},
			},
		},
	}
}
