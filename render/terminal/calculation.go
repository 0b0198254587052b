package terminal

import (
	"fmt"
	"io"
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets/judge"
)

// printer writes lines.
type printer struct{ w io.Writer }

func (p printer) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// Calculation writes everything behind a verdict against history. Values on the log scale are called z.
func Calculation(w io.Writer, v schema.Verdict, c *judge.Calculation, releases []judge.Release) {
	p := printer{w}
	z := "ln y"
	if judge.Higher(v.Metric) {
		z = "−ln y"
	}
	p.line("%s  %s", v.ID, words.Verdict(&v))
	p.line("%s on %s, %s, %s %s in %s", words.OrUnknown(v.Model), words.OrUnknown(v.Device), words.Workload(v.Key),
		v.Metric, v.Stat, v.Release)
	p.line("%s\n", words.Why(v))
	p.line("z = %s, so that larger is worse; d is a difference of z", z)
	p.baseline(v, c, releases)
	p.line("this release         z = %.6f   y = %.5g   repeats %d", c.Obs.Z, y(v.Metric, c.Obs.Z), c.Obs.K)
	p.line("run-wide level       %+.6f, which is %+.6f against the level that holds", c.Shift, c.Change)
	if len(c.Baseline) == 0 || c.SE == 0 {
		p.line("no test: %s", words.Why(v))
		return
	}
	p.test(v, c)
	if a := c.Again; a != nil {
		p.line("newest %d runs        since %s, mean d = %+.6f, one standard error %.6f", a.Runs,
			releases[a.Release].Name, a.D, a.SE)
		p.line("  against            %d releases before them, with %.4g degrees of freedom", a.N, a.Df)
		p.line("  together           p = %.4g by ordinary noise, p = %.4g by outliers", a.P, a.Outliers)
	}
	repeats, more := judge.Repeats(c)
	switch {
	case v.Outcome != schema.Inconclusive:
	case repeats > 0:
		p.line("to settle it         about %d repeats of this release", repeats)
	case more > 0:
		p.line("to settle it         no number of repeats; about %d more releases", more)
	default:
		p.line("to settle it         neither repeats nor releases: the noise is larger than what matters")
	}
}

// baseline lists the releases that the number is compared with.
func (p printer) baseline(v schema.Verdict, c *judge.Calculation, releases []judge.Release) {
	p.line("baseline (%d releases)", len(c.Baseline))
	for _, b := range c.Baseline {
		p.line("  %-14s z = %.6f   y = %-10.5g repeats %d   run-wide level removed %+.6f   adjusted %.6f",
			releases[b.Release].Name, b.Z, y(v.Metric, b.Z), b.K, b.Z-b.Adjusted, b.Adjusted)
	}
	p.line("  mean of adjusted   %.6f", c.Mean)
	lent := ""
	if own := float64(max(0, len(c.Baseline)-1)); c.Nu > own {
		lent = fmt.Sprintf(", %g of them lent by the levels before this one", c.Nu-own)
	}
	p.line("  own variance s²    %.4g with ν = %g%s", c.S2, c.Nu, lent)
}

// test is the arithmetic of the moderated t test and of the false discovery procedure.
func (p printer) test(v schema.Verdict, c *judge.Calculation) {
	p.line("d                    %+.6f = %.6f − (%+.6f) − %.6f", c.D, c.Obs.Z, c.Shift, c.Mean)
	p.line("noise of all cells   d0 = %.3g, typical variance s0² = %.4g", c.D0, c.S02)
	p.line("moderated variance   (d0·s0² + ν·s²)/(d0 + ν), at least the floor %.4g: %.4g", c.Floor, c.Variance)
	if !math.IsNaN(c.Sw2) {
		p.line("between repeats      σw² = %.4g", c.Sw2)
	}
	p.line("standard error       √(%.4g·(1 + 1/%d)) = %.6f (plus what unequal repeats change)",
		c.Variance, len(c.Baseline), c.SE)
	p.line("t                    %.4f with %.4g degrees of freedom", c.T, c.Df)
	p.line("p, one-sided         %.4g; rank %d of %d tests, %d pass in its direction", c.P, c.Rank, c.Family, c.Passing)
	p.line("limit of the rule    .05·%d/%d = %.4g", c.Rank, c.Family, .05*float64(c.Rank)/float64(c.Family))
	if used, ok := v.P.Get(); ok && used > c.P*1.001 {
		p.line("with outliers        %.4g: how often values deviate as far and come back is added", used)
	}
	p.line("effect that matters  ln(1 + %.3g) = %.6f", math.Expm1(c.Delta), c.Delta)
}

// y is the value behind z.
func y(metric string, z float64) float64 {
	if judge.Higher(metric) {
		return math.Exp(-z)
	}
	return math.Exp(z)
}
