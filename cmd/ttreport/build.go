package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
	"github.com/ttreport/ttreport/targets/judge"
)

func buildCommand(sh *shell) *cobra.Command {
	o := buildOptions{id: &identity{}}
	return command("build", o.id.flags(map[string]any{
		"out": &o.out, "ephemeral": &o.ephemeral, "strict": &o.strict, "base-url": &o.baseURL, "public": &o.public,
		"single-file": &o.single, "reports": &o.reports, "reports-out": &o.reportsDir, "since": &o.part.since,
		"models": &o.part.models, "lock-timeout": &sh.patience,
	}), func(c *cobra.Command, args []string) error {
		ws, err := openWorkspace(".")
		if err != nil {
			return err
		}
		return build(c.Context(), sh, ws, args, o)
	})
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
	built             func(changed []string) // called with the files that were written; may be nil
}

// complete takes defaults from the workspace and refuses what cannot be.
func (o *buildOptions) complete(ws *workspace.Workspace) error {
	if o.id == nil {
		o.id = &identity{}
	}
	o.baseURL = cmp.Or(o.baseURL, ws.Config.Site.BaseURL)
	u, err := url.Parse(o.baseURL)
	if o.baseURL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return fail(exitUsage, "it begins with https:// and names a host",
			"build: --base-url %q is not the address of a site", o.baseURL)
	}
	if o.single != "" {
		return nil
	}
	o.out = cmp.Or(o.out, ws.Site())
	switch err := site.Check(o.out); {
	case errors.Is(err, site.ErrForeignFolder):
		return fail(exitUsage, "choose another folder with --out, or empty it", "%w", err)
	case err != nil:
		return fail(exitUsage, "choose another folder with --out", "the site cannot be written: %w", err)
	}
	return nil
}

// build goes all the way from files to pages.
func build(ctx context.Context, sh *shell, ws *workspace.Workspace, args []string, o buildOptions) error {
	if err := o.complete(ws); err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" {
		// Garbage of 60 % of what is in use, in place of Go's 100, saves a quarter of the memory of a large history, for
		// processor time that cannot be measured.
		defer debug.SetGCPercent(debug.SetGCPercent(60))
	}
	release, err := sh.lock(ctx, ws.Dir, folderlock.Exclusive)
	if err != nil {
		return err
	}
	defer release()
	b := building{buildOptions: o, sh: sh, ws: ws, dirs: []string{ws.History()}, paths: o.inputs(ws, args)}
	if o.ephemeral {
		tmp, err := os.MkdirTemp("", "ttreport-ephemeral-")
		if err != nil {
			return fmt.Errorf("ephemeral history: %w", err)
		}
		defer os.RemoveAll(tmp)
		b.dirs = append(b.dirs, tmp)
	}
	stands, err := b.read(ctx)
	if err != nil {
		return err
	}
	if b.got.Runs == 0 && len(args) > 0 && o.single == "" && !stands {
		return noResult(b.got, args, "no result was found in %s; the site is left as it was")
	}
	if !stands {
		defer boundMemory(4./3, 140<<20)()
		if err := b.write(ctx); err != nil {
			return err
		}
	}
	return readVerdict(b.got, args, o.strict)
}

// inputs are the workspace's own folders of results that exist, and the paths. What is stated is of the paths alone.
func (o *buildOptions) inputs(ws *workspace.Workspace, args []string) []string {
	if len(args) > 0 && o.id.isStated() {
		return args
	}
	isWithin := func(path, dir string) bool {
		a, err1 := filepath.Abs(path)
		b, err2 := filepath.Abs(dir)
		rel, err := filepath.Rel(b, a)
		return errors.Join(err1, err2, err) == nil && filepath.IsLocal(rel)
	}
	var list []string
	for _, dir := range []string{ws.Results(), ws.WorkflowLogs()} { // the second is tt-inference-server's
		named := slices.ContainsFunc(args, func(path string) bool { return isWithin(path, dir) })
		if _, err := os.Stat(dir); err == nil && (dir == ws.Results() || !named) {
			list = append(list, dir)
		}
	}
	return append(list, args...)
}

// write judges history and writes the site, or one page.
func (b *building) write(ctx context.Context) error {
	const file = workspace.ConfigName
	logo, err := b.ws.ReadLogo()
	if err != nil {
		return fail(exitUsage, "site.logo is a file beside "+file, "%s: site.logo: %w", file, err)
	}
	theme, err := site.NewTheme(logo, b.ws.Config.Site.Logo, b.ws.Config.Site.Tokens)
	if err != nil {
		return fail(exitUsage, "ttreport help site lists what can be set", "%s: site: %w", file, err)
	}
	report, err := makeReport(ctx, b.ws, reportRequest{dirs: b.dirs, problems: b.got.Problems, part: b.part})
	if err != nil {
		return err
	}
	report.Public = b.public
	if b.single != "" {
		return b.singleFile(report, theme)
	}
	if err := b.site(ctx, report, theme); err != nil {
		return err
	}
	if err := b.writeReports(b.sh, b.ws, report); err != nil {
		return err
	}
	if len(report.Columns.Runs) == 0 && len(report.Problems) == 0 && len(b.got.Files) == 0 {
		b.sh.say("hint: there is nothing to show yet; ttreport collect measures, ttreport build PATH reads what you have")
	}
	if errors := schema.CountSeverity(report.Problems, schema.SevError); b.strict && errors > 0 {
		return failure{code: exitInput, err: fmt.Errorf("%s, and --strict was given", plaintext.Plural(errors, "error"))}
	}
	return nil
}

// building is a build under way.
type building struct {
	buildOptions
	sh    *shell
	ws    *workspace.Workspace
	paths []string // to read
	dirs  []string // of history documents; what is read goes into the last
	got   ingest.Result
}

// input is what decides what reading gives.
func (b *building) input() buildInput {
	in := buildInput{Options: fmt.Sprintf("%+v", *b.id), Own: ownFolders(b.ws)}
	for _, p := range append(slices.Clone(b.paths), b.ws.History(), b.ws.Targets(), b.ws.Notes(), b.ws.Settings(),
		b.ws.Logo(), os.Getenv(workspace.OverrideVariable)) {
		in.Paths = append(in.Paths, fromHere(p))
	}
	return in
}

// options is everything that decides what is written, beside what was read.
func (b *building) options() string { return fmt.Sprintf("%q %v %q", b.baseURL, b.public, b.part) }

// read takes the paths into history, unless the last build read the same. stands says that its site is as this build
// would write it. Without paths there is still the target library, and what is wrong with it.
func (b *building) read(ctx context.Context) (stands bool, err error) {
	last, same := buildRecord{}, false
	if !b.ephemeral && b.single == "" {
		last, same = loadRecord(b.ws.LastBuild(), b.input())
	}
	switch {
	case same:
		b.got = ingest.Result{Files: make([]ingest.File, last.Files), Runs: last.Runs, Problems: last.Problems}
		printErrors(b.sh, b.got.Problems)
		b.sh.say("read      %s, unchanged since the last build; %s",
			plaintext.Plural(last.Files, "file"), problemCounts(last.Problems))
		if stands = b.reports == "" && !site.Unfinished(b.out) && last.stands(b.out, b.options()); stands {
			b.announce(last.Written, 0, 0, last.Headline)
		}
		return stands, nil
	case len(b.paths) == 0:
		_, b.got.Problems, err = soundTargets(b.ws, nil)
		return false, err
	}
	b.got, err = readIn(ctx, b.sh, b.ws, b.paths, b.id, b.dirs[len(b.dirs)-1], false)
	if err == nil {
		b.sh.say("read      %s, %s, %s", plaintext.Plural(len(b.got.Files), "file"), plaintext.Plural(b.got.Runs, "run"),
			problemCounts(b.got.Problems))
	}
	return false, err
}

// announce prints what was written, and the decision on the newest release.
func (b *building) announce(files, changed, removed int, headline string) {
	const text = "wrote     %s in %s: %d new or changed, %d removed"
	b.sh.say(text, plaintext.Plural(files, "file"), b.out, changed, removed)
	fmt.Fprintf(b.sh.out, "Open %s: %s\n", filepath.Join(b.out, "index.html"), headline)
}

// site writes the site.
func (b *building) site(ctx context.Context, report *render.Report, theme site.Theme) error {
	lib, _, err := targetLibrary(b.ws, nil)
	if err != nil {
		return err
	}
	report.Planned, _ = lib.Unmeasured(report.Columns.Runs)
	settings, err := b.ws.ReadSettings()
	if err != nil {
		return failure{code: exitInput, err: err}
	}
	damaged := b.printDamaged(report.Problems)
	sayNames(b.sh, report)
	b.sh.say("history   %s, %s, %s", releaseCounts(report.Releases),
		plaintext.Plural(len(report.Columns.Runs), "run"), plaintext.Plural(len(report.Columns.Points), "point"))
	result, err := site.Build(ctx, report, site.Options{
		Dir: b.out, Record: b.ws.SiteRecord(b.out), BaseURL: b.baseURL, Theme: theme,
		Stamp: stampOf(b.options(), settings),
		Run:   func(i int) (schema.Run, *schema.Problem) { return history.Read(report.Columns.Runs[i].Path) },
	})
	if errors.Is(err, site.ErrForeignFile) {
		return fail(exitUsage, "move it away, or choose another folder with --out", "writing the site: %w", err)
	}
	if err != nil {
		return fail(exitInput, "the previous files are unchanged; check the permissions and free space of "+b.out,
			"writing the site: %w", err)
	}
	if b.built != nil {
		b.built(result.Changed)
	}
	headline := report.Headline()
	b.announce(result.Files, len(result.Changed), result.Removed, headline)
	switch {
	case b.ephemeral || damaged:
	case b.got.Refused > 0:
		_ = os.Remove(b.ws.LastBuild()) // what was read is not all stored
	default:
		saveRecord(b.ws.LastBuild(), b.input(), buildRecord{
			Files: len(b.got.Files), Runs: b.got.Runs, Problems: b.got.Problems,
			Folder: b.out, Options: b.options(), Written: result.Files, Headline: headline,
		})
	}
	return nil
}

// printDamaged prints names that may be of one, and documents and notes that cannot be read, where reading did not
// print them already.
func (b *building) printDamaged(list []schema.Problem) (damaged bool) {
	for _, p := range list {
		if p.Code == codeSpellings {
			b.sh.say("%s: %s\nfix: %s", p.Severity, p, p.Hint)
		}
		ours := strings.HasPrefix(p.Path, filepath.ToSlash(b.ws.History())) ||
			strings.HasPrefix(p.Path, filepath.ToSlash(b.ws.Notes()))
		if p.Severity == schema.SevError && ours && !p.IsAmong(b.got.Problems) {
			b.sh.say("%s: %s", p.Severity, p)
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
	if p.String() == "" {
		return all, nil, nil
	}
	releases := judge.Releases(all, ws.Order)
	first := 0
	if p.since != "" {
		if first = judge.Named(releases, p.since); first < 0 {
			return nil, nil, releaseError("--since", judge.NewUnknownRelease(p.since, releases))
		}
	}
	var runs []int
	for _, r := range releases[first:] {
		for _, i := range r.Runs {
			m := all.Runs[i].Model
			if len(p.models) == 0 || glob.Any(p.models, m.Name) || m.ID != "" && glob.Any(p.models, m.ID) {
				runs = append(runs, i)
			}
		}
	}
	if len(runs) == 0 && len(p.models) > 0 {
		names := map[string]bool{}
		for i := range all.Runs {
			names[cmp.Or(all.Runs[i].Model.Name, "?")] = true
		}
		there := slices.Sorted(maps.Keys(names))
		return nil, nil, fail(exitUsage, "there are "+strings.Join(there[:min(len(there), 20)], ", "),
			"build: no run of a model that matches %s", p)
	}
	slices.Sort(runs)
	b := columns.NewBuilder()
	b.AppendRuns(all, runs)
	return b.C, []schema.Problem{{
		Severity: schema.SevWarning, Path: workspace.ConfigName, Code: "part-of-history",
		Found:    fmt.Sprintf("%d of %s: %s", len(runs), plaintext.Plural(len(all.Runs), "run"), p),
		Expected: "all of history", Used: "only these: whatever is left out is neither a baseline nor tested",
		Hint: "ttreport build without --since and --models judges all",
	}}, nil
}

// singleFile writes the page of a release or of a run as a file that needs no other.
func (b *building) singleFile(r *render.Report, theme site.Theme) error {
	var page render.Page
	if at := judge.Named(r.Releases, b.single); at >= 0 {
		page = r.ReleasePage(at)
	} else {
		run := slices.IndexFunc(r.Columns.Runs, func(h columns.RunHead) bool { return h.ID == b.single })
		if run < 0 {
			return releaseError("--single-file", judge.NewUnknownRelease(b.single, r.Releases))
		}
		doc, problem := history.Read(r.Columns.Runs[run].Path)
		if problem != nil {
			return failure{code: exitInput, err: *problem}
		}
		page = r.RunPage(&doc, b.single)
	}
	html, err := site.Single(r, page, b.baseURL, theme)
	if err != nil {
		return err
	}
	name := b.out
	if info, err := os.Stat(name); name == "" || err == nil && info.IsDir() {
		name = filepath.Join(name, schema.Slug(b.single)+".html")
	}
	const mark = `<meta name="generator" content="ttreport` // begins every page of ours
	old, err := rootfs.ReadFile(name, 64<<20)
	if !errors.Is(err, fs.ErrNotExist) && (err != nil || !bytes.Contains(old[:min(len(old), 4096)], []byte(mark))) {
		return fail(exitUsage, "choose another file with --out", "%s exists and was not written by ttreport", name)
	}
	if err := durable.WriteFile(name, html); err != nil {
		return fail(exitInput, "check its permissions and the free space of the disk", "%w", err)
	}
	const text = "Open %s: %s, %d kB, it loads nothing from elsewhere\n"
	fmt.Fprintf(b.sh.out, text, name, page.Title, (len(html)+500)/1000)
	return nil
}

// buildRecord is what a build read and wrote: with it the next build of the same input reads nothing but sizes and
// times of files. One that cannot be kept or read costs time and nothing else.
type buildRecord struct {
	Stamp       string // of the input; see [buildInput.stamp]
	Files, Runs int
	Problems    []schema.Problem

	Folder      string // that was written
	Options     string // everything that decides what is written, beside what was read
	Fingerprint string // of its files
	Written     int    // files
	Headline    string // what was printed when it was done
}

// buildInput is what decides what reading gives.
type buildInput struct {
	Paths   []string      // files and folders; those that do not exist are left out
	Options string        // the rest, in any form
	Own     []fs.FileInfo // folders that are no part of those they are in: what was read is written there
}

// stamp is a hash of the input and of the program: equal stamps mean that reading again would give the same. Nothing
// but the names, sizes and times of files is looked at. ok is false where that is not known.
func (in buildInput) stamp() (stamp string, ok bool) {
	var roots []ingest.Root
	for _, name := range in.Paths {
		root, err := ingest.OSRoot(filepath.ToSlash(name))
		if name == "" || os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return "", false
		}
		root.Own = in.Own
		roots = append(roots, root)
	}
	files, ok := ingest.Fingerprint(roots)
	stamp = stampOf(fmt.Sprintf("4 %q %q %q", files, in.Paths, in.Options), nil)
	return stamp, ok && stamp != ""
}

// loadRecord returns the record in a file, when it holds for an input.
func loadRecord(name string, in buildInput) (buildRecord, bool) {
	var r buildRecord
	if json.Unmarshal(durable.ReadRecord(name), &r) != nil || r.Stamp == "" {
		return buildRecord{}, false
	}
	stamp, ok := in.stamp()
	return r, ok && stamp == r.Stamp
}

// stands reports whether a folder would be written as it was, and is still as it was written.
func (r buildRecord) stands(folder, options string) bool {
	if r.Folder != folder || r.Options != options {
		return false
	}
	hash, ok := fingerprint(folder)
	return ok && hash == r.Fingerprint
}

// saveRecord keeps a record in a file; stamp and fingerprint are found here. Where they cannot be, an earlier record is
// forgotten, as where a file could not be read: a full disk may have been the reason, and not the file. Without a name
// nothing is kept.
func saveRecord(name string, in buildInput, r buildRecord) {
	if name == "" {
		return
	}
	var read, written bool
	r.Stamp, read = in.stamp()
	r.Fingerprint, written = fingerprint(r.Folder)
	failed := func(p schema.Problem) bool { return p.Code == schema.CodeUnreadable }
	if !read || !written || slices.ContainsFunc(r.Problems, failed) {
		_ = os.Remove(name)
		return
	}
	if data, err := json.Marshal(r); err == nil {
		_ = durable.WriteRecord(name, data)
	}
}

// fingerprint covers what is in the files: a site is published, so sizes and times are not enough.
func fingerprint(folder string) (hash string, ok bool) {
	root, err := ingest.OSRoot(filepath.ToSlash(folder))
	if err != nil {
		return "", false
	}
	return ingest.Contents([]ingest.Root{root})
}

// stampOf is a hash of this program, of options and of settings: what is written is made of them, beside what was read.
// The program is told from another build of it by its size and the time of its file; it is "" where nobody knows these.
func stampOf(options string, settings []byte) string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(name)
	if err != nil {
		return ""
	}
	program := fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %q %q", program, options, settings))
	return hex.EncodeToString(sum[:])
}
