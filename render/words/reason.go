package words

import (
	"fmt"
	"math"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Why is the reason of a verdict as one sentence with its numbers.
func Why(v schema.Verdict) string {
	out := reason(&v)
	if d := v.Decision; d != nil && v.Word != schema.Invalid {
		out += " " + DecisionNote(*d)
	}
	return out
}

// DecisionNote says who decided what until when.
func DecisionNote(d schema.Decision) string {
	verb := map[string]string{"waive": "Waived", "accept": "Accepted", "invalidate": "Declared invalid", "supersede": "Superseded", "pin": "Pinned", "dismiss": "Dismissed"}[d.Kind]
	out := verb
	if d.Owner != "" {
		out += " by " + d.Owner
	}
	if d.Expires != "" {
		out += " until " + d.Expires
	}
	out = sentence(out + " (" + d.ID + "): " + d.Reason)
	if d.Expired {
		out += " This decision has expired."
	}
	return out
}

func reason(v *schema.Verdict) string {
	a := v.Reason.Args
	switch v.Reason.Code {
	case "no-target":
		return "No target speaks of this workload, which is not a pass."
	case "not-measured":
		return "A target speaks of this workload and it was not measured."
	case "planned":
		return "Planned, and no result was found."
	case "no-system":
		return "Nothing states which model or device this is, so it is compared with nothing; --device, a manifest or --pattern can state it."
	case "gone":
		return gone(v)
	case "no-number":
		return sentence("Measured without a number: "+orElse(a["why"], "its file has none")) + elsewhere(a["other"])
	case "metric-not-measured":
		return fmt.Sprintf("No tool measures %s.", a["metric"])
	case "above-ceiling":
		return fmt.Sprintf("The target of %s tok/s is above %s users at their own target of %s tok/s, which is %s.", a["target"], a["concurrency"], a["user"], a["ceiling"])
	case "single-run", "repeats", "noise-own", "noise-typical":
		return target(v)
	case "no-lengths":
		return "The result states no lengths, so it is compared with nothing."
	case "void":
		return sentence("Void: "+a["why"]) + insteadBy(a["other"])
	case "invalid-point":
		return sentence("Void: " + orElse(a["why"], "its file says so"))
	case "not-positive":
		info, _ := schema.MetricByName(a["metric"])
		return fmt.Sprintf("%s of %s %s is no measurement.", orElse(info.Label, a["metric"]), a["value"], info.Unit)
	case "eval-not-run", "eval-point", "eval-interval":
		return evalTarget(v)
	case "not-seen-again", "base-suspect", "runs-disagree":
		if v.Key.Task == "eval" {
			return evalHistory(v)
		}
	case "paired", "eval-gate", "unpaired", "by-error", "no-error", "prompt":
		return evalHistory(v)
	}
	if s := history(v); s != "" {
		return s
	}
	return v.Reason.Code
}

// elsewhere names the run that has the number.
func insteadBy(run string) string {
	if run == "" {
		return ""
	}
	return " Run " + run + " measured it instead."
}

func elsewhere(run string) string {
	if run == "" {
		return ""
	}
	return " Run " + run + " measured it; if the failure was the machine's, invalidate the run that failed."
}

// gone says what the release before had.
func gone(v *schema.Verdict) string {
	switch {
	case v.Metric != "":
		info, _ := schema.MetricByName(v.Metric)
		return fmt.Sprintf("%s has %s of it, and this release does not.", v.Baseline, orElse(info.Label, v.Metric))
	case v.Key.String() == (schema.Key{}).String():
		return fmt.Sprintf("%s measured this model on this device, and this release did not.", v.Baseline)
	}
	return fmt.Sprintf("%s measured it, and this release did not.", v.Baseline)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// target says how far a value lies from its limit.
func target(v *schema.Verdict) string {
	value, _ := v.Value.Get()
	ref, _ := v.Ref.Get()
	info, _ := schema.MetricByName(v.Metric)
	effect, _ := v.Effect.Get()
	dir := "below"
	if (info.Better == schema.Lower) == (effect > 0) {
		dir = "above"
	}
	share := strings.TrimLeft(Change(effect), "+−±") + " " + dir
	if math.Abs(effect) > 1 { // then the value is more than twice the limit, whichever way is better
		share = Number(value/ref) + " times"
	}
	label := info.Label
	if rank, tail := strings.CutPrefix(v.Stat, "p"); tail {
		label += " P" + rank
	}
	out := fmt.Sprintf("%s %s is %s the %s limit of %s", label, Quantity(value, info.Unit), share, v.Level, Quantity(ref, info.Unit))
	if effect <= 0 && v.Word == schema.Fail {
		out += ", beyond its tolerance"
	}
	if t := v.Reason.Args["tolerance"]; t != "" && t != "0" {
		out += " (tolerance " + t + Thin + "%)"
	}
	if v.Interval != nil {
		from := Plural(v.N, "repeat")
		switch v.Reason.Code {
		case "noise-own":
			from = "its own history's noise of ±" + v.Reason.Args["noise"] + Thin + "%"
		case "noise-typical":
			from = "the typical noise of this device and metric, ±" + v.Reason.Args["noise"] + Thin + "%"
		}
		return out + fmt.Sprintf("; 95%s%% interval of the difference %s from %s.", Thin, Interval(v.Metric, *v.Interval), from)
	}
	if v.N > 1 {
		return out + fmt.Sprintf("; mean of %d repeats, no interval.", v.N)
	}
	return out + "; single run, no interval."
}

func sentence(s string) string { return strings.TrimSuffix(s, ".") + "." }

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Sign is the glyph of a verdict, the same in markdown and on a terminal; HTML draws it by style sheet.
func Sign(word, evidence string) string {
	if evidence == "probable" {
		switch word {
		case schema.Worse:
			return "▽"
		case schema.BetterWord:
			return "△"
		}
	}
	signs := map[string]string{schema.Pass: "✓", schema.Fail: "✕", schema.Inconclusive: "?", schema.MissingWord: "□", schema.Ungraded: "–", schema.Impossible: "∞",
		schema.Worse: "▼", schema.BetterWord: "▲", schema.Watch: "◎", schema.Recovered: "↺", schema.Same: "=", schema.Noisy: "≈", schema.Insufficient: "…",
		schema.NotComparable: "≠", schema.Invalid: "⊘"}
	return signs[word]
}
