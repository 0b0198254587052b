package regression

import (
	"cmp"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// ChangePoint is a step in a cell's history that was accepted: later baselines begin there.
type ChangePoint struct {
	Cell   int32
	At     int32   // observation with which the new level begins
	Found  int32   // release that decided it
	D      float64 // log change against the level before, of all runs that decided it; positive is worse
	SE, Df float64 // of D; 0 where no test decided it
	Runs   int     // that decided it together; 0: no test did
	Shift  float64 // change of its groups in the release that decided it, which D is without
	Source Source
	// Dismissed: it was confirmed, but a person decided that no level begins there.
	Dismissed bool
}

// Source is what decided a change point.
type Source uint8

const (
	ByGate   Source = iota // an independent run confirmed it
	ByPerson               // a pin
)

// restart begins a new level at an observation. The noise of the level before is kept.
func (j *judge) restart(cell, at int32) {
	st := &j.state[cell]
	var values []float64
	for i := st.from; i < at; i++ {
		if j.joins(i) && !j.isOut[i] {
			values = append(values, j.values[i].z)
		}
	}
	_, ss := centre(values)
	st.ss, st.nu, st.from = st.ss+ss, st.nu+math.Max(0, float64(len(values)-1)), at
}

// accept starts a new level at an observation, so that one change is reported once. Where a person dismissed it, the
// current level continues without its values: they are neither a level nor noise.
func (j *judge) accept(c *claim, at int32, dir float64) {
	st := &j.state[c.x.cell]
	w := &c.x.joint
	dismissed := j.t.Obs[at].Dismiss
	for i := at; i <= c.x.obs; i++ {
		if dismissed {
			j.exclude(i, c.release)
		} else {
			j.readmit(i, c.release)
		}
	}
	if at < c.x.obs && j.rows[at].Evidence == schema.Suspected {
		j.rows[at].Follow = c.release + 1
	}
	j.out.ChangePoints = append(j.out.ChangePoints, ChangePoint{
		Cell: c.x.cell, At: at, Found: c.release, D: w.D, Source: ByGate, Dismissed: dismissed,
		SE: w.SE, Df: w.Df, Runs: w.Runs, Shift: c.x.removed,
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

// begins starts a level, d from the one before, where a person decided that one starts or accepted a change.
func (j *judge) begins(x *test, d float64) {
	st := &j.state[x.cell]
	if st.from == x.obs {
		return
	}
	j.isOut[x.obs] = false // which it was in this release alone
	j.restart(x.cell, x.obs)
	st.suspect, st.extreme, st.old = -1, 0, math.NaN()
	j.out.ChangePoints = append(j.out.ChangePoints, ChangePoint{
		Cell: x.cell, At: x.obs, Found: j.t.Obs[x.obs].Release, D: d, Source: ByPerson,
	})
}

// Trend is a drift of a series that no single release shows.
type Trend struct {
	Slope float64 // change a release, in the units of the values (Sen 1968: the median of all pairwise slopes)
	P     float64 // two-sided, Mann (1945) and Kendall's test with continuity and ties corrected
	N     int
	// Ratio is von Neumann's ratio of what remains without the slope: about 2 where values vary around a line, far less
	// where each begins at the one before, as in a random walk, whose trend is no trend. NaN where nothing remains.
	Ratio float64
	// Steps is how many standard errors the mean change from value to value is from none.
	Steps float64
}

// Steady reports whether the values vary around the line, or move along it more surely than a random walk does.
func (t Trend) Steady() bool { return !(t.Ratio < 1.2) || math.Abs(t.Steps) > 3.5 }

// Explains reports whether the line leaves less of the values than a step at one of them does, which is 0 where there
// is none.
func (t Trend) Explains(values []float64, step int) bool {
	if step == 0 {
		return true
	}
	rest := make([]float64, len(values))
	for i, v := range values {
		rest[i] = v - t.Slope*float64(i)
	}
	_, line := centre(rest)
	_, first := centre(values[:step])
	_, second := centre(values[step:])
	return line < first+second
}

// TrendOf measures the trend of a series in order. With fewer than eight values P is NaN.
func TrendOf(values []float64) Trend {
	n := len(values)
	t := Trend{N: n, P: math.NaN(), Ratio: math.NaN()}
	if n < 2 {
		return t
	}
	var slopes []float64
	s := 0
	for i := range values {
		for k := i + 1; k < n; k++ {
			slopes = append(slopes, (values[k]-values[i])/float64(k-i))
			s += cmp.Compare(values[k], values[i])
		}
	}
	t.Slope = Median(slopes)
	if n < 8 {
		return t
	}
	rest, changes, squares := make([]float64, n), make([]float64, n-1), 0.
	for i, v := range values {
		if rest[i] = v - t.Slope*float64(i); i > 0 {
			changes[i-1] = v - values[i-1]
			squares += (rest[i] - rest[i-1]) * (rest[i] - rest[i-1])
		}
	}
	if _, ss := centre(rest); ss > 0 {
		t.Ratio = squares / ss
	}
	mean, ss := centre(changes)
	t.Steps = mean / math.Sqrt(ss/float64(n-2)/float64(n-1))
	t.P = 1
	if v := kendallVariance(values); v > 0 {
		z := math.Max(0, math.Abs(float64(s))-1) / math.Sqrt(v)
		t.P = 2 * UpperTail(z, math.Inf(1))
	}
	return t
}

// kendallVariance is the variance of Kendall's S under no trend, corrected for ties.
func kendallVariance(values []float64) float64 {
	n := len(values)
	v := float64(n*(n-1)*(2*n+5)) / 18
	sorted := slices.Sorted(slices.Values(values))
	for i := 0; i < n; {
		k := i
		for k < n && sorted[k] == sorted[i] {
			k++
		}
		tied := k - i
		v -= float64(tied*(tied-1)*(2*tied+5)) / 18
		i = k
	}
	return v
}
