package regression

import "math"

// claim is one observation that is about to get its word.
type claim struct {
	x       *test
	row     *Row
	cell    *Cell
	o       *Obs
	s       *stratum
	p       *prior
	release int32
	dir     float64 // in which it passed the gate; 0 if it did not
	t95     float64
	joins   bool
}

// set sets the word of the claim's row with its evidence and reason.
func (c *claim) set(w Word, e Evidence, why Why) { c.row.Word, c.row.Evidence, c.row.Why = w, e, why }

// second returns the residual change of the later runs of the release.
func (c *claim) second() float64 { return c.o.Z2 - c.s.now - c.x.base.mean }

// decide gives one observation its word and updates the cell's state. dir is the direction in which it passed the
// gate of the release, 0 when it did not.
func (j *judge) decide(release int32, x *test, dir float64, q float32, p *prior, qs *Quantiles) {
	row, cell, o := &j.rows[x.obs], &j.t.Cells[x.cell], &j.t.Obs[x.obs]
	s := &j.strata[cell.Stratum]
	j.adj[x.obs] = o.mean() - s.now
	row.N, row.SE, row.Df, row.P, row.Q = int16(x.base.n), float32(x.se), float32(x.df), float32(x.p), q
	row.D = x.total()
	joins := j.t.Releases[release].Joins
	if !x.ok {
		untested(row, x, cell)
		if joins {
			j.state[x.cell].suspect = -1
		}
		return
	}
	if joins && x.base.n >= 2 && !math.IsNaN(x.raw) {
		defer j.learn(x, row)
	}
	c := &claim{
		x: x, row: row, cell: cell, o: o, s: s, p: p,
		release: release, dir: dir, joins: joins, t95: qs.of(x.df).t95,
	}
	if o.Accept && joins {
		defer j.accepted(x)
	}
	switch {
	case j.twoModes(x):
		row.Word, row.Why = Inconclusive, WhyTwoModes
		j.settle(c, 0)
	case j.seenAgain(c), j.returned(c), j.passed(c), j.disagreed(c), j.shifted(c):
	default:
		j.quiet(c)
		j.settle(c, 0)
	}
}

// untested gives an observation without a test its word.
func untested(row *Row, x *test, cell *Cell) {
	b := &x.base
	row.Word, row.Why = NoBaseline, WhyFirst
	switch {
	case b.n == 0 && b.blocked > 0:
		row.Word, row.Why = NotComparable, WhyConditions
	case b.n == 0:
	case x.total() >= cell.Delta:
		row.Word, row.Why = Inconclusive, WhyOneEach
	default:
		row.Why = WhyOneEach
	}
	if b.n == 0 {
		row.D = math.NaN()
	}
}

// learn counts an extreme value towards the tails, unless it may be a change: an open suspect waits for its
// independent run, and a confirmed change or a run-wide shift is not a failed prediction.
func (j *judge) learn(x *test, row *Row) {
	st := &j.state[x.cell]
	switch {
	case st.suspect == x.obs:
		st.suspectP = x.raw
	case row.Evidence == Confirmed || row.Why == WhyShift:
	default:
		j.tails.add(x.d, x.raw)
	}
}

func wordOf(dir float64) Word {
	if dir > 0 {
		return Regressed
	}
	return Improved
}

// seenAgain reports whether this release is the independent run that confirms an open suspect.
func (j *judge) seenAgain(c *claim) bool {
	st := &j.state[c.x.cell]
	if st.suspect < 0 {
		return false
	}
	at, dir := st.suspect, st.dir
	if !c.joins {
		return j.sharesSuspect(c, at, dir)
	}
	d1 := j.adj[at] - c.x.base.mean
	large := dir*c.x.d >= c.cell.Delta && dir*c.x.total() > 0
	if !large || !j.confirms(c, d1, c.x.d, dir, st.share) {
		j.rows[at].Follow = -(c.release + 1)
		j.tails.add(dir, st.suspectP)
		st.suspect = -1
		return false
	}
	c.set(wordOf(dir), Confirmed, WhyAgain)
	c.row.First = j.t.Obs[at].Release
	if st.back {
		c.row.Word = Recovered
	}
	if st.seen++; st.seen < runsNeeded(c.x.base.n) {
		c.row.Evidence, c.row.Why, c.row.out = Suspected, WhyOneMoreRun, true
		return true
	}
	j.rows[at].Follow = c.release + 1
	j.accept(c, at, dir)
	return true
}

// confirms tests a second, independent run given the first: it must be unlikely under no change, and both together
// must make a change more likely than chance.
func (j *judge) confirms(c *claim, d1, d2, dir, share float64) bool {
	return j.again(c.x, d1, d2, dir, c.p) <= j.size(c.x.base.n) && j.odds(c.x, d1, d2, share, c.p) >= j.rules.Odds
}

// sharesSuspect keeps a build that never joins from being blamed for a change of its base: a value near the base's
// own open suspect is inconclusive, with the release that first showed it.
func (j *judge) sharesSuspect(c *claim, at int32, dir float64) bool {
	if dir*c.x.total() < c.cell.Delta || math.Abs(c.o.Z-c.s.now-j.adj[at]) > c.cell.Delta {
		return false
	}
	c.row.Word, c.row.Why, c.row.First = Inconclusive, WhyBaseSuspect, j.t.Obs[at].Release
	return true
}

// settle records a suspected change for later releases: its observation stays out of baselines until an independent
// run has been judged. dir 0 clears it.
func (j *judge) settle(c *claim, dir float64) {
	st := &j.state[c.x.cell]
	if !c.joins {
		return
	}
	st.suspect = -1
	if dir != 0 {
		st.suspect, st.dir, st.seen, c.row.out = c.x.obs, dir, 0, true
		st.share = j.share(dir)
	}
}

// passed handles a change that passes the gate and matters.
func (j *judge) passed(c *claim) bool {
	dir := c.dir
	if dir == 0 || dir*c.x.d < c.cell.Delta {
		return false
	}
	if dir*c.x.total() <= 0 || dir < 0 && -c.x.total() < c.cell.Delta {
		c.row.Word, c.row.Why, c.row.Finding = Inconclusive, WhyAgainstShift, c.s.finding
		if math.Abs(c.x.total()) < c.cell.Delta {
			c.row.Why = WhyDidNotMove
		}
		j.settle(c, 0)
		return true
	}
	c.set(wordOf(dir), Suspected, WhyGate)
	if c.o.K2 == 0 {
		j.settle(c, dir)
		return true
	}
	j.rechecked(c)
	return true
}

// rechecked uses the later runs of the same release to decide a change that passes the gate.
func (j *judge) rechecked(c *claim) {
	dir, d2 := c.dir, c.second()
	if dir*d2 < c.cell.Delta || !j.confirms(c, c.x.d, d2, dir, j.share(dir)) {
		c.set(Inconclusive, NoEvidence, WhyNotSeenAgain)
		c.row.D = d2 + c.x.shift
		j.settle(c, 0)
		c.row.out = c.joins
		return
	}
	if seen := max(1, int(c.o.R2)); seen < runsNeeded(c.x.base.n) {
		c.row.Why = WhyOneMoreRun
		j.settle(c, dir)
		if c.joins {
			j.state[c.x.cell].seen = seen
		}
		return
	}
	c.row.Evidence, c.row.Why, c.row.D = Confirmed, WhyRecheck, d2+c.x.shift
	if c.joins {
		j.accept(c, c.x.obs, dir)
	}
}

// returned reports whether a cell is back at the level before a confirmed regression: nearer to it than to the
// current level, within the effect that matters, and clearly off the current level.
func (j *judge) returned(c *claim) bool {
	st := &j.state[c.x.cell]
	if math.IsNaN(st.old) || c.x.d >= 0 {
		return false
	}
	gap := c.o.Z - c.s.now - st.old
	if math.Abs(gap) > c.cell.Delta || math.Abs(gap) >= math.Abs(c.x.d) || -c.x.t < c.t95 {
		return false
	}
	c.set(Recovered, Suspected, WhyBackAgain)
	if c.joins {
		j.settle(c, -1)
		st.back = true
	}
	return true
}

// disagreed reports whether a later run of the release is clearly worse than its unremarkable first one, so that
// repeating a measurement until it passes does not help.
func (j *judge) disagreed(c *claim) bool {
	if c.o.K2 == 0 {
		return false
	}
	d2 := c.second()
	// One in two hundred, since every cell with a second run is tested without a correction.
	const size = .005
	if d2 < c.cell.Delta || c.x.total() >= c.cell.Delta || UpperTail(d2/c.x.se, c.x.df) > size {
		return false
	}
	c.row.Word, c.row.Why, c.row.D = Inconclusive, WhyRunsDisagree, d2+c.x.shift
	j.settle(c, 0)
	return true
}

// shifted gives a cell the word of its stratum's shift: it regressed because of the shift and is never unchanged.
func (j *judge) shifted(c *claim) bool {
	if c.s.finding < 0 || c.x.shift == 0 {
		return false
	}
	f := &j.out.Findings[c.s.finding]
	moved := f.Word == Regressed || f.Word == Improved || f.Word == Inconclusive
	if f.Kind != ShiftFinding || !moved || math.Copysign(1, c.x.shift)*c.x.total() < c.cell.Delta {
		return false
	}
	c.set(f.Word, f.Evidence, WhyShift)
	c.row.Finding, c.row.First = c.s.finding, f.First
	j.settle(c, 0)
	c.row.out = c.row.out || c.joins && f.Why == WhyNotSeenAgain
	return true
}

// quiet decides between unchanged and inconclusive: equivalence by two one-sided tests, at the 90 % interval.
func (j *judge) quiet(c *claim) {
	d, half, delta := c.x.total(), c.t95*c.x.se, c.cell.Delta
	row := c.row
	switch {
	case math.Abs(d)+half < delta:
		row.Word, row.Why = Unchanged, WhyEquivalent
	case math.Abs(d) >= delta:
		row.Word, row.Why = Inconclusive, WhyNotSignificant
	case d+half < delta:
		row.Word, row.Why = Inconclusive, WhyNoRegression
	case d-half > -delta:
		row.Word, row.Why = Inconclusive, WhyNoImprovement
	default:
		row.Word, row.Why = Inconclusive, WhyWide
	}
	if c.s.finding < 0 || c.x.shift == 0 || math.Abs(c.x.shift) < delta {
		return
	}
	row.Finding = c.s.finding
	if row.Word == Unchanged { // its stratum changed by more than matters and it did not
		row.Word, row.Why = Inconclusive, WhyDidNotMove
	}
}

// twoModes reports whether the cell's history alternates between two levels: two clusters of adjusted values, narrow
// compared with the gap between them, each visited at least twice, and the new value in one of them.
func (j *judge) twoModes(x *test) bool {
	delta := j.t.Cells[x.cell].Delta
	// Where the noise is small compared with what matters, there are no two levels.
	if x.base.n < 6 || math.Abs(x.total()) < delta/2 || x.base.s2 < delta*delta/16 {
		return false
	}
	values, _ := j.held(x.cell, x.obs, nil, nil)
	return modes(values, x.base.mean+x.d)
}
