package render

import (
	"fmt"
	"math"
	"slices"

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
	d, review := words.Decide(r.Result(at)), r.Review(at, "", "")
	p := Page{
		Path: ReleasePath(rel.Name), Title: rel.Name + ": " + d.Word, Nav: "releases", Description: d.Detail,
		Simulated: r.simulated(at),
		Crumbs:    []Link{{"Overview", "index.html"}, {r.releasesTitle(), ReleasesPath}, {rel.Name, ""}},
		Eyebrow: words.Capital(fmt.Sprintf("%s %s, %s, %s.", r.releaseWord(rel, ""), rel.Name, day(rel.Date),
			words.Plural(len(rel.Runs), "run"))),
		Lead: Lead{Tone: d.Tone, Mark: toneMark(d.Tone), Word: d.Word, Text: words.Headline(&review),
			Paras: words.Inventory(&review)},
	}
	if rel.Date.IsZero() {
		p.Eyebrow += " " + noTime
	}
	p.Prev, p.Next = r.nextTo(at)
	if r.graded() {
		p.add(Section{ID: "decision", Blocks: []Block{r.Card(&review)}},
			Section{ID: "counts", Blocks: []Block{r.counts(at)}})
	} else {
		p.ungraded(rel.Name, r.heldIn(rel.Runs))
	}
	if notes := r.NotesOf(rel.Name); len(notes) > 0 {
		p.add(Section{ID: "notes", Title: "Notes", Blocks: []Block{Notes(notes)}})
	}
	p.add(r.againstSections(at, f)...)
	if list, since := r.Gate.TargetChanges(at); len(list) > 0 {
		p.add(targetChangeSection(list, since))
	}
	if t := plannedTable(f.Targets); len(t.Rows) > 0 {
		p.add(
			Section{
				ID: "missing", Title: "Planned and not measured", Blocks: []Block{t.cut(r.allVerdicts(at))},
			},
		)
	}
	p.add(r.lintSection(f.Lints))
	p.add(r.pairSections(at)...)
	p.add(r.runsSection(rel.Runs), r.downloadSection(at))
	p.shorten()
	return p
}

// nextTo are the pages of the releases before and after one; nil at either end.
func (r *Report) nextTo(at int) (before, after *Link) {
	if at > 0 {
		name := r.Releases[at-1].Name
		before = &Link{name, ReleasePath(name)}
	}
	if at+1 < len(r.Releases) {
		name := r.Releases[at+1].Name
		after = &Link{name, ReleasePath(name)}
	}
	return before, after
}

// allInJSON says where all rows of a table of the gate are.
const allInJSON = "ttreport check --format json has all"

// targetSection is what the targets in force came to.
func (r *Report) targetSection(release int, verdicts []schema.Verdict) Section {
	s := Section{ID: "targets", Title: "Targets in force"}
	for _, t := range []*Table{r.targetGrid(verdicts, true), r.referenceTable(verdicts, true)} {
		if len(t.Rows) > 0 {
			csv := &Link{"verdicts as CSV", r.DataPath(release, "verdicts")}
			s.Intro, s.Blocks = gridIntro+" "+noTargetNote(verdicts), append(s.Blocks, t.cut(r.allVerdicts(release)).whole(csv))
		}
	}
	if len(s.Blocks) > 0 {
		return s
	}
	s.Blocks = []Block{Empty{What: "No targets", Cmd: "ttreport targets list",
		Why: "No target file covers these models on these devices; nothing was graded, which is not a pass."}}
	return s
}

// targetChangeSection lists targets that differ from those of the release before.
func targetChangeSection(list []judge.TargetChange, since string) Section {
	t := &Table{
		Caption: "Targets that changed", Layout: List,
		Cols: []Col{
			{Head: "Where", Unit: "ISL/OSL/concurrency"}, {Head: "Metric"}, {Head: "Level"},
			{Head: "Was", Num: true, Length: Short}, {Head: "Is", Num: true, Length: Short}, {Head: "Source"},
		},
	}
	for _, c := range list {
		where := Cell{
			Text: words.OnDevice(c.Model, c.Device), Sub: words.Workload(c.Key), Head: true,
			Href: PairPath(c.Model, c.Device),
		}
		t.row(
			where, Cell{Text: words.Metric(c.Metric, ""), Sub: schema.Unit(c.Metric)}, text(c.Level), number(c.Was),
			number(c.Is), Cell{Text: c.Source, Code: true},
		)
	}
	return Section{
		ID: "target-changes", Title: "Targets that changed",
		Intro:  "Since " + since + ": a verdict that turned may have turned because its target did.",
		Blocks: []Block{t.cut("the history documents have all")},
	}
}

// comparedOnly keeps the rows that have a baseline; rows without one say nothing that the count of them does not.
func comparedOnly(list []schema.Verdict) []schema.Verdict {
	alone := func(v *schema.Verdict) bool {
		_, ok := v.Ref.Get()
		return !ok && !schema.ReasonIs[schema.NotRemeasured](v.Reason) && v.Outcome != schema.NotComparable &&
			v.Outcome != schema.Excluded &&
			v.Outcome != schema.NotMeasured
	}
	n := 0
	for i := range list {
		if alone(&list[i]) {
			n++
		}
	}
	if n == 0 {
		return list // as in most releases: a verdict is half a kilobyte
	}
	out := make([]schema.Verdict, 0, len(list)-n)
	for i := range list {
		if !alone(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}

// NotesOf are the notes on a release.
func (r *Report) NotesOf(release string) []Note {
	var out []Note
	for _, n := range r.Notes {
		if n.Release == release {
			out = append(out, n)
		}
	}
	return out
}

func noTargetNote(list []schema.Verdict) string {
	n := 0
	for _, v := range list {
		if v.Outcome == schema.NoTarget && v.Metric == "" {
			n++
		}
	}
	if n == 0 {
		return "Stored with the runs when they were first read; later edits of target files do not reach them."
	}
	return fmt.Sprintf(
		"Stored with the runs when they were first read. %s without a target, which is not a pass.",
		words.Plural(n, "workload"),
	)
}

// plannedTable lists planned workloads without a result.
func plannedTable(list []schema.Verdict) *Table {
	t := &Table{
		Caption: "Planned and not measured", Layout: List,
		Cols: []Col{
			{Head: "Verdict"}, {Head: "Workload", Unit: "ISL/OSL/concurrency"}, {Head: "Model"}, {Head: "Device"},
			{Head: "Tool"},
		},
	}
	for _, v := range list {
		if schema.ReasonIs[schema.Planned](v.Reason) {
			t.row(
				Cell{Outcome: v.Outcome}, Cell{Text: v.Key.Workload(), Head: true}, text(words.OrUnknown(v.Model)),
				text(words.OrUnknown(v.Device)), text(v.Key.Tool),
			)
		}
	}
	return t
}

// fewPairs is how many models on devices a release may have before its page leaves their results to their own pages,
// and reports as markdown are written for the release as a whole only.
const fewPairs = 8

// pairSections are the decision on each model and device, and for few of them their results and evals.
func (r *Report) pairSections(at int) []Section {
	pairs := r.PairsOf(at)
	if len(pairs) > fewPairs {
		return []Section{r.pairsSection(at, pairs)}
	}
	var out []Section
	if len(r.Results(at).Pairs) > 1 {
		out = append(out, r.pairsSection(at, pairs))
	}
	results := Section{ID: "results", Title: "Results",
		Intro: "One table for each model and device; each also as markdown."}
	evals := Section{ID: "evals", Title: "Evals",
		Intro: "Scores in the tool's own scale, with n and standard error where they are known."}
	for _, pair := range pairs {
		results.Blocks = append(results.Blocks, r.resultBlocks(at, pair)...)
		var scores []columns.ScoreRow
		for _, run := range r.runs[pair.Pair][at] {
			scores = append(scores, r.Columns.ScoresOf(run)...)
		}
		if len(scores) > 0 {
			t := scoreTable(scores)
			t.Caption = words.OnDevice(pair.Model, pair.Device)
			evals.Blocks = append(evals.Blocks, t.cut(r.allIn(at, "scores")).whole(r.inExplore(at, pair.Pair)))
		}
	}
	return append(out, results, evals)
}

// resultBlocks are the results of a model and device in a release, and where there is more about them.
func (r *Report) resultBlocks(at int, pair Pair) []Block {
	tables := r.resultTables(r.runs[pair.Pair][at])
	if len(tables) == 0 {
		return nil
	}
	t := tables[0] // the page of the model and device has the other
	name := words.OnDevice(pair.Model, pair.Device)
	t.Caption = name
	if pair.Device == schema.Simulated {
		t.Caption += " (no hardware: simulated)"
	}
	history := Link{name + " over releases", PairPath(pair.Model, pair.Device)}
	t.cut(r.allIn(at, "points")).whole(r.inExplore(at, pair.Pair))
	return []Block{t, append(Links{history}, r.reportLinks(at, pair)...)}
}

// pairsSection is what people sign: the decision on each model and device, worst first.
func (r *Report) pairsSection(at int, pairs []Pair) Section {
	rank := map[words.Tone]int{words.ToneBad: 0, words.ToneWarning: 1, words.ToneNone: 2, words.ToneGood: 3}
	slices.SortStableFunc(pairs, func(a, b Pair) int {
		return rank[words.Decide(r.PairResult(a, at)).Tone] - rank[words.Decide(r.PairResult(b, at)).Tone]
	})
	t := &Table{
		Caption: "Models on devices, worst first", Layout: List,
		Cols: []Col{{Head: "Decision"}, {Head: "Model"}, {Head: "Device"}, {Head: "Why"}},
	}
	same := foldEqual(pairs, func(p *Pair) string {
		d := words.Decide(r.PairResult(*p, at))
		if d.Tone == words.ToneBad || d.Tone == words.ToneWarning { // somebody must act on it
			return d.Word + d.Detail + p.Model + "\x00" + p.Device
		}
		return d.Word + d.Detail
	})
	for _, list := range same {
		p, d := list[0], words.Decide(r.PairResult(list[0], at))
		if len(list) > 1 {
			t.row(Cell{Text: d.Word, Outcome: toneMark(d.Tone)},
				Cell{Text: words.Count(len(list)) + " models and devices", Head: true, Href: "index.html#models"},
				text(""), Cell{Text: words.Capital(d.Detail), Sentence: true})
			continue
		}
		device := text(words.OrUnknown(p.Device))
		if p.Device == schema.Simulated {
			device.Tag = "simulated"
		}
		t.row(
			Cell{Text: d.Word, Outcome: toneMark(d.Tone)},
			Cell{Text: words.OrUnknown(p.Model), Head: true, Href: PairPath(p.Model, p.Device)}, device,
			Cell{Text: words.Capital(d.Detail), Sentence: true},
		)
	}
	for _, x := range r.Results(at).Pairs {
		if d := words.Decide(x.Result); x.Result.Word == gate.NotMeasured {
			t.row(
				Cell{Text: d.Word, Outcome: schema.NotMeasured},
				Cell{Text: words.OrUnknown(x.Model), Head: true, Href: PairPath(x.Model, x.Device)},
				text(words.OrUnknown(x.Device)), Cell{Text: words.Capital(d.Detail), Sentence: true},
			)
		}
	}
	return Section{
		ID: "pairs", Title: "Models and devices", Intro: "Each is decided by itself.",
		Blocks: []Block{t.cut("data/index.json has all")},
	}
}

// HasReport says whether each model and device has a report of its own in a release.
func (r *Report) HasReport(at int) bool { return r.has[at] <= fewPairs }

func (r *Report) reportLinks(at int, pair Pair) Links {
	if !r.HasReport(at) {
		return Links{{"report of " + r.Releases[at].Name + " as markdown", ReleaseReportPath(r.Releases[at].Name)}}
	}
	return Links{{"report as markdown", ReportPath(r.Releases[at].Name, pair.Model, pair.Device)}}
}

// downloadSection are the files of a release.
func (r *Report) downloadSection(at int) Section {
	return Section{
		ID: "downloads", Title: "Downloads",
		Intro: "Numbers in base units; the report is what a ticket or a pull request takes.",
		Blocks: []Block{Links{
			{"report as markdown", ReleaseReportPath(r.Releases[at].Name)}, r.dataLink(at, "points"),
			r.dataLink(at, "scores"), r.dataLink(at, "verdicts"),
		}},
	}
}

// runsSection lists runs with their provenance pages.
func (r *Report) runsSection(runs []int) Section {
	t := &Table{
		Caption: "Runs", Layout: List,
		Cols: []Col{
			{Head: "Run"}, {Head: "Started", Length: Medium}, {Head: "Model"}, {Head: "Device"},
			{Head: "Engine"}, {Head: "Commit"},
			{Head: "Points", Num: true, Length: Short}, {Head: "Evals", Num: true, Length: Short},
			{Head: "Problems", Num: true, Length: Short},
		},
	}
	for i := len(runs) - 1; i >= 0; i-- {
		h := &r.Columns.Runs[runs[i]]
		started := words.Absent
		if !h.Start.IsZero() {
			started = moment(h.Start)
		}
		device := text(words.OrUnknown(h.Device))
		engine := h.Engine
		if h.Version != "" {
			engine += " " + h.Version
		}
		t.row(
			Cell{Text: h.ID, Head: true, Href: RunPath(h.ID), Code: true}, text(started), text(words.OrUnknown(h.Model.Name)),
			device, text(words.OrUnknown(engine)), r.runCommit(h),
			text(words.Count(h.PointsEnd-h.FirstPoint)), text(words.Count(h.Scores)),
			text(words.Count(h.Errors+h.Warnings)),
		)
	}
	t.dropEmpty(1)
	return Section{
		ID: "runs", Title: "Runs", Intro: "Each with its sources, commands and file hashes.",
		Blocks: []Block{t.cut("the files under data/ name every run")},
	}
}

// againstSections are what a release came to against history and targets; where nothing is graded, what there is.
func (r *Report) againstSections(at int, f gate.Findings) []Section {
	var out []Section
	history := r.changedBlocks(comparedOnly(f.History), at)
	t, compared := history[0].(*Table)
	if compared {
		t.cut(r.allVerdicts(at)).whole(r.inExplore(at, schema.Pair{}))
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

// shiftSection lists how every device moved as a whole.
func shiftSection(list []judge.Shift) Section {
	s := Section{
		ID: "shifts", Title: "Run-wide shifts",
		Intro: "What all workloads of a device did together is found once, removed from their rows, and reported here.",
	}
	t := &Table{
		Caption: "Run-wide shifts", Layout: List,
		Cols: []Col{
			{Head: "Verdict"}, {Head: "Device"}, {Head: "Metric"},
			{Head: "Shift", Num: true, Sort: true, Length: Short}, {Head: "95 % interval", Length: Medium},
			{Head: "Workloads", Num: true, Length: Short}, {Head: "Releases before", Num: true, Length: Short},
		},
	}
	still := foldEqual(slices.DeleteFunc(slices.Clone(list), func(x judge.Shift) bool {
		return x.Outcome == schema.NoBaseline && !x.Mixed
	}), func(x *judge.Shift) string {
		if x.Outcome == schema.Unchanged && !x.Mixed {
			return "unchanged"
		}
		return x.ID
	})
	for _, same := range still {
		x := same[0]
		if len(same) > 1 {
			t.row(stillShifts(same)...)
			continue
		}
		change, interval := Cell{Text: words.Absent, Missing: "nothing to compare with"}, text(words.Absent)
		if e, ok := x.Effect.Get(); ok {
			change = Cell{Text: words.Signed(x.Metric, e), Sort: &e}
		}
		if x.Interval != nil {
			interval = text(words.Interval(x.Metric, *x.Interval))
		}
		word := Cell{Outcome: x.Outcome, Evidence: x.Evidence}
		if x.Mixed {
			word = Cell{Text: "mixed", Sub: fmt.Sprintf("%.0f%s%% agree", 100*x.Agree, words.Thin)}
		}
		t.row(
			word, Cell{Text: words.OrUnknown(x.Device), Head: true}, text(words.Metric(x.Metric, x.Stat)), change, interval,
			text(words.Count(x.Cells)), text(words.Count(x.Releases)),
		)
	}
	if len(t.Rows) > 0 {
		s.Blocks = []Block{t.cut(allInJSON)}
	}
	return s
}

// stillShifts is one row for devices and metrics that did not move.
func stillShifts(list []judge.Shift) []Cell {
	devices, metrics := map[string]bool{}, map[string]bool{}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range list {
		x := &list[i]
		devices[x.Device], metrics[x.Metric+x.Stat] = true, true
		if x.Interval != nil {
			lo, hi = math.Min(lo, x.Interval[0]), math.Max(hi, x.Interval[1])
		}
	}
	interval := text(words.Absent)
	if lo <= hi {
		interval = Cell{Text: "all within " + words.Change(max(-lo, hi))[len("+"):], Sub: "either way"}
	}
	return []Cell{{Outcome: schema.Unchanged}, {Text: words.Plural(len(devices), "device"), Head: true},
		text(words.Plural(len(metrics), "metric")), text(words.Absent), interval, text(words.Absent), text(words.Absent)}
}

// lintTable lists lints, worst first.
func lintTable(list []lint.Lint) *Table {
	t := &Table{
		Caption: "Lints, worst first", Layout: List,
		Cols: []Col{
			{Head: "Lint"}, {Head: "Severity", Length: Medium}, {Head: "Where"},
			{Head: "Cases", Num: true, Length: Short}, {Head: "What"},
		},
	}
	for _, same := range FoldLints(list) {
		l, cases := same[0], 0
		for _, x := range same {
			cases += x.Count
		}
		where := Cell{Text: words.OnDevice(l.Model, l.Device), Sub: l.Run, Href: RunPath(l.Run)}
		if l.Run == "" {
			where = text(l.Release)
		}
		if len(same) > 1 {
			where = Cell{Text: placesOf(same), Sub: "shown: " + words.OnDevice(l.Model, l.Device), Href: RunPath(l.Run)}
		}
		t.row(
			Cell{Text: string(l.ID), Head: true, Code: true, Href: topicPath("lints") + "#" + Address(l.ID)},
			text(string(l.Severity)), where, text(words.Count(cases)), Cell{Text: words.Lint(l), Sentence: true},
		)
	}
	return t
}
