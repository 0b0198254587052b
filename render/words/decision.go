package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/targets/gate"
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
		parts = append(parts, ungraded(r.Evals))
	}
	switch {
	case r.Word == gate.NotMeasured:
		parts = []string{"last measured in " + r.Last}
	case r.Open > 0 && r.Word == gate.NotGraded:
		parts = append([]string{fmt.Sprintf("%s measured in turns, in too few blocks to decide: the same ttreport collect "+
			"… --against again adds its blocks", Plural(r.Open, "number")+verb(r.Open, " was", " were"))}, parts...)
	case r.Early > 0 && (r.Word == gate.NotGraded || r.Word == gate.NoBaseline):
		parts = append([]string{early(r.Early)}, parts...)
	case r.Word == gate.NotGraded:
		parts = append([]string{"no number was met, missed or compared, which is not a pass"}, parts...)
	case r.Word == gate.NoBaseline:
		parts = append([]string{"nothing can be compared with an earlier release"}, parts...)
	case len(parts) == 0:
		parts = []string{nothingShown}
	case r.Word != gate.Fail && !regressed(r):
		parts = append([]string{nothingShown}, parts...)
	}
	out.Detail = strings.Join(append(parts, outside(&r)...), "; ") + "."
	return out
}

// early says why numbers with one earlier value decide nothing.
func early(n int) string {
	return fmt.Sprintf("%s %s one earlier value, which does not show %s noise: no change can be told from chance before "+
		"the next release", Plural(n, "number"), verb(n, "has", "have"), verb(n, "its", "their"))
}

// outside counts runs that the decision is not about, and those that may be of a later build.
func outside(r *gate.Result) (parts []string) {
	total := 0
	var of []string
	const most = 3
	for i, o := range r.Newer {
		total += o.Runs
		switch {
		case i >= most:
		case o.Channel:
			of = append(of, fmt.Sprintf("%d in channel %s", o.Runs, o.Of))
		case o.Of == "":
			of = append(of, fmt.Sprintf("%d without a release", o.Runs))
		default:
			of = append(of, fmt.Sprintf("%d of %s", o.Runs, o.Of))
		}
	}
	if more := len(r.Newer) - most; more > 0 {
		of = append(of, fmt.Sprintf("%d more places", more))
	}
	if total > 0 {
		parts = append(parts, Plural(total, "newer run")+verb(total, " is", " are")+" not judged: "+strings.Join(of, ", "))
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

// withMost is what a shift of a device and a run in which most workloads of a model regressed have in common.
const withMost = " with most workloads of the model or device"

const gone = " not been measured for several releases"

// tally is one count as a clause: "4 points regressed, confirmed (11 metrics)".
func tally(c gate.Tally, r *gate.Result) string {
	cells := ""
	if c.Cells > c.N {
		cells = fmt.Sprintf(" (%s)", Plural(c.Cells, "metric"))
	}
	say := func(noun, one, many, rest string) string { return Plural(c.N, noun) + verb(c.N, one, many) + rest }
	switch c.Kind {
	case gate.FailConfirmed:
		return say("point", " regressed", " regressed", ", confirmed"+cells)
	case gate.FailRunWide:
		return say("point", " regressed", " regressed", withMost+", suspected: not confirmed yet"+cells)
	case gate.FailSuspected:
		return say("point", " regressed", " regressed", ", suspected: not confirmed yet"+cells)
	case gate.FailInconclusive:
		return say("finding", " is", " are", " inconclusive"+cells)
	case gate.FailTarget:
		return say("required target", " fails", " fail", "")
	case gate.FailInvalid:
		return say("finding", " makes", " make", " numbers invalid")
	case gate.FailMissing:
		return Plural(c.N, "required, planned or tried number") + verb(c.N, " is", " are") + " missing"
	case gate.FailNotRemeasured:
		return leftOut(c, r)
	case gate.FailAbsent:
		return say("pair", "", "", " of model and device") + verb(c.N, " has", " have") + gone
	case gate.FailOpen:
		return say("regression", " of an earlier release is", " of earlier releases are", " still there and not accepted")
	case gate.NoteWaived:
		return say("finding", " is", " are", " waived")
	case gate.NoteSameBuild:
		return say("point", " regressed", " regressed", " on the same build: the machine, not the release"+cells)
	case gate.NoteExcluded:
		return say("point", " is", " are", " excluded and measured by another run")
	case gate.NotePinned:
		return say("point", " starts", " start", " a new level by decision, compared with nothing")
	case gate.NoteUnattainable:
		return say("target", " is", " are", " unattainable")
	case gate.NoteNotComparable:
		return say("point", " is", " are", " not comparable")
	case gate.NoteBelowLimit:
		return say("point", " is", " are", " worse by less than the limit"+cells)
	case gate.NoteImproved:
		return say("point", " improved", " improved", cells)
	}
	return tallyOfTargets(c)
}

// leftOut tells a whole model on a device from single measurements: it is more than one number.
func leftOut(c gate.Tally, r *gate.Result) string {
	var parts []string
	if c.Systems > 0 {
		parts = append(parts, Plural(c.Systems, "pair")+" of model and device")
	}
	if n := c.N - c.Systems; n > 0 {
		parts = append(parts, Plural(n, "measurement"))
	}
	return strings.Join(parts, " and ") + " of " + r.Baseline + verb(c.N, " was ", " were ") + NotMeasuredAgain + " in " +
		r.Release
}

// tallyOfTargets is one count of what fails nothing as a clause.
func tallyOfTargets(c gate.Tally) string {
	switch c.Kind {
	case gate.NoteInformational:
		return Plural(c.N, "informational target") + verb(c.N, " is", " are") + " missed"
	case gate.NoteMet:
		return Plural(c.N, "required target") + verb(c.N, " is", " are") + " met"
	}
	return Plural(c.N, string(c.Kind))
}

// ungraded names evals that nothing grades.
func ungraded(tasks []string) string {
	return Plural(len(tasks), "eval") + verb(len(tasks), " has", " have") + " no reference and no earlier score (" +
		Few(tasks, 3) + ")"
}
