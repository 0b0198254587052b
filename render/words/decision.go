package words

import (
	"fmt"
	"strings"

	"github.com/ttreport/ttreport/targets"
)

// Decision is what a gate says of a release or a pair, in the words of a sign-off and one sentence.
type Decision struct {
	Word   string // Fit, Fit with notes, Not fit to ship, No baseline, Not graded
	Tone   string // yes, hm, no
	Detail string
}

// Decide puts a decision into words.
func Decide(d targets.Decided) Decision {
	out := Decision{Word: map[string]string{targets.Fit: "Fit to ship", targets.FitWithNotes: "Fit with notes", targets.NotFit: "Not fit to ship", targets.NoBaseline: "No baseline", targets.NotGraded: "Not graded"}[d.Word], Tone: "hm"}
	switch d.Word {
	case targets.Fit:
		out.Tone = "yes"
	case targets.NotFit:
		out.Tone = "no"
	}
	var fails, notes []string
	for _, c := range d.Counts {
		s := tally(c)
		switch {
		case s == "":
		case c.Fails:
			fails = append(fails, s)
		default:
			notes = append(notes, s)
		}
	}
	parts := append(fails, notes...)
	switch {
	case d.Word == targets.NotGraded:
		parts = append([]string{"no number was met, missed or compared, which is not a pass"}, parts...)
	case d.Word == targets.NoBaseline:
		parts = append([]string{"nothing can be compared with an earlier release"}, parts...)
	case len(parts) == 0:
		parts = []string{"nothing became worse"}
	}
	out.Detail = strings.Join(parts, "; ") + "."
	return out
}

// tally is one count as a clause: "4 points are confirmed worse (11 metrics)".
func tally(c targets.Tally) string {
	cells := ""
	if c.Cells > c.N {
		cells = fmt.Sprintf(" (%s)", Plural(c.Cells, "metric"))
	}
	say := func(noun, one, many string) string { return Plural(c.N, noun) + verb(c.N, one, many) }
	switch c.Kind {
	case targets.FailConfirmed:
		return say("point", " is", " are") + " confirmed worse" + cells
	case targets.FailProbable:
		return say("point", " is", " are") + " probably worse, seen once" + cells
	case targets.FailWatch:
		return say("point", " is", " are") + " watched" + cells
	case targets.FailTarget:
		return say("required target", " fails", " fail")
	case targets.FailInconclusive:
		return say("required target", " is inconclusive", " are inconclusive")
	case targets.FailInvalid:
		return say("finding", " makes", " make") + " numbers invalid"
	case targets.FailMissing:
		return say("required or planned number", " is", " are") + " missing"
	case targets.FailGone:
		return Plural(c.N, "earlier measurement") + verb(c.N, " has", " have") + " no counterpart"
	case "waived":
		return say("finding", " is", " are") + " waived"
	case "void":
		return say("point", " is", " are") + " void and measured by another run"
	case "pinned":
		return say("point", " starts", " start") + " a new level by decision, compared with nothing"
	case "lint":
		return say("lint", "", "")
	case "impossible":
		return say("target", " is", " are") + " impossible"
	case "informative":
		return say("target", " for information is", " for information are") + " missed"
	case "not-comparable":
		return say("point", " is", " are") + " not comparable"
	case "better":
		return say("point", " is", " are") + " better" + cells
	case "met":
		return say("required target", " is", " are") + " met"
	}
	return "" // noisy and ungraded counts stand in the ledger
}
