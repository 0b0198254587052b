package ttis

import (
	"path"

	"github.com/ttreport/ttreport/ingest/schema"
)

// field is a column of the statistics and display tables of v0.17.
type field struct{ name, head, text string }

// fields are the columns of a row, in the order of the CSV; those with a head are in display tables too.
func (in *Input) fields(r *row) []field {
	at := func(n schema.Number, places int) string { return plain(rounded(n, places), notMeasured) }
	isl := whole(r.isl, notMeasured)
	osl := whole(r.osl, notMeasured)
	head := []field{
		{"timestamp", "", r.stamp}, {"model_name", "", trimDevice(in.modelID(), in.device())},
		{"model_id", "", in.repo()}, {"backend", "Source", r.source()}, {"device", "", in.device()},
		{"input_sequence_length", "ISL", isl}, {"output_sequence_length", "OSL", osl},
		{"max_con", "Concurrency", whole(r.concurrency, notMeasured)},
		{"mean_ttft_ms", "TTFT (ms)", at(r.ttft.mean, 1)}, {"std_ttft_ms", "", at(r.ttft.std, 2)},
		{"mean_tpot_ms", "TPOT (ms)", at(r.tpot.mean, 1)}, {"std_tpot_ms", "", at(r.tpot.std, 2)},
		{"mean_tps", "Tput User (TPS)", at(r.user, 2)}, {"std_tps", "", at(r.userStd, 2)},
		{"tps_decode_throughput", "Tput Decode (TPS)", at(r.decode, 1)},
		{"tps_prefill_throughput", "Tput Prefill (TPS)", at(r.prefill, 1)},
		{"mean_e2el_ms", "E2EL (ms)", at(r.e2el.mean, 1)}, {"request_throughput", "Req Tput (RPS)", at(r.rps, 3)},
	}
	total := field{"total_token_throughput", "Total Token Throughput (tokens/duration)", at(r.total, 2)}
	input := field{"total_input_tokens", "", whole(r.inputTokens, notMeasured)}
	output := field{"total_output_tokens", "", whole(r.outputTokens, notMeasured)}
	return append(head, input, output, total,
		field{"num_prompts", "", whole(r.asked, notMeasured)}, field{"num_requests", "N Req", whole(r.asked, notMeasured)},
		field{"filename", "", path.Base(r.point.Source.Path)}, field{"task_type", "", r.task()},
		field{"images_per_prompt", "", r.dim("images")}, field{"image_height", "", r.dim("height")},
		field{"image_width", "", r.dim("width")}, field{"dataset", "", r.dataset()},
		field{"structured_output_ratio", "", r.dim(structured)},
		field{"correct_rate_pct", "", whole(r.correct, notMeasured)},
	)
}

// optional are the columns of the CSV that are there if some row fills them.
const optional = 6

func trimDevice(id, device string) string {
	if n := len(id) - len(device) - 1; n > 0 && id[n+1:] == device {
		return id[:n]
	}
	return id
}

func (r *row) dim(name string) string {
	if v := r.point.Key.Dims[name]; v != "" {
		return v
	}
	return notMeasured
}

// dataset is stated for structured output only: of other workloads the reports have none.
func (r *row) dataset() string {
	if r.task() == "structured_output" && r.point.Key.Dataset != "" {
		return r.point.Key.Dataset
	}
	return notMeasured
}

// statistics is the table of all rows, as CSV and as the data of a report have it.
func (in *Input) statistics(list []*row) *grid {
	g := &grid{}
	for _, r := range list {
		var cells []string
		g.heads = g.heads[:0]
		for _, f := range in.fields(r) {
			g.heads, cells = append(g.heads, f.name), append(cells, f.text)
		}
		g.rows = append(g.rows, cells)
	}
	if len(list) > 0 {
		keep := len(g.heads) - optional
		g.withoutColumns(func(col int, cells []string) bool { return col >= keep && all(cells, notMeasured) })
	}
	return g
}

func all(cells []string, s string) bool {
	for _, c := range cells {
		if c != s {
			return false
		}
	}
	return true
}

// display is the table of a sweep in the columns that people read.
func (in *Input) display(list []*row) *grid {
	g := &grid{}
	for _, r := range list {
		cells := map[string]string{}
		for _, f := range in.fields(r) {
			cells[f.head] = f.text
		}
		cells["Source"] = map[string]string{"vllm": "vLLM", "genai-perf": "genai"}[r.source()]
		if cells["Source"] == "" {
			cells["Source"] = r.source()
		}
		g.heads = append(in.firstHeads(r), "TTFT (ms)", "TPOT (ms)", "Tput User (TPS)", "Tput Decode (TPS)",
			"Tput Prefill (TPS)", "E2EL (ms)", "Req Tput (RPS)")
		switch r.task() {
		case "vlm":
			cells["Max Concurrency"], cells["Num Requests"] = cells["Concurrency"], cells["N Req"]
			cells["Image Height"], cells["Image Width"] = r.dim("height"), r.dim("width")
			cells["Images per Prompt"] = r.dim("images")
		case "structured_output":
			cells["Dataset"], cells["SO Ratio"] = r.dataset(), r.dim(structured)
			cells["Correct Rate"] = whole(r.correct, notMeasured)
			if _, ok := r.correct.Get(); ok {
				cells["Correct Rate"] += "%"
			}
			g.heads = append(g.heads, "Total Token Throughput (tokens/duration)", "Correct Rate")
		default:
			g.heads = append(g.heads, "Total Token Throughput (tokens/duration)")
		}
		var line []string
		for _, h := range g.heads {
			line = append(line, cells[h])
		}
		g.row(line...)
	}
	return g
}

// firstHeads are the columns of the workload.
func (in *Input) firstHeads(r *row) []string {
	switch r.task() {
	case "vlm":
		return []string{"Source", "ISL", "OSL", "Max Concurrency", "Image Height", "Image Width", "Images per Prompt",
			"Num Requests"}
	case "structured_output":
		return []string{"Dataset", "SO Ratio", "Source", "ISL", "OSL", "Concurrency", "N Req"}
	}
	return []string{"Source", "ISL", "OSL", "Concurrency", "N Req"}
}

// percentile is a column of the detailed tables of AIPerf and GenAI-Perf.
type percentile struct {
	name, head string
	of         func(*row) schema.Number
	places     int // in the display; the CSV has all digits
}

func percentiles() []percentile {
	return []percentile{
		{"mean_ttft_ms", "TTFT Avg (ms)", func(r *row) schema.Number { return r.ttft.mean }, 1},
		{"median_ttft_ms", "TTFT P50 (ms)", func(r *row) schema.Number { return r.ttft.median }, 1},
		{"p99_ttft_ms", "TTFT P99 (ms)", func(r *row) schema.Number { return r.ttft.p99 }, 1},
		{"std_ttft_ms", "", func(r *row) schema.Number { return r.ttft.std }, 1},
		{"mean_tpot_ms", "TPOT Avg (ms)", func(r *row) schema.Number { return r.tpot.mean }, 1},
		{"median_tpot_ms", "TPOT P50 (ms)", func(r *row) schema.Number { return r.tpot.median }, 1},
		{"p99_tpot_ms", "TPOT P99 (ms)", func(r *row) schema.Number { return r.tpot.p99 }, 1},
		{"std_tpot_ms", "", func(r *row) schema.Number { return r.tpot.std }, 1},
		{"mean_e2el_ms", "E2EL Avg (ms)", func(r *row) schema.Number { return r.e2el.mean }, 1},
		{"median_e2el_ms", "E2EL P50 (ms)", func(r *row) schema.Number { return r.e2el.median }, 1},
		{"p99_e2el_ms", "E2EL P99 (ms)", func(r *row) schema.Number { return r.e2el.p99 }, 1},
		{"std_e2el_ms", "", func(r *row) schema.Number { return r.e2el.std }, 1},
		{"output_token_throughput", "Output Tok/s", func(r *row) schema.Number { return r.output }, 2},
		{"total_token_throughput", "Total Tok/s", func(r *row) schema.Number { return r.total }, 2},
		{"request_throughput", "Req/s", func(r *row) schema.Number { return r.rps }, 4},
	}
}

// detail is the display table of a tool that has percentiles of its own.
func detail(list []*row) *grid {
	g := &grid{}
	for _, r := range list {
		vlm := r.task() == "vlm"
		g.heads = []string{"ISL", "OSL", "Concur"}
		line := []string{whole(r.isl, notAvailable), whole(r.osl, notAvailable), whole(r.concurrency, notAvailable)}
		if vlm {
			g.heads = append(g.heads, "Image Height", "Image Width", "Images per Prompt")
			line = append(line, r.dim("height"), r.dim("width"), r.dim("images"))
		}
		g.heads, line = append(g.heads, "N"), append(line, whole(r.asked, notAvailable))
		for _, p := range percentiles() {
			if p.head == "" {
				continue
			}
			n := p.of(r)
			missing := notAvailable
			if fewer(n) {
				missing = n.Why()
			}
			g.heads, line = append(g.heads, p.head), append(line, fixed(n, p.places, missing))
		}
		g.row(line...)
	}
	return g
}

// fewer reports a percentile that is not shown because few requests are behind it.
func fewer(n schema.Number) bool { return len(n.Why()) > 4 && n.Why()[:4] == "n = " }

// detailRow is the row of a detailed CSV and of the data of the report.
func (in *Input) detailRow(r *row) object {
	var o object
	o.add("source", r.point.Key.Tool)
	for _, x := range []member{{"isl", r.isl}, {"osl", r.osl}, {"concurrency", r.concurrency}, {"num_requests", r.asked}} {
		o.add(x.key, value(x.value.(schema.Number)))
	}
	if r.task() == "vlm" {
		o.add("images_per_prompt", r.dim("images"))
		o.add("image_height", r.dim("height"))
		o.add("image_width", r.dim("width"))
	}
	for _, p := range percentiles() {
		o.add(p.name, value(p.of(r)))
	}
	o.add("completed", value(r.completed))
	o.add("total_input_tokens", value(r.inputTokens))
	o.add("total_output_tokens", value(r.outputTokens))
	o.add("model_id", in.repo())
	o.add("backend", r.point.Key.Tool)
	return o
}
