package regression

import "math"

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
					Kind: MixedFinding, Release: release, Stratum: m.stratum, System: -1, Word: Inconclusive,
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
	step                   lastingShift
	lasts                  bool
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
	j.lastings(t, list, out, &p)
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
