package regression

import "math"

// ChangePoint is a step in a cell's history that was accepted: later baselines begin there.
type ChangePoint struct {
	Cell   int32
	At     int32   // observation with which the new level begins
	Found  int32   // release that decided it
	D      float64 // log change against the level before, of all runs that decided it; positive is worse
	SE, Df float64 // of D; 0 where no test decided it
	Runs   int     // that decided it together; 0: no test did
	Shift  float64 // run-wide change of the release that decided it, which D is without
	P      float64 // by permutation; NaN where the gate confirmed it or a person pinned it
	Source Source
	// Dismissed: it was confirmed, but a person decided that no level begins there.
	Dismissed bool
}

// Source is what decided a change point.
type Source uint8

const (
	ByGate   Source = iota // an independent run confirmed it
	BySearch               // permutations of the history up to a release: drawn, and no part of a verdict
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
	w := &c.x.joint
	dismissed := j.t.Obs[at].Dismiss
	for i := at; i <= c.x.obs; i++ {
		if dismissed {
			j.rows[i].exclude(j.t.Obs[i].Release, c.release)
		} else {
			j.rows[i].readmit(c.release)
		}
	}
	if at < c.x.obs && j.rows[at].Evidence == Suspected {
		j.rows[at].Follow = c.release + 1
	}
	j.out.ChangePoints = append(j.out.ChangePoints, ChangePoint{
		Cell: c.x.cell, At: at, Found: c.release, D: w.d, P: math.NaN(), Source: ByGate, Dismissed: dismissed,
		SE: w.se, Df: w.df, Runs: w.runs, Shift: c.x.shift,
	})
	j.close(c.x.cell)
	if dismissed {
		return
	}
	j.restart(c.x.cell, at)
	st.moved, st.way = c.x.obs, dir
	st.old = math.NaN()
	if dir > 0 {
		st.old = w.mean
	}
}

// accepted starts a level where a person accepted a change.
func (j *judge) accepted(x *test) {
	st := &j.state[x.cell]
	if st.from == x.obs {
		return
	}
	j.rows[x.obs].out = false // which it was in this release alone
	j.restart(x.cell, x.obs)
	st.suspect, st.extreme, st.old = -1, 0, math.NaN()
	j.out.ChangePoints = append(j.out.ChangePoints, ChangePoint{
		Cell: x.cell, At: x.obs, Found: j.t.Obs[x.obs].Release, D: x.d, P: math.NaN(), Source: ByPerson,
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
