package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
)

// findings are the reasons of a decision, then the numbers that changed against history, then what is a warning only,
// then the numbers that did not change.
func findings(counts []gate.Tally, b gate.Basis) []Mark {
	var reasons, warnings []Mark
	for _, c := range counts {
		m, ok := markOf(c)
		switch {
		case !ok || slices.Contains(ofHistory(), c.Kind):
		case c.Fails:
			reasons = append(reasons, m)
		default:
			warnings = append(warnings, m)
		}
	}
	given := func(list ...Mark) []Mark {
		for i := range list {
			list[i].Text = cmp.Or(list[i].Text, list[i].Outcome.Words())
		}
		return slices.DeleteFunc(list, func(m Mark) bool { return m.N == 0 })
	}
	const again = "confirmed" // counted where it was seen first
	return slices.Concat(reasons, given(
		Mark{Outcome: schema.Regressed, N: b.Regressed - b.RegressedBefore},
		Mark{Outcome: schema.Regressed, N: b.RegressedBefore, Text: again},
		Mark{Outcome: schema.Improved, N: b.Improved - b.ImprovedBefore},
		Mark{Outcome: schema.Improved, N: b.ImprovedBefore, Text: again},
		Mark{Outcome: schema.Recovered, N: b.Recovered},
		Mark{Outcome: schema.BelowLimit, N: b.BelowLimit},
		Mark{Outcome: schema.Inconclusive, N: b.Inconclusive},
	), warnings, given(
		Mark{Outcome: schema.Unchanged, N: b.Unchanged},
		Mark{Outcome: schema.NoBaseline, N: b.Early, Text: "with one earlier release alone"},
		Mark{Outcome: schema.NoBaseline, N: b.Without, Text: "without a baseline"},
	))
}

// ofHistory are the kinds that count numbers against history.
func ofHistory() []gate.Kind {
	return []gate.Kind{gate.FailConfirmed, gate.FailSuspected, gate.FailRunWide, gate.FailInconclusive, gate.NoteImproved,
		gate.NoteRecovered}
}

// releaseList lists releases, given by their indexes.
func (r *Report) releaseList(list []int) *Table {
	title := words.Capital(r.unit())
	result := func(i int) gate.Result { return r.Gate.Results(i).Whole }
	all := []Column[int]{
		{col(title), func(i int) Cell {
			name := head(r.Releases[i].Name, ReleasePath(r.Releases[i].Name))
			if !r.Releases[i].Label && r.unit() == "release" {
				name.Sub = "build, no release stated"
			}
			if r.simulated(i) != "" {
				name.Tag = "simulated"
			}
			return name
		}},
		{medium("Date"), func(i int) Cell { return text(moment(r.Releases[i].Date)) }},
	}
	if r.Graded() {
		all = append(all, []Column[int]{
			{medium("Decision"), func(i int) Cell {
				d := words.Decide(result(i))
				return Cell{Text: d.Word, Outcome: toneMark(d.Tone)}
			}},
			{col("Findings"), func(i int) Cell { return Cell{Marks: findings(result(i).Counts, result(i).Basis)} }},
		}...)
	}
	held := func(i int) (points, scores int) { return r.held(r.Releases[i].Runs) }
	all = append(all, []Column[int]{
		{num("Models and devices"), func(i int) Cell { return count(r.has[i]) }},
		{num("Points"), func(i int) Cell { n, _ := held(i); return count(n) }},
		{num("Evals"), func(i int) Cell { _, n := held(i); return count(n) }},
	}...)
	if len(r.Notes) > 0 {
		all = append(all, Column[int]{col("Note"), func(i int) Cell {
			name := r.Releases[i].Name
			if list := r.NotesOf(name); len(list) > 0 {
				return Cell{Sentence: true, Text: list[0].Title, Href: ReleasePath(name) + "#notes"}
			}
			return sentence("")
		}})
	}
	t := tableOf(r.releasesTitle()+", newest first", List, list, all)
	t.Total = len(t.Rows)
	return t
}

// newestShown is how many releases the front page lists.
const newestShown = 8

// Decisions are those on releases, oldest first.
type Decisions []Decided

// Decided is a release with its decision.
type Decided struct {
	Name, Word string
	Tone       words.Tone
	Href       Address
}

// releaseTable lists the newest releases of all lines.
func (r *Report) releaseTable() *Table {
	list := newestFirst(r.Releases)
	t := r.releaseList(list[:min(newestShown, len(list))])
	if t.Total = len(r.Releases); t.Total > len(t.Rows) {
		t.More = "earlier ones have a page"
		t.Full = &Link{"All " + strings.ToLower(r.releasesTitle()), ReleasesPath}
	}
	return t
}

// line is the releases of one line of one channel, newest first: each has its baselines among them.
type line struct {
	title    string // "channel main", "line 0.49 of channel release"
	releases []int
}

// ReleasesPath is the first page of the list of all releases.
const ReleasesPath Address = "releases/index.html"

// ReleasesPages list every release, a line after the other, the newest first.
func (r *Report) ReleasesPages() []Page {
	const aPage = 100 // releases
	at := func(n int) Address {
		if n == 0 {
			return ReleasesPath
		}
		return Address(fmt.Sprintf("releases/index~%d.html", n+1))
	}
	type sheet struct {
		of    line
		part  []int
		first int // of the line, from 1
	}
	var lines groups[[2]string, line] // that of the newest release first
	for _, i := range newestFirst(r.Releases) {
		rel := &r.Releases[i]
		l, _ := lines.of([2]string{rel.Channel, rel.Line})
		l.releases = append(l.releases, i)
		if l.title = "channel " + rel.Channel; rel.Line != "" {
			l.title = "line " + rel.Line + " of " + l.title
		}
	}
	var sheets []sheet
	var others Links
	for _, l := range lines.list {
		others = append(others, Link{words.Capital(l.title) + ": " + words.Count(len(l.releases)), at(len(sheets))})
		first := 1
		for part := range slices.Chunk(l.releases, aPage) {
			sheets = append(sheets, sheet{l, part, first})
			first += len(part)
		}
	}
	title := r.releasesTitle()
	var out []Page
	for n, s := range sheets {
		all := len(s.of.releases)
		text := words.Plural(all, r.unit()) + "."
		if len(others) > 1 {
			text = fmt.Sprintf("%s of %s.", words.Plural(all, r.unit()), s.of.title)
		}
		if len(s.part) < all {
			text = fmt.Sprintf("%s %d to %d of %s of %s.", title, s.first, s.first+len(s.part)-1, words.Count(all), s.of.title)
		}
		p := r.page(at(n), "releases", title, text)
		p.Lead = Lead{Text: text}
		if n > 0 {
			p.Prev = &Link{"newer", at(n - 1)}
		}
		if n+1 < len(sheets) {
			p.Next = &Link{"older", at(n + 1)}
		}
		if len(others) > 1 {
			p.add(section("lines", "Lines", "A release takes its baseline from its own line.", others))
		}
		p.add(section("releases", title, "Newest first.", r.releaseList(s.part)))
		out = append(out, p)
	}
	return out
}
