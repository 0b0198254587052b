package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// ChangesPath is the page of changes.
const ChangesPath Address = "changes/index.html"

// ChangesPage answers: what changed, when and by how much, and does anybody know why?
func (r *Report) ChangesPage() Page {
	var open, others []judge.Change
	if newest := r.Newest(); newest >= 0 {
		for _, c := range r.Gate.Findings(newest).Changes {
			note, _ := r.noteOn(c.Since) // open is what nobody accepted or explained, and what did not return
			if c.Evidence == schema.Confirmed && c.Large() && c.State == judge.StateOpen && note == "" {
				open = append(open, c)
			} else {
				others = append(others, c)
			}
		}
	}
	list := slices.Concat(open, others)
	p := r.page(ChangesPath, "changes", "Changes", "Every change in history, once.")
	p.Lead = r.changesLead(len(list), open)
	if len(list) == 0 {
		p.add(section("changes", "Changes", "", Empty{What: "Nothing to list",
			Why: "A change is listed when a release suspects it; a second run confirms it.",
			Cmd: "ttreport collect --recheck --server URL"}))
		return p
	}
	const rest = "ttreport check --change-points lists all of what a release measured"
	cards, more := r.changeCards(open, r.Newest())
	var blocks []Block
	for i := range cards {
		blocks = append(blocks, cards[i])
	}
	blocks = append(blocks, r.changesTable(append(more, others...), r.Newest()).cut(rest))
	// every number of the changes of several, those that moved most first
	t := &Table{Caption: "Numbers of each change", Layout: List, Cols: []Col{col("Workload"), medium("Model and device"),
		medium("Metric"), num("Before"), num("Since"), num("Change")}}
	for i := range list {
		c := &list[i]
		if len(c.Numbers) < 2 {
			continue
		}
		t.Rows = append(t.Rows, Row{Group: c.Since + ", " + words.ChangeOf(c) + ": " + words.ChangeShare(c),
			Anchor: numbersAnchor(c.ID)})
		for _, m := range r.Gate.Moved(c) {
			t.row(Cell{Text: words.Workload(m.Key), Sub: m.Key.Tool, Head: true, Href: r.SeriesPath(m.Series)},
				text(words.OnDevice(m.Model, m.Device)), metricCell(m.Metric, m.Stat),
				number(schema.Num(m.Before)), number(schema.Num(m.Since)),
				Cell{Text: words.Signed(m.Metric, m.Effect), Strong: true})
		}
	}
	p.add(section("changes", "Changes", "Open first, then newest. Numbers that moved together since one release are one "+
		"change; its size is their level since then against the level before.", blocks...),
		section("series", "Numbers of each change", "", t.cut(rest)))
	return p
}

// seenIn reports whether a release shows a change: it found it, or measured most of it again and it has not returned.
func (r *Report) seenIn(c *judge.Change, at int) bool {
	return gate.Open(c) || c.News(r.Releases[at].Name)
}

// changesLead counts the changes and those that are open, and names the largest of these.
func (r *Report) changesLead(all int, open []judge.Change) Lead {
	var l Lead
	switch {
	case all == 0:
		l.Text = "Nothing has changed in the history of what is judged."
	case len(open) > 0:
		largest := slices.MaxFunc(open, func(a, b judge.Change) int { return len(a.Numbers) - len(b.Numbers) })
		l.Tone, l.Mark, l.Word = words.ToneBad, schema.Regressed, words.Count(len(open))+" open"
		still, more, newest := "", "", r.Newest()
		switch {
		case !r.seenIn(&largest, newest):
			more = "; not seen in " + r.nameOf(newest)
		case largest.Since != r.Releases[newest].Name:
			still = "still "
		}
		l.Text = words.Fitting(l.Word, words.ChangeHeadings(&largest, "", still, more)...)
	default:
		l.Tone, l.Mark, l.Word, l.Text = words.ToneGood, schema.Pass, "None open",
			words.Plural(all, "change")+" in history."
	}
	return l
}

// state says what became of a change, and whether somebody knows why.
func (r *Report) state(c *judge.Change, at int) Cell {
	note, href := r.noteOn(c.Since)
	switch {
	case c.State == judge.StateAccepted:
		return Cell{Text: "accepted", Sub: "“" + c.Decision.Reason + "” (" + c.Decision.ID + ")"}
	case c.State == judge.StateFixed, c.State == judge.StateLost:
		return Cell{Text: string(c.State), Sub: "in " + c.Ended}
	case c.State == judge.StateRecovered:
		return Cell{Text: string(c.State), Outcome: schema.Recovered}
	case note != "":
		return Cell{Text: "explained", Sub: opening(note, 60), Href: href}
	case !c.Worse:
		return Cell{Text: "improved", Outcome: schema.Improved}
	case c.SameBuild:
		return Cell{Text: "same build", Sub: "the machine, not the release"}
	case c.BelowLimit():
		return Cell{Outcome: schema.BelowLimit}
	case c.Evidence == schema.Suspected:
		return Cell{Text: "suspected", Outcome: schema.Regressed, Sub: "another run must confirm it"}
	}
	why := "unexplained"
	if !r.seenIn(c, at) {
		why += "; not seen in " + r.nameOf(at)
	}
	return Cell{Text: "open", Outcome: schema.Regressed, Sub: why}
}

// changesTable has a change in each row of two lines, as a release sees it.
func (r *Report) changesTable(list []judge.Change, at int) *Table {
	type change = *judge.Change
	rows := make([]change, len(list))
	for i := range list {
		rows[i] = &list[i]
	}
	t := tableOf("Changes, open first, then newest", List, rows, []Column[change]{
		{col("Since"), func(c change) Cell {
			since := head(c.Since, ReleasePath(c.Since))
			if len(c.Votes) > 1 {
				since.Sub = words.ChangeVotes(c)
			} else if began := judge.Named(r.Releases, c.Since); began >= 0 && !r.Releases[began].Date.IsZero() {
				since.Sub = day(r.Releases[began].Date)
			}
			return since
		}},
		{col("What"), func(c change) Cell {
			cell := Cell{Text: words.ChangeOf(c), Sub: words.ChangeShare(c)}
			if p, one := c.System(); one {
				cell.Href = PairPath(p.Model, p.Device)
			}
			return cell
		}},
		{num("Change").sorted(), func(c change) Cell {
			cell := Cell{Text: words.ChangeSize(c), Sort: &c.Effect, Strong: true}
			if c.Evidence == schema.Confirmed && !c.Rerun {
				cell.Sub = "seen again in " + c.Found
			}
			return cell
		}},
		{medium("95 % interval"), func(c change) Cell { return text(words.ChangeInterval(c)) }},
		{medium("History"), func(c change) Cell { return r.sparkCell(middleOf(c), at) }},
		{col("Commits"), func(c change) Cell { return r.commitRange(judge.Named(r.Releases, c.Since)) }},
		{col("What else changed"), func(c change) Cell { return sentence(elseChanged(c.What)) }},
		{col("State"), func(c change) Cell { return r.state(c, at) }},
	}).dropEmpty(1)
	for i := range list {
		t.Rows[i].Anchor = changeAnchor(list[i].ID)
	}
	return t
}

// changeAnchor is where a change stands on its page.
func changeAnchor(id string) string { return "change-" + id }

// numbersAnchor is where its numbers stand there.
func numbersAnchor(id string) string { return "numbers-" + id }

// middleOf is a number of a change to draw: the one in the middle of its members, as they are listed.
func middleOf(c *judge.Change) *judge.Series { return c.Numbers[len(c.Numbers)/2] }

// ChangePoints are the change points that were accepted in the history of the judged series.
type ChangePoints []judge.ChangePoint

// ChangePoints lists them for what a release measured; an empty model or device selects all.
func (r *Report) ChangePoints(release int, model, device string) ChangePoints {
	return r.Gate.ChangePoints(release, model, device)
}

// Title counts them.
func (c ChangePoints) Title() string {
	return words.Plural(len(c), "change point") + " in the history of what was judged"
}

// Lines are one each.
func (c ChangePoints) Lines() []string {
	var out []string
	for i := range c {
		s := c[i].Series
		out = append(out, fmt.Sprintf("%s  %s  %s  %s: %s, %s", c[i].At, words.OnDevice(s.Model, s.Device),
			words.Workload(s.Key), words.Metric(s.Metric, s.Stat), words.Signed(s.Metric, c[i].Effect), decidedBy(&c[i])))
	}
	return out
}

// decidedBy says who decided a change point.
func decidedBy(s *judge.ChangePoint) string {
	switch {
	case s.Decision != nil:
		return words.DecisionNote(*s.Decision)
	case s.Source == judge.ByGate:
		return "confirmed by an independent run"
	}
	return "by decision"
}

// Section is the same as a part of a page.
func (c ChangePoints) Section() Section {
	return Section{ID: "change-points", Title: "Change points", Blocks: []Block{
		tableOf(words.Capital(c.Title()), "", c, []Column[judge.ChangePoint]{
			{col("Since"), func(s judge.ChangePoint) Cell { return text(s.At) }},
			{col("Model"), func(s judge.ChangePoint) Cell { return text(words.OrUnknown(s.Series.Model)) }},
			{col("Device"), func(s judge.ChangePoint) Cell { return text(words.OrUnknown(s.Series.Device)) }},
			{col("Workload"), func(s judge.ChangePoint) Cell { return text(words.Workload(s.Series.Key)) }},
			{col("Metric"), func(s judge.ChangePoint) Cell { return text(words.Metric(s.Series.Metric, s.Series.Stat)) }},
			{col("Change"), func(s judge.ChangePoint) Cell { return text(words.Signed(s.Series.Metric, s.Effect)) }},
			{col("Found"), func(s judge.ChangePoint) Cell { return text(decidedBy(&s)) }},
		})}}
}

// ChangeTexts is a sentence about each change that a release suspects or confirms, regressions first, and how many
// there are besides; without the one that its headline is about.
func ChangeTexts(g *gate.Review) []string {
	const most = 10
	var out []string
	headline := words.Headline(g)
	for i := range g.Changes {
		text := words.ChangeText(&g.Changes[i])
		if g.Changes[i].News(g.Release) && !strings.HasPrefix(headline, strings.TrimSuffix(text, ".")) {
			out = append(out, text)
		}
	}
	if n := len(out) - most; n > 0 {
		out = append(out[:most], words.Plural(n, "more change")+".")
	}
	return out
}
