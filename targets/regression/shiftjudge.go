package regression

import "math"

// judgeShift gives a shift a word and remembers its level.
func (j *judge) judgeShift(release int32, t *tier, m moved, x shiftTest) {
	s := &t.series[m.series]
	s.now, s.change = m.median, x.d
	if t.within { // as much of it as is not the error of a median over few cells
		s.change *= math.Max(0, 1-m.sampling/math.Max(x.d*x.d, x.own))
		s.now = x.mean + s.change
	}
	f := Finding{
		Kind: t.kind, Release: release, Stratum: m.stratum, System: m.system, Word: Unchanged, Why: WhyEquivalent,
		D: x.d, SE: x.se, Df: x.df, P: x.p, N: x.n, Cells: m.cells, Agree: m.agree, First: -1,
	}
	if x.n == 0 { // the first level of a stratum is a point of reference, not a change
		f.Word, f.Why = NoBaseline, WhyFirst
	}
	dir := 1.
	if x.d < 0 {
		dir = -1
	}
	large := dir*x.d >= m.delta
	switch {
	case x.n == 0 && !large:
	case s.seenAgain(j, m, x):
		f.Word, f.Evidence, f.Why, f.First = wordOf(s.dir), Confirmed, WhyAgain, s.release[s.suspect]
		switch {
		case !t.enough(s.seen+1, j.rules.Confirm):
			f.Evidence, f.Why = Suspected, WhyOneMoreRun
		case j.shiftOnOneHost(m, append(s.release[s.suspect:len(s.release):len(s.release)], release), false):
			f.Evidence, f.Why = Suspected, WhyOtherHost
		}
	case x.ok && x.pass && large:
		f.Word, f.Evidence, f.Why = wordOf(dir), Suspected, WhyGate
		j.askAgain(&f, t, m, x, dir)
	case large:
		f.Word, f.Why = Inconclusive, WhyNotSignificant
	case !x.ok:
		f.Word, f.Why = NoBaseline, WhyOneEach
	case x.pass:
		f.Word, f.Why = BelowLimit, WhyBelowLimit
	}
	if x.lasts && (f.Word == Unchanged || f.Word == BelowLimit) && j.t.Releases[release].Joins {
		f.lasted(&x.step, m.delta)
	}
	j.addFinding(s, f)
	if j.t.Releases[release].Joins {
		s.remember(release, &f, t.strays, m.median, dir)
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
	case f.Why == WhyRecheck:
		s.restart(last)
		s.suspect = -1
	case f.Why == WhyNotSeenAgain:
		s.out[last], s.suspect = true, -1
		strays.gone++
	case (f.Why == WhyOneMoreRun || f.Why == WhyOtherHost) && s.suspect >= 0:
		s.out[last], s.seen = true, s.seen+1
	case f.Evidence == Confirmed:
		s.out[s.suspect] = false
		s.restart(s.suspect)
		s.suspect = -1
	case f.Evidence == Suspected:
		s.suspect, s.seen, s.dir, s.out[last] = last, 0, dir, true
		if f.Why == WhyOneMoreRun {
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
		f.Evidence, f.Why = Confirmed, WhyRecheck
		switch {
		case !t.enough(1, j.rules.Confirm):
			f.Evidence, f.Why = Suspected, WhyOneMoreRun
		case j.shiftOnOneHost(m, []int32{f.Release}, true):
			f.Evidence, f.Why = Suspected, WhyOtherHost
		}
		return
	}
	f.Word, f.Evidence, f.Why = Inconclusive, NoEvidence, WhyNotSeenAgain
}

// again tests the shift of an independent run given the first one's, as [judge.repeated] does for cells.
func (x shiftTest) again(d1, dir float64) float64 {
	n := float64(x.n)
	rho := 1 / (n + 1)
	se := math.Sqrt(x.s2 * (1 + 1/n) * (1 - rho*rho))
	return UpperTail(dir*(x.d-rho*d1)/se, x.df)
}
