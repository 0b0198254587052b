package main

import (
	"context"
	"errors"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
)

// planError gives an error of planning its exit code and its advice. One that is no mistake in the request is a tool
// that is missing.
func planError(err error) error {
	var u plan.UsageError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &u):
		return failure{code: exitUsage, err: u.Err, hint: u.Fix}
	case errors.As(err, &failure{}):
		return err
	}
	return failure{code: exitCollect, err: err, hint: "ttreport doctor lists what is missing"}
}

// collectError gives an error of measuring its exit code and what to do about it. ws is nil where nothing was measured.
func (o collectOptions) collectError(ctx context.Context, sh *shell, ws *workspace.Workspace, err error) error {
	if o.job.once && ctx.Err() == nil && (errors.Is(err, collect.ErrFull) || errors.Is(err, server.ErrDied)) {
		const fix = "mend that, and where it was submitted: ttreport collect --on … --retry, which measures what is " +
			"missing. What was measured until now is kept"
		return fail(exitCollect, fix, "collect: %w", err)
	}
	return collectError(ctx, sh, ws, err)
}

// collectError is the same for a command that a person runs.
func collectError(ctx context.Context, sh *shell, ws *workspace.Workspace, err error) error {
	if ctx.Err() != nil {
		const text = "what was measured until now is kept in %s; ttreport build shows it and what is missing, " +
			"and the same command resumes"
		sh.say(text, ws.Results())
		return ctx.Err()
	}
	results := ""
	if ws != nil {
		results = ws.Results()
	}
	return fail(exitCollect, collect.Advice(err, results), "collect: %w", err)
}
