package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/markdown"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets"
)

func checkCommand() command {
	return command{
		name: "check", summary: "the gate: may a release ship?",
		args: "[--release R | --run ID | --model M --device D]",
		help: `Judges what history/ holds of one release against its history and the targets in force, and says in one word whether it is
fit, with the reasons worst first. The newest release is taken unless another is named.

Exit codes: 0 fit, also with notes; 1 not fit; 5 nothing was graded, which is no pass. --fail-on says what makes it unfit; the
default is confirmed,target,invalid,missing. A change that was seen once (probable) is a note, with the command that rechecks it.

--explain prints the whole reckoning behind one verdict, so that it can be done again with a calculator.`,
		examples: []example{
			{"may the newest release ship?", "ttreport check"},
			{"one pair, for its owner", "ttreport check --model sim-8b --device simulated"},
			{"a job summary in CI", "ttreport check --format md --site https://example.org/results >> \"$GITHUB_STEP_SUMMARY\""},
			{"the strict gate", "ttreport check --fail-on probable,confirmed,target,inconclusive,invalid,missing"},
			{"how was this found?", "ttreport check --explain 0f3a2b1c4d5e"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			var o checkOptions
			fs.StringVar(&o.release, "release", "", "`name` of the release or build; the newest otherwise")
			fs.StringVar(&o.run, "run", "", "`id` of a run: its release is judged by this run alone")
			fs.StringVar(&o.model, "model", "", "only this `name` of a model")
			fs.StringVar(&o.device, "device", "", "only this `name` of a device")
			fs.StringVar(&o.baseline, "baseline", "", "newest `release` that may serve as a baseline")
			fs.StringVar(&o.failOn, "fail-on", "", "what makes it unfit: "+strings.Join(targets.FailKinds(), ", ")+" or none")
			fs.StringVar(&o.format, "format", "term", "term, md, json or junit")
			fs.StringVar(&o.site, "site", "", "`URL` of the published site, for links in markdown")
			fs.StringVar(&o.explain, "explain", "", "print the reckoning of the verdict with this `id`")
			fs.BoolVar(&o.all, "all", false, "list every verdict, also those that say nothing is wrong")
			fs.BoolVar(&o.recheckPlan, "recheck-plan", false, "print the plan that settles what was seen once, for ttreport collect --plan, also on another host")
			fs.BoolVar(&o.levels, "levels", false, "list the steps and drifts in the history of what is judged")
			return func(ctx context.Context, sh *shell, args []string) error {
				if len(args) > 0 {
					return fail(exitUsage, "ttreport check --release "+args[0], "check: unexpected %q", args[0])
				}
				return o.check(ctx, sh)
			}
		},
	}
}

type checkOptions struct {
	release, run, model, device, baseline, failOn, format, site, explain string
	all, levels, recheckPlan                                             bool
}

func (o checkOptions) check(ctx context.Context, sh *shell) error {
	if !slices.Contains([]string{"term", "md", "json", "junit"}, o.format) {
		return fail(exitUsage, "formats are term, md, json and junit", "check: --format %q", o.format)
	}
	if o.levels && o.format == "junit" {
		return fail(exitUsage, "term, md and json have them", "check: a test report has no place for --levels")
	}
	if o.run != "" && o.release != "" {
		return fail(exitUsage, "a run belongs to its release: give one of the two", "check: --run and --release name two things to judge")
	}
	ws, err := workspace.Open(".")
	if err != nil {
		return failure{code: exitUsage, err: err}
	}
	report, at, err := o.judge(ctx, ws)
	if err != nil {
		return err
	}
	if o.explain != "" {
		return explain(ctx, sh, report, o.explain)
	}
	g := report.Gate(at, o.model, o.device)
	if o.recheckPlan {
		return writeRecheckPlan(sh.out, &g)
	}
	if len(g.Pairs) == 0 {
		return fail(exitUngraded, "ttreport inspect says what the files hold; ttreport check without --model and --device lists all pairs", "check: %s has no run of %s on %s", g.Release, orAny(o.model, "any model"), orAny(o.device, "any device"))
	}
	if err := o.write(sh.out, report, at, g); err != nil {
		return err
	}
	d := words.Decide(g.Decided)
	switch g.Decided.Exit {
	case 1:
		return failure{code: exitGate, err: fmt.Errorf("%s: %s: %s", g.Release, strings.ToLower(d.Word), strings.TrimSuffix(d.Detail, "."))}
	case 5:
		return failure{code: exitUngraded, err: fmt.Errorf("%s: nothing was graded, which is no pass", g.Release), hint: "put targets into targets/, or keep the history of an earlier release"}
	}
	return nil
}

// writeRecheckPlan prints what would settle what was seen once, as a plan.
func writeRecheckPlan(w io.Writer, g *render.Gate) error {
	entries, err := recheckEntries(g)
	if err != nil {
		return err
	}
	data, err := plan.File{Plans: entries}.Marshal()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "# What %s is probably worse at, to be measured again: ttreport collect --plan FILE --server URL\n%s", g.Release, data)
	return err
}

// write prints the gate in the form that was asked for.
func (o checkOptions) write(w io.Writer, report *render.Report, at int, g render.Gate) error {
	var l *levels
	if o.levels {
		l = levelsOf(report.Judged, at, o.model, o.device)
	}
	switch o.format {
	case "json":
		return writeCheckJSON(w, g, l)
	case "junit":
		return writeJUnit(w, g, report.FailOn)
	case "md":
		page := report.GatePage(g, o.all)
		if l != nil {
			page.Sections = append(page.Sections, l.section())
		}
		_, err := w.Write(markdown.Page(page, o.site))
		return err
	default:
		writeCheckTerm(w, g, o.all)
		if l != nil {
			l.writeTerm(w)
		}
	}
	return nil
}

func orAny(s, any string) string {
	if s == "" {
		return any
	}
	return s
}

// judge loads history and finds the release that is asked for.
func (o checkOptions) judge(ctx context.Context, ws *workspace.Workspace) (*render.Report, int, error) {
	view := view{baseline: o.baseline, run: o.run, release: o.release}
	report, err := makeReportOf(ctx, ws, []string{ws.History()}, ws.Cache(), nil, view)
	if err != nil {
		return nil, 0, err
	}
	if o.failOn != "" {
		on, err := targets.ParseFailOn(o.failOn)
		if err != nil {
			return nil, 0, failure{code: exitUsage, err: fmt.Errorf("check: %w", err)}
		}
		report.FailOn = on
	}
	if len(report.Releases) == 0 {
		return nil, 0, fail(exitUngraded, "ttreport build PATH reads results into history/", "check: %s holds no run, so nothing was graded", ws.History())
	}
	at := report.Newest()
	switch {
	case o.run != "":
		at = slices.IndexFunc(report.Releases, func(r targets.Release) bool {
			return r.Name == view.release || len(r.Runs) == 1 && report.Columns.Runs[r.Runs[0]].ID == o.run
		})
		for i, r := range report.Releases {
			for _, run := range r.Runs {
				if report.Columns.Runs[run].ID == o.run {
					at = i
				}
			}
		}
		if at < 0 {
			return nil, 0, fail(exitUsage, "run ids stand on the pages of runs and in data/index.json", "check: no run is called %q", o.run)
		}
	case o.release != "":
		if at = releaseNamed(report.Releases, o.release); at < 0 {
			return nil, 0, unknownRelease("--release", o.release, report.Releases)
		}
	case o.model != "" || o.device != "":
		at = newestOf(report, o.model, o.device, at)
	}
	if b := releaseNamed(report.Releases, o.baseline); o.baseline != "" && (b >= at || report.Judged.Before(at) < 0) {
		return nil, 0, fail(exitUsage, "a baseline must come before what is judged, in its line and channel", "check: nothing up to %s can be a baseline of %s", o.baseline, report.Releases[at].Name)
	}
	return report, at, nil
}

func releaseNamed(list []targets.Release, name string) int {
	return slices.IndexFunc(list, func(r targets.Release) bool { return r.Name == name })
}

// unknownRelease names the releases there are, the nearest first.
func unknownRelease(flag, name string, list []targets.Release) error {
	var names []string
	for i := len(list) - 1; i >= 0 && len(names) < 8; i-- {
		names = append(names, list[i].Name)
	}
	return fail(exitUsage, didYouMean(name, names, "", "there are "+strings.Join(names, ", ")), "no release is called %q (%s)", name, flag)
}

// newestOf is the newest release that has a pair.
func newestOf(r *render.Report, model, device string, otherwise int) int {
	best := -1
	for _, p := range r.Pairs {
		if (model == "" || p.Model == model) && (device == "" || p.Device == device) {
			best = max(best, p.Newest)
		}
	}
	if best < 0 {
		return otherwise
	}
	return best
}

// writeCheckTerm prints the gate for a person at a terminal.
func writeCheckTerm(w io.Writer, g render.Gate, all bool) {
	d := words.Decide(g.Decided)
	against := ""
	if g.Baseline != "" {
		against = " against the releases up to " + g.Baseline
	}
	fmt.Fprintf(w, "%s%s: %s\n  %s\n", g.Release, against, strings.ToUpper(d.Word), capital(strings.TrimSuffix(d.Detail, ".")))
	for _, p := range g.Remarks() {
		fmt.Fprintf(w, "  %s\n", p)
	}
	if len(g.Pairs) > 1 {
		fmt.Fprint(w, "\nPAIRS\n")
		for _, x := range g.Pairs {
			pd := words.Decide(x.Decided)
			fmt.Fprintf(w, "  %-16s %s on %s: %s\n", strings.ToLower(pd.Word), orUnknown(x.Model), orUnknown(x.Device), strings.TrimSuffix(pd.Detail, "."))
		}
	}
	history, promised := g.Told()
	if all {
		history, promised = g.History, g.Targets
	}
	writeVerdicts(w, "AGAINST HISTORY, worst first", history, len(g.History))
	writeVerdicts(w, "TARGETS", promised, len(g.Targets))
	if len(g.Lints) > 0 {
		fmt.Fprint(w, "\nLINTS\n")
		for _, l := range g.Lints {
			fmt.Fprintf(w, "  %-8s %-18s %s\n", l.Severity, l.ID, words.Lint(l))
		}
	}
	if lines := g.Recheck(); len(lines) > 0 {
		fmt.Fprintf(w, "\nWhat was seen once is settled by measuring it again on a new server, then ttreport build:\n  %s\n", strings.Join(lines, "\n  "))
	}
}
