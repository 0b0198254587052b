package capacity_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/collect/capacity"
	"github.com/ttreport/ttreport/ingest/schema/latency"
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
			a, err := capacity.Find(4096, func(c int) (capacity.Probe, error) {
				ratio := math.Pow(float64(c)/(float64(truth)+.5), power)
				return capacity.Probe{Concurrency: c, Worst: ratio * math.Exp(noise*rng.NormFloat64())}, nil
			})
			if err != nil || a.Holds >= a.Fails || a.Fails == 0 {
				t.Fatalf("trial %d: %+v, %v", trial, a, err)
			}
			tolerance := max(1, .03*float64(truth)*(1+noise/.02/power))
			if trials++; math.Abs(float64(a.Holds-truth)) <= tolerance {
				right++
			}
			probes += len(a.Probes)
			if noise == 0 && !a.Settled {
				t.Errorf("%d: not settled after %d measurements", truth, len(a.Probes))
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
	a, err := capacity.Find(4096, func(c int) (capacity.Probe, error) {
		if n++; n > 6 {
			return capacity.Probe{}, ended
		}
		return capacity.Probe{Concurrency: c, Worst: float64(c) / 20}, nil
	})
	if !errors.Is(err, ended) || a.Holds != 16 || a.Fails != 32 || a.Settled {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestEdges(t *testing.T) {
	at := func(limit int) func(int) (capacity.Probe, error) {
		return func(c int) (capacity.Probe, error) {
			return capacity.Probe{Concurrency: c, Worst: float64(c) / float64(limit)}, nil
		}
	}
	if a, err := capacity.Find(64, at(1000)); err != nil || a.Holds != 64 || a.Fails != 0 || !a.Settled {
		t.Errorf("more than the most: %+v %v", a, err)
	}
	none := func(c int) (capacity.Probe, error) { return capacity.Probe{Concurrency: c, Worst: math.Inf(1)}, nil }
	if a, err := capacity.Find(64, none); err != nil || a.Holds != 0 || a.Fails != 1 || !a.Settled {
		t.Errorf("not even one: %+v %v", a, err)
	}
	if a, err := capacity.Find(64, at(1)); err != nil || a.Holds != 1 || a.Fails != 2 {
		t.Errorf("one: %+v %v", a, err)
	}
	broken := errors.New("gone")
	failing := func(int) (capacity.Probe, error) { return capacity.Probe{}, broken }
	if _, err := capacity.Find(64, failing); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestSLO(t *testing.T) {
	s, err := capacity.ParseSLO("tpot_mean<50ms  ttft_p99<0.5s")
	if err != nil || s.String() != "tpot_mean<50ms ttft_p99<500ms" || s.Needs() != 200 {
		t.Errorf("%v %v %d", s, err, s.Needs())
	}
	request := latency.Request{OK: true, TTFT: 400, E2EL: 400 + 40*9, Out: 10}
	set := latency.Summarise([]latency.Request{request, request}, 1)
	if got := s.Worst(set); math.Abs(got-.8) > 1e-9 || !s.Meets(request) {
		t.Errorf("%g", got)
	}
	request.E2EL = 400 + 60*9
	for failures, bears := range map[int]bool{1: true, 3: true, 4: false} {
		many := slices.Repeat([]latency.Request{{OK: true, TTFT: 100, E2EL: 200, Out: 10}}, 300)
		clear(many[:failures])
		p90, _ := capacity.ParseSLO("ttft_p90<500ms")
		if got := p90.Worst(latency.Summarise(many, 1)); (got <= 1) != bears {
			t.Errorf("%d of 300 requests failed: %g", failures, got)
		}
	}
	p99, _ := capacity.ParseSLO("ttft_p99<500ms")
	rest := slices.Repeat([]latency.Request{{OK: true, TTFT: 100, E2EL: 200, Out: 10}}, 99)
	if got := p99.Worst(latency.Summarise(append(rest, latency.Request{}), 1)); got <= 1 {
		t.Errorf("a P99 that lies between the slowest and one that failed holds: %g", got)
	}
	failed := latency.Summarise([]latency.Request{request, {}}, 1)
	if s.Meets(request) || !math.IsInf(s.Worst(failed), 1) {
		t.Error("a slow or failed request holds")
	}
	for _, text := range []string{"", "x", "ttft<5", "ttft_p98<5ms", "ttft_p99<x", "ttft_p99>5ms", "ttft_p99<-5ms",
		"rps_mean<5ms"} {
		if _, err := capacity.ParseSLO(text); err == nil || !strings.Contains(err.Error(), "ttft_p99<500ms") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzSLO(f *testing.F) {
	f.Add("ttft_p99<500ms tpot_mean<50ms")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := capacity.ParseSLO(text)
		if err != nil {
			return
		}
		if again, err := capacity.ParseSLO(s.String()); err != nil || again.String() != s.String() {
			t.Errorf("%q: %q is read as %q, %v", text, s, again, err)
		}
	})
}

// A look says where to go on and is no evidence: what it said of an end is measured again, and may be otherwise.
func TestLooksAreNoEvidence(t *testing.T) {
	const truth = 50
	seen := map[int]int{}
	a, err := capacity.Find(4096, func(c int) (capacity.Probe, error) {
		seen[c]++
		p := capacity.Probe{Concurrency: c, Worst: float64(c) / truth, Look: seen[c] == 1 && c&(c-1) == 0}
		if c == 64 && p.Look { // as short measurements of a server that fills slowly
			p.Worst = .5
		}
		return p, nil
	})
	if err != nil || a.Holds != truth || a.Fails != truth+1 || !a.Settled || seen[64] > 2 {
		t.Errorf("%v %+v; 64 was measured %d times", err, a, seen[64])
	}
}
