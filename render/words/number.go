package words

import (
	"math"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Thin is the narrow no-break space between a number and its unit.
const Thin = "\u202f"

// Number writes a value with three significant digits, thousands grouped: 2,753 · 91.4 · 0.82. More digits than three
// are kept before the point only.
func Number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	abs := math.Abs(v)
	const exact = 1e15 // a float has no more digits
	if abs != 0 && abs < 1e-4 || abs >= exact {
		return strings.ReplaceAll(strconv.FormatFloat(v, 'e', 2, 64), "-", "−")
	}
	if abs == 0 {
		return "0"
	}
	decimals := 0
	if abs < 100 {
		// Round first: 9.999 is 10.0 and not 10.00.
		abs, _ = strconv.ParseFloat(strconv.FormatFloat(abs, 'g', 3, 64), 64)
		decimals = max(0, min(2-int(math.Floor(math.Log10(abs)+1e-12)), 6))
	}
	s := strconv.FormatFloat(abs, 'f', decimals, 64)
	whole, frac, _ := strings.Cut(s, ".")
	s = group(whole)
	if frac != "" {
		s += "." + frac
	}
	if v < 0 {
		s = "−" + s
	}
	return s
}

// Count writes a whole number with thousands grouped.
func Count(n int) string {
	return group(strconv.Itoa(n))
}

// Of is how many of how many: "9,988 of 10,000".
func Of(n, all int) string { return Count(n) + " of " + Count(all) }

func group(digits string) string {
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Quantity is a number with its unit: "91.4 ms".
func Quantity(v float64, unit string) string {
	if unit == "" {
		return Number(v)
	}
	return Number(v) + Thin + unit
}

// Change writes a relative change in percent, always signed: "+14.1 %".
func Change(relative float64) string {
	return hundredths(relative) + Thin + "%"
}

// Points writes a difference of shares in percentage points, signed: "−2.3 pp".
func Points(share float64) string {
	return hundredths(share) + Thin + "pp"
}

// hundredths is a share times a hundred, signed, to one digit.
func hundredths(share float64) string {
	s := strconv.FormatFloat(math.Abs(share)*100, 'f', 1, 64)
	switch {
	case s == "0.0":
		return "±" + s
	case share < 0:
		return "−" + s
	}
	return "+" + s
}

// Signed is the change of a number itself, from the effect whose sign means worse.
func Signed(metric string, effect float64) string {
	if info, _ := schema.MetricByName(metric); info.Better == schema.Higher {
		effect = -effect
	}
	return Change(effect)
}

// Interval writes an interval of effects as changes of the number itself, smaller first.
func Interval(metric string, effect [2]float64) string {
	lo, hi := effect[0], effect[1]
	if info, _ := schema.MetricByName(metric); info.Better == schema.Higher {
		lo, hi = -hi, -lo
	}
	return Change(lo) + " to " + Change(hi)
}

// Effect is the change of a verdict's number: in percent, or in percentage points for an eval with an end to its scale.
func Effect(v schema.Verdict, effect float64) string {
	if !v.Key.IsEval() {
		return Signed(v.Metric, effect)
	}
	return hundredths(Rise(&v, effect)) + unitOf(&v)
}

// Rise is an effect, whose sign means worse, as a change of an eval's score itself.
func Rise(v *schema.Verdict, effect float64) float64 {
	value, _ := v.Value.Get()
	ref, _ := v.Ref.Get()
	size, _ := v.Effect.Get()
	if rise := (value - ref) * size; rise > 0 || rise == 0 && (&schema.Score{Metric: v.Metric}).Lower() {
		return effect // less is better
	}
	return -effect
}

// IntervalOf is a verdict's interval in the unit of [Effect].
func IntervalOf(v schema.Verdict) string {
	if !v.Key.IsEval() {
		return Interval(v.Metric, *v.Interval)
	}
	lo, hi := Rise(&v, v.Interval[0]), Rise(&v, v.Interval[1])
	return bound(min(lo, hi), unitOf(&v)) + " to " + bound(max(lo, hi), unitOf(&v))
}

// unitOf is the unit of a change of an eval.
func unitOf(v *schema.Verdict) string {
	change, _ := v.Reason.(schema.EvalChange)
	limit, _ := v.Reason.(schema.EvalLimit)
	if change.Relative || limit.Relative { // to the score that it is compared with
		return Thin + "%"
	}
	return Thin + "pp"
}

// bound is one end of an interval, which keeps the side of zero that it is on: a verdict may hang on it.
func bound(share float64, unit string) string {
	s := hundredths(share)
	if strings.HasPrefix(s, "±") && share != 0 {
		sign := "+"
		if share < 0 {
			sign = "−"
		}
		s = sign + strconv.FormatFloat(math.Abs(share)*100, 'g', 1, 64)
	}
	return s + unit
}

// Workload is what was measured, as people name it: lengths and load, or the eval's task.
func Workload(k schema.Key) string {
	if !k.IsEval() {
		return k.Workload()
	}
	if f := k.Dims["filter"]; f != "" {
		return k.Dataset + " (" + f + ")"
	}
	return k.Dataset
}

// WorkloadOverLoads names a workload without its load, as curves are of; "" for one that states nothing else.
func WorkloadOverLoads(k schema.Key) string {
	return strings.TrimSuffix(strings.Replace(Workload(k), "/- ", " ", 1), "/-")
}

// Subject is what a verdict is about: its workload, or all of them where it is about a whole system.
func Subject(v *schema.Verdict) string {
	if schema.ReasonIs[schema.NotRemeasured](v.Reason) && v.OfSystem() {
		return "all workloads"
	}
	return Workload(v.Key)
}

// Absent is how an absent number is written in a cell.
const Absent = "–"

// Plural is "1 run" or "3 runs".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		return Count(n) + " " + strings.TrimSuffix(noun, "y") + "ies"
	}
	return Count(n) + " " + noun + "s"
}

// Few lists the first of some names and counts the others.
func Few(names []string, most int) string {
	out := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		out += " and " + Count(more) + " more"
	}
	return out
}
