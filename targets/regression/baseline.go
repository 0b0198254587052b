package regression

import (
	"math"
	"slices"
)

// baseline is what is known of a cell before a release.
type baseline struct {
	n       int     // releases in the baseline
	mean    float64 // of their adjusted values
	s2, nu  float64 // variance between releases, and its degrees of freedom
	ssw     float64 // squared deviations of repeats within runs
	nuw     float64 // their degrees of freedom
	inverse float64 // Σ 1/k over its releases
	blocked int     // earlier observations that conditions rule out
	earlier int     // earlier observations in all
	last    int32   // the newest earlier observation, comparable or not; -1 when there is none
	prev    [2]earlier
	prevs   int // how many of prev there are
}

// earlier is one of the newest runs before a release: a run that may be part of a change that has not been confirmed.
type earlier struct {
	obs  int32
	z    float64
	kept bool // it is in the baseline
}

// kbar is the harmonic mean of the repeats of the baseline's releases.
func (b *baseline) kbar() float64 { return float64(b.n) / b.inverse }

// state is the judge's state of a cell between releases.
type state struct {
	from    int32   // first observation of the level that holds
	seen    int     // releases that saw the open change again, and were not enough
	suspect int32   // observation with which an open change begins, which no later run has settled; -1
	dir     float64 // of the open change: +1 a regression, −1 an improvement
	gated   bool    // the open change passed the gate and was reported; else it only waits
	extreme float64 // t of a large deviation that may yet be an outlier; 0: none
	off     float64 // its change
	stays   int     // releases in which it stayed
	old     float64 // level before the last confirmed regression; NaN when there is none to return to
	moved   int32   // observation that confirmed the last change; -1
	way     float64 // in which it changed
	ss, nu  float64 // squared deviations and degrees of freedom of earlier levels
}

// baseline gathers the baseline of observation now of a cell.
func (j *judge) baseline(cell, now int32, into *baseline) {
	st := &j.state[cell]
	*into = baseline{last: -1}
	var buf, at = [32]float64{}, [32]int32{}
	values, in := buf[:0], at[:0]
	var outs []int32
	cond := j.t.Obs[now].Cond
	for i := now - 1; i >= j.t.Cells[cell].First && len(values) < j.rules.Window; i-- {
		if i < st.from && len(values) > 0 {
			break
		}
		if !j.joins(i) {
			continue
		}
		into.earlier++
		if into.last < 0 {
			into.last = i
		}
		o := &j.t.Obs[i]
		if j.blocked(o.Cond, cond) {
			into.blocked++
			continue
		}
		if i < st.from {
			continue
		}
		out, open := j.rows[i].out, st.suspect >= 0 && i >= st.suspect
		if !out || open {
			into.precede(earlier{i, j.adj[i], !out})
		} else {
			outs = append(outs, i)
		}
		if out {
			continue
		}
		values, in = append(values, j.adj[i]), append(in, i)
	}
	if k := broken(values); k >= 0 {
		j.rows[in[k]].exclude(j.t.Obs[in[k]].Release, j.t.Obs[now].Release)
		values, in = slices.Delete(values, k, k+1), slices.Delete(in, k, k+1)
	}
	for _, i := range j.agreed(values, outs) {
		values, in = append(values, j.adj[i]), append(in, i)
	}
	for _, i := range in {
		into.add(&j.t.Obs[i])
	}
	into.estimate(values, st)
}

// broken finds the value of a baseline that is of a run which went wrong: it alone lies at twice or half the others,
// and at ten times their noise; -1 for none. Where a history begins with one, no earlier value shows that it is an
// outlier; as a part of the baseline it would hide every change for as long as it is in the window.
//
// Of fewer than five only the oldest is: two later ones that agree tell that nobody returned to it.
func broken(values []float64) int {
	const least, few, noises = 3, 5, 10
	if len(values) < least || slices.Max(values)-slices.Min(values) <= math.Ln2 {
		return -1
	}
	var buf [32]float64
	middle := median(append(buf[:0], values...))
	off := buf[:0]
	for _, v := range values {
		off = append(off, math.Abs(v-middle))
	}
	limit := math.Max(math.Ln2, noises*1.4826*median(off))
	at := -1
	for i, v := range values {
		if math.Abs(v-middle) <= limit {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	if len(values) < few && at != len(values)-1 { // the newest come first
		return -1
	}
	return at
}

// estimate is the mean and variance of the values of a baseline.
func (b *baseline) estimate(values []float64, st *state) {
	b.n = len(values)
	ss := 0.
	b.mean, ss = centre(values)
	b.nu = math.Max(0, float64(b.n-1))
	if b.n < 3 && !noisier(ss, b.nu, st) { // too few to know their own noise: that of earlier levels is added
		ss += st.ss
		b.nu += st.nu
	}
	if b.nu > 0 {
		b.s2 = ss / b.nu
	}
}

// noisier reports whether two values scatter more than the levels before them: then these say nothing of their noise.
func noisier(ss, nu float64, st *state) bool {
	return nu == 1 && st.ss > 0 && Noisier(Noise{Variance: ss, Df: nu}, Noise{Variance: st.ss / st.nu, Df: st.nu})
}

// Noisier reports whether a variance is larger than an earlier one as it is one time in a hundred by chance: an F test.
func Noisier(now, earlier Noise) bool {
	const chance = .01
	return FTail(now.Variance/earlier.Variance, now.Df, earlier.Df) < chance
}

// precede notes one of the newest runs before the release.
func (b *baseline) precede(e earlier) {
	if b.prevs < len(b.prev) {
		b.prev[b.prevs] = e
		b.prevs++
	}
}

// add counts the repeats of one release.
func (b *baseline) add(o *Obs) {
	b.ssw += float64(o.SS)
	b.nuw += float64(o.K-1) + math.Max(0, float64(o.K2-1))
	b.inverse += 1 / float64(o.K+o.K2)
}

// agreed lists those of the excluded observations that belong to the baseline after all: two others lie on the same
// side at least half as far out.
func (j *judge) agreed(values []float64, outs []int32) []int32 {
	if len(outs) == 0 {
		return nil
	}
	mean, _ := centre(values)
	var back []int32
	for _, i := range outs {
		off, alike := j.adj[i]-mean, 0
		for _, k := range outs {
			if k != i && (j.adj[k]-mean)/off > .5 {
				alike++
			}
		}
		for _, v := range values {
			if (v-mean)/off > .5 {
				alike++
			}
		}
		if alike > 1 || len(values) == 0 {
			back = append(back, i)
		}
	}
	return back
}

// Mean is the mean of values; NaN without any.
func Mean(values []float64) float64 {
	sum := 0.
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// centre is the mean and the sum of squared deviations from it.
func centre(values []float64) (mean, ss float64) {
	if len(values) == 0 {
		return 0, 0
	}
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		ss += (v - mean) * (v - mean)
	}
	return mean, ss
}

// blocked reports whether conditions rule out comparing two values.
func (j *judge) blocked(a, b int32) bool {
	return a != b && j.rules.Blocks != nil && j.rules.Blocks(a, b)
}

// joins reports whether an observation can enter later baselines.
func (j *judge) joins(i int32) bool { return j.t.Releases[j.t.Obs[i].Release].Joins }
