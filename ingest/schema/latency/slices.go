package latency

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Slices returns the course of a measurement: mean TTFT and TPOT of the requests that were sent in each slice, and the
// output tokens that arrived in it, a second. sent are seconds, one a request, from any instant on. It is empty where
// there are too few requests for slices.
func Slices(requests []Request, sent []float64) schema.Slices {
	first, end, n := math.Inf(1), math.Inf(-1), 0
	for i, r := range requests {
		if r.OK && !r.Hollow() && i < len(sent) {
			first, end, n = math.Min(first, sent[i]), math.Max(end, sent[i]+r.E2EL/1000), n+1
		}
	}
	parts := min(n/4, max(schema.MostSlices/2, int(end-first)), schema.MostSlices)
	if len(sent) != len(requests) || parts < schema.LeastSlices || !(end > first) || math.IsInf(end-first, 0) {
		return schema.Slices{}
	}
	c := course{first: first, step: SliceStep(end-first, parts), parts: parts}
	c.ttft, c.tpot, c.tokens = make([]part, parts), make([]part, parts), make([]float64, parts)
	for i := range requests {
		if r := &requests[i]; r.OK && !r.Hollow() {
			c.add(r, sent[i])
		}
	}
	return c.slices()
}

// SliceStep is the length of each of some slices of a time, in seconds, rounded up: the last one ends behind it.
func SliceStep(seconds float64, parts int) float64 { return Round(seconds/float64(parts)+5e-4, 4) }

// part is a mean in the making.
type part struct {
	sum float64
	n   int
}

func (p *part) add(v float64) { p.sum, p.n = p.sum+v, p.n+1 }

// course is the course of a measurement in the making.
type course struct {
	first, step float64 // s
	parts       int
	ttft, tpot  []part
	tokens      []float64
}

// at is the slice of a time; a little beyond the end, where the step was rounded, is the last one.
func (c *course) at(s float64) int { return max(0, min(int((s-c.first)/c.step), c.parts-1)) }

func (c *course) add(r *Request, sent float64) {
	k := c.at(sent)
	if r.TTFT > 0 {
		c.ttft[k].add(r.TTFT)
	}
	if r.Out > 1 && r.TTFT > 0 {
		c.tpot[k].add((r.E2EL - r.TTFT) / float64(r.Out-1))
	}
	each := float64(r.Out) / float64(len(r.ITL)+1) // tokens in a chunk
	now := sent + r.TTFT/1000
	c.tokens[c.at(now)] += each
	for _, gap := range r.ITL {
		now += gap / 1000
		c.tokens[c.at(now)] += each
	}
}

func (c *course) slices() schema.Slices {
	means := func(list []part) []float64 {
		out := make([]float64, len(list))
		for i, p := range list {
			out[i] = Round(p.sum/float64(p.n), schema.SliceDigits) // 0/0: not known
		}
		return out
	}
	rate := make([]float64, c.parts)
	for i, n := range c.tokens {
		rate[i] = Round(n/c.step, schema.SliceDigits)
	}
	s := schema.Slices{Step: c.step}
	s.Add("ttft", means(c.ttft))
	s.Add("tpot", means(c.tpot))
	s.Add("output_tps", rate)
	return s
}
