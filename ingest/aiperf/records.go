package aiperf

import (
	"fmt"
	"math"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"github.com/ttreport/ttreport/ingest/schema/redact"
)

// readRecords computes every statistic from the per-request lines. Alone, without a summary, they make a point whose
// load and lengths nobody states.
func readRecords(f *decode.File) schema.Reading {
	r := schema.Reading{Format: Records, Detail: "per-request records"}
	set, span := timelines(f, &r)
	p := schema.Point{Key: schema.Key{Task: "text", Tool: "aiperf"}, Status: schema.StatusOK, Metrics: map[string]schema.Metric{},
		Conditions: map[string]string{}, Source: f.Source(Records), Start: span.start, End: span.end}
	r.Facts.Start, r.Facts.End = span.start, span.end
	const why = "no request completed"
	for name, s := range map[string]latency.Sample{"ttft": set.TTFT, "tpot": set.TPOT, "e2el": set.E2EL} {
		m := s.Metric("ms", defOf(name), why)
		m.Quantiles = s.Sketch()
		p.Metrics[name] = m
	}
	itl := set.ITL.Metric("ms", schema.DefChunkGap, "no gaps were recorded")
	itl.CI, itl.SE = nil, schema.Missing("gaps are not independent")
	p.Metrics["itl"] = itl
	put := func(name, unit string, v float64) {
		m := schema.Metric{Unit: unit, From: "recomputed"}
		m.Stats.Set("value", v)
		p.Metrics[name] = m
	}
	put("requests_ok", "req", float64(set.OK))
	put("requests_failed", "req", float64(set.Failed))
	switch {
	case set.OK == 0:
		p.Status = schema.StatusFailed
		r.Problems = append(r.Problems, schema.Problem{Severity: schema.SevError, Path: f.Path, Code: "all-failed", Found: "no request completed" + firstError(f), Expected: "at least one", Used: "no number",
			Hint: "look at the server's log of this point"})
	case set.Failed > 0:
		p.Status = schema.StatusPartial
	}
	if set.OK > 0 && set.DurationS > 0 {
		put("rps", "req/s", set.RPS())
		put("output_tps", "tok/s", set.OutputTPS())
		put("duration_s", "s", set.DurationS)
	}
	r.Points = []schema.Point{p}
	return r
}

// firstError is the message of the first failed request, after a colon.
func firstError(f *decode.File) string {
	for _, v := range f.Doc.Values {
		if m := v.At("error", "message").Str(); m != "" {
			return ": " + redact.Text(m[:min(len(m), 160)])
		}
	}
	return ""
}

func defOf(name string) string {
	switch name {
	case "ttft":
		return schema.DefFirstContent
	case "tpot":
		return schema.DefExclFirst
	}
	return schema.DefLastContent
}

type span struct{ start, end time.Time }

// timelines reads the lines of the measured phase.
func timelines(f *decode.File, r *schema.Reading) (latency.Set, span) {
	var requests []latency.Request
	from, to := math.Inf(1), math.Inf(-1)
	foreign := 0
	for _, v := range f.Doc.Values {
		if !isRecord(v) {
			foreign++
			continue
		}
		meta, metrics := v.Get("metadata"), v.Get("metrics")
		if phase := meta.Get("benchmark_phase").Str(); phase == "warmup" || meta.Get("credit_phase").Str() == "warmup" {
			continue
		}
		q := latency.Request{OK: !v.Has("error")}
		value := func(tag string) float64 {
			x, _ := metrics.At(tag, "value").Float()
			return x
		}
		q.E2EL = value("request_latency")
		q.TTFT = math.NaN() // absent without streaming
		for _, tag := range []string{"ttft", "time_to_first_token"} {
			if x, ok := metrics.At(tag, "value").Float(); ok {
				q.TTFT = x
			}
		}
		q.In, q.Out = int(value("input_sequence_length")), int(value("output_sequence_length"))
		q.ITL, _ = metrics.At("inter_chunk_latency", "value").Floats()
		if q.E2EL == 0 {
			q.OK = false
		}
		start, haveStart := meta.Get("request_start_ns").Float()
		if !haveStart {
			start, haveStart = meta.Get("timestamp_ns").Float()
		}
		if haveStart && q.OK {
			from, to = math.Min(from, start), math.Max(to, start+q.E2EL*1e6)
		}
		requests = append(requests, q)
	}
	if foreign > 0 {
		r.Problems = append(r.Problems, schema.Problem{Severity: schema.SevWarning, Path: f.Path, Code: "foreign-value",
			Found: fmt.Sprintf("%d lines that are not request records", foreign), Used: "the others"})
	}
	var s span
	duration := 0.
	if to > from {
		duration = (to - from) / 1e9
		s = span{time.Unix(0, int64(from)).UTC().Truncate(time.Second), time.Unix(0, int64(to)).UTC().Truncate(time.Second)}
	}
	return latency.Summarise(requests, duration), s
}

// Combine joins a summary with the records of the same run: the recomputed distributions replace the stated ones,
// disagreements over 1 % are reported, and the zone-safe clock of the records replaces the local one. Records of fewer
// requests than the summary counts are a part only; then the summary stands.
func Combine(summary *schema.Reading, records schema.Reading) {
	if len(summary.Points) != 1 || len(records.Points) != 1 {
		return
	}
	s, rec := &summary.Points[0], records.Points[0]
	total := func(p *schema.Point) (int, int) {
		ok, _ := p.Metrics["requests_ok"].Stats.Get("value")
		bad, _ := p.Metrics["requests_failed"].Stats.Get("value")
		return int(ok), int(bad)
	}
	okS, _ := total(s)
	okR, _ := total(&rec)
	problem := schema.Problem{Severity: schema.SevWarning, Path: records.Points[0].Source.Path}
	if okS != okR {
		problem.Code, problem.Found = "fewer-records", fmt.Sprintf("records of %d completed requests", okR)
		problem.Expected, problem.Used = fmt.Sprintf("%d, as the summary counts", okS), "the summary, not recomputed"
		summary.Problems = append(summary.Problems, problem)
		return
	}
	for _, name := range []string{"ttft", "tpot", "itl", "e2el"} {
		now, old := rec.Metrics[name], s.Metrics[name]
		if len(now.Stats) == 0 {
			continue
		}
		for _, st := range old.Stats {
			x, ok := now.Stats.Get(st.Name)
			if !ok {
				now.Stats.Set(st.Name, st.Value)
			} else if math.Abs(x-st.Value) > .01*math.Max(math.Abs(x), math.Abs(st.Value)) && math.Abs(x-st.Value) > 1e-9 {
				p := problem
				p.Path, p.Code = s.Source.Path, "disagreement"
				p.Found = fmt.Sprintf("%s %s is %.6g, the request records give %.6g", name, st.Name, st.Value, x)
				p.Expected, p.Used = "the two within 1 %", fmt.Sprintf("the recomputed %.6g", x)
				summary.Problems = append(summary.Problems, p)
			}
		}
		s.Metrics[name] = now
	}
	if !rec.Start.IsZero() {
		s.Start, s.End = rec.Start, rec.End
		summary.Facts.Start, summary.Facts.End, summary.Facts.StartNote = rec.Start, rec.End, ""
	}
}
