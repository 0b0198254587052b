package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// PairPage shows one model on one device over releases.
func (r *Report) PairPage(pair Pair) Page {
	at := pair.Newest
	rel := r.Releases[at]
	d, review := words.Decide(r.PairResult(pair, at)), r.Review(at, pair.Model, pair.Device)
	name := words.OnDevice(pair.Model, pair.Device)
	p := Page{
		Path: PairPath(pair.Model, pair.Device), Title: name, Nav: "models",
		Description: name + ", newest " + rel.Name + ": " + d.Detail,
		Crumbs:      []Link{{"Overview", "index.html"}, {"Models", "index.html#models"}, {name, ""}},
		Lead: Lead{Tone: d.Tone, Mark: toneMark(d.Tone), Word: d.Word, Text: words.Headline(&review),
			Paras: words.Inventory(&review)},
		Eyebrow: fmt.Sprintf("%s on %s, measured in %s, newest %s of %s.", words.OrUnknown(cmp.Or(pair.ID, pair.Model)),
			words.OrUnknown(pair.Device), words.Plural(len(r.runs[pair.Pair]), "release"), rel.Name, day(rel.Date)),
	}
	if newest := r.Gate.Newest(at); newest != at {
		p.Lead.Text = fmt.Sprintf("Not measured in %s. In %s: %s", r.nameOf(newest), r.nameOf(at), d.Detail)
		p.Lead.Word, p.Lead.Tone, p.Lead.Mark = string(gate.NotMeasured), words.ToneWarning, schema.NotMeasured
	}
	if pair.Device == schema.Simulated {
		p.Simulated = "Demo: these numbers were made by the embedded simulator. Nothing was measured on a device."
	}
	p.add(Section{ID: "decision", Blocks: []Block{r.Card(&review)}}, r.curveSection(pair), r.panelSection(pair),
		r.historySection(pair), r.figureSection(pair))
	verdicts := r.pairVerdicts(pair, at)
	if t := targetTable(verdicts, false); len(t.Rows) > 0 {
		p.add(Section{ID: "targets", Title: "Targets in force", Intro: noTargetNote(verdicts),
			Blocks: []Block{t.cut(r.allVerdicts(at))}})
	}
	for i, t := range r.resultTables(r.runs[pair.Pair][at]) {
		s := Section{ID: "results", Title: "Results of " + rel.Name, Blocks: []Block{t.cut(r.allIn(at, "points"))}}
		if i > 0 {
			s.ID, s.Title = "spread", "Spread of latencies"
		} else {
			links := r.reportLinks(at, pair)
			for _, script := range r.scriptsOf(pair) {
				links = append(links, Link{"parameters and results of " + script, ScriptPath(script)})
			}
			s.Blocks = append(s.Blocks, links)
		}
		p.add(s)
	}
	var runs []int
	for _, ri := range r.measuredIn(pair.Model, pair.Device) {
		runs = append(runs, r.runs[pair.Pair][ri]...)
	}
	p.add(r.otherSection(pair), r.evalSection(runs), r.runsSection(runs))
	return p
}

// historySection compares every series of a model and device with its history.
func (r *Report) historySection(pair Pair) Section {
	rel := r.Releases[pair.Newest]
	changes := comparedOnly(r.pairChanges(pair, pair.Newest))
	if len(changes) == 0 {
		return Section{ID: "history", Title: "History", Blocks: []Block{Empty{What: "Nothing to compare",
			Why: "No number of this release can be compared with an earlier one: none has the same measurements, " +
				"or none of these counts."}}}
	}
	t := r.changeTable(changes, pair.Newest, false, "Every series of "+rel.Name+" against its history, worst first")
	return Section{ID: "history", Title: "History",
		Intro:  "One row a workload and metric; the line is the value in every release.",
		Blocks: []Block{t.cut(r.allVerdicts(pair.Newest))}}
}

// evalSection lists every score of some runs, newest first; a section without blocks when there is none.
func (r *Report) evalSection(runs []int) Section {
	t := &Table{
		Caption: "Evals by release, newest first", Layout: List,
		Cols: []Col{
			{Head: "Task"}, {Head: "Metric"}, {Head: "Release", Length: Medium},
			{Head: "Value", Num: true, Sort: true, Length: Short}, {Head: "Standard error", Num: true, Length: Short},
			{Head: "n", Num: true, Length: Short},
		},
	}
	for i := len(runs) - 1; i >= 0; i-- {
		h := &r.Columns.Runs[runs[i]]
		for _, s := range r.Columns.ScoresOf(runs[i]) {
			n := Cell{Text: words.Absent, Missing: "not stated"}
			if s.N > 0 {
				n = text(words.Count(s.N))
			}
			t.row(
				Cell{Text: s.Task, Head: true, Href: RunPath(h.ID)}, Cell{Text: s.Metric, Sub: words.Filter(s.Filter)},
				text(releaseOrStart(h)), number(s.Value), number(s.Stderr), n,
			)
		}
	}
	if len(t.Rows) == 0 {
		return Section{}
	}
	return Section{
		ID: "evals", Title: "Evals", Intro: "Scores in the tool's own scale.",
		Blocks: []Block{t.cut("data/ has all rows, by release")},
	}
}

// releaseOrStart names a run's build in a table: its release, or when it started.
func releaseOrStart(h *columns.RunHead) string {
	if h.Release != "" || h.Start.IsZero() {
		return words.OrUnknown(h.Release)
	}
	return "build of " + moment(h.Start)
}

// figureSection has one figure a metric, with the targets in force.
func (r *Report) figureSection(pair Pair) Section {
	s := Section{ID: "charts", Title: "Over releases", Intro: "One chart a metric, one line a workload " +
		"(ISL/OSL/concurrency). Dashed: targets in force. A gap is a release without a measurement."}
	if len(r.runs[pair.Pair]) < 2 {
		return s // one release has nothing to draw
	}
	for _, metric := range judge.JudgedMetrics(r.Columns) {
		f, left := r.figure(pair, metric)
		if len(f.Series) == 0 {
			continue
		}
		if left > 0 {
			s.Blocks = append(s.Blocks, Prose{fmt.Sprintf(
				"%s: %d of %d workloads are drawn, those with targets first; data/ has all, by release.", f.Metric,
				len(f.Series), len(f.Series)+left,
			)})
		}
		s.Blocks = append(s.Blocks, f)
	}
	return s
}

// figure draws a metric: the workloads that targets cover first. left counts those for which there is no room.
func (r *Report) figure(pair Pair, metric string) (f Figure, left int) {
	releases := r.measuredIn(pair.Model, pair.Device)
	info, _ := schema.MetricByName(metric)
	f = Figure{
		ID: "chart-" + schema.Slug(metric), Unit: info.Unit, Better: info.Better.String(),
		Releases: r.namesOf(releases),
	}
	limits, withTarget := r.limitsOf(pair, metric)
	chosen, stat := r.seriesOfMetric(pair, metric, withTarget)
	if len(chosen) == 0 {
		return f, 0
	}
	f.Metric, f.Limits = metricLabel(metric, stat), limits
	left = max(0, len(chosen)-linesDrawn)
	chosen = chosen[:len(chosen)-left]
	severalTools := slices.ContainsFunc(chosen, func(s *judge.Series) bool { return s.Key.Tool != chosen[0].Key.Tool })
	for _, s := range chosen {
		line := FigureSeries{Name: s.Key.Workload()}
		if severalTools {
			line.Name += " " + s.Key.Tool
		}
		for _, ri := range releases {
			line.Points = append(line.Points, r.point(s, ri))
		}
		f.Series = append(f.Series, line)
	}
	return f, left
}

// seriesOfMetric are the series of a metric in its first statistic, those with targets first.
func (r *Report) seriesOfMetric(pair Pair, metric string, first map[string]bool) (list []*judge.Series, stat string) {
	var rest []*judge.Series
	for _, s := range r.series[pair.Pair] {
		switch {
		case s.Metric != metric || stat != "" && s.Stat != stat:
			continue
		case first[s.Key.String()]:
			list = append(list, s)
		default:
			rest = append(rest, s)
		}
		stat = s.Stat
	}
	return append(list, rest...), stat
}

// point is the value of a series in a release.
func (r *Report) point(s *judge.Series, release int) Point {
	v, ok := r.Gate.Value(s, release)
	if !ok {
		return Point{}
	}
	p := Point{OK: true, Value: v.Value, Text: words.Quantity(v.Value, s.Unit), Href: RunPath(r.Gate.RunOf(s, release))}
	p.Note = " in " + r.Releases[release].Name
	if v.N > 1 {
		p.Note += fmt.Sprintf(", mean of %d measurements", v.N)
	}
	return p
}

// limitsOf returns the targets of a metric in the newest release, and the workloads that they cover. Levels of several
// workloads would cross each other's lines, so they are drawn only while one workload has them.
func (r *Report) limitsOf(pair Pair, metric string) ([]Limit, map[string]bool) {
	const most = 4
	with := map[string]bool{}
	var limits []Limit
	var workloads []string
	for _, v := range r.pairVerdicts(pair, pair.Newest) {
		if v.Metric != metric || v.Outcome == schema.Unattainable {
			continue
		}
		with[v.Key.String()] = true
		ref, ok := v.Ref.Get()
		if !ok || v.Outcome == schema.NotMeasured {
			continue
		}
		w := v.Key.Workload()
		if !slices.Contains(workloads, w) {
			workloads = append(workloads, w)
		}
		label := strings.TrimSpace(w + " " + v.Level + " " + words.Number(ref))
		if v.Required {
			label += ", required"
		}
		if l := (Limit{ref, label}); !slices.Contains(limits, l) {
			limits = append(limits, l)
		}
	}
	if len(workloads) > 1 {
		return nil, with
	}
	return limits[:min(most, len(limits))], with
}
