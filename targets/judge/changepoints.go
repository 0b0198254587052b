package judge

import (
	"context"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// ChangePoint is a place in a series' history where a new level began.
type ChangePoint struct {
	Series *Series
	At     string  // release
	Found  string  // release that decided it
	Effect float64 // relative, positive is worse
	Source regression.Source
	// Decision is that of a person, where one decided it.
	Decision *schema.Decision
}

// ChangePoints lists the change points in the history of what a release measured, by the release in which they began,
// including those that people dismissed. An empty model or device selects all.
func (j *Judgement) ChangePoints(release int, model, device string) []ChangePoint {
	in := map[int32]bool{}
	for _, i := range j.byCell[release] {
		s := &j.Series[j.cellOf[i]]
		if s.Pair().Selected(model, device) {
			in[j.cellOf[i]] = true
		}
	}
	var points []ChangePoint
	listed := map[int32]bool{}
	for _, l := range j.rows.ChangePoints {
		if in[l.Cell] && int(l.Found) <= release {
			points = append(points, j.changePoint(l))
			listed[l.At] = true
		}
	}
	if !j.policy.Dismisses() {
		return points
	}
	for cell := range j.Series { // readers need to know of dismissals of what was not found that they have no effect
		c := &j.table.Cells[cell]
		for i := c.First + 1; in[int32(cell)] && i < c.End && int(j.table.Obs[i].Release) <= release; i++ {
			if o := &j.table.Obs[i]; o.Dismiss && !listed[i] {
				points = append(points, j.changePoint(regression.ChangePoint{
					Cell: int32(cell), At: i, Found: o.Release, D: o.Z - j.table.Obs[i-1].Z,
					Source: regression.ByPerson, Dismissed: true,
				}))
			}
		}
	}
	return points
}

func (j *Judgement) changePoint(l regression.ChangePoint) ChangePoint {
	s := &j.Series[l.Cell]
	out := ChangePoint{
		Series: s, At: j.Releases[j.table.Obs[l.At].Release].Name, Found: j.Releases[l.Found].Name,
		Effect: relative(Sign(s.Metric), l.D), Source: l.Source,
	}
	v := s.verdict(out.At)
	switch {
	case l.Dismissed:
		out.Decision = j.policy.Level(&v, schema.Dismiss)
	case l.Source == regression.ByPerson:
		out.Decision = j.policy.Level(&v, schema.Pin, schema.Accept)
	}
	return out
}

// Explain returns the calculation behind a verdict against history; nil for one that no test of that kind decided.
func (j *Judgement) Explain(ctx context.Context, release int, v schema.Verdict) (*regression.Calculation, error) {
	if v.Against != schema.AgainstHistory || v.Key.IsEval() {
		return nil, nil
	}
	for _, i := range j.byCell[release] {
		s := &j.Series[j.cellOf[i]]
		if s.System() == v.System() && s.Metric == v.Metric && s.Stat == v.Stat && s.Def == v.Def &&
			s.Key.String() == v.Key.String() {
			return regression.Explain(ctx, j.table, j.rules, j.cellOf[i], int32(release))
		}
	}
	return nil, nil
}

// reported is the value of an observation that its row is about, on the scale where larger is worse.
func (j *Judgement) reported(obs int32) float64 {
	if later(&j.rows.Rows[obs]) {
		return j.table.Obs[obs].Z2
	}
	return j.table.Obs[obs].Z
}
