package ttis

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// isMedia reports a result of the clients for models that do not write text, which have tables of their own.
func isMedia(p *schema.Point) bool { return p.Key.Tool == schema.ToolMedia }

// mediaKind is how the reports of both generations show a task. Columns are "name=head", as the CSV has them and as
// tables do; csv are the columns of the CSV in its order, after those that all tasks have.
type mediaKind struct {
	task, backend    string // in target files; in the data of reports
	title17, title20 string
	csv, display     []string
	data20           []string
}

// tails are the columns of percentiles of a latency.
var tails = []string{"p50_latency_ms=P50 Latency (ms)", "p90_latency_ms=P90 Latency (ms)",
	"p95_latency_ms=P95 Latency (ms)"}

// mediaKinds lists the tasks in the order of the sections of v0.17. Sources: create_*_display_dict of
// benchmarking/summary_report.py (v0.17), test_module/benchmark_tests (v0.20).
func mediaKinds() []mediaKind {
	words, ends := strings.Fields, " p50_latency_ms p90_latency_ms p95_latency_ms"
	steps := []string{"backend=Source", "num_requests=Num Requests", "num_inference_steps=Inference Steps",
		"mean_latency_ms=Latency (ms)", "inference_steps_per_second=Steps/Sec", tails[0], tails[1], tails[2],
		"throughput_rps=Tput (RPS)", "performance_check=Performance Check"}
	return []mediaKind{{
		"image", "image", "vLLM Image", "Image",
		words("num_requests num_inference_steps mean_latency_ms inference_steps_per_second throughput_rps filename " +
			"task_type performance_check" + ends), steps,
		words("num_requests num_concurrent_requests num_inference_steps ttft_ms inference_steps_per_second tput_user"),
	}, {
		"asr", "audio", "vLLM Audio", "Audio",
		words("num_requests mean_latency_ms mean_ttft_ms filename task_type performance_check t/s/u rtr throughput_rps " +
			"streaming_enabled preprocessing_enabled" + ends),
		[]string{"backend=Source", "num_requests=Num Requests", "mean_latency_ms=Latency (ms)", "mean_ttft_ms=TTFT (ms)",
			tails[0], tails[1], tails[2], "throughput_rps=Tput (RPS)", "streaming_enabled=Streaming enabled",
			"preprocessing_enabled=Preprocessing enabled", "performance_check=Performance Check", "t/s/u=T/S/U", "rtr=RTR"},
		words("num_requests ttft t/s/u rtr streaming_enabled preprocessing_enabled"),
	}, {
		"tts", "text_to_speech", "vLLM Text-to-Speech", "Text-to-Speech",
		words("num_requests mean_latency_ms filename task_type rtr throughput_rps wer performance_check" + ends),
		[]string{"backend=Source", "num_requests=Num Requests", "mean_latency_ms=Latency (ms)", "rtr=RTR", tails[0],
			tails[1], tails[2], "throughput_rps=Tput (RPS)", "performance_check=Performance Check"},
		words("num_requests ttft rtr ttft_p50 ttft_p90 ttft_p95 throughput_rps"),
	}, {
		"embedding", "embedding", "vLLM Embedding", "Embedding",
		words("filename task_type num_requests input_sequence_length output_sequence_length max_con embedding_dimension " +
			"mean_ttft_ms mean_tpot_ms mean_tps tps_decode_throughput tps_prefill_throughput mean_e2el_ms " +
			"request_throughput performance_check"),
		[]string{"input_sequence_length=ISL", "output_sequence_length=OSL", "max_con=Max Concurrency",
			"embedding_dimension=Embedding Dimension", "num_requests=Num Requests", "mean_ttft_ms=TTFT (ms)",
			"mean_tpot_ms=TPOT (ms)", "mean_tps=Tput User (TPS)", "tps_decode_throughput=Tput Decode (TPS)",
			"tps_prefill_throughput=Tput Prefill (TPS)", "mean_e2el_ms=E2EL (ms)", "request_throughput=Req Tput (RPS)",
			"performance_check=Performance Check"},
		words("isl concurrency num_requests successful_requests failed_requests tput_user tput_prefill e2el req_tput"),
	}, {
		"cnn", "cnn", "CNN", "CNN",
		words("num_requests mean_latency_ms throughput_rps filename task_type performance_check" + ends), steps,
		words("num_requests num_inference_steps ttft inference_steps_per_second tput_user throughput_rps"),
	}, {
		"video", "video", "vLLM Video", "Video",
		words("filename task_type num_requests mean_latency_ms inference_steps_per_second num_inference_steps " +
			"throughput_rps performance_check" + ends),
		[]string{"backend=Source", "num_requests=Num Requests", "num_inference_steps=Num Inference Steps",
			"mean_latency_ms=Latency (ms)", tails[0], tails[1], tails[2], "throughput_rps=Tput (RPS)",
			"performance_check=Performance Check"},
		words("num_requests num_successful num_inference_steps ttft inference_steps_per_second tput_user"),
	}}
}

// mediaOf are the results of a task.
func (in *Input) mediaOf(task string) []*row {
	return slices.DeleteFunc(slices.Clone(in.media), func(r *row) bool { return r.point.Key.Task != task })
}

var epochStamp = regexp.MustCompile(`_(\d{9,}(?:\.\d+)?)\.json(?:\.gz)?$`)

// mediaStamp is the time in the name of a file: the seconds since 1970.
func (r *row) mediaStamp() string {
	if m := epochStamp.FindStringSubmatch(path.Base(r.point.Source.Path)); m != nil {
		return m[1]
	}
	return r.stamp
}

// mediaLatency is the latency that a client measures: the first sound of a voice, the whole answer of the others.
func (r *row) mediaLatency(stat string) schema.Number {
	n := r.point.Metrics["e2el"].Stat(stat)
	if _, ok := n.Get(); !ok || r.point.Key.Task == "tts" {
		return r.point.Metrics["ttft"].Stat(stat)
	}
	return n
}

// condition is a condition of the measurement as Python writes it: True, and not true.
func (r *row) condition(name string) string {
	switch v := r.point.Conditions[name]; v {
	case "true":
		return "True"
	case "false":
		return "False"
	case "":
		return notMeasured
	default:
		return v
	}
}

// mediaCell is a column of the CSV of v0.17.
func (in *Input) mediaCell(r *row, name string) string {
	switch name {
	case "timestamp":
		return r.mediaStamp()
	case "model", "model_name", "model_id":
		return in.Model
	case "backend", "task_type":
		return r.point.Key.Task
	case "device":
		return in.device()
	case "num_requests":
		return whole(r.asked, notMeasured)
	case "num_inference_steps":
		return r.condition(schema.ConditionSteps)
	case "streaming_enabled":
		return r.condition("streaming")
	case "preprocessing_enabled":
		return r.condition("preprocessing")
	case "filename":
		return path.Base(r.point.Source.Path)
	case "performance_check":
		return fmt.Sprint(in.reached(r))
	case "input_sequence_length":
		return whole(r.isl, notMeasured)
	case "max_con":
		return whole(number(r.point.Key.Concurrency), notMeasured)
	}
	n, places := r.mediaNumber(name)
	return plain(rounded(n, places), notMeasured)
}

// mediaNumber is a measured number of the CSV, and its places.
func (r *row) mediaNumber(name string) (schema.Number, int) {
	value := func(metric string) schema.Number { return r.point.Metrics[metric].Stat("value") }
	switch name {
	case "mean_latency_ms":
		return r.mediaLatency("mean"), 2
	case "mean_ttft_ms":
		return r.ttft.mean, 1
	case "p50_latency_ms":
		return r.mediaLatency("median"), 2
	case "p90_latency_ms", "p95_latency_ms":
		return r.mediaLatency(name[:3]), 2
	case "inference_steps_per_second":
		return value(schema.MetricSteps), 2
	case "throughput_rps":
		return r.rps, 2
	case "rtr":
		return value(schema.MetricRealTime), 2
	case "t/s/u":
		return value("tps_user"), 2
	case "mean_tps":
		return value(schema.MetricInputUser), 2
	case "tps_prefill_throughput":
		return value(schema.MetricInputRate), 1
	case "mean_e2el_ms":
		return r.e2el.mean, 1
	case "request_throughput":
		return r.rps, 3
	}
	return schema.Missing("not measured"), 0
}

// gradedRow are the checks of a result, or nil.
func (in *Input) gradedRow(r *row) *graded {
	key := r.point.Key.String()
	if i := slices.IndexFunc(in.graded, func(g *graded) bool { return g.key.String() == key }); i >= 0 {
		return in.graded[i]
	}
	return nil
}

// reached says as a number whether the target level was reached.
func (in *Input) reached(r *row) int {
	out := isNA
	if g := in.gradedRow(r); g != nil {
		for _, c := range g.checks {
			if c.tier == schema.LevelTarget {
				out = max(out, c.result)
			}
		}
	}
	return out
}

// media17 writes the statistics of media, and returns their sections of the sweeps. The first kind has the usual name
// of the statistics where there is no text.
func (in *Input) media17(id string, add func(name, text string)) ([]string, error) {
	var sections []string
	plainName := len(in.rows) == 0
	for _, k := range mediaKinds() {
		list := in.mediaOf(k.task)
		if len(list) == 0 {
			continue
		}
		table, err := csvText(in.mediaStatistics(k, list))
		if err != nil {
			return nil, err
		}
		name := "benchmark_stats_"
		if !plainName {
			name = "benchmark_" + k.task + "_stats_"
		}
		plainName = false
		add("benchmarks/data/"+name+id+".csv", table)
		g := &grid{}
		for _, r := range list {
			var cells []string
			g.heads = g.heads[:0]
			for _, c := range k.display {
				column, head, _ := strings.Cut(c, "=")
				text := in.mediaCell(r, column)
				if column == "performance_check" {
					text = word(in.reached(r))
				}
				g.heads, cells = append(g.heads, head), append(cells, text)
			}
			g.row(cells...)
		}
		sections = append(sections, "#### "+k.title17+" Benchmark Sweeps for "+in.onDevice()+"\n\n"+g.aligned())
	}
	return sections, nil
}

// mediaStatistics is the CSV of a kind.
func (in *Input) mediaStatistics(k mediaKind, list []*row) *grid {
	g := &grid{heads: append(strings.Fields("timestamp model model_name model_id backend device"), k.csv...)}
	for _, r := range list {
		var cells []string
		for _, name := range g.heads {
			cells = append(cells, in.mediaCell(r, name))
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

// mediaTargets17 are the checks of media: v0.17 has them in its data alone.
func (in *Input) mediaTargets17() string {
	var out []string
	for _, k := range mediaKinds() {
		for _, r := range in.mediaOf(k.task) {
			if g := in.gradedRow(r); g != nil {
				out = append(out, "#### "+k.title20+" Benchmark Targets "+in.onDevice()+"\n\n"+g.table())
			}
		}
	}
	return strings.Join(out, "\n\n")
}

// mediaName is what a report calls the number of a target of media.
func mediaName(v *schema.Verdict) string {
	switch v.Metric {
	case "e2el", "ttft":
		if v.Key.Task == "embedding" && v.Metric == "e2el" {
			return "e2el_ms"
		}
		return "latency"
	case "tps_user", schema.MetricRequestsUser, schema.MetricInputUser:
		return "tput_user"
	case schema.MetricInputRate:
		return "tput_prefill"
	case schema.MetricRealTime:
		return "rtr"
	case schema.MetricSteps:
		return "inference_steps_per_second"
	}
	return v.Metric
}

// mediaMetrics are all of them, in the order of the checks.
func mediaMetrics() []string {
	return []string{"latency", "tput_user", "tput_prefill", "e2el_ms", "rtr", "inference_steps_per_second"}
}

// seconds turns milliseconds into seconds.
func seconds(n schema.Number) schema.Number {
	return of(func(v ...float64) float64 { return v[0] / 1000 }, n)
}

// mediaSummary are the results of media as the summary of v0.17 has them, with their checks.
func (in *Input) mediaSummary() []object {
	out := []object{}
	for _, k := range mediaKinds() {
		for _, r := range in.mediaOf(k.task) {
			metric := func(name string) any { return value(rounded(r.point.Metrics[name].Stat("value"), 2)) }
			o := object{
				{"timestamp", r.mediaStamp()}, {"model", in.Model}, {"model_name", in.Model}, {"model_id", in.modelID()},
				{"backend", k.backend}, {"device", in.device()}, {"num_requests", value(r.asked)},
			}
			if k.task == "embedding" {
				o = append(o, member{"ISL", value(r.isl)}, member{"concurrency", value(number(r.point.Key.Concurrency))},
					member{"tput_user", metric(schema.MetricInputUser)},
					member{"tput_prefill", value(rounded(r.point.Metrics[schema.MetricInputRate].Stat("value"), 1))},
					member{"e2el_ms", value(rounded(r.e2el.mean, 1))})
			} else {
				o = append(o, member{"num_inference_steps", value(conditionNumber(r, schema.ConditionSteps))},
					member{"latency", value(seconds(rounded(r.mediaLatency("mean"), 2)))},
					member{"inference_steps_per_second", metric(schema.MetricSteps)})
			}
			switch k.task {
			case "cnn", "image", "video":
				o.add("tput_user", value(r.point.Metrics[schema.MetricRequestsUser].Stat("value")))
			case "tts":
				o.add("latency_p90", value(seconds(rounded(r.mediaLatency("p90"), 2))))
				o.add("latency_p95", value(seconds(rounded(r.mediaLatency("p95"), 2))))
				o.add("rtr", metric(schema.MetricRealTime))
			case "asr":
				for _, name := range []string{"streaming_enabled", "preprocessing_enabled"} {
					if on, stated := r.enabled(name); stated {
						o.add(name, on)
					}
				}
			}
			o.add("filename", in.mediaCell(r, "filename"))
			o.add("task_type", k.task)
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
			c := g.find(tier, m)
			switch {
			case c == nil && m == "tput_user" && !embedding:
				one.add("tput_check", isNA)
			case c == nil:
			case m == "latency":
				one = append(one, member{m, value(seconds(c.target))}, member{m + "_ratio", value(c.rounded(2).ratio())},
					member{m + "_check", c.result})
			case embedding:
				places := map[string]int{"tput_user": 2, "tput_prefill": 1, "e2el_ms": 1}[m]
				one = append(one, member{m, value(c.target)}, member{m + "_ratio", value(c.rounded(places).ratio())},
					member{m + "_check", c.result})
			case m == "tput_user":
				one.add("tput_check", c.result)
			default:
				one.add(m+"_check", c.result)
			}
		}
		out.add(tier, one)
	}
	return out
}

// rounded is a check of the number as it is shown.
func (c *check) rounded(places int) *check {
	out := *c
	out.actual = rounded(c.actual, places)
	return &out
}

// media20 are the blocks of media since v0.19.
func (in *Input) media20() []block {
	var out []block
	for _, k := range mediaKinds() {
		for _, r := range in.mediaOf(k.task) {
			b := block{kind: "benchmarks", title: k.title20 + " Benchmark", task: k.backend, graded: in.gradedRow(r),
				targets: object{{"num_prompts", value(r.asked)}}}
			if sound := r.point.Key.Dims["sound"]; sound != "" {
				b.title += " — " + sound + " s of sound"
			}
			for _, name := range k.data20 {
				n := r.media20(name)
				if on, stated := r.enabled(name); stated {
					b.record = append(b.record, column{name, head20(name), on, strconv.FormatBool(on)})
				} else if _, ok := n.Get(); ok {
					b.record = append(b.record, column{name, head20(name), value(n), fixed20(name, n)})
				}
			}
			for _, c := range b.record {
				b.data.add(c.name, c.value)
			}
			b.grade()
			b.data = object{{"Benchmarks", b.data}}
			out = append(out, b)
		}
	}
	return out
}

// enabled is a setting of the client, such as "streaming_enabled", where the result states it.
func (r *row) enabled(name string) (on, stated bool) {
	setting, ok := strings.CutSuffix(name, "_enabled")
	if !ok {
		return false, false
	}
	on, err := strconv.ParseBool(r.point.Conditions[setting])
	return on, err == nil
}

func conditionNumber(r *row, name string) schema.Number {
	return parsed(r.point.Conditions[name])
}

// media20 is a number of a block: latencies in seconds, except where the name says otherwise.
func (r *row) media20(name string) schema.Number {
	switch name {
	case "num_requests":
		return r.asked
	case "num_successful", "successful_requests":
		return r.completed
	case "failed_requests":
		return r.point.Metrics["requests_failed"].Stat("value")
	case "num_inference_steps":
		return conditionNumber(r, schema.ConditionSteps)
	case "isl":
		return r.isl
	case "concurrency":
		return number(r.point.Key.Concurrency)
	case "num_concurrent_requests":
		if n := number(r.point.Key.Concurrency); whole(n, "1") != "1" {
			return n
		}
		return schema.Missing("one at a time")
	case "ttft_ms":
		return r.mediaLatency("mean")
	case "ttft":
		if r.point.Key.Task == "asr" {
			return seconds(r.ttft.mean)
		}
		return seconds(r.mediaLatency("mean"))
	case "ttft_p50":
		return seconds(r.mediaLatency("median"))
	case "ttft_p90", "ttft_p95":
		return seconds(r.mediaLatency(name[len("ttft_"):]))
	case "e2el":
		return r.e2el.mean
	}
	return r.rate20(name)
}

// rate20 is a rate of a block.
func (r *row) rate20(name string) schema.Number {
	metric := func(name string) schema.Number { return r.point.Metrics[name].Stat("value") }
	switch name {
	case "inference_steps_per_second":
		return metric(schema.MetricSteps)
	case "rtr":
		return metric(schema.MetricRealTime)
	case "t/s/u":
		return metric("tps_user")
	case "throughput_rps", "req_tput":
		return r.rps
	case "tput_prefill":
		return metric(schema.MetricInputRate)
	case "tput_user":
		if r.point.Key.Task == "embedding" {
			return metric(schema.MetricInputUser)
		}
		return metric(schema.MetricRequestsUser)
	}
	return schema.Missing("not read")
}

// head20 and fixed20 are the column of a number and its text, as report_module/display.py (v0.20) has them.
func head20(name string) string {
	if head := map[string]string{
		"num_requests": "Num Requests", "num_successful": "num_successful", "num_inference_steps": "Inference Steps",
		"num_concurrent_requests": "Num Concurrent Requests", "ttft_ms": "TTFT (ms)", "ttft": "TTFT",
		"ttft_p50": "TTFT P50 (s)", "ttft_p90": "TTFT P90 (s)", "ttft_p95": "TTFT P95 (s)", "e2el": "E2EL",
		"inference_steps_per_second": "Steps/Sec", "rtr": "RTR", "t/s/u": "T/S/U", "throughput_rps": "Req Tput (RPS)",
		"req_tput": "Req Tput (RPS)", "tput_prefill": "Tput Prefill (TPS)", "tput_user": "Tput User (TPS)", "isl": "ISL",
		"concurrency": "Concurrency", "streaming_enabled": "Streaming Enabled",
		"preprocessing_enabled": "Preprocessing Enabled",
	}[name]; head != "" {
		return head
	}
	return name
}

func fixed20(name string, n schema.Number) string {
	switch name {
	case "ttft_ms", "inference_steps_per_second", "tput_prefill":
		return fixed(n, 1, notAvailable)
	case "throughput_rps", "rtr":
		return fixed(n, 3, notAvailable)
	case "tput_user":
		if v, _ := n.Get(); v < .1 { // two places would be 0.00
			return significant(n)
		}
		return fixed(n, 2, notAvailable)
	}
	return significant(n)
}
