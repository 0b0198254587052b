package collect

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// removeEvals removes results that a kill left before they were reported: their names have their time, so they would
// stand beside the new one.
func (s *session) removeEvals() error {
	names, err := filepath.Glob(filepath.Join(s.dir, "raw", "results_*.json"))
	if err != nil {
		return err
	}
	for _, name := range names { // sidecars match too
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// eval asks the builtin questions.
func (s *session) eval(ctx context.Context, st step) error {
	if err := s.log("eval-start", builtin.EvalTask, "", ""); err != nil {
		return err
	}
	if err := s.removeEvals(); err != nil {
		return fmt.Errorf("run folder: %w", err)
	}
	raw, err := builtin.RunEval(ctx, builtin.Eval{
		URL: s.end.URL, Model: s.end.Model, APIKey: s.end.APIKey, Virtual: s.virtual,
		Items: s.plan.EvalItems, Seed: s.plan.Seed,
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return s.failed(st, err)
	}
	file := "results_" + st.began.UTC().Format("2006-01-02T15-04-05.000000") + ".json"
	side := manifest.Sidecar{
		Result: file, Tool: builtin.Name, ToolVersion: builtin.Version, Start: st.began.UTC(), End: s.now().UTC(),
		Argv: redact.Argv([]string{
			"ttreport", "collect", "--server", s.serverFlag(), "--model", s.named(), "--device", s.plan.Device,
			"--only", string(plan.OnlyEvals),
		}),
	}
	if err := s.store(file, raw, side); err != nil {
		return err
	}
	s.out.Evals++
	e := s.event(st)
	e.Took, e.Final = s.now().Sub(st.began), true
	s.report(e)
	return s.log("eval-done", builtin.EvalTask, "raw/"+file, "")
}
