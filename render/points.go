package render

import (
	"fmt"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// allStats are the columns that the point table may have, in order; those without any value are left out.
func allStats() []string {
	return []string{"mean", "median", "std", "min", "p5", "p25", "p75", "p90", "p95", "p99", "p99.9", "max"}
}

func statUsed(run *schema.Run, stat string) bool {
	for i := range run.Points {
		for _, m := range run.Points[i].Metrics {
			if _, ok := m.Stats.Get(stat); ok {
				return true
			}
		}
	}
	return false
}

// pointTable has every statistic of every point. Columns in which no point has anything are left out.
func pointTable(run *schema.Run) *Table {
	t := &Table{Caption: "Every statistic, by point", Layout: Numbers, Cols: []Col{{Head: "Metric"}}}
	has := filled(run)
	if has.n {
		t.Cols = append(t.Cols, Col{Head: "n", Num: true})
	}
	for _, s := range allStats() {
		if s == "mean" || statUsed(run, s) {
			has.stats = append(has.stats, s)
			t.Cols = append(t.Cols, Col{Head: s, Num: true})
		}
	}
	if has.def {
		t.Cols = append(t.Cols, Col{Head: "Definition"})
	}
	known := schema.Metrics()
	for i := range run.Points {
		pt := &run.Points[i]
		head := pt.Key.Workload() + " · " + words.OrUnknown(pt.Key.Tool) + " · " + string(pt.Status)
		if pt.Repeat > 1 {
			head += fmt.Sprintf(" · repeat %d", pt.Repeat)
		}
		if extra := conditions(pt); extra != "" {
			head += " · " + extra
		}
		t.Rows = append(t.Rows, Row{Group: head, Anchor: fmt.Sprintf("p%d", i+1)})
		for _, info := range append(known[:len(known):len(known)], ownOf(pt)...) {
			if m, ok := pt.Metrics[info.Name]; ok {
				t.Rows = append(t.Rows, Row{Cells: metricCells(info, m, pt, has)})
			}
		}
	}
	t.Total = len(t.Rows)
	return t
}

// ownOf are the metrics of a point that are the user's own, by name.
func ownOf(pt *schema.Point) []schema.MetricInfo {
	var out []schema.MetricInfo
	for name := range pt.Metrics {
		if info, ok := schema.MetricByName(name); ok && schema.IsOwn(name) {
			out = append(out, info)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// held is what some point of a run has.
type held struct {
	n, def bool
	stats  []string
}

func filled(run *schema.Run) held {
	var has held
	for i := range run.Points {
		for _, m := range run.Points[i].Metrics {
			has.n, has.def = has.n || m.N > 0, has.def || m.Def != "" || m.From != ""
		}
	}
	return has
}

func metricCells(info schema.MetricInfo, m schema.Metric, pt *schema.Point, has held) []Cell {
	cells := append(make([]Cell, 0, len(has.stats)+3), Cell{Text: info.Label, Sub: m.Unit, Head: true})
	switch {
	case m.N > 0:
		cells = append(cells, text(words.Count(m.N)))
	case has.n:
		cells = append(cells, text(words.Absent))
	}
	for _, s := range has.stats {
		cells = append(cells, statCell(info, m, s, requests(m, pt)))
	}
	if !has.def {
		return cells
	}
	def := m.Def
	if m.From != "" {
		def = strings.Trim(def+", "+string(m.From), ", ")
	}
	return append(cells, text(def))
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

func statCell(info schema.MetricInfo, m schema.Metric, stat string, n int) Cell {
	v, ok := m.Stats.Get(stat)
	if stat == "mean" && !ok {
		v, ok = m.Stats.Get("value")
	}
	switch {
	case !ok && m.Why != "" && stat == "mean":
		return Cell{Text: "none", Missing: m.Why, Sub: m.Why}
	case !ok:
		return text(words.Absent)
	case stat == "p99" && n > 0 && n < schema.FewForTail:
		return Cell{Text: fmt.Sprintf("n = %d", n), Missing: "a P99 of fewer than 100 requests is no number"}
	case info.Unit == "req":
		return counted(schema.Num(v))
	}
	return text(words.Number(v))
}
