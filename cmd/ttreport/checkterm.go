package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/render/words"
	"github.com/ttreport/ttreport/targets"
	"github.com/ttreport/ttreport/targets/regression"
)

// writeVerdicts lists verdicts in two lines each: what, and why with its id.
func writeVerdicts(w io.Writer, title string, list []schema.Verdict, of int) {
	if len(list) == 0 {
		return
	}
	const most = 40
	shown := list[:min(most, len(list))]
	fmt.Fprintf(w, "\n%s (%d of %d)\n", title, len(list), of)
	for _, v := range shown {
		info, _ := schema.MetricByName(v.Metric)
		word := strings.TrimSpace(v.Word + " " + v.Evidence)
		name := strings.TrimSpace(info.Label)
		if v.Stat != "value" && v.Stat != "" {
			name += " " + v.Stat
		}
		if v.Level != "" {
			name += ", " + v.Level
		}
		change := ""
		if e, ok := v.Effect.Get(); ok && v.Against == schema.AgainstHistory {
			change = words.Effect(v, e)
			if v.Interval != nil {
				change += " (" + words.IntervalOf(v) + ")"
			}
		}
		fmt.Fprintf(w, "  %s %-17s %s on %s  %s  %s  %s\n", words.Sign(v.Word, v.Evidence), word, orUnknown(v.Model), orUnknown(v.Device), words.Subject(&v), name, change)
		fmt.Fprintf(w, "    %s  [%s]\n", words.Why(v), v.ID)
	}
	if len(list) > most {
		fmt.Fprintf(w, "  … and %d more: --format json lists all\n", len(list)-most)
	}
}

// writeReckoning prints everything behind a verdict. Values on the log scale are called z.
func writeReckoning(w io.Writer, v schema.Verdict, r *regression.Calculation, releases []targets.Release) {
	p := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	sign := "ln y"
	if info, _ := schema.MetricByName(v.Metric); info.Better == schema.Higher {
		sign = "−ln y"
	}
	p("%s  %s %s", v.ID, v.Word, v.Evidence)
	p("%s on %s, %s, %s %s in %s", orUnknown(v.Model), orUnknown(v.Device), words.Workload(v.Key), v.Metric, v.Stat, v.Release)
	p("%s\n", words.Why(v))
	p("z = %s, so that larger is worse; d is a difference of z", sign)
	p("baseline (%d releases)", len(r.Baseline))
	for _, b := range r.Baseline {
		p("  %-14s z = %.6f   y = %-10.5g repeats %d   run-wide level removed %+.6f   adjusted %.6f", releases[b.Release].Name, b.Z, y(v.Metric, b.Z), b.K, b.Z-b.Adjusted, b.Adjusted)
	}
	p("  mean of adjusted   %.6f", r.Mean)
	lent := ""
	if own := float64(max(0, len(r.Baseline)-1)); r.Nu > own {
		lent = fmt.Sprintf(", %g of them lent by the levels before this one", r.Nu-own)
	}
	p("  own variance s²    %.4g with ν = %g%s", r.S2, r.Nu, lent)
	p("this release         z = %.6f   y = %.5g   repeats %d", r.Obs.Z, y(v.Metric, r.Obs.Z), r.Obs.K)
	p("run-wide level       %+.6f, which is %+.6f against the level that holds", r.Shift, r.Change)
	if len(r.Baseline) == 0 || r.SE == 0 {
		p("no test: %s", words.Why(v))
		return
	}
	p("d                    %+.6f = %.6f − (%+.6f) − %.6f", r.D, r.Obs.Z, r.Shift, r.Mean)
	p("what all cells say   d0 = %.3g, typical variance s0² = %.4g", r.D0, r.S02)
	p("moderated variance   (d0·s0² + ν·s²)/(d0 + ν), at least the floor %.4g: %.4g", r.Floor, r.Variance)
	if !math.IsNaN(r.Sw2) {
		p("between repeats      σw² = %.4g", r.Sw2)
	}
	p("standard error       √(%.4g·(1 + 1/%d)) = %.6f (plus what unequal repeats change)", r.Variance, len(r.Baseline), r.SE)
	p("t                    %.4f with %.4g degrees of freedom", r.T, r.Df)
	p("p, one-sided         %.4g; rank %d of %d tests, %d pass in its direction", r.P, r.Rank, r.Family, r.Passing)
	p("limit of the rule    .05·%d/%d = %.4g", r.Rank, r.Family, .05*float64(r.Rank)/float64(r.Family))
	if v.P.Why() == "" {
		if used, ok := v.P.Get(); ok && used > r.P*1.001 {
			p("raised to            %.4g, since earlier predictions failed more often than their p says", used)
		}
	}
	p("effect that matters  ln(1 + %.3g) = %.6f", math.Expm1(r.Delta), r.Delta)
	if a := r.Again; a != nil {
		p("independent run      first d = %+.6f (%s), second d = %+.6f", a.D1, releases[a.Release].Name, a.D2)
		p("  given the first    %+.6f ± %.6f is expected of no change, with %.4g degrees of freedom: p = %.4g, %.3g needed", a.Mean, a.SE, a.Df, a.P, a.Size)
		p("  odds of a change   %.3g to 1 against a noisier cell, 2 needed (ttreport help: method)", a.Odds)
	}
	repeats, more := regression.Repeats(r)
	switch {
	case v.Word != schema.Noisy && v.Word != schema.Watch:
	case repeats > 0:
		p("to settle it         about %d repeats of this release", repeats)
	case more > 0:
		p("to settle it         no number of repeats; about %d more releases", more)
	default:
		p("to settle it         neither repeats nor releases: the noise is larger than what matters")
	}
}

// y is the value behind z.
func y(metric string, z float64) float64 {
	if info, _ := schema.MetricByName(metric); info.Better == schema.Higher {
		return math.Exp(-z)
	}
	return math.Exp(z)
}
