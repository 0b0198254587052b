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
	Cells  int // numbers of the metric on the device that drift together; 0: the series alone
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
		if !(t.P <= 1) || !t.Steady() {
			continue
		}
		family++
		out = append(out, newDrift(&j.Series[cell], t))
	}
	return discovered(out, family)
}

// begins returns, for each cell, the observation with which its current level in a release began; with shown, the last
// one that verdicts know of: what the search finds is only drawn.
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

// beginsBefore returns, for each cell whose current level was confirmed, the observation with which the level before it
// began.
func (j *Judgement) beginsBefore(release int) map[int32]int32 {
	last, before := map[int32]int32{}, map[int32]int32{}
	for _, l := range j.rows.ChangePoints {
		if int(l.Found) <= release && !l.Dismissed && l.At > last[l.Cell] {
			if before[l.Cell] = last[l.Cell]; l.Source == regression.ByPerson { // nothing before it counts
				before[l.Cell] = l.At
			}
			last[l.Cell] = l.At
		}
	}
	return before
}

// held appends the values of a level up to a release to out, on the scale where larger is worse. Builds that never
// serve as a baseline are left out.
func (j *Judgement) held(cell, from int32, release int, out []float64) []float64 {
	c := &j.table.Cells[cell]
	for i := max(c.First, from); i < c.End && int(j.table.Obs[i].Release) <= release; i++ {
		if j.holds(i, int32(release)) {
			out = append(out, j.table.Obs[i].Z)
		}
	}
	return out
}

// heldIn lists the releases of the values that held returns.
func (j *Judgement) heldIn(cell, from int32, release int) (out []int32) {
	c := &j.table.Cells[cell]
	for i := max(c.First, from); i < c.End && int(j.table.Obs[i].Release) <= release; i++ {
		if j.holds(i, int32(release)) {
			out = append(out, j.table.Obs[i].Release)
		}
	}
	return out
}

// holds reports whether an observation was part of its series when a release had been judged: the release's own is.
func (j *Judgement) holds(obs, release int32) bool {
	at := j.table.Obs[obs].Release
	return at == release || j.table.Releases[at].Joins && !j.rows.Excluded(j.table, obs, release)
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
