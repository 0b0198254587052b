package regression

import "math"

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
}

// kbar is the harmonic mean of the repeats of the baseline's releases.
func (b *baseline) kbar() float64 { return float64(b.n) / b.inverse }

// state is the judge's state of a cell between releases.
type state struct {
	from     int32   // first observation of the current level
	seen     int     // independent runs that saw the suspected change again, not enough so far
	suspect  int32   // observation whose suspected change waits for an independent run; -1 for none
	dir      float64 // of the suspect: +1 a regression, −1 an improvement
	suspectP float64 // its p value, for the tails
	share    float64 // of the cells that changed in the suspect's release
	back     bool    // the suspect is a return to the level before
	old      float64 // level before the last confirmed regression; NaN when there is none to return to
	ss, nu   float64 // squared deviations and degrees of freedom of earlier levels
}

// baseline gathers the baseline of observation at of a cell.
func (j *judge) baseline(cell, at int32, into *baseline) {
	st := &j.state[cell]
	*into = baseline{last: -1}
	var buf [32]float64
	values := buf[:0]
	cond := j.t.Obs[at].Cond
	for i := at - 1; i >= j.t.Cells[cell].First && len(values) < j.rules.Window; i-- {
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
		if i < st.from || j.rows[i].out {
			continue
		}
		values = append(values, j.adj[i])
		into.ssw += float64(o.SS)
		into.nuw += float64(o.K-1) + math.Max(0, float64(o.K2-1))
		into.inverse += 1 / float64(o.K+o.K2)
	}
	into.n = len(values)
	ss := 0.
	into.mean, ss = centre(values)
	into.nu = math.Max(0, float64(into.n-1))
	if into.n < 3 { // too few to estimate their noise: that of earlier levels is added
		ss += st.ss
		into.nu += st.nu
	}
	if into.nu > 0 {
		into.s2 = ss / into.nu
	}
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
