package ttis

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

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
