// Package latency turns request timelines into TTFT, TPOT, ITL and E2EL and their statistics.
//
// In: [Request] values. Out: a [Set] of samples and rates. The builtin client and the readers that recompute a tool's
// statistics from per-request arrays both use it, so that there is one definition of each. Times are milliseconds
// throughout. It must not know tools or files.
//
// Definitions follow vLLM's serving benchmark since v0.5.0 (vllm/benchmarks/serve.py): TPOT is (E2EL − TTFT) / (output
// tokens − 1) of requests with at least two tokens; ITL pools the gaps between chunks; standard deviations are of the
// population; percentiles interpolate linearly, as NumPy does by default.
package latency

import (
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Request is the timeline of one request, in milliseconds and tokens.
type Request struct {
	OK   bool      // the tool counted it as completed
	TTFT float64   // sending to first chunk; NaN when not measured
	ITL  []float64 // gaps between consecutive chunks
	E2EL float64   // sending to last chunk
	In   int       // prompt tokens
	Out  int       // output tokens
	// Undated are the chunks, from 0, that arrived at a time that is not known, because the client was late; [Sending]
	// is when the request left.
	Undated []int
}

// Sending stands for the time at which a request left, among those that are not known.
const Sending = -1

// Dated reports whether the time of a chunk, from 0, is known, and so those that follow from it.
func (r *Request) Dated(chunk int) bool { return !slices.Contains(r.Undated, chunk) }

// Last is the last chunk.
func (r *Request) Last() int { return len(r.ITL) }

// Known reports whether TTFT and E2EL are known.
func (r *Request) Known() bool { return r.Dated(Sending) && r.Dated(0) && r.Dated(r.Last()) }

// gaps returns those between chunks whose times are known.
func (r *Request) gaps() []float64 {
	if len(r.Undated) == 0 {
		return r.ITL
	}
	unknown := make(map[int]bool, len(r.Undated))
	for _, chunk := range r.Undated {
		unknown[chunk] = true
	}
	var out []float64
	for i, gap := range r.ITL {
		if !unknown[i] && !unknown[i+1] {
			out = append(out, gap)
		}
	}
	return out
}

// Hollow reports a request that counts as completed and has no output tokens. vLLM up to 0.6.3 counted these as
// successes with a TTFT of zero, which lowers every mean.
func (r Request) Hollow() bool { return r.OK && r.Out == 0 }

// counts reports a request whose numbers are part of the statistics.
func (r Request) counts() bool { return r.OK && !r.Hollow() }

// Set holds the statistics of one measurement.
type Set struct {
	TTFT, TPOT, ITL, E2EL Sample
	OK, Failed, Hollow    int
	In, Out               int // tokens of completed requests
	DurationS             float64
	Undated               int     // of OK, those with a time that is not known
	Lost, LostGaps        float64 // share of the TTFT or the E2EL, and of the gaps, that are left out for that
	TailDoubt             float64 // share of it that they may add to the P99 of the TTFT; 0 of too few for one
}

// MostLost is the share of times that are not known above which the others stand for nothing: those that are missing
// are not the average ones.
const MostLost = .01

// Summarise computes all statistics from the requests; those that failed or are hollow are counted and left out of
// them. durationS is the length of the measurement in seconds.
func Summarise(requests []Request, durationS float64) Set {
	var c Collector
	for i := range requests {
		c.Add(&requests[i])
	}
	return c.Set(durationS)
}

// Collector gathers requests one by one and keeps their numbers only.
type Collector struct {
	ttft, tpot, itl, e2el []float64
	late                  []float64 // TTFT that is not known, and at most this
	noGap, noE2EL         int       // whose time is not known
	set                   Set
}

// Add takes the numbers of a request, which may be used again.
func (c *Collector) Add(r *Request) {
	switch {
	case !r.OK:
		c.set.Failed++
		return
	case r.Hollow():
		c.set.Hollow++
		return
	}
	c.set.OK++
	c.set.In += r.In
	c.set.Out += r.Out
	sent, first, last, gaps := r.Dated(Sending), r.Dated(0), r.Dated(r.Last()), r.gaps()
	if len(r.Undated) > 0 {
		c.set.Undated++
	}
	if c.noGap += len(r.ITL) - len(gaps); sent && first {
		c.ttft = append(c.ttft, r.TTFT)
	} else {
		c.late = append(c.late, r.TTFT)
	}
	if sent && last {
		c.e2el = append(c.e2el, r.E2EL)
	} else {
		c.noE2EL++
	}
	c.itl = append(c.itl, gaps...)
	if r.Out > 1 && !math.IsNaN(r.TTFT) && first && last {
		c.tpot = append(c.tpot, (r.E2EL-r.TTFT)/float64(r.Out-1))
	}
}

// Set computes the statistics; the collector is empty afterwards. durationS is the length of the measurement in
// seconds.
func (c *Collector) Set(durationS float64) Set {
	set := c.set
	set.DurationS = durationS
	set.Lost, set.TailDoubt = over(float64(max(len(c.late), c.noE2EL)), float64(set.OK)), c.tailDoubt()
	if set.LostGaps = over(float64(c.noGap), float64(c.noGap+len(c.itl))); set.LostGaps > MostLost {
		c.itl = nil
	}
	set.TTFT, set.TPOT = NewSample(c.ttft), NewSample(c.tpot)
	set.ITL, set.E2EL = NewSample(c.itl), NewSample(c.e2el)
	*c = Collector{}
	return set
}

// tailDoubt compares the P99 of the TTFT with all that are not known below it to the one with all of them as late as
// they were read. A machine that is busy keeps the server waiting as well: the slowest answers are those that are read
// late.
func (c *Collector) tailDoubt() float64 {
	n := len(c.ttft) + len(c.late)
	if len(c.late) == 0 || !schema.TailHolds(schema.TailStat, float64(n)) {
		return 0
	}
	low := NewSample(slices.Concat(c.ttft, make([]float64, len(c.late)))).Quantile(.99)
	high := NewSample(slices.Concat(c.ttft, c.late)).Quantile(.99)
	return over(high-low, high)
}

// RPS returns completed requests a second; 0 when the duration is unknown.
func (s Set) RPS() float64 { return over(float64(s.OK), s.DurationS) }

// OutputTPS returns output tokens a second.
func (s Set) OutputTPS() float64 { return over(float64(s.Out), s.DurationS) }

// TotalTPS returns input and output tokens a second.
func (s Set) TotalTPS() float64 { return over(float64(s.In+s.Out), s.DurationS) }

func over(n, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return n / seconds
}

// orderBounds returns 1-based ranks l and u with P(Bin(n,p) < l) <= tail and P(Bin(n,p) >= u) <= tail. The sums
// begin far out in the tails, where less than 1e-30 is left, and go on by the ratio of neighbouring probabilities: a
// sample may have a million values.
func orderBounds(n int, p, tail float64) (l, u int) {
	if n == 0 {
		return 0, 1
	}
	lg := func(k int) float64 { v, _ := math.Lgamma(float64(k) + 1); return v }
	pmf := func(k int) float64 {
		return math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	mean := float64(n) * p
	far := 12*math.Sqrt(mean*(1-p)) + 12
	odds := p / (1 - p)
	l = max(0, int(mean-far))
	for cdf, at := 0., pmf(l); l <= n; l++ {
		if cdf += at; cdf > tail {
			break
		}
		at *= odds * float64(n-l) / float64(l+1)
	}
	u = min(n+1, int(math.Ceil(mean+far))+1)
	for up, at := 0., pmf(u-1); u > 0; u-- {
		if up += at; up > tail {
			break
		}
		at *= float64(u-1) / (odds * float64(n-u+2))
	}
	return l, u
}

// Sample is a sorted sample with its moments.
type Sample struct {
	sorted []float64
	Mean   float64
	Std    float64 // of the population (divisor n), as NumPy, vLLM and AIPerf compute it
}

// NewSample sorts values in place and keeps them. Values that are not finite are dropped.
func NewSample(values []float64) Sample {
	values = slices.DeleteFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	slices.Sort(values)
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
	mag := math.Pow10(digits - int(math.Ceil(math.Log10(math.Abs(v)))))
	return math.Round(v*mag) / mag
}

// kept is the precision of recomputed values, in significant digits: the same as that of stored numbers, so that a
// recomputed value agrees with a stated one to a millionth if the tool computed it from the same requests.
const kept = 7

// Metric returns the sample as a recomputed schema metric: mean, median, standard deviation, p99, n, standard error
// and the intervals of median and p99; the extremes are the ends of the sketch. Values of one request that are pooled
// depend on each other: an error from their number would be far too small. An empty sample has no numbers and why as
// its reason.
func (s Sample) Metric(name, def, why string, pooled bool) schema.Metric {
	k := schema.Kind{Name: name, Unit: schema.Unit(name), Def: def, From: schema.FromRecomputed}
	if s.N() == 0 {
		k.Why = why
		return schema.NewMetric(k)
	}
	m := schema.NewMetric(k, schema.NewStat("mean", Round(s.Mean, kept)),
		schema.NewStat("median", Round(s.Quantile(.5), kept)), schema.NewStat("p99", Round(s.Quantile(.99), kept)),
		schema.NewStat("std", Round(s.Std, kept)))
	if m.N = s.N(); pooled {
		return m
	}
	more := schema.Detail{Quantiles: s.Sketch()}
	if n := s.N(); n > 1 { // from the sample deviation (divisor n − 1)
		more.SE = schema.Num(Round(s.Std/math.Sqrt(float64(n-1)), 3))
	}
	for name, p := range map[string]float64{"median": .5, "p99": .99} {
		if lo, hi, ok := s.Interval(p); ok {
			if more.CI == nil {
				more.CI = map[string][2]float64{}
			}
			more.CI[name] = outward(lo, hi)
		}
	}
	m.SetDetail(more)
	return m
}

// DerivedSE returns the standard error of a mean that follows from the deviation of a recomputed sample; missing for
// any other metric.
func DerivedSE(m *schema.Metric) schema.Number {
	std, ok := m.Stats.Get("std")
	if !ok || m.N < 2 || m.Kind().From != schema.FromRecomputed || len(m.Detail().Quantiles) == 0 {
		return schema.Number{}
	}
	return schema.Num(Round(std/math.Sqrt(float64(m.N-1)), 3))
}

// outward rounds an interval outwards, by at most a hundredth of its width, so that it never becomes narrower.
func outward(lo, hi float64) [2]float64 {
	if !(hi > lo) {
		return [2]float64{Round(lo, kept), Round(hi, kept)}
	}
	step := math.Pow(10, math.Floor(math.Log10(hi-lo))-1)
	return [2]float64{Round(math.Floor(lo/step)*step, 12), Round(math.Ceil(hi/step)*step, 12)}
}

// Slices returns the timeline of a measurement: mean TTFT and TPOT of the requests that were sent in each slice, and
// the output tokens that arrived in it, a second. sent are seconds, one a request, from any instant on. It is empty
// where there are too few requests for slices.
func Slices(requests []Request, sent []float64) schema.Slices {
	if len(sent) != len(requests) {
		return schema.Slices{}
	}
	first, end, done := math.Inf(1), math.Inf(-1), 0
	for i, r := range requests {
		if r.counts() {
			first, end, done = math.Min(first, sent[i]), math.Max(end, sent[i]+r.E2EL/1000), done+1
		}
	}
	parts := min(done/4, max(schema.MostSlices/2, int(end-first)), schema.MostSlices)
	if parts < schema.LeastSlices || !(end > first) || math.IsInf(end-first, 0) {
		return schema.Slices{}
	}
	step := SliceStep(end-first, parts)
	at := func(s float64) int { return max(0, min(int((s-first)/step), parts-1)) } // the last one ends behind the end
	var sum, n [2][]float64                                                        // of TTFT and of TPOT
	for i := range sum {
		sum[i], n[i] = make([]float64, parts), make([]float64, parts)
	}
	rate := make([]float64, parts)
	for i := range requests {
		r := &requests[i]
		if !r.counts() {
			continue
		}
		k := at(sent[i])
		if r.TTFT > 0 && len(r.Undated) == 0 {
			sum[0][k], n[0][k] = sum[0][k]+r.TTFT, n[0][k]+1
			if r.Out > 1 {
				sum[1][k], n[1][k] = sum[1][k]+(r.E2EL-r.TTFT)/float64(r.Out-1), n[1][k]+1
			}
		}
		r.arrivals(sent[i], func(now, tokens float64) { rate[at(now)] += tokens })
	}
	for k := range rate {
		rate[k] = Round(rate[k]/step, schema.SliceDigits)
		for i := range sum {
			sum[i][k] = Round(sum[i][k]/n[i][k], schema.SliceDigits) // 0/0: not known
		}
	}
	s := schema.Slices{Step: step}
	s.Add("ttft", sum[0])
	s.Add("tpot", sum[1])
	s.Add("output_tps", rate)
	return s
}

// arrivals calls do with the time of each chunk of an answer, in seconds, and its tokens.
func (r *Request) arrivals(sent float64, do func(now, tokens float64)) {
	each, now := float64(r.Out)/float64(len(r.ITL)+1), sent+r.TTFT/1000
	do(now, each)
	for _, gap := range r.ITL {
		now += gap / 1000
		do(now, each)
	}
}

// SliceStep is the length of each of some slices of a time, in seconds, rounded up: the last one ends behind it.
func SliceStep(seconds float64, parts int) float64 { return Round(seconds/float64(parts)+5e-4, 4) }
