package render

import (
	"slices"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
)

// AboutPage is how the numbers were made and what the words mean.
func (r *Report) AboutPage() Page {
	p := Page{
		Path: "about/index.html", Title: "About", Nav: "about", Description: "Method, glossary, licences.",
		Crumbs: []Link{{"Overview", "index.html"}, {"About", ""}},
		Lead:   Lead{Text: "How these pages were made, and what their words mean."},
	}
	p.add(r.startSection(), pictureSection())
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
		docs = append(docs, Link{r.topicTitle(name), topicPath(name)})
	}
	slices.SortFunc(docs, func(a, b Link) int { return strings.Compare(a.Text, b.Text) })
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

// startSection leads people to the page for their question.
func (r *Report) startSection() Section {
	t := &Table{Caption: "Where to start", Layout: List, Cols: []Col{{Head: "Question"}, {Head: "Read"}}}
	for _, x := range []struct{ question, topic string }{
		{"How do I measure a model on a device?", "bring-up"},
		{"May this release ship?", "release-manager"},
		{"When did it get slower, by how much, and is that sure?", "reviewer"},
		{"What do the words regressed, inconclusive and unchanged mean?", "verdicts"},
		{"How are noise and intervals computed?", "method"},
		{"What is on these pages, and what do their addresses hold?", "site"},
	} {
		if slices.Contains(r.Topics, x.topic) {
			t.row(Cell{Text: x.question, Head: true}, Cell{Text: r.topicTitle(x.topic), Href: topicPath(x.topic)})
		}
	}
	if len(t.Rows) == 0 {
		return Section{}
	}
	return Section{ID: "start", Title: "Where to start", Blocks: []Block{t}}
}

// pictureSection shows each small picture of the pages with what it means. The numbers are made up.
func pictureSection() Section {
	t := &Table{Caption: "Pictures and what they mean", Layout: List, Cols: []Col{
		{Head: "Picture", Length: Medium}, {Head: "Means"},
	}}
	values := []float64{100, 101, 99.5, 100.4, 108, 107.5}
	quantiles := make([]float64, 33)
	for i := range quantiles {
		quantiles[i] = 60 + float64(i) + float64(i*i*i)/600
	}
	t.row(Cell{Spark: &Spark{"Example of a history", values}}, Cell{Sentence: true,
		Text: "History: a value a release, oldest first. Its height is never less than a fifth of the values."})
	levels := []BulletTick{{40, true}, {70, true}, {100, false}}
	t.row(Cell{Bullet: &Bullet{Label: "Example of a value among levels", Measured: 80, Ticks: levels}}, Cell{
		Sentence: true, Text: "A value among the levels of its targets: the dot is the value, a tick a level, " +
			"dashed where it is required. Further right is better."})
	strip := &Strip{Label: "Example of a distribution", Quantiles: quantiles, Low: 55, High: 160}
	t.row(Cell{Strip: strip}, Cell{Sentence: true,
		Text: "Distribution over requests: box over the middle half, line at the median, dot at the slowest."})
	t.row(Cell{Bar: decisionBar(gate.Basis{Compared: 9, Regressed: 1, Inconclusive: 2, Improved: 1, Unchanged: 5})},
		Cell{Sentence: true, Text: barMeans})
	t.row(Cell{Whisker: &Interval{Label: "Example of an interval", Effect: 1.6, Low: 1.1, High: 2.2}}, Cell{Sentence: true,
		Text: "A change with its 95 % interval: the dot is the change, right is worse. Shaded: less than what matters."})
	for _, x := range []struct {
		outcome  schema.Outcome
		evidence schema.Evidence
		means    string
	}{
		{schema.Regressed, schema.Confirmed, "Worse, and seen again: solid."},
		{schema.Regressed, schema.Suspected, "Worse in one run; another one must confirm it: outlined."},
		{schema.Improved, schema.Confirmed, "Better, and seen again. Blue says improved and nothing else."},
		{schema.Unchanged, "", "The whole interval lies within what matters."},
		{schema.Inconclusive, "", "The interval is too wide to say."},
		{schema.NotMeasured, "", "Required, planned or tried, and without a number. Absent is not zero."},
	} {
		t.row(Cell{Outcome: x.outcome, Evidence: x.evidence}, Cell{Text: x.means, Sentence: true})
	}
	return Section{ID: "pictures", Title: "How to read the pictures", Blocks: []Block{t}}
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
	title := r.topicTitle(name)
	return Page{
		Path: topicPath(name), Title: title, Nav: "about", Description: "Documentation: " + title,
		Crumbs:   []Link{{"Overview", "index.html"}, {"About", "about/index.html"}, {title, ""}},
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
						{"The newest release", "index.html"}, {"All releases", ReleasesPath},
						{"All models and devices", "index.html#models"},
					},
				},
			},
		},
	}
}

// NotesPage has all notes of people, newest release first; those on releases that nobody measured last.
func (r *Report) NotesPage() Page {
	p := Page{
		Path: "notes/index.html", Title: "Notes", Nav: "notes", Description: "What people wrote about releases.",
		Crumbs: []Link{{"Overview", "index.html"}, {"Notes", ""}},
		Lead:   Lead{Text: "What people wrote about releases."}, Simulated: r.simulated(-1),
	}
	known := map[string]bool{}
	add := func(name string, href Address) {
		if notes := r.NotesOf(name); len(notes) > 0 && !known[name] {
			s := Section{ID: "note-" + schema.Slug(name), Title: name, Blocks: []Block{Notes(notes)}}
			if href != "" {
				s.End = &Link{"the release", href}
			}
			p.Sections = append(p.Sections, s)
		}
		known[name] = true
	}
	for at := len(r.Releases) - 1; at >= 0; at-- {
		add(r.Releases[at].Name, ReleasePath(r.Releases[at].Name))
	}
	for _, n := range r.Notes {
		add(n.Release, "")
	}
	if len(p.Sections) == 0 {
		p.Sections = []Section{
			{
				ID: "none", Title: "Notes",
				Blocks: []Block{
					Empty{
						What: "No notes",
						Why:  "Markdown files in notes/, named after a release, are shown here and on the page of the release.",
					},
				},
			},
		}
	}
	return p
}

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
