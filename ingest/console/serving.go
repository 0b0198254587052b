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

// latency matches "Mean TTFT (ms)" and "P99 E2E Latency (ms)".
var latency = regexp.MustCompile(
	`(?i)^(mean|median|std|min|max|p\d+(?:\.\d+)?) (ttft|tpot|itl|e2el|e2e latency) \(ms\)$`)

// block is one printed result.
type block struct {
	values map[string]string // by label, in lower case
	args   map[string]string // of the Namespace before it
	line   int
	whole  bool
}

// readServing goes through a log: arguments, then what is said before the run, then the block.
func readServing(f *decode.File) schema.Reading {
	r := schema.Reading{Format: Serving, Detail: "output of a load test"}
	before := map[string]string{}
	var args map[string]string
	var open *block
	var lines joined
	n := 0
	for raw := range bytes.Lines(f.Data) {
		n++
		line, ended := lines.add(plainLine(raw))
		if !ended {
			continue
		}
		switch {
		case strings.Contains(line, servingTitle):
			if open != nil {
				open.point(f, &r)
			}
			open = &block{values: before, args: args, line: n}
			before, args = map[string]string{}, nil // of this run alone
		case open != nil && strings.HasPrefix(line, "==="):
			open.whole = true
			open.point(f, &r)
			open = nil
		case strings.Contains(line, "Namespace("):
			args = namespace(line)
		case open == nil && client.MatchString(line):
			args = command(line)
		default:
			label, value, ok := strings.Cut(line, ":")
			if label = strings.ToLower(strings.TrimSpace(label)); !ok || len(label) > 60 {
				continue
			}
			if open != nil {
				open.values[label] = strings.TrimSpace(value)
			} else if len(before) < 50 {
				before[label] = strings.TrimSpace(value)
			}
		}
		if len(r.Points) > f.Limits().Results {
			break // the load says so
		}
	}
	if open != nil {
		open.point(f, &r)
	}
	r.Detail = fmt.Sprintf("output of %d load tests", len(r.Points))
	return r
}

// plainLine is a line without a comment sign, and without what a progress bar wrote over before it.
func plainLine(raw []byte) string {
	raw = bytes.TrimRight(raw, "\r\n")
	if i := bytes.LastIndexByte(raw, '\r'); i >= 0 {
		raw = raw[i+1:]
	}
	return strings.TrimSpace(strings.TrimLeft(string(raw), "#> \t"))
}

// number is a value of the block.
func (b *block) number(label string) *float64 {
	x, err := strconv.ParseFloat(strings.ReplaceAll(b.values[label], ",", ""), 64)
	if err != nil || x-x != 0 { // inf is no rate
		return nil
	}
	return &x
}

func (b *block) point(f *decode.File, r *schema.Reading) {
	tool, defs := "vllm", map[string]string{
		"ttft": schema.DefFirstChunk, "tpot": schema.DefExclFirst, "itl": schema.DefChunkGap, "e2el": schema.DefLastChunk,
	}
	if _, sglang := b.values["mean e2e latency (ms)"]; sglang {
		tool = "sglang"
		defs["ttft"], defs["e2el"] = schema.DefFirstContent, schema.DefLastContent
	}
	d := draft.New(f, r, decode.Value{}, tool)
	d.Key.Concurrency = firstOf(b.number("maximum request concurrency"), b.number("max request concurrency"))
	d.Key.Rate = firstOf(b.number("request rate configured (rps)"), b.number("traffic request rate"))
	if b.values["traffic request rate"] == "trace" {
		d.Dim(schema.DimArrivals, "trace")
	}
	d.Condition("client", b.values["backend"])
	b.arguments(d, tool)
	b.burstiness(d)
	b.latencies(d, defs)
	b.numbers(d)
	ok := b.number("successful requests")
	for metric, label := range map[string]string{"isl": "total input tokens", "osl": "total generated tokens"} {
		if total := b.number(label); total != nil && ok != nil && *ok > 0 {
			d.Derived(metric, "", "mean", *total / *ok)
		}
	}
	d.Requests(ok, b.number("failed requests"), asked(b.args), "")
	if !b.whole && d.Status == schema.StatusOK {
		d.Status = schema.StatusPartial
		r.Problems = append(r.Problems, schema.Problem{
			Severity: schema.SevWarning, Path: f.Path, Line: b.line, Code: "truncated",
			Found: "a printed result without its last line", Used: "what was printed",
		})
	}
	d.Done()
}

// latencies reads the statistics of latencies.
func (b *block) latencies(d *draft.Draft, defs map[string]string) {
	for label, text := range b.values {
		m := latency.FindStringSubmatch(label)
		x, err := strconv.ParseFloat(text, 64)
		if m == nil || err != nil {
			continue
		}
		metric, stat := strings.Replace(m[2], "e2e latency", "e2el", 1), m[1]
		if stat == "p50" {
			stat = "median"
		}
		d.Stat(metric, defs[metric], stat, x)
	}
}

// numbers reads what is one number in the block: rates, the duration, and what has no name of ours.
func (b *block) numbers(d *draft.Draft) {
	for metric, label := range map[string]string{
		"rps": "request throughput (req/s)", "output_tps": "output token throughput (tok/s)",
		"total_tps": "total token throughput (tok/s)", "goodput_rps": "request goodput (req/s)",
		"duration_s": "benchmark duration (s)",
	} {
		if x := b.number(label); x != nil {
			d.Value(metric, *x)
		}
	}
	for name, label := range map[string]string{
		"max_output_tokens_per_s": "peak output token throughput (tok/s)",
		"max_concurrent_requests": "peak concurrent requests", "concurrency": "concurrency",
		"input_throughput": "input token throughput (tok/s)", "accept_length": "accept length",
		"spec_decode_acceptance_rate": "acceptance rate (%)", "spec_decode_acceptance_length": "acceptance length",
		"total_output_tokens_retokenized": "total generated tokens (retokenized)",
		"total_input_vision_tokens":       "total input vision tokens",
		"rtfx":                            "rtfx (inverse real-time factor)",
	} {
		if x := b.number(label); x != nil {
			d.KeepNumber(name, *x)
		}
	}
}

func firstOf(list ...*float64) *float64 {
	for _, x := range list {
		if x != nil {
			return x
		}
	}
	return nil
}

func asked(args map[string]string) *float64 {
	x, err := strconv.ParseFloat(args["num_prompts"], 64)
	if err != nil {
		return nil
	}
	return &x
}
