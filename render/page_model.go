package render

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
)

// PairPage shows one model on one device over releases.
func (r *Report) PairPage(pair Pair) Page {
	at := pair.Newest
	rel, runs := r.Releases[at], r.runsOfPair(pair)
	d, review := words.Decide(r.Gate.PairResult(at, pair.Pair)), r.Gate.Review(at, pair.Model, pair.Device)
	name := words.OnDevice(pair.Model, pair.Device)
	p := r.page(PairPath(pair.Model, pair.Device), "models", name, name+", newest "+rel.Name+": "+d.Detail,
		Link{"Models", "index.html#models"})
	p.Lead, p.Simulated = decisionLead(d, review), ""
	p.Eyebrow = fmt.Sprintf("%s on %s, measured in %s, newest %s of %s.", words.OrUnknown(cmp.Or(pair.ID, pair.Model)),
		words.Device(pair.Device), words.Plural(len(r.runs[pair.Pair]), "release"), rel.Name, day(rel.Date))
	if pair.Device == schema.Simulated {
		p.Simulated = allSimulated
	}
	verdicts, newest := r.Gate.PairTargets(at, pair.Pair), r.Gate.Newest(at)
	switch {
	case !r.Graded():
		p.Eyebrow = fmt.Sprintf("%s, newest run of %s.", words.Plural(len(runs), "run"), day(rel.Date))
		p.ungraded(name, r.heldIn(runs))
	case newest != at:
		p.Lead.Text = fmt.Sprintf("Not measured in %s. In %s: %s", r.nameOf(newest), r.nameOf(at), d.Detail)
		p.Lead.Word, p.Lead.Tone, p.Lead.Mark = string(gate.NotMeasured), words.ToneWarning, schema.NotMeasured
	}
	all := Link{"all series", chosen(seriesPage, "of", pairSegment(pair.Model, pair.Device))}
	p.add(r.verdictSections(&review, at, changedIn(review.History), "", all)...)
	curves := Section{ID: "curves", Title: "Output against what a user sees",
		Intro: "Each line is a release, each mark a concurrency."}
	if plane := r.releasePlane(pair); plane != nil {
		curves.Blocks, p.Scripts = append(curves.Blocks, plane), []string{planeScript}
	}
	if t := r.curveChanges(pair); t != nil {
		curves.Blocks = append(curves.Blocks, t)
	}
	p.add(curves)
	if r.Graded() || anyGraded(verdicts) {
		p.add(section("targets", "Targets in force", r.gridIntro(verdicts)+" "+noTargetNote(verdicts),
			r.targetGrid(verdicts, false).cut(r.allVerdicts(at))))
	}
	for i, t := range r.pointTables(r.points(r.runs[pair.Pair][at]), rowsShown) {
		t.cut(r.allIn(at, "points")).whole(r.inExplore(at, pair.Pair)).Titled = false
		if i > 0 {
			p.add(section("spread", "Spread of latencies", "", t))
			continue
		}
		links := Links{r.reportLink(at, pair)}
		for _, script := range r.scriptsIn(runs) {
			links = append(links, Link{"parameters and results of " + script, ScriptPath(script)})
		}
		p.add(section("results", "Results of "+rel.Name, "", t, links))
	}
	const few, tasks = 10, 8 // runs, the newest: the page of series has those of each release
	b := r.releaseBoard(pair, tasks)
	if t := b.table(); t != nil {
		s := section("evals", "Evals", b.about(), t.cut("data/ has all rows, by release").whole(
			exploring("All in Explore", "model", words.OrUnknown(pair.Model), "device", words.Device(pair.Device))))
		if newest := r.runs[pair.Pair][at]; b.parts+b.left > 0 {
			s = s.leading("all scores of the newest run", RunPath(r.Columns.Runs[newest[len(newest)-1]].ID))
		}
		p.add(s)
	}
	p.add(r.runsSection(runs, few))
	return p
}

// runsOfPair are all runs of a model and device, oldest first.
func (r *Report) runsOfPair(pair Pair) (runs []int) {
	for _, ri := range r.with[pair.Pair] {
		runs = append(runs, r.runs[pair.Pair][ri]...)
	}
	return runs
}

// anyGraded reports whether a target was in force.
func anyGraded(list []schema.Verdict) bool {
	return slices.ContainsFunc(list, func(v schema.Verdict) bool { return v.Outcome != schema.NoTarget })
}
