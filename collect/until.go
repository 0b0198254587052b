package collect

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttreport/ttreport/collect/precision"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/ingest/plaintext"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// budget is the time of a plan's points in one turn, which is an equal part of that of all turns of both servers. Each
// point may take an equal part of what is left: one that is known early leaves its time to those behind it.
type budget struct {
	ends time.Time
	left int // points that are not measured yet
}

// knownPoint is a point that is measured until it is known.
type knownPoint struct {
	rule  precision.Rule
	cut   int // requests of the warm-up
	known precision.Known
}

// untilKnown measures a point until it is known as well as the plan asks, or its time is over.
func (s *session) untilKnown(ctx context.Context, st *step) (*result, error) {
	longest := s.limit(st) * 9 / 10
	most := min(s.plan.Until.Limit(), longest)
	if s.plan.Budget > 0 {
		const least = 2 * time.Second // a shorter measurement is warm-up
		most = min(longest, max(least, s.budget.ends.Sub(s.now())/time.Duration(max(1, s.budget.left))))
		s.budget.left--
	}
	load, err := s.pointLoad(st, 0)
	if err != nil {
		return nil, err
	}
	gauges := s.sample(ctx)
	defer gauges.stop()
	p := knownPoint{rule: s.plan.Until}
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
		return nil, err
	}
	p = p.with(load, out.Requests[:out.Whole])
	out, start := steadyPart(load, out, p.cut)
	read := gauges.during(out.Began.Add(start), out.Duration.Seconds())
	load.Each = nil
	r, err := s.loaded(st, load, out, read, p.note(len(out.Requests)))
	if err == nil {
		p.into(&r.side)
	}
	return r, err
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

// with returns what is known of a point by its requests: by the means that everything is judged by.
func (k knownPoint) with(load builtin.Load, done []builtin.Timeline) knownPoint {
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
	list = append(list, precision.Series{Name: "e2el", Values: e2el})
	wave, least := inFlight(load, done), 0
	if load.Rate <= 0 { // nothing had to end before the first wave was sent; where few are known, half of them are left
		least = min(load.Concurrency, len(e2el)/2)
	}
	k.known, k.cut = k.rule.Judge(list, least, wave), 0
	for left := k.known.Cut; left > 0 && k.cut < len(done); k.cut++ { // requests until so many completed
		if done[k.cut].OK && done[k.cut].Known() {
			left--
		}
	}
	return k
}

// steadyPart is the part of a load behind a warm-up of some requests, which begins at start.
func steadyPart(load builtin.Load, all builtin.Outcome, from int) (out builtin.Outcome, start time.Duration) {
	out = all
	to, length := windowOf(load, all, from)
	if from < to {
		start = all.Requests[from].Sent
	}
	out.Requests = slices.Clone(all.Requests[from:to])
	for i := range out.Requests {
		out.Requests[i].Sent -= start
	}
	out.Duration, out.Whole = length, len(out.Requests)
	return out, start
}

// windowOf returns the end of the steady part of a load, behind a warm-up of some requests and up to the first request
// that was in flight when the load ended, and how long it is. It lasts from the first send to the send that follows
// it: as many are sent meanwhile as are answered.
//
// In a closed loop it has whole waves: requests of equal length are sent in bursts, and a part of a burst takes no
// time. In an open loop that the server does not keep up with, more is sent than is answered, and requests take longer
// and longer; the time by which they do is part of the window, so that its rate is that of the answers.
func windowOf(l builtin.Load, all builtin.Outcome, from int) (to int, length time.Duration) {
	to = all.Whole
	ended := all.Whole < len(all.Requests)
	if n := to - from; ended && l.Rate <= 0 && n > l.Concurrency {
		to -= n % l.Concurrency
	}
	kept := all.Requests[from:to]
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
		slower = time.Duration(2 * (late - early) * float64(time.Millisecond))
	}
	for _, t := range all.Requests[to:] {
		end = min(end, t.Sent+slower)
	}
	return to, max(0, end-kept[0].Sent)
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
func (k *knownPoint) note(requests int) string {
	if requests == 0 {
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
	out := fmt.Sprintf("%s, %s", plaintext.Plural(requests, "request"), strings.Join(parts, ", "))
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
