package ttis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

var release20 = template.Must(template.New("v0.20").Parse(`## Tenstorrent Model Release Summary: {{.Title}}

### Metadata: {{.Title}}

` + "```json\n{{.Metadata}}\n```" + `

{{.Summary}}{{range .Sections}}

---

{{.}}{{end}}
`))

// block is a section of the report since v0.19.
type block struct {
	kind, title  string
	data         object
	heads, cells []string // of its row in a table
	graded       *graded  // of a benchmark
	task         string
	targets      object
	status       string // pass, fail, na, waived or error, as the categories count it
	why          string // of a test that failed
	blockers     []blocker
}

// add adds a value to the data, and to the table if it has a head.
func (b *block) add(key, head string, v any, cell string) {
	if key != "" {
		b.data.add(key, v)
	}
	if head != "" {
		b.heads, b.cells = append(b.heads, head), append(b.cells, cell)
	}
}

func (in *Input) device20() string { return strings.ToUpper(in.Device) }

func (in *Input) onDevice20() string { return words.OnDevice(in.repo(), in.device20()) }

// layout20 are the files of v0.19 and after.
func (in *Input) layout20(evals []eval) ([]File, error) {
	a := in.acceptance(evals)
	blocks := slices.Concat(in.benchmarks20(), in.media20(), in.missing20(), evals20(evals), in.tests20())
	summary, categories, list := in.summary20(&a, blocks)
	sections := []object{}
	id := fileName(in.repo() + "_" + in.device20())
	for i := range blocks {
		b := &blocks[i]
		o := object{{"kind", b.kind}, {"data", b.data}, {"title", b.title}}
		if b.task != "" {
			o.add("task_type", b.task)
		}
		o.add("id", id)
		if len(b.targets) > 0 {
			o.add("targets", b.targets)
		}
		sections = append(sections, o)
	}
	stress, stressText := in.stress20()
	if stress != nil {
		sections = append(sections, object{{"kind", "stress_tests"}, {"data", stress}, {"id", id}})
	}
	facts := in.facts()
	facts["report_id"], facts["model_name"], facts["device"] = in.id20(), in.repo(), in.device20()
	facts["generated_at"] = text(timeText(in.time(), "2006-01-02T15:04:05-07:00"))
	meta := metadata(facts, "model_name", "device", "generated_at", "report_id", "workflow", "server_mode", "run_command",
		"runtime_model_spec_json", "model_id", "model_repo", "inference_engine", "tt_metal_commit", "vllm_commit",
		"model_impl", "docker_image", "release", Mark)
	data, err := document(object{
		{"metadata", meta}, {"sections", sections}, {"acceptance_criteria", a.Accepted},
		{"acceptance_blockers", messages(list)}, {"acceptance_criteria_metadata", object{
			{"enforcement_result", a.word()}, {"model_status", in.status()}, {"categories", categories},
		}},
		{"acceptance_summary_markdown", summary},
	})
	if err != nil {
		return nil, err
	}
	metaText, err := document(meta)
	if err != nil {
		return nil, err
	}
	parts := in.benchmarkTexts(blocks)
	if len(evals) > 0 {
		parts = append(parts, "### Accuracy Evaluations for "+in.onDevice20()+"\n\n"+evalTable20(evals)+evalNote)
	}
	for _, s := range []string{stressText, testTable(blocks)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	text := execute(release20, release{in.onDevice20(), string(metaText), summary, parts})
	return []File{
		{"release/report_" + in.id20() + ".md", []byte(text)},
		{"release/data/report_data_" + in.id20() + ".json", append(data, '\n')},
	}, nil
}

// benchmarks20 are the blocks of what was measured: of each tool what has targets first, as it is run. Blocks of one
// title follow one another: they are one table.
func (in *Input) benchmarks20() []block {
	var out []block
	for _, t := range in.toolsOf() {
		var titles []string
		rest := map[string][]block{}
		for _, r := range in.of(t.name, "") {
			b := in.benchmark(t, r)
			if b.graded != nil {
				out = append(out, b)
				continue
			}
			if rest[b.title] == nil {
				titles = append(titles, b.title)
			}
			rest[b.title] = append(rest[b.title], b)
		}
		for _, title := range titles {
			out = append(out, rest[title]...)
		}
	}
	return out
}

func (in *Input) benchmark(t tool, r *row) block {
	kind := "" // tells workloads apart that would stand in one table and differ in what it does not show
	task := r.task()
	switch {
	case task == "structured_output":
		kind = "Structured Output "
	case task != "text":
		kind = titled(task) + " " + dims(r.point.Key) + " "
	case len(r.point.Key.Dims) > 0:
		kind = dims(r.point.Key) + " "
	}
	b := block{kind: "benchmarks", title: t.label + " " + kind + "Benchmark", graded: in.gradedRow(r), targets: object{
		{"tool", strings.ReplaceAll(t.name, "-", "_")}, {"model", in.repo()}, {"device", in.device20()},
		{"timestamp", r.values["measured"]},
	}}
	if b.graded != nil {
		b.title += " Targets — " + point(r.point.Key)
	}
	columns := slices.Concat(workload20, tools20, requests20)
	if t.name == "vllm" {
		columns = slices.Concat(workload20, vllm20, requests20)
	}
	if task == "structured_output" {
		columns = slices.Concat(structured20, columns)
	}
	for _, c := range columns {
		switch v := c.value(r).(type) {
		case schema.Number:
			if c.places == all {
				b.add(c.key, c.head, value(v), significant(v))
			} else {
				b.add(c.key, c.head, value(rounded(v, 4)), shown(rounded(v, 4), c.places))
			}
		case string:
			b.add(c.key, c.head, v, v)
		}
	}
	b.grade()
	return b
}

// media20 are the blocks of media since v0.19.
func (in *Input) media20() []block {
	var out []block
	for _, k := range mediaKinds() {
		for _, r := range in.mediaOf(k.task) {
			b := block{kind: "benchmarks", title: k.title20 + " Benchmark", task: k.backend, graded: in.gradedRow(r),
				targets: object{{"num_prompts", value(r.number("asked"))}}}
			if sound := r.point.Key.Dims["sound"]; sound != "" {
				b.title += " — " + sound + " s of sound"
			}
			for _, c := range pick(media20, k.data20) {
				switch v := c.value(r).(type) {
				case bool:
					b.add(c.key, c.head, v, strconv.FormatBool(v))
				case schema.Number:
					n, ok := v.Get()
					switch {
					case !ok:
					case c.places == all, c.key == "tput_user" && n < .1: // two places would be 0.00
						b.add(c.key, c.head, n, significant(v))
					default:
						b.add(c.key, c.head, n, fixed(v, c.places, ""))
					}
				}
			}
			b.grade()
			b.data = object{{"Benchmarks", b.data}}
			out = append(out, b)
		}
	}
	return out
}

// point names a workload in a title.
func point(k schema.Key) string {
	if schema.IsMediaTask(k.Task) {
		return k.Workload()
	}
	out := fmt.Sprintf("ISL %s / OSL %s, concurrency %s", fixed(number(k.ISL), all, "?"), fixed(number(k.OSL), all, "?"),
		fixed(number(k.Concurrency), all, "?"))
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
	b.add("target_check", "Target Check", reached, badge(reached))
	b.data.add("target_checks", b.graded.targetChecks())
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
		for i, p := range []*float64{g.key.Concurrency, g.key.ISL, g.key.OSL} {
			c := []int{0, 2, 3}[i]
			b.add(workload20[c].key, workload20[c].head, value(number(p)), significant(number(p)))
		}
		for _, c := range g.checks {
			if c.verdict.Required && !c.verdict.Decision.Excuses() {
				b.status = "error"
				b.blockers = append(b.blockers, blocker{"." + c.tier + "." + c.metric + "_check", c.failure(), ""})
			}
		}
		b.data = append(b.data, object{{"status", b.status}, {"reason", "not measured"},
			{"target_checks", g.targetChecks()}}...)
		b.add("", "Status", nil, "not measured")
		out = append(out, b)
	}
	return out
}

func evals20(evals []eval) []block {
	var out []block
	for i := range evals {
		e := &evals[i]
		b := block{kind: "evals", title: "LLM Eval — " + e.task, task: "llm", status: "pass", data: e.data(columns20, nil)}
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

func (in *Input) tests20() []block {
	var out []block
	for _, s := range in.conformance() {
		share, _ := s.Value.Get()
		passed, word := math.Round(share*float64(s.N)), "pass"
		b := block{kind: "spec_tests", title: s.Task, status: "pass"}
		if share < 1 {
			b.status, b.why = "fail", fmt.Sprintf("%s: %.0f of %d cases passed.", s.Task, passed, s.N)
			b.blockers = []blocker{{"", b.why, ""}}
			i := slices.IndexFunc(in.Review.Targets, func(v schema.Verdict) bool {
				return schema.CategoryOf(&v) == schema.Conformance && v.Key.Dataset == s.Task
			})
			if i >= 0 && in.Review.Targets[i].Decision.Excuses() {
				b.status, b.blockers = "waived", nil
				b.why += " (waived: " + in.Review.Targets[i].Decision.Reason + ")"
			}
		}
		if share != 1 {
			word = "fail"
		}
		b.data = object{{"test_name", s.Task}, {"success", share == 1}, {"status", word}, {"passed", passed}, {"total", s.N}}
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
	Name                      string
	total, failed, na, waived int
	blockers, waivedOnes      object
}

func (c *category) word() string {
	switch {
	case c.failed > 0:
		return "FAIL"
	case c.na == c.total:
		return "NA"
	}
	return "PASS"
}

// Line is the category in a list: its word with a sign, and the counts.
func (c *category) Line() string {
	detail := "no blocks present"
	if c.total > 0 {
		detail = fmt.Sprintf("%d/%d passed", c.total-c.failed-c.na-c.waived, c.total)
		for i, n := range []int{c.failed, c.waived, c.na} {
			if n > 0 {
				detail += fmt.Sprintf(", %d %s", n, []string{"failed", "waived", "NA"}[i])
			}
		}
	}
	return fmt.Sprintf("%s: %s (%s)", c.Name, sign(c.word()), detail)
}

// sign is a word with its sign and as code.
func sign(word string) string {
	return map[string]string{"PASS": "✅", "FAIL": "❌", "NA": "🟨"}[word] + " `" + word + "`"
}

var summary20 = template.Must(template.New("acceptance of v0.20").Parse(`### Acceptance Criteria

- Acceptance status: {{.Sign}}` + "{{with .Status}}\n- Model status: `{{.}}`{{end}}" + `
{{- range .Categories}}
- {{.Line}}{{end}}
{{- if .Blockers}}

#### Blockers
{{range .Blockers}}` + "\n- `{{.Key}}`: {{.Message}}" + `{{end}}{{else if .Ungraded}}
- Nothing was graded: no target and no earlier release covers these results.{{else}}
- All acceptance criteria passed.{{end}}`))

// summary20 is the acceptance, as text and as data, with all blockers. What history and lints found is a category of
// its own where it rejects the release: their report compares with no release before.
func (in *Input) summary20(a *acceptance, blocks []block) (string, []object, []blocker) {
	categories := []*category{{Name: "Benchmarks"}, {Name: "Evals"}, {Name: "Spec Tests"}}
	at := map[string]*category{"benchmarks": categories[0], "evals": categories[1], "spec_tests": categories[2]}
	var list []blocker
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
			x.Key = b.kind + ":" + b.title + x.Key
			c.blockers.add(x.Key, x.Message)
			list = append(list, x)
		}
	}
	other := &category{Name: "History and Lints"}
	for _, b := range a.Blockers { // those that no block has
		if strings.HasPrefix(b.Key, keyHistory) || strings.HasPrefix(b.Key, keyLint) ||
			strings.HasPrefix(b.Key, keyBenchmark+"planned") {
			other.total, other.failed = other.total+1, other.failed+1
			other.blockers.add(b.Key, b.Message)
			list = append(list, b)
		}
	}
	if other.total > 0 {
		categories = append(categories, other)
	}
	var data []object
	for _, c := range categories {
		data = append(data, object{
			{"name", c.Name}, {"status", c.word()}, {"total", c.total}, {"passed", c.total - c.failed - c.na - c.waived},
			{"failed", c.failed}, {"na", c.na}, {"skipped", 0}, {"blockers", append(object{}, c.blockers...)},
			{"waived", append(object{}, c.waivedOnes...)},
		})
	}
	return execute(summary20, struct {
		Sign, Status string
		Categories   []*category
		Blockers     []blocker
		Ungraded     bool
	}{sign(a.word()), in.status(), categories, list, a.Ungraded}), data, list
}

// benchmarkTexts are the tables of benchmarks: blocks of one title, a sweep or a workload with its targets, are one.
func (in *Input) benchmarkTexts(blocks []block) []string {
	var out []string
	for len(blocks) > 0 {
		first := &blocks[0]
		g, n := &grid{}, 0
		for ; n < len(blocks) && blocks[n].title == first.title; n++ {
			g.heads = slices.Clone(blocks[n].heads)
			g.row(slices.Clone(blocks[n].cells)...)
		}
		blocks = blocks[n:]
		if first.kind != "benchmarks" {
			continue
		}
		g.withoutColumns(notAvailable, 0)
		parts := []string{"### " + first.title + " for " + in.onDevice20(), g.left()}
		switch checks := first.graded; {
		case checks != nil && !checks.measured():
			parts = append(parts, "#### Target Checks\n\n"+checks.table(), tierNote)
		case checks != nil:
			parts = append(parts, "#### Target Checks\n\n"+checks.table(), meanNote, tierNote)
		default:
			parts = append(parts, meanNote, ungradedNote)
		}
		out = append(out, strings.Join(parts, "\n\n"))
	}
	return out
}

// table has a row for each tier: target, ratio and check of each metric that some tier grades.
func (g *graded) table() string {
	out := &grid{heads: []string{"Tier"}}
	metrics := g.metrics()
	for _, m := range metrics {
		name := cmp.Or(map[string]string{"tput": "Tput Output", "latency": "TTFT", "e2el_ms": "e2el_ms"}[m], titled(m))
		out.heads = append(out.heads, name+" Target", name+" Ratio", name+" Check")
	}
	for _, tier := range tiers(g.checks) {
		cells := []string{tier}
		for _, m := range metrics {
			c := g.find(tier, m)
			if c == nil {
				c = &check{result: isNA}
			}
			target := significant(c.target)
			if m == "tput_user" && !schema.IsMediaTask(g.key.Task) {
				target = fixed(c.target, 2, notAvailable)
			}
			cells = append(cells, target, significant(c.ratio()), badge(c.result))
		}
		out.row(cells...)
	}
	out.withoutColumns(notAvailable, 0)
	return out.left()
}

// stress20 is the block of the stress tests as data and as text; nothing without any.
func (in *Input) stress20() (object, string) {
	if len(in.stress) == 0 {
		return nil, ""
	}
	first := in.stress[0]
	data := object{
		{"kind", "stress_tests"}, {"model", in.repo()}, {"device", in.device()}, {"timestamp", first.values["measured"]},
		{"model_id", in.repo()}, {"backend", first.values["backend"]},
	}
	head := &grid{heads: []string{"model_id", "Source"}}
	head.row(in.repo(), first.values["backend"].(string))
	parts := []string{"### Stress Tests for " + in.repo() + " on " + in.device(), head.left()}
	for _, t := range stressTables20() {
		var rows []object
		for _, r := range in.stress {
			o := append(object{{"config", r.values["config"]}}, objectOf(r, t.columns, nil)...)
			if t.name == "Configurations" {
				o.add("timestamp", r.values["measured"])
			}
			rows = append(rows, o)
		}
		g := tableOf(in.stress, append([]column{{"", "config", all, "config"}}, t.columns...), cell20)
		data.add(t.name, rows)
		g.withoutColumns(notAvailable, 0)
		parts = append(parts, "#### "+t.name+"\n\n"+g.left())
	}
	return data, strings.Join(parts, "\n\n")
}

// cell20 is a value in a table of stress tests.
func cell20(v any, places int) string {
	n, ok := v.(schema.Number)
	switch {
	case !ok:
		return v.(string)
	case fewer(n):
		return n.Why()
	case places == all:
		return significant(n)
	}
	return significant(rounded(n, places))
}

// testTable are the conformance tests of the server: how many, and each.
func testTable(blocks []block) string {
	results := &grid{heads: []string{"Status", "Test Name", "Description"}}
	passed := 0
	for i := range blocks {
		switch b := &blocks[i]; {
		case b.kind != "spec_tests":
		case b.status == "pass":
			passed++
			results.row("✅ PASS", b.title, "")
		default:
			results.row("❌ FAIL", b.title, b.why)
		}
	}
	total := len(results.rows)
	if total == 0 {
		return ""
	}
	summary := &grid{heads: []string{"Metric", "Value"}}
	summary.row("Total Tests", strconv.Itoa(total))
	summary.row("Passed", strconv.Itoa(passed))
	summary.row("Failed", strconv.Itoa(total-passed))
	summary.row("Success Rate", fmt.Sprintf("%.1f%%", 100*float64(passed)/float64(total)))
	return "## 📋 Summary\n\n" + summary.left() + "\n\n## 🧪 Test Results\n\n" + results.left()
}
