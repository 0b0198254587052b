package regression

import (
	"math"
	"slices"
	"sync"
)

// strata keeps the levels of run-wide shifts between releases, one series a stratum.
type stratum struct {
	release []int32   // releases in which a shift was measured
	m       []float64 // its level in each
	out     []bool
	from    int // first of the level that holds
	suspect int // index that waits for an independent run; -1
	dir     float64
	ss, nu  float64 // of earlier levels
	now     float64 // level removed from this release's values
	change  float64 // of this release against the level that holds
	finding int32   // of this release; -1
}

// level is the mean of the shifts that hold, with their variance.
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

// moved is how one stratum moved as a whole in the release under judgement.
type moved struct {
	stratum   int32
	median    float64 // change of its cells against their baselines
	delta     float64 // effect that matters, typical of its cells
	sampling  float64 // variance of the median over its cells
	cells     int
	points    int
	agree     float64
	removable bool
	second    float64 // median over the cells that a later run of the release has too; NaN with too few of them
}

// measure finds the median change of every stratum and whether it moved as one.
func (j *judge) measure(tests []test) []moved {
	byStratum := make([][]int, j.t.Strata)
	for i := range tests {
		if tests[i].base.n > 0 {
			s := j.t.Cells[tests[i].cell].Stratum
			byStratum[s] = append(byStratum[s], i)
		}
	}
	var out []moved
	for s, list := range byStratum {
		if len(list) >= j.rules.MinCells {
			out = append(out, moved{stratum: int32(s), points: j.points(list, tests)})
		}
	}
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { j.measureOne(&out[i], byStratum[out[i].stratum], tests) })
	}
	wg.Wait()
	return out
}

// points counts the distinct points of some cells.
func (j *judge) points(list []int, tests []test) int {
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

func (j *judge) measureOne(m *moved, list []int, tests []test) {
	d, deltas := make([]float64, len(list)), make([]float64, len(list))
	for i, k := range list {
		d[i], deltas[i] = tests[k].d, j.t.Cells[tests[k].cell].Delta
	}
	sorted := slices.Sorted(slices.Values(d))
	m.median, m.cells = middle(sorted), len(list)
	near := 0
	for i, v := range d {
		d[i] = math.Abs(v - m.median)
		if d[i] <= deltas[i] {
			near++
		}
	}
	slices.Sort(d)
	slices.Sort(deltas)
	m.delta, m.agree = middle(deltas), float64(near)/float64(len(d))
	// 1.4826 median absolute deviations are a standard deviation, and a median has 1.2533 times the error of a mean.
	sd := 1.4826 * middle(d)
	m.sampling = 1.2533 * 1.2533 * sd * sd / float64(len(d))
	m.removable = m.points >= j.rules.MinPoint && m.agree >= j.rules.Agree
	m.second = j.secondMedian(list, tests)
}

// secondMedian is the median change of later runs of the release: enough cells of enough points must have one.
func (j *judge) secondMedian(list []int, tests []test) float64 {
	var d []float64
	points := map[int32]bool{}
	for _, k := range list {
		if o := &j.t.Obs[tests[k].obs]; o.K2 > 0 {
			d = append(d, o.Z2-tests[k].base.mean)
			points[j.t.Cells[tests[k].cell].Point] = true
		}
	}
	if len(d) < j.rules.MinCells || len(points) < j.rules.MinPoint {
		return math.NaN()
	}
	slices.Sort(d)
	return middle(d)
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// shifts removes the run-wide change of every stratum that moved as one, judges it like a cell, and notes a finding for those
// that did not move as one and yet by more than matters.
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
				j.addFinding(s, Finding{Kind: MixedFinding, Release: release, Stratum: m.stratum, Word: Inconclusive, D: m.median - s.now, Cells: m.cells, Agree: m.agree, First: -1, SE: math.NaN(), P: math.NaN()})
			}
			continue
		}
		j.judgeShift(release, m, found[i], &p)
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

// shiftTest is the reckoning of one stratum's shift.
type shiftTest struct {
	d, mean, s2, se, df, p float64
	nu                     float64
	n                      int
	ok, pass               bool
}

// shiftTests tests every stratum's shift against its earlier ones; the family of each direction is the strata of the release.
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

// judgeShift gives a stratum's shift a word and remembers its level.
func (j *judge) judgeShift(release int32, m moved, x shiftTest, p *prior) {
	s := &j.strata[m.stratum]
	joins := j.t.Releases[release].Joins
	s.now, s.change = m.median, x.d
	f := Finding{Kind: ShiftFinding, Release: release, Stratum: m.stratum, Word: Unchanged, Why: WhyEquivalent, D: x.d, SE: x.se, Df: x.df, P: x.p, N: x.n, Cells: m.cells, Agree: m.agree, First: -1}
	if x.n == 0 { // the first level of a stratum is a point of reference, not a change
		f.Word, f.Why = NoBaseline, WhyFirst
	}
	dir := 1.
	if x.d < 0 {
		dir = -1
	}
	var word = map[float64]Word{1: Regressed, -1: Improved}
	seen := -1
	if s.suspect >= 0 {
		seen = s.suspect
	}
	switch {
	case x.n == 0 && dir*x.d < m.delta:
	case seen >= 0 && x.ok && s.dir*x.d >= m.delta && j.againShift(s.m[seen]-x.mean, x, s.dir, p) <= j.size(x.n):
		f.Word, f.Evidence, f.Why, f.First = word[s.dir], Confirmed, WhyAgain, s.release[seen]
	case x.ok && x.pass && dir*x.d >= m.delta:
		f.Word, f.Evidence, f.Why = word[dir], Suspected, WhyGate
		j.askAgain(&f, m, x, dir, p)
	case dir*x.d >= m.delta:
		f.Word, f.Why = Inconclusive, WhyNotSignificant
	case !x.ok:
		f.Word, f.Why = NoBaseline, WhyOneEach
	}
	j.addFinding(s, f)
	if !joins {
		return
	}
	if len(s.m) == 0 { // the releases before it are where shifts are measured from
		s.release, s.m, s.out = append(s.release, release-1), append(s.m, 0), append(s.out, false)
	}
	s.release, s.m, s.out = append(s.release, release), append(s.m, m.median), append(s.out, false)
	last := len(s.m) - 1
	switch {
	case f.Why == WhyRecheck:
		s.restart(last)
		s.suspect = -1
	case f.Why == WhyNotSeenAgain:
		s.out[last], s.suspect = true, -1
	case f.Evidence == Confirmed:
		s.out[seen] = false
		s.restart(seen)
		s.suspect = -1
	case f.Evidence == Suspected:
		s.suspect, s.dir, s.out[last] = last, dir, true
	default:
		s.suspect = -1
	}
}

// askAgain asks later runs of the release about a shift that its first run shows.
func (j *judge) askAgain(f *Finding, m moved, x shiftTest, dir float64, p *prior) {
	if math.IsNaN(m.second) {
		return
	}
	second := x
	second.d = m.second - x.mean
	if dir*second.d >= m.delta && j.againShift(x.d, second, dir, p) <= j.size(x.n) {
		f.Evidence, f.Why = Confirmed, WhyRecheck
		return
	}
	f.Word, f.Evidence, f.Why = Inconclusive, NoEvidence, WhyNotSeenAgain
}

func (j *judge) againShift(d1 float64, x shiftTest, dir float64, p *prior) float64 {
	n := float64(x.n)
	rho := 1 / (n + 1)
	se := math.Sqrt(x.s2 * (1 + 1/n) * (1 - rho*rho))
	return UpperTail(dir*(x.d-rho*d1)/se, x.df)
}
