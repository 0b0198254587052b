package aiperf

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// readRecords computes every statistic from the per-request lines. Without a summary they make a point without a
// stated load and lengths.
func readRecords(f *decode.File, r *schema.Reading) {
	set, start, end, failure := timelines(f, r)
	d := draft.New(f, r, f.First, "aiperf")
	r.Facts.Start, r.Facts.End = start, end
	for _, x := range []struct {
		metric, def, why string
		sample           latency.Sample
	}{
		{"ttft", schema.DefFirstContent, "no request completed", set.TTFT},
		{"tpot", schema.DefExclFirst, "no request completed", set.TPOT},
		{"e2el", schema.DefLastContent, "no request completed", set.E2EL},
		{"itl", schema.DefChunkGap, "no gaps were recorded", set.ITL},
	} {
		m := x.sample.Metric(x.metric, x.def, x.why, x.metric == "itl")
		if x.sample.N() > 0 { // a summary states these beside those of every sample
			for name, p := range map[string]float64{"min": 0, "p90": .9, "p95": .95, "max": 1} {
				m.Stats.Set(name, latency.Round(x.sample.Quantile(p), 7))
			}
		}
		d.Metrics.Put(m)
	}
	if set.OK > 0 && set.DurationS > 0 {
		d.Value("rps", set.RPS())
		d.Value("output_tps", set.OutputTPS())
		if set.In > 0 {
			d.Value("total_tps", set.TotalTPS())
		}
		d.Value("duration_s", set.DurationS)
	}
	ok, failed := float64(set.OK), float64(set.Failed)
	if set.OK > 0 {
		d.Stat("isl", "client-tokenizer", "mean", float64(set.In)/ok)
		d.Stat("osl", "client-tokenizer", "mean", float64(set.Out)/ok)
	}
	if mean, ok := set.TPOT.MeanOf(func(ms float64) (float64, bool) { return 1000 / ms, ms > 0 }); ok {
		d.Stat("tps_user", schema.DefMeanOfRecip, "mean", latency.Round(mean, 7))
	}
	d.Requests(&ok, &failed, nil, draft.Quote(failure))
	for i, m := range d.Metrics {
		d.Metrics[i] = m.Sourced(schema.FromRecomputed)
	}
	d.Done()
}

// timelines reads the lines of the measured phase, when it began and ended, and the first failed request's message.
func timelines(f *decode.File, r *schema.Reading) (set latency.Set, start, end time.Time, failure string) {
	var all latency.Collector
	from, to, first := math.Inf(1), math.Inf(-1), math.Inf(1)
	foreign := 0
	for v := range f.Values() {
		if !isRecord(v) {
			foreign++
			continue
		}
		meta, failed := v.Get("metadata"), v.Get("error")
		if meta.Get("benchmark_phase").Str() == "warmup" || meta.Get("credit_phase").Str() == "warmup" {
			continue
		}
		failure = cmp.Or(failure, failed.Get("message").Str())
		value := func(name string) decode.Value { return v.At("metrics", name, "value") }
		q := latency.Request{
			TTFT: math.NaN(), // absent without streaming
			E2EL: value("request_latency").Float0(),
			In:   count(value("input_sequence_length")), Out: count(value("output_sequence_length")),
		}
		q.ITL, _ = value("inter_chunk_latency").Floats()
		if x := v.Get("metrics").ObjectOr("time_to_first_token", v.At("metrics", "ttft")).Get("value").Ptr(); x != nil {
			q.TTFT = *x
		}
		q.OK = q.E2EL > 0 && !v.Has("error")
		sent := cmp.Or(meta.Get("request_start_ns").Float0(), meta.Get("timestamp_ns").Float0()) // ns since 1970
		if sent > 0 && sent < 9e18 {
			first = math.Min(first, sent)
			if q.OK {
				from, to = math.Min(from, sent), math.Max(to, sent+q.E2EL*1e6)
			}
		}
		all.Add(&q)
	}
	if foreign > 0 {
		draft.Problem(f, r, schema.SevWarning, "foreign-value", decode.Value{},
			fmt.Sprintf("%d lines that are not request records", foreign), "", "the others")
	}
	at := func(ns float64) time.Time { return time.Unix(0, int64(min(ns, 9e18))).UTC().Truncate(time.Second) }
	duration := 0.
	if first < 9e18 { // none may have completed
		start, end = at(first), at(first)
	}
	if to > from {
		duration = (to - from) / 1e9
		start, end = at(from), at(to)
	}
	return all.Set(duration), start, end, failure
}

// count converts a number of tokens; an impossible one is 0.
func count(v decode.Value) int { return int(math.Max(0, math.Min(v.Float0(), 1e12))) }

// Unfinished marks records that no summary stands beside: the tool writes it at the end, so that the run was killed or
// its summary is lost.
func Unfinished(r *schema.Reading) {
	for i := range r.Points {
		p := &r.Points[i]
		if p.Status != schema.StatusOK && p.Status != schema.StatusPartial {
			continue
		}
		p.Status = schema.StatusPartial
		r.Problems = append(r.Problems, schema.Problem{
			Severity: schema.SevWarning, Path: p.Source.Path, Code: "no-summary",
			Found: "request records without the summary that ends a run", Expected: "profile_export_aiperf.json beside them",
			Used: "the requests that were recorded; how many were to come is not known",
			Hint: "the run was killed, or its summary was not copied: add it, or repeat the point",
		})
	}
}

// Combine joins a summary with the records of the same run: the recomputed distributions replace the stated ones,
// differences over 1 % are reported, and the clock of the records replaces the local one. Records of fewer requests
// than the summary counts are incomplete; then the summary counts.
func Combine(summary *schema.Reading, records schema.Reading) {
	if len(summary.Points) != 1 || len(records.Points) != 1 {
		return
	}
	s, rec := &summary.Points[0], records.Points[0]
	stated, _ := s.Value("requests_ok", "value")
	recorded, _ := rec.Value("requests_ok", "value")
	if int(stated) != int(recorded) {
		summary.Problems = append(summary.Problems, schema.Problem{
			Severity: schema.SevWarning, Path: rec.Source.Path, Code: "fewer-records",
			Found:    fmt.Sprintf("records of %d completed requests", int(recorded)),
			Expected: fmt.Sprintf("%d, as the summary counts", int(stated)), Used: "the summary, not recomputed",
		})
		correctZone(summary, s, rec.Start)
		return
	}
	differs := func(format string, now float64, args ...any) {
		summary.Problems = append(summary.Problems, schema.Problem{
			Severity: schema.SevWarning, Path: s.Source.Path, Code: "disagreement",
			Found:    fmt.Sprintf(format+", the request records give %.6g", append(args, now)...),
			Expected: "the two within 1 %", Used: fmt.Sprintf("the recomputed %.6g", now),
		})
	}
	confirm := []string{"isl", "osl", "tps_user"}
	duration, a := s.Value("duration_s", "value")
	now, b := rec.Value("duration_s", "value")
	if !a || b && draft.Disagree(duration, now) { // then the rates that were computed from it are wrong too
		confirm = append([]string{"rps", "output_tps", "total_tps", "duration_s"}, confirm...)
	}
	for _, name := range confirm {
		for _, stat := range []string{"value", "mean"} {
			stated, a := s.Value(name, stat)
			now, b := rec.Value(name, stat)
			if a && b && draft.Disagree(stated, now) {
				m, _ := rec.Metric(name)
				s.Metrics.Put(m)
				differs("%s is %.6g", now, name, stated)
			}
		}
	}
	recomputed(s, rec, differs)
	if !rec.Start.IsZero() {
		s.Start, s.End = rec.Start, rec.End
		summary.Facts.Start, summary.Facts.End, summary.Facts.StartNote = rec.Start, rec.End, ""
	}
}

// recomputed takes the distributions of the records, with the further statistics that the summary states.
func recomputed(s *schema.Point, rec schema.Point, differs func(format string, now float64, args ...any)) {
	for _, name := range []string{"ttft", "tpot", "itl", "e2el"} {
		now, _ := rec.Metric(name)
		if len(now.Stats) == 0 {
			continue
		}
		was, _ := s.Metric(name)
		for _, st := range was.Stats {
			x, ok := now.Stats.Get(st.Name())
			if !ok {
				now.Stats.Set(st.Name(), st.Value)
			} else if draft.Disagree(x, st.Value) {
				differs("%s %s is %.6g", x, name, st.Name(), st.Value)
			}
		}
		s.Metrics.Put(now)
	}
}

// correctZone shifts a summary's local times by the difference to its first record, in whole quarters of an hour.
func correctZone(summary *schema.Reading, s *schema.Point, first time.Time) {
	if s.Start.IsZero() || first.IsZero() {
		return
	}
	offset := first.Sub(s.Start).Round(15 * time.Minute)
	if offset.Abs() > 14*time.Hour || (first.Sub(s.Start)-offset).Abs() > 10*time.Minute {
		return
	}
	s.Start, s.End = s.Start.Add(offset), s.End.Add(offset)
	summary.Facts.Start, summary.Facts.End, summary.Facts.StartNote = s.Start, s.End, "zone by the request records"
}
