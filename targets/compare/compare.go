package compare

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/regression/pairing"
)

// Side is one half of a comparison.
type Side struct {
	Name string
	Runs []schema.Run
	// Later are the numbers of a release for which its first run does not count: see [judge.Judgement.ByLaterRuns].
	Later map[judge.Number]bool
}

// Result is the comparison of two sides: B is compared with A.
type Result struct {
	A, B         string
	Rows         []Row
	OnlyA, OnlyB int               // numbers that only one side has
	BadA, BadB   int               // values that no measurement gives, and points that failed or are invalid
	All          []All             // by metric, of what both sides measured in turns
	NoPairs      []schema.Mismatch // why runs that name each other are compared as runs by themselves
	OfTools      bool              // A and B are tools that measured the same: no row is a verdict
	Settings     []Setting
	Loads        []*Loads // of the workloads that both sides measured
	Curves       []Curve
	Scores       []Score // of evals that both sides have
	// Scores that only one side has.
	ScoresA, ScoresB int
	Nearest          *Nearest // where both have numbers, and none in common
}

// Row is one number of both sides.
type Row struct {
	System string // "" where both sides have one
	Key    schema.Key
	Metric string
	Stat   string
	pairing.Result
	Badness    float64         // log change, positive is worse
	DefA, DefB string          // definitions of the metric, where two tools are compared
	Judged     *schema.Verdict // on the number of B, where B is a release of the history; else nil
	Loads      *Loads
	of         cell
}

// TestNames lists the tests that a row can be decided by; the last stands for none.
func TestNames() []string {
	return []string{Interleaved, pairing.Welch, pairing.NoTest}
}

// Outcome states what the row shows.
func (r *Row) Outcome() schema.Outcome {
	switch {
	case r.Sure && r.Badness > 0:
		return schema.Regressed
	case r.Sure:
		return schema.Improved
	}
	return schema.Inconclusive
}

// Mean summarises one metric over all rows.
type Mean struct {
	Metric    string
	N         int
	Change    float64 // geometric mean, relative
	Low, High float64 // smallest and largest relative change
	// Alike is the geometric mean over the workloads whose loads do not differ, where others are among the N.
	Alike  float64
	NAlike int
}

// Means are the geometric means of the changes, by metric with two rows or more.
func (r *Result) Means() []Mean {
	var list, alike []changed
	for i := range r.Rows {
		c := changed{r.Rows[i].Metric, math.Log1p(r.Rows[i].Change)}
		list = append(list, c)
		if l := r.Rows[i].Loads; l == nil || !l.Differ() {
			alike = append(alike, c)
		}
	}
	out := means(list)
	if len(alike) == len(list) {
		return out
	}
	for _, m := range means(alike) {
		i := slices.IndexFunc(out, func(x Mean) bool { return x.Metric == m.Metric })
		out[i].Alike, out[i].NAlike = m.Change, m.N
	}
	return out
}

// Tests counts the rows by test.
func (r *Result) Tests() map[string]int {
	out := map[string]int{}
	for i := range r.Rows {
		out[r.Rows[i].Test]++
	}
	return out
}

// cell holds what must be equal for two numbers to be compared. The system is part of it only where a side has
// several.
type cell struct{ system, key, metric, stat, def string }

// side holds the values of one side, by what was measured.
type side struct {
	values map[cell][]float64
	defs   map[cell]string // of metrics, where tools are compared
	keys   map[string]schema.Key
	stated map[string]map[string]bool // values by setting
	loads  map[at]Load
	bad    int
	later  map[judge.Number]bool
	first  map[judge.Number]*schema.Run
}

// Sides compares B with A.
func Sides(a, b Side) *Result {
	name := naming(a.Runs, b.Runs)
	gatherSide := func(from Side) *side {
		var runs []*schema.Run
		for i := range from.Runs {
			runs = append(runs, &from.Runs[i])
		}
		slices.SortStableFunc(runs, func(x, y *schema.Run) int { return x.Start.Compare(y.Start) })
		return gather(runs, name, from.Later, "")
	}
	left, right := gatherSide(a), gatherSide(b)
	r := join(a.Name, b.Name, left, right)
	for i := range r.Rows {
		r.Rows[i].Badness = badness(r.Rows[i].Metric, r.Rows[i].Change)
	}
	if len(r.Rows) == 0 {
		r.Nearest = nearest(left, right)
	}
	for _, name := range slices.Sorted(maps.Keys(left.stated)) {
		x, y := left.settings(name), right.settings(name)
		if y != "" && x != y {
			r.Settings = append(r.Settings, Setting{name, x, y})
		}
	}
	r.interleave(a, b, name)
	r.Curves = curvesOf(a, b, name)
	r.scores(a, b, name)
	slices.SortFunc(r.Rows, byWeight)
	return r
}

// join makes a row of every number that both sides have.
func join(a, b string, left, right *side) *Result {
	r := &Result{A: a, B: b, BadA: left.bad, BadB: right.bad}
	for c, values := range right.values {
		base, both := left.values[c]
		if !both {
			r.OnlyB++
			continue
		}
		r.Rows = append(r.Rows, Row{
			System: c.system, Key: right.keys[c.key], Metric: c.metric, Stat: c.stat, Result: pairing.Compare(base, values),
			DefA: left.defs[c], DefB: right.defs[c], of: c,
		})
	}
	r.OnlyA = len(left.values) - len(r.Rows)
	r.loads(left, right)
	return r
}

// byWeight puts regressions first, then improvements, then the rest, each by size.
func byWeight(x, y Row) int {
	rank := func(r Row) int {
		return slices.Index([]schema.Outcome{schema.Regressed, schema.Improved, schema.Inconclusive}, r.Outcome())
	}
	return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(math.Abs(y.Badness), math.Abs(x.Badness)),
		x.Key.Compare(y.Key), cmp.Compare(x.System, y.System), cmp.Compare(x.Metric, y.Metric),
		cmp.Compare(x.Stat, y.Stat))
}

// naming returns how systems are named in cells: "" where each side has one; with the implementation where a side has
// several of one model and device, and with the engine or precision where it has several of an implementation, whose
// mean would be of none.
func naming(sides ...[]schema.Run) func(*schema.Run) string {
	facts := []func(*schema.Run) string{
		func(r *schema.Run) string { return r.Impl }, func(r *schema.Run) string { return r.Stack.Engine },
		func(r *schema.Run) string { return r.Model.Precision },
	}
	type stated struct {
		system string
		fact   int
	}
	several, vary := false, make([]bool, len(facts))
	for _, runs := range sides {
		systems, first := map[string]bool{}, map[stated]string{}
		for i := range runs {
			r := &runs[i]
			systems[systemOf(r)] = true
			of := systemOf(r)
			for f, fact := range facts {
				at, v := stated{of, f}, fact(r)
				was, known := first[at]
				if v != "" || f == 0 { // an implementation may have no name beside others
					vary[f] = vary[f] || known && !strings.EqualFold(was, v)
					first[at] = v
				}
				if f == 0 {
					of += "\x00" + v
				}
			}
		}
		several = several || len(systems) > 1
	}
	if !several && !slices.Contains(vary, true) {
		return func(*schema.Run) string { return "" }
	}
	return func(r *schema.Run) string {
		name := systemOf(r)
		for f, fact := range facts {
			if v := fact(r); vary[f] && v != "" {
				name += ", " + v
			}
		}
		return name
	}
}

func systemOf(r *schema.Run) string {
	return onDevice(r.Model.Name, r.Device.Name)
}

func onDevice(model, device string) string {
	return cmp.Or(model, "unknown") + " on " + cmp.Or(device, "unknown")
}

// gather collects the values of runs, one a measurement: of all tools, or of one to be compared with another.
func gather(runs []*schema.Run, name func(*schema.Run) string, later map[judge.Number]bool, tool string) *side {
	s := &side{values: map[cell][]float64{}, defs: map[cell]string{}, keys: map[string]schema.Key{}, later: later,
		first: map[judge.Number]*schema.Run{}, stated: map[string]map[string]bool{}, loads: map[at]Load{}}
	for _, r := range runs {
		system := name(r)
		for k := range r.Points {
			switch p := &r.Points[k]; {
			case tool != "" && p.Key.Tool != tool:
			case failed(p):
				s.bad++
			case tool != "":
				s.addOfTool(system, p)
			default:
				s.add(r, system, p)
			}
		}
	}
	return s
}

// failed reports a point whose numbers count for nothing.
func failed(p *schema.Point) bool {
	return p.Status == schema.StatusFailed || p.Status == schema.StatusInvalid
}

// add takes the judged numbers of a point of a run.
func (s *side) add(r *schema.Run, system string, p *schema.Point) {
	key := p.Key.String()
	s.keys[key] = p.Key
	s.state("precision", r.Model.Precision)
	for name, value := range p.Conditions {
		if judge.Blocking(name) {
			s.state(name, value)
		}
	}
	counts := false
	for _, x := range numbersOf(p) {
		if !schema.Measurable(x.value) {
			s.bad++
			continue
		}
		n := judge.Number{System: schema.System{Model: r.Model.Name, Device: r.Device.Name, Impl: r.Impl}, Key: key,
			Metric: x.metric, Stat: x.stat, Def: x.def}
		if s.later[n] { // later runs of the release decided: its first one does not count
			if s.first[n] == nil {
				s.first[n] = r
			}
			if s.first[n] == r {
				continue
			}
		}
		c := cell{system, key, x.metric, x.stat, x.def}
		s.values[c] = append(s.values[c], x.value)
		counts = true
	}
	if counts {
		s.load(at{system, key}, p)
	}
}

// number is the primary one of a metric of a point.
type number struct {
	metric, stat, def string
	value             float64
}

func numberOf(p *schema.Point, metric string) (number, bool) {
	m, ok := p.Metric(metric)
	stat, n := m.Primary()
	v, has := n.Get()
	return number{metric, stat, m.Kind().Def, v}, ok && has
}

// numbersOf are those of a point that are compared: those that verdicts are about, then the user's own by name.
func numbersOf(p *schema.Point) (out []number) {
	for _, metric := range judge.PrimaryMetrics() {
		info, _ := schema.MetricByName(metric)
		for _, name := range append([]string{metric}, info.StandIns...) {
			if x, ok := numberOf(p, name); ok {
				out = append(out, x)
				break
			}
		}
	}
	for i := range p.Metrics {
		name := p.Metrics[i].Name()
		if x, ok := numberOf(p, name); ok && schema.IsOwn(name) {
			out = append(out, x)
		}
	}
	return out
}

// Load is what a workload's requests did on one side: numbers of other loads do not compare systems.
type Load struct {
	OSL        schema.Number // measured length of an answer, the mean over repeats
	Failed, Of float64       // requests of all repeats; 0 of 0: not counted
	// The sum of the lengths of so many repeats.
	lengths, repeats float64
}

// Failing reports whether so many requests failed that the numbers are not those of the load.
func (l Load) Failing() bool { return l.Of > 0 && l.Failed/l.Of > schema.MostFailures }

// Loads are those of a workload that both sides measured.
type Loads struct {
	System string // "" where both sides have one
	Key    schema.Key
	A, B   Load
}

// Answers is the length of the shorter side's answers, of that of the other's; false where a side does not say.
func (l *Loads) Answers() (share float64, ok bool) {
	a, hasA := l.A.OSL.Get()
	b, hasB := l.B.OSL.Get()
	if !hasA || !hasB || a <= 0 || b <= 0 {
		return 0, false
	}
	return min(a, b) / max(a, b), true
}

// Lengths reports whether the answers of one side are clearly shorter.
func (l *Loads) Lengths() bool {
	share, ok := l.Answers()
	return ok && share < schema.LeastAnswer
}

// Differ reports whether the sides did not do the same work, or failed at it.
func (l *Loads) Differ() bool { return l.Lengths() || l.A.Failing() || l.B.Failing() }

// at names a workload of a side.
type at struct{ system, key string }

// load adds what the requests of a point did to those of its workload.
func (s *side) load(of at, p *schema.Point) {
	l := s.loads[of]
	if osl, ok := numberOf(p, "osl"); ok {
		l.lengths, l.repeats = l.lengths+osl.value, l.repeats+1
		l.OSL = schema.Num(l.lengths / l.repeats)
	}
	bad, hasBad := numberOf(p, "requests_failed")
	good, hasGood := numberOf(p, "requests_ok")
	if hasBad && hasGood {
		l.Failed, l.Of = l.Failed+bad.value, l.Of+bad.value+good.value
	}
	s.loads[of] = l
}

// loads gives each row the loads of its workload, and the result those that both sides measured, in the order of keys.
func (r *Result) loads(a, b *side) {
	of := map[at]*Loads{}
	for i := range r.Rows {
		row := &r.Rows[i]
		k := at{row.System, row.of.key}
		if of[k] == nil {
			of[k] = &Loads{row.System, row.Key, a.loads[k], b.loads[k]}
		}
		row.Loads = of[k]
	}
	r.Loads = slices.SortedFunc(maps.Values(of), func(x, y *Loads) int {
		return cmp.Or(cmp.Compare(x.System, y.System), x.Key.Compare(y.Key))
	})
}

// Setting is one that changes what a number means, and that the sides do not share.
type Setting struct{ Name, A, B string } // values with commas, where a side has several

// state notes a setting of a side; an empty value is none.
func (s *side) state(name, value string) {
	if value == "" {
		return
	}
	if s.stated[name] == nil {
		s.stated[name] = map[string]bool{}
	}
	s.stated[name][value] = true
}

// settings are the values of a setting that a side states.
func (s *side) settings(name string) string {
	return strings.Join(slices.Sorted(maps.Keys(s.stated[name])), ", ")
}

// mismatch returns why runs of two sides that name each other are no pair; nil where nothing that is stated says so.
func mismatch(a, b Side, left, right *schema.Run) *schema.Mismatch {
	if why := schema.Mismatched(turnSideOf(left), turnSideOf(right)); why != nil {
		return why
	}
	otherBuild := func(of Side, run *schema.Run) *schema.Mismatch {
		var others []schema.Build
		for i := range of.Runs {
			if o := &of.Runs[i]; o.Interleaved.IsZero() && systemOf(o) == systemOf(run) {
				others = append(others, turnSideOf(o).Build)
			}
		}
		return schema.OtherBuild(turnSideOf(run).Build, of.Name, others)
	}
	return cmp.Or(otherBuild(a, left), otherBuild(b, right))
}

func turnSideOf(r *schema.Run) schema.TurnSide {
	var setting map[string]string
	if json.Unmarshal(r.Extra["setting"], &setting) != nil {
		setting = nil // it states nothing
	}
	s := schema.TurnSideOf(r.Device, r.Stack, setting)
	s.Start, s.End = r.Start, r.End
	return s
}

// Tools compares what two tools measured of the same workloads in some runs: prompts that each tool made up count as
// the same dataset, whatever it calls them, and a metric is compared although the tools define it differently: the row
// has both definitions. No row says that a tool is worse.
func Tools(runs []schema.Run, a, b string) *Result {
	all := make([]*schema.Run, len(runs))
	for i := range runs {
		all[i] = &runs[i]
	}
	r := join(a, b, gather(all, naming(runs), nil, a), gather(all, naming(runs), nil, b))
	r.OfTools = true
	order := judge.PrimaryMetrics()
	slices.SortFunc(r.Rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(x.System, y.System), x.Key.Compare(y.Key),
			cmp.Compare(slices.Index(order, x.Metric), slices.Index(order, y.Metric)), cmp.Compare(x.Metric, y.Metric))
	})
	return r
}

// addOfTool adds the numbers of a point under the key that both tools share: every tool has a name of its own for
// prompts that it made up.
func (s *side) addOfTool(system string, p *schema.Point) {
	k := p.Key
	k.Tool = ""
	if slices.Contains([]string{"random", "synthetic", "synthetic_text", "default"}, k.Dataset) {
		k.Dataset = ""
	}
	key := k.String()
	s.keys[key] = k
	s.load(at{system, key}, p)
	for i := range p.Metrics {
		name := p.Metrics[i].Name()
		info, known := schema.MetricByName(name)
		x, ok := numberOf(p, name)
		counts := info.Unit == "req" || info.Unit == "%" // of failures: nothing to compare where there are none
		if !known || info.Better == schema.Neither || counts || !ok {
			continue
		}
		if !schema.Measurable(x.value) {
			s.bad++
			continue
		}
		if info.Unit != "ms" {
			x.stat = "" // a rate is one number, whether a tool calls it a mean or not
		}
		c := cell{system: system, key: key, metric: name, stat: x.stat}
		s.values[c] = append(s.values[c], x.value)
		s.defs[c] = cmp.Or(x.def, schema.DefNotStated)
	}
}
