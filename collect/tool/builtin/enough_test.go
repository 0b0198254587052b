package builtin_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
)

// A load ends soon after it is known well enough: what was sent is complete, and a load that is never enough is the
// same as one without a look.
func TestEnoughEndsALoad(t *testing.T) {
	for name, l := range map[string]builtin.Load{
		"closed loop": {Workload: traffic.Workload{ISL: 64, OSL: 4, Concurrency: 4, Requests: 400}, Seed: 1},
		"open loop":   {Workload: traffic.Workload{ISL: 64, OSL: 4, Rate: 40, Requests: 400}, Seed: 1},
		"both":        {Workload: traffic.Workload{ISL: 64, OSL: 4, Rate: 40, Concurrency: 3, Requests: 400}, Seed: 1},
	} {
		whole, err := builtin.RunVirtual(l, virtual(sim.Defaults()))
		if err != nil {
			t.Fatal(err)
		}
		var looks []int
		known := func(done []builtin.Timeline) bool {
			looks = append(looks, len(done))
			for _, q := range done {
				if !q.OK {
					t.Errorf("%s: a request that has not completed: %+v", name, q)
				}
			}
			return false
		}
		l.Enough = &builtin.Enough{Known: known, Least: 50}
		out, err := builtin.RunVirtual(l, virtual(sim.Defaults()))
		if err != nil || !reflect.DeepEqual(out.Requests, whole.Requests) || out.Whole != 400 {
			t.Errorf("%s: a load that is never enough differs: %v, %d whole", name, err, out.Whole)
		}
		if len(looks) < 6 || looks[0] < 50 || looks[1] < 62 || len(looks) > 12 {
			t.Errorf("%s: looked at %v requests", name, looks)
		}
		l.Enough = &builtin.Enough{Known: func(done []builtin.Timeline) bool { return len(done) >= 100 }, Least: 100}
		if out, err = builtin.RunVirtual(l, virtual(sim.Defaults())); err != nil || out.Whole < 100 ||
			len(out.Requests) < out.Whole || len(out.Requests) > 110 {
			t.Errorf("%s: %v, %d requests, %d whole; want a little more than 100", name, err, len(out.Requests), out.Whole)
		}
		l.Enough = &builtin.Enough{Known: known, Least: 50, Most: time.Second}
		if out, err = builtin.RunVirtual(l, virtual(sim.Defaults())); err != nil || len(out.Requests) >= 400 ||
			out.Requests[len(out.Requests)-1].Sent > time.Second {
			t.Errorf("%s: %v, %d requests in a second", name, err, len(out.Requests))
		}
	}
}

// The same over a network.
func TestEnoughOverANetwork(t *testing.T) {
	srv, err := sim.Start(sim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop()
	for name, l := range map[string]builtin.Load{
		"closed loop": {Workload: traffic.Workload{ISL: 16, OSL: 2, Concurrency: 4, Requests: 4000}, Seed: 1},
		"open loop":   {Workload: traffic.Workload{ISL: 16, OSL: 2, Rate: 100, Requests: 4000}, Seed: 1},
	} {
		l.URL, l.Model = srv.URL(), "sim-8b"
		l.Enough = &builtin.Enough{Known: func(done []builtin.Timeline) bool { return len(done) >= 60 }, Least: 60}
		out, err := builtin.Run(context.Background(), l)
		if err != nil || out.Whole < 60 || len(out.Requests) < out.Whole || len(out.Requests) > 200 {
			t.Errorf("%s: %v, %d requests, %d whole", name, err, len(out.Requests), out.Whole)
		}
		for i, q := range out.Requests {
			if !q.OK {
				t.Errorf("%s: request %d: %+v", name, i, q)
			}
		}
	}
}
