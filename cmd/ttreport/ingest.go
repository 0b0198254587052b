package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/targets"
)

func ingestCommand() command {
	return command{
		name: "ingest", args: "PATH…", summary: "read result files into history/ without building the site",
		help: `Reads files and folders like inspect does and writes one document a run to history/. A run that is there already is
updated: results that were not read this time stay, and so do the targets that were in force when the run was first read.`,
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
				fmt.Fprintf(sh.out, "%s read, %d written to %s; %s\n", plural(got.runs, "run"), got.written, ws.History(), problemCounts(got.problems))
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
	refused     int  // runs whose stored document cannot be read
	asked       bool // paths were given on the command line
}

// verdict is the exit of a command that read files.
func (r readResult) verdict(strict bool) error {
	errors := countSeverity(r.problems, schema.SevError)
	if strict && errors > 0 {
		return failure{code: exitInput, err: fmt.Errorf("%s in the input, and --strict was given", plural(errors, "error"))}
	}
	if r.refused > 0 {
		return fail(exitInput, "what is stored is left as it is: restore a damaged document from version control; delete a wrong one and read its files again", "%s could not be stored", plural(r.refused, "run"))
	}
	if r.runs == 0 && r.asked {
		return fail(exitInput, "ttreport inspect PATH says of each file what it lacks", "no result was found in %s", plural(r.files, "file"))
	}
	return nil
}

// readIn loads paths, completes the runs (architecture key, targets in force) and writes them to a history folder.
func readIn(ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string, id *identity, dir string, retarget bool) (readResult, error) {
	set, err := load(ctx, paths, id)
	if err != nil {
		return readResult{}, err
	}
	lib, problems, err := targetLibrary(ws, set.Runs)
	if err != nil {
		return readResult{}, err
	}
	set.Problems = append(set.Problems, problems...)
	sayErrors(sh, set.Problems)
	out := readResult{files: len(set.Files), runs: len(set.Runs), problems: set.Problems}
	var elsewhere []string // what is stored, when this reading is to leave it alone
	if dir != ws.History() {
		elsewhere = append(elsewhere, ws.History())
	}
	for i := range set.Runs {
		settled := history.Settle(dir, set.Runs[i], elsewhere...)
		for _, p := range settled.Problems {
			out.tell(sh, p)
		}
		if settled.Nothing() {
			continue
		}
		run := settled.Run
		stamp(lib, &run, ws.History(), retarget)
		for _, stored := range elsewhere { // an update of what is stored, tried on a copy
			if old, ok := history.Peek(stored, &run); ok {
				if _, err := history.Put(dir, old, false); err != nil {
					return out, fail(exitInput, "see the space of the disk", "%w", err)
				}
			}
		}
		changed, err := history.Put(dir, run, retarget)
		var damaged schema.Problem
		switch {
		case errors.As(err, &damaged): // the others are still stored
			damaged.Hint = "the document is left as it is and this run is not stored; restore the document from version control, or delete it"
			out.tell(sh, damaged)
			continue
		case err != nil:
			return out, fail(exitInput, "history/ cannot be written: see its permissions and the space of the disk", "%w", err)
		}
		if changed {
			out.written++
		}
		for _, name := range settled.Replaces {
			if err := os.Remove(name); err != nil {
				return out, fail(exitInput, "delete it: the same results are stored with what is known now", "replacing a document: %w", err)
			}
			sh.say("replaced  %s by %s, which says more of the same results", name, history.PathOf(&run))
		}
	}
	return out, nil
}

// sayErrors says what could not be read.
func sayErrors(sh *shell, problems []schema.Problem) {
	for _, p := range worstFirst(problems) {
		if p.Severity == schema.SevError {
			sh.say("%s: %s", p.Severity, p)
		}
	}
}

// tell notes a problem of storing a run, and says it when it is an error.
func (r *readResult) tell(sh *shell, p schema.Problem) {
	r.problems = append(r.problems, p)
	if p.Severity == schema.SevError {
		r.refused++
		sh.say("%s: %s", p.Severity, p)
	}
}

// stamp completes a run: its architecture key, and the targets in force unless it has some. A run that is in history
// keeps the targets it was stamped with.
func stamp(lib *targets.Library, run *schema.Run, historyDir string, retarget bool) {
	if run.Model.Key == "" && run.Model.Name != "" {
		run.Model.Key = lib.Key(run.Model.Name)
		if run.Provenance == nil {
			run.Provenance = map[string]schema.Origin{}
		}
		run.Provenance["model.key"] = schema.Origin{From: "derived", Where: "alias table of architectures"}
	}
	if old, ok := history.Peek(historyDir, run); ok && !retarget {
		run.Targets = old.Targets
		return
	}
	if own := run.Targets; len(own) > 0 && !retarget {
		return
	}
	if rows := lib.For(run.Model, run.Device.Name); len(rows) > 0 {
		run.Targets = rows
	}
}

// targetLibrary reads the workspace's target files, then the override that the environment names.
func targetLibrary(ws *workspace.Workspace, runs []schema.Run) (*targets.Library, []schema.Problem, error) {
	aliases, err := targets.DefaultAliases()
	if err != nil {
		return nil, nil, err
	}
	lib := targets.NewLibrary(aliases)
	names, err := ws.TargetFiles()
	if err != nil {
		return nil, nil, err
	}
	if override := os.Getenv("OVERRIDE_BENCHMARK_TARGETS"); override != "" {
		names = append(names, override)
	}
	measured := func(device string) bool {
		for i := range runs {
			if strings.EqualFold(runs[i].Device.Name, device) {
				return true
			}
		}
		return false
	}
	var problems []schema.Problem
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, fail(exitUsage, "correct OVERRIDE_BENCHMARK_TARGETS, or remove the file from targets/", "reading targets: %w", err)
		}
		asOf := ""
		if info, err := os.Stat(name); err == nil {
			asOf = info.ModTime().UTC().Format(time.DateOnly)
		}
		problems = append(problems, lib.Add(filepath.ToSlash(name), data, asOf, measured)...)
	}
	return lib, problems, nil
}

// planned are the pairs of the workspace's target files that no run measured, under the names that runs have for them.
func planned(ws *workspace.Workspace, c *columns.Columns) ([]render.Pair, error) {
	lib, _, err := targetLibrary(ws, nil)
	if err != nil {
		return nil, err
	}
	models, devices, measured := map[string]string{}, map[string]string{}, map[render.Pair]bool{}
	for i := range c.Runs {
		h := &c.Runs[i]
		for _, name := range []string{h.Model.Name, h.Model.ID, h.Model.Key} {
			if key := lib.Key(name); name != "" && models[key] == "" {
				models[key] = h.Model.Name
			}
		}
		devices[strings.ToLower(h.Device)] = h.Device
		measured[render.Pair{Model: h.Model.Name, Device: h.Device}] = true
	}
	var out []render.Pair
	for _, e := range lib.List() {
		p := render.Pair{Model: e.Model, Device: e.Device}
		if name := models[lib.Key(e.Model)]; name != "" {
			p.Model = name
		}
		if name := devices[strings.ToLower(e.Device)]; name != "" {
			p.Device = name
		}
		if !measured[p] && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out, nil
}
