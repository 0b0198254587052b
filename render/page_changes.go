package render

import (
	"cmp"
	"fmt"
	"math"
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
}

// regressed reports whether the change is for the worse.
func (c *levelChange) regressed() bool { return c.Effect > 0 }

// levelChanges are all that the gate or people decided, newest first.
func (r *Report) levelChanges() []levelChange {
	type cause struct {
		release, model, device string
		worse                  bool
	}
	var out []levelChange
	place := map[cause]int{}
	for _, p := range r.Gate.Levels() {
		of := cause{p.At, p.Series.Model, p.Series.Device, p.Effect > 0}
		at, known := place[of]
		switch {
		case !known:
			place[of] = len(out)
			out = append(out, levelChange{ChangePoint: p, release: judge.Named(r.Releases, p.At)})
		case math.Abs(p.Effect) > math.Abs(out[at].Effect):
			out[at].ChangePoint, p = p, out[at].ChangePoint
			fallthrough
		default:
			out[at].with = append(out[at].with, p)
		}
	}
	found := verdictsOf{r, map[string]map[seriesName]*schema.Verdict{}}
	for i := range out {
		c := &out[i]
		c.verdict, c.began = found.of(c.Found, c.Series), found.of(c.At, c.Series)
		c.decided = found.decision(c.ChangePoint)
		for _, other := range c.with { // one that nobody decided on leaves the change open
			if found.decision(other) == nil {
				c.decided = nil
			}
		}
	}
	return out
}

// decision is that of a person about a change point: about its level, or about the verdict that found it; nil for none.
func (f verdictsOf) decision(p judge.ChangePoint) *schema.Decision {
	if p.Decision != nil {
		return p.Decision
	}
	for _, release := range []string{p.At, p.Found} {
		if v := f.of(release, p.Series); v != nil && v.Decision != nil && !v.Decision.Expired {
			return v.Decision
		}
	}
	return nil
}

// verdictsOf finds verdicts on series against history, a release at a time.
type verdictsOf struct {
	r     *Report
	known map[string]map[seriesName]*schema.Verdict
}

func (f verdictsOf) of(release string, s *judge.Series) *schema.Verdict {
	if f.known[release] == nil {
		f.known[release] = map[seriesName]*schema.Verdict{}
		list := f.r.Gate.History(judge.Named(f.r.Releases, release))
		for k := range list {
			v := &list[k]
			f.known[release][seriesName{v.Model, v.Device, v.Impl, v.Metric, v.Stat, v.Def, v.Key.String()}] = v
		}
	}
	return f.known[release][seriesName{s.Model, s.Device, s.Impl, s.Metric, s.Stat, s.Def, s.Key.String()}]
}

// state says whether somebody knows why: open, accepted, explained by a note, or an improvement.
func (r *Report) state(c *levelChange) Cell {
	note, href := r.noteOn(c.At)
	switch {
	case c.decided != nil:
		said := map[schema.DecisionKind]string{schema.Accept: "accepted", schema.Pin: "pinned", schema.Waive: "waived"}
		return Cell{Text: cmp.Or(said[c.decided.Kind], "decided"),
			Sub: "“" + c.decided.Reason + "” (" + c.decided.ID + ")"}
	case note != "":
		return Cell{Text: "explained", Sub: opening(note, 60), Href: href}
	case c.regressed():
		return Cell{Text: "open", Outcome: schema.Regressed, Sub: "nobody has said why"}
	}
	return Cell{Text: "improved", Outcome: schema.Improved}
}

// ChangesPage answers: when did a level move, and does anybody know why?
func (r *Report) ChangesPage() Page {
	list := r.levelChanges()
	open := 0
	var rows []Row
	for _, first := range []bool{true, false} { // what is open first
		for i := range list {
			c := &list[i]
			state := r.state(c)
			if (state.Text == "open") == first {
				rows = append(rows, r.levelRow(c, state))
			}
			if first && state.Text == "open" {
				open++
			}
		}
	}
	p := Page{
		Path: ChangesPath, Title: "Changes", Nav: "changes", Simulated: r.simulated(-1),
		Description: "Every change of level in history, once.",
		Crumbs:      []Link{{"Overview", "index.html"}, {"Changes", ""}},
		Lead:        changesLead(len(rows), open),
	}
	if len(rows) == 0 {
		p.add(Section{ID: "changes", Title: "Changes of level", Blocks: []Block{Empty{What: "Nothing to list",
			Why: "A suspected change is on the page of its release; a second run confirms it.",
			Cmd: "ttreport collect --recheck --server URL"}}})
		return p
	}
	t := &Table{
		Caption: "Changes of level, open first, then newest", Layout: List, Rows: rows,
		Cols: []Col{
			{Head: "Since"}, {Head: "Level", Unit: "the series that changed most"}, {Head: "Before → after", Length: Medium},
			{Head: "Change", Num: true, Sort: true, Length: Short}, {Head: "95 % interval", Length: Medium},
			{Head: "History", Length: Medium}, {Head: "Commits"}, {Head: "What else changed"}, {Head: "State"},
		},
	}
	t.dropEmpty()
	p.add(Section{ID: "changes", Title: "Changes of level",
		Intro:  "Open first, then newest. What a model on a device did in one release in one direction is one change.",
		Blocks: []Block{t.cut("ttreport check --change-points lists all of what a release measured")}})
	return p
}

// changesLead counts the changes and those that are open.
func changesLead(all, open int) Lead {
	paras := []string{"A change of level is listed when an independent run or a later release confirmed it, or a person " +
		"decided it."}
	of := words.Plural(all, "change") + " of level"
	switch {
	case all == 0:
		return Lead{Text: "No level has changed in the history of what is judged.", Paras: paras}
	case open > 0:
		return Lead{Tone: words.ToneBad, Mark: schema.Regressed, Word: words.Count(open) + " open", Paras: paras,
			Text: fmt.Sprintf("of %s, %s that nobody has explained or accepted.", of, words.Plural(open, "regression"))}
	}
	return Lead{Tone: words.ToneGood, Mark: schema.Pass, Word: "None open", Text: of + ", each listed where it began.",
		Paras: paras}
}

// levelRow is a change in two lines.
func (r *Report) levelRow(c *levelChange, state Cell) Row {
	s, rel := c.Series, r.Releases[c.release]
	since := Cell{Text: rel.Name, Head: true, Href: ReleasePath(rel.Name)}
	if !rel.Date.IsZero() {
		since.Sub = day(rel.Date)
	}
	level := Cell{Text: words.OnDevice(s.Model, s.Device), Href: PairPath(s.Model, s.Device),
		Sub: strings.TrimSpace(metricLabel(s.Metric, s.Stat) + " " + words.Workload(s.Key))}
	if n := len(c.with); n > 0 {
		level.Sub += fmt.Sprintf(" and %d more", n)
	}
	values := Cell{Text: words.Absent, Missing: "no verdict has the values"}
	interval, beside := text(words.Absent), text("")
	if v := c.verdict; v != nil {
		before, ok1 := v.Ref.Get()
		after, ok2 := v.Value.Get()
		if ok1 && ok2 {
			values = Cell{Text: words.Number(before) + " → " + words.Number(after), Sub: direction(s.Metric)}
		}
		if v.Interval != nil {
			interval = text(words.IntervalOf(*v))
		}
	}
	if c.began != nil {
		beside = Cell{Text: elseChanged(c.began), Sentence: true}
	}
	effect, way := c.Effect, "better"
	if c.regressed() {
		way = "worse"
	}
	return Row{Anchor: schema.Slug(rel.Name + " " + s.Model + " " + s.Device + " " + way), Cells: []Cell{
		since, level, values, {Text: words.Signed(s.Metric, effect), Sort: &effect, Strong: true}, interval,
		{Spark: r.spark(s, len(r.Releases)-1)}, r.commitRange(c.release), beside, state,
	}}
}

// elseChanged says what differs between the two builds beside the number.
func elseChanged(v *schema.Verdict) string {
	c, ok := v.Reason.(schema.Change)
	if !ok {
		return ""
	}
	var parts []string
	for _, s := range []string{c.Differs, c.Build} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if c.SameBuild != "" {
		parts = append(parts, "the same build: "+c.SameBuild)
	}
	if c.SameCommit != "" {
		parts = append(parts, "the same "+c.SameCommit)
	}
	if len(parts) == 0 {
		return "Nothing else is stated to differ."
	}
	return words.Capital(strings.Join(parts, "; ")) + "."
}
