package render_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/rows"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/judge"
	"github.com/ttreport/ttreport/targets/judge/judgetest"
)

// evalsOf are the scores of a model, which gets each question right as often as others and somewhat more.
func evalsOf(more float64) []schema.Score {
	num := schema.Num
	answers := func(samples int) *schema.Outcomes {
		o := &schema.Outcomes{Items: "same", Samples: samples, Right: make([]bool, 100*max(1, samples))}
		for i := range o.Right {
			o.Right[i] = (7*i)%100 < 40+int(100*more)
		}
		return o
	}
	list := []schema.Score{
		{Task: "share", Value: num(.6 + more), N: 1319},
		{Task: "percent", Value: num(100 * (.6 + more)), N: 200},
		{Task: "few", Value: num(.9 + more), N: 20},
		{Task: "limited", Value: num(.6 + more), N: 500, Total: 1000},
		{Task: "graded", Value: num(.5 + more), Stderr: num(.004), N: 500},
		{Task: "error", Value: num(.5 + more), Stderr: num(.02)},
		{Task: "items", Value: num(.4 + more), N: 100, Outcomes: answers(0)},
		{Task: "samples", Value: num(.4 + more), N: 100, Outcomes: answers(4)},
		{Task: "perplexity", Metric: "perplexity", Value: num(12 - more), Stderr: num(.1), N: 100, Direction: "lower"},
	}
	for i := range list {
		s := &list[i]
		if s.Metric == "" {
			s.Metric, s.Direction = "acc", "higher"
		}
		if s.Stderr.IsZero() {
			s.Stderr = schema.Missing("not stated")
		}
	}
	return list
}

// cellsOf are the cells of a page, without the thin and fixed spaces of numbers.
func cellsOf(tables ...*render.Table) (out []string) {
	for _, t := range tables {
		for _, row := range t.Rows {
			var b strings.Builder
			for _, c := range row.Cells {
				b.WriteString(c.Text + " [" + c.Sub + "] ")
			}
			out = append(out, strings.NewReplacer(words.Thin, " ", "\u00a0", " ").Replace(b.String()))
		}
	}
	return out
}

func tablesOf(p render.Page, section string) (out []*render.Table) {
	for _, s := range p.Sections {
		for _, b := range s.Blocks {
			if t, is := b.(*render.Table); is && s.ID == section {
				out = append(out, t)
			}
		}
	}
	return out
}

// One score has one interval, and two have one difference with one interval, wherever they are shown: on the board, in
// its ranks, in lists, beside a target, in a comparison, as a verdict and in every file.
func TestOneIntervalAScore(t *testing.T) {
	t.Parallel()
	before, now := evalsOf(0), evalsOf(.05)
	for i := range now {
		t.Run(now[i].Task, func(t *testing.T) {
			b := columns.NewBuilder()
			add := func(model, release string, day int, s schema.Score) *columns.ScoreRow {
				run := len(b.C.Runs)
				b.C.Runs = append(b.C.Runs, columns.RunHead{ID: fmt.Sprint("run-", run), Release: release,
					Start: judgetest.Day(day), Model: schema.Model{Name: model}, Device: "d", Scores: 1})
				b.C.Scores = append(b.C.Scores, columns.ScoreRow{Run: int32(run), Score: s})
				return &columns.ScoreRow{Score: s}
			}
			add("base", "v1", 1, before[i])
			add("tuned", "v1", 1, before[i])
			x, y := add("base", "v2", 2, before[i]), add("tuned", "v2", 2, now[i])
			reference := schema.Target{Key: schema.EvalKey(&now[i]), Metric: now[i].Metric, Stat: "value", Value: .5,
				Level: schema.LevelReference, Priority: "should"}
			b.C.Targets = []columns.TargetRow{{Run: 3, Target: reference}}
			r := reportOf(t, b.Seal(), render.ModeEvals)
			r.Reference = "base"
			oneScore(t, r, &now[i])
			twoScores(t, r, x, y)
		})
	}
}

// oneScore holds the surfaces of a score of the last run against its interval.
func oneScore(t *testing.T, r *render.Report, s *schema.Score) {
	t.Helper()
	lo, hi, known := judge.ScoreInterval(s)
	v, _ := s.Value.Get()
	if !known || !(lo < v && v < hi) {
		t.Fatalf("%g to %g, known %v", lo, hi, known)
	}
	want := strings.ReplaceAll(words.Number(lo)+" to "+words.Number(hi), words.Thin, " ")
	page := r.EvalsPage()
	for _, section := range []string{"scores", "board", "references"} {
		said := false
		for _, row := range cellsOf(tablesOf(page, section)...) {
			said = said || strings.Contains(row, want)
		}
		if !said {
			t.Errorf("%s does not say %q: %q", section, want, cellsOf(tablesOf(page, section)...))
		}
	}
	near := func(what string, low, high *rows.Num) {
		if low == nil || high == nil || float64(*low) != lo || float64(*high) != hi {
			t.Errorf("%s: %v to %v, want %g to %g", what, low, high, lo, hi)
		}
	}
	list := rows.Scores(r, 1)
	near("csv and parquet", list[len(list)-1].Low, list[len(list)-1].High)
	files, err := rows.Standards()[0].Files(r, 1)
	if err != nil {
		t.Fatal(err)
	}
	data := string(files[len(files)-1].Data)
	for _, end := range []float64{lo, hi} {
		var text bytes.Buffer
		if err := rows.WriteJSON(&text, end); err != nil || !strings.Contains(data, strings.TrimSpace(text.String())) {
			t.Errorf("every-eval-ever does not say %s, %v: %s", text.String(), err, data)
		}
	}
}

// twoScores holds what is said of the difference of two scores against each other.
func twoScores(t *testing.T, r *render.Report, x, y *columns.ScoreRow) {
	t.Helper()
	d, why := judge.ScoreBeside(x, y)
	if why != "" {
		t.Fatal(why)
	}
	sides := compare.Sides(compare.Side{Name: "a", Runs: []schema.Run{{Scores: []schema.Score{x.Score}}}},
		compare.Side{Name: "b", Runs: []schema.Run{{Scores: []schema.Score{y.Score}}}})
	compared := &render.Comparison{Result: sides}
	show := words.Points
	if d.Relative {
		show = words.Change
	}
	plain := func(v float64) string { return strings.ReplaceAll(show(v), words.Thin, " ") }
	ends := func(v float64) string { text, _, _ := strings.Cut(show(v), words.Thin); return text }
	want := fmt.Sprintf("%s (%s to %s)", plain(d.D), ends(d.Lo), ends(d.Hi))
	for what, tables := range map[string][]*render.Table{
		"compare": compared.Tables(), "board": tablesOf(r.EvalsPage(), "board"), "ranks": tablesOf(r.EvalsPage(), "ranks"),
	} {
		said := what == "ranks" && !d.Share // only shares have a mean
		for _, row := range cellsOf(tables...) {
			said = said || strings.Contains(row, want)
		}
		if !said {
			t.Errorf("%s does not say %q: %q", what, want, cellsOf(tables...))
		}
	}
	for _, v := range r.Gate.History(1) {
		if v.Model != "tuned" || v.Interval == nil {
			continue
		}
		lo, hi := -d.Hi, -d.Lo
		if y.Lower() {
			lo, hi = d.Lo, d.Hi
		}
		if math.Abs(v.Interval[0]-lo) > 1e-12 || math.Abs(v.Interval[1]-hi) > 1e-12 {
			t.Errorf("the verdict has %v, want %g to %g", *v.Interval, lo, hi)
		}
	}
}
