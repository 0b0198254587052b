package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/rootfs"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/ttis"
)

// reportsTT is the layout of reports that tt-inference-server writes.
const reportsTT = "tt"

// writeReports writes the newest release in the layout that was asked for.
func (o buildOptions) writeReports(sh *shell, ws *workspace.Workspace, report *render.Report) error {
	at := report.Newest()
	if o.reports == "" || at < 0 {
		return nil
	}
	var list []ttis.Input
	for _, pair := range report.PairsOf(at) {
		in := ttis.Input{
			Model: pair.Model, Device: pair.Device, Version: report.Version, Public: o.public,
			Review: report.Review(at, pair.Model, pair.Device),
		}
		for _, i := range report.RunsOf(at, pair) {
			run, problem := history.Read(report.Columns.Runs[i].Path)
			if problem != nil {
				return failure{code: exitInput, err: fmt.Errorf("the reports need a run that cannot be read: %s", problem)}
			}
			in.Runs = append(in.Runs, run)
		}
		list = append(list, in)
	}
	files, err := ttis.Files(list)
	if err != nil {
		return err
	}
	dir := o.reportsDir
	if dir == "" {
		dir = ws.Reports()
	}
	for _, f := range files {
		if err := oursOrNew(filepath.Join(dir, filepath.FromSlash(f.Path))); err != nil {
			return err
		}
	}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return fail(exitUsage, "choose another folder with --reports-out", "the reports cannot be written: %w", err)
		}
		if _, err := durable.WriteChanged(name, f.Data); err != nil {
			return fail(exitInput, "see the permissions and the space of "+dir, "the reports cannot be written: %w", err)
		}
	}
	sh.say("reports   %s of %s in %s, in the layout of tt-inference-server", plaintext.Plural(len(files), "file"),
		report.Releases[at].Name, dir)
	return nil
}

// oursOrNew refuses to replace the data of a report that another program wrote. The other files of a report have its
// name.
func oursOrNew(name string) error {
	if !strings.HasPrefix(filepath.Base(name), "report_data_") {
		return nil
	}
	data, err := rootfs.ReadFile(name, 64<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var report struct {
		Metadata map[string]any `json:"metadata"`
	}
	if err == nil && json.Unmarshal(data, &report) == nil && report.Metadata[ttis.Mark] != nil {
		return nil
	}
	return fail(exitUsage, "choose another folder with --reports-out", "%s was written by another program", name)
}

// completeReports refuses a layout that is not known.
func (o *buildOptions) completeReports() error {
	if o.reports != "" && o.reports != reportsTT {
		return fail(exitUsage, "", "build: --reports %q is not %s", o.reports, reportsTT)
	}
	if o.reportsDir != "" && o.reports == "" {
		return fail(exitUsage, "add --reports "+reportsTT, "build: --reports-out is for reports, and none are asked for")
	}
	return nil
}
