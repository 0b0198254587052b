package compare

import (
	"cmp"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
)

// Tools compares what two tools measured of the same workloads in some runs: prompts that each tool made up count as
// the same dataset, whatever it calls them, and a metric is compared although the tools define it differently: the row
// has both definitions. No row says that a tool is worse.
func Tools(runs []schema.Run, a, b string) *Result {
	all := make([]*schema.Run, len(runs))
	for i := range runs {
		all[i] = &runs[i]
	}
	of := func(tool string) *side {
		return gather(all, naming(runs), nil, func(s *side, _ *schema.Run, system string, p *schema.Point) {
			if p.Key.Tool == tool {
				s.take(system, p)
			}
		})
	}
	r := join(a, b, of(a), of(b))
	r.OfTools = true
	order := judge.PrimaryMetrics()
	slices.SortFunc(r.Rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(x.System, y.System), x.Key.Compare(y.Key),
			cmp.Compare(slices.Index(order, x.Metric), slices.Index(order, y.Metric)), cmp.Compare(x.Metric, y.Metric))
	})
	return r
}

// take adds the numbers of a point under the key that both tools share: every tool has a name of its own for prompts
// that it made up.
func (s *side) take(system string, p *schema.Point) {
	if failed(p) {
		s.bad++
		return
	}
	k := p.Key
	k.Tool = ""
	if slices.Contains([]string{"random", "synthetic", "synthetic_text", "default"}, k.Dataset) {
		k.Dataset = ""
	}
	key := k.String()
	s.keys[key] = k
	s.load(at{system, key}, p)
	for i := range p.Metrics {
		name := p.Metrics[i].Name()
		info, known := schema.MetricByName(name)
		x, ok := numberOf(p, name)
		counts := info.Unit == "req" || info.Unit == "%" // of failures: nothing to compare where there are none
		if !known || info.Better == schema.Neither || counts || !ok {
			continue
		}
		if !schema.Measurable(x.value) {
			s.bad++
			continue
		}
		if info.Unit != "ms" {
			x.stat = "" // a rate is one number, whether a tool calls it a mean or not
		}
		c := cell{system: system, key: key, metric: name, stat: x.stat}
		s.values[c] = append(s.values[c], x.value)
		s.defs[c] = cmp.Or(x.def, schema.DefNotStated)
	}
}
