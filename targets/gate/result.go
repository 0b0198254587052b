package gate

import (
	"maps"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/gate/lint"
	"github.com/ttreport/ttreport/targets/judge"
)

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
	// Compared counts the numbers that have a history, Early those that have a single earlier value, which tells nothing;
	// Level is the level of targets that is reached, see [NoLevel].
	// Unchanged are those of Compared whose interval lies within the limit.
	Compared  int      `json:",omitempty"`
	Unchanged int      `json:",omitempty"`
	Early     int      `json:",omitempty"`
	Open      int      `json:",omitempty"` // numbers known from blocks of a pair alone, which do not decide
	Level     string   `json:",omitempty"`
	Evals     []string `json:",omitempty"` // tasks with a score that no reference and no earlier score grades
	Last      string   `json:",omitempty"` // of NotMeasured: the last release that measured it
	// Newer are runs that are newer than what is judged and no part of it; Late are those of its runs, of Runs, that began
	// a day or more after the first. See [Gate.Review].
	Newer []Outside `json:",omitempty"`
	Late  int       `json:",omitempty"`
	Runs  int       `json:",omitempty"`
	// Release is what is judged and Baseline the release before it, where that measured what this one did not.
	Release  string `json:",omitempty"`
	Baseline string `json:",omitempty"`
}

// Tally counts one kind of finding.
type Tally struct {
	Kind  Kind
	N     int // points, for changes; else findings
	Cells int // numbers behind them
	Fails bool
	// Systems are those of N that are a whole model on a device, of which nothing was measured again.
	Systems int `json:",omitempty"`
}

// Findings are the input of a decision.
type Findings struct {
	Targets, History []schema.Verdict
	Shifts           []judge.Shift
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
	both := func(p schema.Pair, do func(*tallying)) {
		do(whole)
		if pairs[p] == nil {
			pairs[p] = newTallying(on)
		}
		do(pairs[p])
	}
	for i := range f.History {
		v := &f.History[i]
		both(v.Pair(), func(t *tallying) { t.history(v) })
	}
	for i := range f.Targets {
		v := &f.Targets[i]
		both(v.Pair(), func(t *tallying) { t.target(v) })
	}
	for i := range f.Lints {
		l := &f.Lints[i]
		for _, p := range l.Pairs() {
			if whole.lint(l, p); pairs[p] != nil {
				pairs[p].lint(l, p)
			}
		}
	}
	out := make(map[schema.Pair]Result, len(pairs))
	for p, t := range pairs {
		out[p] = t.result()
	}
	return whole.result(), out
}

// finding identifies what is counted: a point of a system, not its metrics; rest names anything else.
type finding struct {
	system    schema.System
	key, rest string
}

func findingOf(v *schema.Verdict) finding { return finding{system: v.System(), key: v.Key.String()} }

// named returns the finding with a name in addition to its point.
func (f finding) named(rest string) finding { f.rest = rest; return f }

type tallying struct {
	on               FailOn
	found            map[Kind]map[finding]int // numbers
	waived           map[string]bool
	compared, graded int
	told, unchanged  int             // of those compared: not inconclusive; of these the unchanged
	early            int             // beside one earlier value, see [oneEach]
	open             int             // see [turnsOpen]
	evals            map[string]bool // by task: whether something grades it
	met              int
	levels           levels
	release, before  string // of what was not measured again
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
	case schema.ReasonIs[schema.ExcludedBy](v.Reason):
		t.note(NoteExcluded, findingOf(v))
	case v.Outcome == schema.NoBaseline:
		if c, ok := v.Reason.(schema.Change); ok && c.Why == schema.WhyPinned {
			t.note(NotePinned, findingOf(v))
		}
	case v.Outcome == schema.Improved || v.Outcome == schema.Recovered:
		t.note(NoteImproved, findingOf(v))
	case v.Outcome == schema.BelowLimit && worse(v):
		t.note(NoteBelowLimit, findingOf(v))
	case v.Outcome == schema.NotComparable:
		t.note(NoteNotComparable, findingOf(v))
	}
	switch v.Outcome {
	case schema.Regressed, schema.Improved, schema.Inconclusive, schema.Recovered, schema.BelowLimit, schema.Unchanged:
		switch {
		case oneEach(v):
			t.early++
		case turnsOpen(v):
			t.open++
		case v.Outcome == schema.Inconclusive:
			t.compared++
		default:
			t.compared++
			if t.told++; v.Outcome == schema.Unchanged {
				t.unchanged++
			}
		}
		t.eval(v, true)
	default:
		if oneEach(v) {
			t.early++
		}
		t.eval(v, false)
	}
}

// oneEach reports whether a number was only laid beside one earlier value, which shows no noise: nothing can be told
// from chance, whatever the number is.
func oneEach(v *schema.Verdict) bool {
	c, ok := v.Reason.(schema.Change)
	return ok && c.Why == schema.WhyOneEach
}

// turnsOpen reports whether a number is known from blocks alone, and they do not decide.
func turnsOpen(v *schema.Verdict) bool {
	c, ok := v.Reason.(schema.Change)
	return ok && c.Why == schema.WhyTurnsOpen
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

// lint counts a lint, of one of the models and devices that it is about.
func (t *tallying) lint(l *lint.Lint, of schema.Pair) {
	id := finding{rest: string(l.ID) + l.Run + l.Subject}
	switch {
	case l.Decision != nil && l.Decision.Expired:
		t.add(FailInvalid, expired(l.Decision), nil)
	case l.Severity == schema.SevError:
		t.add(FailInvalid, id, l.Decision)
	case l.ID == lint.IDOpenRegression:
		t.add(FailOpen, id.named(of.Model+" "+of.Device+openName(l)), l.Decision)
	case l.Severity == schema.SevWarning && l.Decision == nil:
		t.note(NoteLint, id)
	}
}

// result orders the tallies and makes the decision.
func (t *tallying) result() Result {
	t.once()
	r := Result{
		Graded: t.graded + t.compared, Compared: t.compared, Unchanged: t.unchanged, Early: t.early, Open: t.open,
		Level: t.levels.reached(), Release: t.release, Baseline: t.before,
	}
	r.Waived, r.Evals = slices.Sorted(maps.Keys(t.waived)), t.ungraded()
	fails, warns := false, false
	for _, kind := range append(FailKinds(), noteKinds()...) {
		n := len(t.found[kind])
		if n == 0 {
			continue
		}
		c := Tally{Kind: kind, N: n, Fails: t.on[kind]}
		for f, cells := range t.found[kind] {
			c.Cells += cells
			if kind == FailNotRemeasured && f.key == (schema.Key{}).String() {
				c.Systems++
			}
		}
		fails, warns = fails || c.Fails, warns || warning(kind)
		r.Counts = append(r.Counts, c)
	}
	if t.met > 0 {
		r.Counts = append(r.Counts, Tally{Kind: NoteMet, N: t.met, Cells: t.met})
	}
	switch {
	case fails:
		r.Word, r.Exit = Fail, 1
	case r.Graded == 0:
		r.Word, r.Exit = NotGraded, 5
		if t.on[FailUngraded] {
			r.Exit = 1
		}
	case t.compared == 0:
		r.Word = NoBaseline
	case warns || t.told == 0 && t.graded == 0:
		r.Word = PassWithWarnings
	default:
		r.Word = Pass
	}
	return r
}

// ungraded lists the tasks with a score that nothing grades.
func (t *tallying) ungraded() (tasks []string) {
	for task, graded := range t.evals {
		if !graded {
			tasks = append(tasks, task)
		}
	}
	slices.Sort(tasks)
	return tasks
}

// once counts each point once, under its worst finding; a finding that fails is never hidden behind one that does
// not.
func (t *tallying) once() {
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
	case NoteImproved, NoteBelowLimit, NoteInformational, FailInconclusive, FailAbsent:
		return false
	}
	return true
}
