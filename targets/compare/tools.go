package compare

import (
	"cmp"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/regression/pairing"
)

// Tools compares what two tools measured of the same workloads in some runs: prompts that each tool made up count as
// the same dataset, whatever it calls them, and a metric is compared although the tools define it differently: the row
// has both definitions. No row says that a tool is worse.
func Tools(runs []schema.Run, a, b string) *Result {
	several := systems(runs) > 1
	left, right := gatherTool(runs, several, a), gatherTool(runs, several, b)
	r := &Result{A: a, B: b, BadA: left.bad, BadB: right.bad, OfTools: true}
	for c, values := range right.values {
		base, both := left.values[c]
		if !both {
			r.OnlyB++
			continue
		}
		row := Row{System: c.system, Key: right.keys[c.key], Metric: c.metric, Stat: c.stat, of: c}
		row.Result = pairing.Compare(base, values)
		row.DefA, row.DefB = left.defs[c], right.defs[c]
		r.Rows = append(r.Rows, row)
	}
	for c := range left.values {
		if _, both := right.values[c]; !both {
			r.OnlyA++
		}
	}
	r.loads(&left.side, &right.side)
	order := judge.PrimaryMetrics()
	slices.SortFunc(r.Rows, func(x, y Row) int {
		return cmp.Or(cmp.Compare(x.System, y.System), compareKeys(x.Key, y.Key),
			cmp.Compare(slices.Index(order, x.Metric), slices.Index(order, y.Metric)), cmp.Compare(x.Metric, y.Metric))
	})
	return r
}

// toolSide is a side with the definition of each metric.
type toolSide struct {
	side
	defs map[cell]string
}

func gatherTool(runs []schema.Run, several bool, tool string) toolSide {
	t := toolSide{side{values: map[cell][]float64{}, keys: map[string]schema.Key{}, loads: map[at]load{}},
		map[cell]string{}}
	for i := range runs {
		system := ""
		if several {
			system = systemOf(&runs[i])
		}
		for k := range runs[i].Points {
			p := &runs[i].Points[k]
			switch {
			case p.Key.Tool != tool:
			case p.Status == schema.StatusFailed || p.Status == schema.StatusInvalid:
				t.bad++
			default:
				t.take(system, p)
			}
		}
	}
	return t
}

// take adds the numbers of a point under the key that both tools share.
func (t *toolSide) take(system string, p *schema.Point) {
	k := p.Key
	k.Tool = ""
	if madeUp(k.Dataset) {
		k.Dataset = ""
	}
	key := k.String()
	t.keys[key] = k
	l := t.loads[at{system, key}]
	l.add(p)
	t.loads[at{system, key}] = l
	for name, m := range p.Metrics {
		info, known := schema.MetricByName(name)
		stat, n := m.Primary()
		v, ok := n.Get()
		counts := info.Unit == "req" || info.Unit == "%" // of failures: nothing to compare where there are none
		if !known || info.Better == schema.Neither || counts || !ok {
			continue
		}
		if !schema.Measurable(v) {
			t.bad++
			continue
		}
		if info.Unit != "ms" {
			stat = "" // a rate is one number, whether a tool calls it a mean or not
		}
		c := cell{system: system, key: key, metric: name, stat: stat}
		t.values[c] = append(t.values[c], v)
		t.defs[c] = cmp.Or(m.Def, schema.DefNotStated)
	}
}

// madeUp reports that a dataset is of prompts that a tool made up: every tool has a name of its own for them.
func madeUp(dataset string) bool {
	return slices.Contains([]string{"", "random", "synthetic", "synthetic_text", "default"}, dataset)
}
