package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

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
			p := &j.Columns.Points[i]
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
				v.Reason = schema.InvalidPoint{Why: j.Columns.Reasons[p.Reason], Other: j.measuredBy(release, p)}
			case p.StatusWord() == schema.StatusFailed:
				v.Outcome, id = schema.NotMeasured, "no-number"
				why := cmp.Or(j.Columns.Reasons[p.Reason], "no request completed")
				v.Reason = schema.NoNumber{Why: why, Other: j.measuredBy(release, p)}
			case h.Device == "" || h.Model.Name == "":
				v.Outcome, v.Reason, id = schema.NotComparable, schema.NoSystem{}, "no-system"
			case !k.Comparable():
				v.Outcome, v.Reason, id = schema.NotComparable, schema.NoLengths{}, "no-lengths"
			default:
				continue
			}
			stat := v.Run + fmt.Sprint(p.Repeat) + v.Impl
			v.ID = schema.VerdictID(v.Release, "", v.Pair(), k, id, stat, schema.AgainstHistory)
			out = append(out, v)
		}
	}
	return append(out, j.NotPositive(release)...)
}

// onPoint starts a verdict on a point of a run.
func (j *Judgement) onPoint(release int, h *columns.RunHead, k schema.Key) schema.Verdict {
	return schema.Verdict{
		Run: h.ID, Release: j.Releases[release].Name, Model: h.Model.Name, Device: h.Device, Impl: h.System().Impl, Key: k,
		Against: schema.AgainstHistory,
	}
}

// measuredBy returns the run of the release that has every judged number, and at least one, of a point that failed or
// is excluded in another run. A failure is still shown: a rerun that succeeds does not undo it.
func (j *Judgement) measuredBy(release int, failed *columns.PointRow) string {
	h := &j.Columns.Runs[failed.Run]
	wanted := j.judged(failed)
	for _, run := range j.runsOf(release, h.Pair()) {
		x := &j.Columns.Runs[run]
		if j.screen.excludes(x) || x.System() != h.System() {
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

// metricID is a metric of a workload of a system; the empty metric is the workload as a whole.
type metricID struct {
	system      schema.System
	key, metric string
}

// of is another metric of the same workload.
func (id metricID) of(metric string) metricID { id.metric = metric; return id }

// pointOf returns the point that a verdict is about, without its metric.
func pointOf(v *schema.Verdict) metricID { return metricID{v.System(), v.Key.String(), ""} }

// notRemeasured lists what the release before measured and this one did not: a whole system, else its points, else
// single metrics of a point that was measured, and evals; then systems that were measured before that. A release that
// leaves out what became slow must not pass unnoticed. taken are verdicts that already state why a point has no number.
func (j *Judgement) notRemeasured(release int, taken []schema.Verdict) []schema.Verdict {
	before := j.samePlan(release)
	if before < 0 {
		return nil
	}
	l := missing{
		j: j, release: release, before: before, systems: map[schema.System]bool{},
		points: map[metricID]bool{}, few: map[metricID]bool{}, said: map[metricID]bool{}, tried: map[metricID]int{},
	}
	for _, run := range j.Releases[release].Runs {
		l.systems[j.Columns.Runs[run].System()] = true
	}
	for i := range taken {
		v := &taken[i]
		if schema.MeasuredBy(v.Reason) == "" { // else another run has the numbers, which are checked like any other
			l.said[pointOf(v)] = true
			if v.Outcome == schema.NotMeasured && v.Key.ISL == nil && v.Key.OSL == nil {
				l.tried[attemptAt(v)]++
			}
		}
	}
	l.performance()
	l.evals()
	l.longGone()
	return l.out
}

// samePlan is the release before one, or of a build that states its plan, the build before that shares half of the
// larger of the two plans, or states none: a smoke run at noon leaves nothing out of the night, and what a plan leaves
// out is missing. -1 for none.
func (j *Judgement) samePlan(release int) int {
	before := j.Before(release)
	if j.Releases[release].Label {
		return before
	}
	plan := j.planOf(release)
	if len(plan) == 0 {
		return before
	}
	for at := range j.Earlier(release) {
		other, both := j.planOf(at), 0
		for of := range other {
			if plan[of] {
				both++
			}
		}
		if len(other) == 0 || 2*both > max(len(plan), len(other)) {
			return at
		}
	}
	return -1
}

// planOf are the workloads that a release plans, each of a system; none where it states no plan.
func (j *Judgement) planOf(release int) map[string]bool {
	c, of := j.Columns, map[string]bool{}
	for _, run := range j.Releases[release].Runs {
		for _, p := range c.PlanOf(run) {
			of[fmt.Sprintln(c.Runs[run].System(), c.Keys[p.Key].String())] = true
		}
	}
	return of
}

// missing searches for what was not measured again.
type missing struct {
	j               *Judgement
	release, before int
	systems         map[schema.System]bool // with a run in the release
	points          map[metricID]bool      // with a number in the release; filled when something seems to be missing
	few             map[metricID]bool      // of too few requests for a tail; filled likewise
	said            map[metricID]bool
	tried           map[metricID]int // failed attempts whose files state no lengths
	out             []schema.Verdict
}

// attemptAt is what a file states of the workload of an attempt that failed, where no answer says how long it was.
func attemptAt(v *schema.Verdict) metricID {
	k := v.Key
	k.ISL, k.OSL, k.Dims = nil, nil, maps.Clone(k.Dims)
	delete(k.Dims, schema.DimLabel)
	return metricID{v.System(), k.String(), ""}
}

func (l *missing) performance() {
	j := l.j
	for _, i := range j.byCell[l.before] {
		s := &j.Series[j.cellOf[i]]
		if s.find(l.release) >= 0 {
			continue
		}
		v := l.start(s.System())
		if l.systems[s.System()] {
			if len(l.points) == 0 {
				l.index()
			}
			v.Key = s.Key
			switch at := pointOf(&v); {
			case s.Key.IsOurStart(): // somebody else ran the server
				continue
			case s.Tail() && l.few[at.of(s.Metric)]: // measured; a note says that its tail is of too few
				continue
			case l.points[at]: // also a metric that it has under another definition: that is another number
				v.Metric, v.Stat, v.Def = s.Metric, s.Stat, s.Def
			}
		}
		l.add(v)
	}
}

// index records what the release measured.
func (l *missing) index() {
	for _, i := range l.j.byCell[l.release] {
		s := &l.j.Series[l.j.cellOf[i]]
		l.points[metricID{s.System(), s.Key.String(), ""}] = true
	}
	c := l.j.Columns
	// Of too few requests for a tail, stated or not. A number of requests that is not stated is not known to be small.
	for _, run := range l.j.Counted(l.release) {
		h := &c.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &c.Points[i]
			for _, metric := range Tails() {
				if n, known := requestsOf(c, p, metric); known && !schema.TailHolds(schema.TailStat, n) {
					l.few[metricID{h.System(), c.Keys[p.Key].String(), metric}] = true
				}
			}
		}
	}
	for _, z := range l.j.zeros { // measured, too
		if h := &c.Runs[z.run]; slices.Contains(l.j.Releases[l.release].Runs, int(z.run)) {
			at := metricID{h.System(), c.Keys[c.Points[z.point].Key].String(), ""}
			l.points[at], l.said[at.of(c.Stats[z.stat].Metric)] = true, true
		}
	}
}

func (l *missing) evals() {
	seq := sequences(l.j.Releases)[l.release]
	for _, c := range l.j.evals.cells {
		was := c.at(l.before)
		if was < 0 || c.at(l.release) >= 0 || c.id.seq != seq {
			continue
		}
		v := l.start(c.id.system)
		if l.systems[c.id.system] {
			v.Key = c.key(c.values[was].scores[0])
			if slices.ContainsFunc(l.j.evals.cells, func(o *evalCell) bool { return o.id == c.id && o.at(l.release) >= 0 }) {
				v.Metric = c.metric // the release has the task under another metric
			}
		}
		l.add(v)
	}
}

// longGone lists the systems that the release before did not measure either, with the last release that did.
func (l *missing) longGone() {
	r := &l.j.Releases[l.release]
	if !IsBaseline(r.Channel) || !r.Label && len(l.j.planOf(l.release)) > 0 { // a build measures what it changes, or plans
		return
	}
	without := 1
	for at := range l.j.Earlier(l.release) {
		if at > l.before {
			continue
		}
		var gone []schema.System
		for _, run := range l.j.Counted(at) {
			if s := l.j.Columns.Runs[run].System(); !l.systems[s] {
				l.systems[s], gone = true, append(gone, s)
			}
		}
		slices.SortFunc(gone, compareSystems)
		for _, s := range gone {
			if without > 1 && s.Model != "" && s.Device != "" {
				v := l.start(s)
				v.Baseline, v.Reason = l.j.Releases[at].Name, schema.NotRemeasured{Releases: without}
				l.add(v)
			}
		}
		without++
	}
}

func (l *missing) start(of schema.System) schema.Verdict {
	return schema.Verdict{
		Release: l.j.Releases[l.release].Name, Baseline: l.j.Releases[l.before].Name,
		Model: of.Model, Device: of.Device, Impl: of.Impl, Against: schema.AgainstHistory,
		Outcome: schema.NotMeasured, Value: schema.Missing("not measured"), Ref: schema.Missing("not measured"),
		Reason: schema.NotRemeasured{Releases: 1},
	}
}

// add keeps a verdict unless its point has one.
func (l *missing) add(v schema.Verdict) {
	at := pointOf(&v)
	if l.said[at] || l.said[at.of(v.Metric)] {
		return
	}
	l.said[at.of(v.Metric)] = true
	if of := attemptAt(&v); v.Metric == "" && l.tried[of] > 0 { // it failed, which is said
		l.tried[of]--
		return
	}
	v.ID = schema.VerdictID(v.Release, v.Baseline, v.Pair(), v.Key, "gone/"+v.Metric, v.Impl, schema.AgainstHistory)
	l.out = append(l.out, v)
}
