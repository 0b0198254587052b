package latency

import (
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Sample is a sorted sample with its moments.
type Sample struct {
	sorted []float64
	Mean   float64
	Std    float64 // of the population (divisor n), as NumPy, vLLM and AIPerf compute it
}

// NewSample sorts values in place and keeps them. Values that are not finite are dropped.
func NewSample(values []float64) Sample {
	values = slices.DeleteFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	sortFloats(values)
	s := Sample{sorted: values}
	if len(values) == 0 {
		return s
	}
	for _, v := range values {
		s.Mean += v
	}
	s.Mean /= float64(len(values))
	var sq float64
	for _, v := range values {
		sq += (v - s.Mean) * (v - s.Mean)
	}
	s.Std = math.Sqrt(sq / float64(len(values)))
	return s
}

// MeanOf returns the mean of f over the values for which f returns true; ok is false when there are none.
func (s Sample) MeanOf(f func(float64) (float64, bool)) (mean float64, ok bool) {
	n := 0.
	for _, v := range s.sorted {
		if x, has := f(v); has {
			mean += x
			n++
		}
	}
	return mean / max(n, 1), n > 0
}

// N returns the sample size.
func (s Sample) N() int { return len(s.sorted) }

// SE returns the standard error of the mean, from the sample deviation (divisor n − 1).
func (s Sample) SE() (float64, bool) {
	n := float64(s.N())
	if n < 2 {
		return 0, false
	}
	return s.Std / math.Sqrt(n-1), true
}

// Quantile interpolates linearly between order statistics (Hyndman and Fan 1996, type 7). It panics on an empty sample.
func (s Sample) Quantile(p float64) float64 {
	h := p * float64(s.N()-1)
	i := int(math.Floor(h))
	if i+1 >= s.N() {
		return s.sorted[s.N()-1]
	}
	return s.sorted[i] + (h-float64(i))*(s.sorted[i+1]-s.sorted[i])
}

// Interval returns the distribution-free 95 % interval of a quantile between two order statistics: the probability
// that the quantile is below the lower or above the upper one is at most 2.5 % each, by the binomial distribution of
// the number of values below it (Conover 1999, section 3.2). ok is false when the sample is too small.
func (s Sample) Interval(p float64) (lo, hi float64, ok bool) {
	n := s.N()
	l, u := orderBounds(n, p, .025)
	if l < 1 || u > n {
		return 0, 0, false
	}
	return s.sorted[l-1], s.sorted[u-1], true
}

// SketchSize is the number of quantiles that are kept of a distribution, at i/32.
const SketchSize = 33

// Sketch returns the quantiles at i/32, i = 0 … 32, as multiples of [SketchStep]: enough to draw a distribution, and to
// read any percentile up to p97 within a hundredth of its width.
func (s Sample) Sketch() []float64 {
	if s.N() == 0 {
		return nil
	}
	out := make([]float64, SketchSize)
	for i := range out {
		out[i] = s.Quantile(float64(i) / (SketchSize - 1))
	}
	// Rounding may change the width and so the step; a few iterations reach a sketch that is consistent with its step.
	for range 4 {
		step := SketchStep(out)
		for i := range out {
			out[i] = Round(math.Round(out[i]/step)*step, 12)
		}
		if SketchStep(out) == step {
			break
		}
	}
	return out
}

// SketchStep returns the unit in which a sketch is stored: the power of ten that fits a hundred to a thousand times
// into the width between the second and the last but one quantile. The extremes are left out of the width, so that
// one outlier does not make the step coarser.
func SketchStep(q []float64) float64 {
	n := len(q)
	if n < 3 {
		return 1e-6
	}
	width := q[n-2] - q[1]
	least := math.Max(math.Abs(q[n/2]), 1e-6) * 1e-3
	return math.Pow(10, math.Floor(math.Log10(math.Max(width, least)))-2)
}

// Round rounds to significant digits.
func Round(v float64, digits int) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	mag := power(digits - int(math.Ceil(math.Log10(math.Abs(v)))))
	return math.Round(v*mag) / mag
}

// powers are those of ten that rounding of ordinary values needs: computing one costs more than the rest.
var powers = func() (p [64]float64) {
	for i := range p {
		p[i] = math.Pow(10, float64(i-len(p)/2))
	}
	return p
}()

// power is ten to the power of e.
func power(e int) float64 {
	if i := e + len(powers)/2; 0 <= i && i < len(powers) {
		return powers[i]
	}
	return math.Pow(10, float64(e))
}

// kept is the precision of recomputed values, in significant digits: the same as that of stored numbers, so that a
// recomputed value agrees with a stated one to a millionth if the tool computed it from the same requests.
const kept = 7

// Metric returns the sample as a recomputed schema metric: mean, median, standard deviation, p99, n, standard error
// and the intervals of median and p99; the extremes are the ends of the sketch, and other percentiles are read from
// it. An empty sample has no numbers and why as its reason.
func (s Sample) Metric(unit, def, why string) schema.Metric {
	m := schema.Metric{Unit: unit, Def: def, From: schema.FromRecomputed, N: s.N()}
	if s.N() == 0 {
		m.Why = why
		return m
	}
	m.Stats.Set("mean", Round(s.Mean, kept))
	m.Stats.Set("median", Round(s.Quantile(.5), kept))
	m.Stats.Set("p99", Round(s.Quantile(.99), kept))
	m.Stats.Set("std", Round(s.Std, kept))
	if se, ok := s.SE(); ok {
		m.SE = schema.Num(Round(se, 3))
	}
	for name, p := range map[string]float64{"median": .5, "p99": .99} {
		if lo, hi, ok := s.Interval(p); ok {
			if m.CI == nil {
				m.CI = map[string][2]float64{}
			}
			m.CI[name] = outward(lo, hi)
		}
	}
	return m
}

// outward rounds an interval outwards, by at most a hundredth of its width, so that it never becomes narrower.
func outward(lo, hi float64) [2]float64 {
	if !(hi > lo) {
		return [2]float64{Round(lo, kept), Round(hi, kept)}
	}
	step := math.Pow(10, math.Floor(math.Log10(hi-lo))-1)
	return [2]float64{Round(math.Floor(lo/step)*step, 12), Round(math.Ceil(hi/step)*step, 12)}
}
