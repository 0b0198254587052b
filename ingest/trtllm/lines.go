package trtllm

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

const tag = "[BENCHMARK] "

// record holds the pairs of one measurement, in order.
type record struct {
	keys    []string
	vals    map[string]string
	version string // of the banner before it
	rank    string // of the process that printed it, if the launcher states it
}

func (r *record) add(k, v string) {
	if r.vals == nil {
		r.vals = map[string]string{}
	}
	if _, has := r.vals[k]; !has {
		r.keys = append(r.keys, k)
	}
	r.vals[k] = v
}

// number returns a measured value.
func (r *record) number(k string) *float64 {
	x, err := strconv.ParseFloat(r.vals[k], 64)
	if err != nil || x != x || x > 1e300 || x < -1e300 {
		return nil
	}
	return &x
}

var banner = regexp.MustCompile(`TensorRT-LLM version: (\S+)`)

// logReader finds the tagged lines of a log.
type logReader struct {
	version string
	seen    map[string]bool // lines, because several ranks may print the same one
	records []record
	open    *record  // of a program that writes one pair a line
	skipped []string // lines about points that were not run
}

// records reads a log, up to one record more than the most.
func records(data []byte, most int) (out []record, skipped []string) {
	l := logReader{seen: map[string]bool{}}
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		if m := banner.FindStringSubmatch(text); m != nil {
			l.version = m[1]
		}
		if len(l.skipped) < 10 && strings.Contains(text, "[WARNING]") && strings.Contains(text, "skipping") {
			l.skipped = append(l.skipped, text)
		}
		_, rest, tagged := strings.Cut(text, tag)
		if !tagged {
			continue
		}
		if len(l.records) > most {
			break
		}
		l.tagged(rest, rankOf(text))
	}
	return oneRank(l.records), l.skipped
}

// tagged reads the text after the tag of a line.
func (l *logReader) tagged(text, rank string) {
	words := strings.Fields(text)
	switch {
	case len(words) < 2:
	case len(words) < 6: // the shortest line of a whole measurement has a batch, a length and a latency
		last := len(words) - 1 // a name may have a blank: avg_acceptance_rate(tokens/decoding steps)
		l.pair(strings.Join(words[:last], " "), words[last])
	default:
		r := record{version: l.version, rank: rank}
		for i := 0; i+1 < len(words); i += 2 {
			r.add(words[i], words[i+1])
		}
		if line := l.version + text; !l.seen[line] {
			l.seen[line] = true
			l.records = append(l.records, r)
		}
		l.open = nil
	}
}

// pair adds a pair to the open record, or begins a new record if the pair is in it already.
func (l *logReader) pair(name, value string) {
	if l.open != nil {
		_, again := l.open.vals[name]
		if again && (name != "num_samples" || l.open.vals["total_latency(ms)"] != "") {
			l.open = nil
		}
	}
	if l.open == nil {
		l.records = append(l.records, record{version: l.version})
		l.open = &l.records[len(l.records)-1]
	}
	l.open.add(name, value)
}

// rank matches the prefix that MPI's launcher adds to the lines of a process: "[1,0]<stdout>:".
var rank = regexp.MustCompile(`^\[\d+,(\d+)\](?:<std\w+>)?:?`)

func rankOf(line string) string {
	if m := rank.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// workloadKeys are the keys that are equal in records of one measurement.
var workloadKeys = [...]string{
	"model_name", "engine_dir", "world_size", "precision", "quantization", "batch_size", "input_length", "output_length",
	"gpu_weights_percent",
}

// workload is what records of one measurement on several ranks have in common.
type workload struct {
	version string
	values  [len(workloadKeys)]string
}

// oneRank keeps the record of the first rank if other ranks have the same workload: a run on several ranks is one
// measurement.
func oneRank(list []record) []record {
	first := map[workload]string{}
	var out []record
	for _, r := range list {
		what := workload{version: r.version}
		for i, k := range workloadKeys {
			what.values[i] = r.vals[k]
		}
		if before, seen := first[what]; seen && r.rank != "" && before != "" && before != r.rank {
			continue
		} else if !seen {
			first[what] = r.rank
		}
		out = append(out, r)
	}
	return out
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
		var r record
		for i := range min(len(row), len(header)) {
			r.add(header[i], strings.TrimSpace(row[i]))
		}
		if len(r.keys) > 2 {
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
func readText(f *decode.File, m schema.Match) schema.Reading {
	var problems []schema.Problem
	list, skipped := records(f.Data, f.Limits().Results)
	if isTable(f.Data) {
		list = table(f.Data, f.Limits().Results)
	}
	if len(list) > f.Limits().Results {
		list = list[:f.Limits().Results]
		problems = append(problems, schema.Problem{
			Severity: schema.SevWarning, Path: f.Path, Code: "too-many-results",
			Found: "more records than are read from one file", Used: fmt.Sprintf("the first %d", len(list)),
		})
	}
	type run struct{ model, precision, version string }
	var runs draft.Runs[run]
	for i := range list {
		r := &list[i]
		facts := r.facts()
		r.point(f, runs.Of(run{facts.Model.ID, facts.Model.Precision, r.version}, func() schema.Reading {
			return schema.Reading{Format: m.Format, Detail: m.Detail, Facts: facts}
		}))
	}
	out := runs.Join(m.Format, fmt.Sprintf("%s, %d records", m.Detail, len(list)))
	out.Problems = append(problems, out.Problems...)
	for i, s := range skipped {
		if i == 5 {
			break
		}
		out.Problems = append(out.Problems, schema.Problem{
			Severity: schema.SevWarning, Path: f.Path, Code: "point-not-run",
			Found: "a point that the tool left out" + draft.Quote(s), Expected: "a measurement",
		})
	}
	return out
}

func (r *record) facts() schema.Facts {
	f := schema.Facts{Stack: schema.Stack{Engine: "tensorrt-llm", Version: r.version}}
	if f.Model.ID = r.vals["model_name"]; f.Model.ID == "" && r.vals["engine_dir"] != "" {
		f.Model.ID = path.Base(strings.TrimRight(r.vals["engine_dir"], "/"))
	}
	f.Model.Precision = r.vals["precision"]
	if q := r.vals["quantization"]; q != "" && q != "QuantMode.0" {
		f.Model.Precision = strings.TrimSpace(f.Model.Precision + " " + q)
	}
	if n := r.number("world_size"); n != nil && *n >= 1 && *n < 1e6 {
		f.Device.Chips = int(*n)
	}
	return f
}

// statistic matches the C++ programs' keys: "p99_sequence_latency(ms)".
var statistic = regexp.MustCompile(`^(avg|min|max|p\d\d)_(sequence_latency|time_to_first_token|` +
	`inter_token_latency)\(ms\)$`)

// ofEngine adds a number of the engine, as a metric with its own unit. 0 is what benchmark.py prints for what it did
// not measure: an engine that was built before, the memory of several GPUs.
func (r *record) ofEngine(d *draft.Draft, name, unit, field string) {
	v := r.number(field)
	metric, ok := schema.OwnMetric(name, unit, "lower")
	if ok && v != nil && *v > 0 {
		d.Value(metric, *v)
	}
}

func (r *record) point(f *decode.File, into *schema.Reading) {
	d := draft.New(f, into, decode.Value{}, "trtllm")
	d.Source.ToolVersion = r.version
	d.Key.Concurrency = r.number("batch_size")
	d.Key.ISL, d.Key.OSL = r.number("input_length"), r.number("output_length")
	if d.Key.Concurrency != nil {
		d.Dim("batching", "static")
	}
	if n := r.number("world_size"); n != nil && *n > 1 {
		d.Dim("tp", r.vals["world_size"])
	}
	r.stat(d, "e2el", schema.DefBatch, "mean", "latency(ms)")
	r.stat(d, "e2el", schema.DefBatch, "p95", "percentile95(ms)")
	r.stat(d, "e2el", schema.DefBatch, "p99", "percentile99(ms)")
	r.stat(d, "output_tps", "", "value", "tokens_per_sec")
	r.ofEngine(d, "build_time", "s", "build_time(s)")
	r.ofEngine(d, "gpu_peak_mem", "GiB", "gpu_peak_mem(gb)")
	r.perSequence(d)
	r.stat(d, "output_tps", "", "value", "token_throughput(token/sec)")
	r.stat(d, "rps", "", "value", "seq_throughput(seq/sec)")
	r.distributions(d)
	if gen := r.number("generation_time(ms)"); gen != nil && *gen > 0 && d.Key.OSL != nil && *d.Key.OSL > 1 {
		d.Derived("tpot", schema.DefDecodePhase, "mean", *gen/(*d.Key.OSL-1))
	}
	if total := r.number("total_latency(ms)"); total != nil {
		d.Value("duration_s", *total/1000)
	}
	if n := r.number("num_samples"); n != nil {
		failed := r.number("num_error_samples")
		ok := *n
		if failed != nil {
			ok -= *failed
		}
		d.Requests(&ok, failed, nil, "")
	}
	r.foreign(d)
	d.Done()
}

// stat sets a statistic from a pair, if there is one.
func (r *record) stat(d *draft.Draft, metric, def, name, key string) {
	if x := r.number(key); x != nil {
		d.Stat(metric, def, name, *x)
	}
}

// distributions reads the statistics of the C++ programs.
func (r *record) distributions(d *draft.Draft) {
	for _, key := range r.keys {
		m := statistic.FindStringSubmatch(key)
		if m == nil {
			continue
		}
		name := m[1]
		switch name {
		case "avg":
			name = "mean"
		case "p50":
			name = "median"
		}
		switch m[2] {
		case "sequence_latency":
			r.stat(d, "e2el", schema.DefLastChunk, name, key)
		case "time_to_first_token":
			r.stat(d, "ttft", schema.DefFirstChunk, name, key)
		case "inter_token_latency":
			r.stat(d, "itl", schema.DefNotStated, name, key)
		}
	}
}

// perSequence finds rates of one sequence of the batch, as version 0.5 writes them, by comparison with the latency in
// the same line.
func (r *record) perSequence(d *draft.Draft) {
	rate, latency, batch, osl := r.number("tokens_per_sec"), r.number("latency(ms)"), d.Key.Concurrency, d.Key.OSL
	if rate == nil || latency == nil || batch == nil || osl == nil || *batch < 2 || *latency <= 0 {
		return
	}
	one := *osl / *latency * 1000
	if draft.Disagree(*rate, one) {
		return
	}
	d.Derived("output_tps", "", "value", *batch**rate)
	p := d.Problem(schema.SevWarning, "per-sequence", decode.Value{},
		fmt.Sprintf("tokens_per_sec %g at batch %g, which is the rate of one sequence", *rate, *batch))
	p.Expected, p.Used = "that of the batch", fmt.Sprintf("%.6g, times the batch", *batch**rate)
}

// foreign keeps the pairs without a canonical name.
func (r *record) foreign(d *draft.Draft) {
	for _, k := range r.keys {
		v := r.vals[k]
		switch {
		case isKnown(k) || statistic.MatchString(k) || v == "None" || v == "n/a" || len(k) > 60 || len(v) > 100:
		case strings.HasSuffix(k, "(gb)") || strings.HasSuffix(k, "(s)") || strings.HasPrefix(k, "generation_"):
			if x := r.number(k); x != nil && *x > 0 {
				d.Keep(k, v)
			}
		default:
			d.Keep(k, v)
		}
	}
}

var isKnown = draft.Names(`
	model_name engine_dir precision quantization batch_size input_length output_length world_size latency(ms)
	build_time(s) gpu_peak_mem(gb) percentile95(ms) percentile99(ms) tokens_per_sec
	token_throughput(token/sec) seq_throughput(seq/sec) num_samples
	num_error_samples total_latency(ms)`)
