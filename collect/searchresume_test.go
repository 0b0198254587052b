package collect_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/schema"
)

// A search that was interrupted goes on behind what it has measured, and finds what one finds that was not.
func TestSearchResumes(t *testing.T) {
	t.Parallel()
	for _, find := range []string{"", ",rate=max"} {
		var w plan.Workload
		if err := w.Parse("isl=128,osl=32,slo=tpot_mean<8ms" + find); err != nil {
			t.Fatal(err)
		}
		p := plan.Plan{Model: schema.Model{Name: "sim-8b"}, Device: "simulated", Seed: 1, Workloads: []plan.Workload{w}}
		run := func(results string, most int) (probes []string, said string, err error) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			srv := &server.Simulated{Config: sim.Config{Noise: .02, Seed: 5}, Virtual: true, Begin: time.Now()}
			_, err = collect.Run(ctx, p, srv, results, func(e collect.Event) {
				if e.Step == "probe" && e.Final {
					if probes = append(probes, e.Text); len(probes) == most {
						cancel()
					}
				}
				if e.Final && (e.Step == "resume" || e.Step == "point") {
					said += e.Step + " " + e.Text + " " + e.Note + "\n"
				}
			})
			return probes, said, err
		}
		whole, result, err := run(t.TempDir(), 0)
		if err != nil || len(whole) < 8 {
			t.Fatal(err, whole)
		}
		results := t.TempDir()
		first, _, err := run(results, 6)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%v after %d measurements", err, len(first))
		}
		second, said, err := run(results, 0)
		if err != nil || len(first)+len(second) > len(whole)+3 || len(second) > len(whole)-4 {
			t.Errorf("%s: %v: %d measurements and %d, of %d in one", w, err, len(first), len(second), len(whole))
		}
		if len(second) == 0 || second[0][:3] != fmt.Sprintf("%-3d", len(first)+1) {
			t.Errorf("%s: it goes on with %v after %d", w, second, len(first))
		}
		t.Logf("%s\n%s%s", w, result, said)
	}
}
