package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/decode"
	"github.com/ttreport/ttreport/render/terminal"
	"github.com/ttreport/ttreport/targets/library"
)

func targetsCommand(sh *shell) *cobra.Command {
	o := targetOptions{level: schema.LevelComplete, minMargin: 2}
	return command("targets", map[string]any{
		"model": &o.model, "device": &o.device, "release": &o.release, "level": &o.level, "min-margin": &o.minMargin,
		"out": &o.out,
	}, func(c *cobra.Command, args []string) error {
		ws, err := openWorkspace(".")
		if err != nil {
			return err
		}
		switch {
		case len(args) == 1 && args[0] == "list":
			return o.list(sh, ws)
		case len(args) == 1 && args[0] == "lint":
			return o.lint(sh, ws)
		case len(args) == 2 && args[0] == "import":
			return o.importFile(sh, ws, args[1])
		case len(args) == 1 && args[0] == "propose":
			return o.propose(c.Context(), sh, ws)
		}
		return fail(exitUsage, "ttreport targets list", "targets: choose one of list, lint, import FILE and propose")
	})
}

type targetOptions struct {
	model, device, release, level, out string
	minMargin                          float64
}

func (o *targetOptions) list(sh *shell, ws *workspace.Workspace) error {
	lib, problems, err := targetLibrary(ws, storedNames(ws))
	if err != nil {
		return err
	}
	for _, p := range problems {
		sh.say("%s: %s", p.Severity, p)
	}
	entries := lib.Select(o.model, o.device)
	if countTargets(entries) == 0 {
		const fix = "put one there, for instance tt-inference-server's model_performance_reference.json; ttreport check " +
			"--all has the targets that results state"
		return fail(exitUngraded, fix, "no target to list: targets/ holds no file of targets")
	}
	if err := terminal.Targets(sh.out, entries); err != nil {
		return err
	}
	return unreadRows(problems)
}

// storedNames are the stored runs, by their models and devices alone.
func storedNames(ws *workspace.Workspace) (runs []schema.Run) {
	history.Each(ws.History(), nil, func(_ string, r *schema.Run) { // others say what cannot be read
		runs = append(runs, schema.Run{Model: r.Model, Device: r.Device})
	})
	return runs
}

// unreadRows is the exit of a command that left out rows of target files.
func unreadRows(problems []schema.Problem) error {
	if n := schema.CountSeverity(problems, schema.SevError); n > 0 {
		return failure{code: exitInput, err: fmt.Errorf("%s in target files that cannot be read", plaintext.Plural(n, "row"))}
	}
	return nil
}

func countTargets(list []library.Entry) int {
	n := 0
	for _, e := range list {
		n += len(e.Targets)
	}
	return n
}

// lint prints contradictions of targets, worst first.
func (o *targetOptions) lint(sh *shell, ws *workspace.Workspace) error {
	lib, problems, err := targetLibrary(ws, storedNames(ws))
	if err != nil {
		return err
	}
	for _, p := range schema.WorstFirst(problems) {
		fmt.Fprintf(sh.out, "%-8s %-18s %s\n", p.Severity, p.Code, p)
	}
	found := slices.DeleteFunc(library.Fold(lib.Lint()), func(c library.Contradiction) bool {
		return !lib.Selects(c.Model, c.Device, o.model, o.device)
	})
	terminal.Contradictions(sh.out, found)
	total := countTargets(lib.List())
	if total == 0 && len(problems) == 0 {
		return fail(exitUngraded, "targets/ needs a target file; ttreport check --all has the targets that results state",
			"no target to lint: targets/ holds no file of targets")
	}
	count := map[string]int{}
	for _, c := range found {
		count[c.Code]++
	}
	impossible := count[library.Unattainable]
	const text = "%s; contradictions, by workload: %d unattainable, %d that need a TTFT of zero, " +
		"%d with levels in the wrong order, %d on what no tool measures\n"
	fmt.Fprintf(sh.out, text, plaintext.Plural(total, "target"), impossible,
		count[library.NeedsNoTTFT], count[library.LevelsInverted], count[library.UnmeasuredMetric])
	switch err := unreadRows(problems); {
	case err != nil:
		return err
	case impossible > 0:
		return failure{code: exitGate, err: fmt.Errorf(
			"targets of %s cannot be met by any machine that meets their neighbours",
			plaintext.Plural(impossible, "workload"))}
	}
	return nil
}

// importFile turns a file of another form into one of ours.
func (o *targetOptions) importFile(sh *shell, ws *workspace.Workspace, name string) error {
	lib, problems, err := workspace.ReadTargets(name, func(string) bool { return false })
	if err != nil {
		return fail(exitUsage, "name a file of targets", "targets import: %w", err)
	}
	for _, p := range schema.WorstFirst(problems) {
		sh.say("%s: %s", p.Severity, p)
	}
	entries := lib.Select(o.model, o.device)
	f, unmeasured := library.Export(entries)
	if unmeasured > 0 {
		sh.say("note: %s left out, on metrics that no tool measures: ttreport targets lint names them",
			plaintext.Plural(unmeasured, "target"))
	}
	if len(f.Targets)+len(f.Evals) == 0 {
		return fail(exitInput, "see ttreport help files for the forms that are read",
			"targets import: no target was found in %s", name)
	}
	base := filepath.Base(name)
	stem := filepath.Join(ws.Targets(), strings.TrimSuffix(base, filepath.Ext(base)))
	// Into one file, or where that would be too long to be read, into one a model.
	if _, err = f.Marshal(); !errors.Is(err, decode.ErrTooMuchYAML) {
		return writeTargets(sh, []targetFile{{cmp.Or(o.out, stem+".yaml"), f}})
	}
	if o.out != "" {
		return fail(exitUsage, "without --out there is a file for each model; --model chooses one", "targets import: %w", err)
	}
	var list []targetFile
	for len(entries) > 0 { // in order of their models
		model, n := entries[0].Model, 0
		for n < len(entries) && entries[n].Model == model {
			n++
		}
		if f, _ = library.Export(entries[:n]); len(f.Targets)+len(f.Evals) > 0 {
			list = append(list, targetFile{stem + "-" + schema.Slug(model) + ".yaml", f})
		}
		entries = entries[n:]
	}
	return writeTargets(sh, list)
}

// propose derives targets from history.
func (o *targetOptions) propose(ctx context.Context, sh *shell, ws *workspace.Workspace) error {
	if !(o.minMargin >= 0 && o.minMargin < 100) || !slices.Contains(schema.Levels(), o.level) {
		return fail(exitUsage, "levels are "+strings.Join(schema.Levels(), ", ")+"; a margin is a percentage",
			"targets propose: --level %q, --min-margin %g", o.level, o.minMargin)
	}
	release, err := sh.lock(ctx, ws.Dir, folderlock.Shared)
	if err != nil {
		return err
	}
	report, at, err := judged(ctx, ws, checkOptions{by: "targets propose", release: o.release})
	release()
	if err != nil {
		return err
	}
	if o.release == "" {
		at = report.Newest()
	}
	from := &report.Releases[at]
	asOf := from.Date.UTC().Format(time.DateOnly)
	p := report.Gate.Propose(at, o.model, o.device, o.level, asOf, o.minMargin/100)
	if len(p.File.Targets) == 0 {
		return fail(exitUngraded, "ttreport check --release "+from.Name+" lists what it holds",
			"targets propose: %s has no number that could be a target", from.Name)
	}
	if lost := len(report.Gate.Lost); lost > 0 {
		sh.say("note: %s of the history cannot be read and is ignored here; ttreport check names it",
			plaintext.Plural(lost, "document"))
	}
	if p.Single > 0 {
		sh.say("note: the noise of %d of %d is unknown; their margin is twice the change that matters",
			p.Single, len(p.File.Targets))
	}
	if o.out != "" {
		return writeTargets(sh, []targetFile{{o.out, p.File}})
	}
	data, err := p.File.Marshal()
	if err == nil {
		_, err = sh.out.Write(data)
	}
	return err
}

// targetFile is a file of targets that is to be written.
type targetFile struct {
	name string
	file library.File
}

// writeTargets writes target files that are not there yet: all of them or, if one cannot be made, none.
func writeTargets(sh *shell, list []targetFile) error {
	var texts [][]byte
	names := map[string]bool{}
	for _, f := range list {
		if _, err := os.Lstat(f.name); err == nil || names[strings.ToLower(f.name)] {
			return fail(exitUsage, "choose another with --out, or remove it", "%s exists", f.name)
		}
		data, err := f.file.Marshal()
		if err != nil {
			return fail(exitInput, "--model and --device choose some of them", "%s: %w", f.name, err)
		}
		names[strings.ToLower(f.name)] = true
		texts = append(texts, data)
	}
	for i, f := range list {
		if err := durable.WriteFile(f.name, texts[i]); err != nil {
			return fail(exitInput, "check its permissions and the free space of the disk", "%w", err)
		}
		_, err := fmt.Fprintf(sh.out, "wrote %s: %s and %s\n", f.name,
			plaintext.Plural(len(f.file.Targets), "target"), plaintext.Plural(len(f.file.Evals), "reference score"))
		if err != nil {
			return err
		}
	}
	return nil
}
