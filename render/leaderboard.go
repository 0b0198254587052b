package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// board is scores side by side: models or releases as rows, tasks as columns.
type board struct {
	report        *Report // of the addresses of scores; nil in tests
	caption, head string
	rows          []boardRow
	reference     int // row that the others are compared with; -1 for none
	columns       []boardColumn
	parts         int      // tasks that are parts of another one and have no column
	left          int      // other tasks for which there is no room
	without       []string // rows that have none of the columns
}

// boardRow is a model or a release.
type boardRow struct {
	head   Cell
	scores []*columns.ScoreRow // the first of a column counts
}

// boardColumn is a task as it was asked: with another number of shots it is another column.
type boardColumn struct{ task, fewshot, metric, filter string }

// fewshotText is how many examples the prompt had; "" when not stated.
func fewshotText(s *columns.ScoreRow) string {
	if s.Fewshot == nil {
		return ""
	}
	return fmt.Sprintf("%d-shot", *s.Fewshot)
}

func columnOf(s *columns.ScoreRow) boardColumn {
	return boardColumn{s.Task, fewshotText(s), s.Metric, s.Filter}
}

// at is the score of a row in a column, or nil.
func (row *boardRow) at(c boardColumn) *columns.ScoreRow {
	for _, s := range row.scores {
		if _, ok := s.Value.Get(); ok && columnOf(s) == c {
			return s
		}
	}
	return nil
}

// choose finds the columns: of each task the metric that most rows have, those that most rows have first. Parts of a
// task that has a column itself (mmlu_anatomy of mmlu) have none.
func (b *board) choose(most int) {
	count := map[boardColumn]int{}
	for i := range b.rows {
		seen := map[boardColumn]bool{}
		for _, s := range b.rows[i].scores {
			if c := columnOf(s); !seen[c] && s.Metric != "alias" {
				seen[c] = true
				count[c]++
			}
		}
	}
	best, tasks := map[[2]string]boardColumn{}, map[string]bool{}
	for c, n := range count {
		tasks[c.task] = true
		id := [2]string{c.task, c.fewshot}
		was, ok := best[id]
		if !ok || cmp.Or(cmp.Compare(n, count[was]), cmp.Compare(metricPlace(was), metricPlace(c)),
			cmp.Compare(was.metric+"\x00"+was.filter, c.metric+"\x00"+c.filter)) > 0 {
			best[id] = c
		}
	}
	parts, groups := map[string]bool{}, b.groups()
	for _, c := range best {
		if group := groups[c.task]; group != "" && tasks[group] {
			parts[c.task] = true
			continue
		}
		b.columns = append(b.columns, c)
	}
	b.parts = len(parts)
	slices.SortFunc(b.columns, func(x, y boardColumn) int {
		return cmp.Or(cmp.Compare(count[y], count[x]), schema.NaturalCompare(x.task, y.task),
			schema.NaturalCompare(x.fewshot, y.fewshot))
	})
	b.left = max(0, len(b.columns)-most)
	b.columns = b.columns[:len(b.columns)-b.left]
}

// metricPlace orders the metrics of a task that as many rows have: what leaderboards of the field show, first.
func metricPlace(c boardColumn) int {
	list := []string{"acc_norm", "exact_match", "acc", "pass@1", "prompt_level_strict_acc", "f1"}
	at := slices.Index(list, c.metric)
	if at < 0 {
		at = len(list)
	}
	if strings.HasPrefix(c.filter, "flexible") {
		at += len(list)
	}
	return at
}

// groups are the tasks that tasks are a part of: as files state it, or by a colon as lighteval and HELM write subjects.
// A name alone says nothing: mmlu_pro is no part of mmlu.
func (b *board) groups() map[string]string {
	out := map[string]string{}
	for i := range b.rows {
		for _, s := range b.rows[i].scores {
			group, _, _ := strings.Cut(s.Task, ":")
			if s.Group != "" || group != s.Task {
				out[s.Task] = cmp.Or(s.Group, group)
			}
		}
	}
	return out
}

// prune takes out the rows that have none of the columns.
func (b *board) prune() {
	var kept []boardRow
	ref := -1
	for i, row := range b.rows {
		if !slices.ContainsFunc(b.columns, func(c boardColumn) bool { return row.at(c) != nil }) {
			b.without = append(b.without, row.head.Text)
			continue
		}
		if i == b.reference {
			ref = len(kept)
		}
		kept = append(kept, row)
	}
	b.rows, b.reference = kept, ref
}

// sort puts the rows in order of the first column that tells two apart; the reference stands first.
func (b *board) sort() {
	type placed struct {
		row boardRow
		ref bool
	}
	var list []placed
	for i, row := range b.rows {
		list = append(list, placed{row, i == b.reference})
	}
	slices.SortStableFunc(list, func(x, y placed) int {
		if x.ref != y.ref {
			return cmp.Compare(truth(y.ref), truth(x.ref))
		}
		for _, c := range b.columns {
			if by := compareScores(x.row.at(c), y.row.at(c)); by != 0 {
				return by
			}
		}
		return schema.NaturalCompare(x.row.head.Text, y.row.head.Text)
	})
	for i := range list {
		b.rows[i] = list[i].row
	}
	if b.reference >= 0 {
		b.reference = 0
	}
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compareScores puts the better score first, and one that is there before none.
func compareScores(x, y *columns.ScoreRow) int {
	if x == nil || y == nil {
		return cmp.Compare(truth(y != nil), truth(x != nil))
	}
	v, _ := x.Value.Get()
	w, _ := y.Value.Get()
	if x.Direction == "lower" {
		return cmp.Compare(v, w)
	}
	return cmp.Compare(w, v)
}

// best is the row that leads in a column, the first of equals; -1 where none has it.
func (b *board) best(c boardColumn) int {
	best := -1
	for i := range b.rows {
		if s := b.rows[i].at(c); s != nil && (best < 0 || compareScores(s, b.rows[best].at(c)) < 0) {
			best = i
		}
	}
	return best
}

// knowsBetter reports whether it is known which of two scores is better: of a bias or a length nobody knows unless the
// file says it.
func knowsBetter(s *columns.ScoreRow) bool { return s.Direction != "" || lint.IsShare(s.Metric) }

// table is the board as rows of cells; nil when it has no score.
func (b *board) table() *Table {
	if len(b.columns) == 0 {
		return nil
	}
	t := &Table{Caption: b.caption, Layout: List, Cols: []Col{{Head: b.head}}}
	for range b.rows {
		t.row()
	}
	for i := range b.rows {
		t.Rows[i].Cells = []Cell{b.rows[i].head}
	}
	for _, c := range b.columns {
		b.column(t, c)
	}
	return t
}

// column adds a column: the number of questions stands in its head where all rows have the same.
func (b *board) column(t *Table, c boardColumn) {
	n, same, best := -1, true, b.best(c)
	for i := range b.rows {
		s := b.rows[i].at(c)
		if s == nil {
			continue
		}
		if n >= 0 && s.N != n {
			same = false
		}
		n = s.N
	}
	head, about := c.task, []string{c.metric, c.filter, c.fewshot}
	if slices.ContainsFunc(b.columns, func(o boardColumn) bool { return o.task == c.task && o != c }) {
		head, about[2] = strings.TrimSuffix(c.task+", "+c.fewshot, ", "), ""
	}
	if same && n > 0 {
		about = append(about, "n = "+words.Count(n))
	}
	about = slices.DeleteFunc(about, func(s string) bool { return s == "" || s == "none" })
	t.Cols = append(t.Cols, Col{Head: head, Unit: strings.Join(about, ", "), Num: true, Sort: true, Length: Medium})
	for i := range b.rows {
		s := b.rows[i].at(c)
		if s == nil {
			t.Rows[i].Cells = append(t.Rows[i].Cells, Cell{Text: words.Absent, Missing: "not run"})
			continue
		}
		cell := b.report.scoreIn(s)
		cell.Strong = i == best && len(b.rows) > 1 && knowsBetter(s)
		var below []string
		if x := scoreInterval(s); x != words.Absent {
			below = append(below, x)
		}
		if !same && s.N > 0 {
			below = append(below, "n = "+words.Count(s.N))
		}
		if b.reference >= 0 && i != b.reference {
			below = append(below, besideText(b.rows[b.reference].at(c), s))
		}
		cell.Sub = strings.Join(slices.DeleteFunc(below, func(s string) bool { return s == "" }), "; ")
		if b.reference >= 0 { // a line breaks between the interval and the difference, and nowhere else
			cell.Sub = strings.ReplaceAll(strings.ReplaceAll(cell.Sub, " ", "\u00a0"), ";\u00a0", "; ")
		}
		t.Rows[i].Cells = append(t.Rows[i].Cells, cell)
	}
}

// besideText is how far a score lies from that of the reference, with its interval.
func besideText(ref, now *columns.ScoreRow) string {
	if ref == nil {
		return ""
	}
	d, why := judge.ScoreBeside(ref, now)
	if why != "" {
		return "not compared: " + why
	}
	show, how := words.Number, ""
	if d.Share {
		show = words.Points
	}
	if d.Test == schema.TestPaired {
		how = ", paired"
	}
	lo := strings.TrimSuffix(show(d.Lo), words.Thin+"pp")
	return fmt.Sprintf("%s (%s to %s)%s", show(d.D), lo, strings.TrimSuffix(show(d.Hi), words.Thin+"pp"), how)
}

// about says what the table does not show.
func (b *board) about() string {
	text := "The value in the tool's own scale with its 95 % interval; the best of a column is bold, which is not a " +
		"verdict: many intervals overlap."
	if b.reference >= 0 {
		text += " Below it: the difference from " + b.rows[b.reference].head.Text +
			"; paired where it is question by question, because both answered the same ones."
	}
	if b.parts > 0 {
		text += fmt.Sprintf(" %s part of another task: the list of scores has them.", verbs(b.parts, "task is", "tasks are"))
	}
	if b.left > 0 {
		text += fmt.Sprintf(" %s no column here: the list of scores has them.", verbs(b.left, "task has", "tasks have"))
	}
	if len(b.without) > 0 {
		text += " Without any of these tasks: " + nameSome(b.without) + "."
	}
	return text
}

// nameSome names the first few of a list.
func nameSome(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

func verbs(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return words.Count(n) + " " + many
}

// modelBoard has a row for each model on a device with scores: of every task the newest score.
func (r *Report) modelBoard(most int) *board { return r.boardOf(most, func(Pair) bool { return true }) }

// boardOf is the board of some models on devices.
func (r *Report) boardOf(most int, of func(Pair) bool) *board {
	b := &board{report: r, caption: "Models by task", head: "Model", reference: -1}
	pairs, _ := r.listed()
	several := map[string]int{}
	for _, p := range pairs {
		several[p.Model]++
	}
	for _, p := range pairs {
		if !of(p) {
			continue
		}
		row := boardRow{head: Cell{Text: words.OrUnknown(p.Model), Head: true, Href: PairPath(p.Model, p.Device)}}
		if several[p.Model] > 1 || p.Device != "" {
			row.head.Sub = words.OrUnknown(p.Device)
		}
		if p.Device == schema.Simulated {
			row.head.Sub, row.head.Tag = "", "simulated"
		}
		releases := r.with[p.Pair]
		for i := len(releases) - 1; i >= 0; i-- {
			for _, run := range slices.Backward(r.runs[p.Pair][releases[i]]) {
				row.scores = append(row.scores, r.scoresOf(run)...)
			}
		}
		if len(row.scores) == 0 {
			continue
		}
		if r.Reference != "" && p.Model == r.Reference && b.reference < 0 {
			b.reference = len(b.rows)
			row.head.Tag = "reference"
		}
		b.rows = append(b.rows, row)
	}
	b.choose(most)
	b.prune()
	b.sort()
	return b
}

// releaseBoard has a row for each release of a model on a device, newest first.
func (r *Report) releaseBoard(pair Pair, most int) *board {
	b := &board{report: r, caption: "Evals by release, newest first", head: "Release", reference: -1}
	for _, at := range slices.Backward(r.with[pair.Pair]) {
		name := Cell{Text: r.namesOf([]int{at})[0], Head: true, Href: ReleasePath(r.Releases[at].Name)}
		row := boardRow{head: name}
		for _, run := range slices.Backward(r.runs[pair.Pair][at]) {
			row.scores = append(row.scores, r.scoresOf(run)...)
		}
		if len(row.scores) > 0 {
			b.rows = append(b.rows, row)
		}
	}
	b.choose(most)
	b.prune()
	return b
}

func (r *Report) scoresOf(run int) []*columns.ScoreRow {
	list := r.Columns.ScoresOf(run)
	out := make([]*columns.ScoreRow, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}
