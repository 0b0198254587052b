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
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// Parts of a budget.
const (
	firstPart  = .4 // of the time that is left for a point, in its first visit
	mostRounds = 6
	leastVisit = 2 * time.Second // shorter ones are warm-up
)

// budget divides the time of a plan among its points: first each gets a short visit, then the time that is left goes to
// those that are not known yet, by how much each still needs. Points that are known early leave their time to others.
type budget struct {
	s    *session
	ends time.Time
	open []*knownPoint // visited and not known yet
	left int           // points of the first round that are not visited yet
}

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

// rest visits the points that are not known yet until the time is over, and keeps what was measured, also where the
// server dies meanwhile: what was measured before is whole.
func (b *budget) rest(ctx context.Context) error {
	if b == nil || len(b.open) == 0 {
		return nil
	}
	alive, stop := b.s.watch(ctx)
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
	for _, p := range b.open {
		if err := b.s.keepKnown(p); err != nil {
			return err
		}
	}
	b.open = nil
	return nil
}

// round visits every open point once.
func (b *budget) round(ctx context.Context) error {
	sum := 0.
	for _, p := range b.open {
		sum += p.needs()
	}
	remaining := b.remaining()
	for _, p := range slices.Clone(b.open) {
		part := min(1, remaining.Seconds()/sum) * p.needs() * 1.1 // a little more, so that most need no third visit
		limit := min(time.Duration(part*float64(time.Second)), b.remaining())
		if limit < leastVisit {
			continue
		}
		if err := b.s.visit(ctx, p, limit); err != nil {
			return err
		}
		if p.known.Reached {
			b.open = slices.DeleteFunc(b.open, func(o *knownPoint) bool { return o == p })
			if err := b.s.keepKnown(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// knownPoint is a point that is measured until it is known, in one visit to it or several.
type knownPoint struct {
	st     *step
	visits uint64
	load   builtin.Load // of the last visit, without its requests
	rule   precision.Rule
	out    builtin.Outcome // the steady parts of all visits, as one
	cut    int             // requests of their warm-ups
	known  precision.Known
	took   time.Duration
	start  time.Duration // of the steady part of the last visit, after its beginning
	read   readings
}

// untilKnown measures a point until it is known as well as the plan asks, or its time is over. Where a budget may give
// it more time later, its result follows then.
func (s *session) untilKnown(ctx context.Context, st *step) (*result, error) {
	most, b := min(s.plan.Until.Limit(), s.limit(st)*9/10), s.budget
	if b != nil {
		most = max(leastVisit, time.Duration(firstPart*float64(b.remaining())/float64(max(1, b.left))))
		b.left--
	}
	p := &knownPoint{st: st, rule: s.plan.Until}
	if err := s.visit(ctx, p, most); err != nil {
		return nil, err
	}
	if b != nil && !p.known.Reached && len(p.out.Requests) > 0 {
		b.open = append(b.open, p)
		return nil, nil
	}
	return s.known(p)
}

// known is the result of a point of which no more will be known.
func (s *session) known(p *knownPoint) (*result, error) {
	r, err := s.loaded(p.st, p.load, p.out, p.read, p.note())
	if err == nil {
		p.into(&r.side)
	}
	return r, err
}

func (s *session) keepKnown(p *knownPoint) error {
	r, err := s.known(p)
	if err != nil {
		return err
	}
	return s.keep(p.st, r)
}

// visit measures a point for some time, or until it is known together with what earlier visits measured. Each visit has
// other prompts, so that no cache knows them.
func (s *session) visit(ctx context.Context, p *knownPoint, most time.Duration) error {
	load, err := s.pointLoad(p.st, p.visits)
	if err != nil {
		return err
	}
	gauges := s.sample(ctx)
	defer gauges.stop()
	began, before := s.now(), p.out.Duration
	known := func(done []builtin.Timeline) bool {
		n, _ := completed(done)
		return n == 0 || p.with(load, done).known.Reached
	}
	least := 2 * load.Concurrency // two waves: the first begins at once, and its rate is that of the start of the streams
	if load.Rate > 0 {
		least = 10 // the rate of fewer arrivals is chance
	}
	load.Enough = &builtin.Enough{Most: most, Window: least, Least: p.rule.Least(inFlight(load, nil)), Known: known}
	out, err := s.load(ctx, load)
	if err != nil {
		return err
	}
	*p = p.joined(load, out)
	p.took += s.now().Sub(began)
	p.visits++
	p.load, p.load.Each = load, nil
	p.read = p.read.and(gauges.during(out.Began.Add(p.start), (p.out.Duration - before).Seconds(), before.Seconds()))
	return nil
}

// needs returns how much longer a point must be measured: the width of an interval falls with the root of the time.
func (p *knownPoint) needs() float64 {
	worst := p.known.Worst / p.rule.CI
	if math.IsInf(worst, 1) || !(worst > 1.2) {
		worst = 1.5 // unknown, or not settled
	}
	return p.took.Seconds() * (worst*worst - 1)
}

// completed counts the requests that completed, and returns their mean E2EL, ms.
func completed(list []builtin.Timeline) (n int, e2el float64) {
	for _, t := range list {
		if t.OK {
			n, e2el = n+1, e2el+t.E2EL
		}
	}
	return n, e2el / float64(max(1, n))
}

// inFlight returns how many requests are in flight at once: the streams of a closed loop; in an open one as many as
// Little's law says, twice, because they come and go.
func inFlight(l builtin.Load, done []builtin.Timeline) int {
	if l.Rate <= 0 {
		return l.Concurrency
	}
	_, e2el := completed(done)
	return max(1, int(math.Round(2*l.Rate*e2el/1000)))
}

// with returns the point with the requests of one more visit.
func (k knownPoint) with(load builtin.Load, done []builtin.Timeline) knownPoint {
	wave, least := inFlight(load, done), 0
	if load.Rate <= 0 { // nothing had to end before the first wave was sent; where few completed, half of them are left
		n, _ := completed(done)
		least = min(load.Concurrency, n/2)
	}
	k.known = k.rule.Judge(seriesOf(done), least, wave)
	cut := 0 // requests until so many completed
	for left := k.known.Cut; left > 0 && cut < len(done); cut++ {
		if done[cut].OK && done[cut].Known() {
			left--
		}
	}
	if earlier := k.out.Requests; len(earlier) > 0 { // their warm-up was cut
		k.known = k.rule.Behind(seriesOf(slices.Concat(earlier, done[cut:])), 0, wave)
	}
	k.cut += cut
	return k
}

// joined adds the steady window of a visit.
func (k knownPoint) joined(load builtin.Load, visit builtin.Outcome) knownPoint {
	next := k.with(load, visit.Requests[:visit.Whole])
	from := next.cut - k.cut
	to, length := windowOf(load, visit, from)
	out := visit
	if len(k.out.Requests) > 0 {
		out.Began, out.CPU, out.Peak = k.out.Began, out.CPU+k.out.CPU, max(out.Peak, k.out.Peak)
	}
	if next.start = 0; from < to {
		next.start = visit.Requests[from].Sent
	}
	out.Requests = slices.Clone(k.out.Requests)
	for _, t := range visit.Requests[from:to] {
		t.Sent += k.out.Duration - next.start
		out.Requests = append(out.Requests, t)
	}
	out.Duration, out.Whole = k.out.Duration+length, len(out.Requests)
	next.out = out
	return next
}

// windowOf returns the end of the steady part of a visit, behind a warm-up of some requests and up to the first request
// that was in flight when the visit ended, and how long it is. It lasts from the first send to the send that follows
// it: as many are sent meanwhile as are answered.
//
// In a closed loop it has whole waves: requests of equal length are sent in bursts, and a part of a burst takes no
// time. In an open loop that the server does not keep up with, more is sent than is answered, and requests take longer
// and longer; the time by which they do is part of the window, so that its rate is that of the answers.
func windowOf(l builtin.Load, visit builtin.Outcome, from int) (to int, length time.Duration) {
	to = visit.Whole
	ended := visit.Whole < len(visit.Requests)
	if n := to - from; ended && l.Rate <= 0 && n > l.Concurrency {
		to -= n % l.Concurrency
	}
	kept := visit.Requests[from:to]
	if len(kept) == 0 {
		return to, 0
	}
	end, slower := time.Duration(0), time.Duration(0)
	for _, t := range kept {
		end = max(end, t.End())
	}
	if l.Rate > 0 { // by how much, as a line through the means of both halves; negative where they take less
		_, early := completed(kept[:len(kept)/2])
		_, late := completed(kept[len(kept)/2:])
		slower = milliseconds(2 * (late - early))
	}
	for _, t := range visit.Requests[to:] {
		end = min(end, t.Sent+slower)
	}
	return to, max(0, end-kept[0].Sent)
}

func milliseconds(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

// seriesOf returns what is to be known of requests: the means that everything is judged by.
func seriesOf(done []builtin.Timeline) []precision.Series {
	var ttft, tpot, e2el []float64
	for _, t := range done {
		if !t.OK || !t.Known() {
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
	percent := func(share float64) string { return strconv.FormatFloat(100*share, 'g', 3, 64) }
	side.Conditions[schema.ConditionWindow] = schema.WindowSteady
	side.Conditions["until"] = k.rule.String()
	delete(side.Conditions, "warmups")
	side.Client[schema.ClientWarmup] = strconv.Itoa(k.cut)
	side.Client[schema.ClientCIAsked] = percent(k.rule.CI)
	side.Client[schema.ClientSteady] = digit(k.known.Steady)
	for _, state := range k.known.States {
		if r := state.Relative(); !math.IsInf(r, 1) {
			side.Client[schema.ClientCI+state.Name] = percent(r)
		}
		if state.Drift != 0 {
			side.Client[schema.ClientDrift+state.Name] = percent(state.Drift)
		}
	}
}

// digit is a fact of a sidecar that holds or does not.
func digit(holds bool) string {
	if holds {
		return "1"
	}
	return "0"
}

// note says for progress how well a point is known.
func (k *knownPoint) note() string {
	if len(k.out.Requests) == 0 {
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
