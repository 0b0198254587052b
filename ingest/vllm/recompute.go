package vllm

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// tolerance is how far a stated statistic may lie from the recomputed one before it is a problem.
const tolerance = .01

// recompute replaces stated statistics by those of the per-request arrays, where the arrays exist.
func recompute(f *decode.File, v decode.Value, p *schema.Point, r *schema.Reading) {
	requests, ok := timelines(f, v, r)
	if !ok {
		return
	}
	duration, _ := v.Get("duration").Float()
	set := latency.Summarise(requests, duration)
	if set.Hollow > 0 {
		hollow(f, v, set, p, r)
	}
	if set.OK == 0 {
		return
	}
	for _, x := range []struct {
		name, def string
		sample    latency.Sample
		sketch    bool
	}{
		{"ttft", schema.DefFirstChunk, set.TTFT, true}, {"tpot", schema.DefExclFirst, set.TPOT, true},
		{"itl", schema.DefChunkGap, set.ITL, false}, {"e2el", schema.DefLastChunk, set.E2EL, true},
	} {
		m := x.sample.Metric("ms", x.def, "no request has enough tokens for it")
		if x.sample.N() > 0 {
			old := p.Metrics[x.name]
			if x.sketch {
				m.Quantiles = x.sample.Sketch()
			} else {
				// Pooled gaps are not independent: an error from their number would be far too small.
				m.CI, m.SE = nil, schema.Missing("gaps are not independent")
			}
			compare(f, v, x.name, old, &m, x.sample, set.Hollow > 0, r)
		}
		p.Metrics[x.name] = m
	}
	delete(p.Metrics, "ntpot") // the arrays give TPOT proper
	if duration > 0 {
		throughput(f, v, "rps", "request_throughput", set.RPS(), p, r)
		throughput(f, v, "output_tps", "output_throughput", set.OutputTPS(), p, r)
		throughput(f, v, "total_tps", "total_token_throughput", set.TotalTPS(), p, r)
	}
}

// timelines reads the arrays; ok is false when they are absent or do not fit together, which is a problem.
func timelines(f *decode.File, v decode.Value, r *schema.Reading) ([]latency.Request, bool) {
	ttfts, ok1 := v.Get("ttfts").Floats()
	outs, ok2 := v.Get("output_lens").Floats()
	gaps := v.Get("itls")
	if !ok1 || !ok2 || gaps.Kind() != decode.Array || len(ttfts) == 0 {
		return nil, false
	}
	ins, _ := v.Get("input_lens").Floats()
	itls := gaps.List()
	if len(outs) != len(ttfts) || len(itls) != len(ttfts) || (len(ins) > 0 && len(ins) != len(ttfts)) {
		q := f.Problem(schema.SevWarning, "uneven-arrays", v.Get("ttfts"))
		q.Found = fmt.Sprintf("%d ttfts, %d itls, %d output_lens, %d input_lens", len(ttfts), len(itls), len(outs), len(ins))
		q.Expected, q.Used = "one of each per request", "the statistics as stated, not recomputed"
		r.Problems = append(r.Problems, q)
		return nil, false
	}
	for _, n := range append(append([]float64(nil), outs...), ins...) {
		if math.IsNaN(n) || n < 0 || n > 1e12 {
			q := f.Problem(schema.SevWarning, "bad-arrays", v.Get("output_lens"))
			q.Found, q.Expected, q.Used = fmt.Sprintf("a length of %g tokens", n), "a count", "the statistics as stated, not recomputed"
			r.Problems = append(r.Problems, q)
			return nil, false
		}
	}
	errs := v.Get("errors").List()
	requests := make([]latency.Request, len(ttfts))
	for i := range requests {
		q := latency.Request{OK: len(errs) <= i || errs[i].Str() == "", TTFT: ttfts[i] * 1000, Out: int(outs[i])}
		if len(ins) > 0 {
			q.In = int(ins[i])
		}
		gap, _ := itls[i].Floats()
		q.ITL = make([]float64, len(gap))
		q.E2EL = q.TTFT
		for j, g := range gap {
			q.ITL[j] = g * 1000
			q.E2EL += g * 1000
		}
		requests[i] = q
	}
	return requests, true
}

// compare completes the recomputed metric with the percentiles that the file states, and reports what disagrees.
func compare(f *decode.File, v decode.Value, name string, old schema.Metric, m *schema.Metric, s latency.Sample, explained bool, r *schema.Reading) {
	for _, st := range old.Stats {
		now, ok := m.Stats.Get(st.Name)
		if !ok {
			if !strings.HasPrefix(st.Name, "p") {
				continue
			}
			pct, err := strconv.ParseFloat(st.Name[1:], 64)
			if err != nil || pct < 0 || pct > 100 {
				continue
			}
			now = s.Quantile(pct / 100)
			m.Stats.Set(st.Name, latency.Round(now, 6))
		}
		// After hollow successes were taken out nothing can agree; that was said once already.
		if !explained && Disagree(st.Value, now) {
			disagreement(f, v, st.Name+"_"+name+"_ms", st.Value, now, r)
		}
	}
}

// Disagree reports a difference over 1 % between a stated and a recomputed value.
func Disagree(stated, recomputed float64) bool {
	return math.Abs(stated-recomputed) > tolerance*math.Max(math.Abs(stated), math.Abs(recomputed)) && math.Abs(stated-recomputed) > 1e-9
}

func disagreement(f *decode.File, v decode.Value, key string, stated, now float64, r *schema.Reading) {
	q := f.Problem(schema.SevWarning, "disagreement", v.Get(key))
	q.Found = fmt.Sprintf("%s says %.6g, its own per-request values give %.6g", key, stated, now)
	q.Expected = "the two within 1 %"
	q.Used = fmt.Sprintf("the recomputed %.6g", now)
	r.Problems = append(r.Problems, q)
}

func throughput(f *decode.File, v decode.Value, name, key string, now float64, p *schema.Point, r *schema.Reading) {
	if old, ok := p.Metrics[name].Stats.Get("value"); ok {
		if !Disagree(old, now) {
			return // stated and confirmed
		}
		disagreement(f, v, key, old, now, r)
	}
	m := schema.Metric{Unit: "tok/s", From: "recomputed"}
	if name == "rps" {
		m.Unit = "req/s"
	}
	m.Stats.Set("value", now)
	p.Metrics[name] = m
}

// hollow reports requests that were counted as completed and produced nothing.
func hollow(f *decode.File, v decode.Value, set latency.Set, p *schema.Point, r *schema.Reading) {
	q := f.Problem(schema.SevError, "hollow-success", v.Get("completed"))
	q.Found = fmt.Sprintf("%d of %d completed requests produced no token", set.Hollow, set.Hollow+set.OK)
	q.Expected = "completed requests to have output (vLLM up to 0.6.3 counts empty answers)"
	q.Used = "the other requests alone"
	q.Hint = "the server refused or dropped requests under this load; look at its log"
	p.Status = schema.StatusPartial
	setValue(p, "requests_ok", "req", "", float64(set.OK), "recomputed")
	setValue(p, "requests_failed", "req", "", float64(set.Failed+set.Hollow), "recomputed")
	setValue(p, "error_rate", "%", "", 100*float64(set.Failed+set.Hollow)/float64(set.OK+set.Failed+set.Hollow), "recomputed")
	for name, total := range map[string]int{"isl": set.In, "osl": set.Out} {
		if m, ok := p.Metrics[name]; ok && set.OK > 0 {
			m.Stats, m.From = nil, "recomputed"
			m.Stats.Set("mean", float64(total)/float64(set.OK))
			p.Metrics[name] = m
		}
	}
	if set.OK == 0 {
		p.Status = schema.StatusFailed
		noData(p, "no request produced a token")
		q.Used = "no number"
	} else if mean, ok := p.Metrics["ttft"].Stats.Get("mean"); ok {
		q.Used += fmt.Sprintf(": mean TTFT %.6g ms where the file says %.6g", set.TTFT.Mean, mean)
	}
	r.Problems = append(r.Problems, q)
}

func stdErr(std float64, n int) float64 { return std / math.Sqrt(float64(n-1)) }
