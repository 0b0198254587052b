package render

import (
	"fmt"
	"slices"
	"strings"

	"al.essio.dev/pkg/shellescape"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/gate"
)

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
