package render

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/render/words"
)

// RunPage shows one run: who was measured and how that is known, the commands, every statistic, the raw files.
func (r *Report) RunPage(run *schema.Run, id string) Page {
	name := words.OnDevice(run.Model.Name, run.Device.Name)
	p := Page{
		Path: RunPath(id), Title: "Run " + id, Nav: "releases", Description: "Run " + id + " of " + name,
		Crumbs: []Link{{"Overview", "index.html"}, {name, PairPath(run.Model.Name, run.Device.Name)}},
		Lead:   runLead(run, name), Eyebrow: "Started " + orUnknownTime(run) + ".",
	}
	if run.Release != "" {
		p.Crumbs = append(p.Crumbs, Link{run.Release, ReleasePath(run.Release)})
	}
	p.Crumbs = append(p.Crumbs, Link{"Run " + id, ""})
	if run.IsSimulated() {
		p.Simulated = "Demo: this run was made by the embedded simulator. Nothing was measured on a device."
	}
	who := identityTable(run)
	if !r.Public {
		who.addMachine(run)
	}
	p.add(Section{ID: "identity", Title: "Identity", Intro: "What is known, from where. Unknown is not guessed.",
		Blocks: []Block{who}})
	if len(run.Plan) > 0 {
		p.Sections = append(p.Sections, planSection(run))
	}
	p.add(pointSection(run), distributionSection(run))
	if len(run.Scores) > 0 {
		p.add(Section{ID: "evals", Title: "Evals", Blocks: []Block{runScores(run)}})
	}
	if cmds := commands(run); len(cmds) > 0 && !r.Public {
		p.add(Section{ID: "commands", Title: "Commands", Intro: "What makes these points again; secrets are removed.",
			Blocks: []Block{cmds}})
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
			Text: fmt.Sprintf("of %d; %s.", len(run.Points), name)}
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
	return Section{ID: "points", Title: "Points",
		Intro:  "Every statistic that was kept, by workload and metric; – is not in the file.",
		Blocks: []Block{pointTable(run)}}
}

func distributionSection(run *schema.Run) Section {
	t := distributions(run)
	if len(t.Rows) == 0 {
		return Section{}
	}
	return Section{ID: "distributions", Title: "Distributions",
		Intro: "Over requests, on one logarithmic scale a metric: whisker from the 3rd to the 97th percentile, box over " +
			"the middle half, line at the median, dot at the slowest.",
		Blocks: []Block{t.cut("the history document has all")}}
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
	s := Section{
		ID: "plan", Title: "Plan",
		Intro: fmt.Sprintf("%d of %s were measured.", done, words.Plural(len(run.Plan), "planned workload")),
	}
	if len(t.Rows) > 0 {
		s.Blocks = []Block{t.cut("the history document has all")}
	}
	return s
}

func orUnknownTime(run *schema.Run) string {
	if run.Start.IsZero() {
		return "at an unknown time"
	}
	s := run.Start.UTC().Format("2 January 2006, 15:04:05") + words.Thin + "UTC"
	if o := run.Provenance["start"]; strings.Contains(o.Where, "zone not stated") {
		s += " (zone not stated by the file)"
	}
	return s
}

// identityTable lists every fact with its origin.
func identityTable(run *schema.Run) *Table {
	t := &Table{
		Caption: "Identity", Layout: KeyValue,
		Cols: []Col{{Head: "What"}, {Head: "Value"}, {Head: "Known from"}, {Head: "Where"}},
	}
	add := func(label, value, field string) {
		row := []Cell{{Text: label, Head: true}, {Text: words.OrUnknown(value), Code: value != ""}, {}, {Code: true}}
		if value == "" {
			row[1].Missing = "nothing states it"
		}
		if o, ok := run.Provenance[field]; ok && value != "" {
			row[2].Text, row[3].Text = o.From, o.Where
		}
		t.Rows = append(t.Rows, Row{Cells: row})
	}
	add("Release", run.Release, "release")
	add("Channel", run.InChannel(), "channel")
	add("Model", run.Model.ID, "model.id")
	add("Model name", run.Model.Name, "model.name")
	add("Architecture key", run.Model.Key, "model.key")
	add("Declared status", run.Model.Status, "model.status")
	add("Implementation", run.Impl, "impl")
	add("Device", run.Device.Name, "device.name")
	if run.Device.Chips > 0 {
		add("Accelerators", words.Count(run.Device.Chips), "device.chips")
	}
	if run.Device.Firmware != "" {
		add("Firmware", run.Device.Firmware, "device.firmware")
	}
	add("Engine", run.Stack.Engine, "stack.engine")
	add("Engine version", run.Stack.Version, "stack.version")
	add("Image", run.Stack.Image, "stack.image")
	if run.Stack.Digest != "" {
		add("Image digest", run.Stack.Digest, "stack.digest")
	}
	for _, name := range sortedNames(run.Stack.Commits) {
		add("Commit of "+name, run.Stack.Commits[name], "stack.commits")
	}
	return t
}

// fact is something that collect writes beside a run about the machine, and what people call it.
type fact struct{ name, label string }

// facts are those of the machine, in reading order.
func facts() []fact {
	return []fact{
		{"host", "Host"}, {"os", "System"}, {"kernel", "Kernel"}, {"cpu", "Processor"}, {"cpus", "Processors"},
		{"governor", "CPU governor"}, {"clocksource", "Clock source"}, {"accelerators", "Accelerators"},
		{"driver", "Driver"}, {"server_startup_s", "Server ready after, s"},
	}
}

// addMachine adds what is known of the machine to an identity.
func (t *Table) addMachine(run *schema.Run) {
	var known map[string]string
	if json.Unmarshal(run.Extra["setting"], &known) != nil {
		return
	}
	for _, f := range facts() {
		if v := known[f.name]; v != "" {
			t.row(
				Cell{Text: f.label, Head: true}, Cell{Text: v, Code: true}, text("machine"),
				Cell{Text: "setting in the manifest", Code: true},
			)
		}
	}
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// allStats are the columns that the point table may have, in order; those without any value are left out.
func allStats() []string {
	return []string{"mean", "median", "std", "min", "p5", "p25", "p75", "p90", "p95", "p99", "p99.9", "max"}
}

func statUsed(run *schema.Run, stat string) bool {
	for i := range run.Points {
		for _, m := range run.Points[i].Metrics {
			if _, ok := m.Stats.Get(stat); ok {
				return true
			}
		}
	}
	return false
}

// pointTable has every statistic of every point. Columns in which no point has anything are left out.
func pointTable(run *schema.Run) *Table {
	t := &Table{Caption: "Every statistic, by point", Layout: Numbers, Cols: []Col{{Head: "Metric"}}}
	has := filled(run)
	if has.n {
		t.Cols = append(t.Cols, Col{Head: "n", Num: true})
	}
	for _, s := range allStats() {
		if s == "mean" || statUsed(run, s) {
			has.stats = append(has.stats, s)
			t.Cols = append(t.Cols, Col{Head: s, Num: true})
		}
	}
	if has.def {
		t.Cols = append(t.Cols, Col{Head: "Definition"})
	}
	known := schema.Metrics()
	for i := range run.Points {
		pt := &run.Points[i]
		head := pt.Key.Workload() + " · " + words.OrUnknown(pt.Key.Tool) + " · " + pt.Status
		if pt.Repeat > 1 {
			head += fmt.Sprintf(" · repeat %d", pt.Repeat)
		}
		if extra := conditions(pt); extra != "" {
			head += " · " + extra
		}
		t.Rows = append(t.Rows, Row{Group: head, Anchor: fmt.Sprintf("p%d", i+1)})
		for _, info := range append(known[:len(known):len(known)], ownOf(pt)...) {
			if m, ok := pt.Metrics[info.Name]; ok {
				t.Rows = append(t.Rows, Row{Cells: metricCells(info, m, pt, has)})
			}
		}
	}
	t.Total = len(t.Rows)
	return t
}

// ownOf are the metrics of a point that are the user's own, by name.
func ownOf(pt *schema.Point) []schema.MetricInfo {
	var out []schema.MetricInfo
	for name := range pt.Metrics {
		if info, ok := schema.MetricByName(name); ok && schema.IsOwn(name) {
			out = append(out, info)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// held is what some point of a run has.
type held struct {
	n, def bool
	stats  []string
}

func filled(run *schema.Run) held {
	var has held
	for i := range run.Points {
		for _, m := range run.Points[i].Metrics {
			has.n, has.def = has.n || m.N > 0, has.def || m.Def != "" || m.From != ""
		}
	}
	return has
}

func metricCells(info schema.MetricInfo, m schema.Metric, pt *schema.Point, has held) []Cell {
	cells := append(make([]Cell, 0, len(has.stats)+3), Cell{Text: info.Label, Sub: m.Unit, Head: true})
	switch {
	case m.N > 0:
		cells = append(cells, text(words.Count(m.N)))
	case has.n:
		cells = append(cells, text(words.Absent))
	}
	for _, s := range has.stats {
		cells = append(cells, statCell(info, m, s, requests(m, pt)))
	}
	if !has.def {
		return cells
	}
	def := m.Def
	if m.From != "" {
		def = strings.Trim(def+", "+m.From, ", ")
	}
	return append(cells, text(def))
}

// requests are how many a metric was taken over: its own count, else those of the point that succeeded; 0 when nobody
// says.
func requests(m schema.Metric, pt *schema.Point) int {
	if m.N > 0 {
		return m.N
	}
	n, _ := pt.Metrics["requests_ok"].Stats.Get("value")
	return int(n)
}

func statCell(info schema.MetricInfo, m schema.Metric, stat string, n int) Cell {
	v, ok := m.Stats.Get(stat)
	if stat == "mean" && !ok {
		v, ok = m.Stats.Get("value")
	}
	switch {
	case !ok && m.Why != "" && stat == "mean":
		return Cell{Text: "none", Missing: m.Why, Sub: m.Why}
	case !ok:
		return text(words.Absent)
	case stat == "p99" && n > 0 && n < schema.FewForTail:
		return Cell{Text: fmt.Sprintf("n = %d", n), Missing: "a P99 of fewer than 100 requests is no number"}
	case info.Unit == "req":
		return counted(schema.Num(v))
	}
	return text(words.Number(v))
}

// conditions are the few that change a number's meaning, for the row's heading.
func conditions(pt *schema.Point) string {
	var parts []string
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
	return strings.Join(parts, ", ")
}

func runScores(run *schema.Run) *Table {
	rows := make([]columns.ScoreRow, 0, len(run.Scores))
	for _, s := range run.Scores {
		rows = append(rows, columns.ScoreRow{Score: s})
	}
	return scoreTable(rows).cut("the history document has all")
}

// commands lists each distinct command once.
func commands(run *schema.Run) Commands {
	var out Commands
	seen := map[string]bool{}
	for i := range run.Points {
		line := manifest.Quote(run.Points[i].Command)
		if line != "" && !seen[line] {
			seen[line] = true
			out = append(out, line)
		}
	}
	return out
}

// fileTable lists the raw files with their hashes.
func fileTable(run *schema.Run) *Table {
	t := &Table{
		Caption: "Raw files", Layout: List,
		Cols: []Col{{Head: "File"}, {Head: "Format"}, {Head: "Tool"}, {Head: "SHA-256"}},
	}
	seen := map[string]bool{}
	add := func(s schema.Source, tool string) {
		if s.Path == "" || seen[s.Path] {
			return
		}
		seen[s.Path] = true
		t.row(
			Cell{Text: s.Path, Head: true, Code: true}, text(s.Format),
			text(strings.TrimSpace(tool+" "+s.ToolVersion)), Cell{Text: s.SHA256, Code: true},
		)
	}
	for i := range run.Points {
		add(run.Points[i].Source, run.Points[i].Key.Tool)
	}
	for i := range run.Scores {
		add(run.Scores[i].Source, "lm-eval")
	}
	return t.cut("the history document lists every file")
}

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
