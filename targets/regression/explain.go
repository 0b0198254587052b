package regression

import (
	"context"
	"fmt"
	"math"
)

// Calculation is everything behind one row, so that a sceptic can do it again with a calculator. Values are on the log scale.
type Calculation struct {
	Row      Row
	Obs      Obs
	Baseline []BaselineValue
	Mean     float64 // of the adjusted baseline
	S2, Nu   float64 // own variance and its degrees of freedom
	D0, S02  float64 // what all cells of the release say: weight in degrees of freedom, typical variance of the stratum
	Variance float64 // moderated, floors included
	Sw2      float64 // between repeats of one run, moderated; NaN without repeats
	Floor    float64 // least variance believed
	Df       float64
	SE       float64
	T, P     float64 // of the residual change, one-sided in its direction
	Rank     int     // among the p values of its direction, 1 for the smallest
	Passing  int     // how many of them pass
	Family   int     // cells tested in the release
	Shift    float64 // run-wide level removed from this release
	Change   float64 // of that level against the one that holds
	D        float64 // residual change
	Delta    float64 // effect that matters
	Again    *Second
}

// BaselineValue is one release of a baseline.
type BaselineValue struct {
	Release  int32
	Z        float64 // mean of its repeats
	Adjusted float64 // with the run-wide shift of its release removed
	K        int
}

// Second is the test of an independent run.
type Second struct {
	Release int32   // that saw the change first
	D1, D2  float64 // residual changes, first and second
	Mean    float64 // of the second, given the first, under no change
	SE, Df  float64 // of the second given the first
	P, Size float64
	Odds    float64 // of a change against chance, after both
}

// Explain judges again up to one release and returns the reckoning of one cell in it.
func Explain(ctx context.Context, t *Table, rules Rules, cell, release int32) (*Calculation, error) {
	p := &probe{cell: cell, release: release}
	j, err := judgeWith(ctx, t, rules, p)
	if err != nil {
		return nil, err
	}
	if p.found == nil {
		return nil, fmt.Errorf("cell %d was not measured in release %d", cell, release)
	}
	p.found.Row = j.Rows[p.obs]
	return p.found, nil
}

// probe waits for one cell in one release.
type probe struct {
	cell, release, obs int32
	found              *Calculation
	done               bool
}

// capture is called between the tests of a release and the words that follow from them.
func (p *probe) capture(j *judge, release int32, tests []test, between, within *prior, passed []int8) {
	if release != p.release {
		return
	}
	p.done = true
	for i := range tests {
		if x := &tests[i]; x.cell == p.cell {
			p.obs = x.obs
			p.found = j.reckon(x, between, within, tests, passed)
			return
		}
	}
}

func (j *judge) reckon(x *test, between, within *prior, tests []test, passed []int8) *Calculation {
	cell, o := &j.t.Cells[x.cell], j.t.Obs[x.obs]
	s := &j.strata[cell.Stratum]
	r := &Calculation{Obs: o, Mean: x.base.mean, S2: x.base.s2, Nu: x.base.nu, D0: between.d0, S02: math.NaN(), Variance: x.s2, Sw2: math.NaN(), Floor: j.least(&o), Df: x.df, SE: x.se, T: x.t,
		P: math.NaN(), Shift: s.now, Change: s.change, D: x.d, Delta: cell.Delta, Passing: 0}
	if between.known {
		r.S02 = between.s02[cell.Stratum]
	}
	if within.known {
		r.Sw2, _ = within.moderate(x.base.ssw/math.Max(1, x.base.nuw), x.base.nuw, cell.Stratum)
	}
	r.Baseline = j.listed(x)
	if !x.ok {
		return r
	}
	r.P = UpperTail(math.Abs(x.t), x.df)
	r.Rank = 1
	for i := range tests {
		y := &tests[i]
		if !y.ok {
			continue
		}
		r.Family++
		if y.d*x.d > 0 && !math.IsNaN(y.p) && y.p < r.P {
			r.Rank++
		}
		if passed[i] != 0 && y.d*x.d > 0 {
			r.Passing++
		}
	}
	st := &j.state[x.cell]
	defer func() {
		if a := r.Again; a != nil {
			a.Mean, a.SE, a.Df = j.given(x, a.D1, a.D2, between)
		}
	}()
	switch {
	case st.suspect >= 0:
		d1 := j.adj[st.suspect] - x.base.mean
		r.Again = &Second{Release: j.t.Obs[st.suspect].Release, D1: d1, D2: x.d, P: j.again(x, d1, x.d, st.dir, between), Size: j.size(x.base.n), Odds: j.odds(x, d1, x.d, st.share, between)}
	case o.K2 > 0:
		d2 := o.Z2 - s.now - x.base.mean
		r.Again = &Second{Release: o.Release, D1: x.d, D2: d2, P: j.again(x, x.d, d2, math.Copysign(1, x.d), between), Size: j.size(x.base.n), Odds: j.odds(x, x.d, d2, j.share(x.d), between)}
	}
	return r
}

// listed gives the baseline's values, oldest first.
func (j *judge) listed(x *test) []BaselineValue {
	var out []BaselineValue
	st := &j.state[x.cell]
	for i := st.from; i < x.obs; i++ {
		o := &j.t.Obs[i]
		if !j.joins(i) || j.rows[i].out || (j.rules.Blocks != nil && o.Cond != j.t.Obs[x.obs].Cond && j.rules.Blocks(o.Cond, j.t.Obs[x.obs].Cond)) {
			continue
		}
		out = append(out, BaselineValue{Release: o.Release, Z: o.mean(), Adjusted: j.adj[i], K: int(o.K + o.K2)})
	}
	if len(out) > j.rules.Window {
		out = out[len(out)-j.rules.Window:]
	}
	return out
}

// Repeats says how many repeats of one release would settle a noisy cell (method page, "how many repeats"): the number, or 0 and
// how many more releases when no number of repeats would. All on the log scale.
func Repeats(r *Calculation) (repeats, releases int) {
	n := float64(len(r.Baseline))
	if n == 0 || r.SE == 0 {
		return 0, 0
	}
	sw2, sb2 := r.Sw2, 0.
	if math.IsNaN(sw2) || sw2 <= 0 {
		sw2 = r.Variance // without repeats all of the noise may be within a run or between runs: the hopeful reading
	} else {
		inverse := 0.
		for _, b := range r.Baseline {
			inverse += 1 / float64(b.K)
		}
		sb2 = math.Max(0, r.Variance-sw2*inverse/n)
	}
	return Settle(r.Delta, r.Variance, sw2, sb2, Wanted(r.Df), n)
}

// Wanted is how many standard errors the effect that matters must be, so that sameness is shown at 5 % with power 80 %.
func Wanted(df float64) float64 { return Quantile(.95, df) + Quantile(.80, df) }

// Settle says how many repeats of one release bring the interval of a change within the effect that matters, or 0 and how many more
// releases would: variance is that of one release, of which within is between repeats and between is between releases, want is
// [Wanted], n the releases of the baseline.
func Settle(delta, variance, within, between, want, n float64) (repeats, releases int) {
	room := delta*delta/(want*want) - between - variance/n
	if room > 0 {
		return int(math.Ceil(within / room)), 0
	}
	// More releases shrink s²/n alone: solve Δ²/want² = s²(1 + 1/n) for n, where that has an answer.
	if more := delta*delta/(want*want)/variance - 1; more > 0 {
		return 0, max(1, int(math.Ceil(1/more-n)))
	}
	return 0, 0
}
