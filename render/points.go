package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// pointTable has a row a point and a column a metric: the mean, or the one value of the file, and below it every other
// statistic that was kept; then what happened by time, as pictures, and the conditions that are not those of all
// points. Columns in which no point has anything are left out.
func pointTable(
	run *schema.Run, kept []keptMetric, files sources, commandOf []int, course []schema.MetricInfo, own []string,
) *Table {
	all := []Column[*schema.Point]{
		{col("Workload").in(loadUnit), func(pt *schema.Point) Cell {
			c := head(pt.Key.Workload(), "")
			if pt.Repeat > 1 {
				c.Sub = fmt.Sprintf("repeat %d", pt.Repeat)
			}
			return c
		}},
		{col("Tool"), func(pt *schema.Point) Cell { return text(words.OrUnknown(pt.Key.Tool)) }},
	}
	add := func(c Col, cell func(*schema.Point) Cell) { all = append(all, Column[*schema.Point]{c, cell}) }
	if slices.ContainsFunc(run.Points, func(p schema.Point) bool { return p.Status != schema.StatusOK }) {
		add(col("Status"), func(pt *schema.Point) Cell { return text(string(pt.Status)) })
	}
	for _, m := range kept {
		add(Col{Head: m.info.Label, Unit: m.info.Unit, Num: true, Stats: strings.Join(m.stats, "|"), Metric: m.info.Name},
			m.cell)
	}
	if len(files.list) > 1 {
		add(Col{Head: "File", Unit: "# below", Num: true}, func(pt *schema.Point) Cell {
			return placeBelow(files.number[pt.Source.Path], "no file is stated")
		})
	}
	if len(course) > 0 {
		add(Col{Head: "Over", Unit: "s", Num: true}, func(pt *schema.Point) Cell {
			c := text(words.Absent)
			for _, info := range course {
				if x, _, _ := sliceOf(pt, info.Name); x != nil {
					c = text(words.Number(pt.Slices.Step * float64(len(x.Values))))
				}
			}
			return c
		})
	}
	for _, info := range course {
		add(col(info.Label+byTime).in(info.Unit), func(pt *schema.Point) Cell {
			x, lo, hi := sliceOf(pt, info.Name)
			if x == nil {
				return text(words.Absent)
			}
			has := slices.DeleteFunc(slices.Clone(x.Values), math.IsNaN)
			label := fmt.Sprintf("%s from %s to %s %s", info.Label, words.Number(has[0]), words.Number(has[len(has)-1]),
				info.Unit)
			from, to := words.Number(lo), words.Number(hi)
			if from != to {
				from += " to " + to
			}
			return Cell{Spark: &Spark{label, x.Values}, Sub: from}
		})
	}
	var points []*schema.Point
	for i := range run.Points {
		points = append(points, &run.Points[i])
	}
	t := tableOf("Every statistic, by point", Numbers, points, all)
	if own != nil {
		t.addColumn(col("Conditions"), func(i int) Cell { return sentence(own[i]) })
	}
	if commandOf != nil {
		t.addColumn(num("Command").in("# below"), func(i int) Cell {
			return placeBelow(commandOf[i], "no command is stated")
		})
	}
	for i := range t.Rows {
		t.Rows[i].Anchor = fmt.Sprintf("p%d", i+1)
	}
	t.Total = len(t.Rows)
	return t
}

// sliceOf is a quantity of a point by time with its range; nil where it is not known.
func sliceOf(pt *schema.Point, name string) (x *schema.SliceOf, lo, hi float64) {
	for i := range pt.Slices.Series {
		if s := &pt.Slices.Series[i]; s.Name == name {
			if low, high, ok := s.Range(); ok {
				x, lo, hi = s, low, high
			}
		}
	}
	return x, lo, hi
}

// placeBelow is the place in a list below; 0: it is not known, and why.
func placeBelow(n int, why string) Cell {
	if n == 0 {
		return missing(why)
	}
	return text(fmt.Sprint(n))
}

// splitConditions are the few conditions that change a number's meaning: those that all points of a run share, and the
// others by point; nil where there are none.
func splitConditions(run *schema.Run) (shared string, own []string) {
	n := map[string]int{}
	all := make([][]string, len(run.Points))
	for i := range run.Points {
		pt := &run.Points[i]
		for _, name := range sortedNames(pt.Conditions) {
			all[i] = append(all[i], name+" "+pt.Conditions[name])
		}
		for _, name := range sortedNames(pt.Client) {
			who := "client " + name
			if server, ok := strings.CutPrefix(name, "server_"); ok {
				who = "server " + server
			}
			all[i] = append(all[i], strings.ReplaceAll(who, "_", " ")+" "+pt.Client[name])
		}
		for _, c := range all[i] {
			n[c]++
		}
	}
	isShared := func(c string) bool { return n[c] >= len(run.Points) }
	differ := false
	for i, list := range all {
		mine := slices.DeleteFunc(slices.Clone(list), isShared)
		if differ = differ || len(mine) > 0; i == 0 {
			shared = strings.Join(slices.DeleteFunc(list, func(c string) bool { return !isShared(c) }), ", ")
		}
		own = append(own, strings.Join(mine, ", "))
	}
	if !differ {
		own = nil
	}
	return shared, own
}

// keptMetric is a metric that some point of a run has, with the statistics that some point has of it.
type keptMetric struct {
	info  schema.MetricInfo
	stats []string
}

// keptMetrics are those of a run: the known ones first, then the user's own by name.
func keptMetrics(run *schema.Run) []keptMetric {
	// those that stand below the mean of a point, in order
	stats := []string{"p99", "median", "std", "min", "p5", "p25", "p75", "p90", "p95", "p99.9", "max", "n"}
	has := map[string][]bool{} // by the place of a statistic
	for i := range run.Points {
		for _, m := range run.Points[i].Metrics {
			of := has[m.Name()]
			if of == nil {
				of = make([]bool, len(stats))
				has[m.Name()] = of
			}
			of[len(of)-1] = of[len(of)-1] || m.N > 0
			for k, s := range stats[:len(of)-1] {
				if !of[k] {
					_, of[k] = m.Stats.Get(s)
				}
			}
		}
	}
	names := schema.MetricNames(func(m *schema.MetricInfo) bool { return has[m.Name] != nil })
	for _, name := range sortedNames(has) {
		if _, ok := schema.MetricByName(name); ok && schema.IsOwn(name) {
			names = append(names, name)
		}
	}
	var out []keptMetric
	for _, name := range names {
		k := keptMetric{}
		k.info, _ = schema.MetricByName(name)
		for i, is := range has[name] {
			if is {
				k.stats = append(k.stats, stats[i])
			}
		}
		out = append(out, k)
	}
	return out
}

// cell is what a point has of a metric. A percentile of too few requests is no number: they are the metric's own count,
// else those of the point that succeeded, where somebody says.
func (k keptMetric) cell(pt *schema.Point) Cell {
	m, ok := pt.Metric(k.info.Name)
	if !ok {
		return text(words.Absent)
	}
	n := float64(m.N)
	if n <= 0 {
		n, _ = pt.Value("requests_ok", "value")
	}
	c := statCell(k.info, m, "mean")
	below := make([]string, len(k.stats))
	for i, s := range k.stats {
		switch _, ok := m.Stats.Get(s); {
		case s == "n" && m.N > 0:
			below[i] = words.Count(m.N)
		case ok && (int(n) <= 0 || schema.TailHolds(s, n)):
			below[i] = statCell(k.info, m, s).Text
		}
	}
	c.Stats = strings.Join(below, "|")
	return c
}

func statCell(info schema.MetricInfo, m schema.Metric, stat string) Cell {
	v, ok := m.Stats.Get(stat)
	if stat == "mean" && !ok {
		v, ok = m.Stats.Get("value")
	}
	switch why := m.Kind().Why; {
	case !ok && why != "" && stat == "mean":
		return Cell{Text: "none", Missing: why, Sub: why}
	case !ok:
		return text(words.Absent)
	case info.Unit == "req":
		return counted(schema.Num(v))
	}
	return text(words.Number(v))
}
