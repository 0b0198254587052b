package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

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

// collectError gives an error of measuring its exit code and what to do about it.
func collectError(ctx context.Context, sh *shell, ws *workspace.Workspace, err error) error {
	if ctx.Err() != nil {
		const text = "what was measured until now is kept in %s; ttreport build shows it and what is missing, " +
			"and the same command resumes"
		sh.say(text, ws.Results())
		return ctx.Err()
	}
	kept := "nothing was measured"
	if ws != nil {
		kept = "what was measured until now is kept in " + ws.Results()
	}
	hint := kept
	for _, h := range []struct {
		is   error
		hint string
	}{
		{server.ErrDenied, "set OPENAI_API_KEY, or JWT_SECRET for tt-inference-server's images, in the environment " +
			"or in .env; nothing was measured"},
		{server.ErrNotStarted, "nothing was measured"},
		{server.ErrOtherModel, "--model is the name that the server lists; nothing was measured"},
		{server.ErrNotReady, "is the server running, and is the port right? nothing was measured"},
		{collect.ErrFull, "make room and run the same command again: it resumes. " + kept},
		{server.ErrDied, "its log is server.log in the run folder; the same command resumes. " + kept},
		{collect.ErrOtherServer, "measure with the server as it was, or begin anew with --no-resume"},
		{collect.ErrSimulated, "--device simulated is for the simulator, and the simulator for it"},
		{server.ErrPortTaken, "nothing was measured"},
		{fs.ErrPermission, "the current folder cannot be written to"},
	} {
		if errors.Is(err, h.is) {
			hint = h.hint
			break
		}
	}
	return failure{code: exitCollect, err: fmt.Errorf("collect: %w", err), hint: hint}
}
