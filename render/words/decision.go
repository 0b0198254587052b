package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// Decision is what a gate says of a release or of a model and device, in one word and one sentence.
type Decision struct {
	Word   string
	Tone   Tone
	Detail string
}

// Tone is the colour of a decision.
type Tone string

// Tones.
const (
	ToneGood    Tone = "good"
	ToneWarning Tone = "warning"
	ToneBad     Tone = "bad"
	ToneNone    Tone = ""
)

// Decide puts a decision into words.
func Decide(r gate.Result) Decision {
	out := Decision{Word: string(r.Word), Tone: ToneWarning}
	switch r.Word {
	case gate.Pass:
		out.Tone = ToneGood
	case gate.Fail:
		out.Tone = ToneBad
	}
	var fails, notes []string
	for _, c := range r.Counts {
		s := tally(c, &r)
		switch {
		case s == "":
		case c.Fails:
			fails = append(fails, s)
		default:
			notes = append(notes, s)
		}
	}
	parts := append(fails, notes...)
	if len(r.Evals) > 0 {
		parts = append(parts, Plural(len(r.Evals), "eval")+verb(len(r.Evals), " has", " have")+
			" no reference and no earlier score to be compared with ("+Few(r.Evals, 3)+")")
	}
	if r.Word == gate.NotMeasured {
		parts = []string{"last measured in " + Release(r.Last)}
	} else if lead := leading(r, len(parts) == 0); lead != "" {
		parts = append([]string{lead}, parts...)
	}
	out.Detail = strings.Join(append(parts, outside(&r)...), "; ") + "."
	return out
}

// Slower is the word of a decision on a build, which says whether it got slower, and its tone. The change that it found
// began since a build; before is the newest build that it is compared with. Each may be "".
func Slower(d Decision, r gate.Result, since, before string) (word string, tone Tone) {
	for _, c := range r.Counts {
		switch c.Kind {
		case gate.FailConfirmed:
			return strings.TrimSuffix("Slower since "+Release(since), " since "), ToneBad
		case gate.FailSuspected:
			return "Perhaps slower", ToneWarning
		}
	}
	if r.Word == gate.Pass || r.Word == gate.PassWithWarnings {
		up := strings.TrimPrefix(Release(before), "the build of ")
		return strings.TrimSuffix("Not slower than the builds up to "+up, " than the builds up to "), d.Tone
	}
	return d.Word, d.Tone
}

// leading is what comes before the counts of a decision; alone says that there are none.
func leading(r gate.Result, alone bool) string {
	switch r.Word {
	case gate.NotGraded, gate.NoBaseline:
		switch {
		case r.Open > 0 && r.Word == gate.NotGraded:
			return Plural(r.Open, "number") + verb(r.Open, " was", " were") + " measured in turns, in too few blocks to " +
				"decide: the same ttreport collect … --against again adds its blocks"
		case r.Early > 0:
			return fmt.Sprintf("%s %s one earlier value, which does not show %s noise: no change can be told from chance "+
				"before the next release", Plural(r.Early, "number"), verb(r.Early, "has", "have"), verb(r.Early, "its", "their"))
		case r.Word == gate.NotGraded:
			return "no number was met, missed or compared, which is not a pass"
		}
		return "nothing can be compared with an earlier release"
	case gate.Fail:
		if alone {
			return nothingShown
		}
		return ""
	}
	if r.Blind {
		return cannotSee
	}
	if alone || !regressed(r) {
		return nothingShown
	}
	return ""
}

// cannotSee is what a pass says that could not have been anything else.
const cannotSee = "most numbers could not have shown a regression of twice the limit"

// outside counts runs that the decision is not about, and those that may be of a later build.
func outside(r *gate.Result) (parts []string) {
	total, isUndated := 0, false
	var of []string
	for _, o := range r.Newer {
		total, isUndated = total+o.Runs, isUndated || o.Undated
		switch {
		case o.Channel:
			of = append(of, fmt.Sprintf("%d in channel %s", o.Runs, o.Of))
		case o.Of == "":
			of = append(of, fmt.Sprintf("%d without a release", o.Runs))
		default:
			of = append(of, fmt.Sprintf("%d of %s", o.Runs, o.Of))
		}
	}
	runs := Plural(total, "newer run")
	if isUndated {
		runs = Plural(total, "run") + ", newer or without a date,"
	}
	if total > 0 {
		parts = append(parts, runs+verb(total, " is", " are")+" not judged: "+Few(of, 3))
	}
	if r.Late > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s began a day or more after the first", Count(r.Late),
			Plural(r.Runs, "run")))
	}
	return parts
}

// nothingShown is what a pass says: what a release could have hidden is stated beside it.
const nothingShown = "nothing is shown to have regressed"

// regressed reports whether any regression was counted.
func regressed(r gate.Result) bool {
	return slices.ContainsFunc(r.Counts, func(c gate.Tally) bool {
		return c.Kind == gate.FailConfirmed || c.Kind == gate.FailRunWide || c.Kind == gate.FailSuspected ||
			c.Kind == gate.NoteSameBuild || c.Kind == gate.NoteWaived
	})
}

// tally is one count as a clause: "4 regressions are confirmed (11 numbers)".
func tally(c gate.Tally, r *gate.Result) string {
	return cmp.Or(line("tally:"+string(c.Kind), c, map[string]any{"of": r}), Plural(c.N, string(c.Kind)))
}

// Headline is the reason of a decision as one sentence: the one or two worst findings with their numbers, and how many
// more there are. [Decide] has the inventory.
func Headline(g *gate.Review) string { return headline(g, false) }

// HeadlineOverChanges is the headline where the changes are listed below it: what that list does not say, or "".
func HeadlineOverChanges(g *gate.Review) string { return headline(g, true) }

const nothingNew = "Nothing new got slower."

func headline(g *gate.Review, listed bool) string {
	kind, list := g.Decisive()
	open := openText(g, listed)
	switch {
	case kind == "" && (g.Result.Word == gate.Pass || g.Result.Word == gate.PassWithWarnings):
		return passes(g, open)
	case kind == gate.FailInvalid:
		if s := invalid(g.Lints); s != "" {
			return s
		}
	case kind == gate.FailMissing && len(list) > 0:
		return missing(list)
	case kind == gate.FailTarget && len(list) > 0:
		return missed(list)
	case kind == gate.FailOpen:
		return strings.TrimSpace(nothingNew + " " + open)
	}
	if list := changedIn(g, kind); len(list) > 0 {
		if listed {
			return ""
		}
		out := ChangeText(&list[0])
		if more := len(list) - 1; more > 0 {
			out = strings.TrimSuffix(out, ".") + fmt.Sprintf("; %s more %s.", Count(more), verb(more, "change", "changes"))
		}
		return out
	}
	if change := regression(kind, list); change != "" {
		return change
	}
	return Capital(Decide(g.Result).Detail)
}

// mostWords is how many words the heading of a page has, with the word of its decision.
const mostWords = 20

// Heading is the headline for the top of a page, behind the word of a decision: as much of it as fits.
func Heading(g *gate.Review, word string) string {
	return Fitting(word, append([]string{Headline(g)}, shorter(g)...)...)
}

// Fitting is the first of some texts, the longest first, that fits behind a word; of the last one what fits, clause by
// clause.
func Fitting(word string, texts ...string) string {
	fits := func(s string) bool { return len(strings.Fields(word+" "+s)) <= mostWords }
	for _, s := range texts {
		if fits(s) {
			return s
		}
	}
	out := strings.TrimSuffix(texts[len(texts)-1], ".")
	for at := strings.LastIndex(out, "; "); at >= 0 && !fits(out); at = strings.LastIndex(out, "; ") {
		out = out[:at]
	}
	return out + "."
}

// shorter are shorter forms of the headline, each of which says less: a change without its share and its evidence, then
// without its workloads; a target without how many more are missed; a pass without its counts.
func shorter(g *gate.Review) (out []string) {
	kind, list := g.Decisive()
	begin, is, changes := "", "", changedIn(g, kind)
	switch {
	case kind == gate.FailOpen:
		begin, is, changes = nothingNew+" ", "still ", g.OpenChanges()
	case kind == "" && g.Result.Compared > 0:
		b := g.Result.Basis
		out = append(out, fmt.Sprintf("%s: %s of %s unchanged.", Capital(lead(g.Result)), Count(b.Unchanged),
			Plural(b.Compared, "number")), Capital(lead(g.Result))+".")
	case kind == gate.FailTarget && len(list) > 0:
		one := missed(list[:1])
		out = append(out, one, strings.Replace(one, " at "+Short(Subject(&list[0]), inHeadline)+" is ", " is ", 1))
	}
	if len(changes) == 0 {
		return out
	}
	more := ""
	if n := len(changes) - 1; n > 0 {
		more = fmt.Sprintf("; %s more %s", Count(n), verb(n, "change", "changes"))
	}
	return append(out, ChangeHeadings(&changes[0], begin, is, more)...)
}

// ChangeHeadings say what a change is of, how large it is and since when, the longest first; is goes behind the verb,
// such as "still ".
func ChangeHeadings(c *judge.Change, begin, is, more string) (out []string) {
	is = are(c) + " " + is
	if c.Evidence == schema.Suspected {
		is = "may be "
	}
	for _, of := range []string{ChangeOf(c), changeOf(c, false), placeOf(c)} {
		out = append(out, fmt.Sprintf("%s%s %s%s since %s%s.", begin, of, is, ChangeSize(c), Release(c.Since), more))
	}
	return out
}

// Inventory is what [Decide] counts beside what the headline says, as sentences; none where it says nothing more.
func Inventory(g *gate.Review) []string {
	detail := Decide(g.Result).Detail
	rest := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(detail, cannotSee), nothingShown), "; ")
	if out := Capital(rest); out != "." && out != Headline(g) {
		return []string{out}
	}
	return nil
}

// Detail is a decision's reason with what it counts, for outputs that have one text of it.
func Detail(g *gate.Review) string {
	return strings.Join(append([]string{Headline(g)}, Inventory(g)...), " ")
}

// passes is the reason of a release that passes: what it rests on, and which regressions of earlier releases are open.
func passes(g *gate.Review, open string) string {
	b := g.Result.Basis
	before := lead(g.Result)
	if g.Result.Blind {
		before = cannotSee + "; " + before
	}
	if open != "" && before == nothingShown && b.Compared > 0 {
		return strings.TrimSuffix(open, ".") + "; nothing else is shown to have regressed."
	}
	out := fmt.Sprintf("%s: %s of %s unchanged", Capital(before), Count(b.Unchanged),
		Plural(b.Compared, "number"))
	for i, n := range []int{b.Improved, b.Recovered, b.BelowLimit, b.Inconclusive} {
		if n > 0 {
			out += ", " + Count(n) + " " + []string{"improved", "recovered", "changed below the limit", "inconclusive"}[i]
		}
	}
	if b.Compared == 0 {
		out = "Every required target is met, and nothing could be compared with history"
	}
	if open != "" {
		return out + ". " + open
	}
	return out + "."
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

// regression names the worst point of a kind of regression.
func regression(kind gate.Kind, list []schema.Verdict) string {
	seen := map[gate.Kind]string{
		gate.FailConfirmed: "confirmed", gate.FailSuspected: "suspected: not confirmed yet",
	}[kind]
	if seen == "" || len(list) == 0 {
		return ""
	}
	points := map[string]bool{}
	for i := range list {
		v := &list[i]
		points[v.Model+"\x00"+v.Device+"\x00"+v.Impl+"\x00"+v.Key.String()] = true
	}
	return line("headline:regressed", &list[0], map[string]any{"of": seen, "more": len(points) - 1})
}

// missed names the worst required target.
func missed(list []schema.Verdict) string {
	return line("headline:missed", &list[0], map[string]any{"more": len(list) - 1})
}

// missing names what is not there: the first, or all that lack a number for one reason, as after a night that failed.
func missing(list []schema.Verdict) string {
	why, isOne, pairs := Why(list[0]), len(list) > 1, map[schema.Pair]bool{}
	for i := range list {
		isOne = isOne && Why(list[i]) == why
		pairs[list[i].Pair()] = true
	}
	why = strings.ToLower(why[:min(1, len(why))]) + why[min(1, len(why)):]
	of := map[string]any{"of": why, "more": len(list) - 1}
	if isOne {
		of["all"], of["pairs"] = len(list), len(pairs)-1
	}
	return line("headline:missing", &list[0], of)
}

// invalid is the worst lint that makes numbers invalid.
func invalid(list []lint.Lint) string {
	n, first := 0, ""
	for i := range list {
		if l := list[i]; l.Severity == schema.SevError && !l.Decision.Excuses() {
			if n++; n > 1 {
				continue
			}
			first = Lint(l)
			if rest, ok := strings.CutPrefix(first, l.Subject+": "); ok && l.Subject != "" && l.Model != "" {
				first = l.Subject + " of " + OnDevice(l.Model, l.Device) + ": " + rest // a workload, of which system?
			}
		}
	}
	if n > 1 {
		first = strings.TrimSuffix(first, ".") + fmt.Sprintf("; %s more %s numbers invalid.", Count(n-1),
			verb(n-1, "finding makes", "findings make"))
	}
	return first
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

// Sensitivity says what a release's comparison with history could not have seen: of a model on a device as a whole, and
// of one number alone; "" where that is not known.
func Sensitivity(s judge.Sensitivity) string { return sentenceOn(s, nil) }

// Fit says how sure a comparison is in general: by measurements in turns, and by history.
func Fit(f gate.Fit) string { return strings.TrimSpace(sentenceOn(f, nil)) }

// Basis counts what was compared with history.
func Basis(b gate.Basis, f gate.Fit) string { return sentenceOn(b, map[string]any{"fit": f}) }

// ComparedWith says what a release is compared with; before is the newest release of its baseline, "" for none.
func ComparedWith(before string) string {
	if before == "" {
		return "Nothing before it can serve as a baseline."
	}
	return "Compared with the releases up to " + Release(before) +
		"; a change is listed if it is larger than the limit and significant among all numbers."
}

// TooNoisy counts the numbers of which nothing can be said, open, and says how small a change would have been named.
func TooNoisy(b gate.Basis, open int, fit string) string {
	if b.Compared == 0 {
		return fmt.Sprintf("%s numbers %s further than the limit from the one earlier value that there is.",
			Of(open, b.Early), verb(open, "is", "are"))
	}
	return fmt.Sprintf("%s numbers %s inconclusive. %s", Of(open, b.Compared+b.Early), verb(open, "is", "are"), fit)
}
