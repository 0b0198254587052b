package plan

import (
	"cmp"
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

// entries returns an entry for each model, sparsity and length.
func (c nmConfig) entries(gpus int, longest func(model string) int) ([]Entry, error) {
	offline := c.Script == "benchmark_throughput"
	if !offline && c.Script != "benchmark_serving" {
		return nil, fmt.Errorf("script %q: expected benchmark_serving or benchmark_throughput", c.Script)
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
		lengths, why := c.lengths(longest(model), gpus)
		for _, sparsity := range orNone(c.Sparsity) {
			for _, length := range lengths {
				engine := c.engine(offline, length, parallel, sparsity)
				e := Entry{Model: model, Impl: sparsity, Only: OnlyBenchmarks, Tokenizer: model, Why: why}
				if offline {
					e.Tools = []string{"throughput"}
				} else {
					e.Tools = []string{"vllm"}
					e.Server = ServerName{Kind: ServerCommand, Argv: append([]string{"vllm", "serve", model}, engine...)}
				}
				for _, w := range loads {
					w.Dims = maps.Clone(w.Dims)
					if len(c.Lens) > 1 {
						w.Dims["max_model_len"] = strconv.Itoa(length)
					}
					if parallel > 1 {
						w.Dims["tp"] = strconv.Itoa(parallel)
					}
					if offline {
						w.Extra = slices.Concat(engine, w.Extra)
					}
					e.Workloads = append(e.Workloads, w)
				}
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// parallel is over how many GPUs an engine is spread.
func (c nmConfig) parallel(gpus int) (int, error) {
	switch n, err := strconv.Atoi(c.Parallel.String()); {
	case c.AllGPUs != nil && c.Parallel != "":
		return 0, fmt.Errorf("use_all_available_gpus and tensor_parallel_size cannot be combined")
	case c.AllGPUs != nil:
		return max(1, gpus), nil
	case c.Parallel != "" && (err != nil || n < 1):
		return 0, fmt.Errorf("tensor_parallel_size %q", c.Parallel)
	default:
		return max(1, n), nil
	}
}

// lengths are the lengths of the configuration, none above the longest, each once. why describes the configuration, the
// lengths that the model does not take, and how many GPUs all are.
func (c nmConfig) lengths(longest, gpus int) (out []int, why string) {
	why = c.Description
	replaced := false
	for _, n := range orNone(c.Lens) {
		if longest > 0 && n > longest {
			n, replaced = longest, true
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	if replaced {
		why += fmt.Sprintf("; max_model_lens %v became %v, the most that the model takes", c.Lens, out)
	}
	_, ofScript := c.Args["use-all-available-gpus_"]
	switch all := c.AllGPUs != nil || ofScript; {
	case all && gpus < 1:
		why += "; use_all_available_gpus: no GPU is found on this machine, so one is used"
	case all:
		why += fmt.Sprintf("; use_all_available_gpus: %d", gpus)
	}
	return out, why
}

// orNone returns a list, or one zero element for an empty one.
func orNone[T any](list []T) []T {
	if len(list) == 0 {
		return make([]T, 1)
	}
	return list
}

// engine returns the engine's arguments. A script that has an engine of its own may state some itself: those are left
// out.
func (c nmConfig) engine(own bool, length, parallel int, sparsity string) []string {
	var args []string
	for _, a := range []struct {
		name, value string
		is          bool
	}{
		{"max-model-len", strconv.Itoa(length), length > 0},
		{"tensor-parallel-size", strconv.Itoa(parallel), parallel > 1}, {"sparsity", sparsity, sparsity != ""},
	} {
		_, dashed := c.Args[a.name]
		_, scored := c.Args[strings.ReplaceAll(a.name, "-", "_")]
		if a.is && !(own && (dashed || scored)) {
			args = append(args, "--"+a.name, a.value)
		}
	}
	return args
}

// loads returns the matrix of the script's arguments: every combination of their values.
func (c nmConfig) loads(gpus int) ([]Workload, error) {
	out := []Workload{{Dims: map[string]string{}}}
	for _, name := range slices.Sorted(maps.Keys(c.Args)) {
		var next []Workload
		for _, w := range out {
			for _, raw := range orNone(c.Args[name]) { // a bare flag has no value
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
		w := &out[i]
		w.Requests = cmp.Or(w.Requests, 1000) // both scripts' default
		if w.Dataset == "" && (w.ISL == 0 || w.OSL == 0) {
			return nil, fmt.Errorf("script_args: no dataset, and no lengths of synthetic prompts: " +
				"input-len and output-len, or num-input-tokens and num-output-tokens")
		}
	}
	return out, nil
}

// argument sets one argument of a workload. Names that end in an underscore are the driver's own; the others are
// passed to the tool unchanged.
func argument(w *Workload, name, value string, gpus int) error {
	field := map[string]string{
		"request-rate-": "rate", "num-prompts": "n", "num-prompts-": "n", "dataset": "dataset", "dataset-path": "path",
		"input-len": "isl", "num-input-tokens": "isl", "output-len": "osl", "num-output-tokens": "osl",
	}
	switch dashed := strings.ReplaceAll(name, "_", "-"); {
	case dashed == "dataset" && value == "synthetic":
		return nil // the lengths say it
	case dashed == "dataset" && value == "ultrachat":
		return fmt.Errorf("vLLM's client does not have ultrachat, which nm-vllm's own scripts have: use sharegpt, or " +
			"leave it out and give input-len and output-len")
	case field[dashed] != "":
		return setField(w, field[dashed], value)
	case dashed == "nr-qps-pair-":
		n, rate, ok := strings.Cut(value, ",")
		if !ok {
			return fmt.Errorf(`%q is not a pair such as "150,0.5"`, value)
		}
		return cmp.Or(setField(w, "n", n), setField(w, "rate", rate))
	case dashed == "use-all-available-gpus-", dashed == "tensor-parallel-size-":
		n, err := gpus, error(nil)
		if dashed == "tensor-parallel-size-" {
			n, err = strconv.Atoi(value)
		}
		if n > 1 {
			w.Extra = append(w.Extra, "--tensor-parallel-size", strconv.Itoa(n))
			w.Dims["tp"] = strconv.Itoa(n)
		}
		return err
	case strings.HasSuffix(name, "_"):
		return fmt.Errorf("unknown argument of nm-vllm's driver")
	}
	w.Extra = append(w.Extra, "--"+name)
	if value != "" {
		w.Extra = append(w.Extra, value)
	}
	w.Dims[name] = value
	return nil
}

// setField sets a field of a workload; a rate may be "inf".
func setField(w *Workload, name, value string) error {
	err := w.Set(name, strings.TrimSpace(value))
	if math.IsInf(w.Rate, 1) {
		w.Rate = 0
	}
	return err
}
