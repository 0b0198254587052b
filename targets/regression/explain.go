package regression

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Calculation is everything behind one row, so that a reader can repeat it by hand. Values are on the log scale.
type Calculation struct {
	Row      Row
	Obs      Obs
	Baseline []BaselineValue
	Mean     float64 // of the adjusted baseline
	S2, Nu   float64 // own variance and its degrees of freedom
	D0, S02  float64 // of all cells of the release: weight in degrees of freedom, typical variance of the stratum
	Variance float64 // moderated, floors included
	Floor    float64 // least variance
	Df       float64
	SE       float64
	T, P     float64 // of the residual change, one-sided in its direction
	Rank     int     // of its point among those by the p values of its direction, 1 for the smallest
	Limit    float64 // of p for that rank
	Passing  int     // how many pass
	Family   int     // cells tested in the release
	Shift    float64 // change of its groups, which is taken from it
	D        float64 // residual change
	Delta    float64 // effect that matters
	Again    *Second // nil where the newest runs do not agree on a change that matters
}

// BaselineValue is one release of a baseline.
type BaselineValue struct {
	Release  int32
	Z        float64 // mean of its repeats
	Adjusted float64 // without what is common to its group in its release
	K        int
}

// Second is the test of independent runs: the newest two or three together.
type Second struct {
	Release  int32   // of the oldest of them
	Runs     int     // together
	N        int     // releases of the baseline before them
	D        float64 // mean residual change
	SE, Df   float64
	P        float64 // that ordinary noise moves all of them so far, by the share that the window has
	Outliers float64 // that some or all of them are outliers and the others ordinary noise
}

// Explain judges again up to one release and returns the calculation of one cell in it. It fails when the cell was not
// measured there, or when ctx is done.
func Explain(ctx context.Context, t *Table, rules Rules, cell, release int32) (*Calculation, error) {
	j, at := newJudge(t, rules), int32(-1)
	var found *Calculation
	err := j.upTo(ctx, release, func(tests []test, between *prior, passed []int8) {
		i := slices.IndexFunc(tests, func(x test) bool { return x.cell == cell })
		if i >= 0 && t.Obs[tests[i].obs].Release == release {
			at, found = tests[i].obs, j.calculation(&tests[i], tests, between, passed)
		}
	})
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, fmt.Errorf("cell %d was not measured in release %d", cell, release)
	}
	found.Row = j.rows[at]
	return found, nil
}

// calculation is that of a test, before the words of the release are decided.
func (j *judge) calculation(x *test, tests []test, between *prior, passed []int8) *Calculation {
	cell, o := &j.t.Cells[x.cell], j.t.Obs[x.obs]
	r := &Calculation{
		Obs: o, Baseline: j.listed(x), Mean: x.base.mean, S2: x.base.s2, Nu: x.base.nu,
		D0: between.d0, S02: math.NaN(), Variance: x.s2, Floor: j.least(&o),
		Df: x.df, SE: x.se, T: x.t, P: math.NaN(), Shift: x.removed, D: x.d, Delta: cell.Delta,
	}
	if between.known {
		r.S02 = between.s02[cell.Stratum]
	}
	if !x.ok {
		return r
	}
	r.P = UpperTail(math.Abs(x.t), x.df)
	r.rank(j, x, tests, passed)
	if x.joint.Runs > 0 {
		again := x.joint.Second // what a group decides afterwards writes into the test
		again.Release = j.t.Obs[x.joint.first].Release
		r.Again = &again
	}
	return r
}

// rank fills in the rank of a test among those of its release.
func (r *Calculation) rank(j *judge, x *test, tests []test, passed []int8) {
	points := map[int32]bool{j.t.Cells[x.cell].Point: true}
	for i := range tests {
		y := &tests[i]
		if !y.ok {
			continue
		}
		r.Family++
		if y.d*x.d > 0 && y.p < r.P {
			points[j.t.Cells[y.cell].Point] = true
		}
		if passed[i] != 0 && y.d*x.d > 0 {
			r.Passing++
		}
	}
	r.Rank = len(points) // see discovered
	r.Limit = j.rules.FDR * (float64(r.Rank) - .5) / float64(r.Family)
}

// listed returns the baseline's values, oldest first.
func (j *judge) listed(x *test) []BaselineValue {
	var out []BaselineValue
	for i := j.state[x.cell].from; i < x.obs; i++ {
		o := &j.t.Obs[i]
		if !j.joins(i) || j.isOut[i] || j.blocked(o.Cond, j.t.Obs[x.obs].Cond) {
			continue
		}
		out = append(out, BaselineValue{Release: o.Release, Z: o.mean(), Adjusted: j.values[i].z, K: int(o.K + o.K2)})
	}
	return out[max(0, len(out)-j.rules.Window):]
}
