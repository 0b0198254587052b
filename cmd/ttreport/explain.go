package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets"
)

// explain finds a verdict by its id, in the release that was asked for or any other, and prints how it came about.
func explain(ctx context.Context, sh *shell, r *render.Report, id string) error {
	for at := len(r.Releases) - 1; at >= 0; at-- {
		lists := r.Verdicts(at)
		for _, v := range append(lists[0][:len(lists[0]):len(lists[0])], lists[1]...) {
			if v.ID != id {
				continue
			}
			reckoning, err := r.Judged.Explain(ctx, at, v)
			if err != nil {
				return err
			}
			if reckoning == nil {
				plainReckoning(sh, v)
				writeEvalReckoning(sh.out, v, r.Judged.ExplainEval(v))
				return nil
			}
			writeReckoning(sh.out, v, reckoning, r.Releases)
			fit := r.Judged.Fit(at)
			fmt.Fprintf(sh.out, "calibration          %d of %d earlier predictions at 2 %% failed\n", fit.Exceeded, fit.Tested)
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
			fmt.Fprintf(sh.out, "%-20s %.6g\n", name, x+0)
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
	show("q, over the evals", v.Q)
	fmt.Fprintf(sh.out, "%-20s %d\n", "n", v.N)
	for _, name := range sortedArgs(v.Reason.Args) {
		if name == "n" { // stands above
			continue
		}
		fmt.Fprintf(sh.out, "%-20s %s\n", name, v.Reason.Args[name])
	}
}

// writeEvalReckoning prints the scores behind an eval's verdict and, for one against the mean of releases, the test.
func writeEvalReckoning(w io.Writer, v schema.Verdict, r *targets.EvalReckoning) {
	if r == nil {
		return
	}
	p := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	list := func(what string, values []targets.EvalValue) {
		for _, b := range values {
			n := "an unstated number of questions"
			if b.N > 0 {
				n = plural(b.N, "question")
			}
			p("  %-9s%-14s %.6g of %s, run %s", what, b.Release, b.Value, n, b.Run)
		}
	}
	list("baseline", r.Baseline)
	list("now", r.Now)
	switch v.Reason.Code {
	case "paired":
		p("test                 McNemar's, exact: binomial(lost + gained, 1/2)")
	case "unpaired":
		p("test                 two proportions, pooled; interval by Newcombe's method 10")
	case "by-error":
		p("test                 normal, with both standard errors")
	}
	if math.IsNaN(r.SE) {
		return
	}
	p("scale                a = 2·asin √p, where n questions alone have a variance of 1/n")
	p("mean of baseline     a = %.6f, p = %.6f", r.Mean, r.MeanShare)
	p("this release         a = %.6f", r.Z)
	df := fmt.Sprintf("%.4g degrees of freedom", r.Df)
	if math.IsInf(r.Df, 1) {
		df = "the normal distribution"
	}
	p("variance             between releases %.4g, at least 1/n: %.4g with %s", r.Own, r.Variance, df)
	p("standard error       √(%.4g·(1 + 1/%d)) = %.6f", r.Variance, len(r.Baseline), r.SE)
	p("t                    %.4f", (r.Z-r.Mean)/r.SE)
}
