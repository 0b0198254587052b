package builtin_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
)

// capacity of the simulator for short requests, in requests a second, by a burst of many.
func capacityOf(t *testing.T, cfg sim.Config) float64 {
	t.Helper()
	l := builtin.Load{Workload: traffic.Workload{ISL: 128, OSL: 32, Concurrency: 64, Requests: 4000}, Seed: 3}
	out, err := builtin.RunVirtual(l, sim.NewVirtual(cfg, time.Unix(1e9, 0)))
	if err != nil {
		t.Fatal(err)
	}
	return out.Set().RPS()
}

// More work than the simulator can do is noticed within seconds and nothing more is sent; up to 97 % of what it can do
// is never taken for an overload, with arrivals of every kind.
func TestOverload(t *testing.T) {
	cfg := sim.Config{Noise: .02, Seed: 9}
	most := capacityOf(t, cfg)
	for name, burstiness := range map[string]float64{"poisson": 0, "bursts": .5} {
		for _, share := range []float64{.5, .9, .97, 1.2, 1.5, 3} {
			for seed := range uint64(5) {
				rate := share * most
				n := int(60 * rate)
				l := builtin.Load{
					Workload: traffic.Workload{ISL: 128, OSL: 32, Rate: rate, Requests: n, Burstiness: burstiness},
					Seed:     seed,
				}
				out, err := builtin.RunVirtual(l, sim.NewVirtual(cfg, time.Unix(1e9, 0)))
				if err != nil {
					t.Fatal(err)
				}
				sent := out.Requests[len(out.Requests)-1].Sent.Seconds()
				if out.Overload != (share > 1) || share >= 1.5 && sent > 8 || share > 1 && sent > 30 {
					t.Errorf("%s, %g of the capacity, seed %d: overload %v after %.1f s", name, share, seed, out.Overload, sent)
				}
			}
		}
	}
}

// A rate that grows is no overload by itself.
func TestRampIsNoOverload(t *testing.T) {
	cfg := sim.Config{Seed: 9}
	most := capacityOf(t, cfg)
	arrivals, err := traffic.ParseArrivals("steps(1,20,60)")
	if err != nil || most < 60 {
		t.Fatal(err, most)
	}
	w := traffic.Workload{ISL: 128, OSL: 32, Rate: 27, Requests: 1500, Arrivals: arrivals}
	l := builtin.Load{Workload: w, Seed: 1}
	out, err := builtin.RunVirtual(l, sim.NewVirtual(cfg, time.Unix(1e9, 0)))
	if err != nil || out.Overload || len(out.Requests) != 1500 {
		t.Errorf("%v: overload %v after %d requests", err, out.Overload, len(out.Requests))
	}
}

// A server that answers nothing any more is an overload, too: a search for a rate does not wait for it. Other loads do,
// since what was sent is part of their result.
func TestStallUnderLoad(t *testing.T) {
	var asked atomic.Int64
	const answered = 30
	stalls := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > answered {
			select {
			case <-stalls:
			case <-r.Context().Done():
			}
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"text\":\" a\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer srv.Close()
	defer close(stalls)
	l := builtin.Load{
		Workload: traffic.Workload{ISL: 8, OSL: 1, Rate: 400, Requests: 80, Timeout: time.Minute},
		URL:      srv.URL, Model: "m", Seed: 1, CutOverload: true,
	}
	out, err := builtin.Run(t.Context(), l)
	if err != nil || !out.Overload || out.Set().OK != answered || len(out.Requests) != 80 {
		t.Errorf("%v: overload %v, %d of %d requests answered", err, out.Overload, out.Set().OK, len(out.Requests))
	}
	if out.Duration > 30*time.Second {
		t.Errorf("it waited for %s", out.Duration)
	}
	for _, q := range out.Requests {
		if q.Error != "" && !strings.HasPrefix(q.Error, "abandoned with the load") {
			t.Fatalf("a request that was given up says %q", q.Error)
		}
	}
}
