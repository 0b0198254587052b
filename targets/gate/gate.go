package gate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/decision"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

// Gate is a judged history with the decisions of people about it.
type Gate struct {
	*judge.Judgement
	Policy *decision.Policy
	Listed []judge.Configured // releases as ttreport.yaml lists them
	Lost   []schema.Problem   // documents of the history that could not be read and count in no decision
	FailOn FailOn             // nil: [DefaultFailOn] of the channel of each release

	cache cache
}

// New judges a history under a policy; nil decides nothing. The gate fails on [DefaultFailOn] until FailOn is
// set.
func New(ctx context.Context, c *columns.Columns, releases []judge.Release, p *decision.Policy) (*Gate, error) {
	p = p.For(c.Runs)
	j, err := judge.New(ctx, c, releases, p)
	if err != nil {
		return nil, err
	}
	return &Gate{Judgement: j, Policy: p}, nil
}

// FailsOn is what fails a release.
func (g *Gate) FailsOn(release int) FailOn {
	if g.FailOn != nil {
		return g.FailOn
	}
	return DefaultFailOn(g.Releases[release].Channel)
}

// History returns the verdicts of a release against history, worst first, with decisions.
func (g *Gate) History(release int) []schema.Verdict { return g.decided(g.Judgement.History(release)) }

// HistoryOf returns the verdict on a series in a release against history, with decisions: see
// [judge.Judgement.HistoryOf].
func (g *Gate) HistoryOf(release int, s *judge.Series) (schema.Verdict, bool) {
	v, ok := g.Judgement.HistoryOf(release, s)
	if !ok {
		return v, false
	}
	return g.decided([]schema.Verdict{v})[0], true
}

// Targets returns the verdicts of a model and device in a release against targets, with decisions.
func (g *Gate) Targets(release int, of schema.Pair) []schema.Verdict {
	list := g.decided(g.Judgement.Targets(release, of))
	heads := g.heads(release, of)
	for i := range list {
		if v := &list[i]; v.Decision == nil {
			v.Decision = excusedBy(heads, v)
		}
	}
	return list
}

// decided attaches the decision that covers each verdict: one that excuses it, else the pin or dismissal at its
// release, whose reason readers need to understand the level. A verdict that cannot fail needs no excuse: a number that
// met its target was not waived. Excluded verdicts have theirs already.
func (g *Gate) decided(list []schema.Verdict) []schema.Verdict {
	for i := range list {
		v := &list[i]
		if len(g.Policy.Decisions) == 0 || v.Decision != nil {
			continue
		}
		if kind := KindOf(v); kind != "" && kind != NoCase {
			v.Decision = g.decisionThat(func(d *decision.Decision) bool {
				return (d.Kind == schema.Waive || d.Kind == schema.Accept) && d.Select.Lint == "" && d.Covers(v)
			})
		}
		if v.Decision == nil && v.Against == schema.AgainstHistory {
			v.Decision = g.Policy.Level(v, schema.Pin, schema.Dismiss)
		}
	}
	return list
}

// decisionThat finds the first decision that covers something and holds, else the last of those that have expired.
func (g *Gate) decisionThat(covers func(*decision.Decision) bool) *schema.Decision {
	var expired *schema.Decision
	for i := range g.Policy.Decisions {
		d := &g.Policy.Decisions[i]
		if !covers(d) {
			continue
		}
		if g.Policy.Holds(*d) {
			return g.Policy.Shown(*d)
		}
		expired = g.Policy.Shown(*d)
	}
	return expired
}

// covers reports whether a decision selects a lint. A lint of several cases belongs to no single workload or task.
func covers(d *decision.Decision, l *lint.Lint) bool {
	s, match := d.Select, decision.Match
	single := s.Workload != "" || s.Task != ""
	if single && (l.Count > 1 || !match(s.Workload, l.Subject) || !match(s.Task, l.Subject)) {
		return false
	}
	return match(s.Lint, string(l.ID)) && d.IsOf(l.Release, l.Run, l.Pair())
}

// Digest covers everything that the pages of a release are made from, except the program and the configuration: two
// gates with the same digest of a release decide the same.
func (g *Gate) Digest(release int) string {
	h := sha256.New()
	fmt.Fprintln(h, g.Judgement.Digest(release))
	for _, d := range g.Policy.Decisions {
		fmt.Fprintf(h, "%+v %v\n", d, g.Policy.Holds(d))
	}
	if len(g.Policy.Decisions)+len(g.Listed) > 0 { // they are checked against the names of all releases
		for i := range g.Releases {
			fmt.Fprintf(h, "%s\n", g.Releases[i].Name)
		}
	}
	for _, p := range g.Lost {
		fmt.Fprintf(h, "%s %s\n", p.Path, p.Found)
	}
	fmt.Fprintln(h, len(g.future(release)), len(g.channels(release)), g.disordered(release))
	return hex.EncodeToString(h.Sum(nil))
}

// Kind is a kind of finding that a gate counts.
type Kind string

// What a gate can fail on.
const (
	FailConfirmed     Kind = "confirmed"      // regressed, seen again by an independent run
	FailRunWide       Kind = "run-wide"       // regressed with a group of numbers, seen once
	FailSuspected     Kind = "suspected"      // regressed, seen once
	FailInconclusive  Kind = "inconclusive"   // beyond the limit, not established; also required targets
	FailTarget        Kind = "target"         // a required target that fails
	FailInvalid       Kind = "invalid"        // excluded numbers, lints that are errors, decisions that have expired
	FailMissing       Kind = "missing"        // required, planned or attempted, and without the number
	FailUngraded      Kind = "ungraded"       // a model and device without a graded number
	FailNotRemeasured Kind = "not-remeasured" // measured by the release before and not by this one
	FailAbsent        Kind = "absent"         // a model and device that only releases before that measured
	FailOpen          Kind = "open"           // a change that an earlier release confirmed, that nobody accepted
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
	NoteRecovered     Kind = "recovered"
	NoteMet           Kind = "met" // required targets
)

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
// measure twice, and a change of a group of numbers is no accident of one: it fails when it is seen once. A release
// has its recheck, and answers for what earlier ones made slower until somebody accepts it.
func DefaultFailOn(channel string) FailOn {
	on := FailOn{FailConfirmed: true, FailTarget: true, FailInvalid: true, FailMissing: true}
	switch channel {
	case schema.ChannelPR, schema.ChannelMain:
		on[FailRunWide] = true
	case schema.ChannelRelease:
		on[FailOpen] = true
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
			return nil, fmt.Errorf("--fail-on %q combines none with other kinds", s)
		case kind == "":
			return nil, fmt.Errorf("--fail-on %q has an empty name; to fail on nothing, write none", s)
		case kind == FailSuspected: // seen twice is seen once, too
			out[kind], out[FailConfirmed], out[FailRunWide] = true, true, true
		case slices.Contains(FailKinds(), kind):
			out[kind] = true
		default:
			return nil, fmt.Errorf("--fail-on %q: expected one of %s, none", kind, KindList())
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
		if v.Against == schema.AgainstTarget {
			return whenRequired(v, FailInconclusive)
		}
		if e, ok := v.Effect.Get(); !v.Large || ok && e < 0 { // no possible regression beyond the limit
			return ""
		}
		return FailInconclusive
	case schema.Excluded:
		// No finding where the lint of that name decides, which can be waived, or where another run measured the point.
		if schema.ReasonIs[schema.NotPositive](v.Reason) || schema.MeasuredBy(v.Reason) != "" {
			return NoCase
		}
		return FailInvalid
	case schema.Fail:
		return whenRequired(v, FailTarget)
	case schema.NotMeasured:
		return kindOfAbsence(v)
	case schema.NoBaseline, schema.NotComparable, schema.NoTarget, schema.Unattainable:
		return NoCase
	}
	return ""
}

// kindOfRegression returns a finding for every regression. Between two runs of one build the machine changed, or how it
// was used; the release did not.
func kindOfRegression(v *schema.Verdict) Kind {
	c, _ := v.Reason.(schema.Change)
	switch {
	case c.SameBuild != "":
		return NoteSameBuild
	case v.Evidence == schema.Confirmed:
		return FailConfirmed
	case c.Part != nil:
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

// kindOfAbsence tells what the release before measured from what has long been gone, and a number from a workload. A
// goodput whose goal only an earlier release asked for was not measured again, as a workload is not.
func kindOfAbsence(v *schema.Verdict) Kind {
	info, _ := schema.MetricByName(v.Metric)
	switch r, again := v.Reason.(schema.NotRemeasured); {
	case again && r.Releases > 1:
		return FailAbsent
	case again && (v.Metric == "" || info.Asked):
		return FailNotRemeasured
	case again || v.Against == schema.AgainstHistory || schema.ReasonIs[schema.Planned](v.Reason):
		return FailMissing // again: a number of a workload that was measured
	}
	return whenRequired(v, FailMissing)
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

// KindOfLint returns the kind of a lint: it is a finding if it is an error that no decision excuses, or a decision
// that has expired.
func KindOfLint(l *lint.Lint) Kind {
	switch {
	case l.Decision != nil && l.Decision.Expired, l.Severity == schema.SevError && l.Decision == nil:
		return FailInvalid
	case l.Decision.Excuses():
		return NoCase
	}
	return ""
}

// NoLevel is the level of a model and device that has targets and misses one of the lowest level.
const NoLevel = "none"

// levels counts the targets of each level, and those of them that are met.
type levels map[string]struct{ met, all int }

func (l levels) count(v *schema.Verdict) {
	switch v.Outcome {
	case schema.Pass, schema.Fail, schema.Inconclusive, schema.NotMeasured:
		n := l[v.Level]
		if v.Outcome == schema.Pass {
			n.met++
		}
		n.all++
		l[v.Level] = n
	}
}

// reached returns the highest level of which every target is met, together with all levels below it; [NoLevel] when
// the lowest level is not reached, "" without targets. An inconclusive target keeps its level from being reached,
// because it was not shown to be met.
func (l levels) reached() (reached string) {
	for _, level := range schema.Levels() {
		switch n := l[level]; {
		case n.met < n.all:
			return cmp.Or(reached, NoLevel)
		case n.all > 0:
			reached = level
		}
	}
	return reached
}

// Grading is how many of the measured workloads, by tool, were graded against a target. What has no target was not
// graded, which is no pass.
type Grading struct{ Graded, Workloads int }

// GradingOf counts the workloads of verdicts against targets.
func GradingOf(list []schema.Verdict) (out Grading) {
	graded := map[finding]bool{} // whether a target of a workload was graded
	for i := range list {
		v := &list[i]
		if v.Key.IsEval() || v.Outcome == schema.NotMeasured {
			continue
		}
		of := findingOf(v)
		graded[of] = graded[of] || v.Outcome == schema.Pass || v.Outcome == schema.Fail || v.Outcome == schema.Inconclusive
	}
	for _, is := range graded {
		if out.Workloads++; is {
			out.Graded++
		}
	}
	return out
}

// Word is the decision of the gate.
type Word string

// Decisions.
const (
	Pass             Word = "PASS"
	PassWithWarnings Word = "PASS with warnings"
	Fail             Word = "FAIL"
	NoBaseline       Word = "NO BASELINE"
	NotGraded        Word = "NOT GRADED"
	NotMeasured      Word = "NOT MEASURED" // of a model and device that earlier releases measured
)

// Result is the decision that follows from verdicts and lints.
type Result struct {
	Word   Word
	Graded int      // verdicts that compared a number with a target or a baseline
	Exit   int      // 0 passes, 1 fails, 5 nothing was graded
	Counts []Tally  // what fails, then what is noted, most serious first
	Waived []string // ids of the decisions that kept a finding from failing
	Basis
	Blind bool     `json:",omitempty"` // most numbers would not show a regression of twice the limit
	Level string   `json:",omitempty"` // of targets that is reached, see [NoLevel]
	Evals []string `json:",omitempty"` // tasks with a score without a reference and an earlier score
	Last  string   `json:",omitempty"` // of NotMeasured: the last release that measured it
	// Newer are runs that are newer than what is judged and no part of it; Late are those of its runs, of Runs, that began
	// a day or more after the first. See [Gate.Review].
	Newer []Outside `json:",omitempty"`
	Late  int       `json:",omitempty"`
	Runs  int       `json:",omitempty"`
	// Release is what is judged and Baseline the release before it, where that measured what this one did not.
	Release  string `json:",omitempty"`
	Baseline string `json:",omitempty"`
}

// Basis is how the numbers of a release compare with history. Early have one earlier release, which shows no noise, and
// Without none. RegressedBefore and ImprovedBefore are those that an earlier release saw change first. Open are those
// of Inconclusive that are known from blocks of a pair alone, which do not decide.
type Basis struct {
	Compared, Unchanged, BelowLimit, Inconclusive, Regressed, Improved, Recovered, Early, Without int
	RegressedBefore, ImprovedBefore, Open                                                         int
}

// count counts a verdict against history, and reports whether it compares.
func (b *Basis) count(v *schema.Verdict) bool {
	if decidedBy(v, schema.WhyOneEach) {
		b.Early++
		return false
	}
	first := 0
	if v.First != "" {
		first = 1
	}
	switch v.Outcome {
	case schema.Unchanged:
		b.Unchanged++
	case schema.BelowLimit:
		b.BelowLimit++
	case schema.Inconclusive:
		if b.Inconclusive++; decidedBy(v, schema.WhyTurnsOpen) {
			b.Open++
		}
	case schema.Regressed:
		b.Regressed, b.RegressedBefore = b.Regressed+1, b.RegressedBefore+first
	case schema.Improved:
		b.Improved, b.ImprovedBefore = b.Improved+1, b.ImprovedBefore+first
	case schema.Recovered:
		b.Recovered++
	default:
		if _, measured := v.Value.Get(); measured {
			b.Without++
		}
		return false
	}
	b.Compared++
	return true
}

// Tally counts one kind of finding.
type Tally struct {
	Kind  Kind
	N     int // changes or findings
	Cells int // numbers behind them
	Fails bool
	// Systems are those of N that are a whole model on a device, of which nothing was measured again.
	Systems int `json:",omitempty"`
}

// Findings are the input of a decision.
type Findings struct {
	Targets, History []schema.Verdict
	Changes          []judge.Change
	Blind, Seen      map[schema.Pair]int // numbers without sight, of all with a history: see [judge.Judgement.Sight]
	Lints            []lint.Lint
}

// Decide decides on findings. A valid decision of a person keeps a finding from failing and is counted; an expired
// one fails like an error.
func Decide(f Findings, on FailOn) Result {
	whole, _ := DecidePairs(f, on)
	return whole
}

// DecidePairs decides on a release and, in the same pass, on each model and device in it. Findings that belong to no
// model and device count for the release only.
func DecidePairs(f Findings, on FailOn) (Result, map[schema.Pair]Result) {
	whole := newTallying(on)
	pairs := map[schema.Pair]*tallying{}
	known := func(p schema.Pair, do func(*tallying)) { // the release, and a pair that has a verdict
		do(whole)
		if t := pairs[p]; t != nil {
			do(t)
		}
	}
	both := func(p schema.Pair, do func(*tallying)) {
		if pairs[p] == nil {
			pairs[p] = newTallying(on)
		}
		known(p, do)
	}
	for i := range f.History {
		v := &f.History[i]
		both(v.Pair(), func(t *tallying) { t.history(v) })
	}
	for i := range f.Targets {
		v := &f.Targets[i]
		both(v.Pair(), func(t *tallying) { t.target(v) })
	}
	for p, n := range f.Seen {
		known(p, func(t *tallying) { t.blind, t.seen = t.blind+f.Blind[p], t.seen+n })
	}
	for i := range f.Lints {
		l := &f.Lints[i]
		known(l.Pair(), func(t *tallying) { t.lint(l) })
	}
	for i := range f.Changes {
		c := &f.Changes[i]
		if !Open(c) {
			continue
		}
		for _, s := range c.Numbers {
			known(s.Pair(), func(t *tallying) { t.note(FailOpen, finding{rest: c.ID}) })
		}
	}
	out := make(map[schema.Pair]Result, len(pairs))
	for p, t := range pairs {
		out[p] = t.result()
	}
	return whole.result(), out
}

// finding identifies what is counted: a change, or a point of a system, not its metrics; rest names anything else.
type finding struct {
	system    schema.System
	key, rest string
}

func findingOf(v *schema.Verdict) finding {
	if v.Change != "" {
		return finding{rest: v.Change}
	}
	return finding{system: v.System(), key: v.Key.String()}
}

// named returns the finding with a name in addition to its point.
func (f finding) named(rest string) finding { f.rest = rest; return f }

type tallying struct {
	on              FailOn
	found           map[Kind]map[finding]int // numbers
	waived          map[string]bool
	graded          int // against a target
	basis           Basis
	evals           map[string]bool // by task: whether something grades it
	met             int
	blind, seen     int // numbers with a history, see [Findings]
	levels          levels
	release, before string // of what was not measured again
}

func newTallying(on FailOn) *tallying {
	return &tallying{on: on, found: map[Kind]map[finding]int{}, waived: map[string]bool{}, levels: levels{},
		evals: map[string]bool{}}
}

// add counts a finding that may fail, unless a decision excuses it.
func (t *tallying) add(kind Kind, f finding, d *schema.Decision) {
	if d.Excuses() && (t.on[kind] || warning(kind)) { // nothing else needs an excuse
		t.waived[d.ID] = true
		t.note(NoteWaived, f)
		return
	}
	t.note(kind, f)
	if d != nil && d.Expired {
		t.note(FailInvalid, expired(d))
	}
}

func expired(d *schema.Decision) finding { return finding{rest: "expired:" + d.ID} }

func (t *tallying) note(kind Kind, f finding) {
	if t.found[kind] == nil {
		t.found[kind] = map[finding]int{}
	}
	t.found[kind][f]++
}

// history counts a verdict against history.
func (t *tallying) history(v *schema.Verdict) {
	switch kind := KindOf(v); {
	case kind == FailInconclusive && !t.on[kind] && insignificant(v): // of no weight
	case kind != "" && kind != NoCase:
		if t.add(kind, findingOf(v), v.Decision); kind == FailNotRemeasured {
			t.release, t.before = v.Release, v.Baseline
		}
	default:
		if note := noteOf(v); note != "" {
			t.note(note, findingOf(v))
		}
	}
	t.eval(v, t.basis.count(v))
}

// noteOf is the kind of note that a verdict against history is, which is no finding; "" for none.
func noteOf(v *schema.Verdict) Kind {
	switch {
	case schema.ReasonIs[schema.ExcludedBy](v.Reason):
		return NoteExcluded
	case v.Outcome == schema.NoBaseline && decidedBy(v, schema.WhyPinned):
		return NotePinned
	case v.Outcome == schema.Improved:
		return NoteImproved
	case v.Outcome == schema.Recovered:
		return NoteRecovered
	case v.Outcome == schema.BelowLimit && worse(v):
		return NoteBelowLimit
	case v.Outcome == schema.NotComparable:
		return NoteNotComparable
	}
	return ""
}

// decidedBy reports whether a reason decided about a change.
func decidedBy(v *schema.Verdict, why schema.Why) bool {
	c, ok := v.Reason.(schema.Change)
	return ok && c.Why == why
}

// worse reports whether a number changed for the worse.
func worse(v *schema.Verdict) bool {
	e, ok := v.Effect.Get()
	return ok && e > 0
}

// eval notes a score, and whether the verdict on it grades it.
func (t *tallying) eval(v *schema.Verdict, graded bool) {
	if _, measured := v.Value.Get(); measured && v.Key.IsEval() {
		t.evals[v.Key.Dataset] = t.evals[v.Key.Dataset] || graded
	}
}

// target counts a verdict against a target.
func (t *tallying) target(v *schema.Verdict) {
	t.levels.count(v)
	t.eval(v, true)
	switch v.Outcome {
	case schema.Pass, schema.Fail, schema.Inconclusive:
		t.graded++
	case schema.NoTarget:
		return // a workload without a target decides nothing
	}
	f := findingOf(v).named(v.Metric + v.Stat + v.Level)
	switch kind := KindOf(v); {
	case schema.ReasonIs[schema.Planned](v.Reason):
		t.add(FailMissing, findingOf(v).named("planned"), v.Decision)
	case v.Outcome == schema.Unattainable:
		t.note(NoteUnattainable, f)
	case kind != "" && kind != NoCase:
		t.add(kind, f, v.Decision)
	case v.Required && v.Outcome == schema.Pass:
		t.met++
	case v.Outcome == schema.Fail:
		t.note(NoteInformational, f)
	}
}

// Open reports whether a change is a regression that an earlier release confirmed, that nobody accepted and that is
// still there.
func Open(c *judge.Change) bool {
	return c.Earlier && c.State == judge.StateOpen && c.Evidence == schema.Confirmed && c.Large()
}

// lint counts a lint.
func (t *tallying) lint(l *lint.Lint) {
	id := finding{rest: string(l.ID) + l.Run + l.Subject}
	switch {
	case l.Decision != nil && l.Decision.Expired:
		t.add(FailInvalid, expired(l.Decision), nil)
	case l.Severity == schema.SevError:
		t.add(FailInvalid, id, l.Decision)
	case l.Severity == schema.SevWarning && l.Decision == nil:
		t.note(NoteLint, id)
	}
}

// result orders the tallies and makes the decision.
func (t *tallying) result() Result {
	t.once()
	b := t.basis
	r := Result{
		Graded: t.graded + b.Compared - b.Open, Basis: b, Level: t.levels.reached(), Release: t.release, Baseline: t.before,
		Blind: t.graded == 0 && (b.Compared == b.Inconclusive || 2*t.blind > t.seen && t.seen > 0),
	}
	maps.DeleteFunc(t.evals, func(_ string, graded bool) bool { return graded })
	r.Waived, r.Evals = slices.Sorted(maps.Keys(t.waived)), slices.Sorted(maps.Keys(t.evals))
	r.Counts = t.counts()
	warns := slices.ContainsFunc(r.Counts, func(c Tally) bool { return warning(c.Kind) })
	switch {
	case slices.ContainsFunc(r.Counts, func(c Tally) bool { return c.Fails }):
		r.Word, r.Exit = Fail, 1
	case r.Graded == 0:
		r.Word, r.Exit = NotGraded, 5
		if t.on[FailUngraded] {
			r.Exit = 1
		}
	case b.Compared == b.Open:
		r.Word = NoBaseline
	case warns || r.Blind:
		r.Word = PassWithWarnings
	default:
		r.Word = Pass
	}
	return r
}

// counts are the tallies in the order of a headline; targets that are met come last.
func (t *tallying) counts() (counts []Tally) {
	for _, kind := range append(FailKinds(), NoteWaived, NoteSameBuild, NoteExcluded, NotePinned, NoteLint,
		NoteUnattainable, NoteInformational, NoteNotComparable, NoteBelowLimit, NoteImproved,
		NoteRecovered) {
		if len(t.found[kind]) == 0 {
			continue
		}
		c := Tally{Kind: kind, N: len(t.found[kind]), Fails: t.on[kind]}
		for f, cells := range t.found[kind] {
			c.Cells += cells
			if kind == FailNotRemeasured && f.key == (schema.Key{}).String() {
				c.Systems++
			}
		}
		counts = append(counts, c)
	}
	if t.met > 0 {
		counts = append(counts, Tally{Kind: NoteMet, N: t.met, Cells: t.met})
	}
	return counts
}

// once counts each change and each point once, under its worst finding; a finding that fails is never hidden behind one
// that does not. A number that shows an earlier change only now is part of that change.
func (t *tallying) once() {
	for f := range t.found[FailOpen] {
		for _, kind := range []Kind{FailConfirmed, FailRunWide, FailSuspected} {
			delete(t.found[kind], f)
		}
	}
	worst := []Kind{FailConfirmed, FailRunWide, FailSuspected, FailInconclusive, NoteSameBuild, NoteWaived, NoteBelowLimit}
	for i, kind := range worst {
		for _, later := range worst[i+1:] {
			if t.on[later] && !t.on[kind] {
				continue
			}
			for f := range t.found[kind] {
				delete(t.found[later], f)
			}
		}
	}
}

// warning reports whether a kind of finding is a warning when it does not fail. Inconclusive findings are only
// counted: as warnings they would mark half of all releases.
func warning(kind Kind) bool {
	switch kind {
	case NoteImproved, NoteRecovered, NoteBelowLimit, NoteInformational, NoteMet, FailInconclusive, FailAbsent:
		return false
	}
	return true
}
