package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/listing"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/library"
)

func ingestCommand() command {
	return command{
		name: "ingest", args: "PATH…", summary: "read result files into history/ without building the site",
		help: `
Reads files and folders like inspect does and writes one document a run to history/. A run that is there is
updated: results that were not read this time stay, and so do the targets that were in force when it was first read.`,
		examples: []example{
			{"keep the results of a release", "ttreport ingest --release v0.17.0 workflow_logs/"},
			{"give stored runs the targets that are in targets/ today", "ttreport ingest --retarget results/"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			id := identityFlags(fs)
			var patience time.Duration
			lockFlag(fs, &patience)
			retarget := fs.Bool("retarget", false, "replace the stored targets by those in targets/ today")
			strict := fs.Bool("strict", false, "exit 3 when there is a problem that is an error")
			return func(ctx context.Context, sh *shell, args []string) error {
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
					got.written, ws.History(), got.same, listing.Counts(got.problems))
				return got.verdict(*strict)
			}
		},
	}
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
