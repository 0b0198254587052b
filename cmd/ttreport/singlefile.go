package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/site"
)

// withResults puts the workspace's own results before the paths that were given.
func withResults(ws *workspace.Workspace, paths []string) []string {
	if _, err := os.Stat(ws.Results()); err != nil {
		return paths
	}
	return append([]string{ws.Results()}, paths...)
}

// singleFile writes one page as a file that needs no other.
func (o buildOptions) singleFile(ctx context.Context, sh *shell, ws *workspace.Workspace, paths []string, id *identity) error {
	if o.ephemeral {
		return fail(exitUsage, "read the results into history/ first", "build: --single-file and --ephemeral exclude each other")
	}
	got, err := take(ctx, sh, ws, withResults(ws, paths), id, ws.History())
	if err != nil {
		return err
	}
	report, err := makeReport(ctx, ws, []string{ws.History()}, ws.Cache(), got.problems)
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
	if o.out == "" {
		o.out = schema.Slug(o.single) + ".html"
	}
	if info, err := os.Stat(o.out); err == nil && info.IsDir() {
		o.out = filepath.Join(o.out, schema.Slug(o.single)+".html")
	}
	if err := durable.WriteFile(o.out, html); err != nil {
		return fail(exitInput, "see its permissions and the space of the disk", "%w", err)
	}
	fmt.Fprintf(sh.out, "Open %s: %s, %d%skB, nothing is loaded from elsewhere\n", o.out, page.Title, (len(html)+500)/1000, " ")
	return got.verdict(o.strict)
}

// themeOf is the logo and the colours that ttreport.yaml sets.
func themeOf(ws *workspace.Workspace) (site.Theme, error) {
	var logo []byte
	if name := ws.Logo(); name != "" {
		var err error
		if logo, err = os.ReadFile(name); err != nil {
			return site.Theme{}, fail(exitUsage, "site.logo is a file beside "+workspace.ConfigName, "%s: site.logo: %w", workspace.ConfigName, err)
		}
	}
	theme, err := site.NewTheme(logo, ws.Config.Site.Logo, ws.Config.Site.Tokens)
	if err != nil {
		return site.Theme{}, fail(exitUsage, "ttreport help site tells what can be set", "%s: site: %w", workspace.ConfigName, err)
	}
	return theme, nil
}

// pageNamed is the page of a release or of a run.
func pageNamed(r *render.Report, name string) (render.Page, error) {
	if at := releaseNamed(r.Releases, name); at >= 0 {
		return r.ReleasePage(at), nil
	}
	run := slices.IndexFunc(r.Columns.Runs, func(h columns.RunHead) bool { return h.ID == name })
	if run < 0 {
		return render.Page{}, unknownRelease("--single-file", name, r.Releases)
	}
	doc, problem := history.Read(r.Columns.Runs[run].Path)
	if problem != nil {
		return render.Page{}, failure{code: exitInput, err: *problem}
	}
	return r.RunPage(&doc, name), nil
}
