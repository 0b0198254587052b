package vllm

import (
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// recompute replaces stated statistics with those of the per-request arrays, and reports whether the arrays exist.
func recompute(d *draft.Draft) bool {
	v := d.In
	requests, ok := d.Timelines(v)
	if !ok {
		return false
	}
	duration := v.Get("duration").Float0()
	set := latency.Summarise(requests, duration)
	d.Undated = set.Undated > 0
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
		tallies(set, d)
	}
	unswap(set.E2EL, d)
	var ttfos []float64 // to the first token behind the reasoning, which ttreport's own client writes; null for none
	for x := range v.Get("ttfos").Items() {
		if s := x.Float0(); s > 0 {
			ttfos = append(ttfos, 1000*s)
		}
	}
	samples := []latency.Sample{set.TTFT, set.TPOT, set.ITL, set.E2EL, latency.NewSample(ttfos)} // in the order of fields
	for i, x := range fields {
		if x.Metric == schema.MetricTTFO && len(ttfos) == 0 {
			continue
		}
		why := ""
		if x.Metric == "itl" && set.LostGaps > latency.MostLost {
			why = fmt.Sprintf("this machine was too busy: the client read late, and %.2g%% of the gaps are not known",
				100*set.LostGaps)
		}
		d.Recompute(v, x, samples[i], why, set.Hollow > 0 && x.Metric != schema.MetricTTFO)
	}
	d.Metrics.Drop("ntpot") // the arrays give TPOT itself
	if duration > 0 {
		d.Rate(v, "rps", "request_throughput", set.RPS())
		d.Rate(v, "output_tps", "output_throughput", set.OutputTPS())
		d.Rate(v, "total_tps", "total_token_throughput", set.TotalTPS())
	}
	return true
}

// totals replaces a stated rate that differs from the file's own totals and duration, where another rate agrees with
// them: else nothing says which number is wrong.
func totals(d *draft.Draft) {
	v := d.In
	duration := v.Get("duration").Float0()
	in, out := v.Get("total_input_tokens").Float0(), v.Get("total_output_tokens").Float0()
	all := 0.
	if in > 0 && out > 0 {
		all = in + out
	}
	type rate struct {
		metric, key, of string
		total           float64
	}
	list := []rate{
		{"rps", "request_throughput", "completed", v.Get("completed").Float0()},
		{"output_tps", "output_throughput", "total_output_tokens", out},
		{"total_tps", "total_token_throughput", "the tokens", all},
	}
	list = slices.DeleteFunc(list, func(r rate) bool { return !(v.Get(r.key).Float0() > 0 && r.total > 0) })
	agrees := func(r rate) bool { return !draft.Disagree(v.Get(r.key).Float0(), r.total/duration) }
	if duration <= 0 || d.Status == schema.StatusFailed || !slices.ContainsFunc(list, agrees) {
		return
	}
	for _, r := range list {
		if now, stated := r.total/duration, v.Get(r.key); !agrees(r) {
			d.Problem(schema.SevWarning, "disagreement", stated, fmt.Sprintf("%s says %.6g, %s over the duration give %.6g",
				r.key, stated.Float0(), r.of, now), "the two within 1 %", fmt.Sprintf("the recomputed %.6g", now))
			d.Recomputed(r.metric, now)
		}
	}
}

// tallies compares the stated counts with those of the requests: how many completed, and their tokens.
func tallies(set latency.Set, d *draft.Draft) {
	v, ok := d.In, float64(set.OK)
	if stated := v.Get("completed").Ptr(); stated != nil && draft.Disagree(*stated, ok) {
		d.Disagreement(v, "completed", *stated, ok)
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
		stated := v.Get(x.key).Ptr()
		if !x.known || stated == nil || !draft.Disagree(*stated, float64(x.now)) {
			continue
		}
		d.Disagreement(v, x.key, *stated, float64(x.now))
		d.Stat(x.metric, "", "mean", float64(x.now)/ok)
		m, _ := d.Metric(x.metric)
		d.Metrics.Put(m.Sourced(schema.FromRecomputed))
	}
}

// unswap recognises the exchanged mean and median of v0.6.0 to v0.6.3: each equals what the arrays give for the
// other.
func unswap(s latency.Sample, d *draft.Draft) {
	mean, a := d.Point.Value("e2el", "mean")
	median, b := d.Point.Value("e2el", "median")
	if s.N() > 1 && a && b && draft.Disagree(mean, s.Mean) && !draft.Disagree(mean, s.Quantile(.5)) &&
		!draft.Disagree(median, s.Mean) {
		swapE2EL(d, "are each what the requests give for the other, as v0.6.0 to v0.6.3 write them")
	}
}
