package judge

import "math"

// Sensitivity is the smallest regression that the gate of a release could have shown from its runs alone: half of its
// series would have shown one of Median, and Hidden of Series could hide more than what matters in them.
type Sensitivity struct {
	Series int     // that have a history
	Median float64 // relative change that would have been named four times in five; +Inf: none; NaN without series
	Hidden int
}

// Sensitivity is that of a release's comparison with history. Evals are not part of it.
func (j *Judgement) Sensitivity(release int) Sensitivity {
	s := j.rows.Fits[release].Shown
	return Sensitivity{Series: s.Cells, Median: math.Expm1(s.Median), Hidden: s.Hidden}
}
