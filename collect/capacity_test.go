package collect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// A search finds the capacity that long measurements of single concurrencies have: it holds at what is found, and not
// at 3 % or one more.
func TestCapacityIsTheServers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		slo   string
		noise float64
	}{{"tpot_mean<8ms", 0}, {"tpot_mean<8ms", .02}, {"ttft_p90<60ms", 0}} {
		cfg := sim.Config{Noise: c.noise, Seed: 5}
		var w plan.Workload
		if err := w.Parse("isl=128,osl=32,slo=" + c.slo); err != nil {
			t.Fatal(err)
		}
		p := plan.Plan{Model: schema.Model{Name: "sim-8b"}, Device: "simulated", Seed: 1, Workloads: []plan.Workload{w}}
		srv := &server.Simulated{Config: cfg, Virtual: true, Begin: time.Unix(1e9, 0)}
		shown := 0
		out, err := collect.Run(context.Background(), p, srv, t.TempDir(), func(e collect.Event) {
			if e.Step == "probe" && e.Final && strings.Contains(e.Note, "% of the limit") {
				shown++
			}
		})
		if err != nil || out.Failed > 0 {
			t.Fatalf("%s: %v %+v", c.slo, err, out)
		}
		names, _ := filepath.Glob(filepath.Join(out.Dir, "raw", "01-*[a-z].json"))
		data, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Holds, Fails int
			Settled      bool
			Probes       []any
		}
		err = json.Unmarshal(data, &got)
		side, _ := os.ReadFile(names[0] + manifest.SidecarSuffix)
		if !strings.Contains(string(side), `"capacity_settled": "1"`) ||
			!strings.Contains(string(side), fmt.Sprintf(`"capacity_fails": "%d"`, got.Fails)) {
			t.Errorf("%s: the sidecar does not say how the search ended: %s", c.slo, side)
		}
		if len(got.Probes) < 3 || shown != len(got.Probes) {
			t.Errorf("%s: %d of %d measurements are shown", c.slo, shown, len(got.Probes))
		}
		if err != nil || !got.Settled || got.Fails <= got.Holds {
			t.Fatalf("%s: %v %s", c.slo, err, data)
		}
		worst := func(concurrency int) float64 {
			l := builtin.Load{
				Workload: traffic.Workload{ISL: 128, OSL: 32, Concurrency: concurrency, Requests: 3000},
				Seed:     77,
			}
			measured, err := builtin.RunVirtual(l, sim.NewVirtual(cfg, time.Unix(1e9, 0)))
			if err != nil {
				t.Fatal(err)
			}
			return w.SLO.Worst(measured.Set())
		}
		step := max(1, got.Holds*3/100)
		if low, high := worst(got.Holds-step), worst(got.Holds+2*step); low > 1 || high <= 1 {
			t.Errorf("%s, noise %g: found %d to %d; a long measurement has %.3f of the limit at %d and %.3f at %d",
				c.slo, c.noise,
				got.Holds, got.Fails, low, got.Holds-step, high, got.Holds+2*step)
		}
	}
}
