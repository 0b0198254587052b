package plan

import (
	"fmt"
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// A budget is for what ends by a rule; a search for a capacity takes its time beside it, on both servers of a pair.
func TestEstimateOfABudget(t *testing.T) {
	known := Workload{ISL: 2000, OSL: 20, Concurrency: 2, Requests: 8} // a request: 1 s of prefill and 1 s of decoding
	search := known
	if err := search.Parse("isl=2000,osl=20,slo=ttft_p99<300ms"); err != nil {
		t.Fatal(err)
	}
	rule := precision.Rule{CI: .02, Most: time.Hour}
	const budget, oneSearch = 30 * time.Second, 2 * probesAssumed * wavesAssumed * time.Second
	for name, c := range map[string]struct {
		p    Plan
		want time.Duration
	}{
		"all within the budget": {Plan{Workloads: []Workload{known}}, budget},
		"a search beside it":    {Plan{Workloads: []Workload{known, search}}, budget + oneSearch},
		"in turns": {Plan{Workloads: []Workload{known, search}, Turns: Turns{Blocks: 3}},
			budget + 6*oneSearch},
	} {
		c.p.Until, c.p.Budget = rule, budget
		if e := EstimateOf(c.p, nil); e.Total != c.want {
			t.Errorf("%s: %s, want %s", name, e.Total, c.want)
		}
	}
}

// A search for a rate of a server that needs ten seconds for a request is long, and the estimate says so.
func TestEstimateOfASearchForARate(t *testing.T) {
	w := Workload{}
	if err := w.Parse("isl=2000,osl=180,rate=max,slo=tpot_mean<50ms"); err != nil {
		t.Fatal(err)
	}
	const want = 20 * 120 * 4 / 3 * time.Second
	if e := EstimateOf(Plan{Workloads: []Workload{w}}, nil); e.Total != want {
		t.Errorf("%s, want %s: 16 rates of 120 s, four of them twice as long, with their warm-up", e.Total, want)
	}
}

// Starts of servers take what they took: the median of the newest runs of the same model and device that state it,
// once, or once in each block and for each server. What no run states is no part of the estimate.
func TestEstimateOfStarts(t *testing.T) {
	p := Plan{Device: "n150", Workloads: []Workload{{ISL: 2000, OSL: 20, Concurrency: 2, Requests: 8}}}
	p.Model.Name = "m"
	history := &columns.Columns{}
	add := func(day int, model, startup string) {
		h := columns.RunHead{ID: fmt.Sprint(day), Start: time.Unix(int64(day)*86400, 0), Device: "n150",
			Model: schema.Model{Name: model}, Setting: map[string]string{schema.SettingStartup: startup}}
		history.Runs = append(history.Runs, h)
	}
	alone := EstimateOf(p, history)
	if e := alone.WithServers(1, p, history); e.Total != alone.Total || e.Servers != 0 {
		t.Errorf("nothing is known: %+v", e)
	}
	for day, startup := range []string{"900", "900", "100", "80", "", "-3", "NaN", "120", "90", "110"} {
		add(day, "m", startup)
	}
	add(20, "other", "1")
	for _, c := range []struct {
		servers int
		turns   Turns
		want    time.Duration
	}{
		{1, Turns{}, 100}, {0, Turns{}, 0}, {2, Turns{Blocks: 3}, 600}, {2, Turns{Blocks: 3, Kept: true}, 200},
		{1, Turns{Blocks: 3, Kept: true}, 100},
	} {
		q := p
		q.Turns = c.turns
		alone := EstimateOf(q, history)
		if e := alone.WithServers(c.servers, q, history); e.Servers != c.want*time.Second ||
			e.Total != alone.Total+e.Servers {
			t.Errorf("%d servers, %+v: %+v, want %d s more than %s", c.servers, c.turns, e, c.want, alone.Total)
		}
	}
}
