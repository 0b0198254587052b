package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// changes says how the rows of changes are made.
type changes struct {
	caption string
	ofPair  bool // the model and device is said in each row
	all     bool // a report holds all rows, a page the worst
	at      int  // the release up to which histories are drawn; -1: they are left out with other pictures, as in text
	why     func(schema.Verdict) string
}

// changeReport is a change table for text: without the column of sparklines, which cost more than all others.
func (r *Report) changeReport(list []schema.Verdict, ofPair bool) *Table {
	return r.changesOf(Fold(list, false), changes{ofPair: ofPair, all: !ofPair, at: -1, why: words.Why})
}

// changeTable lists history rows: baseline, now, change, interval, history and why.
func (r *Report) changeTable(list []schema.Verdict, at int, ofPair bool, caption string) *Table {
	t := r.changesOf(Fold(list, false), changes{caption, ofPair, false, at, words.WhyBeside})
	t.Cols[len(t.Cols)-1].Unit = whyUnit
	return t
}

// whyUnit is what the last column of changes begins with on pages.
const whyUnit = "baseline, noise (one SD), what decided"

// Interval is a change with its interval in units of the limit, worse is positive.
type Interval struct {
	Label             string
	Effect, Low, High float64
	Outcome           schema.Outcome
	Evidence          schema.Evidence
}

// interval is a change in units of its limit; nil without one.
func (r *Report) interval(v *schema.Verdict, effect float64) *Interval {
	limit := r.Gate.Policy.Effect(v.Metric) // the change that matters
	switch reason := v.Reason.(type) {
	case schema.Change:
		limit = reason.Limit
	case schema.EvalChange:
		limit = reason.Limit
	}
	if v.Against != schema.AgainstHistory || !(limit > 0) {
		return nil
	}
	low, high := v.Interval[0], v.Interval[1]
	return &Interval{words.IntervalOf(*v), effect / limit, low / limit, high / limit, v.Outcome, v.Evidence}
}

func (r *Report) changesOf(list []Finding, how changes) *Table {
	total, drawn := len(list), how.at >= 0
	implOf := words.Impls(total, func(i int) *schema.Verdict { return list[i].Verdict })
	if !how.all {
		list = list[:min(rowsShown, len(list))]
	}
	columns := []Column[Finding]{
		{col("Verdict"), func(f Finding) Cell {
			return Cell{Outcome: f.Outcome, Evidence: f.Evidence, Text: words.OwnWord(f.Verdict)}
		}},
		{col("Where").in(loadUnit), func(f Finding) Cell { return whereCell(f.Verdict, how.ofPair, implOf(f.Verdict)) }},
		{col("Metric"), func(f Finding) Cell {
			c := metricCell(f.Metric, f.Stat)
			switch {
			case f.Key.IsEval():
				c.Sub = "eval"
			case f.Metric == "":
				c.Text = "all"
			}
			return c
		}},
		{num("Baseline"), func(f Finding) Cell {
			c := number(f.Ref)
			c.Href, _ = r.behind(f.Verdict)
			return c
		}},
		{num("Now"), func(f Finding) Cell {
			c := number(f.Value)
			_, c.Href = r.behind(f.Verdict)
			return c
		}},
		{num("Change").sorted(), func(f Finding) Cell {
			e, ok := f.Effect.Get()
			if !ok {
				return missing(f.Ref.Why())
			}
			return Cell{Text: words.Effect(*f.Verdict, e), Sort: &e, Strong: true}
		}},
		{medium("95 % interval"), func(f Finding) Cell {
			e, ok := f.Effect.Get()
			if !ok || f.Interval == nil {
				return text(words.Absent)
			}
			c := text(words.IntervalOf(*f.Verdict))
			if drawn {
				c.Whisker = r.interval(f.Verdict, e)
			}
			return c
		}},
		{medium("History"), func(f Finding) (c Cell) {
			if s := r.seriesOf(f.Verdict); s != nil {
				c = r.sparkCell(s, how.at)
			}
			return c
		}},
		{col("Why"), func(f Finding) Cell { return sentence(strings.TrimSpace(how.why(*f.Verdict) + " " + f.Folded())) }},
	}
	if !drawn {
		columns = slices.Delete(columns, 7, 8)
	}
	t := tableOf(how.caption, List, list, columns)
	t.Total = total
	return t
}

// numberOf is the address of the number of a series in a release: of the first run that has it, or of the last.
func (r *Report) numberOf(s *judge.Series, release int, last bool) Address {
	run, point := r.Gate.PointOf(s, release, last)
	if run < 0 {
		return ""
	}
	at := numberPath(r.Columns.Runs[run].ID, 'p', point, s.Metric)
	if s.Tail() {
		at += "/" + Address(s.Stat)
	}
	return at
}

// behind returns the numbers behind a change: the newest of the baseline and of the release; of an eval that has no
// series the score.
func (r *Report) behind(v *schema.Verdict) (before, now Address) {
	s := r.seriesOf(v)
	if s == nil {
		if v.Key.IsEval() {
			now = r.numberAt(v)
		}
		return "", now
	}
	for i := range r.Releases {
		switch r.Releases[i].Name {
		case v.Baseline:
			if present(v.Ref) {
				before = r.numberOf(s, i, false)
			}
		case v.Release:
			now = r.numberOf(s, i, v.Run != r.Gate.RunOf(s, i))
		}
	}
	return before, now
}

// sparkCell is that picture with a link to the series.
func (r *Report) sparkCell(s *judge.Series, upTo int) Cell {
	c := Cell{Spark: r.spark(s, upTo)}
	if c.Spark != nil {
		c.Href = r.SeriesPath(s)
	}
	return c
}

// spark is a series over the releases up to one in which its model and device was measured: the page of a release
// does not change when the next one comes.
func (r *Report) spark(s *judge.Series, upTo int) *Spark {
	const most = 24
	var list, has []float64
	for _, ri := range r.with[s.Pair()] {
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
		if !math.IsNaN(v) {
			has = append(has, v)
		}
	}
	name, n := words.Metric(s.Metric, s.Stat), len(has)
	switch n {
	case 0:
		return nil
	case 1:
		return &Spark{fmt.Sprintf("%s: %s %s, one release", name, words.Number(has[0]), s.Unit), list}
	}
	return &Spark{fmt.Sprintf("%s over %s: %s to %s %s", name, words.Plural(n, "release"), words.Number(has[0]),
		words.Number(has[n-1]), s.Unit), list}
}

// whereCell is the workload of a verdict with its tool, and its implementation where it has one of several; with of,
// below its model and device.
func whereCell(v *schema.Verdict, of bool, impl string) Cell {
	sub := strings.Trim(impl+" · "+v.Key.Tool, " ·")
	c := Cell{Text: words.Subject(v), Sub: sub, Head: true, Href: PairPath(v.Model, v.Device)}
	if of {
		c.Text, c.Sub = words.OnDevice(v.Model, v.Device), strings.Trim(c.Text+" · "+c.Sub, " ·")
	}
	return c
}

// targetTable lists verdicts against targets, worst first and of a word what is required first, one row per workload,
// metric and level.
func (r *Report) targetTable(list []schema.Verdict, withPair bool) *Table {
	rank := []schema.Outcome{schema.Fail, schema.NotMeasured, schema.Inconclusive, schema.Unattainable, schema.Pass,
		schema.NoTarget}
	rows := verdictsThat(list, func(v *schema.Verdict) bool { return v.Metric != "" || v.Key.IsEval() })
	slices.SortStableFunc(rows, func(a, b schema.Verdict) int {
		return cmp.Or(cmp.Compare(max(0, slices.Index(rank, a.Outcome)), max(0, slices.Index(rank, b.Outcome))),
			truth(!a.Required)-truth(!b.Required))
	})
	implOf := words.Impls(len(list), func(i int) *schema.Verdict { return &list[i] })
	return tableOf("Targets, worst first", List, rows, []Column[schema.Verdict]{
		{col("Verdict"), func(v schema.Verdict) Cell { return Cell{Outcome: v.Outcome} }},
		{col("Where").in(loadUnit), func(v schema.Verdict) Cell { return whereCell(&v, withPair, implOf(&v)) }},
		{medium("Metric"), func(v schema.Verdict) Cell { return metricCell(v.Metric, v.Stat) }},
		{medium("Level"), func(v schema.Verdict) Cell {
			if v.Required {
				return Cell{Text: v.Level, Sub: "required"}
			}
			return Cell{Text: v.Level, Sub: "informational"}
		}},
		{num("Target"), func(v schema.Verdict) Cell { return number(v.Ref) }},
		{num("Measured"), func(v schema.Verdict) Cell { return r.numberIn(&v) }},
		{col("Why"), func(v schema.Verdict) Cell { return sentence(words.Why(v)) }},
	})
}

// scoreTable lists eval results with n and standard error beside each value.
func scoreTable(rows []*columns.ScoreRow) *Table {
	type score = *columns.ScoreRow
	return tableOf("Evals", List, rows, []Column[score]{
		{col("Task"), func(s score) Cell { return head(s.Task, "") }},
		{col("Metric"), func(s score) Cell { return text(s.Metric) }},
		{col("Filter"), func(s score) Cell { return text(words.Filter(s.Filter)) }},
		{num("Value").sorted(), func(s score) Cell { return number(s.Value) }},
		{num("Standard error"), func(s score) Cell { return number(s.Stderr) }},
		{num("n"), func(s score) Cell {
			n := stated(s.N)
			if s.N > 0 && s.Total > s.N {
				n.Sub = "of " + words.Count(s.Total)
			}
			return n
		}},
		{num("Few-shot"), func(s score) Cell {
			if s.Fewshot == nil {
				return missing("not stated")
			}
			return count(*s.Fewshot)
		}},
		{col("Direction"), func(s score) Cell {
			if s.Direction == "" {
				return text("not stated")
			}
			return text(s.Direction + " is better")
		}},
	})
}
