package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// ReleasePage shows one release against the one before and against its targets.
func (r *Report) ReleasePage(at int) Page {
	rel := r.Releases[at]
	f := r.Gate.Findings(at)
	d, review := words.Decide(r.Gate.Results(at).Whole), r.Gate.Review(at, "", "")
	p := r.page(ReleasePath(rel.Name), "releases", rel.Name, d.Detail, Link{"Releases", ReleasesPath})
	p.Title, p.Simulated = rel.Name+": "+d.Word, r.simulated(at)
	p.Eyebrow = words.Capital(fmt.Sprintf("%s %s, %s, %s.", r.releaseWord(rel, ""), rel.Name, day(rel.Date),
		words.Plural(len(rel.Runs), "run")))
	if rel.Date.IsZero() {
		p.Eyebrow += " " + noTime
	}
	p.Lead = decisionLead(d, review)
	if at > 0 {
		p.Prev = &Link{r.Releases[at-1].Name, ReleasePath(r.Releases[at-1].Name)}
	}
	if at+1 < len(r.Releases) {
		p.Next = &Link{r.Releases[at+1].Name, ReleasePath(r.Releases[at+1].Name)}
	}
	if !r.Graded() {
		p.ungraded(rel.Name, r.heldIn(rel.Runs))
	}
	var beside Link
	if before := r.besideOf(at); before >= 0 {
		name := r.Releases[before].Name
		beside = Link{"compare with " + name, chosen("compare/index.html", "arelease", name, "brelease", rel.Name)}
	}
	fit := ""
	if r.Gate.Before(at) >= 0 { // how small a change would have been named
		fit = words.Fit(r.Gate.Fit(at))
	}
	p.add(r.verdictSections(&review, at, changedIn(f.History), fit, beside)...)
	if notes := r.NotesOf(rel.Name); len(notes) > 0 {
		p.add(section("notes", "Notes", "", Notes(notes)))
	}
	if anyGraded(f.Targets) || r.Graded() {
		p.add(r.targetSection(at, f.Targets))
	}
	lints := f.Lints
	if !r.Graded() { // that nothing was graded is no lint where nothing is meant to be
		lints = slices.DeleteFunc(slices.Clone(lints), func(l lint.Lint) bool { return l.ID == lint.IDNothingGraded })
	}
	p.add(r.targetChangeSection(at),
		section("missing", "Planned and not measured", "", plannedTable(f.Targets).cut(r.allVerdicts(at))),
		section("lints", "Lints", "What makes numbers untrustworthy, whatever they are; ttreport help lints explains each.",
			lintTable(lints).cut(allInJSON)))
	p.add(r.pairSections(at)...)
	p.add(r.runsSection(rel.Runs, rowsShown), section("downloads", "Downloads",
		"Numbers in base units; the report is what a ticket or a pull request takes.", Links{
			{"report as markdown", ReleaseReportPath(rel.Name)}, r.dataLink(at, "points"), r.dataLink(at, "scores"),
			r.dataLink(at, "verdicts"),
		}))
	p.shorten()
	return p
}

// decisionLead is a decision with its reason in a sentence, and what it counts that neither its card nor its changes
// say.
func decisionLead(d words.Decision, g gate.Review) Lead {
	l := Lead{Tone: d.Tone, Mark: toneMark(d.Tone), Word: d.Word, Text: words.Heading(&g, d.Word)}
	g.Result.Counts = slices.DeleteFunc(slices.Clone(g.Result.Counts), func(c gate.Tally) bool {
		return slices.Contains(append(ofHistory(), gate.FailOpen, gate.FailTarget, gate.FailNotRemeasured,
			gate.NoteBelowLimit, gate.NoteMet), c.Kind)
	})
	l.Paras = words.Inventory(&g)
	return l
}

// allInJSON says where all rows of a table of the gate are.
const allInJSON = "ttreport check --format json has all"

// targetSection is what the targets in force came to.
func (r *Report) targetSection(release int, verdicts []schema.Verdict) Section {
	s := section("targets", "Targets in force", r.gridIntro(verdicts)+" "+noTargetNote(verdicts),
		r.targetGrid(verdicts, true).cut(r.allVerdicts(release)).whole(
			&Link{"verdicts as CSV", r.DataPath(release, "verdicts")}))
	if len(s.Blocks) == 0 {
		s.Intro, s.Blocks = "", []Block{Empty{What: "No targets", Cmd: "ttreport targets list",
			Why: "No target file covers these models on these devices; nothing was graded, which is not a pass."}}
	}
	return s
}

// targetChangeSection lists targets that differ from those of the release before.
func (r *Report) targetChangeSection(at int) Section {
	type change = judge.TargetChange
	list, since := r.Gate.TargetChanges(at)
	return section("target-changes", "Targets that changed",
		"Since "+since+": a verdict that turned may have turned because its target did.",
		tableOf("Targets that changed", List, list, []Column[change]{
			{col("Where").in(loadUnit), func(c change) Cell {
				where := pairHead(schema.Pair{Model: c.Model, Device: c.Device})
				where.Sub = words.Workload(c.Key)
				return where
			}},
			{col("Metric"), func(c change) Cell { return Cell{Text: words.Metric(c.Metric, ""), Sub: schema.Unit(c.Metric)} }},
			{col("Level"), func(c change) Cell { return text(c.Level) }},
			{num("Was"), func(c change) Cell { return number(c.Was) }},
			{num("Is"), func(c change) Cell { return number(c.Is) }},
			{col("Source"), func(c change) Cell { return code(c.Source) }},
		}).cut("the history documents have all"))
}

// changedIn are the verdicts that were compared and show a change, that a re-run did not see one again, or that nothing
// could be shown for want of a number.
func changedIn(history []schema.Verdict) []schema.Verdict {
	return verdictsThat(history, func(v *schema.Verdict) bool {
		c, _ := v.Reason.(schema.Change)
		return compared(v) &&
			(v.Outcome != schema.Unchanged && v.Outcome != schema.Inconclusive || c.Why == schema.WhyNotSeenAgain)
	})
}

// compared reports whether a row has a baseline; rows without one say nothing that the count of them does not.
func compared(v *schema.Verdict) bool {
	return present(v.Ref) || schema.ReasonIs[schema.NotRemeasured](v.Reason) ||
		slices.Contains([]schema.Outcome{schema.NotComparable, schema.Excluded, schema.NotMeasured}, v.Outcome)
}

// NotesOf are the notes on a release.
func (r *Report) NotesOf(release string) []Note {
	return slices.DeleteFunc(slices.Clone(r.Notes), func(n Note) bool { return n.Release != release })
}

func noTargetNote(list []schema.Verdict) string {
	n := 0
	for i := range list {
		n += truth(list[i].Outcome == schema.NoTarget && list[i].Metric == "")
	}
	out := "Stored with the runs when they were first read"
	if n == 0 {
		return out + "; later edits of target files do not reach them."
	}
	return out + ". " + words.Plural(n, "workload") + " without a target, which is not a pass."
}

// plannedTable lists planned workloads without a result.
func plannedTable(list []schema.Verdict) *Table {
	list = verdictsThat(list, func(v *schema.Verdict) bool { return schema.ReasonIs[schema.Planned](v.Reason) })
	return tableOf("Planned and not measured", List, list, []Column[schema.Verdict]{
		{col("Verdict"), func(v schema.Verdict) Cell { return Cell{Outcome: v.Outcome} }},
		{col("Workload").in(loadUnit), func(v schema.Verdict) Cell { return head(v.Key.Workload(), "") }},
		{col("Model"), func(v schema.Verdict) Cell { return text(words.OrUnknown(v.Model)) }},
		{col("Device"), func(v schema.Verdict) Cell { return text(words.OrUnknown(v.Device)) }},
		{col("Tool"), func(v schema.Verdict) Cell { return text(v.Key.Tool) }},
	})
}

// fewPairs is how many models on devices a release may have before its page leaves their results to their own pages,
// and reports as markdown are written for the release as a whole only.
const fewPairs = 8

// pairSections are the decision on each model and device, and for few of them their results and evals.
func (r *Report) pairSections(at int) []Section {
	pairs := r.PairsOf(at)
	var out []Section
	isMany := len(pairs) > fewPairs
	if r.Graded() && (isMany || len(r.Gate.Results(at).Pairs) > 1) {
		out = append(out, r.pairsSection(at, pairs))
	}
	if isMany { // the table of runs has them
		return out
	}
	results := Section{ID: "results", Title: "Results",
		Intro: "One table for each model and device; each also as markdown."}
	evals := Section{ID: "evals", Title: "Evals",
		Intro: "Scores in the tool's own scale, with n and standard error where they are known."}
	for _, pair := range pairs {
		name, all := words.OnDevice(pair.Model, pair.Device), r.inExplore(at, pair.Pair)
		if tables := r.pointTables(r.points(r.runs[pair.Pair][at]), rowsShown); len(tables) > 0 {
			t := tables[0] // the page of the model and device has the other
			t.Caption = name
			if pair.Device == schema.Simulated {
				t.Caption += " (no hardware: simulated)"
			}
			results.Blocks = append(results.Blocks, t.cut(r.allIn(at, "points")).whole(all),
				Links{{name + " over releases", PairPath(pair.Model, pair.Device)}, r.reportLink(at, pair)})
		}
		if scores := r.scoresOf(r.runs[pair.Pair][at]...); len(scores) > 0 {
			t := scoreTable(scores[:min(rowsShown, len(scores))]).of(len(scores))
			t.Caption = name
			evals.Blocks = append(evals.Blocks, t.cut(r.allIn(at, "scores")).whole(all))
		}
	}
	return append(out, results, evals)
}

// pairsSection is what people sign: the decision on each model and device, worst first.
func (r *Report) pairsSection(at int, pairs []Pair) Section {
	decisions := make(map[schema.Pair]words.Decision, len(pairs))
	for _, p := range pairs {
		decisions[p.Pair] = words.Decide(r.Gate.PairResult(at, p.Pair))
	}
	decided := func(p Pair) words.Decision { return decisions[p.Pair] }
	rank := map[words.Tone]int{words.ToneBad: 0, words.ToneWarning: 1, words.ToneNone: 2, words.ToneGood: 3}
	slices.SortStableFunc(pairs, func(a, b Pair) int { return rank[decided(a).Tone] - rank[decided(b).Tone] })
	rows := foldEqual(pairs, func(p *Pair) string {
		d := decided(*p)
		if d.Tone == words.ToneBad || d.Tone == words.ToneWarning { // somebody must act on it
			return d.Word + d.Detail + p.Model + "\x00" + p.Device
		}
		return d.Word + d.Detail
	})
	t := tableOf("Models on devices, worst first", List, rows, []Column[[]Pair]{
		{col("Decision"), func(same []Pair) Cell {
			d := decided(same[0])
			return Cell{Text: d.Word, Outcome: toneMark(d.Tone)}
		}},
		{col("Model"), func(same []Pair) Cell {
			if len(same) > 1 {
				return head(words.Count(len(same))+" models and devices", "index.html#models")
			}
			return modelHead(same[0].Pair)
		}},
		{col("Device"), func(same []Pair) Cell {
			if len(same) > 1 {
				return Cell{}
			}
			return text(words.OrUnknown(same[0].Device))
		}},
		{col("Why"), func(same []Pair) Cell { return sentence(words.Capital(decided(same[0]).Detail)) }},
	})
	for _, x := range r.Gate.Results(at).Pairs {
		if d := words.Decide(x.Result); x.Result.Word == gate.NotMeasured {
			t.row(Cell{Text: d.Word, Outcome: schema.NotMeasured}, modelHead(x.Pair), text(words.OrUnknown(x.Device)),
				sentence(words.Capital(d.Detail)))
		}
	}
	return section("pairs", "Models and devices", "Each is decided by itself.", t.cut("data/index.json has all"))
}

// HasReport says whether each model and device has a report of its own in a release.
func (r *Report) HasReport(at int) bool { return r.has[at] <= fewPairs }

func (r *Report) reportLink(at int, pair Pair) Link {
	name := r.Releases[at].Name
	if !r.HasReport(at) {
		return Link{"report of " + name + " as markdown", ReleaseReportPath(name)}
	}
	return Link{"report as markdown", ReportPath(name, pair.Model, pair.Device)}
}

// runsSection lists runs with their provenance pages.
func (r *Report) runsSection(runs []int, most int) Section {
	type run = *columns.RunHead
	var list []run
	for _, i := range slices.Backward(runs) {
		list = append(list, &r.Columns.Runs[i])
	}
	t := tableOf("Runs", List, list, []Column[run]{
		{col("Run"), func(h run) Cell { return Cell{Text: h.ID, Head: true, Href: RunPath(h.ID), Code: true} }},
		{medium("Started"), func(h run) Cell {
			if h.Start.IsZero() {
				return text(words.Absent)
			}
			return text(moment(h.Start))
		}},
		{col("Model"), func(h run) Cell { return text(words.OrUnknown(h.Model.Name)) }},
		{col("Device"), func(h run) Cell { return text(words.OrUnknown(h.Device)) }},
		{col("Engine"), func(h run) Cell { return text(words.OrUnknown(strings.TrimSuffix(h.Engine+" "+h.Version, " "))) }},
		{col("Commit"), r.runCommit},
		{num("Points"), func(h run) Cell { return count(h.PointsEnd - h.FirstPoint) }},
		{num("Evals"), func(h run) Cell { return count(h.Scores) }},
		{num("Problems"), func(h run) Cell { return count(h.Errors + h.Warnings) }},
	}).dropEmpty(1)
	return section("runs", "Runs", "Each with its sources, commands and file hashes.",
		t.elsewhere("the files under data/ name every run").keep(most))
}

// lintTable lists lints, worst first.
func lintTable(list []lint.Lint) *Table {
	type lints = []lint.Lint
	return tableOf("Lints, worst first", List, FoldLints(list), []Column[lints]{
		{col("Lint"), func(same lints) Cell {
			id := string(same[0].ID)
			return Cell{Text: id, Head: true, Code: true, Href: topicPath("lints") + "#" + Address(id)}
		}},
		{medium("Severity"), func(same lints) Cell { return text(string(same[0].Severity)) }},
		{col("Where"), func(same lints) Cell {
			l := same[0]
			on := words.OnDevice(l.Model, l.Device)
			switch {
			case len(same) == 1 && l.Run == "":
				return text(l.Release)
			case len(same) == 1:
				return Cell{Text: on, Sub: l.Run, Href: RunPath(l.Run)}
			}
			pairs, runs := map[schema.Pair]bool{}, map[string]bool{}
			for i := range same {
				pairs[same[i].Pair()], runs[same[i].Run] = true, true
			}
			places := on + ", " + words.Plural(len(runs), "run")
			if len(pairs) > 1 {
				places = words.Count(len(pairs)) + " models and devices"
			}
			return Cell{Text: places, Sub: "shown: " + on, Href: RunPath(l.Run)}
		}},
		{num("Cases"), func(same lints) Cell {
			cases := 0
			for _, x := range same {
				cases += x.Count
			}
			return count(cases)
		}},
		{col("What"), func(same lints) Cell { return sentence(words.Lint(same[0])) }},
	})
}
