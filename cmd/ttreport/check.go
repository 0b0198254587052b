package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/markdown"
	"github.com/ttreport/ttreport/render/rows"
	"github.com/ttreport/ttreport/render/terminal"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

func checkCommand(sh *shell) *cobra.Command {
	o, failOn := checkOptions{format: "term"}, ""
	return command("check", map[string]any{
		"release": &o.release, "run": &o.run, "model": &o.model, "device": &o.device, "against": &o.baseline,
		"channel": &o.channel, "ephemeral": &o.ephemeral, "fail-on": &failOn, "format": &o.format, "site": &o.site,
		"explain": &o.explain, "all": &o.all, "results": &o.results, "recheck-plan": &o.recheckPlan,
		"lock-timeout": &sh.patience, "change-points": &o.changePoints,
	}, func(c *cobra.Command, args []string) (err error) {
		switch isStored := len(args) == 0; {
		case isStored && (o.ephemeral || o.channel != ""):
			return fail(exitUsage, "ttreport check results/ --ephemeral", "check: --ephemeral and --channel need PATHs")
		case !isStored && o.run != "":
			return fail(exitUsage, "ttreport check PATH…, or ttreport check --run ID",
				"check: --run names a run in history; it cannot be combined with PATHs")
		}
		if c.Flags().Changed("fail-on") {
			if o.failOn, err = gate.ParseFailOn(failOn); err != nil {
				return failure{code: exitUsage, err: fmt.Errorf("check: %w", err)}
			}
		}
		return o.check(c.Context(), sh, args)
	})
}

type checkOptions struct {
	by                                                           string // the command that asks; "" for check
	release, run, model, device, baseline, format, site, explain string
	channel                                                      string
	failOn                                                       gate.FailOn // nil for that of the workspace
	all, changePoints, recheckPlan, ephemeral, results           bool
}

func (o checkOptions) check(ctx context.Context, sh *shell, paths []string) error {
	ws, release, err := sh.openLocked(ctx, folderlock.Shared)
	if err != nil {
		return err
	}
	unlock := sync.OnceFunc(release)
	defer unlock()
	lib, _, err := soundTargets(ws, nil)
	if err != nil {
		return err
	}
	var report *render.Report
	var at int
	if len(paths) > 0 {
		report, at, err = o.judgeFiles(ctx, sh, ws, paths)
	} else if report, at, err = judged(ctx, ws, o); err == nil {
		if n := leftInResults(ctx, ws, report.Columns); n > 0 { // which nobody would see
			sh.say("note: results/ has %s that history lacks and this does not judge: ttreport ingest results/",
				plaintext.Plural(n, "run"))
		}
	}
	unlock() // what is printed was read
	if err != nil {
		return err
	}
	sayNames(sh, report)
	if o.explain != "" {
		return explain(ctx, sh.out, report.Gate, o.explain)
	}
	g := report.Gate.Review(at, o.model, o.device)
	if o.model == "" && o.device == "" {
		var must []schema.Pair
		g.Unmeasured, must = lib.Unmeasured(report.Columns.Runs)
		g.Require(must, report.Releases[at].Channel)
	}
	if o.recheckPlan {
		return writeRecheckPlan(sh.out, report, &g)
	}
	if len(g.Pairs) == 0 {
		const fix = "ttreport inspect lists what the files hold; ttreport check without --model and --device lists all"
		return fail(exitUngraded, fix, "check: %s has no run of %s on %s",
			g.Release, cmp.Or(o.model, "any model"), cmp.Or(o.device, "any device"))
	}
	if err := o.write(sh.out, report, at, g); err != nil {
		return err
	}
	switch d := words.Decide(g.Result); g.Result.Exit {
	case exitGate:
		return failure{code: exitGate, err: fmt.Errorf("%s: %s: %s", g.Release, d.Word, strings.TrimSuffix(d.Detail, "."))}
	case exitUngraded:
		return fail(exitUngraded, ungradedFix(&g, report, at), "%s: nothing was graded, which is not a pass", g.Release)
	}
	return nil
}

// sayNames says of results what only the names of folders or files say: what is compared by them, or is not. Of builds
// in names it says the first by path.
func sayNames(sh *shell, report *render.Report) {
	say := func(p schema.Problem) { sh.say("warning: %s\nfix: %s", p.Found, p.Hint) }
	for _, p := range report.Problems {
		if p.Code == judge.CodeNames {
			say(p)
		}
	}
	isOther := func(p columns.ProblemRow) bool { return p.Code != ingest.CodeBuilds }
	builds := slices.DeleteFunc(slices.Clone(report.Columns.Problems), isOther) // in the order in which documents came
	if len(builds) > 0 {
		say(slices.MinFunc(builds, func(a, b columns.ProblemRow) int { return strings.Compare(a.Path, b.Path) }).Problem)
	}
}

// ungradedFix is what to type where nothing was graded. Runs of an unknown model or device are compared with nothing,
// one earlier value has no noise, and builds that state neither a release nor a time have no order until somebody names
// them.
func ungradedFix(g *gate.Review, report *render.Report, at int) string {
	r := report.Releases[at]
	c := report.Columns
	lacks := func(of func(int) string) bool {
		return len(r.Runs) > 0 && !slices.ContainsFunc(r.Runs, func(i int) bool { return of(i) != "" })
	}
	var facts, flags []string
	if lacks(func(i int) string { return c.Runs[i].Model.Name }) { // a name would replace what they state
		facts, flags = append(facts, "model"), append(flags, "--model NAME ")
	}
	if lacks(func(i int) string { return c.Runs[i].Device }) {
		facts, flags = append(facts, "device"), append(flags, "--device NAME ")
	}
	if len(facts) > 0 {
		return "its results do not state their " + strings.Join(facts, " or ") + ": ttreport build " +
			strings.Join(flags, "") + "PATH if all are of one; ttreport identify PATH shows what the names of files suggest"
	}
	if g.Result.Open > 0 {
		return "measure more blocks: run the same ttreport collect … --against again, or with --blocks 4"
	}
	if g.Fit.Single {
		return "one earlier release does not show the noise: measure the next one, too, or put targets into targets/"
	}
	for _, v := range g.History {
		c, _ := v.Reason.(schema.EvalChange)
		switch {
		case c.Test != schema.TestNoError:
		case c.N > 0:
			return "this score can be judged only with its standard error: let the tool write it"
		default:
			return "state the number of questions of each score: let the tool write it, or map the column, questions TASK " +
				"under " +
				"tables: in ttreport.yaml"
		}
	}
	return noOrderFix(report, at)
}

// noOrderFix is what gives a release an earlier one to be compared with.
func noOrderFix(report *render.Report, at int) string {
	r := report.Releases[at]
	isDated := func(i int) bool { return !report.Columns.Runs[i].Start.IsZero() }
	switch isDated := slices.ContainsFunc(r.Runs, isDated); {
	case isDated && !r.Label && r.Channel == schema.ChannelDev:
		return "a build without a channel cannot be a baseline: ttreport build --channel main PATH if they are of the main " +
			"branch, or name each: ttreport build --release v1 FOLDER"
	case isDated || r.Label:
		return "put targets into targets/, or keep the history of an earlier release"
	}
	fix := "it states no release and no time: name each build, the earliest first: ttreport build --release v1 FOLDER"
	if pattern := releaseFolders(report); pattern != "" {
		fix += "; or all by their folders: ttreport build --pattern '" + pattern + "' FOLDER"
	}
	return fix
}

// releaseFolders is the pattern of the folders that tell builds apart which state no release; "" where none do.
func releaseFolders(report *render.Report) string {
	const deepest = 6
	for level := 1; level <= deepest; level++ {
		builds, of, isOne := 0, map[string]bool{}, true
		for i := range report.Releases {
			r, names := &report.Releases[i], map[string]bool{}
			if r.Label {
				continue
			}
			for _, run := range r.Runs {
				folders := strings.Split(path.Dir(report.Columns.Runs[run].First), "/")
				names[folders[max(0, len(folders)-level)]] = true
			}
			builds, isOne = builds+1, isOne && len(names) == 1
			maps.Copy(of, names)
		}
		if builds > 1 && isOne && len(of) == builds {
			return "{release}" + strings.Repeat("/*", level)
		}
	}
	return ""
}

// writeRecheckPlan prints what would settle what was seen once, as a plan.
func writeRecheckPlan(w io.Writer, r *render.Report, g *gate.Review) error {
	entries, left := recheckEntries(r, g)
	data, err := plan.File{Plans: entries}.Marshal()
	if err != nil {
		return err
	}
	const text = "# Suspected regressions of %s, to be measured again: ttreport collect --plan FILE --server URL\n"
	head := fmt.Sprintf(text, g.Release)
	if left > 0 {
		head += "# " + otherTools(left) + "\n"
	}
	_, err = fmt.Fprintf(w, "%s%s", head, data)
	return err
}

// write prints the gate in the form that was asked for.
func (o *checkOptions) write(w io.Writer, report *render.Report, at int, g gate.Review) error {
	var c *render.ChangePoints
	if o.changePoints {
		list := report.ChangePoints(at, o.model, o.device)
		c = &list
	}
	var sections []render.Section
	if o.results {
		sections = report.ResultSections(at, o.model, o.device)
	}
	switch o.format {
	case "json":
		return rows.CheckJSON(w, &g, report.Card(&g), c)
	case "junit":
		return terminal.JUnit(w, &g, report.Gate.FailsOn(at))
	case "md", "release":
		page := report.GatePage(g, o.all)
		if o.format == "release" {
			page = report.ReleaseReport(at, g)
		}
		if c != nil {
			page.Sections = append(page.Sections, c.Section())
		}
		page.Sections = append(page.Sections, sections...)
		_, err := w.Write(markdown.Report(page, o.site))
		return err
	default:
		terminal.Check(w, &g, report.Card(&g), o.all)
		if c != nil {
			terminal.ChangePoints(w, *c)
		}
		for i := range sections {
			terminal.Section(w, &sections[i])
		}
	}
	return nil
}

// judged judges what history holds, and finds the release that the options name.
func judged(ctx context.Context, ws *workspace.Workspace, o checkOptions) (*render.Report, int, error) {
	view := judge.View{Run: o.run, Release: o.release, Baseline: o.baseline}
	return o.judge(ctx, ws, reportRequest{view: view})
}

// judge judges what is asked for, and finds the release that the options name.
func (o checkOptions) judge(
	ctx context.Context, ws *workspace.Workspace, req reportRequest,
) (*render.Report, int, error) {
	by := cmp.Or(o.by, "check")
	r, err := makeReport(ctx, ws, req)
	if err != nil {
		return nil, 0, err
	}
	if o.failOn != nil {
		r.Gate.FailOn = o.failOn
	}
	if len(r.Releases) == 0 {
		if lost := r.Gate.Lost; len(lost) > 0 {
			return nil, 0, failure{code: exitInput, err: fmt.Errorf("%s: nothing of the history can be read: %w", by, lost[0])}
		}
		return nil, 0, fail(exitUngraded, "ttreport build PATH reads results into history/",
			"%s: %s holds no run, so nothing was graded", by, ws.History())
	}
	at := -1
	switch {
	case o.run != "":
		if at = judge.WithRun(r.Columns, r.Releases, o.run); at < 0 {
			return nil, 0, fail(exitUsage, "run ids are on the pages of runs and in data/index.json",
				"%s: unknown run %q", by, o.run)
		}
	case o.release != "":
		if at, err = releaseNamed(r, o.release); err != nil {
			return nil, 0, err
		}
	case o.model != "" || o.device != "":
		at = judge.NewestWith(r.Columns, r.Releases, o.model, o.device)
	}
	if at < 0 {
		at = judge.Arrived(r.Releases, r.Newest(), func(x *judge.Release) bool { return x.Label })
	}
	if b := judge.Named(r.Releases, o.baseline); o.baseline != "" && (b >= at || r.Gate.Before(at) < 0) {
		return nil, 0, fail(exitUsage, "a baseline must come before what is judged, in its line and channel",
			"%s: nothing up to %s can be a baseline of %s", by, o.baseline, r.Releases[at].Name)
	}
	return r, at, nil
}

// explain prints how a verdict was found.
func explain(ctx context.Context, w io.Writer, g *gate.Gate, id string) error {
	v, at, ok := g.Verdict(id)
	if !ok {
		return fail(exitUsage, "ids are in brackets in ttreport check, and in its JSON",
			"check: no verdict has the id %q", id)
	}
	c, err := g.Explain(ctx, at, v)
	switch {
	case err != nil:
		return err
	case c == nil:
		terminal.Verdict(w, v)
		terminal.EvalCalculation(w, v, g.ExplainEval(v))
		return nil
	}
	terminal.Calculation(w, v, c, g.Releases)
	fit := g.Fit(at)
	_, err = fmt.Fprintf(w, "calibration          %d of %d earlier predictions at 2 %% failed\n", fit.Exceeded, fit.Tested)
	return err
}

// judgeFiles judges the results of paths as one build beside the history, which is only read.
func (o checkOptions) judgeFiles(
	ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string,
) (*render.Report, int, error) {
	dir, err := os.MkdirTemp("", "ttreport-ephemeral-")
	if err != nil {
		return nil, 0, fmt.Errorf("check: a folder for what is read: %w", err)
	}
	defer os.RemoveAll(dir)
	cols, _, err := history.Load(ctx, ws.History())
	if err != nil {
		return nil, 0, err
	}
	if o.release == "" { // named after its paths
		const most = 3
		var names []string
		for _, p := range paths[:min(len(paths), most)] {
			names = append(names, filepath.Base(fromHere(p)))
		}
		if more := len(paths) - most; more > 0 {
			names = append(names, plaintext.Plural(more, "path"))
		}
		o.release = strings.Join(names, "+")
	}
	if slices.ContainsFunc(cols.Runs, func(h columns.RunHead) bool { return h.Release == o.release }) {
		return nil, 0, fail(exitUsage, "name the build with --release; ttreport check --release "+o.release+
			" judges what is stored", "check: history has a release %q already", o.release)
	}
	channel := cmp.Or(o.channel, schema.ChannelPR)
	id := &identity{model: o.model, device: o.device, release: o.release, channel: channel, oneBuild: true}
	got, err := readIn(ctx, sh, ws, paths, id, dir, false)
	switch {
	case err != nil:
		return nil, 0, err
	case got.Runs == 0:
		return nil, 0, noResult(got, paths, "check: no result was found in %s")
	case got.Written == 0:
		return nil, 0, fail(exitUsage, "ttreport check --run ID judges what is stored",
			"check: history has all of these results already")
	case got.Refused > 0:
		return nil, 0, readVerdict(got, paths, false)
	}
	report, at, err := o.judge(ctx, ws, reportRequest{
		dirs: []string{ws.History(), dir}, problems: got.Problems,
		view: judge.View{Release: o.release, Baseline: o.baseline, Newest: true},
	})
	if err == nil { // the command that stores them as the build that was judged
		argv := []string{"ttreport", "ingest", "--release", o.release, "--channel", channel}
		if o.model != "" {
			argv = append(argv, "--model", o.model)
		}
		if o.device != "" {
			argv = append(argv, "--device", o.device)
		}
		report.Ingest = shellescape.QuoteCommand(append(argv, paths...))
	}
	return report, at, err
}
