// This file reads what optimum-benchmark writes (0.2 to 0.6): benchmark.json with configuration and report, and
// benchmark_report.json alone. Prefill is the time to the first token of a batch; decoding gives the rate of the whole
// batch, and the latency of each token where the tool measured it.

package format

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Optimum is the name of the format.
const Optimum = "optimum-benchmark"

// DetectOptimum asks for the phases of generation, each with a latency.
func DetectOptimum(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Optimum, Detail: "report of generation"}}
	report := f.First.ObjectOr("report", f.First)
	m.Want(report.At("prefill", "latency").Kind() == decode.Object, "prefill.latency")
	m.Want(report.Get("decode").Kind() == decode.Object, "decode")
	return m.Match
}

// ReadOptimum returns the point of a report.
func ReadOptimum(f *decode.File) schema.Reading {
	r := schema.Reading{Format: Optimum, Detail: "report of generation"}
	report, config := f.First.ObjectOr("report", f.First), f.First.Get("config")
	scenario := config.ObjectOr("scenario", config.Get("benchmark")) // before 0.3
	d := draft.New(f, &r, f.First, "optimum-benchmark")
	d.Key.ISL = scenario.At("input_shapes", "sequence_length").Ptr()
	d.Key.OSL = scenario.At("generate_kwargs", "max_new_tokens").Ptr()
	d.Key.Concurrency = scenario.At("input_shapes", "batch_size").Ptr()
	for _, x := range []draft.Field{
		{Key: "prefill", Metric: "ttft", Def: schema.DefBatch}, {Key: "per_token", Metric: "itl", Def: schema.DefChunkGap},
	} {
		block := report.At(x.Key, "latency") // older versions wrote only the list of values
		if x.Scale = 1000; block.Get("unit").Str() == "ms" {
			x.Scale = 1
		}
		d.Block(block, draft.Usual, x)
		n, _ := block.Get("count").Int()
		d.Size(x.Metric, n)
	}
	d.Of("output_tps", report.At("decode", "throughput", "value"))
	backend := config.Get("backend")
	r.Facts.Model.ID = backend.Get("model").Str()
	r.Facts.Stack = schema.Stack{Engine: backend.Get("name").Str(), Version: backend.Get("version").Str()}
	d.Condition("dtype", backend.Get("torch_dtype").Str())
	quantized := optimumQuantization(backend)
	d.Condition("quantization", quantized)
	if r.Facts.Model.Precision = quantized; quantized == optimumUnquantized {
		r.Facts.Model.Precision = backend.Get("torch_dtype").Str()
	}
	for _, name := range []string{"attn_implementation", "device", "torch_compile"} {
		if text := backend.Get(name).Text(); text != "" && text != "null" {
			d.Keep(name, text)
		}
	}
	r.Facts.Device = optimumDevice(backend, config.Get("environment"))
	d.Done()
	return r
}

// optimumUnquantized is said of a model whose configuration has a scheme of quantisation, which is null.
const optimumUnquantized = "none"

// optimumQuantization is how a model is quantised: "gptq 2 bits", "torchao int4_weight_only"; "" where
// nothing is stated.
func optimumQuantization(backend decode.Value) string {
	scheme, config := backend.Get("quantization_scheme"), backend.Get("quantization_config")
	if scheme.Kind() == decode.Null {
		return optimumUnquantized
	}
	if bits, ok := config.Get("bits").Int(); ok {
		return fmt.Sprintf("%s %d bits", scheme.Str(), bits)
	}
	return strings.TrimSpace(scheme.Str() + " " + config.Get("quant_type").Str())
}

// optimumDevice is what a model ran on: the accelerators that device_ids names ("0", "2,4"), or all of the machine.
func optimumDevice(backend, environment decode.Value) schema.Device {
	gpus := environment.Get("gpu")
	if gpus.Index(0).Str() == "" || backend.Get("device").Str() == "cpu" {
		return schema.Device{Name: environment.Get("cpu").Str()}
	}
	ids := backend.Get("device_ids").Text()
	if ids == "" || ids == "null" {
		n, _ := environment.Get("gpu_count").Int()
		return schema.Device{Name: gpus.Index(0).Str(), Chips: min(max(n, 0), 1<<20)}
	}
	used := strings.Split(ids, ",")
	at, _ := strconv.Atoi(strings.TrimSpace(used[0]))
	return schema.Device{Name: cmp.Or(gpus.Index(at).Str(), gpus.Index(0).Str()), Chips: len(used)}
}
