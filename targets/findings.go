package targets

import (
	"fmt"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/regression"
)

// Shift is a stratum that moved as one, or refused to.
type Shift struct {
	ID       string
	Device   string
	Metric   string
	Line     string
	Word     string
	Evidence string
	Mixed    bool // most cells moved, and not alike: nothing was removed
	Effect   schema.Number
	Interval *[2]float64
	P        schema.Number
	Releases int // earlier releases behind it
	Cells    int
	Agree    float64 // share of cells that moved alike
	First    string
}

func (j *Judgement) shiftID(finding int32) string {
	f := &j.rows.Findings[finding]
	s := j.strata[f.Stratum]
	return schema.VerdictID(j.Releases[f.Release].Name, "", s.seq.line, s.device, schema.Key{}, s.metric, "shift", schema.AgainstHistory)
}

// Shifts lists the run-wide movements of a release that say something: worse, better, watched or mixed first, then the quiet
// ones.
func (j *Judgement) Shifts(release int) []Shift {
	var out, quiet []Shift
	for i := range j.rows.Findings {
		f := &j.rows.Findings[i]
		if int(f.Release) != release {
			continue
		}
		s := j.strata[f.Stratum]
		x := Shift{ID: j.shiftID(int32(i)), Device: s.device, Metric: s.metric, Line: s.seq.line, Word: wordOf(f.Word, f.Large()), Evidence: evidenceOf(f.Evidence), Mixed: f.Kind == regression.MixedFinding,
			Effect: schema.Num(relative(sign(s.metric), f.D)), P: schema.Num(f.P), Releases: f.N, Cells: f.Cells, Agree: f.Agree}
		if f.SE > 0 {
			half := regression.Quantile(.975, f.Df) * f.SE
			x.Interval = &[2]float64{relative(sign(s.metric), f.D-half), relative(sign(s.metric), f.D+half)}
		}
		if f.First >= 0 {
			x.First = j.Releases[f.First].Name
		}
		if x.Mixed || f.Word == regression.Regressed || f.Word == regression.Improved || f.Large() {
			out = append(out, x)
		} else {
			quiet = append(quiet, x)
		}
	}
	return append(out, quiet...)
}

// group names the cause of what became worse: a run-wide shift has named itself; else a pair of which half the points or more
// became worse is one finding of its run; else each point is one.
func (j *Judgement) group(release int, list []schema.Verdict) {
	type pair struct{ model, device, impl string }
	points, worse := map[pair]map[string]bool{}, map[pair]map[string]bool{}
	for i := range list {
		v := &list[i]
		p, k := pair{v.Model, v.Device, v.Impl}, v.Key.String()
		if points[p] == nil {
			points[p], worse[p] = map[string]bool{}, map[string]bool{}
		}
		points[p][k] = true
		if v.Word == schema.Worse && v.Cause == "" {
			worse[p][k] = true
		}
	}
	const fewest = 4 // of two or three points, half is no pattern
	for i := range list {
		v := &list[i]
		if v.Word != schema.Worse && v.Word != schema.Watch || v.Cause != "" {
			continue
		}
		p := pair{v.Model, v.Device, v.Impl}
		switch {
		case v.Word == schema.Watch:
		case len(points[p]) >= fewest && 2*len(worse[p]) >= len(points[p]):
			v.Cause = "run:" + schema.VerdictID(v.Release, "", v.Model, v.Device, schema.Key{}, v.Impl, "run", schema.AgainstHistory)
		default:
			v.Cause = "point:" + schema.VerdictID(v.Release, "", v.Model, v.Device, v.Key, v.Impl, "point", schema.AgainstHistory)
		}
	}
}

// unmeasurable lists what has a history or a place in the release and no number in it: points that failed or are void, values
// that no measurement can give, and workloads that say too little to be compared.
func (j *Judgement) unmeasurable(release int) []schema.Verdict {
	var out []schema.Verdict
	for _, run := range j.Releases[release].Runs {
		h := &j.Columns.Runs[run]
		void := j.Policy.voidBy(h)
		if _, copy := j.Policy.copies[h]; copy {
			continue
		}
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &j.Columns.Points[i]
			k := j.Columns.Keys[p.Key]
			v := schema.Verdict{Run: h.ID, Release: j.Releases[release].Name, Model: h.Model.Name, Device: h.Device, Impl: h.Impl, Key: k, Against: schema.AgainstHistory}
			d := void
			if d == nil && j.Policy.voidsPoints() {
				d = j.Policy.voidPoint(h, k)
			}
			switch {
			case d != nil:
				v.Word, v.Decision = schema.Invalid, j.Policy.shown(*d)
				v.Reason = schema.Reason{Code: "void", Args: map[string]string{"why": d.Reason, "kind": d.Kind, "by": d.By}}
				if other := j.measuredBy(release, p); other != "" {
					v.Reason.Args["other"] = other
				}
			case p.StatusWord() == schema.StatusInvalid:
				v.Word, v.Reason = schema.Invalid, schema.Reason{Code: "invalid-point", Args: map[string]string{"why": j.Columns.Reasons[p.Reason]}}
			case p.StatusWord() == schema.StatusFailed:
				v.Word, v.Reason = schema.MissingWord, schema.Reason{Code: "no-number", Args: map[string]string{"why": failure(j.Columns.Reasons[p.Reason])}}
				if other := j.measuredBy(release, p); other != "" {
					v.Reason.Args["other"] = other
				}
			case h.Device == "" || h.Model.Name == "":
				v.Word, v.Reason = schema.NotComparable, schema.Reason{Code: "no-system"}
			case !k.Comparable():
				v.Word, v.Reason = schema.NotComparable, schema.Reason{Code: "no-lengths"}
			default:
				continue
			}
			v.ID = schema.VerdictID(v.Release, "", v.Model, v.Device, k, v.Reason.Code, v.Run+fmt.Sprint(p.Repeat)+v.Impl, schema.AgainstHistory)
			out = append(out, v)
		}
	}
	return append(out, j.impossibleValues(release)...)
}

// measuredBy is the run of the release that measured what another was to measure and failed, or measured and is void: every judged
// number of it, and at least one. A failure stays told, since a rerun that works does not make the first one good.
func (j *Judgement) measuredBy(release int, failed *columns.PointRow) string {
	h := &j.Columns.Runs[failed.Run]
	wanted := j.judged(failed)
	for _, run := range j.runsOf(release, h.Model.Name, h.Device) {
		x := &j.Columns.Runs[run]
		if j.Policy.void(x) || x.Impl != h.Impl {
			continue
		}
		for i := x.FirstPoint; i < x.PointsEnd; i++ {
			p := &j.Columns.Points[i]
			if p.Key != failed.Key || p.StatusWord() != schema.StatusOK || j.Policy.voidPoint(x, j.Columns.Keys[p.Key]) != nil {
				continue
			}
			if has := j.judged(p); has != 0 && wanted&^has == 0 {
				return x.ID
			}
		}
	}
	return ""
}

// judged are the primary metrics of which a point has a number that a measurement can give: a bit each, in their order.
func (j *Judgement) judged(p *columns.PointRow) (metrics uint) {
	stats, values := j.Columns.Span(p)
	for i, s := range stats {
		if r := j.roles[s]; r.metric >= 0 && !r.se && Measurable(values[i]) {
			metrics |= 1 << r.metric
		}
	}
	return metrics
}

func failure(why string) string {
	if why == "" {
		return "no request completed"
	}
	return why
}

// impossibleValues are latencies and rates that no measurement gives: see [Measurable].
func (j *Judgement) impossibleValues(release int) []schema.Verdict {
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
		k := j.Columns.Keys[p.Key]
		v := schema.Verdict{Run: h.ID, Release: j.Releases[release].Name, Model: h.Model.Name, Device: h.Device, Impl: h.Impl, Key: k, Metric: s.Metric, Stat: s.Stat, Def: s.Def, Against: schema.AgainstHistory,
			Word: schema.Invalid, Value: schema.Missing("not a measurement"), Reason: schema.Reason{Code: "not-positive", Args: map[string]string{"value": num4(b.value), "metric": s.Metric}}}
		v.ID = schema.VerdictID(v.Release, "", v.Model, v.Device, k, s.Metric+"/"+s.Def, s.Stat+v.Run+fmt.Sprint(p.Repeat), schema.AgainstHistory)
		out = append(out, v)
	}
	return out
}
