package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate/lint"
)

// Kind is a kind of finding that a gate counts.
type Kind string

// What a gate can fail on.
const (
	FailConfirmed     Kind = "confirmed"      // regressed, seen again by an independent run
	FailRunWide       Kind = "run-wide"       // regressed with its whole device, or with most of its system, seen once
	FailSuspected     Kind = "suspected"      // regressed, seen once
	FailInconclusive  Kind = "inconclusive"   // beyond the limit, not established; also required targets
	FailTarget        Kind = "target"         // a required target that fails
	FailInvalid       Kind = "invalid"        // excluded numbers, lints that are errors, decisions that have expired
	FailMissing       Kind = "missing"        // required, planned or attempted, and without the number
	FailUngraded      Kind = "ungraded"       // a model and device without a graded number
	FailNotRemeasured Kind = "not-remeasured" // measured by the release before and not by this one
	FailAbsent        Kind = "absent"         // a model and device that only releases before that measured
	FailOpen          Kind = "open"           // regressed in an earlier release, confirmed there, and still there
)

// Kinds that a gate counts and never fails on.
const (
	NoteWaived        Kind = "waived"
	NoteExcluded      Kind = "excluded" // by a decision, and measured by another run
	NotePinned        Kind = "pinned"
	NoteSameBuild     Kind = "same-build" // regressed between two runs of one build
	NoteLint          Kind = "lint"
	NoteUnattainable  Kind = "unattainable"
	NoteInformational Kind = "informational"
	NoteNotComparable Kind = "not-comparable"
	NoteBelowLimit    Kind = "below-limit" // regressed significantly, by less than what matters
	NoteImproved      Kind = "improved"
	NoteMet           Kind = "met" // required targets
)

// noteKinds lists what is noted, in the order of a headline; targets that are met come last.
func noteKinds() []Kind {
	return []Kind{
		NoteWaived, NoteSameBuild, NoteExcluded, NotePinned, NoteLint, NoteUnattainable, NoteInformational,
		NoteNotComparable, NoteBelowLimit, NoteImproved,
	}
}

// NoCase is the kind of a verdict that is not counted; a good verdict has the empty kind.
const NoCase Kind = "skip"

// FailKinds lists what a gate can fail on.
func FailKinds() []Kind {
	return []Kind{
		FailConfirmed, FailRunWide, FailSuspected, FailInconclusive, FailTarget, FailInvalid, FailMissing, FailUngraded,
		FailNotRemeasured, FailAbsent, FailOpen,
	}
}

// FailOn holds the kinds of findings that fail a release.
type FailOn map[Kind]bool

// DefaultFailOn is what a gate fails on in a channel unless configured otherwise. Builds of pr and main are too many to
// measure twice, and a change of a whole device or of most points of a system is no accident of one point: it fails
// when it is seen once. A release has its recheck.
func DefaultFailOn(channel string) FailOn {
	on := FailOn{FailConfirmed: true, FailTarget: true, FailInvalid: true, FailMissing: true}
	if channel == schema.ChannelPR || channel == schema.ChannelMain {
		on[FailRunWide] = true
	}
	return on
}

// none is the list of no kinds.
const none Kind = "none"

// ParseFailOn reads a list such as "confirmed,target"; "none" fails on nothing, and an empty list is an error.
// "suspected" includes "confirmed" and "run-wide".
func ParseFailOn(s string) (FailOn, error) {
	out := FailOn{}
	list := strings.Split(s, ",")
	for _, name := range list {
		switch kind := Kind(strings.TrimSpace(name)); {
		case kind == none && len(list) == 1:
		case kind == none:
			return nil, fmt.Errorf("--fail-on %q has none and other kinds; none stands alone", s)
		case kind == "":
			return nil, fmt.Errorf("--fail-on %q has an empty name; to fail on nothing, write none", s)
		case kind == FailSuspected: // seen twice is seen once, too
			out[kind], out[FailConfirmed], out[FailRunWide] = true, true, true
		case slices.Contains(FailKinds(), kind):
			out[kind] = true
		default:
			return nil, fmt.Errorf("--fail-on %q is none of %s, none", kind, KindList())
		}
	}
	return out, nil
}

// KindList lists what a gate can fail on, for messages.
func KindList() string {
	var names []string
	for _, k := range FailKinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// KindOf is the kind of finding that a verdict is.
func KindOf(v *schema.Verdict) Kind {
	switch v.Outcome {
	case schema.Regressed:
		return kindOfRegression(v)
	case schema.Inconclusive:
		return kindOfInconclusive(v)
	case schema.Excluded:
		return kindOfExcluded(v)
	case schema.Fail:
		return whenRequired(v, FailTarget)
	case schema.NotMeasured:
		switch {
		case schema.ReasonIs[schema.NotRemeasured](v.Reason):
			return kindOfAbsence(v)
		case schema.ReasonIs[schema.Planned](v.Reason) || v.Against == schema.AgainstHistory:
			return FailMissing
		}
		return whenRequired(v, FailMissing)
	case schema.NoBaseline, schema.NotComparable, schema.NoTarget, schema.Unattainable:
		return NoCase
	}
	return ""
}

// kindOfRegression returns a finding for every regression. Between two runs of one build the machine changed, or how it
// was used; the release did not.
func kindOfRegression(v *schema.Verdict) Kind {
	if c, ok := v.Reason.(schema.Change); ok && c.SameBuild != "" {
		return NoteSameBuild
	}
	switch {
	case v.Evidence == schema.Confirmed:
		return FailConfirmed
	case v.Cause.Kind == schema.CauseShift || v.Cause.Kind == schema.CauseRun:
		return FailRunWide
	}
	return FailSuspected
}

func whenRequired(v *schema.Verdict, k Kind) Kind {
	if !v.Required {
		return NoCase
	}
	return k
}

// kindOfAbsence tells what the release before measured from what has long been gone, and a number from a workload.
func kindOfAbsence(v *schema.Verdict) Kind {
	switch {
	case v.Reason.(schema.NotRemeasured).Releases > 1:
		return FailAbsent
	case v.Metric != "": // of a workload that was measured
		return FailMissing
	}
	return FailNotRemeasured
}

// kindOfInconclusive returns a finding for a possible regression beyond the limit, or for a required target.
func kindOfInconclusive(v *schema.Verdict) Kind {
	if v.Against == schema.AgainstTarget {
		return whenRequired(v, FailInconclusive)
	}
	if e, ok := v.Effect.Get(); !v.Large || ok && e < 0 {
		return ""
	}
	return FailInconclusive
}

// insignificant reports whether a number is beyond the limit and its noise explains that: in an unchanged release one
// in five numbers is, half of them for the better. They are shown as what they are and ask for nobody.
func insignificant(v *schema.Verdict) bool {
	switch r := v.Reason.(type) {
	case schema.Change:
		return r.Why == schema.WhyNotSignificant || r.Why == schema.WhyOneEach || r.Why == schema.WhyTurnsOpen
	case schema.EvalChange:
		return r.Why == schema.WhyNotSignificant
	}
	return false
}

// kindOfExcluded returns no finding where a lint decides, or where another run of the release measured the point.
func kindOfExcluded(v *schema.Verdict) Kind {
	switch r := v.Reason.(type) {
	case schema.NotPositive: // the lint of that name decides; it can be waived
		return NoCase
	case schema.ExcludedBy:
		if r.Other != "" {
			return NoCase
		}
	}
	return FailInvalid
}

// KindOfLint returns the kind of a lint: it is a finding if it is an error that no decision excuses, a decision that
// has expired, or a regression that is open.
func KindOfLint(l *lint.Lint) Kind {
	switch {
	case l.Decision != nil && l.Decision.Expired, l.Severity == schema.SevError && l.Decision == nil:
		return FailInvalid
	case l.Decision.Excuses():
		return NoCase
	case l.ID == lint.IDOpenRegression:
		return FailOpen
	}
	return ""
}
