package render

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// changeReport is a change table for text: without the column of sparklines, which cost more than all others.
func (r *Report) changeReport(list []schema.Verdict, withPair bool) *Table {
	t := changeHead("")
	t.fill(Fold(list, false), !withPair, func(f Finding) Row { return r.changeRow(f, withPair, words.Why, nil) })
	t.dropColumn(7)
	return t
}

// changeTable lists history rows: baseline, now, change, interval, history and why, as far as a row alone knows it;
// [above] says the rest.
func (r *Report) changeTable(list []schema.Verdict, at int, withPair bool, caption string) *Table {
	t, why := changeHead(caption), besideWhy(list)
	t.Cols[len(t.Cols)-1].Unit = whyUnit
	t.fill(Fold(list, false), false, func(f Finding) Row {
		return r.changeRow(f, withPair, why, func(s *judge.Series) *Spark { return r.spark(s, at) })
	})
	return t
}

// whyUnit is what the last column of changes begins with on pages.
const whyUnit = "baseline, noise (one SD), what decided"

// besideWhy is what the rows of a list say in their last column.
func besideWhy(list []schema.Verdict) func(schema.Verdict) string {
	shared := words.SharedOf(list)
	return func(v schema.Verdict) string { return words.WhyBeside(v, shared) }
}

// above is an introduction with what the changes of the table below share, and what q in its rows means.
func above(intro string, list []schema.Verdict) string {
	out := intro + " " + words.SharedOf(list).Text()
	if slices.ContainsFunc(list, func(v schema.Verdict) bool { _, has := v.Q.Get(); return has && v.Evidence != "" }) {
		out += " q is the share of such findings that chance makes."
	}
	return strings.TrimSpace(out)
}

func changeHead(caption string) *Table {
	return &Table{Caption: caption, Layout: List, Cols: []Col{
		{Head: "Verdict"}, {Head: "Where", Unit: "ISL/OSL/concurrency"}, {Head: "Metric"},
		{Head: "Baseline", Num: true, Length: Short}, {Head: "Now", Num: true, Length: Short},
		{Head: "Change", Num: true, Sort: true, Length: Short}, {Head: "95 % interval", Length: Medium},
		{Head: "History", Length: Medium}, {Head: "Why"},
	}}
}

// Interval is a change with its interval in units of the limit, worse is positive.
type Interval struct {
	Label             string
	Effect, Low, High float64
	Outcome           schema.Outcome
	Evidence          schema.Evidence
}

// interval is a change in units of its limit; nil without one.
func (r *Report) interval(v *schema.Verdict, effect float64) *Interval {
	limit := r.limitOf(v)
	if v.Against != schema.AgainstHistory || !(limit > 0) {
		return nil
	}
	low, high := v.Interval[0], v.Interval[1]
	return &Interval{words.IntervalOf(*v), effect / limit, low / limit, high / limit, v.Outcome, v.Evidence}
}

// fill makes the rows: those that a page holds, worst first; a report holds all.
func (t *Table) fill(list []Finding, all bool, row func(Finding) Row) {
	t.Total = len(list)
	if !all {
		list = list[:min(rowsShown, len(list))]
	}
	for i := range list {
		t.Rows = append(t.Rows, row(list[i]))
	}
}

func (r *Report) changeRow(f Finding, withPair bool, why func(schema.Verdict) string,
	draw func(*judge.Series) *Spark) Row {

	v := *f.Verdict
	workload := words.Subject(&v)
	where := Cell{Text: workload, Sub: v.Key.Tool, Head: true, Href: PairPath(v.Model, v.Device)}
	if withPair {
		where.Text, where.Sub = words.OnDevice(v.Model, v.Device), strings.Trim(workload+" · "+v.Key.Tool, " ·")
	}
	change, interval := Cell{Text: words.Absent, Missing: v.Ref.Why()}, text(words.Absent)
	if e, ok := v.Effect.Get(); ok {
		change = Cell{Text: words.Effect(v, e), Sort: &e, Strong: true}
		if v.Interval != nil {
			interval = text(words.IntervalOf(v))
			if draw != nil {
				interval.Whisker = r.interval(&v, e)
			}
		}
	}
	spark, before, now := Cell{}, number(v.Ref), number(v.Value)
	if s := r.seriesOf(v); s != nil {
		if draw != nil {
			spark.Spark = draw(s)
		}
		before.Href, now.Href = r.behind(s, v)
	} else if v.Key.IsEval() {
		now.Href = r.numberAt(&v)
	}
	metric := Cell{Text: words.Metric(v.Metric, v.Stat), Sub: direction(v.Metric)}
	switch {
	case v.Key.IsEval():
		metric.Sub = "eval"
	case v.Metric == "":
		metric.Text = "all"
	}
	return Row{
		Cells: []Cell{
			{Outcome: v.Outcome, Evidence: v.Evidence, Text: words.OwnWord(&v)}, where, metric, before, now, change,
			interval, spark,
			{Text: strings.TrimSpace(why(v) + " " + f.Folded()), Sentence: true},
		},
	}
}

// direction is a metric's unit and the way in which it is better; "" for what is no metric of ours.
func direction(metric string) string {
	info, known := schema.MetricByName(metric)
	if !known {
		return ""
	}
	return strings.Trim(info.Unit+", "+info.Better.String(), ", ")
}

// numberPath is the address of the number of a series in a release: of the first run that has it, or of the last.
func (r *Report) numberPath(s *judge.Series, release int, last bool) Address {
	run, point := r.Gate.PointOf(s, release, last)
	if run < 0 {
		return ""
	}
	at := NumberPath(r.Columns.Runs[run].ID, point, s.Metric)
	if s.Tail() {
		at += "/" + Address(s.Stat)
	}
	return at
}

// behind returns the numbers behind a change: the newest of the baseline and of the release.
func (r *Report) behind(s *judge.Series, v schema.Verdict) (before, now Address) {
	for i := range r.Releases {
		switch r.Releases[i].Name {
		case v.Baseline:
			if _, ok := v.Ref.Get(); ok {
				before = r.numberPath(s, i, false)
			}
		case v.Release:
			now = r.numberPath(s, i, v.Run != r.Gate.RunOf(s, i))
		}
	}
	return before, now
}

// spark is a series over the releases up to one in which its model and device was measured: the page of a release
// does not change when the next one comes.
func (r *Report) spark(s *judge.Series, upTo int) *Spark {
	const most = 24
	var list []float64
	first, last, n := math.NaN(), math.NaN(), 0
	for _, ri := range r.measuredIn(s.Model, s.Device) {
		if ri > upTo {
			break
		}
		v, ok := s.At(ri)
		if !ok {
			v = math.NaN()
		}
		list = append(list, v)
	}
	list = list[max(0, len(list)-most):]
	for _, v := range list {
		if math.IsNaN(v) {
			continue
		}
		if n++; n == 1 {
			first = v
		}
		last = v
	}
	name := words.Metric(s.Metric, s.Stat)
	switch n {
	case 0:
		return nil
	case 1:
		return &Spark{fmt.Sprintf("%s: %s %s, one release", name, words.Number(last), s.Unit), list}
	}
	return &Spark{fmt.Sprintf("%s over %s: %s to %s %s", name, words.Plural(n, "release"), words.Number(first),
		words.Number(last), s.Unit), list}
}

// targetTable lists verdicts against targets, worst first, one row per workload, metric and level.
func (r *Report) targetTable(list []schema.Verdict, withPair bool) *Table {
	rank := map[schema.Outcome]int{
		schema.Fail: 0, schema.NotMeasured: 1, schema.Inconclusive: 2, schema.Unattainable: 3, schema.Pass: 4,
		schema.NoTarget: 5,
	}
	rows := make([]schema.Verdict, 0, len(list))
	for _, v := range list {
		if v.Metric != "" || v.Key.IsEval() {
			rows = append(rows, v)
		}
	}
	order := func(v schema.Verdict) int { // within a word, what is required first
		n := 2 * rank[v.Outcome]
		if !v.Required {
			n++
		}
		return n
	}
	sort.SliceStable(rows, func(i, j int) bool { return order(rows[i]) < order(rows[j]) })
	t := &Table{Caption: "Targets, worst first", Layout: List, Cols: []Col{
		{Head: "Verdict"}, {Head: "Where", Unit: "ISL/OSL/concurrency"}, {Head: "Metric", Length: Medium},
		{Head: "Level", Length: Medium},
		{Head: "Target", Num: true, Length: Short}, {Head: "Measured", Num: true, Length: Short}, {Head: "Why"},
	}}
	for _, v := range rows {
		where := Cell{Text: words.Workload(v.Key), Sub: v.Key.Tool, Head: true, Href: PairPath(v.Model, v.Device)}
		if withPair {
			where.Text = words.OnDevice(v.Model, v.Device)
			where.Sub = strings.Trim(words.Workload(v.Key)+" · "+v.Key.Tool, " ·")
		}
		level := Cell{Text: v.Level, Sub: "informational"}
		if v.Required {
			level.Sub = "required"
		}
		t.row(
			Cell{Outcome: v.Outcome}, where, Cell{Text: words.Metric(v.Metric, v.Stat), Sub: direction(v.Metric)},
			level, number(v.Ref), r.numberIn(&v), Cell{Text: words.Why(v), Sentence: true},
		)
	}
	return t
}

// scoreTable lists eval results with n and standard error beside each value.
func scoreTable(rows []columns.ScoreRow) *Table {
	t := &Table{
		Caption: "Evals", Layout: List,
		Cols: []Col{
			{Head: "Task"}, {Head: "Metric"}, {Head: "Filter"}, {Head: "Value", Num: true, Sort: true, Length: Short},
			{Head: "Standard error", Num: true, Length: Short}, {Head: "n", Num: true, Length: Short},
			{Head: "Few-shot", Num: true, Length: Short}, {Head: "Direction"},
		},
	}
	for _, s := range rows {
		n := Cell{Text: words.Absent, Missing: "not stated"}
		if s.N > 0 {
			n = text(words.Count(s.N))
			if s.Total > s.N {
				n.Sub = "of " + words.Count(s.Total)
			}
		}
		shots := Cell{Text: words.Absent, Missing: "not stated"}
		if s.Fewshot != nil {
			shots = text(words.Count(*s.Fewshot))
		}
		direction := "not stated"
		if s.Direction != "" {
			direction = s.Direction + " is better"
		}
		t.row(
			Cell{Text: s.Task, Head: true}, text(s.Metric), text(words.Filter(s.Filter)), number(s.Value), number(s.Stderr), n,
			shots, text(direction),
		)
	}
	return t
}
