package judge

import (
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// pointID is a workload of a system.
type pointID struct {
	system schema.System
	key    string
}

// metricID is a metric of a workload of a system; the empty metric is the workload as a whole.
type metricID struct {
	point  pointID
	metric string
}

// pointOf returns the point that a verdict is about, without its metric.
func pointOf(v *schema.Verdict) pointID { return pointID{v.System(), v.Key.String()} }

// notRemeasured lists what the release before measured and this one did not: a whole system, else its points, else
// single metrics of a point that was measured, and evals; then systems that were measured before that. A release that
// leaves out what became slow must not pass unnoticed. taken are verdicts that already state why a point has no number.
func (j *Judgement) notRemeasured(release int, taken []schema.Verdict) []schema.Verdict {
	before := j.Before(release)
	if before < 0 {
		return nil
	}
	l := missing{
		j: j, release: release, before: before, systems: map[schema.System]bool{},
		points: map[pointID]bool{}, few: map[metricID]bool{}, said: map[metricID]bool{},
	}
	for _, run := range j.Releases[release].Runs {
		l.systems[systemOf(&j.Columns.Runs[run])] = true
	}
	for i := range taken {
		if v := &taken[i]; !measuredElsewhere(v) {
			l.said[metricID{pointOf(v), ""}] = true
		}
	}
	l.performance()
	l.evals()
	l.longGone()
	return l.out
}

// measuredElsewhere reports whether another run has the numbers of a point, which is then checked like any other.
func measuredElsewhere(v *schema.Verdict) bool {
	switch r := v.Reason.(type) {
	case schema.ExcludedBy:
		return r.Other != ""
	case schema.NoNumber:
		return r.Other != ""
	}
	return false
}

// missing searches for what was not measured again.
type missing struct {
	j               *Judgement
	release, before int
	systems         map[schema.System]bool // with a run in the release
	points          map[pointID]bool       // with a number in the release; filled when something seems to be missing
	few             map[metricID]bool      // of too few requests for a tail; filled likewise
	said            map[metricID]bool
	out             []schema.Verdict
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
			case s.Tail() && l.few[metricID{at, s.Metric}]: // measured; a note says that its tail is of too few
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
		at := pointID{s.System(), s.Key.String()}
		l.points[at] = true
	}
	l.fewRequests()
	for _, z := range l.j.zeros { // measured, too
		if h := &l.j.Columns.Runs[z.run]; slices.Contains(l.j.Releases[l.release].Runs, int(z.run)) {
			at := pointID{systemOf(h), l.j.Columns.Keys[l.j.Columns.Points[z.point].Key].String()}
			l.points[at], l.said[metricID{at, l.j.Columns.Stats[z.stat].Metric}] = true, true
		}
	}
}

// fewRequests records the metrics that the release measured with too few requests for a tail, stated or not. A number
// of requests that is not stated is not known to be small.
func (l *missing) fewRequests() {
	c := l.j.Columns
	for _, run := range l.j.Counted(l.release) {
		h := &c.Runs[run]
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			p := &c.Points[i]
			at := pointID{systemOf(h), c.Keys[p.Key].String()}
			for _, metric := range Tails() {
				if n, known := requestsOf(c, p, metric); known && !schema.TailHolds(tailStat, n) {
					l.few[metricID{at, metric}] = true
				}
			}
		}
	}
}

func (l *missing) evals() {
	seq := sequences(l.j.Releases)[l.release]
	for _, c := range l.j.evals.cells {
		was, is := c.at(l.before), c.at(l.release)
		if was == nil || is != nil || c.id.seq != seq {
			continue
		}
		v := l.start(c.id.system)
		if l.systems[c.id.system] {
			v.Key = schema.EvalKey(&was.scores[0].Score)
			if l.renamed(c.id) {
				v.Metric = c.metric
			}
		}
		l.add(v)
	}
}

// longGone lists the systems that the release before did not measure either, with the last release that did.
func (l *missing) longGone() {
	if !IsBaseline(l.j.Releases[l.release].Channel) { // a build measures what it changes
		return
	}
	seqs := sequences(l.j.Releases)
	without := 1
	for at := l.before; at >= 0; at-- {
		if !IsBaseline(l.j.Releases[at].Channel) || seqs[at] != seqs[l.release] {
			continue
		}
		systems := map[schema.System]bool{}
		for _, run := range l.j.Counted(at) {
			systems[systemOf(&l.j.Columns.Runs[run])] = true
		}
		if without > 1 {
			l.gone(systems, at, without)
		}
		for s := range systems {
			l.systems[s] = true
		}
		without++
	}
}

// gone adds systems that a release was the last to measure.
func (l *missing) gone(systems map[schema.System]bool, last, releases int) {
	var list []schema.System
	for s := range systems {
		if !l.systems[s] && s.Model != "" && s.Device != "" {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, compareSystems)
	for _, s := range list {
		v := l.start(s)
		v.Baseline, v.Reason = l.j.Releases[last].Name, schema.NotRemeasured{Releases: releases}
		l.add(v)
	}
}

// renamed reports whether the release has a task under another metric.
func (l *missing) renamed(id evalID) bool {
	return slices.ContainsFunc(l.j.evals.cells, func(c *evalCell) bool { return c.id == id && c.at(l.release) != nil })
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
	if l.said[metricID{at, ""}] || l.said[metricID{at, v.Metric}] {
		return
	}
	l.said[metricID{at, v.Metric}] = true
	v.ID = schema.VerdictID(v.Release, v.Baseline, v.Pair(), v.Key, "gone/"+v.Metric, v.Impl, schema.AgainstHistory)
	l.out = append(l.out, v)
}
