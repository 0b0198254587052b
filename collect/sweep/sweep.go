// Package sweep makes lists of workloads: presets by name, the derivation from what a model can take, TensorRT-LLM's lists of batches
// and lengths, and single workloads written as text.
//
// In flow names, limits and text; out flow workloads in the order in which they are measured, from light to heavy. What a server or a
// tool is, it does not know.
package sweep

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Workload is one measurement to make.
type Workload struct {
	ISL, OSL, Concurrency, Requests int     // lengths are 0 where a dataset brings its own
	Rate                            float64 // requests a second; 0: closed loop
	Dataset                         string  // "" for random prompts
	Path                            string  // file of the dataset, where it is one
	// Dims are what else sets this workload apart, such as the degree of parallelism: part of its name in history.
	Dims map[string]string
	// Extra are arguments for the tool that makes the load, as it takes them.
	Extra []string
}

// Same reports whether two workloads load a server alike, however many requests they make.
func (w Workload) Same(o Workload) bool {
	return w.ISL == o.ISL && w.OSL == o.OSL && w.Concurrency == o.Concurrency && w.Rate == o.Rate && w.Dataset == o.Dataset && slices.Equal(w.Extra, o.Extra) && maps.Equal(w.Dims, o.Dims)
}

// Join appends workloads that are not in a list yet.
func Join(list []Workload, more ...Workload) []Workload {
	for _, w := range more {
		if !slices.ContainsFunc(list, w.Same) {
			list = append(list, w)
		}
	}
	return list
}

// Spec is a workload in the form that --workload takes: "isl=128,osl=128,n=8,c=1".
func (w Workload) Spec() string {
	var parts []string
	if w.Dataset != "" {
		parts = append(parts, "dataset="+w.Dataset)
	}
	if w.Path != "" {
		parts = append(parts, "path="+w.Path)
	}
	for _, p := range []struct {
		name string
		v    int
	}{{"isl", w.ISL}, {"osl", w.OSL}, {"n", w.Requests}, {"c", w.Concurrency}} {
		if p.v > 0 {
			parts = append(parts, p.name+"="+strconv.Itoa(p.v))
		}
	}
	switch {
	case w.Rate > 0:
		parts = append(parts, "rate="+strconv.FormatFloat(w.Rate, 'g', -1, 64))
	case w.Concurrency == 0:
		parts = append(parts, "rate=inf")
	}
	return strings.Join(parts, ",")
}

// String says in words what a workload is.
func (w Workload) String() string {
	s := fmt.Sprintf("ISL %d OSL %d", w.ISL, w.OSL)
	if w.Dataset != "" {
		s = w.Dataset
		if w.OSL > 0 {
			s += fmt.Sprintf(" OSL %d", w.OSL)
		}
	}
	if w.Rate > 0 {
		return s + fmt.Sprintf(" at %g req/s", w.Rate)
	}
	if w.Concurrency == 0 {
		return s + " all at once"
	}
	return s + fmt.Sprintf(" concurrency %d", w.Concurrency)
}

// Parse reads what Spec writes. Requests that are not stated are four waves, and eight at least; rate=inf sends all at once.
func Parse(text string) (Workload, error) {
	var w Workload
	burst := false
	for _, part := range strings.Split(text, ",") {
		if part == "rate=inf" {
			burst = true
		} else if err := w.set(part); err != nil {
			return w, fmt.Errorf("workload %q: %w", text, err)
		}
	}
	if w.Dataset == "" && (w.ISL == 0 || w.OSL == 0) || !burst && w.Concurrency == 0 && w.Rate == 0 {
		return w, fmt.Errorf("workload %q: expected isl, osl and c or rate, as in isl=128,osl=128,c=1,n=8", text)
	}
	if w.Requests == 0 {
		w.Requests = max(8, 4*w.Concurrency)
	}
	return w, nil
}

func (w *Workload) set(part string) error {
	name, value, _ := strings.Cut(part, "=")
	switch name {
	case "dataset":
		w.Dataset = value
		return nil
	case "path":
		w.Path = value
		return nil
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v > 0) || v > 1e9 {
		return fmt.Errorf("%q is not a number above zero", part)
	}
	whole := map[string]*int{"isl": &w.ISL, "osl": &w.OSL, "c": &w.Concurrency, "n": &w.Requests}
	if name == "rate" {
		w.Rate = v
		return nil
	}
	at := whole[name]
	if at == nil {
		return fmt.Errorf("%q is none of isl, osl, c, n, rate, dataset, path", name)
	}
	if *at = int(v); float64(*at) != v {
		return fmt.Errorf("%q is not a whole number", part)
	}
	return nil
}

// presets are the sweeps that need no limits.
func presets() map[string][]Workload {
	return map[string][]Workload{
		// quick is four points that show latency alone, under load, and with long prompts, in a minute or two.
		"quick": {{ISL: 128, OSL: 128, Concurrency: 1, Requests: 8}, {ISL: 128, OSL: 128, Concurrency: 8, Requests: 32}, {ISL: 1024, OSL: 128, Concurrency: 1, Requests: 4}, {ISL: 2048, OSL: 128, Concurrency: 4, Requests: 16}},
		// rehearsal is the same shape with short answers: six releases of it fit into half a minute.
		"rehearsal": {{ISL: 128, OSL: 32, Concurrency: 1, Requests: 8}, {ISL: 128, OSL: 32, Concurrency: 8, Requests: 48}, {ISL: 512, OSL: 64, Concurrency: 4, Requests: 16}, {ISL: 2048, OSL: 16, Concurrency: 2, Requests: 16}},
		// tt-2025 is the table that tt-inference-server printed in 2025, so that old history lines up.
		"tt-2025": tt2025(),
	}
}

func tt2025() []Workload {
	var out []Workload
	for _, r := range [][4]int{{128, 128, 1, 8}, {128, 1024, 1, 4}, {1024, 128, 1, 4}, {2048, 128, 1, 4}, {3072, 128, 1, 4}, {4096, 128, 1, 2}, {8192, 128, 1, 2}, {16384, 128, 1, 2}, {32000, 128, 1, 2},
		{128, 128, 32, 256}, {128, 1024, 32, 128}, {2048, 128, 32, 128}, {2048, 2048, 32, 64}, {3000, 64, 32, 128}, {4000, 64, 32, 128}, {4500, 64, 32, 64}, {8000, 64, 32, 64}, {16000, 64, 32, 64}} {
		out = append(out, Workload{ISL: r[0], OSL: r[1], Concurrency: r[2], Requests: r[3]})
	}
	return out
}

// Names of sweeps that are made of something else than their name.
const (
	StandardName = "standard" // of the limits of a model on a device: [Standard]
	TargetsName  = "targets"  // of the workloads that targets speak of
)

// Preset returns a named sweep.
func Preset(name string) ([]Workload, error) {
	if w, ok := presets()[name]; ok {
		return w, nil
	}
	return nil, fmt.Errorf("no sweep is called %q; there are %s", name, strings.Join(Names(), ", "))
}

// Names lists the sweeps.
func Names() []string {
	names := []string{StandardName, TargetsName}
	for n := range presets() {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
