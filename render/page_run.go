package render

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
)

// RunPage shows one run: who was measured and how that is known, the commands, every statistic, the raw files.
func (r *Report) RunPage(run *schema.Run, id string) Page {
	name := words.OnDevice(run.Model.Name, run.Device.Name)
	p := Page{
		Path: RunPath(id), Title: "Run " + id, Nav: "releases", Description: "Run " + id + " of " + name,
		Crumbs: []Link{{"Overview", "index.html"}, {name, PairPath(run.Model.Name, run.Device.Name)}},
		Lead:   runLead(run, name), Eyebrow: started(run),
	}
	if run.Release != "" {
		p.Crumbs = append(p.Crumbs, Link{run.Release, ReleasePath(run.Release)})
	}
	p.Crumbs = append(p.Crumbs, Link{"Run " + id, ""})
	if run.IsSimulated() {
		p.Simulated = "Demo: this run was made by the embedded simulator. Nothing was measured on a device."
	}
	p.add(Section{ID: "identity", Title: "Identity",
		Intro:  "What is known, below where it is known from. Unknown is not guessed.",
		Blocks: []Block{identityTable(run, r.commitLinks(), r.Public)}})
	if len(run.Plan) > 0 {
		p.Sections = append(p.Sections, planSection(run))
	}
	p.add(pointSection(run), distributionSection(run))
	if len(run.Scores) > 0 {
		p.add(Section{ID: "evals", Title: "Evals", Blocks: []Block{runScores(run)}})
	}
	if !r.Public {
		p.add(commandSection(run))
	}
	p.add(Section{ID: "files", Title: "Raw files",
		Intro:  "Every number above was read from one of these, identified by the SHA-256 of its bytes.",
		Blocks: []Block{fileTable(run)}})
	if other := otherFields(run); other != nil && !r.Public {
		p.add(Section{ID: "other-fields", Title: "Other fields",
			Intro: "Fields of the files that have no name here, as they stand.", Blocks: []Block{other}})
	}
	if len(run.Problems) > 0 {
		p.add(Section{ID: "problems", Title: "Problems",
			Blocks: []Block{problemTable(run.Problems).cut("the history document has all")}})
	}
	return p
}

// runLead counts what a run measured, and what of it has no number.
func runLead(run *schema.Run, name string) Lead {
	failed := 0
	for i := range run.Points {
		if run.Points[i].Status == schema.StatusFailed || run.Points[i].Status == schema.StatusInvalid {
			failed++
		}
	}
	if failed > 0 {
		return Lead{Tone: words.ToneBad, Mark: schema.Fail, Word: words.Plural(failed, "point") + " without a number",
			Text: "of " + words.Count(len(run.Points)) + "; " + name + "."}
	}
	what := words.Plural(len(run.Points), "point")
	switch {
	case len(run.Points) == 0:
		what = words.Plural(len(run.Scores), "eval score")
	case len(run.Scores) > 0:
		what += " and " + words.Plural(len(run.Scores), "eval score")
	}
	return Lead{Tone: words.ToneGood, Text: what + " of " + name + "."}
}

func pointSection(run *schema.Run) Section {
	if len(run.Points) == 0 {
		return Section{}
	}
	course := coursesOf(run)
	shared, own := splitConditions(run)
	s := Section{ID: "points", Title: "Points",
		Intro: "One row a point: the mean, or the one value of the file; below it other statistics that were kept; – is " +
			"not in the file.",
		Blocks: []Block{pointTable(run, course, own)}}
	if len(course) > 0 {
		s.Intro += " Pictures: means over equal parts of the measurement, from left to right, each on a scale of its own " +
			"that spans at least ±10 % of its values; a gap was not known."
	}
	if shared != "" {
		s.Intro += allPoints + shared + "."
	}
	if said := definedAs(run); len(said) > 0 {
		s.Blocks = append(s.Blocks, said)
	}
	return s
}

// allPoints begins what all points share. What follows it is what the drawer of a point shows.
const allPoints = " Of all points: "

func distributionSection(run *schema.Run) Section {
	t := distributions(run)
	if len(t.Rows) == 0 {
		return Section{}
	}
	return Section{ID: "distributions", Title: "Distributions",
		Intro: "Over requests, on one logarithmic scale a metric: whisker from the 3rd to the 97th percentile, box over " +
			"the middle half, line at the median, dot at the slowest.",
		Blocks: append([]Block{t.cut("the history document has all")}, distributionFigures(run)...)}
}

// planSection holds what was to be measured against what was.
func planSection(run *schema.Run) Section {
	measured := map[string]bool{}
	for i := range run.Points {
		measured[run.Points[i].Key.String()] = true
	}
	t := &Table{
		Caption: "Planned and not measured", Layout: List,
		Cols: []Col{{Head: "Workload", Unit: "ISL/OSL/concurrency"}, {Head: "Tool"}, {Head: "Verdict"}},
	}
	for _, k := range run.Plan {
		if !measured[k.String()] {
			t.row(Cell{Text: words.Workload(k), Head: true}, text(words.OrUnknown(k.Tool)), Cell{Outcome: schema.NotMeasured})
		}
	}
	done := len(run.Plan) - len(t.Rows)
	were := "were"
	if len(run.Plan) == 1 {
		were = "was"
	}
	s := Section{
		ID: "plan", Title: "Plan",
		Intro: fmt.Sprintf("%s of %s %s measured.", words.Count(done), words.Plural(len(run.Plan), "planned workload"), were),
	}
	if len(t.Rows) > 0 {
		s.Blocks = []Block{t.cut("the history document has all")}
	}
	return s
}

// noTime says what follows for a run or a release that nothing dates.
const noTime = "Nothing states when it was measured: it has no place in the order of time, and is listed last."

// started says when a run began.
func started(run *schema.Run) string {
	if run.Start.IsZero() {
		return noTime
	}
	s := day(run.Start)
	if at := run.Start.UTC(); !at.Equal(at.Truncate(24 * time.Hour)) {
		s += at.Format(", 15:04:05") + words.Thin + "UTC"
	}
	if o := run.Provenance["start"]; strings.Contains(o.Where, "zone not stated") {
		s += " (zone not stated by the file)"
	}
	return "Started " + s + "."
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// conditions are the few that change a number's meaning.
func conditions(pt *schema.Point) (parts []string) {
	for _, name := range sortedNames(pt.Conditions) {
		parts = append(parts, name+" "+pt.Conditions[name])
	}
	for _, name := range sortedNames(pt.Client) {
		who := "client " + name
		if at, ok := strings.CutPrefix(name, "server_"); ok {
			who = "server " + at
		}
		parts = append(parts, strings.ReplaceAll(who, "_", " ")+" "+pt.Client[name])
	}
	return parts
}

func runScores(run *schema.Run) *Table {
	rows := make([]columns.ScoreRow, 0, len(run.Scores))
	for _, s := range run.Scores {
		rows = append(rows, columns.ScoreRow{Score: s})
	}
	t := scoreTable(rows)
	files, number := sources(run)
	if len(files) > 1 {
		t.Cols = append(t.Cols, Col{Head: "File", Unit: "# below", Num: true, Length: Short})
	}
	for i := range t.Rows {
		t.Rows[i].Anchor = fmt.Sprintf("e%d", i+1)
		if len(files) > 1 {
			t.Rows[i].Cells = append(t.Rows[i].Cells, fileNumber(number[run.Scores[i].Source.Path]))
		}
	}
	t.rest = "the history document has all"
	return t.keep(scoresShown)
}

// scoresShown is how many scores the page of a run lists: a drawer finds a score there.
const scoresShown = 1000

// commandSection has what makes the points of a run again, or says that nothing states it.
func commandSection(run *schema.Run) Section {
	s := Section{ID: "commands", Title: "Commands", Intro: "What makes these points again; secrets are removed."}
	if cmds := commands(run); len(cmds) > 0 {
		s.Blocks = []Block{cmds}
	} else if len(run.Points) > 0 {
		s.Intro, s.Blocks = "", []Block{Prose{"Command not stated: neither the files nor what lies beside them have it."}}
	}
	return s
}

// commands lists each distinct command once.
func commands(run *schema.Run) Commands {
	var out Commands
	seen := map[string]bool{}
	for i := range run.Points {
		line := shellescape.QuoteCommand(run.Points[i].Command)
		if line != "" && !seen[line] {
			seen[line] = true
			out = append(out, line)
		}
	}
	return out
}

// CommandOf says which of a run's commands measured each point, from 1; 0: none is known.
func CommandOf(run *schema.Run) []int {
	of, place := make([]int, len(run.Points)), map[string]int{}
	for i := range run.Points {
		line := shellescape.QuoteCommand(run.Points[i].Command)
		if line != "" && place[line] == 0 {
			place[line] = len(place) + 1
		}
		of[i] = place[line]
	}
	return of
}

// sources are the raw files of a run, each once, and their numbers by path, from 1.
func sources(run *schema.Run) (list []rawFile, number map[string]int) {
	number = map[string]int{}
	add := func(s schema.Source, tool string) {
		if s.Path != "" && number[s.Path] == 0 {
			list = append(list, rawFile{s, tool})
			number[s.Path] = len(list)
		}
	}
	for i := range run.Points {
		add(run.Points[i].Source, run.Points[i].Key.Tool)
	}
	for i := range run.Scores {
		add(run.Scores[i].Source, "lm-eval")
	}
	return list, number
}

// rawFile is a file that numbers were read from.
type rawFile struct {
	schema.Source
	tool string
}

// fileTable lists the raw files with their hashes.
func fileTable(run *schema.Run) *Table {
	t := &Table{
		Caption: "Raw files", Layout: List,
		Cols: []Col{
			{Head: "#", Num: true, Length: Short}, {Head: "File"}, {Head: "Format"}, {Head: "Tool"}, {Head: "SHA-256"},
		},
	}
	list, _ := sources(run)
	for i, f := range list {
		t.Rows = append(t.Rows, Row{Anchor: fmt.Sprintf("f%d", i+1), Cells: []Cell{
			text(fmt.Sprint(i + 1)), {Text: f.Path, Head: true, Code: true}, text(f.Format),
			text(strings.TrimSpace(f.tool + " " + f.ToolVersion)), {Text: f.SHA256, Code: true},
		}})
	}
	t.rest = "the history document lists every file"
	return t.keep(filesShown)
}

// filesShown is how many raw files the page of a run lists.
const filesShown = 1000

// distributions are the latencies of every point of which requests were seen one by one.
func distributions(run *schema.Run) *Table {
	t := &Table{Caption: "Distributions", Layout: List, Cols: []Col{
		{Head: "Workload", Unit: "ISL/OSL/concurrency"}, {Head: "Metric"},
		{Head: "Requests", Num: true, Length: Short}, {Head: "Median", Num: true, Length: Short},
		{Head: "97th percentile", Num: true, Length: Short}, {Head: "Shape", Length: Medium},
	}}
	for _, metric := range []string{"ttft", "tpot", "e2el"} {
		lo, hi := math.Inf(1), 0.
		for i := range run.Points {
			if q := run.Points[i].Metrics[metric].Quantiles; len(q) == quantiles && q[0] > 0 {
				lo, hi = math.Min(lo, q[0]), math.Max(hi, q[quantiles-1])
			}
		}
		for i := range run.Points {
			m := run.Points[i].Metrics[metric]
			if len(m.Quantiles) == quantiles && lo <= hi && m.Quantiles[0] > 0 {
				t.Rows = append(t.Rows, distribution(&run.Points[i], metric, m, lo, hi))
			}
		}
	}
	return t
}

// quantiles is how many of a distribution are kept, at i/32.
const quantiles = 33

// distribution is one row, on a scale from lo to hi.
func distribution(pt *schema.Point, metric string, m schema.Metric, lo, hi float64) Row {
	info, _ := schema.MetricByName(metric)
	q := m.Quantiles
	label := fmt.Sprintf("%s from %s to %s %s, half of them from %s to %s", info.Label, words.Number(q[0]),
		words.Number(q[32]), m.Unit, words.Number(q[8]), words.Number(q[24]))
	n, tail := Cell{Text: words.Absent, Missing: "not stated"}, text(words.Number(q[31]))
	if m.N > 0 {
		n = text(words.Count(m.N))
	}
	if m.N < schema.FewForTail {
		tail = Cell{
			Text: fmt.Sprintf("n = %d", m.N), Missing: "a 97th percentile of fewer than 100 requests is no number",
		}
	}
	return Row{Cells: []Cell{
		{Text: words.Workload(pt.Key), Sub: pt.Key.Tool, Head: true}, {Text: info.Label, Sub: m.Unit}, n,
		text(words.Number(q[16])), tail, {Strip: &Strip{Label: label, Quantiles: q, Low: lo, High: hi}},
	}}
}

// RunsPage shows any run: which one, the address says after its #. Without script it says where the same numbers are.
func (r *Report) RunsPage() Page {
	t := &Table{
		Caption: "Runs by release, newest first", Layout: List,
		Cols: []Col{
			{Head: "Release"}, {Head: "Runs", Num: true, Length: Short}, {Head: "Date", Length: Medium},
			{Head: "Every number"}, {Head: "Report"},
		},
	}
	for i := len(r.Releases) - 1; i >= 0; i-- {
		rel, numbers := &r.Releases[i], r.dataLink(i, "points")
		t.row(
			Cell{Text: rel.Name, Head: true, Href: ReleasePath(rel.Name) + "#runs"}, text(words.Count(len(rel.Runs))),
			text(day(rel.Date)), Cell{Text: numbers.Text, Href: numbers.Href},
			Cell{Text: "markdown", Href: ReleaseReportPath(rel.Name)},
		)
	}
	const lead = "Which run?"
	p := Page{
		Path: RunsPath, Title: "Runs", Nav: "releases", Description: "Every run with its sources, commands and hashes.",
		Crumbs: []Link{{"Overview", "index.html"}, {"Runs", ""}}, Simulated: r.simulated(-1),
		Lead: Lead{Text: lead, Paras: []string{"Every number of a release leads to its run, with the commands and the " +
			"hashes of the raw files. One run is shown by script; without it, the files below have the same numbers."}},
		Scripts: []string{"run.js"},
	}
	p.add(Section{ID: "run", Blocks: []Block{Widget{Tool: "run", Data: RunIndexPath}}})
	if len(t.Rows) > 0 {
		p.add(Section{
			ID: "releases", Title: "Runs by release", Intro: fmt.Sprintf("%s in %s.",
				words.Plural(len(r.Columns.Runs), "run"), words.Plural(len(r.Releases), "release")),
			Blocks: []Block{t.cut("data/index.json has all")},
		})
	}
	return p
}

// valuesShown is how many different values of one field a run page lists.
const valuesShown = 4

// otherFields lists the fields of the files that have no canonical name: a row a field, with its different
// values. It is nil when there is none.
func otherFields(run *schema.Run) *Table {
	values, points := map[string][]string{}, map[string]int{}
	add := func(fields schema.Unknown, n int) {
		for name, raw := range fields {
			if name == "setting" {
				continue // it is shown with the identity
			}
			if v := fieldValue(raw); !slices.Contains(values[name], v) {
				values[name] = append(values[name], v)
			}
			points[name] += n
		}
	}
	add(run.Extra, 0)
	for i := range run.Points {
		add(run.Points[i].Extra, 1)
	}
	if len(values) == 0 {
		return nil
	}
	t := &Table{Caption: "Other fields", Layout: KeyValue, Cols: []Col{{Head: "Field"}, {Head: "Value"}, {Head: "Of"}}}
	for _, name := range sortedNames(values) {
		shown := values[name]
		if more := len(shown) - valuesShown; more > 0 {
			shown = append(slices.Clone(shown[:valuesShown]), fmt.Sprintf("and %d more", more))
		}
		of := "the run"
		if n := points[name]; n > 0 {
			of = words.Plural(n, "point")
		}
		t.row(Cell{Text: name, Head: true, Code: true}, Cell{Text: strings.Join(shown, ", ")}, text(of))
	}
	t.Total = len(t.Rows)
	return t.cut("the history document has all")
}

// fieldValue is a field as a reader wants it: texts without quotes, everything else as it stands.
func fieldValue(raw []byte) string {
	if bytes.HasPrefix(raw, []byte{'"'}) {
		if s, err := strconv.Unquote(string(raw)); err == nil {
			return s
		}
	}
	return string(raw)
}

// courses are the quantities whose values by time are known of some point of a run: latencies, gauges of the server,
// power. Each is a column of pictures beside the points.
type courses []schema.MetricInfo

func coursesOf(run *schema.Run) (out courses) {
	seen := map[string]bool{}
	var all []schema.SliceOf
	for i := range run.Points {
		for _, x := range run.Points[i].Slices.Series {
			if _, _, ok := x.Range(); ok && !seen[x.Name] {
				seen[x.Name] = true
				all = append(all, x)
			}
		}
	}
	schema.SortSlices(all)
	for _, x := range all {
		if info, known := schema.SliceInfo(x.Name); known {
			out = append(out, info)
		}
	}
	return out
}

// byTime ends the heads of the pictures: the drawer finds them by it.
const byTime = " by time"

func (c courses) columns() (out []Col) {
	if len(c) == 0 {
		return nil
	}
	out = []Col{{Head: "Over", Unit: "s", Num: true}}
	for _, info := range c {
		out = append(out, Col{Head: info.Label + byTime, Unit: info.Unit})
	}
	return out
}

// cells are how long a point was measured and its pictures, each with the range of its values.
func (c courses) cells(p *schema.Point) []Cell {
	if len(c) == 0 {
		return nil
	}
	out := []Cell{text(words.Absent)}
	for _, info := range c {
		cell := text(words.Absent)
		for _, x := range p.Slices.Series {
			if lo, hi, ok := x.Range(); ok && x.Name == info.Name {
				out[0] = text(words.Number(p.Slices.Step * float64(len(x.Values))))
				cell = Cell{Spark: &Spark{courseLabel(info, x.Values), x.Values}, Sub: rangeText(lo, hi)}
			}
		}
		out = append(out, cell)
	}
	return out
}

// courseLabel says where a course begins and ends.
func courseLabel(info schema.MetricInfo, values []float64) string {
	first, last := math.NaN(), math.NaN()
	for _, v := range values {
		if math.IsNaN(first) {
			first = v
		}
		if !math.IsNaN(v) {
			last = v
		}
	}
	return fmt.Sprintf("%s from %s to %s %s", info.Label, words.Number(first), words.Number(last), info.Unit)
}

// rangeText is "12 to 15".
func rangeText(lo, hi float64) string {
	if from, to := words.Number(lo), words.Number(hi); from != to {
		return from + " to " + to
	}
	return words.Number(lo)
}
