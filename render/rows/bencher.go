package rows

import (
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// bencher writes Bencher's metric format (bencher.dev, bmf.json): a benchmark for each workload and eval of a model on
// a device, with a measure for each metric in the metric's own unit. A measure of several runs or repeats is their
// mean, bounded by the least and the largest.
func bencher(r *render.Report, release int) ([]Written, error) {
	type measure struct {
		Value Num  `json:"value"`
		Low   *Num `json:"lower_value,omitempty"`
		High  *Num `json:"upper_value,omitempty"`
		n     Num
	}
	out := map[string]map[string]*measure{}
	add := func(benchmark, name string, v Num) {
		if out[benchmark] == nil {
			out[benchmark] = map[string]*measure{}
		}
		x := out[benchmark][name]
		if x == nil {
			out[benchmark][name] = &measure{Value: v, n: 1}
			return
		}
		if x.n++; x.n == 2 {
			low, high := x.Value, x.Value
			x.Low, x.High = &low, &high
		}
		x.Value += (v - x.Value) / x.n
		*x.Low, *x.High = min(*x.Low, v), max(*x.High, v)
	}
	for _, p := range statistics(r, release) {
		if p.Value != nil && p.Stat != "n" && p.Stat != "se" && p.Status != Text(schema.StatusInvalid) {
			name := p.Metric
			if p.Stat != "value" {
				name += "." + p.Stat
			}
			add(benchmarkOf(p.Model, p.Device, p.Impl)+" "+p.Key, name, *p.Value)
		}
	}
	for _, s := range Scores(r, release) {
		if s.Value != nil {
			name := benchmarkOf(s.Model, s.Device, s.Impl) + " " + string(s.Task)
			if s.Filter != "" {
				name += " " + string(s.Filter)
			}
			add(name, string(s.Metric), *s.Value)
		}
	}
	w, err := document("bencher.json", out)
	return []Written{w}, err
}

// benchmarkOf is a system as a benchmark names it.
func benchmarkOf(model, device, impl Text) string {
	return strings.TrimSuffix(words.OnDevice(string(model), string(device))+", "+string(impl), ", ")
}
