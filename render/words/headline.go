package words

import (
	"fmt"
	"math"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// Headline is the reason of a decision as one sentence: the one or two worst findings with their numbers, and how many
// more there are. [Decide] has the inventory.
func Headline(g *gate.Review) string {
	kind, list := g.Decisive()
	switch {
	case kind == "" && (g.Result.Word == gate.Pass || g.Result.Word == gate.PassWithWarnings):
		return passes(g)
	case kind == gate.FailInvalid:
		if s := invalid(g.Lints); s != "" {
			return s
		}
	case kind == gate.FailMissing && len(list) > 0:
		return missing(list)
	case kind == gate.FailTarget && len(list) > 0:
		return missed(list)
	}
	if change := regression(kind, list); change != "" {
		return change
	}
	return Capital(Decide(g.Result).Detail)
}

// Inventory is what [Decide] counts beside what the headline says, as sentences; none where it says nothing more.
func Inventory(g *gate.Review) []string {
	detail := Decide(g.Result).Detail
	rest := strings.TrimPrefix(strings.TrimPrefix(detail, nothingShown), "; ")
	if out := Capital(rest); out != "." && out != Headline(g) {
		return []string{out}
	}
	return nil
}

// Detail is a decision's reason with what it counts, for outputs that have one text of it.
func Detail(g *gate.Review) string {
	return strings.Join(append([]string{Headline(g)}, Inventory(g)...), " ")
}

// passes is the reason of a release that passes: what it rests on.
func passes(g *gate.Review) string {
	b := g.Basis()
	open, before := stillOpen(g), lead(g.Result)
	if open != "" && before == nothingShown && b.Compared > 0 {
		return strings.TrimSuffix(open, ".") + "; nothing else is shown to have regressed." + blunt(g)
	}
	out := fmt.Sprintf("%s: %s of %s unchanged", Capital(before), Count(b.Unchanged),
		Plural(b.Compared, "number"))
	if b.Improved > 0 {
		out += fmt.Sprintf(", %s improved", Count(b.Improved))
	}
	if b.BelowLimit > 0 {
		out += fmt.Sprintf(", %s changed below the limit", Count(b.BelowLimit))
	}
	if b.Inconclusive > 0 {
		out += fmt.Sprintf(", %s inconclusive", Count(b.Inconclusive))
	}
	if b.Compared == 0 {
		out = "Every required target is met, and nothing could be compared with history"
	}
	if open != "" {
		return out + "." + blunt(g) + " " + open
	}
	return out + "." + blunt(g)
}

// blunt is what a pass says where most of its numbers could have hidden a regression that matters: that nothing was
// seen is then no news.
func blunt(g *gate.Review) string {
	s := g.Fit.Shown
	switch {
	case g.Fit.Wider || s.Series == 0 || 2*s.Once.Hidden <= s.Series || math.IsNaN(s.Once.Median):
		return ""
	case math.IsInf(s.Once.Median, 1):
		return " Half of the numbers would show a regression of no size without a re-run."
	}
	return " Half of the numbers would show a regression only from " + Percent(s.Once.Median) + " on."
}

// lead begins the reason of a pass: what regressed and does not count, or that nothing is shown to have.
func lead(r gate.Result) string {
	var parts []string
	for _, c := range r.Counts {
		if c.Kind == gate.NoteSameBuild || c.Kind == gate.NoteWaived {
			parts = append(parts, tally(c, &r))
		}
	}
	if len(parts) == 0 {
		return nothingShown
	}
	return strings.Join(parts, "; ") + "; of the rest nothing is shown to have regressed"
}

// regression names the two worst points of a kind of regression.
func regression(kind gate.Kind, list []schema.Verdict) string {
	seen := map[gate.Kind]string{
		gate.FailConfirmed: "confirmed", gate.FailSuspected: "suspected: not confirmed yet",
		gate.FailRunWide: "suspected: not confirmed yet," + withMost,
	}[kind]
	if seen == "" || len(list) == 0 {
		return ""
	}
	worst := list[0]
	named, names := []*schema.Verdict{&worst}, []string{Subject(&worst)}
	for i := 1; i < len(list) && len(named) < 2; i++ {
		v := &list[i]
		same := v.Pair() == worst.Pair() && v.Metric == worst.Metric && v.Stat == worst.Stat
		if same && v.Key.String() != worst.Key.String() {
			named, names = append(named, v), append(names, Subject(v))
		}
	}
	names = ShortApart(names, inHeadline)
	for i, v := range named {
		e, _ := v.Effect.Get()
		names[i] = fmt.Sprintf("%s at %s", Effect(*v, e), names[i])
	}
	out := fmt.Sprintf("%s of %s regressed (%s): %s", MetricOf(&worst), OnDevice(worst.Model, worst.Device), seen,
		strings.Join(names, " and "))
	if more := pointsOf(list) - len(named); more > 0 {
		out += fmt.Sprintf("; %s more %s", Count(more), verb(more, "point", "points"))
	}
	return out + "."
}

// missed names the worst required target.
func missed(list []schema.Verdict) string {
	v := list[0]
	value, limit := "", ""
	if x, ok := v.Value.Get(); ok {
		value = Quantity(x, schema.Unit(v.Metric))
	}
	if x, ok := v.Ref.Get(); ok {
		limit = Quantity(x, schema.Unit(v.Metric))
	}
	level := strings.TrimSpace("required " + v.Level)
	subject := Short(Subject(&v), inHeadline)
	out := fmt.Sprintf("%s of %s at %s is %s, the %s target is %s", MetricOf(&v), OnDevice(v.Model, v.Device),
		subject, value, level, limit)
	if v.Key.IsEval() { // its metric may be a sentence of its own
		out = fmt.Sprintf("%s of %s is %s, the %s is %s", subject, OnDevice(v.Model, v.Device), value, level, limit)
	}
	if more := len(list) - 1; more > 0 {
		out += fmt.Sprintf("; %s more required %s missed", Count(more), verb(more, "target is", "targets are"))
	}
	return out + "."
}

// missing names what is not there.
func missing(list []schema.Verdict) string {
	v := &list[0]
	why := Why(*v)
	out := fmt.Sprintf("%s of %s is missing: %s", Short(Subject(v), inHeadline), OnDevice(v.Model, v.Device),
		strings.ToLower(why[:min(1, len(why))])+why[min(1, len(why)):])
	if more := len(list) - 1; more > 0 {
		out += fmt.Sprintf(" %s more %s missing.", Count(more), verb(more, "number is", "numbers are"))
	}
	return out
}

// invalid is the worst lint that makes numbers invalid.
func invalid(list []lint.Lint) string {
	n, first := 0, ""
	for i := range list {
		if l := list[i]; l.Severity == schema.SevError && !l.Decision.Excuses() {
			if n++; n == 1 {
				first = ofDevice(&l, Lint(l))
			}
		}
	}
	if n > 1 {
		first = strings.TrimSuffix(first, ".") + fmt.Sprintf("; %s more %s numbers invalid.", Count(n-1),
			verb(n-1, "finding makes", "findings make"))
	}
	return first
}

// ofDevice says of which model and device a workload is that a lint begins with.
func ofDevice(l *lint.Lint, text string) string {
	rest, ok := strings.CutPrefix(text, l.Subject+": ")
	if !ok || l.Subject == "" || l.Model == "" {
		return text
	}
	return l.Subject + " of " + OnDevice(l.Model, l.Device) + ": " + rest
}

func pointsOf(list []schema.Verdict) int {
	at := map[string]bool{}
	for i := range list {
		v := &list[i]
		at[v.Model+"\x00"+v.Device+"\x00"+v.Impl+"\x00"+v.Key.String()] = true
	}
	return len(at)
}

// MetricOf is a verdict's metric with its statistic, or the metric of an eval.
func MetricOf(v *schema.Verdict) string {
	if v.Key.IsEval() {
		return Metric(v.Metric, "")
	}
	return Metric(v.Metric, v.Stat)
}

// Metric is the name of a metric with its statistic: "TTFT mean", "Output tok/s".
func Metric(metric, stat string) string {
	info, _ := schema.MetricByName(metric)
	if stat == "value" || stat == "" {
		return info.Label
	}
	return info.Label + " " + stat
}
