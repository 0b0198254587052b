package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
	"github.com/ttreport/ttreport/targets/library"
)

// identity holds the flags that state who was measured where no file does.
type identity struct {
	model, impl, device, engine, version, release, channel, build string

	patterns  []string
	factsFrom map[string]map[string]string // as of a manifest
	without   map[string]bool              // files, as of [ingest.Options]
	// oneBuild puts all runs under this release and channel, whatever their files state.
	oneBuild bool
}

// flags adds the variables of its flags to those of a command.
func (id *identity) flags(vars map[string]any) map[string]any {
	maps.Copy(vars, map[string]any{
		"model": &id.model, "device": &id.device, "impl": &id.impl, "engine": &id.engine, "engine-version": &id.version,
		"release": &id.release, "build": &id.build, "channel": &id.channel, "pattern": &id.patterns,
	})
	return vars
}

// isStated reports that a flag says who was measured, or when.
func (id *identity) isStated() bool {
	return id != nil && cmp.Or(id.model, id.impl, id.device, id.engine, id.version, id.release, id.channel, id.build) != ""
}

// input turns paths and flags of the command line into what is to be read.
func (id *identity) input(ws *workspace.Workspace, paths []string) (ingest.Options, []ingest.Root, error) {
	var opt ingest.Options
	if id.build != "" {
		if id.release != "" {
			return opt, nil, fail(exitUsage, "leave one of them out", "--build and --release both name the build")
		}
		id.release, id.channel, id.build = id.build, cmp.Or(id.channel, schema.ChannelMain), ""
	}
	if err := plan.CheckChannel(id.channel); err != nil {
		return opt, nil, planError(err)
	}
	opt.Flags = schema.Facts{
		Release: id.release, Channel: id.channel, Impl: id.impl, Model: schema.Model{Name: id.model},
		Device: schema.Device{Name: id.device}, Stack: schema.Stack{Engine: id.engine, Version: id.version},
	}
	if strings.Contains(id.model, "/") { // an id of the hub
		opt.Flags.Model = schema.Model{ID: id.model, Name: path.Base(id.model)}
	}
	opt.FactsFrom, opt.Without = id.factsFrom, id.without
	for _, text := range id.patterns {
		p, err := manifest.NewPattern(text)
		if err != nil {
			return opt, nil, failure{code: exitUsage, err: err}
		}
		opt.Patterns = append(opt.Patterns, p)
	}
	var roots []ingest.Root
	for _, p := range paths {
		root, err := ingest.OSRoot(filepath.ToSlash(fromHere(p)))
		if os.IsNotExist(err) {
			return opt, nil, fail(exitUsage, "check the spelling; paths are relative to the current folder",
				"%s does not exist", p)
		}
		if err != nil {
			return opt, nil, fail(exitInput, "check its permissions", "%w", err)
		}
		root.Own, root.Tables, root.Tasks = ownFolders(ws), ws.Tables, ws.Config.Tasks
		roots = append(roots, root)
	}
	return opt, roots, nil
}

// ownFolders are the folders that the workspace's results were read into, or written to: they are no input.
func ownFolders(ws *workspace.Workspace) (out []fs.FileInfo) {
	for _, dir := range []string{ws.History(), ws.Site(), ws.State(), ws.Reports()} {
		if info, err := os.Stat(dir); err == nil {
			out = append(out, info)
		}
	}
	return out
}

// fromHere writes a path relative to the current folder where it is below it: what is stored must not depend on where
// the workspace is.
func fromHere(name string) string {
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(name) {
		return name
	}
	if rel, err := filepath.Rel(here, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

func inspectCommand(sh *shell) *cobra.Command {
	var asJSON, all, strict bool
	id := &identity{}
	return command("inspect", id.flags(map[string]any{
		"json": &asJSON, "all": &all, "strict": &strict,
	}), func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fail(exitUsage, "ttreport inspect results/", "inspect: no file or folder given")
		}
		ws, err := openWorkspace(".")
		if err != nil {
			return err
		}
		set, err := load(c.Context(), ws, args, id)
		if err != nil {
			return err
		}
		if asJSON {
			err = listJSON(sh.out, set)
		} else {
			list(sh.out, set, all)
		}
		if errors := schema.CountSeverity(set.Problems, schema.SevError); err == nil && strict && errors > 0 {
			err = failure{code: exitInput, err: fmt.Errorf("%s in the input", plaintext.Plural(errors, "error"))}
		}
		return err
	})
}

func ingestCommand(sh *shell) *cobra.Command {
	var retarget, strict bool
	id := &identity{}
	return command("ingest", id.flags(map[string]any{
		"lock-timeout": &sh.patience, "retarget": &retarget, "strict": &strict,
	}), func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fail(exitUsage, "ttreport ingest results/", "ingest: no file or folder given")
		}
		ws, release, err := sh.openLocked(c.Context(), folderlock.Exclusive)
		if err != nil {
			return err
		}
		defer release()
		got, err := readIn(c.Context(), sh, ws, args, id, ws.History(), retarget)
		if err != nil {
			return err
		}
		fmt.Fprintf(sh.out, "%s read, %d written to %s, %d unchanged; %s\n", plaintext.Plural(got.Runs, "run"),
			got.Written, ws.History(), got.Same, problemCounts(got.Problems))
		return readVerdict(got, args, strict)
	})
}

// load reads paths of the command line.
func load(ctx context.Context, ws *workspace.Workspace, paths []string, id *identity) (ingest.Set, error) {
	opt, roots, err := id.input(ws, paths)
	if err != nil {
		return ingest.Set{}, err
	}
	defer boundMemory(5./4, 188<<20)()
	return ingest.Load(ctx, roots, opt)
}

// boundMemory bounds the memory of reading, or of writing a site, until the function that it returns is called: beyond
// the limit garbage is collected more often, because a hostile file may ask for all the memory that limits leave it.
// The limit is a multiple of what is in use. Where that comes to more than most, as of a tree with thousands of
// results, twice that is the limit, or half of the time would go into looking for garbage that is not there.
func boundMemory(multiple float64, most int64) (end func()) {
	const least = 165 << 20
	before := debug.SetMemoryLimit(least)
	done := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() {
		inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}} // as the last collection found it
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for limit := int64(least); ; {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			metrics.Read(inUse)
			live := int64(inUse[0].Value.Uint64())
			next := max(least, int64(multiple*float64(live)))
			if live > most {
				next = 2 * live
			}
			if next != limit {
				limit = next
				debug.SetMemoryLimit(limit)
			}
		}
	})
	return func() {
		close(done)
		watcher.Wait()
		debug.SetMemoryLimit(before)
	}
}

// readIn reads paths into a history folder and prints what could not be read or stored. Where that is not the
// workspace's own, what the workspace has counts as stored and is left alone.
func readIn(
	ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string, id *identity, dir string, retarget bool,
) (ingest.Result, error) {
	if os.MkdirAll(dir, 0o777) == nil { // from the first reading on, no manifest above this workspace counts
		defer os.Remove(dir) // if it stayed empty
	}
	opt, roots, err := id.input(ws, paths)
	if err != nil {
		return ingest.Result{}, err
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
		return ingest.Result{}, err
	}
	defer boundMemory(5./4, 188<<20)()
	got, err := store.Read(ctx, roots, opt)
	printErrors(sh, got.Problems)
	for _, r := range got.Replaced {
		if r.New == "" {
			sh.say("removed   %s: other documents have its results", r.Old)
			continue
		}
		sh.say("replaced  %s by %s, where the same results are now", r.Old, r.New)
	}
	if failed, ok := errors.AsType[*ingest.WriteError](err); ok {
		err = failure{code: exitInput, err: failed.Err, hint: failed.Hint}
	} else if useless, ok := errors.AsType[schema.Problem](err); ok {
		err = failure{code: exitUsage, err: useless, hint: useless.Hint}
	}
	return got, err
}

// readVerdict is the exit of a command that read files; paths are those that the command line named.
func readVerdict(got ingest.Result, paths []string, strict bool) error {
	errors := schema.CountSeverity(got.Problems, schema.SevError)
	switch {
	case strict && errors > 0:
		err := fmt.Errorf("%s in the input, and --strict was given", plaintext.Plural(errors, "error"))
		return failure{code: exitInput, err: err}
	case got.Refused > 0:
		const fix = "stored documents are unchanged: restore a damaged document from version control; " +
			"correct a wrong one with ttreport history"
		return fail(exitInput, fix, "%s could not be stored", plaintext.Plural(got.Refused, "run"))
	case got.Runs == 0 && len(paths) > 0:
		return noResult(got, paths, "no result was found in %s")
	}
	return nil
}

// noResult is the failure of a command that found no result in paths; text has a place for how many files there are.
func noResult(got ingest.Result, paths []string, text string) error {
	const most = 3
	fix := shellescape.QuoteCommand(append([]string{"ttreport", "inspect"}, paths[:min(len(paths), most)]...))
	if len(paths) > most {
		fix += " …"
	}
	return fail(exitInput, fix+" lists what each file lacks", text, plaintext.Plural(len(got.Files), "file"))
}

// printErrors prints what could not be read: of many errors one of each kind, and how many are like it.
func printErrors(sh *shell, problems []schema.Problem) {
	list := slices.DeleteFunc(slices.Clone(problems), func(p schema.Problem) bool { return p.Severity != schema.SevError })
	if len(list) > 10 {
		list = alikeProblems(list)
	}
	for _, p := range list {
		sh.say("%s: %s", p.Severity, p)
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
	return lib, append(problems, lib.Misspelt(runs)...), nil
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
	var paths []string
	for _, e := range entries {
		if !slices.ContainsFunc(c.Runs, func(h columns.RunHead) bool { return h.ID == e.Name() }) {
			paths = append(paths, filepath.Join(ws.Results(), e.Name()))
		}
	}
	wouldAdd := func(paths []string) int {
		dir, err := os.MkdirTemp("", "ttreport-ephemeral-")
		if err != nil {
			return 0
		}
		defer os.RemoveAll(dir)
		got, err := readIn(ctx, &shell{out: io.Discard, err: io.Discard}, ws, paths, &identity{}, dir, false)
		if err != nil {
			return 0
		}
		return got.Written
	}
	if len(paths) == 0 || wouldAdd(paths) == 0 {
		return 0
	}
	return wouldAdd([]string{ws.Results()})
}

func verifyCommand(sh *shell) *cobra.Command {
	var strict bool
	return command("verify", map[string]any{
		"lock-timeout": &sh.patience, "strict": &strict,
	}, func(c *cobra.Command, args []string) error {
		ws, release, err := sh.openLocked(c.Context(), folderlock.Shared)
		if err != nil {
			return err
		}
		defer release()
		v, err := ingest.Verify(c.Context(), ws.Dir, ws.History())
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
			sh.say("note: %s stored without a hash, so they cannot be verified", plaintext.Plural(v.Unknown, "file"))
		}
		if n := len(v.Missing) + v.Elsewhere + v.Unknown; strict && n > 0 {
			return fail(exitInput, "restore them from where they are kept", "%s not verified, and --strict was given",
				plaintext.Plural(n, "file"))
		}
		return nil
	})
}
