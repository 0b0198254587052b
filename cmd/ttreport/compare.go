package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/markdown"
	"github.com/ttreport/ttreport/render/rows"
	"github.com/ttreport/ttreport/render/terminal"
	"github.com/ttreport/ttreport/targets/compare"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/judge"
)

const compareHelp = `
Each side is a release or run id of history/, or a file, a folder or a glob of result files; several measurements of one
workload are repeats. B is compared with A: the geometric mean of each, ± half of the range of the repeats, the change
with its 95 % interval, p and n. The test follows from the data and is named: Mann-Whitney's U from four repeats a side
on, Welch's t on logarithms below, none for a single value. ~ means that nothing can be concluded; how many runs a side
would settle it is shown beside it. Of a release, the first run does not count where a recheck decided, as in ttreport
check.

Numbers of two tools, or under two definitions of a metric, are not compared, except with --tools: then the workloads
that both tools measured stand beside each other, with the definitions, and no row is a verdict.

Workloads whose answers are clearly shorter on one side, or of which requests failed, are counted at the top and marked;
geometric means are over all workloads, and beside that over those without a mark.

What only one side has is counted at the end. For a verdict with the noise of history use ttreport check.`

func compareCommand(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use: "compare A B", Short: "two runs, releases, files or folders beside each other, worst first",
		Long: compareHelp,
		Example: `
# two releases
$ ttreport compare v0.5.0 v0.6.0
# repeats in two folders
$ ttreport compare before/ after/
# two tools on the same server
$ ttreport compare --tools vllm,aiperf v0.6.0
# for a pull request
$ ttreport compare --format md 'main-*.json' 'pr-*.json'`,
	}
	fs := c.Flags()
	var o compareOptions
	fs.StringVar(&o.format, "format", "term", "term, md, csv or json")
	fs.StringSliceVar(&o.tools, "tools", nil, "`two` tools whose numbers of one side are compared: vllm,aiperf")
	lockFlag(fs, &o.patience)
	o.id = identityFlags(fs)
	c.RunE = func(c *cobra.Command, args []string) error {
		return o.run(c.Context(), sh, args)
	}
	return c
}

type compareOptions struct {
	format   string
	tools    []string
	patience time.Duration
	id       *identity
}

// run compares the sides that the command line names.
func (o *compareOptions) run(ctx context.Context, sh *shell, args []string) error {
	switch {
	case len(o.tools) > 0 && (len(o.tools) != 2 || len(args) != 1):
		return fail(exitUsage, "ttreport compare --tools vllm,aiperf v0.6.0",
			"compare: --tools needs two tools, and one side that both measured")
	case len(o.tools) == 0 && len(args) != 2:
		return fail(exitUsage, "ttreport compare v0.5.0 v0.6.0", "compare: needs two sides, A and B")
	case !slices.Contains([]string{"term", "md", "csv", "json"}, o.format):
		return fail(exitUsage, "formats are term, md, csv and json", "compare: --format %q", o.format)
	}
	ws, err := openWorkspace(".")
	if err != nil {
		return err
	}
	release, err := lock(ctx, sh, ws.Dir, folderlock.Shared, o.patience)
	if err != nil {
		return err
	}
	defer release()
	var c *render.Comparison
	if len(o.tools) == 2 {
		c, err = compareTools(ctx, ws, o.id, args[0], o.tools)
	} else {
		c, err = compareSides(ctx, ws, o.id, args[0], args[1])
	}
	if err != nil {
		return err
	}
	return writeComparison(sh.out, c, o.format)
}

// compareSides finds two sides and compares them.
func compareSides(ctx context.Context, ws *workspace.Workspace, id *identity, a, b string) (*render.Comparison, error) {
	cols, problems, err := history.Load(ctx, ws.Cache(), ws.History())
	if err != nil {
		return nil, err
	}
	var sides [2]compare.Side
	for i, name := range []string{a, b} {
		runs, err := findSide(ctx, cols, id, name)
		if err != nil {
			return nil, err
		}
		sides[i] = compare.Side{Name: name, Runs: runs}
	}
	if err := withPartners(cols, &sides[0], &sides[1]); err != nil {
		return nil, err
	}
	judged, err := decided(ctx, ws, cols, sides[:])
	if err != nil {
		return nil, err
	}
	r := compare.Sides(sides[0], sides[1])
	if len(r.Rows) == 0 {
		return nil, nothingShared(r, scores(sides[0]), scores(sides[1]))
	}
	return &render.Comparison{Result: r, Lost: len(history.Lost(problems)), Against: against(judged, r)}, nil
}

// nothingShared says what keeps two sides apart, which have so many scores.
func nothingShared(r *compare.Result, a, b int) error {
	fix := "workloads, tools and definitions must be the same; ttreport inspect shows what each side holds"
	if a > 0 && b > 0 {
		fix = fmt.Sprintf("scores of evals (%d and %d) are not compared here: ttreport check compares a release's with the "+
			"release before, by question where both have them", a, b)
	}
	apart := ""
	if n := r.Nearest; n != nil {
		var parts []string
		for _, d := range n.Differ {
			parts = append(parts, fmt.Sprintf("%s (%s and %s)", d.Name, cmp.Or(d.A, "none"), cmp.Or(d.B, "none")))
		}
		apart = "; the nearest differ only in " + strings.Join(parts, ", ")
	}
	return fail(exitUngraded, fix, "compare: no performance number of %s was measured in %s too (%d and %d numbers)%s",
		r.A, r.B, r.OnlyA, r.OnlyB, apart)
}

// against is what the site says of two sides that are an earlier and a later release, whose verdicts the rows get; else
// nil.
func against(judged *gate.Gate, r *compare.Result) *compare.Against {
	if judged == nil {
		return nil
	}
	a, b := judge.Named(judged.Releases, r.A), judge.Named(judged.Releases, r.B)
	if a < 0 || b <= a {
		return nil
	}
	r.Judge(judged.Findings(b).History)
	return compare.Releases(judged.Judgement, a, b)
}

// scores counts the scores of a side's evals.
func scores(s compare.Side) (n int) {
	for i := range s.Runs {
		n += len(s.Runs[i].Scores)
	}
	return n
}

// withPartners adds to each side the runs under its name that took turns with runs of the other side: the baseline of a
// pair is a build by itself, and no part of the release that it measured again.
func withPartners(cols *columns.Columns, a, b *compare.Side) error {
	for _, x := range []struct{ to, from *compare.Side }{{a, b}, {b, a}} {
		for i := range x.from.Runs {
			with := x.from.Runs[i].Interleaved.With
			if with == "" || slices.ContainsFunc(x.to.Runs, func(r schema.Run) bool { return r.ID == with }) {
				continue
			}
			for k := range cols.Runs {
				if h := &cols.Runs[k]; h.ID == with && h.Release == x.to.Name {
					doc, problem := history.Read(h.Path)
					if problem != nil {
						return failure{code: exitInput, err: *problem}
					}
					x.to.Runs = append(x.to.Runs, doc)
				}
			}
		}
	}
	return nil
}

// decided says of the sides that are releases which numbers their later runs decided, so that a release has the number
// here that it has everywhere, and how much starts of servers differed in pairs before. It returns the judgement,
// or nil where no side is a release.
func decided(
	ctx context.Context, ws *workspace.Workspace, cols *columns.Columns, sides []compare.Side,
) (judged *gate.Gate, err error) {
	for i := range sides {
		if judge.Named(judge.Releases(cols, nil), sides[i].Name) < 0 {
			continue
		}
		if judged == nil {
			if judged, err = judgeHistory(ctx, ws, cols, judge.View{}); err != nil {
				return nil, err
			}
		}
		if at := judge.Named(judged.Releases, sides[i].Name); at >= 0 {
			sides[i].Later, sides[i].StartNoise = judged.ByLaterRuns(at), judged.StartNoise(at)
		}
	}
	return judged, nil
}

// compareTools compares what two tools measured of one side.
func compareTools(
	ctx context.Context, ws *workspace.Workspace, id *identity, side string, tools []string,
) (*render.Comparison, error) {
	cols, problems, err := history.Load(ctx, ws.Cache(), ws.History())
	if err != nil {
		return nil, err
	}
	runs, err := findSide(ctx, cols, id, side)
	if err != nil {
		return nil, err
	}
	r := compare.Tools(runs, tools[0], tools[1])
	if len(r.Rows) == 0 {
		return nil, fail(exitUngraded, "ttreport inspect shows what each tool measured",
			"compare: no workload of %s was measured by both %s and %s (%d and %d numbers)", side, tools[0], tools[1],
			r.OnlyA, r.OnlyB)
	}
	return &render.Comparison{Result: r, Lost: len(history.Lost(problems))}, nil
}

// writeComparison writes a comparison in the form that was asked for.
func writeComparison(w io.Writer, c *render.Comparison, format string) error {
	switch format {
	case "json":
		return rows.CompareJSON(w, c)
	case "csv":
		data, err := rows.CSV(rows.Compare(c))
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	case "md":
		_, err := w.Write(markdown.Compare(c))
		return err
	}
	return terminal.Compare(w, c)
}

// findSide finds what a side names: a release or run in history, else files.
func findSide(ctx context.Context, cols *columns.Columns, id *identity, name string) ([]schema.Run, error) {
	if runs, err := storedSide(cols, name); err != nil || len(runs) > 0 {
		return runs, err
	}
	paths := []string{name}
	if _, err := os.Stat(name); err != nil {
		if paths, err = filepath.Glob(name); err != nil || len(paths) == 0 {
			return nil, fail(exitUsage,
				"a side is a release or run id in history/, a file, a folder or a glob in quotes",
				"compare: %q is none of them", name)
		}
	}
	set, err := load(ctx, paths, id)
	if err != nil {
		return nil, err
	}
	if len(set.Runs) == 0 {
		return nil, fail(exitInput, "ttreport inspect "+name, "compare: no result was found in %s", name)
	}
	return set.Runs, nil
}

// storedSide reads the documents of a release, or of a run.
func storedSide(cols *columns.Columns, name string) ([]schema.Run, error) {
	var out []schema.Run
	for _, r := range judge.Releases(cols, nil) {
		for _, run := range r.Runs {
			h := &cols.Runs[run]
			if r.Name != name && h.ID != name {
				continue
			}
			doc, problem := history.Read(h.Path)
			if problem != nil {
				return nil, failure{code: exitInput, err: *problem}
			}
			out = append(out, doc)
		}
	}
	return out, nil
}
