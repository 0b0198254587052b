package nmvllm

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Names of the formats that this package distinguishes.
const (
	Format = "nm-vllm"
	Store  = "github-action-benchmark"
	Copy   = "nm-vllm-copy"
)

// Detect looks for the members of a result, or of a store.
func Detect(f *decode.File) schema.Match {
	v := f.First
	if v.Get("entries").Kind() == decode.Object && v.Has("lastUpdate") {
		return schema.Match{Format: Store, Has: []string{"entries", "lastUpdate"}, Detail: "store of a benchmark's history"}
	}
	if v.Has("written_by") && v.Has("json_schema_version") {
		return schema.Match{
			Format: Copy, Has: []string{"written_by"},
			Detail: "not a result: a copy that ttreport wrote of a result that it had read",
		}
	}
	m := draft.Check{Match: schema.Match{Format: Format, Detail: "BenchmarkResult"}}
	m.Want(v.Has("json_schema_version"), "json_schema_version")
	m.Want(v.Get("benchmarking_context").Kind() == decode.Object, "benchmarking_context")
	m.Want(v.Get("metrics").Kind() == decode.Object, "metrics")
	return m.Match
}

// Read returns the point of a result, or the runs of a store.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	switch m.Format {
	case Store:
		return readStore(f, m)
	case Copy:
		return schema.Reading{Format: m.Format, Detail: m.Detail}
	}
	v := f.First
	r := schema.Reading{Format: m.Format, Detail: m.Detail, Facts: facts(v)}
	if s, ok := v.Get("epoch_time").Float(); ok && s > 1e8 && s < 1e11 {
		r.Facts.Start = time.UnixMilli(int64(s * 1000)).UTC().Truncate(time.Second)
	}
	r.Facts.End = r.Facts.Start
	d := draft.New(f, &r, v, "nm-vllm")
	workload(v, d)
	for _, x := range v.Get("metrics").Members() {
		if value, ok := x.Val.Get("value").Float(); ok {
			name := x.Val.Get("key").Str()
			if name == "" {
				name = x.Key
			}
			if !put(d, name, x.Val.Get("unit").Str(), value, r.Facts.Stack.Version) {
				d.Keep(name, strings.TrimSpace(x.Val.Get("value").Text()+" "+x.Val.Get("unit").Str()))
			}
		}
	}
	meta := v.Get("metadata")
	d.Requests(meta.Get("completed").Ptr(), nil, meta.Get("num_prompts").Ptr(), "")
	if d.Key.Rate == nil {
		d.Key.Rate = meta.Get("request_rate").Ptr()
	}
	d.Of("duration_s", meta.Get("duration"))
	d.Foreign(v, draft.Names(`
	json_schema_version vllm_version benchmarking_context description gpu_description date epoch_time script_name
	script_args tensor_parallel_size model tokenizer dataset metadata metrics`))
	d.Start, d.End = r.Facts.Start, r.Facts.End
	d.Done()
	return r
}

var gpu = regexp.MustCompile(`^(.*?) x (\d+)$`)

// facts reads the identity; v is a result, or a store's extra.
func facts(v decode.Value) schema.Facts {
	f := schema.Facts{
		Model: schema.Model{ID: v.Get("model").Str()},
		Device: schema.Device{
			Name: v.Get("gpu_description").Str(),
		},
		Stack: schema.Stack{Engine: "vllm", Version: v.At("benchmarking_context", "vllm_version").Str()},
	}
	if f.Stack.Version == "" {
		f.Stack.Version = v.Get("vllm_version").Str()
	}
	if m := gpu.FindStringSubmatch(f.Device.Name); m != nil {
		f.Device.Name = m[1]
		f.Device.Chips, _ = strconv.Atoi(m[2])
	}
	if t, err := time.Parse("2006-01-02 15:04:05 MST", v.Get("date").Str()); err == nil {
		f.Start = t.UTC()
		if name, offset := t.Zone(); offset == 0 && name != "UTC" && name != "GMT" {
			f.StartNote = "zone " + name + " is not known"
		}
	}
	return f
}

var (
	maxLen   = regexp.MustCompile(`(?m)^max-model-len - (\d+)`)
	sparsity = regexp.MustCompile(`(?m)^sparsity - (\S+)`)
)

// workload reads the requested workload: script_args, and the lines of the generated description.
func workload(v decode.Value, d *draft.Draft) {
	args := v.Get("script_args")
	d.Condition("script", strings.TrimSuffix(v.Get("script_name").Str(), ".py"))
	d.Key.Dataset = v.Get("dataset").Str()
	if strings.ContainsAny(d.Key.Dataset, "/\\") { // a path
		d.Key.Dataset = d.Key.Dataset[strings.LastIndexAny(d.Key.Dataset, "/\\")+1:]
	}
	d.Key.ISL, d.Key.OSL = args.Get("num_input_tokens").Ptr(), args.Get("num_output_tokens").Ptr()
	for name, dst := range map[string]**float64{
		"input_len": &d.Key.ISL, "output_len": &d.Key.OSL, "request_rate_": &d.Key.Rate, "request_rate": &d.Key.Rate,
	} {
		if p := args.Get(name).Ptr(); p != nil && *dst == nil {
			*dst = p
		}
	}
	pair := args.Get("nr_qps_pair_")
	if pair.Kind() == decode.String {
		n, rate, _ := strings.Cut(pair.Str(), ",")
		d.Condition("num_prompts", n)
		if x, err := strconv.ParseFloat(rate, 64); err == nil && x > 0 && x < 1e9 {
			d.Key.Rate = &x
		}
	} else if pair.Kind() == decode.Array {
		d.Condition("num_prompts", pair.Index(0).Text())
		if x := pair.Index(1).Ptr(); x != nil {
			d.Key.Rate = x
		}
	}
	d.Condition("num_prompts", args.Get("num_prompts_").Text())
	d.Condition("num_prompts", args.Get("num_prompts").Text())
	description := v.Get("description").Str()
	if m := maxLen.FindStringSubmatch(description); m != nil {
		d.Dim("max_model_len", m[1])
	}
	if m := sparsity.FindStringSubmatch(description); m != nil && m[1] != "None" {
		d.Dim("sparsity", m[1])
	}
	if n := args.Get("server_tensor_parallel_size").Text(); n != "" && n != "1" {
		d.Dim("tp", n)
	}
	if (d.Key.ISL == nil || d.Key.OSL == nil) && d.Key.Dataset != "" {
		label := d.Key.Dataset
		if script := strings.TrimSuffix(v.Get("script_name").Str(), ".py"); script != "" && script != "benchmark_serving" {
			label = script + " " + label
		}
		d.Dim(schema.DimLabel, label)
	}
}

var statName = regexp.MustCompile(`^(mean|median|std|p\d\d)_(ttft_ms|tpot_ms|request_latency)$`)

// put maps one metric of nm-vllm; it reports whether the name is known.
func put(d *draft.Draft, name, unit string, x float64, version string) bool {
	single := map[string]string{
		"request_throughput": "rps", "output_throughput": "output_tps", "token_throughput": "total_tps",
	}[name]
	if single != "" {
		d.Value(single, x)
		return true
	}
	m := statName.FindStringSubmatch(name)
	if m == nil || (unit != "ms" && unit != "") {
		return false
	}
	switch m[2] {
	case "ttft_ms":
		d.Stat("ttft", schema.DefFirstChunk, m[1], x)
	case "request_latency":
		d.Stat("e2el", schema.DefLastChunk, m[1], x)
	default:
		if before05(version) {
			d.Stat("ntpot", schema.DefInclFirst, m[1], x)
		} else {
			d.Stat("tpot", schema.DefExclFirst, m[1], x)
		}
	}
	return true
}

// before05 reports whether TPOT of a version includes the first token.
func before05(version string) bool {
	for _, old := range []string{"0.0.", "0.1.", "0.2.", "0.3.", "0.4."} {
		if strings.HasPrefix(version, old) {
			return true
		}
	}
	return false
}

// inner decodes JSON within a string.
func inner(path, text string) decode.Value {
	if !strings.HasPrefix(text, "{") {
		return decode.Value{}
	}
	v, problem := decode.Document(path, []byte(text))
	if problem != nil {
		return decode.Value{}
	}
	return v
}
