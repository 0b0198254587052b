package table

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

//go:embed known
var known embed.FS

// mapped is a format of a tool that a mapping reads, as a user could have written it, with paths that its files have.
func mapped(name, detail, mapping string, has ...string) draft.Format {
	compiled := sync.OnceValue(func() Table { // it is the same in every file
		m, file := Mapping{Files: "*"}, "known/"+mapping+".yaml"
		text, err := known.ReadFile(file)
		problem := decode.YAML(file, text, &m)
		tables, err2 := Compile([]Mapping{m})
		if err = errors.Join(err, err2); err != nil || problem != nil {
			panic(fmt.Sprint(file, ": ", err, problem)) // a test reads each
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

// LlamaBenchy is the result of llama-benchy.
var LlamaBenchy = mapped("llama-benchy", "speeds by context", "llama-benchy",
	"benchmarks.0.prompt_size", "benchmarks.0.tg_throughput")

// AgentX is an aggregate of InferenceX' agentic replays.
var AgentX = mapped("inferencex-agentx", "an agentic replay, in seconds", "inferencex-agentx",
	"request_metrics.latency", "request_metrics.throughput", "conc")

// Printed is the table that llama-benchy prints, in a text of any kind: src/llama_benchy/results.py. Prompt processing
// and generation of one load are a row each, rounded to two decimals; its JSON has both in one, as which it is read.
var Printed = draft.Format{
	Name: "llama-benchy-md", Detail: "a table that llama-benchy printed", All: readPrinted,
	Text: func(f *decode.File) bool { return printedHead.Match(f.Data) },
}

var printedRows = mapped("llama-benchy-md", "", "llama-benchy")

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
