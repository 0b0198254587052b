package collect

import (
	"testing"
	"time"

	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// measuredBy is a load by one stream, whose requests have so many tokens each: the first at 100 ms, then one each 10
// ms.
func measuredBy(tokens ...int) builtin.Outcome {
	out := builtin.Outcome{Whole: len(tokens)}
	for _, n := range tokens {
		e2el := 100 + 10*float64(n-1) + float64(len(out.Requests)*len(out.Requests)%7)
		q := latency.Request{OK: true, TTFT: 100, E2EL: e2el, Out: n}
		out.Requests = append(out.Requests, builtin.Timeline{Request: q, Sent: out.Duration})
		out.Duration += time.Duration(e2el * float64(time.Millisecond))
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

// What is known of a metric is stated with its name, and of a metric that not all requests have nothing.
func TestWhatIsKnownIsStated(t *testing.T) {
	load := builtin.Load{Workload: traffic.Workload{Concurrency: 1, OSL: 8}}
	for name, c := range map[string]struct {
		out  builtin.Outcome
		tpot bool
	}{
		"a request of one token": {measuredBy(append(tokens(60, 8), 1)...), false},
		"equal requests":         {measuredBy(tokens(60, 8)...), true},
	} {
		k := knownPoint{rule: precision.Rule{CI: .02}}.with(load, c.out.Requests)
		side := manifest.Sidecar{Conditions: map[string]string{}, Client: map[string]string{}}
		k.into(&side)
		_, tpot := side.Client["ci_tpot"]
		if side.Client["ci_ttft"] != "0" || side.Client["ci_e2el"] == "0" || tpot != c.tpot {
			t.Errorf("%s: %v; TTFT is always 100 ms and E2EL differs", name, side.Client)
		}
		steady, start := steadyPart(load, c.out, k.cut)
		if n := len(c.out.Requests) - k.cut; len(steady.Requests) != n || steady.Requests[0].Sent != 0 ||
			start != c.out.Requests[k.cut].Sent || steady.Duration <= 0 {
			t.Errorf("%s: %d requests from %s on, %s long", name, len(steady.Requests), start, steady.Duration)
		}
	}
}

// A machine that reads every answer late knows no time, however many requests completed.
func TestNothingIsKnownOfWhatIsReadLate(t *testing.T) {
	out, load := measuredBy(tokens(60, 8)...), builtin.Load{Workload: traffic.Workload{Concurrency: 8}}
	for late := range len(out.Requests) {
		out.Requests[late].Undated = []int{0}
		k := knownPoint{rule: precision.Rule{CI: .02}}.with(load, out.Requests)
		if k.known.Reached && late > 40 || k.cut > len(out.Requests) {
			t.Errorf("%d read late: known %+v behind %d requests", late+1, k.known, k.cut)
		}
	}
}
