package judge

import (
	"cmp"
	"slices"

	"github.com/ttreport/ttreport/targets/regression"
)

// Drift is a series that moves in one direction without a change point.
type Drift struct {
	Series *Series
	Effect float64 // relative change a release, positive is worse
	Total  float64 // relative change over all releases of the level
	P      float64 // Mann and Kendall's, two-sided
	N      int
}

func newDrift(s *Series, t regression.Trend) Drift {
	badness := sign(s.Metric)
	return Drift{
		Series: s, Effect: relative(badness, t.Slope), Total: relative(badness, t.Slope*float64(t.N-1)), P: t.P, N: t.N,
	}
}

// drifts returns the trends of the current levels in a release.
func (j *Judgement) drifts(in map[int32]bool, release int) []Drift {
	var out []Drift
	from := j.begins(release, false)
	family := 0
	for cell := range j.Series {
		if !in[int32(cell)] {
			continue
		}
		t := regression.TrendOf(j.held(int32(cell), from[int32(cell)], release, nil))
		if !(t.P <= 1) {
			continue
		}
		family++
		out = append(out, newDrift(&j.Series[cell], t))
	}
	return discovered(out, family)
}

// LargeDrifts returns the drifts in what a release measured that add up to more than the effect that matters since
// the last level that was shown. The family of tests is all series with enough history, so that testing only the
// large ones does not lead to more findings.
func (j *Judgement) LargeDrifts(release int) []Drift {
	const fewest = 8
	from := j.begins(release, true)
	family := 0
	var out []Drift
	var values []float64 // room for every cell's
	for _, i := range j.byCell[release] {
		cell := j.cellOf[i]
		values = j.held(cell, from[cell], release, values[:0])
		if len(values) < fewest {
			continue
		}
		family++
		third, delta := len(values)/3, j.table.Cells[cell].Delta
		// most are far from it and need no sorting of slopes
		if mean(values[len(values)-third:])-mean(values[:third]) < delta/2 {
			continue
		}
		if t := regression.TrendOf(values); t.Slope*float64(t.N-1) >= delta {
			out = append(out, newDrift(&j.Series[cell], t))
		}
	}
	return discovered(out, family)
}

// begins returns, for each cell, the observation with which its current level in a release began; with shown, the
// that verdicts know of: what the search finds is only drawn.
func (j *Judgement) begins(release int, shown bool) map[int32]int32 {
	from := map[int32]int32{}
	points := slices.Clone(j.rows.ChangePoints)
	if !shown {
		points = append(points, j.searched(release, false)...)
	}
	for _, l := range points {
		if int(l.Found) <= release && !l.Dismissed {
			from[l.Cell] = max(from[l.Cell], l.At)
		}
	}
	return from
}

// held appends the values of a level up to a release to out, on the scale where larger is worse. Builds that never
// serve as a baseline are left out.
func (j *Judgement) held(cell, from int32, release int, out []float64) []float64 {
	c := &j.table.Cells[cell]
	for i := max(c.First, from); i < c.End && int(j.table.Obs[i].Release) <= release; i++ {
		at := j.table.Obs[i].Release
		if int(at) == release || j.table.Releases[at].Joins && !j.rows.Rows[i].OutOfBaselines() {
			out = append(out, j.table.Obs[i].Z)
		}
	}
	return out
}

// discovered returns the drifts that pass the false discovery procedure over a family, smallest p first.
func discovered(list []Drift, family int) []Drift {
	p := make([]float64, len(list))
	for i := range list {
		p[i] = list[i].P
	}
	_, limit := regression.BenjaminiHochberg(p, family, regression.FDR)
	list = slices.DeleteFunc(list, func(d Drift) bool { return !(d.P <= limit) })
	slices.SortStableFunc(list, func(a, b Drift) int { return cmp.Compare(a.P, b.P) })
	return list
}

func mean(values []float64) float64 {
	sum := 0.
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
