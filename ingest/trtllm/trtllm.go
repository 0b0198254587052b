package trtllm

import (
	"bytes"
	"cmp"

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
	r := schema.Reading{Format: Report, Detail: m.Detail}
	d := draft.New(f, &r, f.First, "trtllm-bench")
	v := d.In
	perf, stream, info := v.Get("performance"), v.Get("streaming_metrics"), v.Get("request_info")
	engine := v.Get("engine")
	r.Facts = schema.Facts{
		Model: schema.Model{
			ID: engine.Get("model").Str(), Precision: cmp.Or(engine.Get("quantization").Text(), engine.Get("dtype").Text()),
		},
		Device: schema.Device{Name: v.At("machine", "name").Str()},
		Stack:  schema.Stack{Engine: "tensorrt-llm", Version: engine.Get("version").Text()},
	}
	n, _ := v.At("world_info", "world_size").Int()
	r.Facts.Device.Chips = max(n, 0)
	d.Source.ToolVersion = r.Facts.Stack.Version
	key(d)
	for _, x := range []struct {
		in        decode.Value
		key, mean string
		field     draft.Field
	}{
		{perf, "request_latency_percentiles_ms", "avg_request_latency_ms", draft.VLLM(1)[3]},
		{stream, "ttft_percentiles", "avg_ttft_ms", draft.VLLM(1)[0]},
		{stream, "tpot_percentiles", "avg_tpot_ms", draft.VLLM(1)[1]},
	} {
		d.Block(x.in.Get(x.key), draft.Usual, x.field)
		if mean := x.in.Get(x.mean); mean.Float0() > 0 {
			d.Put(x.field, "mean", mean)
		}
	}
	d.Fields(perf, map[string]string{
		"rps": "request_throughput_req_s", "output_tps": "system_output_throughput_tok_s",
		"total_tps": "system_total_throughput_tok_s",
	})
	if s := perf.Get("output_throughput_per_user_tok_s").Float0(); s > 0 {
		d.Stat("tps_user", schema.DefOutOverE2EL, "mean", s)
	}
	if s, ok := perf.Get("total_latency_ms").Float(); ok {
		d.Value("duration_s", s/1000)
	}
	for metric, name := range map[string]string{"isl": "avg_input_length", "osl": "avg_output_length"} {
		if x := info.Get(name); x.Float0() > 0 {
			d.Of(metric, x)
		}
	}
	d.Requests(info.Get("num_requests").Ptr(), nil, nil, "")
	for _, part := range []string{"decoding_stats", "energy"} {
		d.Foreign(v.Get(part), "")
	}
	d.Foreign(v, "")
	d.Done()
	return r
}

// key reads the lengths if all requests have the same; the report states only the load that was reached.
func key(d *draft.Draft) {
	v := d.In
	fixed := func(name string) *float64 {
		s := v.At("dataset", name)
		lo, hi := s.Get("minimum").Ptr(), s.Get("maximum").Ptr()
		if lo == nil || hi == nil || *lo != *hi || *lo <= 0 {
			return nil
		}
		return lo
	}
	d.Key.ISL, d.Key.OSL = fixed("isl_stats"), fixed("osl_stats")
	info, world := v.Get("request_info"), v.Get("world_info")
	if rate := world.Get("issue_rate").Ptr(); rate != nil && *rate > 0 && *rate < 1e9 {
		d.Key.Rate = rate
	}
	if c := info.Get("avg_num_concurrent_requests"); c.Ptr() != nil {
		d.Client = map[string]string{"concurrency_reached": c.Text()}
		if c.Float0() <= 1 {
			one := 1.
			d.Key.Concurrency = &one
		}
	}
	d.Dim("requests", info.Get("num_requests").Text())
	d.Parallel(world, map[string]string{"tp_size": "tp", "pp_size": "pp", "ep_size": "ep"})
	d.Dim("max_batch", world.Get("max_batch_size").Text())
	d.Condition("scheduling", world.Get("scheduling_policy").Text())
	d.Condition("backend", v.At("engine", "backend").Text())
}
