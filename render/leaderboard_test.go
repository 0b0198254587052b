package render

import (
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
)

func scoreOf(task, metric string, shots int, value float64, n int) *columns.ScoreRow {
	return &columns.ScoreRow{Score: schema.Score{
		Task: task, Metric: metric, Value: schema.Num(value), N: n, Fewshot: &shots,
	}}
}

func partOf(group string, s *columns.ScoreRow) *columns.ScoreRow {
	s.Group = group
	return s
}

func boardOf(reference int, rows map[string][]*columns.ScoreRow, order ...string) *board {
	b := &board{report: emptyReport(), caption: "Models by task", head: "Model"}
	for i, name := range order {
		b.rows = append(b.rows, boardRow{head: Cell{Text: name, Head: true}, reference: i == reference, scores: rows[name]})
	}
	b.choose(3)
	b.sort()
	return b
}

// A task asked with another number of shots is another column, parts of a task have none, and a model with none of the
// columns is named instead of shown as a row of dashes.
func TestBoardColumns(t *testing.T) {
	b := boardOf(-1, map[string][]*columns.ScoreRow{
		"a": {scoreOf("mmlu", "acc", 5, .6, 1000), partOf("mmlu", scoreOf("mmlu_anatomy", "acc", 5, .5, 100)),
			scoreOf("gsm8k", "exact_match", 5, .3, 1319)},
		"b": {scoreOf("mmlu", "acc", 0, .7, 1000), scoreOf("gsm8k", "exact_match", 5, .4, 1319)},
		"c": {scoreOf("arc", "acc", 0, .7, 10), scoreOf("arc", "acc_norm", 0, .8, 10)},
		"d": {partOf("mmlu", scoreOf("mmlu_anatomy", "acc", 5, .7, 10)), scoreOf("mmlu:virology", "acc", 0, .7, 10)},
	}, "a", "b", "c", "d")
	tab := b.table()
	var heads []string
	for _, c := range tab.Cols {
		heads = append(heads, c.Head+" "+c.Unit)
	}
	got := strings.Join(heads, " | ")
	want := "Model  | gsm8k exact_match, 5-shot, n = 1,319 | arc acc_norm, 0-shot, n = 10 | mmlu acc, 0-shot, n = 1,000"
	want = strings.ReplaceAll(want, "n = ", "n\u00a0=\u00a0") // a number stays with its name
	if got != want {
		t.Errorf("columns\n%s\nwant\n%s", got, want)
	}
	if tab.Rows[0].Cells[0].Text != "b" || !tab.Rows[0].Cells[1].Strong || tab.Rows[1].Cells[1].Strong {
		t.Errorf("the best score of the first task is not first and bold: %+v", tab.Rows)
	}
	const lead = "gsm8k: b has 0.400 (0.374 to 0.427), the best of 2 models; 2 other tasks below, 1 more under Evals."
	if got := b.headline(); got != lead {
		t.Errorf("headline %q", got)
	}
	if b.left != 1 || b.parts != 2 || strings.Join(b.without, " ") != "d" {
		t.Errorf("left %d, parts %d, without %v", b.left, b.parts, b.without)
	}
}

// A task is not hidden because its name begins with that of another.
func TestBoardKeepsTasksApart(t *testing.T) {
	b := boardOf(-1, map[string][]*columns.ScoreRow{
		"a": {scoreOf("mmlu", "acc", 5, .6, 1000), scoreOf("mmlu_pro", "acc", 5, .5, 100)},
	}, "a")
	if len(b.columns) != 2 || b.parts != 0 {
		t.Errorf("columns %v, %d parts", b.columns, b.parts)
	}
}

// The difference from the reference is question by question where both answered the same ones: the same two shares have
// a narrower interval then.
func TestBoardReference(t *testing.T) {
	right := func(wrong int) []bool {
		out := make([]bool, 200)
		for i := range out {
			out[i] = i >= wrong
		}
		return out
	}
	answered := func(wrong int) *columns.ScoreRow {
		s := scoreOf("gsm8k", "acc", 5, 1-float64(wrong)/200, 200)
		s.Outcomes = &schema.Outcomes{Items: "same", Right: right(wrong)}
		return s
	}
	rows := map[string][]*columns.ScoreRow{"base": {answered(60)}, "tuned": {answered(70)}, "other": {answered(50)}}
	tab := boardOf(0, rows, "base", "tuned", "other").table()
	if tab.Rows[0].Cells[0].Text != "base" {
		t.Fatalf("the reference is not first: %+v", tab.Rows)
	}
	paired := tab.Rows[2].Cells[1].Sub
	paired = strings.NewReplacer(words.Thin, " ", "\u00a0", " ").Replace(paired)
	if !strings.HasSuffix(paired, "; −5.0 pp (−8.2 to −1.8), paired") {
		t.Errorf("tuned against base: %q", paired)
	}
	for _, list := range rows {
		list[0].Outcomes = nil
	}
	tab = boardOf(0, rows, "base", "tuned", "other").table()
	if free := tab.Rows[2].Cells[1].Sub; !strings.HasSuffix(free, ")") || strings.Contains(free, "−8.2") {
		t.Errorf("without answers: %q", free)
	}
	shots := 0
	rows["tuned"][0].Fewshot = &shots
	if b := boardOf(0, rows, "base", "tuned", "other"); len(b.columns) != 2 {
		t.Errorf("other shots are in the same column: %v", b.columns)
	}
}

// Of a score of which nobody says whether more is better, none is the best.
func TestNoBestWithoutADirection(t *testing.T) {
	rows := map[string][]*columns.ScoreRow{
		"a": {scoreOf("crows", "likelihood_difference", 0, 5.8, 100), scoreOf("arc", "acc", 0, .2, 100)},
		"b": {scoreOf("crows", "likelihood_difference", 0, 3.4, 100), scoreOf("arc", "acc", 0, .3, 100)},
		"c": {scoreOf("crows", "likelihood_difference", 0, 3.5, 100)},
	}
	b := boardOf(-1, rows, "a", "b", "c")
	tab := b.table()
	for i := range tab.Rows {
		if tab.Rows[i].Cells[1].Strong {
			t.Errorf("bold: %+v", tab.Rows[i].Cells[1])
		}
	}
	if got := b.headline(); !strings.HasPrefix(got, "arc: b has 0.300 (") ||
		!strings.Contains(got, "): the other model ties with it") {
		t.Errorf("headline %q", got)
	}
	for name := range rows {
		rows[name] = rows[name][:1]
	}
	if got := boardOf(-1, rows, "a", "b", "c").headline(); strings.Contains(got, "best") {
		t.Errorf("headline %q", got)
	}
}
