package rows

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// Standard is a format of others in which a release is written.
type Standard struct {
	Name  string // as on the command line
	Files func(r *render.Report, release int) ([]Written, error)
	Globs []string // of the names that files may have
}

// Written is a file of a standard, by its path with slashes.
type Written struct {
	Name string
	Data []byte
}

// Standards are the formats that are written; another is a line here and a file of its own.
func Standards() []Standard {
	return []Standard{
		{"every-eval-ever", everyEval, []string{"*.json"}}, {"eval-results", evalResults, []string{"*/.eval_results/*.yaml"}},
		{"llm-d", llmd, []string{"*/p*.json"}}, {"bencher", bencher, nil}, {"ctrf", ctrf, nil},
		{"openmetrics", openMetrics, nil},
	}
}

// dict is an object whose members a schema of others names.
type dict map[string]any

// document is a file of JSON.
func document(name string, v any) (Written, error) {
	var b bytes.Buffer
	if err := WriteJSON(&b, v); err != nil {
		return Written{}, fmt.Errorf("writing %s: %w", name, err)
	}
	return Written{name, b.Bytes()}, nil
}

// quoted is a text in JSON, which is one in YAML too.
func quoted(s string) []byte {
	b, _ := json.Marshal(s) // a string always has a form
	return b
}

// modelID is the model of a run as its repository is called, else by its name.
func modelID(h *columns.RunHead) string { return cmp.Or(h.Model.ID, h.Model.Name) }

// everyEval writes a file for each run with scores: the aggregate of Every Eval Ever, schema 0.3.0
// (evaleval/every_eval_ever, eval.schema.json). A score of which nobody says whether lower is better is left out,
// because the schema has no word for that.
func everyEval(r *render.Report, release int) (out []Written, err error) {
	for _, run := range r.Releases[release].Runs {
		h := &r.Columns.Runs[run]
		at := "unknown"
		if !h.Start.IsZero() {
			at = strconv.FormatInt(h.Start.Unix(), 10)
		}
		var results []dict
		library := dict{"name": "unknown", "version": "unknown"}
		for _, s := range r.Columns.ScoresOf(run) {
			value, ok := s.Value.Get()
			if !ok || !render.KnowsBetter(&s) || s.Task == "" {
				continue
			}
			parameters, uncertainty := dict{}, dict{}
			if s.Filter != "" {
				parameters["filter"] = s.Filter
			}
			if s.Fewshot != nil {
				parameters["num_fewshot"] = *s.Fewshot
			}
			if s.Total > 0 {
				parameters["num_items"] = s.Total // of the task, of which samples may be a part
			}
			if se, ok := s.Stderr.Get(); ok {
				uncertainty["standard_error"] = dict{"value": se}
			}
			if lo, hi, known := judge.ScoreInterval(&s.Score); known {
				uncertainty["confidence_interval"] = dict{"lower": lo, "upper": hi, "confidence_level": .95}
			}
			if s.N > 0 {
				uncertainty["num_samples"] = s.N
			}
			library = dict{"name": s.Source.Format, "version": cmp.Or(s.Source.ToolVersion, "unknown")}
			results = append(results, dict{
				"evaluation_name": s.Task, "source_data": dict{"dataset_name": s.Task, "source_type": "other"},
				"evaluation_timestamp": at, "metric_config": dict{"metric_id": s.Metric, "metric_kind": s.Metric,
					"lower_is_better": s.Lower(), "metric_parameters": parameters},
				"score_details": dict{"score": value, "uncertainty": uncertainty},
			})
		}
		if len(results) == 0 {
			continue
		}
		w, err := document(render.RunName(h.ID)+".json", dict{
			"schema_version": "0.3.0", "evaluation_id": "ttreport/" + modelID(h) + "/" + h.ID, "retrieved_timestamp": at,
			"source_metadata": dict{"source_name": "ttreport", "source_type": "evaluation_run",
				"source_organization_name": "unknown", "evaluator_relationship": "other"},
			"eval_library": library, "model_info": dict{"name": h.Model.Name, "id": modelID(h),
				"inference_engine": dict{"name": h.Engine, "version": h.Version},
				"additional_details": dict{"deployment_type": "unknown", "model_availability": "unknown",
					"device": h.Device, "release": h.Release}},
			"evaluation_results": results,
		})
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// evalResults writes a file for each run with scores as model repositories on the Hub state them (Hub documentation,
// eval results): a list of a dataset, a value, a date. A dataset is called as the task is here; the Hub asks for its id
// there, which no result file states.
func evalResults(r *render.Report, release int) (out []Written, err error) {
	for _, run := range r.Releases[release].Runs {
		h := &r.Columns.Runs[run]
		var b bytes.Buffer
		for _, s := range r.Columns.ScoresOf(run) {
			value, ok := s.Value.Get()
			if !ok || s.Task == "" {
				continue
			}
			fmt.Fprintf(&b, "- dataset:\n    id: %s\n    task_id: default\n", quoted(s.Task))
			if s.Version != "" {
				fmt.Fprintf(&b, "    revision: %s\n", quoted(s.Version))
			}
			fmt.Fprintf(&b, "  value: %v\n", value)
			if !h.Start.IsZero() {
				fmt.Fprintf(&b, "  date: %s\n", quoted(h.Start.UTC().Format(time.RFC3339)))
			}
			notes := s.Metric
			if s.Filter != "" {
				notes += ", " + s.Filter
			}
			fmt.Fprintf(&b, "  notes: %s\n", quoted(notes+", on "+words.Device(h.Device)))
		}
		if b.Len() > 0 {
			out = append(out, Written{render.RunName(h.ID) + "/.eval_results/ttreport.yaml", b.Bytes()})
		}
	}
	return out, nil
}

// llmdMetrics are ours in llm-d's benchmark report: the part that a metric is in, its key and unit there. GuideLLM's
// keep its names: what it calls ITL has no first token.
var llmdMetrics = map[string][3]string{
	"ttft": {"latency", "time_to_first_token", "ms"}, "e2el": {"latency", "request_latency", "ms"},
	"tpot": {"latency", "time_per_output_token", "ms/token"}, "itl": {"latency", "inter_token_latency", "ms/token"},
	"ntpot":         {"latency", "normalized_time_per_output_token", "ms/token"},
	"guidellm tpot": {"latency", "inter_token_latency", "ms/token"}, "rps": {"throughput", "request_rate", "queries/s"},
	"guidellm ntpot": {"latency", "time_per_output_token", "ms/token"},
	"isl":            {"requests", "input_length", "count"}, "osl": {"requests", "output_length", "count"},
	"output_tps": {"throughput", "output_token_rate", "tokens/s"},
	"input_tps":  {"throughput", "input_token_rate", "tokens/s"},
	"total_tps":  {"throughput", "total_token_rate", "tokens/s"},
}

var llmdStats = strings.NewReplacer("value", "mean", "median", "p50", "std", "stddev", ".", "p") // p99p9

// llmd writes a file for each point in llm-d's benchmark report 0.2.1 (llm-d/llm-d-benchmark,
// br_v0_2_1_json_schema.json), in JSON, which is YAML too. The report asks for a mean of every metric, for the number
// of requests beside their lengths, for a length of inputs in a load, and for the number of accelerators, of which 0
// says that the run states none.
func llmd(r *render.Report, release int) (out []Written, err error) {
	fixed := func(n *float64) any {
		if n == nil {
			return nil
		}
		return dict{"distribution": "fixed", "value": *n}
	}
	places := map[int32]int{} // of points in their runs
	for _, p := range points(r, release) {
		places[p.Run]++
		h, k := &r.Columns.Runs[p.Run], &r.Columns.Keys[p.Key]
		name := render.RunName(strings.TrimPrefix(fmt.Sprintf("%s-p%d", k.Dims[schema.DimLabel], places[p.Run]), "-"))
		results := llmdResults(r.Columns, p, k.Tool)
		if len(results) == 0 || p.StatusWord() == schema.StatusFailed || p.StatusWord() == schema.StatusInvalid {
			continue
		}
		scenario := dict{"stack": []dict{{"metadata": dict{"label": "server", "cfg_id": h.ID}, "native": dict{},
			"standardized": dict{"kind": "inference_engine", "tool": h.Engine, "tool_version": h.Version, "role": "replica",
				"replicas": 1, "model": dict{"name": modelID(h)},
				"accelerator": dict{"model": h.Device, "count": h.Chips, "parallelism": dict{}}}}}}
		if k.ISL != nil {
			scenario["load"] = dict{"metadata": dict{"cfg_id": k.String()}, "native": dict{}, "standardized": dict{
				"tool": k.Tool, "tool_version": r.Columns.Conds[p.Cond][columns.ToolVersion], "concurrency": k.Concurrency,
				"source": cmp.Or(map[string]string{"random": "random"}[k.Dataset], "unknown"), "rate_qps": k.Rate,
				"input_seq_len": fixed(k.ISL), "output_seq_len": fixed(k.OSL)}}
		}
		var at dict
		if !h.Start.IsZero() && !h.End.IsZero() {
			at = dict{"start": h.Start.UTC().Truncate(time.Second), "end": h.End.UTC().Truncate(time.Second)}
		}
		file, err := document(render.RunName(h.ID)+"/"+name+".json", dict{"version": "0.2.1", "scenario": scenario,
			"run":     dict{"uid": h.ID + "-" + name, "time": at},
			"results": dict{"request_performance": dict{"aggregate": results}}})
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	return out, nil
}

// llmdResults are a point's statistics by part and metric of the report.
func llmdResults(c *columns.Columns, p *columns.PointRow, tool string) map[string]dict {
	out := map[string]dict{}
	c.Values(p, func(s columns.StatID, v float64) {
		at, own := llmdMetrics[tool+" "+s.Metric]
		if !own {
			at = llmdMetrics[s.Metric]
		}
		_, stat, _, _ := c.Center(p, s.Metric)
		if tool == "guidellm" && s.Metric == "itl" { // its place is that of TPOT
			return
		}
		if at[0] == "" || stat == "median" || stat == "" || s.Stat == "n" || s.Stat == "se" {
			return
		}
		if out[at[0]] == nil {
			out[at[0]] = dict{}
		}
		block, _ := out[at[0]][at[1]].(dict)
		if block == nil {
			block = dict{"units": at[2]}
		}
		block[llmdStats.Replace(s.Stat)], out[at[0]][at[1]] = v, block
	})
	ok, _ := c.Value(p, "requests_ok", "value")
	failed, _ := c.Value(p, "requests_failed", "value")
	n, counted := ok.Get()
	if !counted || len(out) == 0 {
		delete(out, "requests") // the report asks for their number
		return out
	}
	if out["requests"] == nil {
		out["requests"] = dict{}
	}
	if bad, has := failed.Get(); has {
		out["requests"]["failures"], n = int64(bad), n+bad
	}
	out["requests"]["total"] = int64(n)
	return out
}

// bencher writes Bencher's metric format (bencher.dev, bmf.json): a benchmark for each workload and eval of a model on
// a device, with a measure for each metric in the metric's own unit. A measure of several runs or repeats is their
// mean, bounded by the least and the largest.
func bencher(r *render.Report, release int) ([]Written, error) {
	type measure struct {
		Value Num  `json:"value"`
		Low   *Num `json:"lower_value,omitempty"`
		High  *Num `json:"upper_value,omitempty"`
		n     Num
	}
	out := map[string]map[string]*measure{}
	add := func(benchmark, name string, v Num) {
		if out[benchmark] == nil {
			out[benchmark] = map[string]*measure{}
		}
		x := out[benchmark][name]
		if x == nil {
			out[benchmark][name] = &measure{Value: v, n: 1}
			return
		}
		if x.n++; x.n == 2 {
			low, high := x.Value, x.Value
			x.Low, x.High = &low, &high
		}
		x.Value += (v - x.Value) / x.n
		*x.Low, *x.High = min(*x.Low, v), max(*x.High, v)
	}
	for _, p := range statistics(r, release) {
		if p.Value != nil && p.Stat != "n" && p.Stat != "se" && p.Status != Text(schema.StatusInvalid) {
			name := p.Metric
			if p.Stat != "value" {
				name += "." + p.Stat
			}
			add(benchmarkOf(p.Model, p.Device, p.Impl)+" "+p.Key, name, *p.Value)
		}
	}
	for _, s := range Scores(r, release) {
		if s.Value != nil {
			name := benchmarkOf(s.Model, s.Device, s.Impl) + " " + string(s.Task)
			if s.Filter != "" {
				name += " " + string(s.Filter)
			}
			add(name, string(s.Metric), *s.Value)
		}
	}
	w, err := document("bencher.json", out)
	return []Written{w}, err
}

// benchmarkOf is a system as a benchmark names it.
func benchmarkOf(model, device, impl Text) string {
	return strings.TrimSuffix(words.OnDevice(string(model), string(device))+", "+string(impl), ", ")
}

// ctrf writes the decision on a release as a test report in the Common Test Report Format 1.0.0 (ctrf-io/ctrf,
// ctrf.schema.json), a test for each case of [render.Cases]. A test takes no time of its own; the report has that of
// the runs.
func ctrf(r *render.Report, release int) ([]Written, error) {
	var start, stop int64
	for _, run := range r.Releases[release].Runs {
		h := &r.Columns.Runs[run]
		if began := millis(h.Start); began > 0 && (start == 0 || began < start) {
			start = began
		}
		stop = max(stop, start, millis(h.End))
	}
	var tests []Object
	counts := map[string]int{}
	review := r.Gate.Review(release, "", "")
	for _, c := range render.Cases(&review, r.Gate.FailsOn(release)) {
		status := "passed"
		switch c.Status {
		case render.CaseFailed:
			status = "failed"
		case render.CaseSkipped:
			status = "skipped"
		}
		counts[status]++
		test := Object{{"name", c.Name}, {"status", status}, {"duration", 0}, {"suite", []string{c.Suite, c.Class}}}
		if status != "passed" {
			test.Some("message", c.Why)
		}
		tests = append(tests, test)
	}
	w, err := document("ctrf-report.json", Object{{"reportFormat", "CTRF"}, {"specVersion", "1.0.0"},
		{"results", Object{
			{"tool", dict{"name": "ttreport"}},
			{"summary", Object{{"tests", len(tests)}, {"passed", counts["passed"]}, {"failed", counts["failed"]},
				{"skipped", counts["skipped"]}, {"pending", 0}, {"other", 0}, {"start", start}, {"stop", stop}}},
			{"tests", tests}, {"environment", dict{"appVersion": r.Releases[release].Name}},
		}}})
	return []Written{w}, err
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// openMetrics writes the numbers of a release, its scores and whether it passes as gauges in OpenMetrics 1.0 text
// (OpenObservability/OpenMetrics, specification/OpenMetrics.md). Units are those of the house; they are in the name.
func openMetrics(r *render.Report, release int) ([]Written, error) {
	families, help := map[string][]string{}, map[string]string{}
	add := func(name, unit, means string, value Num, labels ...string) {
		name = "ttreport_" + gaugeName(name)
		if unit = gaugeName(unit); unit != "" && !strings.HasSuffix(name, "_"+unit) {
			name += "_" + unit
		}
		help[name] = means
		var b bytes.Buffer
		for i := 0; i < len(labels); i += 2 {
			if labels[i+1] != "" {
				fmt.Fprintf(&b, `,%s="%s"`, labels[i], gaugeLabel.Replace(labels[i+1]))
			}
		}
		families[name] = append(families[name], fmt.Sprintf("%s{%s} %v\n", name, b.Bytes()[min(1, b.Len()):], float64(value)))
	}
	for _, p := range statistics(r, release) {
		if p.Value == nil || p.Status == Text(schema.StatusInvalid) {
			continue
		}
		info, _ := schema.MetricByName(p.Metric)
		add(p.Metric, p.Unit, info.Means, *p.Value, "release", p.Partition, "model", string(p.Model), "device",
			string(p.Device), "implementation", string(p.Impl), "workload", p.Key, "stat", p.Stat, "definition",
			p.Definition, "run", string(p.Run), "repeat", fmt.Sprint(p.Repeat))
	}
	for i, s := range Scores(r, release) {
		if s.Value != nil {
			add("score", "", "A score of an eval, on its own scale.", *s.Value, "release", s.Partition, "model",
				string(s.Model), "device", string(s.Device), "implementation", string(s.Impl), "task", string(s.Task),
				"metric", string(s.Metric), "filter", string(s.Filter), "run", string(s.Run), "place", fmt.Sprint(i+1))
		}
	}
	passes := Num(0)
	if review := r.Gate.Review(release, "", ""); review.Result.Exit == 0 {
		passes = 1
	}
	add("release_passes", "", "1 where the gate lets the release pass.", passes, "release", r.Releases[release].Name)
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(families)) {
		fmt.Fprintf(&b, "# TYPE %s gauge\n", name)
		if text := help[name]; text != "" {
			fmt.Fprintf(&b, "# HELP %s %s\n", name, gaugeLabel.Replace(text))
		}
		for _, line := range families[name] {
			b.WriteString(line)
		}
	}
	b.WriteString("# EOF\n")
	return []Written{{"metrics.txt", b.Bytes()}}, nil
}

var gaugeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// gaugeName keeps what a name may have: an own metric loses the braces with its unit, which follows.
func gaugeName(s string) string {
	s, _, _ = strings.Cut(s, "{")
	s = strings.NewReplacer("%", "percent", "/", "_per_").Replace(s)
	return strings.Trim(strings.Map(func(c rune) rune {
		if c < 0x80 && (c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			return c
		}
		return '_'
	}, s), "_")
}
