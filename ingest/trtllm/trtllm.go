package trtllm

import (
	"bytes"
	"math"

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

// Detect looks for the tag in text, and for the parts of a report in JSON.
func Detect(f *decode.File) schema.Match {
	if f.Form == decode.Text {
		m := draft.Check{Match: schema.Match{Format: Lines, Detail: "benchmark.py"}}
		switch {
		case isTable(f.Data):
			m.Format = Table
			m.Want(true, "model_name, latency(ms)")
		default:
			at := bytes.Index(f.Data, []byte(tag))
			m.Want(at >= 0, "a line that begins with [BENCHMARK]")
			if at >= 0 && !bytes.Contains(f.Data, []byte("model_name ")) && !bytes.Contains(f.Data, []byte("engine_dir ")) {
				m.Detail = "C++ program"
			}
		}
		return m.Match
	}
	m := draft.Check{Match: schema.Match{Format: Report, Detail: "report of trtllm-bench"}}
	v := f.First
	m.Want(v.Get("performance").Has("request_throughput_req_s"), "performance.request_throughput_req_s")
	m.Want(v.Get("request_info").Kind() == decode.Object, "request_info")
	return m.Match
}

// Read returns the points of a file.
func Read(f *decode.File) schema.Reading {
	m := Detect(f)
	if m.Format != Report {
		return readText(f, m)
	}
	v := f.First
	r := schema.Reading{Format: Report, Detail: m.Detail}
	d := draft.New(f, &r, v, "trtllm-bench")
	perf, stream := v.Get("performance"), v.Get("streaming_metrics")
	r.Facts = facts(v)
	d.Source.ToolVersion = r.Facts.Stack.Version
	key(v, d)
	distribution(d, perf.Get("request_latency_percentiles_ms"), perf.Get("avg_request_latency_ms"),
		"e2el", schema.DefLastChunk)
	distribution(d, stream.Get("ttft_percentiles"), stream.Get("avg_ttft_ms"), "ttft", schema.DefFirstChunk)
	distribution(d, stream.Get("tpot_percentiles"), stream.Get("avg_tpot_ms"), "tpot", schema.DefExclFirst)
	d.Fields(perf, map[string]string{
		"rps": "request_throughput_req_s", "output_tps": "system_output_throughput_tok_s",
		"total_tps": "system_total_throughput_tok_s",
	})
	if s, ok := perf.Get("output_throughput_per_user_tok_s").Float(); ok && s > 0 {
		d.Stat("tps_user", schema.DefOutOverE2EL, "mean", s)
	}
	if s, ok := perf.Get("total_latency_ms").Float(); ok {
		d.Value("duration_s", s/1000)
	}
	info := v.Get("request_info")
	for metric, name := range map[string]string{"isl": "avg_input_length", "osl": "avg_output_length"} {
		if s, ok := info.Get(name).Float(); ok && s > 0 {
			d.Stat(metric, "", "mean", s)
		}
	}
	d.Requests(info.Get("num_requests").Ptr(), nil, nil, "")
	for _, part := range []string{"decoding_stats", "energy"} {
		d.Foreign(v.Get(part), func(string) bool { return false })
	}
	d.Foreign(v, draft.Names("engine machine world_info request_info performance streaming_metrics dataset "+
		"decoding_stats energy"))
	d.Done()
	return r
}

// facts reads the identity.
func facts(v decode.Value) schema.Facts {
	engine := v.Get("engine")
	f := schema.Facts{
		Model:  schema.Model{ID: engine.Get("model").Str(), Precision: engine.Get("quantization").Text()},
		Device: schema.Device{Name: v.At("machine", "name").Str()},
		Stack:  schema.Stack{Engine: "tensorrt-llm", Version: engine.Get("version").Text()},
	}
	if f.Model.Precision == "" {
		f.Model.Precision = engine.Get("dtype").Text()
	}
	if n, ok := v.At("world_info", "world_size").Int(); ok && n > 0 {
		f.Device.Chips = n
	}
	return f
}

// distribution reads {p50, p90, p95, p99, minimum, maximum, average}, and the separate mean.
func distribution(d *draft.Draft, block, mean decode.Value, metric, def string) {
	names := map[string]string{
		"p50": "median", "p90": "p90", "p95": "p95", "p99": "p99", "minimum": "min", "maximum": "max",
		"average": "mean",
	}
	for _, m := range block.Members() {
		if x, ok := m.Val.Float(); ok && names[m.Key] != "" {
			d.Stat(metric, def, names[m.Key], x)
		}
	}
	if x, ok := mean.Float(); ok && x > 0 {
		d.Stat(metric, def, "mean", x)
	}
}

// key reads the lengths if all requests have the same; the report states only the load that was reached.
func key(v decode.Value, d *draft.Draft) {
	fixed := func(name string) *float64 {
		s := v.At("dataset", name)
		lo, a := s.Get("minimum").Float()
		hi, b := s.Get("maximum").Float()
		if !a || !b || lo != hi || lo <= 0 {
			return nil
		}
		return &lo
	}
	d.Key.ISL, d.Key.OSL = fixed("isl_stats"), fixed("osl_stats")
	info, world := v.Get("request_info"), v.Get("world_info")
	if rate, ok := world.Get("issue_rate").Float(); ok && rate > 0 && !math.IsInf(rate, 0) && rate < 1e9 {
		d.Key.Rate = &rate
	}
	if c, ok := info.Get("avg_num_concurrent_requests").Float(); ok {
		d.Client = map[string]string{"concurrency_reached": info.Get("avg_num_concurrent_requests").Text()}
		if c <= 1 {
			one := 1.
			d.Key.Concurrency = &one
		}
	}
	d.Dim("requests", info.Get("num_requests").Text())
	for _, name := range []string{"tp_size", "pp_size", "ep_size"} {
		if n, ok := world.Get(name).Float(); ok && n > 1 {
			d.Dim(name[:2], world.Get(name).Text())
		}
	}
	if n := world.Get("max_batch_size").Text(); n != "" {
		d.Dim("max_batch", n)
	}
	d.Condition("scheduling", world.Get("scheduling_policy").Text())
	d.Condition("backend", v.At("engine", "backend").Text())
}
