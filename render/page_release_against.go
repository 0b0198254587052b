package render

import (
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// againstSections are what a release came to against history and targets; where nothing is graded, what there is.
func (r *Report) againstSections(at int, f gate.Findings) []Section {
	var out []Section
	history := r.changedBlocks(comparedOnly(f.History), at)
	t, compared := history[0].(*Table)
	if compared {
		t.cut(r.allVerdicts(at)).in(r.inExplore(at, schema.Pair{}))
	}
	if compared || r.graded() {
		out = append(out, Section{ID: "history", Title: "Against history", Intro: above(r.comparedWith(at), f.History),
			Blocks: append(history, r.sureness(at)...), End: r.besideLink(at)},
			shiftSection(f.Shifts))
	}
	if anyGraded(f.Targets) || r.graded() {
		out = append(out, r.targetSection(at, f.Targets))
	}
	return out
}

// sureness says below the rows how small a change would have been named.
func (r *Report) sureness(at int) []Block {
	if r.Gate.Before(at) < 0 {
		return nil
	}
	return []Block{Prose{fitText(r.Gate.Fit(at))}}
}

// lintSection lists lints; that nothing was graded is none where nothing is meant to be.
func (r *Report) lintSection(list []lint.Lint) Section {
	if !r.graded() {
		list = slices.DeleteFunc(slices.Clone(list), func(l lint.Lint) bool { return l.ID == lint.IDNothingGraded })
	}
	if len(list) == 0 {
		return Section{}
	}
	return Section{ID: "lints", Title: "Lints",
		Intro:  "What makes numbers untrustworthy, whatever they are; ttreport help lints explains each.",
		Blocks: []Block{lintTable(list).cut(allInJSON)}}
}
