package targets

import (
	"math"
	"strconv"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression"
)

// noise is what is known of how much one measurement may lie from another run of the same thing, on the log scale.
type noise struct {
	regression.Noise
	from string // own: the series' own history; typical: that of its device and metric
}

// noise looks a target's series up in the judgement of history. Speed per user is 1000 / mean TPOT, so its noise is TPOT's; a
// percentile has its own, which is not the mean's.
func (j *grading) noise(t schema.Target, at slot) noise {
	metric := t.Metric
	if metric == "tps_user" {
		metric = "tpot"
	}
	if _, err := strconv.ParseFloat(strings.TrimPrefix(t.Stat, "p"), 64); err == nil {
		return j.ownNoise(t, at)
	}
	s := j.j.lookup(j.head.Model.Name, j.head.Device, at.impl, at.key, metric, j.release)
	if s == nil {
		return noise{Noise: regression.UnknownNoise()}
	}
	obs := s.find(j.release)
	row, o := &j.j.rows.Rows[obs], &j.j.table.Obs[obs]
	floor := float64(o.SE) * float64(o.SE)
	known := noise{row.Noise(), "own"}
	if !known.Known() {
		known = noise{j.j.rows.Fits[j.release].Typical(j.j.table.Cells[s.cell].Stratum), "typical"}
	}
	known.Variance = math.Max(known.Variance, floor) // NaN stays NaN
	return known
}

// ownNoise is the variance of a statistic over earlier releases, for one that has no series: three at least, the last twenty.
func (j *grading) ownNoise(t schema.Target, at slot) noise {
	const least, most = 3, 20
	seqs := sequences(j.j.Releases)
	var logs []float64
	for r := j.release - 1; r >= 0 && len(logs) < most; r-- {
		if !joins(j.j.Releases[r].Channel) || seqs[r] != seqs[j.release] {
			continue
		}
		if x, ok := j.earlier(r, t, at); ok {
			logs = append(logs, math.Log(x))
		}
	}
	if len(logs) < least {
		return noise{Noise: regression.UnknownNoise()}
	}
	return noise{regression.NoiseBetween(logs), "own"}
}

// earlier is the first value of a statistic in a release.
func (j *grading) earlier(release int, t schema.Target, at slot) (float64, bool) {
	for _, run := range j.j.runsOf(release, j.head.Model.Name, j.head.Device) {
		h := &j.c.Runs[run]
		if h.Impl != at.impl || j.j.Policy.void(h) {
			continue
		}
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &j.c.Points[i]
			if p.Key != at.key || p.StatusWord() == schema.StatusInvalid {
				continue
			}
			if x, ok := Measured(j.c, p, t.Metric, t.Stat).Get(); ok && x > 0 {
				return x, true
			}
		}
	}
	return 0, false
}

// lookup finds the series of a workload and metric on a system that has a value in a release; nil when there is none.
func (j *Judgement) lookup(model, device, impl string, key int32, metric string, release int) *Series {
	for _, i := range j.byKey[key] {
		if s := &j.Series[i]; s.Model == model && s.Device == device && s.Impl == impl && s.Metric == metric && s.find(release) >= 0 {
			return s
		}
	}
	return nil
}

func dfOf(known noise, n int) float64 {
	if !known.Known() {
		return float64(n - 1)
	}
	return known.Df
}

// halfWidth is the half width of the 95 % interval of a release's value on the log scale, and where its noise comes from; -1
// where nothing is known. Noise between releases is not averaged away by repeats of one: it enters whole.
func halfWidth(logs []float64, known noise) (float64, string) {
	n := len(logs)
	if known.Known() {
		return known.Margin(.975), "noise-" + known.from
	}
	if n < 3 {
		return -1, ""
	}
	repeats := regression.NoiseBetween(logs)
	repeats.Variance /= float64(n) // of their mean
	return repeats.Margin(.975), "repeats"
}
