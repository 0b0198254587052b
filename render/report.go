package render

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// Input is everything a report is made of.
type Input struct {
	Title     string
	Gate      *gate.Gate
	Notes     []Note
	Problems  []schema.Problem // of this build: files that could not be read, documents that are damaged
	Version   string
	Topics    []string          // pages of the documentation, by name
	Titles    map[string]string // their headings
	Licences  []Licence
	Mode      Mode // the question of the front page
	Prices    Prices
	Chips     map[string]int // accelerators of a device, where runs do not state them
	Reference string         // model that others' scores are compared with, or ""
	Models    Listing        // how models stand in lists
	Devices   Listing
	Planned   []schema.Pair // with targets and no run
	Commits   CommitLinks
	// Ingest is the command that stores what is judged; "" for what is stored. What is not stored cannot be accepted,
	// searched or completed.
	Ingest string
	Public bool // leave out commands and foreign fields, and of paths all but the last name
}

// Listing orders and hides names in lists. What is hidden keeps its page and its part in every
// decision: hiding excuses nothing.
type Listing struct {
	Order []string
	Hide  []string // globs
}

// place is where a name stands: the listed first.
func (l Listing) place(name string) int {
	if i := slices.Index(l.Order, name); i >= 0 {
		return i
	}
	return len(l.Order)
}

func (l Listing) hides(name string) bool {
	return slices.ContainsFunc(l.Hide, func(pattern string) bool {
		return pattern == name || glob.Match(pattern, name)
	})
}

// listed are the models on devices that lists show, in their order, and how many are hidden.
func (r *Report) listed() (pairs []Pair, hidden int) {
	for _, p := range r.Pairs {
		if r.Models.hides(p.Model) || r.Devices.hides(p.Device) {
			hidden++
			continue
		}
		pairs = append(pairs, p)
	}
	return pairs, hidden
}

// Licence is an embedded part and its licence.
type Licence struct {
	Name, Version, Licence string
	File                   Address
}

// Report is an index over the input; its methods build pages.
type Report struct {
	Input
	Columns   *columns.Columns
	Releases  []judge.Release
	Pairs     []Pair
	series    map[schema.Pair][]*judge.Series
	named     map[uint64]int32              // series by the hash of their names
	seed      maphash.Seed                  // of these
	runs      map[schema.Pair]map[int][]int // by release
	with      map[schema.Pair][]int         // releases, oldest first
	has       []int                         // models on devices, by release
	naming    sync.Once                     // of named
	numbering sync.Once                     // of byID
	byID      map[string]int                // runs
	laying    sync.Mutex                    // of against
	against   map[int]func() *compare.Against
}

// Pair is a model on a device: what a release is decided for.
type Pair struct {
	schema.Pair
	ID     string // model id, when one is stated
	Newest int    // newest release that has it
}

// New indexes what was judged.
func New(in Input) *Report {
	r := &Report{
		Input: in, Columns: in.Gate.Columns, Releases: in.Gate.Releases,
		series: map[schema.Pair][]*judge.Series{}, runs: map[schema.Pair]map[int][]int{}, with: map[schema.Pair][]int{},
		has: make([]int, len(in.Gate.Releases)), against: map[int]func() *compare.Against{},
	}
	for ri := range r.Releases {
		for _, run := range r.Releases[ri].Runs {
			h := &r.Columns.Runs[run]
			id := schema.Pair{Model: h.Model.Name, Device: h.Device}
			if r.runs[id] == nil {
				r.Pairs = append(r.Pairs, Pair{Pair: id})
				r.runs[id] = map[int][]int{}
			}
			if len(r.runs[id][ri]) == 0 {
				r.has[ri]++
				r.with[id] = append(r.with[id], ri)
			}
			r.runs[id][ri] = append(r.runs[id][ri], run)
		}
	}
	for i := range in.Gate.Series {
		s := &in.Gate.Series[i]
		if s.Tail() {
			continue
		}
		id := schema.Pair{Model: s.Model, Device: s.Device}
		r.series[id] = append(r.series[id], s)
	}
	slices.SortFunc(r.Pairs, r.comparePairs)
	for i := range r.Pairs {
		p := &r.Pairs[i]
		released := false
		for _, ri := range r.with[p.Pair] {
			if is := judge.IsBaseline(r.Releases[ri].Channel); is || !released {
				p.Newest, released = ri, is
			}
			for _, run := range r.runs[p.Pair][ri] {
				p.ID = cmp.Or(r.Columns.Runs[run].Model.ID, p.ID)
			}
		}
	}
	return r
}

// comparePairs is the order of lists: listed models and devices first, then by name.
func (r *Report) comparePairs(a, b Pair) int {
	return cmp.Or(cmp.Compare(r.Models.place(a.Model), r.Models.place(b.Model)), schema.NaturalCompare(a.Model, b.Model),
		cmp.Compare(r.Devices.place(a.Device), r.Devices.place(b.Device)), schema.NaturalCompare(a.Device, b.Device))
}

// measuredIn are the releases that have a run of a model and device, oldest first.
func (r *Report) measuredIn(model, device string) []int {
	return r.with[schema.Pair{Model: model, Device: device}]
}

// namesOf are names for an axis: of a build that nobody released, its day.
func (r *Report) namesOf(releases []int) []string {
	out := make([]string, len(releases))
	for i, ri := range releases {
		out[i] = r.Releases[ri].Name
		if rel := &r.Releases[ri]; !rel.Label && !rel.Date.IsZero() {
			out[i] = rel.Date.UTC().Format(time.DateOnly)
		}
	}
	return out
}

// PairResult is the decision on a model and device in a release.
func (r *Report) PairResult(p Pair, release int) gate.Result {
	return r.Gate.PairResult(release, p.Pair)
}

// RunsOf are the runs of a model and device in a release, oldest first.
func (r *Report) RunsOf(release int, p Pair) []int { return r.runs[p.Pair][release] }

// Results are what a release and each model and device in it came to, in a form that can be kept.
type Results = gate.Results

// Results returns what a release came to.
func (r *Report) Results(release int) Results { return r.Gate.Results(release) }

// Know takes what a release came to from an earlier report of the same, so that it need not be found again.
func (r *Report) Know(release int, x Results) { r.Gate.Know(release, x) }

// Review is a release, or a model and device in it, as somebody who signs it needs it; empty selects all.
func (r *Report) Review(release int, model, device string) gate.Review {
	return r.Gate.Review(release, model, device)
}

// Digest covers what the pages of a release follow from, beside the program and the configuration.
func (r *Report) Digest(release int) string { return r.Gate.Digest(release) }

// Result is the decision on a release.
func (r *Report) Result(release int) gate.Result { return r.Gate.Results(release).Whole }

// Newest is the index of the release that a reader wants first: the newest one with a label of a channel that serves
// as baseline, else the newest build of one, else the newest; -1 when nothing was measured. A build of a branch is
// judged by check and never takes the place of what is released.
func (r *Report) Newest() int {
	wanted := []func(*judge.Release) bool{
		func(x *judge.Release) bool { return x.Label && judge.IsBaseline(x.Channel) },
		func(x *judge.Release) bool { return judge.IsBaseline(x.Channel) },
		func(x *judge.Release) bool { return x.Label },
	}
	for _, is := range wanted {
		for i := len(r.Releases) - 1; i >= 0; i-- {
			if is(&r.Releases[i]) {
				return i
			}
		}
	}
	return len(r.Releases) - 1
}

// pairVerdicts are the verdicts against targets of a model and device in a release.
func (r *Report) pairVerdicts(p Pair, release int) []schema.Verdict {
	return r.Gate.PairTargets(release, p.Pair)
}

// pairChanges are the history rows of a model and device in a release.
func (r *Report) pairChanges(p Pair, release int) []schema.Verdict {
	return r.Gate.PairHistory(release, p.Pair)
}

// seriesName is what a verdict has in common with its series.
type seriesName struct{ model, device, impl, metric, stat, def, key string }

func (r *Report) seriesOf(v schema.Verdict) *judge.Series {
	r.naming.Do(func() {
		r.named, r.seed = make(map[uint64]int32, len(r.Gate.Series)), maphash.MakeSeed()
		for i := range r.Gate.Series {
			if hash, s := r.find(r.nameOfSeries(&r.Gate.Series[i])); s == nil {
				r.named[hash] = int32(i)
			}
		}
	})
	_, s := r.find(seriesName{v.Model, v.Device, v.Impl, v.Metric, v.Stat, v.Def, v.Key.String()})
	return s
}

// find returns the first series of a name, nil for none, and the hash under which it is or would be. A name that has
// the hash of another takes the next one. Maps of names were a tenth of the memory of a large history.
func (r *Report) find(name seriesName) (hash uint64, s *judge.Series) {
	for hash = maphash.Comparable(r.seed, name); ; hash++ {
		i, ok := r.named[hash]
		if !ok {
			return hash, nil
		}
		if s = &r.Gate.Series[i]; r.nameOfSeries(s) == name {
			return hash, s
		}
	}
}

func (r *Report) nameOfSeries(s *judge.Series) seriesName {
	return seriesName{s.Model, s.Device, s.Impl, s.Metric, s.Stat, s.Def, r.Columns.KeyName(s.KeyIndex)}
}

// simulated says whether everything in a release, or in all of them for release < 0, came from the simulator, or part
// of it; "" when nothing did.
func (r *Report) simulated(release int) string {
	sim, all := 0, 0
	for ri := range r.Releases {
		if release >= 0 && ri != release {
			continue
		}
		for _, run := range r.Releases[ri].Runs {
			all++
			if r.Columns.Runs[run].IsSimulated() {
				sim++
			}
		}
	}
	switch {
	case sim == 0:
		return ""
	case sim == all:
		return "Simulated: every number here was made by the embedded simulator. Nothing was measured on a device."
	}
	return "Part of what is shown here was made by the embedded simulator and is marked so; " +
		"it was not measured on a device."
}

// ReleaseReport is what a pull request for a release shows: the decision on each model and device with how much of it
// was graded and what moved, measured numbers beside their targets, what regressed, and which targets changed.
func (r *Report) ReleaseReport(at int, g gate.Review) Page {
	gated := r.GatePage(g, false)
	p := Page{Title: gated.Title, Lead: gated.Lead, Simulated: r.simulated(at)}
	const history = "Against history, worst first"
	for _, s := range gated.Sections {
		if s.Title == "" { // the card of the decision
			p.add(s)
		}
	}
	p.add(Section{Title: "Models and devices", Intro: r.statusIntro(at), Blocks: blocksOf(r.statusTable(at, &g))})
	if t := measuredBesideTargets(g.Targets); len(t.Rows) > 0 {
		p.add(Section{Title: "Measured and target", Intro: words.Grading(gate.GradingOf(g.Targets)),
			Blocks: []Block{t.elsewhere(r.allVerdicts(at))}})
	}
	for _, s := range gated.Sections {
		if s.Title == history {
			p.add(s)
		}
	}
	if list, since := r.Gate.TargetChanges(at); len(list) > 0 {
		p.add(targetChangeSection(list, since))
	}
	for _, s := range gated.Sections {
		switch s.Title {
		case "", "Models and devices", "Targets", history: // they are above, some with more
		default:
			p.add(s)
		}
	}
	return p
}

// blocksOf is a table as blocks, none when it has no rows.
func blocksOf(t *Table) []Block {
	if len(t.Rows) == 0 {
		return nil
	}
	return []Block{t}
}

// before is the release of a model and device that this one is compared with, -1 for none.
func (r *Report) before(at int, pair schema.Pair) int {
	newest := r.Gate.Before(at)
	out := -1
	for _, ri := range r.with[pair] {
		if ri <= newest && ri < at && judge.IsBaseline(r.Releases[ri].Channel) {
			out = ri
		}
	}
	return out
}

func (r *Report) statusIntro(at int) string {
	if b := r.Gate.Before(at); b >= 0 {
		return "An arrow shows what moved since the release before, " + r.nameOf(b) + " where it has the model and device."
	}
	return ""
}

// statusTable is a row for each model and device: the decision, the declared status and the level of targets that was
// reached, each with what it was before.
func (r *Report) statusTable(at int, g *gate.Review) *Table {
	t := &Table{Caption: "Models and devices", Layout: List, Cols: []Col{
		{Head: "Model and device"}, {Head: "Decision"}, {Head: "Declared status"}, {Head: "Level reached"},
		{Head: "Graded"}, {Head: "Regressed", Unit: "points", Num: true}, {Head: "Why"},
	}}
	for _, x := range g.Pairs {
		d := words.Decide(x.Result)
		name := Cell{Text: words.OnDevice(x.Model, x.Device), Head: true, Href: PairPath(x.Model, x.Device)}
		why := Cell{Text: words.Capital(d.Detail), Sentence: true}
		if len(r.runs[x.Pair][at]) == 0 {
			t.row(name, text(d.Word), text(words.Absent), text(words.Absent), text(words.Absent), text(words.Absent), why)
			continue
		}
		moved := func(of func(release int) string) Cell {
			now := cmp.Or(of(at), words.Absent)
			if b := r.before(at, x.Pair); b >= 0 {
				if was := cmp.Or(of(b), words.Absent); was != now {
					return Cell{Text: was + " → " + now, Strong: true}
				}
			}
			return text(now)
		}
		t.row(name,
			moved(func(i int) string { return words.Decide(r.Gate.PairResult(i, x.Pair)).Word }),
			moved(func(i int) string { return r.declared(i, x.Pair) }),
			moved(func(i int) string { return r.Gate.PairResult(i, x.Pair).Level }),
			text(graded(r.Gate.PairGrading(at, x.Pair))), text(words.Count(regressed(x.Result))), why)
	}
	return t.elsewhere("data/index.json has all")
}

// regressed counts the points that regressed, whatever the evidence.
func regressed(x gate.Result) int {
	n := 0
	for _, c := range x.Counts {
		switch c.Kind {
		case gate.FailConfirmed, gate.FailRunWide, gate.FailSuspected:
			n += c.N
		}
	}
	return n
}

// graded is how many workloads have a target that was graded, of those that were measured.
func graded(c gate.Grading) string { return words.Of(c.Graded, c.Workloads) }

// declared is the status that the runs of a model and device in a release declare.
func (r *Report) declared(release int, pair schema.Pair) string {
	out := ""
	for _, i := range r.runs[pair][release] {
		out = cmp.Or(r.Columns.Runs[i].Model.Status, out)
	}
	return out
}

// besideKey is what the levels of a target have in common: a row of the table.
type besideKey struct {
	pair              schema.Pair
	key, metric, stat string
}

// measuredBesideTargets has a row for each number with targets: what was measured, and the target of each level with
// its sign. What nobody measured is there too.
func measuredBesideTargets(list []schema.Verdict) *Table {
	t := &Table{Caption: "Measured and target", Layout: List, Cols: []Col{
		{Head: "Model and device"}, {Head: "Workload", Unit: "ISL/OSL/concurrency"}, {Head: "Metric"},
		{Head: "Measured", Num: true},
	}}
	levels := append(schema.Levels(), schema.LevelReference)
	at := map[besideKey]int{}
	for i := range list {
		v := &list[i]
		if v.Metric == "" || v.Outcome == schema.NoTarget || !slices.Contains(levels, v.Level) {
			continue
		}
		id := besideKey{v.Pair(), v.Key.String(), v.Metric, v.Stat}
		if _, has := at[id]; !has {
			at[id] = len(t.Rows)
			cells := []Cell{
				{Text: words.OnDevice(v.Model, v.Device), Head: true, Href: PairPath(v.Model, v.Device)},
				{Text: words.Workload(v.Key), Sub: v.Key.Tool}, {Text: words.Metric(v.Metric, v.Stat), Sub: direction(v.Metric)},
				number(v.Value),
			}
			t.Rows = append(t.Rows, Row{Cells: append(cells, make([]Cell, len(levels))...)})
		}
		cell := number(v.Ref)
		cell.Outcome = v.Outcome
		if !v.Required {
			cell.Sub = "informational"
		}
		t.Rows[at[id]].Cells[4+slices.Index(levels, v.Level)] = cell
	}
	for _, level := range levels {
		t.Cols = append(t.Cols, Col{Head: words.Capital(level), Num: true})
	}
	for i := len(t.Cols) - 1; i > 3; i-- {
		if !slices.ContainsFunc(t.Rows, func(row Row) bool { return strings.TrimSpace(row.Cells[i].Text) != "" }) {
			t.dropColumn(i)
		}
	}
	return t
}

// PairReport is the markdown report of one model and device in one release, with every row.
func (r *Report) PairReport(release int, pair Pair) Page {
	rel := r.Releases[release]
	runs := r.runs[pair.Pair][release]
	verdicts := r.pairVerdicts(pair, release)
	d := words.Decide(r.PairResult(pair, release))
	p := Page{
		Path:  ReportPath(rel.Name, pair.Model, pair.Device),
		Title: fmt.Sprintf("%s on %s, %s", words.OrUnknown(pair.Model), words.Device(pair.Device), rel.Name),
		Lead:  Lead{Word: d.Word, Text: words.Capital(d.Detail)},
	}
	if pair.Device == schema.Simulated {
		p.Simulated = "made by the embedded simulator; nothing was measured on a device."
	}
	p.add(Section{Title: "What was measured", Blocks: []Block{r.measuredTable(runs)}},
		Section{Title: "Parameters", Intro: "What was run, with which tools.", Blocks: []Block{r.parameters(runs)}})
	for i, t := range r.resultTables(runs) {
		s := Section{Title: "Results", Blocks: []Block{t.elsewhere(r.allIn(release, "points"))},
			Intro: "N counts completed requests. TPOT leaves the first token out."}
		if i > 0 {
			s.Title = "Spread of latencies"
		}
		if slices.ContainsFunc(t.Cols, func(c Col) bool { return strings.HasSuffix(c.Head, "P99") }) {
			s.Intro += " A P99 of fewer than 100 requests is not given."
		}
		p.add(s)
	}
	if t := r.targetTable(verdicts, false); len(t.Rows) > 0 {
		p.add(Section{Title: "Targets", Intro: noTargetNote(verdicts),
			Blocks: []Block{t.elsewhere(r.allVerdicts(release))}})
	} else {
		p.add(Section{Title: "Targets", Blocks: []Block{
			Empty{What: "No targets", Why: "Nothing was graded, which is not a pass."},
		}})
	}
	evals := r.evalList(runs)
	evals.Intro = ""
	p.add(evals)
	if t := r.changeReport(comparedOnly(r.pairChanges(pair, release)), false); len(t.Rows) > 0 {
		p.add(Section{Title: "Against history", Intro: r.baselineIntro(release),
			Blocks: []Block{t.elsewhere(r.allVerdicts(release))}})
	}
	return p
}

// parameters is the table of what was asked for: the one that is printed before a collection, too. Tools that measured
// the same share a row.
func (r *Report) parameters(runs []int) *Table {
	t := &Table{
		Caption: "Parameters",
		Cols: []Col{
			{Head: "#", Num: true}, {Head: "ISL", Num: true}, {Head: "OSL", Num: true},
			{Head: "Max concurrency", Num: true}, {Head: "Dataset"}, {Head: "Tools"},
		},
	}
	num := func(v *float64) Cell {
		if v == nil {
			return Cell{Text: words.Absent}
		}
		return text(fmt.Sprintf("%.10g", *v))
	}
	rows := map[string]int{}
	for _, p := range r.points(runs) {
		k := r.Columns.Keys[p.Key]
		tool := k.Tool
		k.Tool = ""
		i, has := rows[k.String()]
		if !has {
			i = len(t.Rows)
			rows[k.String()] = i
			t.row(text(words.Count(i+1)), num(k.ISL), num(k.OSL), num(k.Concurrency), text(otherDims(k)), Cell{})
		}
		cell := &t.Rows[i].Cells[len(t.Cols)-1]
		if !slices.Contains(strings.Split(cell.Text, ", "), tool) {
			cell.Text = strings.TrimPrefix(cell.Text+", "+tool, ", ")
		}
	}
	return t.elsewhere("the results below have all")
}

// PairsOf lists the models on devices that a release has.
func (r *Report) PairsOf(release int) []Pair {
	var out []Pair
	for _, p := range r.Pairs {
		if len(r.runs[p.Pair][release]) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// evalList lists every score of some runs, newest first; a section without blocks when there is none.
func (r *Report) evalList(runs []int) Section {
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
