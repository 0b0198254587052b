package console

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Serving = "serving-console"
	TRTLLM  = "trtllm-bench-console"
)

const (
	servingTitle = "Serving Benchmark Result ==="
	trtllmTitle  = "= PERFORMANCE OVERVIEW"
	trtllmLine   = "Request Throughput (req/sec):"
	trtllmLog    = "[TRT-LLM]"
)

// Detect looks for the title of a block in a text, and for a line that every block has.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Serving, Detail: "output of a load test"}}
	if f.Form != decode.Text {
		m.Lacks = []string{"a text"}
		return m.Match
	}
	if bytes.Contains(f.Data, []byte(trtllmTitle)) {
		m.Format = TRTLLM
		m.Want(bytes.Contains(f.Data, []byte(trtllmLine)), trtllmLine)
		return m.Match
	}
	if trtllmBegan.Match(f.Data) && bytes.Contains(f.Data, []byte(trtllmLog)) {
		m.Format, m.Detail = TRTLLM, "trtllm-bench without its report"
		m.Want(true, "Preparing to run throughput benchmark")
		return m.Match
	}
	m.Want(bytes.Contains(f.Data, []byte(servingTitle)), "===== Serving Benchmark Result =====")
	m.Want(bytes.Contains(f.Data, []byte("Successful requests:")), "Successful requests:")
	return m.Match
}

// Read returns a point for each block.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	if m.Format == TRTLLM {
		return readTRTLLM(f)
	}
	return readServing(f)
}

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

// client matches the command of a load test: vLLM's, its older script, sglang's.
var client = regexp.MustCompile(
	`(?:\bvllm bench serve|\bbenchmark_serving\.py|\bsglang\.bench_serving|\bbench_serving\.py)\s+(-.*)$`)

// Limits of a command that goes over several lines.
const (
	longestCommand = 8000
	aliasInput     = "random_input"
	aliasOutput    = "random_output"
)

// command reads the arguments of a load test's command, as a script or a report prints it above the result. An argument
// with a variable of the shell is left out: nobody knows its value. nil for any other line.
func command(line string) map[string]string {
	m := client.FindStringSubmatch(line)
	if m == nil || len(line) > longestCommand {
		return nil
	}
	out := map[string]string{}
	name := ""
	for _, w := range shellWords(m[1]) {
		flag, isFlag := strings.CutPrefix(w, "--")
		switch {
		case isFlag:
			var value string
			var has bool
			name, value, has = strings.Cut(flag, "=")
			name = strings.ReplaceAll(name, "-", "_")
			switch name {
			case aliasInput, aliasOutput:
				name += "_len"
			}
			out[name] = "True"
			if has {
				set(out, name, value)
				name = ""
			}
		case name != "":
			set(out, name, w)
			name = ""
		}
	}
	return out
}

func set(args map[string]string, name, value string) {
	if strings.ContainsAny(value, "$`") {
		delete(args, name)
		return
	}
	args[name] = value
}

// shellWords splits a command at blanks outside of quotes, up to where the shell ends it.
func shellWords(text string) []string {
	var out []string
	var word strings.Builder
	quote, in := byte(0), false
	end := func() {
		if in {
			out = append(out, word.String())
		}
		word.Reset()
		in = false
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			end()
		case quote == 0 && strings.IndexByte("|;&>", c) >= 0:
			end()
			return out
		default:
			word.WriteByte(c)
			in = true
		}
	}
	end()
	return out
}

// joined joins lines that end in a backslash.
type joined struct{ before string }

// add returns the whole line, or ok false while it goes on.
func (j *joined) add(line string) (whole string, ok bool) {
	rest, more := strings.CutSuffix(line, `\`)
	if more && len(j.before) < longestCommand {
		j.before += rest + " "
		return "", false
	}
	whole, j.before = j.before+line, ""
	return whole, true
}

// namespace reads Namespace(name=value, …) as Python prints it: texts in quotes, lists and objects in brackets.
func namespace(line string) map[string]string {
	_, rest, _ := strings.Cut(line, "Namespace(")
	out := map[string]string{}
	for rest != "" && len(out) < 500 {
		name, after, ok := strings.Cut(rest, "=")
		if !ok {
			break
		}
		var value string
		value, rest = argument(after)
		out[strings.TrimSpace(name)] = strings.Trim(value, `'"`)
	}
	return out
}

// argument cuts the next value off: up to a comma or the closing bracket, outside of quotes and brackets.
func argument(text string) (value, rest string) {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case strings.IndexByte(")]}>", c) >= 0:
			if depth--; depth < 0 {
				return text[:i], ""
			}
		case c == ',' && depth == 0:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// arguments fills the workload from the arguments of the client.
func (b *block) arguments(d *draft.Draft, tool string) {
	is := func(name string) bool { v := b.args[name]; return v != "" && v != "None" && v != "False" }
	d.Key.Concurrency = firstOf(d.Key.Concurrency, b.argument("max_concurrency"))
	d.Key.Rate = firstOf(d.Key.Rate, b.argument("request_rate"))
	if is("dataset_name") {
		d.Key.Dataset = b.args["dataset_name"]
	}
	b.lengths(d, tool)
	if is("model") && d.Reading.Facts.Model.ID == "" {
		d.Reading.Facts.Model.ID = b.args["model"]
	} else if is("model") && d.Reading.Facts.Model.ID != b.args["model"] {
		d.Dim("model", b.args["model"]) // a log of several models
	}
	if is("backend") {
		d.Condition("client", b.args["backend"])
	}
	for _, name := range []string{"num_prompts", "seed", "ignore_eos", "best_of"} {
		if is(name) {
			d.Condition(name, b.args[name])
		}
	}
	for _, name := range []string{
		"sharegpt_output_len", "lora_name", "lora_modules", "extra_request_body", "extra_body", "apply_chat_template",
		"disable_stream", "temperature", "random_prefix_len", "ramp_up_strategy", "tokenize_prompt",
	} {
		if is(name) && b.args[name] != "0" {
			d.Keep(name, b.args[name])
		}
	}
}

// burstiness of arrivals at a rate; 1 is a Poisson process, and vLLM prints words behind the number.
func (b *block) burstiness(d *draft.Draft) {
	text, _, _ := strings.Cut(cmp.Or(b.values["burstiness factor"], b.args["burstiness"]), " ")
	if x, err := strconv.ParseFloat(text, 64); err == nil && x > 0 && x != 1 && d.Key.Rate != nil {
		d.Dim(schema.DimBurstiness, text)
	}
}

// lengths fills what was asked of prompts and answers.
func (b *block) lengths(d *draft.Draft, tool string) {
	kind, _, _ := strings.Cut(d.Key.Dataset, "-")
	switch kind {
	case "random", "sonnet":
		d.Key.ISL, d.Key.OSL = b.argument(kind+"_input_len"), b.argument(kind+"_output_len")
		ratio := b.argument("random_range_ratio")
		switch {
		case kind == "sonnet":
		case tool == "sglang" && (ratio == nil || *ratio != 1) && b.args["random_range_ratio"] != "":
			d.Dim("range_ratio", b.args["random_range_ratio"]) // lengths between this share of the length and all of it
		case tool != "sglang" && ratio != nil && *ratio != 1:
			d.Dim("range_ratio", b.args["random_range_ratio"])
		}
	}
	d.Key.ISL, d.Key.OSL = firstOf(d.Key.ISL, b.argument("input_len")), firstOf(d.Key.OSL, b.argument("output_len"))
}

// argument is the value of an argument that is a number above zero; nil for others.
func (b *block) argument(name string) *float64 {
	x, err := strconv.ParseFloat(b.args[name], 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x <= 0 {
		return nil
	}
	return &x
}
