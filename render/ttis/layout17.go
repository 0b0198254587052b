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

// summaryRow is a workload with targets in the report of v0.17: vLLM's results alone are graded there.
type summaryRow struct {
	graded
	row *row // nil: not measured
}

// summaryRows are the workloads with targets that vLLM measured, or nobody did.
func (in *Input) summaryRows() []summaryRow {
	var out []summaryRow
	for _, g := range in.graded {
		if g.key.Tool != "vllm" && g.key.Tool != "" || schema.IsMediaTask(g.key.Task) {
			continue
		}
		s := summaryRow{graded: graded{key: g.key, checks: slices.Clone(g.checks)}}
		if i := slices.IndexFunc(in.rows, func(r *row) bool { return r.point.Key.String() == g.key.String() }); i >= 0 {
			s.row = in.rows[i]
		}
		for i := range s.checks { // ratios follow from the numbers that are shown
			c := &s.checks[i]
			c.actual = rounded(c.actual, map[string]int{"ttft": 1, "tput_user": 2}[c.metric]+zeroes(c.metric))
		}
		out = append(out, s)
	}
	return out
}

// zeroes is how many more places metrics have that v0.17 does not round.
func zeroes(metric string) int {
	if metric == "ttft" || metric == "tput_user" {
		return 0
	}
	return 4
}

func (s *summaryRow) numbers() (ttft, user, decode schema.Number) {
	if s.row == nil {
		none := schema.Missing("not measured")
		return none, none, none
	}
	return rounded(s.row.ttft.mean, 1), rounded(s.row.user, 2), rounded(s.row.decode, 1)
}

// targets17 is the table of targets: what was measured, the checks, then the targets.
func (in *Input) targets17() string {
	title := "### Performance Benchmark Targets " + in.onDevice() + "\n\n"
	list, media := in.summaryRows(), in.mediaTargets17()
	switch {
	case len(list) > 0:
		return title + strings.TrimSuffix(in.textTargets17(list)+"\n\n"+media, "\n\n")
	case media != "":
		return title + media
	case len(in.graded) > 0:
		return title + "Performance targets are defined for this model and device combination; no result here has one."
	case len(in.rows) == 0:
		return title + "No performance targets defined for this model and device combination."
	}
	return title + "#### Text-to-Text Performance Benchmark Results " + in.onDevice() +
		"\n\nNo performance targets defined for text benchmarks."
}

// textTargets17 is the table of models that write text.
func (in *Input) textTargets17(list []summaryRow) string {
	var every []check
	for i := range list {
		every = append(every, list[i].checks...)
	}
	names, metrics := tiers(every), slices.DeleteFunc(metricsOf(every), func(m string) bool {
		return !slices.ContainsFunc(every, func(c check) bool { return c.metric == m }) && m == "tput"
	})
	g := &grid{heads: []string{"ISL", "OSL", "Concurrency", "TTFT (ms)", "Tput User (TPS)", "Tput Decode (TPS)"}}
	for _, suffix := range []string{" Check", ""} {
		for _, tier := range names {
			for _, m := range metrics {
				head := words.Capital(tier) + " " + titled(m) + suffix
				if suffix == "" {
					head += unitOf(m)
				}
				g.heads = append(g.heads, head)
			}
		}
	}
	for i := range list {
		g.row(list[i].cells(names, metrics)...)
	}
	return "#### Text-to-Text Performance Benchmark Targets " + in.onDevice() + "\n\n" + g.aligned()
}

func (s *summaryRow) cells(names, metrics []string) []string {
	ttft, user, decode := s.numbers()
	k := s.key
	out := []string{
		whole(number(k.ISL), notAvailable), whole(number(k.OSL), notAvailable), whole(number(k.Concurrency), notAvailable),
		plain(ttft, notAvailable), plain(user, notAvailable), plain(decode, notAvailable),
	}
	var limits []string
	for _, tier := range names {
		for _, m := range metrics {
			c := s.find(tier, m)
			if c == nil {
				out, limits = append(out, notAvailable), append(limits, notAvailable)
				continue
			}
			out, limits = append(out, word(c.result)), append(limits, fixed(c.target, 2, notAvailable))
		}
	}
	return append(out, limits...)
}

// titled is a metric in a head: "TTFT", "Tput User".
func titled(metric string) string {
	parts := strings.Split(metric, "_")
	for i, p := range parts {
		switch p {
		case "ttft", "tpot", "itl", "e2el", "p99", "p95", "p90", "rtr":
			parts[i] = strings.ToUpper(p)
		default:
			parts[i] = words.Capital(p)
		}
	}
	return strings.Join(parts, " ")
}

func unitOf(metric string) string {
	switch {
	case strings.HasPrefix(metric, "tput"):
		return " (TPS)"
	case schema.Unit(metric) != "":
		return " (" + schema.Unit(metric) + ")"
	}
	return ""
}

// summaryData are the workloads with targets as the data of the report has them.
func (in *Input) summaryData() []object {
	out := []object{}
	list := in.summaryRows()
	for i := range list {
		s := &list[i]
		ttft, user, decode := s.numbers()
		var o object
		o.add("isl", value(number(s.key.ISL)))
		o.add("osl", value(number(s.key.OSL)))
		o.add("max_concurrency", value(number(s.key.Concurrency)))
		o.add("model", in.Model)
		o.add("device", in.device())
		for _, m := range []member{{"ttft", ttft}, {"tput_user", user}, {"tput", decode}} {
			v := value(m.value.(schema.Number))
			if v == nil {
				v = notAvailable
			}
			o.add(m.key, v)
		}
		o.add("target_checks", s.targetChecks())
		out = append(out, o)
	}
	return out
}

// data17 is the data of the release report.
func (in *Input) data17(evals []eval, a *acceptance) object {
	var o object
	o.add("metadata", in.metadata17())
	o.add("benchmarks_summary", append(in.summaryData(), in.mediaSummary()...))
	o.add("aiperf_benchmarks", in.detailRows("aiperf"))
	o.add("evals", in.evalRows(evals))
	o.add("stress_tests", in.stressData())
	benchmarks := in.statistics(in.inOrder()).objects()
	for _, k := range mediaKinds() {
		benchmarks = append(benchmarks, in.mediaStatistics(k, in.mediaOf(k.task)).objects()...)
	}
	o.add("benchmarks", benchmarks)
	o.add("aiperf_benchmarks_detailed", texts(in.detailRows("aiperf")))
	o.add("guidellm_benchmarks", in.detailRows("guidellm"))
	o.add("guidellm_benchmarks_detailed", texts(in.detailRows("guidellm")))
	if tests := in.parameterTests(); tests != nil {
		o.add("parameter_support_tests", tests)
	}
	o.add("acceptance_criteria", a.accepted)
	o.add("acceptance_blockers", messages(a.blockers))
	enforced, informational := in.levels()
	failed := []string{}
	for _, level := range enforced {
		if slices.ContainsFunc(a.blockers, func(b blocker) bool {
			return strings.HasPrefix(b.key, keyBenchmark+level+".")
		}) {
			failed = append(failed, level)
		}
	}
	masked := object{}
	for _, b := range a.mask {
		masked.add(b.key, object{{"message", b.message}, {"reason", b.reason}})
	}
	o.add("acceptance_criteria_metadata", object{
		{"enforcement_result", a.word()}, {"model_status", text(in.status())}, {"enforced_tiers", list(enforced)},
		{"informational_tiers", list(informational)}, {"failed_enforced_tiers", failed},
		{"informational_blockers", messages(a.informational)}, {"masked_blockers", masked},
		{"known_issues_declared", in.knownIssues()}, {"waivers_applied_count", len(a.mask) + len(a.informational)},
		{"acceptance_before_masking", a.accepted && len(a.mask) == 0},
	})
	o.add("acceptance_summary_markdown", in.summary17(a))
	return o
}

// objects are the rows of a table by column.
func (g *grid) objects() []object {
	out := []object{}
	for _, r := range g.rows {
		var one object
		for i, h := range g.heads {
			one.add(h, r[i])
		}
		out = append(out, one)
	}
	return out
}

func list(s []string) []string { return append([]string{}, s...) }

func (in *Input) detailRows(tool string) []object {
	out := []object{}
	for _, r := range in.of(tool, "") {
		out = append(out, in.detailRow(r))
	}
	return out
}

// texts are rows as they come back from a CSV.
func texts(rows []object) []object {
	out := []object{}
	for _, r := range rows {
		var o object
		for _, m := range r {
			o.add(m.key, cellOf(m.value))
		}
		out = append(out, o)
	}
	return out
}

// knownIssues are the failures that the owner of the model accepts.
func (in *Input) knownIssues() []object {
	out := []object{}
	for _, k := range in.newest().Acceptance.KnownIssues {
		kind := strings.ToUpper(strings.ReplaceAll(string(k.Category), " ", "_"))
		out = append(out, object{{"workflow_type", kind}, {"task_name", text(k.Task)}, {"reason", k.Reason}})
	}
	return out
}

// parameterTests are the conformance tests with the outcome of each case, or nil.
func (in *Input) parameterTests() any {
	results := object{}
	for _, s := range in.conformance() {
		var cases []object
		share, _ := s.Value.Get()
		passed := int(share*float64(s.N) + .5)
		for i := range s.N {
			status := "passed"
			if i >= passed {
				status = "failed"
			}
			cases = append(cases, object{{"status", status}})
		}
		results.add(s.Task, cases)
	}
	if len(results) == 0 {
		return nil
	}
	return object{{"results", results}}
}

// conformance are the tests of the server's interface.
func (in *Input) conformance() []schema.Score {
	var out []schema.Score
	seen := map[string]bool{}
	for i := len(in.Runs) - 1; i >= 0; i-- {
		for _, s := range in.Runs[i].Scores {
			if s.Metric == schema.MetricPassed && !seen[s.Task] {
				seen[s.Task] = true
				out = append(out, s)
			}
		}
	}
	return out
}
