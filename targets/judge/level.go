package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/curve"
	"github.com/ttreport/ttreport/targets/regression"
)

// level grades a target of output at a service level: one verdict for each implementation and tool that swept the
// workload over its load. Between the measured loads the curve is read; beyond them nothing is known.
func (g *grading) level(t schema.Target, graded map[slot]bool) (out []schema.Verdict) {
	at, _ := schema.ParseLevel(t.Key.Dims[schema.DimLevel])
	swept := t
	swept.Key.Dims = maps.Clone(t.Key.Dims)
	delete(swept.Key.Dims, schema.DimLevel)
	info, _ := schema.MetricByName(t.Metric)
	output := func(x float64) float64 { // of a cost, which is the same for each second: its inverse
		if info.Better == schema.Lower {
			return 1 / x
		}
		return x
	}
	type system struct{ impl, tool string }
	points := map[system][]curve.Point{}
	for _, s := range g.slots {
		k := g.c.Keys[s.key]
		load, _ := k.Load()
		if k.Rate = swept.Key.Rate; load == nil || !swept.Matches(k) {
			continue
		}
		graded[s] = true
		for _, p := range g.bySlot[s] {
			if p.StatusWord() == schema.StatusInvalid {
				continue
			}
			x, _ := Measured(g.c, p, at.Metric, at.Stat).Get()
			y, _ := Measured(g.c, p, t.Metric, t.Stat).Get()
			of := system{s.impl, k.Tool}
			points[of] = append(points[of], curve.Point{Run: int(p.Run), Load: *load, X: x, Output: output(y)})
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(points), func(a, b system) int {
		return slices.Compare([]string{a.impl, a.tool}, []string{b.impl, b.tool})
	}) {
		v := g.start(t, t.Key)
		v.Impl, v.Key.Tool = of.impl, of.tool
		v.ID = schema.VerdictID(v.Release, of.impl, g.pair, v.Key, v.Metric+"/"+v.Level, v.Stat, schema.AgainstTarget)
		c := curve.Fit(points[of], at.Metric == "ttft")
		why := "no curve: fewer than three loads have " + t.Metric + " and " + at.Metric
		if c != nil {
			if values := c.RunsAt(at.Value); values != nil {
				for i := range values {
					values[i] = output(values[i])
				}
				g.decide(&v, t, info.Better, values, noise{Noise: regression.UnknownNoise()})
				out = append(out, v)
				continue
			}
			lo, hi := c.Range()
			why = fmt.Sprintf("%s from %s to %s was measured, and nothing is extrapolated", at.Metric, num4(lo), num4(hi))
		}
		v.Outcome, v.Value, v.Reason = schema.NotMeasured, schema.Missing(why), schema.NoNumber{Why: why}
		out = append(out, v)
	}
	if len(out) == 0 {
		v := g.start(t, t.Key)
		v.Outcome, v.Reason = schema.NotMeasured, schema.TargetNotMeasured{}
		out = append(out, v)
	}
	return out
}
