package regression

import "math"

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
