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

// A release of too few requests for a P99 has it withheld, not missing; one of enough that does not state it lacks it.
func TestTailOfFewRequestsIsNotMissing(t *testing.T) {
	for _, c := range []struct {
		name     string
		requests float64
		stated   bool
		missing  int
	}{
		{"few requests, P99 stated", 62, true, 0},
		{"few requests, P99 not stated", 62, false, 0},
		{"enough requests, P99 stated", 100, true, 0},
		{"enough requests, P99 not stated", 100, false, judgetest.Workloads},
	} {
		cols := tails(.03, 500, 0).Columns()
		last := cols.Runs[9]
		for i := last.FirstPoint; i < last.PointsEnd; i++ {
			stats, values := cols.Span(&cols.Points[i])
			for k, s := range stats {
				switch {
				case cols.Stats[s].Metric == "requests_ok":
					values[k] = c.requests
				case cols.Stats[s].Stat == "p99" && !c.stated:
					values[k] = 0 // which is no P99
				}
			}
		}
		list := notRemeasured(judged(t, cols, nil), 9)
		if len(list) != c.missing {
			t.Errorf("%s: %d of %d missing: %+v", c.name, len(list), c.missing, list)
		}
		for _, v := range list {
			if v.Metric != "ttft" || v.Stat != "p99" {
				t.Errorf("%s: %s %s is missing, want the P99", c.name, v.Metric, v.Stat)
			}
		}
	}
}
