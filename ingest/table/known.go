package table

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// mapped is a format of a tool that a mapping reads, as a user could have written it, with paths that its files have.
func mapped(name, detail string, m Mapping, has ...string) draft.Format {
	compiled := sync.OnceValue(func() Table { // it is the same in every file
		m.Files = "*"
		tables, err := Compile([]Mapping{m})
		if err != nil {
			panic(name + ": " + err.Error()) // a test compiles each
		}
		tables[0].name, tables[0].detail = name, detail
		return tables[0]
	})
	return draft.Format{
		Name: name, Detail: detail, All: func(f *decode.File, r *schema.Reading) { *r = compiled().Read(f) },
		Sniff: func(f *decode.File, m *draft.Check) {
			for _, path := range has {
				m.Want(f.First.Path(path).Kind() != decode.Invalid, path)
			}
		},
	}
}

// LlamaBenchy is the result of eugr/llama-benchy 0.1 to 0.3 (MIT licence): schemas/benchmark_report_schema.json. Speeds
// and times have a mean and a deviation over its runs.
var LlamaBenchy = mapped("llama-benchy", "speeds by context", llamaBenchy,
	"benchmarks.0.prompt_size", "benchmarks.0.tg_throughput")

var llamaBenchy = Mapping{
	Tool: "llama-benchy", Rows: "benchmarks", Columns: map[string]string{
		"/model": "model", "/timestamp": "start", "/latency_mode": "condition latency_mode",
		"/prefix_caching_enabled": "condition prefix_caching", "concurrency": "concurrency", "prompt_size": "isl",
		"response_size": "osl", "context_size": "dim depth", "is_context_prefill_phase": "dim context_prefill",
		"pp_throughput": "input_tps tok/s", "tg_throughput": "output_tps tok/s",
		"tg_req_throughput": "tps_user tok/s", "e2e_ttft": "ttft ms first-content",
		"ttfr":            "first_response_ms ms lower",
		"peak_throughput": "peak_tps tok/s higher", "est_ppt": "prompt_ms ms lower",
		"pp_req_throughput": "prompt_tps_user tok/s higher", "peak_req_throughput": "peak_tps_user tok/s higher",
	},
}

// AgentX is an aggregate of InferenceX' agentic replays, version 3: utils/agentic/aggregation. Latencies are in
// seconds; throughputs are of the whole deployment; its TPOT is AIPerf's inter-token latency of each request, and so is
// its ITL; its interactivity is one over a statistic of that, so that its P90 is below its median. The metrics of the
// server are missing in its newest versions.
var AgentX = mapped("inferencex-agentx", "an agentic replay, in seconds", Mapping{
	Tool: "inferencex", Others: "metrics", Columns: map[string]string{
		"model": "model", "hw": "device", "framework": "engine", "conc": "concurrency", "scenario_type": "dataset",
		"precision": "dim precision", "spec_decoding": "dim spec_decoding", "disagg": "dim disagg", "tp": "dim tp",
		"ep": "dim ep", "dp_attention": "dim dp_attention", "kv_offloading": "dim kv_offloading",
		// where its power is valid: else a file has none
		"avg_total_gpu_power_w":                               "power_w W accelerator-boards",
		"joules_per_output_token":                             "energy_token J/tok accelerator-boards",
		"num_requests_successful":                             "requests_ok",
		"request_metrics.latency.ttft":                        "ttft s first-content",
		"request_metrics.latency.e2el":                        "e2el s last-content",
		"request_metrics.latency.tpot":                        "tpot s excl-first",
		"request_metrics.latency.intvty.p75":                  "interactivity_p75 tok/s",
		"request_metrics.latency.intvty.p90":                  "interactivity_p90 tok/s",
		"request_metrics.qps.mean":                            "rps req/s",
		"request_metrics.tokens.input":                        "isl tok",
		"request_metrics.tokens.output_actual":                "osl tok",
		"request_metrics.throughput.input.tokens_per_second":  "input_tps tok/s",
		"request_metrics.throughput.output.tokens_per_second": "output_tps tok/s",
		"request_metrics.throughput.total.tokens_per_second":  "total_tps tok/s",
		"request_metrics.throughput.duration_seconds":         "duration_s s",
		"request_metrics.throughput.per_gpu.output_tput_tps":  "output_tps_accelerator tok/s",
		"request_metrics.throughput.per_gpu.total_tput_tps":   "total_tps_accelerator tok/s",
		"server_metrics.cache.external_cache_hit_rate":        "prefix_hits_external fraction",
		"request_metrics.cache.theoretical_cache_hit_rate":    "prefix_hits_possible fraction",
		"server_metrics.cache.gpu_cache_hit_rate":             "prefix_hits fraction",
		"server_metrics.kv_cache.gpu_usage_pct":               "kv_usage fraction",
	},
}, "request_metrics.latency", "request_metrics.throughput", "conc")

// Printed is the table that llama-benchy prints, in a text of any kind: src/llama_benchy/results.py. Prompt processing
// and generation of one load are a row each, rounded to two decimals; its JSON has both in one, as which it is read.
var Printed = draft.Format{
	Name: "llama-benchy-md", Detail: "a table that llama-benchy printed", All: readPrinted,
	Text: func(f *decode.File) bool { return printedHead.Match(f.Data) },
}

var printedRows = mapped("llama-benchy-md", "", llamaBenchy)

// printedColumns are members of llama-benchy's JSON by the headings of its table. Those of speeds begin with pp or tg,
// as the name of the row does.
var printedColumns = map[string]string{
	"t/s": "throughput", "t/s (total)": "throughput", "t/s (req)": "req_throughput", "peak t/s": "peak_throughput",
	"peak t/s (req)": "peak_req_throughput", "ttfr (ms)": "ttfr", "est_ppt (ms)": "est_ppt", "e2e_ttft (ms)": "e2e_ttft",
}

var (
	printedHead  = lazyregexp.New(`(?m)^\|\s*model\s*\|\s*test\s*\|\s*t/s[^|\n]*\|(?:\s*t/s \(req\)\s*\|)?\s*peak t/s`)
	printedTest  = lazyregexp.New(`^(ctx_)?(pp|tg)(\d*)(?: @ d(\d+))?(?: \(c(\d+)\))?$`)
	printedSpeed = lazyregexp.New(`^(\d+(?:\.\d+)?) ± (\d+(?:\.\d+)?)$`)
	printedDate  = lazyregexp.New(`(?im)^date: (20\d\d-\d\d-\d\d \d\d:\d\d:\d\d)`)
)

// printer makes llama-benchy's JSON of its tables, a value for each measurement: a row of prompts and one of
// answers that have their load in common.
type printer struct {
	out      bytes.Buffer
	date     string
	headings []string
	load     []string // model, context and load of the measurement that is open
	phase    string   // of its last row; "" while none is open
}

// row adds a row: of a context that is only read or of a load, of its prompts (pp) or its answers (tg), with so many
// tokens each.
func (p *printer) row(cells []string, context, phase, tokens string, load []string) {
	if p.phase != "pp" || phase != "tg" || !slices.Equal(load, p.load) {
		p.end()
		fmt.Fprintf(&p.out, `{"model":%s,"timestamp":%q,"benchmarks":[{"concurrency":"%s","context_size":"%s",`+
			`"is_context_prefill_phase":%t`, schema.JSONString(load[0]), p.date, cmp.Or(load[3], "1"), cmp.Or(load[2], "0"),
			context != "")
	}
	p.phase, p.load = phase, load
	if tokens != "" {
		fmt.Fprintf(&p.out, `,%q:"%s"`, map[string]string{"pp": "prompt_size", "tg": "response_size"}[phase], tokens)
	}
	for i, h := range p.headings {
		name := printedColumns[h]
		if strings.HasSuffix(name, "throughput") && !strings.HasPrefix(name, "peak") {
			name = phase + "_" + name
		}
		if s := printedSpeed.FindStringSubmatch(cells[i]); name != "" && s != nil {
			fmt.Fprintf(&p.out, `,%q:{"mean":%s,"std":%s}`, name, s[1], s[2])
		}
	}
}

func (p *printer) end() {
	if p.phase != "" {
		p.out.WriteString("}]}\n")
	}
	p.phase = ""
}

func readPrinted(f *decode.File, r *schema.Reading) {
	var p printer
	if m := printedDate.FindSubmatch(f.Data); m != nil {
		p.date = string(m[1])
	}
	for line := range bytes.Lines(f.Data) {
		cells := draft.Cells(line, "*`")
		if printedHead.Match(line) {
			p.headings = cells
		}
		if len(cells) > 3 && len(cells) == len(p.headings) {
			if m := printedTest.FindStringSubmatch(cells[1]); m != nil {
				p.row(cells, m[1], m[2], m[3], []string{cells[0], m[1], m[4], m[5]})
			}
		}
	}
	p.end()
	detail := r.Detail
	*r = printedRows.Read(f.Within(p.out.String()))
	r.Detail = detail
	if len(r.Points)+len(r.More) == 0 {
		draft.Problem(f, r, schema.SevWarning, "empty-table", decode.Value{}, "a table of llama-benchy without a result",
			"a row for each test", "nothing of it")
	}
}
