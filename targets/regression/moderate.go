package regression

import "math"

// Moderate returns the noise of each of some series of one kind, moderated by that of all of them: s2 are their own
// variances, nu the degrees of freedom of each, 0 for a series without a variance. Unknown where no series has one.
//
// The model is that of the judge (Smyth 2004), s² ~ s0²·F(ν, d0). The judge fits it by moments of ln s², which lose
// most of what a few dozen variances of one degree of freedom say; here 1/d0 is its posterior mean over a flat prior on
// [0, .5], with the likelihood at the best s0² for each.
func Moderate(s2, nu []float64) []Noise {
	out := make([]Noise, len(s2))
	sum, weight := 0., 0.
	for i, v := range s2 {
		sum, weight = sum+nu[i]*v, weight+nu[i]
	}
	const steps = 10
	inverse, total, centre := 0., 0., math.Log(sum/weight)
	best, scales := math.Inf(-1), [steps + 1]float64{}
	var fits [steps + 1]float64
	for k := range fits {
		fits[k], scales[k] = bestScale(s2, nu, degrees(k, steps), centre)
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
			out[i] = Noise{(d0*s0 + nu[i]*s2[i]) / (d0 + nu[i]), math.Min(d0+nu[i], weight)}
		}
	}
	return out
}

// degrees is d0 of a step of the grid, which is even in 1/d0 from 0 to .5.
func degrees(k, steps int) float64 { return 2 * float64(steps) / math.Max(float64(k), 1e-4) }

// bestScale returns the highest log likelihood of a d0, and the ln s0² that has it.
func bestScale(s2, nu []float64, d0, centre float64) (fit, scale float64) {
	fit = math.Inf(-1)
	for e := centre - 3; e < centre+1; e += .125 {
		if l := likelihood(s2, nu, d0, math.Exp(e)); l > fit {
			fit, scale = l, e
		}
	}
	return fit, scale
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
