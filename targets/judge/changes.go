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
	Decision  *schema.Decision // of a person who accepted it, as the gate finds
	What      schema.Change    // what else changed where it began
	SameBuild bool             // between two runs of one build: the machine changed, not the release
	Earlier   bool             // an earlier release than the one that sees it confirmed it

	since   int
	members []member // by cell, as the release sees them that the change was made for
	way     float64  // the sign of Effect on the scale where larger is worse: minus where all numbers are rates
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
	StateAccepted  State = "accepted"  // by a person, as the gate finds
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

// Changes lists what changed up to a release as that release saw it: what it suspects, and what it and the releases
// before it confirmed; regressions first, the newest first. The result is read only.
func (j *Judgement) Changes(release int) []Change { return j.changes[release]().list }

// changesSeen are the changes that a release sees, and by cell.
type changesSeen struct {
	list   []Change
	byCell map[int32][]*Change
}

func (j *Judgement) seen(release int) *changesSeen {
	var list []Change
	for _, c := range j.joined(j.found(release), release) {
		c.Since = j.Releases[c.since].Name
		for at, n := range c.votes {
			if n > 0 {
				c.Votes = append(c.Votes, Vote{j.Releases[at].Name, n})
			}
		}
		slices.SortFunc(c.Votes, func(a, b Vote) int {
			return cmp.Or(cmp.Compare(b.Numbers, a.Numbers), schema.NaturalCompare(a.Release, b.Release))
		})
		slices.SortFunc(c.members, func(a, b member) int { return cmp.Compare(a.cell, b.cell) })
		list = append(list, c.Change)
	}
	for i := range list {
		c := &list[i]
		if at := c.returns(list); at >= 0 {
			c.Back = list[at].Since
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
		return cmp.Or(cmp.Compare(b.since, a.since), cmp.Compare(len(b.members), len(a.members)))
	})
	seen := &changesSeen{list, map[int32][]*Change{}}
	for i := range list {
		for k := range list[i].members {
			cell := list[i].members[k].cell
			seen.byCell[cell] = append(seen.byCell[cell], &list[i])
		}
	}
	return seen
}

// step is a number that a release found to have changed.
type step struct {
	cause
	cell, first int32   // the first observation of the new level
	d           float64 // as the release found it; positive is worse
}

// cause is what steps have in common that one release found together: their finding or, by themselves, their system and
// beginning.
type cause struct {
	found   int // the release; one later where a release only suspects it
	worse   bool
	finding int32 // -1: by themselves
	system  int32 // -1 of a finding
	since   int   // 0 of a finding
}

// step is one that a release found, as its row says.
func (j *Judgement) step(found int, first int32, row *regression.Row, d float64) step {
	cell, since := j.cellOf[first], int(j.table.Obs[first].Release)
	of := cause{found, d > 0, -1, j.table.Cells[cell].System, since}
	if row.Why == schema.WhyGroup {
		of.finding, of.system, of.since = row.Finding, -1, 0
	}
	return step{of, cell, first, d}
}

// found are the steps of the sequence of a release, by cause: those that are confirmed, in the order in which releases
// found them and the largest first, then what the release suspects.
func (j *Judgement) found(release int) [][]step {
	seqs := sequences(j.Releases)
	var list []step
	for _, l := range j.rows.ChangePoints {
		if int(l.Found) > release || l.Source != regression.ByGate || l.Dismissed {
			continue
		}
		i := j.Series[l.Cell].find(int(l.Found))
		_, by, ok := j.turned(i)
		if seqs[j.table.Obs[l.At].Release] == seqs[release] && (!ok || by.evidence == schema.Confirmed) {
			list = append(list, j.step(int(l.Found), l.At, &j.rows.Rows[i], l.D+l.Shift))
		}
	}
	for r := range release + 1 {
		if seqs[r] == seqs[release] {
			list = append(list, j.inTurns(r)...)
		}
	}
	for _, i := range j.byCell[release] {
		row := &j.rows.Rows[i]
		switch _, _, ok := j.turned(i); {
		case ok:
		case row.Evidence == schema.Confirmed && !j.table.Releases[release].Joins: // a build that begins no level
			list = append(list, j.step(release, j.first(i), row, row.D))
		case row.Evidence == schema.Suspected:
			list = append(list, j.step(release+1, j.first(i), row, row.D))
		}
	}
	out := schema.Alike(list, func(s step) cause { return s.cause })
	slices.SortStableFunc(out, func(a, b []step) int {
		return cmp.Or(cmp.Compare(a[0].found, b[0].found), cmp.Compare(len(b), len(a)))
	})
	return out
}

// inTurns are the steps that the pairs of a release decided.
func (j *Judgement) inTurns(release int) (list []step) {
	if len(j.paired[release]()) == 0 { // as in most
		return nil
	}
	for _, i := range j.byCell[release] {
		if x, by, ok := j.turned(i); ok && by.evidence == schema.Confirmed {
			list = append(list, j.step(release, i, &regression.Row{}, x.Mean))
		}
	}
	return list
}

// first is the observation with which the change of an observation began.
func (j *Judgement) first(obs int32) int32 {
	row := &j.rows.Rows[obs]
	for row.First >= 0 && obs > j.table.Cells[j.cellOf[obs]].First && j.table.Obs[obs-1].Release >= row.First {
		obs--
	}
	return obs
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

// growing is a change while numbers are added to it.
type growing struct {
	Change
	begun   int           // release in which it was found to begin, which names it
	at      map[int32]int // place of a cell among the members
	systems map[int32]bool
	votes   map[int]int // by release: how many members place the beginning there
}

// joined makes one change of what changed in one direction from one release on: on one model and device, or on several
// where it is of one size and as sure. Noise lets a release find what began in the one before or after it, and one step
// as two. What is like two that are unlike shows that these are one.
func (j *Judgement) joined(found [][]step, release int) (out []growing) {
	for _, list := range found {
		c, at := j.begun(list, release, out), -1
		var kept []growing
		for _, o := range out {
			switch {
			case o.Worse != c.Worse || !o.near(&c) || !o.like(&c):
				kept = append(kept, o)
				continue
			case at < 0:
				at, kept = len(kept), append(kept, o)
				if !fewBeside(&o, &c) { // the name is that of what was found first, or of far more numbers
					o, c = c, o
				}
			case fewBeside(&c, &o):
				o, c = c, o
			}
			for _, m := range o.members {
				j.include(&c, m, release)
			}
			c.place()
		}
		if at < 0 {
			at, kept = len(kept), append(kept, c)
		}
		kept[at], out = c, kept
	}
	return out
}

// begun is the change that one cause makes. It is named by its line, direction and the release in which it began; a
// second one of these also by the system in which it was found first.
func (j *Judgement) begun(list []step, release int, others []growing) growing {
	c := growing{at: map[int32]int{}, systems: map[int32]bool{}, votes: map[int]int{}}
	for _, s := range list {
		c.begun = max(c.begun, int(j.table.Obs[s.first].Release))
		j.include(&c, j.member(s.cell, s.first, s.first, s.d, release), release)
	}
	c.place()
	c.Worse, c.Evidence = list[0].worse, schema.Suspected
	if at := list[0].found; at <= release {
		c.Evidence, c.Found, c.Rerun = schema.Confirmed, j.Releases[at].Name, at == c.begun
	}
	s := &j.Series[list[0].cell]
	name := func(of schema.System) string {
		return schema.VerdictID(j.Releases[c.begun].Name, s.Line, schema.Pair{Model: of.Model, Device: of.Device},
			schema.Key{}, of.Impl, fmt.Sprint("change worse=", c.Worse), schema.AgainstHistory)
	}
	if c.ID = name(schema.System{}); slices.ContainsFunc(others, func(o growing) bool { return o.ID == c.ID }) {
		c.ID = name(s.System())
	}
	return c
}

// include adds a member. What a change has already was reached in two steps.
func (j *Judgement) include(c *growing, m member, release int) {
	i, has := c.at[m.cell]
	if has {
		was := &c.members[i]
		c.votes[was.began]--
		m = j.member(m.cell, min(m.first, was.first), max(m.last, was.last), m.found, release)
	} else {
		i, c.members = len(c.members), append(c.members, m)
		c.at[m.cell], c.systems[j.table.Cells[m.cell].System] = i, true
	}
	c.members[i] = m
	c.votes[m.began]++
}

// member measures a number of a change.
func (j *Judgement) member(cell, first, last int32, found float64, release int) member {
	m := member{cell: cell, first: first, last: last, found: found, level: j.levelOf(cell, first, last, release)}
	m.began = j.began(&m, release)
	return m
}

// place lets the members vote on the release in which the change began.
func (c *growing) place() {
	c.since = c.begun
	for at, n := range c.votes {
		if 2*n > len(c.members) {
			c.since = at
		}
	}
}

// fewBeside reports whether one change has few members beside those of another.
func fewBeside(c, o *growing) bool {
	const many = 4 // times as many
	return many*len(c.members) <= len(o.members)
}

// near reports whether two may be one by where they began: in one release or, where one has few members, next to it.
func (c *growing) near(o *growing) bool {
	apart := min(max(c.since-o.since, o.since-c.since), max(c.begun-o.begun, o.begun-c.begun))
	return apart == 0 || apart == 1 && (fewBeside(c, o) || fewBeside(o, c))
}

// like reports whether two may be one by what changed: something of one system, or numbers of others by as much.
func (c *growing) like(o *growing) bool {
	for s := range o.systems {
		if c.systems[s] {
			return true
		}
	}
	const most = 1.6
	a, b := c.size(), o.size()
	return c.Evidence == o.Evidence && a/b < most && b/a < most
}

// size is that of a typical member, as releases found it: on the log scale and without a sign.
func (c *Change) size() float64 {
	var sizes []float64
	for i := range c.members {
		sizes = append(sizes, math.Abs(c.members[i].found))
	}
	return middle(sizes)
}

// middle is a value in the middle of some, which it sorts.
func middle(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// member is a number of a change, from whose observation first on its level is another one.
type member struct {
	cell, first, last int32   // last: of the level that it reached; the first, where it took one step
	found             float64 // change, as the release found it
	began             int     // release in which its values place the beginning
	level
}

// member is that of a cell; nil for none.
func (c *Change) member(cell int32) *member {
	i, has := slices.BinarySearchFunc(c.members, cell, func(m member, cell int32) int { return cmp.Compare(m.cell, cell) })
	if !has {
		return nil
	}
	return &c.members[i]
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
}

// LevelDecision is the decision that accepts or pins the level of a member of a change, or a later one up to a release;
// nil for none.
func (j *Judgement) LevelDecision(c *Change, number, release int) *schema.Decision {
	m := &c.members[number]
	for i := m.first; i < j.table.Cells[m.cell].End && int(j.table.Obs[i].Release) <= release; i++ {
		if o := &j.table.Obs[i]; o.Accept || o.Pin {
			v := j.Series[m.cell].verdict(j.Releases[o.Release].Name)
			return j.policy.Level(&v, schema.Accept, schema.Pin)
		}
	}
	return nil
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
		if c.member(f.Cell) != nil && near && len(f.Members)*2 > len(d) {
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

// began is the release in which the values of a member place the beginning of its change: that of the first of them
// without a gap that are nearer to the new level, or the one after.
func (j *Judgement) began(m *member, release int) int {
	cell, first, o := &j.table.Cells[m.cell], m.first, j.table.Obs
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
	return at
}

// settleState says what became of a change: whether its members are back. Whether somebody accepted it is for the gate.
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
			if was := o.member(m.cell); was != nil && math.Abs(m.after-was.before) < math.Abs(m.after-m.before)/2 {
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
