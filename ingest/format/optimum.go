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

// Optimum is the format: the phases of generation, each with a latency.
var Optimum = draft.Format{
	Name: "optimum-benchmark", Detail: "report of generation", Tool: "optimum-benchmark", Point: readOptimum,
	Wants: draft.Wants("report.prefill.latency{}|prefill.latency{}=prefill.latency", "report.decode{}|decode{}=decode"),
}

func readOptimum(d *draft.Draft) {
	v, r := d.File.First, d.Reading
	report, config, backend := v.ObjectOr("report", v), v.Get("config"), v.At("config", "backend")
	d.Fields(config.ObjectOr("scenario", config.Get("benchmark")), map[string]string{ // before 0.3
		"key isl": "input_shapes.sequence_length", "key osl": "generate_kwargs.max_new_tokens",
		"key concurrency": "input_shapes.batch_size",
	})
	for _, x := range draft.Table("ttft s whole-batch: prefill", "itl s chunk-gap: per_token") {
		block := report.At(x.Key, "latency") // older versions wrote only the list of values
		if block.Get("unit").Str() == "ms" {
			x.Scale = 1
		}
		d.Block(block, draft.Usual, x)
		n, _ := block.Get("count").Int()
		d.Size(x.Metric, n)
	}
	d.Of("output_tps", report.At("decode", "throughput", "value"))
	d.Fields(backend, map[string]string{
		"fact model.id": "model", "fact stack.engine": "name", "fact stack.version": "version",
		"condition dtype": "torch_dtype",
	})
	// "gptq 2 bits", "torchao int4_weight_only"; of a model that is not quantised the scheme is null
	scheme, quantization := backend.Get("quantization_scheme"), backend.Get("quantization_config")
	quantized := strings.TrimSpace(scheme.Str() + " " + quantization.Get("quant_type").Str())
	if bits, ok := quantization.Get("bits").Int(); ok {
		quantized = fmt.Sprintf("%s %d bits", scheme.Str(), bits)
	}
	if scheme.Kind() == decode.Null {
		quantized = "none"
	}
	d.Condition("quantization", quantized)
	if r.Facts.Model.Precision = quantized; quantized == "none" {
		r.Facts.Model.Precision = backend.Get("torch_dtype").Str()
	}
	for _, name := range []string{"attn_implementation", "device", "torch_compile"} {
		if text := backend.Get(name).Text(); text != "" && text != "null" {
			d.Keep(name, text)
		}
	}
	r.Facts.Device = optimumDevice(backend, config.Get("environment"))
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
