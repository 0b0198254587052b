package regression

import "math"

// Word is the verdict of a row against its history.
type Word uint8

// Words; the zero Word marks an observation that was not judged.
const (
	Unjudged Word = iota
	Regressed
	Improved
	Inconclusive
	Recovered
	Unchanged
	NoBaseline
	NotComparable
	BelowLimit // significant, and less than what matters
)

// Evidence is whether a change was seen once or again by an independent run.
type Evidence uint8

const (
	NoEvidence Evidence = iota
	Suspected
	Confirmed
)

// Why is the reason of a word.
type Why uint8

const (
	WhyNone           Why = iota
	WhyGate               // passes the gate of the release
	WhyRecheck            // an independent run of the same release saw it again
	WhyAgain              // an earlier release saw it first, this one saw it again
	WhyShift              // because of the run-wide shift of its stratum
	WhyAgainstShift       // beyond the limit, and its own change is opposite to the run-wide shift
	WhyDidNotMove         // within the limit, while its stratum changed
	WhyNotSignificant     // beyond the limit, but not significant among all cells of the release
	WhyNotSeenAgain       // an independent run of the same release did not see it
	WhyHostMoved          // an independent run of the same release saw it again, and its controls moved as well
	WhyRunsDisagree       // a later run of the same release is clearly worse than its first
	WhyBackAgain          // at the level before a confirmed change
	WhyEquivalent         // the interval is within the limit
	WhyWide               // the interval reaches beyond the limit on both sides
	WhyNoRegression       // the interval excludes a regression, and reaches beyond the limit on the other side
	WhyNoImprovement      // the interval excludes an improvement, and reaches beyond the limit on the other side
	WhyTwoModes           // history alternates between two levels
	WhyFirst              // no earlier release in its line has the cell
	WhyOneEach            // all baselines have one release: there is no noise to compare with
	WhyOneMoreRun         // seen again, but the baseline is too short: one more run is needed
	WhyBaseSuspect        // a build that never joins, with the change that its base's newest release already has
	WhyBelowLimit         // significant, and less than what matters
	WhyOtherHost          // seen again on the same host only, while there are others: a run on another one is needed
	WhyConditions         // every earlier observation was made under conditions that change the meaning of the number
)

// large reports whether some run behind an inconclusive word is beyond the limit.
func (w Why) large() bool {
	switch w {
	case WhyShift, WhyAgainstShift, WhyNotSignificant, WhyNotSeenAgain, WhyHostMoved, WhyRunsDisagree, WhyOneEach,
		WhyBaseSuspect:
		return true
	}
	return false
}

// gone reports whether an independent run of the same release takes a suspected change back.
func (w Why) gone() bool { return w == WhyNotSeenAgain || w == WhyHostMoved }

// Row is the judgement of one observation. The baseline is the observation's value minus D. D and SE are on the log
// scale; D is positive for worse.
type Row struct {
	Word     Word
	Evidence Evidence
	Why      Why
	out      bool    // not part of baselines, as far as is known now
	N        int16   // releases behind the baseline
	late     uint16  // releases after its own since which it is not; before them it was
	Finding  int32   // index into Judgement.Findings, or -1
	First    int32   // release that saw the change first, or -1
	Follow   int32   // release + 1 that confirmed this suspected change; negative: did not see it again; 0: none yet
	back     int32   // release + 1 that took it into baselines after all; 0: none
	D        float64 // of what is reported: the independent run's where it confirmed
	SE, Df   float32 // of the gate's test
	P, Q     float32 // of the gate's test, in the direction of the change; NaN when there was none
}

// Excluded reports whether an observation was kept out of baselines when a release had been judged: as a change that
// waited for an independent run, or that an independent run did not see again. What later releases made of it has no
// part in that.
func (j *Judgement) Excluded(t *Table, obs, release int32) bool {
	r := &j.Rows[obs]
	return (r.out || r.back > 0) && release >= t.Obs[obs].Release+int32(r.late) && (r.back == 0 || release < r.back-1)
}

// exclude keeps an observation out of baselines from a release on.
func (r *Row) exclude(own, release int32) {
	if !r.out {
		r.out, r.late, r.back = true, uint16(min(release-own, math.MaxUint16)), 0
	}
}

// readmit takes an observation into baselines again.
func (r *Row) readmit(release int32) {
	if r.out {
		r.out, r.back = false, release+1
	}
}

// Large reports whether an inconclusive row has a change at least as large as the effect that matters, which is worth
// a look or another measurement. Other inconclusive rows have a smaller change and an interval that is too wide.
func (r *Row) Large() bool { return r.Word == Inconclusive && r.Why.large() }

// FindingKind is the kind of a finding.
type FindingKind uint8

const (
	ShiftFinding FindingKind = iota // a stratum changed as a whole
	MixedFinding                    // a stratum changed, but not as a whole: nothing was removed
	RunFinding                      // a system moved as one within its stratum
)

// Finding is one statement about many cells of a release.
type Finding struct {
	Kind     FindingKind
	Release  int32
	Stratum  int32
	System   int32 // of a system's; -1 of a whole stratum's
	Word     Word  // Regressed, Improved, Inconclusive, BelowLimit, Unchanged or NoBaseline
	Evidence Evidence
	Why      Why
	D        float64 // log change of the stratum against its earlier shifts; positive is worse
	SE, Df   float64
	P        float64
	N        int     // earlier releases behind it
	Cells    int     // cells that changed with it
	Agree    float64 // share of cells within the effect that matters of it
	First    int32   // release that saw it first, or -1
}

// Large reports whether an inconclusive shift is at least as large as what matters; see [Row.Large].
func (f *Finding) Large() bool { return f.Word == Inconclusive && f.Why.large() }

// Judgement is the result of [Judge].
type Judgement struct {
	Rows         []Row // parallel to Table.Obs
	Findings     []Finding
	ChangePoints []ChangePoint // in the order of the releases that decided them
	Fits         []Fit         // one a release
	adj          []float64     // parallel to Rows: what later baselines see
}

// Fit describes a release's noise and how well earlier predictions held.
type Fit struct {
	Cells    int       // in the family of tests of the release
	D0       float64   // weight of the common noise, in degrees of freedom; Inf when all cells are alike
	Sd       float64   // typical noise: the geometric mean over strata of s0
	S0       []float64 // typical variance by stratum; NaN where nothing is known
	SumNu    float64   // degrees of freedom of all cells together
	Tested   int       // forward predictions up to this release, of cells with six releases or more
	Shown    Sensitivity
	Exceeded int // of them, how many had two-sided p below .02, of which two in a hundred are expected
}
