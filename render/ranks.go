package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

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

// section is the order of the models as far as it is known: ranks as intervals, ties as groups.
func (m *means) section() Section {
	if m == nil {
		return Section{}
	}
	b := m.board
	ties, unit := m.tied()
	first, from, name := m.Order[0], m.Order[0], "the first"
	for i, row := range m.rows {
		if b.rows[row].reference {
			from, name = i, b.rows[row].head.Text
		}
	}
	order := append([]int{first}, m.Ties(first)...)
	for _, i := range m.Order {
		if !slices.Contains(order, i) {
			order = append(order, i)
		}
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
		{num("Mean").in(m.unit()), func(i int) Cell {
			c := text(words.Quantity(100*m.shares[i], "%"))
			if m.tasks[i] < len(m.columns) {
				c.Sub = fmt.Sprintf("%d of %d tasks", m.tasks[i], len(m.columns))
			}
			return c
		}},
		{medium("From " + name).in("interval over all pairs"), func(i int) Cell { return text(m.behind(i, from)) }},
		{medium("Ties").in(unit), func(i int) Cell { return text(ties[i]) }},
		{col("To separate from " + name), func(i int) Cell { return text(m.needed(i, from)) }},
	})
	if ties := 1 + len(m.Ties(first)); m.Best() < 0 && ties < len(order) {
		t.Rows = slices.Insert(t.Rows, ties, Row{Group: "Shown to be behind the first"})
		t.Rows = slices.Insert(t.Rows, 0, Row{Group: "First, and what ties with it"})
	}
	id, title := "ranks", "Ranks"
	if m.group != "" {
		id, title = "ranks-"+schema.Slug(m.group), "Ranks: "+m.group
	}
	return section(id, title, m.about(first), t.cut("data/ has the scores"))
}

func (m *means) unit() string {
	if len(m.columns) == 1 {
		return m.columns[0].task
	}
	return words.Plural(len(m.columns), "task")
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
		text += " Without a rank, for too few of the tasks: " + nameSome(m.without) + "."
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

// behind is how far a model is from another, with the interval of the difference alone.
func (m *means) behind(i, from int) string {
	d, ok := m.Diff(i, from)
	if !ok {
		return ""
	}
	lo, hi := m.Interval(d)
	return spanText(words.Points, d.D, lo, hi, d.Paired)
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

// tied are the groups of ties of each model, as letters in the order of the groups: "a", "b c", "d to k"; where the
// alphabet has too few, how many models tie with it.
func (m *means) tied() (out []string, unit string) {
	groups := m.Groups()
	out = make([]string, len(m.rows))
	if len(groups) > 'z'-'a'+1 {
		for i := range out {
			out[i] = words.Plural(len(m.Ties(i)), "model")
		}
		return out, "with it"
	}
	member := make([][]int, len(m.rows))
	for g, group := range groups {
		for _, i := range group {
			member[i] = append(member[i], g)
		}
	}
	letter := func(g int) string { return string(rune('a' + g)) }
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
	return out, "same letter"
}
