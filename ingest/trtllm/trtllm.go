// Package trtllm reads TensorRT-LLM's own benchmarks: the "[BENCHMARK]" lines of benchmarks/python/benchmark.py and
// of the C++ programs, anywhere in a log, the CSV that benchmark.py appends to, and the report of trtllm-bench.
//
// It takes one file, text or decoded, and returns a [schema.Reading] with a point for each record. Source:
// benchmarks/python/base_benchmark.py, gpt_benchmark.py, benchmarks/cpp, tensorrt_llm/bench, versions 0.5 to 1.x.
//
// Units are in the keys: "latency(ms)", "gpu_peak_mem(gb)"; those of trtllm-bench end in _ms or _s.
//
// Traps: a line has pairs of words after the tag; their order, and whether model_name or engine_dir comes first,
// differ by version; "None", "n/a" and a memory or build time of 0 are not measured; latency and percentiles (by
// nearest rank) are of a whole static batch; tokens_per_sec counts output; generation times are 0 where one token was
// generated; the CSV repeats its header at each append; gptManagerBenchmark writes one pair per line, and num_samples
// twice; with several ranks lines have a prefix. trtllm-bench writes "-1" or NaN for missing values, no date, and the
// concurrency that was reached, not the requested one; its per-user speed is output tokens over E2EL and includes the
// first token.
package trtllm

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/lazyregexp"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Lines  = "trtllm-benchmark"     // [BENCHMARK] lines
	Table  = "trtllm-benchmark-csv" // the CSV of benchmark.py
	Report = "trtllm-bench"         // the JSON of trtllm-bench
)

// Reader looks for the parts of a report in JSON, and for the tag in text.
var Reader = draft.Format{
	Name: Report, Detail: "report of trtllm-bench", Tool: "trtllm-bench", Point: readReport,
	Wants: draft.Wants("performance.request_throughput_req_s", "request_info{}"),
	Others: []draft.Format{
		{
			Name: Table, Detail: "benchmark.py", All: readText,
			Text: func(f *decode.File) bool { return isTable(f.Data) },
		},
		{
			Name: Lines, Detail: "benchmark.py", All: readText,
			Text: func(f *decode.File) bool { return bytes.Contains(f.Data, []byte(tag)) },
			Sniff: func(f *decode.File, m *draft.Check) {
				has := func(text string) bool { return bytes.Contains(f.Data, []byte(text)) }
				if !has("model_name ") && !has("engine_dir ") {
					m.Detail = "C++ program"
				}
			},
		},
	},
}

func readReport(d *draft.Draft) {
	v := d.In
	r := d.Reading
	perf, stream, info := v.Get("performance"), v.Get("streaming_metrics"), v.Get("request_info")
	d.Fields(v, map[string]string{
		"fact model.id": "engine.model", "fact stack.version": "engine.version", "condition backend": "engine.backend",
		"fact model.precision": "engine.quantization|engine.dtype", "fact device.name": "machine.name",
	})
	r.Facts.Stack.Engine = "tensorrt-llm"
	n, _ := v.At("world_info", "world_size").Int()
	r.Facts.Device.Chips = max(n, 0)
	d.Source.ToolVersion = r.Facts.Stack.Version
	key(d)
	for _, x := range draft.Table("ttft first-chunk: ttft_percentiles", "tpot excl-first: tpot_percentiles",
		"e2el last-chunk: request_latency_percentiles_ms") {
		d.Block(stream.ObjectOr(x.Key, perf.Get(x.Key)), draft.Usual, x)
	}
	d.Above(stream, map[string]string{"ttft first-chunk": "avg_ttft_ms", "tpot excl-first": "avg_tpot_ms"})
	d.Above(perf, map[string]string{"e2el last-chunk": "avg_request_latency_ms"})
	d.Fields(perf, map[string]string{
		"rps": "request_throughput_req_s", "output_tps": "system_output_throughput_tok_s",
		"total_tps": "system_total_throughput_tok_s",
	})
	d.Above(perf, map[string]string{"tps_user mean osl/e2el": "output_throughput_per_user_tok_s"})
	if s, ok := perf.Get("total_latency_ms").Float(); ok {
		d.Value("duration_s", s/1000)
	}
	d.Above(info, map[string]string{"isl": "avg_input_length", "osl": "avg_output_length"})
	d.Requests(info.Get("num_requests").Ptr(), nil, nil, "")
	for _, part := range []string{"decoding_stats", "energy"} {
		d.Foreign(v.Get(part), "")
	}
	d.Foreign(v, "")
}

// key reads the lengths if all requests have the same; the report states only the load that was reached.
func key(d *draft.Draft) {
	v := d.In
	d.Key.ISL = draft.Fixed(v.At("dataset", "isl_stats"), "minimum", "maximum")
	d.Key.OSL = draft.Fixed(v.At("dataset", "osl_stats"), "minimum", "maximum")
	info, world := v.Get("request_info"), v.Get("world_info")
	if rate := world.Get("issue_rate").Ptr(); rate != nil && *rate > 0 && *rate < 1e9 {
		d.Key.Rate = rate
	}
	if c := info.Get("avg_num_concurrent_requests"); c.Ptr() != nil {
		d.Client = map[string]string{"concurrency_reached": c.Text()}
		if c.Float0() <= 1 {
			d.Key.Concurrency = new(1.)
		}
	}
	d.Dim("requests", info.Get("num_requests").Text())
	d.Fields(world, map[string]string{
		"degree tp": "tp_size", "degree pp": "pp_size", "degree ep": "ep_size", "dim max_batch": "max_batch_size",
		"condition scheduling": "scheduling_policy",
	})
}

const tag = "[BENCHMARK] "

// record holds the pairs of one measurement.
type record struct {
	vals    map[string]string
	version string // of the banner before it
	rank    string // of the process that printed it, if the launcher states it
}

var banner = lazyregexp.New(`TensorRT-LLM version: (\S+)`)

// logReader finds the tagged lines of a log.
type logReader struct {
	version string
	seen    map[string]bool // lines, because several ranks may print the same one
	records []record
	open    map[string]string // of a program that writes one pair a line
	skipped []string          // lines about points that were not run
}

// records reads a log, up to one record more than the most.
func records(data []byte, most int) (out []record, skipped []string) {
	l := logReader{seen: map[string]bool{}}
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		if m := banner.FindStringSubmatch(text); m != nil {
			l.version = m[1]
		}
		if len(l.skipped) < 5 && strings.Contains(text, "[WARNING]") && strings.Contains(text, "skipping") {
			l.skipped = append(l.skipped, text)
		}
		if before, rest, tagged := strings.Cut(text, tag); tagged && len(l.records) <= most {
			l.tagged(rest, rank.FindStringSubmatch(before))
		} else if tagged {
			break
		}
	}
	return oneRank(l.records), l.skipped
}

// tagged reads the text after the tag of a line: all pairs of a measurement, or one of them.
func (l *logReader) tagged(text string, rank []string) {
	words := strings.Fields(text)
	switch {
	case len(words) < 2:
	case len(words) < 6: // the shortest line of a whole measurement has a batch, a length and a latency
		last := len(words) - 1 // a name may have a blank: avg_acceptance_rate(tokens/decoding steps)
		name := strings.Join(words[:last], " ")
		_, again := l.open[name]
		if l.open == nil || again && (name != "num_samples" || l.open["total_latency(ms)"] != "") {
			l.open = map[string]string{}
			l.records = append(l.records, record{version: l.version, vals: l.open})
		}
		l.open[name] = words[last]
	case l.seen[l.version+text]:
		l.open = nil
	default:
		l.seen[l.version+text], l.open = true, nil
		r := record{version: l.version, vals: map[string]string{}}
		if rank != nil {
			r.rank = rank[1]
		}
		for i := 0; i+1 < len(words); i += 2 {
			r.vals[words[i]] = words[i+1]
		}
		l.records = append(l.records, r)
	}
}

// rank matches the prefix that MPI's launcher adds to the lines of a process: "[1,0]<stdout>:".
var rank = lazyregexp.New(`^\[\d+,(\d+)\](?:<std\w+>)?:?`)

// workloadKeys are the keys that are equal in records of one measurement.
var workloadKeys = []string{
	"model_name", "engine_dir", "world_size", "precision", "quantization", "batch_size", "input_length", "output_length",
	"gpu_weights_percent",
}

// oneRank keeps the record of the first rank if other ranks have the same workload: a run on several ranks is one
// measurement.
func oneRank(list []record) []record {
	first := map[string]string{} // the rank of a workload
	return slices.DeleteFunc(list, func(r record) bool {
		what := r.version
		for _, k := range workloadKeys {
			what += "\n" + r.vals[k]
		}
		before, seen := first[what]
		if !seen {
			first[what] = r.rank
		}
		return seen && r.rank != "" && before != "" && before != r.rank
	})
}

// table reads the CSV of benchmark.py, whose header repeats.
func table(data []byte, most int) (out []record) {
	lines := csv.NewReader(bytes.NewReader(data))
	lines.FieldsPerRecord, lines.LazyQuotes = -1, true
	var header []string
	for {
		row, err := lines.Read()
		if err != nil || len(out) > most {
			return out
		}
		if row[0] == "model_name" || row[0] == "engine_dir" {
			header = row
			continue
		}
		r := record{vals: map[string]string{}}
		for i := range min(len(row), len(header)) {
			r.vals[header[i]] = strings.TrimSpace(row[i])
		}
		if len(r.vals) > 2 {
			out = append(out, r)
		}
	}
}

// isTable recognises that CSV by its first line.
func isTable(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return (bytes.HasPrefix(line, []byte("model_name,")) || bytes.HasPrefix(line, []byte("engine_dir,"))) &&
		bytes.Contains(line, []byte("latency(ms)"))
}

// readText makes a point from each record; records of another model or version become further readings.
func readText(f *decode.File, out *schema.Reading) {
	list, skipped := records(f.Data, f.Limits().Results)
	if isTable(f.Data) {
		list = table(f.Data, f.Limits().Results)
	}
	if len(list) > f.Limits().Results {
		list = list[:f.Limits().Results]
		draft.Problem(f, out, schema.SevWarning, "too-many-results", decode.Value{},
			"more records than are read from one file", "", fmt.Sprintf("the first %d", len(list)))
	}
	runs := draft.RunsOf[[3]string](out)
	for _, r := range list {
		v := decode.Of(r.vals)
		facts := r.facts(v)
		point(f, v, r.version, runs.Of([3]string{facts.Model.ID, facts.Model.Precision, r.version}, facts))
	}
	runs.Join(fmt.Sprintf("%s, %d records", out.Detail, len(list)))
	for _, s := range skipped {
		draft.Problem(f, out, schema.SevWarning, "point-not-run", decode.Value{},
			"a point that the tool left out"+draft.Quote(s), "a measurement")
	}
}

func (r *record) facts(v decode.Value) schema.Facts {
	f := schema.Facts{Stack: schema.Stack{Engine: "tensorrt-llm", Version: r.version}}
	if f.Model.ID = r.vals["model_name"]; f.Model.ID == "" && r.vals["engine_dir"] != "" {
		f.Model.ID = path.Base(strings.TrimRight(r.vals["engine_dir"], "/"))
	}
	f.Model.Precision = r.vals["precision"]
	if q := r.vals["quantization"]; q != "" && q != "QuantMode.0" {
		f.Model.Precision = strings.TrimSpace(f.Model.Precision + " " + q)
	}
	if n := v.Get("world_size").Float0(); n >= 1 && n < 1e6 {
		f.Device.Chips = int(n)
	}
	return f
}

func point(f *decode.File, all decode.Value, version string, into *schema.Reading) {
	d := draft.New(f, into, all, "trtllm")
	v := d.In
	d.Source.ToolVersion = version
	d.Fields(v, map[string]string{
		"key concurrency": "batch_size", "key isl": "input_length", "key osl": "output_length", "degree tp": "world_size",
	})
	if d.Key.Concurrency != nil {
		d.Dim("batching", "static")
	}
	d.Fields(v, map[string]string{
		"e2el whole-batch": "latency(ms)", "e2el p95 whole-batch": "percentile95(ms)",
		"e2el p99 whole-batch": "percentile99(ms)", "output_tps": "tokens_per_sec",
	})
	// of the engine; 0 is what benchmark.py prints for one that was built before, and for the memory of several GPUs
	d.Above(v, map[string]string{"build_time{s,lower}": "build_time(s)", "gpu_peak_mem{GiB,lower}": "gpu_peak_mem(gb)"})
	perSequence(d)
	d.Fields(v, map[string]string{ // of the C++ programs: "p99_sequence_latency(ms)"
		"output_tps": "token_throughput(token/sec)", "rps": "seq_throughput(seq/sec)",
		"e2el last-chunk": "{}_sequence_latency(ms)", "ttft first-chunk": "{}_time_to_first_token(ms)",
		"itl not-stated": "{}_inter_token_latency(ms)",
	})
	if gen := all.Number("generation_time(ms)"); gen != nil && *gen > 0 && d.Key.OSL != nil && *d.Key.OSL > 1 {
		d.Derived("tpot", schema.DefDecodePhase, "mean", *gen/(*d.Key.OSL-1))
	}
	if total := v.Number("total_latency(ms)"); total != nil {
		d.Value("duration_s", *total/1000)
	}
	n, failed := v.Number("num_samples"), v.Number("num_error_samples")
	if n != nil {
		if failed != nil {
			*n -= *failed
		}
		d.Requests(n, failed, nil, "")
	}
	foreign(d)
	d.Done()
}

// foreign keeps the pairs without a canonical name.
func foreign(d *draft.Draft) {
	known := draft.Names("model_name engine_dir precision quantization")
	for m := range d.In.Unread() {
		k, text := m.Key, m.Val.Str()
		measured := strings.HasSuffix(k, "(gb)") || strings.HasSuffix(k, "(s)") || strings.HasPrefix(k, "generation_")
		if !known(k) && text != "None" && text != "n/a" && len(k) <= 60 && len(text) <= 100 &&
			(!measured || m.Val.Float0() > 0) {
			d.Keep(k, text)
		}
	}
}

// perSequence finds rates of one sequence of the batch, as version 0.5 writes them, by comparison with the latency in
// the same line.
func perSequence(d *draft.Draft) {
	rate, latency := d.In.Get("tokens_per_sec").Ptr(), d.In.Get("latency(ms)").Ptr()
	batch, osl := d.Key.Concurrency, d.Key.OSL
	if rate == nil || latency == nil || batch == nil || osl == nil || *batch < 2 || *latency <= 0 ||
		draft.Disagree(*rate, *osl / *latency * 1000) {
		return
	}
	d.Derived("output_tps", "", "value", *batch**rate)
	d.Problem(schema.SevWarning, "per-sequence", decode.Value{},
		fmt.Sprintf("tokens_per_sec %g at batch %g, which is the rate of one sequence", *rate, *batch), "that of the batch",
		fmt.Sprintf("%.6g, times the batch", *batch**rate))
}
