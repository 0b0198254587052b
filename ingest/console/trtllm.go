package console

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// breakdown matches "[TPOT] P99    : 206.58", "[TTFT] AVERAGE: 12.5" and "[Latency] P50: 3.5".
var breakdown = regexp.MustCompile(
	`(?i)^\[(ttft|tpot|latency|gtol)\] (minimum|maximum|average|p\d+(?:\.\d+)?)\s*:\s*([\d.eE+]+)$`)

// readTRTLLM reads the reports in a log. Labels and values are parted by a colon.
func readTRTLLM(f *decode.File) schema.Reading {
	r := schema.Reading{Format: TRTLLM, Detail: "output of trtllm-bench"}
	values := map[string]string{}
	has := false
	flush := func() {
		if has {
			trtllmPoint(f, &r, values)
		}
		values, has = map[string]string{}, false
	}
	for raw := range bytes.Lines(f.Data) {
		line := plainLine(raw)
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
	return r
}

func trtllmPoint(f *decode.File, r *schema.Reading, values map[string]string) {
	number := func(labels ...string) *float64 {
		for _, l := range labels {
			if x, err := strconv.ParseFloat(strings.TrimRight(values[l], "%"), 64); err == nil && x-x == 0 {
				return &x
			}
		}
		return nil
	}
	d := draft.New(f, r, decode.Value{}, "trtllm-bench")
	d.Source.ToolVersion = values["tensorrt llm version"]
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
	}
	r.Facts.Model.ID = strings.TrimSpace(values["model"])
	r.Facts.Stack = schema.Stack{Engine: "tensorrt-llm", Version: values["tensorrt llm version"]}
	d.Done()
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
