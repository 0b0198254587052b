package parity

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// report20 is the report of v0.19 and after, as its templates see it.
type report20 struct {
	acceptance
	On, Metadata, Summary string
	Sections              []string
	Data                  []object // of the blocks
	Categories            []*category
	Findings              []blocker // of all blocks, and of no block
}

// block is a section of the report since v0.19.
type block struct {
	kind, title  string
	data         object
	heads, cells []string // of its row in a table
	graded       *graded  // of a benchmark
	task         string   // of media
	targets      object
	status       string // pass, fail, na, waived or error, as the categories count it
	why          string // of a test that failed
	blockers     []blocker
}

// add adds a value to the data, and to the table if it has a head.
func (b *block) add(key, head string, v any, cell string) {
	b.data.Add(key, v)
	if head != "" {
		b.heads, b.cells = append(b.heads, head), append(b.cells, cell)
	}
}

// fill adds values of a row. Media have no place for what is not known, and are not rounded.
func (b *block) fill(r *row, columns []column) {
	for _, c := range columns {
		switch v := r.values[c.from].(type) {
		case string:
			b.add(c.key, c.head, v, v)
		case bool:
			b.add(c.key, c.head, v, strconv.FormatBool(v))
		case schema.Number:
			n, ok := v.Get()
			switch {
			case b.task != "" && !ok:
			case c.places == all, b.task != "" && c.key == "tput_user" && n < .1: // two places would be 0.00
				b.add(c.key, c.head, value(v), significant(v))
			case b.task != "":
				b.add(c.key, c.head, n, fixed(v, c.places, ""))
			default:
				b.add(c.key, c.head, value(rounded(v, 4)), shown(rounded(v, 4), c.places))
			}
		}
	}
}

// layout20 writes the files of v0.19 and after.
func (in *Input) layout20(o *output, evals []eval, a acceptance) {
	device := strings.ToUpper(in.Device)
	on, section := words.OnDevice(in.repo(), device), fileName(in.repo()+"_"+device)
	id := fileName(words.OrUnknown(in.repo()))
	if in.apart {
		id += "_" + device
	}
	id += "_" + cmp.Or(timeText(in.time(), "2006-01-02T150405-0700"), "undated")
	blocks := slices.Concat(in.benchmarks20(device), in.media20(), in.missing20(), in.evals20(evals), in.tests20())
	r := &report20{acceptance: a, On: on, Data: []object{}}
	r.count(blocks)
	for i := range blocks {
		b := &blocks[i]
		data := object{{"kind", b.kind}, {"data", b.data}, {"title", b.title}}
		if b.task != "" {
			data.Add("task_type", b.task)
		}
		data.Add("id", section)
		if len(b.targets) > 0 {
			data.Add("targets", b.targets)
		}
		r.Data = append(r.Data, data)
	}
	facts := in.facts()
	facts["report_id"], facts["model_name"], facts["device"] = id, in.repo(), device
	facts["generated_at"] = text(timeText(in.time(), "2006-01-02T15:04:05-07:00"))
	r.Metadata, r.Summary = o.indented("metadata20", facts), o.fill("acceptance20", r)
	r.Sections = in.benchmarkTexts(o, blocks, on)
	if len(evals) > 0 {
		table := evalTable(in, evals, "evals20", evalCell20).left()
		r.Sections = append(r.Sections, o.fill("evals20", map[string]string{"On": on, "Table": table}))
	}
	if len(in.stress) > 0 {
		data, text := in.stress20(o)
		r.Data = append(r.Data, object{{"kind", "stress_tests"}, {"data", data}, {"id", section}})
		r.Sections = append(r.Sections, text)
	}
	if text := testTable(o, blocks); text != "" {
		r.Sections = append(r.Sections, text)
	}
	o.add("release/report_"+id+".md", []byte(o.fill("report20", r)), nil)
	o.json("release/data/report_data_"+id+".json", json.RawMessage(o.fill("data20", r)))
}

// benchmarks20 are the blocks of what was measured: of each tool what has targets first, as it is run. Blocks of one
// title follow one another: they are one table.
func (in *Input) benchmarks20(device string) []block {
	var out []block
	for _, t := range in.toolsOf() {
		var rest []block
		first := map[string]int{} // of a title
		for _, r := range in.of(t.name, "") {
			if b := in.benchmark(t, r, device); b.graded != nil {
				out = append(out, b)
			} else {
				first[b.title] = cmp.Or(first[b.title], len(rest)+1)
				rest = append(rest, b)
			}
		}
		slices.SortStableFunc(rest, func(a, b block) int { return first[a.title] - first[b.title] })
		out = append(out, rest...)
	}
	return out
}

func (in *Input) benchmark(t tool, r *row, device string) block {
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
		{"tool", strings.ReplaceAll(t.name, "-", "_")}, {"model", in.repo()}, {"device", device},
		{"timestamp", r.values["measured"]},
	}}
	if b.graded != nil {
		b.title += " Targets — " + point(r.point.Key)
	}
	columns := listed("tool20")
	if t.name == "vllm" {
		columns = listed("vllm20")
	}
	if task == "structured_output" {
		columns = slices.Concat(listed("structured20"), columns)
	}
	b.fill(r, columns)
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
			b.fill(r, k.columns("data"))
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
		b.data = append(b.data, member{"status", "na"}, member{"target_check", isNA})
		return
	}
	for _, c := range b.graded.checks {
		switch {
		case c.result() == isFail && c.blocks():
			b.fail("fail", c)
		case c.result() != isNA && b.status == "na":
			b.status = "pass"
		}
	}
	if b.status == "na" {
		b.data.Add("status", "na")
	}
	reached := b.graded.reached()
	b.add("target_check", "Target Check", reached, badge(reached))
	b.data.Add("target_checks", b.graded.targetChecks())
}

func (b *block) fail(status string, c check) {
	b.status = status
	b.blockers = append(b.blockers, blocker{"." + c.Level + "." + c.name() + "_check", c.failure(), ""})
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
			c := listed("load20")[i]
			b.add(c.key, c.head, value(number(p)), significant(number(p)))
		}
		for _, c := range g.checks {
			if c.blocks() {
				b.fail("error", c)
			}
		}
		b.add("status", "Status", b.status, "not measured")
		b.data = append(b.data, object{{"reason", "not measured"}, {"target_checks", g.targetChecks()}}...)
		out = append(out, b)
	}
	return out
}

func (in *Input) evals20(evals []eval) []block {
	var out []block
	for i := range evals {
		e := &evals[i]
		b := block{kind: "evals", title: "LLM Eval — " + e.task, task: "llm", status: "pass",
			data: e.data(in, listed("evals20"), nil)}
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

// category is what the blocks of a kind came to.
type category struct {
	Name                      string
	Total, Failed, NA, Waived int
	Blockers, WaivedOnes      []blocker
}

// Word is the outcome of the category.
func (c *category) Word() string {
	switch {
	case c.Failed > 0:
		return "FAIL"
	case c.NA == c.Total:
		return "NA"
	}
	return "PASS"
}

// Passed is how many blocks passed.
func (c *category) Passed() int { return c.Total - c.Failed - c.NA - c.Waived }

// sign is a word with its sign and as code.
func sign(word string) string {
	return map[string]string{"PASS": "✅", "FAIL": "❌", "NA": "🟨"}[word] + " `" + word + "`"
}

// count counts blocks by category, with all findings. What history and lints found is a category of its own where it
// rejects the release: their report compares with no release before.
func (r *report20) count(blocks []block) {
	r.Categories = []*category{{Name: "Benchmarks"}, {Name: "Evals"}, {Name: "Spec Tests"}}
	at := map[string]*category{"benchmarks": r.Categories[0], "evals": r.Categories[1], "spec_tests": r.Categories[2]}
	for i := range blocks {
		b, c := &blocks[i], at[blocks[i].kind]
		c.Total++
		switch b.status {
		case "fail", "error":
			c.Failed++
		case "na":
			c.NA++
		case "waived":
			c.Waived++
			c.WaivedOnes = append(c.WaivedOnes, blocker{b.kind + ":" + b.title, "informational, or a known issue", ""})
		}
		for _, x := range b.blockers {
			x.Key = b.kind + ":" + b.title + x.Key
			c.Blockers = append(c.Blockers, x)
		}
	}
	other := &category{Name: "History and Lints"}
	for _, b := range r.Blockers { // those that no block has
		if strings.HasPrefix(b.Key, keyHistory) || strings.HasPrefix(b.Key, keyLint) ||
			strings.HasPrefix(b.Key, keyBenchmark+"planned") {
			other.Total, other.Failed, other.Blockers = other.Total+1, other.Failed+1, append(other.Blockers, b)
		}
	}
	if other.Total > 0 {
		r.Categories = append(r.Categories, other)
	}
	for _, c := range r.Categories {
		r.Findings = append(r.Findings, c.Blockers...)
	}
}

// benchmarkTexts are the tables of benchmarks: blocks of one title, a sweep or a workload with its targets, are one.
func (in *Input) benchmarkTexts(o *output, blocks []block, on string) []string {
	var out []string
	for len(blocks) > 0 && blocks[0].kind == "benchmarks" {
		first := &blocks[0]
		g := &grid{}
		for len(blocks) > 0 && blocks[0].title == first.title {
			g.heads = slices.Clone(blocks[0].heads)
			g.row(slices.Clone(blocks[0].cells)...)
			blocks = blocks[1:]
		}
		checks, measured := "", true
		if first.graded != nil {
			checks, measured = first.graded.table(), first.graded.measured()
		}
		out = append(out, o.fill("benchmark20", map[string]any{"Title": first.title, "On": on, "Table": g.left(),
			"Checks": checks, "Measured": measured}))
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
			target := significant(c.Ref)
			if m == "tput_user" && !schema.IsMediaTask(g.key.Task) {
				target = fixed(c.Ref, 2, notAvailable)
			}
			cells = append(cells, target, significant(c.ratio()), badge(c.result()))
		}
		out.row(cells...)
	}
	return out.left()
}

// stress20 is the block of the stress tests as data and as text.
func (in *Input) stress20(o *output) (data object, text string) {
	first := in.stress[0].values
	data = object{{"kind", "stress_tests"}, {"model", in.repo()}, {"device", in.device()},
		{"timestamp", first["measured"]}, {"model_id", in.repo()}, {"backend", first["backend"]}}
	head := &grid{heads: []string{"model_id", "Source"}}
	head.row(in.repo(), first["backend"].(string))
	var tables []titled17
	for _, name := range []string{"Configurations", "TTFT (ms)", "TPOT (ms)", "ITL (ms)", "E2EL (ms)", "Throughput",
		"Token Totals"} {
		var rows []object
		for _, r := range in.stress {
			rows = append(rows, objectOf(r, listed("stress "+name), nil))
		}
		data.Add(name, rows)
		tables = append(tables, titled17{name, tableOf(in.stress, listed("stress "+name), cell20).left()})
	}
	return data, o.fill("stress20", map[string]any{"Model": in.repo(), "Device": in.device(), "Head": head.left(),
		"Tables": tables})
}

// testTable are the conformance tests of the server: how many, and each.
func testTable(o *output, blocks []block) string {
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
	counts := &grid{heads: []string{"Metric", "Value"}}
	counts.row("Total Tests", strconv.Itoa(total))
	counts.row("Passed", strconv.Itoa(passed))
	counts.row("Failed", strconv.Itoa(total-passed))
	counts.row("Success Rate", fmt.Sprintf("%.1f%%", 100*float64(passed)/float64(total)))
	return o.fill("tests20", map[string]string{"Counts": counts.left(), "Results": results.left()})
}
