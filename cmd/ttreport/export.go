package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/parquet"
	"github.com/ttreport/ttreport/targets/judge"
)

func exportCommand() command {
	return command{
		name: "export", args: "parquet DIR", summary: "write history and verdicts as Parquet files",
		help: `
The tables runs, points, scores and verdicts are written below DIR, one file a release, in Hive's layout. Files whose
content is the same stay as they are, so that a copy to an object store takes only what is new. A DIR that has other
files is refused. ttreport help export has the columns, and queries that people ask.`,
		examples: []example{
			{"all of history", "ttreport export parquet warehouse"},
			{"a part of it", "ttreport export parquet warehouse --models 'Llama-*' --since v0.17"},
		},
		setup: func(fs *pflag.FlagSet) runFunc {
			var o exportOptions
			o.part.declare(fs)
			lockFlag(fs, &o.patience)
			return func(ctx context.Context, sh *shell, args []string) error { return o.run(ctx, sh, args) }
		},
	}
}

// exportOptions are the flags of export.
type exportOptions struct {
	part     historyPart
	patience time.Duration
}

// exportName is the file that tells a folder of ours from others.
const exportName = "ttreport-export.json"

// exportSchema is what it says; a change of a table's columns changes it.
const exportSchema = "ttreport/parquet/v1"

// readyFor refuses a folder that has something else.
func readyFor(dir string) error {
	data, err := os.ReadFile(filepath.Join(dir, exportName))
	var found struct {
		Schema string `json:"schema"`
	}
	switch {
	case err == nil && json.Unmarshal(data, &found) == nil && found.Schema == exportSchema:
		return nil
	case err == nil:
		return fail(exitUsage, "export to another folder", "export: %s was written in another layout (%s)", dir, found.Schema)
	}
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(list) == 0 {
		return nil
	}
	if err != nil {
		return failure{code: exitUsage, err: fmt.Errorf("export: %w", err)}
	}
	return fail(exitUsage, "name a folder that does not exist yet", "export: %s has files that are not of an export", dir)
}

func (o exportOptions) run(ctx context.Context, sh *shell, args []string) error {
	if len(args) != 2 || args[0] != "parquet" {
		return fail(exitUsage, "ttreport export parquet DIR", "export: expected a format and a folder")
	}
	dir := args[1]
	if err := readyFor(dir); err != nil {
		return err
	}
	ws, err := openWorkspace(".")
	if err != nil {
		return err
	}
	if _, _, err := soundTargets(ws, nil); err != nil { // verdicts against targets would be missing
		return err
	}
	unlock, err := lock(ctx, sh, ws.Dir, folderlock.Shared, o.patience)
	if err != nil {
		return err
	}
	defer unlock()
	req := storedRequest(ws, judge.View{})
	req.part = o.part
	report, err := makeReport(ctx, ws, req)
	if err != nil {
		return err
	}
	if lost := report.Gate.Lost; len(lost) > 0 { // an export without them would look whole
		return failure{code: exitInput, err: fmt.Errorf("export: %w", lost[0]), hint: "ttreport build names what is damaged"}
	}
	if len(report.Releases) == 0 {
		return fail(exitUngraded, "ttreport build PATH reads results into history/", "export: %s holds no run", ws.History())
	}
	n, err := exportTo(ctx, dir, report)
	if err != nil {
		return failure{code: exitUsage, err: fmt.Errorf("export: %w", err), hint: "choose another folder"}
	}
	fmt.Fprintf(sh.out, "%s in %s: %s written, %d unchanged, %d removed\n",
		plaintext.Plural(len(report.Releases), "release"), dir, plaintext.Plural(n.written, "file"), n.same, n.removed)
	return nil
}

// exported counts files.
type exported struct{ written, same, removed int }

// exportTo writes the files of a report, and removes those of releases that are not in it.
func exportTo(ctx context.Context, dir string, r *render.Report) (n exported, err error) {
	names := make([]string, len(r.Releases))
	for i := range r.Releases {
		names[i] = r.Releases[i].Name
	}
	mark := fmt.Appendf(nil, "{\"schema\": %q}\n", exportSchema)
	if err := durable.WriteFile(filepath.Join(dir, exportName), mark); err != nil {
		return n, err
	}
	keep := map[string]bool{}
	for i, partition := range parquet.Partitions(names) {
		for _, table := range parquet.Tables() {
			if ctx.Err() != nil {
				return n, ctx.Err()
			}
			data, err := parquet.File(r, table, i)
			if err != nil {
				return n, err
			}
			name := filepath.Join(dir, table, partition, partName)
			keep[name] = true
			wrote, err := durable.WriteChanged(name, data)
			if err != nil {
				return n, err
			}
			if wrote {
				n.written++
			} else {
				n.same++
			}
		}
	}
	n.removed, err = removeOthers(dir, keep)
	return n, err
}

// partName is the file of a release in a table.
const partName = "part-0.parquet"

// removeOthers removes files of ours that are not kept.
func removeOthers(dir string, keep map[string]bool) (n int, err error) {
	for _, table := range parquet.Tables() {
		names, err := fs.Glob(os.DirFS(dir), table+"/partition=*/"+partName)
		if err != nil {
			return n, err
		}
		for _, name := range names {
			name = filepath.Join(dir, filepath.FromSlash(name))
			if keep[name] {
				continue
			}
			if err := os.Remove(name); err != nil {
				return n, err
			}
			n++
			_ = os.Remove(filepath.Dir(name)) // somebody else's file may be in it
		}
	}
	return n, nil
}
