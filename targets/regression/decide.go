package regression

import "math"

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
func (c *claim) set(w Word, e Evidence, why Why) { c.row.Word, c.row.Evidence, c.row.Why = w, e, why }

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
		row.Word, row.Why = Inconclusive, WhyTwoModes
		j.close(x.cell)
	case j.shared(c), j.confirmed(c), j.returned(c), j.passed(c), j.waits(c), j.disagreed(c), j.shifted(c):
	default:
		j.quiet(c)
	}
	if joins && row.Why != WhyTwoModes {
		j.follow(c)
	}
	if o.Accept && joins {
		j.accepted(x)
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

func wordOf(dir float64) Word {
	if dir > 0 {
		return Regressed
	}
	return Improved
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
		c.set(wordOf(dir), Suspected, WhyOtherHost)
		if at != c.x.obs {
			c.row.First = j.t.Obs[at].Release
			c.beforeWindow()
		}
		return true
	}
	c.set(wordOf(dir), Confirmed, WhyAgain)
	if dir < 0 && j.back(c) {
		c.row.Word = Recovered
	}
	if at == c.x.obs {
		c.row.Why, c.row.D = WhyRecheck, j.second(c.x)+c.x.shift
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
	c.set(Recovered, Suspected, WhyBackAgain)
	return true
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
		return true
	}
	c.set(wordOf(dir), Suspected, WhyGate)
	switch {
	case c.o.K2 == 0:
		c.since()
		return true
	case dir*j.second(c.x) >= c.cell.Delta:
		c.row.Why = WhyOneMoreRun
	case dir*(j.second(c.x)+j.hostMoved(c.x)) >= c.cell.Delta && dir*j.hostMoved(c.x) >= c.cell.Delta/2:
		c.set(Inconclusive, NoEvidence, WhyHostMoved)
		c.row.D = j.second(c.x) + j.hostMoved(c.x) + c.x.shift
	default:
		c.set(Inconclusive, NoEvidence, WhyNotSeenAgain)
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
		c.row.Why = WhyOneMoreRun
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
	c.set(Inconclusive, NoEvidence, WhyBaseSuspect)
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
	c.set(wordOf(st.dir), Suspected, WhyOneMoreRun)
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
	c.row.Word, c.row.Why, c.row.D = Inconclusive, WhyRunsDisagree, d2+c.x.shift
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
		moved := f.Word == Regressed || f.Word == Improved || f.Word == Inconclusive
		if f.Kind == MixedFinding || !moved || math.Copysign(1, f.D)*c.x.total() < c.cell.Delta {
			continue
		}
		c.set(f.Word, f.Evidence, WhyShift)
		c.row.Finding, c.row.First = finding, f.First
		if c.joins && f.Why == WhyNotSeenAgain {
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
	case c.x.small.runs > 0 && c.lasted(j.t.Obs[c.x.small.first].Release):
	case c.dir != 0 && c.dir*d > 0 && math.Abs(d) < delta:
		row.Word, row.Why = BelowLimit, WhyBelowLimit
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
	if x.base.n < 6 || math.Abs(x.d) < delta/2 || x.base.s2 < delta*delta/16 {
		return false
	}
	values, _ := j.held(x.cell, x.obs, nil, nil)
	return modes(values, x.base.mean+x.d)
}
