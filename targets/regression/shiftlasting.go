package regression

import "math"

// lastingShift is the joint test of the newest two or three shifts of a series, for a step below what matters: it is in
// the level a release later, and would be told only on the day that it came. See [judge.lasting] for cells.
type lastingShift struct {
	first  int32   // release of the oldest of them
	d      float64 // of this release against those before them
	n      int     // releases before them
	se, df float64 // of d
	p      float64
}

// lastingShift tests the newest shifts together, where they agree: each is off by half of what all are off by.
func (j *judge) lastingShift(s *stratum, of moved, prior *prior) (out lastingShift, ok bool) {
	const fewest = 3
	var m []float64
	var at []int32
	for i := s.from; i < len(s.m); i++ {
		if !s.out[i] {
			m, at = append(m, s.m[i]), append(at, s.release[i])
		}
	}
	for k := 2; k <= 3 && len(m)-(k-1) >= fewest; k++ {
		base, runs := m[:len(m)-(k-1)], append([]float64{of.median}, m[len(m)-(k-1):]...)
		mean, together := Mean(base), Mean(runs)
		dir := math.Copysign(1, together-mean)
		least := math.Inf(1)
		for _, v := range runs {
			least = math.Min(least, dir*(v-mean))
		}
		if least < dir*(together-mean)/2 {
			continue
		}
		n := float64(len(base))
		_, ss := centre(base)
		s2, df := j.noiseOf(of, prior, ss/(n-1), n-1)
		p := math.Min(1, 2*UpperTail(dir*(together-mean)/math.Sqrt(s2*(1/float64(k)+1/n)), df)) // two windows
		if !ok || p < out.p {
			out, ok = lastingShift{
				first: at[len(at)-(k-1)], d: of.median - mean, n: len(base), se: math.Sqrt(s2 * (1 + 1/n)), df: df, p: p,
			}, true
		}
	}
	return out, ok
}

// lastings keeps the steps that are discoveries among all series of a tier.
func (j *judge) lastings(t *tier, list []moved, tests []shiftTest, prior *prior) {
	var p []float64
	var at []int
	for i, m := range list {
		if !tests[i].ok {
			continue
		}
		if step, ok := j.lastingShift(&t.series[m.series], m, prior); ok {
			tests[i].step = step
			at, p = append(at, i), append(p, step.p)
		}
	}
	_, limit := BenjaminiHochberg(p, len(list), j.rules.ShiftFDR)
	for k, i := range at {
		tests[i].lasts = p[k] <= limit
	}
}

// lasted says that a shift goes on which came lately and is less than what matters.
func (f *Finding) lasted(step *lastingShift, delta float64) {
	if math.Abs(step.d) >= delta {
		return
	}
	f.Word, f.Why, f.First = BelowLimit, WhyBelowLimit, step.first
	f.D, f.SE, f.Df, f.P, f.N = step.d, step.se, step.df, step.p, step.n
}
