// Package sweep lists workloads to measure: presets, and nothing else yet.
//
// In flows the name of a preset; out flow workloads in the order in which they are measured, from light to heavy.
package sweep

import (
	"fmt"
	"sort"
	"strings"
)

// Workload is one measurement to make.
type Workload struct {
	ISL, OSL, Concurrency, Requests int
	Rate                            float64 // requests a second; 0: closed loop
}

// presets are the named sweeps.
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

// Preset returns a named sweep.
func Preset(name string) ([]Workload, error) {
	all := presets()
	if w, ok := all[name]; ok {
		return w, nil
	}
	return nil, fmt.Errorf("no sweep is called %q; there are %s", name, strings.Join(Names(), ", "))
}

// Names lists the presets.
func Names() []string {
	var names []string
	for n := range presets() {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
