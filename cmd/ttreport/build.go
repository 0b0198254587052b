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
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/listing"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/unchanged"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
	"github.com/ttreport/ttreport/targets/judge"
)

func buildCommand() command {
	return command{
		name: "build", args: "[PATH…]", summary: "read results/ and PATHs into history/, then write _site/",
		help: `
Reads run folders in results/ and everything in the given files and folders, keeps each run as a document in history/,
judges all of history against targets, and writes the site. The site works from disk: open _site/index.html.

With --ephemeral the history folder is not touched: the site shows history and the PATHs together; nothing is kept.`,
		examples: []example{
			{"after ttreport collect", "ttreport build"},
			{"a workflow_logs tree of tt-inference-server", "ttreport build workflow_logs/"},
			{"one release as a file for a ticket", "ttreport build --single-file v0.17.0"},
			{"also reports_output/, as tt-inference-server writes it", "ttreport build --reports tt workflow_logs/"},
			{"a site that shows nothing of our machines", "ttreport build --public --base-url https://example.org"},
			{"the last releases of some models", "ttreport build --since v0.16.0 --models 'Llama-*,Qwen3-*' --out part"},
			{
				"look at somebody's results without keeping them",
				"ttreport build --ephemeral --out /tmp/site results-of-somebody/",
			},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			var o buildOptions
			fs.StringVar(&o.out, "out", "", "output `folder` (default _site)")
			fs.BoolVar(&o.ephemeral, "ephemeral", false, "leave history/ as it is")
			fs.BoolVar(&o.strict, "strict", false, "exit 3 when there is a problem that is an error")
			fs.StringVar(&o.baseURL, "base-url", "",
				"`URL` at which the site will be published: adds feed.xml; site.base_url in ttreport.yaml does the same")
			fs.BoolVar(&o.public, "public", false,
				"leave out commands, and take paths, addresses and registries out of every text")
			fs.StringVar(&o.single, "single-file", "",
				"`RUN or RELEASE` to write as one HTML file for a mail or a ticket, in place of the site; --out names it")
			fs.StringVar(&o.reports, "reports", "",
				"`LAYOUT` of reports of the newest release to write beside the site: tt, as tt-inference-server writes "+
					"its reports_output/, both generations; nm-vllm, a BenchmarkResult JSON a point")
			fs.StringVar(&o.reportsDir, "reports-out", "", "`folder` for --reports (default reports_output)")
			o.part.declare(fs)
			lockFlag(fs, &o.patience)
			o.id = identityFlags(fs)
			return func(ctx context.Context, sh *shell, args []string) error {
				ws, err := openWorkspace(".")
				if err != nil {
					return err
				}
				return build(ctx, sh, ws, args, o)
			}
		},
	}
}

type buildOptions struct {
	id                *identity // nil where none is stated
	out, baseURL      string
	single            string // release or run to write as one file, in place of the site
	reports           string // layout of the reports to write, "" for none
	reportsDir        string // where; "" is the workspace's own folder
	part              historyPart
	public            bool
	ephemeral, strict bool
	program           func() string          // a hash of it; "" where it is not known
	patience          time.Duration          // for another command in the workspace
	built             func(changed []string) // called with the files that were written; may be nil
}

// complete takes defaults from the workspace and refuses what cannot be.
func (o *buildOptions) complete(ws *workspace.Workspace) error {
	if o.id == nil {
		o.id = &identity{}
	}
	if err := o.completeReports(); err != nil {
		return err
	}
	if o.baseURL == "" {
		o.baseURL = ws.Config.Site.BaseURL
	}
	u, err := url.Parse(o.baseURL)
	if o.baseURL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return fail(exitUsage, "it begins with https:// and names a host",
			"build: --base-url %q is no address of a site", o.baseURL)
	}
	if o.single != "" {
		return nil
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
	return nil
}

// build goes all the way from files to pages.
func build(ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string, o buildOptions) error {
	if err := o.complete(ws); err != nil {
		return err
	}
	defer boundGarbage()()
	release, err := lock(ctx, sh, ws.Dir, folderlock.Exclusive, o.patience)
	if err != nil {
		return err
	}
	defer release()
	asked := len(paths) > 0
	paths = withResults(ws, paths)
	if o.single != "" {
		return o.singleFile(ctx, sh, ws, paths)
	}
	dirs := []string{ws.History()}
	if o.ephemeral {
		tmp, err := os.MkdirTemp("", "ttreport-ephemeral-")
		if err != nil {
			return fmt.Errorf("ephemeral history: %w", err)
		}
		defer os.RemoveAll(tmp)
		dirs = append(dirs, tmp)
	}
	got, stands, err := o.read(ctx, sh, ws, paths, dirs[len(dirs)-1])
	got.asked = asked
	switch {
	case err != nil:
		return err
	case stands:
		return got.verdict(o.strict)
	case got.runs == 0 && asked:
		return fail(exitInput, "ttreport inspect PATH lists what each file lacks",
			"no result was found in %s; the site is left as it was", plaintext.Plural(got.files, "file"))
	}
	report, err := o.write(ctx, sh, ws, paths, dirs, got)
	if err != nil {
		return err
	}
	return o.conclude(sh, ws, report, got)
}

// conclude writes the reports beside the site and says what is left to do.
func (o buildOptions) conclude(sh *shell, ws *workspace.Workspace, report *render.Report, got readResult) error {
	if err := o.writeReports(sh, ws, report); err != nil {
		return err
	}
	if len(report.Columns.Runs) == 0 && len(report.Problems) == 0 && got.files == 0 {
		sh.say("hint: there is nothing to show yet; ttreport collect measures, ttreport build PATH reads what you have")
	}
	if errors := schema.CountSeverity(report.Problems, schema.SevError); o.strict && errors > 0 {
		return failure{code: exitInput, err: fmt.Errorf("%s, and --strict was given", plaintext.Plural(errors, "error"))}
	}
	return got.verdict(o.strict)
}

// withResults puts the workspace's own results, and those of tt-inference-server, before the paths that were given.
func withResults(ws *workspace.Workspace, paths []string) []string {
	var own []string
	if _, err := os.Stat(ws.Results()); err == nil {
		own = append(own, ws.Results())
	}
	logs := ws.WorkflowLogs()
	named := func(path string) bool { return pathWithin(path, logs) }
	if _, err := os.Stat(logs); err == nil && !slices.ContainsFunc(paths, named) {
		own = append(own, logs)
	}
	return append(own, paths...)
}

// pathWithin reports whether a path is a folder, or below it.
func pathWithin(path, dir string) bool {
	a, err1 := filepath.Abs(path)
	b, err2 := filepath.Abs(dir)
	rel, err := filepath.Rel(b, a)
	return err1 == nil && err2 == nil && err == nil && filepath.IsLocal(rel)
}

// input is what decides what reading gives.
func (o buildOptions) input(ws *workspace.Workspace, paths []string) unchanged.Input {
	in := unchanged.Input{Options: fmt.Sprintf("%+v", *o.id), Own: ownFolders()}
	own := []string{
		ws.History(), ws.Targets(), ws.Notes(), ws.Settings(), ws.Logo(), os.Getenv(workspace.OverrideVariable),
	}
	for _, p := range slices.Concat(paths, own) {
		if p != "" {
			in.Paths = append(in.Paths, fromHere(p))
		}
	}
	return in
}

// options is everything that decides what is written, beside what was read.
func (o buildOptions) options() string { return fmt.Sprintf("%q %v %q", o.baseURL, o.public, o.part) }

// read takes the paths into history, unless the last build read the same. stands says that its site is as this build
// would write it.
func (o buildOptions) read(
	ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string, dir string,
) (got readResult, stands bool, err error) {
	if !o.ephemeral {
		if last, same := unchanged.Load(ws.LastBuild(), o.input(ws, paths)); same {
			got = readResult{files: last.Files, runs: last.Runs, problems: last.Problems}
			printErrors(sh, got.problems)
			sh.say("read      %s, unchanged since the last build; %s",
				plaintext.Plural(got.files, "file"), listing.Counts(got.problems))
			if stands = o.reports == "" && last.Stands(o.out, o.options()); stands {
				o.announce(sh, last.Output.Files, 0, 0, last.Output.Headline)
			}
			return got, stands, nil
		}
	}
	got, err = take(ctx, sh, ws, paths, o.id, dir)
	return got, false, err
}

// take reads the paths into history. Without paths there is still the target library, and what is wrong with it.
func take(
	ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string, id *identity, dir string,
) (readResult, error) {
	if len(paths) == 0 {
		var got readResult
		var err error
		_, got.problems, err = soundTargets(ws, nil)
		return got, err
	}
	got, err := readIn(ctx, sh, ws, paths, id, dir, false)
	if err == nil {
		sh.say("read      %s, %s, %s", plaintext.Plural(got.files, "file"), plaintext.Plural(got.runs, "run"),
			listing.Counts(got.problems))
	}
	return got, err
}

// announce prints what was written, and the decision on the newest release.
func (o buildOptions) announce(sh *shell, files, changed, removed int, headline string) {
	sh.say("wrote     %s in %s: %d new or changed, %d removed", plaintext.Plural(files, "file"), o.out, changed, removed)
	fmt.Fprintf(sh.out, "Open %s: %s\n", filepath.Join(o.out, "index.html"), headline)
}

// write judges history and writes the site.
func (o buildOptions) write(
	ctx context.Context, sh *shell, ws *workspace.Workspace, paths, dirs []string, got readResult,
) (*render.Report, error) {
	o.program = sync.OnceValue(unchanged.Program)
	go o.program() // while history is loaded: it takes a tenth of a second
	theme, err := themeOf(ws)
	if err != nil {
		return nil, err
	}
	report, err := o.report(ctx, ws, dirs, got.problems)
	if err != nil {
		return nil, err
	}
	settings, err := ws.ReadSettings()
	if err != nil {
		return nil, failure{code: exitInput, err: err}
	}
	damaged := printDamaged(sh, ws, report.Problems, got.problems)
	sh.say("history   %s, %s, %s", releaseCounts(report.Releases),
		plaintext.Plural(len(report.Columns.Runs), "run"), plaintext.Plural(len(report.Columns.Points), "point"))
	result, err := site.Build(ctx, report, site.Options{
		Dir: o.out, Record: ws.SiteRecord(o.out), BaseURL: o.baseURL, Theme: theme,
		Stamp: unchanged.Stamp(o.program(), o.options(), settings),
		Run:   func(i int) (schema.Run, *schema.Problem) { return history.Read(report.Columns.Runs[i].Path) },
	})
	if errors.Is(err, site.ErrForeignFile) {
		return nil, fail(exitUsage, "move it away, or choose another folder with --out", "writing the site: %w", err)
	}
	if err != nil {
		return nil, fail(exitInput, "what was there before is still there; see the permissions and the space of "+o.out,
			"writing the site: %w", err)
	}
	if o.built != nil {
		o.built(result.Changed)
	}
	said := report.Headline()
	o.announce(sh, result.Files, len(result.Changed), result.Removed, said)
	switch {
	case o.ephemeral || damaged:
	case got.refused > 0:
		unchanged.Forget(ws.LastBuild())
	default:
		unchanged.Save(ws.LastBuild(), o.input(ws, paths), unchanged.Record{
			Files: got.files, Runs: got.runs, Problems: got.problems,
			Output: unchanged.Output{Folder: o.out, Options: o.options(), Files: result.Files, Headline: said},
		})
	}
	return report, nil
}

// report is the report of all of history, with what was not measured.
func (o buildOptions) report(
	ctx context.Context, ws *workspace.Workspace, dirs []string, problems []schema.Problem,
) (*render.Report, error) {
	req := reportRequest{
		dirs: dirs, cache: ws.Cache(), judged: judgedFile{ws.Judged(), o.program}, keep: o.part.whole(),
		problems: problems, part: o.part,
	}
	if o.ephemeral {
		req.cache, req.judged = "", judgedFile{}
	}
	report, err := makeReport(ctx, ws, req)
	if err != nil {
		return nil, err
	}
	lib, _, err := targetLibrary(ws, nil)
	if err != nil {
		return nil, err
	}
	report.Public, report.Planned = o.public, lib.Unmeasured(report.Columns.Runs)
	return report, nil
}

// printDamaged prints documents of history that cannot be read, where reading did not print them already.
func printDamaged(sh *shell, ws *workspace.Workspace, list, printed []schema.Problem) (damaged bool) {
	for _, p := range list {
		before := slices.ContainsFunc(printed, func(q schema.Problem) bool { return q.Path == p.Path && q.Code == p.Code })
		ours := strings.HasPrefix(p.Path, filepath.ToSlash(ws.History())) ||
			strings.HasPrefix(p.Path, filepath.ToSlash(ws.Notes()))
		if p.Severity == schema.SevError && ours && !before {
			sh.say("%s: %s", p.Severity, p)
			damaged = true
		}
	}
	return damaged
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
		return plaintext.Plural(labelled, "release")
	case labelled == 0:
		return plaintext.Plural(len(list), "build") + " without a release"
	}
	return plaintext.Plural(labelled, "release") + " and " + plaintext.Plural(len(list)-labelled, "build")
}
