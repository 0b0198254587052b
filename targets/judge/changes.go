package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// Change is one event: numbers that moved together in one direction from one release on, as a release saw it.
type Change struct {
	ID       string // stays the same in later releases
	Worse    bool
	Evidence schema.Evidence
	Since    string // release in which it began
	Votes    []Vote // releases in which its numbers place that, the most votes first
	Found    string // release that confirmed it; "" while it is suspected
	Rerun    bool   // by a second run of its own
	Scope    Scope
	Numbers  []*Series // its members
	// Effect is the level since the change against the level before, over all members; positive is worse. It is of a
	// latency where members are both latencies and rates. Interval has 95 %.
	Effect    float64
	Interval  [2]float64
	Limit     float64 // least change of a member that matters
	State     State
	Ended     string           // release in which it was fixed; "" for others
	Back      string           // where the change the other way began, to whose level before it returns; "" for none
	Decision  *schema.Decision // of a person who accepted it
	What      schema.Change    // what else changed where it began
	SameBuild bool             // between two runs of one build: the machine changed, not the release
	Earlier   bool             // an earlier release than the one that sees it confirmed it

	since int
	cells map[int32]int32 // members: the first observation of the new level
	until map[int32]int32 // of those whose level was reached in two steps: the first observation behind the second
	// members are the same with their levels, as the release sees them that the change was made for.
	members []member
	way     float64 // the sign of Effect on the scale where larger is worse: minus where all numbers are rates
}

// Vote is how many members place the beginning of a change in a release.
type Vote struct {
	Release string
	Numbers int
}

// State is what became of a change.
type State string

// States of a change.
const (
	StateOpen      State = "open"
	StateAccepted  State = "accepted"
	StateFixed     State = "fixed"     // its numbers returned
	StateRecovered State = "recovered" // an improvement that only returns to the level before a regression
	StateLost      State = "lost"      // an improvement that did not last
)

// Scope is what the members of a change have in common.
type Scope struct {
	Models, Devices []string
	Metrics         []string // with the statistic of a percentile: "ttft p99"
	Points, Pairs   int
	Impl            string // of all members, where the release measured another one of their model and device
	Of              int    // numbers that the release measured on these models and devices
	Curve           bool   // of several workloads it is one, at several loads
}

// System returns the only model and device of a change; ok is false where there are several.
func (c *Change) System() (p schema.Pair, ok bool) {
	if c.Scope.Pairs != 1 {
		return p, false
	}
	return c.Numbers[0].Pair(), true
}

// Selected reports whether a change has a member on a model and device.
func (c *Change) Selected(model, device string) bool {
	return slices.ContainsFunc(c.Numbers, func(s *Series) bool { return s.Pair().Selected(model, device) })
}

// BelowLimit reports whether a change is smaller than what matters.
func (c *Change) BelowLimit() bool { return math.Abs(c.Effect) < c.Limit }

// Large reports whether a change is a regression that counts: for the worse, and by what matters.
func (c *Change) Large() bool { return c.Worse && !c.BelowLimit() && !c.SameBuild }

// News reports whether a release itself suspects or confirmed a change; others it has from earlier releases.
func (c *Change) News(release string) bool {
	return c.Evidence == schema.Suspected || c.Found == release
}

// event is what one finding, or numbers of one system by themselves, add to a change.
type event struct {
	found, since int
	worse        bool
	systems      []int32
	sizes        []float64       // of its members, on the log scale, without a sign
	cells        map[int32]int32 // its members: the first observation of the new level
}

// Changes lists what changed up to a release as that release saw it: what it suspects, and what it and the releases
// before it confirmed; regressions first, the newest first. The result is read only.
func (j *Judgement) Changes(release int) []Change { return j.changes[release]().list }

// changesSeen are the changes that a release sees, and by cell.
type changesSeen struct {
	list   []Change
	byCell map[int32][]*Change
}

func (j *Judgement) seen(release int) *changesSeen {
	list := j.agreed(j.merge(j.events(release), release), release)
	for i := range list {
		c := &list[i]
		c.Since = j.Releases[c.since].Name
		if at := c.returns(list); at >= 0 {
			c.Back = j.Releases[list[at].since].Name
		}
		j.describe(c, release)
		j.settleState(c, release)
		c.Earlier = c.Evidence == schema.Confirmed && c.Found != j.Releases[release].Name &&
			j.table.Releases[release].Joins && j.stillThere(c.members, release)
	}
	list = slices.DeleteFunc(list, func(c Change) bool { return math.IsNaN(c.Effect) }) // there is no level before it
	slices.SortStableFunc(list, func(a, b Change) int {
		if a.Worse != b.Worse {
			return map[bool]int{true: -1, false: 1}[a.Worse]
		}
		return cmp.Or(cmp.Compare(b.since, a.since), cmp.Compare(len(b.cells), len(a.cells)))
	})
	seen := &changesSeen{list, map[int32][]*Change{}}
	for i := range list {
		for cell := range list[i].cells {
			seen.byCell[cell] = append(seen.byCell[cell], &list[i])
		}
	}
	return seen
}

// events are those of the sequence of a release, in the order in which releases found them.
func (j *Judgement) events(release int) []event {
	seqs := sequences(j.Releases)
	g := eventList{j: j, at: map[eventID]int{}}
	for _, l := range j.rows.ChangePoints {
		if int(l.Found) > release || l.Source != regression.ByGate || l.Dismissed {
			continue
		}
		i := j.Series[l.Cell].find(int(l.Found))
		_, by, ok := j.turned(i)
		if seqs[j.table.Obs[l.At].Release] == seqs[release] && (!ok || by.evidence == schema.Confirmed) {
			g.add(int(l.Found), l.At, &j.rows.Rows[i], l.D+l.Shift)
		}
	}
	for r := range release + 1 {
		if seqs[r] == seqs[release] && len(j.paired[r]()) > 0 {
			g.pairs(r)
		}
	}
	for _, i := range j.byCell[release] {
		if _, _, ok := j.turned(i); !ok {
			g.own(release, i)
		}
	}
	slices.SortStableFunc(g.list, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.found, b.found), cmp.Compare(len(b.cells), len(a.cells)))
	})
	return g.list
}

// own adds what a release suspects, after what is confirmed, and what a build that begins no level confirms.
func (g *eventList) own(release int, obs int32) {
	row := &g.j.rows.Rows[obs]
	switch {
	case row.Evidence == schema.Confirmed && !g.j.table.Releases[release].Joins:
		g.add(release, g.j.first(obs), row, row.D)
	case row.Evidence == schema.Suspected:
		g.add(release+1, g.j.first(obs), row, row.D)
	}
}

// pairs adds what the pairs of a release decided.
func (g *eventList) pairs(release int) {
	for _, i := range g.j.byCell[release] {
		if x, by, ok := g.j.turned(i); ok && by.evidence == schema.Confirmed {
			g.add(release, i, &regression.Row{}, x.Mean)
		}
	}
}

// first is the observation with which the change of an observation began.
func (j *Judgement) first(obs int32) int32 {
	row := &j.rows.Rows[obs]
	for row.First >= 0 && obs > j.table.Cells[j.cellOf[obs]].First && j.table.Obs[obs-1].Release >= row.First {
		obs--
	}
	return obs
}

// eventList gathers events: the cells of one finding, or those of one system that began to change by themselves.
type eventList struct {
	j    *Judgement
	list []event
	at   map[eventID]int
}

type eventID struct {
	found, since int
	worse        bool
	system       int32
	finding      int32 // -1: by themselves
}

// add adds a cell, which changed by d from its observation first on, as a row of the release that found it says.
func (g *eventList) add(found int, first int32, row *regression.Row, d float64) {
	cell, since := g.j.cellOf[first], int(g.j.table.Obs[first].Release)
	system := g.j.table.Cells[cell].System
	id := eventID{found, since, d > 0, system, -1}
	if row.Why == schema.WhyGroup {
		id.finding, id.system, id.since = row.Finding, -1, 0
	}
	i, seen := g.at[id]
	if !seen {
		i = len(g.list)
		g.at[id] = i
		g.list = append(g.list, event{found: found, worse: d > 0, cells: map[int32]int32{}})
	}
	x := &g.list[i]
	x.since = max(x.since, since)
	x.cells[cell], x.sizes = first, append(x.sizes, math.Abs(d))
	if !slices.Contains(x.systems, system) {
		x.systems = append(x.systems, system)
	}
}

// turned is what the paired difference of an observation makes of it; ok is false where it leaves it as it is.
func (j *Judgement) turned(obs int32) (x *paired, by settled, ok bool) {
	cell := j.cellOf[obs]
	if x = j.paired[j.table.Obs[obs].Release]().of(&j.Series[cell]); x == nil {
		return nil, by, false
	}
	baseline := ""
	if base := j.baseline(cell, obs); base >= 0 {
		baseline = j.Releases[j.table.Obs[base].Release].Name
	}
	by, ok = j.answer(x, obs, baseline, j.rows.Rows[obs].Word, j.table.Cells[cell].Delta)
	return x, by, ok
}

// merging makes changes of events.
type merging struct {
	release int
	list    []Change
	systems []map[int32]bool // by change
	sizes   [][]float64
}

// merge makes one change of the events in one direction that began in one release: on one model and device, or on
// several where they are of one size.
func (j *Judgement) merge(events []event, release int) []Change {
	m := merging{release: release}
	for _, e := range events {
		at := -1
		for i := range m.list {
			if m.joins(&e, i) && (at < 0 || len(m.list[i].cells) > len(m.list[at].cells)) {
				at = i
			}
		}
		if at < 0 {
			at = len(m.list)
			second := slices.ContainsFunc(m.list, func(x Change) bool { return x.Worse == e.worse && x.since == e.since })
			m.list, m.systems, m.sizes = append(m.list, j.begun(&e, second, release)),
				append(m.systems, map[int32]bool{}), append(m.sizes, nil)
		}
		for _, s := range e.systems {
			m.systems[at][s] = true
		}
		m.sizes[at] = append(m.sizes[at], e.sizes...)
		for cell, first := range e.cells {
			if _, has := m.list[at].cells[cell]; !has {
				m.list[at].cells[cell] = first
			}
		}
	}
	return m.list
}

// middle is a value in the middle of some, which it sorts.
func middle(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// near reports whether so many numbers that place a beginning in a release may be of a change: in its own, or one off
// where they are few beside many.
func (c *Change) near(since, numbers int) bool {
	const few = 4 // so many times as many numbers are many
	apart := max(c.since-since, since-c.since)
	return apart == 0 || apart == 1 && few*numbers <= len(c.cells)
}

// joins reports whether an event is part of a change.
func (m *merging) joins(e *event, i int) bool {
	c := &m.list[i]
	if c.Worse != e.worse || !c.near(e.since, len(e.cells)) {
		return false
	}
	return slices.ContainsFunc(e.systems, func(s int32) bool { return m.systems[i][s] }) ||
		alike(middle(e.sizes), middle(m.sizes[i])) && (e.found <= m.release || c.Evidence == schema.Suspected)
}

// begun is a change without members that begins with an event. It is named by its line, direction and the release in
// which it began; a second one of these also by the system in which it was found first.
func (j *Judgement) begun(e *event, second bool, release int) Change {
	s, of := &j.Series[slices.IndexFunc(j.table.Cells, func(c regression.Cell) bool { return c.System == e.systems[0] })],
		schema.System{}
	if second {
		of = s.System()
	}
	c := Change{Worse: e.worse, since: e.since, cells: map[int32]int32{}, Evidence: schema.Suspected}
	c.ID = schema.VerdictID(j.Releases[e.since].Name, s.Line, schema.Pair{Model: of.Model, Device: of.Device},
		schema.Key{}, of.Impl, fmt.Sprint("change worse=", e.worse), schema.AgainstHistory)
	if e.found <= release {
		c.Evidence, c.Found, c.Rerun = schema.Confirmed, j.Releases[e.found].Name, e.found == e.since
	}
	return c
}

// member is a number of a change, from whose observation first on its level is another one.
type member struct {
	cell, first, last int32 // last: of the level that it reached; the first, where it took one step
	level
}

// level is the mean of a number before a change and since, of how many releases each, and the mean of the level that
// holds in the release that asks.
type level struct {
	before, after, now float64
	nb, na             int
}

// known reports whether there is a level before a change and one since.
func (l *level) known() bool { return l.nb > 0 && l.na > 0 }

// moved reports whether a value is nearer to the level since a change than to the one before.
func (l *level) moved(z float64) bool { return math.Abs(z-l.after) < math.Abs(z-l.before) }

// describe fills in what follows from the members of a change.
func (j *Judgement) describe(c *Change, release int) {
	members := c.members
	models, devices, metrics := map[string]bool{}, map[string]bool{}, map[string]bool{}
	pairs, points, systems := map[schema.Pair]bool{}, map[int32]bool{}, map[int32]bool{}
	curves, others := map[int32]bool{}, false
	var limits []float64
	for i := range members {
		cell := &j.table.Cells[members[i].cell]
		s := &j.Series[members[i].cell]
		c.Numbers = append(c.Numbers, s)
		models[s.Model], devices[s.Device], pairs[s.Pair()] = true, true, true
		points[cell.Point], systems[cell.System], curves[cell.Curve] = true, true, true
		metric := s.Metric
		if s.Tail() {
			metric += " " + s.Stat
		}
		metrics[metric] = true
		limits = append(limits, cell.Delta)
	}
	sorted := func(m map[string]bool) []string { return slices.SortedFunc(maps.Keys(m), schema.NaturalCompare) }
	c.Scope = Scope{Models: sorted(models), Devices: sorted(devices), Points: len(points), Pairs: len(pairs)}
	c.Scope.Metrics = slices.SortedFunc(maps.Keys(metrics), func(a, b string) int {
		order := PrimaryMetrics()
		x, _, _ := strings.Cut(a, " ")
		y, _, _ := strings.Cut(b, " ")
		return cmp.Or(cmp.Compare(slices.Index(order, x), slices.Index(order, y)), cmp.Compare(a, b))
	})
	in := min(release, c.since)
	impl := c.Numbers[0].Impl
	isOfImpl := !slices.ContainsFunc(c.Numbers, func(s *Series) bool { return s.Impl != impl })
	for _, i := range j.byCell[in] {
		if cell := &j.table.Cells[j.cellOf[i]]; systems[cell.System] {
			c.Scope.Of++
			others = others || !curves[cell.Curve]
		} else if s := &j.Series[j.cellOf[i]]; isOfImpl && s.Impl != impl && pairs[s.Pair()] {
			c.Scope.Impl = impl
		}
	}
	c.Scope.Curve = len(curves) == 1 && !curves[0] && others
	c.Limit = math.Expm1(middle(limits))
	j.measureChange(c, members, release)
	if at := slices.IndexFunc(c.Numbers, func(s *Series) bool { return s.find(c.since) >= 0 }); at >= 0 {
		c.What = j.ElseChanged(c.since, c.Numbers[at])
	}
	c.SameBuild = c.What.SameBuild != ""
	c.Decision = j.acceptedBy(members, release)
}

// acceptedBy is the decision that accepts or pins most members of a change, or starts a level there; nil for none.
func (j *Judgement) acceptedBy(members []member, release int) *schema.Decision {
	var by *schema.Decision
	n := 0
	for k := range members { // in order: one reason is shown
		cell := members[k].cell
		for i := members[k].first; i < j.table.Cells[cell].End && int(j.table.Obs[i].Release) <= release; i++ {
			o := &j.table.Obs[i]
			if !o.Accept && !o.Pin {
				continue
			}
			n++
			v := j.Series[cell].verdict(j.Releases[o.Release].Name)
			if d := j.policy.Level(&v, schema.Accept, schema.Pin); d != nil {
				by = d
			}
			break
		}
	}
	if 2*n <= len(members) {
		return nil
	}
	return by
}

// levelOf measures the levels of a cell around a change, as a release knows them.
func (j *Judgement) levelOf(cell, first, last int32, release int) (l level) {
	begins, ends, newest := j.table.Cells[cell].First, j.table.Cells[cell].End, last
	for _, p := range j.changePoints[cell] {
		if int(p.Found) > release || p.Dismissed {
			continue
		}
		if p.At < first {
			begins = max(begins, p.At)
		}
		if p.At > last {
			ends, newest = min(ends, p.At), max(newest, p.At)
		}
	}
	mean := func(from, to int32, excluded bool) (float64, int) {
		var z []float64
		for i := to - 1; i >= from && len(z) < j.rules.Window; i-- {
			o := &j.table.Obs[i]
			if int(o.Release) > release || !j.table.Releases[o.Release].Joins && int(o.Release) != release ||
				j.apart(i, first) ||
				excluded && j.rows.Excluded(j.table, i, int32(release)) {
				continue
			}
			z = append(z, j.reported(i))
		}
		return regression.Mean(z), len(z)
	}
	l.before, l.nb = mean(begins, first, true)
	l.after, l.na = mean(last, ends, false)
	l.now, _ = mean(newest, j.table.Cells[cell].End, false)
	return l
}

// measureChange pools the levels of the members: their weighted median, with the noise of the group between releases.
func (j *Judgement) measureChange(c *Change, members []member, release int) {
	var d, weight, before, after, variances, dfs []float64
	rates := 0
	for i := range members {
		m := &members[i]
		if !m.known() {
			continue
		}
		if Sign(j.Series[m.cell].Metric) < 0 {
			rates++
		}
		v, df := 1e-4, 1.
		if noise := j.rows.Rows[m.first].Noise(); noise.Known() {
			v, df = noise.Variance, noise.Df
		}
		b, a := float64(m.nb), float64(m.na)
		d, weight = append(d, m.after-m.before), append(weight, 1/math.Sqrt(v*(1/a+1/b)))
		before, after = append(before, b), append(after, a)
		variances, dfs = append(variances, v), append(dfs, df)
	}
	if len(d) == 0 { // nothing but a pair has a level before
		j.measurePair(c, members)
		return
	}
	x := regression.WeightedMedian(d, weight)
	variance, df := middle(variances), middle(dfs)
	for i := range j.rows.Findings { // the noise of a group is its own
		f := &j.rows.Findings[i]
		near := max(int(f.First)-c.since, c.since-int(f.First)) <= 1 && int(f.Release) <= release
		if _, of := c.cells[f.Cell]; of && near && len(f.Members)*2 > len(d) {
			variance, df = f.SE*f.SE/(1/float64(f.Runs)+1/float64(max(1, f.N))), f.Df
		}
	}
	half := regression.Quantile(.975, df) * math.Sqrt(variance*(1/middle(before)+1/middle(after)))
	c.sized(x, half, rates == len(d))
}

// sized sets the size of a change from one on the log scale, as members say it that are all rates, or not.
func (c *Change) sized(x, half float64, rates bool) {
	c.way = 1
	if rates {
		c.way = -1
	}
	c.Effect, c.Interval = relative(c.way, x), [2]float64{relative(c.way, x-half), relative(c.way, x+half)}
}

// measurePair pools what a pair in turns shows of the members: their median, with the interval of a typical one.
func (j *Judgement) measurePair(c *Change, members []member) {
	var d, halves []float64
	rates := 0
	for i := range members {
		if x, _, ok := j.turned(members[i].first); ok {
			lo, hi := x.Interval(.95)
			d, halves = append(d, x.Mean), append(halves, (hi-lo)/2)
			if Sign(j.Series[members[i].cell].Metric) < 0 {
				rates++
			}
		}
	}
	if len(d) == 0 {
		c.Effect = math.NaN()
		return
	}
	c.sized(regression.Median(d), middle(halves), rates == len(d))
}

// agreed lets the members of each change vote on the release in which it began, and makes one of those that then began
// in one release: with one size, or of the same numbers. Noise lets a release find what began in the one before or
// after it, and one step as two.
func (j *Judgement) agreed(list []Change, release int) (out []Change) {
	slices.SortStableFunc(list, func(a, b Change) int { return cmp.Compare(len(b.cells), len(a.cells)) })
	var sizes []float64
	for i := range list {
		c := &list[i]
		if j.vote(c, release); 2*c.Votes[0].Numbers > len(c.members) {
			c.since = Named(j.Releases, c.Votes[0].Release)
		}
		var d []float64
		for _, m := range c.members {
			if m.known() {
				d = append(d, math.Abs(m.after-m.before))
			}
		}
		size := math.NaN()
		if len(d) > 0 {
			size = middle(d)
		}
		at := 0
		for at < len(out) && !(out[at].near(c.since, len(c.cells)) && out[at].Worse == c.Worse &&
			out[at].Evidence == c.Evidence && (alike(sizes[at], size) || out[at].shares(c))) {
			at++
		}
		if at == len(out) {
			out, sizes = append(out, *c), append(sizes, size)
			continue
		}
		out[at].take(c)
		j.vote(&out[at], release)
	}
	return out
}

// shares reports whether more than half of the members of another change are members.
func (c *Change) shares(o *Change) bool {
	n := 0
	for cell := range o.cells {
		if _, has := c.cells[cell]; has {
			n++
		}
	}
	return 2*n > len(o.cells)
}

// take adds the members of another change, which are one with its own. What both have was reached in two steps.
func (c *Change) take(o *Change) {
	if c.until == nil {
		c.until = map[int32]int32{}
	}
	for cell, first := range o.cells {
		at, has := c.cells[cell]
		if !has {
			at = first
		}
		c.cells[cell], c.until[cell] = min(at, first), max(at, first, c.until[cell], o.until[cell])
	}
}

// alike reports whether two sizes of changes may be one.
func alike(a, b float64) bool {
	const most = 1.6
	return a/b < most && b/a < most
}

// vote asks each member, with its levels as a release sees them, where the change began: with the first of its values
// without a gap that are nearer to the new level, or with the one after.
func (j *Judgement) vote(c *Change, release int) {
	c.members, c.Votes = nil, nil
	for _, cell := range slices.Sorted(maps.Keys(c.cells)) {
		first := c.cells[cell]
		last := max(first, c.until[cell])
		c.members = append(c.members, member{cell, first, last, j.levelOf(cell, first, last, release)})
	}
	votes, o := map[int]int{}, j.table.Obs
	for i := range c.members {
		m := &c.members[i]
		cell, first := &j.table.Cells[m.cell], m.first
		at := int(o[first].Release)
		switch {
		case !m.known():
		case first > cell.First && m.moved(j.reported(first-1)) && m.nb > 1:
			for first > cell.First && m.moved(j.reported(first-1)) {
				if first--; IsBaseline(j.Releases[o[first].Release].Channel) { // no build of a branch
					at = int(o[first].Release)
				}
			}
		case !m.moved(j.reported(first)) && first+1 < cell.End && int(o[first+1].Release) <= release && m.na > 1:
			at = int(o[first+1].Release)
		}
		votes[at]++
	}
	for at, n := range votes {
		c.Votes = append(c.Votes, Vote{j.Releases[at].Name, n})
	}
	slices.SortFunc(c.Votes, func(a, b Vote) int {
		return cmp.Or(cmp.Compare(b.Numbers, a.Numbers), schema.NaturalCompare(a.Release, b.Release))
	})
}

// settleState says what became of a change: whether somebody accepted it, and whether its members are back.
func (j *Judgement) settleState(c *Change, release int) {
	c.State = StateOpen
	if c.Evidence != schema.Confirmed {
		return
	}
	back, ended, n := 0, map[int]int{}, 0
	for i := range c.members {
		m := &c.members[i]
		if !m.known() {
			continue
		}
		n++
		if math.Abs(m.now-m.before) < math.Abs(m.after-m.before)/2 {
			back++
			in := -1 // not known
			for _, l := range slices.Backward(j.changePoints[m.cell]) {
				if l.At > m.first && int(l.Found) <= release && !l.Dismissed {
					in = int(j.table.Obs[l.At].Release) // that the level was left, for the first time
				}
			}
			ended[in]++
		}
	}
	switch {
	case 2*back > n:
		c.State = map[bool]State{true: StateFixed, false: StateLost}[c.Worse]
		most := slices.MinFunc(slices.Collect(maps.Keys(ended)), func(a, b int) int {
			return cmp.Or(cmp.Compare(ended[b], ended[a]), cmp.Compare(a, b))
		})
		if most >= 0 {
			c.Ended = j.Releases[most].Name
		}
	case c.Decision != nil:
		c.State = StateAccepted
	case !c.Worse && c.Back != "":
		c.State = StateRecovered
	}
}

// returns is the newest change before one, the other way, to whose level before most of its members return; -1: none.
func (c *Change) returns(list []Change) int {
	found := -1
	for i := range list {
		o := &list[i]
		if o.Worse == c.Worse || o.since >= c.since || o.Evidence != schema.Confirmed ||
			found >= 0 && o.since < list[found].since {
			continue
		}
		back := 0
		for k := range c.members {
			m := &c.members[k]
			at := slices.IndexFunc(o.members, func(x member) bool { return x.cell == m.cell })
			if at >= 0 && math.Abs(m.after-o.members[at].before) < math.Abs(m.after-m.before)/2 {
				back++
			}
		}
		if 2*back > len(c.members) {
			found = i
		}
	}
	return found
}

// stillThere reports whether most numbers of a change that a release measured under comparable conditions are nearer to
// the level since it than to the one before.
func (j *Judgement) stillThere(members []member, release int) bool {
	near, n := 0, 0
	for k := range members {
		m := &members[k]
		i := j.Series[m.cell].find(release)
		if i < 0 || j.apart(i, m.first) {
			continue
		}
		if n++; !m.known() || m.moved(j.reported(i)) {
			near++
		}
	}
	return 2*near > n
}

// apart reports whether the conditions of two observations keep them from being compared.
func (j *Judgement) apart(a, b int32) bool {
	return j.classes.Block(j.table.Obs[a].Cond, j.table.Obs[b].Cond)
}
