package words

import (
	"fmt"
	"math"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Why is the reason of a verdict as one sentence with its numbers.
func Why(v schema.Verdict) string {
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
	case "no-number":
		return sentence("Measured without a number: " + a["why"])
	case "metric-not-measured":
		return fmt.Sprintf("No tool measures %s.", a["metric"])
	case "above-ceiling":
		return fmt.Sprintf("The target of %s tok/s is above %s users at their own target of %s tok/s, which is %s.", a["target"], a["concurrency"], a["user"], a["ceiling"])
	case "single-run", "repeats":
		return target(v)
	case "no-lengths":
		return "The result states no lengths, so it is compared with nothing."
	case "no-baseline":
		return "No earlier release has this measurement."
	case "not-judged":
		return fmt.Sprintf("Not judged yet: the change since %s is shown without its noise.", a["baseline"])
	}
	return v.Reason.Code
}

// target says how far a value lies from its limit.
func target(v schema.Verdict) string {
	value, _ := v.Value.Get()
	ref, _ := v.Ref.Get()
	info, _ := schema.MetricByName(v.Metric)
	effect, _ := v.Effect.Get()
	side, dir := "inside", "below"
	if effect > 0 {
		side = "over"
	}
	if (info.Better == schema.Lower) == (effect > 0) {
		dir = "above"
	}
	share := strings.TrimLeft(Change(effect), "+−±") + " " + dir
	if ratio := value / ref; math.Abs(effect) > 1 {
		share = Number(max(ratio, 1/ratio)) + " times " + map[bool]string{true: "above", false: "below"}[dir == "above"]
	}
	out := fmt.Sprintf("%s %s is %s the %s limit of %s", info.Label, Quantity(value, info.Unit), share, v.Level, Quantity(ref, info.Unit))
	if side == "inside" && v.Word == schema.Fail {
		out += ", beyond its tolerance"
	}
	if t := v.Reason.Args["tolerance"]; t != "" && t != "0" {
		out += " (tolerance " + t + Thin + "%)"
	}
	if v.Interval != nil {
		return out + fmt.Sprintf("; 95%s%% interval of the difference %s to %s from %s.", Thin, Change(v.Interval[0]), Change(v.Interval[1]), Plural(v.N, "repeat"))
	}
	if v.N > 1 {
		return out + fmt.Sprintf("; mean of %d repeats, no interval.", v.N)
	}
	return out + "; single run, no interval."
}

func sentence(s string) string { return strings.TrimSuffix(s, ".") + "." }

// Decision is what a set of verdicts says of a release, in the four words of a sign-off and one sentence.
type Decision struct {
	Word   string // fit, fit with notes, not fit, not graded
	Tone   string // yes, hm, no
	Detail string
}

// Decide reads the verdicts against targets; history is not judged yet and cannot make a release unfit.
func Decide(verdicts []schema.Verdict) Decision {
	n := map[string]int{}
	graded, planned := 0, 0
	for _, v := range verdicts {
		switch {
		case v.Against != schema.AgainstTarget:
			continue
		case v.Reason.Code == "planned":
			planned++
		case v.Word == schema.Pass || v.Word == schema.Fail || v.Word == schema.Inconclusive:
			graded++
		}
		if v.Required {
			n[v.Word]++
		}
	}
	var parts []string
	say := func(count int, noun, one, many string) {
		if count > 0 {
			parts = append(parts, Plural(count, noun)+verb(count, one, many))
		}
	}
	say(n[schema.Fail], "required target", " fails", " fail")
	say(n[schema.MissingWord], "required target", " was not measured", " were not measured")
	say(n[schema.Inconclusive], "required target", " is inconclusive", " are inconclusive")
	say(planned, "planned workload", " has no result", " have no result")
	d := Decision{Word: "Fit with notes", Tone: "hm"}
	switch {
	case n[schema.Fail]+n[schema.MissingWord] > 0:
		d.Word, d.Tone = "Not fit to ship", "no"
	case graded == 0:
		d.Word = "Not graded"
		parts = append([]string{"no target was met or missed, which is not a pass"}, parts...)
	default:
		if len(parts) == 0 {
			if met := n[schema.Pass]; met > 0 {
				parts = append(parts, fmt.Sprintf("all %s are met", Plural(met, "required target")))
			} else {
				parts = append(parts, "no target is required")
			}
		}
		parts = append(parts, "changes since the last release are not judged yet")
	}
	d.Detail = strings.Join(parts, "; ") + "."
	return d
}

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
