package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
)

// Bar is counts of verdicts as lengths side by side.
type Bar struct {
	Label string
	Parts []Count
}

// decisionBar is how the numbers of a release compare with history; nil where none does.
func decisionBar(b gate.Basis) *Bar {
	out := &Bar{}
	var said []string
	for _, x := range []struct {
		n       int
		outcome schema.Outcome
		word    string
	}{
		{b.Regressed, schema.Regressed, "regressed"}, {b.Inconclusive, schema.Inconclusive, "inconclusive"},
		{b.BelowLimit, schema.BelowLimit, "below the limit"}, {b.Improved, schema.Improved, "improved"},
		{b.Unchanged, schema.Unchanged, "unchanged"}, {b.Early, schema.NoBaseline, "with one earlier release alone"},
		{b.Without, schema.NoBaseline, "without a baseline"},
	} {
		if x.n > 0 {
			out.Parts = append(out.Parts, Count{N: x.n, Outcome: x.outcome})
			said = append(said, words.Count(x.n)+" "+x.word)
		}
	}
	if len(out.Parts) == 0 {
		return nil
	}
	out.Label = strings.Join(said, ", ")
	return out
}

// barSection is what a bar of a list means.
const barMeans = "The bar: how its numbers compare with history, regressed at the left, then inconclusive, below the " +
	"limit, improved, unchanged, and light what has no baseline."

// releaseRow is a release in a list.
func (r *Report) releaseRow(i int) []Cell {
	rel := r.Releases[i]
	points, scores, pairs := 0, 0, map[schema.Pair]bool{}
	for _, run := range rel.Runs {
		h := &r.Columns.Runs[run]
		points += h.PointsEnd - h.FirstPoint
		scores += h.Scores
		pairs[schema.Pair{Model: h.Model.Name, Device: h.Device}] = true
	}
	name := Cell{Text: rel.Name, Head: true, Href: ReleasePath(rel.Name)}
	if !rel.Label {
		name.Sub = "build, no release stated"
	}
	if r.simulated(i) != "" {
		name.Tag = "simulated"
	}
	out := []Cell{name, text(moment(rel.Date))}
	if r.graded() {
		d, b := words.Decide(r.Gate.Results(i).Whole), r.Gate.Results(i).Basis
		out = append(out, Cell{Text: d.Word, Outcome: toneMark(d.Tone)}, Cell{Bar: decisionBar(b)},
			Cell{Marks: findings(r.Gate.Results(i).Whole.Counts, b)})
	}
	out = append(out, text(words.Count(len(pairs))), text(words.Count(points)), text(words.Count(scores)))
	if len(r.Notes) > 0 {
		note := Cell{Sentence: true}
		if list := r.NotesOf(rel.Name); len(list) > 0 {
			note.Text, note.Href = list[0].Title, ReleasePath(rel.Name)+"#notes"
		}
		out = append(out, note)
	}
	return out
}

// findings are the reasons of a decision, then how its numbers compare with history, then what is a warning only.
func findings(counts []gate.Tally, b gate.Basis) []Mark {
	var reasons, out, warnings []Mark
	for _, c := range counts {
		m, ok := markOf(c.Kind)
		m.N = c.N
		switch {
		case !ok || slices.Contains(ofHistory(), c.Kind):
		case c.Fails:
			reasons = append(reasons, m)
		default:
			warnings = append(warnings, m)
		}
	}
	for _, x := range []Mark{
		{Outcome: schema.Regressed, N: b.Regressed}, {Outcome: schema.Improved, N: b.Improved},
		{Outcome: schema.Inconclusive, N: b.Inconclusive},
	} {
		if x.N > 0 {
			x.Text = x.Outcome.String()
			out = append(out, x)
		}
	}
	return slices.Concat(reasons, out, warnings)
}

// ofHistory are the kinds that a bar counts too.
func ofHistory() []gate.Kind {
	return []gate.Kind{gate.FailConfirmed, gate.FailSuspected, gate.FailRunWide, gate.FailInconclusive, gate.NoteImproved}
}

// releaseList lists releases, given by their indexes.
func (r *Report) releaseList(list []int) *Table {
	t := &Table{Caption: r.releasesTitle() + ", newest first", Layout: List,
		Cols: []Col{{Head: words.Capital(r.unit())}, {Head: "Date", Length: Medium}}}
	if r.graded() {
		t.Cols = append(t.Cols, Col{Head: "Decision", Length: Medium}, Col{Head: "Against history", Length: Medium},
			Col{Head: "Findings"})
	}
	t.Cols = append(t.Cols, Col{Head: "Models and devices", Num: true, Length: Short},
		Col{Head: "Points", Num: true, Length: Short}, Col{Head: "Evals", Num: true, Length: Short})
	if len(r.Notes) > 0 {
		t.Cols = append(t.Cols, Col{Head: "Note"})
	}
	for _, i := range list {
		t.Rows = append(t.Rows, Row{Cells: r.releaseRow(i)})
	}
	t.Total = len(t.Rows)
	return t
}

// newestShown is how many releases the front page lists.
const newestShown = 20

// releaseTable lists the newest releases of all lines.
func (r *Report) releaseTable() *Table {
	var list []int
	for i := len(r.Releases) - 1; i >= 0 && len(list) < newestShown; i-- {
		list = append(list, i)
	}
	t := r.releaseList(list)
	if t.Total = len(r.Releases); t.Total > len(t.Rows) {
		t.More = "every release is in a list by line"
		t.Full = &Link{"All " + strings.ToLower(r.releasesTitle()), ReleasesPath}
	}
	return t
}

// line is the releases of one line of one channel, newest first: each has its baselines among them.
type line struct {
	channel, name string
	releases      []int
}

// lines are those of a history, that of the newest release first.
func (r *Report) lines() (out []line) {
	at := map[[2]string]int{}
	for i := len(r.Releases) - 1; i >= 0; i-- {
		rel := &r.Releases[i]
		k := place(at, [2]string{rel.Channel, rel.Line}, &out, func() line { return line{rel.Channel, rel.Line, nil} })
		out[k].releases = append(out[k].releases, i)
	}
	return out
}

// title names a line: "channel main", "line 0.49 of channel release".
func (l *line) title() string {
	if l.name == "" {
		return "channel " + l.channel
	}
	return "line " + l.name + " of channel " + l.channel
}

// ReleasesPath is the first page of the list of all releases.
const ReleasesPath Address = "releases/index.html"

// releasesPage is page n of the list, from 0.
func releasesPage(n int) Address {
	if n == 0 {
		return ReleasesPath
	}
	return Address(fmt.Sprintf("releases/index~%d.html", n+1))
}

// aPage is how many releases a page of the list has.
const aPage = 100

// ReleasesPages list every release, a line after the other, the newest first.
func (r *Report) ReleasesPages() []Page {
	type sheet struct {
		line  int
		part  []int
		first int // of the line, from 1
	}
	var sheets []sheet
	lines, begins := r.lines(), []int(nil)
	for k := range lines {
		begins = append(begins, len(sheets))
		for from := 0; from < len(lines[k].releases); from += aPage {
			sheets = append(sheets, sheet{k, lines[k].releases[from:min(from+aPage, len(lines[k].releases))], from + 1})
		}
	}
	var others Links
	for k := range lines {
		others = append(others, Link{words.Capital(lines[k].title()) + ": " + words.Count(len(lines[k].releases)),
			releasesPage(begins[k])})
	}
	title := r.releasesTitle()
	var out []Page
	for n, s := range sheets {
		l := &lines[s.line]
		text := fmt.Sprintf("%s of %s.", words.Plural(len(l.releases), "release"), l.title())
		if len(s.part) < len(l.releases) {
			text = fmt.Sprintf("%s %d to %d of %s of %s.", title, s.first, s.first+len(s.part)-1,
				words.Count(len(l.releases)), l.title())
		}
		p := Page{Path: releasesPage(n), Title: title, Nav: "releases", Description: text,
			Crumbs: []Link{{"Overview", "index.html"}, {title, ""}}, Lead: Lead{Text: text}, Simulated: r.simulated(-1)}
		if n > 0 {
			p.Prev = &Link{"newer", releasesPage(n - 1)}
		}
		if n+1 < len(sheets) {
			p.Next = &Link{"older", releasesPage(n + 1)}
		}
		list := Section{ID: "releases", Title: title, Intro: "Newest first.", Blocks: []Block{r.releaseList(s.part)}}
		if r.graded() {
			list.Intro += " " + barMeans
		}
		if len(lines) > 1 {
			p.add(Section{ID: "lines", Title: "Lines", Intro: "A release takes its baseline from its own line.",
				Blocks: []Block{others}})
		}
		p.add(list)
		out = append(out, p)
	}
	return out
}
