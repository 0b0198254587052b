package library

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// unsound returns what is wrong with a target, whichever file states it; "" for a valid one. A target that every
// measurement meets, or none, must not look as if it graded something.
func unsound(t *schema.Target) (found, expected string) {
	switch {
	case t.Key.IsEval() && !(t.Value > 0 && t.Value <= 100):
		return fmt.Sprintf("score %g", t.Value), "a share or a percentage above zero"
	case !t.Key.IsEval() && !schema.Measurable(t.Value):
		return fmt.Sprintf("value %g", t.Value), "a number above zero"
	case !(t.Tolerance >= 0 && t.Tolerance < 1):
		return fmt.Sprintf("tolerance %g", t.Tolerance), "a share below 1, such as 0.05"
	case !isStat(t.Stat):
		return fmt.Sprintf("statistic %q", t.Stat), "mean, median, value, min, max, std or a percentile such as p99"
	}
	for name, v := range map[string]*float64{"isl": t.Key.ISL, "osl": t.Key.OSL, "concurrency": t.Key.Concurrency,
		"rate": t.Key.Rate} {
		if v != nil && !(*v > 0) && !(*v == 0 && name == "osl") {
			return fmt.Sprintf("%s %g", name, *v), "a number above zero"
		}
	}
	return "", ""
}

// isStat reports whether points have a statistic of that name: see [schema.Metric].
func isStat(name string) bool {
	switch name {
	case "mean", "median", "value", "min", "max", "std":
		return true
	}
	rank, isP := strings.CutPrefix(name, "p")
	q, err := strconv.ParseFloat(rank, 64)
	return isP && err == nil && q > 0 && q < 100
}

// asks reports whether a target is more demanding than another of the same number: by priority, then by its limit.
func asks(a, b *schema.Target) bool {
	if must := a.Priority == "must"; must != (b.Priority == "must") {
		return must
	}
	info, _ := schema.MetricByName(a.Metric)
	if info.Better == schema.Lower && !a.Key.IsEval() {
		return a.Value*(1+a.Tolerance) < b.Value*(1+b.Tolerance)
	}
	return a.Value*(1-a.Tolerance) > b.Value*(1-b.Tolerance)
}

// differ reports whether it matters which of two targets of one number is in force.
func differ(a, b *schema.Target) bool {
	return math.Abs(a.Value-b.Value) > 0 || a.Tolerance != b.Tolerance || a.Priority != b.Priority
}

// statement returns a target in a few words, for messages.
func statement(model, device string, t *schema.Target) string {
	what := t.Metric
	if t.Key.IsEval() {
		what = strings.TrimSpace(t.Key.Dataset + " " + t.Metric)
	}
	out := fmt.Sprintf("%s %s of %s on %s as %g", what, t.Level, model, device, t.Value)
	if t.Priority != "" {
		out += " (" + t.Priority + ")"
	}
	return out
}
