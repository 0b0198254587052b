package render

import (
	"slices"
	"sort"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Field is a number of a point that tables, reports and files of results show. This file alone decides which there are,
// in which order, and what they are called: pages, markdown, the terminal and CSV take the list of [Report.Fields].
type Field struct {
	Metric, Stat string
	Head, Unit   string
	Part         Part
	Always       bool // a file of results has it although no point fills it: it is the same in every release
	sort         bool
}

// Part is the table that a field stands in where all of them would be too wide for one.
type Part int

// Parts of the results.
const (
	Summary Part = iota // means and rates
	Spread              // the other statistics of latencies
)

// Name is the column in a file: "ttft_mean_ms". A metric of the users' own has its unit in its name.
func (f Field) Name() string {
	if schema.IsOwn(f.Metric) {
		return f.Metric
	}
	if f.Metric == inputTPS {
		return "input_tps_tok_s"
	}
	name := f.Metric
	if f.Stat != "value" {
		name += "_" + f.Stat
	}
	if unit := unitNames[schema.Unit(f.Metric)]; unit != "" {
		name += "_" + unit
	}
	return name
}

// unitNames are units in names of columns.
var unitNames = map[string]string{"ms": "ms", "tok/s": "tok_s", "req/s": "req_s", "%": "percent"}

// inputTPS is the rate of input tokens: what is left of the total rate without the output.
const inputTPS = "input_tps"

// latencyStats are the statistics of a latency, in the order of a table.
var latencyStats = []struct{ stat, head string }{
	{"mean", "Avg"}, {"std", "Std"}, {"median", "P50"}, {"p90", "P90"}, {"p95", "P95"}, {"p99", "P99"},
}

// allFields lists every field, in order. People know the first ones from tt-inference-server's reports; E2EL is what
// engines without a server report.
func (r *Report) allFields() []Field {
	var out []Field
	always := map[string][]string{
		"ttft": {"mean", "median", "p99"}, "tpot": {"mean", "median", "p99"}, "itl": {"mean"},
		"e2el": {"mean", "median", "p99"},
	}
	for _, metric := range []string{"ttft", "tpot", "itl", "ntpot", "e2el"} {
		info, _ := schema.MetricByName(metric)
		for _, s := range latencyStats {
			f := Field{
				Metric: metric, Stat: s.stat, Head: info.Label + " " + s.head, Unit: info.Unit, Part: Spread,
				Always: slices.Contains(always[metric], s.stat), sort: s.stat == "mean",
			}
			if s.stat == "mean" {
				f.Part = Summary
			}
			out = append(out, f)
		}
	}
	for _, f := range []Field{
		{Metric: "tps_user", Head: "Tok/s", Unit: "user", Always: true},
		{Metric: inputTPS, Head: "Tok/s", Unit: "input"},
		{Metric: "output_tps", Head: "Tok/s", Unit: "output", Always: true},
		{Metric: "total_tps", Head: "Tok/s", Unit: "total", Always: true},
		{Metric: "rps", Head: "Req/s", Always: true}, {Metric: "goodput_rps", Head: "Goodput", Unit: "req/s"},
		{Metric: "correct_rate", Head: "Correct", Unit: "%"}, {Metric: "startup_s", Head: "Start-up", Unit: "s"},
	} {
		f.Stat, f.sort = "value", true
		out = append(out, f)
	}
	for _, name := range r.ownMetrics() {
		info, _ := schema.MetricByName(name)
		out = append(out, Field{Metric: name, Stat: "value", Head: info.Label, Unit: info.Unit, sort: true})
	}
	return out
}

// Fields are those that some of the points fill.
func (r *Report) Fields(points []*columns.PointRow) []Field {
	return slices.DeleteFunc(r.allFields(), func(f Field) bool { return !r.fills(points, f) })
}

// FileFields are those of a file of results: it has some whether or not a point fills them.
func (r *Report) FileFields(points []*columns.PointRow) []Field {
	return slices.DeleteFunc(r.allFields(), func(f Field) bool { return !f.Always && !r.fills(points, f) })
}

func (r *Report) fills(points []*columns.PointRow, f Field) bool {
	return slices.ContainsFunc(points, func(p *columns.PointRow) bool {
		v := r.raw(p, f.Metric, f.Stat)
		_, ok := v.Get()
		return ok
	})
}

// wide is how many fields fit beside the workload in one table.
const wide = 14

// tableFields are the fields of the tables of some points. Where they fit, one table has all of them. TTFT and TPOT are
// shown empty where a point of a server has neither: that is a finding.
func (r *Report) tableFields(points []*columns.PointRow) [][]Field {
	all := r.Fields(points)
	has := func(metric string, stats ...string) bool {
		return slices.ContainsFunc(all, func(f Field) bool {
			return f.Metric == metric && slices.Contains(stats, f.Stat)
		})
	}
	if has("ttft", "mean") || has("tpot", "median") || !has("e2el", "mean") {
		for i, metric := range []string{"ttft", "tpot"} {
			if !has(metric, "mean", "median") {
				info, _ := schema.MetricByName(metric)
				f := Field{Metric: metric, Stat: "mean", Head: info.Label + " Avg", Unit: info.Unit, sort: true}
				all = slices.Insert(all, min(i, len(all)), f)
			}
		}
	}
	if len(all) <= wide {
		return [][]Field{all}
	}
	var summary, spread []Field
	for _, f := range all {
		switch {
		case f.Part == Summary || f.Stat == "median" && !has(f.Metric, "mean"):
			summary = append(summary, f)
		default:
			spread = append(spread, f)
		}
	}
	return [][]Field{summary, spread}
}

// ownMetrics are the metrics of the users' own in history, by name.
func (r *Report) ownMetrics() []string {
	var out []string
	for _, s := range r.Columns.Stats {
		if schema.IsOwn(s.Metric) && s.Stat == "value" && !slices.Contains(out, s.Metric) {
			out = append(out, s.Metric)
		}
	}
	sort.Strings(out)
	return out
}

// raw is a statistic of a point, or a number that follows from others of it.
func (r *Report) raw(p *columns.PointRow, metric, stat string) schema.Number {
	v, _ := r.Columns.Value(p, metric, stat)
	switch metric {
	case inputTPS:
		total, _ := r.Columns.Value(p, "total_tps", "value")
		output, _ := r.Columns.Value(p, "output_tps", "value")
		a, ok1 := total.Get()
		if b, ok2 := output.Get(); ok1 && ok2 && a >= b {
			return schema.Num(a - b)
		}
		return schema.Missing("total and output are not both stated")
	case "tps_user":
		if _, ok := v.Get(); !ok && stat == "value" {
			v, _ = r.Columns.Value(p, metric, "mean")
		}
	}
	return v
}
