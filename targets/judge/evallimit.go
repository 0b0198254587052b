package judge

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/decision"
)

// limits sets the least change that matters: what a person states, else one percentage point where the same questions
// were answered and two elsewhere. Where so few questions could not show that, unchanged means the next of 1, 2 and 5
// points that they could show four times in five.
func (t *evalTest) limits(p *decision.Policy) {
	steps := []float64{.01, .02, .05}
	if t.reason.Test != schema.TestPaired {
		steps = steps[1:]
	}
	if p.EvalPoint > 0 {
		steps = []float64{p.EvalEffect()}
	}
	const wanted = 1.645 + .842 // of 5 % one-sided and a power of 80 %, in standard errors
	se := math.Max(t.d.Hi-t.d.D, t.d.D-t.d.Lo) / 1.96
	t.delta, t.same = steps[0], steps[len(steps)-1]
	for _, limit := range steps {
		if wanted*se <= limit {
			t.same = limit
			break
		}
	}
	t.reason.Limit = t.same
}

// sees tests an independent run given the first, since both share the error of the same baseline.
func sees(t *evalTest, first float64, releases int) bool {
	const size = .01
	rho := 1 / float64(releases+1)
	return distuv.UnitNormal.Survival((normalScore(t.p)-rho*first)/math.Sqrt(1-rho*rho)) <= size
}

// normalScore returns the standard normal value with an upper tail of p.
func normalScore(p float64) float64 {
	return distuv.UnitNormal.Quantile(1 - math.Min(.5, math.Max(p, 1e-15)))
}
