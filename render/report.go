package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/render/words"
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
	Reference string  // model that others' scores are compared with, or ""
	Models    Listing // how models stand in lists
	Devices   Listing
	Board     Board         // how tasks of evals do
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
	Order []string `yaml:"order"` // these first, in this order
	Hide  []string `yaml:"hide"`  // globs; their pages stay, and lists show how many are hidden
}

// Board orders and hides the tasks of evals, and names groups of them.
type Board struct {
	Listing `yaml:",inline"`
	Groups  map[string][]string `yaml:"groups"` // globs
}

// place is where a name stands: the listed first.
func (l Listing) place(name string) int {
	if i := slices.Index(l.Order, name); i >= 0 {
		return i
	}
	return len(l.Order)
}

func (l Listing) hides(name string) bool { return glob.Any(l.Hide, name) }

// Licence is an embedded part and its licence.
type Licence struct {
	Name, Version, Licence string
	File                   Address
}

// Report is an index over the input; its methods build pages.
type Report struct {
	Input
	Columns  *columns.Columns
	Releases []judge.Release
	Pairs    []Pair
	judged   map[schema.Pair][]*judge.Series // those of tails, too
	series   map[schema.Pair][]*judge.Series // that are drawn
	runs     map[schema.Pair]map[int][]int   // by release
	with     map[schema.Pair][]int           // releases, oldest first
	has      []int                           // models on devices, by release
	sim      []int                           // runs of the simulator, by release
	shown    []Pair                          // the models on devices that lists show, in their order
	shownOf  map[string][]Pair               // by model
	byID     map[string]int                  // runs
	ranges   func() []string                 // commits that a release has and the one before has not, by release
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
		Input: in, Columns: in.Gate.Columns, Releases: in.Gate.Releases, has: make([]int, len(in.Gate.Releases)),
		sim: make([]int, len(in.Gate.Releases)), byID: map[string]int{}, judged: map[schema.Pair][]*judge.Series{},
		series: map[schema.Pair][]*judge.Series{}, runs: map[schema.Pair]map[int][]int{},
		with: map[schema.Pair][]int{}, shownOf: map[string][]Pair{},
	}
	for i := range r.Columns.Runs {
		r.byID[r.Columns.Runs[i].ID] = i
	}
	r.ranges = sync.OnceValue(r.commitRanges)
	for ri := range r.Releases {
		for _, run := range r.Releases[ri].Runs {
			h := &r.Columns.Runs[run]
			r.sim[ri] += truth(h.IsSimulated())
			id := h.Pair()
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
		if r.judged[s.Pair()] = append(r.judged[s.Pair()], s); !s.Tail() {
			r.series[s.Pair()] = append(r.series[s.Pair()], s)
		}
	}
	slices.SortFunc(r.Pairs, func(a, b Pair) int { // listed models and devices first, then by name
		return cmp.Or(cmp.Compare(r.Models.place(a.Model), r.Models.place(b.Model)), schema.NaturalCompare(a.Model, b.Model),
			cmp.Compare(r.Devices.place(a.Device), r.Devices.place(b.Device)), schema.NaturalCompare(a.Device, b.Device))
	})
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
		if !r.Models.hides(p.Model) && !r.Devices.hides(p.Device) {
			r.shown, r.shownOf[p.Model] = append(r.shown, *p), append(r.shownOf[p.Model], *p)
		}
	}
	return r
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

// Results are what a release and each model and device in it came to, in a form that can be kept.
type Results = gate.Results

// RunsOf are the runs of a model and device in a release, oldest first.
func (r *Report) RunsOf(release int, p Pair) []int { return r.runs[p.Pair][release] }

// Newest is the index of the release that a reader wants first: the newest one with a label of a channel that serves
// as baseline, else the newest build of one, those first that something dates, else the newest; -1 when nothing was
// measured. A build of a branch is judged by check and never takes the place of what is released.
func (r *Report) Newest() int {
	wanted := []func(*judge.Release) bool{
		func(x *judge.Release) bool { return x.Label && judge.IsBaseline(x.Channel) },
		func(x *judge.Release) bool { return judge.IsBaseline(x.Channel) && !x.Date.IsZero() },
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

// seriesOf is the series that a verdict is about; nil for none.
func (r *Report) seriesOf(v *schema.Verdict) *judge.Series {
	list, key := r.judged[v.Pair()], v.Key.String()
	at := slices.IndexFunc(list, func(s *judge.Series) bool {
		return s.Impl == v.Impl && s.Metric == v.Metric && s.Stat == v.Stat && s.Def == v.Def &&
			r.Columns.KeyName(s.KeyIndex) == key
	})
	if at < 0 {
		return nil
	}
	return list[at]
}

// allSimulated marks a page without a measured number.
const allSimulated = "Every number here was made by the embedded simulator. Nothing was measured on a device."

// simulated says whether everything in a release, or in all of them for release < 0, came from the simulator, or part
// of it; "" when nothing did.
func (r *Report) simulated(release int) string {
	sim, all := 0, 0
	for ri := range r.Releases {
		if release < 0 || ri == release {
			sim, all = sim+r.sim[ri], all+len(r.Releases[ri].Runs)
		}
	}
	switch {
	case sim == 0:
		return ""
	case sim == all:
		return allSimulated
	}
	return "Part of what is shown here was made by the embedded simulator and is marked so; " +
		"it was not measured on a device."
}

// ReleaseReport is what a pull request for a release shows: the decision on each model and device with how much of it
// was graded and what moved, measured numbers beside their targets, what regressed, and which targets changed.
func (r *Report) ReleaseReport(at int, g gate.Review) Page {
	gated := r.GatePage(g, false)
	p := Page{Title: gated.Title, Lead: gated.Lead, Simulated: r.simulated(at)}
	const history, pairs = "Against history, worst first", "Models and devices"
	take := func(is func(title string) bool) {
		for _, s := range gated.Sections {
			if is(s.Title) {
				p.add(s)
			}
		}
	}
	take(func(title string) bool { return title == "" }) // the card of the decision
	intro := ""
	if b := r.Gate.Before(at); b >= 0 {
		intro = "An arrow shows what moved since the release before, " + r.nameOf(b) + " where it has the model and device."
	}
	p.add(section("", pairs, intro, r.statusTable(at, &g)),
		section("", "Measured and target", words.Grading(gate.GradingOf(g.Targets)),
			measuredBesideTargets(g.Targets).elsewhere(r.allVerdicts(at))))
	take(func(title string) bool { return title == history })
	p.add(r.targetChangeSection(at))
	take(func(title string) bool { return !slices.Contains([]string{"", pairs, "Targets", history}, title) })
	return p
}

// statusTable is a row for each model and device: the decision, the declared status and the level of targets that was
// reached, each with what it was in the release that it is compared with.
func (r *Report) statusTable(at int, g *gate.Review) *Table {
	moved := func(x gate.PairResult, of func(release int, p schema.Pair) string) Cell {
		now, before, newest := cmp.Or(of(at, x.Pair), words.Absent), -1, r.Gate.Before(at)
		for _, ri := range r.with[x.Pair] {
			if ri <= newest && ri < at && judge.IsBaseline(r.Releases[ri].Channel) {
				before = ri
			}
		}
		if before >= 0 {
			if was := cmp.Or(of(before, x.Pair), words.Absent); was != now {
				return Cell{Text: was + " → " + now, Strong: true}
			}
		}
		return text(now)
	}
	has := func(x gate.PairResult) bool { return len(r.runs[x.Pair][at]) > 0 }
	measured := func(c Col, cell func(gate.PairResult) Cell) Column[gate.PairResult] {
		return Column[gate.PairResult]{c, func(x gate.PairResult) Cell {
			if !has(x) {
				return text(words.Absent)
			}
			return cell(x)
		}}
	}
	return tableOf("Models and devices", List, g.Pairs, []Column[gate.PairResult]{
		{col("Model and device"), func(x gate.PairResult) Cell { return pairHead(x.Pair) }},
		{col("Decision"), func(x gate.PairResult) Cell {
			if !has(x) {
				return text(words.Decide(x.Result).Word)
			}
			return moved(x, func(i int, p schema.Pair) string { return words.Decide(r.Gate.PairResult(i, p)).Word })
		}},
		measured(col("Declared status"), func(x gate.PairResult) Cell {
			return moved(x, func(i int, p schema.Pair) (out string) {
				for _, run := range r.runs[p][i] {
					out = cmp.Or(r.Columns.Runs[run].Model.Status, out)
				}
				return out
			})
		}),
		measured(col("Level reached"), func(x gate.PairResult) Cell {
			return moved(x, func(i int, p schema.Pair) string { return r.Gate.PairResult(i, p).Level })
		}),
		measured(col("Graded"), func(x gate.PairResult) Cell { // how many workloads have a target that was graded
			c := gate.GradingOf(r.Gate.PairTargets(at, x.Pair))
			return text(words.Of(c.Graded, c.Workloads))
		}),
		measured(Col{Head: "Regressed", Unit: "changes", Num: true}, func(x gate.PairResult) Cell {
			n := 0 // whatever the evidence
			for _, c := range x.Result.Counts {
				switch c.Kind {
				case gate.FailConfirmed, gate.FailRunWide, gate.FailSuspected:
					n += c.N
				}
			}
			return count(n)
		}),
		{col("Why"), func(x gate.PairResult) Cell { return sentence(words.Capital(words.Decide(x.Result).Detail)) }},
	}).elsewhere("data/index.json has all")
}

// measuredBesideTargets has a row for each number with targets: what was measured, and the target of each level with
// its sign. What nobody measured is there too.
func measuredBesideTargets(list []schema.Verdict) *Table {
	type numberID struct {
		pair              schema.Pair
		key, metric, stat string
	}
	levels := append(schema.Levels(), schema.LevelReference)
	var rows groups[numberID, []*schema.Verdict]
	for i := range list {
		v := &list[i]
		if v.Metric != "" && v.Outcome != schema.NoTarget && slices.Contains(levels, v.Level) {
			row, _ := rows.of(numberID{v.Pair(), v.Key.String(), v.Metric, v.Stat})
			*row = append(*row, v)
		}
	}
	columns := []Column[[]*schema.Verdict]{
		{col("Model and device"), func(row []*schema.Verdict) Cell { return pairHead(row[0].Pair()) }},
		{col("Workload").in(loadUnit), func(row []*schema.Verdict) Cell {
			return Cell{Text: words.Workload(row[0].Key), Sub: row[0].Key.Tool}
		}},
		{col("Metric"), func(row []*schema.Verdict) Cell { return metricCell(row[0].Metric, row[0].Stat) }},
		{Col{Head: "Measured", Num: true}, func(row []*schema.Verdict) Cell { return number(row[0].Value) }},
	}
	for _, level := range levels {
		columns = append(columns, Column[[]*schema.Verdict]{Col{Head: words.Capital(level), Num: true},
			func(row []*schema.Verdict) (c Cell) {
				for _, v := range row {
					if v.Level != level {
						continue
					}
					if c = number(v.Ref); !v.Required {
						c.Sub = "informational"
					}
					c.Outcome = v.Outcome
				}
				return c
			}})
	}
	return tableOf("Measured and target", List, rows.list, columns).dropEmpty(4)
}

// PairReport is the markdown report of one model and device in one release, with every row.
func (r *Report) PairReport(release int, pair Pair) Page {
	rel := r.Releases[release]
	runs := r.runs[pair.Pair][release]
	verdicts := r.Gate.PairTargets(release, pair.Pair)
	d := words.Decide(r.Gate.PairResult(release, pair.Pair))
	p := Page{
		Path:  ReportPath(rel.Name, pair.Model, pair.Device),
		Title: fmt.Sprintf("%s on %s, %s", words.OrUnknown(pair.Model), words.Device(pair.Device), rel.Name),
		Lead:  Lead{Word: d.Word, Text: words.Capital(d.Detail)},
	}
	if pair.Device == schema.Simulated {
		p.Simulated = allSimulated
	}
	p.add(Section{Title: "What was measured", Blocks: []Block{r.measuredTable(runs)}})
	for i, t := range r.pointTables(r.points(runs), rowsReported) {
		s := section("", []string{"Results", "Spread of latencies"}[min(i, 1)],
			"N counts completed requests. TPOT leaves the first token out.", t.elsewhere(r.allIn(release, "points")))
		if slices.ContainsFunc(t.Cols, func(c Col) bool { return strings.HasSuffix(c.Head, "P99") }) {
			s.Intro += " A P99 of fewer than 100 requests is not given."
		}
		p.add(s)
	}
	if t := r.targetTable(verdicts, false); len(t.Rows) > 0 {
		p.add(section("", "Targets", noTargetNote(verdicts), t.elsewhere(r.allVerdicts(release))))
	} else {
		p.add(section("", "Targets", "", Empty{What: "No targets", Why: "Nothing was graded, which is not a pass."}))
	}
	scores, intro := r.scoresOf(runs...), words.ComparedWith(r.before(release))
	if r.Gate.Before(release) >= 0 {
		intro += " " + words.Fit(r.Gate.Fit(release))
	}
	p.add(section("", "Evals", "", scoreTable(scores[:min(rowsShown, len(scores))]).of(len(scores)).
		cut("data/ has all rows, by release")), section("", "Against history", intro, r.changeReport(
		verdictsThat(r.Gate.PairHistory(release, pair.Pair), compared), false).elsewhere(r.allVerdicts(release))))
	return p
}

// PairsOf lists the models on devices that a release has.
func (r *Report) PairsOf(release int) []Pair {
	return slices.DeleteFunc(slices.Clone(r.Pairs), func(p Pair) bool { return len(r.runs[p.Pair][release]) == 0 })
}
