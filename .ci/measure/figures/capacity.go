package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Searches for each objective, and the requests that one measurement of the truth has.
const (
	capacityTrials = 40
	trueRequests   = 20_000
	trueArrivals   = 100_000 // of an open loop near its limit, whose queue comes and goes: with a fifth it was 1 % off
)

// capacitiesFound measures how far what --slo finds on a server with 2 % of noise is from where long measurements of
// single loads begin to break the objective.
func capacitiesFound(t *table) {
	for _, text := range []string{
		"isl=128,osl=32,slo=tpot_mean<8ms", "isl=128,osl=32,slo=ttft_p90<60ms",
		"isl=128,osl=32,rate=max,slo=tpot_mean<8ms", "isl=128,osl=32,rate=max,slo=ttft_p90<60ms",
	} {
		var w plan.Workload
		if err := w.UnmarshalText([]byte(text)); err != nil {
			panic(err) // a mistake in the list above
		}
		truth := trueCapacity(w)
		var off []float64
		near, probes := 0., 0
		for seed := range uint64(capacityTrials) {
			if t.ctx.Err() != nil {
				return
			}
			found, n := searched(t, w, seed+1)
			e := math.Abs(found/truth - 1)
			if tolerance := max(.03, 1/truth); e <= tolerance && !w.FindRate || e <= .03 {
				near++
			}
			off, probes = append(off, e), probes+n
		}
		slices.Sort(off)
		share := near / capacityTrials
		t.row(share >= .95, "--slo: "+text, ".95 of answers within 3 % or one",
			"%.2f within, of %.4g; median off by %.1f %%, most %.1f %%; %d measurements", share, truth,
			100*off[len(off)/2], 100*off[len(off)-1], probes/capacityTrials)
	}
}

// trueCapacity is the largest concurrency, or rate, at which a long measurement holds the objective.
func trueCapacity(w plan.Workload) float64 {
	low, high := 1., 2048.
	for high-low > low*.002 {
		mid := (low + high) / 2
		if !w.FindRate {
			if mid = math.Floor(mid); mid == low {
				break
			}
		}
		if w.SLO.Worst(long(w, mid).Set()) <= 1 {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// long is a long measurement of one load, without its beginning.
func long(w plan.Workload, level float64) builtin.Outcome {
	l := builtin.Load{ISL: w.ISL, OSL: w.OSL, Requests: trueRequests, Seed: 99, Concurrency: int(level)}
	if w.FindRate {
		l.Concurrency, l.Rate, l.Requests = 0, level, trueArrivals
		l.Each = traffic.Shape{}.Requests(traffic.Base{ISL: w.ISL, OSL: w.OSL, Rate: level}, l.Requests, l.Seed)
	}
	out, err := builtin.RunVirtual(l, sim.NewVirtual(noisySim(7), time.Unix(1e9, 0)))
	if err != nil {
		panic(fmt.Sprint("simulator: ", err))
	}
	out.Requests = out.Requests[len(out.Requests)/10:]
	return out
}

func noisySim(seed uint64) sim.Config { return sim.Config{Noise: .02, Drift: 1e-9, Seed: seed} }

// searched is what --slo finds, with how many measurements.
func searched(t *table, w plan.Workload, seed uint64) (found float64, probes int) {
	dir, err := os.MkdirTemp("", "capacity")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	srv := &server.Simulated{Config: noisySim(seed), Virtual: true, Begin: time.Unix(1e9, 0)}
	p := plan.Plan{Model: manifest.Model{Name: "sim-8b"}, Device: "simulated", Seed: seed, Workloads: []plan.Workload{w}}
	out, err := collect.Run(context.WithoutCancel(t.ctx), p, srv, dir, func(collect.Event) {})
	if err != nil || out.Failed > 0 {
		panic(fmt.Sprint("simulator: ", err))
	}
	names, _ := filepath.Glob(filepath.Join(out.Dir, "raw", "*"+manifest.SidecarSuffix))
	data, err := os.ReadFile(names[0][:len(names[0])-len(manifest.SidecarSuffix)])
	var r struct {
		Holds  float64
		Probes []struct{}
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		panic(err)
	}
	return r.Holds, len(r.Probes)
}
