package words

import (
	"fmt"
	"math"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// evalChange says what became of a score; beside columns that show the change and its interval, the rest.
func evalChange(v *schema.Verdict, r schema.EvalChange, beside bool) string {
	value, _ := v.Value.Get()
	task := v.Key.Dataset
	switch r.Test {
	case schema.TestNone:
		return "No earlier release of its line has this measurement."
	case schema.TestPrompt:
		return sentence("Other questions or settings than before: " + r.Conditions)
	case schema.TestNoError:
		if r.N > 0 {
			return fmt.Sprintf("%s is %s; it is no share of right answers, and not both files state its standard error, "+
				"so the change cannot be judged.", task, Number(value))
		}
		return fmt.Sprintf("%s is %s; neither file states how many questions or a standard error, "+
			"so the change cannot be judged.", task, Number(value))
	}
	moved, of, interval := "", "", ""
	if !beside {
		effect, _ := v.Effect.Get()
		moved = fmt.Sprintf("%s is %s", task, Number(value))
		if ref, has := v.Ref.Get(); has {
			moved = fmt.Sprintf("%s changed by %s (%s → %s)", task, Points(-effect), Number(ref), Number(value))
		}
		if v.Interval != nil {
			interval = "; 95" + Thin + "% interval " + IntervalOf(*v)
		}
	}
	switch r.Test {
	case schema.TestPaired:
		of = fmt.Sprintf("; of %s the same questions %s were lost and %s gained", Count(r.N), Count(r.Lost),
			Count(r.Gained))
	case schema.TestGate:
		of = fmt.Sprintf(" against the mean of %d releases", r.Releases)
	case schema.TestUnpaired:
		of = fmt.Sprintf(" over %s questions, not known to be the same ones", Count(r.N))
	}
	out := moved + of + interval + evalOutcome(v, r)
	if !beside {
		return sentence(out)
	}
	if out = strings.TrimLeft(out, " ;:"); out == "" {
		return ""
	}
	return sentence(Capital(out))
}

// evalOutcome is the last clause about a score.
func evalOutcome(v *schema.Verdict, r schema.EvalChange) string {
	switch v.Outcome {
	case schema.Regressed, schema.Improved:
		switch {
		case v.Evidence == schema.Suspected:
			return once(v)
		case v.First != "":
			return "; first seen in " + v.First + ", and again here"
		}
		if r.Test == schema.TestPaired && r.First == 0 {
			return ": on the same questions one run is enough"
		}
		return "; confirmed by an independent run"
	case schema.Inconclusive:
		switch r.Why {
		case schema.WhyRunsDisagree:
			return "; the first run of the release scored " + digits(r.First) + ", and a later one this"
		case schema.WhyNotSeenAgain:
			return "; the first run scored " + digits(r.First) + ", and this one did not confirm it"
		case schema.WhyBaseSuspect:
			return "; its base, " + v.First + ", waits for an independent run with the same change"
		case schema.WhyNotSignificant:
			return ""
		}
		limit := digits(100*r.Limit) + Thin + "pp"
		if r.Needed == 0 {
			return ": it may lie within ±" + limit + " or beyond"
		}
		return fmt.Sprintf(": too few questions to say; about %s could show a change of %s", Count(r.Needed), limit)
	case schema.Unchanged:
		return ": the whole interval lies inside ±" + digits(100*r.Limit) + Thin + "pp"
	}
	return ""
}

// evalLimit says how a score lies beside its reference.
func evalLimit(v *schema.Verdict, r schema.EvalLimit) string {
	value, _ := v.Value.Get()
	ref, _ := v.Ref.Get()
	if v.Metric == schema.MetricPassed {
		if r.N == 0 {
			return fmt.Sprintf("%s: %s of an unstated number of cases passed; all must.", r.Task, Percent(value))
		}
		return fmt.Sprintf("%s: %s of %s passed; all must.", r.Task, Count(int(math.Round(value*float64(r.N)))),
			Plural(r.N, "case"))
	}
	effect, _ := v.Effect.Get()
	out := fmt.Sprintf("%s %s is %s from the reference of %s", r.Task, Number(value), Points(-effect), Number(ref))
	out += tolerance(r.Tolerance)
	if r.N > 0 {
		out += "; " + Count(r.N) + " questions"
		if r.Of > 0 {
			out += ", the first of " + Count(r.Of)
		}
	}
	if v.Interval == nil {
		return out + "; no interval is known."
	}
	out += ", 95" + Thin + "% interval " + IntervalOf(*v)
	if r.Chance && v.Outcome == schema.Fail {
		out += ": chance could explain it"
	}
	switch {
	case r.Chance && r.Of > 0 && r.Needed > r.Of:
		out += "; all " + Count(r.Of) + " questions would not settle it"
	case r.Chance && r.Needed > 0:
		out += "; about " + Count(r.Needed) + " questions would settle it"
	}
	return out + "."
}

// Filter is the filter of a score with what tells it from others of its name, which may stand alone.
func Filter(filter string) string { return strings.TrimPrefix(filter, schema.FilterMark) }

// FilterBeside is [Filter] beside the name of a metric: lm-eval calls it "none" where there is none.
func FilterBeside(filter string) string {
	if filter == "none" {
		return ""
	}
	return Filter(filter)
}
