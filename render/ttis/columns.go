package ttis

import (
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// column is a place of a value of a row in the documents of one generation: the key in data and CSV files, the head in
// tables for people, how many decimal places are written (all is every digit), and which value of [row] it is, where
// that has another name than the key.
type column struct {
	key, head string
	places    int
	from      string
}

const all = -1

func (c *column) value(r *row) any {
	if c.from != "" {
		return r.values[c.from]
	}
	return r.values[c.key]
}

// Columns of v0.17, from benchmarking/summary_report.py.
var (
	statistics17 = slices.Concat(same("timestamp model_name model_id backend device"), []column{
		{"input_sequence_length", "", all, "isl"}, {"output_sequence_length", "", all, "osl"},
		{"max_con", "", all, "concurrency"},
	}, latencies([]string{"ttft", "tpot"}, "mean", "std"), rates17, latencies([]string{"e2el"}, "mean"), []column{
		{"request_throughput", "", 3, "rps"}, {"total_input_tokens", "", all, ""}, {"total_output_tokens", "", all, ""},
		{"total_token_throughput", "", 2, "total_tps"}, {"num_prompts", "", all, "asked"},
		{"num_requests", "", all, "asked"}, {"filename", "", all, ""}, {"task_type", "", all, ""},
	}, same("images_per_prompt image_height image_width dataset structured_output_ratio correct_rate_pct"))
	rates17 = []column{{"mean_tps", "", 2, ""}, {"std_tps", "", 2, ""}, {"tps_decode_throughput", "", 1, "decode"},
		{"tps_prefill_throughput", "", 1, "prefill"}}
	workload17 = []column{
		{"", "Source", all, "source"}, {"", "ISL", all, "isl"}, {"", "OSL", all, "osl"},
		{"", "Concurrency", all, "concurrency"}, {"", "N Req", all, "asked"},
	}
	pictures17 = []column{
		{"", "Source", all, "source"}, {"", "ISL", all, "isl"}, {"", "OSL", all, "osl"},
		{"", "Max Concurrency", all, "concurrency"}, {"", "Image Height", all, "image_height"},
		{"", "Image Width", all, "image_width"}, {"", "Images per Prompt", all, "images_per_prompt"},
		{"", "Num Requests", all, "asked"},
	}
	numbers17 = []column{
		{"", "TTFT (ms)", 1, "mean_ttft_ms"}, {"", "TPOT (ms)", 1, "mean_tpot_ms"}, {"", "Tput User (TPS)", 2, "mean_tps"},
		{"", "Tput Decode (TPS)", 1, "decode"}, {"", "Tput Prefill (TPS)", 1, "prefill"},
		{"", "E2EL (ms)", 1, "mean_e2el_ms"},
		{"", "Req Tput (RPS)", 3, "rps"}, {"", "Total Token Throughput (tokens/duration)", 2, "total_tps"},
	}
	detail17 = []column{ // of AIPerf and GenAI-Perf
		{"mean_ttft_ms", "TTFT Avg (ms)", 1, ""}, {"median_ttft_ms", "TTFT P50 (ms)", 1, ""},
		{"p99_ttft_ms", "TTFT P99 (ms)", 1, ""}, {"std_ttft_ms", "", 1, ""},
		{"mean_tpot_ms", "TPOT Avg (ms)", 1, ""}, {"median_tpot_ms", "TPOT P50 (ms)", 1, ""},
		{"p99_tpot_ms", "TPOT P99 (ms)", 1, ""}, {"std_tpot_ms", "", 1, ""},
		{"mean_e2el_ms", "E2EL Avg (ms)", 1, ""}, {"median_e2el_ms", "E2EL P50 (ms)", 1, ""},
		{"p99_e2el_ms", "E2EL P99 (ms)", 1, ""}, {"std_e2el_ms", "", 1, ""},
		{"output_token_throughput", "Output Tok/s", 2, "output_tps"},
		{"total_token_throughput", "Total Tok/s", 2, "total_tps"}, {"request_throughput", "Req/s", 4, "rps"},
	}
	media17 = slices.Concat(same("timestamp model model_name model_id device filename task_type wer"), []column{
		{"backend", "Source", all, ""},
		{"num_requests", "Num Requests", all, "asked"}, {"steps", "Num Inference Steps", all, ""},
		{"num_inference_steps", "Inference Steps", all, "steps"},
		{"streaming_enabled", "Streaming enabled", all, "streaming"},
		{"preprocessing_enabled", "Preprocessing enabled", all, "preprocessing"},
		{"performance_check", "", all, "reached"}, {"reached_word", "Performance Check", all, ""},
		{"input_sequence_length", "ISL", all, "isl"}, {"output_sequence_length", "OSL", all, "none"},
		{"max_con", "Max Concurrency", all, "requested"}, {"embedding_dimension", "Embedding Dimension", all, ""},
		{"mean_latency_ms", "Latency (ms)", 2, ""}, {"mean_ttft_ms", "TTFT (ms)", 1, ""},
		{"p50_latency_ms", "P50 Latency (ms)", 2, "median_latency_ms"}, {"p90_latency_ms", "P90 Latency (ms)", 2, ""},
		{"p95_latency_ms", "P95 Latency (ms)", 2, ""}, {"inference_steps_per_second", "Steps/Sec", 2, "steps_rate"},
		{"throughput_rps", "Tput (RPS)", 2, "rps"}, {"rtr", "RTR", 2, ""}, {"t/s/u", "T/S/U", 2, ""},
		{"mean_tpot_ms", "TPOT (ms)", all, "none"}, {"mean_tps", "Tput User (TPS)", 2, ""},
		{"tps_decode_throughput", "Tput Decode (TPS)", all, "none"},
		{"tps_prefill_throughput", "Tput Prefill (TPS)", 1, "prefill"}, {"mean_e2el_ms", "E2EL (ms)", 1, ""},
		{"request_throughput", "Req Tput (RPS)", 3, "rps"},
	})
	mediaSummary17 = slices.Concat(same("timestamp model model_name device filename task_type"), []column{
		{"model_id", "", all, "full_id"}, {"backend", "", all, "kind"}, {"num_requests", "", all, "asked"},
		{"ISL", "", all, "isl"}, {"concurrency", "", all, "requested"},
		{"tput_prefill", "", 1, "prefill"}, {"e2el_ms", "", 1, "mean_e2el_ms"}, {"num_inference_steps", "", all, "steps"},
		{"latency", "", all, "mean_latency_shown"}, {"inference_steps_per_second", "", 2, "steps_rate"},
		{"tput_user", "", all, "requests_user"}, {"tput_user", "", 2, "mean_tps"},
		{"latency_p90", "", all, "p90_latency_shown"},
		{"latency_p95", "", all, "p95_latency_shown"}, {"rtr", "", 2, ""}, {"streaming_enabled", "", all, "streaming"},
		{"preprocessing_enabled", "", all, "preprocessing"},
	})
	// copied17 are the numbers of the flat copies that v0.17 writes of results of AIPerf, GenAI-Perf and GuideLLM.
	copied17 = slices.Concat([]column{{"num_prompts", "", all, "asked"}, {"max_concurrency", "", all, "requested"}},
		latencies([]string{"ttft", "tpot", "itl", "e2el"}, "mean", "median", "p99", "std"), []column{
			{"output_token_throughput", "", all, "output_tps"}, {"total_token_throughput", "", all, "total_tps"},
			{"request_throughput", "", all, "rps"}, {"completed", "", all, ""}, {"total_input_tokens", "", all, ""},
			{"total_output_tokens", "", all, ""},
		})
)

// Columns of stress tests: stress_tests_summary_report.py (v0.17), stress_tests_record_builder.py (v0.20).
var (
	stressData17 = slices.Concat(statistics17[:8], latencies([]string{"ttft", "tpot"}, stressStats...), rates17,
		latencies([]string{"itl"}, stressStats...), latencies([]string{"e2el"}, "mean", "p5", "p25", "p50", "p95", "p99"),
		pick(statistics17, "request_throughput total_input_tokens total_output_tokens num_prompts num_requests filename "+
			"task_type"))
	stressStats = []string{"mean", "std", "p5", "p25", "p50", "p95", "p99"}
)

// latencies are columns of statistics of latencies: deviations have two places, all else one.
func latencies(metrics []string, stats ...string) (out []column) {
	for _, m := range metrics {
		for _, s := range stats {
			places := 1
			if s == "std" {
				places = 2
			}
			out = append(out, column{s + "_" + m + "_ms", "", places, ""})
		}
	}
	return out
}

// Columns since v0.19, from report_module and llm_module/parsers.
var (
	workload20 = []column{
		{"concurrency", "Concurrency", all, "requested"}, {"num_requests", "Num Requests", all, "completed"},
		{"input_sequence_length", "ISL", all, "input"}, {"output_sequence_length", "OSL", all, "output"},
		{"mean_ttft_ms", "TTFT (ms)", 1, ""}, {"p50_ttft", "P50 TTFT (ms)", 1, "median_ttft_ms"},
		{"p99_ttft", "P99 TTFT (ms)", 1, "p99_ttft_ms"}, {"mean_tpot_ms", "TPOT (ms)", 1, ""},
		{"mean_e2el_ms", "E2EL (ms)", 1, ""},
	}
	structured20 = []column{
		{"dataset", "Dataset", all, ""}, {"structured_output_ratio", "SO Ratio", all, ""},
		{"correct_rate_pct", "Correct Rate (%)", all, ""},
	}
	vllm20 = []column{
		{"tps_input_throughput", "Tput Input (TPS)", 1, "input_tps"},
		{"tps_output_throughput", "Tput Output (TPS)", 1, "output_tps"},
		{"tps_total_throughput", "Tput Total (TPS)", 1, "total_tps"},
	}
	tools20 = []column{
		{"tput_user", "Tput User (TPS)", 2, "mean_tps"}, {"tps_decode_throughput", "Tput Output (TPS)", 1, "output_tps"},
	}
	requests20 = []column{
		{"request_throughput", "Req Tput (RPS)", 3, "rps"}, {"error_request_count", "Errors", all, "failed"},
	}
	media20 = []column{
		{"num_requests", "Num Requests", all, "asked"}, {"num_successful", "num_successful", all, "completed"},
		{"successful_requests", "successful_requests", all, "completed"},
		{"failed_requests", "failed_requests", all, "failed"}, {"num_inference_steps", "Inference Steps", all, "steps"},
		{"num_concurrent_requests", "Num Concurrent Requests", all, "concurrent"},
		{"ttft_ms", "TTFT (ms)", 1, "mean_latency_ms"}, {"ttft", "TTFT", all, "ttft_s"},
		{"ttft_p50", "TTFT P50 (s)", all, "median_latency_s"}, {"ttft_p90", "TTFT P90 (s)", all, "p90_latency_s"},
		{"ttft_p95", "TTFT P95 (s)", all, "p95_latency_s"}, {"e2el", "E2EL", all, "mean_e2el_ms"},
		{"inference_steps_per_second", "Steps/Sec", 1, "steps_rate"}, {"rtr", "RTR", 3, ""}, {"t/s/u", "T/S/U", all, ""},
		{"throughput_rps", "Req Tput (RPS)", 3, "rps"}, {"req_tput", "Req Tput (RPS)", all, "rps"},
		{"tput_prefill", "Tput Prefill (TPS)", 1, "prefill"}, {"tput_user", "Tput User (TPS)", 2, "user"},
		{"isl", "ISL", all, ""}, {"concurrency", "Concurrency", all, "requested"},
		{"streaming_enabled", "Streaming Enabled", all, "streaming"},
		{"preprocessing_enabled", "Preprocessing Enabled", all, "preprocessing"},
	}
)

// same are columns of which the key is the name of the value.
func same(names string) (out []column) {
	for name := range strings.FieldsSeq(names) {
		out = append(out, column{name, "", all, ""})
	}
	return out
}

// sweepColumns17 are those of the display table of a task.
func sweepColumns17(task string) []column {
	switch task {
	case "vlm":
		return slices.Concat(pictures17, numbers17[:len(numbers17)-1])
	case "structured_output":
		return slices.Concat([]column{{"", "Dataset", all, "dataset"}, {"", "SO Ratio", all, "structured_output_ratio"}},
			workload17, numbers17, []column{{"", "Correct Rate", all, "correct_rate"}})
	}
	return slices.Concat(workload17, numbers17)
}

// pick are the columns of a table that are named by key, or else by value, in the order of the names.
func pick(table []column, names string) (out []column) {
	for name := range strings.FieldsSeq(names) {
		i := slices.IndexFunc(table, func(c column) bool { return c.key == name || c.from == name })
		out = append(out, table[i])
	}
	return out
}

// mediaKind is a task with the columns that both generations show of it: the CSV (after those that all tasks have), the
// display table and the summary in the data of v0.17, and the data since v0.19. Sources: create_*_display_dict of
// benchmarking/summary_report.py (v0.17), test_module/benchmark_tests (v0.20).
type mediaKind struct {
	task, backend, title17, title20 string
	csv, display, summary, data20   string
}

// mediaKinds are in the order of the sections of v0.17.
func mediaKinds() []mediaKind {
	const ends = " p50_latency_ms p90_latency_ms p95_latency_ms"
	const steps = "backend num_requests num_inference_steps mean_latency_ms inference_steps_per_second" + ends +
		" throughput_rps reached_word"
	const latency = "num_inference_steps latency inference_steps_per_second"
	return []mediaKind{{
		"image", "image", "vLLM Image", "Image",
		"num_requests num_inference_steps mean_latency_ms inference_steps_per_second throughput_rps filename task_type " +
			"performance_check" + ends, steps, latency + " tput_user",
		"num_requests num_concurrent_requests num_inference_steps ttft_ms inference_steps_per_second tput_user",
	}, {
		"asr", "audio", "vLLM Audio", "Audio",
		"num_requests mean_latency_ms mean_ttft_ms filename task_type performance_check t/s/u rtr throughput_rps " +
			"streaming_enabled preprocessing_enabled" + ends,
		"backend num_requests mean_latency_ms mean_ttft_ms" + ends + " throughput_rps streaming_enabled " +
			"preprocessing_enabled reached_word t/s/u rtr", latency + " streaming_enabled preprocessing_enabled",
		"num_requests ttft t/s/u rtr streaming_enabled preprocessing_enabled",
	}, {
		"tts", "text_to_speech", "vLLM Text-to-Speech", "Text-to-Speech",
		"num_requests mean_latency_ms filename task_type rtr throughput_rps wer performance_check" + ends,
		"backend num_requests mean_latency_ms rtr" + ends + " throughput_rps reached_word",
		latency + " latency_p90 latency_p95 rtr", "num_requests ttft rtr ttft_p50 ttft_p90 ttft_p95 throughput_rps",
	}, {
		"embedding", "embedding", "vLLM Embedding", "Embedding",
		"filename task_type num_requests input_sequence_length output_sequence_length max_con embedding_dimension " +
			"mean_ttft_ms mean_tpot_ms mean_tps tps_decode_throughput tps_prefill_throughput mean_e2el_ms " +
			"request_throughput performance_check",
		"input_sequence_length output_sequence_length max_con embedding_dimension num_requests mean_ttft_ms " +
			"mean_tpot_ms mean_tps tps_decode_throughput tps_prefill_throughput mean_e2el_ms request_throughput reached_word",
		"ISL concurrency mean_tps tput_prefill e2el_ms",
		"isl concurrency num_requests successful_requests failed_requests tput_user tput_prefill e2el req_tput",
	}, {
		"cnn", "cnn", "CNN", "CNN",
		"num_requests mean_latency_ms throughput_rps filename task_type performance_check" + ends, steps,
		latency + " tput_user", "num_requests num_inference_steps ttft inference_steps_per_second tput_user throughput_rps",
	}, {
		"video", "video", "vLLM Video", "Video",
		"filename task_type num_requests mean_latency_ms inference_steps_per_second num_inference_steps throughput_rps " +
			"performance_check" + ends,
		"backend num_requests steps mean_latency_ms" + ends + " throughput_rps reached_word", latency + " tput_user",
		"num_requests num_successful num_inference_steps ttft inference_steps_per_second tput_user",
	}}
}

// cell17 is a value in a table or a CSV of v0.17: 4.52 and not 4.520, 21.0 and not 21.
func cell17(v any, places int) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case schema.Number:
		if places == all {
			return fixed(v, all, notMeasured)
		}
		return plain(rounded(v, places), notMeasured)
	}
	return notMeasured
}

// tableOf has the rows in columns, under their heads; cell writes a value with a count of places.
func tableOf(list []*row, columns []column, cell func(v any, places int) string) *grid {
	g := &grid{}
	for _, c := range columns {
		g.heads = append(g.heads, c.head)
	}
	for _, r := range list {
		var cells []string
		for _, c := range columns {
			cells = append(cells, cell(c.value(r), c.places))
		}
		g.rows = append(g.rows, cells)
	}
	return g
}

// dataOf has the rows in columns, under their keys, as a CSV has them.
func dataOf(list []*row, columns []column, cell func(v any, places int) string) *grid {
	g := tableOf(list, columns, cell)
	for i, c := range columns {
		g.heads[i] = c.key
	}
	return g
}

// objectOf has the values of a row by key, rounded; missing is what stands for a number that there is not.
func objectOf(r *row, list []column, missing any) (out object) {
	for i := range list {
		switch v := list[i].value(r).(type) {
		case schema.Number:
			n := value(v)
			if list[i].places != all {
				n = value(rounded(v, list[i].places))
			}
			if n == nil {
				n = missing
			}
			out.add(list[i].key, n)
		case nil: // not stated
		default:
			out.add(list[i].key, v)
		}
	}
	return out
}

// shown is a text, or a number with a fixed count of places; where there is none, why a percentile is missing.
func shown(v any, places int) string {
	if s, ok := v.(string); ok {
		return s
	}
	n, _ := v.(schema.Number)
	if fewer(n) {
		return n.Why()
	}
	return fixed(n, places, notAvailable)
}

// digits is a value in a CSV with all its digits.
func digits(v any, _ int) string {
	if n, ok := v.(schema.Number); ok {
		return fixed(n, all, "")
	}
	return v.(string)
}

// fewer reports a percentile that is not shown because few requests are behind it.
func fewer(n schema.Number) bool {
	return strings.HasPrefix(n.Why(), "n = ") && len(n.Why()) > len("n = ")
}

// stressTable20 is a table of the stress tests since v0.19, after the configuration of each.
type stressTable20 struct {
	name    string
	columns []column
}

func stressTables20() []stressTable20 {
	out := []stressTable20{{"Configurations", []column{{"isl", "ISL", all, "isl"}, {"osl", "OSL", all, "osl"},
		{"concurrency", "Concurrency", all, "concurrency"}, {"n_requests", "n_requests", all, "asked"}}}}
	for _, m := range []string{"ttft", "tpot", "itl", "e2el"} {
		var list []column
		for _, c := range latencies([]string{m}, stressStats...) {
			if name, _, _ := strings.Cut(c.key, "_"); m != "e2el" || name != "std" { // E2EL has no deviation
				list = append(list, column{name, name, c.places, c.key})
			}
		}
		out = append(out, stressTable20{strings.ToUpper(m) + " (ms)", list})
	}
	return append(out, stressTable20{"Throughput", []column{{"request_tput", "request_tput", 3, "rps"},
		{"user_tps", "user_tps", 2, "mean_tps"}, {"decode_tps", "decode_tps", 1, "decode"},
		{"prefill_tps", "prefill_tps", 1, "prefill"}}},
		stressTable20{"Token Totals", []column{{"total_input_tokens", "Total Input Tokens", all, "total_input_tokens"},
			{"total_output_tokens", "Total Output Tokens", all, "total_output_tokens"},
			{"num_prompts", "Num Prompts", all, "asked"}}})
}
