package collect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
)

// rateFound is the result of a search for a rate on the simulator.
type rateFound struct {
	Holds, Fails float64
	Settled      bool
	Probes       []struct {
		Rate     float64
		Overload bool
	}
	Metrics map[string]struct {
		Value float64
		Unit  string
	}
}

func findRate(t *testing.T, cfg sim.Config, w plan.Workload) rateFound {
	t.Helper()
	p := plan.Plan{Model: schema.Model{Name: "sim-8b"}, Device: "simulated", Seed: 1, Workloads: []plan.Workload{w}}
	srv := &server.Simulated{Config: cfg, Virtual: true, Begin: time.Unix(1e9, 0)}
	out, err := collect.Run(context.Background(), p, srv, t.TempDir(), func(collect.Event) {})
	if err != nil || out.Failed > 0 {
		t.Fatalf("%s: %v %+v", w, err, out)
	}
	names, err := filepath.Glob(filepath.Join(out.Dir, "raw", "01-*ms.json"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	data, err := os.ReadFile(names[0])
	var f rateFound
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A search finds the rate that long measurements of single rates have, within 3 %: its own ends hold and fail there.
// Rates above what the server can do are given up.
func TestRateIsTheServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		slo   string
		noise float64
	}{{"tpot_mean<8ms", 0}, {"tpot_mean<8ms", .02}, {"ttft_p90<60ms", .01}} {
		cfg := sim.Config{Noise: c.noise, Seed: 5}
		var w plan.Workload
		if err := w.Parse("isl=128,osl=32,rate=max,slo=" + c.slo); err != nil {
			t.Fatal(err)
		}
		f := findRate(t, cfg, w)
		if m := f.Metrics["capacity_rps"]; !f.Settled || f.Fails <= f.Holds || m.Value != f.Holds || m.Unit != "req/s" {
			t.Fatalf("%s: %+v", c.slo, f)
		}
		worst := func(rate float64) float64 {
			n := int(200 * rate)
			l := builtin.Load{
				Workload: traffic.Workload{ISL: 128, OSL: 32, Rate: rate, Requests: n},
				Seed:     77,
			}
			measured, err := builtin.RunVirtual(l, sim.NewVirtual(cfg, time.Unix(1e9, 0)))
			if err != nil {
				t.Fatal(err)
			}
			if measured.Overload {
				return 99
			}
			return w.SLO.Worst(measured.Set())
		}
		low, high := worst(.97*f.Holds), worst(1.03*f.Fails)
		t.Logf("%s, noise %g: %.4g to %.4g req/s after %d measurements", c.slo, c.noise, f.Holds, f.Fails, len(f.Probes))
		if low > 1 || high <= 1 {
			t.Errorf("a long measurement has %.3f of the limit 3 %% below %g, and %.3f 3 %% above %g",
				low, f.Holds, high, f.Fails)
		}
	}
}

// An objective that only the queue breaks: the search goes beyond what the server can do, and stops there each time.
func TestRateBeyondTheServer(t *testing.T) {
	var w plan.Workload
	if err := w.Parse("isl=128,osl=32,rate=max,slo=tpot_mean<1000ms"); err != nil {
		t.Fatal(err)
	}
	cfg := sim.Config{Seed: 5}
	f := findRate(t, cfg, w)
	l := builtin.Load{Workload: traffic.Workload{ISL: 128, OSL: 32, Concurrency: 256, Requests: 8000}, Seed: 3}
	out, err := builtin.RunVirtual(l, sim.NewVirtual(cfg, time.Unix(1e9, 0)))
	if err != nil {
		t.Fatal(err)
	}
	most, overloads := out.Set().RPS(), 0
	for _, p := range f.Probes {
		if p.Overload {
			overloads++
		}
	}
	if share := f.Holds / most; overloads == 0 || share < .97 || share > 1.03 {
		t.Errorf("found %s req/s, %d overloads; a closed loop makes %.4g", fmt.Sprint(f.Holds, "…", f.Fails), overloads, most)
	}
}
