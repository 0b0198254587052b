package console

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// breakdown matches "[TPOT] P99    : 206.58", "[TTFT] AVERAGE: 12.5" and "[Latency] P50: 3.5".
var breakdown = regexp.MustCompile(
	`(?i)^\[(ttft|tpot|latency|gtol)\] (minimum|maximum|average|p\d+(?:\.\d+)?)\s*:\s*([\d.eE+]+)$`)

var (
	// trtllmBegan matches what trtllm-bench logs first.
	trtllmBegan = regexp.MustCompile(`Preparing to run (?:throughput|latency) benchmark`)
	// trtllmStamp matches the time before a line of the log.
	trtllmStamp = regexp.MustCompile(`^\[(\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d)\] \[TRT-LLM\]`)
)

// trtllmTime is how the logger writes times, the month first: datefmt of tensorrt_llm/logger.py.
const (
	trtllmTime = "01/02/2006-15:04:05"
	trtllmNote = "by the log, month/day/year as TensorRT-LLM's logger writes it, zone not stated"
)

// span is when a report began and ended by the times of its log.
type span struct{ start, end time.Time }

func (s *span) note(line string) {
	m := trtllmStamp.FindStringSubmatch(line)
	if m == nil {
		return
	}
	if t, err := time.Parse(trtllmTime, m[1]); err == nil {
		if s.end = t; s.start.IsZero() || trtllmBegan.MatchString(line) {
			s.start = t
		}
	}
}

// readTRTLLM reads the reports in a log. Labels and values are parted by a colon.
func readTRTLLM(f *decode.File) schema.Reading {
	r := schema.Reading{Format: TRTLLM, Detail: "output of trtllm-bench"}
	values := map[string]string{}
	has, last := false, ""
	var when span
	flush := func() {
		if has {
			trtllmPoint(f, &r, values, when)
		}
		values, has = map[string]string{}, false
	}
	for raw := range bytes.Lines(f.Data) {
		line := plainLine(raw)
		if trtllmBegan.MatchString(line) {
			flush()
		}
		if when.note(line); line != "" {
			last = line
		}
		if m := breakdown.FindStringSubmatch(line); m != nil {
			values["["+strings.ToLower(m[1])+"] "+strings.ToLower(m[2])] = m[3]
			continue
		}
		label, value, ok := strings.Cut(line, ":")
		if label = strings.ToLower(strings.TrimSpace(label)); !ok || len(label) > 60 {
			continue
		}
		if label == "model" || label == "engine directory" || label == "model path" && values["model"] == "" {
			if has { // the next report
				flush()
			}
		}
		has = has || strings.EqualFold(label+":", trtllmLine)
		if len(values) < 200 {
			values[label] = strings.TrimSpace(value)
		}
	}
	flush()
	r.Detail = fmt.Sprintf("output of trtllm-bench, %d reports", len(r.Points))
	if len(r.Points) == 0 {
		p := f.Problem(schema.SevError, "benchmark-failed", decode.Value{})
		p.Found = "a log of trtllm-bench that ends before its report, with the line" + draft.Quote(last)
		p.Expected, p.Used = trtllmTitle+", which it prints at its end", "no number: the benchmark died, or the log was cut"
		p.Hint = "look at what ended it (memory, time limit), and measure it again"
		r.Problems = append(r.Problems, p)
	}
	return r
}

func trtllmPoint(f *decode.File, r *schema.Reading, values map[string]string, when span) {
	number := func(labels ...string) *float64 {
		for _, l := range labels {
			if x, err := strconv.ParseFloat(strings.TrimRight(values[l], "%"), 64); err == nil && x-x == 0 {
				return &x
			}
		}
		return nil
	}
	d := draft.New(f, r, decode.Value{}, "trtllm-bench")
	trtllmFacts(r, values, when)
	d.Source.ToolVersion, d.Start, d.End = r.Facts.Stack.Version, when.start, when.end
	d.Key.Concurrency = positive(number("concurrency", "max concurrency"))
	in, out := number("average input length (tokens)"), number("average output length (tokens)")
	if in != nil {
		d.Stat("isl", "", "mean", *in)
	}
	if out != nil {
		d.Stat("osl", "", "mean", *out)
	}
	for label, dim := range map[string]string{"tp size": "tp", "pp size": "pp", "ep size": "ep"} {
		if n := number(label); n != nil && *n > 1 {
			d.Dim(dim, strconv.FormatFloat(*n, 'f', -1, 64))
		}
	}
	for metric, x := range map[string]*float64{
		"rps":        number("request throughput (req/sec)"),
		"output_tps": number("total output throughput (tokens/sec)", "token throughput (tokens/sec)"),
		"total_tps":  number("total token throughput (tokens/sec)"),
	} {
		if x != nil {
			d.Value(metric, *x)
		}
	}
	if ms := number("total latency (ms)"); ms != nil {
		d.Value("duration_s", *ms/1000)
	}
	trtllmLatencies(d, values, number)
	if n := number("number of requests"); n != nil {
		d.Condition("num_prompts", strconv.FormatFloat(*n, 'f', -1, 64))
		d.Key.ISL, d.Key.OSL = fixedLength(in, *n), fixedLength(out, *n)
		d.Requests(n, nil, nil, "")
	}
	if rate := number("issue rate (req/sec)"); rate != nil && *rate > 0 && *rate < 1e9 { // at once is about 1e13
		d.Key.Rate = rate
	}
	d.Done()
}

// trtllmFacts reads the identity. Versions before 1.0 write their own under a label with a hyphen.
func trtllmFacts(r *schema.Reading, values map[string]string, when span) {
	f := &r.Facts
	if f.Start.IsZero() && !when.start.IsZero() {
		f.Start, f.StartNote = when.start, trtllmNote
	}
	if when.end.After(f.End) {
		f.End = when.end
	}
	f.Model.ID, f.Model.Precision = strings.TrimSpace(values["model"]), values["quantization"]
	if f.Model.Precision == "" || strings.EqualFold(f.Model.Precision, "none") {
		f.Model.Precision = values["dtype"]
	}
	f.Stack = schema.Stack{
		Engine: "tensorrt-llm", Version: cmp.Or(values["tensorrt llm version"], values["tensorrt-llm version"]),
	}
}

// fixedLength is the length of all requests, where their average to four digits is whole: that of lengths that vary is
// whole for one in n times, so that a few requests say nothing.
func fixedLength(average *float64, n float64) *float64 {
	if average == nil || *average <= 0 || *average != math.Trunc(*average) || n > 1 && n < 20 {
		return nil
	}
	return average
}

func positive(x *float64) *float64 {
	if x == nil || *x <= 0 {
		return nil
	}
	return x
}

func trtllmLatencies(d *draft.Draft, values map[string]string, number func(...string) *float64) {
	for _, x := range []struct{ part, metric, def, mean string }{
		{"[ttft] ", "ttft", schema.DefFirstChunk, "average time-to-first-token [ttft] (ms)"},
		{"[tpot] ", "tpot", schema.DefExclFirst, "average time-per-output-token [tpot] (ms)"},
		{"[latency] ", "e2el", schema.DefLastChunk, "average request latency (ms)"},
	} {
		if mean := number(x.mean, x.part+"average"); mean != nil {
			d.Stat(x.metric, x.def, "mean", *mean)
		}
		for label, text := range values {
			stat, ok := strings.CutPrefix(label, x.part)
			v, err := strconv.ParseFloat(text, 64)
			if !ok || err != nil {
				continue
			}
			switch stat {
			case "average":
			case "minimum", "maximum":
				d.Stat(x.metric, x.def, stat[:3], v)
			case "p50":
				d.Stat(x.metric, x.def, "median", v)
			default:
				d.Stat(x.metric, x.def, stat, v)
			}
		}
	}
}
