package plan

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Names of sweeps that depend on the model or on targets.
const (
	SweepStandard = "standard" // of the limits of a model on a device
	SweepTargets  = "targets"  // of the workloads that target files name
	SweepStress   = "stress"   // the matrix of the limits of a model on a device
)

// presets are the sweeps that need no limits.
func presets() map[string][]Workload {
	return map[string][]Workload{
		// quick: four points that show latency alone, under load, and with long prompts, in a minute or two.
		"quick": {
			{ISL: 128, OSL: 128, Concurrency: 1, Requests: 8}, {ISL: 128, OSL: 128, Concurrency: 8, Requests: 32},
			{ISL: 1024, OSL: 128, Concurrency: 1, Requests: 4}, {ISL: 2048, OSL: 128, Concurrency: 4, Requests: 16},
		},
		// demo: the same shape with short answers.
		"demo": {
			{ISL: 128, OSL: 32, Concurrency: 1, Requests: 8}, {ISL: 128, OSL: 32, Concurrency: 8, Requests: 48},
			{ISL: 512, OSL: 64, Concurrency: 4, Requests: 16}, {ISL: 2048, OSL: 16, Concurrency: 2, Requests: 16},
		},
		// tt-2025: the table that tt-inference-server printed in 2025, so that old history is comparable.
		"tt-2025": tt2025(),
		// What people send: the spread of lengths and what prompts share. The numbers are choices, stated in the
		// documentation, and no measurement of anybody's traffic.
		"chat":      spread("isl=lognormal(600,0.9),osl=lognormal(250,0.7),prefix=64"),
		"code":      spread("isl=lognormal(2500,0.8),osl=lognormal(150,0.8),prefix=512,prefixes=4"),
		"rag":       spread("isl=normal(4000,800),osl=lognormal(200,0.5),prefix=256"),
		"summarise": spread("isl=lognormal(6000,0.6),osl=lognormal(300,0.4),prefix=64"),
		"agent":     spread("isl=lognormal(8000,0.7),osl=lognormal(150,0.7),prefix=4096,prefixes=4"),
	}
}

// spread returns a workload of drawn lengths alone, and in 8 and 32 streams.
func spread(shape string) []Workload {
	var out []Workload
	for _, load := range []string{"c=1,n=16", "c=8,n=64", "c=32,n=256"} {
		var w Workload
		if err := w.Parse(shape + "," + load); err != nil {
			panic(err) // a preset of ours
		}
		out = append(out, w)
	}
	return out
}

// join appends workloads that are not in a list yet.
func join(list []Workload, more ...Workload) []Workload {
	for _, w := range more {
		if !slices.ContainsFunc(list, w.Same) {
			list = append(list, w)
		}
	}
	return list
}

func tt2025() []Workload {
	var out []Workload
	for _, r := range [][4]int{
		{128, 128, 1, 8}, {128, 1024, 1, 4}, {1024, 128, 1, 4}, {2048, 128, 1, 4}, {3072, 128, 1, 4}, {4096, 128, 1, 2},
		{8192, 128, 1, 2}, {16384, 128, 1, 2}, {32000, 128, 1, 2},
		{128, 128, 32, 256}, {128, 1024, 32, 128}, {2048, 128, 32, 128}, {2048, 2048, 32, 64}, {3000, 64, 32, 128},
		{4000, 64, 32, 128}, {4500, 64, 32, 64}, {8000, 64, 32, 64}, {16000, 64, 32, 64},
	} {
		out = append(out, Workload{ISL: r[0], OSL: r[1], Concurrency: r[2], Requests: r[3]})
	}
	return out
}

// Preset returns a named sweep.
func Preset(name string) ([]Workload, error) {
	if w, ok := presets()[name]; ok {
		return w, nil
	}
	return nil, fmt.Errorf("no sweep is called %q; there are %s", name, strings.Join(SweepNames(), ", "))
}

// SweepNames lists the sweeps.
func SweepNames() []string {
	names := []string{SweepStandard, SweepTargets, SweepStress}
	for n := range presets() {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// limits are the largest load that a model on a device can take.
type limits struct {
	context     int // tokens of a request, prompt and answer
	concurrency int // requests
	allUsers    int // tokens of all requests in flight; 0: context
}

// standardLengths returns the lengths of the standard sweep, as tt-inference-server's benchmark_config.py derives
// them since v0.5.
func standardLengths() [][2]int {
	return [][2]int{
		{128, 128}, {128, 1024}, {1024, 128}, {2048, 128}, {4096, 128}, {8192, 128}, {8192, 1024}, {10000, 1024},
		{16384, 128}, {32768, 128}, {65536, 128}, {131072, 128},
	}
}

// standard derives a sweep from limits: every pair of lengths that fits the context, at concurrency 1 and at the
// highest concurrency that fits the memory of all users. Points of concurrency 1 come first.
func standard(l limits) []Workload {
	all := l.allUsers
	if all == 0 {
		all = l.context
	}
	var alone, together []Workload
	for _, p := range standardLengths() {
		isl, osl := p[0], p[1]
		if isl+osl > l.context {
			continue
		}
		alone = append(alone, Workload{ISL: isl, OSL: osl, Concurrency: 1, Requests: standardRequests(isl, osl, 1)})
		if c := min(all/(isl+osl), l.concurrency); c > 1 {
			together = append(together, Workload{ISL: isl, OSL: osl, Concurrency: c, Requests: standardRequests(isl, osl, c)})
		}
	}
	return append(alone, together...)
}

// stress derives a matrix from limits, as tt-inference-server's stress tests do by default (stress_tests_config.py,
// "multiple"): contexts of all, half and a tenth of the tokens that the model takes, short and long answers, alone, two
// together, half and all of the requests that it takes at once; one request, and one for each stream.
func stress(l limits) []Workload {
	all := max(l.allUsers, l.context)
	var out []Workload
	for _, context := range []int{l.context, l.context / 2, l.context / 10} {
		for _, osl := range []int{128, 2048} {
			isl := context - osl
			if isl < 1 {
				continue
			}
			for _, c := range []int{1, 2, l.concurrency / 2, l.concurrency} {
				if c = min(c, all/context); c > 0 {
					out = join(out, Workload{ISL: isl, OSL: osl, Concurrency: c, Requests: c})
				}
			}
		}
	}
	return out
}

// standardRequests returns how many requests a workload of the standard sweep makes, as tt-inference-server derives
// it: fewer of long ones, at concurrency 1 one or two. Statistics that need more are not printed.
func standardRequests(isl, osl, concurrency int) int {
	switch {
	case osl > 1024 || isl > 16384:
		return concurrency
	case isl > 4096:
		return 2 * concurrency
	case osl > 128 || isl > 128:
		return 4 * concurrency
	}
	return 8 * concurrency
}

// batches reads TensorRT-LLM's lists, "1;8;64" and "60,20;128,20" (benchmarks/python/benchmark.py --batch_size,
// --input_output_len): every batch with every pair of lengths. A batch is a concurrency; a server gets four waves of
// it.
func batches(sizes, lengths string) ([]Workload, error) {
	var out []Workload
	for _, pair := range strings.Split(lengths, ";") {
		in, answer, ok := strings.Cut(strings.TrimSpace(pair), ",")
		isl, err1 := strconv.Atoi(strings.TrimSpace(in))
		osl, err2 := strconv.Atoi(strings.TrimSpace(answer))
		if !ok || err1 != nil || err2 != nil || isl < 1 || osl < 1 {
			return nil, fmt.Errorf(`lengths %q: expected pairs such as "60,20;128,20"`, lengths)
		}
		for _, size := range strings.Split(sizes, ";") {
			c, err := strconv.Atoi(strings.TrimSpace(size))
			if err != nil || c < 1 {
				return nil, fmt.Errorf(`batch sizes %q: expected numbers such as "1;8;64"`, sizes)
			}
			out = append(out, Workload{ISL: isl, OSL: osl, Concurrency: c, Requests: max(8, 4*c)})
		}
	}
	return out, nil
}

// batchLists returns the batches and lengths of some workloads, each once, in order: the inverse of batches.
func batchLists(list []Workload) (sizes, lengths string) {
	seen := map[string]bool{}
	add := func(to, text, separator string) string {
		if seen[separator+text] {
			return to
		}
		if seen[separator+text] = true; to == "" {
			return text
		}
		return to + ";" + text
	}
	for _, w := range list {
		sizes = add(sizes, strconv.Itoa(max(1, w.Concurrency)), "size ")
		lengths = add(lengths, fmt.Sprintf("%d,%d", w.ISL, w.OSL), "lengths ")
	}
	return sizes, lengths
}
