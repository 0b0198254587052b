package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/terminal"
)

// explain finds a verdict by its id, in the newest release that has it, and prints how it came about.
func explain(ctx context.Context, sh *shell, r *render.Report, id string) error {
	for at := len(r.Releases) - 1; at >= 0; at-- {
		f := r.Gate.Findings(at)
		for _, v := range slices.Concat(f.Targets, f.History) {
			if v.ID != id {
				continue
			}
			c, err := r.Gate.Explain(ctx, at, v)
			if err != nil {
				return err
			}
			if c == nil {
				terminal.Verdict(sh.out, v)
				terminal.EvalCalculation(sh.out, v, r.Gate.ExplainEval(v))
				return nil
			}
			terminal.Calculation(sh.out, v, c, r.Releases)
			fit := r.Gate.Fit(at)
			fmt.Fprintf(sh.out, "calibration          %d of %d earlier predictions at 2 %% failed\n", fit.Exceeded, fit.Tested)
			return nil
		}
	}
	return fail(exitUsage, "ids are in brackets in ttreport check, and in its JSON", "check: no verdict has the id %q", id)
}
