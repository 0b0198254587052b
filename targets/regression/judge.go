package regression

import (
	"context"
	"math"
	"runtime"
	"sync"
)

type judge struct {
	t      *Table
	rules  Rules
	out    *Judgement
	rows   []Row
	adj    []float64 // observations as later baselines use them: all their runs, without the run-wide shift
	state  []state
	strata []stratum
	probe  *probe

	strays  [2]strays // of strata and of systems
	groups  []stratum // a system within a stratum each
	systems []int32   // by group
	devices []int32   // by stratum
	groupOf []int32   // by cell; -1

	scratch scratch

	outliers         outliers
	control          []control     // by stratum, of the later runs of the release
	sizes            map[int32]int // cells by system, of those that were measured so far
	systemsIn        []int         // by stratum: systems that were measured so far
	known            map[part]bool // systems of a stratum that were measured so far
	tested, exceeded int           // forward predictions so far
}

// scratch holds buffers that every release reuses.
type scratch struct {
	tests          []test
	qs             []float32
	passed         []int8
	joint          []bool
	s2, nu, sw, nw []float64
	stratum        []int32
	seen           []int32 // by point: the mark of the stratum that saw it last
	mark           int32
}

// grow returns a slice of n elements that reuses its memory; its content is undefined.
func grow[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n)
	}
	return (*s)[:n]
}

// Judge judges the releases in order. It stops early only when ctx is done.
func Judge(ctx context.Context, t *Table, rules Rules) (*Judgement, error) {
	return judgeWith(ctx, t, rules, nil, nil)
}

// JudgeOn is [Judge], and goes on from an earlier judgement of a shorter history where that holds. What it returns is
// the same to the last bit.
func JudgeOn(ctx context.Context, t *Table, rules Rules, k *Keeping) (*Judgement, error) {
	return judgeWith(ctx, t, rules, nil, k)
}

func judgeWith(ctx context.Context, t *Table, rules Rules, p *probe, k *Keeping) (*Judgement, error) {
	j := newJudge(t, rules, p)
	j.resume(k)
	list, cellOf := order(t)
	for r := range t.Releases {
		if k != nil && r < k.Began {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r == len(t.Releases)-1 {
			j.keep(k, r)
		}
		j.release(int32(r), list[r], cellOf)
		if p != nil && p.done {
			break
		}
	}
	return j.out, nil
}

func newJudge(t *Table, rules Rules, p *probe) *judge {
	j := &judge{
		t: t, rules: rules, probe: p,
		out:    &Judgement{Rows: make([]Row, len(t.Obs)), Fits: make([]Fit, len(t.Releases))},
		adj:    make([]float64, len(t.Obs)),
		state:  make([]state, len(t.Cells)),
		strata: make([]stratum, t.Strata), outliers: newOutliers(t.Strata, len(t.Cells)),
		control: make([]control, t.Strata), sizes: map[int32]int{},
		systemsIn: make([]int, t.Strata), known: map[part]bool{},
	}
	j.rows, j.out.adj = j.out.Rows, j.adj
	nan := float32(math.NaN())
	for i := range j.rows {
		j.rows[i] = Row{Finding: -1, First: -1, P: nan, Q: nan}
	}
	for i := range j.state {
		j.state[i] = state{from: t.Cells[i].First, suspect: -1, moved: -1, old: math.NaN()}
	}
	for i := range j.strata {
		j.strata[i] = stratum{suspect: -1, finding: -1}
	}
	j.group()
	return j
}

// order lists the observations of every release, and the cell of each observation.
func order(t *Table) (byRelease [][]int32, cellOf []int32) {
	count := make([]int, len(t.Releases))
	cellOf = make([]int32, len(t.Obs))
	for c := range t.Cells {
		for i := t.Cells[c].First; i < t.Cells[c].End; i++ {
			cellOf[i] = int32(c)
			count[t.Obs[i].Release]++
		}
	}
	all := make([]int32, len(t.Obs))
	byRelease = make([][]int32, len(t.Releases))
	at := 0
	for r, n := range count {
		byRelease[r] = all[at : at : at+n]
		at += n
	}
	for c := range t.Cells {
		for i := t.Cells[c].First; i < t.Cells[c].End; i++ {
			r := t.Obs[i].Release
			byRelease[r] = append(byRelease[r], i)
		}
	}
	return byRelease, cellOf
}

// each splits work over the processors.
func (j *judge) each(n int, do func(lo, hi int)) {
	parts := min(runtime.GOMAXPROCS(0), n/512+1)
	if parts < 2 {
		do(0, n)
		return
	}
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() { do(n*p/parts, n*(p+1)/parts) })
	}
	wg.Wait()
}

// release judges one release, in the order given in the package comment.
func (j *judge) release(release int32, obs, cellOf []int32) {
	j.arrive(obs, cellOf)
	tests := grow(&j.scratch.tests, len(obs))
	j.each(len(obs), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			tests[i] = test{obs: obs[i], cell: cellOf[obs[i]], group: j.groupIn(cellOf[obs[i]])}
			j.pinned(&tests[i])
		}
	})
	j.listPins(release, tests)
	j.each(len(obs), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x := &tests[i]
			j.baseline(x.cell, x.obs, &x.base)
			x.d = j.t.Obs[x.obs].Z - x.base.mean
		}
	})
	j.shifts(release, tests)
	p, within := j.fit(tests)
	j.begin(tests)
	j.run(tests, &p, &within)
	j.controls(tests)
	family, passed, qs := j.discoveries(tests)
	again := j.again(tests, family, &p)
	j.predictions(tests)
	j.out.Fits[release] = Fit{
		Cells: family, D0: p.d0, Sd: j.typicalSd(&p, tests), S0: p.s02, SumNu: p.sumNu,
		Tested: j.tested, Exceeded: j.exceeded, Shown: j.sensitivity(tests, family),
	}
	if j.probe != nil {
		j.probe.capture(j, release, tests, &p, &within, passed)
	}
	q := Quantiles{}
	for i := range tests {
		j.decide(release, &tests[i], float64(passed[i]), again[i], qs[i], &q)
	}
	j.outliers.finish(j.sizes)
}

// begin prepares what is known of outliers for a release.
func (j *judge) begin(tests []test) {
	used := make([]bool, j.t.Strata)
	for i := range tests {
		used[j.t.Cells[tests[i].cell].Stratum] = true
	}
	j.outliers.begin(used)
}

// again tests the newest runs of every cell together, and returns what they show.
func (j *judge) again(tests []test, family int, p *prior) []bool {
	j.each(len(tests), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			j.together(&tests[i], p)
			j.lasting(&tests[i], p)
		}
	})
	passed := grow(&j.scratch.joint, len(tests))
	clear(passed)
	j.jointly(tests, family, passed)
	j.smalls(tests, family)
	return passed
}

// discoveries applies the false discovery procedure to the tests of a release, separately for each direction: which
// pass and in which direction, and the q values of those that come near. The family of both directions is all tests
// that were made.
func (j *judge) discoveries(tests []test) (family int, passed []int8, qs []float32) {
	for i := range tests {
		if tests[i].ok {
			family++
		}
	}
	qs = grow(&j.scratch.qs, len(tests))
	for i := range qs {
		qs[i] = float32(math.NaN())
	}
	passed = grow(&j.scratch.passed, len(tests))
	clear(passed)
	discover(tests, 1, family, j.rules.FDR, qs, passed)
	discover(tests, -1, family, j.rules.FDR, qs, passed)
	return family, passed, qs
}

// pinned starts a new level where a person decided that one starts.
func (j *judge) pinned(x *test) {
	st := &j.state[x.cell]
	if j.t.Obs[x.obs].Pin && st.from != x.obs {
		j.restart(x.cell, x.obs)
		st.suspect, st.old, st.extreme = -1, math.NaN(), 0
	}
}

// listPins records the levels that people started in a release.
func (j *judge) listPins(release int32, tests []test) {
	for i := range tests {
		x := &tests[i]
		if !j.t.Obs[x.obs].Pin || j.state[x.cell].from != x.obs {
			continue
		}
		last := x.obs - 1
		if last < j.t.Cells[x.cell].First {
			continue // the history starts there in any case
		}
		j.out.ChangePoints = append(j.out.ChangePoints, ChangePoint{
			Cell: x.cell, At: x.obs, Found: release,
			D: j.t.Obs[x.obs].mean() - j.t.Obs[last].mean(), P: math.NaN(), Source: ByPerson,
		})
	}
}

// fit estimates the noise of the release: between releases, and between repeats of one run.
func (j *judge) fit(tests []test) (between, within prior) {
	k := &j.scratch
	s2, nu, stratum := grow(&k.s2, len(tests)), grow(&k.nu, len(tests)), grow(&k.stratum, len(tests))
	sw, nw := grow(&k.sw, len(tests)), grow(&k.nw, len(tests))
	repeats := false
	for i := range tests {
		x := &tests[i]
		s2[i], nu[i], stratum[i] = x.base.s2, x.base.nu, j.t.Cells[x.cell].Stratum
		sw[i], nw[i] = 0, x.base.nuw
		if x.base.nuw > 0 {
			sw[i], repeats = x.base.ssw/x.base.nuw, true
		}
	}
	if repeats {
		within = fitPrior(sw, nw, stratum, j.t.Strata)
	}
	return fitPrior(s2, nu, stratum, j.t.Strata), within
}

// predictions counts how often a new value fell outside what its history predicted at 2 %, both sides together, for
// cells with five releases before this one. It describes the method on these data and never affects a verdict.
func (j *judge) predictions(tests []test) {
	q := Quantiles{}
	for i := range tests {
		if x := &tests[i]; x.ok && x.base.n >= 2 && j.joins(x.obs) {
			j.outliers.predicted(x.cell, j.t.Cells[x.cell].Stratum, x.df)
		}
		if x := &tests[i]; x.ok && x.base.n >= 5 {
			j.tested++
			if math.Abs(x.t) > q.of(x.df).t99 {
				j.exceeded++
			}
		}
	}
}
