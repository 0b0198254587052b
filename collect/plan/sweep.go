package plan

import (
	"cmp"
	_ "embed"
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

// sweepsText are the sweeps that need no limits: a name and a workload a line.
//
//go:embed sweeps.txt
var sweepsText string

// join appends workloads that are not in a list yet.
func join(list []Workload, more ...Workload) []Workload {
	for _, w := range more {
		if !slices.ContainsFunc(list, w.Same) {
			list = append(list, w)
		}
	}
	return list
}

// Preset returns a named sweep.
func Preset(name string) ([]Workload, error) {
	var out WorkloadList
	for line := range strings.Lines(sweepsText) {
		if of, text, _ := strings.Cut(strings.TrimSpace(line), " "); of == name {
			if err := out.Set(strings.TrimSpace(text)); err != nil {
				return nil, err
			}
		}
	}
	if len(out) == 0 {
		return nil, Usage("", "collect: unknown sweep %q; the sweeps are %s", name, strings.Join(SweepNames(), ", "))
	}
	return out, nil
}

// SweepNames lists the sweeps.
func SweepNames() []string {
	names := []string{SweepStandard, SweepTargets, SweepStress}
	for line := range strings.Lines(sweepsText) {
		if name, text, _ := strings.Cut(line, " "); name != "#" && text != "" {
			names = append(names, name)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
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
