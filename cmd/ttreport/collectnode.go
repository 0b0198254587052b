package main

import (
	"context"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/cmd/ttreport/workspace"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/ingest/history"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// place gives entries the node that --node asks for: a change that is seen on another node too is not of the node, and
// one that is gone there may be.
func (o schedulerOptions) place(ctx context.Context, ws *workspace.Workspace, entries []plan.Entry) error {
	if o.node == "" {
		return nil
	}
	past, _, err := history.Load(ctx, ws.Cache(), ws.History())
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		nodes := o.nodesOf(past, *e)
		if len(nodes) == 0 {
			return fail(exitUsage, "leave --node out, or state nodelist: or exclude: in its resources",
				"collect: history does not say on which node %s on %s was measured for %q", e.Model, e.Device, e.Release)
		}
		if o.node == nodeSame {
			e.Resources.Nodelist = nodes[len(nodes)-1]
		} else {
			e.Resources.Exclude = strings.Join(nodes, ",")
		}
	}
	return nil
}

// nodesOf returns the nodes that the scheduler measured an entry's release on, the newest last.
func (o schedulerOptions) nodesOf(past *columns.Columns, e plan.Entry) []string {
	var runs []*columns.RunHead
	for i := range past.Runs {
		h := &past.Runs[i]
		if h.Release == e.Release && h.Model.Name == e.Model && schema.SameDevice(h.Device, e.Device) {
			runs = append(runs, h)
		}
	}
	slices.SortStableFunc(runs, func(a, b *columns.RunHead) int { return a.Start.Compare(b.Start) })
	var nodes []string
	for _, h := range runs {
		for n := range strings.SplitSeq(h.Setting[o.on+"_node"], ",") {
			if n = strings.TrimSpace(n); n != "" {
				nodes = append(slices.DeleteFunc(nodes, func(o string) bool { return o == n }), n)
			}
		}
	}
	return nodes
}
