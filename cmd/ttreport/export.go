package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/parquet"
	"github.com/ttreport/ttreport/site/bucket"
	"github.com/ttreport/ttreport/targets/judge"
	"golang.org/x/sync/errgroup"
)

func exportCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use: "export parquet DIR|s3://BUCKET/PREFIX", Short: "write history and verdicts as Parquet files",
		Long: `
The tables runs, points, scores and verdicts are written below DIR, one file a release, in Hive's layout. Files whose
content is the same stay as they are. In place of a folder there can be a bucket of an S3-compatible store: its keys are
read from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, its address from AWS_ENDPOINT_URL where it is not AWS. A
place that has other files is refused. ttreport help export has the columns, and queries that people ask.`,
		Example: `
# all of history
$ ttreport export parquet warehouse
# to a bucket
$ ttreport export parquet s3://bench/warehouse
# a part of it
$ ttreport export parquet warehouse --models 'Llama-*' --since v0.17`,
	}
	fs := c.Flags()
	var o exportOptions
	o.part.declare(fs)
	lockFlag(fs, &o.patience)
	c.RunE = func(c *cobra.Command, args []string) error {
		return o.run(c.Context(), sh, args)
	}
	return c
}

// exportOptions are the flags of export.
type exportOptions struct {
	part     historyPart
	patience time.Duration
}

// exportName is the file that tells a folder of ours from others.
const exportName = "ttreport-export.json"

// exportSchema is what it says; a change of a table's columns changes it.
const exportSchema = "ttreport/parquet/v2"

// readyFor refuses a warehouse that has something else.
func readyFor(ctx context.Context, w warehouse, name string) error {
	data, err := w.read(ctx, exportName)
	var found struct {
		Schema string `json:"schema"`
	}
	switch {
	case err == nil && json.Unmarshal(data, &found) == nil && found.Schema == exportSchema:
		return nil
	case err == nil:
		return fail(exitUsage, "export to another place", "export: %s was written in another layout (%s)", name,
			cmp.Or(found.Schema, "unknown"))
	}
	empty := false
	if errors.Is(err, fs.ErrNotExist) {
		empty, err = w.empty(ctx)
	}
	if err != nil {
		return failure{code: exitUsage, err: fmt.Errorf("export: %w", err)}
	}
	if !empty {
		return fail(exitUsage, "name a folder or a prefix that has nothing yet",
			"export: %s has files that are not of an export", name)
	}
	return nil
}

func (o exportOptions) run(ctx context.Context, sh *shell, args []string) error {
	if len(args) != 2 || args[0] != "parquet" {
		return fail(exitUsage, "ttreport export parquet DIR", "export: expected a format and a folder or s3://BUCKET/PREFIX")
	}
	name := args[1]
	w, err := openWarehouse(name)
	if err != nil {
		return failure{code: exitUsage, err: fmt.Errorf("export: %s: %w", redact.URL(name), err)}
	}
	if err := readyFor(ctx, w, name); err != nil {
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
	n, err := exportTo(ctx, w, report)
	if err != nil {
		return unfinished(ctx, name, err)
	}
	fmt.Fprintf(sh.out, "%s in %s: %s written, %d unchanged, %d removed\n",
		plaintext.Plural(len(report.Releases), "release"), name, plaintext.Plural(int(n.written.Load()), "file"),
		n.same.Load(), n.removed)
	return nil
}

// unfinished is an export that ended early, with what to do: what was written is whole, and stays.
func unfinished(ctx context.Context, name string, err error) error {
	hint := "check that " + name + " can be written"
	if ctx.Err() != nil || errors.Is(err, bucket.ErrBusy) {
		hint = "the same command goes on where this one ended"
	}
	return failure{code: exitUsage, err: fmt.Errorf("export: %w", err), hint: hint}
}

// exported counts files.
type exported struct {
	written, same atomic.Int64
	removed       int
}

// partName is the file of a release in a table.
const partName = "part-0.parquet"

// exportTo writes the files of a report, and removes those of releases that are not in it. The table of runs is the
// last to have a release and the first to lose it: what an export that was cut short left out is in no join with runs.
func exportTo(ctx context.Context, w warehouse, r *render.Report) (*exported, error) {
	n := &exported{}
	there, err := w.files(ctx)
	if err != nil {
		return n, err
	}
	if _, err := w.put(ctx, exportName, fmt.Appendf(nil, "{\"schema\": %q}\n", exportSchema)); err != nil {
		return n, err
	}
	keep := map[string]bool{}
	for _, table := range parquet.Tables() {
		if err := n.table(ctx, w, r, table, keep); err != nil {
			return n, err
		}
	}
	slices.Reverse(there) // which is in the order of the tables
	for _, name := range there {
		if keep[name] {
			continue
		}
		if err := w.remove(ctx, name); err != nil {
			return n, err
		}
		n.removed++
	}
	return n, nil
}

// uploads is how many files are on their way at once: each waits for the store's answer most of the time.
const uploads = 8

// table writes the files of a table, and adds their names to keep.
func (n *exported) table(ctx context.Context, w warehouse, r *render.Report, table string, keep map[string]bool) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(uploads)
	names := make([]string, len(r.Releases))
	for i := range r.Releases {
		names[i] = r.Releases[i].Name
	}
	for i, partition := range parquet.Partitions(names) {
		if inner.Err() != nil {
			break
		}
		data, err := parquet.File(r, table, i)
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		name := path.Join(table, partition, partName)
		keep[name] = true
		group.Go(func() error {
			wrote, err := w.put(inner, name, data)
			if wrote {
				n.written.Add(1)
			} else if err == nil {
				n.same.Add(1)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// warehouse is where an export is: a folder or a bucket. Names have slashes. Each file is whole, or what it was.
type warehouse interface {
	read(ctx context.Context, name string) ([]byte, error) // fs.ErrNotExist where there is none
	empty(ctx context.Context) (bool, error)
	// files are the names of the exported files that are there.
	files(ctx context.Context) ([]string, error)
	// put reports whether it wrote: what has the same content stays. It is called after files, by several at once.
	put(ctx context.Context, name string, data []byte) (bool, error)
	remove(ctx context.Context, name string) error
}

// openWarehouse returns the warehouse of an argument. Keys of a bucket are in the environment.
func openWarehouse(at string) (warehouse, error) {
	if !strings.HasPrefix(at, bucket.Scheme) {
		return folderOf(at), nil
	}
	b, err := bucket.Open(at, os.Getenv)
	if err != nil {
		return nil, err
	}
	return &objects{bucket: b}, nil
}

// folderOf is a warehouse on disk.
type folderOf string

func (d folderOf) at(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

func (d folderOf) read(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(d.at(name))
}

func (d folderOf) empty(context.Context) (bool, error) {
	list, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return len(list) == 0, err
}

func (d folderOf) files(context.Context) ([]string, error) {
	var out []string
	for _, table := range parquet.Tables() {
		names, err := fs.Glob(os.DirFS(string(d)), table+"/partition=*/"+partName)
		if err != nil {
			return nil, err
		}
		out = append(out, names...)
	}
	return out, nil
}

func (d folderOf) put(_ context.Context, name string, data []byte) (bool, error) {
	return durable.WriteChanged(d.at(name), data)
}

func (d folderOf) remove(_ context.Context, name string) error {
	if err := os.Remove(d.at(name)); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(d.at(name))) // somebody else's file may be in it
	return nil
}

// objects is a warehouse in a bucket.
type objects struct {
	bucket *bucket.Bucket
	found  map[string]*bucket.Object // by name, as files found them
}

func (o *objects) read(ctx context.Context, name string) ([]byte, error) {
	return o.bucket.Get(ctx, name)
}

func (o *objects) empty(ctx context.Context) (bool, error) {
	list, err := o.bucket.List(ctx, "", 2)
	other := func(found bucket.Object) bool { return found.Name != "" } // than the mark of a prefix, as consoles make it
	return !slices.ContainsFunc(list, other), err
}

func (o *objects) files(ctx context.Context) ([]string, error) {
	o.found = map[string]*bucket.Object{}
	var out []string
	for _, table := range parquet.Tables() {
		list, err := o.bucket.List(ctx, table+"/partition=", 0)
		if err != nil {
			return nil, err
		}
		for i := range list {
			rest, ours := strings.CutSuffix(list[i].Name, "/"+partName)
			if ours && strings.Count(rest, "/") == 1 {
				o.found[list[i].Name] = &list[i]
				out = append(out, list[i].Name)
			}
		}
	}
	return out, nil
}

func (o *objects) put(ctx context.Context, name string, data []byte) (bool, error) {
	return o.bucket.Put(ctx, name, data, o.found[name])
}

func (o *objects) remove(ctx context.Context, name string) error { return o.bucket.Remove(ctx, name) }
