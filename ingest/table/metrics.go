package table

import (
	"cmp"
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/ingest/schema/draft"
)

// Metrics is the format of the metrics file of a benchmark of the user's own: named values with unit and direction.
//
//	{"metrics": {"my_ms": {"value": 12.3, "unit": "ms", "better": "lower"}}}
//
// A metric may state n, the number of measurements behind it, and std, their standard deviation. A canonical name such
// as ttft or output_tps is that metric, if the unit agrees. The workload is stated by the sidecar, not by this file.
const Metrics = "ttreport-metrics"

// Own looks for an object of metrics, each with a value and a unit or a direction, and no member of other formats.
var Own = draft.Format{
	Name: Metrics, Detail: "metrics of an exec tool", All: readMetrics,
	Sniff: func(f *decode.File, m *draft.Check) {
		v := f.First
		metrics := v.Get("metrics")
		list := metrics.Members()
		m.Want(metrics.Kind() == decode.Object && len(list) > 0, "metrics")
		m.Not(v.Has("json_schema_version"), "one that states its own metrics (json_schema_version is nm-vllm's)")
		for _, x := range list {
			if !x.Val.Has("value") || !x.Val.HasAny("unit", "better", "type") {
				m.Want(false, "a value and a unit in "+x.Key)
				break
			}
		}
	},
}

// readMetrics returns one point with every metric that can be understood; the others are problems.
func readMetrics(f *decode.File, r *schema.Reading) {
	d := draft.New(f, r, f.First, "exec")
	d.Key.Task = ""
	for _, x := range f.First.Get("metrics").Members() {
		if !d.Full() {
			put(d, x)
		}
	}
	d.Foreign(f.First, "metrics")
	if len(d.Metrics) == 0 {
		d.Problem(schema.SevError, "no-metrics", f.First, "no metric with a number",
			`{"metrics": {"my_ms": {"value": 12.3, "unit": "ms", "better": "lower"}}}`)
		return
	}
	d.Done()
}

// directions are what is better in the words of nm-vllm.
var directions = map[string]string{"SmallerIsBetter": "lower", "BiggerIsBetter": "higher", "Observation": "neither"}

// put adds a metric, or a problem.
func put(d *draft.Draft, x decode.Member) {
	value, ok := x.Val.Get("value").Float()
	if !ok {
		d.Problem(schema.SevWarning, "bad-metric", x.Val, x.Key+" without a number", `a number as "value"`,
			"the other metrics")
		return
	}
	unit, better := x.Val.Get("unit").Str(), cmp.Or(directions[x.Val.Get("type").Str()], x.Val.Get("better").Str())
	name, stat, def := x.Key, "value", ""
	info, known := schema.MetricByName(name)
	if !known || schema.IsOwn(name) || info.Unit != unit {
		if name, known = schema.OwnMetric(x.Key, unit, better); !known {
			d.Problem(schema.SevWarning, "bad-metric", x.Val, x.Key+" in "+unit+", better "+better,
				"a name of letters, digits and _ . -, a short unit, and better: lower, higher or neither", "the other metrics")
			return
		}
	} else if info.Latency {
		stat, def = "mean", schema.DefNotStated
	}
	d.Stat(name, def, stat, value)
	if std, ok := x.Val.Get("std").Float(); ok && std >= 0 {
		d.Stat(name, def, "std", std)
	}
	m, _ := d.Metric(name)
	if n := x.Val.Get("n").Float0(); n >= 1 {
		m.N = int(n)
	}
	if std, ok := m.Stats.Get("std"); ok && m.N > 1 {
		m.SetDetail(schema.Detail{SE: schema.Num(std / math.Sqrt(float64(m.N)))})
	}
	d.Metrics.Put(m)
}
