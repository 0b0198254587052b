package regression

import (
	"cmp"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Kind is a kind of group of cells that may change together.
type Kind uint8

// Kinds of groups, the largest first. A kind says what all members of a group share.
const (
	Everything     Kind = iota // a line of releases
	OfDevice                   // a device
	OfDeviceMetric             // a metric of a device: a stratum
	OfModel                    // a model, on several devices
	OfSystem                   // a model on a device
	OfCurve                    // a workload of a model on a device, at all its loads
	OfSystemMetric             // a metric of a model on a device
)

// tier is one kind of group, in the order in which they are tested. What a larger group explains is taken from its
// members before smaller ones are tested, so that a change is found once, in the smallest set of groups.
type tier struct {
	kind     Kind
	quantile float64 // of its members' changes: .5 for their middle half, or the quartile that shows a part of a group
	of       func(c *Cell) int32
	child    func(c *Cell) int32
	children int                 // different ones that a group needs, else it is the same as a smaller one
	strata   int                 // likewise of metrics
	same     bool                // the groups of the tier before
	tails    bool                // percentiles are members, too
	unit     func(c *Cell) int32 // groups of one unit are one finding; nil: each is its own
	rate     float64             // of false discoveries, as a share of the usual one; 0: all of it
}

func (t *tier) part() bool { return t.quantile != .5 }

// least is the share of the effect that matters from which the change of a group is told: a group varies less than its
// members do. A part needs all of it, since some members of any group lie apart.
func (t *tier) least() float64 {
	if t.part() {
		return 1
	}
	return ofLimit
}

func tiers() []tier {
	device, model := func(c *Cell) int32 { return c.Device }, func(c *Cell) int32 { return c.Model }
	system, stratum := func(c *Cell) int32 { return c.System }, func(c *Cell) int32 { return c.Stratum }
	point, own := func(c *Cell) int32 { return c.Point }, func(c *Cell) int32 { return c.systemMetric }
	return []tier{
		{kind: Everything, quantile: .5, of: func(c *Cell) int32 { return c.Line }, child: device, children: 2},
		{kind: OfDevice, quantile: .5, of: device, child: system, children: 2, strata: 2},
		{kind: OfDeviceMetric, quantile: .5, of: stratum, child: system, children: 2, tails: true, unit: device},
		{kind: OfModel, quantile: .5, of: model, child: system, children: 2},
		{kind: OfSystem, quantile: .5, of: system, child: stratum, children: 2},
		{kind: OfSystem, quantile: .75, of: system, child: stratum, children: 2, same: true},
		{kind: OfSystem, quantile: .25, of: system, child: stratum, children: 2, same: true},
		{ // at a quarter of the rate half of the false ones go, and none of the power
			kind: OfCurve, quantile: .5, of: func(c *Cell) int32 { return c.Curve - 1 }, child: point, children: 3,
			unit: system, rate: .25,
		},
		{kind: OfSystemMetric, quantile: .5, of: own, child: point, children: 4, tails: true, unit: system},
	}
}

const (
	// ofLimit is the share of the effect that matters from which the change of a whole group is told.
	ofLimit = .6
	// remembered is the number of earlier changes of a group that its noise is estimated from.
	remembered = 20
	// together is the most runs that are tested as one, with those of the release.
	together = 3
	// usualStart is the noise that the start of a server is assumed to have, with the weight of two releases, where
	// groups are too few to tell.
	usualStart = .01
	// leastNoise is that of a group: its own history may be too short to show any.
	leastNoise = .002
	// byStrays is how many false confirmations strays may cause in a release, for each kind of group.
	byStrays = .0075
	// fewestOfPart are the releases after which it is known what a quartile is where nothing changes.
	fewestOfPart = 3
	// longHistory is enough to know the noise of a group without that of its members.
	longHistory = 8
	// remarkable is the number of standard errors within which no group changed, at any rate that is used.
	remarkable = 2
	// fewStrays is the number of runs of which at most one strays; where more do, that is how the group varies.
	fewStrays = 3
	// far is the number of standard errors beyond which a run strays, but for those that chance brings there.
	far = 2.8
)

// sight is what one run showed of a group.
type sight struct {
	release int32
	x       float64 // change of its members against their baselines
	n       int     // releases in those
	open    bool    // part of a change, and no noise
	far     float64 // by how many standard errors it strayed, and is no confirmed change; 0: it did not
	settled bool    // of a change that is confirmed, or that a later run of the release did not show
	final   int32   // of a candidate: the release that it is a run of; see [Release]
}

// moved is how one group moved in the release under judgement.
type moved struct {
	group         int32    // of its tier
	list          []int32  // tests of its members
	members       []member // in the order of their changes
	sd            float64  // noise of a member, the median
	x, again      float64  // change in the first run; in later ones of the release, NaN without
	delta         float64  // effect that matters, typical of its members
	sampling      float64  // variance of x that follows from the noise of its members
	points, n     int      // of members; releases behind them
	agree         float64  // share of members within the effect that matters of x
	whole         bool     // its members moved alike, as far as their noise tells
	own           ordinary
	s2, df        float64 // noise of x
	p             float64 // of the first run
	joint         window  // the newest runs together
	pass, confirm bool    // discoveries among the groups of the tier
}

// window is the newest runs of a group together.
type window struct {
	runs   int // 0: they do not agree that something changed
	again  bool
	first  int32   // release of the oldest
	x, se  float64 // mean change
	p      float64
	strays float64 // chance that one or more of them are strays
}

// strays counts changes of groups of a tier that went away again, as [outliers] does for cells: what happens to one run
// in thirty is not confirmed by happening twice.
type strays struct {
	tried float64
	gone  [4]float64 // those of so many standard errors or more: far, and each time twice as many
	// chance is what chance alone brings there, of the degrees of freedom of the last group, which most others share.
	chance [4]float64
	df     float64
}

// at is the place in gone of a number of standard errors.
func (s *strays) at(t float64) int { return min(len(s.gone)-1, max(0, int(math.Log2(t/far)))) }

// count adds a run that strayed by t standard errors, so many times.
func (s *strays) count(t, times float64) {
	for b := range s.gone[:s.at(t)+1] {
		s.gone[b] += times
	}
}

// expect takes away what chance alone brings of a run.
func (s *strays) expect(df float64) {
	for b := range s.gone {
		if s.df != df {
			s.chance[b] = 2 * UpperTail(math.Ldexp(far, b), df)
		}
		s.gone[b] -= s.chance[b]
	}
	s.df = df
}

// rate is the share of runs of a group that stray as far as one that is t standard errors off: half as far or more.
func (s *strays) rate(t float64) float64 {
	return (math.Max(0, s.gone[s.at(t/2)]) + .5) / (s.tried + 50)
}

// least is the rate of all strays without what chance may have added.
func (s *strays) least() float64 {
	gone := math.Max(0, s.gone[0])
	return math.Max(0, gone-2*math.Sqrt(gone)) / (s.tried + 50)
}

// groups tests the groups of a release, the largest first. Each tier is a family of tests at one false discovery rate,
// like a level of a tree of hypotheses (Yekutieli 2008).
func (j *judge) groups(release int32, tests []test) {
	// Values of a baseline that lie apart by more than a machine moves them have no level from which a change could be
	// measured. It is a standard deviation; two values of which one is twice the other have .49.
	const coherent = .35
	free, found := make([]int32, 0, len(tests)), len(j.out.Findings)
	for i := range tests {
		if b := &tests[i].base; b.n > 0 && b.s2 <= coherent*coherent {
			free = append(free, int32(i))
		}
	}
	var list []moved
	for k := range j.tiers {
		t := &j.tiers[k]
		n := len(j.out.Findings)
		if n > found {
			free = slices.DeleteFunc(free, func(i int32) bool { return tests[i].found >= 0 || tests[i].stayed })
		}
		if t.same && n == found {
			list = slices.Clone(list)
		} else {
			list = j.gathered(k, tests, free)
		}
		found = n
		for i := range list {
			list[i].place(t)
		}
		stray := &j.strays[k]
		j.testGroups(release, k, list, tests)
		for i := range list {
			m := &list[i]
			f := j.decideGroup(release, t, m, len(list))
			if f != nil {
				j.explain(f, t, m, tests)
			} else {
				j.common(m, t, tests)
			}
			j.remember(release, k, m, f)
		}
		if j.t.Releases[release].Joins { // what is long ago is forgotten
			stray.tried = memory * (stray.tried + float64(len(list)))
			for b := range stray.gone {
				stray.gone[b] *= memory
			}
		}
	}
}

// gathered finds the groups of a tier, of those of its members whose change is not explained.
func (j *judge) gathered(k int, tests []test, free []int32) []moved {
	t, members := &j.tiers[k], j.lists[k]
	for g := range members {
		members[g] = members[g][:0]
	}
	for _, i := range free {
		g := j.ids[k][tests[i].cell]
		members[g] = append(members[g], i)
	}
	var out []moved
	for g, list := range members {
		some := func(of func(c *Cell) int32, n int) bool { return n == 0 || j.distinct(tests, list, of, n) == n }
		if g > 0 && len(list) >= t.children && some(t.child, t.children) &&
			some(func(c *Cell) int32 { return c.Stratum }, t.strata) {
			points := j.distinct(tests, list, func(c *Cell) int32 { return c.Point }, len(list))
			out = append(out, moved{group: int32(g), list: list, members: make([]member, len(list)), points: points})
		}
	}
	const work = 64 // in cells
	j.each(len(out), work, func(i int, _ *Quantiles) { j.gather(&out[i], tests) })
	return out
}

// distinct counts the different values of a fact of the cells of some tests, up to so many: it marks those that it has
// seen.
func (j *judge) distinct(tests []test, list []int32, of func(c *Cell) int32, most int) (n int) {
	j.mark++
	for _, i := range list {
		v := int(of(&j.t.Cells[tests[i].cell]))
		if v >= len(j.marks) {
			j.marks = append(j.marks, make([]int32, v+1-len(j.marks))...)
		}
		if j.marks[v] != j.mark {
			j.marks[v] = j.mark
			if n++; n == most {
				break
			}
		}
	}
	return n
}

// member is a member's change, and its noise, from which its weight follows.
type member struct{ d, sd float64 }

// gather measures what does not depend on the quantile that is asked for.
func (j *judge) gather(m *moved, tests []test) {
	values, releases := make([]float64, len(m.list)), make([]float64, len(m.list))
	var later []member
	weight := 0.
	for i, k := range m.list {
		x := &tests[k]
		m.members[i] = member{x.d, x.se}
		weight += 1 / (x.se * x.se)
		values[i], releases[i] = j.t.Cells[x.cell].Delta, float64(x.base.n)
		if !math.IsNaN(x.again) {
			later = append(later, member{x.again, x.se})
		}
	}
	m.delta, m.n = Median(values), int(Median(releases))
	byChange(m.members)
	if m.again = math.NaN(); len(later) >= 3 {
		byChange(later)
		m.again = midmean(later)
	}
	alike := float64(len(m.list)) / float64(m.points) // the metrics of one workload are one witness
	m.sampling = ofMidmean / weight * alike
	for i := range m.members {
		values[i] = m.members[i].sd
	}
	m.sd = Median(values)
}

// place finds how a group moved: the middle of its members, or the quantile of its tier, and whether they did alike.
func (m *moved) place(t *tier) {
	if t.part() {
		m.x = quantile(m.members, t.quantile)
	} else {
		m.x = midmean(m.members)
	}
	near := 0
	for _, x := range m.members {
		if math.Abs(x.d-m.x) <= m.delta {
			near++
		}
	}
	m.agree = float64(near) / float64(len(m.members))
	m.whole = alike(t, m.members, m.x, m.sd)
}

// alike reports whether members, in the order of their changes, moved as their group did: half of them, two thirds of
// the few of a curve, or three of ten where a part of a group moved.
func alike(t *tier, members []member, by, sd float64) bool {
	seen := 0
	for _, x := range members {
		if math.Copysign(x.d, x.d*by) > math.Abs(by)/2 {
			seen++
		}
	}
	n := float64(len(members))
	if t.part() {
		return float64(seen) >= math.Max(3, .3*n) && (t.quantile > .5) == (by > 0)
	}
	// Where half of the workloads of a model are 10 % slower and half are not, their median is 5 %, which none of them
	// shows: the middle half of members must not be wider than their middle is from zero, and than noise makes it.
	const fewest, apart, ofNoise = 8, .7, 1.5 * 1.349 // the middle half of normal values is 1.349 standard deviations wide
	wide := members[3*len(members)/4].d - members[len(members)/4].d
	inTwo := len(members) >= fewest && wide > math.Max(apart*math.Abs(by), ofNoise*sd)
	share := .5
	if t.kind == OfCurve { // of four loads two have an outlier at once now and then
		share = 2. / 3
	}
	return float64(seen) >= share*n && !inTwo
}

func byChange(list []member) {
	slices.SortFunc(list, func(a, b member) int { return cmp.Compare(a.d, b.d) })
}

// quantile is the change that a share of the weight lies below, of members in the order of their changes: one whose
// baseline is noisy says next to nothing of its group.
func quantile(list []member, share float64) float64 {
	total, below := 0., 0.
	for _, x := range list {
		total += 1 / x.sd
	}
	for i, x := range list {
		below += 1 / x.sd
		switch off := below - share*total; {
		case math.Abs(off) < 1e-9*total && i+1 < len(list): // between two members
			return (x.d + list[i+1].d) / 2
		case off > 0:
			return x.d
		}
	}
	return math.NaN()
}

// ofMidmean is the variance of a midmean of normal values, of that of their mean.
const ofMidmean = 1.2

// midmean is the weighted mean of the middle half of members in the order of their changes: nearly as robust as their
// median, of which a quarter of the variance is chance.
func midmean(list []member) float64 {
	total, below, sum := 0., 0., 0.
	for _, x := range list {
		total += 1 / x.sd
	}
	for _, x := range list {
		w := 1 / x.sd
		inside := math.Min(below+w, .75*total) - math.Max(below, .25*total)
		sum, below = sum+math.Max(0, inside)*x.d, below+w
	}
	return sum / (total / 2)
}

// ordinary is what a group does in releases that show no change of it: the middle, and the variance about that with its
// degrees of freedom, both of a run against a level that is known.
type ordinary struct{ mid, s2, nu float64 }

// ordinaryOf is that of a history without the newest so many runs. Strays, of which there are few, are counted by
// themselves; a part of a group has none.
func ordinaryOf(past []sight, t *tier, without int) (o ordinary) {
	var room, apart, sorted [remembered]float64 // without memory of their own: a release asks for thousands
	values, strayed := room[:0], apart[:0]
	for i := len(past) - 1 - without; i >= 0 && len(values)+len(strayed) < remembered; i-- {
		switch run := &past[i]; {
		case run.open:
		case run.far > 0 && !t.part():
			strayed = append(strayed, run.x/spread(run.n))
		default:
			values = append(values, run.x/spread(run.n))
		}
	}
	if len(strayed)*fewStrays > len(values)+len(strayed) {
		values = append(values, strayed...)
	}
	if t.part() && len(values) > 0 {
		o.mid = Median(sorted[:copy(sorted[:], values)])
	}
	for _, v := range values {
		o.s2 += (v - o.mid) * (v - o.mid)
	}
	o.nu = float64(len(values))
	o.s2 /= math.Max(1, o.nu)
	return o
}

// spread is the noise of a change against a baseline of n releases, of that of a run.
func spread(n int) float64 { return math.Sqrt(1 + 1/math.Max(1, float64(n))) }

// usual estimates the noise of a tier's groups.
func (j *judge) usual(k int, list []moved) prior {
	s2, nu := make([]float64, len(list)), make([]float64, len(list))
	for i := range list {
		m := &list[i]
		m.own = ordinaryOf(j.past[k][m.group], &j.tiers[k], 0)
		s2[i], nu[i] = m.own.s2, m.own.nu
	}
	return fitPrior(s2, nu, make([]int32, len(list)), 1, false)
}

// noise is that of one group by what it ordinarily does, and by what the groups of its tier usually do.
func (m *moved) noise(o ordinary, usual *prior) (v, df float64) {
	if usual.known && usual.sumNu > o.nu {
		v, df = usual.moderate(o.s2, o.nu, 0)
	} else {
		v, df = (2*usualStart*usualStart+o.nu*o.s2)/(2+o.nu), 2+o.nu
	}
	if v = math.Max(v, leastNoise*leastNoise); df < longHistory {
		v = math.Max(v, m.sampling/(spread(m.n)*spread(m.n)))
	}
	return v, df
}

// testGroups tests every group of a tier in its own history, with the noise that groups of the tier usually have.
func (j *judge) testGroups(release int32, k int, list []moved, tests []test) {
	t, stray, usual, q := &j.tiers[k], &j.strays[k], j.usual(k, list), Quantiles{}
	ps, joint := make([]float64, len(list)), make([]float64, len(list))
	for i := range list {
		m := &list[i]
		past := j.past[k][m.group]
		earlier, aside := j.before(release, k, m.group)
		m.s2, m.df = m.noise(m.own, &usual)
		m.s2, m.own.mid = m.s2*spread(m.n)*spread(m.n), m.own.mid*spread(m.n)
		if t.kind == OfSystem && !t.part() || t.kind == OfSystemMetric {
			j.see(m, tests, q.At(1-j.rules.GroupFDR/4/float64(len(list)), m.df))
		}
		m.p, m.joint = 1, window{p: 1}
		if !t.part() || m.own.nu >= fewestOfPart {
			if t := math.Abs(m.x-m.own.mid) / math.Sqrt(m.s2); t > remarkable {
				m.p = 2*UpperTail(t, m.df) + stray.least()
			}
			noise := func(without int) (mid, s2, df float64) {
				o := ordinaryOf(past, t, max(0, without-aside))
				s2, df = m.noise(o, &usual)
				return o.mid, s2, df
			}
			m.together(sight{release: release, x: m.x, n: m.n}, t, earlier, noise, stray)
		}
		ps[i], joint[i] = m.p, m.joint.p
	}
	rate := cmp.Or(t.rate, 1) * j.rules.GroupFDR / 2
	unit := func(i int) int32 {
		if m := &list[i]; t.unit != nil {
			return t.unit(&j.t.Cells[tests[m.list[0]].cell])
		}
		return int32(i)
	}
	limit, confirm := discovered(ps, unit, len(ps), rate, rate), discovered(joint, unit, len(joint), rate, rate)
	for i := range list {
		m := &list[i]
		m.pass, m.confirm = m.p <= limit, m.joint.p <= confirm
		m.whole = m.whole && (!m.confirm || j.alikeSince(m.joint.first, t, m, tests))
	}
}

// before is what earlier runs showed of a group that may be part of a change with a release's own: those of its
// candidates, which come last, and of releases, unless it is a build that never joins.
func (j *judge) before(release int32, k int, group int32) (list []sight, candidates int) {
	now := &j.t.Releases[release]
	if now.Joins {
		list = slices.Clip(j.past[k][group])
	}
	for _, run := range j.aside[k][group] {
		if run.final == now.Final {
			list = append(list, run)
			candidates++
		}
	}
	return list, candidates
}

// see notes the least change of a whole system, or of a metric of it, that the release would show: significant is how
// many standard errors a change has that is one.
func (j *judge) see(m *moved, tests []test, significant float64) {
	least := math.Max(ofLimit*m.delta, (significant+math.Sqrt2*math.Erfinv(2*power-1))*math.Sqrt(m.s2))
	for _, i := range m.list {
		if x := &tests[i]; x.sight == 0 || least < x.sight {
			x.sight = least
		}
	}
}

// together tests the newest runs of a group that all lie on one side: the later runs of the release, its first run and
// those of the releases before. The surest window counts.
func (m *moved) together(
	now sight, t *tier, earlier []sight, noise func(without int) (mid, s2, df float64), stray *strays,
) {
	m.joint.p = math.NaN()
	dir := math.Copysign(1, m.x-m.own.mid)
	if dir*(m.x-m.own.mid) < ofLimit/2*m.delta {
		return
	}
	var room [together]sight
	seen, first := append(room[:0], now), now.release
	add := func(run sight, without int) bool {
		mid, s2, df := noise(without)
		if mid *= spread(run.n); dir*(run.x-mid) < ofLimit/2*m.delta {
			return false
		}
		seen, first = append(seen, run), min(first, run.release)
		runs := changes(seen, dir)
		if slices.Min(runs)-dir*mid < (Mean(runs)-dir*mid)/2 { // else one run and a little noise would confirm
			return true
		}
		se := func(n int) float64 { return math.Sqrt(s2 * (1/float64(n) + 1/math.Max(1, float64(run.n)))) }
		tail := func(runs []float64) float64 { return UpperTail((Mean(runs)-dir*mid)/se(len(runs)), df) }
		w := window{
			runs: len(runs), again: run.release == now.release, first: first, x: dir * Mean(runs), se: se(len(runs)),
		}
		rate := func(x float64) float64 { return stray.rate((x - dir*mid) / math.Sqrt(s2) / spread(run.n)) }
		// Two-sided, and half of the rate for two runs and half for three, as of a number alone.
		w.p = 2 * 2 * tail(runs)
		slices.Sort(runs)
		w.strays = byOutliers(runs, rate, tail, func(float64, []float64) bool { return false }, 0)
		if dir*(w.x-mid) >= t.least()*m.delta && !(w.p+w.strays >= m.joint.p+m.joint.strays) {
			m.joint = w
		}
		return true
	}
	if !math.IsNaN(m.again) && !add(sight{release: now.release, x: m.again, n: m.n, open: true}, 0) {
		return
	}
	for i := len(earlier) - 1; i >= 0 && len(seen) < together && !earlier[i].settled; i-- {
		if !add(earlier[i], len(earlier)-i) {
			return
		}
	}
}

// changes are those of runs, the newest first, against the level before the oldest of them: one that nobody suspected
// is part of the baselines of those after it, and hides a share of their change.
func changes(runs []sight, dir float64) []float64 {
	out, hidden := make([]float64, len(runs)), 0.
	for i := len(runs) - 1; i >= 0; i-- {
		out[i] = dir*runs[i].x + hidden/math.Max(1, float64(runs[i].n))
		if !runs[i].open {
			hidden += out[i]
		}
	}
	return out
}

// decideGroup makes the finding of one of so many groups; nil where it shows no change.
func (j *judge) decideGroup(release int32, t *tier, m *moved, family int) *Finding {
	w := &m.joint
	sure := m.confirm && m.joint.strays*float64(family) <= byStrays
	if once := m.pass && math.Abs(m.x-m.own.mid) >= t.least()*m.delta; !m.whole || !(sure || once) {
		return nil
	}
	f := Finding{
		Kind: t.kind, Part: t.part(), Release: release, Cell: -1, Evidence: schema.Suspected, Why: schema.WhyGate,
		D: m.x, SE: math.Sqrt(m.s2), Df: m.df, P: m.p, N: m.n, First: release, Runs: 1,
	}
	dir := math.Copysign(1, m.x)
	f.Word = WordOf(dir)
	switch {
	case sure:
		f.D, f.SE, f.P, f.Runs, f.Why = w.x, w.se, w.p, w.runs, schema.WhyAgain
		if f.First = w.first; w.again {
			f.Why = schema.WhyRecheck
		}
		f.Evidence = schema.Confirmed
	case !math.IsNaN(m.again) && dir*m.again < ofLimit*m.delta:
		f.Word, f.Evidence, f.Why, f.D = schema.Inconclusive, schema.NoEvidence, schema.WhyNotSeenAgain, m.again
	}
	if f.Evidence != schema.NoEvidence && math.Abs(f.D) < m.delta {
		f.Word = schema.BelowLimit
	}
	j.out.Findings = append(j.out.Findings, f)
	return &j.out.Findings[len(j.out.Findings)-1]
}

// explain takes the change of a group from its members, those percentiles among them that moved as it did over the runs
// that show it. A member that clearly did not move is none, nor is one whose newest value says the opposite.
func (j *judge) explain(f *Finding, t *tier, m *moved, tests []test) {
	at := int32(len(j.out.Findings) - 1)
	list := j.withTails(t, m, tests)
	const clearly = 2.5
	for _, i := range list {
		x := &tests[i]
		c := &j.t.Cells[x.cell]
		d, of := x.d, m.x
		if f.Runs > 1 {
			d, of = j.over(x, f.First, m), f.D
		}
		moved := d/of > .5
		if !moved && !t.part() && !c.Tail && x.base.n > 1 {
			moved = math.Abs(d-of) <= clearly*math.Sqrt(math.Max(x.base.s2, j.least(&j.t.Obs[x.obs])))
		}
		moved = moved && x.d/m.x > 0
		x.stayed = x.stayed || !moved && !t.part()
		if moved {
			x.found, f.Cell = at, x.cell
			x.removed += m.x
			x.d -= m.x
			f.Members = append(f.Members, x.cell)
		}
	}
	if f.Evidence == schema.Confirmed && j.onOneHost(f, at, tests, list) {
		f.Evidence, f.Why = schema.Suspected, schema.WhyOtherHost
	}
}

// onOneHost reports whether all runs that show a change were made on one host, while some member was lately measured on
// another one too: what they show may be the host. at is the finding's index.
func (j *judge) onOneHost(f *Finding, at int32, tests []test, list []int32) bool {
	one, other := int16(0), false
	for _, i := range list {
		x := &tests[i]
		if x.found != at {
			continue
		}
		first := x.obs
		for first > j.t.Cells[x.cell].First && j.t.Obs[first-1].Release >= f.First {
			first--
		}
		host, elsewhere := j.oneHost(x.cell, first, x.obs)
		if host == 0 || one != 0 && host != one {
			return false
		}
		one, other = host, other || elsewhere
	}
	return other
}

// over is the mean change of a test over its runs since a release, of the newest three. What earlier ones had in common
// with their group was taken from them where it was no finding yet: it is part of the change where the group's history
// is long enough to tell that from what starts of servers do.
func (j *judge) over(x *test, first int32, m *moved) float64 {
	var room [4]earlier
	runs, own := j.sightings(x, room[:0])
	sum, n, base := 0., 0., x.base.summary()
	for k, r := range runs {
		if k >= own && j.t.Obs[r.obs].Release < first {
			break
		}
		if base = base.without(&r); k >= own && m.own.nu >= longHistory {
			r.z = r.raw + x.base.adjusted - x.base.mean
		}
		sum, n = sum+r.z, n+1
	}
	return sum/n - base.adjusted
}

// alikeSince reports whether the members of a group moved alike over the runs that show a change together.
func (j *judge) alikeSince(first int32, t *tier, m *moved, tests []test) bool {
	members := make([]member, len(m.list))
	for i, k := range m.list {
		x := &tests[k]
		members[i] = member{j.over(x, first, m), x.se}
	}
	byChange(members)
	n := math.Max(1, float64(m.n))
	by := m.joint.x
	if math.Abs(m.x) > math.Abs(by) { // a window may reach to a run before the change
		by = m.x
	}
	return alike(t, members, by, m.sd*math.Sqrt((1/float64(m.joint.runs)+1/n)/(1+1/n)))
}

// withTails are the members of a group with their percentiles.
func (j *judge) withTails(t *tier, m *moved, tests []test) []int32 {
	if t.tails {
		return m.list
	}
	list := slices.Clone(m.list)
	for i := range tests {
		x := &tests[i]
		if c := &j.t.Cells[x.cell]; c.Tail && x.found < 0 && x.base.n > 0 && t.of(c)+1 == m.group {
			list = append(list, int32(i))
		}
	}
	return list
}

// common takes a movement of a metric that is no finding from the members of a group before they are tested alone: what
// a host or the start of a server does in every release. As much is taken as is not the error of a median. Members that
// lie far apart have nothing in common.
func (j *judge) common(m *moved, t *tier, tests []test) {
	ofMetric := t.kind == OfDeviceMetric || t.kind == OfSystemMetric
	if !ofMetric || m.points < j.rules.MinPoint || m.agree < j.rules.Agree {
		return
	}
	varies := m.s2 // where nothing changes; a start of a server that strays is what it is
	if t.kind == OfSystemMetric && math.Abs(m.x-m.own.mid) > 2*far*math.Sqrt(m.s2) {
		varies = m.x * m.x
	}
	taken := m.x * math.Max(0, 1-m.sampling/varies)
	for _, i := range m.list {
		x := &tests[i]
		x.removed += taken
		x.common += taken
		x.d -= taken
	}
}

// remember keeps what a release showed of a group; a build that never joins and is no candidate leaves nothing.
func (j *judge) remember(release int32, k int, m *moved, f *Finding) {
	now := sight{release: release, x: m.x, n: m.n, open: f != nil}
	now.settled = f != nil && f.Why == schema.WhyNotSeenAgain
	if r := &j.t.Releases[release]; !r.Joins {
		if now.final = r.Final; now.final != 0 {
			j.aside[k][m.group] = append(j.aside[k][m.group], now)
		}
		return
	}
	if t := math.Abs(m.x-m.own.mid) / math.Sqrt(m.s2); f != nil || t > far {
		now.far = math.Max(t, far)
	}
	past := append(j.past[k][m.group], now)
	stray := &j.strays[k]
	stray.expect(m.df)
	if now.far > 0 {
		stray.count(now.far, 1)
	}
	for i := range past { // those of a change that is confirmed are no strays
		if f != nil && f.Evidence == schema.Confirmed && past[i].release >= f.First {
			if past[i].far > 0 {
				stray.count(past[i].far, -1)
			}
			past[i].open, past[i].far, past[i].settled = true, 0, true
		}
	}
	if len(past) > 2*remembered {
		past = slices.Delete(past, 0, remembered)
	}
	j.past[k][m.group] = past
}
