package latency_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/quick"

	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// Values computed once with Python (statistics.pstdev; percentiles by linear interpolation, as NumPy defines them).
func TestAgainstPython(t *testing.T) {
	s := latency.NewSample([]float64{12.5, 3.25, 8, 99.75, 41, 7.5, 15.125})
	for name, c := range map[string][2]float64{
		"mean": {s.Mean, 26.732142857142858}, "std": {s.Std, 31.947810997797962}, "p50": {s.Quantile(.5), 12.5},
		"p90": {s.Quantile(.9), 64.5}, "p99": {s.Quantile(.99), 96.225}, "p0": {s.Quantile(0), 3.25},
		"p100": {s.Quantile(1), 99.75},
	} {
		if math.Abs(c[0]-c[1]) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, c[0], c[1])
		}
	}
}

func TestQuantilesAreMonotoneAndInside(t *testing.T) {
	check := func(values []float64) bool {
		s := latency.NewSample(values)
		if s.N() == 0 {
			return true
		}
		last := s.Quantile(0)
		for i := 1; i <= 100; i++ {
			q := s.Quantile(float64(i) / 100)
			if q < last {
				return false
			}
			last = q
		}
		sk := s.Sketch()
		return len(sk) == latency.SketchSize && slices.IsSorted(sk) && s.Quantile(1) == slices.Max(values)
	}
	cfg := &quick.Config{MaxCount: 300, Values: nil}
	if err := quick.Check(func(seed uint64, n uint8) bool {
		rng := rand.New(rand.NewPCG(seed, 1))
		v := make([]float64, int(n)%60)
		for i := range v {
			v[i] = math.Exp(rng.NormFloat64() * 3)
		}
		return check(v)
	}, cfg); err != nil {
		t.Error(err)
	}
}

// The interval of a quantile covers the true one in at least 95 % of samples (it is conservative).
func TestOrderIntervalCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, c := range []struct {
		n int
		p float64
	}{{20, .5}, {200, .9}, {500, .99}} {
		inside, trials := 0, 2000
		for range trials {
			v := make([]float64, c.n)
			for i := range v {
				v[i] = rng.Float64() // the true quantile of p is p
			}
			lo, hi, ok := latency.NewSample(v).Interval(c.p)
			if !ok {
				t.Fatalf("n %d p %v gives no interval", c.n, c.p)
			}
			if lo <= c.p && c.p <= hi {
				inside++
			}
		}
		if share := float64(inside) / float64(trials); share < .94 {
			t.Errorf("n %d, p %v: %.3f of the intervals hold the quantile, want .95", c.n, c.p, share)
		}
	}
	if _, _, ok := latency.NewSample(make([]float64, 50)).Interval(.99); ok {
		t.Error("50 values cannot bound a 99th percentile, yet an interval was given")
	}
}

func TestHollowAndFailedAreLeftOut(t *testing.T) {
	set := latency.Summarise([]latency.Request{
		{OK: true, TTFT: 10, ITL: []float64{2, 4}, E2EL: 16, In: 5, Out: 3},
		{OK: true, TTFT: 0, E2EL: 0, In: 5, Out: 0}, // hollow
		{OK: false, TTFT: 99},
		{OK: true, TTFT: 20, E2EL: 20, In: 5, Out: 1}, // too short for a TPOT
	}, 2)
	if set.OK != 2 || set.Hollow != 1 || set.Failed != 1 || set.TTFT.Mean != 15 || set.TPOT.N() != 1 ||
		set.TPOT.Mean != 3 || set.ITL.N() != 2 || set.RPS() != 1 || set.OutputTPS() != 2 || set.TotalTPS() != 7 {
		t.Errorf("got %+v", set)
	}
}

func TestRound(t *testing.T) {
	for _, c := range [][3]float64{
		{123456, 3, 123000}, {0.00123456, 3, 0.00123}, {-9.996, 3, -10}, {0, 3, 0}, {1e-300, 2, 1e-300}, {99.95, 6, 99.95},
	} {
		if got := latency.Round(c[0], int(c[1])); math.Abs(got-c[2]) > 1e-9*math.Abs(c[2]) {
			t.Errorf("Round(%v, %v) = %v, want %v", c[0], c[1], got, c[2])
		}
	}
}

// Nine of a thousand requests that are not known move the P99 where the slowest differ, and not where all are alike.
func TestTailDoubt(t *testing.T) {
	for _, c := range []struct {
		n, late int
		slowest float64 // of 2 %, ms
		want    bool
	}{{1000, 9, 51, false}, {1000, 9, 200, true}, {1000, 0, 200, false}, {50, 1, 200, false}} {
		var requests []latency.Request
		for i := range c.n {
			r := latency.Request{OK: true, TTFT: 50, E2EL: 500, Out: 2, ITL: []float64{10}}
			if tail := i - c.n*98/100; tail > 0 {
				r.TTFT += (c.slowest - 50) * float64(tail) / float64(c.n/50)
			}
			if i >= c.n-c.late {
				r.Undated = []int{0}
			}
			requests = append(requests, r)
		}
		if set := latency.Summarise(requests, 1); set.TailDoubt > .01 != c.want {
			t.Errorf("%+v: %.4f in doubt", c, set.TailDoubt)
		}
	}
}
