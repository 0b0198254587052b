package judge

import (
	"github.com/ttreport/ttreport/targets/regression"
	"github.com/ttreport/ttreport/targets/regression/proportion"
)

// Calculation is everything behind a verdict against history; see [Judgement.Explain].
type Calculation = regression.Calculation

// Source says how a change point was found.
type Source = regression.Source

// Sources of change points.
const (
	ByGate   = regression.ByGate   // an independent run confirmed it
	BySearch = regression.BySearch // permutations of the history before the release
	ByPerson = regression.ByPerson // a pin
)

// Repeats says how many repeats of a release, or further releases, would settle what is inconclusive; 0 and 0 for
// neither.
func Repeats(c *Calculation) (repeats, releases int) { return regression.Repeats(c) }

// ShareInterval is the 95 % interval of a share p of n questions (Wilson).
func ShareInterval(p, n float64) (low, high float64) { return proportion.Wilson(p, n) }
