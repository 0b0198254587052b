package targets

import (
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
)

// gone lists what the release before measured and this one did not: a system as one, else its points, else single metrics of a
// point that was measured, and evals. A release that leaves out what became slow is not fit without a word. taken are verdicts
// that already say why a point has no number.
func (j *Judgement) gone(release int, taken []schema.Verdict) []schema.Verdict {
	before := j.Before(release)
	if before < 0 {
		return nil
	}
	l := leaving{j: j, release: release, before: before, systems: map[[3]string]bool{}, points: map[string]bool{}, metrics: map[string]bool{}, said: map[string]bool{}}
	for _, run := range j.Releases[release].Runs {
		h := &j.Columns.Runs[run]
		l.systems[[3]string{h.Model.Name, h.Device, h.Impl}] = true
	}
	for i := range taken {
		if v := &taken[i]; v.Reason.Args["other"] == "" { // another run has its numbers, and they are looked for as all others are
			l.said[subject(v)] = true
		}
	}
	l.performance()
	l.evals()
	return l.out
}

// leaving is the search for what is gone.
type leaving struct {
	j               *Judgement
	release, before int
	systems         map[[3]string]bool // with a run in the release
	points, metrics map[string]bool    // with a number in the release; filled when something seems to be gone
	said            map[string]bool
	out             []schema.Verdict
}

func (l *leaving) performance() {
	j := l.j
	for _, i := range j.byCell[l.before] {
		s := &j.Series[j.cellOf[i]]
		if s.find(l.release) >= 0 {
			continue
		}
		v := l.start(s.Model, s.Device, s.Impl)
		if l.systems[[3]string{s.Model, s.Device, s.Impl}] {
			if len(l.points) == 0 {
				l.index()
			}
			v.Key = s.Key
			switch at := subject(&v); {
			case l.metrics[at+"\x00"+s.Metric]: // under another definition, which is told as such
				continue
			case l.points[at]:
				v.Metric, v.Stat, v.Def = s.Metric, s.Stat, s.Def
			}
		}
		l.add(v)
	}
}

// index notes what the release has.
func (l *leaving) index() {
	for _, i := range l.j.byCell[l.release] {
		s := &l.j.Series[l.j.cellOf[i]]
		at := subject(&schema.Verdict{Model: s.Model, Device: s.Device, Impl: s.Impl, Key: s.Key})
		l.points[at], l.metrics[at+"\x00"+s.Metric] = true, true
	}
}

func (l *leaving) evals() {
	for _, c := range l.j.evals.cells {
		was, is := c.at(l.before), c.at(l.release)
		if was == nil || is != nil || c.id.seq != sequences(l.j.Releases)[l.release] {
			continue
		}
		v := l.start(c.id.model, c.id.device, c.id.impl)
		if l.systems[[3]string{v.Model, v.Device, v.Impl}] {
			v.Key = EvalKey(&was.scores[0].Score)
			if l.renamed(c.id) {
				v.Metric = c.metric
			}
		}
		l.add(v)
	}
}

// renamed reports whether the release has a task under another metric.
func (l *leaving) renamed(id evalID) bool {
	return slices.ContainsFunc(l.j.evals.cells, func(c *evalCell) bool { return c.id == id && c.at(l.release) != nil })
}

func (l *leaving) start(model, device, impl string) schema.Verdict {
	return schema.Verdict{Release: l.j.Releases[l.release].Name, Baseline: l.j.Releases[l.before].Name, Model: model, Device: device, Impl: impl, Against: schema.AgainstHistory,
		Word: schema.MissingWord, Value: schema.Missing("not measured"), Ref: schema.Missing("not measured"), Reason: schema.Reason{Code: "gone"}}
}

// add keeps a verdict unless its point has one.
func (l *leaving) add(v schema.Verdict) {
	at := subject(&v)
	if l.said[at] || l.said[at+"\x00"+v.Metric] {
		return
	}
	l.said[at+"\x00"+v.Metric] = true
	v.ID = schema.VerdictID(v.Release, v.Baseline, v.Model, v.Device, v.Key, "gone/"+v.Metric, v.Impl, schema.AgainstHistory)
	l.out = append(l.out, v)
}
