package builtin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// Name and Version identify this client in sidecars and on pages.
const (
	Name    = schema.ToolBuiltin
	Version = "3"
)

// Set computes the statistics of an outcome.
func (o Outcome) Set() latency.Set {
	if o.Pools {
		return o.pooledSet()
	}
	requests := make([]latency.Request, len(o.Requests))
	for i, t := range o.Requests {
		requests[i] = t.Request
	}
	return latency.Summarise(requests, o.Duration.Seconds())
}

// Result returns the outcome in the format of "vllm bench serve --save-result --save-detailed", without prompts and
// generated text. As there, latencies are in milliseconds and arrays in seconds.
func (o Outcome) Result(l Load) ([]byte, error) {
	if o.Pools {
		return o.pooledResult(l)
	}
	set := o.Set()
	r := o.head(l, set)
	r["request_goodput"], r["total_output_tokens"], r["output_throughput"] = nil, set.Out, set.OutputTPS()
	samples := map[string]latency.Sample{"ttft": set.TTFT, "tpot": set.TPOT, "itl": set.ITL, "e2el": set.E2EL}
	if ttfo, ok := o.reasoned(); ok {
		samples[schema.MetricTTFO] = ttfo
		r["ttfos"] = o.answers()
	}
	for name, s := range samples {
		stats := map[string]float64{"mean": 0, "median": 0, "std": 0, "p99": 0}
		if s.N() > 0 {
			stats = map[string]float64{"mean": s.Mean, "median": s.Quantile(.5), "std": s.Std, "p99": s.Quantile(.99)}
		}
		for stat, v := range stats {
			r[stat+"_"+name+"_ms"] = v
		}
	}
	o.arrays(r)
	return written(r)
}

// head is what a result of every endpoint begins with.
func (o Outcome) head(l Load, set latency.Set) map[string]any {
	name := formOf(l.Endpoint).name
	r := map[string]any{
		"date":          o.Began.Add(o.Duration).UTC().Format("20060102-150405"),
		"endpoint_type": name, "backend": name, "label": nil, "model_id": l.Model, "tokenizer_id": nil,
		"num_prompts": l.Requests, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": nil,
		"duration": o.Duration.Seconds(), "completed": set.OK, "failed": set.Failed + set.Hollow,
		"total_input_tokens": set.In, "request_throughput": set.RPS(), "total_token_throughput": set.TotalTPS(),
		"max_concurrent_requests": o.Peak,
	}
	if l.Rate > 0 {
		r["request_rate"], r["burstiness"] = l.Rate, cmp.Or(l.Burstiness, 1)
	}
	if l.Concurrency > 0 {
		r["max_concurrency"] = l.Concurrency
	}
	return r
}

func written(r map[string]any) ([]byte, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("writing the result: %w", err)
	}
	return append(b, '\n'), nil
}

// arrays adds the per-request values, rounded to a tenth of a microsecond.
func (o Outcome) arrays(r map[string]any) {
	n := len(o.Requests)
	in, out, ttft, start := make([]int, n), make([]int, n), make([]float64, n), make([]float64, n)
	itls, errs := make([][]float64, n), make([]string, n)
	sec := func(ms float64) float64 { return math.Round(ms*1e4) / 1e7 }
	for i, t := range o.Requests {
		in[i], out[i], ttft[i], start[i], errs[i] = t.In, t.Out, sec(t.TTFT), t.Sent.Seconds(), t.Error
		itls[i] = make([]float64, len(t.ITL))
		for j, g := range t.ITL {
			itls[i][j] = sec(g)
		}
		if t.Error != "" {
			out[i], ttft[i], itls[i] = 0, 0, []float64{}
		}
	}
	r["input_lens"], r["output_lens"], r["ttfts"], r["itls"] = in, out, ttft, itls
	r["start_times"], r["errors"] = start, errs
}

// Reached returns how many requests were in flight on average; 0 for none.
func (o Outcome) Reached() float64 {
	busy := o.goneBusy
	for _, t := range o.Requests {
		busy += t.E2EL / 1000
	}
	if s := o.Duration.Seconds(); s > 0 {
		return busy / s
	}
	return 0
}

// Cached returns which share of all prompt tokens the server found in its cache. Where it says so for some prompts
// only, the others, unstated of them, count as 0: many versions of vLLM leave out the details of a usage where the
// count is 0. ok is false where it says so for no prompt, or where an answer has no usage at all.
func (o Outcome) Cached() (share float64, unstated int, ok bool) {
	found, all := 0, 0
	for _, t := range o.Requests {
		switch {
		case t.Error != "":
			continue
		case t.In == 0:
			return 0, 0, false
		case t.Cached == nil:
			unstated++
		default:
			found, ok = found+*t.Cached, true
		}
		all += t.In
	}
	if !ok {
		return 0, 0, false
	}
	return float64(found) / float64(all), unstated, true
}

// called returns how many answers have a call of a tool.
func (o Outcome) called() (n int) {
	for _, t := range o.Requests {
		if t.Called && t.Error == "" {
			n++
		}
	}
	return n
}

// Client returns the facts that show whether the client kept up the load: the concurrency that was reached, and how
// late requests of an open loop were sent; what the server's cache found; and how many answers called a tool.
func (o Outcome) Client(l Load) map[string]string {
	c := map[string]string{}
	if reached := o.Reached(); reached > 0 {
		c["concurrency_reached"] = strconv.FormatFloat(reached, 'f', 2, 64)
	}
	if o.CPU > 0 {
		c["cpu_s"] = strconv.FormatFloat(o.CPU.Seconds(), 'f', 3, 64)
	}
	if share, unstated, ok := o.Cached(); ok {
		c[schema.ClientCached] = strconv.FormatFloat(share, 'f', 4, 64)
		if unstated > 0 {
			c[schema.ClientCached+"_unstated"] = strconv.Itoa(unstated)
		}
	}
	if l.Tools.Offered > 0 {
		c["tools_called"] = strconv.Itoa(o.called())
	}
	if o.Clients > 1 {
		c["clients"] = strconv.Itoa(o.Clients)
		c["clock_offset_max_ms"] = strconv.FormatFloat(o.ClockOffset.Seconds()*1000, 'f', 3, 64)
		c["clock_error_max_ms"] = strconv.FormatFloat(o.ClockError.Seconds()*1000, 'f', 3, 64)
	}
	if len(o.Late) > 0 {
		late := slices.Sorted(slices.Values(o.Late))
		c["late_send_p99_ms"] = strconv.FormatFloat(float64(late[(len(late)-1)*99/100])/float64(time.Millisecond), 'f', 3, 64)
		c["late_send_max_ms"] = strconv.FormatFloat(float64(late[len(late)-1])/float64(time.Millisecond), 'f', 3, 64)
	}
	return c
}
