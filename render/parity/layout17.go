package parity

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// report17 is a release report of v0.17 and before, as its templates see it.
type report17 struct {
	acceptance
	On, Metadata, Summary              string
	Sections                           []string
	Targets, Evals, Stress, Statistics []object
	AIPerf, GuideLLM                   details
	Tests                              object   // outcomes of conformance tests
	Failed                             []string // levels that are enforced and not reached
	Issues                             []object
	Waivers                            int
}

// titled17 is a table below its title.
type titled17 struct{ Title, Text string }

// tables17 are the tables of a document.
type tables17 struct {
	On, Tool string
	Tables   []titled17
	Graded   bool // some workload has a target
	Media    bool // no model that writes text was measured
}

// layout17 writes the files of v0.17 and before.
func (in *Input) layout17(o *output, evals []eval, a acceptance) {
	id, on := in.id17(), words.OnDevice(in.Model, in.device())
	markdown := func(name, text string) { o.add(name+"_"+id+".md", []byte(text), nil) }
	glossary := o.fill("glossary", nil) + "\n"
	r := &report17{acceptance: a, On: on, Targets: in.summaryData(), Evals: []object{},
		Statistics: in.statistics().objects(), AIPerf: in.details("aiperf"), GuideLLM: in.details("guidellm")}
	if tables := slices.Concat(in.sweeps17(), in.mediaSweeps17(o, r)); len(tables) > 0 {
		text := o.fill("sweeps17", tables17{On: on, Tables: tables})
		markdown("benchmarks/benchmark_display", text+"\n")
		if len(in.rows) > 0 {
			o.csv("benchmarks/data/benchmark_stats_"+id+".csv", in.statistics())
		}
		r.Sections = []string{text, o.fill("targets17", in.targets17(on))}
	}
	for _, t := range in.toolsOf() {
		if t.file != "" && t.name != "guidellm" {
			text := in.detail17(o, t, on)
			markdown(fmt.Sprintf("benchmarks_%s/%[1]s_benchmark_display", t.file), text+glossary)
			r.Sections = append(r.Sections, text)
		}
	}
	if len(evals) > 0 {
		for i := range evals {
			e, samples := &evals[i], any(nil)
			if e.n > 0 {
				samples = e.n
			}
			r.Evals = append(r.Evals, append(e.data(in, listed("evals17"), notAvailable),
				member{"metadata", object{{"n_samples", samples}, {"stderr", value(e.stderr)}}}))
		}
		scores := grid{heads: []string{"Task Name", "Metric", "Value"}} // every metric as the harness wrote it
		for i := range in.Runs {
			for _, s := range in.Runs[i].Scores {
				if s.Metric != schema.MetricPassed {
					scores.row(s.Task, s.Metric+","+cmp.Or(s.Filter, "none"), fixed(s.Value, 4, notAvailable))
				}
			}
		}
		markdown("evals/summary", scores.aligned()+"\n")
		o.json("evals/data/eval_data_"+id+".json", r.Evals)
		r.Sections = append(r.Sections, o.fill("evals17",
			map[string]string{"On": on, "Table": evalTable(in, evals, "evals17 table", shown).aligned()}))
	}
	if list := slices.Clone(in.stress); len(list) > 0 {
		slices.SortStableFunc(list, func(a, b *row) int { return strings.Compare(a.stamp, b.stamp) })
		for _, row := range list {
			r.Stress = append(r.Stress, objectOf(row, listed("stress data"), notMeasured))
		}
		table := func(name string) string { return tableOf(list, listed("stress "+name), shown).aligned() }
		section := o.fill("stress17", map[string]string{"On": on, "Means": table("means"),
			"Percentiles": table("percentiles")})
		markdown("stress_tests/stress_test_summary", section+glossary)
		o.json("stress_tests/data/stress_test_data_"+id+".json", r.Stress)
		r.Sections = append(r.Sections, section)
	}
	r.accept(in)
	facts := in.facts()
	facts["report_id"], facts["model_name"], facts["device"] = id, in.Model, in.device()
	r.Metadata, r.Summary = o.indented("metadata17", facts), o.fill("acceptance17", r)
	markdown("release/report", o.fill("report17", r))
	o.json("release/data/report_data_"+id+".json", json.RawMessage(o.fill("data17", r)))
}

// accept adds what the data of a report say of its acceptance.
func (r *report17) accept(in *Input) {
	r.Waivers = len(r.Masked) + len(r.Informational)
	r.Failed = slices.DeleteFunc(slices.Clone(r.Enforced), func(level string) bool {
		return !slices.ContainsFunc(r.Blockers, func(b blocker) bool {
			return strings.HasPrefix(b.Key, keyBenchmark+level+".")
		})
	})
	r.Issues = []object{} // failures that the owner of the model accepts
	for _, k := range in.newest().Acceptance.KnownIssues {
		kind := strings.ToUpper(strings.ReplaceAll(string(k.Category), " ", "_"))
		r.Issues = append(r.Issues, object{{"workflow_type", kind}, {"task_name", text(k.Task)}, {"reason", k.Reason}})
	}
	for _, s := range in.conformance() {
		cases, share := make([]object, s.N), 0.
		share, _ = s.Value.Get()
		for i := range cases {
			cases[i] = object{{"status", map[bool]string{true: "passed", false: "failed"}[i < int(share*float64(s.N)+.5)]}}
		}
		r.Tests.Add(s.Task, cases)
	}
}

// details are the results of a tool with all their digits: as values, and as texts as they come back from a CSV.
type details struct{ Data, Texts []object }

func (in *Input) details(tool string) details {
	d := details{[]object{}, []object{}}
	for _, r := range in.of(tool, "") {
		columns := listed("data "+r.task(), "data text")
		d.Data = append(d.Data, objectOf(r, columns, nil))
		d.Texts = append(d.Texts, dataOf([]*row{r}, columns, digits).objects()...)
	}
	return d
}

// sweeps17 are the tables of all tools: of text, of structured output, of pictures, then of other tasks.
func (in *Input) sweeps17() (out []titled17) {
	groups := [][][2]string{{{"text", "Text-to-Text Performance"}, {"structured_output", "Structured Output Performance"}},
		{{"vlm", "VLM"}}, nil}
	known := []string{"text", "structured_output", "vlm"}
	for _, r := range in.rows {
		if t := r.task(); !slices.Contains(known, t) {
			known, groups[2] = append(known, t), append(groups[2], [2]string{t, titled(t)})
		}
	}
	for _, group := range groups {
		for _, t := range in.toolsOf() {
			for _, task := range group {
				if list := in.of(t.name, task[0]); len(list) > 0 {
					table := tableOf(list, listed("sweep "+task[0], "sweep"), cell17)
					out = append(out, titled17{t.label + " " + task[1], table.aligned()})
				}
			}
		}
	}
	return out
}

// mediaSweeps17 writes the statistics of media, adds them to those of the report, and returns their tables.
func (in *Input) mediaSweeps17(o *output, report *report17) (out []titled17) {
	for _, k := range mediaKinds() {
		list := in.mediaOf(k.task)
		if len(list) == 0 {
			continue
		}
		name := "benchmark_" + k.task + "_stats_"
		if len(in.rows)+len(out) == 0 { // the first has the usual name where there is no text
			name = "benchmark_stats_"
		}
		statistics := dataOf(list, k.columns("csv"), cell17)
		o.csv("benchmarks/data/"+name+in.id17()+".csv", statistics)
		report.Statistics = append(report.Statistics, statistics.objects()...)
		out = append(out, titled17{k.title17, tableOf(list, k.columns("table"), cell17).aligned()})
	}
	return out
}

// statistics is the table of all rows of models that write text, as CSV and as the data of a report have it: tool by
// tool, structured output after the other workloads. Its last six columns are there if some row fills them.
func (in *Input) statistics() *grid {
	var list []*row
	for _, t := range in.toolsOf() {
		rows := in.of(t.name, "")
		isLast := func(r *row) bool { return r.task() == "structured_output" }
		list = append(list, slices.DeleteFunc(slices.Clone(rows), isLast)...)
		last := slices.DeleteFunc(rows, func(r *row) bool { return !isLast(r) })
		slices.SortStableFunc(last, func(a, b *row) int {
			return cmp.Or(slices.Compare(a.order(), b.order()), cmp.Compare(a.stamp, b.stamp))
		})
		list = append(list, last...)
	}
	g := dataOf(list, listed("statistics"), cell17)
	if len(list) > 0 {
		for c, first := len(g.heads)-1, len(g.heads)-6; c >= first; c-- {
			g.drop(c, notMeasured)
		}
	}
	return g
}

// mediaOf are the results of a task.
func (in *Input) mediaOf(task string) []*row {
	return slices.DeleteFunc(slices.Clone(in.media), func(r *row) bool { return r.point.Key.Task != task })
}

// detail17 writes the CSV with percentiles of a tool, and returns its tables.
func (in *Input) detail17(o *output, t tool, on string) string {
	out := tables17{On: on, Tool: t.label}
	for _, task := range [][2]string{{"text", "Text"}, {"vlm", "VLM"}} {
		if list := in.of(t.name, task[0]); len(list) > 0 {
			out.Tables = append(out.Tables, titled17{task[1], tableOf(list, listed("detail "+task[0]), shown).aligned()})
			o.csv(fmt.Sprintf("benchmarks_%s/data/%[1]s_benchmark_%s_stats_%s.csv", t.file, task[0], in.id17()),
				dataOf(list, listed("data "+task[0]), digits))
		}
	}
	return o.fill("detail17", out)
}

// copies17 are the flat copies of results of AIPerf, GenAI-Perf and GuideLLM that v0.17 writes beside vLLM's, so that
// scripts read all tools alike: see benchmarking/run_aiperf_benchmarks.py. A metric that a tool does not measure is
// left out; theirs have 0 there, and TPOT a second time as ITL.
func (in *Input) copies17(o *output) {
	for _, t := range tools() {
		if t.file == "" {
			continue
		}
		for _, r := range in.of(t.name, "") {
			data := object{{"date", timeText(r.point.End, "20060102-150405")}, {"backend", t.name}, {"model_id", in.repo()},
				{"tokenizer_id", cmp.Or(r.point.Conditions["tokenizer"], in.repo())}}
			for _, c := range listed("copied") {
				if n := r.number(c.from); !n.IsZero() {
					data.Add(c.key, value(n))
				}
			}
			data.Add(Mark, in.facts()[Mark])
			name := strings.TrimSuffix(t.file, "_perf") + "_benchmark_" + in.modelID() + "_" + r.stamp
			for _, part := range [][2]string{{"isl", "isl"}, {"osl", "osl"}, {"maxcon", "requested"}, {"n", "asked"}} {
				name += "_" + part[0] + "-" + fixed(r.number(part[1]), all, "0")
			}
			if r.task() == "vlm" {
				name += fmt.Sprintf("_images-%s_height-%s_width-%s", r.values["images_per_prompt"], r.values["image_height"],
					r.values["image_width"])
			}
			o.json("benchmarks_output/"+fileName(name)+".json", data)
		}
	}
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
			c.Value = rounded(c.Value, cmp.Or(map[string]int{"ttft": 1, "tput_user": 2}[c.name()], 4))
		}
		out = append(out, s)
	}
	return out
}

// targets17 are the tables of targets: what was measured, the checks, then the targets.
func (in *Input) targets17(on string) tables17 {
	out := tables17{On: on, Graded: len(in.graded) > 0, Media: len(in.rows) == 0}
	if list := in.summaryRows(); len(list) > 0 {
		out.Tables = []titled17{{"Text-to-Text Performance", textTargets17(list)}}
	}
	for _, k := range mediaKinds() { // v0.17 has these in its data alone
		for _, r := range in.mediaOf(k.task) {
			if g := in.gradedRow(r); g != nil {
				out.Tables = append(out.Tables, titled17{k.title20, g.table()})
			}
		}
	}
	return out
}

// textTargets17 is the table of models that write text.
func textTargets17(list []summaryRow) string {
	var every []check
	for i := range list {
		every = append(every, list[i].checks...)
	}
	metrics := slices.DeleteFunc(metricsOf(every), func(m string) bool {
		return m == "tput" && !slices.ContainsFunc(every, func(c check) bool { return c.name() == m })
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
				cells, limits = append(cells, word(c.result())), append(limits, fixed(c.Ref, 2, notAvailable))
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
			data := objectOf(r, k.columns("summary"), nil)
			if g := in.gradedRow(r); g != nil {
				data.Add("target_checks", g.mediaChecks17())
			}
			out = append(out, data)
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
			if c.Metric == "" {
				if name == "tput" {
					one.Add("tput_check", isNA)
				}
				continue
			}
			if m == "latency" || embedding { // the ratio is that of the number as it is shown
				target := c.Ref
				if m == "latency" {
					target = seconds(target)
				}
				c.Value = rounded(c.Value, map[string]int{"latency": 2, "tput_user": 2, "tput_prefill": 1, "e2el_ms": 1}[m])
				one = append(one, member{m, value(target)}, member{m + "_ratio", value(c.ratio())})
			}
			one.Add(name+"_check", c.result())
		}
		out.Add(tier, one)
	}
	return out
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
