package block_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/targets/regression/block"
)

// bench is a made-up pair: points with their own noise, and starts of servers that all points of a block share.
type bench struct {
	points, blocks  int
	measure, start  float64
	spread          bool // points differ in noise
	missing         float64
	effect          float64 // of all points
	first           float64 // of the first point, in addition
	machine, drifts float64 // sd of a block's machine, and its drift from block to block: both cancel
}

func (b bench) draw(r *rand.Rand) [][]float64 {
	sd := make([]float64, b.points)
	for i := range sd {
		sd[i] = b.measure
		if b.spread {
			chi := 0.
			for range 4 {
				g := r.NormFloat64()
				chi += g * g
			}
			sd[i] *= math.Sqrt(4 / chi)
		}
	}
	out := make([][]float64, b.points)
	for k := range b.blocks {
		host := b.machine*r.NormFloat64() + b.drifts*float64(k)
		a, c := b.start*r.NormFloat64(), b.start*r.NormFloat64()
		for i := range out {
			left := 3 + host + a + sd[i]*r.NormFloat64()
			right := 3 + host + c + sd[i]*r.NormFloat64() + b.effect
			if i == 0 {
				right += b.first
			}
			v := right - left
			if r.Float64() < b.missing {
				v = math.NaN()
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

// The interval of a nominal 95 % holds the truth in 92 to 99 % of pairs, whatever the number of points and blocks,
// with starts that all points share, points of unequal noise and blocks that lack some.
func TestCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for _, b := range []bench{
		{points: 1, blocks: 2, measure: .01, start: .005},
		{points: 1, blocks: 5, measure: .01, start: .005},
		{points: 3, blocks: 2, measure: .01, start: .005},
		{points: 25, blocks: 2, measure: .01, start: .005, machine: .05, drifts: .1},
		{points: 25, blocks: 3, measure: .01, start: .005},
		{points: 25, blocks: 3, measure: .01, start: .02},
		{points: 25, blocks: 4, measure: .01, start: .005, spread: true, missing: .1},
		{points: 8, blocks: 2, measure: .02, start: 0, spread: true},
	} {
		b.effect = .03
		covered, pooled, n, pairs := 0., 0., 0., 2000
		if b.points > 8 {
			pairs = 500
		}
		known := 0.
		for range pairs {
			each, all := block.Compare(b.draw(r), false)
			for _, d := range each {
				if lo, hi := d.Interval(.95); d.Known() {
					n++
					if lo <= .03 && .03 <= hi {
						covered++
					}
				}
			}
			if lo, hi := all.Interval(.95); all.Known() {
				known++
				if lo <= .03 && .03 <= hi {
					pooled++
				}
			}
		}
		if share := covered / n; share < .92 || share > .99 {
			t.Errorf("%+v: the interval of a point holds the truth in %.3f", b, share)
		}
		if share := pooled / known; share < .92 || share > .99 {
			t.Errorf("%+v: the interval of all points holds the truth in %.3f", b, share)
		}
	}
}

// Requests that an interval came from would make a server that started badly a certain regression: with blocks it is
// none. The same data as one block are no verdict at all.
func TestOneBlockIsNoVerdict(t *testing.T) {
	each, all := block.Compare([][]float64{{.2}, {.21}, {.19}}, false)
	for _, d := range append(each, all) {
		if d.Known() || !math.IsNaN(d.P()) || d.Shown(.01, true) != block.Nothing {
			t.Errorf("one block: %+v", d)
		}
	}
	if math.Abs(each[0].Mean-.2) > 1e-12 || each[0].Blocks != 1 {
		t.Errorf("the difference itself is known: %+v", each[0])
	}
}

// The interval of one series is Student's on its blocks; swapping the servers inverts it; the order of blocks and of
// series changes nothing; what the machine does to both changes nothing.
func TestProperties(t *testing.T) {
	d := []float64{.01, .03, .05}
	one, all := block.Compare([][]float64{d}, false)
	if se := .02 / math.Sqrt(3); math.Abs(one[0].SE-se) > 1e-12 || one[0].Df != 2 || one[0].Part != all.Part {
		t.Errorf("one series: %+v %+v, standard error %g wanted with 2 degrees of freedom", one[0], all, se)
	}
	r := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		b := bench{points: 2 + r.IntN(20), blocks: 2 + r.IntN(4), measure: .01, start: .01, missing: .05}
		s := b.draw(r)
		each, pooled := block.Compare(s, false)
		turned := make([][]float64, len(s))
		for i := range s {
			for k := range s[i] {
				turned[len(s)-1-i] = append(turned[len(s)-1-i], -s[i][len(s[i])-1-k])
			}
		}
		again, other := block.Compare(turned, false)
		same(t, pooled, other)
		for i := range each {
			same(t, each[i], again[len(s)-1-i])
		}
	}
}

func same(t *testing.T, a, b block.Difference) {
	t.Helper()
	near := func(x, y float64) bool {
		return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) < 1e-6*(1+math.Abs(x))
	}
	if !near(a.Mean, -b.Mean) || !near(a.SE, b.SE) || !near(a.Df, b.Df) || a.Blocks != b.Blocks {
		t.Errorf("%+v is not the inverse of %+v", b, a)
	}
}

// Blocks that agree to the last digit are no proof of a noise of zero.
func TestIdenticalBlocks(t *testing.T) {
	each, _ := block.Compare([][]float64{{.001, .001}, {.002, .002}}, false)
	if each[0].SE < .003 || each[0].P() < .05 {
		t.Errorf("a difference of .1 %% in two blocks that agree exactly: %+v, p %g", each[0], each[0].P())
	}
}

// A start that spoils one of eight workloads leaves what the others show, and all of them together, as it is.
func TestOneBadStart(t *testing.T) {
	for blocks := 2; blocks <= 5; blocks++ {
		r := rand.New(rand.NewPCG(11, uint64(blocks)))
		s := bench{points: 8, blocks: blocks, measure: .004, effect: math.Log(1.065)}.draw(r)
		clean, _ := block.Compare(s, false)
		s[2][1] += math.Log(2)
		each, all := block.Compare(s, false)
		for i, d := range append(each, all) {
			lo, hi := d.Interval(.95)
			switch {
			case i == 2:
				if hi-lo < .1 {
					t.Errorf("%d blocks: the spoilt workload has %.3f to %.3f", blocks, lo, hi)
				}
			case lo < .03 || hi > .10:
				t.Errorf("%d blocks, series %d: %.3f to %.3f, without the bad start %+v", blocks, i, lo, hi,
					clean[min(i, len(clean)-1)])
			}
		}
	}
}

func TestShown(t *testing.T) {
	d := func(mean, se float64) block.Difference {
		return block.Difference{Blocks: 3, Part: block.Part{Mean: mean, SE: se, Df: 10}}
	}
	limit := math.Log1p(.05)
	for _, c := range []struct {
		d           block.Difference
		significant bool
		want        block.Shows
	}{
		{d(.08, .005), true, block.Larger}, {d(-.08, .005), true, block.Smaller},
		{d(.03, .005), true, block.Equal}, {d(0, .005), false, block.Equal},
		{d(-.06, .02), false, block.NotLarge}, {d(.06, .02), false, block.NotSmall},
		{d(0, .1), false, block.Nothing}, {d(.08, .05), false, block.NotSmall},
	} {
		if got := c.d.Shown(limit, c.significant); got != c.want {
			t.Errorf("%+v: %d, want %d", c.d, got, c.want)
		}
	}
}

// Where both servers keep running, blocks agree although the servers started unlike: the interval says so.
func TestKeptRunning(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	covered, n := 0., 0.
	for range 1500 {
		b := bench{points: 10, blocks: 3, measure: .01, effect: .005 * math.Sqrt2 * r.NormFloat64()} // of the starts
		_, all := block.Compare(b.draw(r), true)
		n++
		if lo, hi := all.Interval(.95); lo <= 0 && 0 <= hi {
			covered++
		}
	}
	if share := covered / n; share < .93 || share > .985 {
		t.Errorf("the interval of two equal builds that keep running holds 0 in %.3f", share)
	}
}
