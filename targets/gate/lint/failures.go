package lint

import (
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/regression/proportion"
)

// Failures are requests of a workload that failed, of so many.
type Failures struct{ Failed, Of float64 }

func (f Failures) share() float64 { return f.Failed / f.Of }

func (l *inspection) failures(p *columns.PointRow) (Failures, bool) {
	bad, ok := l.get(p, "requests_failed", "value")
	good, has := l.get(p, "requests_ok", "value")
	return Failures{bad, good + bad}, ok && has && good+bad > 0
}

func failedShare(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		if f, ok := l.failures(p); ok && f.share() > schema.MostFailures {
			l.add(run, k.Workload(), f.share(), FailedShare(f))
		}
	})
}

// Bounds of what counts as more failures than before.
const (
	chanceOfMore = .01 // that a release which fails as the one before has such a workload
	mostEarlier  = 8   // releases that are looked through for a workload
)

// measured is a workload of a system.
type measured struct {
	system schema.System
	key    int32
}

// failing are the requests of a workload in some runs, by run and together.
type failing struct {
	all  Failures
	runs []int
	each []Failures
}

// moreFailures finds workloads of which more requests fail than in the last release that measured them: a hundredth of
// all and twice the share more in every run, since failures that a second run does not have were those of a moment, and
// together more than chance explains, by Fisher's exact test. The chance is shared among the workloads that had
// failures: no other one can be found.
func moreFailures(l *inspection) {
	now, order := l.failing(l.runs)
	order = slices.DeleteFunc(order, func(at measured) bool { return now[at].all.Failed == 0 })
	if len(order) == 0 {
		return
	}
	before, n := l.failingBefore(order), len(order)
	for at, old := range before {
		if f := now[at]; f != nil && f.all.Failed == 0 && old.all.Failed > 0 {
			n++
		}
	}
	for _, at := range order {
		f, old := now[at], before[at]
		if old == nil || !f.moreThan(old.all) {
			continue
		}
		p := proportion.Fisher(int(old.all.Failed), int(old.all.Of), int(f.all.Failed), int(f.all.Of))
		if p <= chanceOfMore/float64(n) {
			d := MoreFailures{f.all.Failed, f.all.Of, old.all.Failed, old.all.Of, l.c.Runs[old.runs[0]].Release}
			l.add(f.runs[0], l.c.Keys[at.key].Workload(), f.all.share(), d)
		}
	}
}

// failingBefore are the workloads of the release before, and of earlier ones those of a list that it lacks.
func (l *inspection) failingBefore(list []measured) map[measured]*failing {
	out, seen := map[measured]*failing{}, 0
	for runs := range l.earlier {
		of, _ := l.failing(runs)
		for at, f := range of {
			if out[at] == nil && (seen == 0 || slices.Contains(list, at)) {
				out[at] = f
			}
		}
		lacks := slices.ContainsFunc(list, func(at measured) bool { return out[at] == nil })
		if seen++; !lacks || seen == mostEarlier {
			break
		}
	}
	return out
}

// failing collects the workloads of some runs, in the order of these.
func (l *inspection) failing(runs []int) (of map[measured]*failing, order []measured) {
	of = map[measured]*failing{}
	l.points(runs, func(run int, p *columns.PointRow, _ schema.Key) {
		f, ok := l.failures(p)
		if !ok {
			return
		}
		h := &l.c.Runs[run]
		at := measured{schema.System{Model: h.Model.Name, Device: h.Device, Impl: h.Impl}, p.Key}
		w := of[at]
		if w == nil {
			w = &failing{}
			of[at], order = w, append(order, at)
		}
		if n := len(w.runs); n == 0 || w.runs[n-1] != run {
			w.runs, w.each = append(w.runs, run), append(w.each, Failures{})
		}
		for _, sum := range []*Failures{&w.all, &w.each[len(w.each)-1]} {
			sum.Failed += f.Failed
			sum.Of += f.Of
		}
	})
	return of, order
}

// moreThan reports whether so many more requests failed in each run that it matters.
func (f *failing) moreThan(before Failures) bool {
	for _, run := range f.each {
		if s := run.share(); s < before.share()+schema.MostFailures || s < 2*before.share() {
			return false
		}
	}
	return true
}
