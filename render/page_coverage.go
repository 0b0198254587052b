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

// CoveragePage answers: what do we not know, and since when?
func (r *Report) CoveragePage() Page {
	p := r.page(CoveragePath, "coverage", "Coverage", "What was measured, by model, device and release.")
	p.Lead = Lead{Text: "Nothing has been measured."}
	at := r.Newest()
	if at < 0 {
		p.add(section("map", "Models and devices by release", "", Empty{What: "Nothing to show",
			Why: "The history folder holds no run.", Cmd: "ttreport build PATH"}))
		return p
	}
	review := r.Gate.Review(at, "", "")
	cover := r.Gate.Coverage(&review)
	p.Eyebrow = fmt.Sprintf("Newest: %s, %s.", r.Releases[at].Name, day(r.Releases[at].Date))
	p.Lead = Lead{Tone: words.ToneGood, Mark: schema.Pass, Word: "All measured", Text: fmt.Sprintf(
		"%s of %s have a number in %s.", words.Count(cover.Measured),
		words.Plural(cover.Measured+len(cover.Gaps), "expected point"), r.Releases[at].Name)}
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
	const most = 12 // releases that fit beside each other
	all := []Column[Pair]{{col("Model and device"), func(p Pair) Cell { return pairHead(p.Pair) }}}
	var releases []int
	for i := at; i >= 0 && len(releases) < most; i = r.Gate.Before(i) {
		releases = append(releases, i)
	}
	slices.Reverse(releases)
	for k, i := range releases {
		results := map[schema.Pair]gate.Result{}
		for _, x := range r.Gate.Results(i).Pairs {
			results[x.Pair] = x.Result
		}
		all = append(all, Column[Pair]{col(r.Releases[i].Name), func(p Pair) Cell {
			return r.covered(p.Pair, results[p.Pair], releases[:k+1])
		}})
	}
	all = append(all, Column[Pair]{col("Now"), func(p Pair) Cell { return text(nowText(r.pairCell(p))) }})
	pairs, _ := r.listed()
	return Section{ID: "map", Title: "Models and devices by release", Intro: "The worst of each. Not measured again: an " +
		"earlier release has it and this one does not; a dash continues it. 8/10: points, where an earlier release has " +
		"more." + r.hiddenNote(),
		Blocks: []Block{Prose{"✓ nothing shown to have regressed · ▼ regressed (▽ seen once) · " +
			"✕ a required target is missed · ? inconclusive · ▲ improved · … no baseline · □ not measured again · " +
			"— still not · blank: not measured yet"},
			tableOf("Models and devices by release", Matrix, pairs, all).cut("data/index.json has every release")}}
}

// nowText is the state of a model and device in words: what the sign of its newest release stands for, and how much of
// it is known.
func nowText(c Cell) string {
	if len(c.Marks) == 0 {
		return strings.ToLower(c.Text) // a decision without a count
	}
	var parts []string
	for _, m := range c.Marks {
		if m.N > 0 {
			m.Text = words.Count(m.N) + " " + m.Text
		}
		parts = append(parts, m.Text)
	}
	return strings.Join(parts, "; ")
}

// covered is a model and device in the last of some releases, which came to a result: how many points and scores it has
// beside the most that one of those before has.
func (r *Report) covered(p schema.Pair, result gate.Result, releases []int) Cell {
	points := func(release int) int {
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
	// before reports whether an earlier release of the same sequence has it.
	before := func(release int) bool {
		return slices.ContainsFunc(r.with[p], func(i int) bool {
			return i < release && judge.IsBaseline(r.Releases[i].Channel)
		})
	}
	last := len(releases) - 1
	n, most, gone := points(releases[last]), 0, false
	for _, i := range releases[:last] {
		had := points(i)
		most, gone = max(most, had), had == 0 && (gone || before(i))
	}
	switch {
	case n == 0 && gone:
		return Cell{Text: "—", Missing: "still not measured again"}
	case n == 0 && before(releases[last]):
		return Cell{Outcome: schema.NotMeasured, Text: words.NotMeasuredAgain}
	case n == 0:
		return Cell{Missing: "not measured yet"}
	}
	c := worst(result)
	if n < most {
		c.Sub = fmt.Sprintf("%d/%d", n, most)
	}
	return c
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

// gapSection lists what has no number now by system, what is missing apart from what was not measured again, oldest
// first, with the command that measures it.
func (r *Report) gapSection(g *gate.Review, cover *gate.Coverage) Section {
	type kind struct {
		of    schema.System
		again bool
	}
	type gaps struct {
		n     int
		first gate.Gap // the one that has been open for longest
	}
	var by groups[kind, gaps]
	for _, x := range cover.Gaps {
		of, known := by.of(kind{x.System, x.Again})
		if of.n++; !known || x.Releases > of.first.Releases {
			of.first = x
		}
	}
	slices.SortStableFunc(by.list, func(a, b gaps) int { return b.first.Releases - a.first.Releases })
	s := section("gaps", "Without a number now, oldest first", "Missing: required, planned or tried. Not measured again: "+
		"an earlier release has it. Neither counts as unchanged.",
		tableOf("Without a number now, oldest first", List, by.list, []Column[gaps]{
			{col("Model"), func(x gaps) Cell {
				return modelHead(schema.Pair{Model: x.first.Model, Device: x.first.Device})
			}},
			{col("Device"), func(x gaps) Cell { return text(words.OrUnknown(x.first.Device)) }},
			{medium("Why"), func(x gaps) Cell {
				if x.first.Again {
					return Cell{Outcome: schema.NotMeasured, Text: words.NotMeasuredAgain}
				}
				return Cell{Outcome: schema.NotMeasured}
			}},
			{num("Points"), func(x gaps) Cell { return count(x.n) }},
			{medium("Last measured in"), func(x gaps) Cell {
				if x.first.Last == "" {
					return Cell{Text: "never", Missing: "planned or required, and never measured"}
				}
				return Cell{Text: x.first.Last, Href: ReleasePath(x.first.Last)}
			}},
			{num("Releases without"), func(x gaps) Cell { return count(x.first.Releases) }},
			{medium("Such as"), func(x gaps) Cell { return text(words.Workload(x.first.Key)) }},
		}).cut(allInJSON))
	if line, cost := r.missingLine(g, cover); line != "" && len(cover.Gaps) > 0 {
		s.Blocks = append(s.Blocks, Prose{"Measure what has no number: " + cost + "."}, Commands{line})
	}
	return s
}
