package parity

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// offline is the tool that measures an engine without a server.
const offline = "vllm-throughput"

// inputThroughput is total_tps less output_tps.
const inputThroughput = "input_tps"

// BenchmarkResults are the files that nm-vllm's scripts write: a BenchmarkResult for every point of a load on a server
// or an engine that has a number. version is that of the program, with its name. Keys, names, units and types are those
// of neuralmagic/benchmarks/scripts/logging/benchmark_result.py of nm-vllm 0.5.
func BenchmarkResults(runs []schema.Run, version string) ([]File, error) {
	var out output
	taken := map[string]int{}
	for i := range runs {
		for j := range runs[i].Points {
			p := &runs[i].Points[j]
			// the script of nm-vllm that makes the load; the list of columns of its name has its metrics
			metrics, name := map[string]object{}, "benchmark_serving"
			if p.Key.Tool == offline {
				name = "benchmark_throughput"
			}
			for _, c := range listed(name) {
				metric, stat, _ := strings.Cut(c.from, " ")
				unit, kind, _ := strings.Cut(c.head, " ")
				if x, ok := scriptNumber(p, metric, stat); ok {
					metrics[c.key] = object{{"key", c.key}, {"unit", unit}, {"value", x}, {"type", kind}}
				}
			}
			if len(metrics) == 0 {
				continue
			}
			result := append(benchmarkResult(&runs[i], p, name), object{{"metrics", metrics}, {"written_by", version}}...)
			if p.Key.Tool != offline {
				name += fmt.Sprintf("-%s-%vqps", p.Key.Tool, rateOf(p))
			}
			when := cmp.Or(timeText(p.Start, "20060102-150405"), "undated")
			name = fileName(name + "-" + path.Base(cmp.Or(runs[i].Model.ID, runs[i].Model.Name)) + "-" + when)
			if taken[name]++; taken[name] > 1 { // two points that began in one second
				name += fmt.Sprintf("-%d", taken[name])
			}
			out.json(name+".json", result)
		}
	}
	return out.files, out.err
}

// benchmarkResult has the keys of BenchmarkResult before its metrics, in their order.
func benchmarkResult(run *schema.Run, p *schema.Point, script string) object {
	chips := max(1, run.Device.Chips) // over how many the engine was spread
	if n, err := strconv.Atoi(p.Key.Dims["tp"]); err == nil && n > 0 {
		chips = n
	}
	engine, model := text(run.Stack.Version), cmp.Or(run.Model.ID, run.Model.Name)
	context := map[string]any{"vllm_version": engine}
	var gpu, date, epoch any
	if name := run.Device.Name; name != "" {
		gpu = fmt.Sprintf("%s x %d", name, chips)
		context["cuda_device_names"] = slices.Repeat([]string{name}, min(chips, 1024))
	}
	if !p.Start.IsZero() {
		date, epoch = p.Start.UTC().Format("2006-01-02 15:04:05 MST"), float64(p.Start.Unix())
	}
	args := scriptArguments(p)
	shown, _ := json.MarshalIndent(args, "", "  ") // texts and finite numbers always encode
	description := fmt.Sprintf("%s\nmodel - %s\nmax-model-len - %s\nsparsity - %s\n%s %s", p.Key.Workload(), model,
		cmp.Or(p.Key.Dims["max_model_len"], "None"), cmp.Or(p.Key.Dims["sparsity"], "None"), script, shown)
	return object{{"json_schema_version", "0.0.0"}, {"vllm_version", engine}, {"benchmarking_context", context},
		{"description", description}, {"gpu_description", gpu}, {"date", date}, {"epoch_time", epoch},
		{"script_name", script + ".py"}, {"tensor_parallel_size", chips}, {"model", model},
		{"tokenizer", cmp.Or(p.Conditions["tokenizer"], model)}, {"dataset", cmp.Or(p.Key.Dataset, "synthetic")},
		{"script_args", args}, {"metadata", scriptMetadata(p)}}
}

// scriptNumber is a statistic of a point; ok is false where there is none.
func scriptNumber(p *schema.Point, name, stat string) (float64, bool) {
	if name == inputThroughput {
		total, ok := scriptNumber(p, "total_tps", "value")
		out, ok2 := scriptNumber(p, "output_tps", "value")
		return total - out, ok && ok2 && total > out
	}
	m, _ := p.Metric(name)
	if name == "tpot" && len(m.Stats) == 0 {
		m, _ = p.Metric("ntpot") // as the scripts had it before 0.5: with the first token
	}
	n := float64(m.N)
	if n == 0 {
		n, _ = p.Value("requests_ok", "value")
	}
	if n >= 1 && !schema.TailHolds(stat, n) {
		return 0, false
	}
	x, ok := m.Stats.Get(stat)
	return x, ok && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// scriptArguments are those of the script, by the names that it has for them.
func scriptArguments(p *schema.Point) map[string]any {
	out := map[string]any{}
	requests := any(nil)
	if n, err := strconv.Atoi(p.Conditions["num_prompts"]); err == nil {
		requests = n
	}
	numbers := map[string]*float64{"num_input_tokens": p.Key.ISL, "num_output_tokens": p.Key.OSL,
		"max_concurrency": p.Key.Concurrency}
	if p.Key.Tool == offline {
		numbers = map[string]*float64{"input_len": p.Key.ISL, "output_len": p.Key.OSL}
		if requests != nil {
			out["num_prompts"] = requests
		}
	} else {
		out["nr_qps_pair_"] = []any{requests, rateOf(p)}
	}
	for name, x := range numbers {
		if x != nil {
			out[name] = *x
		}
	}
	for name, v := range p.Key.Dims {
		switch name {
		case schema.DimLabel, "max_model_len", "sparsity":
		case "tp":
			out["server_tensor_parallel_size"] = v
		default:
			out[name] = v
		}
	}
	return out
}

// rateOf is the requested rate, which is infinite where none is stated.
func rateOf(p *schema.Point) any {
	if p.Key.Rate == nil {
		return "inf"
	}
	return *p.Key.Rate
}

func scriptMetadata(p *schema.Point) map[string]any {
	out := map[string]any{}
	for key, name := range map[string]string{"completed": "requests_ok", "duration": "duration_s"} {
		if x, ok := p.Value(name, "value"); ok {
			out[key] = x
		}
	}
	done, ok := p.Value("requests_ok", "value")
	for key, name := range map[string]string{"total_input": "isl", "total_output": "osl"} {
		if mean, has := p.Value(name, "mean"); ok && has {
			out[key] = math.Round(mean * done)
		}
	}
	if n, err := strconv.Atoi(p.Conditions["num_prompts"]); err == nil {
		out["num_prompts"] = n
	}
	if p.Key.Tool != offline {
		out["request_rate"] = rateOf(p)
	}
	return out
}
