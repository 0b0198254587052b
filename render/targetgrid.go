package render

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
)

// targetWorkload is a workload with its numbers that have targets; the worst is the first.
type targetWorkload struct{ numbers []*targetNumber }

// targetMetric is a column of measured numbers.
type targetMetric struct{ name, stat string }

// targetGrid has a row for each workload with performance targets: what each level came to with its limits, what was
// measured, how much of the highest level that is. The verdict is that of the required levels; a missed informational
// one is grey. A workload has a limit for each metric, which follow each other as the columns of metrics do.
func (r *Report) targetGrid(list []schema.Verdict, withPair bool) *Table {
	rows, levels, metrics := targetRows(list)
	t := &Table{Caption: "Targets by workload, worst first", Layout: List, Cols: []Col{
		{Head: "Verdict", Length: Medium}, {Head: "Where", Unit: "ISL/OSL/concurrency"},
	}}
	for _, l := range levels {
		t.Cols = append(t.Cols, Col{Head: words.Capital(l), Length: Short})
	}
	for _, m := range metrics {
		t.Cols = append(t.Cols, Col{Head: words.Metric(m.name, m.stat), Unit: direction(m.name), Num: true, Length: Short})
	}
	t.Cols = append(t.Cols, Col{Head: "Reached", Unit: "% of the highest", Num: true, Sort: true, Length: Short},
		Col{Head: "Among the levels", Length: Medium})
	for _, row := range rows {
		v := row.numbers[0].first
		where := Cell{Text: words.Workload(v.Key), Sub: v.Key.Tool, Head: true, Href: PairPath(v.Model, v.Device)}
		if withPair {
			where.Text = words.OnDevice(v.Model, v.Device)
			where.Sub = strings.Trim(words.Workload(v.Key)+" · "+v.Key.Tool, " ·")
		}
		cells := []Cell{row.verdict(), where}
		for _, l := range levels {
			cells = append(cells, row.level(l, metrics))
		}
		for _, m := range metrics {
			cells = append(cells, r.measuredAs(row.of(m), len(row.numbers) > 1))
		}
		t.row(append(cells, row.numbers[0].reached(), row.picture())...)
	}
	return t
}

// targetRows groups verdicts by workload, worst first, and lists the levels that occur, lowest first, and the metrics.
func targetRows(list []schema.Verdict) (rows []*targetWorkload, levels []string, metrics []targetMetric) {
	type workload struct{ model, device, impl, key string }
	type number struct {
		of workload
		targetMetric
	}
	at, by := map[workload]*targetWorkload{}, map[number]*targetNumber{}
	has := map[string]bool{}
	for i := range list {
		v := &list[i]
		if v.Key.IsEval() || v.Metric == "" {
			continue
		}
		w := workload{v.Model, v.Device, v.Impl, v.Key.String()}
		n := number{w, targetMetric{v.Metric, v.Stat}}
		if at[w] == nil {
			at[w] = &targetWorkload{}
			rows = append(rows, at[w])
		}
		if by[n] == nil {
			by[n] = &targetNumber{first: v, levels: map[string]*schema.Verdict{}}
			at[w].numbers = append(at[w].numbers, by[n])
		}
		if old := by[n].levels[v.Level]; old == nil || standing(v) <= standing(old) {
			by[n].levels[v.Level] = v
		}
		has[v.Level] = true
		if !slices.Contains(metrics, n.targetMetric) {
			metrics = append(metrics, n.targetMetric)
		}
	}
	for _, l := range schema.Levels() {
		if has[l] {
			levels = append(levels, l)
			delete(has, l)
		}
	}
	for _, w := range rows {
		slices.SortStableFunc(w.numbers, worse)
	}
	slices.SortStableFunc(rows, func(a, b *targetWorkload) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.numbers[0].share(), b.numbers[0].share()))
	})
	return rows, append(levels, slices.Sorted(maps.Keys(has))...), metrics
}

// worse orders the numbers of a workload: required ones first; of one verdict, the largest miss first.
func worse(a, b *targetNumber) int {
	return cmp.Or(cmp.Compare(standing(a.worst()), standing(b.worst())), cmp.Compare(a.share(), b.share()))
}

// rank orders workloads: what misses a required target first, then what misses only informational ones.
func (w *targetWorkload) rank() int {
	const passed, unmeasurable = 200, 300
	best := unmeasurable
	for _, n := range w.numbers {
		for _, v := range n.levels {
			switch v.Outcome {
			case schema.NoTarget: // no tool measures it
			case schema.Pass:
				best = min(best, passed)
			default:
				best = min(best, standing(v))
			}
		}
	}
	return best
}

// of is the number of a metric; nil where the workload has no target of it.
func (w *targetWorkload) of(m targetMetric) *targetNumber {
	for _, n := range w.numbers {
		if (targetMetric{n.first.Metric, n.first.Stat}) == m {
			return n
		}
	}
	return nil
}

// verdict is that of the worst number, which is named where there are several.
func (w *targetWorkload) verdict() Cell {
	n := w.numbers[0]
	c := n.verdict()
	if c.Outcome == schema.Pass {
		if n.worst().Required && slices.ContainsFunc(w.numbers, func(n *targetNumber) bool { return n.missed() > 0 }) {
			c.Sub = "misses an informational target"
		}
		return c
	}
	if len(w.numbers) > 1 {
		c.Sub = strings.TrimSuffix(words.Metric(n.first.Metric, n.first.Stat)+", "+c.Sub, ", ")
	}
	return c
}

// level is what a level came to: the worst of its required metrics, with the limits. It is grey where none is required.
func (w *targetWorkload) level(name string, metrics []targetMetric) Cell {
	var worst *schema.Verdict
	var limits []string
	for _, m := range metrics {
		limit := words.Absent
		if n := w.of(m); n != nil {
			if v := n.levels[name]; v != nil {
				limit = numberText(v.Ref)
				if worst == nil || standing(v) < standing(worst) {
					worst = v
				}
			}
		}
		limits = append(limits, limit)
	}
	if worst == nil {
		return Cell{Text: words.Absent, Missing: "no target of this level"}
	}
	c := Cell{Outcome: worst.Outcome, Sub: strings.Join(limits, " · ")}
	if worst.Required {
		return c
	}
	c.Outcome, c.Text, c.Missing = "", string(worst.Outcome), "informational: nothing requires this level" // grey
	switch worst.Outcome {
	case schema.Pass:
		c.Text = "met"
	case schema.Fail:
		c.Text = "missed"
	}
	return c
}

// measuredAs is the number of a metric with how much of its highest level that is.
func (r *Report) measuredAs(n *targetNumber, several bool) Cell {
	if n == nil {
		return Cell{Text: words.Absent, Missing: "no target of this metric"}
	}
	c := r.numberIn(n.first)
	if schema.ReasonIs[schema.MetricNotMeasured](n.first.Reason) {
		c.Sub = "no tool measures it"
	}
	if share := 100 * n.share(); several && !math.IsNaN(share) {
		c.Sub = words.Number(share) + words.Thin + "%"
	}
	return c
}

// picture is the worst number among its levels; of what was not measured, or can be met by nothing, the reason. The
// decisions on the targets of the workload stand with it.
func (w *targetWorkload) picture() Cell {
	n := w.numbers[0]
	worst := n.worst()
	if slices.Contains([]schema.Outcome{schema.NotMeasured, schema.Unattainable, schema.NoTarget}, worst.Outcome) {
		notes := append([]string{words.Why(*worst)}, w.decisions(worst.Decision)...)
		return Cell{Text: strings.Join(notes, " "), Sentence: true}
	}
	c := n.bullet()
	notes := w.decisions(worst.Decision)
	if worst.Decision != nil {
		notes = append([]string{words.DecisionNote(*worst.Decision)}, notes...)
	}
	c.Sub = strings.Join(notes, " ")
	return c
}

// decisions are the notes on the decisions about targets of the workload, except that on the verdict of the row. Each
// names its targets: they are not what the row is about.
func (w *targetWorkload) decisions(ofRow *schema.Decision) []string {
	var notes []string
	about := map[string][]string{}
	for _, n := range w.numbers {
		for _, l := range n.levelNames() {
			v := n.levels[l]
			if v == nil || v.Decision == nil || ofRow != nil && *v.Decision == *ofRow {
				continue
			}
			note := words.DecisionNote(*v.Decision)
			if about[note] == nil {
				notes = append(notes, note)
			}
			about[note] = append(about[note], words.Metric(v.Metric, v.Stat)+" "+l)
		}
	}
	for i, note := range notes {
		notes[i] = strings.Join(about[note], ", ") + ": " + note
	}
	return notes
}

// referenceTable lists scores against their references: tasks have heads of their own.
func (r *Report) referenceTable(list []schema.Verdict, withPair bool) *Table {
	t := &Table{Caption: "Scores against references, worst first", Layout: List, Cols: []Col{
		{Head: "Verdict", Length: Medium}, {Head: "Task"}, {Head: "Metric", Length: Medium},
		{Head: "Reference", Num: true, Length: Short}, {Head: "Score", Num: true, Length: Short},
		{Head: "Difference", Num: true, Sort: true, Length: Medium}, {Head: "n", Num: true, Length: Short},
	}}
	var rows []*schema.Verdict
	for i := range list {
		if list[i].Key.IsEval() && list[i].Outcome != schema.NoTarget {
			rows = append(rows, &list[i])
		}
	}
	slices.SortStableFunc(rows, func(a, b *schema.Verdict) int { return cmp.Compare(outcomeRank(a), outcomeRank(b)) })
	for _, v := range rows {
		task := Cell{Text: words.Subject(v), Head: true, Href: PairPath(v.Model, v.Device)}
		if withPair {
			task.Sub = words.OnDevice(v.Model, v.Device)
		}
		change := Cell{Text: words.Absent, Missing: "nothing to compare"}
		if e, ok := v.Effect.Get(); ok {
			change = Cell{Text: words.Effect(*v, e), Sort: &e}
			if v.Interval != nil {
				change.Sub = words.IntervalOf(*v)
			}
		}
		n := Cell{Text: words.Absent, Missing: "not stated"}
		if v.N > 0 {
			n = text(words.Count(v.N))
		}
		verdict := Cell{Outcome: v.Outcome}
		if !v.Required {
			verdict.Sub = "informational"
		}
		metric := words.Metric(v.Metric, v.Stat)
		if parts := schema.PartsOfMean(v.Metric); parts != nil {
			metric = words.Plural(len(parts), "metric") + ", mean"
		}
		ref := number(v.Ref)
		if limit, ok := v.Reason.(schema.EvalLimit); ok {
			if ref.Sub = words.Tolerance(limit.Tolerance); limit.Chance && v.Outcome == schema.Fail {
				verdict.Sub = strings.Trim(verdict.Sub+"; may be chance", "; ")
			}
		}
		t.row(verdict, task, text(metric), ref, r.numberIn(v), change, n)
	}
	return t
}
