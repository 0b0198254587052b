package regression

import (
	"github.com/ttreport/ttreport/ingest/schema"
	"math"
	"slices"
	"sync"
)

// stratum keeps the levels of run-wide shifts between releases: one series for each stratum, and one for each system
// within a stratum.
type stratum struct {
	release []int32   // releases in which a shift was measured
	m       []float64 // the shift in each
	out     []bool
	from    int // index of the first shift of the current level
	suspect int // index that waits for an independent run; -1
	seen    int // runs that saw the suspect again, and were not enough
	dir     float64
	ss, nu  float64 // of earlier levels
	now     float64 // shift removed from this release's values
	change  float64 // of this release against the current level
	finding int32   // of this release; -1
}

// level returns the mean and variance of the shifts of the current level.
func (s *stratum) level() (mean, s2, nu float64, n int) {
	var values []float64
	for i := s.from; i < len(s.m); i++ {
		if !s.out[i] {
			values = append(values, s.m[i])
		}
	}
	const window = 20
	if len(values) > window {
		values = values[len(values)-window:]
	}
	mean, ss := centre(values)
	nu = math.Max(0, float64(len(values)-1))
	if len(values) < 3 {
		ss += s.ss
		nu += s.nu
	}
	if nu > 0 {
		s2 = ss / nu
	}
	return mean, s2, nu, len(values)
}

func (s *stratum) restart(at int) {
	var values []float64
	for i := s.from; i < at; i++ {
		if !s.out[i] {
			values = append(values, s.m[i])
		}
	}
	if len(values) > 1 {
		_, ss := centre(values)
		s.ss += ss
		s.nu += float64(len(values) - 1)
	}
	s.from = at
}

// shifts removes what moved together, first of every stratum and then of every system in it, judges each movement like
// a cell, and notes a finding for strata that did not move as one and yet by more than matters.
func (j *judge) shifts(release int32, tests []test) {
	strata := tier{
		kind: ShiftFinding, series: j.strata, units: j.devices, points: j.rules.MinPoint, cells: j.rules.MinCells,
		of: func(x *test) int32 { return j.t.Cells[x.cell].Stratum }, strays: &j.strays[0],
	}
	j.remove(release, &strata, tests)
	if len(j.groups) == 0 {
		return
	}
	systems := tier{
		kind: RunFinding, series: j.groups, units: j.systems, points: j.rules.MinPoint, cells: j.rules.MinPoint,
		of: func(x *test) int32 { return x.group }, within: true, strays: &j.strays[1],
	}
	j.remove(release, &systems, tests)
}

// tier is one level of what moves together: strata, or systems within strata.
type tier struct {
	kind          FindingKind
	series        []stratum
	units         []int32 // by series: the device or system; those of one are no independent witnesses
	points, cells int     // that a series needs
	of            func(x *test) int32
	within        bool // series of few cells: see [judge.judgeShift]
	strays        *strays
}

// strays counts shifts that went away again, as [outliers] does for cells: what happens to one run in thirty is not
// confirmed by happening twice.
type strays struct{ made, gone float64 }

// rate is the share of runs that stray, drawn to none where few have been seen.
func (s *strays) rate() float64 {
	const few = 50
	return s.gone / (s.made + few)
}

func (j *judge) remove(release int32, t *tier, tests []test) {
	list := j.measure(t, tests)
	for i := range t.series {
		s := &t.series[i]
		s.now, _, _, _ = s.level()
		s.change, s.finding = 0, -1
	}
	found := j.shiftTests(t, list)
	t.strays.made, t.strays.gone = memory*t.strays.made+float64(len(list)), memory*t.strays.gone
	for i, m := range list {
		s := &t.series[m.series]
		if !m.removable {
			if !t.within && math.Abs(m.median-s.now) >= m.delta {
				j.addFinding(s, Finding{
					Kind: MixedFinding, Release: release, Stratum: m.stratum, System: -1, Word: schema.Inconclusive,
					D: m.median - s.now, SE: math.NaN(), P: math.NaN(), Cells: m.cells, Agree: m.agree, First: -1,
				})
			}
			continue
		}
		j.judgeShift(release, t, m, found[i])
	}
	for i := range tests {
		x := &tests[i]
		if at := t.of(x); at >= 0 {
			s := &t.series[at]
			x.d -= s.now
			x.removed += s.now
			x.shift += s.change
		}
	}
}

func (j *judge) addFinding(s *stratum, f Finding) {
	s.finding = int32(len(j.out.Findings))
	j.out.Findings = append(j.out.Findings, f)
}

// shiftTest is the calculation of one shift.
type shiftTest struct {
	d, mean, s2, se, df, p float64
	own, nu                float64 // variance of the series itself
	n                      int
	ok, pass               bool
}

// shiftTests tests every shift against its earlier ones.
func (j *judge) shiftTests(t *tier, list []moved) []shiftTest {
	p := t.prior(list)
	out := make([]shiftTest, len(list))
	for i, m := range list {
		x := &out[i]
		x.mean, x.own, x.nu, x.n = t.series[m.series].level()
		x.d, x.p = m.median-x.mean, math.NaN()
		if x.n == 0 || !p.known {
			continue
		}
		x.s2, x.df = j.noiseOf(m, &p, x.own, x.nu)
		x.se = math.Sqrt(x.s2 * (1 + 1/float64(x.n)))
		if x.df > 0 {
			x.p, x.ok = UpperTail(math.Abs(x.d)/x.se, x.df), true
		}
	}
	t.discover(list, out, j.rules.ShiftFDR)
	return out
}

// noiseOf is the variance of one shift, and its degrees of freedom.
func (j *judge) noiseOf(m moved, p *prior, own, nu float64) (s2, df float64) {
	s2, df = own, nu
	if p.sumNu > nu { // there are others
		s2, df = p.moderate(own, nu, 0)
	}
	return math.Max(s2, math.Max(j.rules.Floor*j.rules.Floor, m.sampling)), df
}

// prior is what all series show of the noise of one: the metrics of one device rise and fall together, so that there
// are as many witnesses as devices.
func (t *tier) prior(list []moved) prior {
	s2, nu := make([]float64, len(list)), make([]float64, len(list))
	units := map[int32]bool{}
	for i, m := range list {
		_, s2[i], nu[i], _ = t.series[m.series].level()
		units[t.units[m.series]] = true
	}
	return fitAlike(s2, nu, make([]int32, len(list)), 1, float64(len(units))/math.Max(1, float64(len(list))))
}

// discover asks each device or system once, in each direction, whether any of its metrics moved (Simes 1986), and then
// which, at the share of those that did (Benjamini and Bogomolov 2014).
func (t *tier) discover(list []moved, tests []shiftTest, level float64) {
	byUnit := map[int32][]int{}
	var units []int32
	for i, m := range list {
		u := t.units[m.series]
		if byUnit[u] == nil {
			units = append(units, u)
		}
		byUnit[u] = append(byUnit[u], i)
	}
	for _, dir := range []float64{1, -1} {
		p := make([]float64, len(units))
		inside := make([][]float64, len(units))
		for k, u := range units {
			for _, i := range byUnit[u] {
				v := 1.
				if tests[i].ok && tests[i].d*dir > 0 {
					v = tests[i].p
				}
				inside[k] = append(inside[k], v)
			}
			p[k] = simes(inside[k])
		}
		_, limit := BenjaminiHochberg(p, len(units), level)
		chosen := 0
		for k := range units {
			if p[k] <= limit {
				chosen++
			}
		}
		for k, u := range units {
			if p[k] > limit {
				continue
			}
			_, within := BenjaminiHochberg(inside[k], len(inside[k]), level*float64(chosen)/float64(len(units)))
			for n, i := range byUnit[u] {
				tests[i].pass = tests[i].pass || inside[k][n] <= within
			}
		}
	}
}

// simes is the p value of several tests of one thing: the smallest q value among them.
func simes(p []float64) float64 {
	q, _ := BenjaminiHochberg(p, len(p), 1)
	least := 1.
	for _, v := range q {
		least = math.Min(least, v)
	}
	return least
}

// judgeShift gives a shift a word and remembers its level.
func (j *judge) judgeShift(release int32, t *tier, m moved, x shiftTest) {
	s := &t.series[m.series]
	s.now, s.change = m.median, x.d
	if t.within { // as much of it as is not the error of a median over few cells
		s.change *= math.Max(0, 1-m.sampling/math.Max(x.d*x.d, x.own))
		s.now = x.mean + s.change
	}
	f := Finding{
		Kind: t.kind, Release: release, Stratum: m.stratum, System: m.system,
		Word: schema.Unchanged, Why: schema.WhyEquivalent,
		D: x.d, SE: x.se, Df: x.df, P: x.p, N: x.n, Cells: m.cells, Agree: m.agree, First: -1,
	}
	dir := math.Copysign(1, x.d)
	j.decideShift(&f, s, t, m, x, dir)
	j.addFinding(s, f)
	if j.t.Releases[release].Joins {
		s.remember(release, &f, t.strays, m.median, dir)
	}
}

// decideShift sets the word, evidence and reason of a shift that is unchanged so far.
func (j *judge) decideShift(f *Finding, s *stratum, t *tier, m moved, x shiftTest, dir float64) {
	large := dir*x.d >= m.delta
	switch {
	case x.n == 0 && !large: // the first level of a stratum is a point of reference, not a change
		f.Word, f.Why = schema.NoBaseline, schema.WhyNoBaseline
	case s.seenAgain(j, m, x):
		f.Word, f.Evidence, f.Why, f.First = wordOf(s.dir), schema.Confirmed, schema.WhyAgain, s.release[s.suspect]
		switch {
		case !t.enough(s.seen+1, j.rules.Confirm):
			f.Evidence, f.Why = schema.Suspected, schema.WhyOneMoreRun
		case j.shiftOnOneHost(m, append(s.release[s.suspect:len(s.release):len(s.release)], f.Release), false):
			f.Evidence, f.Why = schema.Suspected, schema.WhyOtherHost
		}
	case large && x.ok && x.pass:
		f.Word, f.Evidence, f.Why = wordOf(dir), schema.Suspected, schema.WhyGate
		j.askAgain(f, t, m, x, dir)
	case large:
		f.Word, f.Why = schema.Inconclusive, schema.WhyNotSignificant
	case !x.ok:
		f.Word, f.Why = schema.NoBaseline, schema.WhyOneEach
	case x.pass:
		f.Word, f.Why = schema.BelowLimit, schema.WhyBelowLimit
	}
}

// seenAgain reports whether this release confirms the shift that waits for an independent run.
func (s *stratum) seenAgain(j *judge, m moved, x shiftTest) bool {
	return s.suspect >= 0 && x.ok && s.dir*x.d >= m.delta &&
		x.again(s.m[s.suspect]-x.mean, s.dir) <= j.rules.Confirm
}

// enough reports whether so many runs after the first confirm a shift: fewer might all be strays.
func (t *tier) enough(again int, size float64) bool {
	return math.Pow(t.strays.rate(), float64(again)) <= size
}

// remember adds the level of a release, and starts a new level where a shift was confirmed.
func (s *stratum) remember(release int32, f *Finding, strays *strays, median, dir float64) {
	if len(s.m) == 0 { // the releases before it are where shifts are measured from
		s.release, s.m, s.out = append(s.release, release-1), append(s.m, 0), append(s.out, false)
	}
	s.release, s.m, s.out = append(s.release, release), append(s.m, median), append(s.out, false)
	last := len(s.m) - 1
	switch {
	case f.Why == schema.WhyRecheck:
		s.restart(last)
		s.suspect = -1
	case f.Why == schema.WhyNotSeenAgain:
		s.out[last], s.suspect = true, -1
		strays.gone++
	case (f.Why == schema.WhyOneMoreRun || f.Why == schema.WhyOtherHost) && s.suspect >= 0:
		s.out[last], s.seen = true, s.seen+1
	case f.Evidence == schema.Confirmed:
		s.out[s.suspect] = false
		s.restart(s.suspect)
		s.suspect = -1
	case f.Evidence == schema.Suspected:
		s.suspect, s.seen, s.dir, s.out[last] = last, 0, dir, true
		if f.Why == schema.WhyOneMoreRun {
			s.seen = 1
		}
	default:
		if s.suspect >= 0 {
			strays.gone++
		}
		s.suspect = -1
	}
}

// askAgain asks later runs of the release about a shift that its first run shows.
func (j *judge) askAgain(f *Finding, t *tier, m moved, x shiftTest, dir float64) {
	if math.IsNaN(m.second) {
		return
	}
	second := x
	second.d = m.second - x.mean
	if dir*second.d >= m.delta && second.again(x.d, dir) <= j.rules.Confirm {
		f.Evidence, f.Why = schema.Confirmed, schema.WhyRecheck
		switch {
		case !t.enough(1, j.rules.Confirm):
			f.Evidence, f.Why = schema.Suspected, schema.WhyOneMoreRun
		case j.shiftOnOneHost(m, []int32{f.Release}, true):
			f.Evidence, f.Why = schema.Suspected, schema.WhyOtherHost
		}
		return
	}
	f.Word, f.Evidence, f.Why = schema.Inconclusive, schema.NoEvidence, schema.WhyNotSeenAgain
}

// again tests the shift of an independent run given the first one's, as [judge.repeated] does for cells.
func (x shiftTest) again(d1, dir float64) float64 {
	n := float64(x.n)
	rho := 1 / (n + 1)
	se := math.Sqrt(x.s2 * (1 + 1/n) * (1 - rho*rho))
	return UpperTail(dir*(x.d-rho*d1)/se, x.df)
}

// moved is how one stratum, or one system in it, moved as a whole in the release under judgement.
type moved struct {
	series    int32 // of its tier
	stratum   int32
	system    int32   // -1: the whole stratum
	median    float64 // change of its cells against their baselines
	delta     float64 // effect that matters, typical of its cells
	sampling  float64 // variance of the median over its cells
	cells     int
	points    int
	agree     float64
	removable bool
	second    float64 // median over the cells that a later run of the release also has; NaN with too few of them
}

// measure finds the median change of every series of a tier and whether it moved as one.
func (j *judge) measure(t *tier, tests []test) []moved {
	bySeries := make([][]int32, len(t.series))
	for i := range tests {
		b := &tests[i].base
		if at := t.of(&tests[i]); at >= 0 && b.n > 0 && !b.incoherent() {
			bySeries[at] = append(bySeries[at], int32(i))
		}
	}
	var out []moved
	for s, list := range bySeries {
		if len(list) < t.cells {
			continue
		}
		cell := &j.t.Cells[tests[list[0]].cell]
		m := moved{series: int32(s), stratum: cell.Stratum, system: -1, points: j.points(list, tests)}
		if t.within {
			m.system = cell.System
		}
		out = append(out, m)
	}
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { j.measureOne(&out[i], t, bySeries[out[i].series], tests) })
	}
	wg.Wait()
	return out
}

// incoherent reports a baseline whose values lie apart by more than a machine moves them: it has no level from which a
// shift could be measured.
func (b *baseline) incoherent() bool {
	const most = .35 // a standard deviation; two values of which one is twice the other have .49
	return b.nu > 0 && b.s2 > most*most
}

// points counts the distinct points of some cells.
func (j *judge) points(list []int32, tests []test) int {
	k := &j.scratch
	k.mark++
	n := 0
	for _, i := range list {
		p := j.t.Cells[tests[i].cell].Point
		for int(p) >= len(k.seen) {
			k.seen = append(k.seen, 0)
		}
		if k.seen[p] != k.mark {
			k.seen[p] = k.mark
			n++
		}
	}
	return n
}

func (j *judge) measureOne(m *moved, t *tier, list []int32, tests []test) {
	d, deltas := make([]float64, len(list)), make([]float64, len(list))
	for i, k := range list {
		d[i], deltas[i] = tests[k].d, j.t.Cells[tests[k].cell].Delta
	}
	m.median, m.cells = median(slices.Clone(d)), len(list)
	apart := inTwo(m.median, d, list, tests)
	near := 0
	for i, v := range d {
		d[i] = math.Abs(v - m.median)
		if d[i] <= deltas[i] {
			near++
		}
	}
	m.delta, m.agree = median(deltas), float64(near)/float64(len(d))
	// 1.4826 median absolute deviations are a standard deviation, and a median has 1.2533 times the error of a mean.
	sd := 1.4826 * median(d)
	m.sampling = 1.2533 * 1.2533 * sd * sd / float64(len(d))
	m.removable = m.points >= t.points && m.agree >= j.rules.Agree && !apart &&
		math.Abs(m.median) < math.Ln2 // no machine halves a speed from one day to the next
	m.second = j.secondMedian(list, tests)
}

// inTwo reports whether changes lie so far apart that they are not one: the middle half of them is wider than their
// middle is from zero, and than twice what noise makes of it. Where half of the workloads of a model are 10 % slower
// and half are not, all lie within 5 % of their median, which none of them shows.
func inTwo(middle float64, d []float64, list []int32, tests []test) bool {
	const ofNoise = 2 * 1.349 // the middle half of normal values is 1.349 standard deviations wide
	var noise []float64
	for _, k := range list {
		if b := &tests[k].base; b.nu > 0 {
			noise = append(noise, math.Sqrt(b.s2*(1+1/float64(b.n))))
		}
	}
	if len(noise) < len(list)/2+1 {
		return false // nobody knows the noise
	}
	sorted := slices.Sorted(slices.Values(d))
	n := len(sorted)
	wide := sorted[3*n/4] - sorted[n/4]
	return wide > math.Max(math.Abs(middle), ofNoise*median(noise))
}

// secondMedian is the median change of later runs of the release: enough points must have one. What was removed from
// the first run before is that run's own, and stays.
func (j *judge) secondMedian(list []int32, tests []test) float64 {
	var d []float64
	points := map[int32]bool{}
	for _, k := range list {
		if o := &j.t.Obs[tests[k].obs]; o.K2 > 0 {
			d = append(d, j.rerun(&tests[k]))
			points[j.t.Cells[tests[k].cell].Point] = true
		}
	}
	if len(points) < j.rules.MinPoint {
		return math.NaN()
	}
	return median(d)
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// median is the median of values, which it puts into another order (Hoare's selection).
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	k := (len(v) - 1) / 2
	for lo, hi := 0, len(v)-1; lo < hi; {
		pivot, i, j := v[(lo+hi)/2], lo, hi
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			lo, hi = k, k
		}
	}
	if len(v)%2 == 1 {
		return v[k]
	}
	return (v[k] + slices.Min(v[k+1:])) / 2
}

// follow brings the state of a cell up to date with its word: whether a change is open, and what waits to be counted as
// an outlier. The runs of an open change stay out of baselines until later ones settle it.
func (j *judge) follow(c *claim) {
	st := &j.state[c.x.cell]
	if !j.settled(c) {
		j.weigh(c)
	}
	if c.confirmed() {
		return
	}
	if st.suspect >= 0 {
		j.continued(c)
	}
	if st.suspect >= 0 || c.row.Why == schema.WhyShift {
		return
	}
	switch {
	case c.row.Why == schema.WhyRunsDisagree:
	case gone(c.row.Why):
		c.row.exclude(c.release, c.release)
	case c.row.Why == schema.WhyOtherHost:
		j.open(c, true)
		j.openSince(c, c.x.joint.first)
	case c.row.Evidence == schema.Suspected:
		j.open(c, true)
	case c.x.base.n > 2 && c.x.raw < suspicious && math.Abs(c.x.d) >= c.cell.Delta:
		j.open(c, false) // a large deviation that the gate does not report, but that may be the first of several
	}
}

// suspicious is the p value below which a deviation that matters waits for the next run outside the baseline.
const suspicious = 1e-4

func (j *judge) open(c *claim, gated bool) {
	st := &j.state[c.x.cell]
	st.suspect, st.dir, st.gated, st.seen = c.x.obs, math.Copysign(1, c.x.d), gated, 0
	c.row.exclude(c.release, c.release)
}

// openSince makes an earlier observation, or the first after it that joins, the beginning of the open change.
func (j *judge) openSince(c *claim, first int32) {
	for first < c.x.obs && !j.joins(first) {
		first++
	}
	j.state[c.x.cell].suspect = first
	for i := first; i < c.x.obs; i++ {
		j.rows[i].exclude(j.t.Obs[i].Release, c.release)
	}
}

// continued decides whether this release settles an open change: where it does not show half of what matters, the
// change is gone, and its runs are outliers. Where it keeps showing it and is never sure, its runs are ordinary after
// all.
func (j *judge) continued(c *claim) {
	const most = 3
	st := &j.state[c.x.cell]
	if gone(c.row.Why) || st.dir*c.x.d < c.cell.Delta/2 {
		if st.gated {
			j.rows[st.suspect].Follow = -(c.release + 1)
		}
		st.suspect = -1
		return
	}
	c.row.exclude(c.release, c.release)
	st.gated = st.gated || c.row.Evidence == schema.Suspected
	if c.row.Why == schema.WhyOtherHost { // it is sure, and waits for another host
		return
	}
	if st.seen++; st.seen < most {
		return
	}
	for i := st.suspect; i <= c.x.obs; i++ {
		j.rows[i].readmit(c.release)
	}
	st.suspect = -1
}

// close forgets an open change.
func (j *judge) close(cell int32) {
	st := &j.state[cell]
	st.suspect, st.extreme = -1, 0
}

// confirmed reports whether a change of the cell's own is confirmed.
func (c *claim) confirmed() bool {
	return c.row.Evidence == schema.Confirmed && c.row.Why != schema.WhyShift
}

// settled decides about an earlier large deviation of the cell, and reports whether this release has none of its own
// beside it: one that went away again is no change, and shows how far values stray; one that stays may be a change, and
// is counted only when it was never confirmed.
func (j *judge) settled(c *claim) bool {
	const stays = 2
	st := &j.state[c.x.cell]
	if st.extreme == 0 {
		return false
	}
	same, confirmed := c.x.d*st.off > 0 && math.Abs(c.x.d) >= math.Abs(st.off)/2, c.confirmed()
	if same {
		st.stays++
	}
	if !same || st.stays > stays && !confirmed {
		j.stray(c, st.extreme, st.off)
	}
	if !same || st.stays > stays || confirmed {
		st.extreme = 0
	}
	return same || confirmed
}

// weigh notes a large deviation of the release, which later ones settle; a later run of it may do so at once.
func (j *judge) weigh(c *claim) {
	st := &j.state[c.x.cell]
	if math.IsNaN(c.x.raw) || c.x.base.n < 2 || c.row.Evidence == schema.Confirmed || c.row.Why == schema.WhyShift {
		return
	}
	if c.o.K2 > 0 && math.Abs(j.second(c.x)) < math.Abs(c.x.d)/2 {
		j.stray(c, c.x.t, c.x.d)
		return
	}
	st.extreme, st.off, st.stays = c.x.t, c.x.d, 0
}

func (j *judge) stray(c *claim, t, d float64) {
	j.outliers.happened(event{cell: c.x.cell, system: c.cell.System, stratum: c.cell.Stratum, t: t, d: d})
}
