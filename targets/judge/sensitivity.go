package judge

import (
	"math"

	"github.com/ttreport/ttreport/targets/regression"
)

// Sensitivity is the smallest regression of one number alone that a release would have found four times in five: once
// from its runs, again together with one more run.
type Sensitivity struct {
	Series      int // that have a history
	Once, Again Shown
}

// Shown is the smallest regression that is found.
type Shown struct {
	Median float64 // relative change, the median over the series; +Inf: none; NaN without series
	Hidden int     // series that could hide more than what matters in them
}

// Sensitivity is that of a release's comparison with history. Evals are not part of it.
func (j *Judgement) Sensitivity(release int) Sensitivity {
	s := j.rows.Fits[release].Shown
	return Sensitivity{Series: s.Cells, Once: shownOf(s.Once), Again: shownOf(s.Again)}
}

func shownOf(s regression.Shown) Shown { return Shown{math.Expm1(s.Median), s.Hidden} }
