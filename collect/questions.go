package collect

import (
	"context"
	"time"

	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// eval asks the builtin questions.
func (s *session) eval(ctx context.Context, i, n int) error {
	if err := s.log("eval-start", builtin.EvalTask, "", ""); err != nil {
		return err
	}
	began := time.Now()
	raw, err := builtin.RunEval(ctx, builtin.Eval{URL: s.end.URL, Model: s.end.Model, APIKey: s.end.APIKey, Items: s.plan.EvalItems, Seed: s.plan.Seed})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := Event{Run: s.id, Step: "eval", Text: builtin.EvalTask, Index: i + 1, Count: n, Final: true}
	if err != nil {
		s.out.Failed++
		e.Err = err.Error()
		s.report(e)
		return s.log("eval-failed", builtin.EvalTask, "", err.Error())
	}
	file := "results_" + began.UTC().Format("2006-01-02T15-04-05.000000") + ".json"
	side := manifest.Sidecar{Result: file, Tool: builtin.Name, ToolVersion: builtin.Version, Start: began.UTC(), End: time.Now().UTC(),
		Argv: redact.Argv([]string{"ttreport", "collect", "--server", s.server(), "--model", s.plan.Model.Name, "--device", s.plan.Device, "--only", "evals"})}
	if err := s.store(file, raw, side); err != nil {
		return err
	}
	e.Took = time.Since(began)
	s.out.Evals++
	s.report(e)
	return s.log("eval-done", builtin.EvalTask, "raw/"+file, "")
}
