package regression

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Step is a place where a series changes its level.
type Step struct {
	At            int     // index of the first value of the new level
	Before, After float64 // means of the two levels
	P             float64 // by permutation, NaN while it is only proposed
	Found         bool    // decided: passes the false discovery rule over all series that were searched together
}

// Penalty is what one more step must gain in squared error before it is proposed: the larger of Noise·σ²·ln n, with σ from
// the median distance of neighbours, and Share of the squared deviations of the whole series. The first keeps noise from being
// fitted, the second keeps drift and periods from being cut into stairs.
type Penalty struct{ Noise, Share float64 }

// DefaultPenalty is the setting behind every proposal; see figures for what others give on annotated series.
func DefaultPenalty() Penalty { return Penalty{Noise: 4, Share: 1. / 32} }

// Propose finds the segmentation with the least squared error plus penalty by optimal partitioning (Jackson et al. 2005; Killick
// et al. 2012 without the pruning, which history does not need). Segments hold two values at least. A proposal is not a finding:
// [Decide] is.
func Propose(values []float64, pen Penalty) []Step {
	n := len(values)
	if n < 4 {
		return nil
	}
	sum, sq := prefix(values)
	cost := func(a, b int) float64 {
		s := sum[b] - sum[a]
		return math.Max(0, sq[b]-sq[a]-s*s/float64(b-a))
	}
	total := cost(0, n)
	if total <= 0 {
		return nil
	}
	penalty := math.Max(pen.Noise*neighbourVariance(values)*math.Log(float64(n)), pen.Share*total)
	best, from := make([]float64, n+1), make([]int, n+1)
	for t := range best {
		best[t] = math.Inf(1)
	}
	best[0] = -penalty
	for t := 2; t <= n; t++ {
		for s := 0; s <= t-2; s++ {
			if v := best[s] + cost(s, t) + penalty; v < best[t] {
				best[t], from[t] = v, s
			}
		}
	}
	var out []Step
	for t := from[n]; t > 0; t = from[t] {
		out = append(out, Step{At: t, P: math.NaN()})
	}
	slices.Reverse(out)
	for i := range out {
		lo, hi := enclosing(out, i, n)
		at := out[i].At
		out[i].Before = (sum[at] - sum[lo]) / float64(at-lo)
		out[i].After = (sum[hi] - sum[at]) / float64(hi-at)
	}
	return out
}

// enclosing is the range of values between the neighbours of a step.
func enclosing(steps []Step, i, n int) (lo, hi int) {
	hi = n
	if i > 0 {
		lo = steps[i-1].At
	}
	if i+1 < len(steps) {
		hi = steps[i+1].At
	}
	return lo, hi
}

// prefix returns running sums of centred values and of their squares; centring keeps the digits.
func prefix(values []float64) (sum, sq []float64) {
	sum, sq = make([]float64, len(values)+1), make([]float64, len(values)+1)
	mean := 0.
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for i, v := range values {
		v -= mean
		sum[i+1], sq[i+1] = sum[i]+v, sq[i]+v*v
	}
	return sum, sq
}

// neighbourVariance is the variance of the noise as the distances of neighbours show it, which a few steps do not disturb: half
// the squared, scaled median absolute deviation of successive differences.
func neighbourVariance(values []float64) float64 {
	d := make([]float64, len(values)-1)
	for i := range d {
		d[i] = values[i+1] - values[i]
	}
	slices.Sort(d)
	m := middle(d)
	for i := range d {
		d[i] = math.Abs(d[i] - m)
	}
	slices.Sort(d)
	sd := 1.4826 * middle(d)
	return sd * sd / 2
}

// gain is the most squared error that one split explains; least is how many values each side needs.
func gain(values []float64, least int) (best float64, at int) {
	n := float64(len(values))
	total := 0.
	for _, v := range values {
		total += v
	}
	s := 0.
	for i, v := range values[:len(values)-1] {
		s += v
		k := float64(i + 1)
		if i+1 < least || len(values)-i-1 < least {
			continue
		}
		d := s - k*total/n
		if g := d * d * n / (k * (n - k)); g > best {
			best, at = g, i+1
		}
	}
	return best, at
}

// candidate is one proposed step on its way to a decision.
type candidate struct {
	values   []float64 // between its neighbours, centred
	weight   []float64 // of a squared partial sum, by split; 0 where a side would be too short
	observed float64
	state    uint64 // of the random numbers
	over     int    // permutations at least as extreme
	made     int
	p        float64
}

func newCandidate(values []float64, least int, seed uint64) *candidate {
	n := len(values)
	c := &candidate{values: slices.Clone(values), weight: make([]float64, n-1), state: seed}
	mean, _ := centre(c.values)
	for i := range c.values {
		c.values[i] -= mean
	}
	for i := range c.weight {
		if k := i + 1; k >= least && n-k >= least {
			c.weight[i] = float64(n) / float64(k*(n-k))
		}
	}
	c.observed = c.most()
	return c
}

// most is the largest gain of one split, as [gain] has it, for values that are centred.
func (c *candidate) most() float64 {
	best, s := 0., 0.
	for i, w := range c.weight {
		s += c.values[i]
		best = max(best, s*s*w)
	}
	return best
}

// shuffled permutes the values (Fisher and Yates) and returns their largest gain, in one pass. Random numbers are splitmix64 (Steele,
// Lea and Flood 2014): most of a search's time is here.
func (c *candidate) shuffled() float64 {
	v, w, state := c.values, c.weight, c.state
	best, s := 0., 0.
	for i := range w {
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		k := i + int((z>>32)*uint64(len(v)-i)>>32) // the bias of one in 2^26 is nothing here
		v[i], v[k] = v[k], v[i]
		s += v[i]
		if g := s * s * w[i]; g > best {
			best = g
		}
	}
	c.state = state
	return best
}

// permute makes permutations up to a number, and stops at the tenth that is as extreme (Besag and Clifford 1991): the p value of
// a step that is none needs no more.
func (c *candidate) permute(upTo int) {
	const enough = 10
	for c.made < upTo && c.over < enough {
		c.made++
		if c.shuffled() >= c.observed*(1-1e-12) {
			c.over++
		}
	}
	if c.over >= enough {
		c.p = float64(c.over) / float64(c.made)
	} else {
		c.p = float64(c.over+1) / float64(c.made+1)
	}
}

// resolve gives every candidate a p value that is fine enough for the false discovery rule over family searches, from a
// thousand to a million permutations, and returns the largest that passes. A candidate that could not pass even if its true p
// were a third of what was counted is left alone.
func resolve(list []*candidate, family int, level float64) float64 {
	limit := -1.
	for _, upTo := range []int{1e3, 1e4, 3e4, 1e5, 3e5, 1e6} {
		var open []*candidate
		for i, c := range list {
			if upTo == 1e3 || c.p > limit && hopeful(list, i, family, level) {
				open = append(open, c)
			}
		}
		if len(open) == 0 {
			break
		}
		together(open, func(c *candidate) { c.permute(upTo) })
		ps := make([]float64, len(list))
		for i, c := range list {
			ps[i] = c.p
		}
		_, limit = BenjaminiHochberg(ps, family, level)
	}
	return limit
}

// together does something for every candidate, on all processors. Each has random numbers of its own, so that nothing depends on
// which is done when.
func together(list []*candidate, do func(*candidate)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(list) {
					return
				}
				do(list[i])
			}
		})
	}
	wg.Wait()
}

// hopeful reports whether more permutations could still let a candidate pass: not when its p is three times what it needs, nor when
// ten times as many were made as it takes to know.
func hopeful(list []*candidate, i int, family int, level float64) bool {
	c := list[i]
	ahead := 0
	for _, o := range list {
		if o.over*c.made <= c.over*o.made {
			ahead++
		}
	}
	needed := level * float64(ahead) / float64(family)
	return float64(c.over)/float64(c.made)/3 <= needed && float64(c.made) < 10/needed
}

// Decide proposes steps in many series and decides them together: each by the permutation distribution of the largest gain of
// one split between the neighbouring steps, all under one false discovery rule. Nothing is decided below eight values, where
// permutations are too few to mean anything. seed fixes the permutations of a series; it should depend on the series' name alone.
func Decide(series [][]float64, pen Penalty, q float64, seed func(i int) uint64) [][]Step {
	const fewest = 8
	out := make([][]Step, len(series))
	type place struct{ series, step int }
	var list []*candidate
	var where []place
	for i, values := range series {
		if len(values) < fewest {
			continue
		}
		out[i] = Propose(values, pen)
		for k := range out[i] {
			lo, hi := enclosing(out[i], k, len(values))
			if hi-lo < fewest {
				continue
			}
			list = append(list, newCandidate(values[lo:hi], 2, seed(i)+uint64(out[i][k].At)*0x9e3779b97f4a7c15))
			where = append(where, place{i, k})
		}
	}
	limit := resolve(list, max(len(series), len(list)), q)
	for n, c := range list {
		s := &out[where[n].series][where[n].step]
		s.P, s.Found = c.p, c.p <= limit
	}
	return out
}
