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
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/pairing"
)

// Side is one half of a comparison.
type Side struct {
	Name string
	Runs []schema.Run
	// Later are the numbers of a release for which its first run does not count: see [judge.Judgement.ByLaterRuns].
	Later map[judge.Number]bool
	// StartNoise is the noise of starts of servers in pairs before a release, by metric: see [judge.Judgement.StartNoise].
	StartNoise map[string]regression.Noise
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
	Nearest      *Nearest // where both have numbers, and none in common
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
	return []string{Interleaved, pairing.MannWhitney, pairing.Normal, pairing.Welch, pairing.NoTest}
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
	keys   map[string]schema.Key
	stated map[string]map[string]bool // values by setting
	loads  map[at]load
	bad    int
	later  map[judge.Number]bool
	first  map[judge.Number]int // run
}

// Sides compares B with A.
func Sides(a, b Side) *Result {
	several := systems(a.Runs) > 1 || systems(b.Runs) > 1
	left, right := gather(a, several), gather(b, several)
	r := &Result{A: a.Name, B: b.Name, BadA: left.bad, BadB: right.bad}
	for c, values := range right.values {
		base, both := left.values[c]
		if !both {
			r.OnlyB++
			continue
		}
		row := Row{System: c.system, Key: right.keys[c.key], Metric: c.metric, Stat: c.stat, of: c}
		row.Result = pairing.Compare(base, values)
		row.Badness = badness(c.metric, row.Change)
		r.Rows = append(r.Rows, row)
	}
	for c := range left.values {
		if _, both := right.values[c]; !both {
			r.OnlyA++
		}
	}
	if len(r.Rows) == 0 {
		r.Nearest = nearest(&left, &right)
	}
	r.Settings = settings(left.stated, right.stated)
	r.loads(&left, &right)
	r.interleave(a, b, several)
	slices.SortFunc(r.Rows, byWeight)
	return r
}

// byWeight puts regressions first, then improvements, then the rest, each by size.
func byWeight(x, y Row) int {
	rank := func(r Row) int {
		return slices.Index([]schema.Outcome{schema.Regressed, schema.Improved, schema.Inconclusive}, r.Outcome())
	}
	return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(math.Abs(y.Badness), math.Abs(x.Badness)),
		compareKeys(x.Key, y.Key), cmp.Compare(x.System, y.System), cmp.Compare(x.Metric, y.Metric),
		cmp.Compare(x.Stat, y.Stat))
}

func compareKeys(a, b schema.Key) int {
	switch {
	case a.String() == b.String():
		return 0
	case a.Less(b):
		return -1
	}
	return 1
}

func systems(runs []schema.Run) int {
	seen := map[string]bool{}
	for i := range runs {
		seen[systemOf(&runs[i])] = true
	}
	return len(seen)
}

func systemOf(r *schema.Run) string {
	return onDevice(r.Model.Name, r.Device.Name)
}

func onDevice(model, device string) string {
	return cmp.Or(model, "unknown") + " on " + cmp.Or(device, "unknown")
}

// gather collects the values of a side: one a measurement.
func gather(from Side, several bool) side {
	s := side{values: map[cell][]float64{}, keys: map[string]schema.Key{}, later: from.Later,
		first: map[judge.Number]int{}, stated: map[string]map[string]bool{}, loads: map[at]load{}}
	order := make([]int, len(from.Runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, k int) int { return from.Runs[i].Start.Compare(from.Runs[k].Start) })
	for _, i := range order {
		r := &from.Runs[i]
		system := ""
		if several {
			system = systemOf(r)
		}
		for k := range r.Points {
			p := &r.Points[k]
			if p.Status == schema.StatusFailed || p.Status == schema.StatusInvalid {
				s.bad++
				continue
			}
			s.add(i, r, system, p)
		}
	}
	return s
}

// add takes the judged numbers of a point of a run.
func (s *side) add(run int, r *schema.Run, system string, p *schema.Point) {
	key := p.Key.String()
	s.keys[key] = p.Key
	s.state("precision", r.Model.Precision)
	for name, value := range p.Conditions {
		if judge.Blocking(name) {
			s.state(name, value)
		}
	}
	counts := false
	for _, metric := range metricsOf(p) {
		m, ok := p.Metrics[metric]
		stat, n := m.Primary()
		v, has := n.Get()
		if !ok || !has {
			continue
		}
		if !schema.Measurable(v) {
			s.bad++
			continue
		}
		of := schema.System{Model: r.Model.Name, Device: r.Device.Name, Impl: r.Impl}
		if s.superseded(run, judge.Number{System: of, Key: key, Metric: metric, Stat: stat, Def: m.Def}) {
			continue
		}
		c := cell{system, key, metric, stat, m.Def}
		s.values[c] = append(s.values[c], v)
		counts = true
	}
	if counts {
		l := s.loads[at{system, key}]
		l.add(p)
		s.loads[at{system, key}] = l
	}
}

// superseded reports whether a number of a run is that of the first one, and later runs of the release decided.
func (s *side) superseded(run int, n judge.Number) bool {
	if !s.later[n] {
		return false
	}
	if _, seen := s.first[n]; !seen {
		s.first[n] = run
	}
	return s.first[n] == run
}

// metricsOf are the metrics of a point that are compared: those that verdicts are about, then the user's own by name.
func metricsOf(p *schema.Point) []string {
	has := func(metric string) bool {
		m, ok := p.Metrics[metric]
		_, n := m.Primary()
		_, known := n.Get()
		return ok && known
	}
	var out []string
	for _, metric := range judge.PrimaryMetrics() {
		info, _ := schema.MetricByName(metric)
		names := append([]string{metric}, info.StandIns...)
		if i := slices.IndexFunc(names, has); i >= 0 {
			out = append(out, names[i])
		}
	}
	n := len(out)
	for name := range p.Metrics {
		if schema.IsOwn(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out[n:])
	return out
}

// Load is what a workload's requests did on one side: numbers of other loads do not compare systems.
type Load struct {
	OSL        schema.Number // measured length of an answer, the mean over repeats
	Failed, Of float64       // requests of all repeats; 0 of 0: not counted
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

// load is a workload of a side while its repeats are added.
type load struct {
	osl, n, failed, of float64
}

// at names a workload of a side.
type at struct{ system, key string }

func (l *load) add(p *schema.Point) {
	if osl, ok := primary(p, "osl"); ok {
		l.osl, l.n = l.osl+osl, l.n+1
	}
	bad, hasBad := primary(p, "requests_failed")
	good, hasGood := primary(p, "requests_ok")
	if hasBad && hasGood {
		l.failed, l.of = l.failed+bad, l.of+bad+good
	}
}

func primary(p *schema.Point, metric string) (float64, bool) {
	m, ok := p.Metrics[metric]
	_, n := m.Primary()
	v, has := n.Get()
	return v, ok && has
}

func (l load) load() Load {
	out := Load{Failed: l.failed, Of: l.of}
	if l.n > 0 {
		out.OSL = schema.Num(l.osl / l.n)
	}
	return out
}

// loads gives each row the loads of its workload, and the result those that both sides measured, in the order of keys.
func (r *Result) loads(a, b *side) {
	of := map[at]*Loads{}
	for i := range r.Rows {
		row := &r.Rows[i]
		k := at{row.System, row.of.key}
		if of[k] == nil {
			of[k] = &Loads{row.System, row.Key, a.loads[k].load(), b.loads[k].load()}
		}
		row.Loads = of[k]
	}
	r.Loads = slices.SortedFunc(maps.Values(of), func(x, y *Loads) int {
		return cmp.Or(cmp.Compare(x.System, y.System), compareKeys(x.Key, y.Key))
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

// settings lists what both sides state and state differently.
func settings(a, b map[string]map[string]bool) []Setting {
	var out []Setting
	for _, name := range slices.Sorted(maps.Keys(a)) {
		x, y := strings.Join(slices.Sorted(maps.Keys(a[name])), ", "), strings.Join(slices.Sorted(maps.Keys(b[name])), ", ")
		if y != "" && x != y {
			out = append(out, Setting{name, x, y})
		}
	}
	return out
}

// mismatch returns why runs of two sides that name each other are no pair; nil where nothing that is stated says so.
func mismatch(a, b Side, left, right *schema.Run) *schema.Mismatch {
	if why := schema.Mismatched(turnSideOf(left), turnSideOf(right)); why != nil {
		return why
	}
	for _, x := range []struct {
		of  Side
		run *schema.Run
	}{{a, left}, {b, right}} {
		var others []schema.Build
		for i := range x.of.Runs {
			o := &x.of.Runs[i]
			if o.Interleaved.IsZero() && systemOf(o) == systemOf(x.run) {
				others = append(others, turnSideOf(o).Build)
			}
		}
		if why := schema.OtherBuild(turnSideOf(x.run).Build, x.of.Name, others); why != nil {
			return why
		}
	}
	return nil
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
