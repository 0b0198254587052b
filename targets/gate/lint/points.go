package lint

import (
	"cmp"
	"math"
	"slices"

	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/targets/regression/proportion"
)

// problems makes a check of the problems of a code that were found when the files of a run were read.
func problems(code string, detail func(*schema.Problem) Detail) func(*inspection) {
	return func(l *inspection) {
		for _, run := range l.runs {
			for i := range l.c.Problems {
				if p := &l.c.Problems[i]; int(p.Run) == run && p.Code == code {
					l.add(run, p.Path, 0, detail(&p.Problem))
				}
			}
		}
	}
}

func shortAnswers(p point) {
	if p.Dims["range_ratio"] != "" { // lengths were drawn below the one that is stated
		return
	}
	got, ok := p.get("osl", "mean")
	if !ok {
		got, ok = p.get("osl", "value")
	}
	if ok && p.OSL != nil && *p.OSL >= 8 && got < schema.LeastAnswer**p.OSL {
		p.add(*p.OSL/got, ShortAnswers{*p.OSL, got})
	}
}

// otherLengths sees prompts that the server counted otherwise than was asked, and answers that are longer. A chat
// template adds some tens of tokens; prompts that were fitted to the server's own count are exact.
func otherLengths(p point) {
	const template = 48
	if p.LengthsVary() {
		return
	}
	in, ok := p.get("isl", "mean")
	off := func(isl float64) float64 { return math.Max(template, .1*isl) }
	if p.c.Conds[p.row.Cond][schema.ConditionISL] == schema.ISLCounted {
		off = func(isl float64) float64 { return math.Max(1, .01*isl) }
	}
	if ok && p.ISL != nil && *p.ISL > 0 && math.Abs(in-*p.ISL) > off(*p.ISL) {
		p.add(ratio(in, *p.ISL), OtherLengths{true, *p.ISL, in})
	}
	out, ok := p.get("osl", "mean")
	if ok && p.OSL != nil && *p.OSL > 0 && out > *p.OSL+math.Max(8, .1**p.OSL) {
		p.add(ratio(out, *p.OSL), OtherLengths{false, *p.OSL, out})
	}
}

// ratio is the larger of two lengths over the smaller.
func ratio(a, b float64) float64 { return math.Max(a, b) / math.Max(math.Min(a, b), 1) }

// saturated compares the requested load with the load that was reached: as stated by the client, else by Little's
// law, requests in flight = requests a second × seconds each.
func saturated(p point) {
	rps, hasRate := p.get("rps", "value")
	switch {
	case p.Rate != nil && p.Concurrency != nil: // which limits the rate, as was asked
		return
	case p.Rate != nil && hasRate:
		saturatedRate(p, rps)
		return
	}
	if p.Concurrency == nil || *p.Concurrency < 2 || p.Dims[schema.DimThink] != "" { // thinking is not in flight
		return
	}
	asked := *p.Concurrency
	n, _ := p.requests()
	got, ok := p.client("concurrency_reached")
	if !ok {
		e2el, has := p.get("e2el", "mean")
		if !has || !hasRate {
			return
		}
		got = rps * e2el / 1000
	}
	// Fewer than four rounds of requests never reach the requested concurrency: most of the time is ramp-up and
	// ramp-down.
	if schema.Saturated(asked, got) && n >= 4*asked {
		p.add(asked/math.Max(got, .01), Saturated{false, asked, got})
	}
}

// saturatedRate compares the requested rate with that which was reached. The last requests of a short run end after the
// clock of arrivals: it allows for one request's length.
func saturatedRate(p point, rps float64) {
	duration, ok := p.get("duration_s", "value")
	e2el, ok2 := p.get("e2el", "mean")
	if ok && ok2 && duration > 0 && rps < .9**p.Rate*math.Max(.5, 1-e2el/1000/duration) {
		p.add(*p.Rate/rps, Saturated{true, *p.Rate, rps})
	}
}

// coldStart finds a mean that a few first requests raised: twice the median or more, over at least eight requests.
func coldStart(p point) {
	mean, ok := p.get("ttft", "mean")
	median, ok2 := p.get("ttft", "median")
	n, ok3 := p.requests()
	if !ok || !ok2 || !ok3 || n < 8 || median <= 0 || mean <= 2*median || p.queued(median, n) {
		return
	}
	p.add(mean/median, ColdStart{mean, median, n})
}

// queued reports whether requests of a point waited for each other, which raises the mean TTFT without a cold server.
func (p point) queued(median, n float64) bool {
	if p.Concurrency == nil && p.Rate == nil || p.Concurrency != nil && *p.Concurrency > 1 && n < 4**p.Concurrency {
		return true // the first round of a burst queues by design
	}
	for _, tail := range []string{"p90", "p95"} { // a cold server delays a few requests, a queue many
		if slow, ok := p.get("ttft", tail); ok && slow > 2*median && n >= 40 {
			return true
		}
	}
	rps, ok := p.get("rps", "value")
	return ok && p.Rate != nil && rps < .9**p.Rate // it fell behind, and every request waited for those before it
}

// secondTokenStall finds, at concurrency 1, a mean gap above the median that one long gap in each request explains:
// with m gaps a request of which one is S longer, the mean rises by S/m and the standard deviation is S/√m.
func secondTokenStall(p point) {
	mean, ok := p.get("itl", "mean")
	median, ok2 := p.get("itl", "median")
	std, ok3 := p.get("itl", "std")
	if !ok || !ok2 || !ok3 || p.OSL == nil || *p.OSL < 8 || p.Concurrency == nil || *p.Concurrency != 1 {
		return
	}
	m := *p.OSL - 1
	byMean, bySd := (mean-median)*m, std*math.Sqrt(m)
	if byMean > 3*median && bySd > 3*median && byMean < 2*bySd && bySd < 2*byMean {
		p.add(byMean/median, SecondTokenStall{byMean, median, mean})
	}
}

// prefixCache finds repeats of one workload within a run where the first TTFT is a quarter above all later ones.
func prefixCache(l *inspection) {
	type id struct {
		run int
		key int32
	}
	seen := map[id][]float64{}
	var order []point
	for p := range l.points(l.runs) {
		share, ok := p.client(schema.ClientCached)
		if ok && share >= schema.MostlyCached && !p.SharesPrompts() {
			p.add(share, PrefixCache{Cached: share})
		}
		if v, ok := p.get("ttft", "mean"); ok {
			at := id{p.run, p.row.Key}
			if seen[at] == nil {
				order = append(order, p)
			}
			seen[at] = append(seen[at], v)
		}
	}
	for _, p := range order {
		list := seen[id{p.run, p.row.Key}]
		if len(list) < 2 {
			continue
		}
		if later := slices.Max(list[1:]); list[0] > 1.25*later {
			p.add(list[0]/later, PrefixCache{First: list[0], Later: later})
		}
	}
}

func fewRequests(p point) {
	if n, ok := p.requests(); ok && n > 0 && n <= 2 {
		p.add(1/n, FewRequests{n})
	}
}

func fewForTail(p point) {
	_, has := p.get("ttft", schema.TailStat)
	if n, ok := p.requests(); has && ok && !schema.TailHolds(schema.TailStat, n) {
		p.add(1/n, FewForTail{n})
	}
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
	metrics := schema.MetricNames(func(m *schema.MetricInfo) bool { return m.Latency })
	before, name := map[latency]float64{}, ""
	for p := range l.points(l.before()) {
		name = l.c.Runs[p.run].Release
		for _, metric := range metrics {
			if v, ok := p.get(metric, "mean"); ok {
				before[latency{p.measured(), metric}] = v
			}
		}
	}
next:
	for p := range l.points(l.runs) {
		for _, metric := range metrics {
			now, ok := p.get(metric, "mean")
			if was := before[latency{p.measured(), metric}]; ok && thousandfold(now, was) {
				p.add(1, OtherUnit{Metric: metric, Now: now, Then: was, Before: name})
				continue next
			}
		}
		if asked, got, ok := p.inFlight(); ok && got > 0 && asked > tooFewFor*got {
			p.add(0, OtherUnit{Asked: asked, Reached: got})
		}
	}
}

// thousandfold reports whether one number is about a thousand times the other.
func thousandfold(a, b float64) bool {
	return a > 0 && b > 0 && math.Abs(math.Abs(math.Log(a/b))-math.Log(thousand)) < math.Log(nearUnit)
}

// inFlight is how many requests a closed loop keeps in flight, and how many there were by Little's law; false where
// that cannot be told, or some of them failed.
func (p point) inFlight() (asked, got float64, ok bool) {
	rps, hasRate := p.get("rps", "value")
	e2el, has := p.get("e2el", "mean")
	n, counted := p.requests()
	if !hasRate || !has || !counted || p.Concurrency == nil || p.Rate != nil || p.Dims[schema.DimThink] != "" {
		return 0, 0, false
	}
	if f, known := p.failures(); known && f.share() > .1 {
		return 0, 0, false
	}
	return *p.Concurrency, rps * e2el / 1000, n >= 4**p.Concurrency
}

// Failures are requests of a workload that failed, of so many.
type Failures struct{ Failed, Of float64 }

func (f Failures) share() float64 { return f.Failed / f.Of }

func (p point) failures() (Failures, bool) {
	bad, ok := p.get("requests_failed", "value")
	good, has := p.get("requests_ok", "value")
	return Failures{bad, good + bad}, ok && has && good+bad > 0
}

func failedShare(p point) {
	if f, ok := p.failures(); ok && f.share() > schema.MostFailures {
		p.add(f.share(), FailedShare(f))
	}
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
			d := MoreFailures{f.all.Failed, f.all.Of, old.all.Failed, old.all.Of,
				cmp.Or(l.c.Runs[old.runs[0]].Release, l.c.Runs[old.runs[0]].ID)}
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
	for p := range l.points(runs) {
		f, ok := p.failures()
		if !ok {
			continue
		}
		at := p.measured()
		w := of[at]
		if w == nil {
			w = &failing{}
			of[at], order = w, append(order, at)
		}
		if n := len(w.runs); n == 0 || w.runs[n-1] != p.run {
			w.runs, w.each = append(w.runs, p.run), append(w.each, Failures{})
		}
		for _, sum := range []*Failures{&w.all, &w.each[len(w.each)-1]} {
			sum.Failed += f.Failed
			sum.Of += f.Of
		}
	}
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
