package latency

import (
	"math"
	"slices"
)

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

// Radix sorting is used for samples of these sizes: for fewer values it gains nothing, for more its second list
// takes too much memory.
const (
	fewest = 1 << 10
	most   = 1 << 19
)

// sortFloats sorts finite numbers.
func sortFloats(values []float64) {
	if len(values) < fewest || len(values) > most {
		slices.Sort(values)
		return
	}
	const digit, passes = 11, 6 // 66 bits of 64
	from, to := make([]uint64, len(values)), make([]uint64, len(values))
	var counts [passes][1 << digit]int32
	for i, v := range values {
		b := math.Float64bits(v)
		b ^= uint64(int64(b)>>63) | 1<<63 // an order of whole numbers that is that of the floats
		from[i] = b
		for k := range passes {
			counts[k][b>>(digit*k)&(1<<digit-1)]++
		}
	}
	for k := range passes {
		count := &counts[k]
		if count[from[0]>>(digit*k)&(1<<digit-1)] == int32(len(values)) {
			continue // all have the same digit
		}
		at := int32(0)
		for d := range count {
			count[d], at = at, at+count[d]
		}
		for _, b := range from {
			d := b >> (digit * k) & (1<<digit - 1)
			to[count[d]] = b
			count[d]++
		}
		from, to = to, from
	}
	for i, b := range from {
		if b>>63 == 1 {
			b ^= 1 << 63
		} else {
			b = ^b
		}
		values[i] = math.Float64frombits(b)
	}
}
