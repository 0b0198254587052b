package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/ingest/schema/glob"
	"github.com/ttreport/ttreport/targets/judge"
)

// historyPart is a part of history: what is not in it is neither judged nor shown.
type historyPart struct {
	since  string   // the first release; "" for all
	models []string // globs; none for all
}

func (p *historyPart) declare(fs *pflag.FlagSet) {
	fs.StringVar(&p.since, "since", "", "leave out what is older than this `release`, as a baseline too")
	fs.StringSliceVar(&p.models, "models", nil, "leave out models that match none of these `globs`, as 'Llama-*,sim-8b'")
}

// whole reports that nothing is left out.
func (p historyPart) whole() bool { return p.since == "" && len(p.models) == 0 }

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
	if p.whole() {
		return all, nil, nil
	}
	order, err := ws.ReleaseOrder()
	if err != nil {
		return nil, nil, failure{code: exitUsage, err: err}
	}
	releases := judge.Releases(all, order)
	first := 0
	if p.since != "" {
		if first = judge.Named(releases, p.since); first < 0 {
			return nil, nil, releaseError("--since", judge.NewUnknownRelease(p.since, releases))
		}
	}
	var runs []int
	for _, r := range releases[first:] {
		for _, i := range r.Runs {
			if len(p.models) == 0 || p.names(all.Runs[i].Model) {
				runs = append(runs, i)
			}
		}
	}
	if len(runs) == 0 && len(p.models) > 0 {
		return nil, nil, fail(exitUsage, "there are "+strings.Join(modelNames(all), ", "),
			"build: no run of a model that matches %s", p)
	}
	slices.Sort(runs)
	b := columns.NewBuilder()
	b.AppendRuns(all, runs)
	return b.C, []schema.Problem{{
		Severity: schema.SevWarning, Path: workspace.ConfigName, Code: "part-of-history",
		Found:    fmt.Sprintf("%d of %s: %s", len(runs), plaintext.Plural(len(all.Runs), "run"), p),
		Expected: "all of history", Used: "these alone: what is left out is no baseline, and is not tested with the others",
		Hint: "ttreport build without --since and --models judges all",
	}}, nil
}

// names reports whether a model is meant, by its name or its id.
func (p historyPart) names(m schema.Model) bool {
	return slices.ContainsFunc(p.models, func(pattern string) bool {
		return pattern == m.Name || glob.Match(pattern, m.Name) || m.ID != "" && glob.Match(pattern, m.ID)
	})
}

// modelNames are the models of history, the first twenty.
func modelNames(c *columns.Columns) []string {
	var out []string
	for i := range c.Runs {
		out = append(out, cmp.Or(c.Runs[i].Model.Name, "?"))
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), 20)]
}
