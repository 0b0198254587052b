package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// untilTrials is how many measurements are made of each workload.
const untilTrials = 80

// longRun is how many requests the truth is of.
const longRun = 40_000

// untilLoads are workloads whose requests depend on each other in different ways: one stream, streams in step, drawn
// lengths, and arrivals that queue.
func untilLoads() []string {
	return []string{
		"isl=128,osl=32,c=1,n=32", "isl=128,osl=32,c=8,n=32", "isl=512,osl=64,c=32,n=128",
		"isl=lognormal(128,0.5),osl=uniform(8,64),c=8,n=32", "isl=128,osl=32,rate=20,n=32", "isl=128,osl=64,rate=60,n=240",
	}
}

// until measures how often the 95 % intervals of --until hold the mean that the server has in the long run, beside
// intervals from a fixed number of requests as if these were independent.
func until(t *table) {
	rule := precision.Rule{CI: .02, Most: time.Hour}
	for _, text := range untilLoads() {
		var w plan.Workload
		if err := w.UnmarshalText([]byte(text)); err != nil {
			panic(err) // a mistake in the list above
		}
		long := w
		long.Requests = longRun
		truth := simulated(t, long, precision.Rule{}, 7)
		var in, naive, requests float64
		for trial := range uint64(untilTrials) {
			if t.ctx.Err() != nil {
				return
			}
			adaptive := simulated(t, w, rule, 100+t.o.seed<<20+trial)
			fixed := simulated(t, w, precision.Rule{}, 100+t.o.seed<<20+trial)
			requests += float64(adaptive.n) / untilTrials
			for i := range truth.mean {
				in += holds(adaptive, truth, i) / untilTrials / float64(len(truth.mean))
				naive += holds(fixed, truth, i) / untilTrials / float64(len(truth.mean))
			}
		}
		t.floored(in >= .92 && in <= .98, in >= .9, "--until ci=2%: "+text, ".92 to .98", ".90 to 1",
			"%.3f of intervals hold the mean, %.0f requests; %.3f of a fixed number as if independent", in, requests, naive)
	}
}

// measuredMeans are the means of TTFT, TPOT and E2EL of one measurement, and half the width of their intervals.
type measuredMeans struct {
	mean, half [3]float64
	n          int
}

func holds(m, truth measuredMeans, i int) float64 {
	if math.Abs(m.mean[i]-truth.mean[i]) <= m.half[i] {
		return 1
	}
	return 0
}

// simulated measures one workload on the simulator's own clock. The truth is of what is behind the first tenth.
func simulated(t *table, w plan.Workload, rule precision.Rule, seed uint64) measuredMeans {
	dir, err := os.MkdirTemp("", "until")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	cfg := sim.Config{Seed: seed, Noise: .02, Drift: 1e-9}
	srv := &server.Simulated{Config: cfg, Virtual: true, Begin: time.Unix(1e9, 0)}
	p := plan.Plan{Model: manifest.Model{Name: "sim-8b"}, Device: "simulated", Seed: seed, Until: rule,
		Workloads: []plan.Workload{w}}
	out, err := collect.Run(context.WithoutCancel(t.ctx), p, srv, dir, func(collect.Event) {})
	if err != nil || out.Failed > 0 {
		panic(fmt.Sprint("simulator: ", err))
	}
	names, _ := filepath.Glob(filepath.Join(out.Dir, "raw", "*"+manifest.SidecarSuffix))
	m, err := readMeans(names[0], !rule.Set())
	if err != nil {
		panic(err)
	}
	return m
}

// readMeans reads the result of a measurement. Its intervals are those of the client, else as if requests were
// independent.
func readMeans(sidecar string, naive bool) (m measuredMeans, err error) {
	data, err := os.ReadFile(sidecar)
	if err != nil {
		return m, err
	}
	side, _ := manifest.ReadSidecar(sidecar, data)
	if data, err = os.ReadFile(sidecar[:len(sidecar)-len(manifest.SidecarSuffix)]); err != nil {
		return m, err
	}
	var r struct {
		TTFTs []float64   `json:"ttfts"`
		ITLs  [][]float64 `json:"itls"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return m, err
	}
	from := 0
	if len(r.TTFTs) >= longRun {
		from = len(r.TTFTs) / 10 // the warm-up, for certain
	}
	var values [3][]float64
	for i, ttft := range r.TTFTs {
		decode := 0.
		for _, gap := range r.ITLs[i] {
			decode += gap
		}
		if i >= from {
			values[0] = append(values[0], ttft)
			values[1] = append(values[1], decode/float64(max(1, len(r.ITLs[i]))))
			values[2] = append(values[2], ttft+decode)
		}
	}
	m.n = len(r.TTFTs)
	for i, name := range []string{"ttft", "tpot", "e2el"} {
		sample := latency.NewSample(values[i])
		m.mean[i] = sample.Mean
		if percent, err := strconv.ParseFloat(side.Client[schema.ClientCI+name], 64); err == nil && !naive {
			m.half[i] = percent / 100 * sample.Mean
		} else if se, ok := sample.SE(); ok {
			m.half[i] = 1.96 * se
		}
	}
	return m, nil
}
