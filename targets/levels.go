package targets

import (
	"context"
	"sort"

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
}

// Levels lists the steps in the history of what a release measured, by the release in which they began, and what drifts: the
// trend of the level that holds, over eight releases or more, under one false discovery rule. Empty model or device: all.
func (j *Judgement) Levels(release int, model, device string) ([]Step, []Drift) {
	in := map[int32]bool{}
	for _, i := range j.byCell[release] {
		if s := &j.Series[j.cellOf[i]]; (model == "" || s.Model == model) && (device == "" || s.Device == device) {
			in[j.cellOf[i]] = true
		}
	}
	var steps []Step
	from := map[int32]int32{}
	for _, l := range j.rows.Levels {
		if !in[l.Cell] || int(l.Found) > release {
			continue
		}
		s := &j.Series[l.Cell]
		at := j.table.Obs[l.At].Release
		step := Step{Series: s, At: j.Releases[at].Name, Found: j.Releases[l.Found].Name, Effect: relative(sign(s.Metric), l.D), P: l.P, Source: l.Source}
		if l.Source == regression.ByPerson {
			step.Decision = j.Policy.levelBy(&schema.Verdict{Release: step.At, Model: s.Model, Device: s.Device, Key: s.Key, Metric: s.Metric}, Pin, Accept)
		}
		steps = append(steps, step)
		from[l.Cell] = max(from[l.Cell], l.At)
	}
	return steps, j.drifts(in, from, release)
}

func (j *Judgement) drifts(in map[int32]bool, from map[int32]int32, release int) []Drift {
	var out []Drift
	family := 0
	for cell := range j.Series {
		if !in[int32(cell)] {
			continue
		}
		var values []float64
		for i := max(j.table.Cells[cell].First, from[int32(cell)]); i < j.table.Cells[cell].End && int(j.table.Obs[i].Release) <= release; i++ {
			values = append(values, j.table.Obs[i].Z)
		}
		t := regression.Creep(values)
		if !(t.P <= 1) {
			continue
		}
		family++
		s := &j.Series[cell]
		out = append(out, Drift{Series: s, Effect: relative(sign(s.Metric), t.Slope), P: t.P, N: t.N})
	}
	sort.SliceStable(out, func(a, b int) bool { return out[a].P < out[b].P })
	for k := len(out); k > 0; k-- {
		if out[k-1].P <= .05*float64(k)/float64(family) {
			return out[:k]
		}
	}
	return nil
}

// Explain returns the reckoning behind a verdict against history; nil for one that no test of that kind stands behind.
func (j *Judgement) Explain(ctx context.Context, release int, v schema.Verdict) (*regression.Reckoning, error) {
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
