package schema

import "strings"

// Reason is why a verdict has its outcome: one of the types of this file, with its numbers. Package words turns it into
// a sentence; a test there fails for a type without words.
type Reason interface {
	// Code returns the reason's name in data files: "not-measured".
	Code() string
}

// Reasons of verdicts against targets.
type (
	// NoTargetFor is a workload that no target covers.
	NoTargetFor struct{}
	// TargetNotMeasured is a workload that a target covers and that was not measured.
	TargetNotMeasured struct{}
	// Planned is a workload of a run's plan without a result.
	Planned struct{}
	// NoNumber is a measurement without a number.
	NoNumber struct {
		Why   string `json:"why,omitempty"`
		Other string `json:"other,omitempty"` // run of the release that has the number
	}
	// MetricNotMeasured is a target on a metric that no tool measures.
	MetricNotMeasured struct {
		Metric string `json:"metric"`
	}
	// AboveCeiling is a throughput target above what its users reach at their own target speed.
	AboveCeiling struct {
		Target      float64 `json:"target"` // tok/s
		Ceiling     float64 `json:"ceiling"`
		User        float64 `json:"user"` // tok/s/user
		Concurrency float64 `json:"concurrency"`
	}
	// Limit compares a number with the limit of its target.
	Limit struct {
		Interval  IntervalFrom `json:"interval"`
		Tolerance float64      `json:"tolerance"`        // relative
		Noise     float64      `json:"noise,omitempty"`  // one standard deviation, relative; 0: unknown
		Runs      int          `json:"runs"`             // measurements
		Chance    bool         `json:"chance,omitempty"` // the interval includes the limit
	}
	// EvalNotRun is a reference score whose task was not run, or was measured in other metrics alone.
	EvalNotRun struct {
		Task     string `json:"task"`
		Metric   string `json:"metric,omitempty"`   // of the reference
		Measured string `json:"measured,omitempty"` // other metrics of the task
	}
	// EvalLimit compares a score with its reference.
	EvalLimit struct {
		Task      string  `json:"task"`
		Tolerance float64 `json:"tolerance"`          // relative
		N         int     `json:"n,omitempty"`        // questions
		Of        int     `json:"of,omitempty"`       // questions of the whole task, if fewer were asked
		Needed    int     `json:"needed,omitempty"`   // questions that would settle it
		Chance    bool    `json:"chance,omitempty"`   // the interval includes the limit
		Relative  bool    `json:"relative,omitempty"` // as of EvalChange
	}
)

// IntervalFrom is the source of the interval of a number that is compared with a limit.
type IntervalFrom string

// Sources of an interval.
const (
	FromNothing IntervalFrom = "single-run" // no interval: fewer than three repeats and no known noise
	FromRepeats IntervalFrom = "repeats"
	FromOwn     IntervalFrom = "noise-own"     // noise of the series' own history
	FromTypical IntervalFrom = "noise-typical" // noise of the same metric on the same device
)

// Reasons of numbers that are not compared.
type (
	// NoSystem is a result without a model or device.
	NoSystem struct{}
	// NoLengths is a result that states no lengths.
	NoLengths struct{}
	// ExcludedBy is a point or run that a decision excludes.
	ExcludedBy struct {
		Why   string `json:"why"`
		Kind  string `json:"kind"`
		By    string `json:"by,omitempty"`
		Other string `json:"other,omitempty"` // run of the release that measured it instead
	}
	// InvalidPoint is a point that its own file marks as invalid.
	InvalidPoint struct {
		Why   string `json:"why,omitempty"`
		Other string `json:"other,omitempty"` // run of the release that measured it instead
	}
	// NotPositive is a value that no measurement can give: see [Measurable].
	NotPositive struct {
		Metric string  `json:"metric"`
		Value  float64 `json:"value"`
	}
	// NotRemeasured is what an earlier release measured, the verdict's baseline, and this one did not.
	NotRemeasured struct {
		Releases int `json:"releases"` // in a row without it, this one included
	}
)

// Change compares a number with the releases before it.
type Change struct {
	Why      Why     `json:"why"`
	Releases int     `json:"releases"`          // in the baseline
	Limit    float64 `json:"limit"`             // least relative change that matters
	Noise    float64 `json:"noise,omitempty"`   // one standard deviation from release to release, relative; 0: unknown
	First    float64 `json:"first,omitempty"`   // value of the release's first run, if a later one is shown; 0: none
	Repeats  int     `json:"repeats,omitempty"` // of one release, that would settle it
	More     int     `json:"more,omitempty"`    // releases that would settle it, if no number of repeats does
	// Differs is what differs in the measurement from the newest release of the baseline, beside a change:
	// "num_prompts 100 → 400"; Build is what differs in the software.
	Differs string `json:"differs,omitempty"`
	Build   string `json:"build,omitempty"`
	// Host is the only one that shows the change, where that keeps it from being confirmed.
	Host string `json:"host,omitempty"`
	// SameBuild is the digest of the image that both ran, beside a change: "digest 0123456789ab".
	SameBuild string `json:"same_build,omitempty"`
	// StatedBuild is the same of a pull request, whose files cannot settle it: the change counts.
	StatedBuild string `json:"stated_build,omitempty"`
	// SameCommit is the commits that both state, where no digest says that what they were built with is the same, too:
	// "commit vllm 1a2b3c". The change counts.
	SameCommit string `json:"same_commit,omitempty"`
	// Conditions that differ from those of the baseline: "ignore_eos true → false".
	Conditions string `json:"conditions,omitempty"`
	// Part is the change that the number is part of, where its group decided.
	Part *PartOf `json:"part,omitempty"`
	// Together is what the runs of several releases show together, where that confirmed a change.
	Together *Together `json:"together,omitempty"`
	// Turns is the paired difference from the baseline, where both were measured in turns.
	Turns *Turns `json:"turns,omitempty"`
}

// OtherClient reports whether another version of the client measured a change: it may have made it.
func (c Change) OtherClient() bool { return strings.Contains(c.Differs, "tool_version ") }

// PartOf is a change of many numbers, with the model and device that they share.
type PartOf struct {
	Model   string  `json:"model,omitempty"`
	Device  string  `json:"device,omitempty"`
	Numbers int     `json:"numbers"`
	Effect  float64 `json:"effect"` // relative, positive is worse
}

// Together is the mean change of several runs against what was before all of them.
type Together struct {
	Runs     int        `json:"runs"`
	Effect   float64    `json:"effect"`   // relative, positive is worse
	Interval [2]float64 `json:"interval"` // of Effect, 95 %
}

// Turns is a paired difference of blocks that a release and its baseline measured in turns.
type Turns struct {
	Baseline string     `json:"baseline"` // release
	Run      string     `json:"run"`      // of the baseline, the first where there are several
	Blocks   int        `json:"blocks"`
	Kept     bool       `json:"kept,omitempty"`   // both servers kept running
	Effect   float64    `json:"effect"`           // relative, positive is worse
	Interval [2]float64 `json:"interval"`         // of Effect, 95 %
	Needed   int        `json:"needed,omitempty"` // blocks that would probably decide; 0: decided, or over 100
	// Outcome and Evidence are what history says without it.
	Outcome  Outcome  `json:"outcome"`
	Evidence Evidence `json:"evidence,omitempty"`
}

// Why is what decided about a change.
type Why int8

// Reasons of a decision about a change.
const (
	WhyNone           Why = iota
	WhyGate               // significant, seen once
	WhyRecheck            // an independent run of the same release saw it again
	WhyAgain              // seen in an earlier release and in this one
	WhyGroup              // with the group of numbers that it is part of
	WhyAgainstGroup       // its own change is opposite to that of its group
	WhyDidNotMove         // while its group changed
	WhyNotSignificant     // beyond the limit, but not significant among all numbers of the release
	WhyNotSeenAgain       // an independent run of the same release did not see it
	WhyRunsDisagree       // a later run of the same release is clearly worse than its first
	WhyBackAgain          // at the level before a confirmed change
	WhyEquivalent         // the interval is within the limit
	WhyWide               // the interval reaches beyond the limit on both sides
	WhyNoRegression       // the interval excludes one; an improvement cannot be excluded
	WhyNoImprovement      // the interval excludes one; a regression cannot be excluded
	WhyBelowLimit         // significant, and less than the effect that matters
	WhyNoBaseline         // no earlier release in its line has it
	WhyNoBaselineLine     // a build of channel pr or dev without a line to compare with
	WhyPinned
	WhyOneEach     // the baseline is one release: there is no noise to compare with
	WhyOneMoreRun  // seen again, but the baseline is too short
	WhyOtherHost   // seen again on the same host only, while there are others
	WhyBaseSuspect // a build of a pull request, with the change that its base already has
	WhyConditions  // every earlier value was measured under conditions that change its meaning
	WhyInTurns     // measured in turns with the baseline
	// WhyTurnsOpen is a measurement in turns whose blocks do not decide, where history has one value or none to offer.
	WhyTurnsOpen
)

var whyNames = [...]string{
	"none", "gate", "recheck", "again", "group", "against-group", "did-not-move", "not-significant",
	"not-seen-again", "runs-disagree", "back-again", "equivalent", "wide", "no-regression",
	"no-improvement", "below-limit", "no-baseline", "no-baseline-line", "pinned", "one-each",
	"one-more-run", "other-host", "base-suspect", "conditions", "in-turns", "in-turns-open",
}

// String returns the code in data files.
func (w Why) String() string { return whyNames[w] }

// MarshalText implements [encoding.TextMarshaler].
func (w Why) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// EvalChange compares a score with the releases before it.
type EvalChange struct {
	Test     EvalTest `json:"test"`
	Why      Why      `json:"why,omitempty"`      // of a large inconclusive change; else ""
	Releases int      `json:"releases,omitempty"` // in the baseline
	Limit    float64  `json:"limit"`              // least change that matters, a share
	N        int      `json:"n,omitempty"`        // questions
	Lost     int      `json:"lost,omitempty"`     // answers that were right before
	Gained   int      `json:"gained,omitempty"`
	First    float64  `json:"first,omitempty"`  // score of the release's first run, if a later one is shown
	Needed   int      `json:"needed,omitempty"` // questions that could show a change of Limit
	// Conditions state how the questions differ from those before.
	Conditions string `json:"conditions,omitempty"`
	// Relative says that the change is relative to the score before, which has no end: a perplexity's.
	Relative bool `json:"relative,omitempty"`
}

// EvalTest is the test with which a score was compared.
type EvalTest string

// Tests of scores.
const (
	TestNone     EvalTest = "no-baseline"
	TestPaired   EvalTest = "paired"    // McNemar: the same questions
	TestGate     EvalTest = "eval-gate" // the mean of three releases or more
	TestUnpaired EvalTest = "unpaired"  // Newcombe
	TestByError  EvalTest = "by-error"  // stated standard errors
	TestNoError  EvalTest = "no-error"  // no error is stated, nor questions that would give one
	TestPrompt   EvalTest = "prompt"    // other questions
)

// Code implements Reason.
func (NoTargetFor) Code() string       { return "no-target" }
func (TargetNotMeasured) Code() string { return "not-measured" }
func (Planned) Code() string           { return "planned" }
func (NoNumber) Code() string          { return "no-number" }
func (MetricNotMeasured) Code() string { return "metric-not-measured" }
func (AboveCeiling) Code() string      { return "above-ceiling" }
func (r Limit) Code() string           { return string(r.Interval) }
func (EvalNotRun) Code() string        { return "eval-not-run" }
func (EvalLimit) Code() string         { return "eval-limit" }
func (NoSystem) Code() string          { return "no-system" }
func (NoLengths) Code() string         { return "no-lengths" }
func (ExcludedBy) Code() string        { return "excluded" }
func (InvalidPoint) Code() string      { return "invalid-point" }
func (NotPositive) Code() string       { return "not-positive" }
func (NotRemeasured) Code() string     { return "not-remeasured" }
func (r Change) Code() string          { return r.Why.String() }

// Code returns what decided if that was another run or release; else how the score was compared.
func (r EvalChange) Code() string {
	if r.Why != WhyNone && r.Why != WhyNotSignificant {
		return r.Why.String()
	}
	return string(r.Test)
}

// ReasonIs reports whether a reason is of a type.
func ReasonIs[R Reason](r Reason) bool {
	_, is := r.(R)
	return is
}

// MeasuredBy returns the run of the release that has the number which a verdict is without; "" for none.
func MeasuredBy(r Reason) string {
	switch r := r.(type) {
	case NoNumber:
		return r.Other
	case ExcludedBy:
		return r.Other
	case InvalidPoint:
		return r.Other
	}
	return ""
}

// Decision is the decision of a person about a verdict, a lint, a run or a change.
type Decision struct {
	ID      string       `json:"id"`
	Kind    DecisionKind `json:"kind"`
	Reason  string       `json:"reason"`
	Owner   string       `json:"owner,omitempty"`
	Expires string       `json:"expires,omitempty"` // YYYY-MM-DD, or "" for never
	Expired bool         `json:"expired"`           // it is no longer valid
}

// DecisionKind is the effect of a decision.
type DecisionKind string

// Kinds of decisions.
const (
	Pin        DecisionKind = "pin"        // a new level starts at the release
	Dismiss    DecisionKind = "dismiss"    // no new level starts at the release
	Accept     DecisionKind = "accept"     // the change is wanted: it does not fail, and a new level starts
	Waive      DecisionKind = "waive"      // the verdict or lint does not fail
	Invalidate DecisionKind = "invalidate" // the run or point is excluded
	Supersede  DecisionKind = "supersede"  // the run is replaced by another
)

// Excuses reports whether it keeps a finding from failing: a valid waiver or acceptance. Pins and dismissals explain
// levels and excuse nothing.
func (d *Decision) Excuses() bool {
	return d != nil && !d.Expired && (d.Kind == Waive || d.Kind == Accept)
}
