// Package console reads what load tools print at their end: the block "Serving Benchmark Result" of vLLM's and
// sglang's clients (vLLM 0.5 to 0.33, sglang to 0.5), and "PERFORMANCE OVERVIEW" of trtllm-bench (0.13 to 1.0), out of
// logs with anything around them. The Namespace(…) that the clients print before they begin states the workload.
//
// The numbers are rounded to two decimals. Where the tool's own file is among the sources, package ingest keeps that.
package console

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/plaintext"
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

// Reader looks for the title of a block in a text, and for a line that every block has.
var Reader = draft.Format{
	Name: Serving, Detail: "output of a load test", All: readServing,
	Text: func(f *decode.File) bool {
		return !has(f, trtllmTitle) && has(f, servingTitle) && has(f, "Successful requests:")
	},
	Others: []draft.Format{
		{
			Name: TRTLLM, Detail: "output of a load test", All: readTRTLLM,
			Text: func(f *decode.File) bool { return has(f, trtllmTitle) && has(f, trtllmLine) },
		},
		{
			Name: TRTLLM, Detail: "trtllm-bench without its report", All: readTRTLLM,
			Text: func(f *decode.File) bool {
				return !has(f, trtllmTitle) && trtllmBegan.Match(f.Data) && has(f, trtllmLog)
			},
		},
		{
			Name: Serving, Detail: "load test without its result", All: readServing,
			Text: func(f *decode.File) bool {
				return !has(f, trtllmTitle) && !has(f, servingTitle) &&
					slices.ContainsFunc(bytes.Split(f.Data, []byte("Namespace("))[1:], isLoad)
			},
		},
	},
}

func has(f *decode.File, text string) bool { return bytes.Contains(f.Data, []byte(text)) }

// isLoad reports that what follows "Namespace(" are the arguments of a load test, which it prints before it begins.
func isLoad(args []byte) bool {
	args, _, _ = bytes.Cut(args, []byte("\n"))
	return bytes.Contains(args, []byte("num_prompts=")) && bytes.Contains(args, []byte("request_rate="))
}

// block is one printed result.
type block struct {
	values map[string]string // by label, in lower case
	own    map[string]bool   // labels that are its own, and not of the lines before it
	args   map[string]string // of the Namespace before it
	line   int
	whole  bool
	// of a load test that began and printed no result: what it said last; "" for any other block
	died string
}

// readServing goes through a log: arguments, then what is said before the run, then the block.
func readServing(f *decode.File, r *schema.Reading) {
	s := servingLog{f: f, r: r, runs: draft.RunsOf[string](r), before: map[string]string{}}
	unfinished := "" // lines that end in a backslash
	n := 0
	for raw := range bytes.Lines(f.Data) {
		n++
		line := plainLine(raw)
		if rest, more := strings.CutSuffix(line, `\`); more && len(unfinished) < longestCommand {
			unfinished += rest + " "
			continue
		}
		s.read(unfinished+line, n)
		unfinished = ""
		if s.points > f.Limits().Results {
			break // the load says so
		}
	}
	s.point(s.open)
	s.end(nil)
	s.runs.Join("output of " + plaintext.Plural(s.points, "load test"))
}

// servingLog is a log as far as it is read.
type servingLog struct {
	f           *decode.File
	r           *schema.Reading
	runs        *draft.Runs[string] // by model; that of the first one, and of what names none, is ""
	model       string              // the first one
	points      int
	before      map[string]string // what was said before the next block
	args        map[string]string // of it
	open, begun *block            // begun prints its result later
	last        string            // line with a text
}

// loadArguments tell load tests apart.
var loadArguments = []string{"model", "dataset_name", "num_prompts", "request_rate", "max_concurrency",
	"input_len", "output_len", "random_input_len", "random_output_len", "seed"}

func (s *servingLog) read(line string, n int) {
	switch {
	case strings.Contains(line, servingTitle):
		s.point(s.open)
		s.open, s.begun = &block{values: s.before, own: map[string]bool{}, args: s.args, line: n}, nil
		s.before, s.args = map[string]string{}, nil // of this run alone
	case s.open != nil && strings.HasPrefix(line, "==="):
		s.open.whole = true
		s.point(s.open)
		s.open = nil
	case strings.Contains(line, "Namespace("):
		_, rest, _ := strings.Cut(line, "Namespace(")
		s.args = map[string]string{}
		for _, m := range pythonArgument.FindAllStringSubmatch(rest, 500) {
			s.args[m[1]] = strings.Trim(m[2], `'"`)
		}
		if s.end(s.args); isLoad([]byte(line)) {
			s.begun = &block{values: s.before, args: s.args, line: n}
		}
	case s.open == nil && client.MatchString(line):
		s.args = command(line)
	default:
		if label, value := labelled(line); label != "" && s.open != nil {
			s.open.values[label], s.open.own[label] = value, true
		} else if label != "" && len(s.before) < 50 {
			s.before[label] = value
		}
	}
	if strings.ContainsFunc(line, unicode.IsLetter) { // a ruler says nothing
		s.last = line
	}
}

// end makes a failed point of a load test that began, and printed no result until the arguments of the next one: of the
// same load, which sglang prints twice, they are those of the test itself.
func (s *servingLog) end(next map[string]string) {
	isOther := func(name string) bool { return next[name] != s.begun.args[name] }
	if s.begun != nil && (next == nil || slices.ContainsFunc(loadArguments, isOther)) {
		s.begun.died = s.last
		s.point(s.begun)
	}
	s.begun = nil
}

// labelled splits a line at its first colon into a label, in lower case, and a value; "" where it has no label.
func labelled(line string) (label, value string) {
	label, value, ok := strings.Cut(line, ":")
	if label = strings.ToLower(strings.TrimSpace(label)); !ok || len(label) > 60 {
		return "", ""
	}
	return label, strings.TrimSpace(value)
}

// plainLine is a line without a comment sign, and without what a progress bar wrote over before it.
func plainLine(raw []byte) string {
	raw = bytes.TrimRight(raw, "\r\n")
	raw = raw[bytes.LastIndexByte(raw, '\r')+1:]
	return strings.TrimSpace(strings.TrimLeft(string(raw), "#> \t"))
}

// point makes a point of a block, if there is one, of the run of its model.
func (s *servingLog) point(b *block) {
	if b == nil || s.isForm(b) {
		return
	}
	s.points++
	model := b.args["model"]
	s.model = cmp.Or(s.model, model)
	run := model
	if model == s.model {
		run = ""
	}
	r := s.runs.Of(run, schema.Facts{})
	r.Facts.Model.ID = cmp.Or(r.Facts.Model.ID, model)
	for label, text := range b.values { // commas stand between thousands
		plain := strings.ReplaceAll(text, ",", "")
		if _, err := strconv.ParseFloat(plain, 64); err == nil {
			b.values[label] = plain
		}
	}
	maps.DeleteFunc(b.args, func(_, value string) bool { return value == "None" || value == "False" })
	v, args := decode.Of(b.values), decode.Of(b.args)
	tool, fields := "vllm", draft.VLLM("{} X (ms)", 1)
	if v.Has("mean e2e latency (ms)") {
		tool, fields[0].Def = "sglang", schema.DefFirstContent
		fields[3].Key, fields[3].Def = "{} e2e latency (ms)", schema.DefLastContent
	}
	fields = append(fields, draft.Field{Key: "{} latency(s)", Metric: "e2el", Def: schema.DefNotStated, Scale: 1000})
	d := draft.New(s.f, r, v, tool)
	v = d.In
	d.Fields(args, map[string]string{
		"key dataset": "dataset_name", "condition client": "backend", "condition num_prompts": "num_prompts",
		"condition seed": "seed", "condition ignore_eos": "ignore_eos", "condition best_of": "best_of",
	})
	d.Fields(v, map[string]string{
		"key concurrency": "maximum request concurrency|max request concurrency",
		"key rate":        "request rate configured (rps)|traffic request rate", "condition client": "backend",
		"rps": "request throughput (req/s)", "output_tps": "output token throughput (tok/s)",
		"total_tps": "total token throughput (tok/s)", "goodput_rps": "request goodput (req/s)",
		"duration_s": "benchmark duration (s)",
	})
	d.Fields(args, map[string]string{"key concurrency": "max_concurrency", "key rate": "request_rate"})
	if b.values["traffic request rate"] == "trace" {
		d.Dim(schema.DimArrivals, "trace")
	}
	b.arguments(d, args, tool)
	d.Flat(v, fields)
	for name, label := range others {
		if x := v.Number(label); x != nil {
			d.KeepNumber(name, *x)
		}
	}
	ok := v.Number("successful requests")
	for metric, label := range map[string]string{"isl": "total input tokens", "osl": "total generated tokens"} {
		if total := v.Number(label); total != nil && ok != nil && *ok > 0 {
			d.Derived(metric, "", "mean", *total / *ok)
		}
	}
	b.finish(d, ok, v.Number("failed requests"), args.Number("num_prompts"))
	b.rest(d)
	d.Done()
}

// isForm reports a block of a document that has a mark in place of each number, and tells of it.
func (s *servingLog) isForm(b *block) bool {
	took := b.values["benchmark duration (s)"]
	if took == "" || strings.Trim(took, "xX.<> ") != "" {
		return false
	}
	draft.Problem(s.f, s.r, schema.SevWarning, "no-number", decode.Value{}, "a printed result with "+took+
		" in place of its numbers", "the numbers of a load test", "nothing of it")
	s.r.Problems[len(s.r.Problems)-1].Line = b.line
	return true
}

// rest keeps the numbers of a block that nothing has read, such as those that a fork prints.
func (b *block) rest(d *draft.Draft) {
	const most = 50
	for m := range d.In.Unread() {
		if x, ok := m.Val.Float(); ok && b.own[m.Key] && len(d.Extra) < most {
			d.KeepNumber(m.Key, x)
		}
	}
}

// finish says how a load test ended.
func (b *block) finish(d *draft.Draft, ok, failed, asked *float64) {
	if b.died == "" {
		d.Requests(ok, failed, asked, "")
	}
	switch {
	case b.died != "":
		d.Fail("the load test ended without a result")
		d.Problem(schema.SevWarning, "benchmark-failed", decode.Value{},
			"a load test that began and printed no result; the last line is"+draft.Quote(b.died), "a result at its end",
			"no number: the load test died, or the log was cut", "see what ended it, and measure it again")
	case !b.whole && d.Status == schema.StatusOK:
		d.Status = schema.StatusPartial
		d.Problem(schema.SevWarning, "truncated", decode.Value{}, "a printed result without its last line", "",
			"what was printed")
	default:
		return
	}
	d.Reading.Problems[len(d.Reading.Problems)-1].Line = b.line
}

// others are numbers that have no name of ours.
var others = map[string]string{
	"max_output_tokens_per_s": "peak output token throughput (tok/s)",
	"max_concurrent_requests": "peak concurrent requests", "concurrency": "concurrency",
	"input_throughput": "input token throughput (tok/s)", "accept_length": "accept length",
	"spec_decode_acceptance_rate": "acceptance rate (%)", "spec_decode_acceptance_length": "acceptance length",
	"total_output_tokens_retokenized": "total generated tokens (retokenized)",
	"total_input_vision_tokens":       "total input vision tokens",
	"rtfx":                            "rtfx (inverse real-time factor)",
}

// client matches the command of a load test: vLLM's, its older script, sglang's.
var client = lazyregexp.New(
	`(?:\bvllm bench serve|\bbenchmark_serving\.py|\bsglang\.bench_serving|\bbench_serving\.py)\s+(-.*)$`)

// longestCommand bounds a command that goes over several lines.
const longestCommand = 8000

// command reads the arguments of a load test's command, as a script or a report prints it above the result. An argument
// with a variable of the shell is left out: nobody knows its value. nil for any other line.
func command(line string) map[string]string {
	m := client.FindStringSubmatch(line)
	if m == nil || len(line) > longestCommand {
		return nil
	}
	words, err := shellquote.Split(shellEnd.FindString(m[1]))
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, flag := range draft.Flags(words).Members() {
		name, value := strings.ReplaceAll(strings.TrimPrefix(flag.Key, "--"), "-", "_"), flag.Val.Str()
		if value == "" || strings.HasPrefix(value, "--") {
			value = "True"
		}
		if !strings.ContainsAny(value, "$`") {
			out[name] = value
		}
	}
	return out
}

// shellEnd matches where the shell ends a command, outside of quotes.
var shellEnd = lazyregexp.New(`^((?:[^|;&>'"]|'[^']*'|"[^"]*")*)`)

// pythonArgument matches an argument as Python prints it in Namespace(name=value, …): a text in quotes, or anything
// with brackets that nest once.
var pythonArgument = lazyregexp.New(`([\w-]+)=('[^']*'|"[^"]*"|(?:[^,()\[\]{}<>]|` +
	`\((?:[^()]|\([^()]*\))*\)|\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\{(?:[^{}]|\{[^{}]*\})*\}|<[^>]*>)*)`)

// arguments fills what the client was asked for besides its load.
func (b *block) arguments(d *draft.Draft, args decode.Value, tool string) {
	isl, osl := "input_len", "output_len"
	if kind, _, _ := strings.Cut(d.Key.Dataset, "-"); kind == "random" || kind == "sonnet" {
		isl, osl = isl+"|"+kind+"_input_len|random_input", osl+"|"+kind+"_output_len|random_output" // the general ones win
		// lengths between this share of the length and all of it; sglang's default is 0
		ratio := args.Get("random_range_ratio").Float0()
		if kind == "random" && ratio != 1 && (ratio > 0 || tool == "sglang") {
			d.Dim("range_ratio", b.args["random_range_ratio"])
		}
	}
	d.Fields(args, map[string]string{"key isl": isl, "key osl": osl})
	// 1 is a Poisson process, and vLLM prints words behind the number
	text, _, _ := strings.Cut(cmp.Or(b.values["burstiness factor"], b.args["burstiness"]), " ")
	if x, err := strconv.ParseFloat(text, 64); err == nil && x > 0 && x != 1 && d.Key.Rate != nil {
		d.Dim(schema.DimBurstiness, text)
	}
	for _, name := range []string{
		"sharegpt_output_len", "lora_name", "lora_modules", "extra_request_body", "extra_body", "apply_chat_template",
		"disable_stream", "temperature", "random_prefix_len", "ramp_up_strategy", "tokenize_prompt",
	} {
		if text := b.args[name]; text != "" && text != "0" {
			d.Keep(name, text)
		}
	}
}
