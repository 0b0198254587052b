package builtin

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// pooledSet is the statistics of requests that are answered by vectors or scores: E2EL alone.
func (o Outcome) pooledSet() latency.Set {
	set := latency.Set{DurationS: o.Duration.Seconds()}
	var e2el []float64
	for _, t := range o.Requests {
		if t.Error != "" || !t.OK {
			set.Failed++
			continue
		}
		set.OK, set.In, e2el = set.OK+1, set.In+t.In, append(e2el, t.E2EL)
	}
	set.E2EL = latency.NewSample(e2el)
	return set
}

// pooledResult is the result in the form that "vllm bench serve" has for such endpoints.
func (o Outcome) pooledResult(l Load) ([]byte, error) {
	set := o.Set()
	r := o.head(l, set)
	if s := set.E2EL; s.N() > 0 {
		r["mean_e2el_ms"], r["median_e2el_ms"], r["std_e2el_ms"] = s.Mean, s.Quantile(.5), s.Std
		r["p90_e2el_ms"], r["p99_e2el_ms"] = s.Quantile(.9), s.Quantile(.99)
	}
	errs, start := make([]string, len(o.Requests)), make([]float64, len(o.Requests))
	for i, t := range o.Requests {
		errs[i], start[i] = t.Error, t.Sent.Seconds()
	}
	r["errors"], r["start_times"] = errs, start
	return written(r)
}

// reasoned returns the times to the first token of the answer; ok is false where no request reasoned before it, since
// they are TTFT then, and where none came to an answer.
func (o Outcome) reasoned() (sample latency.Sample, ok bool) {
	var values []float64
	for _, t := range o.Requests {
		if t.OK && t.Answer > 0 {
			values = append(values, t.Answer)
		}
		ok = ok || t.OK && t.Answer != t.TTFT
	}
	return latency.NewSample(values), ok && len(values) > 0
}

// answers are these times of each request, in seconds; null for none.
func (o Outcome) answers() []*float64 {
	out := make([]*float64, len(o.Requests))
	for i, t := range o.Requests {
		if s := math.Round(t.Answer*1e4) / 1e7; t.OK && s > 0 {
			out[i] = &s
		}
	}
	return out
}
