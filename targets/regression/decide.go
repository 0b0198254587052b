package regression

import (
	"cmp"
	"github.com/ttreport/ttreport/ingest/schema"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// claim is one observation that is about to get its word.
type claim struct {
	x       *test
	row     *Row
	cell    *Cell
	o       *Obs
	s       *stratum
	release int32
	dir     float64 // in which it passed the gate; 0 if it did not
	joint   bool    // the newest runs show a change together
	st      *state
	first   int32 // release that began the open change of the cell; -1
	t95     float64
	joins   bool
}

// set sets the word of the claim's row with its evidence and reason.
func (c *claim) set(w schema.Outcome, e schema.Evidence, why schema.Why) {
	c.row.Word, c.row.Evidence, c.row.Why = w, e, why
}

// decide gives one observation its word and updates the cell's state. dir is the direction in which it passed the
// gate of the release, 0 when it did not.
func (j *judge) decide(release int32, x *test, dir float64, joint bool, q float32, qs *Quantiles) {
	row, cell, o := &j.rows[x.obs], &j.t.Cells[x.cell], &j.t.Obs[x.obs]
	j.adj[x.obs] = o.mean() - x.removed
	row.N, row.SE, row.Df, row.P, row.Q = int16(x.base.n), float32(x.se), float32(x.df), float32(x.p), q
	row.D = x.total()
	joins := j.t.Releases[release].Joins
	if !x.ok {
		untested(row, x, cell)
		if joins {
			j.close(x.cell)
		}
		return
	}
	c := &claim{
		x: x, row: row, cell: cell, o: o, s: &j.strata[cell.Stratum],
		release: release, dir: dir, joint: joint, joins: joins, t95: qs.of(x.df).t95,
		st: &j.state[x.cell], first: -1,
	}
	if c.st.suspect >= 0 {
		c.first = j.t.Obs[c.st.suspect].Release
	}
	switch {
	case j.twoModes(x):
		row.Word, row.Why = schema.Inconclusive, schema.WhyTwoModes
		j.close(x.cell)
	case j.shared(c), j.confirmed(c), j.returned(c), j.passed(c), j.waits(c), j.disagreed(c), j.shifted(c):
	default:
		j.quiet(c)
	}
	if joins && row.Why != schema.WhyTwoModes {
		j.follow(c)
	}
	if o.Accept && joins {
		j.accepted(x)
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

func wordOf(dir float64) schema.Outcome {
	if dir > 0 {
		return schema.Regressed
	}
	return schema.Improved
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
	if j.oneHost(c.x) {
		c.set(wordOf(dir), schema.Suspected, schema.WhyOtherHost)
		if at != c.x.obs {
			c.row.First = j.t.Obs[at].Release
			c.beforeWindow()
		}
		return true
	}
	c.set(wordOf(dir), schema.Confirmed, schema.WhyAgain)
	if dir < 0 && j.back(c) {
		c.row.Word = schema.Recovered
	}
	if at == c.x.obs {
		c.row.Why, c.row.D = schema.WhyRecheck, j.second(c.x)+c.x.shift
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
	if w.n == c.x.base.n {
		return
	}
	row.D = c.x.base.mean + c.x.d - w.mean + c.x.shift
	row.N, row.SE, row.Df = int16(w.n), float32(w.sd*math.Sqrt(1+1/float64(w.n))), float32(w.df)
	row.P, row.Q = float32(math.NaN()), float32(math.NaN())
}

// back reports whether a cell is at the level before a confirmed regression: nearer to it than to the level that holds,
// and within the effect that matters.
func (j *judge) back(c *claim) bool {
	gap := math.Abs(c.x.base.mean + c.x.d - j.state[c.x.cell].old)
	return gap <= c.cell.Delta && gap < math.Abs(c.x.d)
}

// returned asks whether a cell is back at the level before a confirmed regression, and clearly off the level that
// holds.
func (j *judge) returned(c *claim) bool {
	if c.x.d >= 0 || !j.back(c) || -c.x.t < c.t95 {
		return false
	}
	c.set(schema.Recovered, schema.Suspected, schema.WhyBackAgain)
	return true
}

// passed handles a change that passes the gate and matters.
func (j *judge) passed(c *claim) bool {
	dir := c.dir
	if dir == 0 || dir*c.x.d < c.cell.Delta {
		return false
	}
	if dir*c.x.total() <= 0 || dir < 0 && -c.x.total() < c.cell.Delta {
		c.row.Word, c.row.Why, c.row.Finding = schema.Inconclusive, schema.WhyAgainstShift, c.s.finding
		if math.Abs(c.x.total()) < c.cell.Delta {
			c.row.Why = schema.WhyDidNotMove
		}
		return true
	}
	c.set(wordOf(dir), schema.Suspected, schema.WhyGate)
	switch {
	case c.o.K2 == 0:
		c.since()
		return true
	case dir*j.second(c.x) >= c.cell.Delta:
		c.row.Why = schema.WhyOneMoreRun
	case dir*(j.second(c.x)+j.hostMoved(c.x)) >= c.cell.Delta && dir*j.hostMoved(c.x) >= c.cell.Delta/2:
		c.set(schema.Inconclusive, schema.NoEvidence, schema.WhyHostMoved)
		c.row.D = j.second(c.x) + j.hostMoved(c.x) + c.x.shift
	default:
		c.set(schema.Inconclusive, schema.NoEvidence, schema.WhyNotSeenAgain)
		c.row.D = j.second(c.x) + c.x.shift
	}
	return true
}

// since names the release that began an open change, where one is open in the direction of the claim.
func (c *claim) since() {
	st := c.st
	if !c.joins || st.suspect < 0 || st.dir != c.dir {
		return
	}
	c.row.First = c.first
	if st.gated {
		c.row.Why = schema.WhyOneMoreRun
	}
}

// shared keeps a build that never joins from being blamed for what its base did: a value near the base's own open
// change is inconclusive, with the release that began it.
func (j *judge) shared(c *claim) bool {
	st := &j.state[c.x.cell]
	if c.joins || st.suspect < 0 || st.dir*c.x.total() < c.cell.Delta ||
		math.Abs(c.x.base.mean+c.x.d-j.adj[st.suspect]) > c.cell.Delta {
		return false
	}
	c.set(schema.Inconclusive, schema.NoEvidence, schema.WhyBaseSuspect)
	c.row.First = j.t.Obs[st.suspect].Release
	return true
}

// waits keeps the word of an open change that was reported, for as long as nothing settles it.
func (j *judge) waits(c *claim) bool {
	st := &j.state[c.x.cell]
	if !c.joins || st.suspect < 0 || !st.gated || st.dir*c.x.total() < c.cell.Delta ||
		st.dir*c.x.d < c.cell.Delta/2 {
		return false
	}
	c.set(wordOf(st.dir), schema.Suspected, schema.WhyOneMoreRun)
	c.row.First = j.t.Obs[st.suspect].Release
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
	c.row.Word, c.row.Why, c.row.D = schema.Inconclusive, schema.WhyRunsDisagree, d2+c.x.shift
	return true
}

// shifted gives a cell the word of the shift that moved it, of its stratum or of its system: it regressed because of
// the shift, and is never unchanged.
func (j *judge) shifted(c *claim) bool {
	list := [2]int32{c.s.finding, -1}
	if c.x.group >= 0 {
		list[1] = j.groups[c.x.group].finding
	}
	for _, finding := range list {
		if finding < 0 || c.x.shift == 0 {
			continue
		}
		f := &j.out.Findings[finding]
		moved := f.Word == schema.Regressed || f.Word == schema.Improved || f.Word == schema.Inconclusive
		if f.Kind == MixedFinding || !moved || math.Copysign(1, f.D)*c.x.total() < c.cell.Delta {
			continue
		}
		c.set(f.Word, f.Evidence, schema.WhyShift)
		c.row.Finding, c.row.First = finding, f.First
		if c.joins && f.Why == schema.WhyNotSeenAgain {
			c.row.exclude(c.release, c.release)
		}
		return true
	}
	return false
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
	if c.s.finding < 0 || c.x.shift == 0 || math.Abs(c.x.shift) < delta {
		return
	}
	row.Finding = c.s.finding
	if row.Word == schema.Unchanged { // its stratum changed by more than matters and it did not
		row.Word, row.Why = schema.Inconclusive, schema.WhyDidNotMove
	}
}

// twoModes reports whether the cell's history alternates between two levels: two clusters of adjusted values, narrow
// compared with the gap between them, each visited at least twice, and the new value in one of them.
func (j *judge) twoModes(x *test) bool {
	delta := j.t.Cells[x.cell].Delta
	// Where the noise is small compared with what matters, there are no two levels.
	if x.base.n < 6 || math.Abs(x.d) < delta/2 || x.base.s2 < delta*delta/16 {
		return false
	}
	values, _ := j.held(x.cell, x.obs, nil, nil)
	return modes(values, x.base.mean+x.d)
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
	order := make([]int, 0, len(p))
	for i, v := range p {
		if math.IsNaN(v) {
			q[i] = v
			continue
		}
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
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

// test is the gate's calculation for one observation.
type test struct {
	obs, cell int32
	base      baseline
	d         float64 // residual change: the run-wide shift removed
	shift     float64 // run-wide change against the level that holds
	removed   float64 // run-wide level removed from the first run's value
	group     int32   // the system within its stratum; -1: too small to move as one
	s2, df    float64 // moderated variance of one release, floors included
	se        float64
	t         float64
	p         float64 // one-sided, in the direction of d, outliers included; NaN where |t| is unremarkable
	raw       float64 // of the t distribution
	ok        bool    // there are a baseline and a noise
	joint     joint   // of the newest runs together
}

// total returns the change of the number itself: residual and run-wide.
func (x *test) total() float64 { return x.d + x.shift }

// variance of the difference between a new value with k repeats and the baseline's mean (Var d in the method page):
// s²(1 + 1/n) whatever k is, plus what unequal repeats change, never below σw²/k + s²/n.
func variance(s2, sw2 float64, k int, b *baseline) float64 {
	n := float64(b.n)
	v := s2 * (1 + 1/n)
	if sw2 <= 0 {
		return v
	}
	v += sw2 * (1/float64(k) - 1/b.kbar())
	return math.Max(v, sw2/float64(k)+s2/n)
}

// run makes the tests of one release.
func (j *judge) run(tests []test, p, within *prior) {
	j.each(len(tests), func(lo, hi int) {
		q := Quantiles{}
		for i := lo; i < hi; i++ {
			j.gate(&tests[i], p, within, &q)
		}
	})
}

func (j *judge) gate(x *test, p, within *prior, q *Quantiles) {
	cell, o := &j.t.Cells[x.cell], &j.t.Obs[x.obs]
	x.p, x.raw = math.NaN(), math.NaN()
	if x.base.n == 0 || !p.known {
		return
	}
	x.s2, x.df = p.moderate(x.base.s2, x.base.nu, cell.Stratum)
	x.s2, x.df = j.floored(x.s2, x.df, o)
	sw2 := 0.
	if within.known {
		sw2, _ = within.moderate(x.base.ssw/math.Max(1, x.base.nuw), x.base.nuw, cell.Stratum)
	}
	x.se = math.Sqrt(variance(x.s2, sw2, int(o.K), &x.base))
	x.t = x.d / x.se
	x.ok = true
	if math.Abs(x.t) > q.of(x.df).t95 {
		x.raw = UpperTail(math.Abs(x.t), x.df)
		x.p = math.Min(1, x.raw+j.outliers.rate(x.cell, cell.Stratum, x.t, x.d, true))
	}
}

// least returns the floor of a variance estimate.
func (j *judge) least(o *Obs) float64 {
	f := math.Max(j.rules.Floor, float64(o.SE))
	return f * f
}

// floored applies the lower bounds of the noise: a fixed floor, the rounding of the stored value, the requests' own
// standard error. The largest counts, never their sum, because each is part of what releases show already.
func (j *judge) floored(s2, df float64, o *Obs) (v, dfv float64) { return math.Max(s2, j.least(o)), df }

// discover marks the tests of one direction that are discoveries over a family of cells, and sets the q values of
// those that come near: only p values up to the level are ranked, so that ten thousand large ones need no sorting.
func discover(tests []test, dir float64, family int, level float64, qs []float32, passed []int8) {
	var at []int
	var ps []float64
	for i := range tests {
		if x := &tests[i]; x.ok && x.d*dir > 0 && x.p <= level {
			at, ps = append(at, i), append(ps, x.p)
		}
	}
	q, limit := BenjaminiHochberg(ps, family, level)
	for k, i := range at {
		qs[i] = float32(q[k])
		if ps[k] <= limit {
			passed[i] = int8(dir)
		}
	}
}

// part is a system within a stratum.
type part struct{ stratum, system int32 }

func partOf(c *Cell) part { return part{c.Stratum, c.System} }

// group finds the systems of every stratum that are large enough to move as one.
func (j *judge) group() {
	sizes, at := map[part]int{}, map[part]int32{}
	for i := range j.t.Cells {
		sizes[partOf(&j.t.Cells[i])]++
	}
	j.groupOf = make([]int32, len(j.t.Cells))
	for i := range j.t.Cells {
		p := partOf(&j.t.Cells[i])
		j.groupOf[i] = -1
		if sizes[p] < j.rules.MinPoint {
			continue
		}
		g, known := at[p]
		if !known {
			g = int32(len(j.groups))
			at[p] = g
			j.groups = append(j.groups, stratum{suspect: -1, finding: -1})
			j.systems = append(j.systems, p.system)
		}
		j.groupOf[i] = g
	}
	if j.devices = j.t.Devices; j.devices == nil {
		for i := range j.t.Strata {
			j.devices = append(j.devices, int32(i))
		}
	}
}

// arrive counts the cells that a release is the first to measure. What comes later must not change what is said of
// earlier releases.
func (j *judge) arrive(obs, cellOf []int32) {
	for _, i := range obs {
		cell := &j.t.Cells[cellOf[i]]
		if i != cell.First {
			continue
		}
		j.count(cell)
	}
}

func (j *judge) count(cell *Cell) {
	j.sizes[cell.System]++
	if p := partOf(cell); !j.known[p] {
		j.known[p] = true
		j.systemsIn[p.stratum]++
	}
}

// groupIn is the system within its stratum that a cell is part of, where the stratum has several; -1.
func (j *judge) groupIn(cell int32) int32 {
	if j.systemsIn[j.t.Cells[cell].Stratum] < 2 {
		return -1
	}
	return j.groupOf[cell]
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

// FTail returns P(F > x) for the ratio of variances of d1 and d2 degrees of freedom: Abramowitz and Stegun 26.6.2.
func FTail(x, d1, d2 float64) float64 {
	if !(x >= 0) || !(d1 > 0) || !(d2 > 0) {
		return math.NaN()
	}
	return mathext.RegIncBeta(d2/2, d1/2, d2/(d2+d1*x))
}

// Quantile returns the p quantile of Student's t; df may be infinite.
func Quantile(p, df float64) float64 {
	if math.IsInf(df, 1) || df > 1e7 {
		return distuv.UnitNormal.Quantile(p)
	}
	if df <= 0 {
		return math.Inf(1)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(p)
}

// Quantiles caches quantiles for the few degrees of freedom that occur in one release. It is not safe for concurrent
// use.
type Quantiles struct {
	byDf   map[float64]*tQuantiles
	recent *tQuantiles
}

type tQuantiles struct{ df, t95, t975, t99 float64 }

func (q *Quantiles) of(df float64) *tQuantiles {
	if q.recent != nil && q.recent.df == df {
		return q.recent
	}
	if q.byDf == nil {
		q.byDf = map[float64]*tQuantiles{}
	}
	x := q.byDf[df]
	if x == nil {
		x = &tQuantiles{df: df, t95: Quantile(.95, df), t975: Quantile(.975, df), t99: Quantile(.99, df)}
		q.byDf[df] = x
	}
	q.recent = x
	return x
}

// T975 returns the 97.5 % quantile.
func (q *Quantiles) T975(df float64) float64 { return q.of(df).t975 }

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
	Cells int   // that were tested
	Once  Shown // named by the gate from the runs of the release
	Again Shown // confirmed together with one more run
}

// Shown is the smallest regression that is found.
type Shown struct {
	Median float64 // over the cells, on the log scale; +Inf where any change is hidden; NaN without cells
	Hidden int     // cells that could hide more than what matters
}

// power is the share of regressions that a smallest one is found in.
const power = .80

// sensitivity is that of a release: each cell is asked as if it alone had changed.
func (j *judge) sensitivity(tests []test, family int) Sensitivity {
	out := Sensitivity{Cells: family, Once: Shown{Median: math.NaN()}, Again: Shown{Median: math.NaN()}}
	if family == 0 {
		return out
	}
	typical := meanNoise(tests)
	least := make([][2]float64, len(tests))
	level := j.rules.FDR / float64(family) / 2
	j.each(len(tests), func(lo, hi int) {
		q := thresholds{}
		for i := lo; i < hi; i++ {
			if x := &tests[i]; x.ok {
				least[i] = [2]float64{
					j.shown(x, q.of(level, x.df)*x.se, x.se, level), j.shownAgain(x, &q, family, typical),
				}
			}
		}
	})
	once, again := make([]float64, 0, family), make([]float64, 0, family)
	for i := range tests {
		if !tests[i].ok {
			continue
		}
		delta := j.t.Cells[tests[i].cell].Delta
		out.Once.Hidden += hides(least[i][0], delta)
		out.Again.Hidden += hides(least[i][1], delta)
		once, again = append(once, least[i][0]), append(again, least[i][1])
	}
	out.Once.Median, out.Again.Median = median(once), median(again)
	return out
}

func hides(d, delta float64) int {
	if d > delta {
		return 1
	}
	return 0
}

// shownAgain is the smallest change of a cell alone that two runs together confirm: see [judge.together].
func (j *judge) shownAgain(x *test, q *thresholds, family int, typical float64) float64 {
	n := float64(x.base.n)
	if x.base.n < 2 {
		return math.Inf(1)
	}
	sd := math.Sqrt(x.s2)
	level := j.rules.Lone / float64(family) * j.rules.share(2, x.base.n) * sd / math.Max(typical, 1e-9)
	se := sd * math.Sqrt(.5+1/n)
	// Two outliers are as rare as one, squared; two windows can be tested.
	both := math.Sqrt(j.rules.LoneOutlier / float64(family) / 2)
	// Each run must show what matters too. The normal distribution is near enough for that.
	d, delta := q.of(level, x.df)*se, j.t.Cells[x.cell].Delta
	least := d - se*normalQuantile(power)
	d = math.Max(d, delta+normalQuantile(math.Sqrt(power))*x.se) // less is not enough for either run alone
	for {
		each := normal((d - delta) / x.se)
		if normal((d-least)/se)*each*each >= power {
			break
		}
		d += se / 8
	}
	return j.shown(x, d, x.se, both)
}

func normal(z float64) float64 { return .5 * math.Erfc(-z/math.Sqrt2) }

func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// shown is the smallest change from one that ordinary noise does not hide that outliers do not hide either.
func (j *judge) shown(x *test, d, se, level float64) float64 {
	cell := &j.t.Cells[x.cell]
	d = math.Max(d, cell.Delta)
	for range 12 { // up to 130 times as much
		if j.outliers.rate(x.cell, cell.Stratum, d/se, d, true) <= level {
			return d
		}
		d *= 1.5
	}
	return math.Inf(1)
}

// thresholds keeps how many standard errors a change must have to pass a level with the power of [power]. Levels differ
// from cell to cell and are rounded to steps of a tenth, downwards.
type thresholds map[threshold]float64

type threshold struct {
	step int
	df   float64
}

func (t thresholds) of(level, df float64) float64 {
	const base = 1.1
	k := threshold{int(math.Floor(math.Log(level) / math.Log(base))), df}
	v, known := t[k]
	if !known {
		v = Quantile(1-math.Pow(base, float64(k.step)), df) + Quantile(power, df)
		t[k] = v
	}
	return v
}
