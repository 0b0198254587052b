package regression

// Table is the input of [Judge].
type Table struct {
	Releases []Release // in order; nothing about a release depends on later ones
	Strata   int       // number of strata
	Devices  []int32   // by stratum: metrics of one device rise and fall together; nil: each stratum is one
	Cells    []Cell
	Obs      []Obs              // those of one cell next to each other, in release order, at most one a release
	Hosts    map[Measured]Hosts // nil: unknown
}

// Release is one release of a table.
type Release struct {
	// Joins reports whether later releases may use it in their baselines: a pull request's build is judged and never
	// joins.
	Joins bool
}

// Cell is one metric of one workload on one system, within one line of releases.
type Cell struct {
	Stratum    int32   // device and metric family: cells that share a shift and a typical noise
	System     int32   // the model on its device: cells that share the start of a server
	Point      int32   // the workload on its system: cells of one point fail together
	First, End int32   // its observations
	Delta      float64 // least change that matters, as ln(1 + relative effect)
}

// Obs is what one release measured of a cell.
type Obs struct {
	Release int32
	Cond    int32   // comparability class, an index into the caller's conditions; see [Rules.Blocks]
	Z       float64 // ±ln of the value, larger is worse: the mean over the repeats of the release's first run
	Z2      float64 // the same over its later runs, which are independent of the first; valid only when K2 > 0
	K, K2   int16   // repeats behind Z and Z2
	SS      float32 // squared deviations of repeats from the means of their runs, summed
	SE      float32 // least relative noise of the value: its requests' standard error, its rounding; 0 when unknown
	R2      uint8   // runs behind Z2
	Pin     bool    // a person decided that a new level starts here
	Dismiss bool    // a person decided that no new level starts here
	Accept  bool    // a person accepts the change here: it is judged, then a new level begins
}

// mean returns the observation as later baselines use it, before shifts are removed: all repeats of all runs.
func (o *Obs) mean() float64 {
	if o.K2 == 0 {
		return o.Z
	}
	return (float64(o.K)*o.Z + float64(o.K2)*o.Z2) / float64(o.K+o.K2)
}

// Rules are the parameters of the method.
type Rules struct {
	FDR      float64 // false discovery rate over the cells of a release
	ShiftFDR float64 // the same over run-wide shifts: stricter, since one decides for hundreds of cells
	Confirm  float64 // size of the test of an independent run of a shift
	// JointFDR is the false discovery rate of the newest runs together over ordinary noise where one window of them can
	// be tested, else [Rules.share] of it for each; OutlierFDR that over outliers: what repeats a rare trouble by chance.
	JointFDR, OutlierFDR float64
	// Lone and LoneOutlier are the false confirmations that a release without any change is expected to have.
	Lone, LoneOutlier float64
	Window            int     // releases in a baseline at most
	Floor             float64 // least noise that is believed, relative
	MinCells          int     // cells that a stratum needs for its run-wide shift to be removed
	MinPoint          int     // distinct points that it needs
	Agree             float64 // share of its cells that must lie within the effect that matters of the shift
	// Blocks reports whether two comparability classes differ in something that changes the meaning of a number. Nil:
	// never.
	Blocks func(a, b int32) bool
	// Seed of a cell's permutations; nil takes the cell's index. Callers pass a hash of the series' name, so that the
	// order of input changes nothing.
	Seed func(cell int) uint64
}

// DefaultRules returns the rules of the method page.
func DefaultRules() Rules {
	return Rules{
		FDR: FDR, ShiftFDR: .005, Confirm: .01, JointFDR: .024, OutlierFDR: .10, Lone: .002, LoneOutlier: .02,
		Window: 20, Floor: .003,
		MinCells: 20, MinPoint: 8, Agree: .7,
	}
}
