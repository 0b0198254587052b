package regression

import "math"

// stratum keeps the run-wide shifts of one stratum over releases.
type stratum struct {
	release []int32   // releases in which a shift was measured
	m       []float64 // the shift in each
	out     []bool
	from    int // index of the first shift of the current level
	suspect int // index that waits for an independent run; -1
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

// shifts removes the run-wide change of every stratum that changed as a whole, judges it like a cell, and adds a
// finding for strata that changed by more than matters, but not as a whole.
func (j *judge) shifts(release int32, tests []test) {
	list := j.measure(tests)
	for i := range j.strata {
		s := &j.strata[i]
		s.now, _, _, _ = s.level()
		s.change, s.finding = 0, -1
	}
	s2, nu, at := make([]float64, len(list)), make([]float64, len(list)), make([]int32, len(list))
	for i, m := range list {
		_, s2[i], nu[i], _ = j.strata[m.stratum].level()
		at[i] = m.stratum
	}
	p := fitPrior(s2, nu, at, j.t.Strata)
	found := j.shiftTests(list, &p)
	for i, m := range list {
		s := &j.strata[m.stratum]
		if !m.removable {
			if math.Abs(m.median-s.now) >= m.delta {
				j.addFinding(s, Finding{
					Kind: MixedFinding, Release: release, Stratum: m.stratum, Word: Inconclusive,
					D: m.median - s.now, SE: math.NaN(), P: math.NaN(), Cells: m.cells, Agree: m.agree, First: -1,
				})
			}
			continue
		}
		j.judgeShift(release, m, found[i])
	}
	for i := range tests {
		s := &j.strata[j.t.Cells[tests[i].cell].Stratum]
		tests[i].d -= s.now
		tests[i].shift = s.change
	}
}

func (j *judge) addFinding(s *stratum, f Finding) {
	s.finding = int32(len(j.out.Findings))
	j.out.Findings = append(j.out.Findings, f)
}

// shiftTest is the calculation of one stratum's shift.
type shiftTest struct {
	d, mean, s2, se, df, p float64
	nu                     float64
	n                      int
	ok, pass               bool
}

// shiftTests tests every stratum's shift against its earlier ones; the family of each direction is all strata of the
// release.
func (j *judge) shiftTests(list []moved, p *prior) []shiftTest {
	out := make([]shiftTest, len(list))
	for i, m := range list {
		x := &out[i]
		var own float64
		x.mean, own, x.nu, x.n = j.strata[m.stratum].level()
		x.d, x.p = m.median-x.mean, math.NaN()
		if x.n == 0 || !p.known {
			continue
		}
		x.s2, x.df = p.moderate(own, x.nu, m.stratum)
		x.s2 = math.Max(x.s2, math.Max(j.rules.Floor*j.rules.Floor, m.sampling))
		x.se = math.Sqrt(x.s2 * (1 + 1/float64(x.n)))
		x.p = UpperTail(math.Abs(x.d)/x.se, x.df)
		x.ok = true
	}
	for _, dir := range []float64{1, -1} {
		var ps []float64
		for i := range out {
			if out[i].ok && out[i].d*dir > 0 {
				ps = append(ps, out[i].p)
			}
		}
		_, limit := BenjaminiHochberg(ps, len(out), j.rules.ShiftFDR)
		for i := range out {
			if out[i].ok && out[i].d*dir > 0 && out[i].p <= limit {
				out[i].pass = true
			}
		}
	}
	return out
}

// judgeShift gives a stratum's shift its word and records it.
func (j *judge) judgeShift(release int32, m moved, x shiftTest) {
	s := &j.strata[m.stratum]
	s.now, s.change = m.median, x.d
	f := Finding{
		Kind: ShiftFinding, Release: release, Stratum: m.stratum, Word: Unchanged, Why: WhyEquivalent,
		D: x.d, SE: x.se, Df: x.df, P: x.p, N: x.n, Cells: m.cells, Agree: m.agree, First: -1,
	}
	if x.n == 0 { // the first shift of a stratum is the reference, not a change
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
	case x.ok && x.pass && large:
		f.Word, f.Evidence, f.Why = wordOf(dir), Suspected, WhyGate
		j.askAgain(&f, m, x, dir)
	case large:
		f.Word, f.Why = Inconclusive, WhyNotSignificant
	case !x.ok:
		f.Word, f.Why = NoBaseline, WhyOneEach
	}
	j.addFinding(s, f)
	if j.t.Releases[release].Joins {
		s.remember(release, &f, m.median, dir)
	}
}

// seenAgain reports whether this release confirms the shift that waits for an independent run.
func (s *stratum) seenAgain(j *judge, m moved, x shiftTest) bool {
	return s.suspect >= 0 && x.ok && s.dir*x.d >= m.delta &&
		x.again(s.m[s.suspect]-x.mean, s.dir) <= j.size(x.n)
}

// remember adds the shift of a release, and starts a new level where a shift was confirmed.
func (s *stratum) remember(release int32, f *Finding, median, dir float64) {
	if len(s.m) == 0 { // shifts are measured from the releases before it
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
	case f.Evidence == Confirmed:
		s.out[s.suspect] = false
		s.restart(s.suspect)
		s.suspect = -1
	case f.Evidence == Suspected:
		s.suspect, s.dir, s.out[last] = last, dir, true
	default:
		s.suspect = -1
	}
}

// askAgain uses later runs of the release to decide a shift that its first run shows.
func (j *judge) askAgain(f *Finding, m moved, x shiftTest, dir float64) {
	if math.IsNaN(m.second) {
		return
	}
	second := x
	second.d = m.second - x.mean
	if dir*second.d >= m.delta && second.again(x.d, dir) <= j.size(x.n) {
		f.Evidence, f.Why = Confirmed, WhyRecheck
		return
	}
	f.Word, f.Evidence, f.Why = Inconclusive, NoEvidence, WhyNotSeenAgain
}

// again tests the shift of an independent run given the first one's, as [judge.again] does for cells.
func (x shiftTest) again(d1, dir float64) float64 {
	n := float64(x.n)
	rho := 1 / (n + 1)
	se := math.Sqrt(x.s2 * (1 + 1/n) * (1 - rho*rho))
	return UpperTail(dir*(x.d-rho*d1)/se, x.df)
}
