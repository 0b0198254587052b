package nmvllm

import (
	"bytes"
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

// File is one result.
type File struct {
	Name string
	Data []byte
}

// Types of metrics.
const (
	bigger      = "BiggerIsBetter"
	smaller     = "SmallerIsBetter"
	observation = "Observation"
)

// template is a metric of BenchmarkResult, and where its number comes from.
type template struct{ key, unit, kind, metric, stat string }

func serving() []template {
	return []template{
		{"request_throughput", "prompts/s", bigger, "rps", "value"},
		{"input_throughput", "tokens/s", bigger, inputThroughput, "value"},
		{"output_throughput", "tokens/s", bigger, "output_tps", "value"},
		{"median_request_latency", "ms", smaller, "e2el", "median"},
		{"p90_request_latency", "ms", observation, "e2el", "p90"},
		{"p99_request_latency", "ms", observation, "e2el", "p99"},
		{"mean_ttft_ms", "ms", smaller, "ttft", "mean"},
		{"median_ttft_ms", "ms", smaller, "ttft", "median"},
		{"p90_ttft_ms", "ms", observation, "ttft", "p90"},
		{"p99_ttft_ms", "ms", observation, "ttft", "p99"},
		{"mean_tpot_ms", "ms", smaller, "tpot", "mean"},
		{"median_tpot_ms", "ms", smaller, "tpot", "median"},
		{"p90_tpot_ms", "ms", observation, "tpot", "p90"},
		{"p99_tpot_ms", "ms", observation, "tpot", "p99"},
	}
}

func throughput() []template {
	return []template{
		{"request_throughput", "prompts/s", bigger, "rps", "value"},
		{"token_throughput", "tokens/s", bigger, "total_tps", "value"},
	}
}

// inputThroughput is total_tps less output_tps.
const inputThroughput = "input_tps"

// metric is a member of "metrics", with the keys of MetricTemplate in their order.
type metric struct {
	Key   string  `json:"key"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Type  string  `json:"type"`
}

// result has the keys of BenchmarkResult, in their order.
type result struct {
	SchemaVersion string            `json:"json_schema_version"`
	VLLMVersion   *string           `json:"vllm_version"`
	Context       map[string]any    `json:"benchmarking_context"`
	Description   string            `json:"description"`
	GPU           *string           `json:"gpu_description"`
	Date          *string           `json:"date"`
	Epoch         *float64          `json:"epoch_time"`
	Script        string            `json:"script_name"`
	Parallel      int               `json:"tensor_parallel_size"`
	Model         string            `json:"model"`
	Tokenizer     string            `json:"tokenizer"`
	Dataset       string            `json:"dataset"`
	Args          map[string]any    `json:"script_args"`
	Metadata      map[string]any    `json:"metadata"`
	Metrics       map[string]metric `json:"metrics"`
	WrittenBy     string            `json:"written_by"`
}

// Files returns a result for every point of a load on a server or an engine that has a number. version is that of the
// program, with its name.
func Files(runs []schema.Run, version string) ([]File, error) {
	var out []File
	taken := map[string]int{}
	for i := range runs {
		for j := range runs[i].Points {
			p := &runs[i].Points[j]
			r, ok := of(&runs[i], p, version)
			if !ok {
				continue
			}
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "    ")
			if err := enc.Encode(r); err != nil {
				return nil, fmt.Errorf("writing %s as BenchmarkResult: %w", p.Key, err)
			}
			name := nameOf(r, p)
			if taken[name]++; taken[name] > 1 { // two points that began in one second
				name += fmt.Sprintf("-%d", taken[name])
			}
			out = append(out, File{name + ".json", b.Bytes()})
		}
	}
	return out, nil
}

// offline is the tool that measures an engine without a server.
func offline(tool string) bool { return tool == "vllm-throughput" }

func of(run *schema.Run, p *schema.Point, version string) (result, bool) {
	script, templates := "benchmark_serving.py", serving()
	if offline(p.Key.Tool) {
		script, templates = "benchmark_throughput.py", throughput()
	}
	r := result{
		SchemaVersion: "0.0.0", VLLMVersion: text(run.Stack.Version), Script: script, Parallel: parallel(run, p),
		Model:     cmp.Or(run.Model.ID, run.Model.Name),
		Tokenizer: cmp.Or(p.Conditions["tokenizer"], run.Model.ID, run.Model.Name),
		Dataset:   cmp.Or(p.Key.Dataset, "synthetic"), Args: arguments(p), Metadata: metadata(p),
		Metrics: map[string]metric{}, WrittenBy: version,
		Context: map[string]any{"vllm_version": text(run.Stack.Version)},
	}
	if gpu := run.Device.Name; gpu != "" {
		r.GPU = text(fmt.Sprintf("%s x %d", gpu, r.Parallel))
		r.Context["cuda_device_names"] = slices.Repeat([]string{gpu}, min(r.Parallel, 1024))
	}
	if !p.Start.IsZero() {
		epoch := float64(p.Start.Unix())
		r.Date, r.Epoch = text(p.Start.UTC().Format("2006-01-02 15:04:05 MST")), &epoch
	}
	for _, t := range templates {
		if x, ok := number(p, t.metric, t.stat); ok {
			r.Metrics[t.key] = metric{t.key, t.unit, x, t.kind}
		}
	}
	r.Description = describe(r, p)
	return r, len(r.Metrics) > 0
}

// number is a statistic of a point; ok is false where there is none.
func number(p *schema.Point, name, stat string) (float64, bool) {
	if name == inputThroughput {
		total, ok := number(p, "total_tps", "value")
		out, ok2 := number(p, "output_tps", "value")
		return total - out, ok && ok2 && total > out
	}
	m, _ := p.Metric(name)
	if name == "tpot" && len(m.Stats) == 0 {
		m, _ = p.Metric("ntpot") // as the scripts had it before 0.5: with the first token
	}
	n := m.N
	if n == 0 {
		if done, ok := p.Value("requests_ok", "value"); ok {
			n = int(done)
		}
	}
	if n > 0 && !schema.TailHolds(stat, float64(n)) {
		return 0, false
	}
	x, ok := m.Stats.Get(stat)
	return x, ok && !math.IsNaN(x) && !math.IsInf(x, 0)
}

// describe is the description that the drivers make.
func describe(r result, p *schema.Point) string {
	args, err := json.MarshalIndent(r.Args, "", "  ")
	if err != nil {
		args = []byte("{}") // texts and numbers always encode
	}
	length := cmp.Or(p.Key.Dims["max_model_len"], "None")
	sparsity := cmp.Or(p.Key.Dims["sparsity"], "None")
	return fmt.Sprintf("%s\nmodel - %s\nmax-model-len - %s\nsparsity - %s\n%s %s", p.Key.Workload(), r.Model, length,
		sparsity, strings.TrimSuffix(r.Script, ".py"), args)
}

// arguments are those of the script, by the names that it has for them.
func arguments(p *schema.Point) map[string]any {
	out := map[string]any{}
	put := func(name string, x *float64) {
		if x != nil {
			out[name] = *x
		}
	}
	requests := any(nil)
	if n, err := strconv.Atoi(p.Conditions["num_prompts"]); err == nil {
		requests = n
	}
	if offline(p.Key.Tool) {
		put("input_len", p.Key.ISL)
		put("output_len", p.Key.OSL)
		if requests != nil {
			out["num_prompts"] = requests
		}
	} else {
		put("num_input_tokens", p.Key.ISL)
		put("num_output_tokens", p.Key.OSL)
		put("max_concurrency", p.Key.Concurrency)
		out["nr_qps_pair_"] = []any{requests, rate(p)}
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

// rate is the requested rate, which is infinite where none is stated.
func rate(p *schema.Point) any {
	if p.Key.Rate == nil {
		return "inf"
	}
	return *p.Key.Rate
}

func metadata(p *schema.Point) map[string]any {
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
	if !offline(p.Key.Tool) {
		out["request_rate"] = rate(p)
	}
	return out
}

// parallel is over how many chips the engine was spread.
func parallel(run *schema.Run, p *schema.Point) int {
	if n, err := strconv.Atoi(p.Key.Dims["tp"]); err == nil && n > 0 {
		return n
	}
	return max(1, run.Device.Chips)
}

// nameOf is the name of the file, without its extension.
func nameOf(r result, p *schema.Point) string {
	model, when := path.Base(r.Model), "undated"
	if !p.Start.IsZero() {
		when = p.Start.UTC().Format("20060102-150405")
	}
	name := fmt.Sprintf("%s-%s-%vqps-%s-%s", strings.TrimSuffix(r.Script, ".py"), p.Key.Tool, rate(p), model, when)
	if offline(p.Key.Tool) {
		name = fmt.Sprintf("%s-%s-%s", strings.TrimSuffix(r.Script, ".py"), model, when)
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' || strings.ContainsRune(`/\:*?"<>| `, c) {
			return '_'
		}
		return c
	}, name)
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
