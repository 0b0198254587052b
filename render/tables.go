package render

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// label of a metric with its statistic: "TTFT mean".
func metricLabel(metric, stat string) string {
	info, _ := schema.MetricByName(metric)
	if stat == "value" || stat == "" {
		return info.Label
	}
	return info.Label + " " + stat
}

// changeReport is a change table for text: without the column of sparklines, which cost more than all others.
func (r *Report) changeReport(list []schema.Verdict, withPair bool) *Table {
	t := changeHead("")
	t.fill(Fold(list, false), !withPair, func(f Finding) Row { return r.changeRow(f, withPair, nil) })
	t.dropColumn(7)
	return t
}

// changeTable lists history rows: baseline, now, change, interval, history and why.
func (r *Report) changeTable(list []schema.Verdict, at int, withPair bool, caption string) *Table {
	t := changeHead(caption)
	t.fill(Fold(list, false), false, func(f Finding) Row {
		return r.changeRow(f, withPair, func(s *judge.Series) *Spark { return r.spark(s, at) })
	})
	return t
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

// inLimits is a whisker in units of its limit; nil without one.
func (w *Whisker) inLimits(label string) *Interval {
	if !(w.Limit > 0) {
		return nil
	}
	return &Interval{label, w.Effect / w.Limit, w.Low / w.Limit, w.High / w.Limit, w.Outcome, w.Evidence}
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

func (r *Report) changeRow(f Finding, withPair bool, draw func(*judge.Series) *Spark) Row {
	v := f.Verdict
	workload := words.Subject(&v)
	where := Cell{Text: workload, Sub: v.Key.Tool, Head: true, Href: PairPath(v.Model, v.Device)}
	if withPair {
		where.Text, where.Sub = words.OnDevice(v.Model, v.Device), strings.Trim(workload+" · "+v.Key.Tool, " ·")
	}
	if v.Device == schema.Simulated {
		where.Tag = "simulated"
	}
	change, interval := Cell{Text: words.Absent, Missing: v.Ref.Why()}, text(words.Absent)
	if e, ok := v.Effect.Get(); ok {
		change = Cell{Text: words.Effect(v, e), Sort: &e, Strong: true}
		if v.Interval != nil {
			interval = text(words.IntervalOf(v))
			if w, has := r.whisker(&v); has && draw != nil {
				interval.Whisker = w.inLimits(words.IntervalOf(v))
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
	metric := Cell{Text: metricLabel(v.Metric, v.Stat), Sub: direction(v.Metric)}
	switch {
	case v.Key.IsEval():
		metric.Sub = "eval"
	case v.Metric == "":
		metric.Text = "all"
	}
	why := words.Why(v)
	if draw != nil { // on a page, the columns beside it say the rest
		why = words.WhyBeside(v)
	}
	return Row{
		Cells: []Cell{
			{Outcome: v.Outcome, Evidence: v.Evidence}, where, metric, before, now, change, interval, spark,
			{Text: strings.TrimSpace(why + " " + f.Folded()), Sentence: true},
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
	name := metricLabel(s.Metric, s.Stat)
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
			Cell{Outcome: v.Outcome}, where, Cell{Text: metricLabel(v.Metric, v.Stat), Sub: direction(v.Metric)},
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
