package builtin_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
)

func virtual(cfg sim.Config) *sim.Virtual { return sim.NewVirtual(cfg, time.Unix(1e9, 0)) }

// A closed loop keeps its concurrency; every request has all of its tokens, and their times add up.
func TestVirtualClosedLoop(t *testing.T) {
	l := builtin.Load{
		Workload: traffic.Workload{ISL: 128, OSL: 16, Concurrency: 4, Requests: 20},
		Warmups:  2, Seed: 1,
	}
	out, err := builtin.RunVirtual(l, virtual(sim.Defaults()))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range out.Requests {
		sum := r.TTFT
		for _, gap := range r.ITL {
			sum += gap
		}
		if !r.OK || r.In != 128 || r.Out != 16 || len(r.ITL) != 15 || math.Abs(sum-r.E2EL) > 1e-6 {
			t.Errorf("request %d: %+v", i, r)
		}
	}
	if set := out.Set(); out.Peak != 4 || set.OK != 20 || out.Reached() < 3 || out.Reached() > 4 {
		t.Errorf("peak %d, %d ok, %.1f in flight", out.Peak, set.OK, out.Reached())
	}
}

// An open loop sends on time, whatever the server does, unless a concurrency limits it.
func TestVirtualOpenLoop(t *testing.T) {
	slow := sim.Config{StepBase: 40 * time.Millisecond, MaxBatch: 1}
	l := builtin.Load{Workload: traffic.Workload{ISL: 1, OSL: 2, Rate: 200, Requests: 12}, Seed: 3}
	out, err := builtin.RunVirtual(l, virtual(slow))
	if err != nil {
		t.Fatal(err)
	}
	if last := out.Requests[11].Sent; last > 300*time.Millisecond || out.Peak < 6 ||
		out.Client(l)["late_send_max_ms"] != "0.000" {
		t.Errorf("the last request was sent after %s, %d in flight, %v", last, out.Peak, out.Client(l))
	}
	l.Concurrency = 2
	if out, err = builtin.RunVirtual(l, virtual(slow)); err != nil || out.Peak != 2 ||
		out.Requests[11].Late < 100*time.Millisecond {
		t.Errorf("peak %d, late by %s, %v", out.Peak, out.Requests[11].Late, err)
	}
}

// The simulator on its own clock measures what it measures on the machine's, but for the noise of the machine.
func TestVirtualIsLikeReal(t *testing.T) {
	cfg := sim.Defaults()
	cfg.Noise, cfg.Drift = 1e-9, 1e-9
	l := builtin.Load{
		Workload: traffic.Workload{ISL: 256, OSL: 8, Concurrency: 1, Requests: 10},
		Model:    cfg.Model, Warmups: 2, Seed: 1,
	}
	computed, err := builtin.RunVirtual(l, virtual(cfg))
	if err != nil {
		t.Fatal(err)
	}
	l.URL = serve(t, cfg).URL()
	// The fastest request is the one that the machine disturbed least.
	fastest := func(o builtin.Outcome) (ms float64) {
		ms = math.Inf(1)
		for _, r := range o.Requests {
			ms = min(ms, r.E2EL)
		}
		return ms
	}
	a, b := fastest(computed), math.Inf(1)
	for tries := 0; tries < 5 && b > 2*a; tries++ {
		measured, err := builtin.Run(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		b = min(b, fastest(measured))
	}
	if b < a-1 || b > 2*a {
		t.Errorf("E2EL %.2f ms computed, %.2f ms measured", a, b)
	}
}

// The same load on the same simulator gives the same numbers; another seed gives others.
func TestVirtualIsDeterministic(t *testing.T) {
	l := builtin.Load{Workload: traffic.Workload{ISL: 128, OSL: 8, Concurrency: 3, Requests: 12}, Seed: 1}
	run := func(seed uint64) float64 {
		cfg := sim.Defaults()
		cfg.Seed = seed
		out, err := builtin.RunVirtual(l, virtual(cfg))
		if err != nil {
			t.Fatal(err)
		}
		return out.Set().TTFT.Mean
	}
	if a, b, c := run(1), run(1), run(2); a != b || a == c {
		t.Errorf("%v and %v with one seed, %v with another", a, b, c)
	}
	if _, err := builtin.RunVirtual(builtin.Load{}, virtual(sim.Defaults())); err == nil {
		t.Error("a load without requests was accepted")
	}
}

// The eval asks the simulator on its own clock the same questions.
func TestVirtualEval(t *testing.T) {
	cfg := sim.Defaults()
	cfg.EvalAccuracy = 1
	v := virtual(cfg)
	before := v.Time()
	raw, err := builtin.RunEval(context.Background(), builtin.Eval{Model: "m", Items: 5, Seed: 1, Virtual: v})
	if err != nil || !v.Time().After(before) {
		t.Fatal(err, v.Time())
	}
	remote := builtin.Eval{URL: serve(t, cfg).URL(), Model: cfg.Model, Items: 5, Seed: 1}
	if _, err := builtin.RunEval(context.Background(), remote); err != nil {
		t.Fatal(err)
	}
	if score := scoreOf(t, raw); score != 1 {
		t.Errorf("score %v: %s", score, raw)
	}
}

// scoreOf is the score of the builtin eval in a result.
func scoreOf(t *testing.T, raw []byte) float64 {
	t.Helper()
	var r struct {
		Results map[string]map[string]any
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	score, _ := r.Results[builtin.EvalTask]["exact_match,none"].(float64)
	return score
}
