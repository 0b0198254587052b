package schema

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
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
	Change   string   // id of the change that it is part of
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

// Outcome is the word of a verdict. The zero Outcome is of what was not judged.
type Outcome int8

// Outcomes. The first six are against a target, the rest against history; inconclusive occurs in both.
const (
	NoOutcome Outcome = iota
	Pass
	Fail
	Inconclusive // the data allow both answers
	NotMeasured  // expected, and without a number
	NoTarget
	Unattainable // a target that other targets of the same workload rule out

	Regressed
	Improved
	Recovered  // back at the level before a confirmed regression
	BelowLimit // a significant change of less than what matters
	Unchanged
	NoBaseline
	NotComparable
	Excluded // the number does not count

	Warning // of a decision about many: neither a plain pass nor a failure
)

var outcomeNames = [...]string{
	"", "pass", "fail", "inconclusive", "missing", "no-target", "unattainable", "regressed", "improved", "recovered",
	"below-limit", "unchanged", "no-baseline", "not-comparable", "excluded", "warning",
}

// String returns the word as it is shown and stored.
func (o Outcome) String() string { return outcomeNames[o] }

// Words is the outcome as people read it.
func (o Outcome) Words() string {
	if o == BelowLimit {
		return "below the limit"
	}
	return strings.ReplaceAll(o.String(), "-", " ")
}

// MarshalText implements [encoding.TextMarshaler].
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Evidence is whether a change was seen once, or again by an independent run. The zero Evidence is of what is none.
type Evidence int8

// Kinds of evidence.
const (
	NoEvidence Evidence = iota
	Suspected           // seen once
	Confirmed           // an independent run saw it again
)

var evidenceNames = [...]string{"", "suspected", "confirmed"}

// String returns the word as it is shown and stored.
func (e Evidence) String() string { return evidenceNames[e] }

// MarshalText implements [encoding.TextMarshaler].
func (e Evidence) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Against is what a verdict compares a number with.
type Against string

// Kinds of comparisons.
const (
	AgainstTarget  Against = "target"
	AgainstHistory Against = "history"
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

// Acceptance is what a release report and the runtime spec beside the results of a run state about its acceptance.
// It is kept as stated: a gate reads the known issues as waivers, and says so where it decides otherwise.
type Acceptance struct {
	Result      string       `json:"result,omitzero"` // "pass" or "fail", as the report decided; "" if no report is there
	Source      string       `json:"source,omitzero"` // the report
	Blockers    []Blocker    `json:"blockers,omitempty"`
	KnownIssues []KnownIssue `json:"known_issues,omitempty"`
}

// Result of an acceptance.
const (
	Accepted = "pass"
	Rejected = "fail"
)

// Blocker is one reason for which a report rejects a release.
type Blocker struct {
	Name    string `json:"name,omitzero"` // "evals.meta_ifeval"
	Message string `json:"message,omitzero"`
}

// KnownIssue is a failure that the owner of a model accepts.
type KnownIssue struct {
	Category Category `json:"category,omitzero"`
	Task     string   `json:"task,omitzero"` // of an eval or the name of a test; "" for all of the category
	Reason   string   `json:"reason,omitzero"`
	Source   string   `json:"source,omitzero"` // file that states it
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

// Interleaved states that a run was measured in turns with another one, on the same device: blocks of the same points,
// one of each run. The zero value is a run by itself.
type Interleaved struct {
	With   string `json:"with" yaml:"with,omitempty"`     // id of the other run
	Side   string `json:"side" yaml:"side,omitempty"`     // SideBaseline or SideCandidate
	Starts string `json:"starts" yaml:"starts,omitempty"` // of the servers: StartsFresh or StartsKept
	Blocks int    `json:"-" yaml:"blocks,omitempty"`      // planned
}

// Words of an interleaved run.
const (
	SideBaseline  = "baseline" // this run's server is what the other one's is compared with
	SideCandidate = "candidate"
	StartsFresh   = "fresh" // both servers started again for each block
	StartsKept    = "kept"  // both kept running
)

// IsZero reports a run by itself.
func (i Interleaved) IsZero() bool { return i.With == "" }

// IsBaseline reports that the other run is compared with this one.
func (i Interleaved) IsBaseline() bool { return i.Side == SideBaseline }

// IsKept reports that both servers kept running.
func (i Interleaved) IsKept() bool { return i.Starts == StartsKept }

// TurnSide is what one run of a pair in turns states about when, where and of what it was measured. What is empty is
// unknown.
type TurnSide struct {
	Start, End     time.Time
	Host           string
	Mesh, Firmware string
	Chips          int
	Build          Build
}

// TurnSideOf is what the facts of a run state, but for its times. setting is that of its manifest.
func TurnSideOf(d Device, s Stack, setting map[string]string) TurnSide {
	started := setting["server"]
	if started == "" && s.Digest+s.Image != "" {
		started = strings.TrimSpace(cmp.Or(s.Digest, s.Image) + " " + setting["image_args"])
	}
	return TurnSide{
		Host: setting["host"], Mesh: d.Mesh, Firmware: d.Firmware, Chips: d.Chips,
		Build: Build{Engine: s.Engine, Version: s.Version, Digest: s.Digest, Commits: s.Commits, Started: started},
	}
}

// Build is what a run states of the software that it measured.
type Build struct {
	Engine, Version, Digest string
	Commits                 map[string]string // by component
	Started                 string            // the command line, the image with its arguments, or the address
}

// Mismatch is why a pair in turns decides nothing. A and B are what is stated twice: by the baseline and by the
// candidate, or by the runs of a release and by the run of the pair that names it.
type Mismatch struct {
	Kind    MismatchKind
	Fact    string // that differs, such as "host"
	A, B    string
	Release string // of [MismatchBuild]: whose build the pair did not measure
}

// MismatchKind is a kind of mismatch.
type MismatchKind string

// Kinds of mismatches.
const (
	MismatchPartner MismatchKind = "partner" // the other run is not there, or does not name this one
	MismatchTimes   MismatchKind = "times"   // one run ended before the other began: they took no turns
	MismatchPlace   MismatchKind = "place"   // they were measured on two machines
	MismatchLoad    MismatchKind = "load"    // they had other loads
	MismatchSame    MismatchKind = "same"    // both state the same build: there is nothing to compare
	MismatchBuild   MismatchKind = "build"   // the release that a run names states another build
)

// Mismatched returns why two runs were not measured in turns on one machine, or not of two builds; nil where nothing
// that they state says so.
func Mismatched(baseline, candidate TurnSide) *Mismatch {
	a, b := baseline, candidate
	if known := !a.Start.IsZero() && !b.Start.IsZero() && !a.End.IsZero() && !b.End.IsZero(); known &&
		(a.End.Before(b.Start) || b.End.Before(a.Start)) {
		return &Mismatch{Kind: MismatchTimes, A: span(a), B: span(b)}
	}
	for _, f := range []struct{ name, a, b string }{
		{"host", a.Host, b.Host}, {"mesh", a.Mesh, b.Mesh}, {"firmware", a.Firmware, b.Firmware},
		{"chips", count(a.Chips), count(b.Chips)},
	} {
		if f.a != "" && f.b != "" && f.a != f.b {
			return &Mismatch{Kind: MismatchPlace, Fact: f.name, A: f.a, B: f.b}
		}
	}
	fact, _, _ := a.Build.Differs(b.Build)
	if fact == "" && a.Build.Started != "" && a.Build.Started == b.Build.Started {
		return &Mismatch{Kind: MismatchSame, A: a.Build.Started, B: b.Build.Started}
	}
	return nil
}

func span(s TurnSide) string {
	return s.Start.UTC().Format(time.DateTime) + " to " + s.End.UTC().Format(time.DateTime)
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// Differs names the first fact that both builds state, differently; "" where nothing that they state differs. How a
// server was started is not among them: a build may be started at another port.
func (b Build) Differs(o Build) (fact, is, was string) {
	if b.Engine != "" && o.Engine != "" && !strings.EqualFold(b.Engine, o.Engine) {
		return "engine", b.Engine, o.Engine
	}
	if v, w := plainVersion(b.Version), plainVersion(o.Version); v != "" && w != "" && v != w {
		return "version", b.Version, o.Version
	}
	if b.Digest != "" && o.Digest != "" && b.Digest != o.Digest {
		return "digest", b.Digest, o.Digest
	}
	for _, name := range slices.Sorted(maps.Keys(b.Commits)) {
		v, w := b.Commits[name], o.Commits[name]
		if v != "" && w != "" && !strings.HasPrefix(v, w) && !strings.HasPrefix(w, v) {
			return "commit of " + name, v, w
		}
	}
	return "", "", ""
}

// OtherBuild returns how the run of a pair differs from every other run of the release that it names; nil where one of
// them has nothing that contradicts it, or where there is none.
func OtherBuild(pair Build, release string, others []Build) *Mismatch {
	var first *Mismatch
	for _, o := range others {
		fact, is, was := o.Differs(pair)
		if fact == "" {
			return nil
		}
		if first == nil {
			first = &Mismatch{Kind: MismatchBuild, Fact: fact, A: is, B: was, Release: release}
		}
	}
	return first
}

// plainVersion is a version without what one source writes and another leaves out: a v before it, the build behind it.
func plainVersion(v string) string {
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "v"), "+")
	return v
}
