package vllm

import (
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// recompute replaces stated statistics with those of the per-request arrays, and reports whether the arrays exist.
func recompute(v decode.Value, d *draft.Draft) bool {
	requests, ok := d.Timelines(v)
	if !ok {
		return false
	}
	duration, _ := v.Get("duration").Float()
	set := latency.Summarise(requests, duration)
	if set.Hollow > 0 {
		d.Hollow(v, set, " (vLLM up to 0.6.3 counts empty answers)")
	}
	if set.OK == 0 {
		return true
	}
	if sent, ok := v.Get("start_times").Floats(); ok {
		d.Slices = latency.Slices(requests, sent)
	}
	if set.Hollow == 0 {
		tallies(v, set, d)
	}
	unswap(v, set.E2EL, d)
	if ttfo := ttfos(v); ttfo.N() > 0 {
		d.Recompute(v, draft.Family{Metric: schema.MetricTTFO, Def: schema.DefFirstContent, Sample: ttfo,
			Key: func(stat string) string { return stat + "_" + schema.MetricTTFO + "_ms" }}, false)
	}
	for _, f := range []draft.Family{
		{Metric: "ttft", Def: schema.DefFirstChunk, Sample: set.TTFT}, {
			Metric: "tpot", Def: schema.DefExclFirst, Sample: set.TPOT,
		},
		{Metric: "itl", Def: schema.DefChunkGap, Sample: set.ITL, Pooled: true}, {
			Metric: "e2el", Def: schema.DefLastChunk, Sample: set.E2EL,
		},
	} {
		f.Key = func(stat string) string { return stat + "_" + f.Metric + "_ms" }
		d.Recompute(v, f, set.Hollow > 0)
	}
	delete(d.Metrics, "ntpot") // the arrays give TPOT itself
	if duration > 0 {
		d.Rate(v, "rps", "request_throughput", set.RPS())
		d.Rate(v, "output_tps", "output_throughput", set.OutputTPS())
		d.Rate(v, "total_tps", "total_token_throughput", set.TotalTPS())
	}
	return true
}

// rate is a rate that the file states, and what its own totals and duration give.
type rate struct {
	metric, key, of string
	stated, now     float64
}

// rates are the stated rates that can be checked without the requests.
func rates(v decode.Value) []rate {
	duration, timed := v.Get("duration").Float()
	if !timed || duration <= 0 {
		return nil
	}
	in, _ := v.Get("total_input_tokens").Float()
	out, _ := v.Get("total_output_tokens").Float()
	completed, _ := v.Get("completed").Float()
	all := 0.
	if in > 0 && out > 0 {
		all = in + out
	}
	var list []rate
	for _, x := range []struct {
		metric, key, of string
		total           float64
	}{
		{"rps", "request_throughput", "completed", completed},
		{"output_tps", "output_throughput", "total_output_tokens", out},
		{"total_tps", "total_token_throughput", "the tokens", all},
	} {
		if stated, has := v.Get(x.key).Float(); has && stated > 0 && x.total > 0 {
			list = append(list, rate{x.metric, x.key, x.of, stated, x.total / duration})
		}
	}
	return list
}

// totals replaces a stated rate that differs from the file's own totals and duration, where another rate agrees with
// them: else nothing says which number is wrong.
func totals(v decode.Value, d *draft.Draft) {
	list := rates(v)
	agrees := func(r rate) bool { return !draft.Disagree(r.stated, r.now) }
	if d.Status == schema.StatusFailed || !slices.ContainsFunc(list, agrees) {
		return
	}
	for _, r := range list {
		if agrees(r) {
			continue
		}
		p := d.Problem(schema.SevWarning, "disagreement", v.Get(r.key),
			fmt.Sprintf("%s says %.6g, %s over the duration give %.6g", r.key, r.stated, r.of, r.now))
		p.Expected, p.Used = "the two within 1 %", fmt.Sprintf("the recomputed %.6g", r.now)
		d.Recomputed(r.metric, r.now)
	}
}

// ttfos are the times to the first token behind the reasoning, which ttreport's own client writes; null for none.
func ttfos(v decode.Value) latency.Sample {
	var values []float64
	for x := range v.Get("ttfos").Items() {
		if s, ok := x.Float(); ok && s > 0 {
			values = append(values, 1000*s)
		}
	}
	return latency.NewSample(values)
}

// tallies compares the stated counts with those of the requests: how many completed, and their tokens.
func tallies(v decode.Value, set latency.Set, d *draft.Draft) {
	ok := float64(set.OK)
	if stated, has := v.Get("completed").Float(); has && draft.Disagree(stated, ok) {
		d.Disagreement(v, "completed", stated, ok)
		d.Recomputed("requests_ok", ok)
		if failed := float64(set.Failed); failed > 0 {
			d.Recomputed("requests_failed", failed)
			d.Recomputed("error_rate", 100*failed/(ok+failed))
		}
	}
	for _, x := range []struct {
		metric, key string
		now         int
		known       bool
	}{
		{"isl", "total_input_tokens", set.In, v.Get("input_lens").Len() > 0}, {"osl", "total_output_tokens", set.Out, true},
	} {
		stated, has := v.Get(x.key).Float()
		if !x.known || !has || !draft.Disagree(stated, float64(x.now)) {
			continue
		}
		d.Disagreement(v, x.key, stated, float64(x.now))
		d.Stat(x.metric, "", "mean", float64(x.now)/ok)
		m := d.Metrics[x.metric]
		m.From = schema.FromRecomputed
		d.Metrics[x.metric] = m
	}
}

// unswap recognises the exchanged mean and median of v0.6.0 to v0.6.3: each equals what the arrays give for the
// other.
func unswap(v decode.Value, s latency.Sample, d *draft.Draft) {
	mean, a := d.Metrics["e2el"].Stats.Get("mean")
	median, b := d.Metrics["e2el"].Stats.Get("median")
	if s.N() > 1 && a && b && draft.Disagree(mean, s.Mean) && !draft.Disagree(mean, s.Quantile(.5)) &&
		!draft.Disagree(median, s.Mean) {
		swapE2EL(v, d, "are each what the requests give for the other, as v0.6.0 to v0.6.3 write them")
	}
}
