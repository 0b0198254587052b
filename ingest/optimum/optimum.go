package optimum

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Format is the name of the format.
const Format = "optimum-benchmark"

// Detect asks for the phases of generation, each with a latency.
func Detect(f *decode.File) schema.Match {
	m := draft.Check{Match: schema.Match{Format: Format, Detail: "report of generation"}}
	report := reportOf(f.First)
	m.Want(report.At("prefill", "latency").Kind() == decode.Object, "prefill.latency")
	m.Want(report.Get("decode").Kind() == decode.Object, "decode")
	return m.Match
}

func reportOf(v decode.Value) decode.Value {
	if report := v.Get("report"); report.Kind() == decode.Object {
		return report
	}
	return v
}

// Read returns the point of a report.
func Read(f *decode.File) schema.Reading {
	v := f.First
	r := schema.Reading{Format: Format, Detail: "report of generation"}
	report, config := reportOf(v), v.Get("config")
	d := draft.New(f, &r, v, "optimum-benchmark")
	scenario := config.Get("scenario")
	if scenario.Kind() != decode.Object {
		scenario = config.Get("benchmark") // before 0.3
	}
	d.Key.ISL = scenario.At("input_shapes", "sequence_length").Ptr()
	d.Key.OSL = scenario.At("generate_kwargs", "max_new_tokens").Ptr()
	d.Key.Concurrency = scenario.At("input_shapes", "batch_size").Ptr()
	latency(d, report.At("prefill", "latency"), "ttft", schema.DefBatch)
	latency(d, report.At("per_token", "latency"), "itl", schema.DefChunkGap)
	if x, ok := report.At("decode", "throughput", "value").Float(); ok {
		d.Value("output_tps", x)
	}
	backend := config.Get("backend")
	r.Facts.Model.ID = backend.Get("model").Str()
	r.Facts.Stack = schema.Stack{Engine: backend.Get("name").Str(), Version: backend.Get("version").Str()}
	d.Condition("dtype", backend.Get("torch_dtype").Str())
	quantized := quantization(backend)
	d.Condition("quantization", quantized)
	if r.Facts.Model.Precision = quantized; quantized == unquantized {
		r.Facts.Model.Precision = backend.Get("torch_dtype").Str()
	}
	for _, name := range []string{"attn_implementation", "device", "torch_compile"} {
		if text := backend.Get(name).Text(); text != "" && text != "null" {
			d.Keep(name, text)
		}
	}
	r.Facts.Device = device(backend, config.Get("environment"))
	d.Done()
	return r
}

// unquantized is said of a model whose configuration has a scheme of quantisation, which is null.
const unquantized = "none"

// quantization is how a model is quantised: "gptq 2 bits", "torchao int4_weight_only"; "" where nothing is stated.
func quantization(backend decode.Value) string {
	scheme := backend.Get("quantization_scheme")
	if scheme.Kind() == decode.Null {
		return unquantized
	}
	config := backend.Get("quantization_config")
	if bits, ok := config.Get("bits").Int(); ok {
		return fmt.Sprintf("%s %d bits", scheme.Str(), bits)
	}
	return strings.TrimSpace(scheme.Str() + " " + config.Get("quant_type").Str())
}

// device is what a model ran on: the accelerators that device_ids names ("0", "2,4"), or all of the machine.
func device(backend, environment decode.Value) schema.Device {
	gpus := environment.Get("gpu")
	if gpus.Index(0).Str() == "" || backend.Get("device").Str() == "cpu" {
		return schema.Device{Name: environment.Get("cpu").Str()}
	}
	ids := backend.Get("device_ids").Text()
	if ids == "" || ids == "null" {
		return schema.Device{Name: gpus.Index(0).Str(), Chips: chips(environment)}
	}
	used := strings.Split(ids, ",")
	at, _ := strconv.Atoi(strings.TrimSpace(used[0]))
	return schema.Device{Name: cmp.Or(gpus.Index(at).Str(), gpus.Index(0).Str()), Chips: len(used)}
}

// latency reads a block {unit, mean, p50 …} in seconds; older versions wrote only the list of values.
func latency(d *draft.Draft, block decode.Value, metric, def string) {
	scale := 1000.
	if block.Get("unit").Str() == "ms" {
		scale = 1
	}
	for theirs, stat := range map[string]string{
		"mean": "mean", "stdev": "std", "p50": "median", "p90": "p90", "p95": "p95", "p99": "p99",
	} {
		if x, ok := block.Get(theirs).Float(); ok {
			d.Stat(metric, def, stat, x*scale)
		}
	}
	if n, ok := block.Get("count").Int(); ok {
		d.Size(metric, n)
	}
}

// chips is how many accelerators the machine has, 0 when it does not say.
func chips(environment decode.Value) int {
	n, _ := environment.Get("gpu_count").Int()
	return min(max(n, 0), 1<<20)
}
