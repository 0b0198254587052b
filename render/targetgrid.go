package render

import (
	"cmp"
	"fmt"
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
	c.Outcome, c.Text, c.Missing = schema.NoOutcome, worst.Outcome.String(),
		"informational: nothing requires this level" // grey
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

// Bullet is a measured value among the levels of its targets, as a picture: right is better, on a logarithmic scale.
type Bullet struct {
	Label    string
	Measured float64 // NaN for none
	Ticks    []BulletTick
}

// BulletTick is a level.
type BulletTick struct {
	Value    float64 // larger is better, as Measured
	Required bool
}

// targetNumber is a number with the verdicts against all levels of its targets.
type targetNumber struct {
	first  *schema.Verdict // of any level: who and what
	levels map[string]*schema.Verdict
}

// levelNames lists the known levels, then others that the number has.
func (r *targetNumber) levelNames() []string {
	var others []string
	for l := range r.levels {
		if !slices.Contains(schema.Levels(), l) {
			others = append(others, l)
		}
	}
	slices.Sort(others)
	return append(schema.Levels(), others...)
}

// worst is the verdict that decides: of the required levels, else of the informational ones.
func (r *targetNumber) worst() *schema.Verdict {
	var worst *schema.Verdict
	for _, l := range r.levelNames() {
		if v := r.levels[l]; v != nil && (worst == nil || standing(v) < standing(worst)) {
			worst = v
		}
	}
	return worst
}

// missed counts the informational levels that are missed.
func (r *targetNumber) missed() int {
	n := 0
	for _, v := range r.levels {
		if !v.Required && v.Outcome == schema.Fail {
			n++
		}
	}
	return n
}

// verdict is that of the required levels, with what changes how it must be read; else what the informational ones came
// to, in grey.
func (r *targetNumber) verdict() Cell {
	worst := r.worst()
	c := Cell{Outcome: worst.Outcome}
	limit, _ := worst.Reason.(schema.Limit)
	switch {
	case !worst.Required && worst.Outcome == schema.Fail:
		c = Cell{Text: "below " + words.Plural(r.missed(), "level"), Sub: "informational"}
	case !worst.Required:
		c.Sub = "informational"
	case worst.Decision.Excuses() && worst.Decision.Kind == schema.Accept:
		c.Sub = "accepted"
	case worst.Decision.Excuses():
		c.Sub = "waived"
	case worst.Outcome == schema.Fail && limit.Chance:
		c.Sub = "chance could explain it"
	}
	return c
}

// standing orders verdicts on the targets of a workload by how much they decide: required ones before informational
// ones; of these what is open, what a decision excuses, what is met, what no tool measures.
func standing(v *schema.Verdict) int {
	const excused, met, unmeasurable, informational = 10, 20, 30, 100
	at := outcomeRank(v)
	switch {
	case v.Outcome == schema.Pass:
		at = met
	case v.Outcome == schema.NoTarget:
		at = unmeasurable
	case v.Decision.Excuses():
		at += excused
	}
	if !v.Required {
		at += informational
	}
	return at
}

// outcomeRank orders outcomes, what must be looked at first.
func outcomeRank(v *schema.Verdict) int {
	order := []schema.Outcome{schema.Fail, schema.NotMeasured, schema.Inconclusive, schema.Unattainable, schema.NoTarget,
		schema.Pass}
	if at := slices.Index(order, v.Outcome); at >= 0 {
		return at
	}
	return len(order)
}

// better is a value turned so that larger is better.
func (r *targetNumber) better(v float64) float64 {
	info, _ := schema.MetricByName(r.first.Metric)
	if info.Better == schema.Lower {
		return 1 / v
	}
	return v
}

// share is how much of the highest level was measured; NaN where nothing was.
func (r *targetNumber) share() float64 {
	v, ok := r.first.Value.Get()
	top := math.NaN()
	for _, x := range r.levels {
		if ref, has := x.Ref.Get(); has && x.Outcome != schema.Unattainable && !(r.better(ref) <= top) {
			top = r.better(ref)
		}
	}
	if !ok || v <= 0 {
		return math.NaN()
	}
	return r.better(v) / top
}

// reached is the share in percent.
func (r *targetNumber) reached() Cell {
	share := 100 * r.share()
	if math.IsNaN(share) {
		why := "not measured"
		if v, ok := r.first.Value.Get(); ok && v <= 0 {
			why = "the value is not positive"
		}
		return Cell{Text: words.Absent, Missing: why}
	}
	return Cell{Text: words.Number(share), Sort: &share}
}

// bullet is the number among its levels.
func (r *targetNumber) bullet() Cell {
	b := &Bullet{Measured: math.NaN()}
	if v, ok := r.first.Value.Get(); ok && v > 0 {
		b.Measured = r.better(v)
	}
	var names []string
	for _, l := range r.levelNames() {
		x := r.levels[l]
		if x == nil {
			continue
		}
		if ref, ok := x.Ref.Get(); ok && ref > 0 {
			b.Ticks = append(b.Ticks, BulletTick{r.better(ref), x.Required})
			names = append(names, fmt.Sprintf("%s %s", l, words.Number(ref)))
		}
	}
	if len(b.Ticks) == 0 {
		return Cell{Text: words.Absent, Missing: "no limit"}
	}
	b.Label = fmt.Sprintf("%s among %s", numberText(r.first.Value), strings.Join(names, ", "))
	return Cell{Bullet: b}
}

func numberText(n schema.Number) string {
	if v, ok := n.Get(); ok {
		return words.Number(v)
	}
	return "not measured"
}
