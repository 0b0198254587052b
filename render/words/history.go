package words

import (
	"fmt"
	"math"
	"strconv"

	"github.com/ttreport/ttreport/ingest/schema"
)

// history says what became of a number since the releases before it; "" for a code that is not history's.
func history(v *schema.Verdict) string {
	a := v.Reason.Args
	limit := a["limit"] + Thin + "%"
	switch v.Reason.Code {
	case "gate":
		return change(v) + noise(v) + "; seen once, not yet re-run" + followed(v) + "."
	case "recheck":
		return change(v) + noise(v) + fmt.Sprintf("; an independent run of the same release saw it again (first %s).", withUnit(v, a["first"]))
	case "again":
		return change(v) + noise(v) + fmt.Sprintf("; first seen in %s, and again here.", v.First)
	case "back-again":
		return change(v) + noise(v) + ": back at the level before a confirmed change."
	case "shift":
		return change(v) + fmt.Sprintf(", as all of %s did (%s%s%%): one finding, counted once.", v.Device, signed(a["shift"]), Thin)
	case "against-shift":
		return change(v) + fmt.Sprintf(", while all of %s moved %s%s%%: what it did by itself is hidden by that.", v.Device, signed(a["shift"]), Thin)
	case "not-significant":
		return change(v) + noise(v) + ": beyond the limit of " + limit + ", and not rare among so many measurements."
	case "not-seen-again":
		return change(v) + fmt.Sprintf(" in the re-run, after %s in the first: not seen again.", withUnit(v, a["first"]))
	case "runs-disagree":
		return change(v) + fmt.Sprintf(" in a later run of the release, while the first gave %s.", withUnit(v, a["first"]))
	case "equivalent":
		return change(v) + noise(v) + ": the whole 90" + Thin + "% interval lies inside ±" + limit + "."
	case "wide":
		return change(v) + noise(v) + ": neither same nor worse can be said" + settle(a) + "."
	case "not-worse":
		return change(v) + noise(v) + ": not worse; whether it is better cannot be said" + settle(a) + "."
	case "not-better":
		return change(v) + noise(v) + ": not better; whether it is worse cannot be said" + settle(a) + "."
	case "two-modes":
		return change(v) + ": its history keeps changing between two levels, and this is one of them."
	case "no-baseline":
		return "No earlier release of its line has this measurement."
	case "pinned":
		return "A new level starts here by decision; nothing before it counts."
	case "no-base-line":
		return "Builds of channels pr and dev are compared with main or release, which have no such measurement; --channel main or --release would make a baseline."
	case "one-each":
		return change(v) + ": every baseline has one release, so there is no noise to compare with."
	case "another-witness":
		return change(v) + noise(v) + "; seen again, but a baseline of " + plural0(a["releases"], "release") + " knows too little of its noise: one more run would settle it."
	case "base-suspect":
		return change(v) + fmt.Sprintf(", as the base shows since %s: not of this build's making.", v.First)
	case "conditions":
		return sentence("Measured under other conditions than before: " + a["conditions"])
	}
	return ""
}

// change is the first half of most sentences: "TTFT is 14.1 % above the mean of 4 releases (2,415 → 2,753 ms)".
func change(v *schema.Verdict) string {
	info, _ := schema.MetricByName(v.Metric)
	value, _ := v.Value.Get()
	ref, _ := v.Ref.Get()
	if _, ok := v.Effect.Get(); !ok || ref == 0 {
		return fmt.Sprintf("%s is %s", info.Label, Quantity(value, info.Unit))
	}
	of := "the release before"
	if n, err := strconv.Atoi(v.Reason.Args["releases"]); err == nil && n > 1 {
		of = fmt.Sprintf("the mean of %d releases", n)
	}
	raw := value/ref - 1
	dir := "above"
	if raw < 0 {
		dir = "below"
	}
	share := strconv.FormatFloat(math.Abs(raw)*100, 'f', 1, 64) + Thin + "% " + dir
	if math.Abs(raw) < .0005 {
		share = "level with"
	}
	return fmt.Sprintf("%s is %s %s (%s → %s)", info.Label, share, of, Number(ref), Quantity(value, info.Unit))
}

// withUnit writes a value of the verdict's metric that a reason carries.
func withUnit(v *schema.Verdict, s string) string {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	info, _ := schema.MetricByName(v.Metric)
	return Quantity(x, info.Unit)
}

// settle says what would make a noisy number say something.
func settle(a map[string]string) string {
	switch {
	case a["repeats"] != "":
		return ", which about " + plural0(a["repeats"], "repeat") + " of one release could"
	case a["more"] != "":
		return ", which no number of repeats could and about " + plural0(a["more"], "more release") + " would"
	}
	return ""
}

// noise says how far one release usually lies from the next, and how rare this is.
func noise(v *schema.Verdict) string {
	out := ""
	if s := v.Reason.Args["noise"]; s != "" {
		out = fmt.Sprintf("; noise is ±%s%s%%", s, Thin)
	}
	switch q := v.Reason.Args["q"]; q {
	case "":
	case "under 0.0001":
		out += ", q " + q
	default:
		out += ", q = " + q
	}
	return out
}

// followed says what a later release made of a change that was seen once.
func followed(v *schema.Verdict) string {
	switch {
	case v.Follow.Release == "":
		return ""
	case v.Follow.Again:
		return "; " + v.Follow.Release + " saw it again"
	}
	return "; " + v.Follow.Release + " did not see it again"
}

func signed(s string) string {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	if v = v * 100; v > 0 {
		return "+" + strconv.FormatFloat(v, 'f', 1, 64)
	}
	return "−" + strconv.FormatFloat(-v, 'f', 1, 64)
}

// evalHistory says what became of a score.
func evalHistory(v *schema.Verdict) string {
	a := v.Reason.Args
	value, _ := v.Value.Get()
	ref, hasRef := v.Ref.Get()
	if v.Reason.Code == "prompt" {
		return sentence("Other questions than before: " + a["conditions"])
	}
	if v.Reason.Code == "no-error" {
		return fmt.Sprintf("%s is %s; neither file states how many questions or a standard error, so the change cannot be judged.", v.Key.Dataset, Number(value))
	}
	effect, _ := v.Effect.Get()
	out := fmt.Sprintf("%s is %s", v.Key.Dataset, Number(value))
	if hasRef {
		out = fmt.Sprintf("%s changed by %s (%s → %s)", v.Key.Dataset, Points(-effect), Number(ref), Number(value))
	}
	switch v.Reason.Code {
	case "paired":
		out += fmt.Sprintf("; of %s the same questions %s were lost and %s gained", a["n"], a["lost"], a["gained"])
	case "eval-gate":
		out += fmt.Sprintf(" against the mean of %s releases", a["releases"])
	case "unpaired":
		out += fmt.Sprintf(" over %s questions, not known to be the same ones", a["n"])
	}
	if v.Interval != nil {
		out += fmt.Sprintf("; 95%s%% interval %s to %s", Thin, Points(-v.Interval[1]), Points(-v.Interval[0]))
	}
	switch v.Word {
	case schema.Worse, schema.BetterWord:
		if v.Evidence == "probable" {
			out += "; seen once" + followed(v)
		} else if v.First != "" {
			out += "; first seen in " + v.First + ", and again here"
		} else {
			out += "; an independent run saw it again"
		}
	case schema.Watch:
		if v.Reason.Code == "runs-disagree" {
			out += "; the first run of the release said " + a["first"] + ", and a later one this"
		} else if v.Reason.Code == "not-seen-again" {
			out += "; the first run said " + a["first"] + ", and this one did not confirm it"
		} else if v.Reason.Code == "base-suspect" {
			out += "; its base, " + v.First + ", waits for an independent run with the same change"
		}
	case schema.Noisy:
		out += ": too few questions to say; about " + grouped(a["needed"]) + " could show a change of " + a["limit"] + Thin + "pp"
	}
	return out + "."
}

func grouped(s string) string {
	n, err := strconv.Atoi(s)
	if err != nil {
		return s
	}
	return Count(n)
}

// evalTarget says how a score lies beside its reference.
func evalTarget(v *schema.Verdict) string {
	a := v.Reason.Args
	if v.Reason.Code == "eval-not-run" {
		return fmt.Sprintf("A reference score exists for %s and it was not run, which is not a zero.", a["task"])
	}
	value, _ := v.Value.Get()
	ref, _ := v.Ref.Get()
	effect, _ := v.Effect.Get()
	out := fmt.Sprintf("%s %s is %s from the reference of %s", a["task"], Number(value), Points(-effect), Number(ref))
	if t := a["tolerance"]; t != "" && t != "0" {
		out += " (tolerance " + t + Thin + "%)"
	}
	if a["n"] != "" {
		out += "; " + grouped(a["n"]) + " questions"
		if a["of"] != "" {
			out += ", the first of " + grouped(a["of"])
		}
	}
	if v.Interval == nil {
		return out + "; no interval is known."
	}
	out += fmt.Sprintf(", 95%s%% interval %s to %s", Thin, Points(-v.Interval[1]), Points(-v.Interval[0]))
	if v.Word == schema.Inconclusive && a["needed"] != "" {
		out += "; about " + grouped(a["needed"]) + " questions would settle it"
	}
	return out + "."
}
