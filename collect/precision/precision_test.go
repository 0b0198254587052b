package precision_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// series is noise around 100 that starts at 100·(1+from), approaches it within a few dozen values, and then drifts.
func series(seed uint64, n int, from, drift, cv, phi float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out, e := make([]float64, n), 0.
	for i := range out {
		e = phi*e + rng.NormFloat64()*math.Sqrt(1-phi*phi)
		out[i] = 100 * (1 + from*math.Exp(-float64(i)/15) + drift*float64(i)/float64(n) + cv*e)
	}
	return out
}

func TestWarmupIsCut(t *testing.T) {
	for seed := range uint64(20) {
		if cut, small := precision.Warmup(series(seed, 600, 2, 0, .02, 0), 1); cut < 30 || cut > 120 || !small {
			t.Errorf("seed %d: a start of three times the mean that decays over 15 values is cut after %d (%v)", seed, cut,
				small)
		}
	}
	if cut, _ := precision.Warmup(series(1, 600, 0, 0, .02, 0), 1); cut > 120 {
		t.Errorf("a series without a warm-up lost %d of 600 values", cut)
	}
}

// The interval holds the true mean in 92 to 98 % of series, also where requests depend on each other.
func TestCoverage(t *testing.T) {
	for _, phi := range []float64{0, .5, .8} {
		in, trials := 0, 1000
		for seed := range uint64(trials) {
			s := precision.Behind(series(seed, 1000, 0, 0, .05, phi), 1)
			if math.Abs(s.Mean-100) <= s.Half {
				in++
			}
		}
		if share := float64(in) / float64(trials); share < .92 || share > .98 {
			t.Errorf("autocorrelation %g: %.3f of the intervals hold the mean, want .92 to .98", phi, share)
		}
	}
}

func TestDriftIsSeen(t *testing.T) {
	seen, false_ := 0, 0
	for seed := range uint64(200) {
		if s := precision.Behind(series(seed, 400, 0, .05, .02, 0), 1); math.Abs(s.Drift-.05) < .02 {
			seen++
		}
		if s := precision.Behind(series(seed, 400, 0, 0, .02, 0), 1); s.Drift != 0 {
			false_++
		}
	}
	if seen < 195 || false_ > 1 {
		t.Errorf("a drift of 5 %% is seen in %d of 200, and in %d without one", seen, false_)
	}
	drifting := precision.Series{Name: "ttft", Values: series(1, 400, 0, .3, .01, 0)}
	if k := (precision.Rule{CI: .05}).Judge([]precision.Series{drifting}, 0, 1); k.Steady || k.Reached {
		t.Errorf("a series that grows by 30 %% is steady: %+v", k)
	}
}

func TestRules(t *testing.T) {
	for text, want := range map[string]precision.Rule{
		"ci=2%": {CI: .02}, "ci=0.05": {CI: .05}, "ci=2%,tail=p99,most=90s": {CI: .02, Tail: "p99", Most: 90 * time.Second},
	} {
		got, err := precision.ParseRule(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if again, err := precision.ParseRule(got.String()); err != nil || again != got {
			t.Errorf("%s is written as %s: %v", text, got, err)
		}
	}
	for _, bad := range []string{
		"", "ci", "ci=", "ci=0", "ci=-2%", "ci=NaN", "ci=60%", "ci=x%", "2%", "tail=p99", "ci=2%,tail=p50", "ci=2%,most=0",
		"ci=2%,most=5", "ci=2%,n=4", "ci=2%,,",
	} {
		if _, err := precision.ParseRule(bad); err == nil || !strings.Contains(err.Error(), "ci=2%,tail=p99,most=10m") {
			t.Errorf("%q: %v, want an error with an example", bad, err)
		}
	}
	if n := (precision.Rule{CI: .02}).Least(32); n != 512 {
		t.Errorf("32 in flight: at least %d", n)
	}
}

// The requests that a tail needs are those from which its interval has an upper end.
func TestTailsNeed(t *testing.T) {
	for tail, p := range map[string]float64{"p90": .9, "p95": .95, "p99": .99} {
		need := 1
		for _, _, ok := latency.NewSample(make([]float64, need)).Interval(p); !ok; need++ {
			_, _, ok = latency.NewSample(make([]float64, need+1)).Interval(p)
		}
		values := precision.Series{Values: series(1, 4*need, 0, 0, .001, 0)}
		for n, want := range map[int]bool{need - 1: false, 2 * need: true} {
			k := precision.Rule{CI: .5, Tail: tail}.Judge([]precision.Series{{Values: values.Values[:n]}}, 0, 1)
			if k.Reached != want {
				t.Errorf("%s of %d requests: reached %v; its interval needs %d", tail, n, k.Reached, need)
			}
		}
	}
}
