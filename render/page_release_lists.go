package render

import (
	"fmt"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// shiftSection lists how every device moved as a whole.
func shiftSection(list []judge.Shift) Section {
	s := Section{
		ID: "shifts", Title: "Run-wide shifts",
		Intro: "What all workloads of a device did together is found once, removed from their rows, and reported here.",
	}
	t := &Table{
		Caption: "Run-wide shifts", Layout: List,
		Cols: []Col{
			{Head: "Verdict"}, {Head: "Device"}, {Head: "Metric"},
			{Head: "Shift", Num: true, Sort: true, Length: Short}, {Head: "95 % interval", Length: Medium},
			{Head: "Workloads", Num: true, Length: Short}, {Head: "Releases before", Num: true, Length: Short},
		},
	}
	still := foldEqual(slices.DeleteFunc(slices.Clone(list), func(x judge.Shift) bool {
		return x.Outcome == schema.NoBaseline && !x.Mixed
	}), func(x *judge.Shift) string {
		if x.Outcome == schema.Unchanged && !x.Mixed {
			return "unchanged"
		}
		return x.ID
	})
	for _, same := range still {
		x := same[0]
		if len(same) > 1 {
			t.row(stillShifts(same)...)
			continue
		}
		change, interval := Cell{Text: words.Absent, Missing: "nothing to compare with"}, text(words.Absent)
		if e, ok := x.Effect.Get(); ok {
			change = Cell{Text: words.Signed(x.Metric, e), Sort: &e}
		}
		if x.Interval != nil {
			interval = text(words.Interval(x.Metric, *x.Interval))
		}
		word := Cell{Outcome: x.Outcome, Evidence: x.Evidence}
		if x.Mixed {
			word = Cell{Text: "mixed", Sub: fmt.Sprintf("%.0f%s%% agree", 100*x.Agree, words.Thin)}
		}
		t.row(
			word, Cell{Text: words.OrUnknown(x.Device), Head: true}, text(words.Metric(x.Metric, x.Stat)), change, interval,
			text(words.Count(x.Cells)), text(words.Count(x.Releases)),
		)
	}
	if len(t.Rows) > 0 {
		s.Blocks = []Block{t.cut(allInJSON)}
	}
	return s
}

// stillShifts is one row for devices and metrics that did not move.
func stillShifts(list []judge.Shift) []Cell {
	devices, metrics := map[string]bool{}, map[string]bool{}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range list {
		x := &list[i]
		devices[x.Device], metrics[x.Metric+x.Stat] = true, true
		if x.Interval != nil {
			lo, hi = math.Min(lo, x.Interval[0]), math.Max(hi, x.Interval[1])
		}
	}
	interval := text(words.Absent)
	if lo <= hi {
		interval = Cell{Text: "all within " + words.Change(max(-lo, hi))[len("+"):], Sub: "either way"}
	}
	return []Cell{{Outcome: schema.Unchanged}, {Text: words.Plural(len(devices), "device"), Head: true},
		text(words.Plural(len(metrics), "metric")), text(words.Absent), interval, text(words.Absent), text(words.Absent)}
}

// lintTable lists lints, worst first.
func lintTable(list []lint.Lint) *Table {
	t := &Table{
		Caption: "Lints, worst first", Layout: List,
		Cols: []Col{
			{Head: "Lint"}, {Head: "Severity", Length: Medium}, {Head: "Where"},
			{Head: "Cases", Num: true, Length: Short}, {Head: "What"},
		},
	}
	for _, same := range FoldLints(list) {
		l, cases := same[0], 0
		for _, x := range same {
			cases += x.Count
		}
		where := Cell{Text: words.OnDevice(l.Model, l.Device), Sub: l.Run, Href: RunPath(l.Run)}
		if l.Run == "" {
			where = text(l.Release)
		}
		if len(same) > 1 {
			where = Cell{Text: placesOf(same), Sub: "shown: " + words.OnDevice(l.Model, l.Device), Href: RunPath(l.Run)}
		}
		t.row(
			Cell{Text: string(l.ID), Head: true, Code: true, Href: topicPath("lints") + "#" + Address(l.ID)},
			text(string(l.Severity)), where, text(words.Count(cases)), Cell{Text: words.Lint(l), Sentence: true},
		)
	}
	return t
}
