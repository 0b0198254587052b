package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Verdict is one judgement of one number, against a target or against history.
type Verdict struct {
	ID       string // stable: see [VerdictID]
	Run      string
	Release  string
	Model    string
	Device   string
	Key      Key
	Metric   string
	Stat     string
	Against  Against
	Level    string // of a target
	Required bool   // of a target: by its priority, or by the model's declared status
	Outcome  Outcome
	Evidence Evidence // of regressed and improved
	Large    bool     // inconclusive with an effect beyond what matters
	Cause    Cause
	Value    Number
	Ref      Number      // the limit, or the baseline
	Effect   Number      // signed relative change; positive is worse; of evals in percentage points / 100
	Interval *[2]float64 // of Effect, 95 %
	N        int         // measurements behind Value
	Reason   Reason

	Impl, Def string
	Baseline  string // newest release of the baseline, or ""
	First     string // earlier release that saw the change first, or ""
	P, Q      Number // one-sided, in the direction of the change; q over the cells of the release
	Follow    Follow
	Decision  *Decision // of a person about this verdict, or nil
}

// System returns the model, implementation and device of the verdict.
func (v *Verdict) System() System { return System{v.Model, v.Device, v.Impl} }

// Pair returns the model and device of the verdict.
func (v *Verdict) Pair() Pair { return Pair{v.Model, v.Device} }

// OfSystem reports whether a verdict is about a whole system instead of one of its points.
func (v *Verdict) OfSystem() bool { return v.Key.String() == (Key{}).String() }

// Pair is a model on a device, for which a release is signed.
type Pair struct{ Model, Device string }

// Selected reports whether a model and device select the pair; an empty name selects all. The case of device names is
// ignored.
func (p Pair) Selected(model, device string) bool {
	return (model == "" || p.Model == model) && (device == "" || SameDevice(p.Device, device))
}

// System is a model on a device under one implementation.
type System struct{ Model, Device, Impl string }

// Outcome is the word of a verdict.
type Outcome string

// Outcomes. The first six are against a target, the rest against history; inconclusive occurs in both.
const (
	Pass         Outcome = "pass"
	Fail         Outcome = "fail"
	Inconclusive Outcome = "inconclusive" // the data allow both answers
	NotMeasured  Outcome = "missing"      // expected, and without a number
	NoTarget     Outcome = "no-target"
	Unattainable Outcome = "unattainable" // a target that other targets of the same workload rule out

	Regressed     Outcome = "regressed"
	Improved      Outcome = "improved"
	Recovered     Outcome = "recovered"   // back at the level before a confirmed regression
	BelowLimit    Outcome = "below-limit" // a significant change of less than what matters
	Unchanged     Outcome = "unchanged"
	NoBaseline    Outcome = "no-baseline"
	NotComparable Outcome = "not-comparable"
	Excluded      Outcome = "excluded" // the number does not count
)

// Evidence is whether a change was seen once or again.
type Evidence string

// Confirmed is a change that an independent run saw again; a suspected one was seen once.
const (
	Confirmed Evidence = "confirmed"
	Suspected Evidence = "suspected"
)

// Against is what a verdict compares a number with.
type Against string

// Kinds of comparisons.
const (
	AgainstTarget  Against = "target"
	AgainstHistory Against = "history"
)

// Cause groups verdicts that have one cause: a shift of a whole device, a run, or a point.
type Cause struct {
	Kind CauseKind
	ID   string
}

// String returns the cause in the form of data files: "shift:0a1b2c3d4e5f"; "" for none.
func (c Cause) String() string {
	if c.Kind == "" {
		return ""
	}
	return string(c.Kind) + ":" + c.ID
}

// CauseKind is what changed.
type CauseKind string

// Kinds of causes.
const (
	CauseShift CauseKind = "shift" // all numbers of a metric on a device
	CauseRun   CauseKind = "run"   // more than half of the points of a system
	CausePoint CauseKind = "point"
)

// Follow is what a later release showed of a change that was seen once.
type Follow struct {
	Release string
	Again   bool // it was seen again
}

// VerdictID returns the stable id of a verdict: 12 hex digits of what is judged and against what, without values, so
// that a decision about it survives a re-run.
func VerdictID(release, baseline string, p Pair, k Key, metric, stat string, against Against) string {
	b := make([]byte, 0, 256) // on the stack: millions are made
	for _, part := range [...]string{release, baseline, p.Model, p.Device} {
		b = append(append(b, part...), 0)
	}
	b = append(k.appendTo(b), 0)
	b = append(append(append(append(b, metric...), 0), stat...), 0)
	sum := sha256.Sum256(append(b, against...))
	return hex.EncodeToString(sum[:6])
}

// evalTask is the task of keys that name an eval; the dataset is the eval's name.
const evalTask = "eval"

// EvalKey returns the key of verdicts on an eval.
func EvalKey(s *Score) Key {
	k := Key{Task: evalTask, Dataset: s.Task}
	if s.Filter != "" && s.Filter != "none" {
		k.Dims = map[string]string{"filter": strings.TrimPrefix(s.Filter, FilterMark)}
	}
	return k
}

// IsEval reports whether a key names an eval.
func (k Key) IsEval() bool { return k.Task == evalTask }

// Measurable reports whether a value can be a latency or a rate: above zero, and between 1e-100 and 1e100. Other
// values mean a damaged file, and differences of their logarithms would overflow in later computations.
func Measurable(v float64) bool {
	const decades = 1e100
	return v >= 1/decades && v <= decades
}
