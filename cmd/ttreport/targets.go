package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/library"
)

func targetsCommand() command {
	return command{
		name: "targets", args: "list | lint | import FILE | propose", summary: "list, check, import or propose targets",
		help: `Targets are read from targets/*.json and *.yaml, then from the file that OVERRIDE_BENCHMARK_TARGETS names: tt-inference-server's
model_performance_reference.json and overrides of the same form, requirements documents (schemaVersion 2.x), and files of our own
(ttreport help files).

list     every target by model, device and level
lint     targets that contradict themselves, with the arithmetic; exit 1 for what is unattainable, 3 for rows that cannot be read
import   turn a file of another form into targets/NAME.yaml, each value with its source and date
propose  derive a file from what a release measured, with margins from the noise of its history`,
		examples: []example{
			{"all targets of a model on a device", "ttreport targets list --model Llama-3.1-8B --device n150"},
			{"can they be met at all?", "ttreport targets lint"},
			{"hold the next release to this one", "ttreport targets propose --release v0.6.0 --level complete --out targets/proposed.yaml"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			var o targetOptions
			fs.StringVar(&o.model, "model", "", "only this `name` of a model")
			fs.StringVar(&o.device, "device", "", "only this `name` of a device")
			fs.StringVar(&o.release, "release", "", "propose: from this `release`; the newest otherwise")
			fs.StringVar(&o.level, "level", schema.LevelComplete, "propose: `level` of the proposed targets")
			fs.Float64Var(&o.least, "min-margin", 2, "propose: least margin in `percent`")
			fs.StringVar(&o.out, "out", "", "import, propose: write this `file`; must not exist")
			return func(ctx context.Context, sh *shell, args []string) error {
				ws, err := workspace.Open(".")
				if err != nil {
					return failure{code: exitUsage, err: err}
				}
				switch {
				case len(args) == 1 && args[0] == "list":
					return o.list(sh, ws)
				case len(args) == 1 && args[0] == "lint":
					return o.lint(sh, ws)
				case len(args) == 2 && args[0] == "import":
					return o.importFile(sh, ws, args[1])
				case len(args) == 1 && args[0] == "propose":
					return o.propose(ctx, sh, ws)
				}
				return fail(exitUsage, "ttreport targets list", "targets: say what to do: list, lint, import FILE or propose")
			}
		},
	}
}

type targetOptions struct {
	model, device, release, level, out string
	least                              float64
}

func (o targetOptions) list(sh *shell, ws *workspace.Workspace) error {
	lib, problems, err := targetLibrary(ws, nil)
	if err != nil {
		return err
	}
	for _, p := range problems {
		sh.say("%s: %s", p.Severity, p)
	}
	tw := tabwriter.NewWriter(sh.out, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "MODEL\tDEVICE\tWORKLOAD\tMETRIC\tLEVEL\tTARGET\tTOLERANCE\tPRIORITY\tSOURCE")
	rows := 0
	for _, e := range lib.List() {
		if !o.wants(lib, e) {
			continue
		}
		for _, t := range e.Targets {
			info, _ := schema.MetricByName(t.Metric)
			name := info.Label
			if t.Key.IsEval() {
				name = orAny(t.Metric, "eval")
			}
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%g %%\t%s\t%s\n", e.Model, e.Device, words.Workload(t.Key), name, t.Level, words.Quantity(t.Value, t.Unit), 100*t.Tolerance, orAny(t.Priority, "by status"), t.Source)
			rows++
		}
	}
	if rows == 0 {
		return fail(exitUngraded, "targets/ needs a target file that can be read, for instance tt-inference-server's model_performance_reference.json", "no target to list")
	}
	return tw.Flush()
}

func (o targetOptions) wants(lib *library.Library, e library.Entry) bool {
	return (o.model == "" || strings.EqualFold(e.Model, o.model) || strings.EqualFold(e.Model, lib.Key(o.model))) && (o.device == "" || e.Device == "*" || schema.SameDevice(e.Device, o.device))
}

// lint tells contradictions of targets, worst first.
func (o targetOptions) lint(sh *shell, ws *workspace.Workspace) error {
	lib, problems, err := targetLibrary(ws, nil)
	if err != nil {
		return err
	}
	for _, p := range worstFirst(problems) {
		fmt.Fprintf(sh.out, "%-8s %-18s %s\n", p.Severity, p.Code, p)
	}
	counts, total := map[string]int{}, 0
	for _, e := range lib.List() {
		total += len(e.Targets)
	}
	for _, c := range foldLevels(lib.Lint()) {
		if !o.wants(lib, library.Entry{Model: c.Model, Device: c.Device}) {
			continue
		}
		counts[c.Code]++
		fmt.Fprintf(sh.out, "%-8s %-18s %s on %s %s, %s: %s\n", c.Severity, c.Code, c.Model, c.Device, c.Target.Key.Workload(), c.Target.Level, c.Text)
	}
	if total == 0 && len(problems) == 0 {
		return fail(exitUngraded, "targets/ needs a target file that can be read", "no target to lint")
	}
	fmt.Fprintf(sh.out, "%s; contradictions, by workload: %d unattainable, %d that need a TTFT of zero, %d with levels in the wrong order, %d on what no tool measures\n", plural(total, "target"), counts["unattainable"], counts["needs-no-ttft"], counts["tiers-inverted"], counts["unmeasured-metric"])
	switch {
	case countSeverity(problems, schema.SevError) > 0:
		return failure{code: exitInput, err: fmt.Errorf("%s in target files", plural(countSeverity(problems, schema.SevError), "row")+" that cannot be read")}
	case counts["unattainable"] > 0:
		return failure{code: exitGate, err: fmt.Errorf("targets of %s cannot be met by any machine that meets their neighbours", plural(counts["unattainable"], "workload"))}
	}
	return nil
}

// foldLevels tells a contradiction once that stands on several levels of one workload: the levels are shares of one value.
func foldLevels(list []library.Contradiction) []library.Contradiction {
	type place struct{ model, device, key, metric, code string }
	at := map[place]int{}
	var out []library.Contradiction
	for _, c := range list {
		id := place{c.Model, c.Device, c.Target.Key.String(), c.Target.Metric, c.Code}
		i, seen := at[id]
		if !seen {
			at[id] = len(out)
			out = append(out, c)
			continue
		}
		levels := out[i].Target.Level + ", " + c.Target.Level
		out[i] = c // the most demanding level has the numbers that people know
		out[i].Target.Level = levels
	}
	return out
}

// importFile turns a file of another form into one of ours.
func (o targetOptions) importFile(sh *shell, ws *workspace.Workspace, name string) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return fail(exitUsage, "name a file of targets", "targets import: %w", err)
	}
	aliases, err := library.DefaultAliases()
	if err != nil {
		return err
	}
	lib := library.NewLibrary(aliases)
	asOf := ""
	if info, err := os.Stat(name); err == nil {
		asOf = info.ModTime().UTC().Format(time.DateOnly)
	}
	problems := lib.Add(filepath.ToSlash(filepath.Base(name)), data, asOf, func(string) bool { return false })
	for _, p := range worstFirst(problems) {
		sh.say("%s: %s", p.Severity, p)
	}
	var f library.File
	unmeasured := 0
	for _, e := range lib.List() {
		if o.wants(lib, e) {
			part, n := library.Export(e.Model, e.Device, e.Targets)
			unmeasured += n
			f.Targets, f.Evals = append(f.Targets, part.Targets...), append(f.Evals, part.Evals...)
		}
	}
	if unmeasured > 0 {
		sh.say("note: %s left out, on metrics that no tool measures: ttreport targets lint names them", plural(unmeasured, "target"))
	}
	if len(f.Targets)+len(f.Evals) == 0 {
		return fail(exitInput, "see ttreport help files for the forms that are read", "targets import: no target was found in %s", name)
	}
	if o.out == "" {
		base := filepath.Base(name)
		o.out = filepath.Join(ws.Targets(), strings.TrimSuffix(base, filepath.Ext(base))+".yaml")
	}
	return o.write(sh, f)
}

// propose derives targets from history.
func (o targetOptions) propose(ctx context.Context, sh *shell, ws *workspace.Workspace) error {
	if !(o.least >= 0 && o.least < 100) || !slices.Contains(schema.Levels(), o.level) {
		return fail(exitUsage, "levels are "+strings.Join(schema.Levels(), ", ")+"; a margin is a percentage", "targets propose: --level %q, --min-margin %g", o.level, o.least)
	}
	report, err := makeReport(ctx, ws, []string{ws.History()}, ws.Cache(), nil)
	if err != nil {
		return err
	}
	if len(report.Releases) == 0 {
		return fail(exitUngraded, "ttreport build PATH reads results into history/", "targets propose: %s holds no run", ws.History())
	}
	at := report.Newest()
	if o.release != "" {
		if at = releaseNamed(report.Releases, o.release); at < 0 {
			return unknownRelease("--release", o.release, report.Releases)
		}
	}
	p := report.Gate.Propose(at, o.model, o.device, o.level, report.Releases[at].Date.UTC().Format(time.DateOnly), o.least/100)
	if len(p.File.Targets) == 0 {
		return fail(exitUngraded, "ttreport check --release "+report.Releases[at].Name+" says what it holds", "targets propose: %s has no number to promise", report.Releases[at].Name)
	}
	if n := len(report.Gate.Lost); n > 0 {
		sh.say("note: %s of the history cannot be read and counts for nothing here; ttreport check names it", plural(n, "document"))
	}
	if p.Single > 0 {
		sh.say("note: of %d of %d nobody knows the noise; their margin is twice the change that matters", p.Single, len(p.File.Targets))
	}
	if p.Skipped > 0 {
		sh.say("note: %s left out, which keep changing between two levels", plural(p.Skipped, "number"))
	}
	if o.out == "" {
		data, err := p.File.Marshal()
		if err == nil {
			_, err = sh.out.Write(data)
		}
		return err
	}
	return o.write(sh, p.File)
}

// write writes a target file that is not there yet.
func (o targetOptions) write(sh *shell, f library.File) error {
	if _, err := os.Stat(o.out); err == nil {
		return fail(exitUsage, "choose another with --out, or remove it", "%s exists", o.out)
	}
	data, err := f.Marshal()
	if err != nil {
		return err
	}
	if err := durable.WriteFile(o.out, data); err != nil {
		return fail(exitInput, "see its permissions and the space of the disk", "%w", err)
	}
	fmt.Fprintf(sh.out, "wrote %s: %s and %s\n", o.out, plural(len(f.Targets), "target"), plural(len(f.Evals), "reference score"))
	return nil
}
