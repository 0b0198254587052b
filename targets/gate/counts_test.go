package gate_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// What a decision counts is what stands under it: over many histories with steps, gaps and noise, the numbers behind
// each kind of finding against history are as many as the rows of that kind that a person is shown.
func TestCountsAreTheRowsShown(t *testing.T) {
	counted := map[gate.Kind]int{}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		values := judgetest.Steady(8)
		for i := range values {
			for k := range values[i] {
				values[i][k] *= 1 + .01*rng.NormFloat64()
			}
		}
		last := values[len(values)-1]
		for k := range last {
			switch rng.IntN(6) {
			case 0:
				last[k] *= 1.3
			case 1:
				last[k] *= .7
			case 2:
				last[k] = 0
			case 3:
				last[k] *= 1.06
			}
		}
		g := gateOf(t, judgetest.History{TTFT: values}.Columns(), nil)
		for _, on := range []gate.FailOn{gate.DefaultFailOn(schema.ChannelRelease),
			{gate.FailInconclusive: true, gate.FailSuspected: true}} {
			g.FailOn = on
			r := g.Review(len(values)-1, "", "")
			shown, _ := r.NeedsAttention()
			rows := map[gate.Kind]int{}
			for i := range shown {
				rows[gate.KindOf(&shown[i])]++
			}
			for _, c := range r.Result.Counts {
				if kind := c.Kind; slices.Contains(gate.FailKinds(), kind) {
					if counted[kind] += c.Cells; c.Cells != rows[kind] {
						t.Errorf("seed %d: %s counts %d numbers, and %d rows are shown", seed, kind, c.Cells, rows[kind])
					}
				}
			}
		}
	}
	if counted[gate.FailSuspected] == 0 || counted[gate.FailNotRemeasured] == 0 {
		t.Errorf("the histories show nothing: %v", counted)
	}
}
