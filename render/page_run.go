package render

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
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
	crumbs := []Link{{name, PairPath(run.Model.Name, run.Device.Name)}}
	if run.Release != "" {
		crumbs = append(crumbs, Link{run.Release, ReleasePath(run.Release)})
	}
	p := r.page(RunPath(id), "releases", "Run "+id, "Run "+id+" of "+name, crumbs...)
	p.Lead, p.Eyebrow, p.Simulated = runLead(run, name), started(run), ""
	if run.IsSimulated() {
		p.Simulated = allSimulated
	}
	p.add(section("identity", "Identity", "What is known, below where it is known from. Unknown is not guessed.",
		identityTable(run, r.commitLinks(), r.Public)))
	if len(run.Plan) > 0 { // what was to be measured against what was
		measured := map[string]bool{}
		for i := range run.Points {
			measured[run.Points[i].Key.String()] = true
		}
		left := slices.DeleteFunc(slices.Clone(run.Plan), func(k schema.Key) bool { return measured[k.String()] })
		s := section("plan", "Plan", words.Planned(len(run.Plan)-len(left), len(run.Plan)),
			tableOf("Planned and not measured", List, left, []Column[schema.Key]{
				{col("Workload").in(loadUnit), func(k schema.Key) Cell { return head(words.Workload(k), "") }},
				{col("Tool"), func(k schema.Key) Cell { return text(words.OrUnknown(k.Tool)) }},
				{col("Verdict"), func(schema.Key) Cell { return Cell{Outcome: schema.NotMeasured} }},
			}).cut(documentHasAll))
		p.Sections = append(p.Sections, s)
	}
	files := sourcesOf(run)
	var list Commands
	var of []int
	if !r.Public {
		list, of = commands(run)
	}
	p.add(pointSection(run, files, of), section("distributions", "Distributions",
		"Over requests, on one logarithmic scale a metric: whisker from the 3rd to the 97th percentile, box over the middle "+
			"half, line at the median, dot at the slowest.",
		distributions(run).cut(documentHasAll)),
		section("evals", "Evals", "", runScores(run, files)))
	switch {
	case len(list) > 0:
		p.add(section("commands", "Commands", "What makes these points again; secrets are removed.", list))
	case len(run.Points) > 0 && !r.Public:
		p.add(section("commands", "Commands", "",
			Prose{"Command not stated: neither the files nor what lies beside them have it."}))
	}
	const shown = 1000
	t := tableOf("Raw files", List, files.list, []Column[rawFile]{
		{num("#"), func(f rawFile) Cell { return text(strconv.Itoa(files.number[f.Path])) }},
		{col("File"), func(f rawFile) Cell { return Cell{Text: f.Path, Head: true, Code: true} }},
		{col("Format"), func(f rawFile) Cell { return text(f.Format) }},
		{col("Tool"), func(f rawFile) Cell { return text(strings.TrimSpace(f.tool + " " + f.ToolVersion)) }},
		{col("SHA-256"), func(f rawFile) Cell { return code(f.SHA256) }},
	})
	for i := range t.Rows {
		t.Rows[i].Anchor = fmt.Sprintf("f%d", i+1)
	}
	p.add(Section{ID: "files", Title: "Raw files",
		Intro:  "Every number above was read from one of these, identified by the SHA-256 of its bytes.",
		Blocks: []Block{t.elsewhere("the history document lists every file").keep(shown)}})
	if !r.Public {
		p.add(section("other-fields", "Other fields", "Fields of the files that have no name here, as they stand.",
			otherFields(run)))
	}
	p.add(section("problems", "Problems", "", problemTable(run.Problems).cut(documentHasAll)))
	return p
}

// LostRunPage says of a run whose document could not be read any more when its page was made why it is not shown.
func (r *Report) LostRunPage(id string, why schema.Problem) Page {
	p := r.page(RunPath(id), "releases", "Run "+id, "Run "+id)
	p.Lead = Lead{Tone: words.ToneBad, Mark: schema.Fail, Word: "Not shown", Text: "its document could not be read.",
		Paras: []string{"The next build reads it again. The numbers elsewhere were read before."}}
	p.add(section("problems", "Problems", "", problemTable([]schema.Problem{why})))
	return p
}

// documentHasAll says where the rows are that a page of a run has no room for.
const documentHasAll = "the history document has all"

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
	return Lead{Tone: words.ToneGood, Text: numbersOf(len(run.Points), len(run.Scores)) + " of " + name + "."}
}

func pointSection(run *schema.Run, files sources, commandOf []int) Section {
	if len(run.Points) == 0 {
		return Section{}
	}
	course := coursesOf(run)
	shared, own := splitConditions(run)
	kept := keptMetrics(run)
	s := section("points", "Points", "One row a point: the mean, or the one value of the file; below it other statistics "+
		"that were kept; – is not in the file.", pointTable(run, kept, files, commandOf, course, own))
	if len(course) > 0 {
		s.Intro += " Pictures: means over equal parts of the measurement, from left to right, each on a scale of its own " +
			"that spans at least ±10 % of its values; a gap was not known."
	}
	if shared != "" {
		s.Intro += allPoints + shared + "."
	}
	var defined Prose // how metrics are defined, where the files or the tool say so
	for _, k := range kept {
		var said []string
		for i := range run.Points {
			m, _ := run.Points[i].Metric(k.info.Name)
			if def := strings.Trim(m.Kind().Def+", "+string(m.Kind().From), ", "); def != "" && !slices.Contains(said, def) {
				said = append(said, def)
			}
		}
		if len(said) > 0 {
			defined = append(defined, k.info.Label+": "+strings.Join(said, "; ")+".")
		}
	}
	if len(defined) > 0 {
		s.Blocks = append(s.Blocks, Prose{strings.Join(defined, " ")})
	}
	return s
}

// allPoints begins what all points share. What follows it is what the drawer of a point shows.
const allPoints = " Of all points: "

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

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func runScores(run *schema.Run, files sources) *Table {
	const shown = 1000 // a drawer finds a score there
	var rows []*columns.ScoreRow
	for _, s := range run.Scores[:min(shown, len(run.Scores))] {
		rows = append(rows, &columns.ScoreRow{Score: s})
	}
	t := scoreTable(rows).of(len(run.Scores))
	if len(files.list) > 1 {
		t.addColumn(num("File").in("# below"), func(i int) Cell {
			return placeBelow(files.number[run.Scores[i].Source.Path], "no file is stated")
		})
	}
	for i := range t.Rows {
		t.Rows[i].Anchor = fmt.Sprintf("e%d", i+1)
	}
	return t.elsewhere(documentHasAll).keep(shown)
}

// commands lists each distinct command once, and says which of them measured each point, from 1, where it is not the
// same for all; 0: none is known.
func commands(run *schema.Run) (list Commands, of []int) {
	of = make([]int, len(run.Points))
	for i := range run.Points {
		line := shellescape.QuoteCommand(run.Points[i].Command)
		if line != "" && !slices.Contains(list, line) {
			list = append(list, line)
		}
		of[i] = slices.Index(list, line) + 1
	}
	if len(list) < 2 && !slices.Contains(of, 0) || len(list) == 0 {
		of = nil
	}
	return list, of
}

// sources are the raw files of a run, each once, and their numbers by path, from 1.
type sources struct {
	list   []rawFile
	number map[string]int
}

func sourcesOf(run *schema.Run) sources {
	out := sources{number: map[string]int{}}
	add := func(s schema.Source, tool string) {
		if s.Path != "" && out.number[s.Path] == 0 {
			out.list = append(out.list, rawFile{s, tool})
			out.number[s.Path] = len(out.list)
		}
	}
	for i := range run.Points {
		add(run.Points[i].Source, run.Points[i].Key.Tool)
	}
	for i := range run.Scores {
		add(run.Scores[i].Source, "lm-eval")
	}
	return out
}

// rawFile is a file that numbers were read from.
type rawFile struct {
	schema.Source
	tool string
}

// distributions are the latencies of every point of which requests were seen one by one.
func distributions(run *schema.Run) *Table {
	type shape struct {
		pt     *schema.Point
		info   schema.MetricInfo
		n      int
		q      []float64 // quantiles
		lo, hi float64   // of the scale
	}
	var rows []shape
	// the latencies whose distribution is judged
	for _, metric := range schema.MetricNames(func(m *schema.MetricInfo) bool { return m.Tail }) {
		info, _ := schema.MetricByName(metric)
		lo, hi, first := math.Inf(1), 0., len(rows)
		for i := range run.Points {
			m, _ := run.Points[i].Metric(metric)
			if q := m.Detail().Quantiles; len(q) == quantiles && q[0] > 0 {
				lo, hi = math.Min(lo, q[0]), math.Max(hi, q[quantiles-1])
				rows = append(rows, shape{pt: &run.Points[i], info: info, n: m.N, q: q})
			}
		}
		for i := first; i < len(rows); i++ {
			rows[i].lo, rows[i].hi = lo, hi
		}
	}
	return tableOf("Distributions", List, rows, []Column[shape]{
		{col("Workload").in(loadUnit), func(x shape) Cell {
			return Cell{Text: words.Workload(x.pt.Key), Sub: x.pt.Key.Tool, Head: true}
		}},
		{col("Metric"), func(x shape) Cell { return Cell{Text: x.info.Label, Sub: x.info.Unit} }},
		{num("Requests"), func(x shape) Cell { return stated(x.n) }},
		{num("Median"), func(x shape) Cell { return text(words.Number(x.q[16])) }},
		{num("97th percentile"), func(x shape) Cell {
			if !schema.TailHolds("p97", float64(x.n)) {
				return Cell{Text: fmt.Sprintf("n = %d", x.n),
					Missing: "a 97th percentile of fewer than 100 requests is not meaningful"}
			}
			return text(words.Number(x.q[31]))
		}},
		{medium("Shape"), func(x shape) Cell {
			q := x.q
			label := fmt.Sprintf("%s from %s to %s %s, half of them from %s to %s", x.info.Label, words.Number(q[0]),
				words.Number(q[32]), x.info.Unit, words.Number(q[8]), words.Number(q[24]))
			return Cell{Strip: &Strip{Label: label, Quantiles: q, Low: x.lo, High: x.hi}}
		}},
	})
}

// quantiles is how many of a distribution are kept, at i/32.
const quantiles = 33

// RunsPage shows any run: which one, the address says after its #. Without script it says where the same numbers are.
func (r *Report) RunsPage() Page {
	p := r.page(RunsPath, "releases", "Runs", "Every run with its sources, commands and hashes.")
	p.Lead = Lead{Text: "Which run?", Paras: []string{"Every number of a release leads to its run, with the commands " +
		"and the hashes of the raw files. One run is shown by script; without it, the files below have the same numbers."}}
	p.Scripts = []string{"run.js"}
	t := tableOf("Runs by release, newest first", List, newestFirst(r.Releases), []Column[int]{
		{col("Release"), func(i int) Cell {
			return head(r.Releases[i].Name, ReleasePath(r.Releases[i].Name)+"#runs")
		}},
		{num("Runs"), func(i int) Cell { return count(len(r.Releases[i].Runs)) }},
		{medium("Date"), func(i int) Cell { return text(day(r.Releases[i].Date)) }},
		{col("Every number"), func(i int) Cell {
			numbers := r.dataLink(i, "points")
			return Cell{Text: numbers.Text, Href: numbers.Href}
		}},
		{col("Report"), func(i int) Cell { return Cell{Text: "markdown", Href: ReleaseReportPath(r.Releases[i].Name)} }},
	})
	p.add(section("run", "", "", Widget{Tool: "run", Data: RunIndexPath}),
		section("releases", "Runs by release", fmt.Sprintf("%s in %s.", words.Plural(len(r.Columns.Runs), "run"),
			words.Plural(len(r.Releases), "release")), t.cut("data/index.json has all")))
	return p
}

// otherFields lists the fields of the files that have no canonical name: a row a field, with a few of its different
// values.
func otherFields(run *schema.Run) *Table {
	const most = 4
	values, points := map[string][]string{}, map[string]int{}
	add := func(fields schema.Unknown, n int) {
		for name, raw := range fields {
			if name == "setting" {
				continue // it is shown with the identity
			}
			v := string(raw) // texts without quotes, everything else as it stands
			if bytes.HasPrefix(raw, []byte{'"'}) {
				if s, err := strconv.Unquote(v); err == nil {
					v = s
				}
			}
			if !slices.Contains(values[name], v) {
				values[name] = append(values[name], v)
			}
			points[name] += n
		}
	}
	add(run.Extra, 0)
	for i := range run.Points {
		add(run.Points[i].Extra, 1)
	}
	return tableOf("Other fields", KeyValue, sortedNames(values), []Column[string]{
		{col("Field"), func(name string) Cell { return Cell{Text: name, Head: true, Code: true} }},
		{col("Value"), func(name string) Cell { return text(someOf(values[name], most)) }},
		{col("Of"), func(name string) Cell {
			if n := points[name]; n > 0 {
				return text(words.Plural(n, "point"))
			}
			return text("the run")
		}},
	}).cut(documentHasAll)
}

// someOf names the first values, and how many there are besides: "a, b, and 3 more".
func someOf(values []string, most int) string {
	if more := len(values) - most; more > 0 {
		values = append(slices.Clone(values[:most]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(values, ", ")
}

// coursesOf are the quantities whose values by time are known of some point of a run: latencies, gauges of the server,
// power. Each is a column of pictures beside the points.
func coursesOf(run *schema.Run) (out []schema.MetricInfo) {
	var all groups[string, schema.SliceOf]
	for i := range run.Points {
		for _, x := range run.Points[i].Slices.Series {
			if _, _, ok := x.Range(); !ok {
				continue
			}
			if s, known := all.of(x.Name); !known {
				*s = x
			}
		}
	}
	schema.SortSlices(all.list)
	for _, x := range all.list {
		if info, known := schema.SliceInfo(x.Name); known {
			out = append(out, info)
		}
	}
	return out
}

// byTime ends the heads of the pictures: the drawer finds them by it.
const byTime = " by time"
