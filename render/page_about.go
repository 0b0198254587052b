package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// AboutPage is how the numbers were made and what the words mean.
func (r *Report) AboutPage() Page {
	p := r.page("about/index.html", "about", "About", "Method, glossary, licences.")
	p.Lead, p.Simulated = Lead{Text: "How these pages were made, and what their words mean."}, ""
	var docs Links
	for _, name := range r.Topics {
		docs = append(docs, Link{r.topicTitle(name), topicPath(name)})
	}
	slices.SortFunc(docs, func(a, b Link) int { return strings.Compare(a.Text, b.Text) })
	type question struct{ asked, topic string }
	questions := slices.DeleteFunc([]question{
		{"How do I measure a model on a device?", "bring-up"},
		{"May this release ship?", "release-manager"},
		{"When did it get slower, by how much, and is that sure?", "reviewer"},
		{"What do the words regressed, inconclusive and unchanged mean?", "verdicts"},
		{"How are noise and intervals computed?", "method"},
		{"What is on these pages, and what do their addresses hold?", "site"},
	}, func(x question) bool { return !slices.Contains(r.Topics, x.topic) })
	p.add(section("start", "Where to start", "", tableOf("Where to start", List, questions, []Column[question]{
		{col("Question"), func(x question) Cell { return head(x.asked, "") }},
		{col("Read"), func(x question) Cell { return Cell{Text: r.topicTitle(x.topic), Href: topicPath(x.topic)} }},
	})), pictureSection(), section("glossary", "Glossary", "",
		tableOf("Metrics", List, schema.Metrics(), []Column[schema.MetricInfo]{
			{col("Metric"), func(m schema.MetricInfo) Cell { return head(m.Label, "") }},
			{col("Name in data"), func(m schema.MetricInfo) Cell { return code(m.Name) }},
			{medium("Unit"), func(m schema.MetricInfo) Cell { return text(m.Unit) }},
			{col("Direction"), func(m schema.MetricInfo) Cell { return text(m.Better.String()) }},
			{col("Means"), func(m schema.MetricInfo) Cell { return sentence(m.Means) }},
		})))
	if len(docs) > 0 {
		p.add(section("docs", "Documentation", "The same pages as ttreport help TOPIC prints.", docs))
	}
	licences := tableOf("Embedded parts and their licences", List, r.Licences, []Column[Licence]{
		{col("Part"), func(x Licence) Cell { return head(x.Name, x.File) }},
		{col("Version"), func(x Licence) Cell { return text(x.Version) }},
		{col("Licence"), func(x Licence) Cell { return text(x.Licence) }},
	})
	p.add(Section{ID: "licences", Title: "Licences", Blocks: []Block{licences, Prose{"Made by " + r.Version + "."}}})
	return p
}

// pictureSection shows each small picture of the pages with what it means. The numbers are made up.
func pictureSection() Section {
	values := []float64{100, 101, 99.5, 100.4, 108, 107.5}
	quantiles := make([]float64, 33)
	for i := range quantiles {
		quantiles[i] = 60 + float64(i) + float64(i*i*i)/600
	}
	levels := []BulletTick{{40, true}, {70, true}, {100, false}}
	t := &Table{Caption: "Pictures and what they mean", Layout: List, Cols: []Col{medium("Picture"), col("Means")}}
	t.row(Cell{Spark: &Spark{"Example of a history", values}},
		sentence("History: a value a release, oldest first. Its height is never less than a fifth of the values."))
	t.row(Cell{Bullet: &Bullet{Label: "Example of a value among levels", Measured: 80, Ticks: levels}},
		sentence("A value among the levels of its targets: the dot is the value, a tick a level, "+
			"dashed where it is required. Further right is better."))
	t.row(Cell{Strip: &Strip{Label: "Example of a distribution", Quantiles: quantiles, Low: 55, High: 160}},
		sentence("Distribution over requests: box over the middle half, line at the median, dot at the slowest."))
	t.row(Cell{Whisker: &Interval{Label: "Example of an interval", Effect: 1.6, Low: 1.1, High: 2.2}},
		sentence("A change with its 95 % interval: the dot is the change, right is worse. Shaded: within the limit."))
	for _, x := range []struct {
		outcome  schema.Outcome
		evidence schema.Evidence
		means    string
	}{
		{schema.Regressed, schema.Confirmed, "Worse, and seen again: solid."},
		{schema.Regressed, schema.Suspected, "Worse in one run; another one must confirm it: outlined."},
		{schema.Improved, schema.Confirmed, "Better, and seen again. Blue says improved and nothing else."},
		{schema.Unchanged, schema.NoEvidence, "The whole interval lies within what matters."},
		{schema.Inconclusive, schema.NoEvidence, "The interval is too wide to say."},
		{schema.NotMeasured, schema.NoEvidence, "Required, planned or tried, and without a number. Absent is not zero."},
	} {
		t.row(Cell{Outcome: x.outcome, Evidence: x.evidence}, sentence(x.means))
	}
	return section("pictures", "How to read the pictures", "", t)
}

func topicPath(name string) Address { return Address("about/" + name + ".html") }

// TopicPage is a page of the documentation.
func (r *Report) TopicPage(name string) Page {
	title := r.topicTitle(name)
	p := r.page(topicPath(name), "about", title, "Documentation: "+title, Link{"About", "about/index.html"})
	p.Simulated = ""
	p.add(section("doc", "", "", Topic(name)))
	return p
}

// NotFoundPage is what a host shows for an address that is not there: a permalink of a build that was never released,
// mostly.
func (r *Report) NotFoundPage() Page {
	p := Page{Path: "404.html", Title: "Not found", Description: "There is no such page.", Scripts: []string{"moved.js"},
		Lead: Lead{Text: "There is no page here.", Paras: []string{"Pages of releases, models and runs keep their " +
			"addresses for as long as history has them."}}}
	p.add(section("where", "Where to look", "", Links{{"The newest release", "index.html"}, {"All releases", ReleasesPath},
		{"All models and devices", "index.html#models"}}))
	return p
}

// NotesPage has all notes of people, newest release first; those on releases that nobody measured last.
func (r *Report) NotesPage() Page {
	p := r.page("notes/index.html", "notes", "Notes", "What people wrote about releases.")
	p.Lead = Lead{Text: "What people wrote about releases."}
	known := map[string]bool{}
	add := func(name string, measured bool) {
		if notes := r.NotesOf(name); len(notes) > 0 && !known[name] {
			s := section("note-"+schema.Slug(name), name, "", Notes(notes))
			if measured {
				s = s.leading("the release", ReleasePath(name))
			}
			p.add(s)
		}
		known[name] = true
	}
	for _, at := range newestFirst(r.Releases) {
		add(r.Releases[at].Name, true)
	}
	for _, n := range r.Notes {
		add(n.Release, false)
	}
	if len(p.Sections) == 0 {
		p.add(section("none", "Notes", "", Empty{What: "No notes",
			Why: "Markdown files in notes/, named after a release, are shown here and on the page of the release."}))
	}
	return p
}

// ProblemsPath is the page of problems.
const ProblemsPath Address = "problems/index.html"

// ProblemsPage lists everything that could not be read, understood or trusted.
func (r *Report) ProblemsPage() Page {
	all := r.allProblems()
	p := r.page(ProblemsPath, "problems", "Problems", "What could not be read or trusted.")
	p.Simulated = ""
	var counts []string // "2 errors and 1 warning"
	for _, sev := range schema.Severities() {
		if n := schema.CountSeverity(all, sev); n > 0 {
			counts = append(counts, words.Plural(n, string(sev)))
		}
	}
	p.Lead = Lead{Tone: words.ToneWarning, Text: strings.Join(counts, ", ") + "."}
	if graver(all) == 0 {
		p.Lead = Lead{Tone: words.ToneGood, Text: "No error and no warning."}
	}
	if len(all) == 0 {
		p.add(section("none", "Problems", "", Empty{What: "Nothing here",
			Why: "Notes are on the pages of their runs. What each file is, also one that is not a result, is listed by:",
			Cmd: "ttreport inspect PATH"}))
		return p
	}
	p.add(section("all", "All problems", "Errors first. Notes are on the pages of their runs.",
		problemTable(all).cut("the history documents have all")))
	return p
}

// allProblems are those of files that made no run, and those of runs, each once: a file that could not be read is told
// with every run of its folder.
func (r *Report) allProblems() []schema.Problem {
	type problem struct {
		severity    schema.Severity
		path, found string
		line, col   int
	}
	all, seen := slices.Clone(r.Problems), map[problem]bool{}
	for _, p := range r.Columns.Problems {
		all = append(all, p.Problem)
	}
	return slices.DeleteFunc(all, func(p schema.Problem) bool {
		is := problem{p.Severity, p.Path, p.Found, p.Line, p.Column}
		was := seen[is]
		seen[is] = true
		return was
	})
}

// graver is how many problems are errors or warnings: a note is none.
func graver(list []schema.Problem) int {
	return len(list) - schema.CountSeverity(list, schema.SevNote)
}

func problemTable(list []schema.Problem) *Table {
	rank := map[schema.Severity]int{schema.SevError: 0, schema.SevWarning: 1, schema.SevNote: 2}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b schema.Problem) int {
		return cmp.Or(rank[a.Severity]-rank[b.Severity], strings.Compare(a.Path, b.Path), a.Line-b.Line,
			a.Column-b.Column, strings.Compare(a.Found, b.Found)) // files are read at once: their order is chance
	})
	return tableOf("Problems, errors first", List, list, []Column[schema.Problem]{
		{col("Where"), func(p schema.Problem) Cell { return Cell{Text: p.Where(), Head: true, Code: true} }},
		{medium("Severity"), func(p schema.Problem) Cell { return text(string(p.Severity)) }},
		{col("Found"), func(p schema.Problem) Cell { return sentence(p.Found) }},
		{col("Expected"), func(p schema.Problem) Cell { return sentence(p.Expected) }},
		{col("Used"), func(p schema.Problem) Cell { return sentence(p.Used) }},
		{col("Hint"), func(p schema.Problem) Cell { return sentence(p.Hint) }},
	})
}
