package collect

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Bounds of a measurement that ends when it is known, beside its time.
const (
	requestsUntil = 50_000
	gapsUntil     = 2_000_000 // the result file has each gap between tokens
)

// mostUntil returns the most requests of such a measurement.
func mostUntil(w plan.Workload) int {
	return min(requestsUntil, max(1000, gapsUntil/max(1, w.OSL)))
}

// knownPoint is a point that is measured until it is known, in one visit to it or several.
type knownPoint struct {
	rule   precision.Rule
	out    builtin.Outcome // the steady parts of all visits, as one
	cut    int             // requests of their warm-ups
	known  precision.Known
	took   time.Duration
	start  time.Duration // of the steady part of the last visit, after its beginning
	beside beside
}

// untilKnown measures a point until it is known as well as the plan asks, or its time is over.
func (s *session) untilKnown(ctx context.Context, st step, load builtin.Load) error {
	k := &knownPoint{rule: s.plan.Until}
	limited, done := context.WithTimeout(ctx, s.limit(st))
	defer done()
	if err := s.visit(limited, load, k, min(s.plan.Until.Limit(), s.limit(st)*9/10)); err != nil {
		return s.loadFailed(ctx, limited, st, err)
	}
	return s.keepPoint(st, load, k.out, k.beside, k)
}

// visit measures a point for some time, or until it is known together with what earlier visits measured.
func (s *session) visit(ctx context.Context, load builtin.Load, k *knownPoint, most time.Duration) error {
	gauges := s.sample(ctx)
	defer gauges.stop()
	began, before := s.now(), k.out.Duration
	known := func(done []builtin.Timeline) bool {
		return !slices.ContainsFunc(done, completed) || k.with(load, done).known.Reached
	}
	load.Enough = &builtin.Enough{Most: most, Window: leastWindow(load), Least: k.rule.Least(inFlight(load, nil)),
		Known: known}
	out, err := s.load(ctx, load)
	if err != nil {
		return err
	}
	*k = k.joined(load, out)
	k.took += s.now().Sub(began)
	k.beside = k.beside.and(gauges.during(out.Began.Add(k.start), (k.out.Duration - before).Seconds(), before.Seconds()))
	return nil
}

func completed(t builtin.Timeline) bool { return t.OK }

// inFlight returns how many requests are in flight at once: the streams of a closed loop; in an open one as many as
// Little's law says, twice, because they come and go.
func inFlight(l builtin.Load, done []builtin.Timeline) int {
	if l.Rate <= 0 {
		return l.Concurrency
	}
	sum, n := 0., 0
	for _, t := range done {
		if completed(t) {
			sum, n = sum+t.E2EL, n+1
		}
	}
	return max(1, int(math.Round(2*l.Rate*sum/1000/float64(max(1, n)))))
}

// with returns the point with the requests of one more visit.
func (k knownPoint) with(load builtin.Load, done []builtin.Timeline) knownPoint {
	wave := inFlight(load, done)
	k.known = k.rule.Judge(seriesOf(done), firstWave(load, done), wave)
	cut := cutRequests(done, k.known.Cut)
	if earlier := k.out.Requests; len(earlier) > 0 { // their warm-up was cut
		k.known = k.rule.Behind(seriesOf(slices.Concat(earlier, done[cut:])), 0, wave)
	}
	k.cut += cut
	return k
}

// cutRequests is how many requests a cut of the completed ones is.
func cutRequests(done []builtin.Timeline, cut int) int {
	for i, t := range done {
		if cut == 0 {
			return i
		}
		if completed(t) {
			cut--
		}
	}
	return len(done)
}

// joined adds the steady window of a visit.
func (k knownPoint) joined(load builtin.Load, visit builtin.Outcome) knownPoint {
	before := k.cut
	next := k.with(load, visit.Requests[:visit.Whole])
	w := windowOf(load, visit, next.cut-before)
	out := visit
	if len(k.out.Requests) > 0 {
		out.Began, out.CPU, out.Peak = k.out.Began, out.CPU+k.out.CPU, max(out.Peak, k.out.Peak)
	}
	out.Requests, out.Late, out.Duration = nil, nil, k.out.Duration
	out.Requests = append(out.Requests, k.out.Requests...)
	if len(visit.Late) > 0 {
		out.Late = slices.Concat(k.out.Late, visit.Late[w.from:w.to])
	}
	for _, t := range visit.Requests[w.from:w.to] {
		t.Sent += k.out.Duration - w.start
		out.Requests = append(out.Requests, t)
	}
	next.start = w.start
	out.Duration += w.length
	out.Whole = len(out.Requests)
	next.out = out
	return next
}

// seriesOf returns what is to be known of requests: the means that everything is judged by.
func seriesOf(done []builtin.Timeline) []precision.Series {
	var ttft, tpot, e2el []float64
	for _, t := range done {
		if !completed(t) {
			continue
		}
		ttft, e2el = append(ttft, t.TTFT), append(e2el, t.E2EL)
		if t.Out > 1 {
			tpot = append(tpot, (t.E2EL-t.TTFT)/float64(t.Out-1))
		}
	}
	var list []precision.Series
	if len(ttft) > 0 && ttft[0] > 0 { // else answers are vectors or scores
		list = append(list, precision.Series{Name: "ttft", Values: ttft})
	}
	if len(tpot) > 0 && len(tpot) == len(ttft) { // else answers have a single token
		list = append(list, precision.Series{Name: "tpot", Values: tpot})
	}
	return append(list, precision.Series{Name: "e2el", Values: e2el})
}

// into writes what is known to a sidecar: facts that lints and pages read. Percents are of the mean.
func (k *knownPoint) into(side *manifest.Sidecar) {
	if k == nil {
		return
	}
	percent := func(share float64) string { return strconv.FormatFloat(100*share, 'g', 3, 64) }
	side.Conditions[schema.ConditionWindow] = schema.WindowSteady
	side.Conditions["until"] = k.rule.String()
	side.Conditions["num_prompts"] = strconv.Itoa(len(k.out.Requests))
	delete(side.Conditions, "warmups")
	side.Client[schema.ClientWarmup] = strconv.Itoa(k.cut)
	side.Client[schema.ClientCIAsked] = percent(k.rule.CI)
	settled := "1"
	if !k.known.Steady {
		settled = "0"
	}
	side.Client[schema.ClientSteady] = settled
	for _, state := range k.known.States {
		if r := state.Relative(); !math.IsInf(r, 1) {
			side.Client[schema.ClientCI+state.Name] = percent(r)
		}
		if state.Drift != 0 {
			side.Client[schema.ClientDrift+state.Name] = percent(state.Drift)
		}
	}
}

// note says for progress how well a point is known.
func (k *knownPoint) note() string {
	if k == nil || len(k.out.Requests) == 0 {
		return ""
	}
	var parts []string
	for _, state := range k.known.States {
		text := "±?"
		if r := state.Relative(); !math.IsInf(r, 1) {
			text = fmt.Sprintf("±%.*f%%", decimals(100*r), 100*r)
		}
		if d := state.Drift; d != 0 {
			text += fmt.Sprintf(" drifts by %+.*f%%", decimals(100*d), 100*d)
		}
		parts = append(parts, strings.ToUpper(state.Name)+" "+text)
	}
	out := fmt.Sprintf("%s, %s", plaintext.Plural(len(k.out.Requests), "request"), strings.Join(parts, ", "))
	switch {
	case k.known.Reached:
		return out
	case k.known.Worst <= k.rule.CI && !k.known.Steady:
		return out + ": it did not settle"
	case k.known.Worst <= k.rule.CI:
		return out + ": too few for " + k.rule.Tail
	}
	return out + fmt.Sprintf(": ±%g%% not reached", 100*k.rule.CI)
}

// decimals returns with how many decimals a number has two digits, or is whole.
func decimals(v float64) int {
	if v == 0 {
		return 0
	}
	return max(0, 1-int(math.Floor(math.Log10(math.Abs(v)))))
}

// budget divides the time of a plan among its points: first each gets a short visit, then the time that is left goes to
// those that are not known yet, by how much each still needs. Points that are known early leave their time to others.
type budget struct {
	s    *session
	ends time.Time
	open []*openPoint // visited and not known yet
	left int          // points of the first round that are not visited yet
}

// openPoint is a point that may be visited again.
type openPoint struct {
	st     step
	visits uint64
	load   builtin.Load // of the last visit, without its requests
	known  knownPoint
}

// Parts of a budget.
const (
	firstPart  = .4 // of the time that is left for a point, in its first visit
	mostRounds = 6
	leastVisit = 2 * time.Second // shorter ones are warm-up
)

func (s *session) newBudget(items []plan.Item) *budget {
	if s.plan.Budget == 0 {
		return nil
	}
	b := &budget{s: s, ends: s.now().Add(s.plan.Share())}
	for _, it := range items {
		if !s.done[it.Name] && it.Task == "" && !it.Load.SLO.Set() {
			b.left++
		}
	}
	return b
}

// remaining returns the time that is left.
func (b *budget) remaining() time.Duration { return max(0, b.ends.Sub(b.s.now())) }

// first is a point's first visit.
func (b *budget) first(ctx context.Context, st step, load builtin.Load) error {
	share := time.Duration(firstPart * float64(b.remaining()) / float64(max(1, b.left)))
	b.left--
	p := &openPoint{st: st, known: knownPoint{rule: b.s.plan.Until}}
	limited, done := context.WithTimeout(ctx, b.s.limit(st))
	defer done()
	if err := b.visit(limited, p, load, max(share, leastVisit)); err != nil {
		return b.s.loadFailed(ctx, limited, st, err)
	}
	if p.known.known.Reached || len(p.known.out.Requests) == 0 {
		return b.keep(p)
	}
	b.open = append(b.open, p)
	return nil
}

// again visits a point that was visited before.
func (b *budget) again(ctx context.Context, p *openPoint, most time.Duration) error {
	load, err := b.s.pointLoad(p.st, p.visits) // other prompts each time, so that no cache knows them
	if err != nil {
		return err
	}
	return b.visit(ctx, p, load, most)
}

func (b *budget) visit(ctx context.Context, p *openPoint, load builtin.Load, most time.Duration) error {
	p.visits++
	if err := b.s.visit(ctx, load, &p.known, most); err != nil {
		return err
	}
	p.load = load
	p.load.Each = nil
	return nil
}

func (b *budget) keep(p *openPoint) error {
	return b.s.keepPoint(p.st, p.load, p.known.out, p.known.beside, &p.known)
}

// needs returns how much longer a point must be measured: the width of an interval falls with the root of the time.
func (p *openPoint) needs() float64 {
	worst := p.known.known.Worst / p.known.rule.CI
	if math.IsInf(worst, 1) || !(worst > 1.2) {
		worst = 1.5 // unknown, or not settled
	}
	return p.known.took.Seconds() * (worst*worst - 1)
}

// rest visits the points that are not known yet until the time is over, and keeps what was measured, also where the
// server dies meanwhile: what was measured before is whole.
func (b *budget) rest(ctx context.Context, srv server.Server) error {
	if b == nil || len(b.open) == 0 {
		return nil
	}
	alive, stop := b.s.watch(ctx, srv)
	defer stop()
	for round := 0; round < mostRounds && len(b.open) > 0; round++ {
		if b.remaining() < leastVisit*time.Duration(len(b.open)) {
			break
		}
		if err := b.round(alive); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			_ = b.s.log("budget-ended", "", "", err.Error()) // what is known is kept
			break
		}
	}
	open := b.open
	b.open = nil
	for _, p := range open {
		if err := b.keep(p); err != nil {
			return err
		}
	}
	return nil
}

// round visits every open point once.
func (b *budget) round(ctx context.Context) error {
	sum := 0.
	for _, p := range b.open {
		sum += p.needs()
	}
	remaining := b.remaining()
	var open []*openPoint
	for i, p := range b.open {
		part := min(1, remaining.Seconds()/sum) * p.needs() * 1.1 // a little more, so that most need no third visit
		limit := min(time.Duration(part*float64(time.Second)), b.remaining())
		if limit < leastVisit {
			open = append(open, p)
			continue
		}
		if err := b.again(ctx, p, limit); err != nil {
			b.open = append(open, b.open[i:]...)
			return err
		}
		if p.known.known.Reached {
			if err := b.keep(p); err != nil {
				b.open = append(open, b.open[i+1:]...)
				return err
			}
			continue
		}
		open = append(open, p)
	}
	b.open = open
	return nil
}
