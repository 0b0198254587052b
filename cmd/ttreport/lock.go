package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/ingest/folderlock"
)

// lockPatience is how long a command waits for another one in the same workspace.
const lockPatience = 10 * time.Minute

// lockFlag declares how long to wait.
func lockFlag(fs *pflag.FlagSet, patience *time.Duration) {
	fs.DurationVar(patience, "lock-timeout", lockPatience,
		"how long to wait for another ttreport in this workspace, as `2m`; 0 does not wait")
}

// lock keeps other commands from writing to a folder, and, where exclusive, from reading it. It waits for them, and
// says so.
func lock(
	ctx context.Context, sh *shell, dir string, mode folderlock.Mode, patience time.Duration,
) (release func(), err error) {
	if patience < 0 {
		return nil, fail(exitUsage, "0 does not wait", "--lock-timeout %s is no duration to wait", patience)
	}
	release, err = folderlock.Take(ctx, dir, mode, folderlock.Wait{Patience: patience, Waiting: func() {
		sh.say("waiting for another ttreport that works in %s", dir)
	}})
	switch {
	case errors.Is(err, folderlock.ErrHeld):
		return nil, fail(exitLocked, "wait for it, or end it; --lock-timeout says how long to wait", "%w", err)
	case err != nil && ctx.Err() == nil:
		return nil, failure{code: exitInput, err: err}
	}
	return release, err
}
