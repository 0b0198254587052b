package render

import (
	"fmt"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"
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
	p := Page{
		Path: "evals/index.html", Title: "Evals", Nav: "evals", Description: "Every score with its interval.",
		Crumbs: []Link{{"Overview", "index.html"}, {"Evals", ""}}, Simulated: r.simulated(-1),
	}
	p.Lead = evalLead(history, targets)
	if !r.graded() {
		history = comparedOnly(history)
		if n := len(r.Columns.Scores); n > 0 && len(history) == 0 && len(targets) == 0 {
			p.Lead = r.ungradedScores(n)
		}
	}
	if t := r.referenceTable(targets, true); len(t.Rows) > 0 {
		p.add(Section{
			ID: "references", Title: "Against references",
			Intro: "Published and measured scores. A score meets its reference, moved by its tolerance, with its whole " +
				"interval, and misses it " + missRule(r.Gate.Policy.MissesByInterval()) + ".",
			Blocks: []Block{t.cut("data/ has all, by release")},
		})
	}
	if b := r.modelBoard(boardColumns); len(b.rows) > 1 {
		p.add(Section{ID: "board", Title: "Models by task", Intro: b.about(),
			Blocks: []Block{b.table().cut("data/ has all").whole(exploring("All in Explore"))}})
	}
	p.add(r.scoreHistory(history), r.scoreSection())
	return p
}

// missRule says when a score that does not meet its reference misses it.
func missRule(byInterval bool) string {
	if byInterval {
		return "with its whole interval"
	}
	return "by itself"
}

// ungradedScores leads to scores that nothing grades.
func (r *Report) ungradedScores(n int) Lead {
	models, tasks := map[string]bool{}, map[string]bool{}
	for i := range r.Columns.Runs {
		for _, s := range r.Columns.ScoresOf(i) {
			models[r.Columns.Runs[i].Model.Name], tasks[s.Task] = true, true
		}
	}
	return Lead{Text: fmt.Sprintf("%s of %s in %s: no reference and no earlier score grades them.",
		words.Plural(n, "score"), words.Plural(len(models), "model"), words.Plural(len(tasks), "task"))}
}

// scoreHistory are the scores that were compared with earlier ones. What has none is a count.
func (r *Report) scoreHistory(list []schema.Verdict) Section {
	compared := comparedOnly(list)
	if len(compared) == 0 {
		return Section{}
	}
	s := Section{
		ID: "history", Title: "Against history",
		Intro:  "Changes in percentage points; scores of the same questions are compared question by question.",
		Blocks: []Block{r.scoreChanges(compared).cut("data/ has all, by release")},
	}
	if n := len(list) - len(compared); n > 0 {
		s.Intro += " Not listed: " + words.Plural(n, "score") + " without an earlier one."
	}
	return s
}

// scoreSection lists the scores of the newest releases.
func (r *Report) scoreSection() Section {
	if t := r.scoresToday(); len(t.Rows) > 0 {
		return Section{ID: "scores", Title: "Scores of the newest releases",
			Intro: "In the tool's own scale. The interval is Wilson's at 95 % from the number of questions, " +
				"or from the stated standard error." + r.leftOut(),
			Blocks: []Block{t.cut("data/ has all, by release").whole(exploring("All in Explore"))}}
	}
	return Section{ID: "scores", Title: "Scores", Blocks: []Block{Empty{What: "No scores",
		Why: "No result that was read holds a score. lm-eval and Inspect write them, or collect runs them.",
		Cmd: "ttreport collect --only evals --model MODEL --device DEVICE --server URL"}}}
}

// scoreChanges are the rows of [changeTable] with the heads of scores, which have no line over releases.
func (r *Report) scoreChanges(list []schema.Verdict) *Table {
	t := r.changeTable(list, r.Newest(), true, "Scores against history, worst first")
	t.dropColumn(7)
	t.Cols[1], t.Cols[len(t.Cols)-1].Unit = Col{Head: "Task", Unit: "model and device"}, ""
	for i := range t.Rows {
		where := &t.Rows[i].Cells[1]
		where.Text, where.Sub = where.Sub, where.Text
	}
	return t
}

// boardColumns is how many tasks stand side by side on the page of evals.
const boardColumns = 8

// evalLead counts the verdicts on scores, and claims nothing that was not tested.
func evalLead(history, targets []schema.Verdict) Lead {
	if len(history)+len(targets) == 0 {
		return Lead{Text: "No eval was run."}
	}
	found, refs := map[schema.Outcome]int{}, map[schema.Outcome]int{}
	for _, v := range history {
		found[v.Outcome]++
	}
	for _, v := range targets {
		refs[v.Outcome]++
	}
	l := Lead{Text: againstHistory(found, len(history)) + "; there is no reference."}
	if len(targets) > 0 {
		l.Text = againstReferences(refs, len(targets)) + "."
	}
	if len(targets) > 0 && len(history) > 0 {
		l.Text = strings.TrimSuffix(l.Text, ".") + "; " + againstHistory(found, len(history)) + "."
	}
	switch {
	case found[schema.Regressed]+refs[schema.Fail] > 0:
		l.Tone = words.ToneWarning
	case refs[schema.Pass] == len(targets) && len(targets) > 0:
		l.Tone = words.ToneGood
	}
	return l
}

// againstReferences counts the verdicts on scores that have a reference.
func againstReferences(refs map[schema.Outcome]int, n int) string {
	out := fmt.Sprintf("%s of %s met", words.Count(refs[schema.Pass]), words.Plural(n, "reference"))
	for _, x := range []struct {
		is   schema.Outcome
		word string
	}{{schema.Fail, "missed"}, {schema.Inconclusive, "inconclusive"}, {schema.NotMeasured, "not measured"}} {
		if k := refs[x.is]; k > 0 {
			out += fmt.Sprintf(", %s %s", words.Count(k), x.word)
		}
	}
	return out
}

// againstHistory counts the verdicts on scores against earlier ones.
func againstHistory(found map[schema.Outcome]int, n int) string {
	var parts []string
	for _, w := range historyWords() {
		if found[w] > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", words.Count(found[w]), w))
		}
	}
	switch {
	case len(parts) == 0:
		return words.Plural(n, "score") + ", none of them compared with history"
	case found[schema.NoBaseline] == n:
		return words.Plural(n, "score") + " without an earlier one to compare with"
	}
	return words.Plural(n, "score") + " against history: " + strings.Join(parts, ", ")
}

// scoresToday lists the scores of the newest release of every model and device.
func (r *Report) scoresToday() *Table {
	t := &Table{
		Caption: "Scores", Layout: List,
		Cols: []Col{
			{Head: "Task"}, {Head: "Where"}, {Head: "Metric"}, {Head: "Value", Num: true, Sort: true, Length: Short},
			{Head: "95 % interval", Length: Medium}, {Head: "n", Num: true, Length: Short}, {Head: "Release"},
		},
	}
	for _, pair := range r.Pairs {
		for _, run := range r.runs[pair.Pair][pair.Newest] {
			h := &r.Columns.Runs[run]
			list := r.Columns.ScoresOf(run)
			for i := range list {
				s := &list[i]
				n := Cell{Text: words.Absent, Missing: "not stated"}
				if s.N > 0 {
					n = text(words.Count(s.N))
				}
				where := Cell{
					Text: words.OnDevice(pair.Model, pair.Device), Href: PairPath(pair.Model, pair.Device),
				}
				if pair.Device == "" {
					where.Text = words.OrUnknown(pair.Model)
				}
				if pair.Device == schema.Simulated {
					where.Tag = "simulated"
				}
				t.row(
					Cell{Text: s.Task, Head: true, Href: RunPath(h.ID)}, where,
					Cell{Text: s.Metric, Sub: words.FilterBeside(s.Filter)},
					r.scoreIn(s), text(scoreInterval(s)), n, text(releaseOrStart(h)),
				)
			}
		}
	}
	return t
}

// scoreInterval is the 95 % interval of a score in its own scale; the absent mark where nothing is known of its
// questions.
func scoreInterval(s *columns.ScoreRow) string {
	v, ok := s.Value.Get()
	if !ok {
		return words.Absent
	}
	scale := 1.
	if v > 1 {
		scale = 100
	}
	if s.N > 0 && v >= 0 && v <= scale && s.Direction != "lower" {
		lo, hi := judge.ShareInterval(v/scale, float64(s.N))
		return words.Number(lo*scale) + " to " + words.Number(hi*scale)
	}
	if e, ok := s.Stderr.Get(); ok && e > 0 {
		return words.Number(v-1.96*e) + " to " + words.Number(v+1.96*e)
	}
	return words.Absent
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
	run, ok := r.runAt(v.Run)
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

// line is the command that scores the tasks again, on a server.
func (x *EvalRecheck) line(server string) string {
	argv := []string{"ttreport", "collect", "--model", x.Model, "--device", x.Device}
	if x.Impl != "" {
		argv = append(argv, "--impl", x.Impl)
	}
	argv = append(argv, "--server", server)
	if x.Release != "" {
		argv = append(argv, "--release", x.Release)
	}
	argv = append(argv, "--only", "evals")
	if len(x.Tasks) > 0 {
		argv = append(argv, "--evals", strings.Join(x.Tasks, ","))
	}
	if x.Limit > 0 {
		argv = append(argv, "--eval-limit", fmt.Sprint(x.Limit))
	}
	return shellescape.QuoteCommand(argv)
}
