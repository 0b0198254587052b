package render

import (
	"cmp"
	"fmt"
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
	type workload = *targetWorkload
	rows, levels, metrics := targetRows(list)
	all := []Column[workload]{
		{medium("Verdict"), workload.verdict},
		{col("Where").in(loadUnit), func(w workload) Cell { return whereCell(w.numbers[0].first, withPair) }},
	}
	for _, l := range levels {
		all = append(all, Column[workload]{Col{Head: words.Capital(l), Length: Short}, func(w workload) Cell {
			return w.level(l, metrics)
		}})
	}
	for _, m := range metrics {
		head := num(words.Metric(m.name, m.stat)).in(direction(m.name))
		all = append(all, Column[workload]{head, func(w workload) Cell {
			n := w.of(m)
			if n == nil {
				return missing("no target of this metric")
			}
			c := r.numberIn(n.first)
			if schema.ReasonIs[schema.MetricNotMeasured](n.first.Reason) {
				c.Sub = "no tool measures it"
			}
			if share := 100 * n.share(); len(w.numbers) > 1 && !math.IsNaN(share) {
				c.Sub = words.Number(share) + words.Thin + "%"
			}
			return c
		}})
	}
	return tableOf("Targets by workload, worst first", List, rows, append(all, []Column[workload]{
		{num("Reached").in("% of the highest").sorted(), func(w workload) Cell { return w.numbers[0].reached() }},
		{medium("Among the levels"), workload.picture},
	}...))
}

// targetRows groups verdicts by workload, worst first, and lists the levels that occur, lowest first, and the metrics.
// Of the numbers of a workload required ones are first; of one verdict, the largest miss.
func targetRows(list []schema.Verdict) (rows []*targetWorkload, levels []string, metrics []targetMetric) {
	type workload struct{ model, device, impl, key string }
	var by groups[workload, *targetWorkload]
	has := map[string]bool{}
	for i := range list {
		v := &list[i]
		if v.Key.IsEval() || v.Metric == "" {
			continue
		}
		at, known := by.of(workload{v.Model, v.Device, v.Impl, v.Key.String()})
		if !known {
			*at = &targetWorkload{}
		}
		w, m := *at, targetMetric{v.Metric, v.Stat}
		n := w.of(m)
		if n == nil {
			n = &targetNumber{first: v, levels: map[string]*schema.Verdict{}}
			w.numbers = append(w.numbers, n)
		}
		if old := n.levels[v.Level]; old == nil || standing(v) <= standing(old) {
			n.levels[v.Level] = v
		}
		has[v.Level] = true
		if !slices.Contains(metrics, m) {
			metrics = append(metrics, m)
		}
	}
	for _, l := range schema.Levels() {
		if has[l] {
			levels = append(levels, l)
			delete(has, l)
		}
	}
	for _, w := range by.list {
		slices.SortStableFunc(w.numbers, func(a, b *targetNumber) int {
			return cmp.Or(cmp.Compare(standing(a.worst()), standing(b.worst())), cmp.Compare(a.share(), b.share()))
		})
	}
	slices.SortStableFunc(by.list, func(a, b *targetWorkload) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.numbers[0].share(), b.numbers[0].share()))
	})
	return by.list, append(levels, sortedNames(has)...), metrics
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
		if n := w.of(m); n != nil && n.levels[name] != nil {
			v := n.levels[name]
			limit = numberText(v.Ref)
			if worst == nil || standing(v) < standing(worst) {
				worst = v
			}
		}
		limits = append(limits, limit)
	}
	c := Cell{Sub: strings.Join(limits, " · "), Missing: "informational: nothing requires this level"} // grey
	switch {
	case worst == nil:
		return missing("no target of this level")
	case worst.Required:
		c.Outcome, c.Missing = worst.Outcome, ""
	case worst.Outcome == schema.Pass:
		c.Text = "met"
	case worst.Outcome == schema.Fail:
		c.Text = "missed"
	default:
		c.Text = worst.Outcome.String()
	}
	return c
}

// picture is the worst number among its levels; of what was not measured, or can be met by nothing, the reason. The
// decisions on the targets of the workload stand with it: that on the verdict of the row, and those on others, which
// name their targets, since they are not what the row is about.
func (w *targetWorkload) picture() Cell {
	n := w.numbers[0]
	worst := n.worst()
	var about groups[string, []string]
	var notes []string
	for _, n := range w.numbers {
		for _, l := range n.levelNames() {
			v := n.levels[l]
			if v == nil || v.Decision == nil || worst.Decision != nil && *v.Decision == *worst.Decision {
				continue
			}
			note := words.DecisionNote(*v.Decision)
			of, known := about.of(note)
			if *of = append(*of, words.Metric(v.Metric, v.Stat)+" "+l); !known {
				notes = append(notes, note)
			}
		}
	}
	for i, of := range about.list {
		notes[i] = strings.Join(of, ", ") + ": " + notes[i]
	}
	if slices.Contains([]schema.Outcome{schema.NotMeasured, schema.Unattainable, schema.NoTarget}, worst.Outcome) {
		return sentence(strings.Join(append([]string{words.Why(*worst)}, notes...), " "))
	}
	if worst.Decision != nil {
		notes = append([]string{words.DecisionNote(*worst.Decision)}, notes...)
	}
	c := n.bullet()
	c.Sub = strings.Join(notes, " ")
	return c
}

// referenceTable lists scores against their references: tasks have heads of their own.
func (r *Report) referenceTable(list []schema.Verdict, withPair bool) *Table {
	type verdict = *schema.Verdict
	var rows []verdict
	for i := range list {
		if list[i].Key.IsEval() && list[i].Outcome != schema.NoTarget {
			rows = append(rows, &list[i])
		}
	}
	slices.SortStableFunc(rows, func(a, b verdict) int { return cmp.Compare(outcomeRank(a), outcomeRank(b)) })
	return tableOf("Scores against references, worst first", List, rows, []Column[verdict]{
		{medium("Verdict"), func(v verdict) Cell {
			c := Cell{Outcome: v.Outcome}
			if !v.Required {
				c.Sub = "informational"
			}
			if limit, ok := v.Reason.(schema.EvalLimit); ok && limit.Chance && v.Outcome == schema.Fail {
				c.Sub = strings.Trim(c.Sub+"; may be chance", "; ")
			}
			return c
		}},
		{col("Task"), func(v verdict) Cell {
			task := head(words.Subject(v), PairPath(v.Model, v.Device))
			if withPair {
				task.Sub = words.OnDevice(v.Model, v.Device)
			}
			return task
		}},
		{medium("Metric"), func(v verdict) Cell {
			if parts := schema.PartsOfMean(v.Metric); parts != nil {
				return text(words.Plural(len(parts), "metric") + ", mean")
			}
			return text(words.Metric(v.Metric, v.Stat))
		}},
		{num("Reference"), func(v verdict) Cell {
			c := number(v.Ref)
			if limit, ok := v.Reason.(schema.EvalLimit); ok {
				c.Sub = words.Tolerance(limit.Tolerance)
			}
			return c
		}},
		{num("Score"), r.numberIn},
		{Col{Head: "Difference", Num: true, Sort: true, Length: Medium}, func(v verdict) Cell {
			e, ok := v.Effect.Get()
			if !ok {
				return missing("nothing to compare")
			}
			c := Cell{Text: words.Effect(*v, e), Sort: &e}
			if v.Interval != nil {
				c.Sub = words.IntervalOf(*v)
			}
			return c
		}},
		{num("n"), func(v verdict) Cell { return stated(v.N) }},
	})
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
	if !math.IsNaN(share) {
		return Cell{Text: words.Number(share), Sort: &share}
	}
	if v, ok := r.first.Value.Get(); ok && v <= 0 {
		return missing("the value is not positive")
	}
	return missing("not measured")
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
