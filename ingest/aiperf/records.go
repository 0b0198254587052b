package aiperf

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
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

// record is one line of the per-request records. It is scanned without building its tree, since there may be
// hundreds of thousands, and used again for the next.
type record struct {
	latency.Request
	isOne   bool // it has what every record has
	warmup  bool
	start   float64 // ns since 1970, 0 when not stated
	failure string
	gaps    []float64

	named, measured bool    // it has an id or a phase; it has metrics
	stamped         float64 // another time, for records without that of sending
}

// scan reads a line.
func (l *record) scan(s *decode.Scanner) {
	*l = record{gaps: l.gaps[:0]}
	l.TTFT, l.OK = math.NaN(), true // absent without streaming
	if s.Peek() != decode.Object {
		s.Skip()
		return
	}
	s.Object(func(key []byte) {
		switch string(key) {
		case "metadata":
			eachMember(s, func(key []byte) { l.metadata(s, string(key)) })
		case "metrics":
			l.measured = s.Peek() == decode.Object
			eachMember(s, func(key []byte) { l.metric(s, string(key)) })
		case "error":
			l.OK = l.OK && s.Peek() == decode.Null
			eachMember(s, func(key []byte) {
				if string(key) == "message" {
					l.failure = text(s)
				} else {
					s.Skip()
				}
			})
		default:
			s.Skip()
		}
	})
	if l.start == 0 {
		l.start = l.stamped
	}
	l.isOne, l.ITL = l.named && l.measured, l.gaps
	l.OK = l.OK && l.E2EL > 0
}

// metadata reads what is stated of a request.
func (l *record) metadata(s *decode.Scanner, name string) {
	switch name {
	case "x_request_id":
		l.named = l.named || s.Peek() != decode.Null
		s.Skip()
	case "benchmark_phase", "credit_phase":
		l.named = l.named || s.Peek() != decode.Null
		l.warmup = l.warmup || text(s) == "warmup"
	case "request_start_ns":
		l.start = number(s)
	case "timestamp_ns":
		l.stamped = number(s)
	default:
		s.Skip()
	}
}

// metric reads {"value": …, "unit": …} of a metric that is used.
func (l *record) metric(s *decode.Scanner, name string) {
	switch name {
	case "request_latency", "input_sequence_length", "output_sequence_length", "ttft", "time_to_first_token",
		"inter_chunk_latency":
	default:
		s.Skip()
		return
	}
	eachMember(s, func(key []byte) {
		if string(key) != "value" {
			s.Skip()
			return
		}
		switch name {
		case "request_latency":
			l.E2EL = number(s)
		case "input_sequence_length":
			l.In = count(number(s))
		case "output_sequence_length":
			l.Out = count(number(s))
		case "inter_chunk_latency":
			l.gaps = floats(s, l.gaps[:0])
		default:
			if kind := s.Peek(); kind == decode.Number || kind == decode.String {
				l.TTFT = number(s)
			} else {
				s.Skip()
			}
		}
	})
}

// eachMember visits the members of an object, and skips any other value.
func eachMember(s *decode.Scanner, visit func(key []byte)) {
	if s.Peek() == decode.Object {
		s.Object(visit)
	} else {
		s.Skip()
	}
}

// number reads a finite number, also one that is written as a string; 0 for anything else.
func number(s *decode.Scanner) float64 {
	x := 0.
	switch s.Peek() {
	case decode.Number:
		x = s.Float()
	case decode.String:
		x, _ = strconv.ParseFloat(string(s.Text()), 64)
	default:
		s.Skip()
	}
	if x-x != 0 {
		return 0
	}
	return x
}

// text reads a string; "" for anything else.
func text(s *decode.Scanner) string {
	if s.Peek() == decode.String {
		return string(s.Text())
	}
	s.Skip()
	return ""
}

// floats reads an array of numbers; nothing of one that holds anything else.
func floats(s *decode.Scanner, out []float64) []float64 {
	if s.Peek() != decode.Array {
		s.Skip()
		return out
	}
	whole := true
	s.Array(func() {
		if s.Peek() != decode.Number {
			s.Skip()
			whole = false
			return
		}
		out = append(out, s.Float())
	})
	if !whole {
		return out[:0]
	}
	return out
}

// Sweep is the format of what AIPerf makes of the runs of a sweep: one entry a combination of parameters, each
// statistic with its mean over the trials and the error of that mean. It counts where the runs themselves are not
// there. The table beside it (.csv) states no units; they are those of AIPerf's files. Source:
// orchestrator/aggregation/sweep.py of 0.13.
const (
	Sweep      = "aiperf-sweep"
	SweepTable = "aiperf-sweep-csv"
)

func isSweep(v decode.Value) bool {
	return v.Get("aggregation_type").Str() == "sweep" && v.Get("per_combination_metrics").Len() > 0
}

// sweepColumn is the mean over trials of a statistic, in the table of a sweep.
var sweepColumn = regexp.MustCompile(
	`(^|,)(request_throughput_avg|time_to_first_token_\w+|request_latency_\w+)_mean(,|\r?$)`)

// isSweepTable recognises the header of a sweep's table.
func isSweepTable(header []byte) bool { return sweepColumn.Match(header) }

func readSweep(f *decode.File, m schema.Match) schema.Reading {
	v := f.First
	r := schema.Reading{Format: Sweep, Detail: m.Detail}
	for c := range v.Get("per_combination_metrics").Items() {
		readCombination(f, &r, c)
	}
	if n := v.Get("failed_runs").Len(); n > 0 {
		p := f.Problem(schema.SevWarning, "failed-runs", v.Get("failed_runs"))
		p.Found, p.Used = fmt.Sprintf("%d runs of the sweep failed", n), "the means of the others"
		r.Problems = append(r.Problems, p)
	}
	r.Detail = fmt.Sprintf("aggregate of a sweep, %d combinations", len(r.Points))
	return r
}

// readCombination makes a point of one combination of parameters.
func readCombination(f *decode.File, r *schema.Reading, c decode.Value) {
	d := draft.New(f, r, c, "aiperf")
	for _, p := range c.Get("parameters").Members() {
		switch p.Key {
		case "concurrency":
			d.Key.Concurrency = p.Val.Ptr()
		case "request_rate":
			d.Key.Rate = p.Val.Ptr()
		case "isl", "prompt_input_tokens_mean":
			d.Key.ISL = p.Val.Ptr()
		case "osl", "prompt_output_tokens_mean":
			d.Key.OSL = p.Val.Ptr()
		default:
			d.Dim(p.Key, p.Val.Text())
		}
	}
	for _, m := range c.Get("metrics").Members() {
		t, stat, ok := sweepMetric(m.Key)
		mean, has := m.Val.Get("mean").Float()
		if !ok || !has {
			continue
		}
		ours := schema.Unit(t.name)
		unit := m.Val.Get("unit").Str()
		scale, known := unitScale(unit, ours)
		if unit == "" { // the table of a sweep
			scale, known = 1, true
		}
		if !known {
			p := d.Problem(schema.SevWarning, "unknown-unit", m.Val, fmt.Sprintf("unit %q of %s", unit, m.Key))
			p.Expected, p.Used = ours, "no number of this metric"
			continue
		}
		d.Stat(t.name, t.def, stat, mean*scale)
		if se, ok := m.Val.Get("se").Float(); ok && se > 0 && (stat == "mean" || stat == "value") {
			x := d.Metrics[t.name]
			x.SE = schema.Num(se * scale)
			d.Metrics[t.name] = x
		}
	}
	if len(d.Metrics) == 0 {
		return
	}
	if ok := stat(d, "requests_ok"); ok != nil {
		d.Requests(ok, stat(d, "requests_failed"), nil, "")
	}
	d.Done()
}

// sweepMetric splits "time_to_first_token_p99" into a metric and our name of its statistic.
func sweepMetric(key string) (t tag, stat string, ok bool) {
	key = strings.Replace(strings.TrimSuffix(key, "_ms"), "ttft_", "time_to_first_token_", 1)
	for _, t := range tags() {
		rest, has := strings.CutPrefix(key, t.tag+"_")
		if !has {
			continue
		}
		switch {
		case t.stat != "" && rest == "avg":
			return t, t.stat, true
		case t.stat == "" && statName(rest) != "":
			return t, statName(rest), true
		}
	}
	return tag{}, "", false
}

// readSweepTable reads the first table of a sweep's CSV; what follows the empty line repeats it.
func readSweepTable(f *decode.File, m schema.Match) schema.Reading {
	r := schema.Reading{Format: SweepTable, Detail: m.Detail}
	lines := csv.NewReader(bytes.NewReader(f.Data))
	lines.FieldsPerRecord = -1
	header, err := lines.Read()
	for err == nil {
		var row []string
		if row, err = lines.Read(); err != nil || len(row) != len(header) {
			break
		}
		combination, problem := combinationOf(header, row)
		if problem != nil {
			r.Problems = append(r.Problems, *problem)
			break
		}
		readCombination(f, &r, combination)
	}
	r.Detail = fmt.Sprintf("table of a sweep, %d combinations", len(r.Points))
	return r
}

// combinationOf puts a row of the table into the form of the aggregate.
func combinationOf(header, row []string) (decode.Value, *schema.Problem) {
	parameters, metrics := map[string]any{}, map[string]map[string]float64{}
	for i, cell := range row {
		x, err := strconv.ParseFloat(cell, 64)
		name, isMean := strings.CutSuffix(header[i], "_mean")
		_, _, known := sweepMetric(name)
		switch {
		case isMean && known && err == nil && x-x == 0:
			metrics[name] = map[string]float64{"mean": x}
		case !strings.Contains(header[i], "_avg") && !isStatistic.MatchString(header[i]) && cell != "":
			parameters[header[i]] = cell
		}
	}
	text, err := json.Marshal(map[string]any{"parameters": parameters, "metrics": metrics})
	if err != nil {
		return decode.Value{}, &schema.Problem{Severity: schema.SevWarning, Code: "bad-table", Found: err.Error()}
	}
	return decode.Document("", text)
}

// isStatistic matches the columns of a metric over the trials.
var isStatistic = regexp.MustCompile(`_(mean|std|min|max|cv)$`)
