package plan

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/collect/plan/spec"
)

// Names of sweeps that depend on the model or on targets.
const (
	SweepStandard = "standard" // of the limits of a model on a device
	SweepTargets  = "targets"  // of the workloads that target files name
	SweepStress   = "stress"   // the matrix of the limits of a model on a device
)

// tables are the sweeps of fixed lengths that need no limits: rows of ISL, OSL, a concurrency, a number of requests.
var tables = map[string][][4]int{
	// quick: four points that show latency alone, under load, and with long prompts, in a minute or two.
	"quick": {{128, 128, 1, 8}, {128, 128, 8, 32}, {1024, 128, 1, 4}, {2048, 128, 4, 16}},
	// demo: the same shape with short answers.
	"demo": {{128, 32, 1, 8}, {128, 32, 8, 48}, {512, 64, 4, 16}, {2048, 16, 2, 16}},
	// tt-2025: the table that tt-inference-server printed in 2025, so that old history is comparable.
	"tt-2025": {
		{128, 128, 1, 8}, {128, 1024, 1, 4}, {1024, 128, 1, 4}, {2048, 128, 1, 4}, {3072, 128, 1, 4}, {4096, 128, 1, 2},
		{8192, 128, 1, 2}, {16384, 128, 1, 2}, {32000, 128, 1, 2},
		{128, 128, 32, 256}, {128, 1024, 32, 128}, {2048, 128, 32, 128}, {2048, 2048, 32, 64}, {3000, 64, 32, 128},
		{4000, 64, 32, 128}, {4500, 64, 32, 64}, {8000, 64, 32, 64}, {16000, 64, 32, 64},
	},
}

// spreads are sweeps of what people send: the spread of lengths and what prompts share. The numbers are choices, stated
// in the documentation, and no measurement of anybody's traffic.
var spreads = map[string]string{
	"chat":      "isl=lognormal(600,0.9),osl=lognormal(250,0.7),prefix=64",
	"code":      "isl=lognormal(2500,0.8),osl=lognormal(150,0.8),prefix=512,prefixes=4",
	"rag":       "isl=normal(4000,800),osl=lognormal(200,0.5),prefix=256",
	"summarise": "isl=lognormal(6000,0.6),osl=lognormal(300,0.4),prefix=64",
	"agent":     "isl=lognormal(8000,0.7),osl=lognormal(150,0.7),prefix=4096,prefixes=4",
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

// Preset returns a named sweep: the rows of its table, or drawn lengths alone, and in 8 and 32 streams.
func Preset(name string) ([]Workload, error) {
	if rows, ok := tables[name]; ok {
		var out []Workload
		for _, r := range rows {
			out = append(out, Workload{ISL: r[0], OSL: r[1], Concurrency: r[2], Requests: r[3]})
		}
		return out, nil
	}
	if shape, ok := spreads[name]; ok {
		var out WorkloadList
		for _, load := range []string{"c=1,n=16", "c=8,n=64", "c=32,n=256"} {
			if err := out.Set(shape + "," + load); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, Usage("", "collect: no sweep is called %q; there are %s", name, strings.Join(SweepNames(), ", "))
}

// SweepNames lists the sweeps.
func SweepNames() []string {
	names := []string{SweepStandard, SweepTargets, SweepStress}
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.AppendSeq(names, maps.Keys(tables)), maps.Keys(spreads))))
}

// SuperCluster is the device of tt-inference-server that is many hosts behind one address.
const SuperCluster = "super_cluster"

// standard derives a sweep from limits: every pair of lengths that fits the context, at concurrency 1 and at the
// highest concurrency that fits the memory of all users. Points of concurrency 1 come first. A super cluster has memory
// for a whole context of each user, more long pairs, and of all users two rounds of requests at least.
func standard(l spec.Model) []Workload {
	all, least := cmp.Or(l.AllUsers, l.Context), 0
	pairs := [][2]int{ // as tt-inference-server's benchmark_config.py derives them since v0.5
		{128, 128}, {128, 1024}, {1024, 128}, {2048, 128}, {4096, 128}, {8192, 128}, {8192, 1024}, {10000, 1024},
		{16384, 128}, {32768, 128}, {65536, 128}, {131072, 128},
	}
	if strings.EqualFold(l.Device, SuperCluster) {
		all, least = l.Context*l.Concurrency, 2*l.Concurrency
		pairs = append(pairs, [2]int{128, 255872}, [2]int{196608, 128}, [2]int{255872, 128})
	}
	var alone, together []Workload
	for _, p := range pairs {
		isl, osl := p[0], p[1]
		if isl+osl > l.Context {
			continue
		}
		alone = append(alone, Workload{ISL: isl, OSL: osl, Concurrency: 1, Requests: standardRequests(isl, osl, 1)})
		if c := min(all/(isl+osl), l.Concurrency); c > 1 {
			together = append(together, Workload{ISL: isl, OSL: osl, Concurrency: c,
				Requests: max(least, standardRequests(isl, osl, c))})
		}
	}
	return append(alone, together...)
}

// stress derives a matrix from limits, as tt-inference-server's stress tests do by default (stress_tests_config.py,
// "multiple"): contexts of all, half and a tenth of the tokens that the model takes, short and long answers, alone, two
// together, half and all of the requests that it takes at once; one request, and one for each stream.
func stress(l spec.Model) []Workload {
	all := max(l.AllUsers, l.Context)
	var out []Workload
	for _, context := range []int{l.Context, l.Context / 2, l.Context / 10} {
		for _, osl := range []int{128, 2048} {
			isl := context - osl
			if isl < 1 {
				continue
			}
			for _, c := range []int{1, 2, l.Concurrency / 2, l.Concurrency} {
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
func batches(sizes, lengths string, encoder bool) ([]Workload, error) {
	if sizes+lengths == "" {
		return nil, nil
	}
	var out []Workload
	for _, pair := range strings.Split(lengths, ";") {
		in, answer, ok := strings.Cut(strings.TrimSpace(pair), ",")
		isl, err1 := strconv.Atoi(strings.TrimSpace(in))
		osl, err2 := strconv.Atoi(strings.TrimSpace(answer))
		if encoder && !ok {
			osl, err2 = 0, nil
		}
		if ok == encoder || err1 != nil || err2 != nil || isl < 1 || osl < 1 && !encoder {
			expected := `pairs such as "60,20;128,20"`
			if encoder {
				expected = `numbers such as "60;128"`
			}
			return nil, Usage("", "collect: lengths %q: expected %s", lengths, expected)
		}
		for _, size := range strings.Split(sizes, ";") {
			c, err := strconv.Atoi(strings.TrimSpace(size))
			if err != nil || c < 1 {
				return nil, Usage("", `collect: batch sizes %q: expected numbers such as "1;8;64"`, sizes)
			}
			out = append(out, Workload{ISL: isl, OSL: osl, Concurrency: c, Requests: max(8, 4*c)})
		}
	}
	return out, nil
}

// BatchLists returns the plan's workloads as TensorRT-LLM's lists, "1;8;64" and "60,20;128,20", each once, for tools
// that run once per plan: the inverse of batches.
func (p Plan) BatchLists() (sizes, lengths string) {
	var list, pairs []string
	for _, w := range p.Workloads {
		size, pair := strconv.Itoa(max(1, w.Concurrency)), strconv.Itoa(w.ISL)
		if w.OSL > 0 {
			pair += "," + strconv.Itoa(w.OSL)
		}
		if !slices.Contains(list, size) {
			list = append(list, size)
		}
		if !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
	}
	return strings.Join(list, ";"), strings.Join(pairs, ";")
}
