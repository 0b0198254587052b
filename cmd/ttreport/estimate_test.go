package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Estimates learn from the history: of workloads that were measured before, with another number of requests, and of
// those that were not, they are within 25 % in the median. Nothing is known of the first run.
func TestEstimatesLearn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	results, docs := filepath.Join(dir, "results"), filepath.Join(dir, "history")
	rng := rand.New(rand.NewPCG(1, 9))
	any := func() plan.Workload {
		w := plan.Workload{ISL: 64 << rng.IntN(5), OSL: 16 << rng.IntN(4), Concurrency: 1 << rng.IntN(6)}
		w.Requests = w.Concurrency * (3 + rng.IntN(10))
		return w
	}
	var seen []plan.Workload
	errors := map[string][]float64{}
	for run := range 10 {
		p := plan.Plan{Model: schema.Model{Name: "sim-8b"}, Device: "simulated", Seed: uint64(run)}
		for k := range 6 {
			w := any()
			if run > 0 && k < 3 {
				w = seen[rng.IntN(len(seen))]
				w.Requests = w.Concurrency * (3 + rng.IntN(10))
			}
			p.Workloads = append(p.Workloads, w)
		}
		past, _, err := history.Load(t.Context(), docs)
		if err != nil {
			t.Fatal(err)
		}
		e := plan.EstimateOf(p, past)
		took := timesOf(t, p, results, run)
		for k, d := range took {
			kind := map[bool]string{true: "first", false: "new"}[run == 0]
			if slices.ContainsFunc(seen, p.Workloads[k].Same) {
				kind = "known"
			}
			errors[kind] = append(errors[kind], math.Abs(e.Each[k].Seconds()/d.Seconds()-1))
		}
		seen = append(seen, p.Workloads...)
		keep(t, results, docs)
	}
	for kind, list := range errors {
		slices.Sort(list)
		t.Logf("%s workloads: %d, median error %.0f %%, 90th percentile %.0f %%", kind, len(list),
			100*list[len(list)/2], 100*list[len(list)*9/10])
		if kind != "first" && list[len(list)/2] > .25 {
			t.Errorf("%s workloads are estimated with a median error of %.0f %%", kind, 100*list[len(list)/2])
		}
	}
	if first := errors["first"]; first[len(first)/2] < .25 {
		t.Error("the first run is known before it is measured: the test says nothing")
	}
}

// timesOf measures a plan on the simulator's own clock and returns how long each workload took.
func timesOf(t *testing.T, p plan.Plan, results string, run int) []time.Duration {
	t.Helper()
	srv := &server.Simulated{Config: sim.Config{Seed: uint64(run)}, Virtual: true,
		Begin: time.Date(2026, 1, 1+run, 0, 0, 0, 0, time.UTC)}
	took := make([]time.Duration, len(p.Workloads))
	out, err := collect.Run(t.Context(), p, srv, results, func(e collect.Event) {
		if e.Step == "point" && e.Final {
			took[e.Index-1] = e.Took
		}
	})
	if err != nil || out.Failed > 0 || slices.Contains(took, 0) {
		t.Fatal(fmt.Sprint(took, out), err)
	}
	return took
}

// keep reads all runs into a history.
func keep(t *testing.T, results, docs string) {
	t.Helper()
	set, err := ingest.Load(t.Context(), []ingest.Root{{Name: "results", FS: os.DirFS(results)}}, ingest.Options{})
	for i := range set.Runs {
		if err == nil {
			_, err = history.Put(docs, set.Runs[i], false)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
