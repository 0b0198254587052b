package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/library"
)

func ingestCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use: "ingest PATH…", Short: "read result files into history/ without building the site",
		Long: `
Reads files and folders like inspect does and writes one document a run to history/. A run that is there is
updated: results that were not read this time stay, and so do the targets that were in force when it was first read.`,
		Example: `
# keep the results of a release
$ ttreport ingest --release v0.17.0 workflow_logs/
# give stored runs the targets that are in targets/ today
$ ttreport ingest --retarget results/`,
	}
	fs := c.Flags()
	id := identityFlags(fs)
	var patience time.Duration
	lockFlag(fs, &patience)
	retarget := fs.Bool("retarget", false, "replace the stored targets by those in targets/ today")
	strict := fs.Bool("strict", false, "exit 3 when there is a problem that is an error")
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		if len(args) == 0 {
			return fail(exitUsage, "ttreport ingest results/", "ingest: no file or folder given")
		}
		ws, err := openWorkspace(".")
		if err != nil {
			return err
		}
		release, err := lock(ctx, sh, ws.Dir, folderlock.Exclusive, patience)
		if err != nil {
			return err
		}
		defer release()
		got, err := readIn(ctx, sh, ws, args, id, ws.History(), *retarget)
		if err != nil {
			return err
		}
		got.asked = true
		fmt.Fprintf(sh.out, "%s read, %d written to %s, %d unchanged; %s\n", plaintext.Plural(got.runs, "run"),
			got.written, ws.History(), got.same, problemCounts(got.problems))
		return got.verdict(*strict)
	}
	return c
}

// readResult is what a reading into history gave.
type readResult struct {
	files, runs int
	problems    []schema.Problem
	written     int
	same        int  // stored already, as they are
	refused     int  // runs whose stored document cannot be read
	asked       bool // paths were given on the command line
}

// verdict is the exit of a command that read files.
func (r readResult) verdict(strict bool) error {
	errors := schema.CountSeverity(r.problems, schema.SevError)
	switch {
	case strict && errors > 0:
		err := fmt.Errorf("%s in the input, and --strict was given", plaintext.Plural(errors, "error"))
		return failure{code: exitInput, err: err}
	case r.refused > 0:
		const fix = "what is stored is left as it is: restore a damaged document from version control; " +
			"delete a wrong one and read its files again"
		return fail(exitInput, fix, "%s could not be stored", plaintext.Plural(r.refused, "run"))
	case r.runs == 0 && r.asked:
		return fail(exitInput, "ttreport inspect PATH lists what each file lacks",
			"no result was found in %s", plaintext.Plural(r.files, "file"))
	}
	return nil
}

// readIn reads paths into a history folder and prints what could not be read or stored. Where that is not the
// workspace's own, what the workspace has counts as stored and is left alone.
func readIn(
	ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string, id *identity, dir string, retarget bool,
) (readResult, error) {
	opt, roots, err := input(paths, id)
	if err != nil {
		return readResult{}, err
	}
	store := ingest.Store{
		Dir: dir, Retarget: retarget,
		Targets: func(runs []schema.Run) (ingest.Targets, []schema.Problem, error) { return soundTargets(ws, runs) },
	}
	if dir != ws.History() {
		store.Base = ws.History()
	}
	if id.oneBuild {
		store.As = func(r *schema.Run) { r.Release, r.Channel = id.release, id.channel }
	}
	if _, _, err := soundTargets(ws, nil); err != nil {
		return readResult{}, err
	}
	defer boundMemory()()
	got, err := store.Read(ctx, roots, opt)
	printErrors(sh, got.Problems)
	for _, r := range got.Replaced {
		sh.say("replaced  %s by %s, which has more of the same results", r.Old, r.New)
	}
	var failed *ingest.WriteError
	if errors.As(err, &failed) {
		err = failure{code: exitInput, err: failed.Err, hint: failed.Hint}
	}
	return readResult{
		files: len(got.Files), runs: got.Runs, problems: got.Problems, written: got.Written, same: got.Same,
		refused: got.Refused,
	}, err
}

// printErrors prints what could not be read.
func printErrors(sh *shell, problems []schema.Problem) {
	for _, p := range problems {
		if p.Severity == schema.SevError {
			sh.say("%s: %s", p.Severity, p)
		}
	}
}

// soundTargets is [targetLibrary] where a mistake in a file of targets ends the command: without the target that was
// meant, a release would pass that should not.
func soundTargets(ws *workspace.Workspace, runs []schema.Run) (*library.Library, []schema.Problem, error) {
	lib, problems, err := targetLibrary(ws, runs)
	if err != nil {
		return nil, nil, err
	}
	if n := schema.CountSeverity(problems, schema.SevError); n > 0 {
		first := problems[slices.IndexFunc(problems, func(p schema.Problem) bool { return p.Severity == schema.SevError })]
		return nil, nil, fail(exitUsage, "correct it; ttreport targets lint lists all mistakes",
			"%s in target files, the first: %w", plaintext.Plural(n, "mistake"), first)
	}
	return lib, problems, nil
}

// targetLibrary reads the targets in force; runs say which devices exist.
func targetLibrary(ws *workspace.Workspace, runs []schema.Run) (*library.Library, []schema.Problem, error) {
	lib, problems, err := ws.Library(runs)
	if err != nil {
		const fix = "correct " + workspace.OverrideVariable + ", or remove the file from targets/"
		return nil, nil, failure{code: exitUsage, err: err, hint: fix}
	}
	return lib, append(problems, misspeltModels(lib, runs)...), nil
}

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

func verifyCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use: "verify", Args: noArguments,
		Short: "compare raw result files with the SHA-256 that history/ has of them",
		Long: `
Reads the raw files that the documents of history/ name, below the current folder, and compares their SHA-256 with
the stored ones. Files that are not there any more are counted: a workspace need not keep them. --strict fails for
them too.

Exit codes: 0 nothing differs; 3 a file differs or cannot be read.`,
		Example: `
# are these the files that were measured?
$ ttreport verify`,
	}
	fs := c.Flags()
	var patience time.Duration
	lockFlag(fs, &patience)
	strict := fs.Bool("strict", false, "exit 3 also when a file is missing or lies elsewhere")
	c.RunE = func(c *cobra.Command, args []string) error {
		return verify(c.Context(), sh, *strict, patience)
	}
	return c
}

func verify(ctx context.Context, sh *shell, strict bool, patience time.Duration) error {
	ws, err := openWorkspace(".")
	if err != nil {
		return err
	}
	release, err := lock(ctx, sh, ws.Dir, folderlock.Shared, patience)
	if err != nil {
		return err
	}
	defer release()
	v, err := ingest.Verify(ctx, ws.Dir, ws.History())
	if err != nil {
		return err
	}
	printErrors(sh, v.Problems)
	fmt.Fprintf(sh.out, "%s verified, %d differ or cannot be read, %d missing, %d elsewhere\n",
		plaintext.Plural(v.Verified, "file"), len(v.Problems), len(v.Missing), v.Elsewhere)
	if n := len(v.Problems); n > 0 {
		return fail(exitInput, "restore them, or read them again with ttreport ingest", "%s not as stored",
			plaintext.Plural(n, "file"))
	}
	if v.Unknown > 0 {
		sh.say("note: %s stored without a hash, so nothing can be said of them", plaintext.Plural(v.Unknown, "file"))
	}
	if n := len(v.Missing) + v.Elsewhere + v.Unknown; strict && n > 0 {
		return fail(exitInput, "restore them from where they are kept", "%s not verified, and --strict was given",
			plaintext.Plural(n, "file"))
	}
	return nil
}
