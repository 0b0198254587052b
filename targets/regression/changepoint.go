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
	// Dismissed says that it was confirmed and that a person decided that no level begins there: none did.
	Dismissed bool
}

// Source says who decided a change point.
type Source uint8

const (
	ByGate   Source = iota // an independent run confirmed it
	BySearch               // permutations of the history before the release
	ByPerson               // a pin
)

// search looks for steps that are too small or too noisy for the gate, in the values before the release under judgement, and
// starts new levels there. The level that holds is one segment: whatever came before it was decided already. So one split is
// proposed a cell; a new level counts from three values.
func (j *judge) search(release int32, tests []test) {
	type proposal struct {
		cell, at, obs int32
		c             *candidate
	}
	found := make([]*proposal, len(tests))
	j.each(len(tests), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if c, at := j.propose(tests[i].cell, tests[i].obs); c != nil {
				found[i] = &proposal{tests[i].cell, at, tests[i].obs, c}
			}
		}
	})
	var list []*candidate
	var open []*proposal
	for _, p := range found {
		if p != nil {
			list, open = append(list, p.c), append(open, p)
		}
	}
	if len(list) == 0 || !j.t.Releases[release].Joins {
		return
	}
	limit := resolve(list, len(tests), j.rules.FDR)
	for _, p := range open {
		if p.c.p > limit {
			continue
		}
		values, _ := j.held(p.cell, p.at, nil, nil)
		before, _ := centre(values)
		st := &j.state[p.cell]
		j.restart(p.cell, p.at)
		st.old = math.NaN()
		after, _ := j.held(p.cell, p.obs, nil, nil)
		mean, _ := centre(after)
		j.out.ChangePoints = append(j.out.ChangePoints, ChangePoint{Cell: p.cell, At: p.at, Found: release, D: mean - before, P: p.c.p, Source: BySearch})
	}
}

// held appends the values of the level that holds before an observation to values, and their indexes to at.
func (j *judge) held(cell, before int32, values []float64, at []int32) ([]float64, []int32) {
	for i := j.state[cell].from; i < before; i++ {
		if j.joins(i) && !j.rows[i].out {
			values, at = append(values, j.adj[i]), append(at, i)
		}
	}
	return values, at
}

// remarkable is the squared t of a split below which no permutation is made: with the splits that a history offers, chance
// exceeds it about twice in ten thousand, and a step must be a good deal rarer than that to pass among thousands of cells.
const remarkable = 26

// looked says after how many values a step is looked for: the gate has had its say by the third, and looking again after every
// value would only multiply the chances of being wrong.
func looked(after int) bool {
	switch after {
	case 3, 4, 6, 9, 13, 19:
		return true
	}
	return false
}

// propose splits the level that holds where that explains most. A split that a normal approximation finds unremarkable is not
// worth a permutation; the approximation never accepts one.
func (j *judge) propose(cell, obs int32) (*candidate, int32) {
	const fewest, least = 8, 3
	st := &j.state[cell]
	if obs-st.from < fewest || st.suspect >= 0 {
		return nil, 0
	}
	var buf [64]float64
	values, at := j.held(cell, obs, buf[:0], make([]int32, 0, 64))
	if len(values) < fewest {
		return nil, 0
	}
	_, ss := centre(values)
	g, k := gain(values, least)
	n := float64(len(values))
	if k == 0 || !looked(len(values)-k) || g*(n-2) < remarkable*(ss-g) || j.t.Obs[at[k]].Dismiss {
		return nil, 0
	}
	seed := uint64(cell)
	if j.rules.Seed != nil {
		seed = j.rules.Seed(int(cell))
	}
	return newCandidate(values, least, seed+uint64(at[k])), at[k]
}
