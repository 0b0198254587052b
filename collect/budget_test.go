package collect_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// sidecarsIn are the sidecars of the results of a run.
func sidecarsIn(t *testing.T, dir string) []manifest.Sidecar {
	t.Helper()
	var list []manifest.Sidecar
	names, _ := filepath.Glob(filepath.Join(dir, "raw", "*"+manifest.SidecarSuffix))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		side, problem := manifest.ReadSidecar(name, data)
		if problem != nil {
			t.Fatal(problem)
		}
		list = append(list, side)
	}
	return list
}

// The budget of two servers that take turns is the time of all their turns.
func TestBudgetIsOfAllTurns(t *testing.T) {
	t.Parallel()
	const budget = 4 * time.Minute
	var w plan.Workload
	if err := w.Parse("isl=lognormal(128,0.5),osl=32,c=2"); err != nil {
		t.Fatal(err)
	}
	p := plan.Plan{Model: schema.Model{Name: "sim-8b"}, Device: "simulated", Seed: 1, Budget: budget,
		Until: precision.Rule{CI: .001}, Workloads: []plan.Workload{w}}
	side := func(release, name string) collect.Side {
		one := p
		one.Release = release
		srv := &server.Simulated{Config: sim.Config{Noise: .01}, Virtual: true, Begin: time.Unix(1e9, 0)}
		return collect.Side{Plan: one.InTurns(name, 2, false), Server: srv}
	}
	outs, err := against(side("v1", schema.SideBaseline), side("v2", schema.SideCandidate), t.TempDir(),
		func(collect.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	var began, ended time.Time
	n := 0
	for _, out := range outs {
		for _, s := range sidecarsIn(t, out.Dir) {
			if n++; began.IsZero() || s.Start.Before(began) {
				began = s.Start
			}
			if s.End.After(ended) {
				ended = s.End
			}
		}
	}
	if took := ended.Sub(began); n != 4 || took > budget*11/10 || took < budget/2 {
		t.Errorf("%d measurements in %s, of a budget of %s", n, took, budget)
	}
}

// A load that cannot be drawn is a failed point, with a budget as without one; the others are measured.
func TestLoadThatCannotBeDrawn(t *testing.T) {
	for name, budget := range map[string]time.Duration{"a budget": time.Minute, "no budget": 0} {
		var workloads []plan.Workload
		for _, text := range []string{"dataset=sharegpt,path=gone.json,osl=8,c=1", "isl=64,osl=8,c=1"} {
			var w plan.Workload
			if err := w.Parse(text); err != nil {
				t.Fatal(err)
			}
			workloads = append(workloads, w)
		}
		p := plan.Plan{Model: schema.Model{Name: "sim-8b"}, Device: "simulated", Seed: 1, Budget: budget,
			Until: precision.Rule{CI: .05}, Workloads: workloads}
		srv := &server.Simulated{Virtual: true, Begin: time.Unix(1e9, 0)}
		out, err := collect.Run(t.Context(), p, srv, t.TempDir(), func(collect.Event) {})
		if err != nil || out.Failed != 1 || len(out.Points) != 1 {
			t.Errorf("%s: %v, %d failed, %d measured", name, err, out.Failed, len(out.Points))
		}
	}
}
