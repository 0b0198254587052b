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
	c := &cobra.Command{
		Use: "export parquet DIR", Short: "write history and verdicts as Parquet files",
		Long: `
The tables runs, points, scores and verdicts are written below DIR, one file a release, in Hive's layout. Files whose
content is the same stay as they are. A folder that has other files is refused. ttreport help export has the columns,
queries that people ask, and the commands that copy the folder to a bucket.`,
		Example: `
# all of history
$ ttreport export parquet warehouse
# a part of it
$ ttreport export parquet warehouse --models 'Llama-*' --since v0.17`,
	}
	var part historyPart
	part.declare(c.Flags())
	lockFlag(c.Flags(), sh)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) != 2 || args[0] != "parquet" {
			return fail(exitUsage, "ttreport export parquet DIR", "export: expected a format and a folder")
		}
		if strings.HasPrefix(args[1], "s3://") {
			return fail(exitUsage, "ttreport export parquet warehouse && aws s3 sync --delete warehouse s3://…",
				"export: expected a folder, got an address of a bucket")
		}
		if err := readyFor(args[1]); err != nil {
			return err
		}
		return export(c.Context(), sh, part, args[1])
	}
	return c
}

// exportName is the file that tells a folder of ours from others.
const exportName = "ttreport-export.json"

// exportSchema is what it says; a change of a table's columns changes it.
const exportSchema = "ttreport/parquet/v2"

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
		return fail(exitUsage, "export to another place", "export: %s was written in another layout (%s)", dir,
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
	return fail(exitUsage, "name a folder that has nothing yet", "export: %s has files that are not of an export", dir)
}

// export writes a part of history into a folder.
func export(ctx context.Context, sh *shell, part historyPart, dir string) error {
	ws, unlock, err := sh.openLocked(ctx, folderlock.Shared)
	if err != nil {
		return err
	}
	defer unlock()
	if _, _, err := soundTargets(ws, nil); err != nil { // verdicts against targets would be missing
		return err
	}
	report, err := makeReport(ctx, ws, reportRequest{part: part})
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
	if err != nil { // what was written is whole, and stays
		hint := "check that " + dir + " can be written"
		if ctx.Err() != nil {
			hint = "the same command goes on where this one ended"
		}
		return failure{code: exitUsage, err: fmt.Errorf("export: %w", err), hint: hint}
	}
	fmt.Fprintf(sh.out, "%s in %s: %s written, %d unchanged, %d removed\n",
		plaintext.Plural(len(report.Releases), "release"), dir, plaintext.Plural(n.written, "file"), n.same, n.removed)
	return nil
}

// exported counts files.
type exported struct{ written, same, removed int }

// partName is the file of a release in a table.
const partName = "part-0.parquet"

// exportTo writes the files of a report, and removes those of releases that are not in it. The table of runs is the
// last to have a release and the first to lose it: what an export that was cut short left out is in no join with runs.
func exportTo(ctx context.Context, dir string, r *render.Report) (n exported, err error) {
	mark := fmt.Appendf(nil, "{\"schema\": %q}\n", exportSchema)
	if _, err := durable.WriteChanged(filepath.Join(dir, exportName), mark); err != nil {
		return n, err
	}
	var releases []string
	for i := range r.Releases {
		releases = append(releases, r.Releases[i].Name)
	}
	partitions, keep := rows.Partitions(releases), map[string]bool{}
	for _, table := range rows.Tables() {
		for i, partition := range partitions {
			if err := ctx.Err(); err != nil {
				return n, err
			}
			data, err := rows.File(r, table, i)
			if err != nil {
				return n, err
			}
			name := filepath.Join(dir, table, partition, partName)
			keep[name] = true
			wrote, err := durable.WriteChanged(name, data)
			switch {
			case err != nil:
				return n, err
			case wrote:
				n.written++
			default:
				n.same++
			}
		}
	}
	for _, table := range slices.Backward(rows.Tables()) {
		there, err := fs.Glob(os.DirFS(dir), table+"/partition=*/"+partName)
		if err != nil {
			return n, err
		}
		for _, name := range there {
			if name = filepath.Join(dir, filepath.FromSlash(name)); keep[name] {
				continue
			}
			if err := os.Remove(name); err != nil {
				return n, err
			}
			_ = os.Remove(filepath.Dir(name)) // somebody else's file may be in it
			n.removed++
		}
	}
	return n, nil
}
