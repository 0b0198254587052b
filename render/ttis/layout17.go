package ttis

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// glossary explains the columns; v0.17 repeats it below every table, here it is once in a file.
const glossary = `

Note: all metrics are means over the benchmark unless a column says otherwise.
> ISL, OSL: input and output sequence length (tokens)
> Concurrency: requests at a time (batch size)
> N Req, N: requests asked for
> TTFT: time to first token (ms)
> TPOT: time per output token after the first (ms)
> Tput User: 1000 / TPOT, tokens per second of one user (TPS)
> Tput Decode: Tput User × concurrency (TPS)
> Tput Prefill: ISL × concurrency / TTFT (TPS)
> E2EL: end-to-end latency of a request (ms)
> Req Tput: requests per second (RPS)
> n = 8 in place of a P99: of fewer than 100 requests it would be the slowest of them`

// layout17 are the files of v0.17 and before.
func (in *Input) layout17(evals []eval) ([]File, error) {
	id := in.id17()
	var out []File
	add := func(name, text string) { out = append(out, File{name, []byte(text)}) }
	sweeps, err := in.sweeps17(id, add)
	if err != nil {
		return nil, err
	}
	details := []string{}
	for _, t := range in.toolsOf() {
		if t.file == "" || t.name == "guidellm" {
			continue
		}
		text, err := in.detail17(t, id, add)
		if err != nil {
			return nil, err
		}
		details = append(details, text)
	}
	if len(evals) > 0 {
		data, err := document(in.evalRows(evals))
		if err != nil {
			return nil, err
		}
		add("evals/summary_"+id+".md", scoreTable(in.Runs))
		add("evals/data/eval_data_"+id+".json", string(data)+"\n")
	}
	a := in.acceptance(evals)
	data, err := document(in.data17(evals, &a))
	if err != nil {
		return nil, err
	}
	stress, err := in.stress17(id, add)
	if err != nil {
		return nil, err
	}
	add("release/report_"+id+".md", in.release17(&a, evals, sweeps, details, stress))
	add("release/data/report_data_"+id+".json", string(data)+"\n")
	return out, nil
}

func (in *Input) onDevice() string { return words.OnDevice(in.Model, in.device()) }

// sweeps17 writes the display table and the statistics of all tools, and returns the display table.
func (in *Input) sweeps17(id string, add func(name, text string)) (string, error) {
	media, err := in.media17(id, add)
	if err != nil || len(in.rows)+len(media) == 0 {
		return "", err
	}
	var sections []string
	for _, tasks := range [][]string{{"text", "structured_output"}, {"vlm"}, in.otherTasks()} {
		for _, t := range in.toolsOf() {
			for _, task := range tasks {
				if list := in.of(t.name, task); len(list) > 0 {
					title := fmt.Sprintf("#### %s %s for %s\n\n", t.label, sweepHead(task), in.onDevice())
					sections = append(sections, title+in.display(list).aligned())
				}
			}
		}
	}
	sections = append(sections, media...)
	text := "### Performance Benchmark Sweeps for " + in.onDevice() + "\n\n" + strings.Join(sections, "\n\n") + glossary
	add("benchmarks/benchmark_display_"+id+".md", text+"\n")
	if len(in.rows) == 0 {
		return text, nil
	}
	table, err := csvText(in.statistics(in.inOrder()))
	add("benchmarks/data/benchmark_stats_"+id+".csv", table)
	return text, err
}

func sweepHead(task string) string {
	switch task {
	case "text":
		return "Text-to-Text Performance Benchmark Sweeps"
	case "structured_output":
		return "Structured Output Performance Benchmark Sweeps"
	case "vlm":
		return "VLM Benchmark Sweeps"
	}
	return titled(task) + " Benchmark Sweeps"
}

// otherTasks are those without a table of their own in v0.17.
func (in *Input) otherTasks() []string {
	var out []string
	for _, r := range in.rows {
		if t := r.task(); t != "text" && t != "structured_output" && t != "vlm" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// inOrder are all rows in the order of the statistics: tool by tool, structured output after vLLM's other workloads.
func (in *Input) inOrder() []*row {
	var out []*row
	for _, t := range in.toolsOf() {
		var last []*row
		for _, r := range in.of(t.name, "") {
			if r.task() == "structured_output" {
				last = append(last, r)
			} else {
				out = append(out, r)
			}
		}
		slices.SortStableFunc(last, func(a, b *row) int {
			return cmp.Or(slices.Compare(a.order(), b.order()), cmp.Compare(a.stamp, b.stamp))
		})
		out = append(out, last...)
	}
	return out
}

// csvText writes a table as Python's csv module does.
func csvText(g *grid) (string, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	if err := w.WriteAll(append([][]string{g.heads}, g.rows...)); err != nil {
		return "", fmt.Errorf("writing a table of results: %w", err)
	}
	return b.String(), nil
}

// detail17 writes the tables with percentiles of a tool, and returns the display table.
func (in *Input) detail17(t tool, id string, add func(name, text string)) (string, error) {
	title := "### Benchmark Performance Results for " + in.onDevice()
	if t.name != "aiperf" {
		title = "### " + t.label + " Benchmark Performance Results for " + in.onDevice()
	}
	parts := []string{title}
	for _, kind := range []struct{ task, file, head string }{{"text", "text", "Text"}, {"vlm", "vlm", "VLM"}} {
		list := in.of(t.name, kind.task)
		if len(list) == 0 {
			continue
		}
		parts = append(parts, fmt.Sprintf("#### %s %s Benchmarks - Detailed Percentiles", t.label, kind.head),
			"**Benchmarking Tool:** "+t.label, detail(list).aligned())
		g := &grid{}
		for _, r := range list {
			var cells []string
			g.heads = g.heads[:0]
			for _, m := range in.detailRow(r) {
				g.heads, cells = append(g.heads, m.key), append(cells, cellOf(m.value))
			}
			g.rows = append(g.rows, cells)
		}
		table, err := csvText(g)
		if err != nil {
			return "", err
		}
		add(fmt.Sprintf("benchmarks_%s/data/%s_benchmark_%s_stats_%s.csv", t.file, t.file, kind.file, id), table)
	}
	text := strings.Join(parts, "\n\n")
	add(fmt.Sprintf("benchmarks_%s/%s_benchmark_display_%s.md", t.file, t.file, id), text+glossary+"\n")
	return text, nil
}

// cellOf is a value of JSON as a cell.
func cellOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return whole(schema.Num(v), "")
	}
	return fmt.Sprint(v)
}

func (in *Input) evalRows(evals []eval) []object {
	out := []object{}
	for i := range evals {
		out = append(out, in.evalRow(&evals[i]))
	}
	return out
}

// release17 is the release report.
func (in *Input) release17(a *acceptance, evals []eval, sweeps string, details []string, stress string) string {
	meta, _ := document(in.metadata17()) // texts always encode
	parts := []string{
		"## Tenstorrent Model Release Summary: " + in.onDevice(),
		"### Metadata: " + in.onDevice() + "\n```json\n" + string(meta) + "\n```", in.summary17(a),
	}
	if sweeps != "" {
		parts = append(parts, sweeps, in.targets17())
	}
	parts = append(parts, details...)
	if len(evals) > 0 {
		parts = append(parts, "### Accuracy Evaluations for "+in.onDevice()+"\n\n"+in.evalTable(evals)+evalNote)
	}
	if stress != "" {
		parts = append(parts, stress)
	}
	return strings.Join(parts, "\n\n") + "\n"
}

func (in *Input) metadata17() object {
	facts := in.facts()
	facts["report_id"], facts["model_name"], facts["device"] = in.id17(), in.Model, in.device()
	return metadata(facts, "report_id", "model_name", "model_id", "runtime_model_spec_json", "model_repo", "model_impl",
		"inference_engine", "device", "server_mode", "tt_metal_commit", "vllm_commit", "run_command", "docker_image",
		"release", Mark)
}

// summary17 is the acceptance as v0.17 writes it.
func (in *Input) summary17(a *acceptance) string {
	status := in.status()
	if status == "" {
		status = "UNSPECIFIED"
	}
	enforced, informational := in.levels()
	lines := []string{
		"### Acceptance Criteria", "", "- Acceptance status: `" + a.word() + "`", "- Model status: `" + status + "`",
		"- Enforced tiers: `" + quoted(enforced) + "` | Informational tiers: `" + quoted(informational) + "`",
	}
	if a.ungraded {
		lines = append(lines, "- Nothing was graded: no target and no earlier release covers these results.")
	}
	for _, b := range a.blockers {
		lines = append(lines, "- `"+b.key+"`: "+b.message)
	}
	if a.accepted && len(a.blockers) == 0 && len(a.mask) == 0 {
		lines = append(lines, "- All acceptance criteria passed (no waivers applied).")
	}
	if len(a.informational) > 0 {
		lines = append(lines, "", "#### Informational (tier above model status)")
		for _, b := range a.informational {
			lines = append(lines, "- `"+b.key+"`: "+b.message)
		}
	}
	if len(a.mask) > 0 {
		lines = append(lines, "", "#### Masked (known issues)")
		for _, b := range a.mask {
			lines = append(lines, "- `"+b.key+"`: "+b.message+" (waived: "+b.reason+")")
		}
	}
	return strings.Join(lines, "\n")
}
