package main

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// sayLeft says how many runs in results/ the history lacks, and the line that stores them: what was measured or copied
// there and never read is no part of a decision, which nobody would see.
func sayLeft(ctx context.Context, sh *shell, ws *workspace.Workspace, c *columns.Columns) {
	if n := leftInResults(ctx, ws, c); n > 0 {
		sh.say("note: results/ has %s that history lacks and this does not judge: ttreport ingest results/",
			plaintext.Plural(n, "run"))
	}
}

// leftInResults counts the runs in results/ that storing would add. A folder of collect has the name of its run, so
// that nothing is opened where all of them are stored. What else is there is read as ingest reads it, and where that
// would add something, all of results/ is: it may be a copy of what lies beside it. What cannot be read is left to
// ingest, which says why.
func leftInResults(ctx context.Context, ws *workspace.Workspace, c *columns.Columns) int {
	entries, err := os.ReadDir(ws.Results())
	if err != nil {
		return 0
	}
	stored := map[string]bool{}
	for i := range c.Runs {
		stored[c.Runs[i].ID] = true
	}
	var paths []string
	for _, e := range entries {
		if !stored[e.Name()] {
			paths = append(paths, filepath.Join(ws.Results(), e.Name()))
		}
	}
	if len(paths) == 0 || wouldAdd(ctx, ws, paths) == 0 {
		return 0
	}
	return wouldAdd(ctx, ws, []string{ws.Results()})
}

// wouldAdd is how many documents storing what is in some paths would write.
func wouldAdd(ctx context.Context, ws *workspace.Workspace, paths []string) int {
	dir, err := os.MkdirTemp("", "ttreport-ephemeral-")
	if err != nil {
		return 0
	}
	defer os.RemoveAll(dir)
	quiet := &shell{out: io.Discard, err: io.Discard}
	got, err := readIn(ctx, quiet, ws, paths, &identity{}, dir, false)
	if err != nil {
		return 0
	}
	return got.written
}
