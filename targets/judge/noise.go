package judge

import (
	"math"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// noise is the variance between runs of the same workload, on the log scale, and where it comes from.
type noise struct {
	regression.Noise
	from schema.IntervalFrom
}

// noise looks up a target's series in the judgement of history. Speed per user is 1000 / mean TPOT, so its noise is
// TPOT's; a percentile has noise of its own, not that of the mean.
func (g *grading) noise(t schema.Target, at slot) noise {
	metric := t.Metric
	if metric == "tps_user" {
		metric = "tpot"
	}
	if isPercentile(t.Stat) {
		return g.ownNoise(t, at)
	}
	s := g.j.lookup(schema.System{Model: g.pair.Model, Device: g.pair.Device, Impl: at.impl}, at.key, metric, g.release)
	if s == nil {
		return noise{Noise: regression.UnknownNoise()}
	}
	obs := s.find(g.release)
	row, o := &g.j.rows.Rows[obs], &g.j.table.Obs[obs]
	floor := float64(o.SE) * float64(o.SE)
	known := noise{row.Noise(), schema.FromOwn}
	if !known.Known() {
		known = noise{g.j.rows.Fits[g.release].Typical(g.j.table.Cells[s.cell].Stratum), schema.FromTypical}
	}
	known.Variance = math.Max(known.Variance, floor) // NaN stays NaN
	return known
}

// ownNoise returns the variance of a statistic over earlier releases, for a statistic without a series: at least
// three releases, at most the last twenty.
func (g *grading) ownNoise(t schema.Target, at slot) noise {
	const least, most = 3, 20
	seqs := sequences(g.j.Releases)
	var logs []float64
	for r := g.release - 1; r >= 0 && len(logs) < most; r-- {
		if !IsBaseline(g.j.Releases[r].Channel) || seqs[r] != seqs[g.release] {
			continue
		}
		if x, ok := g.earlier(r, t, at); ok {
			logs = append(logs, math.Log(x))
		}
	}
	if len(logs) < least {
		return noise{Noise: regression.UnknownNoise()}
	}
	return noise{regression.NoiseBetween(logs), schema.FromOwn}
}

// earlier returns the first value of a statistic in a release.
func (g *grading) earlier(release int, t schema.Target, at slot) (float64, bool) {
	for _, run := range g.j.runsOf(release, g.pair) {
		h := &g.c.Runs[run]
		if h.Impl != at.impl || g.j.screen.excludes(h) {
			continue
		}
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &g.c.Points[i]
			if p.Key != at.key || p.StatusWord() == schema.StatusInvalid {
				continue
			}
			if x, ok := Measured(g.c, p, t.Metric, t.Stat).Get(); ok && x > 0 {
				return x, true
			}
		}
	}
	return 0, false
}

// lookup returns the series of a workload and metric on a system if it has a value in a release; else nil.
func (j *Judgement) lookup(of schema.System, key int32, metric string, release int) *Series {
	for _, i := range j.byKey[key] {
		if s := &j.Series[i]; s.System() == of && s.Metric == metric && !s.Tail() && s.find(release) >= 0 {
			return s
		}
	}
	return nil
}

// halfWidth returns the half width of the 95 % interval of a release's value on the log scale, its degrees of
// freedom, and where its noise comes from. Repeats within one release do not average out noise between releases, so
// it counts in full.
func halfWidth(logs []float64, known noise) (half, df float64, from schema.IntervalFrom) {
	n := len(logs)
	if known.Known() {
		return known.Margin(.975), known.Df, known.from
	}
	if n < 3 {
		return 0, 0, schema.FromNothing
	}
	repeats := regression.NoiseBetween(logs)
	repeats.Variance /= float64(n) // of their mean
	return repeats.Margin(.975), repeats.Df, schema.FromRepeats
}
