package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// nmConfig is one entry of an nm-vllm configuration (neuralmagic/benchmarks/configs/*.json at 0.5).
type nmConfig struct {
	Description string                       `json:"description"`
	Models      []string                     `json:"models"`
	AllGPUs     *json.RawMessage             `json:"use_all_available_gpus"` // present: yes
	Parallel    json.Number                  `json:"tensor_parallel_size"`
	Lens        []int                        `json:"max_model_lens"`
	Sparsity    []string                     `json:"sparsity"`
	Script      string                       `json:"script_name"`
	Args        map[string][]json.RawMessage `json:"script_args"`
}

// nm reads an nm-vllm configuration: models x sparsities x model lengths, each a server or an engine of its own, and
// on each the matrix of the script's arguments. gpus is how many this machine has, for entries that use all.
//
// longest returns how many tokens a model takes at most, 0 where that is not known: a longer max_model_len is replaced
// by it, as there.
func nm(name string, data []byte, gpus int, longest func(model string) int) ([]Entry, error) {
	var f struct {
		Configs []nmConfig `json:"configs"`
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		const expected = `{"configs": [{models, max_model_lens, script_name, script_args}]}, ` +
			"where every argument has a list of values"
		return nil, fmt.Errorf("%s: %w; expected nm-vllm's %s", name, err, expected)
	}
	var out []Entry
	for i, c := range f.Configs {
		list, err := c.entries(gpus, longest)
		if err != nil {
			return nil, fmt.Errorf("%s: configs[%d]: %w", name, i, err)
		}
		out = append(out, list...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no configuration, or none with a model", name)
	}
	return out, nil
}

func (c nmConfig) entries(gpus int, longest func(model string) int) ([]Entry, error) {
	offline := c.Script == "benchmark_throughput"
	if !offline && c.Script != "benchmark_serving" {
		return nil, fmt.Errorf("script %q: there are benchmark_serving and benchmark_throughput", c.Script)
	}
	parallel, err := c.parallel(gpus)
	if err != nil {
		return nil, err
	}
	loads, err := c.loads(gpus)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, model := range c.Models {
		for _, sparsity := range orNone(c.Sparsity) {
			limit := longest(model)
			for _, length := range c.lengths(limit) {
				args := engineArgs(length, parallel, sparsity)
				e := Entry{
					Model: model, Impl: sparsity, Only: OnlyBenchmarks, Tools: []string{"vllm"}, Tokenizer: model,
					Why:    c.why(limit, gpus),
					Server: ServerName{Kind: ServerCommand, Argv: append([]string{"vllm", "serve", model}, args...)},
				}
				if offline {
					e.Tools, e.Server = []string{"throughput"}, ServerName{}
				}
				for _, w := range loads {
					w.Dims = c.dims(w.Dims, length, parallel)
					if offline {
						w.Extra = append(c.without(args), w.Extra...)
					}
					e.Workloads = append(e.Workloads, w)
				}
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// lengths are the lengths of the configuration, none above the longest, each once.
func (c nmConfig) lengths(longest int) []int {
	var out []int
	for _, n := range orNone(c.Lens) {
		if longest > 0 && n > longest {
			n = longest
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// why describes the configuration, the lengths that the model does not take, and how many GPUs all are.
func (c nmConfig) why(longest, gpus int) string {
	out := c.Description
	if longest > 0 && slices.ContainsFunc(orNone(c.Lens), func(n int) bool { return n > longest }) {
		out += fmt.Sprintf("; max_model_lens %v became %v: the model takes no more", c.Lens, c.lengths(longest))
	}
	_, ofScript := c.Args["use-all-available-gpus_"]
	switch all := c.AllGPUs != nil || ofScript; {
	case all && gpus < 1:
		out += "; use_all_available_gpus: no GPU is found on this machine, so one is used"
	case all:
		out += fmt.Sprintf("; use_all_available_gpus: %d", gpus)
	}
	return out
}

// without leaves out the engine's arguments that the script's arguments state themselves.
func (c nmConfig) without(engine []string) []string {
	var out []string
	for i := 0; i+1 < len(engine); i += 2 {
		name := strings.TrimPrefix(engine[i], "--")
		_, dashed := c.Args[name]
		_, scored := c.Args[strings.ReplaceAll(name, "-", "_")]
		if !dashed && !scored {
			out = append(out, engine[i], engine[i+1])
		}
	}
	return out
}

// dims adds the parameters of the engine that make it another workload.
func (c nmConfig) dims(dims map[string]string, length, parallel int) map[string]string {
	dims = maps.Clone(dims)
	if dims == nil {
		dims = map[string]string{}
	}
	if len(c.Lens) > 1 {
		dims["max_model_len"] = strconv.Itoa(length)
	}
	if parallel > 1 {
		dims["tp"] = strconv.Itoa(parallel)
	}
	return dims
}

// orNone returns a list, or one zero element for an empty one.
func orNone[T any](list []T) []T {
	if len(list) == 0 {
		var none T
		return []T{none}
	}
	return list
}

// engineArgs returns the engine's arguments.
func engineArgs(length, parallel int, sparsity string) []string {
	var args []string
	if length > 0 {
		args = append(args, "--max-model-len", strconv.Itoa(length))
	}
	if parallel > 1 {
		args = append(args, "--tensor-parallel-size", strconv.Itoa(parallel))
	}
	if sparsity != "" {
		args = append(args, "--sparsity", sparsity)
	}
	return args
}

func (c nmConfig) parallel(gpus int) (int, error) {
	switch {
	case c.AllGPUs != nil && c.Parallel != "":
		return 0, fmt.Errorf("use_all_available_gpus and tensor_parallel_size exclude each other")
	case c.AllGPUs != nil:
		return max(1, gpus), nil
	case c.Parallel != "":
		n, err := strconv.Atoi(c.Parallel.String())
		if err != nil || n < 1 {
			return 0, fmt.Errorf("tensor_parallel_size %q", c.Parallel)
		}
		return n, nil
	}
	return 1, nil
}

// most bounds the matrix of one configuration.
const most = 10_000

// loads returns the matrix of the script's arguments: every combination of their values.
func (c nmConfig) loads(gpus int) ([]Workload, error) {
	out := []Workload{{}}
	for _, name := range slices.Sorted(maps.Keys(c.Args)) {
		values := c.Args[name]
		if len(values) == 0 { // a bare flag
			values = []json.RawMessage{nil}
		}
		if len(values)*len(out) > most {
			return nil, fmt.Errorf("the matrix has more than %d points", most)
		}
		var next []Workload
		for _, w := range out {
			for _, raw := range values {
				w := w
				w.Extra, w.Dims = slices.Clone(w.Extra), maps.Clone(w.Dims)
				if err := argument(&w, name, strings.Trim(string(raw), `"`), gpus); err != nil {
					return nil, fmt.Errorf("script_args %s: %w", name, err)
				}
				next = append(next, w)
			}
		}
		out = next
	}
	for i := range out {
		if out[i].Requests == 0 {
			out[i].Requests = 1000 // both scripts' default
		}
		if out[i].Dataset == "" && (out[i].ISL == 0 || out[i].OSL == 0) {
			return nil, fmt.Errorf("script_args: no dataset, and no lengths of synthetic prompts: " +
				"input-len and output-len, or num-input-tokens and num-output-tokens")
		}
	}
	return out, nil
}

// argument sets one argument of a workload. Names that end in an underscore are the driver's own; the others are
// passed to the tool unchanged.
func argument(w *Workload, name, value string, gpus int) (err error) {
	switch strings.ReplaceAll(name, "_", "-") {
	case "nr-qps-pair-":
		n, rate, ok := strings.Cut(value, ",")
		if !ok {
			return fmt.Errorf(`%q is no pair such as "150,0.5"`, value)
		}
		if w.Requests, err = aboveZero(n); err != nil {
			return err
		}
		return setRate(w, rate)
	case "request-rate-":
		return setRate(w, value)
	case "num-prompts", "num-prompts-":
		w.Requests, err = aboveZero(value)
	case "dataset":
		w.Dataset = value
	case "dataset-path":
		w.Path = value
	case "input-len", "num-input-tokens":
		w.ISL, err = aboveZero(value)
	case "output-len", "num-output-tokens":
		w.OSL, err = aboveZero(value)
	case "use-all-available-gpus-":
		setParallel(w, gpus)
	case "tensor-parallel-size-":
		var n int
		if n, err = aboveZero(value); err == nil {
			setParallel(w, n)
		}
	default:
		return setOther(w, name, value)
	}
	return err
}

// setParallel spreads the engine of a workload over GPUs.
func setParallel(w *Workload, gpus int) {
	if gpus > 1 {
		w.Extra = append(w.Extra, "--tensor-parallel-size", strconv.Itoa(gpus))
		w.Dims = map[string]string{"tp": strconv.Itoa(gpus)}
	}
}

// setOther passes an argument to the tool.
func setOther(w *Workload, name, value string) error {
	if strings.HasSuffix(name, "_") {
		return fmt.Errorf("an argument of nm-vllm's driver that is not known")
	}
	w.Extra = append(w.Extra, "--"+name)
	if value != "" {
		w.Extra = append(w.Extra, value)
	}
	if w.Dims == nil {
		w.Dims = map[string]string{}
	}
	w.Dims[name] = value
	return nil
}

func aboveZero(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number above zero", text)
	}
	return n, nil
}

func setRate(w *Workload, text string) error {
	if text = strings.TrimSpace(text); text == "inf" {
		w.Rate = 0
		return nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%q is no rate above zero", text)
	}
	w.Rate = v
	return nil
}

// nmList reads a list of configurations: one path a line, # begins a comment.
func nmList(data []byte) []string {
	var out []string
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}
