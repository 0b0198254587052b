package judge

import (
	"cmp"
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// withoutNumber lists what belongs to the release and has no usable number in it: points that failed or are excluded,
// values that no measurement can give, and workloads that state too little to be compared.
func (j *Judgement) withoutNumber(release int) []schema.Verdict {
	var out []schema.Verdict
	for _, run := range j.Releases[release].Runs {
		h := &j.Columns.Runs[run]
		if _, twice := j.screen.duplicates[h]; twice {
			continue
		}
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			if v, ok := j.pointWithoutNumber(release, h, &j.Columns.Points[i]); ok {
				out = append(out, v)
			}
		}
	}
	return append(out, j.NotPositive(release)...)
}

// pointWithoutNumber returns the verdict on a point without a number to compare.
func (j *Judgement) pointWithoutNumber(release int, h *columns.RunHead, p *columns.PointRow) (schema.Verdict, bool) {
	k := j.Columns.Keys[p.Key]
	v := j.onPoint(release, h, k)
	d := j.policy.ExcludesRun(h)
	if d == nil && j.policy.ExcludesPoints() {
		d = j.policy.ExcludesPoint(h, k)
	}
	id := "" // distinguishes the verdicts of one point in their ids
	switch {
	case d != nil:
		v.Outcome, v.Decision, id = schema.Excluded, j.policy.Shown(*d), "void"
		v.Reason = schema.ExcludedBy{Why: d.Reason, Kind: string(d.Kind), By: d.By, Other: j.measuredBy(release, p)}
	case p.StatusWord() == schema.StatusInvalid:
		v.Outcome, id = schema.Excluded, "invalid-point"
		v.Reason = schema.InvalidPoint{Why: j.Columns.Reasons[p.Reason]}
	case p.StatusWord() == schema.StatusFailed:
		v.Outcome, id = schema.NotMeasured, "no-number"
		why := cmp.Or(j.Columns.Reasons[p.Reason], "no request completed")
		v.Reason = schema.NoNumber{Why: why, Other: j.measuredBy(release, p)}
	case h.Device == "" || h.Model.Name == "":
		v.Outcome, v.Reason, id = schema.NotComparable, schema.NoSystem{}, "no-system"
	case !k.Comparable():
		v.Outcome, v.Reason, id = schema.NotComparable, schema.NoLengths{}, "no-lengths"
	default:
		return v, false
	}
	stat := v.Run + fmt.Sprint(p.Repeat) + v.Impl
	v.ID = schema.VerdictID(v.Release, "", v.Pair(), k, id, stat, schema.AgainstHistory)
	return v, true
}

// onPoint starts a verdict on a point of a run.
func (j *Judgement) onPoint(release int, h *columns.RunHead, k schema.Key) schema.Verdict {
	return schema.Verdict{
		Run: h.ID, Release: j.Releases[release].Name, Model: h.Model.Name, Device: h.Device, Impl: h.Impl, Key: k,
		Against: schema.AgainstHistory,
	}
}

// measuredBy returns the run of the release that has every judged number, and at least one, of a point that failed or
// is excluded in another run. A failure is still shown: a rerun that succeeds does not undo it.
func (j *Judgement) measuredBy(release int, failed *columns.PointRow) string {
	h := &j.Columns.Runs[failed.Run]
	wanted := j.judged(failed)
	for _, run := range j.runsOf(release, pairOf(h)) {
		x := &j.Columns.Runs[run]
		if j.screen.excludes(x) || x.Impl != h.Impl {
			continue
		}
		for i := x.FirstPoint; i < x.PointsEnd; i++ {
			p := &j.Columns.Points[i]
			if p.Key != failed.Key || p.StatusWord() != schema.StatusOK ||
				j.policy.ExcludesPoint(x, j.Columns.Keys[p.Key]) != nil {
				continue
			}
			if has := j.judged(p); has != 0 && wanted&^has == 0 {
				return x.ID
			}
		}
	}
	return ""
}

// judged returns the primary metrics of which a point has a number that a measurement can give: one bit each, in
// their order.
func (j *Judgement) judged(p *columns.PointRow) (metrics uint) {
	stats, values := j.Columns.Span(p)
	for i, s := range stats {
		if r := j.roles[s]; r.metric >= 0 && !r.se && !r.tail && schema.Measurable(values[i]) {
			metrics |= 1 << r.metric
		}
	}
	return metrics
}

// NotPositive lists latencies and rates of a release that no measurement can give: see [schema.Measurable].
func (j *Judgement) NotPositive(release int) []schema.Verdict {
	var out []schema.Verdict
	in := map[int32]bool{}
	for _, run := range j.Releases[release].Runs {
		in[int32(run)] = true
	}
	for _, b := range j.bad {
		if !in[b.run] {
			continue
		}
		h, p, s := &j.Columns.Runs[b.run], &j.Columns.Points[b.point], j.Columns.Stats[b.stat]
		v := j.onPoint(release, h, j.Columns.Keys[p.Key])
		v.Metric, v.Stat, v.Def = s.Metric, s.Stat, s.Def
		v.Outcome, v.Value = schema.Excluded, schema.Missing("not a measurement")
		v.Reason = schema.NotPositive{Metric: s.Metric, Value: b.value}
		stat := s.Stat + v.Run + fmt.Sprint(p.Repeat)
		v.ID = schema.VerdictID(v.Release, "", v.Pair(), v.Key, s.Metric+"/"+s.Def, stat, schema.AgainstHistory)
		out = append(out, v)
	}
	return out
}
