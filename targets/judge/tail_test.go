package judge_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// tails is a history of steady means, of which the P99 of some workloads grows by half in the last two releases.
func tails(noise, requests float64, slow int) judgetest.History {
	r := rand.New(rand.NewPCG(7, 7))
	h := judgetest.History{TTFT: judgetest.Steady(10), Requests: requests}
	for i, row := range h.TTFT {
		var p99 []float64
		for w, mean := range row {
			v := 2 * mean * math.Exp(noise*r.NormFloat64())
			if w < slow && i >= 8 {
				v *= 1.5
			}
			p99 = append(p99, v)
		}
		h.P99 = append(h.P99, p99)
	}
	return h
}

// A P99 that grows by half is found, with its own noise, while the means stay; of few requests it is no number.
func TestTailsAreJudged(t *testing.T) {
	for _, c := range []struct {
		noise, requests float64
		slow, want      int
	}{{.03, 500, 4, 4}, {.03, 500, 0, 0}, {.03, 50, 4, 0}, {.5, 500, 4, 0}} {
		j := judged(t, tails(c.noise, c.requests, c.slow).Columns(), nil)
		found, others := 0, 0
		for _, v := range j.History(9) {
			switch {
			case v.Outcome != schema.Regressed:
			case v.Stat == "p99" && v.Evidence == schema.Confirmed:
				found++
				if why := v.Reason.(schema.Change); math.Abs(why.Limit-.10) > 1e-9 || why.Noise < .01 {
					t.Errorf("%+v", why)
				}
			default:
				others++
			}
		}
		if found != c.want || others != 0 {
			t.Errorf("%+v: %d found, %d others", c, found, others)
		}
	}
}
