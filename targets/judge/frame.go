package judge

import (
	"cmp"
	"math"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
)

// Frame is what a chart of a series needs in addition to its values: the range in which a new value was expected, and
// where levels began.
type Frame struct {
	Low, High float64 // where the value of the release was expected with 95 %; NaN when unknown
	From      int     // release with which the level began that it was compared with
	Steps     []FrameStep
}

// FrameStep is the beginning of a level.
type FrameStep struct {
	Release int
	Effect  float64 // relative, positive is worse
	Decided bool    // by the gate or a person; else found by the search, for drawing
}

// ofCell are the steps of a cell in those that a search found, which it orders by cell.
func ofCell(found []regression.ChangePoint, cell int32) []regression.ChangePoint {
	byCell := func(l regression.ChangePoint, cell int32) int { return cmp.Compare(l.Cell, cell) }
	from, _ := slices.BinarySearchFunc(found, cell, byCell)
	to, _ := slices.BinarySearchFunc(found, cell+1, byCell)
	return found[from:to]
}

// Frame returns the frame of a series in a release that has it.
func (j *Judgement) Frame(s *Series, release int) Frame {
	f := Frame{Low: math.NaN(), High: math.NaN(), From: int(j.table.Obs[j.table.Cells[s.cell].First].Release)}
	obs := s.find(release)
	if obs < 0 {
		return f
	}
	held := f.From
	for _, l := range j.changePointsOf(s.cell) {
		at := int(j.table.Obs[l.At].Release)
		if l.Dismissed || int(l.Found) > release || at > release {
			continue
		}
		f.Steps = append(f.Steps, FrameStep{at, relative(sign(s.Metric), l.D), true})
		// the expectation does not include what was decided in the release itself
		if at < release && int(l.Found) < release {
			held = max(held, at)
		}
	}
	f.From = held
	for _, l := range ofCell(j.searched(release, false), s.cell) {
		f.Steps = append(f.Steps, FrameStep{int(j.table.Obs[l.At].Release), relative(sign(s.Metric), l.D), false})
	}
	row, o := &j.rows.Rows[obs], &j.table.Obs[obs]
	if row.N == 0 || !(row.SE > 0) || math.IsNaN(row.D) {
		return f
	}
	z := o.Z
	if later(row) {
		z = o.Z2
	}
	j.mu.Lock()
	t975 := j.quantiles.T975(float64(row.Df))
	j.mu.Unlock()
	half := t975 * float64(row.SE)
	a, b := math.Exp(sign(s.Metric)*(z-row.D-half)), math.Exp(sign(s.Metric)*(z-row.D+half))
	f.Low, f.High = min(a, b), max(a, b)
	return f
}
