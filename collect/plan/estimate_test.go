package plan

import (
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/precision"
)

// A budget is for what ends by a rule; a search for a capacity takes its time beside it, on both servers of a pair.
func TestEstimateOfABudget(t *testing.T) {
	known := Workload{ISL: 2000, OSL: 20, Concurrency: 2, Requests: 8} // a request: 1 s of prefill and 1 s of decoding
	search := known
	if err := search.UnmarshalText([]byte("isl=2000,osl=20,slo=ttft_p99<300ms")); err != nil {
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
	if err := w.UnmarshalText([]byte("isl=2000,osl=180,rate=max,slo=tpot_mean<50ms")); err != nil {
		t.Fatal(err)
	}
	const want = 16 * 120 * 4 / 3 * time.Second
	if e := EstimateOf(Plan{Workloads: []Workload{w}}, nil); e.Total != want {
		t.Errorf("%s, want %s: 16 rates of 120 s with their warm-up", e.Total, want)
	}
}
