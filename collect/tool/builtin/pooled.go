package builtin

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// backend returns vLLM's name of an endpoint.
func backend(e traffic.Endpoint) string {
	if e == traffic.Completions {
		return "openai"
	}
	return map[traffic.Endpoint]string{traffic.Rerank: "vllm-rerank"}[e] + map[traffic.Endpoint]string{
		traffic.Chat: "openai-chat", traffic.Responses: "openai-responses", traffic.Embeddings: "openai-embeddings",
	}[e]
}

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
	r := map[string]any{
		"date":          o.Began.Add(o.Duration).UTC().Format("20060102-150405"),
		"endpoint_type": backend(l.Endpoint), "backend": backend(l.Endpoint), "label": nil, "model_id": l.Model,
		"tokenizer_id": nil, "num_prompts": l.Requests, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": nil,
		"duration": o.Duration.Seconds(), "completed": set.OK, "failed": set.Failed, "total_input_tokens": set.In,
		"request_throughput": set.RPS(), "total_token_throughput": set.TotalTPS(),
	}
	if l.Rate > 0 {
		r["request_rate"] = l.Rate
	}
	if l.Concurrency > 0 {
		r["max_concurrency"] = l.Concurrency
	}
	if s := set.E2EL; s.N() > 0 {
		r["mean_e2el_ms"], r["median_e2el_ms"], r["std_e2el_ms"] = s.Mean, s.Quantile(.5), s.Std
		r["p90_e2el_ms"], r["p99_e2el_ms"] = s.Quantile(.9), s.Quantile(.99)
	}
	errs, start := make([]string, len(o.Requests)), make([]float64, len(o.Requests))
	for i, t := range o.Requests {
		errs[i], start[i] = t.Error, t.Sent.Seconds()
	}
	r["errors"], r["start_times"] = errs, start
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("writing the result: %w", err)
	}
	return append(b, '\n'), nil
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
