package targets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
)

// FailOn says which kinds of finding make a release unfit.
type FailOn map[string]bool

// What a gate can fail on.
const (
	FailConfirmed    = "confirmed"    // worse, seen again by an independent run
	FailProbable     = "probable"     // worse, seen once
	FailWatch        = "watch"        // beyond the limit, not significant
	FailTarget       = "target"       // a required target that fails
	FailInconclusive = "inconclusive" // a required target whose interval straddles the limit
	FailInvalid      = "invalid"      // void numbers, lints that are errors, decisions that have expired
	FailMissing      = "missing"      // required, planned or attempted, and without a number
	FailUngraded     = "ungraded"     // a pair of which nothing was graded
	FailGone         = "gone"         // measured by the release before and not by this one
)

// FailKinds lists them.
func FailKinds() []string {
	return []string{FailConfirmed, FailProbable, FailWatch, FailTarget, FailInconclusive, FailInvalid, FailMissing, FailUngraded, FailGone}
}

// DefaultFailOn is what a gate fails on unless it is told otherwise.
func DefaultFailOn() FailOn {
	return FailOn{FailConfirmed: true, FailTarget: true, FailInvalid: true, FailMissing: true}
}

// ParseFailOn reads a list such as "confirmed,target"; "none" fails on nothing.
func ParseFailOn(s string) (FailOn, error) {
	out := FailOn{}
	for _, kind := range strings.Split(s, ",") {
		switch kind = strings.TrimSpace(kind); {
		case kind == "none" || kind == "":
		case slices.Contains(FailKinds(), kind):
			out[kind] = true
		default:
			return nil, fmt.Errorf("--fail-on %q is none of %s, none", kind, strings.Join(FailKinds(), ", "))
		}
	}
	return out, nil
}

// The four words of a decision, and the one for a gate that had nothing to say.
const (
	Fit          = "fit"
	FitWithNotes = "fit with notes"
	NotFit       = "not fit"
	NoBaseline   = "no baseline"
	NotGraded    = "not graded"
)

// Decided is what verdicts and lints come to.
type Decided struct {
	Word   string
	Graded int      // verdicts that measured something against something
	Exit   int      // 0 fit, 1 not fit, 5 nothing was graded
	Counts []Tally  // what fails, then what is noted, in the order of weight
	Waived []string // ids of the decisions that kept something from failing
	// Compared are the numbers that have a history; Tier is the level of targets that is reached: see [NoTier].
	Compared int    `json:",omitempty"`
	Tier     string `json:",omitempty"`
}

// Tally counts one kind of finding.
type Tally struct {
	Kind  string // of a failure: FailConfirmed …; of a note likewise, or better, same, met …
	N     int    // points, for changes: what people read; else findings
	Cells int    // numbers behind them
	Fails bool
}

// Findings is what a gate looks at.
type Findings struct {
	Targets, History []schema.Verdict
	Shifts           []Shift
	Lints            []schema.Lint
}

// Decide weighs findings. A decision of a person that holds keeps a finding from failing and stays counted; one that has expired
// fails as if it were an error.
func Decide(f Findings, on FailOn) Decided {
	whole, _ := DecidePairs(f, on)
	return whole
}

// DecidePairs weighs a release and, in the same pass, each model and device in it. What speaks of no pair belongs to none.
func DecidePairs(f Findings, on FailOn) (Decided, map[[2]string]Decided) {
	whole := newTallying(on)
	pairs := map[[2]string]*tallying{}
	both := func(model, device string, do func(*tallying)) {
		do(whole)
		id := [2]string{model, device}
		if pairs[id] == nil {
			pairs[id] = newTallying(on)
		}
		do(pairs[id])
	}
	for i := range f.History {
		v := &f.History[i]
		both(v.Model, v.Device, func(t *tallying) { t.history(v) })
	}
	for i := range f.Targets {
		v := &f.Targets[i]
		both(v.Model, v.Device, func(t *tallying) { t.target(v) })
	}
	for i := range f.Lints {
		l := &f.Lints[i]
		if pairs[[2]string{l.Model, l.Device}] == nil {
			whole.lint(l)
			continue
		}
		both(l.Model, l.Device, func(t *tallying) { t.lint(l) })
	}
	out := make(map[[2]string]Decided, len(pairs))
	for id, t := range pairs {
		out[id] = t.decided()
	}
	return whole.decided(), out
}

func newTallying(on FailOn) *tallying {
	return &tallying{on: on, points: map[string]map[string]int{}, waived: map[string]bool{}, rungs: rungs{}}
}

// history counts a verdict against history.
func (t *tallying) history(v *schema.Verdict) {
	switch v.Word {
	case schema.Worse:
		t.add(kindOfWorse(v), subject(v), v.Decision)
	case schema.Watch:
		if e, ok := v.Effect.Get(); ok && e < 0 {
			break
		}
		t.add(FailWatch, subject(v), v.Decision)
	case schema.Invalid:
		switch {
		case KindOf(v) != NoCase:
			t.add(FailInvalid, subject(v), v.Decision)
		case v.Reason.Code == "void":
			t.note("void", subject(v))
		}
	case schema.Insufficient:
		if v.Reason.Code == "pinned" {
			t.note("pinned", subject(v))
		}
	case schema.MissingWord:
		t.add(KindOf(v), subject(v), v.Decision)
	case schema.BetterWord, schema.Recovered:
		t.note("better", subject(v))
	case schema.NotComparable:
		t.note("not-comparable", subject(v))
	}
	switch v.Word {
	case schema.Worse, schema.BetterWord, schema.Watch, schema.Recovered, schema.Same, schema.Noisy:
		t.compared++
	}
}

// lint counts a lint.
func (t *tallying) lint(l *schema.Lint) {
	switch {
	case l.Decision != nil && l.Decision.Expired:
		t.add(FailInvalid, "expired:"+l.Decision.ID, nil)
	case l.Severity == schema.SevError:
		t.add(FailInvalid, "lint:"+l.ID+l.Run+l.Subject, l.Decision)
	case l.Severity == schema.SevWarning && l.Decision == nil:
		t.note("lint", l.ID+l.Run+l.Subject)
	}
}

func kindOfWorse(v *schema.Verdict) string {
	if v.Evidence == "confirmed" {
		return FailConfirmed
	}
	return FailProbable
}

// NoCase is the kind of a verdict that decides nothing.
const NoCase = "skip"

// KindOf is the kind of finding that a verdict is, [NoCase] for one that decides nothing and "" for a good one.
func KindOf(v *schema.Verdict) string {
	switch v.Word {
	case schema.Worse:
		return kindOfWorse(v)
	case schema.Watch:
		if e, ok := v.Effect.Get(); ok && e < 0 {
			return ""
		}
		return FailWatch
	case schema.Invalid:
		switch {
		case v.Reason.Code == "not-positive": // the lint of that name decides, and can be waived
			return NoCase
		case v.Reason.Code == "void" && v.Reason.Args["other"] != "": // another run of the release measured it
			return NoCase
		}
		return FailInvalid
	case schema.Fail, schema.Inconclusive, schema.MissingWord:
		if v.Reason.Code == "gone" {
			return FailGone
		}
		planned := v.Reason.Code == "planned" || v.Against == schema.AgainstHistory
		switch {
		case !v.Required && !planned:
			return NoCase
		case v.Word == schema.Fail:
			return FailTarget
		case v.Word == schema.Inconclusive:
			return FailInconclusive
		}
		return FailMissing
	case schema.Insufficient, schema.NotComparable, schema.Ungraded, schema.Impossible:
		return NoCase
	}
	return ""
}

// KindOfLint is likewise the kind of a lint: an error that nobody excuses, or a decision that has expired.
func KindOfLint(l *schema.Lint) string {
	switch {
	case l.Decision != nil && l.Decision.Expired, l.Severity == schema.SevError && l.Decision == nil:
		return FailInvalid
	case l.Decision.Excuses():
		return NoCase
	}
	return ""
}

// subject is what people count: a point of a system, not its metrics.
func subject(v *schema.Verdict) string {
	return v.Model + "\x00" + v.Device + "\x00" + v.Impl + "\x00" + v.Key.String()
}

type tallying struct {
	on               FailOn
	points           map[string]map[string]int // numbers by kind and point
	waived           map[string]bool
	compared, graded int
	met              int
	rungs            rungs
}

// add counts a finding that may fail, unless a decision holds it back.
func (t *tallying) add(kind, subject string, d *schema.Decision) {
	if d.Excuses() {
		t.waived[d.ID] = true
		t.note("waived", subject)
		return
	}
	t.note(kind, subject)
	if d != nil && d.Expired {
		t.note(FailInvalid, "expired:"+d.ID)
	}
}

func (t *tallying) note(kind, subject string) {
	if t.points[kind] == nil {
		t.points[kind] = map[string]int{}
	}
	t.points[kind][subject]++
}

// target counts a verdict against a target.
func (t *tallying) target(v *schema.Verdict) {
	t.rungs.count(v)
	switch v.Word {
	case schema.Pass, schema.Fail, schema.Inconclusive:
		t.graded++
	case schema.Ungraded:
		return // that no target speaks of it is counted in the ledger, and decides nothing
	}
	id := subject(v) + v.Metric + v.Stat + v.Level
	switch {
	case v.Reason.Code == "planned":
		t.add(FailMissing, "planned:"+subject(v), v.Decision)
	case v.Word == schema.Impossible:
		t.note("impossible", id)
	case !v.Required:
		if v.Word == schema.Fail {
			t.note("informative", id)
		}
	case v.Word == schema.Pass:
		t.met++
	case v.Word == schema.Fail:
		t.add(FailTarget, id, v.Decision)
	case v.Word == schema.Inconclusive:
		t.add(FailInconclusive, id, v.Decision)
	case v.Word == schema.MissingWord:
		t.add(FailMissing, id, v.Decision)
	}
}

// decided orders the tallies and finds the word.
func (t *tallying) decided() Decided {
	d := Decided{Graded: t.graded + t.compared, Compared: t.compared, Tier: t.rungs.tier()}
	// A point stands once, under the worst that is said of it.
	worst := []string{FailConfirmed, FailProbable, FailWatch, "waived"}
	for i, kind := range worst {
		for _, later := range worst[i+1:] {
			if t.on[later] && !t.on[kind] {
				continue // what fails is never hidden behind what does not
			}
			for p := range t.points[kind] {
				delete(t.points[later], p)
			}
		}
	}
	for id := range t.waived {
		d.Waived = append(d.Waived, id)
	}
	slices.Sort(d.Waived)
	fails, notes := false, false
	order := append(FailKinds(), "waived", "void", "pinned", "lint", "impossible", "informative", "not-comparable", "better")
	for _, kind := range order {
		n := len(t.points[kind])
		if n == 0 {
			continue
		}
		c := Tally{Kind: kind, N: n, Fails: t.on[kind]}
		for _, cells := range t.points[kind] {
			c.Cells += cells
		}
		fails = fails || c.Fails
		notes = notes || slices.Contains([]string{FailConfirmed, FailProbable, FailWatch, FailTarget, FailInconclusive, FailInvalid, FailMissing, FailGone, "waived", "void", "pinned", "lint", "impossible", "not-comparable"}, kind)
		d.Counts = append(d.Counts, c)
	}
	if t.met > 0 {
		d.Counts = append(d.Counts, Tally{Kind: "met", N: t.met, Cells: t.met})
	}
	switch {
	case fails:
		d.Word, d.Exit = NotFit, 1
	case d.Graded == 0:
		d.Word, d.Exit = NotGraded, 5
		if t.on[FailUngraded] {
			d.Exit = 1
		}
	case t.compared == 0:
		d.Word = NoBaseline
	case notes:
		d.Word = FitWithNotes
	default:
		d.Word = Fit
	}
	return d
}
