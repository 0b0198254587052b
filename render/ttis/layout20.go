package ttis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// block is a section of the report since v0.19.
type block struct {
	kind, title string
	data        object
	record      []column
	graded      *graded // of a benchmark
	task        string
	targets     object
	status      string // pass, fail, na or error, as the categories count it
	why         string // of a test that failed
	blockers    []blocker
}

// column is a value of a block with its place in a table.
type column struct {
	name, head string
	value      any
	text       string
}

func (in *Input) device20() string { return strings.ToUpper(in.Device) }

func (in *Input) onDevice20() string { return words.OnDevice(in.repo(), in.device20()) }

// layout20 are the files of v0.19 and after.
func (in *Input) layout20(evals []eval) ([]File, error) {
	id := in.id20()
	a := in.acceptance(evals)
	blocks := slices.Concat(in.benchmarks20(), in.media20(), in.missing20(), in.evals20(evals), in.tests20())
	summary, categories := in.summary20(&a, blocks)
	var sections []object
	for i := range blocks {
		sections = append(sections, in.section(&blocks[i]))
	}
	if stress := in.stressSection(); stress != nil {
		sections = append(sections, stress)
	}
	o := object{
		{"metadata", in.metadata20()}, {"sections", append([]object{}, sections...)},
		{"acceptance_criteria", a.accepted}, {"acceptance_blockers", messages(blockers20(blocks, &a))},
		{"acceptance_criteria_metadata", object{
			{"enforcement_result", a.word()}, {"model_status", in.status()}, {"categories", categories},
		}},
		{"acceptance_summary_markdown", summary},
	}
	data, err := document(o)
	if err != nil {
		return nil, err
	}
	return []File{
		{"release/report_" + id + ".md", []byte(in.release20(summary, blocks, evals))},
		{"release/data/report_data_" + id + ".json", append(data, '\n')},
	}, nil
}

func (in *Input) metadata20() object {
	facts := in.facts()
	facts["report_id"], facts["model_name"], facts["device"] = in.id20(), in.repo(), in.device20()
	facts["generated_at"] = text(timeText(in.time(), "2006-01-02T15:04:05-07:00"))
	return metadata(facts, "model_name", "device", "generated_at", "report_id", "workflow", "server_mode", "run_command",
		"runtime_model_spec_json", "model_id", "model_repo", "inference_engine", "tt_metal_commit", "vllm_commit",
		"model_impl", "docker_image", "release", Mark)
}

// section is a block as the data of the report has it.
func (in *Input) section(b *block) object {
	o := object{{"kind", b.kind}, {"data", b.data}, {"title", b.title}}
	if b.task != "" {
		o.add("task_type", b.task)
	}
	o.add("id", fileName(in.repo()+"_"+in.device20()))
	if len(b.targets) > 0 {
		o.add("targets", b.targets)
	}
	return o
}

// columns20 are the values of a row, in the order of a block.
func (r *row) columns20() []column {
	four := func(name, head string, n schema.Number, places int) column {
		n = rounded(n, 4)
		missing := notAvailable
		if fewer(n) {
			missing = n.Why()
		}
		return column{name, head, value(n), fixed(n, places, missing)}
	}
	count := func(name, head string, n schema.Number) column { return column{name, head, value(n), significant(n)} }
	perRequest := func(metric string, stated *float64, places int) schema.Number {
		n := r.point.Metrics[metric].Stat("mean")
		if _, ok := n.Get(); !ok {
			n = number(stated)
		}
		return rounded(n, places)
	}
	out := []column{
		count("concurrency", "Concurrency", number(r.point.Key.Concurrency)),
		count("num_requests", "Num Requests", r.completed),
		count("input_sequence_length", "ISL", perRequest("isl", r.point.Key.ISL, 0)),
		count("output_sequence_length", "OSL", perRequest("osl", r.point.Key.OSL, 1)),
		four("mean_ttft_ms", "TTFT (ms)", r.ttft.mean, 1), four("p50_ttft", "P50 TTFT (ms)", r.ttft.median, 1),
		four("p99_ttft", "P99 TTFT (ms)", r.ttft.p99, 1), four("mean_tpot_ms", "TPOT (ms)", r.tpot.mean, 1),
		four("mean_e2el_ms", "E2EL (ms)", r.e2el.mean, 1),
	}
	if r.point.Key.Tool == "vllm" {
		input := of(func(v ...float64) float64 { return v[0] - v[1] }, r.total, r.output)
		out = append(out, four("tps_input_throughput", "Tput Input (TPS)", input, 1),
			four("tps_output_throughput", "Tput Output (TPS)", r.output, 1),
			four("tps_total_throughput", "Tput Total (TPS)", r.total, 1))
	} else {
		out = append(out, four("tput_user", "Tput User (TPS)", r.user, 2),
			four("tps_decode_throughput", "Tput Output (TPS)", r.output, 1))
	}
	if r.task() == "structured_output" {
		out = append([]column{
			{"dataset", "Dataset", r.dataset(), r.dataset()},
			{"structured_output_ratio", "SO Ratio", r.dim(structured), r.dim(structured)},
			count("correct_rate_pct", "Correct Rate (%)", r.correct),
		}, out...)
	}
	failed := r.point.Metrics["requests_failed"].Stat("value")
	if n, ok := failed.Get(); ok && n == 0 {
		failed = schema.Missing("none")
	}
	return append(out, four("request_throughput", "Req Tput (RPS)", r.rps, 3),
		count("error_request_count", "Errors", failed))
}

// benchmarks20 are the blocks of what was measured: of each tool what has targets first, as it is run.
func (in *Input) benchmarks20() []block {
	var out []block
	for _, t := range in.toolsOf() {
		var rest []block
		for _, r := range in.of(t.name, "") {
			if b := in.benchmark(t, r); b.graded != nil {
				out = append(out, b)
			} else {
				rest = append(rest, b)
			}
		}
		out = append(out, together(rest)...)
	}
	return out
}

// together puts blocks under one heading next to each other.
func together(list []block) []block {
	var out []block
	done := map[string]bool{}
	for i := range list {
		if done[list[i].title] {
			continue
		}
		done[list[i].title] = true
		for j := i; j < len(list); j++ {
			if list[j].title == list[i].title {
				out = append(out, list[j])
			}
		}
	}
	return out
}

func (in *Input) benchmark(t tool, r *row) block {
	b := block{kind: "benchmarks", title: t.label + " " + r.kind() + "Benchmark", record: r.columns20(), targets: object{
		{"tool", strings.ReplaceAll(t.name, "-", "_")}, {"model", in.repo()}, {"device", in.device20()},
		{"timestamp", timeText(cmp.Or(r.point.End, r.point.Start), "2006-01-02 15:04:05")},
	}}
	if b.graded = in.gradedRow(r); b.graded != nil {
		b.title += " Targets — " + point(r.point.Key)
	}
	for _, c := range b.record {
		b.data.add(c.name, c.value)
	}
	b.grade()
	return b
}

// kind tells workloads apart that would stand in one table and differ in what it does not show.
func (r *row) kind() string {
	switch task := r.task(); {
	case task == "structured_output":
		return "Structured Output "
	case task != "text":
		return titled(task) + " " + dims(r.point.Key) + " "
	case len(r.point.Key.Dims) > 0:
		return dims(r.point.Key) + " "
	}
	return ""
}

// point names a workload in a title.
func point(k schema.Key) string {
	if schema.IsMediaTask(k.Task) {
		return k.Workload()
	}
	out := fmt.Sprintf("ISL %s / OSL %s, concurrency %s", whole(number(k.ISL), "?"), whole(number(k.OSL), "?"),
		whole(number(k.Concurrency), "?"))
	if len(k.Dims) > 0 || k.Dataset != "" {
		out += " (" + strings.TrimSpace(k.Dataset+" "+dims(k)) + ")"
	}
	return out
}

// dims is what distinguishes a workload beside its lengths and load.
func dims(k schema.Key) string {
	k.ISL, k.OSL, k.Concurrency = nil, nil, nil
	if len(k.Dims) == 0 && k.Rate == nil {
		return ""
	}
	return k.Workload()
}

// grade adds what the gate came to. The status of a block is that of its required checks; a block with the checks of
// the target level says in its own column whether that was reached.
func (b *block) grade() {
	b.status = "na"
	if b.graded == nil {
		b.data.add("status", "na")
		b.data.add("target_check", isNA)
		return
	}
	reached := isNA
	for i := range b.graded.checks {
		c := &b.graded.checks[i]
		if c.tier == schema.LevelTarget && c.result != isNA {
			reached = max(reached, c.result)
		}
		switch {
		case c.result == isFail && c.verdict.Required && !c.verdict.Decision.Excuses():
			b.status = "fail"
			b.blockers = append(b.blockers, blocker{"." + c.tier + "." + c.metric + "_check", c.failure(), ""})
		case c.result != isNA && b.status == "na":
			b.status = "pass"
		}
	}
	if b.status == "na" {
		b.data.add("status", "na")
	}
	b.data.add("target_check", reached)
	b.data.add("target_checks", b.graded.targetChecks())
	b.record = append(b.record, column{head: "Target Check", text: badge(reached)})
}

// missing20 are the blocks of workloads with targets that nobody measured: their report would not show them.
func (in *Input) missing20() []block {
	var out []block
	for _, g := range in.graded {
		list := slices.Concat(in.rows, in.media)
		if g.measured() || slices.ContainsFunc(list, func(r *row) bool { return r.point.Key.String() == g.key.String() }) {
			continue
		}
		b := block{kind: "benchmarks", title: "Benchmark Targets — " + point(g.key), graded: g, status: "na"}
		for _, c := range []struct {
			name, head string
			n          *float64
		}{{"concurrency", "Concurrency", g.key.Concurrency}, {"input_sequence_length", "ISL", g.key.ISL},
			{"output_sequence_length", "OSL", g.key.OSL}} {
			b.record = append(b.record, column{c.name, c.head, value(number(c.n)), significant(number(c.n))})
			b.data.add(c.name, value(number(c.n)))
		}
		for _, c := range g.checks {
			if c.verdict.Required && !c.verdict.Decision.Excuses() {
				b.status = "error"
				b.blockers = append(b.blockers, blocker{"." + c.tier + "." + c.metric + "_check", c.failure(), ""})
			}
		}
		b.data.add("status", b.status)
		b.data.add("reason", "not measured")
		b.data.add("target_checks", g.targetChecks())
		b.record = append(b.record, column{head: "Status", text: "not measured"})
		out = append(out, b)
	}
	return out
}

func (in *Input) evals20(evals []eval) []block {
	var out []block
	for i := range evals {
		e := &evals[i]
		b := block{kind: "evals", title: "LLM Eval — " + e.task, task: "llm", status: "pass"}
		for _, m := range []member{
			{"task_name", e.task}, {"tolerance", value(e.tolerance)}, {"published_score", value(e.published)},
			{"published_score_ref", text(e.publishAt)}, {"gpu_reference_score", value(e.gpu)},
			{"gpu_reference_score_ref", text(e.gpuAt)}, {"score", value(e.score)},
			{"ratio_to_published", value(e.ratio(e.published))}, {"ratio_to_reference", value(e.ratio(e.gpu))},
			{"accuracy_check", e.result},
		} {
			b.data.add(m.key, m.value)
		}
		switch {
		case e.result == isNA && (e.verdict == nil || !e.verdict.Required):
			b.status = "na"
		case e.result == isPass:
		case e.verdict.Decision.Excuses() || !e.verdict.Required:
			b.status = "waived"
		default:
			b.status = "fail"
			b.blockers = []blocker{{"", e.failure(), ""}}
		}
		out = append(out, b)
	}
	return out
}

// decisionOn is what a person decided on a conformance test, or nil.
func (in *Input) decisionOn(test string) *schema.Decision {
	for i := range in.Review.Targets {
		v := &in.Review.Targets[i]
		if schema.CategoryOf(v) == schema.Conformance && v.Key.Dataset == test {
			return v.Decision
		}
	}
	return nil
}

func (in *Input) tests20() []block {
	var out []block
	for _, s := range in.conformance() {
		share, _ := s.Value.Get()
		b := block{kind: "spec_tests", title: s.Task, status: "pass"}
		if share < 1 {
			b.status = "fail"
			why := fmt.Sprintf("%s: %.0f of %d cases passed.", s.Task, math.Round(share*float64(s.N)), s.N)
			if d := in.decisionOn(s.Task); d.Excuses() {
				b.status, b.why = "waived", why+" (waived: "+d.Reason+")"
			} else {
				b.why, b.blockers = why, []blocker{{"", why, ""}}
			}
		}
		status := map[bool]string{true: "pass", false: "fail"}[share == 1]
		b.data = object{{"test_name", s.Task}, {"success", share == 1}, {"status", status},
			{"passed", math.Round(share * float64(s.N))}, {"total", s.N}}
		out = append(out, b)
	}
	return out
}

// meanNote, tierNote and ungradedNote stand below tables of benchmarks.
const (
	meanNote = "Note: columns without a percentile are means over the benchmark. n = 8 in place of a P99: of fewer than " +
		"100 requests it would be the slowest of them."
	tierNote = "Note: the Target Check column is the `target` tier alone; Target Checks has every tier. The model's " +
		"status says which tiers are required, and each of them has to be met."
	ungradedNote = "Note: no targets cover these workloads: they are shown and not graded, which is not a pass."
)

// category is what the blocks of a kind came to.
type category struct {
	name                      string
	total, failed, na, waived int
	blockers, waivedOnes      object
}

func (c *category) passed() int { return c.total - c.failed - c.na - c.waived }

func (c *category) word() string {
	switch {
	case c.failed > 0:
		return "FAIL"
	case c.na == c.total:
		return "NA"
	}
	return "PASS"
}

func (c *category) object() object {
	return object{
		{"name", c.name}, {"status", c.word()}, {"total", c.total}, {"passed", c.passed()}, {"failed", c.failed},
		{"na", c.na}, {"skipped", 0}, {"blockers", append(object{}, c.blockers...)},
		{"waived", append(object{}, c.waivedOnes...)},
	}
}

func (c *category) detail() string {
	if c.total == 0 {
		return "no blocks present"
	}
	out := fmt.Sprintf("%d/%d passed", c.passed(), c.total)
	for _, x := range []struct {
		n    int
		word string
	}{{c.failed, "failed"}, {c.waived, "waived"}, {c.na, "NA"}} {
		if x.n > 0 {
			out += fmt.Sprintf(", %d %s", x.n, x.word)
		}
	}
	return out
}

// categories counts the blocks by kind. What history and lints found is a category of its own where it rejects the
// release: their report compares with no release before.
func categories(blocks []block, a *acceptance) []*category {
	out := []*category{{name: "Benchmarks"}, {name: "Evals"}, {name: "Spec Tests"}}
	at := map[string]*category{"benchmarks": out[0], "evals": out[1], "spec_tests": out[2]}
	for i := range blocks {
		b, c := &blocks[i], at[blocks[i].kind]
		c.total++
		switch b.status {
		case "fail", "error":
			c.failed++
		case "na":
			c.na++
		case "waived":
			c.waived++
			c.waivedOnes.add(b.kind+":"+b.title, "informational, or a known issue")
		}
		for _, x := range b.blockers {
			c.blockers.add(b.kind+":"+b.title+x.key, x.message)
		}
	}
	other := &category{name: "History and Lints"}
	for _, b := range others(a) {
		other.total, other.failed = other.total+1, other.failed+1
		other.blockers.add(b.key, b.message)
	}
	if other.total > 0 {
		out = append(out, other)
	}
	return out
}

// others are the blockers that no block has.
func others(a *acceptance) []blocker {
	var out []blocker
	for _, b := range a.blockers {
		if strings.HasPrefix(b.key, keyHistory) || strings.HasPrefix(b.key, keyLint) ||
			strings.HasPrefix(b.key, keyBenchmark+"planned") {
			out = append(out, b)
		}
	}
	return out
}

func blockers20(blocks []block, a *acceptance) []blocker {
	var out []blocker
	for i := range blocks {
		for _, x := range blocks[i].blockers {
			out = append(out, blocker{blocks[i].kind + ":" + blocks[i].title + x.key, x.message, ""})
		}
	}
	return append(out, others(a)...)
}

// sign is a word with its sign and as code.
func sign(word string) string {
	return map[string]string{"PASS": "✅", "FAIL": "❌", "NA": "🟨"}[word] + " `" + word + "`"
}

// summary20 is the acceptance, as text and as data.
func (in *Input) summary20(a *acceptance, blocks []block) (string, []object) {
	lines := []string{"### Acceptance Criteria", "", "- Acceptance status: " + sign(a.word())}
	if status := in.status(); status != "" {
		lines = append(lines, "- Model status: `"+status+"`")
	}
	var data []object
	for _, c := range categories(blocks, a) {
		lines = append(lines, fmt.Sprintf("- %s: %s (%s)", c.name, sign(c.word()), c.detail()))
		data = append(data, c.object())
	}
	list := blockers20(blocks, a)
	switch {
	case len(list) > 0:
		lines = append(lines, "", "#### Blockers", "")
		for _, b := range list {
			lines = append(lines, "- `"+b.key+"`: "+b.message)
		}
	case a.ungraded:
		lines = append(lines, "- Nothing was graded: no target and no earlier release covers these results.")
	default:
		lines = append(lines, "- All acceptance criteria passed.")
	}
	return strings.Join(lines, "\n"), data
}

// release20 is the report as markdown.
func (in *Input) release20(summary string, blocks []block, evals []eval) string {
	meta, _ := document(in.metadata20()) // texts always encode
	parts := []string{strings.Join([]string{
		"## Tenstorrent Model Release Summary: " + in.onDevice20(),
		"### Metadata: " + in.onDevice20(), "```json\n" + string(meta) + "\n```", summary,
	}, "\n\n")}
	for i := 0; i < len(blocks); {
		n := 1
		for i+n < len(blocks) && blocks[i+n].title == blocks[i].title {
			n++
		}
		if blocks[i].kind == "benchmarks" {
			parts = append(parts, in.benchmarkText(blocks[i:i+n]))
		}
		i += n
	}
	if len(evals) > 0 {
		parts = append(parts, "### Accuracy Evaluations for "+in.onDevice20()+"\n\n"+evalTable20(evals)+evalNote)
	}
	if stress := in.stressText(); stress != "" {
		parts = append(parts, stress)
	}
	if tests := testTable(blocks); tests != "" {
		parts = append(parts, tests)
	}
	return strings.Join(parts, "\n\n---\n\n") + "\n"
}

// benchmarkText are blocks under one heading: a sweep, or a workload with its targets.
func (in *Input) benchmarkText(list []block) string {
	g := &grid{}
	for i := range list {
		var cells []string
		g.heads = g.heads[:0]
		for _, c := range list[i].record {
			g.heads, cells = append(g.heads, c.head), append(cells, c.text)
		}
		g.row(cells...)
	}
	g.withoutColumns(func(_ int, cells []string) bool { return all(cells, notAvailable) })
	parts := []string{"### " + list[0].title + " for " + in.onDevice20(), g.left()}
	switch checks := list[0].graded; {
	case checks != nil && !checks.measured():
		parts = append(parts, "#### Target Checks\n\n"+checks.table(), tierNote)
	case checks != nil:
		parts = append(parts, "#### Target Checks\n\n"+checks.table(), meanNote, tierNote)
	default:
		parts = append(parts, meanNote, ungradedNote)
	}
	return strings.Join(parts, "\n\n")
}

// table has a row for each tier: target, ratio and check of each metric that some tier grades.
func (g *graded) table() string {
	out := &grid{heads: []string{"Tier"}}
	metrics := g.metrics()
	for _, m := range metrics {
		name := titled(m)
		switch m {
		case "tput":
			name = "Tput Output"
		case "latency":
			name = "TTFT"
		case "e2el_ms":
			name = m
		}
		out.heads = append(out.heads, name+" Target", name+" Ratio", name+" Check")
	}
	for _, tier := range tiers(g.checks) {
		cells := []string{tier}
		for _, m := range metrics {
			c := g.find(tier, m)
			if c == nil {
				c = &check{target: schema.Missing("none"), actual: schema.Missing("none"), result: isNA}
			}
			target := significant(c.target)
			if _, ok := c.target.Get(); ok && m == "tput_user" && !schema.IsMediaTask(g.key.Task) {
				target = fixed(c.target, 2, "")
			}
			cells = append(cells, target, significant(c.ratio()), badge(c.result))
		}
		out.row(cells...)
	}
	out.withoutColumns(func(_ int, cells []string) bool { return all(cells, notAvailable) })
	return out.left()
}

func evalTable20(evals []eval) string {
	g := &grid{heads: []string{
		"Task", "Tolerance", "Published Score", "Published Score Ref", "GPU Reference Score", "gpu_reference_score_ref",
		"Score", "Ratio to Published", "Ratio to Reference", "Accuracy Check",
	}}
	or := func(s string) string {
		if s == "" {
			return notAvailable
		}
		return s
	}
	for i := range evals {
		e := &evals[i]
		g.row(e.task, significant(e.tolerance), significant(e.published), or(e.publishAt), significant(e.gpu), or(e.gpuAt),
			significant(e.score), significant(e.ratio(e.published)), significant(e.ratio(e.gpu)), badge(e.result))
	}
	g.withoutColumns(func(_ int, cells []string) bool { return all(cells, notAvailable) })
	return g.left()
}

// testTable are the conformance tests of the server: how many, and each.
func testTable(blocks []block) string {
	results := &grid{heads: []string{"Status", "Test Name", "Description"}}
	passed, failed := 0, 0
	for i := range blocks {
		b := &blocks[i]
		if b.kind != "spec_tests" {
			continue
		}
		status, why := "✅ PASS", ""
		if passed++; b.status != "pass" {
			passed, failed, status, why = passed-1, failed+1, "❌ FAIL", b.why
		}
		results.row(status, b.title, why)
	}
	if passed+failed == 0 {
		return ""
	}
	summary := &grid{heads: []string{"Metric", "Value"}}
	for _, r := range [][2]string{
		{"Total Tests", fmt.Sprint(passed + failed)}, {"Passed", fmt.Sprint(passed)}, {"Failed", fmt.Sprint(failed)},
		{"Success Rate", fmt.Sprintf("%.1f%%", 100*float64(passed)/float64(passed+failed))},
	} {
		summary.row(r[0], r[1])
	}
	return "## 📋 Summary\n\n" + summary.left() + "\n\n## 🧪 Test Results\n\n" + results.left()
}
