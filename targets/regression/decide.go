package regression

import (
	"cmp"
	"github.com/ttreport/ttreport/ingest/schema"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// claim is one observation that is about to get its word.
type claim struct {
	x       *test
	row     *Row
	cell    *Cell
	o       *Obs
	release int32
	dir     float64 // in which it passed the gate; 0 if it did not
	joint   bool    // the newest runs show a change together
	st      *state
	first   int32 // release that began the open change of the cell; -1
	t95     float64
	joins   bool
	alone   float64 // change without what is common to its group in every release, and with the group's finding
}

// set sets the word of the claim's row with its evidence and reason.
func (c *claim) set(w schema.Outcome, e schema.Evidence, why schema.Why) {
	c.row.Word, c.row.Evidence, c.row.Why = w, e, why
}

// decide gives one observation its word and updates the cell's state. dir is the direction in which it passed the
// gate of the release, 0 when it did not.
func (j *judge) decide(release int32, x *test, dir float64, joint bool, q float32, qs *Quantiles) {
	row, cell, o := &j.rows[x.obs], &j.t.Cells[x.cell], &j.t.Obs[x.obs]
	if j.values[x.obs].z = o.mean(); x.base.n > 0 {
		j.values[x.obs].z += x.base.adjusted - x.base.mean - x.common
	}
	row.N, row.P, row.Q = int16(x.base.n), float32(x.p), q
	row.D = x.total()
	joins := j.t.Releases[release].Joins
	if !x.ok {
		untested(row, x, cell)
		if joins {
			j.close(x.cell)
		}
		return
	}
	row.SE, row.Df = float32(x.se), float32(x.df)
	c := &claim{
		x: x, row: row, cell: cell, o: o,
		release: release, dir: dir, joint: joint, joins: joins, t95: qs.At(.95, x.df),
		st: &j.state[x.cell], first: -1, alone: x.total() - x.common,
	}
	if c.st.suspect >= 0 {
		c.first = j.t.Obs[c.st.suspect].Release
	}
	switch {
	case j.shared(c), j.confirmed(c), j.grouped(c), j.passed(c), j.waits(c), j.disagreed(c):
	default:
		j.quiet(c)
	}
	if joins {
		j.follow(c)
	}
	if o.Accept && joins {
		j.begins(x, x.d)
	}
}

// untested gives an observation without a test its word.
func untested(row *Row, x *test, cell *Cell) {
	b := &x.base
	row.Word, row.Why = schema.NoBaseline, schema.WhyNoBaseline
	switch {
	case b.n == 0 && b.blocked > 0:
		row.Word, row.Why = schema.NotComparable, schema.WhyConditions
	case b.n == 0:
	case x.total() >= cell.Delta:
		row.Word, row.Why = schema.Inconclusive, schema.WhyOneEach
	default:
		row.Why = schema.WhyOneEach
	}
	if b.n == 0 {
		row.D = math.NaN()
	}
}

// WordOf is the word of a change in a direction, +1 for worse.
func WordOf(dir float64) schema.Outcome {
	if dir > 0 {
		return schema.Regressed
	}
	return schema.Improved
}

// word is that of a change of the claim in a direction: back at the level before a regression, nothing improved.
func (c *claim) word(dir float64) schema.Outcome {
	if dir < 0 && c.back() {
		return schema.Recovered
	}
	return WordOf(dir)
}

// confirmed asks whether independent runs show a change together.
//
// Rejected: a second run that is tested against the first alone. Both share a baseline whose noise may be estimated too
// small, so that what is rare the first time is common the second.
func (j *judge) confirmed(c *claim) bool {
	if !c.joint {
		return false
	}
	dir, at := math.Copysign(1, c.x.d), c.x.joint.first
	if dir*c.x.total() <= 0 || dir < 0 && -c.x.total() < c.cell.Delta {
		return false
	}
	if host, elsewhere := j.oneHost(c.x.cell, at, c.x.obs); host != 0 && elsewhere {
		c.set(WordOf(dir), schema.Suspected, schema.WhyOtherHost)
		if at != c.x.obs {
			c.row.First = j.t.Obs[at].Release
			c.beforeWindow()
		}
		return true
	}
	c.set(c.word(dir), schema.Confirmed, schema.WhyAgain)
	if at == c.x.obs {
		c.row.Why, c.row.D = schema.WhyRecheck, j.second(c.x)+c.x.removed
	} else {
		c.row.First = j.t.Obs[at].Release
		c.beforeWindow()
	}
	if c.joins {
		j.accept(c, at, dir)
	}
	return true
}

// beforeWindow compares the release with what was before the runs that show the change together: those that nobody
// suspected at the time are part of its baseline, and would hide a part of the change.
func (c *claim) beforeWindow() {
	w, row := &c.x.joint, c.row
	if w.N == c.x.base.n {
		return
	}
	row.D = c.x.base.mean + c.x.total() - w.mean
	row.N, row.SE, row.Df = int16(w.N), float32(w.sd*math.Sqrt(1+1/float64(w.N))), float32(w.Df)
	row.P, row.Q = float32(math.NaN()), float32(math.NaN())
}

// back reports whether a cell is at the level before a confirmed regression: nearer to it than to the level that holds,
// and within the effect that matters.
func (c *claim) back() bool {
	gap := math.Abs(c.x.base.mean + c.x.total() - c.st.old)
	return gap <= c.cell.Delta && gap < math.Abs(c.x.total())
}

// passed handles a change that passes the gate and matters.
func (j *judge) passed(c *claim) bool {
	dir := c.dir
	if dir == 0 || dir*c.x.d < c.cell.Delta {
		return false
	}
	if dir*c.x.total() <= 0 || dir < 0 && -c.x.total() < c.cell.Delta {
		c.row.Word, c.row.Why = schema.Inconclusive, schema.WhyAgainstGroup
		return true
	}
	c.set(c.word(dir), schema.Suspected, schema.WhyGate)
	if c.row.Word == schema.Recovered {
		c.row.Why = schema.WhyBackAgain
	}
	switch {
	case c.o.K2 == 0:
		if st := c.st; c.joins && st.suspect >= 0 && st.dir == dir { // open since another release
			if c.row.First = c.first; st.gated {
				c.row.Why = schema.WhyOneMoreRun
			}
		}
	case dir*j.second(c.x) >= c.cell.Delta:
		c.row.Why = schema.WhyOneMoreRun
	default:
		c.set(schema.Inconclusive, schema.NoEvidence, schema.WhyNotSeenAgain)
		c.row.D = j.second(c.x) + c.x.removed
	}
	return true
}

// shared keeps a build that never joins from being blamed for what its base did: a value near the base's own open
// change is inconclusive, with the release that began it.
func (j *judge) shared(c *claim) bool {
	st := c.st
	if c.joins || st.suspect < 0 || st.dir*c.x.total() < c.cell.Delta ||
		math.Abs(c.x.base.mean+c.x.total()-j.t.Obs[st.suspect].mean()) > c.cell.Delta {
		return false
	}
	c.set(schema.Inconclusive, schema.NoEvidence, schema.WhyBaseSuspect)
	c.row.First = c.first
	return true
}

// waits keeps the word of an open change that was reported, for as long as nothing settles it.
func (j *judge) waits(c *claim) bool {
	st := c.st
	if !c.joins || st.suspect < 0 || !st.gated || st.grouped || st.dir*c.x.total() < c.cell.Delta ||
		st.dir*c.x.d < c.cell.Delta/2 {
		return false
	}
	c.set(WordOf(st.dir), schema.Suspected, schema.WhyOneMoreRun)
	if j.rows[st.suspect].Word == schema.Recovered {
		c.row.Word = schema.Recovered
	}
	c.row.First = c.first
	return true
}

// disagreed reports whether a later run of the release is clearly worse than its unremarkable first one, so that
// repeating a measurement until it passes does not help.
func (j *judge) disagreed(c *claim) bool {
	if c.o.K2 == 0 {
		return false
	}
	d2 := j.second(c.x)
	// One in two hundred, since every cell with a second run is tested without a correction.
	const size = .005
	if d2 < c.cell.Delta || c.x.total() >= c.cell.Delta || UpperTail(d2/c.x.se, c.x.df) > size {
		return false
	}
	c.row.Word, c.row.Why, c.row.D = schema.Inconclusive, schema.WhyRunsDisagree, d2+c.x.removed
	return true
}

// grouped gives a cell the word of the group that it changed with.
func (j *judge) grouped(c *claim) bool {
	if c.x.found < 0 {
		return false
	}
	f := &j.out.Findings[c.x.found]
	dir := math.Copysign(1, f.D)
	if c.set(f.Word, f.Evidence, schema.WhyGroup); dir < 0 && c.back() {
		c.row.Word = schema.Recovered
	}
	c.row.Finding = c.x.found
	if f.First < c.release {
		c.row.First = f.First
	}
	switch {
	case !c.joins:
	case f.Evidence == schema.Confirmed:
		at := c.x.obs
		for at > c.cell.First && j.t.Obs[at-1].Release >= f.First {
			at--
		}
		for at < c.x.obs && !j.joins(at) {
			at++
		}
		of := Second{Runs: f.Runs, N: c.x.base.n, D: c.x.total(), SE: c.x.se, Df: c.x.df}
		c.x.joint = joint{Second: of, first: at, mean: c.x.base.mean}
		j.accept(c, at, dir)
		c.st.moved = -1 // which says nothing of other cells
	case f.Why == schema.WhyNotSeenAgain:
		j.exclude(c.x.obs, c.release)
	default:
		j.exclude(c.x.obs, c.release)
		if c.st.suspect < 0 {
			c.st.suspect, c.st.seen = c.x.obs, 0
		}
		c.st.dir, c.st.gated, c.st.grouped = dir, true, true
	}
	return true
}

// quiet decides between unchanged and inconclusive: equivalence by two one-sided tests, at the 90 % interval.
func (j *judge) quiet(c *claim) {
	d, half, delta := c.x.total(), c.t95*c.x.se, c.cell.Delta
	row := c.row
	switch {
	case c.dir != 0 && c.dir*d > 0 && math.Abs(d) < delta:
		row.Word, row.Why = schema.BelowLimit, schema.WhyBelowLimit
	case math.Abs(d)+half < delta:
		row.Word, row.Why = schema.Unchanged, schema.WhyEquivalent
	case math.Abs(d) >= delta:
		row.Word, row.Why = schema.Inconclusive, schema.WhyNotSignificant
	case d+half < delta:
		row.Word, row.Why = schema.Inconclusive, schema.WhyNoRegression
	case d-half > -delta:
		row.Word, row.Why = schema.Inconclusive, schema.WhyNoImprovement
	default:
		row.Word, row.Why = schema.Inconclusive, schema.WhyWide
	}
	if c.x.stayed && row.Word == schema.Unchanged {
		row.Word, row.Why = schema.Inconclusive, schema.WhyDidNotMove
	}
}

// FDR is the false discovery rate to which every family of tests is held: the expected share of false ones among the
// changes that are reported.
const FDR = .05

// BenjaminiHochberg is the step-up procedure of Benjamini and Hochberg (1995), which controls the false discovery rate
// over a family of tests at a level.
//
// p holds p values in any order. family is the number of tests that were made: at least len(p), and more where p has
// only some of them, such as those in one direction. NaN is a test without a p value: it counts in family only.
//
// limit is the largest p value that is a discovery, or -1 when none is: p[i] is a discovery exactly when p[i] <= limit.
// q is parallel to p and has the smallest level at which each would be a discovery among these, at most 1; NaN stays
// NaN.
func BenjaminiHochberg(p []float64, family int, level float64) (q []float64, limit float64) {
	q, limit = make([]float64, len(p)), -1
	order := ranked(p)
	for len(order) > 0 && math.IsNaN(p[order[0]]) { // which come first
		q[order[0]], order = math.NaN(), order[1:]
	}
	least := 1.
	for rank := len(order); rank > 0; rank-- {
		i := order[rank-1]
		least = math.Min(least, p[i]*float64(family)/float64(rank))
		q[i] = least
		if limit < 0 && p[i] <= level*float64(rank)/float64(family) {
			limit = p[i]
		}
	}
	return q, limit
}

// ranked are the places of values, those of the smallest first.
func ranked(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	return order
}

// Holm is the step-down procedure of Holm 1979, which bounds the chance of one wrong rejection whatever the tests have
// in common. p[i] is rejected exactly when p[i] <= limit, which is -1 for none; next is what the first that is not
// rejected would have to reach. p has no NaN.
func Holm(p []float64, size float64) (limit, next float64) {
	limit, next = -1, size
	for k, v := range slices.Sorted(slices.Values(p)) {
		if next = size / float64(len(p)-k); v > next {
			break
		}
		limit = v
	}
	return limit, next
}

// test is the gate's calculation for one observation.
type test struct {
	obs, cell int32
	base      baseline
	d         float64 // residual change, without that of groups
	again     float64 // change in the later runs of the release, NaN without
	removed   float64 // change of groups
	common    float64 // of it, what is no finding
	found     int32   // index of the finding of its group; -1
	stayed    bool    // where its group moved
	sight     float64 // least change of its whole system, or of its metric there, that the release would show; 0: unknown
	s2, df    float64 // moderated variance of one release, floors included
	se        float64 // of d, which weighs it among the members of its groups
	t         float64
	p         float64 // one-sided, in the direction of d, outliers included; NaN where |t| is unremarkable
	raw       float64 // of the t distribution
	ok        bool    // there are a baseline and a noise
	joint     joint   // of the newest runs together
}

// total returns the change of the number itself.
func (x *test) total() float64 { return x.d + x.removed }

// noise sets the noise of the change of a test.
func (j *judge) noise(x *test, p *prior) {
	if x.base.n == 0 {
		return
	}
	x.s2, x.df = p.moderate(x.base.s2, x.base.nu, j.t.Cells[x.cell].Stratum)
	if x.ok = p.known; !x.ok {
		x.s2 = usualStart * usualStart
	}
	x.s2 = math.Max(x.s2, j.least(&j.t.Obs[x.obs]))
	x.se = math.Sqrt(x.s2 * (1 + 1/float64(x.base.n)))
}

// test tests the change of a cell alone.
func (j *judge) test(x *test, q *Quantiles) {
	if x.p, x.raw = math.NaN(), math.NaN(); !x.ok {
		return
	}
	if x.t = x.d / x.se; math.Abs(x.t) > q.At(.95, x.df) {
		x.raw = UpperTail(math.Abs(x.t), x.df)
		x.p = math.Min(1, x.raw+j.outliers.rate(j.t.Cells[x.cell].Stratum, x.t, x.d, true))
	}
}

// least returns the lower bound of the variance of a release: a fixed floor, the rounding of the stored value, the
// standard error of its requests. The largest counts and never their sum: each is part of what releases show already.
func (j *judge) least(o *Obs) float64 {
	f := math.Max(j.rules.Floor, float64(o.SE))
	return f * f
}

// unusual marks the tests of a release that lie as far out as outliers do, where far more points do than outliers
// explain: each alone might be one, and their number is not.
func (j *judge) unusual(tests []test, dir float64, passed []int8) {
	const rare, fewest = 1e-3, 5
	far, expected, seen := map[int32]bool{}, 0., map[int32]bool{}
	var at []int
	aged := func(x *test) bool { // a shorter history does not know its outliers
		return x.ok && x.found < 0 && x.base.n >= j.rules.Window
	}
	for i := range tests {
		x := &tests[i]
		if c := &j.t.Cells[x.cell]; dir*x.t > outlying && dir*x.d >= c.Delta && aged(x) {
			far[c.Point] = true
			at = append(at, i)
		}
	}
	if len(far) < fewest {
		return
	}
	for i := range tests {
		x := &tests[i]
		if c := &j.t.Cells[x.cell]; aged(x) && !seen[c.Point] {
			seen[c.Point] = true
			b := bin(outlying)
			expected += j.outliers.share(&j.outliers.strata[c.Stratum], &j.outliers.strata[c.Stratum].far, &j.outliers.all.far,
				side(dir), b, b, false) + UpperTail(outlying, x.df)
		}
	}
	n := float64(len(far))
	expected += 2 * math.Sqrt(expected)                              // which is itself an estimate
	if n < 1.5*expected || mathext.GammaIncReg(n, expected) > rare { // P(Poisson(expected) >= n)
		return
	}
	for _, i := range at {
		passed[i] = int8(dir)
	}
}

// UpperTail returns P(T > t) for Student's t with df degrees of freedom; df may be infinite.
func UpperTail(t, df float64) float64 {
	if math.IsInf(df, 1) || df > 1e7 {
		return .5 * math.Erfc(t/math.Sqrt2)
	}
	if df <= 0 || math.IsNaN(t) {
		return math.NaN()
	}
	// Abramowitz and Stegun 26.7.1: the two-sided tail is I_x(df/2, 1/2) at x = df/(df + t²).
	half := .5 * mathext.RegIncBeta(df/2, .5, df/(df+t*t))
	if t < 0 {
		return 1 - half
	}
	return half
}

// Quantile returns the p quantile of Student's t; df may be infinite.
func Quantile(p, df float64) float64 {
	if math.IsInf(df, 1) || df > 1e7 {
		return mathext.NormalQuantile(p)
	}
	if df <= 0 {
		return math.Inf(1)
	}
	x := mathext.InvRegIncBeta(df/2, .5, 2*math.Min(p, 1-p)) // as in UpperTail
	return math.Copysign(math.Sqrt(df*(1-x)/x), p-.5)
}

// Quantiles caches quantiles for the few degrees of freedom that occur in one release. It is not safe for concurrent
// use.
type Quantiles struct {
	of    map[[2]float64]float64
	asked [2]float64 // last, with the answer: most cells of a release have as many degrees of freedom
	last  float64
}

// At is [Quantile].
func (q *Quantiles) At(p, df float64) float64 {
	k := [2]float64{p, df}
	if k == q.asked {
		return q.last
	}
	v, known := q.of[k]
	if !known {
		if q.of == nil {
			q.of = map[[2]float64]float64{}
		}
		v = Quantile(p, df)
		q.of[k] = v
	}
	q.asked, q.last = k, v
	return v
}

// T975 returns the 97.5 % quantile.
func (q *Quantiles) T975(df float64) float64 { return q.At(.975, df) }

// trigamma is the second derivative of ln Γ: the Hurwitz zeta function at 2.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// inverseTrigamma solves trigamma(x) = y for y > 0 by Newton's method on 1/trigamma, which is nearly linear (Smyth
// 2004, appendix).
func inverseTrigamma(y float64) float64 {
	switch {
	case y > 1e7:
		return 1 / math.Sqrt(y)
	case y < 1e-6:
		return 1 / y
	}
	x := .5 + 1/y
	for range 50 {
		tri := trigamma(x)
		// The derivative of trigamma is −2·ζ(3, x).
		step := tri * (1 - tri/y) / (-2 * mathext.Zeta(3, x))
		x += step
		if -step/x < 1e-10 {
			break
		}
	}
	return x
}

// Sensitivity is what a release could have shown: the smallest regression of one cell alone that would have been found
// four times in five, had it been there. It is no verdict: it says how much the word "unchanged" is worth.
type Sensitivity struct {
	Series int     // cells that were tested
	Least  float64 // the median over the cells, relative; +Inf where any change is hidden; NaN without cells
	Hidden int     // cells that could hide more than what matters
	Groups float64 // smallest change of a whole system, or of a metric of it, that is named; likewise, NaN for none
	// Blind are cells by system that would show a regression of twice what matters neither by themselves nor with their
	// group, and Tested all of them.
	Blind, Tested map[int32]int
}

// power is the share of regressions that a smallest one is found in.
const power = .80

// sensitivity is that of a release: each cell is asked as if it alone had changed.
func (j *judge) sensitivity(tests []test, family int) Sensitivity {
	out := Sensitivity{Series: family, Blind: map[int32]int{}, Tested: map[int32]int{}}
	level, once, often := j.rules.FDR/float64(family)/2, Quantiles{}, Quantiles{}
	var least, groups []float64
	for i := range tests {
		x := &tests[i]
		if !x.ok {
			continue
		}
		cell := &j.t.Cells[x.cell]
		shown := j.shown(x, (once.At(1-level, x.df)+often.At(power, x.df))*x.se, level)
		if least = append(least, shown); shown > cell.Delta {
			out.Hidden++
		}
		if s := x.sight; s > 0 {
			shown, groups = math.Min(shown, s), append(groups, s)
		}
		out.Tested[cell.System]++
		if shown > 2*cell.Delta {
			out.Blind[cell.System]++
		}
	}
	out.Least, out.Groups = math.Expm1(Median(least)), math.Expm1(Median(groups))
	return out
}

// shown is the smallest change from one that ordinary noise does not hide that outliers do not hide either.
func (j *judge) shown(x *test, d, level float64) float64 {
	cell := &j.t.Cells[x.cell]
	d = math.Max(d, cell.Delta)
	for range 12 { // up to 130 times as much
		if j.outliers.rate(cell.Stratum, d/x.se, d, true) <= level {
			return d
		}
		d *= 1.5
	}
	return math.Inf(1)
}

// follow brings the state of a cell up to date with its word: whether a change is open, and what waits to be counted as
// an outlier. The runs of an open change stay out of baselines until later ones settle it.
func (j *judge) follow(c *claim) {
	st := c.st
	j.deviates(c)
	if c.confirmed() || c.row.Why == schema.WhyGroup {
		return
	}
	if st.suspect >= 0 {
		j.continued(c)
	}
	if st.suspect >= 0 {
		return
	}
	switch {
	case c.row.Why == schema.WhyRunsDisagree:
	case c.row.Why == schema.WhyNotSeenAgain:
		j.exclude(c.x.obs, c.release)
	case c.row.Why == schema.WhyOtherHost:
		j.open(c, c.x.joint.first, true)
	case c.row.Evidence == schema.Suspected:
		j.open(c, c.x.obs, true)
	case c.x.base.n > 2 && c.x.raw < suspicious && math.Abs(c.x.d) >= c.cell.Delta:
		j.open(c, c.x.obs, false) // a large deviation that the gate does not report, but that may be the first of several
	}
}

// suspicious is the p value below which a deviation that matters waits for the next run outside the baseline.
const suspicious = 1e-4

// open opens a change that begins with an observation, or the first after it that joins.
func (j *judge) open(c *claim, first int32, gated bool) {
	for first < c.x.obs && !j.joins(first) {
		first++
	}
	st := c.st
	st.suspect, st.dir, st.gated, st.grouped, st.seen = first, math.Copysign(1, c.x.d), gated, false, 0
	for i := first; i <= c.x.obs; i++ {
		j.exclude(i, c.release)
	}
}

// continued decides whether this release settles an open change: where it does not show half of what matters, the
// change is gone, and its runs are outliers. Where it keeps showing it and is never sure, its runs are ordinary after
// all.
func (j *judge) continued(c *claim) {
	const most = 3
	st := c.st
	if c.row.Why == schema.WhyNotSeenAgain || st.grouped || st.dir*c.x.d < c.cell.Delta/2 {
		if st.gated {
			j.rows[st.suspect].Follow = -(c.release + 1)
		}
		st.suspect = -1
		return
	}
	j.exclude(c.x.obs, c.release)
	st.gated = st.gated || c.row.Evidence == schema.Suspected
	if c.row.Why == schema.WhyOtherHost { // it is sure, and waits for another host
		return
	}
	if st.seen++; st.seen < most {
		return
	}
	for i := st.suspect; i <= c.x.obs; i++ {
		j.readmit(i, c.release)
	}
	st.suspect = -1
}

// close forgets an open change.
func (j *judge) close(cell int32) {
	st := &j.state[cell]
	st.suspect, st.extreme = -1, 0
}

// confirmed reports whether a change of the cell's own is confirmed.
func (c *claim) confirmed() bool { return c.row.Evidence == schema.Confirmed }

// deviates decides about an earlier large deviation of the cell: one that went away again is no change, and shows how
// far values stray; one that stays may be a change. Else it notes that of this release, which later ones settle.
func (j *judge) deviates(c *claim) {
	st := c.st
	if st.extreme != 0 {
		same := c.alone*st.off > 0 && math.Abs(c.alone) >= math.Abs(st.off)/2
		if !same {
			j.outliers.happened(c.cell.Stratum, st.extreme, st.off, st.lasted)
		}
		if st.lasted = same; !same || c.confirmed() {
			st.extreme = 0
		}
		if same || c.confirmed() {
			return
		}
	}
	if math.Abs(c.alone/c.x.se) > c.t95 && c.x.base.n > 1 && !c.confirmed() {
		st.extreme, st.off, st.lasted = c.alone/c.x.se, c.alone, false
	}
}
