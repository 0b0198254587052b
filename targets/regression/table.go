package regression

// Table is what is judged.
type Table struct {
	Releases []Release // in order; a release knows nothing of later ones
	Strata   int       // how many strata the cells name
	Cells    []Cell
	Obs      []Obs // those of one cell next to each other, in release order, at most one a release
}

// Release says what a release may do.
type Release struct {
	// Joins reports whether later releases take it into their baselines: a pull request's build is judged and never joins.
	Joins bool
}

// Cell is one metric of one workload on one system, within one line of releases.
type Cell struct {
	Stratum    int32   // device and metric family: cells that share a shift and a typical noise
	Point      int32   // the workload on its system: cells of one point fail together
	First, End int32   // its observations
	Delta      float64 // least change that matters, as ln(1 + relative effect)
}

// Obs is what one release says of a cell.
type Obs struct {
	Release int32
	Cond    int32   // comparability class, an index into the caller's conditions; see [Rules.Blocks]
	Z       float64 // ±ln of the value, larger is worse: the mean over the repeats of the release's first run
	Z2      float64 // likewise over its later runs, which are independent of the first; counts only when K2 > 0
	K, K2   int16   // repeats behind Z and Z2
	SS      float32 // squared deviations of repeats from the means of their runs, summed
	SE      float32 // least noise of the value by itself, relative: its requests' standard error, the rounding it was stored with; 0 when unknown
	R2      uint8   // runs behind Z2
	Pin     bool    // a person says that a new level starts here
	Dismiss bool    // a person says that no new level starts here
	Accept  bool    // a person wants the change that is seen here: it is judged, and then the new level holds
}

// mean is the observation as a later baseline sees it, before shifts are removed: all repeats of all runs.
func (o *Obs) mean() float64 {
	if o.K2 == 0 {
		return o.Z
	}
	return (float64(o.K)*o.Z + float64(o.K2)*o.Z2) / float64(o.K+o.K2)
}

// Rules are the numbers that a person may set.
type Rules struct {
	FDR      float64 // false discovery rate over the cells of a release
	ShiftFDR float64 // likewise over its run-wide shifts: stricter, since one shift stands for hundreds of cells
	Confirm  float64 // size of the test of the independent run after three releases; it shrinks as 3/n
	Odds     float64 // that a change needs against chance, after both runs
	Window   int     // releases in a baseline at most
	Floor    float64 // least noise that is believed, relative
	MinCells int     // of a stratum, for a run-wide shift to be removed
	MinPoint int     // distinct points of a stratum, likewise
	Agree    float64 // share of a stratum's cells that must lie within the effect that matters of the shift
	// Blocks reports whether two comparability classes differ in something that changes the meaning of a number. Nil: never.
	Blocks func(a, b int32) bool
	// Seed of a cell's permutations; nil takes the cell's index. Callers give a hash of the series' name, so that the order of
	// input changes nothing.
	Seed func(cell int) uint64
}

// DefaultRules are those of the method page.
func DefaultRules() Rules {
	return Rules{FDR: FDR, ShiftFDR: .02, Confirm: .01, Odds: 2, Window: 20, Floor: .003, MinCells: 20, MinPoint: 8, Agree: .7}
}

// Word is a verdict against history.
type Word uint8

// The words; the zero Word marks an observation that was not judged.
const (
	Unjudged Word = iota
	Regressed
	Improved
	Inconclusive
	Recovered
	Unchanged
	NoBaseline
	NotComparable
)

// Evidence says whether a change was seen once or again by an independent run.
type Evidence uint8

const (
	NoEvidence Evidence = iota
	Suspected
	Confirmed
)

// Why says how a row came to its word.
type Why uint8

const (
	WhyNone           Why = iota
	WhyGate               // passes the gate of the release
	WhyRecheck            // an independent run of the same release saw it again
	WhyAgain              // this release saw again what an earlier one saw first
	WhyShift              // because of the run-wide shift of its stratum
	WhyAgainstShift       // beyond the limit, and its own change stands against the run-wide shift
	WhyDidNotMove         // within the limit, while its stratum moved
	WhyNotSignificant     // beyond the limit, within the noise of the release's family
	WhyNotSeenAgain       // an independent run of the same release did not see it
	WhyRunsDisagree       // a later run of the same release is clearly worse than its first
	WhyBackAgain          // at the level before a confirmed change
	WhyEquivalent         // the interval lies inside the limit
	WhyWide               // the interval reaches beyond the limit on both sides
	WhyNoRegression       // the interval excludes a regression, and reaches beyond the limit on the other side
	WhyNoImprovement      // the interval excludes an improvement, and reaches beyond the limit on the other side
	WhyTwoModes           // history has two levels and keeps changing between them
	WhyFirst              // no earlier release in its line has the cell
	WhyOneEach            // baselines of one release each: there is no noise to compare with
	WhyOneMoreRun         // seen again, against a baseline too short to be sure of it: one more run is needed
	WhyBaseSuspect        // a build that never joins shows what its base's newest release shows already
	WhyConditions         // every earlier observation was made under conditions that change the meaning
)

// large reports whether some run behind an inconclusive word lies beyond the limit.
func (w Why) large() bool {
	switch w {
	case WhyShift, WhyAgainstShift, WhyNotSignificant, WhyNotSeenAgain, WhyRunsDisagree, WhyOneEach, WhyBaseSuspect:
		return true
	}
	return false
}

// Row is the judgement of one observation. The baseline it is compared with is the observation's value less D. D and SE are
// on the log scale; D is positive for worse.
type Row struct {
	Word     Word
	Evidence Evidence
	Why      Why
	out      bool    // never part of a baseline
	N        int16   // releases behind the baseline
	Finding  int32   // index into Judgement.Findings, or -1
	First    int32   // release that saw the change first, or -1
	Follow   int32   // release + 1 that confirmed this row's suspected change; negative: that did not see it again; 0: none yet
	D        float64 // of what is reported: the independent run's where it confirmed
	SE, Df   float32 // of the gate's test
	P, Q     float32 // of the gate's test, in the direction of the change; NaN when there was none
}

// OutOfBaselines reports whether the observation is kept out of baselines: a change that waits for, or did not survive, an
// independent run.
func (r *Row) OutOfBaselines() bool { return r.out }

// Large reports whether an inconclusive row saw a change at least as large as what matters, which no test settled: somebody
// may want to look, or to measure again. Other inconclusive rows saw less than that, and their interval is too wide.
func (r *Row) Large() bool { return r.Word == Inconclusive && r.Why.large() }

// FindingKind says what a finding groups.
type FindingKind uint8

const (
	ShiftFinding FindingKind = iota // a stratum moved as one
	MixedFinding                    // a stratum moved, and not as one: nothing was removed
)

// Finding is one statement about many cells of a release.
type Finding struct {
	Kind     FindingKind
	Release  int32
	Stratum  int32
	Word     Word // Regressed, Improved, Inconclusive, Unchanged or NoBaseline
	Evidence Evidence
	Why      Why
	D        float64 // log change of the stratum against its earlier shifts; positive is worse
	SE, Df   float64
	P        float64
	N        int     // earlier releases behind it
	Cells    int     // cells that moved with it
	Agree    float64 // share of cells within the effect that matters of it
	First    int32   // release that saw it first, or -1
}

// Large reports whether an inconclusive shift is at least as large as what matters; see [Row.Large].
func (f *Finding) Large() bool { return f.Word == Inconclusive && f.Why.large() }

// Judgement is the result.
type Judgement struct {
	Rows         []Row // parallel to Table.Obs
	Findings     []Finding
	ChangePoints []ChangePoint // in the order of the releases that decided them
	Fits         []Fit         // one a release
}

// Fit is what a release's noise looked like, and how well earlier predictions held.
type Fit struct {
	Cells    int       // in the family of tests
	D0       float64   // weight of the common noise, in degrees of freedom; Inf when all cells are alike
	Sd       float64   // typical noise: the geometric mean over strata of s0
	S0       []float64 // typical variance by stratum; NaN where nothing is known
	SumNu    float64   // degrees of freedom of all cells together
	Tested   int       // forward predictions up to this release, of cells with six releases or more
	Exceeded int       // of them, how many had two-sided p below .02, of which two in a hundred are expected
}
