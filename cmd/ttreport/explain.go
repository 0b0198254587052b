package main

import (
	"context"
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
)

// explain finds a verdict by its id, in the release that was asked for or any other, and prints how it came about.
func explain(ctx context.Context, sh *shell, r *render.Report, id string) error {
	for at := len(r.Releases) - 1; at >= 0; at-- {
		for _, v := range r.Verdicts(at) {
			if v.ID != id {
				continue
			}
			reckoning, err := r.Judged.Explain(ctx, at, v)
			if err != nil {
				return err
			}
			if reckoning == nil {
				plainReckoning(sh, v)
				return nil
			}
			writeReckoning(sh.out, v, reckoning, r.Releases)
			return nil
		}
	}
	return fail(exitUsage, "ids stand in brackets in ttreport check, and in its JSON", "check: no verdict has the id %q", id)
}

// plainReckoning prints a verdict that is not a test against history: a target's, or an eval's.
func plainReckoning(sh *shell, v schema.Verdict) {
	fmt.Fprintf(sh.out, "%s  %s %s\n%s on %s, %s, %s in %s\n%s\n", v.ID, v.Word, v.Evidence, orUnknown(v.Model), orUnknown(v.Device), words.Workload(v.Key), v.Metric, v.Release, words.Why(v))
	show := func(name string, n schema.Number) {
		if x, ok := n.Get(); ok {
			fmt.Fprintf(sh.out, "%-20s %.6g\n", name, x)
		} else if n.Why() != "" {
			fmt.Fprintf(sh.out, "%-20s none: %s\n", name, n.Why())
		}
	}
	show("value", v.Value)
	show("reference", v.Ref)
	show("effect", v.Effect)
	show("p, one-sided", v.P)
	if v.Interval != nil {
		fmt.Fprintf(sh.out, "%-20s %.6g to %.6g\n", "95 % interval", v.Interval[0], v.Interval[1])
	}
	fmt.Fprintf(sh.out, "%-20s %d\n", "n", v.N)
	for _, name := range sortedArgs(v.Reason.Args) {
		fmt.Fprintf(sh.out, "%-20s %s\n", name, v.Reason.Args[name])
	}
}
