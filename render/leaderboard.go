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
	report        *Report // of the addresses of scores
	caption, head string
	rows          []boardRow
	columns       []boardColumn
	all           []boardColumn // also those for which there is no room
	parts         int           // tasks that are parts of another one and have no column
	left          int           // other tasks for which there is no room
	hidden        int           // tasks that the user hides
	without       []string      // rows that have none of the columns
}

// headModel heads the rows of a board that has ranks: models, and not releases of one.
const headModel = "Model"

// boardRow is a model or a release.
type boardRow struct {
	head      Cell
	reference bool                              // the others are compared with it
	scores    []*columns.ScoreRow               // the first of a column counts
	by        map[boardColumn]*columns.ScoreRow // those with a value
}

// boardColumn is a task as it was asked: with another number of shots it is another column.
type boardColumn struct{ task, fewshot, metric, filter string }

// fewshotText is how many examples the prompt had; "" when not stated.
func fewshotText(s *schema.Score) string {
	if s.Fewshot == nil {
		return ""
	}
	return fmt.Sprintf("%d-shot", *s.Fewshot)
}

func columnOf(s *columns.ScoreRow) boardColumn {
	return boardColumn{s.Task, fewshotText(&s.Score), s.Metric, s.Filter}
}

// index notes which score a column has: a history of a year has thousands of scores.
func (row *boardRow) index() {
	row.by = make(map[boardColumn]*columns.ScoreRow, len(row.scores))
	for _, s := range slices.Backward(row.scores) {
		if _, ok := s.Value.Get(); ok {
			row.by[columnOf(s)] = s
		}
	}
}

// at is the score of a row in a column, or nil.
func (row *boardRow) at(c boardColumn) *columns.ScoreRow { return row.by[c] }

// choose finds the columns: of each task the metric that most rows have, those that most rows have first. Parts of a
// task that has a column itself (mmlu_anatomy of mmlu) have none: as files state it, or by a colon as lighteval and
// HELM write subjects. A name alone says nothing: mmlu_pro is no part of mmlu. What the user lists stands first,
// also if it is a part, and what he hides has no column. Rows with none of the columns are left out.
func (b *board) choose(most int) {
	user := b.report.Board
	count, group := map[boardColumn]int{}, map[string]string{}
	for i := range b.rows {
		b.rows[i].index()
		seen := make(map[boardColumn]bool, len(b.rows[i].scores))
		for _, s := range b.rows[i].scores {
			if of, _, _ := strings.Cut(s.Task, ":"); s.Group != "" || of != s.Task {
				group[s.Task] = cmp.Or(s.Group, of)
			}
			if c := columnOf(s); !seen[c] && s.Metric != "alias" {
				seen[c] = true
				count[c]++
			}
		}
	}
	best, tasks := make(map[[2]string]boardColumn, len(count)), make(map[string]bool, len(count))
	parts, hidden := map[string]bool{}, map[string]bool{}
	for c, n := range count {
		tasks[c.task] = true
		id := [2]string{c.task, c.fewshot}
		was, ok := best[id]
		if !ok || cmp.Or(cmp.Compare(n, count[was]), cmp.Compare(metricPlace(was), metricPlace(c)),
			cmp.Compare(was.metric+"\x00"+was.filter, c.metric+"\x00"+c.filter)) > 0 {
			best[id] = c
		}
	}
	for _, c := range best {
		switch {
		case user.hides(c.task):
			hidden[c.task] = true
		case tasks[group[c.task]] && user.place(c.task) == len(user.Order):
			parts[c.task] = true
		default:
			b.columns = append(b.columns, c)
		}
	}
	b.parts, b.hidden = len(parts), len(hidden)
	slices.SortFunc(b.columns, func(x, y boardColumn) int {
		return cmp.Or(cmp.Compare(user.place(x.task), user.place(y.task)), cmp.Compare(count[y], count[x]),
			schema.NaturalCompare(x.task, y.task), schema.NaturalCompare(x.fewshot, y.fewshot))
	})
	b.fit(most)
}

// fit leaves the first columns for which a page has room, and the rows that have one of them.
func (b *board) fit(most int) {
	room, n, listed := 0, 0, len(b.report.Board.Order)
	for ; n < min(max(most, listed), len(b.columns)) && (n < listed || room < boardWidth); n++ {
		room += max(len(b.columns[n].task), narrowest)
	}
	b.all, b.left = b.columns, len(b.columns)-n
	b.columns = b.columns[:n]
	b.rows = slices.DeleteFunc(b.rows, func(row boardRow) bool {
		none := !slices.ContainsFunc(b.columns, func(c boardColumn) bool { return row.at(c) != nil })
		if none {
			b.without = append(b.without, row.head.Text)
		}
		return none
	})
}

// The width of a board in letters, with which it fits a page, and of a column with an interval.
const (
	boardWidth = 130
	narrowest  = 17
)

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

// sort puts the rows in order of the first column that tells two apart; the reference stands first.
func (b *board) sort() {
	slices.SortStableFunc(b.rows, func(x, y boardRow) int {
		if x.reference || y.reference {
			return truth(y.reference) - truth(x.reference)
		}
		for _, c := range b.columns {
			if by := compareScores(x.at(c), y.at(c)); by != 0 {
				return by
			}
		}
		return schema.NaturalCompare(x.head.Text, y.head.Text)
	})
}

// reference is the row that the others are compared with; nil for none.
func (b *board) reference() *boardRow {
	if at := slices.IndexFunc(b.rows, func(row boardRow) bool { return row.reference }); at >= 0 {
		return &b.rows[at]
	}
	return nil
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
	if x.Lower() {
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

// KnowsBetter reports whether it is known which of two scores is better: of a bias or a length nobody knows unless the
// file says it.
func KnowsBetter(s *columns.ScoreRow) bool {
	return s.Direction != "" || s.Lower() || lint.IsShare(s.Metric)
}

// table is the board as rows of cells; nil when it has no score.
func (b *board) table() *Table {
	if len(b.columns) == 0 {
		return nil
	}
	all := []Column[int]{{col(b.head), func(i int) Cell { return b.rows[i].head }}}
	for _, c := range b.columns {
		all = append(all, b.column(c))
	}
	rows := make([]int, len(b.rows))
	for i := range rows {
		rows[i] = i
	}
	return tableOf(b.caption, List, rows, all)
}

// column is a task: the number of questions stands in its head where all rows have the same.
func (b *board) column(c boardColumn) Column[int] {
	n, same, ref, standing := -1, true, b.reference(), b.standing(c)
	for i := range b.rows {
		if s := b.rows[i].at(c); s != nil {
			same = same && (n < 0 || s.N == n)
			n = s.N
		}
	}
	head, about := c.task, []string{c.metric, c.filter, c.fewshot}
	if slices.ContainsFunc(b.columns, func(o boardColumn) bool { return o.task == c.task && o != c }) {
		head, about[2] = strings.TrimSuffix(c.task+", "+c.fewshot, ", "), ""
	}
	if same && n > 0 {
		about = append(about, "n = "+words.Count(n))
	}
	about = slices.DeleteFunc(about, func(s string) bool { return s == "" || s == "none" })
	as := Col{Head: head, Unit: strings.Join(about, ", "), Num: true, Sort: true, Length: Medium}
	return Column[int]{as, func(i int) Cell {
		s := b.rows[i].at(c)
		if s == nil {
			return missing("not run")
		}
		cell := b.report.scoreIn(s)
		cell.Strong = standing.best() == i
		cell.Sub = below(s, ref, c, same, standing.rank(i, s.N))
		return cell
	}}
}

// below is what stands below a score: its interval, its questions where the head does not have them, its rank, the
// difference from the reference.
func below(s *columns.ScoreRow, ref *boardRow, c boardColumn, same bool, rank string) string {
	list := []string{strings.TrimSuffix(scoreInterval(s), words.Absent)}
	if !same && s.N > 0 {
		list = append(list, "n = "+words.Count(s.N))
	}
	if rank != "" {
		list = append(list, rank)
	}
	if ref != nil && ref.at(c) != s {
		list = append(list, besideText(ref.at(c), s))
	}
	for i := range list { // a line breaks between them, and nowhere else
		list[i] = strings.ReplaceAll(list[i], " ", "\u00a0")
	}
	return listed("; ", list...)
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
	show := words.Number
	if d.Share {
		show = words.Points
	}
	return spanText(show, d.D, d.Lo, d.Hi, d.Test == schema.TestPaired)
}

// spanText is a difference with its interval.
func spanText(show func(float64) string, d, lo, hi float64, paired bool) string {
	const unit = words.Thin + "pp"
	text := fmt.Sprintf("%s (%s to %s)", show(d), strings.TrimSuffix(show(lo), unit), strings.TrimSuffix(show(hi), unit))
	if paired {
		text += ", paired"
	}
	return text
}

// about says what the table does not show.
func (b *board) about() string {
	text, ranks := "The value in the tool's own scale with its 95 % interval", ""
	if b.head == headModel {
		ranks = ", the ranks that it may have, and how many questions would tell it apart from a first that it ties with"
	}
	text += ranks + "; bold only where it is shown to be better than every other (Holm's procedure over the pairs of " +
		"the column, 5 %)."
	if ref := b.reference(); ref != nil {
		text += " Below it: the difference from " + ref.head.Text +
			"; paired where it is question by question, because both answered the same ones."
	}
	for _, x := range []struct {
		n         int
		one, many string
	}{
		{b.parts, "is part of another task", "are part of another task"},
		{b.left, "has no column here", "have no column here"},
		{b.hidden, "is hidden by ttreport.yaml", "are hidden by ttreport.yaml"},
	} {
		switch {
		case x.n == 1:
			text += " 1 task " + x.one + ": the list of scores has it."
		case x.n > 1:
			text += " " + words.Count(x.n) + " tasks " + x.many + ": the list of scores has them."
		}
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

// boardOf has a row for each of some models on devices with scores: of every task the newest score.
func (r *Report) boardOf(most int, pairs []Pair) *board {
	b := &board{report: r, caption: "Models by task", head: headModel}
	referred := false
	for _, p := range pairs {
		row := boardRow{head: modelHead(p.Pair)}
		if len(r.shownOf[p.Model]) > 1 || p.Device != "" {
			row.head.Sub = words.OrUnknown(p.Device)
		}
		if p.Device == schema.Simulated {
			row.head.Sub, row.head.Tag = "", "simulated"
		}
		for _, at := range slices.Backward(r.with[p.Pair]) {
			for _, run := range slices.Backward(r.runs[p.Pair][at]) {
				row.scores = append(row.scores, r.scoresOf(run)...)
			}
		}
		if len(row.scores) == 0 {
			continue
		}
		if r.Reference != "" && p.Model == r.Reference && !referred {
			row.reference, row.head.Tag, referred = true, "reference", true
		}
		b.rows = append(b.rows, row)
	}
	b.choose(most)
	b.sort()
	return b
}

// releaseBoard has a row for each release of a model on a device, newest first.
func (r *Report) releaseBoard(pair Pair, most int) *board {
	b := &board{report: r, caption: "Evals by release, newest first", head: "Release"}
	for _, at := range slices.Backward(r.with[pair.Pair]) {
		row := boardRow{head: head(r.namesOf([]int{at})[0], ReleasePath(r.Releases[at].Name))}
		for _, run := range slices.Backward(r.runs[pair.Pair][at]) {
			row.scores = append(row.scores, r.scoresOf(run)...)
		}
		if len(row.scores) > 0 {
			b.rows = append(b.rows, row)
		}
	}
	b.choose(most)
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
