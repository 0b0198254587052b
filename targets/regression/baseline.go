package regression

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// baseline is what is known of a cell before a release.
type baseline struct {
	n        int     // releases in the baseline
	mean     float64 // of their values
	adjusted float64 // of their values without what was common to all of a run
	s2, nu   float64 // variance between releases, and its degrees of freedom
	blocked  int     // earlier observations that conditions rule out
	prev     [2]earlier
	prevs    int  // how many of prev there are
	alone    bool // of a build that never joins: of prev only candidates of its release, which do not either
}

// earlier is one of the newest runs before a release, or of it: a run that may be part of a change that has not been
// confirmed.
type earlier struct {
	obs   int32
	z     float64 // without what was common to all of a run
	raw   float64
	kept  bool // it is in the baseline
	aside bool // of a candidate of the release
}

// state is the judge's state of a cell between releases.
type state struct {
	from    int32   // first observation of the level that holds
	seen    int     // releases that saw the open change again, and were not enough
	suspect int32   // observation with which an open change begins, which no later run has settled; -1
	dir     float64 // of the open change: +1 a regression, −1 an improvement
	gated   bool    // the open change passed the gate and was reported; else it only waits
	grouped bool    // it is that of a group
	extreme float64 // t of a large deviation that may yet be an outlier; 0: none
	off     float64 // its change
	lasted  bool    // the run after it shows it too
	old     float64 // level before the last confirmed regression; NaN when there is none to return to
	moved   int32   // observation that confirmed the last change; -1
	way     float64 // in which it changed
	ss, nu  float64 // squared deviations and degrees of freedom of earlier levels
}

// baseline gathers the baseline of observation now of a cell.
func (j *judge) baseline(cell, now int32, into *baseline) {
	st := &j.state[cell]
	*into = baseline{alone: !j.joins(now)}
	var buf, at = [32]float64{}, [32]int32{}
	values, in := buf[:0], at[:0]
	var outs []int32
	cond := j.values[now].cond
	for i := now - 1; i >= j.t.Cells[cell].First && len(values) < j.rules.Window; i-- {
		if i < st.from && len(values) > 0 {
			break
		}
		v := &j.values[i]
		if !v.joins && !j.candidate(i, now) {
			continue
		}
		switch out, open := j.isOut[i], st.suspect >= 0 && i >= st.suspect; {
		case j.blocked(v.cond, cond):
			into.blocked++
		case !v.joins:
			into.precede(i, v, false, true)
		case i < st.from:
		case !out:
			into.precede(i, v, true, false)
			values, in = append(values, v.z), append(in, i)
		case open:
			into.precede(i, v, false, false)
		default:
			outs = append(outs, i)
		}
	}
	if k := broken(values); k >= 0 {
		j.exclude(in[k], j.t.Obs[now].Release)
		values, in = slices.Delete(values, k, k+1), slices.Delete(in, k, k+1)
	}
	for _, i := range j.agreed(values, outs) {
		values, in = append(values, j.values[i].z), append(in, i)
	}
	j.estimate(into, values, in, st)
}

// estimate is the mean and variance of the values of a baseline. A single one shows no noise: earlier levels do.
func (j *judge) estimate(b *baseline, values []float64, in []int32, st *state) {
	for _, i := range in {
		b.mean += j.values[i].raw / float64(len(in))
	}
	ss := 0.
	b.n = len(values)
	b.adjusted, ss = centre(values)
	if b.nu = math.Max(0, float64(b.n-1)); b.n == 1 {
		ss, b.nu = st.ss, st.nu
	}
	if b.nu > 0 {
		b.s2 = ss / b.nu
	}
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
	middle := Median(append(buf[:0], values...))
	off := buf[:0]
	for _, v := range values {
		off = append(off, math.Abs(v-middle))
	}
	limit := math.Max(math.Ln2, noises*1.4826*Median(off))
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

// precede notes one of the newest runs before the release.
func (b *baseline) precede(obs int32, v *value, kept, aside bool) {
	if b.prevs < len(b.prev) && (!b.alone || aside) {
		b.prev[b.prevs] = earlier{obs: obs, z: v.z, raw: v.raw, kept: kept, aside: aside}
		b.prevs++
	}
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
		off, alike := j.values[i].z-mean, 0
		for _, k := range outs {
			if k != i && (j.values[k].z-mean)/off > .5 {
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
	return j.rules.Blocks != nil && j.rules.Blocks(a, b)
}

// candidate reports whether an earlier observation is of a candidate of the release of another one.
func (j *judge) candidate(earlier, now int32) bool {
	of := j.t.Releases[j.t.Obs[earlier].Release].Final
	return of != 0 && of == j.t.Releases[j.t.Obs[now].Release].Final
}

// joins reports whether an observation can enter later baselines.
func (j *judge) joins(i int32) bool { return j.values[i].joins }

// Noise is the variation by chance of one release's value around the current level, on the log scale. It is the only
// definition of noise: a new value differs from the mean of n releases with variance Variance·(1 + 1/n), and wherever
// a noise is printed it is [Noise.Sd], a relative standard deviation between releases.
type Noise struct {
	Variance float64 // of one release's value; NaN where nothing is known
	Df       float64 // degrees of freedom of the estimate; may be infinite
}

// UnknownNoise is the noise of a cell without an estimate.
func UnknownNoise() Noise { return Noise{Variance: math.NaN()} }

// Known reports whether there is an estimate.
func (n Noise) Known() bool { return !math.IsNaN(n.Variance) }

// Sd is the standard deviation.
func (n Noise) Sd() float64 { return math.Sqrt(n.Variance) }

// Margin returns the distance to one side of the level that a release's value does not exceed with probability p:
// Student's quantile.
func (n Noise) Margin(p float64) float64 { return Quantile(p, n.Df) * n.Sd() }

// NoiseBetween estimates noise from the values of releases of one level: their sample variance, with one degree of
// freedom fewer than values. It is unknown with fewer than two.
func NoiseBetween(values []float64) Noise {
	if len(values) < 2 {
		return UnknownNoise()
	}
	_, ss := centre(values)
	df := float64(len(values) - 1)
	return Noise{ss / df, df}
}

// Noise returns the noise of a row's test: the cell's own noise, moderated by that of all cells, floors included.
// Unknown where there was no test.
func (r *Row) Noise() Noise {
	if r.N == 0 || !(r.SE > 0) {
		return UnknownNoise()
	}
	se := float64(r.SE)
	return Noise{se * se / (1 + 1/float64(r.N)), float64(r.Df)}
}

// Typical returns the noise of a stratum in a release, for cells without a baseline of their own.
func (f *Fit) Typical(stratum int32) Noise {
	if s0 := f.S0[stratum]; s0 > 0 {
		return Noise{s0, math.Min(f.D0, f.SumNu)}
	}
	return UnknownNoise()
}

// prior is the prior distribution of a cell's noise, estimated from all cells of a release: s² ~ s0² d0 / χ²(d0).
type prior struct {
	d0    float64   // degrees of freedom; +Inf when cells do not differ more than by chance
	s02   []float64 // typical variance by stratum; NaN where nothing is known
	sumNu float64   // of all cells: the most degrees of freedom that a test can have (limma's cap)
	known bool      // at least one cell has a variance
}

// fitPrior estimates the prior from the unfloored variances of a release: one d0 for all strata, one s0² for each
// (Smyth 2004, section 6.2, by moments of ln s²). s2 and nu are by cell, nu 0 where a cell has no variance. careful
// takes the spread of variances between few cells (a hundred or less) one standard error larger than estimated: a d0
// that is too large relies too much on the common noise, and twice as many confirmed changes among ten numbers were
// false. Groups are not careful: of twenty changes of a whole model of 4 % three to five fewer were named.
//
// Rejected: weighting cells by the chance in their ln s², which moved no figure.
func fitPrior(s2, nu []float64, stratum []int32, strata int, careful bool) prior {
	p := prior{d0: math.Inf(1), s02: make([]float64, strata)}
	var seen []float64
	for i, v := range s2 {
		if nu[i] > 0 {
			p.sumNu += nu[i]
			if v > 0 {
				seen = append(seen, v)
			}
		}
	}
	if p.known = p.sumNu > 0; len(seen) == 0 {
		return p // all constant: only the floors remain
	}
	m := newMoments(s2, nu, stratum, strata, 1e-5*Median(seen))
	if v := m.spread(careful); v > 0 {
		p.d0 = 2 * inverseTrigamma(v)
	}
	m.typical(&p)
	return p
}

// moments are the sums behind a fit: e = ln s² − ψ(ν/2) + ln(ν/2) has expectation ln σ², and a variance of ψ′(ν/2) by
// chance.
type moments struct {
	e           []float64
	stratum     []int32
	chance      float64   // mean of ψ′(ν/2)
	free        float64   // cells beyond the first of each stratum
	centre      []float64 // by stratum: the mean of e, NaN without any
	pooled, sum []float64 // by stratum: Σ ν s², Σ ν
}

func newMoments(s2, nu []float64, stratum []int32, strata int, least float64) *moments {
	m := &moments{centre: make([]float64, strata), pooled: make([]float64, strata), sum: make([]float64, strata)}
	type pair struct{ shift, psi1 float64 }
	memo, cells := map[float64]pair{}, make([]float64, strata)
	for i, v := range s2 {
		if nu[i] <= 0 {
			continue
		}
		at := stratum[i]
		m.pooled[at] += nu[i] * v
		m.sum[at] += nu[i]
		if v <= 0 {
			continue // an exact zero shows that values are rounded or copied, not that there is no noise
		}
		g, ok := memo[nu[i]]
		if !ok {
			g = pair{math.Log(nu[i]/2) - mathext.Digamma(nu[i]/2), trigamma(nu[i] / 2)}
			memo[nu[i]] = g
		}
		e := math.Log(math.Max(v, least)) + g.shift
		m.e, m.stratum = append(m.e, e), append(m.stratum, at)
		m.centre[at], cells[at], m.chance = m.centre[at]+e, cells[at]+1, m.chance+g.psi1
	}
	m.chance /= float64(len(m.e))
	for s, n := range cells {
		m.centre[s] /= n
		m.free += math.Max(0, n-1)
	}
	return m
}

// spread is how much ln σ² differs between cells of one stratum, beyond what chance explains.
func (m *moments) spread(careful bool) float64 {
	v, free := 0., math.Max(1, m.free)
	if m.free > 0 {
		for i, e := range m.e {
			v += (e - m.centre[m.stratum[i]]) * (e - m.centre[m.stratum[i]])
		}
		v = v/free - m.chance
	}
	if careful {
		v += math.Sqrt(2/free) * math.Min(1, 100/free) * (math.Max(v, 0) + m.chance)
	}
	return v
}

// typical sets s0² by stratum; a stratum without any variance takes the typical one of all. Where no stratum has two
// cells that differ, each cell's own is all that is known.
func (m *moments) typical(p *prior) {
	var known []float64
	for s, e := range m.centre {
		if p.s02[s] = m.pooled[s] / m.sum[s]; !math.IsInf(p.d0, 1) && m.free > 0 && !math.IsNaN(e) {
			p.s02[s] = math.Exp(e + mathext.Digamma(p.d0/2) - math.Log(p.d0/2))
		}
		if p.s02[s] > 0 {
			known = append(known, p.s02[s])
		}
	}
	slices.Sort(known)
	for s, v := range p.s02 {
		if math.IsNaN(v) && len(known) > 0 {
			p.s02[s] = known[len(known)/2]
		}
	}
}

// moderate returns the posterior variance of a cell and its degrees of freedom. It is NaN where nothing is known.
func (p *prior) moderate(s2, nu float64, stratum int32) (v, df float64) {
	if !p.known {
		return math.NaN(), 0
	}
	s0 := p.s02[stratum]
	if math.IsInf(p.d0, 1) {
		return s0, p.sumNu
	}
	return (p.d0*s0 + nu*s2) / (p.d0 + nu), math.Min(p.d0+nu, p.sumNu)
}

// typicalSd returns the typical noise of what a release compared, as tests use it: never below the floor. Other strata
// have a default only, or do not exist yet.
func (j *judge) typicalSd(p *prior, tests []test) float64 {
	var known []float64
	seen := map[int32]bool{}
	for i := range tests {
		if s := j.t.Cells[tests[i].cell].Stratum; tests[i].ok && !seen[s] {
			seen[s] = true
			if v := p.s02[s]; v > 0 {
				known = append(known, math.Max(v, j.rules.Floor*j.rules.Floor))
			}
		}
	}
	slices.Sort(known)
	if len(known) == 0 {
		return math.NaN()
	}
	sum := 0.
	for _, v := range known {
		sum += math.Log(v)
	}
	return math.Exp(.5 * sum / float64(len(known)))
}

// Moderate returns the noise of each of some series of one kind, moderated by that of all of them: s2 are their own
// variances, nu the degrees of freedom of each, 0 for a series without a variance. Unknown where no series has one.
//
// The model is that of the judge (Smyth 2004), s² ~ s0²·F(ν, d0). The judge fits it by moments of ln s², which lose
// most of what a few dozen variances of one degree of freedom say; here 1/d0 is its posterior mean over a flat prior on
// [0, .5], with the likelihood at the best s0² for each. A series far noisier than the others has its own variance and
// no say in what is usual (Phipson 2016).
func Moderate(own, nu []float64) []Noise {
	const far = 50 // times the median: two in 10^6 with one degree of freedom
	var known []float64
	for i, v := range own {
		if nu[i] > 0 {
			known = append(known, v)
		}
	}
	usual := Median(known)
	s2 := slices.Clone(own)
	out := make([]Noise, len(s2))
	sum, weight := 0., 0.
	for i, v := range s2 {
		if usual > 0 {
			s2[i] = min(v, far*usual)
		}
		sum, weight = sum+nu[i]*s2[i], weight+nu[i]
	}
	const steps = 10 // of d0, even in 1/d0 from 0 to .5
	inverse, total, centre := 0., 0., math.Log(sum/weight)
	best := math.Inf(-1)
	var fits, scales [steps + 1]float64 // by step: the highest log likelihood, and the ln s0² that has it
	for k := range fits {
		fits[k] = math.Inf(-1)
		for e := centre - 3; e < centre+1; e += .125 {
			if l := likelihood(s2, nu, 2*steps/math.Max(float64(k), 1e-4), math.Exp(e)); l > fits[k] {
				fits[k], scales[k] = l, e
			}
		}
		best = math.Max(best, fits[k])
	}
	for k, fit := range fits {
		w := math.Exp(fit - best)
		inverse, total = inverse+w*float64(k)/(2*steps), total+w
	}
	at := int(math.Round(2 * steps * inverse / total))
	for i := range out {
		switch {
		case weight == 0:
			out[i] = UnknownNoise()
		case sum == 0:
			out[i] = Noise{0, weight}
		default:
			d0, s0 := total/inverse, math.Exp(scales[at])
			out[i] = Noise{(d0*s0 + nu[i]*own[i]) / (d0 + nu[i]), math.Min(d0+nu[i], weight)}
		}
	}
	return out
}

// likelihood is ln of the density of variances under s0²·F(ν, d0), without what does not depend on d0 and s0². An exact
// zero shows that values are rounded or copied, not that there is no noise.
func likelihood(s2, nu []float64, d0, s0 float64) float64 {
	sum, last, constant := 0., 0., 0.
	for i, v := range s2 {
		if nu[i] <= 0 || v <= 0 {
			continue
		}
		if nu[i] != last {
			a, _ := math.Lgamma((nu[i] + d0) / 2)
			b, _ := math.Lgamma(d0 / 2)
			last, constant = nu[i], a-b+nu[i]/2*math.Log(nu[i]/d0)
		}
		sum += constant - nu[i]/2*math.Log(s0) - (nu[i]+d0)/2*math.Log1p(nu[i]*v/(d0*s0))
	}
	return sum
}

// Wanted returns how many standard errors the effect that matters must have, so that "unchanged" is shown at 5 % with
// power 80 %.
func (q *Quantiles) Wanted(df float64) float64 { return q.At(.95, df) + q.At(.80, df) }

// Settle returns how many repeats of one release bring the interval of a change within the effect that matters, or 0
// and how many more releases would: variance is that of one release, at best all of it between repeats; want is
// [Quantiles.Wanted], n the releases of the baseline.
func Settle(delta, variance, want, n float64) (repeats, releases int) {
	of := delta * delta / (want * want)
	if room := of - variance/n; room > 0 {
		return int(math.Ceil(variance / room)), 0
	}
	// More releases shrink s²/n alone: solve Δ²/want² = s²(1 + 1/n) for n, where that has an answer.
	if more := of/variance - 1; more > 0 {
		return 0, max(1, int(math.Ceil(1/more-n)))
	}
	return 0, 0
}

// Median is the median of values, which it puts into another order (Hoare's selection).
func Median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	k := (len(v) - 1) / 2
	for lo, hi := 0, len(v)-1; lo < hi; {
		pivot, i, j := v[(lo+hi)/2], lo, hi
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			lo, hi = k, k
		}
	}
	if len(v)%2 == 1 {
		return v[k]
	}
	return (v[k] + slices.Min(v[k+1:])) / 2
}

// WeightedMedian is the value that half of the weight lies on either side of.
func WeightedMedian(values, weights []float64) float64 {
	list := make([]member, len(values))
	for i := range list {
		list[i] = member{values[i], 1 / weights[i]}
	}
	byChange(list)
	return quantile(list, .5)
}
