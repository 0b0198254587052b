package render

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/chart"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// PairPage shows one model on one device over releases.
func (r *Report) PairPage(pair Pair) Page {
	id := pair.Pair
	at := pair.Newest
	rel := r.Releases[at]
	verdicts := r.pairVerdicts(pair, at)
	d := words.Decide(r.PairResult(pair, at))
	name := nameOr(pair.Model) + " on " + nameOr(pair.Device)
	p := Page{Path: PairPath(pair.Model, pair.Device), Title: name, Nav: "models", Description: name + ", newest " + rel.Name + ": " + d.Detail,
		Crumbs: []Link{{"Overview", "index.html"}, {"Models", "index.html#models"}, {name, ""}},
		Lead:   Lead{Tone: d.Tone, Mark: toneMark(d.Tone), Word: d.Word, Text: capital(d.Detail)}}
	if pair.Device == schema.Simulated {
		p.Simulated = "Simulated: these numbers were made by the embedded simulator. Nothing was measured on a device."
	}
	p.Eyebrow = fmt.Sprintf("%s on %s, measured in %s, newest %s of %s.", nameOr(firstOf(pair.ID, pair.Model)), nameOr(pair.Device), words.Plural(len(r.runs[id]), "release"), rel.Name, day(rel.Date))
	for _, s := range []Section{r.curveSection(pair), r.panelSection(pair)} {
		if len(s.Blocks) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
	changes := r.pairChanges(pair, at)
	history := r.changeTable(comparedOnly(changes), at, false, "Every series of "+rel.Name+" against its history, worst first")
	if len(comparedOnly(changes)) == 0 {
		p.Sections = append(p.Sections, Section{ID: "history", Title: "History", Blocks: []Block{{Empty: &Empty{What: "Nothing to compare", Why: "No number of this release can be held against an earlier one: none has the same measurements, or none of these counts."}}}})
	} else if len(history.Rows) > 0 {
		p.Sections = append(p.Sections, Section{ID: "history", Title: "History", Intro: "One row a workload and metric; the line is the value in every release.", Blocks: []Block{{Table: history.cut(DataPath(rel.Name, "verdicts") + " has all rows")}}})
	}
	if s := r.chartSection(pair); len(s.Blocks) > 0 && len(r.runs[id]) > 1 {
		p.Sections = append(p.Sections, s)
	}
	if t := targetTable(verdicts, false); len(t.Rows) > 0 {
		p.Sections = append(p.Sections, Section{ID: "targets", Title: "Targets in force", Intro: ungradedNote(verdicts), Blocks: []Block{{Table: t.cut(DataPath(rel.Name, "verdicts") + " has all rows")}}})
	}
	runs := r.runs[id][at]
	if t := r.resultTable(runs); len(t.Rows) > 0 {
		p.Sections = append(p.Sections, Section{ID: "results", Title: "Results of " + rel.Name, Blocks: []Block{{Table: t.cut(DataPath(rel.Name, "points") + " has all rows")},
			{Links: r.reportLinks(at, pair)}}})
	}
	var all []int
	for _, ri := range r.measuredIn(pair.Model, pair.Device) {
		all = append(all, r.runs[id][ri]...)
	}
	if s, ok := r.evalSection(all); ok {
		p.Sections = append(p.Sections, s)
	}
	p.Sections = append(p.Sections, r.runsSection(all))
	return p
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// evalSection lists every score of a pair, newest release first.
func (r *Report) evalSection(runs []int) (Section, bool) {
	t := &Table{Caption: "Evals by release, newest first", Class: "flow", Cols: []Col{{Head: "Task"}, {Head: "Metric"}, {Head: "Release", Narrow: "half"}, {Head: "Value", Num: true, Sort: true, Narrow: "third"},
		{Head: "Standard error", Num: true, Narrow: "third"}, {Head: "n", Num: true, Narrow: "third"}}}
	for i := len(runs) - 1; i >= 0; i-- {
		h := &r.Columns.Runs[runs[i]]
		for _, s := range r.Columns.ScoresOf(runs[i]) {
			n := Cell{Text: words.Absent, Missing: "not stated"}
			if s.N > 0 {
				n = text(words.Count(s.N))
			}
			t.Rows = append(t.Rows, Row{Cells: []Cell{{Text: s.Task, Head: true, Href: RunPath(h.ID)}, {Text: s.Metric, Sub: s.Filter}, text(releaseOrStart(h)), number(s.Value), number(s.Stderr), n}})
		}
	}
	return Section{ID: "evals", Title: "Evals", Intro: "Scores in the tool's own scale.", Blocks: []Block{{Table: t.cut("data/ has all rows, by release")}}}, len(t.Rows) > 0
}

// releaseOrStart names a run's build in a table: its release, or when it started.
func releaseOrStart(h *columns.RunHead) string {
	if h.Release != "" || h.Start.IsZero() {
		return nameOr(h.Release)
	}
	return "build of " + h.Start.UTC().Format("2006-01-02 15:04")
}

// chartSection has one chart a metric, with the target lines in force.
func (r *Report) chartSection(pair Pair) Section {
	s := Section{ID: "charts", Title: "Over releases", Intro: "One chart a metric, one line a workload, ISL/OSL/concurrency. Dashed: targets in force. A gap is a release without a measurement."}
	for _, metric := range judge.JudgedMetrics(r.Columns) {
		c, left, ok := r.metricChart(pair, metric)
		if !ok {
			continue
		}
		if left > 0 {
			s.Blocks = append(s.Blocks, Block{Prose: []string{fmt.Sprintf("%s: %d of %d workloads are drawn, those with targets first; data/ has all, by release.", c.Metric, len(c.Lines), len(c.Lines)+left)}})
		}
		s.Blocks = append(s.Blocks, Block{Chart: &c})
	}
	return s
}

// Charts are the interactive charts of a pair, for its data shard; one release has nothing to draw.
func (r *Report) Charts(pair Pair) []chart.Chart {
	var out []chart.Chart
	if len(r.runs[pair.Pair]) < 2 {
		return nil
	}
	for _, metric := range judge.JudgedMetrics(r.Columns) {
		if c, _, ok := r.metricChart(pair, metric); ok {
			out = append(out, c)
		}
	}
	return out
}

func (r *Report) metricChart(pair Pair, metric string) (chart.Chart, int, bool) {
	id := pair.Pair
	releases := r.measuredIn(pair.Model, pair.Device)
	in := chart.Input{ID: "chart-" + schema.Slug(metric), Better: "", Releases: r.namesOf(releases)}
	info, _ := schema.MetricByName(metric)
	in.Unit, in.Better = info.Unit, info.Better.String()
	limits, withTarget := r.limitsOf(pair, metric)
	var first, rest []*judge.Series
	stat := ""
	for _, s := range r.series[id] {
		if s.Metric != metric || (stat != "" && s.Stat != stat) {
			continue
		}
		stat = s.Stat
		if withTarget[s.Key.String()] {
			first = append(first, s)
		} else {
			rest = append(rest, s)
		}
	}
	chosen := append(first, rest...)
	if len(chosen) == 0 {
		return chart.Chart{}, 0, false
	}
	in.Metric = metricLabel(metric, stat)
	left := max(0, len(chosen)-chart.MaxLines)
	chosen = chosen[:len(chosen)-left]
	severalTools := false
	for _, s := range chosen {
		severalTools = severalTools || s.Key.Tool != chosen[0].Key.Tool
	}
	for _, s := range chosen {
		line := chart.Series{Name: s.Key.Workload()}
		if severalTools {
			line.Name += " " + s.Key.Tool
		}
		for _, ri := range releases {
			line.Points = append(line.Points, r.chartPoint(s, ri))
		}
		in.Series = append(in.Series, line)
	}
	in.Limits = limits
	return chart.New(in), left, true
}

func (r *Report) chartPoint(s *judge.Series, release int) chart.Point {
	v, ok := r.Gate.Value(s, release)
	if !ok {
		return chart.Point{}
	}
	p := chart.Point{OK: true, Value: v.Value, Text: words.Quantity(v.Value, s.Unit), Href: RunPath(r.Gate.RunOf(s, release))}
	p.Note = " in " + r.Releases[release].Name
	if v.N > 1 {
		p.Note += fmt.Sprintf(", mean of %d measurements", v.N)
	}
	return p
}

// limitsOf returns the target lines of a metric on the newest release, and the workloads they speak of. Levels of several
// workloads would cross each other's lines, so limits are drawn only while one workload has them.
func (r *Report) limitsOf(pair Pair, metric string) ([]chart.Limit, map[string]bool) {
	with := map[string]bool{}
	var limits []chart.Limit
	workloads := map[string]bool{}
	for _, v := range r.pairVerdicts(pair, pair.Newest) {
		if v.Metric != metric || v.Outcome == schema.Unattainable {
			continue
		}
		with[v.Key.String()] = true
		ref, ok := v.Ref.Get()
		if !ok || v.Outcome == schema.NotMeasured {
			continue
		}
		workloads[v.Key.Workload()] = true
		label := v.Level + " " + words.Number(ref)
		if v.Required {
			label += ", required"
		}
		if !hasLimit(limits, label) {
			limits = append(limits, chart.Limit{Value: ref, Label: label})
		}
	}
	if len(workloads) > 1 {
		limits = nil
	}
	if len(workloads) == 1 {
		for w := range workloads {
			for i := range limits {
				limits[i].Label = strings.TrimSpace(w + " " + limits[i].Label)
			}
		}
	}
	const most = 4
	if len(limits) > most {
		limits = limits[:most]
	}
	return limits, with
}

func hasLimit(list []chart.Limit, label string) bool {
	for _, l := range list {
		if l.Label == label {
			return true
		}
	}
	return false
}
