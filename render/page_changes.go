package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// ChangesPath is the page of changes of level.
const ChangesPath Address = "changes/index.html"

// levelChange is a change of level: what a model on a device did in one release in one direction, as one.
type levelChange struct {
	judge.ChangePoint                     // of the series that changed most
	with              []judge.ChangePoint // the others
	release           int
	decided           *schema.Decision // of a person about all of them; nil where one is open
	verdict, began    *schema.Verdict  // on that series, where the change was found and where it began; may be nil
	beside            schema.Change    // what else differs where it began
}

// regressed reports whether the change is for the worse.
func (c *levelChange) regressed() bool { return c.Effect > 0 }

// all are the change points of all its series.
func (c *levelChange) all() []judge.ChangePoint {
	return append([]judge.ChangePoint{c.ChangePoint}, c.with...)
}

// levelChanges are all that the gate or people decided, newest first.
func (r *Report) levelChanges() []levelChange {
	type cause struct {
		release, model, device string
		worse                  bool
	}
	var found groups[cause, levelChange]
	for _, p := range r.Gate.Levels() {
		c, known := found.of(cause{p.At, p.Series.Model, p.Series.Device, p.Effect > 0})
		switch {
		case !known:
			*c = levelChange{ChangePoint: p, release: judge.Named(r.Releases, p.At)}
		case math.Abs(p.Effect) > math.Abs(c.Effect):
			c.ChangePoint, c.with = p, append(c.with, c.ChangePoint)
		default:
			c.with = append(c.with, p)
		}
	}
	for i := range found.list {
		c := &found.list[i]
		c.verdict, c.began = r.verdictOn(c.Found, c.Series), r.verdictOn(c.At, c.Series)
		if c.began != nil {
			c.beside = r.Gate.ElseChanged(c.release, c.Series)
		}
		c.decided = r.decisionOn(c.ChangePoint)
		if slices.ContainsFunc(c.with, func(p judge.ChangePoint) bool { return r.decisionOn(p) == nil }) {
			c.decided = nil // one that nobody decided on leaves the change open
		}
	}
	return found.list
}

// decisionOn is that of a person about a change point: about its level, or about the verdict that found it; nil where
// there is none.
func (r *Report) decisionOn(p judge.ChangePoint) *schema.Decision {
	if p.Decision != nil {
		return p.Decision
	}
	for _, release := range []string{p.At, p.Found} {
		if v := r.verdictOn(release, p.Series); v != nil && v.Decision != nil && !v.Decision.Expired {
			return v.Decision
		}
	}
	return nil
}

// verdictOn is the verdict on a series against history; nil where the release did not measure it.
func (r *Report) verdictOn(release string, s *judge.Series) *schema.Verdict {
	if v, ok := r.Gate.HistoryOf(judge.Named(r.Releases, release), s); ok {
		return &v
	}
	return nil
}

// stillThere finds the regressions that are still there in the newest release, as its card counts them. The card names
// each place once; here a place may have several changes.
func (r *Report) stillThere() func(*levelChange) bool {
	newest := r.Newest()
	from := map[*judge.Series]int{} // the release that confirmed the oldest that is still there
	if newest >= 0 {
		for _, o := range r.Gate.Open(newest) {
			from[r.seriesOf(o.Confirmed)] = judge.Named(r.Releases, o.Confirmed.Release)
		}
	}
	return func(c *levelChange) bool {
		return c.regressed() && slices.ContainsFunc(c.all(), func(p judge.ChangePoint) bool {
			if first, has := from[p.Series]; has {
				return judge.Named(r.Releases, p.Found) >= first
			}
			v := r.verdictOn(r.Releases[newest].Name, p.Series)
			return v != nil && v.Outcome == schema.Regressed && v.Evidence == schema.Confirmed
		})
	}
}

// state says whether somebody knows why: open, accepted, explained by a note, or an improvement.
func (r *Report) state(c *levelChange, still bool) Cell {
	note, href := r.noteOn(c.At)
	switch {
	case c.decided != nil:
		said := map[schema.DecisionKind]string{schema.Accept: "accepted", schema.Pin: "pinned", schema.Waive: "waived"}
		return Cell{Text: cmp.Or(said[c.decided.Kind], "decided"),
			Sub: "“" + c.decided.Reason + "” (" + c.decided.ID + ")"}
	case note != "":
		return Cell{Text: "explained", Sub: opening(note, 60), Href: href}
	case c.regressed():
		why := "nobody has said why"
		if newest := r.Newest(); !still && newest >= 0 {
			why += "; not seen in " + r.nameOf(newest)
		}
		return Cell{Text: "open", Outcome: schema.Regressed, Sub: why}
	}
	return Cell{Text: "improved", Outcome: schema.Improved}
}

// changesTable has a change in each row of two lines.
func (r *Report) changesTable(list []*levelChange, states map[*levelChange]Cell) *Table {
	type change = *levelChange
	t := tableOf("Changes of level, open first, then newest", List, list, []Column[change]{
		{col("Since"), func(c change) Cell {
			rel := r.Releases[c.release]
			since := head(rel.Name, ReleasePath(rel.Name))
			if !rel.Date.IsZero() {
				since.Sub = day(rel.Date)
			}
			return since
		}},
		{col("Level").in("the series that changed most"), func(c change) Cell {
			s := c.Series
			level := Cell{Text: words.OnDevice(s.Model, s.Device), Href: PairPath(s.Model, s.Device),
				Sub: strings.TrimSpace(words.Metric(s.Metric, s.Stat) + " " + words.Workload(s.Key))}
			if n := len(c.with); n > 0 {
				level.Sub += fmt.Sprintf(" and %d more", n)
			}
			return level
		}},
		{medium("Before → after").in("its baseline, the " + r.unit() + "s that show it"), change.values},
		{num("Change").sorted(), func(c change) Cell {
			effect, _ := r.shown(c)
			cell := Cell{Text: words.Signed(c.Series.Metric, effect), Sort: &effect, Strong: true}
			if c.Found != c.At {
				cell.Sub = "with " + c.Found // the interval is of the two together
			}
			return cell
		}},
		{medium("95 % interval"), func(c change) Cell {
			effect, v := r.shown(c)
			if v == nil || v.Interval == nil {
				return text(words.Absent)
			}
			cell := text(words.IntervalOf(*v))
			cell.Whisker = r.interval(v, effect)
			return cell
		}},
		{medium("History"), func(c change) Cell { return Cell{Spark: r.spark(c.Series, len(r.Releases)-1)} }},
		{col("Commits"), func(c change) Cell { return r.commitRange(c.release) }},
		{col("What else changed"), func(c change) Cell {
			if c.began == nil {
				return text("")
			}
			return elseCell(c, r.Releases[c.release].Name)
		}},
		{col("State"), func(c change) Cell { return states[c] }},
	}).dropEmpty(1)
	for i, c := range list {
		t.Rows[i].Anchor = levelAnchor(r.Releases[c.release].Name, c.Series.Pair(), c.regressed())
	}
	return t
}

// ChangesPage answers: when did a level move, and does anybody know why?
func (r *Report) ChangesPage() Page {
	list, stillThere := r.levelChanges(), r.stillThere()
	states, open, still, places := map[*levelChange]Cell{}, 0, 0, map[schema.Pair]bool{} // of those that are still there
	var shown []*levelChange                                                             // what is open first
	for i := range list {
		c := &list[i]
		there := stillThere(c)
		states[c] = r.state(c, there)
		if states[c].Text != "open" {
			shown = append(shown, c)
			continue
		}
		shown = slices.Insert(shown, open, c)
		if open++; there {
			still++
			places[c.Series.Pair()] = true
		}
	}
	p := r.page(ChangesPath, "changes", "Changes", "Every change of level in history, once.")
	p.Lead = r.changesLead(len(list), open, still, len(places))
	if len(list) == 0 {
		p.add(section("changes", "Changes of level", "", Empty{What: "Nothing to list",
			Why: "A suspected change is on the page of its release; a second run confirms it.",
			Cmd: "ttreport collect --recheck --server URL"}))
		return p
	}
	const rest = "ttreport check --change-points lists all of what a release measured"
	p.add(section("changes", "Changes of level",
		"Open first, then newest. What a model on a device did in one release in one direction is one change.",
		r.changesTable(shown, states).cut(rest)),
		section("else", "What else changed, in full", "What the rows above have no room for.",
			elseOfLevels(shown).cut("the page of the release has all")),
		section("series", "Series of each change", "What moved with the series above, newest first.",
			r.seriesOfLevels(list).cut(rest)))
	return p
}

// changesLead counts the changes, those that are open, and of these those that are still there: on so many models and
// devices, each of which the card names once, or in so many numbers of one of them, which became worse more than once.
func (r *Report) changesLead(all, open, still, places int) Lead {
	l := Lead{Paras: []string{"A change of level is listed when an independent run or a later release confirmed it, or " +
		"a person decided it."}}
	of := words.Plural(all, "change") + " of level"
	switch {
	case all == 0:
		l.Text = "No level has changed in the history of what is judged."
	case open > 0:
		on := ""
		if n := len(r.Gate.Open(r.Newest())); places > 1 {
			on = ", on " + words.Count(places) + " models and devices"
		} else if n > 0 && n < still {
			on = ", in " + words.Plural(n, "number")
		}
		l.Tone, l.Mark, l.Word = words.ToneBad, schema.Regressed, words.Count(open)+" open"
		l.Text = fmt.Sprintf("of %s, %s that nobody has explained or accepted; %s still there in %s%s.", of,
			words.Plural(open, "regression"), words.Count(still), r.nameOf(r.Newest()), on)
	default:
		l.Tone, l.Mark, l.Word, l.Text = words.ToneGood, schema.Pass, "None open", of+", each listed where it began."
	}
	return l
}

// shown is the size of a change with the verdict that has its interval: what the runs that confirmed it show together,
// else what the release says that found it. nil where no verdict has it.
func (r *Report) shown(c *levelChange) (float64, *schema.Verdict) {
	effect := r.sizeOf(&c.ChangePoint)
	if c.verdict == nil {
		return effect, nil
	}
	v := *c.verdict
	why, _ := v.Reason.(schema.Change)
	if t := why.Together; t != nil {
		effect, v.Effect, v.Interval = t.Effect, schema.Num(t.Effect), &t.Interval
	} else if c.Found != c.At { // it is of one of both
		return effect, nil
	}
	return effect, &v
}

// values are those before a change and those of the releases that show it, of which its size is the mean: of the one
// in which it began, then of the one that confirmed it.
func (c *levelChange) values() Cell {
	if c.began == nil || !present(c.began.Ref) || !present(c.began.Value) {
		return missing("no verdict on " + c.At + " has both values")
	}
	before, _ := c.began.Ref.Get()
	after, _ := c.began.Value.Get()
	out := Cell{Text: words.Number(before) + " → " + words.Number(after), Sub: direction(c.Series.Metric)}
	if c.verdict != nil && c.Found != c.At {
		if again, ok := c.verdict.Value.Get(); ok {
			out.Text += ", " + words.Number(again)
		}
	}
	return out
}

// sizeOf is how large a change is: what the verdict on its release says, where that release found it itself; else what
// the two that show it come to together.
func (r *Report) sizeOf(p *judge.ChangePoint) float64 {
	if p.Found == p.At {
		if v := r.verdictOn(p.At, p.Series); v != nil {
			if e, ok := v.Effect.Get(); ok {
				return e
			}
		}
	}
	return p.Effect
}

// levelAnchor is where a change of level stands on its page.
func levelAnchor(release string, of schema.Pair, worse bool) string {
	way := "better"
	if worse {
		way = "worse"
	}
	return schema.Slug(release + " " + of.Model + " " + of.Device + " " + way)
}

// seriesOfLevels has every series of the changes that moved several, in the order of the changes.
func (r *Report) seriesOfLevels(list []levelChange) *Table {
	t := &Table{Caption: "Series of each change", Layout: List,
		Cols: []Col{col("Series"), medium("Metric"), num("Change"), col("Found in")}}
	for i := range list {
		c := &list[i]
		if len(c.with) == 0 {
			continue
		}
		t.Rows = append(t.Rows, Row{Group: fmt.Sprintf("%s, %s: %s", c.At, words.OnDevice(c.Series.Model, c.Series.Device),
			words.Plural(len(c.with)+1, "series"))})
		for _, p := range c.all() {
			s := p.Series
			t.row(Cell{Text: words.Workload(s.Key), Sub: s.Key.Tool, Head: true, Href: PairPath(s.Model, s.Device)},
				metricCell(s.Metric, s.Stat), Cell{Text: words.Signed(s.Metric, r.sizeOf(&p)), Strong: true}, text(p.Found))
		}
	}
	return t
}

// ChangePoints are the change points that were accepted in the history of the judged series, and the drifts.
type ChangePoints struct {
	Points []judge.ChangePoint
	Drifts []judge.Drift
}

// ChangePoints lists them for what a release measured; an empty model or device selects all.
func (r *Report) ChangePoints(release int, model, device string) *ChangePoints {
	points, drifts := r.Gate.ChangePoints(release, model, device)
	return &ChangePoints{points, drifts}
}

// Title counts them.
func (c *ChangePoints) Title() string {
	return fmt.Sprintf("%s and %s in the history of what was judged", words.Plural(len(c.Points), "change point"),
		words.Plural(len(c.Drifts), "drift"))
}

// Lines are one each.
func (c *ChangePoints) Lines() []string {
	var out []string
	of := func(s *judge.Series) string {
		return fmt.Sprintf("%s  %s  %s", words.OnDevice(s.Model, s.Device), words.Workload(s.Key),
			words.Metric(s.Metric, s.Stat))
	}
	for _, s := range c.Points {
		out = append(
			out,
			fmt.Sprintf("%s  %s: %s, %s", s.At, of(s.Series), words.Signed(s.Series.Metric, s.Effect), decidedBy(s)),
		)
	}
	for _, d := range c.Drifts {
		out = append(out, fmt.Sprintf("drift  %s: %s a release over %d releases, p = %.2g", of(d.Series),
			words.Signed(d.Series.Metric, d.Effect), d.N, d.P))
	}
	return out
}

// decidedBy says who decided a change point.
func decidedBy(s judge.ChangePoint) string {
	if s.Decision != nil {
		return words.DecisionNote(*s.Decision)
	}
	switch s.Source {
	case judge.ByGate:
		return "confirmed by an independent run"
	case judge.BySearch:
		return fmt.Sprintf("found by a permutation test, p = %.2g", s.P)
	}
	return "by decision"
}

// Section is the same as a part of a page.
func (c *ChangePoints) Section() Section {
	type change struct {
		since    string
		of       *judge.Series
		how, why string
	}
	var list []change
	for _, s := range c.Points {
		list = append(list, change{s.At, s.Series, words.Signed(s.Series.Metric, s.Effect), decidedBy(s)})
	}
	for _, d := range c.Drifts {
		list = append(list, change{"drift", d.Series, words.Signed(d.Series.Metric, d.Effect) + " a release",
			fmt.Sprintf("over %d releases, p = %.2g", d.N, d.P)})
	}
	return Section{ID: "change-points", Title: "Change points", Blocks: []Block{
		tableOf(words.Capital(c.Title()), "", list, []Column[change]{
			{col("Since"), func(x change) Cell { return text(x.since) }},
			{col("Model"), func(x change) Cell { return text(words.OrUnknown(x.of.Model)) }},
			{col("Device"), func(x change) Cell { return text(words.OrUnknown(x.of.Device)) }},
			{col("Workload"), func(x change) Cell { return text(words.Workload(x.of.Key)) }},
			{col("Metric"), func(x change) Cell { return text(words.Metric(x.of.Metric, x.of.Stat)) }},
			{col("Change"), func(x change) Cell { return text(x.how) }},
			{col("Found"), func(x change) Cell { return text(x.why) }},
		})}}
}

// ShiftTexts are sentences about the devices that moved as a whole: metrics of a device that moved alike are one
// finding, and share a sentence.
func ShiftTexts(list []judge.Shift) []string {
	type finding struct {
		device, line, first string
		outcome             schema.Outcome
		evidence            schema.Evidence
		alone               int // from 1
	}
	type said struct {
		text string
		with []string
	}
	var found groups[finding, said]
	for n, s := range list {
		t := ShiftText(s)
		if t == "" {
			continue
		}
		id := finding{s.Device, s.Line, s.First, s.Outcome, s.Evidence, 0}
		if s.Turns != nil || s.Mixed {
			id.alone = n + 1
		}
		x, known := found.of(id)
		if !known {
			x.text = t
			continue
		}
		e, _ := s.Effect.Get()
		x.with = append(x.with, words.Metric(s.Metric, s.Stat)+" "+words.Signed(s.Metric, e))
	}
	var out []string
	for _, x := range found.list {
		if len(x.with) > 0 {
			x.text += " With it " + strings.Join(x.with, ", ") + "."
		}
		out = append(out, x.text)
	}
	return out
}

// ShiftText is one sentence about a device that moved as a whole; "" for one that did not.
func ShiftText(s judge.Shift) string {
	label := words.Metric(s.Metric, s.Stat)
	e, _ := s.Effect.Get()
	switch {
	case s.Turns != nil:
		return fmt.Sprintf("On %s %s of %s moved together. %s", words.OrUnknown(s.Device), label,
			words.Plural(s.Cells, "workload"), words.InTurns(s.Metric, s.Turns, s.Outcome, s.Evidence))
	case s.Outcome == schema.BelowLimit && s.Interval != nil:
		since := ""
		if s.First != "" {
			since = " since " + s.First
		}
		return fmt.Sprintf("On %s %s of %s moved %s together%s (95%s%% interval %s): a real change, below the limit.",
			words.OrUnknown(s.Device), label, words.Plural(s.Cells, "workload"), words.Signed(s.Metric, e), since, words.Thin,
			words.Interval(s.Metric, *s.Interval))
	case s.Mixed:
		return fmt.Sprintf(
			"On %s %s of %s moved by %s on the whole and not alike: nothing is removed from their rows.",
			words.OrUnknown(s.Device), label, words.Plural(s.Cells, "workload"), words.Signed(s.Metric, e),
		)
	case s.Outcome == schema.Regressed || s.Outcome == schema.Improved || s.Large:
		word := s.Outcome.String()
		if s.Evidence != schema.NoEvidence {
			word += ", " + s.Evidence.String()
		}
		of := "all " + words.Count(s.Cells)
		if alike := int(math.Round(s.Agree * float64(s.Cells))); alike < s.Cells {
			of = words.Of(alike, s.Cells)
		}
		return fmt.Sprintf(
			"On %s %s of %s workloads moved %s together (%s): one finding, shown once.", words.OrUnknown(s.Device), label,
			of, words.Signed(s.Metric, e), word,
		)
	}
	return ""
}
