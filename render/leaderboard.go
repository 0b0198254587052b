package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/glob"
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
		about = append(about, "n\u00a0=\u00a0"+words.Count(n))
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
	if ref != nil && ref.at(c) != nil && ref.at(c) != s {
		d, why := judge.ScoreBeside(ref.at(c), s)
		said := "not compared: " + why
		if why == "" {
			said = spanText(d.D, d.Lo, d.Hi, d.Relative, d.Test == schema.TestPaired)
		}
		list = append(list, said)
	}
	const whole = 24 // letters: what is shorter is not broken where a column is narrow
	parts := strings.Split(listed("; ", list...), "; ")
	for i, s := range parts {
		if len(s) < whole {
			parts[i] = strings.ReplaceAll(s, " ", "\u00a0")
		}
	}
	return strings.Join(parts, "; ")
}

// spanText is a difference of two scores with its interval.
func spanText(d, low, high float64, relative, paired bool) string {
	show := words.Points
	if relative {
		show = words.Change
	}
	lo, _, _ := strings.Cut(show(low), words.Thin)
	hi, _, _ := strings.Cut(show(high), words.Thin)
	text := fmt.Sprintf("%s (%s to %s)", show(d), lo, hi)
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
	var more []string
	for _, x := range []struct {
		n  int
		of string
	}{{b.parts, "within another one"}, {b.left, "without a column here"}, {b.hidden, "hidden by ttreport.yaml"}} {
		if x.n > 0 {
			more = append(more, words.Plural(x.n, "task")+" "+x.of)
		}
	}
	if len(more) > 0 {
		text += " The list of scores also has " + strings.Join(more, ", ") + "."
	}
	if len(b.without) > 0 {
		text += " Without any of these tasks: " + words.Few(b.without, 3) + "."
	}
	return text
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
		runs := r.runsOfPair(p)
		slices.Reverse(runs)
		if row.scores = r.scoresOf(runs...); len(row.scores) == 0 {
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
		runs := slices.Clone(r.runs[pair.Pair][at])
		slices.Reverse(runs)
		if scores := r.scoresOf(runs...); len(scores) > 0 {
			name := head(r.namesOf([]int{at})[0], ReleasePath(r.Releases[at].Name))
			b.rows = append(b.rows, boardRow{head: name, scores: scores})
		}
	}
	b.choose(most)
	return b
}

// scoresOf are the scores of some runs.
func (r *Report) scoresOf(runs ...int) (out []*columns.ScoreRow) {
	for _, run := range runs {
		list := r.Columns.ScoresOf(run)
		for i := range list {
			out = append(out, &list[i])
		}
	}
	return out
}

// ranking is what is known of the order of the rows of a board; nil where that is nothing.
type ranking struct {
	*judge.Ranking
	rows   []int // of the board, by place in the ranking
	ranked bool  // the rows are models, which have ranks
}

// standing ranks the rows that have a score in a column; nil for fewer than two, and where nobody knows what is better.
func (b *board) standing(c boardColumn) *ranking {
	s := &ranking{ranked: b.head == headModel}
	var scores []*columns.ScoreRow
	for i := range b.rows {
		if x := b.rows[i].at(c); x != nil && KnowsBetter(x) {
			s.rows, scores = append(s.rows, i), append(scores, x)
		}
	}
	if len(scores) < 2 {
		return nil
	}
	_, share := b.shares()
	s.Ranking = judge.RankScores(scores, share)
	return s
}

// shares are the parts of the chance of a wrong separation that the ranking by the mean and each other one take.
func (b *board) shares() (mean, each float64) {
	return judge.Split(len(b.columns) + len(b.report.Board.Groups))
}

// best is the row that is shown to be better than every other, -1 for none.
func (s *ranking) best() int {
	if s == nil || s.Best() < 0 {
		return -1
	}
	return s.rows[s.Best()]
}

// rank is the ranks that a row may have, "" for none; where it ties with the first, what would separate the two.
func (s *ranking) rank(row, asked int) string {
	if s == nil || !s.ranked {
		return ""
	}
	at := slices.Index(s.rows, row)
	if at < 0 {
		return ""
	}
	text := "rank " + s.ranks(at)
	if d, ok := s.Diff(at, s.Order[0]); ok && d.D != 0 && d.SE > 0 && s.Tied(at, s.Order[0]) {
		text += "; apart at " + s.needed(at, s.Order[0], asked, "questions")
	}
	return text
}

// needed is what would separate two models that tie, if they differ as much as they seem to: so many questions, or what
// as often as it was asked.
func (s *ranking) needed(i, from, asked int, what string) string {
	d, _ := s.Diff(i, from)
	factor := s.Factor(d)
	if n := float64(asked) * factor; n > 0 && n < 1e7 { // of few questions the test is by t, which asks for more
		return questions(max(asked+1, int(math.Ceil(n))), s.Samples(d))
	}
	if factor > 1000 {
		return "more than 1,000 times the " + what
	}
	return fmt.Sprintf("about %s times the %s", strconv.FormatFloat(rounded(factor), 'f', -1, 64), what)
}

// questions is how many items would separate two models, or answers to each of the same items.
func questions(items, answers int) string {
	text := "about " + words.Count(int(rounded(float64(items)))) + " questions"
	if answers > 0 {
		text += fmt.Sprintf(", or %d answers to each", answers)
	}
	return text
}

func (s *ranking) ranks(at int) string {
	if s.Low[at] == s.High[at] {
		return words.Count(s.Low[at])
	}
	return words.Count(s.Low[at]) + " to " + words.Count(s.High[at])
}

// lead says how surely a row leads the n that have a score.
func (s *ranking) lead(row, n int) string {
	if s.best() == row {
		return fmt.Sprintf(", the best of %d models", n)
	}
	return ": " + s.ties(slices.Index(s.rows, row)) + " with it"
}

// ties says how many others are not separated from one.
func (s *ranking) ties(at int) string {
	tied, others := len(s.Ties(at)), len(s.rows)-1
	switch {
	case others == 1 && tied == 1:
		return "the other model ties"
	case tied == 1:
		return fmt.Sprintf("1 of %s other models ties", words.Count(others))
	}
	return fmt.Sprintf("%s of %s other models tie", words.Count(tied), words.Count(others))
}

// means is the order of the models by the mean of their shares of right answers.
type means struct {
	ranking
	group   string // of tasks, as the user names it; "" for all
	board   *board
	columns []boardColumn
	shares  []float64 // mean of each model's tasks, by place
	tasks   []int     // how many these are
	without []string  // models with too few of the tasks
	others  int       // tasks that are no share of right answers
	sampled bool      // the tasks are a sample, as errors of scores are not known
}

// means ranks the models over the tasks that at least half of them have, as shares of right answers, and of the models
// those that have at least half of these; nil without two models. Of a group of tasks, only these count.
func (b *board) means(group string) *means {
	m := &means{board: b, group: group, ranking: ranking{ranked: true}}
	m.columns, m.others = b.shareColumns()
	if group != "" {
		tasks := b.report.Board.Groups[group]
		m.columns = slices.DeleteFunc(m.columns, func(c boardColumn) bool { return !glob.Any(tasks, c.task) })
	}
	tasks := make([][]*columns.ScoreRow, len(m.columns))
	for i := range b.rows {
		sum, n := 0., 0
		for _, c := range m.columns {
			if s := b.rows[i].at(c); s != nil {
				v, _ := s.Value.Get()
				sum, n = sum+v/judge.ShareScale(&s.Score), n+1
			}
		}
		if n == 0 || 2*n < len(m.columns) {
			m.without = append(m.without, b.rows[i].head.Text)
			continue
		}
		m.rows, m.shares, m.tasks = append(m.rows, i), append(m.shares, sum/float64(n)), append(m.tasks, n)
		for t, c := range m.columns {
			tasks[t] = append(tasks[t], b.rows[i].at(c))
		}
	}
	if len(m.rows) < 2 {
		return nil
	}
	share, each := b.shares()
	if group != "" {
		share = each
	}
	m.Ranking, m.sampled = judge.RankMeans(tasks, share)
	return m
}

// shareColumns are the tasks that at least half of the models have, all as shares of right answers; others counts those
// that they have as anything else.
func (b *board) shareColumns() (out []boardColumn, others int) {
	for _, c := range b.all {
		have, shares := 0, true
		for i := range b.rows {
			if s := b.rows[i].at(c); s != nil {
				have++
				shares = shares && judge.ShareScale(&s.Score) > 0 && KnowsBetter(s)
			}
		}
		switch common := have >= 2 && 2*have >= len(b.rows); {
		case common && shares:
			out = append(out, c)
		case common:
			others++
		}
	}
	return out, others
}

// RankSpan is the ranks that a model may have, of so many.
type RankSpan struct {
	Label         string
	Low, High, Of int
}

// standing is how a row compares with the first: 0 where it is the first or ties with it, 1 where it is shown to be
// behind, 2 where the two were not compared.
func (m *means) standing(i, first int) int {
	switch _, compared := m.Diff(i, first); {
	case i == first || m.Tied(i, first):
		return 0
	case compared:
		return 1
	}
	return 2
}

// section is the order of the models as far as it is known: ranks as intervals, ties as groups.
func (m *means) section() Section {
	if m == nil {
		return Section{}
	}
	b := m.board
	ties := m.tied()
	first, from, name := m.Order[0], m.Order[0], "the first"
	for i, row := range m.rows {
		if b.rows[row].reference {
			from, name = i, b.rows[row].head.Text
		}
	}
	var groups [3][]int // the first and what ties with it, what is behind it, what was not compared with it
	for _, i := range m.Order {
		at := m.standing(i, first)
		groups[at] = append(groups[at], i)
	}
	order := slices.Concat(groups[:]...)
	unit := words.Plural(len(m.columns), "task")
	if len(m.columns) == 1 {
		unit = m.columns[0].task
	}
	t := tableOf("Ranks", List, order, []Column[int]{
		{medium("Rank"), func(i int) Cell {
			label := "rank " + m.ranks(i) + " of " + words.Count(len(m.rows))
			return Cell{Sub: m.ranks(i), Span: &RankSpan{label, m.Low[i], m.High[i], len(m.rows)}}
		}},
		{col("Model"), func(i int) Cell {
			head := b.rows[m.rows[i]].head
			head.Strong = i == m.Best()
			return head
		}},
		{num("Mean").in(unit), func(i int) Cell {
			c := text(words.Quantity(100*m.shares[i], "%"))
			if m.tasks[i] < len(m.columns) {
				c.Sub = fmt.Sprintf("%d of %d tasks", m.tasks[i], len(m.columns))
			}
			return c
		}},
		{medium("From " + name).in("interval over all pairs"), func(i int) Cell {
			d, ok := m.Diff(i, from)
			if !ok {
				return text("")
			}
			lo, hi := m.Interval(d) // of the difference alone
			return text(spanText(d.D, lo, hi, false, d.Paired))
		}},
		{medium("Ties").in("same letter"), func(i int) Cell { return text(ties[i]) }},
		{col("To separate from " + name), func(i int) Cell { return text(m.needed(i, from)) }},
	})
	if at := 0; m.Best() < 0 && len(groups[0]) < len(order) {
		names := []string{"First, and what ties with it", "Shown to be behind the first", "Not compared with the first"}
		for i, name := range names {
			if len(groups[i]) > 0 {
				t.Rows = slices.Insert(t.Rows, at, Row{Group: name})
				at += 1 + len(groups[i])
			}
		}
	}
	id, title := "ranks", "Ranks"
	if m.group != "" {
		id, title = "ranks-"+schema.Slug(m.group), "Ranks: "+m.group
	}
	return section(id, title, m.about(first), t.cut("data/ has the scores"))
}

// about says who leads, how surely, and of what the ranks are; of a group, which tasks it has.
func (m *means) about(first int) string {
	text, ties := m.board.rows[m.rows[first]].head.Text, m.ties(first)
	if m.Best() == first {
		text += " is shown to be better than every other model. "
	} else {
		text = strings.ToUpper(ties[:1]) + ties[1:] + " with the first, " + text + ". "
	}
	if m.group != "" {
		var tasks []string
		for _, c := range m.columns {
			tasks = append(tasks, c.task)
		}
		return text + "By the mean over " + strings.Join(slices.Compact(tasks), ", ") + "."
	}
	text += "The mean share of right answers"
	if len(m.columns) > 1 {
		text += " over the tasks that at least half of the models have, of each two models over those that both have: a " +
			"missing score is not a zero"
	}
	text += ". A rank is an interval: models before it are shown to be better, those behind it to be worse, by Holm's " +
		"procedure over all pairs at 5 % for the whole board"
	if _, each := m.board.shares(); each < 1 {
		text += ", half of them for the mean"
	}
	text += ". An interval of a tie contains zero."
	if len(m.without) > 0 {
		text += " Without a rank, for too few of the tasks: " + words.Few(m.without, 3) + "."
	}
	if m.others > 0 {
		text += " Not part of the mean: " + words.Plural(m.others, "task") + " whose metric is no share of right answers, " +
			"or of which no file says what is better."
	}
	if m.sampled {
		text += " Not every score has an error, so the tasks count as a sample: the errors are of the differences over them."
	}
	return text
}

// needed is what would separate a model from another that it ties with.
func (m *means) needed(i, from int) string {
	d, ok := m.Diff(i, from)
	switch {
	case i == from:
		return ""
	case !ok:
		return "not compared: no task in common that asked the same"
	case !m.Tied(i, from):
		return ""
	case d.D == 0:
		return "equal so far"
	case d.SE == 0:
		return "" // too few to say how they vary
	}
	what, asked := "questions of each task", 0
	if m.sampled {
		what = "tasks"
	}
	if len(m.columns) == 1 {
		asked = m.board.rows[m.rows[i]].at(m.columns[0]).N
	}
	return m.ranking.needed(i, from, asked, what)
}

// rounded has two digits: how many questions are needed is known no better.
func rounded(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 1, 64), 64)
	return v
}

// lead says who may be the best by the mean over the tasks; without a ranking, who leads in the first task.
func (b *board) lead(m *means) Lead {
	switch {
	case len(b.columns) == 0:
		return Lead{Text: "No score that a model can be ranked by."}
	case m == nil:
		return Lead{Text: b.headline()}
	}
	may := 0
	for _, low := range m.Low {
		may += truth(low == 1)
	}
	first := b.rows[m.rows[m.Order[0]]].head
	l := Lead{Text: fmt.Sprintf("%s of %s models may be the best, %s among them.", words.Count(may),
		words.Count(len(m.rows)), first.Text), Links: Links{{Text: first.Text, Href: first.Href}}}
	if m.Best() >= 0 {
		l.Text = first.Text + " is shown to be better than " + words.Plural(len(m.rows)-1, "other model") + "."
	}
	return l
}

// tied are the groups of ties of each model, as letters in the order of the groups: "a", "b c", "d to k"; "aa" is
// behind "z".
func (m *means) tied() []string {
	groups, out := m.Groups(), make([]string, len(m.rows))
	member := make([][]int, len(m.rows))
	for g, group := range groups {
		for _, i := range group {
			member[i] = append(member[i], g)
		}
	}
	letter := func(g int) string { return strings.Repeat(string(rune('a'+g%26)), 1+g/26) }
	for i, groups := range member {
		var parts []string
		for k := 0; k < len(groups); {
			end := k
			for end+1 < len(groups) && groups[end+1] == groups[end]+1 {
				end++
			}
			if parts = append(parts, letter(groups[k])); end > k+1 {
				parts = append(parts, "to", letter(groups[end]))
			} else if end > k {
				parts = append(parts, letter(groups[end]))
			}
			k = end + 1
		}
		out[i] = strings.Join(parts, " ")
	}
	return out
}
