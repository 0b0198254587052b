package regression

import (
	"context"
	"github.com/ttreport/ttreport/ingest/schema"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
)

type judge struct {
	t      *Table
	rules  Rules
	out    *Judgement
	rows   []Row
	values []value // of observations, as later baselines use them
	isOut  []bool  // those that are not part of baselines
	state  []state
	tests  []test // of the release

	tiers  []tier
	ids    [][]int32   // by tier and cell: its group, from 1; 0 where it is in none
	past   [][][]sight // by tier and group
	aside  [][][]sight // likewise: of candidates, which are no history
	strays []strays    // by tier
	lists  [][][]int32 // by tier and group: the tests of a release in it

	marks []int32 // see distinct
	mark  int32

	outliers         outliers
	tested, exceeded int // forward predictions so far
}

// value is what baselines use of an observation: beside each other, since each release reads those of twenty.
type value struct {
	raw   float64 // of all its runs
	z     float64 // the same without what is common to all of a run
	cond  int32
	joins bool
}

// Judge judges the releases in order. It stops early only when ctx is done.
func Judge(ctx context.Context, t *Table, rules Rules) (*Judgement, error) {
	j := newJudge(t, rules)
	return j.out, j.upTo(ctx, int32(len(t.Releases)-1), func([]test, *prior, []int8) {})
}

// upTo judges the releases up to one, and calls watch with the tests of each before its words are decided.
func (j *judge) upTo(ctx context.Context, last int32, watch func([]test, *prior, []int8)) error {
	list, cellOf := j.t.Order()
	for r := range min(last+1, int32(len(list))) {
		if err := ctx.Err(); err != nil {
			return err
		}
		j.release(r, list[r], cellOf, watch)
	}
	return nil
}

func newJudge(t *Table, rules Rules) *judge {
	j := &judge{
		t: t, rules: rules,
		out:    &Judgement{Rows: make([]Row, len(t.Obs)), Fits: make([]Fit, len(t.Releases)), out: make([]bool, len(t.Obs))},
		values: make([]value, len(t.Obs)), state: make([]state, len(t.Cells)),
		tiers: tiers(), outliers: outliers{strata: make([]record, t.Strata), dfs: map[float64]int{}},
	}
	j.rows, j.isOut = j.out.Rows, j.out.out
	nan := float32(math.NaN())
	for i := range j.rows {
		o := &t.Obs[i]
		j.rows[i] = Row{Finding: -1, First: -1, P: nan, Q: nan}
		j.values[i] = value{raw: o.mean(), cond: o.Cond, joins: t.Releases[o.Release].Joins}
	}
	for i := range j.state {
		j.state[i] = state{from: t.Cells[i].First, suspect: -1, moved: -1, old: math.NaN()}
	}
	ids := map[[2]int32]int32{}
	for i := range t.Cells {
		c := &t.Cells[i]
		at := [2]int32{c.Stratum, c.System}
		if _, known := ids[at]; !known {
			ids[at] = int32(len(ids))
		}
		c.systemMetric = ids[at]
	}
	j.past, j.aside = make([][][]sight, len(j.tiers)), make([][][]sight, len(j.tiers))
	j.strays, j.ids, j.lists = make([]strays, len(j.tiers)), make([][]int32, len(j.tiers)), make([][][]int32, len(j.tiers))
	for k := range j.tiers {
		tier, most := &j.tiers[k], int32(0)
		j.ids[k] = make([]int32, len(t.Cells))
		for i := range t.Cells {
			if c := &t.Cells[i]; tier.tails || !c.Tail {
				j.ids[k][i] = tier.of(c) + 1
				most = max(most, j.ids[k][i])
			}
		}
		j.past[k], j.aside[k], j.lists[k] = make([][]sight, most+1), make([][]sight, most+1), make([][]int32, most+1)
	}
	return j
}

// Order lists the observations of every release, and the cell of each observation.
func (t *Table) Order() (byRelease [][]int32, cellOf []int32) {
	byRelease, cellOf = make([][]int32, len(t.Releases)), make([]int32, len(t.Obs))
	count := make([]int, len(t.Releases))
	for i := range t.Obs {
		count[t.Obs[i].Release]++
	}
	for r, n := range count {
		byRelease[r] = make([]int32, 0, n)
	}
	for c := range t.Cells {
		for i := t.Cells[c].First; i < t.Cells[c].End; i++ {
			cellOf[i] = int32(c)
			r := t.Obs[i].Release
			byRelease[r] = append(byRelease[r], i)
		}
	}
	return byRelease, cellOf
}

// each does n things, each as much work as so many cells, on all processors.
func (j *judge) each(n, work int, do func(i int, q *Quantiles)) {
	parts := max(1, min(n, runtime.GOMAXPROCS(0), n*work/512+1))
	var wg sync.WaitGroup
	for p := range parts {
		part := func() {
			q := &Quantiles{}
			for i := n * p / parts; i < n*(p+1)/parts; i++ {
				do(i, q)
			}
		}
		if p == parts-1 {
			part()
		} else {
			wg.Go(part)
		}
	}
	wg.Wait()
}

// release judges one release, in the order given in the package comment.
func (j *judge) release(release int32, obs, cellOf []int32, watch func([]test, *prior, []int8)) {
	j.tests = slices.Grow(j.tests[:0], len(obs))[:len(obs)] // of one release after the other
	tests := j.tests
	for i, at := range obs {
		x := &tests[i]
		*x = test{obs: at, cell: cellOf[at], found: -1}
		if j.t.Obs[at].Pin && at > j.t.Cells[x.cell].First { // where the history starts in any case
			j.begins(x, j.t.Obs[at].mean()-j.t.Obs[at-1].mean())
		}
	}
	s2, nu, stratum := make([]float64, len(obs)), make([]float64, len(obs)), make([]int32, len(obs))
	j.each(len(obs), 1, func(i int, _ *Quantiles) {
		x := &tests[i]
		j.baseline(x.cell, x.obs, &x.base)
		o := &j.t.Obs[x.obs]
		if x.d, x.again = o.Z-x.base.mean, math.NaN(); o.K2 > 0 {
			x.again = o.Z2 - x.base.mean
		}
		s2[i], nu[i], stratum[i] = x.base.s2, x.base.nu, j.t.Cells[x.cell].Stratum
	})
	p := fitPrior(s2, nu, stratum, j.t.Strata, true)
	j.each(len(obs), 1, func(i int, _ *Quantiles) { j.noise(&tests[i], &p) })
	j.groups(release, tests)
	if j.t.Releases[release].Joins { // builds that never join make nothing be forgotten
		j.outliers.all.forget()
		j.outliers.gone, j.outliers.lasted = memory*j.outliers.gone, memory*j.outliers.lasted
		forgot := make([]bool, j.t.Strata)
		for _, s := range stratum {
			if !forgot[s] {
				j.outliers.strata[s].forget()
			}
			forgot[s] = true
		}
	}
	j.each(len(obs), 1, func(i int, q *Quantiles) {
		j.test(&tests[i], q)
		j.together(&tests[i], &p)
	})
	family, passed, qs := j.discoveries(tests)
	again := j.jointly(tests, family)
	j.predictions(tests)
	j.out.Fits[release] = Fit{
		Cells: family, D0: p.d0, Sd: j.typicalSd(&p, tests), S0: p.s02, SumNu: p.sumNu,
		Tested: j.tested, Exceeded: j.exceeded, Shown: j.sensitivity(tests, family),
	}
	watch(tests, &p, passed)
	q := Quantiles{}
	for i := range tests {
		j.decide(release, &tests[i], float64(passed[i]), again[i], qs[i], &q)
	}
	j.outliers.finish()
}

// discoveries applies the false discovery procedure to the tests of a release, separately for each direction: which
// pass and in which direction, and the q values of those that come near: only p values up to the level are ranked, so
// that ten thousand large ones need no sorting. The family of both directions is all tests that were made.
func (j *judge) discoveries(tests []test) (family int, passed []int8, qs []float32) {
	qs, passed = make([]float32, len(tests)), make([]int8, len(tests))
	for i := range tests {
		if qs[i] = float32(math.NaN()); tests[i].ok {
			family++
		}
	}
	for _, dir := range []float64{1, -1} {
		var at []int
		var ps []float64
		for i := range tests {
			if x := &tests[i]; x.ok && x.d*dir > 0 && x.p <= j.rules.FDR {
				at, ps = append(at, i), append(ps, x.p)
			}
		}
		q, _ := BenjaminiHochberg(ps, family, j.rules.FDR)
		point := func(k int) int32 { return j.t.Cells[tests[at[k]].cell].Point }
		limit := discovered(ps, point, family, j.rules.FDR/2, j.rules.FDR)
		for k, i := range at {
			if qs[i] = float32(q[k]); ps[k] <= limit {
				passed[i] = int8(dir)
			}
		}
		j.unusual(tests, dir, passed)
	}
	return family, passed, qs
}

// predictions counts how often a new value fell outside what its history predicted at 2 %, both sides together, for
// cells with five releases before this one. It describes the method on these data and never affects a verdict.
func (j *judge) predictions(tests []test) {
	q, o := Quantiles{}, &j.outliers
	for i := range tests {
		x := &tests[i]
		if x.ok && x.base.n >= 2 && j.joins(x.obs) {
			o.all.made++
			o.strata[j.t.Cells[x.cell].Stratum].made++
			o.dfs[x.df]++
		}
		if x.ok && x.base.n >= 5 {
			j.tested++
			if math.Abs(x.t) > q.At(.99, x.df) {
				j.exceeded++
			}
		}
	}
}

// Row is the judgement of one observation. The baseline is the observation's value minus D. D and SE are on the log
// scale; D is positive for worse.
type Row struct {
	Word     schema.Outcome
	Evidence schema.Evidence
	Why      schema.Why
	N        int16   // releases behind the baseline
	late     uint16  // releases after its own since which it is not; before them it was
	Finding  int32   // index into Judgement.Findings, or -1
	First    int32   // release that saw the change first, or -1
	Follow   int32   // release + 1 that confirmed this suspected change; negative: did not see it again; 0: none yet
	back     int32   // release + 1 that took it into baselines after all; 0: none
	D        float64 // of what is reported: the independent run's where it confirmed
	SE, Df   float32 // of the gate's test
	P, Q     float32 // of the gate's test, in the direction of the change; NaN when there was none
}

// Excluded reports whether an observation was kept out of baselines when a release had been judged: as a change that
// waited for an independent run, or that an independent run did not see again. What later releases made of it has no
// part in that.
func (j *Judgement) Excluded(t *Table, obs, release int32) bool {
	r := &j.Rows[obs]
	return (j.out[obs] || r.back > 0) && release >= t.Obs[obs].Release+int32(r.late) &&
		(r.back == 0 || release < r.back-1)
}

// exclude keeps an observation out of baselines from a release on.
func (j *judge) exclude(obs, release int32) {
	if r := &j.rows[obs]; !j.isOut[obs] {
		j.isOut[obs] = true
		r.late, r.back = uint16(min(release-j.t.Obs[obs].Release, math.MaxUint16)), 0
	}
}

// readmit takes an observation into baselines again.
func (j *judge) readmit(obs, release int32) {
	if j.isOut[obs] {
		j.isOut[obs], j.rows[obs].back = false, release+1
	}
}

// Large reports whether an inconclusive row has a change at least as large as the effect that matters, which is worth
// a look or another measurement. Other inconclusive rows have a smaller change and an interval that is too wide.
func (r *Row) Large() bool {
	return r.Word == schema.Inconclusive && slices.Contains([]schema.Why{
		schema.WhyGroup, schema.WhyAgainstGroup, schema.WhyNotSignificant, schema.WhyNotSeenAgain,
		schema.WhyRunsDisagree, schema.WhyOneEach, schema.WhyBaseSuspect,
	}, r.Why)
}

// Finding is a group of cells that changed together in a release.
type Finding struct {
	Kind     Kind
	Part     bool // of the group
	Release  int32
	Cell     int32 // a member, which names the group
	Members  []int32
	Word     schema.Outcome // Regressed, Improved, BelowLimit; Inconclusive where a later run does not show it
	Evidence schema.Evidence
	Why      schema.Why
	D        float64 // log change of the median member; positive is worse
	SE, Df   float64
	P        float64
	N        int   // earlier releases behind it
	Runs     int   // that show it together
	First    int32 // release that saw it first
}

// Judgement is the result of [Judge].
type Judgement struct {
	Rows         []Row // parallel to Table.Obs
	Findings     []Finding
	ChangePoints []ChangePoint // in the order of the releases that decided them
	Fits         []Fit         // one a release
	out          []bool        // parallel to Rows: not part of baselines, as far as is known now
}

// Fit describes a release's noise and how well earlier predictions held.
type Fit struct {
	Cells    int       // in the family of tests of the release
	D0       float64   // weight of the common noise, in degrees of freedom; Inf when all cells are alike
	Sd       float64   // typical noise: the geometric mean over strata of s0
	S0       []float64 // typical variance by stratum; NaN where nothing is known
	SumNu    float64   // degrees of freedom of all cells together
	Tested   int       // forward predictions up to this release, of cells with six releases or more
	Shown    Sensitivity
	Exceeded int // of them, how many had two-sided p below .02, of which two in a hundred are expected
}

// joint is the test of the newest two or three runs of a cell together against what came before them: evidence that no
// run has by itself adds up, and no single outlier passes for it.
type joint struct {
	Second         // of no runs: there is none worth a test
	first  int32   // observation of the oldest run
	mean   float64 // of the baseline
	level  float64 // the same without what was common to all of a run
	sd     float64 // noise of one run
}

// sightings lists the newest runs of a cell, the newest first: the later runs of the release, its first run, and those
// of up to two before, as its baseline has noted them.
func (j *judge) sightings(x *test, list []earlier) (all []earlier, own int) {
	if j.t.Obs[x.obs].K2 > 0 {
		list = append(list, earlier{obs: x.obs, z: x.base.adjusted + j.second(x)})
	}
	list = append(list, earlier{obs: x.obs, z: x.base.adjusted + x.d})
	return append(list, x.base.prev[:x.base.prevs]...), len(list)
}

// together tests the newest two and the newest three runs of a cell, as far as two releases remain to compare them
// with, and keeps the surer of the two.
func (j *judge) together(x *test, p *prior) {
	x.joint = joint{}
	delta := j.t.Cells[x.cell].Delta
	if !x.ok || math.Abs(x.d) < delta/2 {
		return
	}
	var room [4]earlier
	list, own := j.sightings(x, room[:0])
	dir := math.Copysign(1, x.d)
	base := x.base.summary()
	var best joint
	looks, behind := 0., 0
	for k := 2; k <= min(3, len(list)); k++ {
		if base = base.without(&list[k-1]); base.n < 2 {
			break
		}
		if looks++; looks == 1 {
			behind = base.n
		}
		if k > own && j.rows[list[k-1].obs].Word == schema.Unchanged {
			continue // what was shown to be unchanged begins no change; the window counts as one that was tried
		}
		w, ok := j.windowed(x, list[:k], base, dir, p)
		share := .5 // of the false discovery rate, for two runs and for three
		if behind < 3 {
			share = 1 // there are too few releases for both
		}
		w.P = math.Min(1, w.P/share)
		if ok && (best.Runs == 0 || w.P < best.P) {
			best = w
		}
	}
	best.Outliers = math.Min(1, looks*best.Outliers)
	x.joint = best
}

// summary is the count, mean and squares of a baseline.
type summary struct {
	n              int
	mean, adjusted float64
	ss, nu         float64
}

func (b *baseline) summary() summary {
	return summary{n: b.n, mean: b.mean, adjusted: b.adjusted, ss: b.s2 * b.nu, nu: b.nu}
}

// without takes an earlier run out of a baseline, where it is part of it.
func (s summary) without(e *earlier) summary {
	if !e.kept || s.n == 0 {
		return s
	}
	n := float64(s.n)
	if s.n == 1 {
		return summary{}
	}
	adjusted := (n*s.adjusted - e.z) / (n - 1)
	return summary{
		n: s.n - 1, mean: (n*s.mean - e.raw) / (n - 1), adjusted: adjusted, nu: math.Max(0, s.nu-1),
		ss: math.Max(0, s.ss-(e.z-s.adjusted)*(e.z-adjusted)),
	}
}

// grows is how far above the mean of the runs the newest lies where a change grows.
const grows = 1.2

// windowed tests some runs together. It is not ok where they do not agree that something that matters has changed: two
// runs each by what matters, of three none by less than half of it.
func (j *judge) windowed(x *test, runs []earlier, base summary, dir float64, p *prior) (joint, bool) {
	cell, o := &j.t.Cells[x.cell], &j.t.Obs[x.obs]
	var room [3]float64
	d := room[:0]
	sum := 0.
	for _, r := range runs {
		v := dir * (r.z - base.adjusted)
		d, sum = append(d, v), sum+v
	}
	slices.Sort(d)
	k := float64(len(d))
	least := cell.Delta
	if len(d) > 2 {
		least /= 2
	}
	if d[0] < least || sum/k < cell.Delta {
		return joint{}, false
	}
	ss := 0.
	for _, v := range d {
		ss += (v - sum/k) * (v - sum/k)
	}
	n := float64(base.n)
	w := joint{first: runs[len(runs)-1].obs, mean: base.mean, level: base.adjusted}
	w.Runs, w.N, w.D = len(d), base.n, dir*sum/k
	own := 0.
	if base.nu > 0 {
		own = base.ss / base.nu
	}
	s2, df := p.moderate(own, base.nu, cell.Stratum)
	s2 = math.Max(s2, j.least(o))
	// That the runs differ is part of the noise, and that they agree is evidence of how small it is. A change that
	// grows is seen again: that its second run is far worse than the first is not held against it.
	v, free := s2, df
	if newest := dir * (runs[0].z - base.adjusted); newest < grows*sum/k {
		v, free = p.moderate((base.ss+ss)/(base.nu+k-1), base.nu+k-1, cell.Stratum)
		v = math.Max(v, j.least(o))
	}
	w.sd, w.SE, w.Df = math.Sqrt(v), math.Sqrt(v*(1/k+1/n)), free
	w.P = UpperTail(sum/k/w.SE, free)
	w.Outliers = j.outlying(x, d, s2, df, n, dir)
	return w, true
}

// outlying is the probability that runs lie as far out as they do because of outliers. d is sorted, the smallest first.
func (j *judge) outlying(x *test, d []float64, s2, df, n, dir float64) float64 {
	rate := func(v float64) float64 {
		return j.outliers.rate(j.t.Cells[x.cell].Stratum, dir*v/math.Sqrt(s2*(1+1/n)), v, false)
	}
	tail := func(d []float64) float64 {
		return UpperTail(Mean(d)/math.Sqrt(s2*(1/float64(len(d))+1/n)), df)
	}
	// One that lies far beyond the others is an outlier beside a change, too, and no evidence of one.
	apart := func(v float64, d []float64) bool {
		return UpperTail((v-Mean(d))/math.Sqrt(s2*(1+1/float64(len(d)))), df) <= suspicious
	}
	return byOutliers(d, rate, tail, apart, j.outliers.again())
}

// byOutliers is the chance that one or more of some runs, those that lie furthest, are outliers and the others are
// ordinary: what happens to one run in thirty is not confirmed by happening twice. d is sorted, the smallest first.
// rate is how often a run strays as far, tail the chance of some by ordinary noise. One that is apart from the rest
// strays whether something changed or not. again is how often what strayed did so again: a number that strays twice is
// of those that do so often, so that the third of three runs is at least as likely.
func byOutliers(
	d []float64, rate func(v float64) float64, tail func(d []float64) float64, apart func(v float64, d []float64) bool,
	again float64,
) (sum float64) {
	all, some, ways := 1., 1., 1. // ways: how many of the runs may be the outliers
	for left := len(d) - 1; left > 0; left-- {
		ways *= float64(left+1) / float64(len(d)-left)
		r := rate(d[left])
		if all *= r; !apart(d[left], d[:left]) {
			some *= r
		}
		sum += ways * some * tail(d[:left])
	}
	last := rate(d[0])
	if len(d) > 2 {
		last = math.Max(last, again)
	}
	return sum + all*last
}

// jointly returns the joint tests that are discoveries over outliers, and over ordinary noise too. p values over noise
// are weighted by the noise of the cell (Genovese, Roeder and Wasserman 2006): at the same p value a real change is the
// likelier, the more the cell varies, since changes are of all sizes while chance scales with the noise. The weights
// depend on what p is independent of, and their mean over the family is one.
func (j *judge) jointly(tests []test, family int) []bool {
	passed, typical := make([]bool, len(tests)), meanNoise(tests)
	for _, dir := range []float64{1, -1} {
		at := j.recent(tests, dir)
		recent := len(at) // discoveries of the releases just before: they are part of the family
		ordinary, outlying := make([]float64, recent), make([]float64, recent)
		for i := range tests {
			if w := &tests[i].joint; w.Runs > 0 && w.D*dir > 0 {
				at = append(at, i)
				ordinary = append(ordinary, math.Min(1, w.P*typical/w.sd))
				outlying = append(outlying, w.Outliers)
			}
		}
		point := func(k int) int32 { return j.t.Cells[tests[at[k]].cell].Point }
		first := discovered(ordinary, point, family, j.rules.Lone, j.rules.JointFDR)
		second := discovered(outlying, point, family, j.rules.LoneOutlier, j.rules.OutlierFDR)
		points := map[int32]bool{} // of which a number is confirmed: the others of it are asked by themselves
		for k, i := range at {
			if outlying[k] <= second && ordinary[k] <= first {
				points[point(k)] = true
				passed[i] = passed[i] || k >= recent // recent ones did so before, and may do it the other way now
			}
		}
		for k, i := range at[recent:] {
			_, before := slices.BinarySearch(at[:recent], i)
			passed[i] = passed[i] || points[point(recent+k)] && !before &&
				outlying[recent+k] <= j.rules.LoneOutlier && tests[i].joint.P <= j.rules.SamePoint
		}
	}
	return passed
}

// meanNoise is the mean standard deviation of one release over the cells of a family.
func meanNoise(tests []test) float64 {
	sum, n := 0., 0.
	for i := range tests {
		if tests[i].ok {
			sum, n = sum+math.Sqrt(tests[i].s2), n+1
		}
	}
	return sum / math.Max(1, n)
}

// recent lists the tests of cells whose change in a direction was confirmed in one of the two releases before: a change
// of many cells is confirmed over several releases, and those that need more runs are not tested as if they were alone.
func (j *judge) recent(tests []test, dir float64) []int {
	var at []int
	for i := range tests {
		x := &tests[i]
		st, joined := &j.state[x.cell], 0
		if st.moved < j.t.Cells[x.cell].First || st.way != dir {
			continue
		}
		for k := st.moved + 1; k < x.obs && joined < 2; k++ {
			if j.joins(k) {
				joined++
			}
		}
		if joined < 2 {
			at = append(at, i)
		}
	}
	return at
}

// discovered is the largest p value at which the false discoveries to be expected are at most lone, and the rate for
// every unit beyond the first: what a release in which nothing changes shows is alone, what a change shows seldom is.
// What is of one unit, as the metrics of one point are, is one finding. It is stricter than the procedure of Benjamini
// and Hochberg, which counts each of them and allows the first one as much as any other. NaN is a test without a p
// value.
func discovered(p []float64, unit func(i int) int32, family int, lone, rate float64) float64 {
	units, limit := map[int32]bool{}, -1.
	for _, i := range ranked(p) {
		if math.IsNaN(p[i]) {
			continue
		}
		if units[unit(i)] = true; p[i]*float64(family) <= lone+rate*float64(len(units)-1) {
			limit = p[i]
		}
	}
	return limit
}

// recentHosts is the number of releases in which a cell must have been measured on another host for that to be a
// condition: a machine that is long gone settles nothing.
const recentHosts = 10

// oneHost is the host on which all runs of a cell from an observation on were made, 0 where there are several or it is
// unknown, and whether the cell was lately measured on another one too: then what they show may be the host.
func (j *judge) oneHost(cell, first, last int32) (host int16, elsewhere bool) {
	host = j.t.Obs[last].Host
	from := j.t.Obs[last].Release - recentHosts
	for i := last; i >= j.t.Cells[cell].First && (i >= first || j.t.Obs[i].Release >= from); i-- {
		o := &j.t.Obs[i]
		switch behind := i >= first && (i == last || j.joins(i)); {
		case !behind:
			elsewhere = elsewhere || o.Host != 0 && o.Host != host || o.Host2 != 0 && o.Host2 != host
		case o.Host != host || o.K2 > 0 && o.Host2 != host:
			return 0, false
		}
	}
	return host, elsewhere
}

// second is the residual change of the later runs of the release.
func (j *judge) second(x *test) float64 {
	return x.again - (x.removed - x.common)
}

// outliers counts how often values fell further from what their history predicted than ordinary noise does, in standard
// errors, and went away again: what a machine does now and then, without a change. It knows rates by stratum, drawn
// towards that of all cells; old ones are forgotten. Only past predictions are counted, never the release under
// judgement.
type outliers struct {
	strata []record
	all    record
	dfs    map[float64]int // predictions of the release by their degrees of freedom
	// gone are the outliers that went away, lasted those of them that the next run showed too: of a number with two modes
	// every other one does.
	gone, lasted float64
}

// record counts predictions, and those that failed by how many standard errors they were off.
type record struct {
	made float64
	far  counts // by how many standard errors they were off
	size counts // those that were outliers, by how much they were off
	// expected is how many fall into a bin or beyond on one side by Student's t; of the record of all cells.
	expected [levels]float64
}

// counts are numbers of predictions by direction and bin, and with all bins beyond.
type counts struct{ bins, sums [2][levels]float64 }

func (c *counts) forget() {
	for side := range c.bins {
		sum := 0.
		for b := levels - 1; b >= 0; b-- {
			c.bins[side][b] *= memory
			sum += c.bins[side][b]
			c.sums[side][b] = sum
		}
	}
}

const (
	levels = 64
	// memory is the share of what was counted that the next release keeps: half after 23 releases.
	memory = .97
	// borrowed is the weight of all cells in the rates of a stratum, in outliers.
	borrowed = 3
	// outlying is the number of standard errors from which a value is an outlier rather than a large deviation.
	outlying = 4
)

func side(dir float64) int {
	if dir > 0 {
		return 0
	}
	return 1
}

// bin is the place of a deviation: eight bins for each doubling, from 1.5 standard errors.
func bin(t float64) int { return min(levels-1, max(0, int(8*math.Log2(math.Abs(t)/1.5)))) }

// sizeBin is the place of an outlier of a size: four bins for each doubling, from a thousandth.
func sizeBin(d float64) int { return min(levels-1, max(0, int(4*math.Log2(math.Abs(d)/.001)))) }

// rate is the share of values of a cell that stray as far as one that is off by d, which is t standard errors, beyond
// those that ordinary noise explains. What a machine does to a number now and then is of a size, whatever the noise of
// the cell is: an outlier is as common as those of half its size, not as those of its standard errors, if that is more.
// sure takes the count of all cells two standard errors lower, so that chance alone raises nothing.
func (o *outliers) rate(stratum int32, t, d float64, sure bool) float64 {
	own, all := &o.strata[stratum], &o.all
	r := o.share(own, &own.far, &all.far, side(t), bin(t), bin(t), sure)
	if math.Abs(t) > outlying {
		r = math.Max(r, o.share(own, &own.size, &all.size, side(t), sizeBin(d/2), bin(outlying), sure))
	}
	return math.Min(.5, r)
}

// share is the share of predictions of a stratum that fell into a bin or beyond. sure leaves out those that are
// expected of another bin, and what chance may have added.
func (o *outliers) share(own *record, counts, all *counts, side, b, expected int, sure bool) float64 {
	count, extra := all.sums[side][b], counts.sums[side][b]
	if sure {
		count -= o.all.expected[expected] + 2*math.Sqrt(count)
		extra = math.Max(0, extra-o.all.expected[expected]*own.made/o.all.made)
	}
	if count <= 0 {
		return 0
	}
	return (borrowed + extra) / (borrowed*o.all.made/count + own.made)
}

// forget lets go of a little and brings the sums up to date, before the tests of a release.
func (r *record) forget() {
	r.made *= memory
	for b := range r.expected {
		r.expected[b] *= memory
	}
	r.far.forget()
	r.size.forget()
}

// happened counts an outlier that has gone away: how far off it was, in standard errors and as a log; negative for
// better.
func (o *outliers) happened(stratum int32, t, d float64, lasted bool) {
	if math.Abs(t) > outlying {
		if o.gone++; lasted {
			o.lasted++
		}
	}
	for _, r := range []*record{&o.all, &o.strata[stratum]} {
		r.far.bins[side(t)][bin(t)]++
		if math.Abs(t) > outlying {
			r.size.bins[side(t)][sizeBin(d)]++
		}
	}
}

// again is the share of outliers that the next run shows too, where enough of them were seen.
func (o *outliers) again() float64 {
	const enough = 20
	return o.lasted / (enough + o.gone)
}

// finish counts what a release led to expect.
func (o *outliers) finish() {
	for _, df := range slices.Sorted(maps.Keys(o.dfs)) { // in order, since sums depend on it in their last digit
		for b := range o.all.expected {
			o.all.expected[b] += float64(o.dfs[df]) * UpperTail(1.5*math.Exp2(float64(b)/8), df)
		}
	}
	clear(o.dfs)
}

// Table is the input of [Judge].
type Table struct {
	Releases []Release // in order; nothing about a release depends on later ones
	Strata   int       // number of strata
	Cells    []Cell
	Obs      []Obs // those of one cell next to each other, in release order, at most one a release
}

// Release is one release of a table.
type Release struct {
	// Joins reports whether later releases may use it in their baselines: a pull request's build is judged and never
	// joins.
	Joins bool
	// Final numbers a release and its candidates alike: these do not join, and are independent runs of that release. 0 is
	// a release without any.
	Final int32
}

// Cell is one metric of one workload on one system, within one line of releases.
type Cell struct {
	Stratum      int32   // device and metric family: cells that share a typical noise
	Line         int32   // of releases
	Device       int32   // within the line, as are the following
	Model        int32   // on any device
	System       int32   // the model on its device: cells that share the start of a server
	Curve        int32   // the workload on its system, but for its load, from 1; 0: it states none
	Point        int32   // the workload on its system: cells of one point fail together
	Tail         bool    // a percentile, which varies more than the others
	First, End   int32   // its observations
	Delta        float64 // least change that matters, as ln(1 + relative effect)
	systemMetric int32   // set by the judge
}

// Obs is what one release measured of a cell.
type Obs struct {
	Release int32
	Cond    int32   // comparability class, an index into the caller's conditions; see [Rules.Blocks]
	Z       float64 // ±ln of the value, larger is worse: the mean over the repeats of the release's first run
	Z2      float64 // the same over its later runs, which are independent of the first; valid only when K2 > 0
	K, K2   int16   // repeats behind Z and Z2
	// Host and Host2 are the machines of the first run and of later ones (another one than the first, if there is one), by
	// numbers of the caller's; 0 is unknown.
	Host, Host2 int16
	SE          float32 // least relative noise of the value: its requests' standard error, its rounding; 0 when unknown
	Pin         bool    // a person decided that a new level starts here
	Dismiss     bool    // a person decided that no new level starts here
	Accept      bool    // a person accepts the change here: it is judged, then a new level begins
}

// mean returns the observation as later baselines use it, before what is common is taken from it: all repeats of all
// runs.
func (o *Obs) mean() float64 {
	if o.K2 == 0 {
		return o.Z
	}
	return (float64(o.K)*o.Z + float64(o.K2)*o.Z2) / float64(o.K+o.K2)
}

// Rules are the parameters of the method.
type Rules struct {
	FDR float64 // false discovery rate over the cells of a release
	// GroupFDR is that over the groups of a kind, half of it for the newest run and half for windows: stricter, since one
	// group decides for hundreds of cells.
	GroupFDR float64
	// JointFDR is the false discovery rate of the newest runs together over ordinary noise where one window of them can
	// be tested, else [Rules.share] of it for each; OutlierFDR that over outliers: what repeats a rare trouble by chance.
	JointFDR, OutlierFDR float64
	// Lone and LoneOutlier are the false confirmations that a release without any change is expected to have; of false
	// suspicions it has [Rules.FDR], half of it in each direction.
	Lone, LoneOutlier float64
	SamePoint         float64 // size of the test of a number beside one of the same workload that is confirmed
	Window            int     // releases in a baseline at most
	Floor             float64 // least noise that is believed, relative
	MinPoint          int     // points that a device or system needs for the movement of a metric to be taken from them
	Agree             float64 // share of these that must lie within the effect that matters of the movement
	// Blocks reports whether two comparability classes differ in something that changes the meaning of a number. Nil:
	// never.
	Blocks func(a, b int32) bool
}

// DefaultRules returns the rules of the method page.
func DefaultRules() Rules {
	return Rules{
		FDR: FDR, GroupFDR: .005, JointFDR: .024, OutlierFDR: .10, Lone: .001, LoneOutlier: .02,
		SamePoint: .01, Window: 20, Floor: .003, MinPoint: 8, Agree: .7,
	}
}
