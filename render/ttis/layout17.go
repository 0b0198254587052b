package ttis

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// release is a report as markdown; the metadata are JSON.
type release struct {
	Title, Metadata, Summary string
	Sections                 []string
}

var release17 = template.Must(template.New("v0.17").Parse(`## Tenstorrent Model Release Summary: {{.Title}}

### Metadata: {{.Title}}
` + "```json\n{{.Metadata}}\n```" + `

{{.Summary}}{{range .Sections}}

{{.}}{{end}}
`))

// execute fills a template; the templates have no errors of their own, and texts always encode.
func execute(t *template.Template, data any) string {
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		panic(err)
	}
	return b.String()
}

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

// files17 collects the files of v0.17 and before, by folder, name and the identity of the report.
type files17 struct {
	id   string
	list []File
}

func (f *files17) markdown(name, text string) {
	f.list = append(f.list, File{name + "_" + f.id + ".md", []byte(text)})
}

func (f *files17) json(name string, v any) error {
	data, err := document(v)
	f.list = append(f.list, File{name + "_" + f.id + ".json", append(data, '\n')})
	return err
}

// csv writes a table as Python's csv module does.
func (f *files17) csv(name string, g *grid) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	if err := w.WriteAll(append([][]string{g.heads}, g.rows...)); err != nil {
		return fmt.Errorf("writing a table of results: %w", err)
	}
	f.list = append(f.list, File{name + "_" + f.id + ".csv", b.Bytes()})
	return nil
}

// layout17 are the files of v0.17 and before.
func (in *Input) layout17(evals []eval) ([]File, error) {
	f := &files17{id: in.id17()}
	sections, err := in.sweeps17(f)
	if err != nil {
		return nil, err
	}
	if len(sections) > 0 {
		sections = append(sections, in.targets17())
	}
	for _, t := range in.toolsOf() {
		if t.file != "" && t.name != "guidellm" {
			text, err := in.detail17(t, f)
			if err != nil {
				return nil, err
			}
			sections = append(sections, text)
		}
	}
	rows := []object{}
	if len(evals) > 0 {
		for i := range evals {
			var samples any
			if evals[i].n > 0 {
				samples = evals[i].n
			}
			rows = append(rows, slices.Concat(object{{"model", in.Model}, {"device", in.device()}},
				evals[i].data(columns17, notAvailable),
				object{{"metadata", object{{"n_samples", samples}, {"stderr", value(evals[i].stderr)}}}}))
		}
		f.markdown("evals/summary", scoreTable(in.Runs))
		if err := f.json("evals/data/eval_data", rows); err != nil {
			return nil, err
		}
		sections = append(sections, "### Accuracy Evaluations for "+in.onDevice()+"\n\n"+in.evalTable17(evals)+evalNote)
	}
	a := in.acceptance(evals)
	var stress []object
	if list := slices.Clone(in.stress); len(list) > 0 {
		slices.SortStableFunc(list, func(a, b *row) int { return strings.Compare(a.stamp, b.stamp) })
		for _, r := range list {
			stress = append(stress, objectOf(r, stressData17, notMeasured))
		}
		text := "### Stress Test Results for " + in.onDevice() + "\n\n" + stressTable17(list, "mean").aligned() +
			"\n\n#### Percentiles\n\n" + stressTable17(list, "mean", "p5", "p25", "p50", "p95", "p99").aligned()
		f.markdown("stress_tests/stress_test_summary", text+glossary+"\n")
		if err := f.json("stress_tests/data/stress_test_data", stress); err != nil {
			return nil, err
		}
		sections = append(sections, text)
	}
	meta := in.metadata17()
	text, err := document(meta)
	if err != nil {
		return nil, err
	}
	summary := in.summary17(&a)
	f.markdown("release/report", execute(release17, release{in.onDevice(), string(text), summary, sections}))
	err = f.json("release/data/report_data", in.data17(meta, rows, stress, &a, summary))
	return f.list, err
}

func (in *Input) onDevice() string { return words.OnDevice(in.Model, in.device()) }

// sweeps17 writes the display table and the statistics of all tools, and returns the display table, if any.
func (in *Input) sweeps17(f *files17) ([]string, error) {
	tables := []struct { // of a task, or of all that have none of their own
		tasks, heads []string
	}{
		{[]string{"text", "structured_output"}, []string{"Text-to-Text Performance", "Structured Output Performance"}},
		{[]string{"vlm"}, []string{"VLM"}}, {},
	}
	other := &tables[2]
	known := []string{"text", "structured_output", "vlm"}
	for _, r := range in.rows {
		if t := r.task(); !slices.Contains(known, t) && !slices.Contains(other.tasks, t) {
			other.tasks, other.heads = append(other.tasks, t), append(other.heads, titled(t))
		}
	}
	var sections []string
	for _, table := range tables {
		for _, t := range in.toolsOf() {
			for i, task := range table.tasks {
				if list := in.of(t.name, task); len(list) > 0 {
					sections = append(sections, fmt.Sprintf("#### %s %s Benchmark Sweeps for %s\n\n%s", t.label, table.heads[i],
						in.onDevice(), tableOf(list, sweepColumns17(task), cell17).aligned()))
				}
			}
		}
	}
	media, err := in.mediaSweeps17(f)
	if sections = append(sections, media...); err != nil || len(sections) == 0 {
		return nil, err
	}
	text := "### Performance Benchmark Sweeps for " + in.onDevice() + "\n\n" + strings.Join(sections, "\n\n") + glossary
	f.markdown("benchmarks/benchmark_display", text+"\n")
	if len(in.rows) > 0 {
		err = f.csv("benchmarks/data/benchmark_stats", in.statistics())
	}
	return []string{text}, err
}

// mediaSweeps17 writes the statistics of media, and returns their sections of the sweeps.
func (in *Input) mediaSweeps17(f *files17) ([]string, error) {
	var sections []string
	for _, k := range mediaKinds() {
		list := in.mediaOf(k.task)
		if len(list) == 0 {
			continue
		}
		name := "benchmarks/data/benchmark_" + k.task + "_stats"
		if len(in.rows)+len(sections) == 0 { // the first has the usual name where there is no text
			name = "benchmarks/data/benchmark_stats"
		}
		if err := f.csv(name, k.statistics(list)); err != nil {
			return nil, err
		}
		sections = append(sections, "#### "+k.title17+" Benchmark Sweeps for "+in.onDevice()+"\n\n"+
			tableOf(list, pick(media17, k.display), cell17).aligned())
	}
	return sections, nil
}

// statistics is the table of all rows of models that write text, as CSV and as the data of a report have it: tool by
// tool, structured output after the other workloads. Its last six columns are there if some row fills them.
func (in *Input) statistics() *grid {
	var list []*row
	for _, t := range in.toolsOf() {
		var last []*row
		for _, r := range in.of(t.name, "") {
			if r.task() == "structured_output" {
				last = append(last, r)
			} else {
				list = append(list, r)
			}
		}
		slices.SortStableFunc(last, func(a, b *row) int {
			return cmp.Or(slices.Compare(a.order(), b.order()), cmp.Compare(a.stamp, b.stamp))
		})
		list = append(list, last...)
	}
	g := dataOf(list, statistics17, cell17)
	if len(list) > 0 {
		g.withoutColumns(notMeasured, len(g.heads)-6)
	}
	return g
}

// statistics is the table of a kind of media.
func (k *mediaKind) statistics(list []*row) *grid {
	return dataOf(list, pick(media17, "timestamp model model_name model_id backend device "+k.csv), cell17)
}

// mediaOf are the results of a task.
func (in *Input) mediaOf(task string) []*row {
	return slices.DeleteFunc(slices.Clone(in.media), func(r *row) bool { return r.point.Key.Task != task })
}

// detail17 writes the tables with percentiles of a tool, and returns the display table.
func (in *Input) detail17(t tool, f *files17) (string, error) {
	title := "### " + t.label + " Benchmark Performance Results for " + in.onDevice()
	if t.name == "aiperf" {
		title = "### Benchmark Performance Results for " + in.onDevice()
	}
	parts := []string{title}
	for _, kind := range []struct {
		task, head string
		dims       []column
	}{{"text", "Text", nil}, {"vlm", "VLM", pictures17[4:7]}} {
		list := in.of(t.name, kind.task)
		if len(list) == 0 {
			continue
		}
		columns := slices.Concat(workload17[1:3], []column{{"", "Concur", all, "concurrency"}}, kind.dims,
			[]column{{"", "N", all, "asked"}},
			slices.DeleteFunc(slices.Clone(detail17), func(c column) bool { return c.head == "" }))
		parts = append(parts, fmt.Sprintf("#### %s %s Benchmarks - Detailed Percentiles", t.label, kind.head),
			"**Benchmarking Tool:** "+t.label, tableOf(list, columns, shown).aligned())
		name := fmt.Sprintf("benchmarks_%s/data/%s_benchmark_%s_stats", t.file, t.file, kind.task)
		if err := f.csv(name, dataOf(list, detailColumns(kind.task), digits)); err != nil {
			return "", err
		}
	}
	text := strings.Join(parts, "\n\n")
	f.markdown(fmt.Sprintf("benchmarks_%s/%s_benchmark_display", t.file, t.file), text+glossary+"\n")
	return text, nil
}

// detailColumns are those of a detailed CSV and of the data of the report, with all digits.
func detailColumns(task string) []column {
	first := slices.Concat([]column{{"source", "", all, "tool"}}, same("isl osl concurrency"),
		[]column{{"num_requests", "", all, "asked"}})
	if task == "vlm" {
		first = append(first, same("images_per_prompt image_height image_width")...)
	}
	list := slices.Concat(first, detail17, same("completed total_input_tokens total_output_tokens model_id"),
		[]column{{"backend", "", all, "tool"}})
	for i := range list {
		list[i].places = all
	}
	return list
}

// stressTable17 has statistics of each latency: the mean, and those of run.py --percentile-report.
func stressTable17(list []*row, stats ...string) *grid {
	columns := append(slices.Clone(workload17[1:4]), column{"", "Num Prompts", all, "asked"})
	for _, m := range []string{"ttft", "tpot", "itl", "e2el"} {
		for _, s := range stats {
			head := strings.TrimPrefix(strings.ToUpper(s+" "+m), "MEAN ") + " (ms)"
			columns = append(columns, column{"", head, 1, s + "_" + m + "_ms"})
		}
	}
	return tableOf(list, append(columns, numbers17[2:4]...), shown)
}

// copies17 are the flat copies of results of AIPerf, GenAI-Perf and GuideLLM that v0.17 writes beside vLLM's, so that
// scripts read all tools alike: see benchmarking/run_aiperf_benchmarks.py. A metric that a tool does not measure is
// left out; theirs have 0 there, and TPOT a second time as ITL.
func (in *Input) copies17() ([]File, error) {
	var out []File
	for _, t := range tools() {
		if t.file == "" {
			continue
		}
		for _, r := range in.of(t.name, "") {
			o := object{{"date", timeText(r.point.End, "20060102-150405")}, {"backend", t.name}, {"model_id", in.repo()},
				{"tokenizer_id", cmp.Or(r.point.Conditions["tokenizer"], in.repo())}}
			for _, c := range copied17 {
				if n, _ := c.value(r).(schema.Number); !n.IsZero() {
					o.add(c.key, value(n))
				}
			}
			data, err := document(append(o, member{Mark, in.facts()[Mark]}))
			if err != nil {
				return nil, err
			}
			name := strings.TrimSuffix(t.file, "_perf") + "_benchmark_" + in.modelID() + "_" + r.stamp
			for _, part := range [][2]string{{"isl", "isl"}, {"osl", "osl"}, {"maxcon", "requested"}, {"n", "asked"}} {
				name += "_" + part[0] + "-" + fixed(r.number(part[1]), all, "0")
			}
			if r.task() == "vlm" {
				name += fmt.Sprintf("_images-%s_height-%s_width-%s", r.values["images_per_prompt"], r.values["image_height"],
					r.values["image_width"])
			}
			out = append(out, File{"benchmarks_output/" + fileName(name) + ".json", append(data, '\n')})
		}
	}
	return out, nil
}

var summary17 = template.Must(template.New("acceptance of v0.17").Funcs(template.FuncMap{"quoted": quoted}).Parse(
	"### Acceptance Criteria\n\n" +
		"- Acceptance status: `{{.Word}}`\n- Model status: `{{or .Status \"UNSPECIFIED\"}}`\n" +
		"- Enforced tiers: `{{quoted .Enforced}}` | Informational tiers: `{{quoted .Above}}`" + `
{{- if .Ungraded}}
- Nothing was graded: no target and no earlier release covers these results.{{end}}
{{- range .Blockers}}` + "\n- `{{.Key}}`: {{.Message}}" + `{{end}}
{{- if and .Accepted (not .Blockers) (not .Masked)}}
- All acceptance criteria passed (no waivers applied).{{end}}
{{- if .Informational}}

#### Informational (tier above model status)
{{- range .Informational}}` + "\n- `{{.Key}}`: {{.Message}}" + `{{end}}{{end}}
{{- if .Masked}}

#### Masked (known issues)
{{- range .Masked}}` + "\n- `{{.Key}}`: {{.Message}} (waived: {{.Reason}})" + `{{end}}{{end}}`))

// summary17 is the acceptance as v0.17 writes it.
func (in *Input) summary17(a *acceptance) string {
	enforced, above := in.levels()
	return execute(summary17, struct {
		*acceptance
		Word, Status    string
		Enforced, Above []string
	}{a, a.word(), in.status(), enforced, above})
}

// summaryRow is a workload with targets in the report of v0.17: vLLM's results alone are graded there.
type summaryRow struct {
	graded
	ttft, user, decode schema.Number // as they are shown
}

// summaryRows are the workloads with targets that vLLM measured, or nobody did.
func (in *Input) summaryRows() []summaryRow {
	var out []summaryRow
	for _, g := range in.graded {
		if g.key.Tool != "vllm" && g.key.Tool != "" || schema.IsMediaTask(g.key.Task) {
			continue
		}
		s := summaryRow{graded: graded{key: g.key, checks: slices.Clone(g.checks)}}
		for _, r := range in.rows {
			if r.point.Key.String() == g.key.String() {
				s.ttft, s.user = rounded(r.number("mean_ttft_ms"), 1), rounded(r.number("mean_tps"), 2)
				s.decode = rounded(r.number("decode"), 1)
			}
		}
		for i := range s.checks { // ratios follow from the numbers that are shown
			c := &s.checks[i]
			c.actual = rounded(c.actual, cmp.Or(map[string]int{"ttft": 1, "tput_user": 2}[c.metric], 4))
		}
		out = append(out, s)
	}
	return out
}

// targets17 is the table of targets: what was measured, the checks, then the targets.
func (in *Input) targets17() string {
	title := "### Performance Benchmark Targets " + in.onDevice() + "\n\n"
	var parts []string
	if list := in.summaryRows(); len(list) > 0 {
		parts = append(parts, "#### Text-to-Text Performance Benchmark Targets "+in.onDevice()+"\n\n"+textTargets17(list))
	}
	for _, k := range mediaKinds() { // v0.17 has these in its data alone
		for _, r := range in.mediaOf(k.task) {
			if g := in.gradedRow(r); g != nil {
				parts = append(parts, "#### "+k.title20+" Benchmark Targets "+in.onDevice()+"\n\n"+g.table())
			}
		}
	}
	switch {
	case len(parts) > 0:
		return title + strings.Join(parts, "\n\n")
	case len(in.graded) > 0:
		return title + "Performance targets are defined for this model and device combination; no result here has one."
	case len(in.rows) == 0:
		return title + "No performance targets defined for this model and device combination."
	}
	return title + "#### Text-to-Text Performance Benchmark Results " + in.onDevice() +
		"\n\nNo performance targets defined for text benchmarks."
}

// textTargets17 is the table of models that write text.
func textTargets17(list []summaryRow) string {
	var every []check
	for i := range list {
		every = append(every, list[i].checks...)
	}
	metrics := slices.DeleteFunc(metricsOf(every), func(m string) bool {
		return m == "tput" && !slices.ContainsFunc(every, func(c check) bool { return c.metric == m })
	})
	g := &grid{heads: []string{"ISL", "OSL", "Concurrency", "TTFT (ms)", "Tput User (TPS)", "Tput Decode (TPS)"}}
	var limits []string
	for _, tier := range tiers(every) {
		for _, m := range metrics {
			head, unit := words.Capital(tier)+" "+titled(m), schema.Unit(m)
			if strings.HasPrefix(m, "tput") {
				unit = "TPS"
			}
			if unit != "" {
				unit = " (" + unit + ")"
			}
			g.heads, limits = append(g.heads, head+" Check"), append(limits, head+unit)
		}
	}
	g.heads = append(g.heads, limits...)
	for _, s := range list {
		cells := []string{fixed(number(s.key.ISL), all, notAvailable), fixed(number(s.key.OSL), all, notAvailable),
			fixed(number(s.key.Concurrency), all, notAvailable), plain(s.ttft, notAvailable), plain(s.user, notAvailable),
			plain(s.decode, notAvailable)}
		limits = nil
		for _, tier := range tiers(every) {
			for _, m := range metrics {
				c := s.find(tier, m)
				if c == nil {
					c = &check{result: isNA}
				}
				cells, limits = append(cells, word(c.result)), append(limits, fixed(c.target, 2, notAvailable))
			}
		}
		g.row(append(cells, limits...)...)
	}
	return g.aligned()
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

// summaryData are the workloads with targets as the data of the report has them.
func (in *Input) summaryData() []object {
	out := []object{}
	orNA := func(n schema.Number) any { return cmp.Or(value(n), any(notAvailable)) }
	for _, s := range in.summaryRows() {
		out = append(out, object{{"isl", value(number(s.key.ISL))}, {"osl", value(number(s.key.OSL))},
			{"max_concurrency", value(number(s.key.Concurrency))}, {"model", in.Model}, {"device", in.device()},
			{"ttft", orNA(s.ttft)}, {"tput_user", orNA(s.user)}, {"tput", orNA(s.decode)},
			{"target_checks", s.targetChecks()}})
	}
	for _, k := range mediaKinds() {
		for _, r := range in.mediaOf(k.task) {
			o := objectOf(r, pick(mediaSummary17, "timestamp model model_name model_id backend device num_requests "+k.summary+
				" filename task_type"), nil)
			if g := in.gradedRow(r); g != nil {
				o.add("target_checks", g.mediaChecks17())
			}
			out = append(out, o)
		}
	}
	return out
}

// mediaChecks17 are the checks as the data of v0.17 have them: a latency is in seconds, and a rate has its check alone.
func (g *graded) mediaChecks17() object {
	var out object
	embedding := g.key.Task == "embedding"
	for _, tier := range tiers(g.checks) {
		var one object
		for _, m := range []string{"latency", "tput_user", "tput_prefill", "e2el_ms", "rtr"} {
			c, name := g.find(tier, m), m
			if m == "tput_user" && !embedding {
				name = "tput"
			}
			switch {
			case c == nil && name == "tput":
				one.add("tput_check", isNA)
				continue
			case c == nil:
				continue
			case m == "latency" || embedding: // the ratio is that of the number as it is shown
				target, as := c.target, *c
				if m == "latency" {
					target = seconds(target)
				}
				as.actual = rounded(c.actual, map[string]int{"latency": 2, "tput_user": 2, "tput_prefill": 1, "e2el_ms": 1}[m])
				one = append(one, member{m, value(target)}, member{m + "_ratio", value(as.ratio())})
			}
			one.add(name+"_check", c.result)
		}
		out.add(tier, one)
	}
	return out
}

func (in *Input) metadata17() object {
	facts := in.facts()
	facts["report_id"], facts["model_name"], facts["device"] = in.id17(), in.Model, in.device()
	return metadata(facts, "report_id", "model_name", "model_id", "runtime_model_spec_json", "model_repo", "model_impl",
		"inference_engine", "device", "server_mode", "tt_metal_commit", "vllm_commit", "run_command", "docker_image",
		"release", Mark)
}

// data17 is the data of the release report.
func (in *Input) data17(meta object, evals, stress []object, a *acceptance, summary string) object {
	details := func(tool string) (data, texts []object) { // texts are rows as they come back from a CSV
		data, texts = []object{}, []object{}
		for _, r := range in.of(tool, "") {
			columns := detailColumns(r.task())
			data = append(data, objectOf(r, columns, nil))
			texts = append(texts, dataOf([]*row{r}, columns, digits).objects()...)
		}
		return data, texts
	}
	aiperf, aiperfTexts := details("aiperf")
	guidellm, guidellmTexts := details("guidellm")
	benchmarks := append([]object{}, in.statistics().objects()...)
	for _, k := range mediaKinds() {
		benchmarks = append(benchmarks, k.statistics(in.mediaOf(k.task)).objects()...)
	}
	o := object{{"metadata", meta}, {"benchmarks_summary", in.summaryData()}, {"aiperf_benchmarks", aiperf},
		{"evals", evals}, {"stress_tests", stress}, {"benchmarks", benchmarks},
		{"aiperf_benchmarks_detailed", aiperfTexts}, {"guidellm_benchmarks", guidellm},
		{"guidellm_benchmarks_detailed", guidellmTexts}}
	results := object{} // of conformance tests, the outcome of each case
	for _, s := range in.conformance() {
		var cases []object
		share, _ := s.Value.Get()
		for i := range s.N {
			status := "passed"
			if i >= int(share*float64(s.N)+.5) {
				status = "failed"
			}
			cases = append(cases, object{{"status", status}})
		}
		results.add(s.Task, cases)
	}
	if len(results) > 0 {
		o.add("parameter_support_tests", object{{"results", results}})
	}
	enforced, informational := in.levels()
	failed := slices.DeleteFunc(slices.Clone(enforced), func(level string) bool {
		return !slices.ContainsFunc(a.Blockers, func(b blocker) bool {
			return strings.HasPrefix(b.Key, keyBenchmark+level+".")
		})
	})
	masked := object{}
	for _, b := range a.Masked {
		masked.add(b.Key, object{{"message", b.Message}, {"reason", b.Reason}})
	}
	issues := []object{} // failures that the owner of the model accepts
	for _, k := range in.newest().Acceptance.KnownIssues {
		kind := strings.ToUpper(strings.ReplaceAll(string(k.Category), " ", "_"))
		issues = append(issues, object{{"workflow_type", kind}, {"task_name", text(k.Task)}, {"reason", k.Reason}})
	}
	list := func(s []string) []string { return append([]string{}, s...) }
	return append(o, object{
		{"acceptance_criteria", a.Accepted}, {"acceptance_blockers", messages(a.Blockers)},
		{"acceptance_criteria_metadata", object{
			{"enforcement_result", a.word()}, {"model_status", text(in.status())}, {"enforced_tiers", list(enforced)},
			{"informational_tiers", list(informational)}, {"failed_enforced_tiers", list(failed)},
			{"informational_blockers", messages(a.Informational)}, {"masked_blockers", masked},
			{"known_issues_declared", issues}, {"waivers_applied_count", len(a.Masked) + len(a.Informational)},
			{"acceptance_before_masking", a.Accepted && len(a.Masked) == 0},
		}}, {"acceptance_summary_markdown", summary},
	}...)
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
