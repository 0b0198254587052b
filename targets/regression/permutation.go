package regression

import (
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// gain returns the most squared error that one split explains, and where; least is the number of values that each
// side needs.
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

// candidate is a proposed split.
type candidate struct {
	of    span    // that is split
	at    int32   // observation that would begin a level
	split int     // its place
	step  float64 // of the values there

	values   []float64 // of the level that is split, centred
	weight   []float64 // of a squared partial sum, by split; 0 where a side would be too short
	observed float64
	state    uint64 // of the random numbers
	over     int    // permutations at least as extreme
	made     int
	p        float64
	beyond   float64 // p value where no permutation is as extreme: see [candidate.tail]
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

// tail is the p value of a split of the centred values that is far beyond what permutations reach in reasonable time:
// ten times that of normal values over all splits, which leaves room for others, and never less than the share of
// permutations that put the same values on the shorter side.
func (c *candidate) tail() float64 {
	n, splits, total := float64(len(c.values)), 0., 0.
	for _, w := range c.weight {
		if w > 0 {
			splits++
		}
	}
	for _, v := range c.values {
		total += v * v
	}
	t := math.Sqrt(c.observed * (n - 2) / max(total-c.observed, 1e-12*total))
	same := 2.
	for i := range min(c.split, len(c.values)-c.split) {
		same *= float64(i+1) / (n - float64(i))
	}
	return max(20*splits*UpperTail(t, n-2), same)
}

// most returns the largest gain of one split, like [gain], for centred values.
func (c *candidate) most() float64 {
	best, s := 0., 0.
	for i, w := range c.weight {
		s += c.values[i]
		best = max(best, s*s*w)
	}
	return best
}

// shuffled permutes the values (Fisher and Yates) and returns their largest gain, in one pass. Random numbers are
// splitmix64 (Steele, Lea and Flood 2014): most of a search's time is spent here.
func (c *candidate) shuffled() float64 {
	v, w, state := c.values, c.weight, c.state
	best, s := 0., 0.
	for i := range w {
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		k := i + int((z>>32)*uint64(len(v)-i)>>32) // the bias of one in 2^26 does not matter here
		v[i], v[k] = v[k], v[i]
		s += v[i]
		if g := s * s * w[i]; g > best {
			best = g
		}
	}
	c.state = state
	return best
}

// many permutations of which none is as extreme leave the rest to [candidate.tail].
const many = 1e4

// permute makes up to a number of permutations, and stops at the tenth that is as extreme (Besag and Clifford 1991):
// the p value of a split that is no change point needs no more.
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
	if c.over == 0 && c.made >= many {
		c.p = min(c.p, c.beyond)
	}
}

// resolve computes a p value for every candidate that is precise enough for the false discovery procedure over family
// searches, with a thousand to a million permutations, and returns the largest that passes. It stops for a candidate
// that could not pass even if its true p were a third of the estimate.
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
		permuteAll(open, upTo)
		ps := make([]float64, len(list))
		for i, c := range list {
			ps[i] = c.p
		}
		_, limit = BenjaminiHochberg(ps, family, level)
	}
	return limit
}

// permuteAll permutes candidates on all processors. Each has random numbers of its own, so that the result does not
// depend on the order.
func permuteAll(list []*candidate, upTo int) {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, c := range list {
		g.Go(func() error {
			c.permute(upTo)
			return nil
		})
	}
	_ = g.Wait() // permutations do not fail
}

// hopeful reports whether more permutations could still let a candidate pass: not when its p is three times the
// threshold, nor when ten times as many were made as the threshold needs.
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
