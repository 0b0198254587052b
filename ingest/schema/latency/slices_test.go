package latency_test

import (
	"math"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// A server that answers twice as slowly in the second half: the course shows it where the means do not, and its tokens
// are all there.
func TestSlices(t *testing.T) {
	var requests []latency.Request
	var sent []float64
	for i := range 200 {
		r := latency.Request{OK: true, TTFT: 50, ITL: []float64{10, 10, 10}, E2EL: 80, Out: 4}
		if i >= 100 {
			r = latency.Request{OK: true, TTFT: 100, ITL: []float64{20, 20, 20}, E2EL: 160, Out: 4}
		}
		requests, sent = append(requests, r), append(sent, 1000+.1*float64(i)) // any clock
	}
	requests = append(requests, latency.Request{}, latency.Request{OK: true})
	sent = append(sent, 5000, 5000) // one failed, one has no tokens
	s := latency.Slices(requests, sent)
	if len(s.Series) != 3 || len(s.Series[0].Values) != schema.MostSlices || math.Abs(16*s.Step-20.1) > .1 {
		t.Fatalf("%+v", s)
	}
	for i, want := range map[int][2]float64{0: {50, 100}, 1: {10, 20}, 2: {40, 40}} {
		x := s.Series[i]
		if x.Values[2] != want[0] || x.Values[12] != want[1] {
			if i < 2 || math.Abs(x.Values[2]-want[0]) > 4 {
				t.Errorf("%s: %v, want %v", x.Name, x.Values, want)
			}
		}
	}
	tokens := 0.
	for _, v := range s.Series[2].Values {
		tokens += v * s.Step
	}
	if math.Abs(tokens-800) > 8 {
		t.Errorf("%g tokens in the slices, want 800", tokens)
	}
	for name, n := range map[string]int{"too few": 15, "one instant": 0} {
		if s := latency.Slices(requests[:n], sent[:n]); s.Step != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s := latency.Slices(requests, sent[:3]); s.Step != 0 {
		t.Errorf("uneven lists: %+v", s)
	}
}

// Any times give at most the slices that there may be, without a panic.
func FuzzSlices(f *testing.F) {
	f.Add(0., 1., 10., 50)
	f.Add(-1e300, 1e300, 1e9, 40)
	f.Add(math.NaN(), 2., -5., 64)
	f.Fuzz(func(t *testing.T, from, each, ttft float64, n int) {
		n = max(0, min(n, 300))
		requests, sent := make([]latency.Request, n), make([]float64, n)
		for i := range n {
			requests[i] = latency.Request{OK: true, TTFT: ttft, ITL: []float64{ttft}, E2EL: 2 * ttft, Out: 2}
			sent[i] = from + each*float64(i)
		}
		for _, x := range latency.Slices(requests, sent).Series {
			if len(x.Values) > schema.MostSlices || len(x.Values) < schema.LeastSlices {
				t.Errorf("%d slices", len(x.Values))
			}
		}
	})
}
