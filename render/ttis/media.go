package ttis

import (
	"fmt"
	"path"
	"regexp"
	"slices"
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
