package collect

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// A server whose latency grows with the concurrency: the capacity is found within 3 % or one, with few measurements,
// also where each measurement has 2 % of noise.
func TestFind(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, noise := range []float64{0, .02} {
		right, trials, probes := 0, 0, 0
		for trial := range 300 {
			truth := 1 + rng.IntN(900)
			power := .3 + rng.Float64()
			measured := 0
			a, err := findLargest(1, 4096, func(c int) (float64, bool, error) {
				measured++
				ratio := math.Pow(float64(c)/(float64(truth)+.5), power)
				return ratio * math.Exp(noise*rng.NormFloat64()), false, nil
			})
			if err != nil || a.holds >= a.fails || a.fails == 0 {
				t.Fatalf("trial %d: %+v, %v", trial, a, err)
			}
			tolerance := max(1, .03*float64(truth)*(1+noise/.02/power))
			if trials++; math.Abs(float64(a.holds-truth)) <= tolerance {
				right++
			}
			probes += measured
			if noise == 0 && !a.settled {
				t.Errorf("%d: not settled after %d measurements", truth, measured)
			}
		}
		if share := float64(right) / float64(trials); share < .95 || noise == 0 && share < 1 {
			t.Errorf("noise %g: %.3f of the answers are right", noise, share)
		}
		if mean := float64(probes) / float64(trials); mean > 24 {
			t.Errorf("noise %g: %.1f measurements", noise, mean)
		}
	}
}

// A search that is ended has the ends that were known by then.
func TestEndsOfASearchThatWasEnded(t *testing.T) {
	ended := errors.New("no more time")
	n := 0
	a, err := findLargest(1, 4096, func(c int) (float64, bool, error) {
		if n++; n > 6 {
			return 0, false, ended
		}
		return float64(c) / 20, false, nil
	})
	if !errors.Is(err, ended) || a.holds != 16 || a.fails != 32 || a.settled {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestEdges(t *testing.T) {
	at := func(limit int) func(int) (float64, bool, error) {
		return func(c int) (float64, bool, error) {
			return float64(c) / float64(limit), false, nil
		}
	}
	if a, err := findLargest(1, 64, at(1000)); err != nil || a.holds != 64 || a.fails != 0 || !a.settled {
		t.Errorf("more than the most: %+v %v", a, err)
	}
	none := func(c int) (float64, bool, error) { return math.Inf(1), false, nil }
	if a, err := findLargest(1, 64, none); err != nil || a.holds != 0 || a.fails != 1 || !a.settled {
		t.Errorf("not even one: %+v %v", a, err)
	}
	if a, err := findLargest(1, 64, at(1)); err != nil || a.holds != 1 || a.fails != 2 {
		t.Errorf("one: %+v %v", a, err)
	}
	broken := errors.New("gone")
	failing := func(int) (float64, bool, error) { return 0, false, broken }
	if _, err := findLargest(1, 64, failing); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// A look says where to go on and is no evidence: what it said of an end is measured again, and may be otherwise.
func TestLooksAreNoEvidence(t *testing.T) {
	const truth = 50
	seen := map[int]int{}
	a, err := findLargest(1, 4096, func(c int) (float64, bool, error) {
		seen[c]++
		worst, look := float64(c)/truth, seen[c] == 1 && c&(c-1) == 0
		if c == 64 && look { // as short measurements of a server that fills slowly
			worst = .5
		}
		return worst, look, nil
	})
	if err != nil || a.holds != truth || a.fails != truth+1 || !a.settled || seen[64] > 2 {
		t.Errorf("%v %+v; 64 was measured %d times", err, a, seen[64])
	}
}
