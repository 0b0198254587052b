package words

import (
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
)

// Lint is a lint as one sentence with the numbers of its worst case.
func Lint(l schema.Lint) string {
	out := lint(&l)
	if l.Count > 1 {
		where := ""
		if l.Run != "" {
			where = " in this run"
		}
		out += fmt.Sprintf(" %d cases%s; the worst is told.", l.Count, where)
	}
	if l.Decision != nil {
		out += " " + DecisionNote(*l.Decision)
	}
	return out
}

func lint(l *schema.Lint) string {
	a := l.Reason.Args
	s := l.Subject
	switch l.ID {
	case "hollow":
		return sentence("Requests count as completed that produced nothing: " + a["found"])
	case "zero-score":
		return fmt.Sprintf("%s scores exactly 0 of %s questions: look at the harness's log before believing it.", a["task"], a["n"])
	case "impossible-score":
		return fmt.Sprintf("%s: %s of %s is no share of right answers; its harness failed, or its unit is another.", a["task"], a["metric"], a["value"])
	case "channel":
		return fmt.Sprintf("%s: its channel is %q, which is none of %s: it is judged like a build in development and is nobody's baseline.", orElse(s, "a build"), a["channel"], a["known"])
	case "release-list":
		if a["line"] == "" {
			return fmt.Sprintf("%s is listed in ttreport.yaml and no run is of that release: check the spelling, since the list decides the order.", s)
		}
		return fmt.Sprintf("%s is on %s, and every earlier release is on another line (%s): it is compared with nothing. State its line where the others have theirs.", s, a["own"], a["line"])
	case "few-items":
		return fmt.Sprintf("%s is %s from %s questions: one more right answer would change it by %s.", a["task"], a["value"], a["n"], "1/"+a["n"])
	case "limited":
		return fmt.Sprintf("%s asked the first %s of %s questions, which are no random sample.", a["task"], a["n"], a["of"])
	case "perfect":
		return fmt.Sprintf("%s is perfect with a standard error of 0; over %s questions that is no certainty, and Wilson's interval is used.", a["task"], a["n"])
	case "failed-share":
		return fmt.Sprintf("%s: %s of %s requests failed, and the statistics are of the others.", s, a["failed"], a["of"])
	case "saturated":
		return fmt.Sprintf("%s: %s %s was asked and %s reached: the client or the server could not hold the load.", s, a["what"], Quantity0(a["asked"], a["unit"]), Quantity0(a["got"], a["unit"]))
	case "short-answers":
		return fmt.Sprintf("%s: answers of %s tokens on average where %s were asked.", s, a["got"], a["asked"])
	case "cold-start":
		return fmt.Sprintf("%s: mean TTFT %s ms beside a median of %s ms over %s requests: the first ones paid for a cold server.", s, a["mean"], a["median"], a["n"])
	case "second-token-stall":
		return fmt.Sprintf("%s: one gap of about %s ms a request beside a median of %s ms, hidden in a mean of %s ms.", s, a["stall"], a["median"], a["mean"])
	case "prefix-cache":
		return fmt.Sprintf("%s: TTFT %s ms the first time and at most %s ms in every repeat: the prompts seem to be cached.", s, a["first"], a["later"])
	case "few-requests":
		return fmt.Sprintf("%s: latencies of %s.", s, plural0(a["n"], "request"))
	case "few-for-tail":
		return fmt.Sprintf("%s: a P99 of so few requests (%s) is not shown.", s, a["n"])
	case "no-commits":
		return fmt.Sprintf("Image %s has no digest, and no commit is stated: nobody can build it again.", a["image"])
	case "latest-image":
		return fmt.Sprintf("Image %s names a tag that moves.", a["image"])
	case "dirty-build":
		return "The software was built from uncommitted changes."
	case "mixed-tools":
		return fmt.Sprintf("%s: measured with %s now and with %s before: nothing of it is compared.", s, a["now"], a["before"])
	case "no-start":
		return "The run does not say when it was measured, so it stands after everything that does; a manifest can state start."
	case "clock":
		return fmt.Sprintf("It started at %s and ended at %s, which cannot be: its place in the history is wrong.", a["start"], a["end"])
	case "twice":
		if a["same"] == "no" {
			return fmt.Sprintf("%s is run %s again with other numbers; the first counts, and one of the two is false.", a["path"], a["of"])
		}
		return fmt.Sprintf("%s is run %s once more: it counts for nothing, and confirms nothing.", a["path"], a["of"])
	case "lost-document":
		more := ""
		if a["more"] != "0" {
			more = " and " + plural0(a["more"], "other document") + " of the history"
		}
		return fmt.Sprintf("%s (%s)%s cannot be read: what is lost is not in this decision.", a["path"], a["found"], more)
	case "late-step":
		return fmt.Sprintf("%s: %s is %s%s%% worse since %s, found over the releases after it (permutations, p = %s): none of them showed it alone.", s, label(a["metric"]), a["percent"], Thin, a["since"], a["p"])
	case "creep":
		return fmt.Sprintf("%s: %s gets %s%s%% worse a release, %s%s%% over %s releases (Mann-Kendall, p = %s): none of them showed it alone.", s, label(a["metric"]), a["each"], Thin, a["percent"], Thin, a["n"], a["p"])
	case "nothing-graded":
		return "Measured, and not one number was graded, by target or by history: that is not a pass."
	case "stale-targets":
		return fmt.Sprintf("Targets of %s are from %s, %s days before the run.", a["source"], a["as_of"], a["days"])
	case "not-positive":
		return fmt.Sprintf("%s: %s of %s %s is no measurement.", s, label(a["metric"]), a["value"], schema.Unit(a["metric"]))
	case "unused-decision":
		return sentence("A decision does nothing: " + a["what"])
	}
	return l.ID
}

// Quantity0 is a number that is text already, with its unit.
func Quantity0(number, unit string) string {
	if unit == "" {
		return number
	}
	return number + Thin + unit
}

func label(metric string) string {
	info, _ := schema.MetricByName(metric)
	return orElse(info.Label, metric)
}

func plural0(n, noun string) string {
	if n == "1" {
		return "1 " + noun
	}
	return n + " " + noun + "s"
}
