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

// targetRow is a number with the verdicts against all levels of its targets.
type targetRow struct {
	first  *schema.Verdict // of any level: who and what
	levels map[string]*schema.Verdict
}

// targetGrid has a row for each number with performance targets: its levels side by side, what was measured, how much
// of the highest level that is. The verdict is that of the required levels; a missed informational one is grey.
func (r *Report) targetGrid(list []schema.Verdict, withPair bool) *Table {
	rows, levels := targetRows(list)
	t := &Table{Caption: "Targets by workload, worst first", Layout: List, Cols: []Col{
		{Head: "Verdict", Length: Medium}, {Head: "Where", Unit: "ISL/OSL/concurrency"}, {Head: "Metric", Length: Medium},
	}}
	for _, l := range levels {
		t.Cols = append(t.Cols, Col{Head: words.Capital(l), Num: true, Length: Short})
	}
	t.Cols = append(t.Cols, Col{Head: "Measured", Num: true, Length: Short},
		Col{Head: "Reached", Unit: "% of the highest", Num: true, Sort: true, Length: Short},
		Col{Head: "Among the levels", Length: Medium})
	for _, row := range rows {
		v := row.first
		where := Cell{Text: words.Workload(v.Key), Sub: v.Key.Tool, Head: true, Href: PairPath(v.Model, v.Device)}
		if withPair {
			where.Text = words.OnDevice(v.Model, v.Device)
			where.Sub = strings.Trim(words.Workload(v.Key)+" · "+v.Key.Tool, " ·")
		}
		cells := []Cell{row.verdict(), where, {Text: metricLabel(v.Metric, v.Stat), Sub: direction(v.Metric)}}
		for _, l := range levels {
			cells = append(cells, row.level(l))
		}
		t.row(append(cells, r.numberIn(v), row.reached(), row.bullet())...)
	}
	return t
}

// targetRows groups verdicts by number, worst first, and lists the levels that occur, lowest first.
func targetRows(list []schema.Verdict) (rows []*targetRow, levels []string) {
	type id struct{ model, device, impl, key, metric, stat string }
	by := map[id]*targetRow{}
	has := map[string]bool{}
	for i := range list {
		v := &list[i]
		if v.Key.IsEval() || v.Metric == "" {
			continue
		}
		k := id{v.Model, v.Device, v.Impl, v.Key.String(), v.Metric, v.Stat}
		if by[k] == nil {
			by[k] = &targetRow{first: v, levels: map[string]*schema.Verdict{}}
			rows = append(rows, by[k])
		}
		by[k].levels[v.Level], has[v.Level] = v, true
	}
	for _, l := range schema.Levels() {
		if has[l] {
			levels = append(levels, l)
			delete(has, l)
		}
	}
	var others []string
	for l := range has {
		others = append(others, l)
	}
	slices.Sort(others)
	slices.SortStableFunc(rows, func(a, b *targetRow) int { // of one kind, the largest miss first
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.share(), b.share()))
	})
	return rows, append(levels, others...)
}

// rank orders rows: the worst required verdict first, then missed informational levels.
func (r *targetRow) rank() int {
	const informational, passed = 100, 200
	best := passed
	for _, v := range r.levels {
		switch {
		case v.Outcome == schema.Pass:
		case v.Required:
			best = min(best, outcomeRank(v))
		default:
			best = min(best, informational)
		}
	}
	return best
}

// verdict is that of the required levels, else what the informational ones came to, in grey. A number that was not
// measured, or that no target can be met of, says why.
func (r *targetRow) verdict() Cell {
	var worst *schema.Verdict
	missed := 0
	for _, l := range append(schema.Levels(), r.otherLevels()...) {
		v := r.levels[l]
		if v == nil {
			continue
		}
		if !v.Required && v.Outcome == schema.Fail {
			missed++
		}
		if worst == nil || v.Required && !worst.Required ||
			v.Required == worst.Required && outcomeRank(v) < outcomeRank(worst) {
			worst = v
		}
	}
	c := Cell{Outcome: worst.Outcome}
	switch {
	case slices.Contains([]schema.Outcome{schema.NotMeasured, schema.Unattainable, schema.NoTarget}, worst.Outcome):
		c.Sub = words.Why(*worst)
	case !worst.Required && worst.Outcome == schema.Fail:
		c = Cell{Text: "below " + words.Plural(missed, "level"), Sub: "informational"}
	case !worst.Required:
		c.Sub = "informational"
	case worst.Outcome == schema.Pass && missed > 0:
		c.Sub = "below an informational level"
	}
	return c
}

func (r *targetRow) otherLevels() []string {
	var out []string
	for l := range r.levels {
		if !slices.Contains(schema.Levels(), l) {
			out = append(out, l)
		}
	}
	slices.Sort(out)
	return out
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

// level is the limit of a level; the required one is bold.
func (r *targetRow) level(name string) Cell {
	v := r.levels[name]
	if v == nil {
		return Cell{Text: words.Absent, Missing: "no target of this level"}
	}
	c := number(v.Ref)
	c.Strong = v.Required
	if v.Outcome == schema.Unattainable {
		c.Sub = "unattainable"
	}
	return c
}

// better is a value turned so that larger is better.
func (r *targetRow) better(v float64) float64 {
	info, _ := schema.MetricByName(r.first.Metric)
	if info.Better == schema.Lower {
		return 1 / v
	}
	return v
}

// share is how much of the highest level was measured; NaN where nothing was.
func (r *targetRow) share() float64 {
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
func (r *targetRow) reached() Cell {
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

func (r *targetRow) bullet() Cell {
	b := &Bullet{Measured: math.NaN()}
	if v, ok := r.first.Value.Get(); ok && v > 0 {
		b.Measured = r.better(v)
	}
	var names []string
	for _, l := range append(schema.Levels(), r.otherLevels()...) {
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
		metric := metricLabel(v.Metric, v.Stat)
		if parts := schema.PartsOfMean(v.Metric); parts != nil {
			metric = words.Plural(len(parts), "metric") + ", mean"
		}
		t.row(verdict, task, text(metric), number(v.Ref), r.numberIn(v), change, n)
	}
	return t
}
