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
	engine := v.Get("engine")
	d.Fields(engine, map[string]string{
		"fact model.id": "model", "fact stack.version": "version", "condition backend": "backend",
	})
	precision := cmp.Or(engine.Get("quantization").Text(), engine.Get("dtype").Text())
	r.Facts.Model.Precision, r.Facts.Device.Name = precision, v.At("machine", "name").Str()
	r.Facts.Stack.Engine = "tensorrt-llm"
	n, _ := v.At("world_info", "world_size").Int()
	r.Facts.Device.Chips = max(n, 0)
	d.Source.ToolVersion = r.Facts.Stack.Version
	key(d)
	vllms := draft.VLLM("", 1)
	for _, x := range []struct {
		in        decode.Value
		key, mean string
		field     draft.Field
	}{
		{perf, "request_latency_percentiles_ms", "avg_request_latency_ms", vllms[3]},
		{stream, "ttft_percentiles", "avg_ttft_ms", vllms[0]},
		{stream, "tpot_percentiles", "avg_tpot_ms", vllms[1]},
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
	d.Parallel(world, map[string]string{"tp_size": "tp", "pp_size": "pp", "ep_size": "ep"})
	d.Dim("max_batch", world.Get("max_batch_size").Text())
	d.Condition("scheduling", world.Get("scheduling_policy").Text())
}
