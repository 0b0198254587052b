package render

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
)

// pointTables are the tables of points, with the fields that they fill and at most so many rows: one, or where that
// would be too wide one with means and rates and one with the other statistics.
func (r *Report) pointTables(points []*columns.PointRow, most int) []*Table {
	if len(points) == 0 {
		return nil
	}
	repeats := map[int32]int{}
	for _, p := range points {
		repeats[p.Key]++
	}
	key := func(p *columns.PointRow) *schema.Key { return &r.Columns.Keys[p.Key] }
	length := func(v *float64) Cell {
		if v == nil {
			return missing("not stated")
		}
		return Cell{Text: fmt.Sprintf("%.10g", *v), Sort: v}
	}
	var out []*Table
	for i, fields := range r.tableFields(points) {
		caption := []string{"Results, by workload", "Spread of latencies, by workload"}[min(i, 1)]
		all := []Column[*columns.PointRow]{
			{Col{Head: "ISL", Num: true, Sort: true}, func(p *columns.PointRow) Cell {
				c := r.counted(p, length(key(p).ISL), "isl")
				c.Head = true
				if key(p).ISL != nil {
					c.Href = RunPath(r.Columns.Runs[p.Run].ID)
				}
				return c
			}},
			{Col{Head: "OSL", Num: true, Sort: true}, func(p *columns.PointRow) Cell {
				return r.counted(p, length(key(p).OSL), "osl")
			}},
			{Col{Head: "Max concurrency", Num: true, Sort: true}, func(p *columns.PointRow) Cell {
				c := length(key(p).Concurrency)
				if rate := key(p).Rate; rate != nil {
					c.Sub = words.Number(*rate) + " req/s"
				}
				return c
			}},
			{Col{Head: "N", Num: true}, func(p *columns.PointRow) Cell {
				n, _ := r.Columns.Value(p, "requests_ok", "value")
				return counted(n)
			}},
		}
		for _, f := range fields {
			head := Col{Head: f.Head, Unit: f.Unit, Num: true, Sort: f.Stat == "mean" || f.Stat == "value"}
			all = append(all, Column[*columns.PointRow]{head, func(p *columns.PointRow) Cell {
				v := r.Shown(p, f.Metric, f.Stat)
				if strings.HasPrefix(v.Why(), "n = ") {
					return Cell{Text: v.Why(), Missing: "a P99 of fewer than 100 requests is not meaningful"}
				}
				return number(v)
			}})
		}
		all = append(all,
			Column[*columns.PointRow]{col("Tool"), func(p *columns.PointRow) Cell {
				var others []string // what the workload has besides lengths and load
				if set := key(p).Dataset; set != "" {
					others = append(others, set)
				}
				for _, name := range sortedNames(key(p).Dims) {
					others = append(others, strings.TrimPrefix(name+" "+key(p).Dims[name], schema.DimLabel+" "))
				}
				return Cell{Text: key(p).Tool, Sub: strings.Join(others, ", ")}
			}},
			Column[*columns.PointRow]{col("Status"), func(p *columns.PointRow) Cell {
				return text(string(p.StatusWord()))
			}})
		if len(repeats) < len(points) { // a release has something several times
			all = append(all, Column[*columns.PointRow]{col("Run"), func(p *columns.PointRow) Cell {
				if repeats[p.Key] < 2 {
					return text("")
				}
				id := r.Columns.Runs[p.Run].ID
				return Cell{Text: id[strings.LastIndex(id, "-")+1:], Href: RunPath(id)}
			}})
		}
		t := tableOf(caption, Numbers, points[:min(most, len(points))], all).of(len(points))
		t.Titled = true
		out = append(out, t)
	}
	return out
}

// counted fills in a length that the workload does not state with what was counted, such as of a dataset.
func (r *Report) counted(p *columns.PointRow, c Cell, metric string) Cell {
	v, _ := r.Columns.Value(p, metric, "mean")
	if n, ok := v.Get(); ok && c.Missing != "" {
		c.Text, c.Sub, c.Sort, c.Missing = words.Number(math.Round(n)), "counted", &n, ""
	}
	return c
}

// points are those of some runs, by workload.
func (r *Report) points(runs []int) (out []*columns.PointRow) {
	c := r.Columns
	for _, run := range runs {
		for i := c.Runs[run].FirstPoint; i < c.Runs[run].PointsEnd; i++ {
			out = append(out, &c.Points[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *columns.PointRow) int {
		if a.Key == b.Key {
			return 0
		}
		return c.Keys[a.Key].Compare(c.Keys[b.Key])
	})
	return out
}

// keysOf are the workloads of points, in their order.
func keysOf(points []*columns.PointRow) []int32 {
	var seen groups[int32, int32]
	for _, p := range points {
		key, _ := seen.of(p.Key)
		*key = p.Key
	}
	return seen.list
}

// Shown is a point's statistic as every surface shows it: a percentile of too few requests is no number.
func (r *Report) Shown(p *columns.PointRow, metric, stat string) schema.Number {
	v := r.raw(p, metric, stat)
	if _, ok := v.Get(); !ok || schema.TailHolds(stat, 0) {
		return v
	}
	n, _ := r.Columns.Value(p, metric, "n")
	if _, known := n.Get(); !known {
		n, _ = r.Columns.Value(p, "requests_ok", "value")
	}
	if count, known := n.Get(); known && !schema.TailHolds(stat, count) {
		return schema.Missing(fmt.Sprintf("n = %.0f", count))
	}
	return v
}

// numberAt is the address of the number that a verdict is about: of the point or the score of its run; "" for none.
func (r *Report) numberAt(v *schema.Verdict) Address {
	run, ok := r.byID[v.Run]
	if !present(v.Value) || !ok {
		return ""
	}
	if v.Key.IsEval() {
		return r.scoreAt(r.scoreOf(v))
	}
	h, key := &r.Columns.Runs[run], v.Key.String()
	for i := h.FirstPoint; i < h.PointsEnd; i++ {
		p := &r.Columns.Points[i]
		if value, _ := r.Columns.Value(p, v.Metric, v.Stat); r.Columns.KeyName(p.Key) != key || !present(value) {
			continue
		}
		at := numberPath(h.ID, 'p', i-h.FirstPoint+1, v.Metric)
		if v.Stat != "" && v.Stat != "mean" && v.Stat != "value" {
			at += "/" + Address(v.Stat)
		}
		return at
	}
	return ""
}

func present(n schema.Number) bool {
	_, ok := n.Get()
	return ok
}

// scoreAt is the address of a score in the columns; "" for nil or another one.
func (r *Report) scoreAt(s *columns.ScoreRow) Address {
	if s == nil {
		return ""
	}
	list := r.Columns.ScoresOf(int(s.Run))
	for i := range list {
		if &list[i] == s {
			return numberPath(r.Columns.Runs[s.Run].ID, 'e', i+1, s.Metric)
		}
	}
	return ""
}

// numberIn is a cell with the number of a verdict and its address, scoreIn one with a score.
func (r *Report) numberIn(v *schema.Verdict) Cell {
	c := number(v.Value)
	c.Href = r.numberAt(v)
	return c
}

func (r *Report) scoreIn(s *columns.ScoreRow) Cell {
	c := number(s.Value)
	c.Href = r.scoreAt(s)
	return c
}

// moment is a date with its time; midnight to the second is a date that nobody gave a time.
func moment(t time.Time) string {
	switch t = t.UTC(); {
	case t.IsZero():
		return "unknown"
	case t.Equal(t.Truncate(24 * time.Hour)):
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04") + words.Thin + "UTC"
}

// day is a date as people write it.
func day(t time.Time) string {
	if t.IsZero() {
		return "date unknown"
	}
	return t.UTC().Format("2 January 2006")
}

// Field is a number of a point that tables, reports and files of results show. This file alone decides which there are,
// in which order, and what they are called: pages, markdown, the terminal and CSV take the list.
type Field struct {
	Metric, Stat string
	Head, Unit   string
	always       bool // a file of results has it although no point fills it: it is the same in every release
	spread       bool // where one table would be too wide, it stands in the second: no mean or rate
}

// Name is the column in a file: "ttft_mean_ms". A metric of the users' own has its unit in its name.
func (f Field) Name() string {
	switch {
	case schema.IsOwn(f.Metric):
		return f.Metric
	case f.Metric == inputTPS:
		return "input_tps_tok_s"
	}
	name := f.Metric
	if f.Stat != "value" {
		name += "_" + f.Stat
	}
	units := map[string]string{"ms": "_ms", "tok/s": "_tok_s", "req/s": "_req_s", "%": "_percent"}
	return name + units[schema.Unit(f.Metric)]
}

// inputTPS is the rate of input tokens: what is left of the total rate without the output where no tool states it.
const inputTPS = "input_tps"

// allFields lists every field, in order. People know the first ones from tt-inference-server's reports; E2EL is what
// engines without a server report.
func (r *Report) allFields() []Field {
	var out []Field
	for _, m := range schema.Metrics() {
		for _, s := range schema.Statistics() {
			if m.Column && s.Column {
				out = append(out, Field{Metric: m.Name, Stat: s.Name, Head: m.Label + " " + s.Label, Unit: m.Unit,
					always: slices.Contains(m.Always, s.Name), spread: s.Name != "mean"})
			}
		}
	}
	out = append(out,
		Field{"tps_user", "value", "Tok/s", "user", true, false}, Field{inputTPS, "value", "Tok/s", "input", false, false},
		Field{"output_tps", "value", "Tok/s", "output", true, false},
		Field{"total_tps", "value", "Tok/s", "total", true, false}, Field{"rps", "value", "Req/s", "", true, false},
		Field{"goodput_rps", "value", "Goodput", "req/s", false, false},
		Field{"correct_rate", "value", "Correct", "%", false, false},
		Field{"startup_s", "value", "Start-up", "s", false, false})
	own := map[string]bool{}
	for _, s := range r.Columns.Stats {
		if schema.IsOwn(s.Metric) && s.Stat == "value" {
			own[s.Metric] = true
		}
	}
	for _, name := range sortedNames(own) {
		info, _ := schema.MetricByName(name)
		out = append(out, Field{Metric: name, Stat: "value", Head: info.Label, Unit: info.Unit})
	}
	return out
}

// fields are those that some of the points fill.
func (r *Report) fields(points []*columns.PointRow) []Field {
	return slices.DeleteFunc(r.allFields(), func(f Field) bool { return !r.fills(points, f) })
}

// FileFields are those of a file of results: it has some whether or not a point fills them.
func (r *Report) FileFields(points []*columns.PointRow) []Field {
	return slices.DeleteFunc(r.allFields(), func(f Field) bool { return !f.always && !r.fills(points, f) })
}

func (r *Report) fills(points []*columns.PointRow, f Field) bool {
	return slices.ContainsFunc(points, func(p *columns.PointRow) bool { return present(r.raw(p, f.Metric, f.Stat)) })
}

// tableFields are the fields of the tables of some points. Where they fit, one table has all of them. TTFT and TPOT are
// shown empty where a point of a server has neither: that is a finding.
func (r *Report) tableFields(points []*columns.PointRow) [][]Field {
	const wide = 14 // fields beside the workload
	all := r.fields(points)
	has := func(metric string, stats ...string) bool {
		return slices.ContainsFunc(all, func(f Field) bool {
			return f.Metric == metric && slices.Contains(stats, f.Stat)
		})
	}
	if has("ttft", "mean") || has("tpot", "median") || !has("e2el", "mean") {
		for i, metric := range []string{"ttft", "tpot"} {
			if !has(metric, "mean", "median") {
				info, _ := schema.MetricByName(metric)
				f := Field{Metric: metric, Stat: "mean", Head: info.Label + " Avg", Unit: info.Unit}
				all = slices.Insert(all, min(i, len(all)), f)
			}
		}
	}
	if len(all) <= wide {
		return [][]Field{all}
	}
	var summary, spread []Field
	for _, f := range all {
		if f.spread && (f.Stat != "median" || has(f.Metric, "mean")) {
			spread = append(spread, f)
		} else {
			summary = append(summary, f)
		}
	}
	return [][]Field{summary, spread}
}

// raw is a statistic of a point, or a number that follows from others of it.
func (r *Report) raw(p *columns.PointRow, metric, stat string) schema.Number {
	v, _ := r.Columns.Value(p, metric, stat)
	switch metric {
	case inputTPS:
		if present(v) {
			return v
		}
		total, _ := r.Columns.Value(p, "total_tps", "value")
		output, _ := r.Columns.Value(p, "output_tps", "value")
		a, ok1 := total.Get()
		if b, ok2 := output.Get(); ok1 && ok2 && a >= b {
			return schema.Num(a - b)
		}
		return schema.Missing("total and output are not both stated")
	case "tps_user":
		if !present(v) && stat == "value" {
			v, _ = r.Columns.Value(p, metric, "mean")
		}
	}
	return v
}
