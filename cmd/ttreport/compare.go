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

	"github.com/spf13/cobra"
	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/answers"
	"github.com/ttreport/ttreport/ingest/folderlock"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/redact"
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

func compareCommand(sh *shell) *cobra.Command {
	o := compareOptions{format: "term", id: &identity{}}
	return command("compare", o.id.flags(map[string]any{
		"format": &o.format, "tools": &o.tools, "texts": &o.texts, "lock-timeout": &sh.patience,
	}), func(c *cobra.Command, args []string) error {
		switch {
		case len(o.tools) > 0 && (len(o.tools) != 2 || len(args) != 1):
			return fail(exitUsage, "ttreport compare --tools vllm,aiperf v0.6.0",
				"compare: --tools needs two tools, and one side that both measured")
		case len(o.tools) == 0 && len(args) != 2:
			return fail(exitUsage, "ttreport compare v0.5.0 v0.6.0", "compare: needs two sides, A and B")
		}
		return o.compare(c.Context(), sh, args)
	})
}

type compareOptions struct {
	format string
	tools  []string
	texts  bool
	id     *identity
}

// compare compares the sides that the command line names, or two tools on one side, and prints the comparison.
func (o *compareOptions) compare(ctx context.Context, sh *shell, names []string) error {
	ws, release, err := sh.openLocked(ctx, folderlock.Shared)
	if err != nil {
		return err
	}
	defer release()
	cols, problems, err := history.Load(ctx, ws.History())
	if err != nil {
		return err
	}
	var sides []compare.Side
	for _, name := range names {
		runs, err := o.side(ctx, ws, cols, name)
		if err != nil {
			return err
		}
		sides = append(sides, compare.Side{Name: name, Runs: runs})
	}
	c := &render.Comparison{Lost: len(history.Lost(problems))}
	if len(o.tools) == 2 {
		r := compare.Tools(sides[0].Runs, o.tools[0], o.tools[1])
		if c.Result = r; len(r.Rows) == 0 {
			return fail(exitUngraded, "ttreport inspect shows what each tool measured",
				"compare: no workload of %s was measured by both %s and %s (%d and %d numbers)", names[0], o.tools[0], o.tools[1],
				r.OnlyA, r.OnlyB)
		}
	} else if c.Result, c.Against, err = compareSides(ctx, ws, cols, sides); err != nil {
		return err
	}
	switch o.format {
	case "json":
		return rows.CompareJSON(sh.out, c)
	case "csv":
		data, err := rows.CSV(rows.Compare(c))
		if len(c.Rows) == 0 {
			data, err = rows.CSV(rows.Besides(c))
		}
		if err == nil {
			_, err = sh.out.Write(data)
		}
		return err
	case "md":
		_, err := sh.out.Write(markdown.Compare(c))
		return err
	}
	if err := terminal.Compare(sh.out, c); err != nil || !o.texts {
		return err
	}
	return writeTexts(sh.out, names, c.Scores)
}

// writeTexts writes what was asked in the items that one side answers worse, and what both said. The texts are those of
// the files that the command line names: nothing stores them.
func writeTexts(w io.Writer, sides []string, scores []compare.Score) error {
	const longest = 600
	type flip struct {
		answers.ID
		better string
	}
	var flips []flip // by several metrics of a task each once
	wanted, told := map[answers.ID]bool{}, map[flip]bool{}
	note := func(task, better string, items []string) {
		for _, item := range items {
			x := flip{answers.ID{Task: task, Item: item}, better}
			if wanted[x.ID] = true; !told[x] {
				told[x], flips = true, append(flips, x)
			}
		}
	}
	for i := range scores {
		s := &scores[i]
		note(s.B.Task, "A", s.Lost)
		note(s.B.Task, "B", s.Gained)
	}
	var of [2]map[answers.ID]answers.Item
	for k, side := range sides {
		var err error
		if of[k], err = answers.Read(side, wanted); err != nil {
			return fail(exitUsage, "name two folders with the samples that the tool wrote", "compare --texts: %v", err)
		}
	}
	for _, flip := range flips {
		a, b := of[0][flip.ID], of[1][flip.ID]
		fmt.Fprintf(w, "\n%s %s: %s answers it better\n", flip.Task, plaintext.Printable(flip.Item), flip.better)
		for _, x := range [][2]string{{"question", cmp.Or(b.Question, a.Question)},
			{"expected", cmp.Or(b.Reference, a.Reference)}, {"A", a.Answer}, {"B", b.Answer}} {
			text := cmp.Or(plaintext.Short(redact.Text(x[1]), longest), "the files do not have its text")
			fmt.Fprintf(w, "  %-9s %s\n", x[0], plaintext.Printable(strings.ReplaceAll(text, "\n", "\n            ")))
		}
	}
	return nil
}

// compareSides compares two sides. Of those that are releases it says what the site says of them: which numbers their
// later runs decided, how much starts of servers differed in pairs before, and the verdicts of the later one.
func compareSides(
	ctx context.Context, ws *workspace.Workspace, cols *columns.Columns, sides []compare.Side,
) (*compare.Result, *compare.Against, error) {
	if err := addPartners(cols, &sides[0], &sides[1]); err != nil {
		return nil, nil, err
	}
	var judged *gate.Gate
	for i := range sides {
		if judge.Named(judge.Releases(cols, nil), sides[i].Name) < 0 {
			continue
		}
		if judged == nil {
			var err error
			if judged, _, err = judgeHistory(ctx, ws, cols, judge.View{}); err != nil {
				return nil, nil, err
			}
		}
		at := judge.Named(judged.Releases, sides[i].Name)
		if at < 0 {
			continue
		}
		sides[i].Later = judged.ByLaterRuns(at)
		for _, run := range judged.Releases[at].Runs { // as the judge calls them
			h := &judged.Columns.Runs[run]
			if k := slices.IndexFunc(sides[i].Runs, func(r schema.Run) bool { return r.ID == h.ID }); k >= 0 {
				sides[i].Runs[k].Impl = h.System().Impl
			}
		}
	}
	r := compare.Sides(sides[0], sides[1])
	if len(r.Rows)+len(r.Scores) == 0 {
		apart := ""
		if n := r.Nearest; n != nil {
			var parts []string
			for _, d := range n.Differ {
				parts = append(parts, fmt.Sprintf("%s (%s and %s)", d.Name, cmp.Or(d.A, "none"), cmp.Or(d.B, "none")))
			}
			apart = "; the nearest differ only in " + strings.Join(parts, ", ")
		}
		return nil, nil, fail(exitUngraded,
			"workloads, tools and definitions must be the same; ttreport inspect shows what each side holds",
			"compare: nothing in %s was also measured in %s (%d and %d numbers, %d and %d scores)%s",
			r.A, r.B, r.OnlyA, r.OnlyB, r.ScoresA, r.ScoresB, apart)
	}
	if judged == nil {
		return r, nil, nil
	}
	a, b := judge.Named(judged.Releases, r.A), judge.Named(judged.Releases, r.B)
	if a < 0 || b <= a {
		return r, nil, nil
	}
	r.Judge(judged.Findings(b).History)
	all := func(release int) []int { return judged.Releases[release].Runs }
	r.Curves = compare.ReleaseCurves(judged.Judgement, a, b, all, false)
	return r, compare.Releases(judged.Judgement, a, b), nil
}

// addPartners adds to each side the runs under its name that took turns with runs of the other side: the baseline of a
// pair is a build by itself, and no part of the release that it measured again.
func addPartners(cols *columns.Columns, a, b *compare.Side) error {
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

// side finds what a name names: a release or run in history, else files.
func (o *compareOptions) side(
	ctx context.Context, ws *workspace.Workspace, cols *columns.Columns, name string,
) ([]schema.Run, error) {
	var stored []schema.Run
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
			stored = append(stored, doc)
		}
	}
	if len(stored) > 0 {
		return stored, nil
	}
	paths := []string{name}
	if _, err := os.Stat(name); err != nil {
		if paths, err = filepath.Glob(name); err != nil || len(paths) == 0 {
			return nil, fail(exitUsage, "ttreport history list has the runs that are stored",
				"compare: a side must be a release or a run in history/, a file, a folder or a glob in quotes, got %q", name)
		}
	}
	set, err := load(ctx, ws, paths, o.id)
	if err != nil {
		return nil, err
	}
	if len(set.Runs) == 0 {
		return nil, fail(exitInput, "ttreport inspect "+name, "compare: no result was found in %s", name)
	}
	return set.Runs, nil
}
