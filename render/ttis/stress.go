package ttis

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// isStress reports a result of the stress tests, which have tables of their own. Their names are those of
// stress_tests/stress_tests_core.py.
func isStress(p *schema.Point) bool {
	return strings.HasPrefix(path.Base(p.Source.Path), "stress_test_")
}

// isPlain reports any other result of a text.
func isPlain(p *schema.Point) bool { return !isStress(p) && !isMedia(p) }

// stressMetrics and stressStats are the columns of stress_tests_summary_report.py (v0.17) and
// stress_tests_record_builder.py (v0.20), in their order. Deviations have two places, all else one.
var (
	stressMetrics = []string{"ttft", "tpot", "itl", "e2el"}
	stressStats   = []struct{ stat, name string }{
		{"mean", "mean"}, {"std", "std"}, {"p5", "p5"}, {"p25", "p25"}, {"median", "p50"}, {"p95", "p95"}, {"p99", "p99"},
	}
)

// stressStat is a statistic of a latency, rounded.
func (r *row) stressStat(metric, stat string) schema.Number {
	m, places := r.point.Metrics[metric], 1
	n := m.Stat(stat)
	switch stat {
	case "std":
		places = 2
	case "p99":
		n = r.latencies(metric).p99
	}
	return rounded(n, places)
}

// cell17 is a value of the data of v0.17: a number, or the word for none.
func cell17(n schema.Number) any {
	if v := value(n); v != nil {
		return v
	}
	return notMeasured
}

// stressRow17 is a stress test as the data of v0.17 have it.
func (in *Input) stressRow17(r *row) object {
	o := object{
		{"timestamp", r.stamp}, {"model_name", trimDevice(in.modelID(), in.device())}, {"model_id", in.repo()},
		{"backend", r.source()}, {"device", in.device()}, {"input_sequence_length", cell17(r.isl)},
		{"output_sequence_length", cell17(r.osl)}, {"max_con", cell17(r.concurrency)},
	}
	latency := func(metric string) {
		for _, s := range stressStats {
			if metric == "e2el" && s.stat == "std" {
				continue // it has none
			}
			o.add(s.name+"_"+metric+"_ms", cell17(r.stressStat(metric, s.stat)))
		}
	}
	latency("ttft")
	latency("tpot")
	o = append(o, member{"mean_tps", cell17(rounded(r.user, 2))}, member{"std_tps", cell17(rounded(r.userStd, 2))},
		member{"tps_decode_throughput", cell17(rounded(r.decode, 1))},
		member{"tps_prefill_throughput", cell17(rounded(r.prefill, 1))})
	latency("itl")
	latency("e2el")
	return append(o, member{"request_throughput", cell17(rounded(r.rps, 3))},
		member{"total_input_tokens", cell17(r.inputTokens)}, member{"total_output_tokens", cell17(r.outputTokens)},
		member{"num_prompts", cell17(r.asked)}, member{"num_requests", cell17(r.asked)},
		member{"filename", path.Base(r.point.Source.Path)}, member{"task_type", r.task()})
}

// stress17 writes the summary and the data of the stress tests, and returns the summary; "" without any.
func (in *Input) stress17(id string, add func(name, text string)) (string, error) {
	if len(in.stress) == 0 {
		return "", nil
	}
	text := "### Stress Test Results for " + in.onDevice() + "\n\n" + in.stressTable17("mean").aligned() +
		"\n\n#### Percentiles\n\n" + in.stressTable17("mean", "p5", "p25", "median", "p95", "p99").aligned()
	doc, err := document(in.stressData())
	if err != nil {
		return "", err
	}
	add("stress_tests/stress_test_summary_"+id+".md", text+glossary+"\n")
	add("stress_tests/data/stress_test_data_"+id+".json", string(doc)+"\n")
	return text, nil
}

// stressTable17 has statistics of each latency: the mean, and those of run.py --percentile-report.
func (in *Input) stressTable17(stats ...string) *grid {
	g := &grid{}
	for _, r := range in.stressByTime() {
		g.heads = []string{"ISL", "OSL", "Concurrency", "Num Prompts"}
		cells := []string{
			whole(r.isl, notAvailable), whole(r.osl, notAvailable), whole(r.concurrency, notAvailable),
			whole(r.asked, notAvailable),
		}
		for _, m := range stressMetrics {
			for _, stat := range stats {
				n, head := r.stressStat(m, stat), strings.ToUpper(m)+" (ms)"
				if stat != "mean" {
					head = strings.ToUpper(strings.Replace(stat, "median", "p50", 1)) + " " + head
				}
				missing := notAvailable
				if fewer(n) {
					missing = n.Why()
				}
				g.heads, cells = append(g.heads, head), append(cells, fixed(n, 1, missing))
			}
		}
		g.heads = append(g.heads, "Tput User (TPS)", "Tput Decode (TPS)")
		g.row(append(cells, fixed(rounded(r.user, 2), 2, notAvailable), fixed(rounded(r.decode, 1), 1, notAvailable))...)
	}
	return g
}

// stressData is what the data of the release report have of stress tests; null without any.
func (in *Input) stressData() any {
	if len(in.stress) == 0 {
		return nil
	}
	var out []object
	for _, r := range in.stressByTime() {
		out = append(out, in.stressRow17(r))
	}
	return out
}

func (in *Input) stressByTime() []*row {
	list := slices.Clone(in.stress)
	slices.SortStableFunc(list, func(a, b *row) int { return strings.Compare(a.stamp, b.stamp) })
	return list
}

// stressTable is one table of the stress tests since v0.19: the configuration of each, and some of its numbers.
type stressTable struct {
	name  string
	heads []string // as tables have them; the first is of the configuration
	keys  []string // as data have them
	of    func(*row) []schema.Number
}

// stressTables are all of them, in order.
func stressTables() []stressTable {
	out := []stressTable{{
		"Configurations", []string{"config", "ISL", "OSL", "Concurrency", "n_requests"},
		[]string{"config", "isl", "osl", "concurrency", "n_requests"},
		func(r *row) []schema.Number { return []schema.Number{r.isl, r.osl, r.concurrency, r.asked} },
	}}
	for _, metric := range stressMetrics {
		t := stressTable{name: strings.ToUpper(metric) + " (ms)", keys: []string{"config"}}
		stats := slices.Clone(stressStats)
		if metric == "e2el" {
			stats = slices.Delete(stats, 1, 2) // it has no deviation
		}
		for _, s := range stats {
			t.keys = append(t.keys, s.name)
		}
		t.heads = t.keys
		t.of = func(r *row) (list []schema.Number) {
			for _, s := range stats {
				list = append(list, r.stressStat(metric, s.stat))
			}
			return list
		}
		out = append(out, t)
	}
	through := []string{"config", "request_tput", "user_tps", "decode_tps", "prefill_tps"}
	return append(out, stressTable{"Throughput", through, through, func(r *row) []schema.Number {
		return []schema.Number{rounded(r.rps, 3), rounded(r.user, 2), rounded(r.decode, 1), rounded(r.prefill, 1)}
	}}, stressTable{
		"Token Totals", []string{"config", "Total Input Tokens", "Total Output Tokens", "Num Prompts"},
		[]string{"config", "total_input_tokens", "total_output_tokens", "num_prompts"},
		func(r *row) []schema.Number { return []schema.Number{r.inputTokens, r.outputTokens, r.asked} },
	})
}

// measured is when a test was measured, as data since v0.19 have it.
func (r *row) measured() string {
	return timeText(cmp.Or(r.point.End, r.point.Start), "2006-01-02 15:04:05")
}

func (r *row) config() string {
	return fmt.Sprintf("isl=%s/osl=%s/c=%s", whole(r.isl, notAvailable), whole(r.osl, notAvailable),
		whole(r.concurrency, notAvailable))
}

// stressText is the section of a report since v0.19; "" without stress tests.
func (in *Input) stressText() string {
	if len(in.stress) == 0 {
		return ""
	}
	head := &grid{heads: []string{"model_id", "Source"}}
	head.row(in.repo(), in.stress[0].source())
	parts := []string{"### Stress Tests for " + in.repo() + " on " + in.device(), head.left()}
	for _, t := range stressTables() {
		g := &grid{heads: t.heads}
		for _, r := range in.stress {
			cells := []string{r.config()}
			for _, n := range t.of(r) {
				text := significant(n)
				if fewer(n) {
					text = n.Why()
				}
				cells = append(cells, text)
			}
			g.row(cells...)
		}
		g.withoutColumns(func(_ int, cells []string) bool { return all(cells, notAvailable) })
		parts = append(parts, "#### "+t.name+"\n\n"+g.left())
	}
	return strings.Join(parts, "\n\n")
}

// stressSection is the block of the data; nil without stress tests.
func (in *Input) stressSection() object {
	if len(in.stress) == 0 {
		return nil
	}
	first := in.stress[0]
	data := object{
		{"kind", "stress_tests"}, {"model", in.repo()}, {"device", in.device()}, {"timestamp", first.measured()},
		{"model_id", in.repo()}, {"backend", first.source()},
	}
	for _, t := range stressTables() {
		var rows []object
		for _, r := range in.stress {
			o := object{{"config", r.config()}}
			for i, n := range t.of(r) {
				o.add(t.keys[i+1], value(n))
			}
			if t.name == "Configurations" {
				o.add("timestamp", r.measured())
			}
			rows = append(rows, o)
		}
		data.add(t.name, rows)
	}
	return object{{"kind", "stress_tests"}, {"data", data}, {"id", fileName(in.repo() + "_" + in.device20())}}
}
