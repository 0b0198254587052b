package draft

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// tolerance is the relative difference between a stated and a recomputed statistic above which it is a problem.
const tolerance = .01

// Disagree reports a difference over 1 % between a stated and a recomputed value.
func Disagree(stated, recomputed float64) bool {
	return math.Abs(stated-recomputed) > tolerance*math.Max(math.Abs(stated), math.Abs(recomputed)) &&
		math.Abs(stated-recomputed) > 1e-9
}

// Timelines reads the arrays that vLLM's client and its descendants write: ttfts and itls in seconds, input_lens,
// output_lens, errors; and undated, of ttreport's own client: the chunks of each request whose times are not known.
// ok is false when they are absent, or do not fit together, which is a problem.
func (d *Draft) Timelines(v decode.Value) (requests []latency.Request, ok bool) {
	ttfts, ok1 := v.Get("ttfts").Floats()
	outs, ok2 := v.Get("output_lens").Floats()
	itls := slices.Collect(v.Get("itls").Items())
	if !ok1 || !ok2 || v.Get("itls").Kind() != decode.Array || len(ttfts) == 0 {
		return nil, false
	}
	ins, _ := v.Get("input_lens").Floats()
	if len(outs) != len(ttfts) || len(itls) != len(ttfts) || (len(ins) > 0 && len(ins) != len(ttfts)) {
		d.Problem(schema.SevWarning, "uneven-arrays", v.Get("ttfts"),
			fmt.Sprintf("%d ttfts, %d itls, %d output_lens, %d input_lens", len(ttfts), len(itls), len(outs), len(ins)),
			"one of each per request", "the statistics as stated, not recomputed")
		return nil, false
	}
	lens := append(slices.Clone(outs), ins...)
	if i := slices.IndexFunc(lens, func(n float64) bool { return !(n >= 0 && n <= 1e12) }); i >= 0 {
		d.Problem(schema.SevWarning, "bad-arrays", v.Get("output_lens"), fmt.Sprintf("a length of %g tokens", lens[i]),
			"a count", "the statistics as stated, not recomputed")
		return nil, false
	}
	errs := slices.Collect(v.Get("errors").Items())
	undated := append(slices.Collect(v.Get("undated").Items()), make([]decode.Value, len(ttfts))...) // of others none
	requests = make([]latency.Request, len(ttfts))
	for i := range requests {
		q := &requests[i]
		*q = latency.Request{OK: len(errs) <= i || errs[i].Str() == "", TTFT: ttfts[i] * 1000, Out: int(outs[i])}
		if len(ins) > 0 {
			q.In = int(ins[i])
		}
		timeline(q, itls[i])
		places, _ := undated[i].Floats()
		for _, at := range places {
			q.Undated = append(q.Undated, int(at))
		}
	}
	return requests, true
}

// timeline adds the gaps between tokens, in seconds, and the E2EL that follows.
func timeline(q *latency.Request, gaps decode.Value) {
	list, _ := gaps.Floats()
	q.ITL, q.E2EL = make([]float64, len(list)), q.TTFT
	for j, g := range list {
		q.ITL[j] = g * 1000
		q.E2EL += g * 1000
	}
}

// Recompute replaces the stated statistics of a metric, and every percentile that the file states, with those of a
// sample, and reports differences at the members that f names: the first of its forms is that of the mean, the last of
// others. The recomputed value is kept, since it is of the requests that count: hollow ones do not. why a sample is
// empty is "" where no request has enough tokens. explained suppresses the report: without hollow successes no
// statistic can agree, which is reported once.
func (d *Draft) Recompute(v decode.Value, f Field, sample latency.Sample, why string, explained bool) {
	pooled := f.Metric == "itl" // values of one request are not independent: no standard error, no interval
	m := sample.Metric(f.Metric, f.Def, cmp.Or(why, "no request has enough tokens for it"), pooled)
	if sample.N() == 0 {
		d.Metrics.Put(m)
		return
	}
	stated, _ := d.Metric(f.Metric)
	for _, st := range stated.Stats {
		name := st.Name()
		q, ok := schema.StatQuantile(name)
		now := sample.Mean
		switch {
		case ok:
			now = sample.Quantile(q)
		case name == "std":
			now = sample.Std
		case name != "mean":
			continue
		}
		m.Stats.Set(name, latency.Round(now, 7))
		if !explained && Disagree(st.Value, now) {
			forms := strings.Split(f.Key, "|")
			if name != "mean" {
				forms = forms[len(forms)-1:]
			}
			d.Disagreement(v, strings.ReplaceAll(forms[0], "{}", name), st.Value, now)
		}
	}
	d.Metrics.Put(m)
}

// Disagreement reports a stated value that differs from the one recomputed from its requests.
func (d *Draft) Disagreement(v decode.Value, key string, stated, now float64) {
	d.Problem(schema.SevWarning, "disagreement", v.Get(key),
		fmt.Sprintf("%s says %.6g, its own per-request values give %.6g", key, stated, now), "the two within 1 %",
		fmt.Sprintf("the recomputed %.6g", now))
}

// Rate compares a stated rate with the recomputed one, and replaces it if they differ.
func (d *Draft) Rate(v decode.Value, metric, key string, now float64) {
	old := d.Number(metric)
	if old != nil && !Disagree(*old, now) {
		return
	}
	if old != nil {
		d.Disagreement(v, key, *old, now)
	}
	d.Recomputed(metric, now)
}

// Hollow reports requests that count as completed and have no output, and counts them as failed.
func (d *Draft) Hollow(v decode.Value, set latency.Set, whose string) {
	failed := float64(set.Failed + set.Hollow)
	d.Status = schema.StatusPartial
	d.Recomputed("requests_ok", float64(set.OK))
	d.Recomputed("requests_failed", failed)
	d.Recomputed("error_rate", 100*failed/(float64(set.OK)+failed))
	for name, total := range map[string]int{"isl": set.In, "osl": set.Out} {
		if m, ok := d.Metric(name); ok && set.OK > 0 {
			m.Stats = nil
			m.Stats.Set("mean", float64(total)/float64(set.OK))
			d.Metrics.Put(m.Sourced(schema.FromRecomputed))
		}
	}
	used := "the other requests alone"
	if set.OK == 0 {
		d.Fail("no request produced a token")
		used = "no number"
		if n := len(d.Reading.Problems); n > 0 && d.Reading.Problems[n-1].Code == "partly-failed" {
			d.Reading.Problems = d.Reading.Problems[:n-1] // none of the others remains
		}
	} else if mean, ok := d.Point.Value("ttft", "mean"); ok {
		used += fmt.Sprintf(": mean TTFT %.6g ms where the file says %.6g", set.TTFT.Mean, mean)
	}
	d.Problem(schema.SevError, "hollow-success", v.Get("completed"),
		fmt.Sprintf("%d of %d completed requests produced no token", set.Hollow, set.Hollow+set.OK),
		"completed requests to have output"+whose, used,
		"the server refused or dropped requests under this load; look at its log")
}
