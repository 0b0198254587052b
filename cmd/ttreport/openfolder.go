package main

import (
	"context"
	"errors"
	"time"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/folderlock"
)

// openFolder makes the run folder, or takes over an interrupted one, while no other command works in the workspace:
// ingest and build see the folder with all that it holds or not at all. Measuring takes hours, in which what is there
// can be built; the folder has a lock of its own then. It waits while another process is at the folder that would be
// resumed.
func openFolder[F interface{ Path() string }](
	ctx context.Context, sh *shell, ws *workspace.Workspace, patience time.Duration, open func() (F, error),
) (folder F, err error) {
	for deadline, said := time.Now().Add(patience), false; ; said = true {
		release, err := lock(ctx, sh, ws.Dir, folderlock.Exclusive, max(0, time.Until(deadline)))
		if err != nil {
			return folder, err
		}
		folder, err = open()
		release()
		switch {
		case err == nil:
			return folder, nil
		case !errors.Is(err, folderlock.ErrHeld):
			return folder, collectError(ctx, sh, nil, err)
		case !time.Now().Before(deadline):
			const fix = "wait for it, or end it; --no-resume measures anew beside it"
			return folder, fail(exitLocked, fix, "collect: %w", err)
		}
		if !said {
			sh.say("waiting for another ttreport that measures the same plan in %s", folder.Path())
		}
		select {
		case <-ctx.Done():
			return folder, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}
