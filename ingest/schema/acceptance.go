package schema

import "slices"

// Acceptance is what a release report and the runtime spec beside the results of a run state about its acceptance.
// It is kept as stated: a gate reads the known issues as waivers, and says so where it decides otherwise.
type Acceptance struct {
	Result      string // "pass" or "fail", as the report decided; "" if no report is there
	Source      string // the report
	Blockers    []Blocker
	KnownIssues []KnownIssue
}

// Result of an acceptance.
const (
	Accepted = "pass"
	Rejected = "fail"
)

// Blocker is one reason for which a report rejects a release.
type Blocker struct {
	Name    string // "evals.meta_ifeval"
	Message string
}

// KnownIssue is a failure that the owner of a model accepts.
type KnownIssue struct {
	Category Category
	Task     string // of an eval or the name of a test; "" for all of the category
	Reason   string
	Source   string // file that states it
}

// Category is the part of an acceptance that a verdict against a target belongs to.
type Category string

// Categories of an acceptance.
const (
	Benchmarks  Category = "benchmarks"
	Evals       Category = "evals"
	Conformance Category = "spec tests" // of the server's interface
)

// IsZero reports whether nothing is stated.
func (a *Acceptance) IsZero() bool {
	return a.Result == "" && len(a.Blockers) == 0 && len(a.KnownIssues) == 0
}

// MetricPassed is the metric of scores that are the share of passed conformance tests. It is a count of all tests, and
// no sample of them.
const MetricPassed = "passed"

// CategoryOf returns the category of a verdict against a target.
func CategoryOf(v *Verdict) Category {
	switch {
	case !v.Key.IsEval():
		return Benchmarks
	case v.Metric == MetricPassed:
		return Conformance
	}
	return Evals
}

// Covers reports whether the issue is about a verdict.
func (k *KnownIssue) Covers(v *Verdict) bool {
	return v.Against == AgainstTarget && CategoryOf(v) == k.Category && (k.Task == "" || k.Task == v.Key.Dataset)
}

// With returns the statements of both; the first decides where both state a result.
func (a Acceptance) With(b Acceptance) Acceptance {
	if a.Result == "" {
		a.Result, a.Source, a.Blockers = b.Result, b.Source, b.Blockers
	}
	for _, k := range b.KnownIssues {
		same := func(has KnownIssue) bool { return has.Category == k.Category && has.Task == k.Task }
		if !slices.ContainsFunc(a.KnownIssues, same) {
			a.KnownIssues = append(slices.Clip(a.KnownIssues), k)
		}
	}
	return a
}
