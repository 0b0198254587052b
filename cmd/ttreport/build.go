package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/ingest/unchanged"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
	"github.com/ttreport/ttreport/targets/judge"
)

func buildCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use: "build [PATH…]", Short: "read results/ and PATHs into history/, then write _site/",
		Long: `
Reads run folders in results/ and everything in the given files and folders, keeps each run as a document in history/,
judges all of history against targets, and writes the site. The site works from disk: open _site/index.html.

With --ephemeral the history folder is not touched: the site shows history and the PATHs together; nothing is kept.`,
		Example: `
# after ttreport collect
$ ttreport build
# a workflow_logs tree of tt-inference-server
$ ttreport build workflow_logs/
# one release as a file for a ticket
$ ttreport build --single-file v0.17.0
# also reports_output/, as tt-inference-server writes it
$ ttreport build --reports tt workflow_logs/
# a site that shows nothing of our machines
$ ttreport build --public --base-url https://example.org
# the last releases of some models
$ ttreport build --since v0.16.0 --models 'Llama-*,Qwen3-*' --out part
# look at somebody's results without keeping them
$ ttreport build --ephemeral --out /tmp/site results-of-somebody/`,
	}
	fs := c.Flags()
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
	c.RunE = func(c *cobra.Command, args []string) error {
		ws, err := openWorkspace(".")
		if err != nil {
			return err
		}
		return build(c.Context(), sh, ws, args, o)
	}
	return c
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
				plaintext.Plural(got.files, "file"), problemCounts(got.problems))
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
			problemCounts(got.problems))
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
	program := sync.OnceValue(unchanged.Program)
	go program() // while history is loaded: it takes a tenth of a second
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
		Stamp: unchanged.Stamp(program(), o.options(), settings),
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
	req := reportRequest{dirs: dirs, cache: ws.Cache(), problems: problems, part: o.part}
	if o.ephemeral {
		req.cache = ""
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

// historyPart is a part of history: what is not in it is neither judged nor shown.
type historyPart struct {
	since  string   // the first release; "" for all
	models []string // globs; none for all
}

func (p *historyPart) declare(fs *pflag.FlagSet) {
	fs.StringVar(&p.since, "since", "", "leave out what is older than this `release`, as a baseline too")
	fs.StringSliceVar(&p.models, "models", nil, "leave out models that match none of these `globs`, as 'Llama-*,sim-8b'")
}

// String says what is in it: "since v5, models sim-*".
func (p historyPart) String() string {
	var out []string
	if p.since != "" {
		out = append(out, "since "+p.since)
	}
	if len(p.models) > 0 {
		out = append(out, "models "+strings.Join(p.models, ", "))
	}
	return strings.Join(out, ", ")
}

// of returns the runs of a part, and a note on what that means for the verdicts. The columns are not changed.
func (p historyPart) of(ws *workspace.Workspace, all *columns.Columns) (*columns.Columns, []schema.Problem, error) {
	if p.since == "" && len(p.models) == 0 {
		return all, nil, nil
	}
	order, err := ws.ReleaseOrder()
	if err != nil {
		return nil, nil, failure{code: exitUsage, err: err}
	}
	releases := judge.Releases(all, order)
	first := 0
	if p.since != "" {
		if first = judge.Named(releases, p.since); first < 0 {
			return nil, nil, releaseError("--since", judge.NewUnknownRelease(p.since, releases))
		}
	}
	var runs []int
	for _, r := range releases[first:] {
		for _, i := range r.Runs {
			if len(p.models) == 0 || p.names(all.Runs[i].Model) {
				runs = append(runs, i)
			}
		}
	}
	if len(runs) == 0 && len(p.models) > 0 {
		return nil, nil, fail(exitUsage, "there are "+strings.Join(modelNames(all), ", "),
			"build: no run of a model that matches %s", p)
	}
	slices.Sort(runs)
	b := columns.NewBuilder()
	b.AppendRuns(all, runs)
	return b.C, []schema.Problem{{
		Severity: schema.SevWarning, Path: workspace.ConfigName, Code: "part-of-history",
		Found:    fmt.Sprintf("%d of %s: %s", len(runs), plaintext.Plural(len(all.Runs), "run"), p),
		Expected: "all of history", Used: "these alone: what is left out is no baseline, and is not tested with the others",
		Hint: "ttreport build without --since and --models judges all",
	}}, nil
}

// names reports whether a model is meant, by its name or its id.
func (p historyPart) names(m schema.Model) bool {
	return slices.ContainsFunc(p.models, func(pattern string) bool {
		return pattern == m.Name || glob.Match(pattern, m.Name) || m.ID != "" && glob.Match(pattern, m.ID)
	})
}

// modelNames are the models of history, the first twenty.
func modelNames(c *columns.Columns) []string {
	var out []string
	for i := range c.Runs {
		out = append(out, cmp.Or(c.Runs[i].Model.Name, "?"))
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), 20)]
}

// readingMemory is a soft limit of memory while files are read: beyond it, garbage is collected more often. A hostile
// file may ask for all the memory that the limits leave it; the collector must run before twice of it is taken.
const readingMemory = 180 << 20

// boundMemory bounds the memory of reading until the function that it returns is called. What is in use may come to
// more than the limit, where a release has thousands of results; the limit then stays a quarter above it, or the
// collector would do nothing but look for garbage that is not there.
func boundMemory() (end func()) {
	before := debug.SetMemoryLimit(readingMemory)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		limit := int64(readingMemory)
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if next := max(readingMemory, inUse()+inUse()/4); next > limit+limit/50 || next < limit-limit/50 {
				limit = next
				debug.SetMemoryLimit(limit)
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		debug.SetMemoryLimit(before)
	}
}

// inUse returns the bytes that the last collection found in use.
func inUse() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64())
}

// buildingGarbage is how much garbage a build lets stand before it is collected, in percent of what is in use: 60 in
// place of Go's 100 saves a quarter of the memory of a large history, for processor time that cannot be measured.
const buildingGarbage = 60

// boundGarbage sets that until the function that it returns is called, unless the environment says otherwise.
func boundGarbage() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(buildingGarbage)
	return func() { debug.SetGCPercent(before) }
}

// singleFile writes one page as a file that needs no other.
func (o buildOptions) singleFile(ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string) error {
	if o.ephemeral {
		return fail(exitUsage, "read the results into history/ first",
			"build: --single-file and --ephemeral exclude each other")
	}
	got, err := take(ctx, sh, ws, paths, o.id, ws.History())
	if err != nil {
		return err
	}
	report, err := makeReport(ctx, ws, reportRequest{
		dirs: []string{ws.History()}, cache: ws.Cache(), problems: got.problems, part: o.part,
	})
	if err != nil {
		return err
	}
	report.Public = o.public
	page, err := pageNamed(report, o.single)
	if err != nil {
		return err
	}
	theme, err := themeOf(ws)
	if err != nil {
		return err
	}
	html, err := site.Single(report, page, o.baseURL, theme)
	if err != nil {
		return err
	}
	name := o.out
	if info, err := os.Stat(name); name == "" || err == nil && info.IsDir() {
		name = filepath.Join(name, schema.Slug(o.single)+".html")
	}
	if err := ours(name); err != nil {
		return err
	}
	if err := durable.WriteFile(name, html); err != nil {
		return fail(exitInput, "see its permissions and the space of the disk", "%w", err)
	}
	const text = "Open %s: %s, %d kB, nothing is loaded from elsewhere\n"
	fmt.Fprintf(sh.out, text, name, page.Title, (len(html)+500)/1000)
	return got.verdict(o.strict)
}

// singleMark begins every page of ours.
const singleMark = `<meta name="generator" content="ttreport`

// ours refuses to replace a file that is no page that ttreport wrote.
func ours(name string) error {
	data, err := rootfs.ReadFile(name, 64<<20)
	if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.Contains(data[:min(len(data), 4096)], []byte(singleMark)) {
		return nil
	}
	return fail(exitUsage, "choose another file with --out", "%s exists and was not written by ttreport", name)
}

// pageNamed is the page of a release or of a run.
func pageNamed(r *render.Report, name string) (render.Page, error) {
	if at := judge.Named(r.Releases, name); at >= 0 {
		return r.ReleasePage(at), nil
	}
	run := slices.IndexFunc(r.Columns.Runs, func(h columns.RunHead) bool { return h.ID == name })
	if run < 0 {
		return render.Page{}, releaseError("--single-file", judge.NewUnknownRelease(name, r.Releases))
	}
	doc, problem := history.Read(r.Columns.Runs[run].Path)
	if problem != nil {
		return render.Page{}, failure{code: exitInput, err: *problem}
	}
	return r.RunPage(&doc, name), nil
}

// themeOf is the logo and the colours that ttreport.yaml sets.
func themeOf(ws *workspace.Workspace) (site.Theme, error) {
	const file = workspace.ConfigName
	logo, err := ws.ReadLogo()
	if err != nil {
		return site.Theme{}, fail(exitUsage, "site.logo is a file beside "+file, "%s: site.logo: %w", file, err)
	}
	theme, err := site.NewTheme(logo, ws.Config.Site.Logo, ws.Config.Site.Tokens)
	if err != nil {
		return site.Theme{}, fail(exitUsage, "ttreport help site lists what can be set", "%s: site: %w", file, err)
	}
	return theme, nil
}

// lockPatience is how long a command waits for another one in the same workspace.
const lockPatience = 10 * time.Minute

// lockFlag declares how long to wait.
func lockFlag(fs *pflag.FlagSet, patience *time.Duration) {
	fs.DurationVar(patience, "lock-timeout", lockPatience,
		"how long to wait for another ttreport in this workspace, as `2m`; 0 does not wait")
}

// lock keeps other commands from writing to a folder, and, where exclusive, from reading it. It waits for them, and
// says so.
func lock(
	ctx context.Context, sh *shell, dir string, mode folderlock.Mode, patience time.Duration,
) (release func(), err error) {
	if patience < 0 {
		return nil, fail(exitUsage, "0 does not wait", "--lock-timeout %s is no duration to wait", patience)
	}
	release, err = folderlock.Take(ctx, dir, mode, folderlock.Wait{Patience: patience, Waiting: func() {
		sh.say("waiting for another ttreport that works in %s", dir)
	}})
	switch {
	case errors.Is(err, folderlock.ErrHeld):
		return nil, fail(exitLocked, "wait for it, or end it; --lock-timeout says how long to wait", "%w", err)
	case err != nil && ctx.Err() == nil:
		return nil, failure{code: exitInput, err: err}
	}
	return release, err
}
