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

// sessionsOf are two sessions of three requests whose recorded times are far too early for the server, and one request
// that nothing precedes.
func sessionsOf() []traffic.Request {
	const ms = time.Millisecond
	each := []traffic.Request{
		{At: 0}, {At: ms}, {At: 2 * ms, After: []int{0}, Pause: 40 * ms}, {At: 3 * ms, After: []int{1}},
		{At: 4 * ms, After: []int{2, 3}, Pause: 20 * ms}, {At: 5 * ms, After: []int{3}}, {At: 6 * ms},
	}
	for i := range each {
		each[i].ISL, each[i].OSL = 16, 8+i // by which the server's log tells them apart
	}
	return each
}

// By the server's own log, no request of a session arrives before the answers that it needs are whole, and what a
// person took behind them. What needs nothing does not wait, and waiting is not lateness.
func TestSessionsWait(t *testing.T) {
	for name, load := range map[string]builtin.Load{
		"open loop":   {Workload: traffic.Workload{Rate: 1000}},
		"closed loop": {Workload: traffic.Workload{Concurrency: 3}}, "one stream": {
			Workload: traffic.Workload{Concurrency: 1},
		},
	} {
		url, log := logged(t, sim.Config{StepBase: 10 * time.Millisecond})
		load.URL, load.Model, load.Each = url, "sim-8b", sessionsOf()
		load.Requests = len(load.Each)
		out, err := builtin.Run(context.Background(), load)
		if err != nil || out.Overload {
			t.Fatal(name, err, out.Overload)
		}
		served := make([]*answered, load.Requests)
		for _, s := range log() {
			served[s.limit-8] = s
		}
		for i, q := range load.Each {
			for _, j := range q.After {
				pause := q.Pause
				if load.Rate == 0 { // streams follow each other without pauses
					pause = 0
				}
				last := served[j].chunks
				if wait := served[i].arrived.Sub(last[len(last)-1]); wait < pause {
					t.Errorf("%s: request %d arrives %s behind the answer to %d, not %s", name, i, wait, j, pause)
				}
			}
		}
		if load.Rate > 0 && out.Requests[6].Sent > out.Requests[2].Sent {
			t.Errorf("%s: what waits for nothing is sent after %s", name, out.Requests[6].Sent)
		}
	}
}

// On a clock of its own the times are exact.
func TestSessionsWaitOnAVirtualClock(t *testing.T) {
	for name, load := range map[string]builtin.Load{"open loop": {Workload: traffic.Workload{Rate: 1000}}, "closed loop": {
		Workload: traffic.Workload{Concurrency: 3},
	}} {
		load.Each = sessionsOf()
		load.Requests = len(load.Each)
		out, err := builtin.RunVirtual(load, sim.NewVirtual(sim.Config{}, time.Unix(1e9, 0)))
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range load.Each {
			ready := q.At
			if load.Rate == 0 {
				ready, q.Pause = 0, 0
			}
			for _, j := range q.After {
				ready = max(ready, out.Requests[j].End()+q.Pause)
			}
			sent := out.Requests[i].Sent
			const rounded = time.Microsecond // latencies are kept as ms
			early, late := sent < ready-rounded, sent > ready+rounded
			if !out.Requests[i].OK || early || load.Rate > 0 && (late || out.Requests[i].Late != 0) {
				t.Errorf("%s: request %d is sent after %s, ready after %s", name, i, sent, ready)
			}
		}
		// 0, 1 and 6 are first turns, 2 and 3 second ones, 4 and 5 third ones, of the conversations that begin with 0 and 1.
		var said struct {
			Took  float64   `json:"conversation_duration"`
			Turns []float64 `json:"ttft_by_turn"`
		}
		r := out.Requests
		took := r[2].End() - r[0].Sent + max(r[4].End(), r[5].End()) - r[1].Sent
		raw, err := out.Result(load)
		if err != nil || json.Unmarshal(raw, &said) != nil || len(said.Turns) != 3 ||
			math.Abs(said.Took-took.Seconds()/2) > 1e-6 || math.Abs(said.Turns[1]-(r[2].TTFT+r[3].TTFT)/2) > 1e-9 {
			t.Errorf("%s: %+v, want %g s: %v", name, said, took.Seconds()/2, err)
		}
	}
}
