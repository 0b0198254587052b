package targets

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// Step is a place in a series' history where a new level began.
type Step struct {
	Series *Series
	At     string  // release
	Found  string  // release that decided it
	Effect float64 // relative, positive is worse
	P      float64 // by permutation; NaN where it was not decided so
	Source regression.Source
	// Decision is the person's, where one decided it.
	Decision *schema.Decision
}

// Drift is a series that creeps in one direction without a step.
type Drift struct {
	Series *Series
	Effect float64 // relative change a release, positive is worse
	P      float64 // Mann and Kendall's, two-sided
	N      int
	slope  float64 // log change a release, positive is worse
}

// Levels lists the steps in the history of what a release measured, by the release in which they began, with those that people
// dismissed, and what drifts: the trend of the level that holds, over eight releases or more, under one false discovery rule.
// Empty model or device: all.
func (j *Judgement) Levels(release int, model, device string) ([]Step, []Drift) {
	in := map[int32]bool{}
	for _, i := range j.byCell[release] {
		if s := &j.Series[j.cellOf[i]]; (model == "" || s.Model == model) && (device == "" || s.Device == device) {
			in[j.cellOf[i]] = true
		}
	}
	var steps []Step
	listed := map[int32]bool{}
	for _, l := range j.rows.ChangePoints {
		if in[l.Cell] && int(l.Found) <= release {
			steps = append(steps, j.step(l))
			listed[l.At] = true
		}
	}
	if j.Policy.dismisses() {
		steps = append(steps, j.dismissed(in, listed, release)...)
	}
	return steps, j.drifts(in, release)
}

func (j *Judgement) step(l regression.ChangePoint) Step {
	s := &j.Series[l.Cell]
	out := Step{Series: s, At: j.Releases[j.table.Obs[l.At].Release].Name, Found: j.Releases[l.Found].Name, Effect: relative(sign(s.Metric), l.D), P: l.P, Source: l.Source}
	v := schema.Verdict{Release: out.At, Model: s.Model, Device: s.Device, Key: s.Key, Metric: s.Metric}
	switch {
	case l.Dismissed:
		out.Decision = j.Policy.levelBy(&v, Dismiss)
	case l.Source == regression.ByPerson:
		out.Decision = j.Policy.levelBy(&v, Pin, Accept)
	}
	return out
}

// dismissed lists what people dismissed and nobody found: readers need to know that nobody would have been told.
func (j *Judgement) dismissed(in, listed map[int32]bool, release int) []Step {
	var out []Step
	for cell := range j.Series {
		c := &j.table.Cells[cell]
		for i := c.First + 1; in[int32(cell)] && i < c.End && int(j.table.Obs[i].Release) <= release; i++ {
			if o := &j.table.Obs[i]; o.Dismiss && !listed[i] {
				out = append(out, j.step(regression.ChangePoint{Cell: int32(cell), At: i, Found: o.Release, D: o.Z - j.table.Obs[i-1].Z, P: math.NaN(), Source: regression.ByPerson, Dismissed: true}))
			}
		}
	}
	return out
}

// begins is the observation with which the level of each cell began that holds in a release; with told, the last one that anybody
// was told of: steps that are smaller than what matters only move the baseline.
func (j *Judgement) begins(release int, told bool) map[int32]int32 {
	from := map[int32]int32{}
	for _, l := range j.rows.ChangePoints {
		small := l.Source == regression.BySearch && math.Abs(l.D) < j.table.Cells[l.Cell].Delta
		if int(l.Found) <= release && !l.Dismissed && !(told && small) {
			from[l.Cell] = max(from[l.Cell], l.At)
		}
	}
	return from
}

// held appends the values of a level up to a release to out, on the scale where larger is worse. Builds that are no baseline are no
// history.
func (j *Judgement) held(cell, from int32, release int, out []float64) []float64 {
	c := &j.table.Cells[cell]
	for i := max(c.First, from); i < c.End && int(j.table.Obs[i].Release) <= release; i++ {
		if at := j.table.Obs[i].Release; int(at) == release || j.table.Releases[at].Joins && !j.rows.Rows[i].OutOfBaselines() {
			out = append(out, j.table.Obs[i].Z)
		}
	}
	return out
}

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
		s := &j.Series[cell]
		out = append(out, Drift{Series: s, Effect: relative(sign(s.Metric), t.Slope), P: t.P, N: t.N, slope: t.Slope})
	}
	return discovered(out, family)
}

// discovered keeps the drifts that pass the false discovery rule over a family, surest first.
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

// Explain returns the reckoning behind a verdict against history; nil for one that no test of that kind stands behind.
func (j *Judgement) Explain(ctx context.Context, release int, v schema.Verdict) (*regression.Calculation, error) {
	if v.Against != schema.AgainstHistory || IsEval(v.Key) {
		return nil, nil
	}
	for _, i := range j.byCell[release] {
		s := &j.Series[j.cellOf[i]]
		if s.Model == v.Model && s.Device == v.Device && s.Impl == v.Impl && s.Metric == v.Metric && s.Stat == v.Stat && s.Def == v.Def && s.Key.String() == v.Key.String() {
			return regression.Explain(ctx, j.table, j.rules, j.cellOf[i], int32(release))
		}
	}
	return nil, nil
}
