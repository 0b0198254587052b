package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
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
	"github.com/ttreport/ttreport/site"
	"github.com/ttreport/ttreport/static"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

func buildCommand() command {
	return command{
		name: "build", args: "[PATH…]", summary: "read results/ and PATHs into history/, then write _site/",
		help: `Reads run folders in results/ and everything in the given files and folders, keeps each run as a document in history/, judges
all of history against targets, and writes the site. The site works from disk: open _site/index.html.

With --ephemeral the history folder is not touched: the site shows history and the PATHs together, and nothing is kept.`,
		examples: []example{
			{"after ttreport collect", "ttreport build"},
			{"a workflow_logs tree of tt-inference-server", "ttreport build workflow_logs/"},
			{"one release as a file for a ticket", "ttreport build --single-file v0.17.0"},
			{"a site that tells nothing of our machines", "ttreport build --public --base-url https://example.org/results"},
			{"look at somebody's results without keeping them", "ttreport build --ephemeral --out /tmp/site results-of-somebody/"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			var o buildOptions
			fs.StringVar(&o.out, "out", "", "output `folder` (default _site)")
			fs.BoolVar(&o.ephemeral, "ephemeral", false, "leave history/ as it is")
			fs.BoolVar(&o.strict, "strict", false, "exit 3 when there is a problem that is an error")
			fs.StringVar(&o.baseURL, "base-url", "", "`URL` at which the site will be published: adds feed.xml; site.base_url in ttreport.yaml does the same")
			fs.BoolVar(&o.public, "public", false, "leave out commands, and take paths, addresses and registries out of every text")
			fs.StringVar(&o.single, "single-file", "", "`RUN or RELEASE` to write as one HTML file for a mail or a ticket, in place of the site; --out names it")
			id := identityFlags(fs)
			return func(ctx context.Context, sh *shell, args []string) error {
				ws, err := workspace.Open(".")
				if err != nil {
					return failure{code: exitUsage, err: err}
				}
				return build(ctx, sh, ws, args, id, o)
			}
		},
	}
}

type buildOptions struct {
	out, baseURL      string
	single            string // release or run to write as one file, in place of the site
	public            bool
	ephemeral, strict bool
	built             func(changed []string) // called with the files that were written; may be nil
}

// build is the road from files to pages.
func build(ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string, id *identity, o buildOptions) error {
	if o.baseURL == "" {
		o.baseURL = ws.Config.Site.BaseURL
	}
	if u, err := url.Parse(o.baseURL); o.baseURL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return fail(exitUsage, "it begins with https:// and names a host", "build: --base-url %q is no address of a site", o.baseURL)
	}
	if o.single != "" {
		return o.singleFile(ctx, sh, ws, paths, id)
	}
	if o.out == "" {
		o.out = ws.Site()
	}
	switch err := site.Check(o.out); {
	case errors.Is(err, site.ErrForeignFolder):
		return fail(exitUsage, "choose another folder with --out, or empty it", "%w", err)
	case err != nil:
		return fail(exitUsage, "choose another folder with --out", "the site cannot be written: %w", err)
	}
	asked := len(paths)
	paths = withResults(ws, paths)
	dirs := []string{ws.History()}
	if o.ephemeral {
		tmp, err := os.MkdirTemp("", "ttreport-ephemeral-")
		if err != nil {
			return fmt.Errorf("ephemeral history: %w", err)
		}
		defer os.RemoveAll(tmp)
		dirs = append(dirs, tmp)
	}
	got, last, err := read(ctx, sh, ws, paths, id, dirs, o)
	switch {
	case err != nil:
		return err
	case last != nil: // nothing changed, and the site stands as it was written
		sh.say("wrote     %s in %s: 0 new or changed, 0 removed", plural(last.Pages, "file"), o.out)
		fmt.Fprintf(sh.out, "Open %s: %s\n", filepath.Join(o.out, "index.html"), last.Headline)
		return got.verdict(o.strict)
	case asked > 0 && got.runs == 0:
		return fail(exitInput, "ttreport inspect PATH says of each file what it lacks", "no result was found in %s; the site is left as it was", plural(got.files, "file"))
	}
	report, err := write(ctx, sh, ws, paths, id, dirs, o, got)
	if err != nil {
		return err
	}
	if len(report.Columns.Runs) == 0 && len(report.Problems) == 0 && got.files == 0 {
		sh.say("hint: there is nothing to show yet; ttreport collect measures, ttreport build PATH reads what you have")
	}
	if o.strict && countSeverity(report.Problems, schema.SevError) > 0 {
		return failure{code: exitInput, err: fmt.Errorf("%s, and --strict was given", plural(countSeverity(report.Problems, schema.SevError), "error"))}
	}
	return got.verdict(o.strict)
}

// read takes the paths into history, unless the last build read the same. last is that build, when its site still stands.
func read(ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string, id *identity, dirs []string, o buildOptions) (readResult, *lastBuild, error) {
	if !o.ephemeral {
		if last, same, current := unchanged(ws, paths, id, o); same {
			got := readResult{files: last.Files, runs: last.Runs, problems: last.Problems}
			sayErrors(sh, got.problems)
			sh.say("read      %s, unchanged since the last build; %s", plural(got.files, "file"), problemCounts(got.problems))
			if current {
				return got, &last, nil
			}
			return got, nil, nil
		}
	}
	got, err := take(ctx, sh, ws, paths, id, dirs[len(dirs)-1])
	return got, nil, err
}

// write judges history and writes the site.
func write(ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string, id *identity, dirs []string, o buildOptions, got readResult) (*render.Report, error) {
	theme, err := themeOf(ws)
	if err != nil {
		return nil, err
	}
	cache := ws.Cache()
	if o.ephemeral {
		cache = ""
	}
	report, err := makeReport(ctx, ws, dirs, cache, got.problems)
	if err != nil {
		return nil, err
	}
	report.Public = o.public
	if report.Planned, err = planned(ws, report.Columns); err != nil {
		return nil, err
	}
	damaged := false
	for _, p := range report.Problems {
		told := slices.ContainsFunc(got.problems, func(q schema.Problem) bool { return q.Path == p.Path && q.Code == p.Code })
		if p.Severity == schema.SevError && strings.HasPrefix(p.Path, filepath.ToSlash(ws.History())) && !told {
			sh.say("%s: %s", p.Severity, p)
			damaged = true
		}
	}
	sh.say("history   %s, %s, %s", releaseCounts(report.Releases), plural(len(report.Columns.Runs), "run"), plural(len(report.Columns.Points), "point"))
	result, err := site.Build(ctx, report, site.Options{Dir: o.out, Stamp: programStamp(ws, o), BaseURL: o.baseURL, Theme: theme, Run: func(i int) (schema.Run, *schema.Problem) { return history.Read(report.Columns.Runs[i].Path) }})
	if err != nil {
		return nil, failure{code: exitInput, err: fmt.Errorf("writing the site: %w", err), hint: "what was there before is still there; see the permissions and the space of " + o.out}
	}
	sh.say("wrote     %s in %s: %d new or changed, %d removed", plural(result.Files, "file"), o.out, len(result.Changed), result.Removed)
	if o.built != nil {
		o.built(result.Changed)
	}
	said := headline(report)
	fmt.Fprintf(sh.out, "Open %s: %s\n", filepath.Join(o.out, "index.html"), said)
	if !o.ephemeral && !damaged {
		remember(ws, paths, id, got, o, result.Files, said)
	}
	return report, nil
}

// take reads the paths into history. Without paths there is still the target library, and what is wrong with it.
func take(ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string, id *identity, history string) (readResult, error) {
	if len(paths) == 0 {
		var got readResult
		var err error
		_, got.problems, err = targetLibrary(ws, nil)
		return got, err
	}
	got, err := readIn(ctx, sh, ws, paths, id, history, false)
	if err == nil {
		sh.say("read      %s, %s, %s", plural(got.files, "file"), plural(got.runs, "run"), problemCounts(got.problems))
	}
	return got, err
}

// releaseCounts calls a build without a release a build.
func releaseCounts(list []judge.Release) string {
	labelled := 0
	for _, r := range list {
		if r.Label {
			labelled++
		}
	}
	switch {
	case labelled == len(list):
		return plural(labelled, "release")
	case labelled == 0:
		return plural(len(list), "build") + " without a release"
	}
	return plural(labelled, "release") + " and " + plural(len(list)-labelled, "build")
}

// makeReport loads history and indexes it for pages.
func makeReport(ctx context.Context, ws *workspace.Workspace, dirs []string, cache string, problems []schema.Problem) (*render.Report, error) {
	return makeReportOf(ctx, ws, dirs, cache, problems, view{})
}

// view narrows what is judged: to a run in place of its whole release, to baselines up to a release.
type view struct{ run, release, baseline string }

// apply drops runs and releases that the view leaves out.
func (v view) apply(c *columns.Columns, list []judge.Release) ([]judge.Release, error) {
	if v.run != "" {
		for i := range list {
			for _, run := range list[i].Runs {
				if c.Runs[run].ID == v.run {
					list[i].Runs = []int{run}
					v.release = list[i].Name
				}
			}
		}
	}
	if v.baseline == "" {
		return list, nil
	}
	at := releaseNamed(list, v.baseline)
	if at < 0 {
		return nil, unknownRelease("--baseline", v.baseline, list)
	}
	name := v.release
	if name == "" {
		name = list[len(list)-1].Name
	}
	var out []judge.Release
	for i, r := range list {
		if i <= at || r.Name == name {
			out = append(out, r)
		}
	}
	return out, nil
}

// makeReportOf is makeReport for part of what is stored.
func makeReportOf(ctx context.Context, ws *workspace.Workspace, dirs []string, cache string, problems []schema.Problem, v view) (*render.Report, error) {
	cols, bad, err := history.Load(ctx, cache, dirs...)
	if err != nil {
		return nil, err
	}
	order, err := ws.ReleaseOrder()
	if err != nil {
		return nil, failure{code: exitUsage, err: err}
	}
	notes, err := ws.ReadNotes()
	if err != nil {
		return nil, failure{code: exitInput, err: err}
	}
	policy, err := ws.Policy(time.Now())
	if err != nil {
		return nil, failure{code: exitUsage, err: err}
	}
	releases, err := v.apply(cols, judge.Releases(cols, order))
	if err != nil {
		return nil, err
	}
	judged, err := gate.New(ctx, cols, releases, policy)
	if err != nil {
		return nil, err
	}
	judged.Lost, judged.Listed = lost(bad), order
	if judged.FailOn, err = ws.FailOn(); err != nil {
		return nil, failure{code: exitUsage, err: err}
	}
	if m := ws.Config.Site.Mode; m != "" && m != "releases" && m != "nightly" {
		return nil, fail(exitUsage, "modes are releases and nightly", "%s: site.mode %q", workspace.ConfigName, m)
	}
	return render.New(render.Input{Title: ws.Title(), Nightly: ws.Config.Site.Mode == "nightly", Models: render.Listing(ws.Config.Models), Devices: render.Listing(ws.Config.Devices), Gate: judged, Notes: notes,
		Problems: append(bad, notAmong(problems, bad, cols)...), Version: versionLine(), Topics: topics(),
		Licences: []render.Licence{{Name: "Apache ECharts", Version: static.EChartsVersion, Licence: "Apache-2.0", File: "assets/echarts.LICENSE.txt"}}}), nil
}

// lost are the problems for which a document of the history counts for nothing.
func lost(problems []schema.Problem) []schema.Problem {
	var out []schema.Problem
	for _, p := range problems {
		if p.Lost {
			out = append(out, p)
		}
	}
	return out
}

// notAmong keeps the problems of files that made no run: the others are stored with their runs, or met by the load too.
func notAmong(problems, met []schema.Problem, c *columns.Columns) []schema.Problem {
	known := map[[2]string]bool{}
	for _, p := range met {
		known[[2]string{p.Path, p.Code}] = true
	}
	for _, p := range c.Problems {
		known[[2]string{p.Path, p.Code}] = true
	}
	var out []schema.Problem
	for _, p := range problems {
		if p.Severity != schema.SevNote && !known[[2]string{p.Path, p.Code}] {
			out = append(out, p)
		}
	}
	return out
}

// headline is the last line of a build: the decision on the newest release.
func headline(r *render.Report) string {
	name, d, counts := r.Headline()
	switch {
	case name == "" && counts != "":
		return "no results can be shown; " + counts
	case name == "":
		return "no results yet"
	}
	return fmt.Sprintf("%s: %s; %s", name, d.Word, counts)
}

// age is a duration as people say it, for progress lines.
func age(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
}
