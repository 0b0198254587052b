package aiperf

import (
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
func readRecords(f *decode.File) schema.Reading {
	r := schema.Reading{Format: Records, Detail: "per-request records"}
	t := timelines(f, &r)
	d := draft.New(f, &r, f.First, "aiperf")
	d.Start, d.End = t.start, t.end
	r.Facts.Start, r.Facts.End = t.start, t.end
	const why = "no request completed"
	for name, s := range map[string]latency.Sample{"ttft": t.set.TTFT, "tpot": t.set.TPOT, "e2el": t.set.E2EL} {
		m := s.Metric("ms", defOf(name), why)
		m.Quantiles = s.Sketch()
		tails(&m, s)
		d.Metrics[name] = m
	}
	itl := t.set.ITL.Metric("ms", schema.DefChunkGap, "no gaps were recorded")
	tails(&itl, t.set.ITL)
	itl.CI, itl.SE = nil, schema.Missing("gaps are not independent")
	d.Metrics["itl"] = itl
	if t.set.OK > 0 && t.set.DurationS > 0 {
		d.Value("rps", t.set.RPS())
		d.Value("output_tps", t.set.OutputTPS())
		if t.set.In > 0 {
			d.Value("total_tps", t.set.TotalTPS())
		}
		d.Value("duration_s", t.set.DurationS)
	}
	if t.set.OK > 0 {
		d.Stat("isl", "client-tokenizer", "mean", float64(t.set.In)/float64(t.set.OK))
		d.Stat("osl", "client-tokenizer", "mean", float64(t.set.Out)/float64(t.set.OK))
	}
	if mean, ok := t.set.TPOT.MeanOf(func(ms float64) (float64, bool) { return 1000 / ms, ms > 0 }); ok {
		d.Stat("tps_user", schema.DefMeanOfRecip, "mean", latency.Round(mean, 7))
	}
	ok, failed := float64(t.set.OK), float64(t.set.Failed)
	d.Requests(&ok, &failed, nil, draft.Quote(t.failure))
	for name, m := range d.Metrics {
		m.From = schema.FromRecomputed
		d.Metrics[name] = m
	}
	d.Done()
	return r
}

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

// tails adds the statistics that a summary states beside those of every sample.
func tails(m *schema.Metric, s latency.Sample) {
	if s.N() == 0 {
		return
	}
	for name, p := range map[string]float64{"min": 0, "p90": .9, "p95": .95, "max": 1} {
		m.Stats.Set(name, latency.Round(s.Quantile(p), 7))
	}
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

// timed holds the lines of the measured phase.
type timed struct {
	set        latency.Set
	start, end time.Time
	failure    string // the first failed request's message
}

func timelines(f *decode.File, r *schema.Reading) timed {
	var t timed
	var all latency.Collector
	from, to, first := math.Inf(1), math.Inf(-1), math.Inf(1)
	foreign := 0
	var l record
	f.Each(func(s *decode.Scanner) {
		if l.scan(s); s.Err() != nil {
			return
		}
		if !l.isOne {
			foreign++
			return
		}
		if l.warmup {
			return
		}
		if t.failure == "" {
			t.failure = l.failure
		}
		if l.start > 0 && l.start < 9e18 {
			first = math.Min(first, l.start)
			if l.OK {
				from, to = math.Min(from, l.start), math.Max(to, l.start+l.E2EL*1e6)
			}
		}
		all.Add(&l.Request)
	})
	if foreign > 0 {
		r.Problems = append(r.Problems, schema.Problem{
			Severity: schema.SevWarning, Path: f.Path, Code: "foreign-value",
			Found: fmt.Sprintf("%d lines that are not request records", foreign), Used: "the others",
		})
	}
	duration := 0.
	if first < 9e18 { // none may have completed
		t.start = time.Unix(0, int64(first)).UTC().Truncate(time.Second)
		t.end = t.start
	}
	if to > from {
		duration = (to - from) / 1e9
		t.start, t.end = time.Unix(0, int64(from)).UTC().Truncate(time.Second),
			time.Unix(0, int64(min(to, 9e18))).UTC().Truncate(time.Second)
	}
	t.set = all.Set(duration)
	return t
}

// count converts a number of tokens; an impossible one is 0.
func count(x float64) int { return int(math.Max(0, math.Min(x, 1e12))) }

// Combine joins a summary with the records of the same run: the recomputed distributions replace the stated ones,
// differences over 1 % are reported, and the clock of the records replaces the local one. Records of fewer requests
// than the summary counts are incomplete; then the summary counts.
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
		correctZone(summary, s, rec.Start)
		return
	}
	confirmDuration(summary, s, rec)
	for _, name := range []string{"isl", "osl", "tps_user"} {
		confirm(summary, s, rec, name)
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

// confirmDuration takes the duration and the rates of the records where the two disagree on the duration: then the
// summary's is wrong, and with it the rates that were computed from it.
func confirmDuration(summary *schema.Reading, s *schema.Point, rec schema.Point) {
	stated, a := s.Metrics["duration_s"].Stats.Get("value")
	now, b := rec.Metrics["duration_s"].Stats.Get("value")
	if a && (!b || !draft.Disagree(stated, now)) {
		return
	}
	for _, name := range []string{"rps", "output_tps", "total_tps", "duration_s"} {
		confirm(summary, s, rec, name)
	}
}

// confirm compares a single number of a summary with that of its records, and takes that where they disagree.
func confirm(summary *schema.Reading, s *schema.Point, rec schema.Point, name string) {
	stat := "value"
	if _, one := s.Metrics[name].Stats.Get(stat); !one {
		stat = "mean"
	}
	stated, a := s.Metrics[name].Stats.Get(stat)
	now, b := rec.Metrics[name].Stats.Get(stat)
	if !a || !b || !draft.Disagree(stated, now) {
		return
	}
	s.Metrics[name] = rec.Metrics[name]
	summary.Problems = append(summary.Problems, schema.Problem{
		Severity: schema.SevWarning, Path: s.Source.Path, Code: "disagreement",
		Found:    fmt.Sprintf("%s is %.6g, the request records give %.6g", name, stated, now),
		Expected: "the two within 1 %", Used: fmt.Sprintf("the recomputed %.6g", now),
	})
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
