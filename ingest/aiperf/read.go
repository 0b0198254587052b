package aiperf

import (
	"fmt"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/redact"
)

// Read reads a summary, records, or names what else the file is.
func Read(f *decode.File) schema.Reading {
	v := f.Doc.Values[0]
	switch {
	case isRecord(v):
		return readRecords(f)
	case aside(v) != "":
		return schema.Reading{Format: Aside, Detail: "not a result: " + aside(v)}
	}
	return readSummary(f, v)
}

// mapping from AIPerf's tags to canonical metrics; stat "" means the distribution, else the single value's name.
var tags = []struct{ tag, name, unit, def, stat string }{
	{"time_to_first_token", "ttft", "ms", schema.DefFirstContent, ""},
	{"inter_token_latency", "tpot", "ms", schema.DefExclFirst, ""},
	{"inter_chunk_latency", "itl", "ms", schema.DefChunkGap, ""},
	{"request_latency", "e2el", "ms", schema.DefLastContent, ""},
	{"output_token_throughput_per_user", "tps_user", "tok/s", schema.DefMeanOfRecip, "mean"},
	{"output_token_throughput", "output_tps", "tok/s", "", "value"},
	{"total_token_throughput", "total_tps", "tok/s", "", "value"},
	{"request_throughput", "rps", "req/s", "", "value"},
	{"goodput", "goodput_rps", "req/s", "", "value"},
	{"request_count", "requests_ok", "req", "", "value"},
	{"error_request_count", "requests_failed", "req", "", "value"},
	{"input_sequence_length", "isl", "tok", "client-tokenizer", "mean"},
	{"output_sequence_length", "osl", "tok", "client-tokenizer", "mean"},
	{"benchmark_duration", "duration_s", "s", "", "value"},
}

// statNames maps AIPerf's statistics to ours. p1, p5, p10, p25 and p75 are left in the raw file.
var statNames = []struct{ theirs, ours string }{
	{"avg", "mean"}, {"p50", "median"}, {"std", "std"}, {"min", "min"}, {"max", "max"},
	{"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"},
}

func readSummary(f *decode.File, v decode.Value) schema.Reading {
	r := schema.Reading{Format: Format, Detail: eraOf(v)}
	metrics := v
	if rec := v.Get("records"); rec.Kind() == decode.Object {
		metrics = rec
	}
	p := schema.Point{Status: schema.StatusOK, Metrics: map[string]schema.Metric{}, Conditions: map[string]string{}, Source: f.Source(Format)}
	p.Source.ToolVersion = v.Get("aiperf_version").Str()
	for _, t := range tags {
		block := metrics.Get(t.tag)
		if block.Kind() != decode.Object && t.tag == "time_to_first_token" {
			block = metrics.Get("ttft")
		}
		if block.Kind() != decode.Object {
			continue
		}
		if m, ok := metric(f, block, t.unit, t.def, t.stat, &r); ok {
			p.Metrics[t.name] = m
		}
	}
	c := configOf(v)
	p.Key, p.Conditions = c.key(), c.conditions()
	c.lengths(f, &p, &r)
	p.Command = redact.Argv(c.argv)
	r.Facts = c.facts()
	p.Start, p.End = r.Facts.Start, r.Facts.End
	judge(f, v, &p, &r)
	r.Points = []schema.Point{p}
	return r
}

// metric reads one block {unit, avg, p50 …}; null statistics are absent ones.
func metric(f *decode.File, block decode.Value, unit, def, single string, r *schema.Reading) (schema.Metric, bool) {
	scale, ok := unitScale(block.Get("unit").Str(), unit)
	if !ok {
		p := f.Problem(schema.SevWarning, "unknown-unit", block.Get("unit"))
		p.Found, p.Expected, p.Used = fmt.Sprintf("unit %q", block.Get("unit").Text()), unit, "no number of this metric"
		r.Problems = append(r.Problems, p)
		return schema.Metric{}, false
	}
	m := schema.Metric{Unit: unit, Def: def}
	if single != "" {
		if x, ok := block.Get("avg").Float(); ok {
			m.Stats.Set(single, x*scale)
		}
		return m, len(m.Stats) > 0
	}
	for _, s := range statNames {
		if x, ok := block.Get(s.theirs).Float(); ok {
			m.Stats.Set(s.ours, x*scale)
		}
	}
	if n, ok := block.Get("count").Int(); ok {
		m.N = n
	}
	return m, len(m.Stats) > 0
}

// unitScale converts AIPerf's spellings; the unit beside the number is the authority.
func unitScale(theirs, ours string) (float64, bool) {
	t := strings.ToLower(theirs)
	switch ours {
	case "ms":
		switch t {
		case "ms", "milliseconds":
			return 1, true
		case "s", "sec", "seconds":
			return 1000, true
		case "us", "microseconds":
			return 1e-3, true
		case "ns", "nanoseconds":
			return 1e-6, true
		}
	case "s":
		switch t {
		case "s", "sec", "seconds":
			return 1, true
		case "ms":
			return 1e-3, true
		case "ns":
			return 1e-9, true
		}
	case "tok/s":
		return 1, strings.HasPrefix(t, "tokens/s")
	case "req/s":
		return 1, strings.HasPrefix(t, "requests/s")
	case "req":
		return 1, strings.HasPrefix(t, "request") || t == "count" || t == ""
	case "tok":
		return 1, strings.HasPrefix(t, "token") || t == "count"
	}
	return 0, false
}

// judge decides the point's status from the counts and the errors that the file lists.
func judge(f *decode.File, v decode.Value, p *schema.Point, r *schema.Reading) {
	ok, failed, haveOK := requests(v, p)
	add := func(sev, code, found, used, hint string) {
		q := f.Problem(sev, code, v.Get("error_summary"))
		q.Found, q.Used, q.Hint = found, used, hint
		r.Problems = append(r.Problems, q)
	}
	what := reportedError(v)
	switch {
	case (haveOK && ok == 0) || (!haveOK && failed > 0):
		p.Status = schema.StatusFailed
		for _, t := range []string{"ttft", "tpot", "e2el", "output_tps"} {
			p.Metrics[t] = schema.Metric{Unit: unitOf(t), Why: "no request completed"}
		}
		add(schema.SevError, "all-failed", "no request completed"+what, "no number", "look at the server's log of this point")
	case failed > 0:
		p.Status = schema.StatusPartial
		add(schema.SevWarning, "partly-failed", fmt.Sprintf("%.0f of %.0f requests failed%s", failed, ok+failed, what), "the statistics of those that completed", "")
	}
	if cancelled, _ := v.Get("was_cancelled").Truth(); cancelled {
		if p.Status == schema.StatusOK {
			p.Status = schema.StatusPartial
		}
		add(schema.SevWarning, "cancelled", "the run was cancelled before its end", "what was measured until then", "repeat the point")
	}
	if reasons := v.Get("runtime_submission_invalid_reasons"); reasons.Len() > 0 {
		p.Status = schema.StatusInvalid
		add(schema.SevError, "invalid-by-tool", "AIPerf calls the run invalid: "+reasons.List()[0].Text(), "no verdict", "")
	}
}

// requests counts what completed and what failed, and completes the point's metrics by it: versions that state no failures
// list them. haveOK is false where no count of completed requests is stated.
func requests(v decode.Value, p *schema.Point) (ok, failed float64, haveOK bool) {
	ok, haveOK = p.Metrics["requests_ok"].Stats.Get("value")
	failed, haveFailed := p.Metrics["requests_failed"].Stats.Get("value")
	if !haveFailed {
		for _, e := range v.Get("error_summary").List() {
			n, _ := e.Get("count").Float()
			failed += n
		}
		m := schema.Metric{Unit: "req", From: "derived"}
		m.Stats.Set("value", failed)
		p.Metrics["requests_failed"] = m
	}
	if failed > 0 {
		m := schema.Metric{Unit: "%", From: "derived"}
		m.Stats.Set("value", 100*failed/(ok+failed))
		p.Metrics["error_rate"] = m
	}
	for _, name := range []string{"ttft", "e2el"} {
		if m, has := p.Metrics[name]; has && m.N == 0 {
			m.N = int(ok)
			p.Metrics[name] = m
		}
	}
	return ok, failed, haveOK
}

// reportedError is the first failure in the file's own words, after a colon; "" where it lists none.
func reportedError(v decode.Value) string {
	list := v.Get("error_summary").List()
	if len(list) == 0 {
		return ""
	}
	what := []rune(redact.Text(list[0].At("error_details", "message").Str()))
	if len(what) > 160 {
		what = append(what[:160], '…')
	}
	return ": " + string(what)
}

func unitOf(name string) string {
	info, _ := schema.MetricByName(name)
	return info.Unit
}

// parseLocal reads AIPerf's naive local time stamps.
func parseLocal(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC().Truncate(time.Second)
		}
	}
	return time.Time{}
}
