package collect

import (
	"testing"

	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// visitOf is a visit by one stream, whose requests have so many tokens each: the first at 100 ms, then one each 10 ms.
func visitOf(tokens ...int) builtin.Outcome {
	out := builtin.Outcome{Whole: len(tokens)}
	for _, n := range tokens {
		e2el := 100 + 10*float64(n-1) + float64(len(out.Requests)*len(out.Requests)%7)
		q := latency.Request{OK: true, TTFT: 100, E2EL: e2el, Out: n}
		out.Requests = append(out.Requests, builtin.Timeline{Request: q, Sent: out.Duration})
		out.Duration += milliseconds(e2el)
	}
	return out
}

func tokens(n, each int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = each
	}
	return out
}

// Visits that differ in what they have: what is known of a metric is stated with its name, and of the rest nothing.
func TestVisitsThatDiffer(t *testing.T) {
	load := builtin.Load{Workload: traffic.Workload{Concurrency: 1, OSL: 8}}
	single := append(tokens(40, 8), 1)
	for name, c := range map[string]struct {
		visits []builtin.Outcome
		tpot   bool
	}{
		"a request of one token in the first": {[]builtin.Outcome{visitOf(single...), visitOf(tokens(60, 8)...)}, false},
		"and in the second":                   {[]builtin.Outcome{visitOf(tokens(60, 8)...), visitOf(single...)}, false},
		"nothing whole in the second":         {[]builtin.Outcome{visitOf(tokens(60, 8)...), {}}, true},
	} {
		k := knownPoint{rule: precision.Rule{CI: .02}}
		for _, v := range c.visits {
			k = k.joined(load, v)
		}
		side := manifest.Sidecar{Conditions: map[string]string{}, Client: map[string]string{}}
		k.into(&side)
		_, tpot := side.Client["ci_tpot"]
		if side.Client["ci_ttft"] != "0" || side.Client["ci_e2el"] == "0" || tpot != c.tpot {
			t.Errorf("%s: %v; TTFT is always 100 ms and E2EL differs", name, side.Client)
		}
	}
}
