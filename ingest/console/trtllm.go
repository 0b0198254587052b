package console

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

var (
	// trtllmBegan matches what trtllm-bench logs first.
	trtllmBegan = lazyregexp.New(`Preparing to run (?:throughput|latency) benchmark`)
	// trtllmStamp matches the time before a line of the log.
	trtllmStamp = lazyregexp.New(`^\[(\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d)\] \[TRT-LLM\]`)
)

const trtllmNote = "by the log, month/day/year as TensorRT-LLM's logger writes it, zone not stated"

// trtllmTime is the time of a line of the log, as the logger writes it, the month first: datefmt of
// tensorrt_llm/logger.py. Of any other line it is zero.
func trtllmTime(line string) (t time.Time) {
	if m := trtllmStamp.FindStringSubmatch(line); m != nil {
		t, _ = time.Parse("01/02/2006-15:04:05", m[1])
	}
	return t
}

// readTRTLLM reads the reports in a log, of one model or several. Labels and values are parted by a colon.
func readTRTLLM(f *decode.File, r *schema.Reading) {
	runs := draft.RunsOf[[3]string](r)
	values, reports := map[string]string{}, 0
	has, begun, last := false, false, ""
	var died []string        // what runs without a report said last
	var start, end time.Time // of a report, by the times of its log
	flush := func() {
		if has {
			trtllmPoint(f, runs, values, start, end)
			reports++
			begun = false
		}
		values, has = map[string]string{}, false
	}
	for raw := range bytes.Lines(f.Data) {
		line := plainLine(raw)
		begins := trtllmBegan.MatchString(line)
		if begins {
			if flush(); begun {
				died = append(died, last)
			}
			begun = true
		}
		if t := trtllmTime(line); !t.IsZero() {
			if end = t; start.IsZero() || begins {
				start = t
			}
		}
		last = cmp.Or(line, last)
		label, value := labelled(line)
		if has && begin(label, values["model"]) {
			flush() // the next report
		}
		has = has || strings.EqualFold(label+":", trtllmLine)
		if label != "" && len(values) < 200 {
			values[label] = value
		}
	}
	if flush(); begun {
		died = append(died, last)
	}
	runs.Join(fmt.Sprintf("output of trtllm-bench, %d reports", reports))
	tellDied(f, r, died, reports > 0)
}

// tellDied reports the runs that ended before their report, by what each said last.
func tellDied(f *decode.File, r *schema.Reading, died []string, hasReports bool) {
	severity, what := schema.SevError, "a log"
	if hasReports {
		severity, what = schema.SevWarning, "a run"
	}
	for _, last := range died {
		draft.Problem(f, r, severity, "benchmark-failed", decode.Value{},
			what+" of trtllm-bench that ends before its report, with the line"+draft.Quote(last),
			trtllmTitle+", which it prints at its end", "no number: the benchmark died, or the log was cut",
			"look at what ended it (memory, time limit), and measure it again")
	}
}

// begin reports a label with which a report begins; model is what it has said so far.
func begin(label, model string) bool {
	return label == "model" || label == "engine directory" || label == "model path" && model == ""
}

// trtllmBreakdown are the lines "[TPOT] P99    : 206.58", "[TTFT] AVERAGE: 12.5" and "[Latency] P50: 3.5".
var trtllmBreakdown = draft.Table("ttft first-chunk: [ttft] {}", "tpot excl-first: [tpot] {}",
	"e2el last-chunk: [latency] {}")

func trtllmPoint(f *decode.File, runs *draft.Runs[[3]string], values map[string]string, start, end time.Time) {
	v := decode.Of(values)
	facts := schema.Facts{Stack: schema.Stack{ // versions before 1.0 write their own under a label with a hyphen
		Engine: "tensorrt-llm", Version: cmp.Or(values["tensorrt llm version"], values["tensorrt-llm version"]),
	}}
	facts.Model.ID, facts.Model.Precision = strings.TrimSpace(values["model"]), values["quantization"]
	if facts.Model.Precision == "" || strings.EqualFold(facts.Model.Precision, "none") {
		facts.Model.Precision = values["dtype"]
	}
	r := runs.Of([3]string{facts.Model.ID, facts.Model.Precision, facts.Stack.Version}, facts)
	if r.Facts.Widen(start, end, trtllmNote); start.IsZero() {
		r.Facts.StartNote = ""
	}
	d := draft.New(f, r, v, "trtllm-bench")
	d.Source.ToolVersion, d.Start, d.End = r.Facts.Stack.Version, start, end
	d.Flat(v, trtllmBreakdown)
	d.Fields(v, map[string]string{ // also the means, which have more digits here
		"key concurrency": "concurrency|max concurrency",
		"isl":             "average input length (tokens)", "osl": "average output length (tokens)",
		"rps":              "request throughput (req/sec)",
		"output_tps":       "total output throughput (tokens/sec)|token throughput (tokens/sec)",
		"total_tps":        "total token throughput (tokens/sec)",
		"ttft first-chunk": "average time-to-first-token [ttft] (ms)",
		"tpot excl-first":  "average time-per-output-token [tpot] (ms)",
		"e2el last-chunk":  "average request latency (ms)", "duration_s ms": "total latency (ms)",
		"degree tp": "tp size", "degree pp": "pp size", "degree ep": "ep size",
	})
	if n := v.Number("number of requests"); n != nil {
		d.Condition("num_prompts", strconv.FormatFloat(*n, 'f', -1, 64))
		d.Key.ISL = fixedLength(v.Number("average input length (tokens)"), *n)
		d.Key.OSL = fixedLength(v.Number("average output length (tokens)"), *n)
		d.Requests(n, nil, nil, "")
	}
	if rate := v.Number("issue rate (req/sec)"); rate != nil && *rate > 0 && *rate < 1e9 { // at once is about 1e13
		d.Key.Rate = rate
	}
	d.Done()
}

// fixedLength is the length of all requests, where their average to four digits is whole: that of lengths that vary is
// whole for one in n times, so that a few requests say nothing.
func fixedLength(average *float64, n float64) *float64 {
	if average == nil || *average <= 0 || *average != math.Trunc(*average) || n > 1 && n < 20 {
		return nil
	}
	return average
}
