package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

// EvalsPage is every score of the newest releases with its interval and its verdict.
func (r *Report) EvalsPage() Page {
	isEval := func(v *schema.Verdict) bool { return v.Key.IsEval() }
	history := r.today(r.Gate.PairHistory, isEval)
	targets := r.today(r.Gate.PairTargets, isEval)
	p := r.page("evals/index.html", "evals", "Evals", "Every score with its interval.")
	const columns = 8
	b := r.boardOf(columns, r.shown)
	m := b.means("")
	p.Lead, p.Scripts = evalLead(history, targets), []string{filterScript}
	if rows := verdictsThat(history, compared); !r.Graded() || len(rows)+len(targets) == 0 && m != nil {
		if history = rows; len(r.Columns.Scores) > 0 && len(history)+len(targets) == 0 {
			p.Lead = b.lead(m)
		}
	}
	p.add(section("references", "Against references", r.gridIntro(targets),
		r.targetGrid(targets, true).cut("data/ has all, by release")))
	if len(b.rows) > 1 {
		p.add(m.section())
		for _, name := range slices.Sorted(maps.Keys(r.Board.Groups)) {
			p.add(b.means(name).section())
		}
		p.add(section("board", "Models by task", b.about(),
			b.table().cut("data/ has all").whole(exploring("All in Explore"))))
	}
	title := "Scores of the newest releases"
	if !r.Graded() {
		title = "Scores"
	}
	scores := section("scores", title, "In the tool's own scale. The interval is the one that a reference "+
		"is judged by: from the number of questions, or from the stated standard error.",
		r.scoresToday().filtered("data/ has all, by release").whole(exploring("All in Explore")))
	if len(scores.Blocks) == 0 {
		scores = section("scores", "Scores", "", Empty{What: "No scores",
			Why: "No result that was read holds a score. lm-eval and Inspect write them, or collect runs them.",
			Cmd: "ttreport collect --only evals --model MODEL --device DEVICE --server URL"})
	}
	p.add(r.scoreHistory(history), scores)
	return p
}

// scoreHistory are the scores that were compared with earlier ones, as rows of [Report.changeTable] with the heads of
// scores, which have no line over releases. What has none is a count.
func (r *Report) scoreHistory(list []schema.Verdict) Section {
	rows := verdictsThat(list, compared)
	if len(rows) == 0 {
		return Section{}
	}
	t := r.changeTable(rows, r.Newest(), true, "Scores against history, worst first")
	t.dropColumn(7)
	t.Cols[1], t.Cols[len(t.Cols)-1].Unit = col("Task").in("model and device"), ""
	for i := range t.Rows {
		where := &t.Rows[i].Cells[1]
		where.Text, where.Sub = where.Sub, where.Text
	}
	s := section("history", "Against history",
		"Changes in percentage points; scores of the same questions are compared question by question.",
		t.cut("data/ has all, by release"))
	if n := len(list) - len(rows); n > 0 {
		s.Intro += " Not listed: " + words.Plural(n, "score") + " without an earlier one."
	}
	return s
}

// evalLead counts the verdicts on scores, and claims nothing that was not tested.
func evalLead(history, targets []schema.Verdict) Lead {
	if len(history)+len(targets) == 0 {
		return Lead{Text: "No eval was run."}
	}
	met, missed := metIn(targets), outcomes(targets, schema.Fail)
	l := Lead{Text: againstHistory(history) + "; there is no reference."}
	if len(targets) > 0 {
		said := words.Count(met) + " of " + words.Plural(len(targets), "reference") + " met"
		called := map[schema.Outcome]string{schema.Fail: "missed", schema.NotMeasured: "not measured"}
		l.Text = strings.Join(slices.Concat([]string{said},
			tally(targets, called, schema.Fail, schema.Inconclusive, schema.NotMeasured)), ", ")
		if len(history) > 0 {
			l.Text += "; " + againstHistory(history)
		}
		l.Text += "."
	}
	switch {
	case outcomes(required(targets), schema.Fail) > 0:
		l.Tone = words.ToneBad
	case outcomes(history, schema.Regressed)+missed > 0:
		l.Tone = words.ToneWarning
	case met == len(targets) && met > 0:
		l.Tone = words.ToneGood
	}
	return l
}

// againstHistory counts the verdicts on scores against earlier ones.
func againstHistory(list []schema.Verdict) string {
	parts := tally(list, nil, schema.Regressed, schema.NotMeasured, schema.Excluded, schema.Improved, schema.Recovered,
		schema.BelowLimit, schema.Unchanged, schema.Inconclusive, schema.NoBaseline, schema.NotComparable) // by weight
	scores := words.Plural(len(list), "score")
	switch {
	case len(parts) == 0:
		return scores + ", none of them compared with history"
	case outcomes(list, schema.NoBaseline) == len(list):
		return scores + " without an earlier one to compare with"
	}
	return scores + " against history: " + strings.Join(parts, ", ")
}

// scoresToday lists the scores of the newest release of every model and device; of builds without releases, all.
func (r *Report) scoresToday() *Table {
	type score = *columns.ScoreRow
	var list []score
	for _, pair := range r.Pairs {
		releases := []int{pair.Newest}
		if !r.Graded() {
			releases = r.with[pair.Pair]
		}
		for _, at := range releases {
			list = append(list, r.scoresOf(r.runs[pair.Pair][at]...)...)
		}
	}
	slices.SortStableFunc(list, func(a, b score) int { // what names its model first
		named := func(s score) int { return truth(r.Columns.Runs[s.Run].Model.Name == "") }
		return named(a) - named(b)
	})
	return tableOf("Scores", List, list[:min(rowsFiltered, len(list))], []Column[score]{
		{col("Task").filtered(), func(s score) Cell { return head(s.Task, RunPath(r.Columns.Runs[s.Run].ID)) }},
		{col("Where").filtered(), func(s score) Cell {
			h := &r.Columns.Runs[s.Run]
			where := Cell{Text: words.OnDevice(h.Model.Name, h.Device), Href: PairPath(h.Model.Name, h.Device)}
			if h.Device == "" {
				where.Text = words.OrUnknown(h.Model.Name)
			}
			return where
		}},
		{col("Metric").filtered(), func(s score) Cell { return Cell{Text: s.Metric, Sub: words.FilterBeside(s.Filter)} }},
		{num("Value").sorted(), r.scoreIn},
		{medium("95 % interval"), func(s score) Cell {
			c := text(scoreInterval(s))
			// by which questions were asked, and by what a model answers one time and not another
			if items, answers, k, ok := judge.NoiseOf(&s.Score); ok {
				points := func(v float64) string { return strings.TrimPrefix(words.Points(v), "+") }
				c.Sub = fmt.Sprintf("standard error %s of the questions, %s of the %d answers to each", points(items),
					points(answers), k)
			}
			return c
		}},
		{num("n"), func(s score) Cell { return stated(s.N) }},
		{col("Release"), func(s score) Cell { // or when its build was measured
			h := &r.Columns.Runs[s.Run]
			if h.Release != "" || h.Start.IsZero() {
				return text(words.OrUnknown(h.Release))
			}
			return text("build of " + moment(h.Start))
		}},
	}).of(len(list))
}

// scoreInterval is the 95 % interval of a score in its own scale; the absent mark where nothing is known of its
// questions.
func scoreInterval(s *columns.ScoreRow) string {
	lo, hi, known := judge.ScoreInterval(&s.Score)
	if !known {
		return words.Absent
	}
	return words.Number(lo) + " to " + words.Number(hi)
}

// EvalRecheck lists the tasks of a system to score again: the score of each is suspected to be worse.
type EvalRecheck struct {
	schema.System
	Release string   // "" for a build without one
	Tasks   []string // TOOL:TASK, as collect --evals takes them; empty for the builtin questions
	Limit   int      // items that were asked; 0 for all
}

// EvalRechecks lists the evals that would settle suspected regressions of scores, one entry a system and limit. left
// counts the tasks of tools that collect does not run.
func (r *Report) EvalRechecks(g *gate.Review) (out []EvalRecheck, left int) {
	for i := range g.History {
		v := &g.History[i]
		if !v.Key.IsEval() || v.Outcome != schema.Regressed || v.Evidence != schema.Suspected || v.Decision.Excuses() {
			continue
		}
		s := r.scoreOf(v)
		task, runs := "", false
		if s != nil {
			task, runs = asked(&s.Score)
		}
		if !runs {
			left++
			continue
		}
		x := EvalRecheck{System: v.System(), Release: g.Label}
		if l := s.Limit; l != nil && *l >= 1 {
			x.Limit = int(*l)
		}
		at := slices.IndexFunc(out, func(y EvalRecheck) bool {
			return y.System == x.System && y.Limit == x.Limit && (task == "") == (len(y.Tasks) == 0)
		})
		if at < 0 {
			at, out = len(out), append(out, x)
		}
		if y := &out[at]; task != "" && !slices.Contains(y.Tasks, task) {
			y.Tasks = append(y.Tasks, task)
		}
	}
	return out, left
}

// asked is a score's task as collect --evals takes it, "" for the builtin questions; false where collect does not run
// its tool, or an unknown part of the task was asked.
func asked(s *schema.Score) (string, bool) {
	const builtinTask = "builtin_arithmetic"
	partly := s.Limit != nil && *s.Limit < 1
	switch {
	case s.Task == builtinTask:
		return "", true
	case partly || !slices.Contains([]string{"lm-eval", "lmms-eval", "inspect"}, s.Source.Format):
		return "", false
	}
	return s.Source.Format + ":" + s.Task, true
}

// scoreOf is the score that a verdict is about; nil where it is not in the columns.
func (r *Report) scoreOf(v *schema.Verdict) *columns.ScoreRow {
	if s := r.Gate.ScoreOf(v); s != nil {
		return s
	}
	run, ok := r.byID[v.Run]
	if !ok {
		return nil
	}
	list, key := r.Columns.ScoresOf(run), v.Key.String()
	for i := range list {
		if s := &list[i].Score; s.Metric == v.Metric && schema.EvalKey(s).String() == key {
			return &list[i]
		}
	}
	return nil
}
