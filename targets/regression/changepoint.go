package regression

import "math"

// ChangePoint is a step in a cell's history that was accepted: later baselines begin there.
type ChangePoint struct {
	Cell   int32
	At     int32   // observation with which the new level begins
	Found  int32   // release that decided it
	D      float64 // log change against the level before; positive is worse
	P      float64 // by permutation; NaN where the gate confirmed it or a person pinned it
	Source Source
	// Dismissed: it was confirmed, but a person decided that no level begins there.
	Dismissed bool
}

// Source is what decided a change point.
type Source uint8

const (
	ByGate   Source = iota // an independent run confirmed it
	BySearch               // permutations of the history before the release
	ByPerson               // a pin
)

// restart begins a new level at an observation. The noise of the level before is kept.
func (j *judge) restart(cell, at int32) {
	st := &j.state[cell]
	values, _ := j.held(cell, at, nil, nil)
	if len(values) > 1 {
		_, ss := centre(values)
		st.ss += ss
		st.nu += float64(len(values) - 1)
	}
	st.from = at
}

// accept starts a new level at an observation, so that one change is reported once. Where a person dismissed it, the
// current level continues without its values: they are neither a level nor noise.
func (j *judge) accept(c *claim, at int32, dir float64) {
	st := &j.state[c.x.cell]
	old := c.x.base.mean
	dismissed := j.t.Obs[at].Dismiss
	for i := at; i <= c.x.obs; i++ {
		j.rows[i].out = dismissed
	}
	j.out.ChangePoints = append(j.out.ChangePoints, ChangePoint{
		Cell: c.x.cell, At: at, Found: c.release, D: c.x.d, P: math.NaN(), Source: ByGate, Dismissed: dismissed,
	})
	back := st.back
	st.suspect, st.back = -1, false
	if dismissed {
		return
	}
	j.restart(c.x.cell, at)
	st.old = math.NaN()
	if dir > 0 && !back {
		st.old = old
	}
}

// accepted starts a level where a person accepted a change.
func (j *judge) accepted(x *test) {
	st := &j.state[x.cell]
	if st.from == x.obs {
		return
	}
	j.rows[x.obs].out = false
	j.restart(x.cell, x.obs)
	st.suspect, st.back, st.old = -1, false, math.NaN()
	j.out.ChangePoints = append(j.out.ChangePoints, ChangePoint{
		Cell: x.cell, At: x.obs, Found: j.t.Obs[x.obs].Release, D: x.d, P: math.NaN(), Source: ByPerson,
	})
}

// search looks for change points that are too small or too noisy for the gate, in the values before the release that
// is judged, and starts new levels there. It searches the current level only, since earlier ones were decided
// already, and proposes one split for each cell. A new level needs three values.
func (j *judge) search(release int32, tests []test) {
	found := grow(&j.scratch.found, len(tests))
	j.each(len(tests), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			found[i] = j.propose(tests[i].cell, tests[i].obs)
		}
	})
	var list []*candidate
	for _, c := range found {
		if c != nil {
			list = append(list, c)
		}
	}
	if len(list) == 0 || !j.t.Releases[release].Joins {
		return
	}
	limit := resolve(list, len(tests), j.rules.FDR)
	for _, c := range list {
		if c.p <= limit {
			j.split(release, c)
		}
	}
}

// split starts a new level where the search found one.
func (j *judge) split(release int32, c *candidate) {
	values, _ := j.held(c.cell, c.at, nil, nil)
	before, _ := centre(values)
	j.restart(c.cell, c.at)
	j.state[c.cell].old = math.NaN()
	after, _ := j.held(c.cell, c.obs, nil, nil)
	mean, _ := centre(after)
	j.out.ChangePoints = append(j.out.ChangePoints, ChangePoint{
		Cell: c.cell, At: c.at, Found: release, D: mean - before, P: c.p, Source: BySearch,
	})
}

// held appends the values of the current level before an observation to values, and their indexes to at.
func (j *judge) held(cell, before int32, values []float64, at []int32) ([]float64, []int32) {
	for i := j.state[cell].from; i < before; i++ {
		if j.joins(i) && !j.rows[i].out {
			values, at = append(values, j.adj[i]), append(at, i)
		}
	}
	return values, at
}

// remarkable is the squared t of a split below which no permutation is made: over the splits of a history, chance
// exceeds it about twice in ten thousand, and a change point must be much rarer than that to pass among thousands of
// cells.
const remarkable = 26

// looked reports whether to search after this many values of a level: the gate has decided by the third, and
// searching after every value would only add false discoveries.
func looked(after int) bool {
	switch after {
	case 3, 4, 6, 9, 13, 19:
		return true
	}
	return false
}

// propose returns the split of the current level that explains most. A normal approximation drops unremarkable splits
// before permutations are made; it never accepts one.
func (j *judge) propose(cell, obs int32) *candidate {
	const fewest, least = 8, 3
	st := &j.state[cell]
	if obs-st.from < fewest || st.suspect >= 0 {
		return nil
	}
	var buf [64]float64
	values, at := j.held(cell, obs, buf[:0], make([]int32, 0, 64))
	if len(values) < fewest {
		return nil
	}
	_, ss := centre(values)
	g, k := gain(values, least)
	n := float64(len(values))
	if k == 0 || !looked(len(values)-k) || g*(n-2) < remarkable*(ss-g) || j.t.Obs[at[k]].Dismiss {
		return nil
	}
	seed := uint64(cell)
	if j.rules.Seed != nil {
		seed = j.rules.Seed(int(cell))
	}
	c := newCandidate(values, least, seed+uint64(at[k]))
	c.cell, c.at, c.obs = cell, at[k], obs
	return c
}
