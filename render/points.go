package render

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// besideMean are the statistics that stand below the mean of a point, in order.
func besideMean() []string {
	return []string{"p99", "median", "std", "min", "p5", "p25", "p75", "p90", "p95", "p99.9", "max"}
}

// pointTable has a row a point and a column a metric: the mean, or the one value of the file, and below it every other
// statistic that was kept; then what happened by time, as pictures, and the conditions that are not those of all
// points. Columns in which no point has anything are left out.
func pointTable(run *schema.Run, course courses, own []string) *Table {
	t := &Table{Caption: "Every statistic, by point", Layout: Numbers, Cols: []Col{
		{Head: "Workload", Unit: "ISL/OSL/concurrency"}, {Head: "Tool"},
	}}
	status := slices.ContainsFunc(run.Points, func(p schema.Point) bool { return p.Status != schema.StatusOK })
	if status {
		t.Cols = append(t.Cols, Col{Head: "Status"})
	}
	kept := keptMetrics(run)
	for _, m := range kept {
		t.Cols = append(t.Cols, Col{
			Head: m.info.Label, Unit: m.info.Unit, Num: true, Stats: strings.Join(m.stats, "|"), Metric: m.info.Name,
		})
	}
	files, number := sources(run)
	if len(files) > 1 {
		t.Cols = append(t.Cols, Col{Head: "File", Unit: "# below", Num: true})
	}
	t.Cols = append(t.Cols, course.columns()...)
	if own != nil {
		t.Cols = append(t.Cols, Col{Head: "Conditions"})
	}
	for i := range run.Points {
		pt := &run.Points[i]
		head := Cell{Text: pt.Key.Workload(), Head: true}
		if pt.Repeat > 1 {
			head.Sub = fmt.Sprintf("repeat %d", pt.Repeat)
		}
		cells := append(make([]Cell, 0, len(t.Cols)), head, text(words.OrUnknown(pt.Key.Tool)))
		if status {
			cells = append(cells, text(string(pt.Status)))
		}
		for k := range kept {
			cells = append(cells, kept[k].cell(pt))
		}
		if len(files) > 1 {
			cells = append(cells, fileNumber(number[pt.Source.Path]))
		}
		cells = append(cells, course.cells(pt)...)
		if own != nil {
			cells = append(cells, Cell{Text: own[i], Sentence: true})
		}
		t.Rows = append(t.Rows, Row{Anchor: fmt.Sprintf("p%d", i+1), Cells: cells})
	}
	t.Total = len(t.Rows)
	return t
}

// fileNumber is the number of a raw file in the list of them; 0: it is not known.
func fileNumber(n int) Cell {
	if n == 0 {
		return Cell{Text: words.Absent, Missing: "no file is stated"}
	}
	return text(fmt.Sprint(n))
}

// splitConditions are the conditions that all points of a run share, and the others by point; nil where there are none.
func splitConditions(run *schema.Run) (shared string, own []string) {
	count := map[string]int{}
	all := make([][]string, len(run.Points))
	for i := range run.Points {
		all[i] = conditions(&run.Points[i])
		for _, c := range all[i] {
			count[c]++
		}
	}
	var same []string
	differ := false
	for i, list := range all {
		var mine []string
		for _, c := range list {
			switch {
			case count[c] < len(run.Points):
				mine = append(mine, c)
			case i == 0:
				same = append(same, c)
			}
		}
		differ = differ || len(mine) > 0
		own = append(own, strings.Join(mine, ", "))
	}
	if !differ {
		own = nil
	}
	return strings.Join(same, ", "), own
}

// keptMetric is a metric that some point of a run has, with the statistics that some point has of it.
type keptMetric struct {
	info  schema.MetricInfo
	stats []string
}

// keptMetrics are those of a run: the known ones first, then the user's own by name.
func keptMetrics(run *schema.Run) []keptMetric {
	has := map[string]map[string]bool{}
	for i := range run.Points {
		for name, m := range run.Points[i].Metrics {
			if has[name] == nil {
				has[name] = map[string]bool{}
			}
			has[name]["n"] = has[name]["n"] || m.N > 0
			for _, s := range besideMean() {
				if _, ok := m.Stats.Get(s); ok {
					has[name][s] = true
				}
			}
		}
	}
	var out []keptMetric
	for _, info := range append(schema.Metrics(), ownMetrics(has)...) {
		stats, ok := has[info.Name]
		if !ok {
			continue
		}
		m := keptMetric{info: info}
		for _, s := range append(besideMean(), "n") {
			if stats[s] {
				m.stats = append(m.stats, s)
			}
		}
		out = append(out, m)
	}
	return out
}

// ownMetrics are the metrics that are the user's own, by name.
func ownMetrics[V any](has map[string]V) []schema.MetricInfo {
	var out []schema.MetricInfo
	for name := range has {
		if info, ok := schema.MetricByName(name); ok && schema.IsOwn(name) {
			out = append(out, info)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// cell is what a point has of a metric.
func (k keptMetric) cell(pt *schema.Point) Cell {
	m, ok := pt.Metrics[k.info.Name]
	if !ok {
		return text(words.Absent)
	}
	n := requests(m, pt)
	c := statCell(k.info, m, "mean")
	below := make([]string, len(k.stats))
	for i, s := range k.stats {
		switch _, ok := m.Stats.Get(s); {
		case s == "n" && m.N > 0:
			below[i] = words.Count(m.N)
		case ok && !(s == "p99" && n > 0 && n < schema.FewForTail): // of fewer than 100 requests it is no number
			below[i] = statCell(k.info, m, s).Text
		}
	}
	c.Stats = strings.Join(below, "|")
	return c
}

// definedAs says how metrics of a run are defined, where its files or the tool say so.
func definedAs(run *schema.Run) Prose {
	var out Prose
	for _, k := range keptMetrics(run) {
		var said []string
		for i := range run.Points {
			m := run.Points[i].Metrics[k.info.Name]
			if def := strings.Trim(m.Def+", "+string(m.From), ", "); def != "" && !slices.Contains(said, def) {
				said = append(said, def)
			}
		}
		if len(said) > 0 {
			out = append(out, k.info.Label+": "+strings.Join(said, "; ")+".")
		}
	}
	if len(out) > 1 {
		out = Prose{strings.Join(out, " ")}
	}
	return out
}

// requests are how many a metric was taken over: its own count, else those of the point that succeeded; 0 when nobody
// says.
func requests(m schema.Metric, pt *schema.Point) int {
	if m.N > 0 {
		return m.N
	}
	n, _ := pt.Metrics["requests_ok"].Stats.Get("value")
	return int(n)
}

func statCell(info schema.MetricInfo, m schema.Metric, stat string) Cell {
	v, ok := m.Stats.Get(stat)
	if stat == "mean" && !ok {
		v, ok = m.Stats.Get("value")
	}
	switch {
	case !ok && m.Why != "" && stat == "mean":
		return Cell{Text: "none", Missing: m.Why, Sub: m.Why}
	case !ok:
		return text(words.Absent)
	case info.Unit == "req":
		return counted(schema.Num(v))
	}
	return text(words.Number(v))
}
