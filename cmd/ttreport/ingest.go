package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/library"
)

func ingestCommand() command {
	return command{
		name: "ingest", args: "PATH…", summary: "read result files into history/ without building the site",
		help: `Reads files and folders like inspect does and writes one document a run to history/. A run that is there is
updated: results that were not read this time stay, and so do the targets that were in force when it was first read.`,
		examples: []example{
			{"keep the results of a release", "ttreport ingest --release v0.17.0 workflow_logs/"},
			{"stamp runs anew with the targets that are in targets/ today", "ttreport ingest --retarget results/"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			id := identityFlags(fs)
			retarget := fs.Bool("retarget", false, "replace the stored targets by those in targets/ today")
			strict := fs.Bool("strict", false, "exit 3 when there is a problem that is an error")
			return func(ctx context.Context, sh *shell, args []string) error {
				if len(args) == 0 {
					return fail(exitUsage, "ttreport ingest results/", "ingest: no file or folder given")
				}
				ws, err := workspace.Open(".")
				if err != nil {
					return failure{code: exitUsage, err: err}
				}
				got, err := readIn(ctx, sh, ws, args, id, ws.History(), *retarget)
				if err != nil {
					return err
				}
				got.asked = true
				fmt.Fprintf(sh.out, "%s read, %d written to %s, %d unchanged; %s\n",
					plural(got.runs, "run"), got.written, ws.History(), got.same, problemCounts(got.problems))
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
	errors := countSeverity(r.problems, schema.SevError)
	if strict && errors > 0 {
		err := fmt.Errorf("%s in the input, and --strict was given", plural(errors, "error"))
		return failure{code: exitInput, err: err}
	}
	if r.refused > 0 {
		return fail(exitInput, "what is stored is left as it is: restore a damaged document from version control; "+
			"delete a wrong one and read its files again", "%s could not be stored", plural(r.refused, "run"))
	}
	if r.runs == 0 && r.asked {
		return fail(exitInput, "ttreport inspect PATH says of each file what it lacks",
			"no result was found in %s", plural(r.files, "file"))
	}
	return nil
}

// readIn reads paths into a history folder and says what could not be read or stored. Where that is not the workspace's
// own, what the workspace has counts as stored and is left alone.
func readIn(ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string, id *identity, dir string,
	retarget bool,
) (readResult, error) {
	opt, roots, err := input(paths, id)
	if err != nil {
		return readResult{}, err
	}
	store := ingest.Store{
		Dir: dir, Retarget: retarget,
		Targets: func(runs []schema.Run) (ingest.Targets, []schema.Problem, error) { return targetLibrary(ws, runs) },
	}
	if dir != ws.History() {
		store.Base = ws.History()
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(readingMemory))
	got, err := store.Read(ctx, roots, opt)
	sayErrors(sh, got.Problems)
	for _, r := range got.Replaced {
		sh.say("replaced  %s by %s, which has more of the same results", r.Old, r.New)
	}
	var failed *ingest.WriteError
	if errors.As(err, &failed) {
		err = failure{code: exitInput, err: failed.Err, hint: failed.Hint}
	}
	return readResult{
		files: len(got.Files), runs: len(got.Runs), problems: got.Problems, written: got.Written, same: got.Same,
		refused: got.Refused,
	}, err
}

// sayErrors says what could not be read.
func sayErrors(sh *shell, problems []schema.Problem) {
	for _, p := range worstFirst(problems) {
		if p.Severity == schema.SevError {
			sh.say("%s: %s", p.Severity, p)
		}
	}
}

// targetLibrary reads the workspace's target files, then the override that the environment names.
func targetLibrary(ws *workspace.Workspace, runs []schema.Run) (*library.Library, []schema.Problem, error) {
	aliases, err := library.DefaultAliases()
	if err != nil {
		return nil, nil, err
	}
	lib := library.NewLibrary(aliases)
	names, err := ws.TargetFiles()
	if err != nil {
		return nil, nil, err
	}
	if override := os.Getenv("OVERRIDE_BENCHMARK_TARGETS"); override != "" {
		names = append(names, override)
	}
	measured := func(device string) bool {
		for i := range runs {
			if schema.SameDevice(runs[i].Device.Name, device) {
				return true
			}
		}
		return false
	}
	var problems []schema.Problem
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, fail(exitUsage, "correct OVERRIDE_BENCHMARK_TARGETS, or remove the file from targets/",
				"reading targets: %w", err)
		}
		asOf := ""
		if info, err := os.Stat(name); err == nil {
			asOf = info.ModTime().UTC().Format(time.DateOnly)
		}
		problems = append(problems, lib.Add(filepath.ToSlash(name), data, asOf, measured)...)
	}
	return lib, problems, nil
}

// planned are the models and devices of the workspace's target files that no run measured, under the names that runs
// have for them.
func planned(ws *workspace.Workspace, c *columns.Columns) ([]schema.Pair, error) {
	lib, _, err := targetLibrary(ws, nil)
	if err != nil {
		return nil, err
	}
	models, devices, measured := map[string]string{}, map[string]string{}, map[schema.Pair]bool{}
	for i := range c.Runs {
		h := &c.Runs[i]
		for _, name := range []string{h.Model.Name, h.Model.ID, h.Model.Key} {
			if key := lib.Key(name); name != "" && models[key] == "" {
				models[key] = h.Model.Name
			}
		}
		devices[schema.FoldDevice(h.Device)] = h.Device
		measured[schema.Pair{Model: h.Model.Name, Device: h.Device}] = true
	}
	var out []schema.Pair
	for _, e := range lib.List() {
		p := schema.Pair{Model: e.Model, Device: e.Device}
		if name := models[lib.Key(e.Model)]; name != "" {
			p.Model = name
		}
		if name := devices[schema.FoldDevice(e.Device)]; name != "" {
			p.Device = name
		}
		if !measured[p] && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out, nil
}
