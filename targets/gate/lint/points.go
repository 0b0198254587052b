package lint

import (
	"math"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/columns"
	"github.com/ttreport/ttreport/targets/regression/proportion"
)

// emptyResponses reports what was found when the files were read: problems with codes such as hollow-success.
func emptyResponses(l *inspection) {
	l.problems(func(run int, p *schema.Problem) {
		if strings.Contains(p.Code, "hollow") {
			l.add(run, p.Path, 0, EmptyResponses{p.Found})
		}
	})
}

// unread finds files of a run's folder that were errors: what they hold is not in the release.
func unread(l *inspection) {
	l.problems(func(run int, p *schema.Problem) {
		if p.Code == schema.CodeUnread {
			l.add(run, p.Path, 0, Unread{p.Found})
		}
	})
}

// copies finds files that were left out of a run. Runs of nothing but copies do not count, and are not inspected.
func copies(l *inspection) {
	l.problems(func(run int, p *schema.Problem) {
		if p.Code == schema.CodeCopy {
			l.add(run, p.Path, 0, DuplicateRun{Path: p.Path, Same: true, Copy: p.Found})
		}
	})
}

func (l *inspection) problems(do func(run int, p *schema.Problem)) {
	for _, run := range l.runs {
		for i := range l.c.Problems {
			if p := &l.c.Problems[i]; int(p.Run) == run {
				do(run, &p.Problem)
			}
		}
	}
}

func shortAnswers(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		got, ok := l.get(p, "osl", "mean")
		if !ok {
			got, ok = l.get(p, "osl", "value")
		}
		if ok && k.OSL != nil && *k.OSL >= 8 && got < schema.LeastAnswer**k.OSL {
			l.add(run, k.Workload(), *k.OSL/got, ShortAnswers{*k.OSL, got})
		}
	})
}

// otherLengths sees prompts that the server counted otherwise than was asked, and answers that are longer. A chat
// template adds some tens of tokens; prompts that were fitted to the server's own count are exact.
func otherLengths(l *inspection) {
	const template = 48
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		if k.LengthsVary() {
			return
		}
		in, ok := l.get(p, "isl", "mean")
		off := func(isl float64) float64 { return math.Max(template, .1*isl) }
		if l.c.Conds[p.Cond][schema.ConditionISL] == schema.ISLCounted {
			off = func(isl float64) float64 { return math.Max(1, .01*isl) }
		}
		if ok && k.ISL != nil && *k.ISL > 0 && math.Abs(in-*k.ISL) > off(*k.ISL) {
			l.add(run, k.Workload(), ratio(in, *k.ISL), OtherLengths{true, *k.ISL, in})
		}
		out, ok := l.get(p, "osl", "mean")
		if ok && k.OSL != nil && *k.OSL > 0 && out > *k.OSL+math.Max(8, .1**k.OSL) {
			l.add(run, k.Workload(), ratio(out, *k.OSL), OtherLengths{false, *k.OSL, out})
		}
	})
}

// ratio is the larger of two lengths over the smaller.
func ratio(a, b float64) float64 { return math.Max(a, b) / math.Max(math.Min(a, b), 1) }

// saturated compares the requested load with the load that was reached: as stated by the client, else by Little's
// law, requests in flight = requests a second × seconds each.
func saturated(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		rps, hasRate := l.get(p, "rps", "value")
		if k.Rate != nil && hasRate {
			duration, ok := l.get(p, "duration_s", "value")
			e2el, ok2 := l.get(p, "e2el", "mean")
			// The last requests of a short run end after the clock of arrivals: allow for one request's length.
			if slack := 1.; ok && ok2 && duration > 0 {
				slack = math.Max(.5, 1-e2el/1000/duration)
				if rps < .9**k.Rate*slack {
					l.add(run, k.Workload(), *k.Rate/rps, Saturated{true, *k.Rate, rps})
				}
			}
			return
		}
		if k.Concurrency == nil || *k.Concurrency < 2 || k.Dims[schema.DimThink] != "" { // thinking is not in flight
			return
		}
		asked := *k.Concurrency
		n, _ := l.requests(p)
		got, ok := l.get(p, columns.ClientMetric, "concurrency_reached")
		if !ok {
			e2el, has := l.get(p, "e2el", "mean")
			if !has || !hasRate {
				return
			}
			got = rps * e2el / 1000
		}
		// Fewer than four rounds of requests never reach the requested concurrency: most of the time is ramp-up and
		// ramp-down.
		if schema.Saturated(asked, got) && n >= 4*asked {
			l.add(run, k.Workload(), asked/math.Max(got, .01), Saturated{false, asked, got})
		}
	})
}

// coldStart finds a mean that a few first requests raised: twice the median or more, over at least eight requests.
func coldStart(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		mean, ok := l.get(p, "ttft", "mean")
		median, ok2 := l.get(p, "ttft", "median")
		n, ok3 := l.requests(p)
		if !ok || !ok2 || !ok3 || n < 8 || median <= 0 || mean <= 2*median || l.queued(p, k, median, n) {
			return
		}
		l.add(run, k.Workload(), mean/median, ColdStart{mean, median, n})
	})
}

// queued reports whether requests of a point waited for each other, which raises the mean TTFT without a cold server.
func (l *inspection) queued(p *columns.PointRow, k schema.Key, median, n float64) bool {
	if k.Concurrency == nil && k.Rate == nil || k.Concurrency != nil && *k.Concurrency > 1 && n < 4**k.Concurrency {
		return true // the first round of a burst queues by design
	}
	for _, tail := range []string{"p90", "p95"} { // a cold server delays a few requests, a queue many
		if slow, ok := l.get(p, "ttft", tail); ok && slow > 2*median && n >= 40 {
			return true
		}
	}
	rps, ok := l.get(p, "rps", "value")
	return ok && k.Rate != nil && rps < .9**k.Rate // it fell behind, and every request waited for those before it
}

// secondTokenStall finds, at concurrency 1, a mean gap above the median that one long gap in each request explains:
// with m gaps a request of which one is S longer, the mean rises by S/m and the standard deviation is S/√m.
func secondTokenStall(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		mean, ok := l.get(p, "itl", "mean")
		median, ok2 := l.get(p, "itl", "median")
		std, ok3 := l.get(p, "itl", "std")
		if !ok || !ok2 || !ok3 || k.OSL == nil || *k.OSL < 8 || k.Concurrency == nil || *k.Concurrency != 1 {
			return
		}
		m := *k.OSL - 1
		byMean, bySd := (mean-median)*m, std*math.Sqrt(m)
		if byMean > 3*median && bySd > 3*median && byMean < 2*bySd && bySd < 2*byMean {
			l.add(run, k.Workload(), byMean/median, SecondTokenStall{byMean, median, mean})
		}
	})
}

// prefixCache finds repeats of one workload within a run where the first TTFT is a quarter above all later ones.
func prefixCache(l *inspection) {
	type id struct {
		run int
		key int32
	}
	seen := map[id][]float64{}
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		share, ok := l.get(p, columns.ClientMetric, schema.ClientCached)
		if ok && share >= schema.MostlyCached && !k.SharesPrompts() {
			l.add(run, k.Workload(), share, PrefixCache{Cached: share})
		}
		if v, ok := l.get(p, "ttft", "mean"); ok {
			seen[id{run, p.Key}] = append(seen[id{run, p.Key}], v)
		}
	})
	for _, run := range l.runs {
		h := &l.c.Runs[run]
		done := map[int32]bool{}
		for i := h.FirstPoint; i < h.PointsEnd; i++ {
			key := l.c.Points[i].Key
			list := seen[id{run, key}]
			if done[key] || len(list) < 2 {
				continue
			}
			done[key] = true
			most := 0.
			for _, v := range list[1:] {
				most = math.Max(most, v)
			}
			if list[0] > 1.25*most {
				l.add(run, l.c.Keys[key].Workload(), list[0]/most, PrefixCache{First: list[0], Later: most})
			}
		}
	}
}

func fewRequests(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		if n, ok := l.requests(p); ok && n > 0 && n <= 2 {
			l.add(run, k.Workload(), 1/n, FewRequests{n})
		}
	})
}

func fewForTail(l *inspection) {
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		_, has := l.get(p, "ttft", schema.TailStat)
		if n, ok := l.requests(p); has && ok && !schema.TailHolds(schema.TailStat, n) {
			l.add(run, k.Workload(), 1/n, FewForTail{n})
		}
	})
}

// Bounds of what another unit explains and nothing else does.
const (
	thousand  = 1000.
	nearUnit  = 1.25 // a factor that a unit's thousand and a change of the number make together is within this of it
	tooFewFor = 200. // times fewer requests in flight than the load keeps there
)

// otherUnit finds latencies in another unit than stated: a thousand times, or a thousandth of, what the release before
// has; and such that a closed loop would have had next to nothing in flight, by Little's law.
func otherUnit(l *inspection) {
	type latency struct {
		of     measured
		metric string
	}
	at := func(run int, p *columns.PointRow, metric string) latency {
		h := &l.c.Runs[run]
		return latency{measured{schema.System{Model: h.Model.Name, Device: h.Device, Impl: h.Impl}, p.Key}, metric}
	}
	metrics := schema.MetricNames(func(m *schema.MetricInfo) bool { return m.Latency })
	before, name := map[latency]float64{}, ""
	l.points(l.before(), func(run int, p *columns.PointRow, _ schema.Key) {
		name = l.c.Runs[run].Release
		for _, metric := range metrics {
			if v, ok := l.get(p, metric, "mean"); ok {
				before[at(run, p, metric)] = v
			}
		}
	})
	l.points(l.runs, func(run int, p *columns.PointRow, k schema.Key) {
		for _, metric := range metrics {
			now, ok := l.get(p, metric, "mean")
			if was := before[at(run, p, metric)]; ok && thousandfold(now, was) {
				l.add(run, k.Workload(), 1, OtherUnit{Metric: metric, Now: now, Then: was, Before: name})
				return
			}
		}
		if asked, got, ok := l.inFlight(p, k); ok && got > 0 && asked > tooFewFor*got {
			l.add(run, k.Workload(), 0, OtherUnit{Asked: asked, Reached: got})
		}
	})
}

// thousandfold reports whether one number is about a thousand times the other.
func thousandfold(a, b float64) bool {
	return a > 0 && b > 0 && math.Abs(math.Abs(math.Log(a/b))-math.Log(thousand)) < math.Log(nearUnit)
}

// inFlight is how many requests a closed loop keeps in flight, and how many there were by Little's law; false where
// that cannot be told, or some of them failed.
func (l *inspection) inFlight(p *columns.PointRow, k schema.Key) (asked, got float64, ok bool) {
	rps, hasRate := l.get(p, "rps", "value")
	e2el, has := l.get(p, "e2el", "mean")
	n, counted := l.requests(p)
	if !hasRate || !has || !counted || k.Concurrency == nil || k.Rate != nil || k.Dims[schema.DimThink] != "" {
		return 0, 0, false
	}
	if f, known := l.failures(p); known && f.share() > .1 {
		return 0, 0, false
	}
	return *k.Concurrency, rps * e2el / 1000, n >= 4**k.Concurrency
}

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
