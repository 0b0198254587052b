package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Verdict is one judgement of one number against a target or against history.
type Verdict struct {
	ID       string // stable: see [VerdictID]
	Run      string
	Release  string
	Model    string
	Device   string
	Key      Key
	Metric   string
	Stat     string
	Against  string // target or history
	Level    string // of a target
	Required bool   // of a target: the level is one that the model's declared status promises
	Word     string // the verdict: one of the constants below
	Evidence string // confirmed or probable, for worse and better
	Cause    string
	Value    Number
	Ref      Number      // the limit, or the baseline
	Effect   Number      // signed relative change; positive is worse; of evals in percentage points / 100
	Interval *[2]float64 // of Effect, 95 %
	N        int         // measurements behind Value
	Reason   Reason

	Impl, Def string
	Baseline  string // newest release of the baseline, or ""
	First     string // release that saw the change first, when this one is not it
	P, Q      Number // one-sided, in the direction of the change; q over the cells of the release
	Follow    Follow
	Decision  *Decision // of a person, when one speaks of this verdict
}

// Follow is what a later release said of a change that was seen once.
type Follow struct {
	Release string
	Again   bool // it was seen again
}

// Decision is what a person said of a verdict, a lint, a run or a change, and answers for.
type Decision struct {
	ID      string
	Kind    string // pin, dismiss, accept, waive, invalidate or supersede
	Reason  string
	Owner   string
	Expires string // YYYY-MM-DD, or "" for never
	Expired bool   // it no longer holds
}

// Excuses reports whether it keeps a finding from failing: a waiver or an acceptance that holds. Pins and dismissals say why a level
// is where it is, and excuse nothing.
func (d *Decision) Excuses() bool {
	return d != nil && !d.Expired && (d.Kind == "waive" || d.Kind == "accept")
}

// Lint is something that makes numbers of a release untrustworthy, whatever they are.
type Lint struct {
	ID       string   // of the check: "few-items"
	Severity Severity // error (fails a gate that asks for valid numbers), warning or note
	Release  string
	Run      string
	Model    string
	Device   string
	Subject  string // the workload, task, image … it speaks of
	Count    int    // how many alike it stands for, itself included
	Reason   Reason
	Decision *Decision
}

// Verdict words. The first six are against a target, the next seven against history.
const (
	Pass         = "pass"
	Fail         = "fail"
	Inconclusive = "inconclusive"
	MissingWord  = "missing"
	Ungraded     = "ungraded"
	Impossible   = "impossible"

	Worse         = "worse"
	BetterWord    = "better"
	Watch         = "watch"
	Recovered     = "recovered"
	Same          = "same"
	Noisy         = "noisy"
	Insufficient  = "insufficient"
	NotComparable = "not-comparable"
	Invalid       = "invalid"
)

// What a verdict is against.
const (
	AgainstTarget  = "target"
	AgainstHistory = "history"
)

// Reason is why a verdict is what it is: a code and its numbers. Package words turns it into a sentence, the same one
// on every surface.
type Reason struct {
	Code string
	Args map[string]string
}

// VerdictID is the stable name of a verdict: 12 hex digits of what is judged and against what, free of values, so that
// a decision of a person about it survives a re-run.
func VerdictID(release, baseline, model, device string, k Key, metric, stat, against string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{release, baseline, model, device, k.String(), metric, stat, against}, "\x00")))
	return hex.EncodeToString(sum[:6])
}
