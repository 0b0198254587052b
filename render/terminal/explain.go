package terminal

import (
	"fmt"
	"io"
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// Verdict writes a verdict that no test against history decided: a target's, or an eval's.
func Verdict(w io.Writer, v schema.Verdict) {
	p := printer{w}
	p.line("%s  %s", v.ID, words.Verdict(&v))
	p.line(
		"%s on %s, %s, %s in %s",
		words.OrUnknown(v.Model),
		words.OrUnknown(v.Device),
		words.Workload(v.Key),
		v.Metric,
		v.Release,
	)
	p.line("%s", words.Why(v))
	p.number("value", v.Value)
	p.number("reference", v.Ref)
	p.number("effect", v.Effect)
	p.number("p, one-sided", v.P)
	if v.Interval != nil {
		p.line("%-20s %.6g to %.6g", "95 % interval", v.Interval[0], v.Interval[1])
	}
	p.number("q, over the evals", v.Q)
	if v.N > 0 {
		p.line("%-20s %d", "n", v.N)
	} else {
		p.line("%-20s not stated", "n")
	}
	for _, f := range words.Facts(v.Reason) {
		p.line("%-20s %s", f.Name, f.Text)
	}
}

func (p printer) number(name string, n schema.Number) {
	if x, ok := n.Get(); ok {
		p.line("%-20s %.6g", name, x+0)
	} else if n.Why() != "" {
		p.line("%-20s none: %s", name, n.Why())
	}
}

// EvalCalculation writes the scores behind an eval's verdict and, for one against the mean of releases, the test.
func EvalCalculation(w io.Writer, v schema.Verdict, c *judge.EvalCalculation) {
	if c == nil {
		return
	}
	p := printer{w}
	p.scores("baseline", c.Baseline)
	p.scores("now", c.Now)
	if r, ok := v.Reason.(schema.EvalChange); ok {
		switch r.Test {
		case schema.TestPaired:
			p.line("test                 McNemar's, exact: binomial(lost + gained, 1/2)")
		case schema.TestUnpaired:
			p.line("test                 two proportions, pooled; interval by Newcombe's method 10")
		case schema.TestByError:
			p.line("test                 normal, with both standard errors")
		}
	}
	if math.IsNaN(c.SE) {
		return
	}
	p.line("scale                a = 2·asin √p, where n questions alone have a variance of 1/n")
	p.line("mean of baseline     a = %.6f, p = %.6f", c.Mean, c.MeanShare)
	p.line("this release         a = %.6f", c.Z)
	df := fmt.Sprintf("%.4g degrees of freedom", c.Df)
	if math.IsInf(c.Df, 1) {
		df = "the normal distribution"
	}
	p.line("variance             between releases %.4g, at least 1/n: %.4g with %s", c.Own, c.Variance, df)
	p.line("standard error       √(%.4g·(1 + 1/%d)) = %.6f", c.Variance, len(c.Baseline), c.SE)
	p.line("t                    %.4f", (c.Z-c.Mean)/c.SE)
}

func (p printer) scores(what string, values []judge.EvalValue) {
	for _, b := range values {
		n := "an unstated number of questions"
		if b.N > 0 {
			n = words.Plural(b.N, "question")
		}
		p.line("  %-9s%-14s %.6g of %s, run %s", what, b.Release, b.Value, n, b.Run)
	}
}
