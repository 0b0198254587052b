package builtin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// Name and Version identify this client in sidecars and on pages.
const (
	Name    = schema.ToolBuiltin
	Version = "3"
)

// Set computes the statistics of an outcome; of latencies E2EL alone where answers are vectors or scores.
func (o Outcome) Set() latency.Set {
	requests := make([]latency.Request, len(o.Requests))
	for i, t := range o.Requests {
		if requests[i] = t.Request; o.Pools {
			requests[i].Out = 1 // it would count as an answer without a token
		}
	}
	set := latency.Summarise(requests, o.Duration.Seconds())
	if o.Pools {
		set.Out, set.TTFT = 0, latency.Sample{}
	}
	return set
}

// Result returns the outcome in the format of "vllm bench serve --save-result --save-detailed", without prompts and
// generated text. As there, latencies are in milliseconds and arrays in seconds.
func (o Outcome) Result(l Load) ([]byte, error) {
	set, name := o.Set(), formOf(l.Endpoint).name
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
	if why := Busy(set, l); why != "" {
		r["busy_client"] = why
	}
	errs, start := make([]string, len(o.Requests)), make([]float64, len(o.Requests))
	undated := make([][]int, len(o.Requests))
	for i, t := range o.Requests {
		errs[i], start[i], undated[i] = t.Error, t.Sent.Seconds(), append([]int{}, t.Undated...)
	}
	if set.Undated > 0 && !o.Pools {
		r["undated"] = undated
	}
	r["errors"], r["start_times"] = errs, start
	if s := set.E2EL; o.Pools && s.N() > 0 { // the form of such endpoints
		r["mean_e2el_ms"], r["median_e2el_ms"], r["std_e2el_ms"] = s.Mean, s.Quantile(.5), s.Std
		r["p90_e2el_ms"], r["p99_e2el_ms"] = s.Quantile(.9), s.Quantile(.99)
	} else if !o.Pools {
		o.streamed(r, set)
		o.conversations(r, l)
		if set.LostGaps > latency.MostLost {
			maps.DeleteFunc(r, func(name string, _ any) bool { return strings.HasSuffix(name, "_itl_ms") })
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("writing the result: %w", err)
	}
	return append(b, '\n'), nil
}

// Busy says why a measurement is none: this machine kept the client from reading in time, so that more than one request
// and more than one in a hundred have a TTFT or E2EL that is not known, or gaps between tokens where an objective is of
// these, or fewer that may move the P99 of the TTFT. "" where they are known, and for a simulator, which is no
// measurement.
func Busy(set latency.Set, l Load) string {
	const mostTailDoubt = .01 // by which requests that are left out may move the P99 of the TTFT
	lost, what := set.Lost, "TTFT or E2EL"
	if set.LostGaps > lost && l.SLO.Of("itl") {
		lost, what = set.LostGaps, "the gaps between tokens"
	}
	one := lost*float64(set.OK) < 1.5 // one that is left out and counted does not make a point of few requests false
	switch {
	case one || l.Simulated:
		return ""
	case lost <= latency.MostLost && set.TailDoubt > mostTailDoubt:
		return fmt.Sprintf("this machine was too busy: the client read late, and the P99 of TTFT is uncertain by %.2g%%",
			100*set.TailDoubt)
	case lost <= latency.MostLost:
		return ""
	}
	return fmt.Sprintf("this machine was too busy: the client read late, and %.2g%% of %s are not known",
		100*lost, what)
}

// streamed is what a result has of answers that come token by token; per-request values are rounded to a tenth of a
// microsecond.
func (o Outcome) streamed(r map[string]any, set latency.Set) {
	r["request_goodput"], r["total_output_tokens"], r["output_throughput"] = nil, set.Out, set.OutputTPS()
	n := len(o.Requests)
	in, out, ttft, itls := make([]int, n), make([]int, n), make([]float64, n), make([][]float64, n)
	sec := func(ms float64) float64 { return math.Round(ms*1e4) / 1e7 }
	answers, first, reasons := make([]*float64, n), []float64(nil), false
	drafted, accepted := 0, 0 // steps without a draft are not told apart: how many tokens a step yields is not known
	for i, t := range o.Requests {
		in[i], itls[i] = t.In, []float64{}
		if t.Error == "" {
			out[i], ttft[i] = t.Out, sec(t.TTFT)
			for _, gap := range t.ITL {
				itls[i] = append(itls[i], sec(gap))
			}
		}
		if !t.OK {
			continue
		}
		if s := sec(t.Answer); s > 0 {
			answers[i] = &s
		}
		if t.Answer > 0 {
			first = append(first, t.Answer)
		}
		reasons = reasons || t.Answer != t.TTFT
		drafted, accepted = drafted+t.Drafted, accepted+t.Accepted
	}
	if drafted > 0 {
		r["spec_decode_acceptance_rate"] = 100 * float64(accepted) / float64(drafted)
	}
	r["input_lens"], r["output_lens"], r["ttfts"], r["itls"] = in, out, ttft, itls
	samples := map[string]latency.Sample{"ttft": set.TTFT, "tpot": set.TPOT, "itl": set.ITL, "e2el": set.E2EL}
	if reasons && len(first) > 0 { // else the first token of the answer is the first token
		samples[schema.MetricTTFO], r["ttfos"] = latency.NewSample(first), answers
	}
	for name, s := range samples {
		stats := [4]float64{}
		if s.N() > 0 {
			stats = [4]float64{s.Mean, s.Quantile(.5), s.Std, s.Quantile(.99)}
		}
		for i, stat := range [4]string{"mean", "median", "std", "p99"} {
			r[stat+"_"+name+"_ms"] = stats[i]
		}
	}
}

// conversations is what a result has of requests that follow others: the mean TTFT of those that needed an earlier
// answer, and of each turn up to one that no request was answered in, ms; how long conversations took that were
// answered to their ends, s, with the time between their turns; and of prompts that begin alike the share that an
// endless cache would have found, in percent.
func (o Outcome) conversations(r map[string]any, l Load) {
	if len(l.Each) != len(o.Requests) { // some were left out: which ones is not known
		return
	}
	// The turns of requests, from 0 on, and the first request of the conversation of each. A request of a trace is one
	// turn behind the last of those that it waits for.
	var turn, first []int
	var later, means []float64
	byTurn := make([][]float64, schema.Places)
	for i, q := range l.Each {
		turn, first = append(turn, i%l.turns()), append(first, i-i%l.turns())
		for _, j := range q.After {
			turn[i], first[i] = max(turn[i], turn[j]+1), first[j]
		}
		t := o.Requests[i]
		if !t.OK || !t.Known() {
			continue
		}
		if turn[i] > 0 {
			later = append(later, t.TTFT)
		}
		if turn[i] < len(byTurn) {
			byTurn[turn[i]] = append(byTurn[turn[i]], t.TTFT)
		}
	}
	for k := 0; k < len(byTurn) && len(byTurn[k]) > 0; k++ {
		means = append(means, latency.NewSample(byTurn[k]).Mean)
	}
	if len(means) > 1 {
		r["ttft_by_turn"] = means
	}
	if share := traffic.HitShare(l.Each); share > 0 && l.turns() == 1 {
		r["prefix_hits_possible"] = 100 * share
	}
	for name, list := range map[string][]float64{"later_turns_ttft": later, "conversation_duration": o.whole(first)} {
		if len(list) > 0 {
			r[name] = latency.NewSample(list).Mean
		}
	}
}

// whole is how long conversations took of which every request was answered, s, by the first request of each request's.
func (o Outcome) whole(first []int) (took []float64) {
	turns, answered, ends := make([]int, len(first)), make([]int, len(first)), make([]time.Duration, len(first))
	for i, t := range o.Requests {
		if turns[first[i]]++; t.OK {
			answered[first[i]]++
		}
		ends[first[i]] = max(ends[first[i]], t.End())
	}
	for i, n := range turns {
		if n > 1 && answered[i] == n {
			took = append(took, (ends[i] - o.Requests[i].Sent).Seconds())
		}
	}
	return took
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

// Resent returns how many times requests were sent again, because an idle connection was found closed.
func (o Outcome) Resent() (n int) {
	for _, t := range o.Requests {
		n += t.Resent
	}
	return n
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

// Client returns the facts that show whether the client kept up the load: the concurrency that was reached, and how
// late requests of an open loop were sent; what the server's cache found; how many answers called a
// tool; and how many requests were sent again.
func (o Outcome) Client(l Load) map[string]string {
	c := map[string]string{}
	set := func(name string, v float64, decimals int) { c[name] = strconv.FormatFloat(v, 'f', decimals, 64) }
	if reached := o.Reached(); reached > 0 {
		set("concurrency_reached", reached, 2)
	}
	if o.CPU > 0 {
		set("cpu_s", o.CPU.Seconds(), 3)
	}
	if share, unstated, ok := o.Cached(); ok {
		set(schema.ClientCached, share, 4)
		if unstated > 0 {
			c[schema.ClientCached+"_unstated"] = strconv.Itoa(unstated)
		}
	}
	if l.Tools.Offered > 0 {
		called := 0
		for _, t := range o.Requests {
			if t.Called && t.Error == "" {
				called++
			}
		}
		c["tools_called"] = strconv.Itoa(called)
	}
	if n := o.Resent(); n > 0 {
		c["resent"] = strconv.Itoa(n)
	}
	if o.Clients > 1 {
		c["clients"] = strconv.Itoa(o.Clients)
	}
	if n := len(o.Requests); n > 0 && l.Rate > 0 {
		var late []time.Duration
		for _, t := range o.Requests {
			late = append(late, t.Late)
		}
		slices.Sort(late)
		set("late_send_p99_ms", float64(late[(n-1)*99/100])/float64(time.Millisecond), 3)
		set("late_send_max_ms", float64(late[n-1])/float64(time.Millisecond), 3)
	}
	return c
}
