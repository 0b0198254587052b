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

// CoveragePath is the page of what was measured by release.
const CoveragePath Address = "coverage/index.html"

// releasesMapped is how many releases the map has: what fits beside each other.
const releasesMapped = 12

// CoveragePage answers: what do we not know, and since when?
func (r *Report) CoveragePage() Page {
	p := Page{
		Path: CoveragePath, Title: "Coverage", Nav: "coverage", Simulated: r.simulated(-1),
		Description: "What was measured, by model, device and release.",
		Crumbs:      []Link{{"Overview", "index.html"}, {"Coverage", ""}},
		Lead:        Lead{Text: "Nothing has been measured."},
	}
	at := r.Newest()
	if at < 0 {
		p.add(Section{ID: "map", Title: "Models and devices by release", Blocks: []Block{Empty{What: "Nothing to show",
			Why: "The history folder holds no run.", Cmd: "ttreport build PATH"}}})
		return p
	}
	review := r.Gate.Review(at, "", "")
	cover := r.Gate.Coverage(&review)
	all := cover.Measured + len(cover.Gaps)
	p.Eyebrow = fmt.Sprintf("Newest: %s, %s.", r.Releases[at].Name, day(r.Releases[at].Date))
	p.Lead = Lead{Tone: words.ToneGood, Mark: schema.Pass, Word: "All measured", Text: fmt.Sprintf(
		"%s of %s planned, required or measured before have a number in %s.", words.Count(cover.Measured),
		words.Plural(all, "point"), r.Releases[at].Name)}
	if o := cover.Oldest(); o != nil {
		p.Lead.Tone, p.Lead.Mark, p.Lead.Word = words.ToneWarning, schema.NotMeasured, gapsText(&cover)
		if o.Last != "" {
			p.Lead.Paras = []string{fmt.Sprintf("The oldest gap: %s was last measured in %s.",
				words.OnDevice(o.Model, o.Device), o.Last)}
		}
	}
	p.add(r.coverageMap(at), r.gapSection(&review, &cover))
	return p
}

// coverageMap is the worst of each model and device in each of the last releases.
func (r *Report) coverageMap(at int) Section {
	var columns []int
	for i := at; i >= 0 && len(columns) < releasesMapped; i = r.Gate.Before(i) {
		columns = append(columns, i)
	}
	slices.Reverse(columns)
	t := &Table{Caption: "Models and devices by release", Layout: Matrix, Cols: []Col{{Head: "Model and device"}}}
	results := map[int]map[schema.Pair]gate.Result{}
	for _, i := range columns {
		t.Cols = append(t.Cols, Col{Head: r.Releases[i].Name})
		results[i] = map[schema.Pair]gate.Result{}
		for _, x := range r.Gate.Results(i).Pairs {
			results[i][x.Pair] = x.Result
		}
	}
	pairs, hidden := r.listed()
	for _, p := range pairs {
		head := Cell{Text: words.OnDevice(p.Model, p.Device), Head: true, Href: PairPath(p.Model, p.Device)}
		now := text(nowText(r.pairCell(p)))
		t.row(slices.Concat([]Cell{head}, r.coverageRow(p.Pair, columns, results), []Cell{now})...)
	}
	t.Cols = append(t.Cols, Col{Head: "Now"})
	s := Section{ID: "map", Title: "Models and devices by release", Intro: "The worst of each. Not measured again: an " +
		"earlier release has it and this one does not; a dash continues it. 8/10: points, where an earlier release has more.",
		Blocks: []Block{Prose{"✓ nothing shown to have regressed · ▼ regressed (▽ seen once) · " +
			"✕ a required target is missed · ? inconclusive · ▲ improved · … no baseline · □ not measured again · " +
			"— still not · blank: not measured yet"},
			t.cut("data/index.json has every release")}}
	if hidden > 0 {
		s.Intro += r.hiddenNote()
	}
	return s
}

// nowText is the state of a model and device in words: what the sign of its newest release stands for, and how much of
// it is known.
func nowText(c Cell) string {
	if len(c.Marks) == 0 {
		return strings.ToLower(c.Text) // a decision without a count
	}
	var parts []string
	for _, m := range c.Marks {
		part := m.Text
		if m.N > 0 {
			part = words.Count(m.N) + " " + part
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// coverageRow is a model and device in each of some releases.
func (r *Report) coverageRow(p schema.Pair, releases []int, results map[int]map[schema.Pair]gate.Result) []Cell {
	var cells []Cell
	most, gone := 0, false
	for _, i := range releases {
		n := r.pointsOf(p, i)
		switch {
		case n == 0 && gone:
			cells = append(cells, Cell{Text: "—", Missing: "still not measured again"})
		case n == 0 && r.measuredBefore(p, i):
			cells, gone = append(cells, Cell{Outcome: schema.NotMeasured, Text: words.NotMeasuredAgain}), true
		case n == 0:
			cells = append(cells, Cell{Missing: "not measured yet"})
		default:
			c := worst(results[i][p])
			if n < most {
				c.Sub = fmt.Sprintf("%d/%d", n, most)
			}
			cells, most, gone = append(cells, c), max(most, n), false
		}
	}
	return cells
}

// pointsOf is how many points and scores of a model and device a release has.
func (r *Report) pointsOf(p schema.Pair, release int) int {
	keys, scores := map[int32]bool{}, 0
	for _, run := range r.runs[p][release] {
		h := &r.Columns.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			keys[r.Columns.Points[i].Key] = true
		}
		scores = max(scores, h.Scores)
	}
	return len(keys) + scores
}

// measuredBefore reports whether an earlier release of the same sequence has a model and device.
func (r *Report) measuredBefore(p schema.Pair, release int) bool {
	return slices.ContainsFunc(r.with[p], func(i int) bool {
		return i < release && judge.IsBaseline(r.Releases[i].Channel)
	})
}

// worst is the most serious thing that a decision counts, as a cell.
func worst(d gate.Result) Cell {
	for _, c := range d.Counts {
		switch c.Kind {
		case gate.FailConfirmed:
			return Cell{Outcome: schema.Regressed, Evidence: schema.Confirmed, Decisive: c.Fails}
		case gate.FailRunWide, gate.FailSuspected:
			return Cell{Outcome: schema.Regressed, Evidence: schema.Suspected, Decisive: c.Fails}
		case gate.FailTarget:
			return Cell{Outcome: schema.Fail, Decisive: c.Fails}
		case gate.FailInconclusive:
			return Cell{Outcome: schema.Inconclusive}
		case gate.NoteImproved:
			return Cell{Outcome: schema.Improved}
		}
	}
	switch d.Word {
	case gate.NoBaseline, gate.NotGraded, "":
		return Cell{Outcome: schema.NoBaseline, Text: "no baseline"}
	case gate.NotMeasured:
		return Cell{Outcome: schema.NotMeasured, Text: words.NotMeasuredAgain}
	case gate.Fail:
		return Cell{Outcome: schema.Fail, Decisive: true}
	}
	return Cell{Outcome: schema.Pass}
}

// gapSection lists what has no number now, oldest first, with the command that measures it.
func (r *Report) gapSection(g *gate.Review, cover *gate.Coverage) Section {
	if len(cover.Gaps) == 0 {
		return Section{}
	}
	list := gapsBySystem(cover.Gaps)
	t := &Table{
		Caption: "Without a number now, oldest first", Layout: List,
		Cols: []Col{
			{Head: "Model"}, {Head: "Device"}, {Head: "Why", Length: Medium}, {Head: "Points", Num: true, Length: Short},
			{Head: "Last measured in", Length: Medium}, {Head: "Releases without", Num: true, Length: Short},
			{Head: "Such as", Length: Medium},
		},
	}
	for _, x := range list {
		last := Cell{Text: "never", Missing: "planned or required, and never measured"}
		if x.first.Last != "" {
			last = Cell{Text: x.first.Last, Href: ReleasePath(x.first.Last)}
		}
		why := Cell{Outcome: schema.NotMeasured}
		if x.first.Again {
			why.Text = words.NotMeasuredAgain
		}
		t.row(
			Cell{Text: words.OrUnknown(x.first.Model), Head: true, Href: PairPath(x.first.Model, x.first.Device)},
			text(words.OrUnknown(x.first.Device)), why, text(words.Count(x.n)), last, text(words.Count(x.first.Releases)),
			text(words.Workload(x.first.Key)),
		)
	}
	s := Section{ID: "gaps", Title: "Without a number now, oldest first",
		Intro: "Missing: required, planned or tried. Not measured again: an earlier release has it. Neither counts as " +
			"unchanged.", Blocks: []Block{t.cut(allInJSON)}}
	if line, cost := r.missingLine(g, cover); line != "" {
		s.Blocks = append(s.Blocks, Prose{"Measure what has no number: " + cost + "."}, Commands{line})
	}
	return s
}

// gapsOf is how many gaps of a kind a system has, with the one that has been open for longest.
type gapsOf struct {
	n     int
	first gate.Gap
}

// gapsBySystem counts gaps by system, what is missing apart from what was not measured again, oldest first.
func gapsBySystem(gaps []gate.Gap) []gapsOf {
	type group struct {
		of    schema.System
		again bool
	}
	var list []gapsOf
	place := map[group]int{}
	for _, x := range gaps {
		id := group{x.System, x.Again}
		at, known := place[id]
		if !known {
			at = len(list)
			place[id], list = at, append(list, gapsOf{first: x})
		}
		list[at].n++
		if x.Releases > list[at].first.Releases {
			list[at].first = x
		}
	}
	slices.SortStableFunc(list, func(a, b gapsOf) int { return b.first.Releases - a.first.Releases })
	return list
}
