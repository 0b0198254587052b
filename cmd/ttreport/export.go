package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/rows"
)

func exportCommand(sh *shell) *cobra.Command {
	var part historyPart
	return command("export", map[string]any{
		"since": &part.since, "models": &part.models, "lock-timeout": &sh.patience,
	}, func(c *cobra.Command, args []string) error {
		var as exporting
		var names []string
		for _, e := range exports() {
			if names = append(names, e.format); len(args) == 2 && e.format == args[0] {
				as = e
			}
		}
		if as.format == "" {
			return fail(exitUsage, "ttreport export parquet DIR", "export: expected a folder and a format: %s",
				strings.Join(names, ", "))
		}
		if strings.HasPrefix(args[1], "s3://") {
			return fail(exitUsage, "ttreport export parquet warehouse && aws s3 sync --delete warehouse s3://…",
				"export: expected a folder, got an address of a bucket")
		}
		if err := as.readyFor(args[1]); err != nil {
			return err
		}
		return as.export(c.Context(), sh, part, args[1])
	})
}

// exportName is the file that tells a folder of ours from others.
const exportName = "ttreport-export.json"

// exporting is a format of exports.
type exporting struct {
	format string
	schema string // in the file of the folder; a change of a table's columns changes it
	// files gives the files of a report in the order in which they are written, and made makes one.
	files func(r *render.Report) (names []string, made func(i int) ([]byte, error), err error)
	globs []string // of the files that an earlier export may have left, in the order in which they are removed
}

// exports are the formats of exports.
func exports() []exporting {
	parquet := exporting{format: "parquet", schema: "ttreport/parquet/v3", files: parquetFiles}
	for _, table := range slices.Backward(rows.Tables()) {
		parquet.globs = append(parquet.globs, table+"/partition=*/"+partName)
	}
	out := []exporting{parquet}
	for _, s := range rows.Standards() {
		files := func(r *render.Report) (names []string, made func(i int) ([]byte, error), err error) {
			list, err := s.Files(r, r.Newest())
			for _, w := range list {
				names = append(names, filepath.FromSlash(w.Name))
			}
			return names, func(i int) ([]byte, error) { return list[i].Data, nil }, err
		}
		out = append(out, exporting{s.Name, "ttreport/" + s.Name + "/v1", files, s.Globs})
	}
	return out
}

// readyFor refuses a folder that has something else.
func (e exporting) readyFor(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, exportName))
	var found struct {
		Schema string `json:"schema"`
	}
	switch {
	case err == nil && json.Unmarshal(data, &found) == nil && found.Schema == e.schema:
		return nil
	case err == nil:
		return fail(exitUsage, "export to another place", "export: %s was written in another format or layout (%s)", dir,
			cmp.Or(found.Schema, "unknown"))
	case !errors.Is(err, fs.ErrNotExist):
		return failure{code: exitUsage, err: fmt.Errorf("export: %w", err)}
	}
	switch list, err := os.ReadDir(dir); {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(list) == 0:
		return nil
	case err != nil:
		return failure{code: exitUsage, err: fmt.Errorf("export: %w", err)}
	}
	return fail(exitUsage, "name an empty folder", "export: %s has files that are not part of an export", dir)
}

// export writes a part of history into a folder.
func (e exporting) export(ctx context.Context, sh *shell, part historyPart, dir string) error {
	ws, unlock, err := sh.openLocked(ctx, folderlock.Shared)
	if err != nil {
		return err
	}
	defer unlock()
	if _, _, err := soundTargets(ws, nil); err != nil { // verdicts against targets would be missing
		return err
	}
	report, _, err := checkOptions{by: "export"}.judge(ctx, ws, reportRequest{part: part})
	if err != nil {
		return err
	}
	if lost := report.Gate.Lost; len(lost) > 0 { // an export without them would look whole
		return failure{code: exitInput, err: fmt.Errorf("export: %w", lost[0]), hint: "ttreport build names what is damaged"}
	}
	written, same, removed, err := e.to(ctx, dir, report)
	if err != nil { // what was written is whole, and stays
		hint := "check that " + dir + " can be written"
		if ctx.Err() != nil {
			hint = "the same command continues where this one stopped"
		}
		return failure{code: exitUsage, err: fmt.Errorf("export: %w", err), hint: hint}
	}
	what := "release " + report.Releases[report.Newest()].Name
	if e.format == "parquet" {
		what = plaintext.Plural(len(report.Releases), "release")
	}
	fmt.Fprintf(sh.out, "%s in %s: %s written, %d unchanged, %d removed\n", what, dir,
		plaintext.Plural(written, "file"), same, removed)
	return nil
}

// partName is the file of a release in a table.
const partName = "part-0.parquet"

// parquetFiles are the files of all releases. The table of runs is the last to have a release and the first to lose it:
// what an export that was cut short left out is in no join with runs.
func parquetFiles(r *render.Report) (names []string, made func(i int) ([]byte, error), err error) {
	var releases []string
	for i := range r.Releases {
		releases = append(releases, r.Releases[i].Name)
	}
	partitions := rows.Partitions(releases)
	for _, table := range rows.Tables() {
		for _, partition := range partitions {
			names = append(names, filepath.Join(table, partition, partName))
		}
	}
	return names, func(i int) ([]byte, error) {
		return rows.File(r, rows.Tables()[i/len(partitions)], i%len(partitions))
	}, nil
}

// to writes the files of a report into a folder, and removes those of an earlier export that are not among them.
func (e exporting) to(ctx context.Context, dir string, r *render.Report) (written, same, removed int, err error) {
	mark := fmt.Appendf(nil, "{\"schema\": %q}\n", e.schema)
	if _, err := durable.WriteChanged(filepath.Join(dir, exportName), mark); err != nil {
		return written, same, removed, err
	}
	names, made, err := e.files(r)
	if err != nil {
		return written, same, removed, err
	}
	keep := map[string]bool{}
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return written, same, removed, err
		}
		data, err := made(i)
		if err != nil {
			return written, same, removed, err
		}
		keep[name] = true
		wrote, err := durable.WriteChanged(filepath.Join(dir, name), data)
		switch {
		case err != nil:
			return written, same, removed, err
		case wrote:
			written++
		default:
			same++
		}
	}
	for _, glob := range e.globs {
		there, err := fs.Glob(os.DirFS(dir), glob)
		if err != nil {
			return written, same, removed, err
		}
		for _, name := range there {
			if name = filepath.FromSlash(name); keep[name] || name == exportName {
				continue
			}
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return written, same, removed, err
			}
			_ = os.Remove(filepath.Dir(filepath.Join(dir, name))) // somebody else's file may be in it
			removed++
		}
	}
	return written, same, removed, nil
}
