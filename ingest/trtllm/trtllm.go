package trtllm

import (
	"bytes"
	"cmp"

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
