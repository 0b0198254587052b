package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
	"github.com/ttreport/ttreport/targets/judge"
)

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
