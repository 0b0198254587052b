package collect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
)

// Bounds of a search for a rate.
const (
	stepsOfFirst    = 64   // of the rate that one request at a time makes: a step is at most 1.6 % of what is found
	mostFirst       = 4096 // times that rate at most
	warmupOfRate    = .25  // of the requests of a measurement
	leastOfRate     = 200  // requests of a measurement between a rate that holds and one that does not,
	longestOfRate   = 240  // unless so many seconds pass meanwhile
	requestsOfProbe = 6000 // of a measurement at most
	singleRequests  = 8
)

// probed is a measurement of a search, as the result file keeps it.
type probed struct {
	Concurrency int      `json:"concurrency,omitempty"`
	Rate        float64  `json:"rate,omitempty"`                 // requests a second, of an open loop
	Overload    bool     `json:"overload,omitempty"`             // it was stopped: requests arrived faster than they left
	Requests    int      `json:"requests"`                       // that count
	Worst       *float64 `json:"worst_share_of_limit,omitempty"` // nil: requests failed
	Failed      int      `json:"failed"`
	Error       string   `json:"error,omitempty"` // of the first that failed
	TTFT        float64  `json:"ttft_mean_ms"`
	TPOT        float64  `json:"tpot_mean_ms"`
	OutputTPS   float64  `json:"output_tps"`
	Goodput     float64  `json:"goodput_rps"`
	Alone       float64  `json:"alone_ms,omitempty"` // what one request takes by itself; in the journal only, the first
}

// share is the largest share of a limit, infinite where requests failed.
func (p probed) share() float64 {
	if p.Worst == nil {
		return math.Inf(1)
	}
	return *p.Worst
}

// found is what a search has found, whose steps are of a unit: one request at a time, or a part of a rate.
type found struct {
	answer  bracket
	probes  []probed
	unit    float64
	earlier []probed // what an earlier attempt has measured, from this place of the search on
}

// again takes the next measurement of an earlier attempt, where that was of the same load.
func (f *found) again(concurrency int, rate float64) (p probed, ok bool) {
	if len(f.earlier) == 0 || f.earlier[0].Concurrency != concurrency || f.earlier[0].Rate != rate {
		f.earlier = nil // it went another way
		return p, false
	}
	p, f.earlier = f.earlier[0], f.earlier[1:]
	return p, true
}

// exact is a number of steps as the result states it: the largest concurrency or rate that held, the smallest that did
// not; 0 for none.
func (f *found) exact(steps int) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(float64(steps)*f.unit, 'g', 5, 64), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// search finds the largest concurrency, or the largest rate, at which the server holds the objective of a workload. Its
// measurements are kept in the result and are no points: which ones are tried differs from run to run. Where its time
// ends first, what is known is said; it is no capacity, which history would compare with those of whole searches.
func (s *session) search(ctx context.Context, st *step) (*result, error) {
	f, err := &found{unit: 1, earlier: s.probes[st.Name]}, error(nil)
	metric, unit := schema.CapacityMetric, "requests"
	if st.Load.FindRate {
		metric, unit = schema.RateMetric, "req/s"
		err = s.findRate(ctx, st, f)
	} else {
		const most = 1024 // where nothing states how many sequences the server takes
		f.answer, err = findLargest(1, cmp.Or(st.Load.Most, most), func(c int) (float64, bool, error) {
			w := st.Load
			w.Concurrency, w.Requests = c, st.Load.RequestsOfProbe(c)
			p, err := s.probe(ctx, st, f, w)
			return p.share(), false, err
		})
		if err == nil && f.answer.holds == 0 {
			err = noneHolds(st, f.probes[len(f.probes)-1].Error)
		}
	}
	holds, fails := f.exact(f.answer.holds), f.exact(f.answer.fails)
	if err != nil {
		return &result{note: knownBy(holds, fails, unit)}, err
	}
	var at probed                // the slowest of the measurements of the answer
	for _, p := range f.probes { // which have a concurrency or a rate
		if float64(p.Concurrency)+p.Rate == holds && (at.Requests == 0 || p.OutputTPS < at.OutputTPS) {
			at = p
		}
	}
	r := &result{file: st.Name + ".json", point: PointOutcome{TTFT: at.TTFT, TPOT: at.TPOT}}
	type value struct {
		Value  float64 `json:"value"`
		Unit   string  `json:"unit"`
		Better string  `json:"better,omitempty"`
	}
	r.raw, err = json.MarshalIndent(map[string]any{
		"metrics": map[string]value{
			metric:       {holds, unit, "higher"},
			"duration_s": {s.now().Sub(st.began).Seconds(), "s", ""},
			"output_tps": {at.OutputTPS, "tok/s", ""}, "goodput_rps": {at.Goodput, "req/s", ""},
		},
		"slo": st.Load.SLO.String(), "holds": holds, "fails": fails, "settled": f.answer.settled, "probes": f.probes,
	}, "", " ")
	if err != nil {
		return nil, fmt.Errorf("writing the result: %w", err)
	}
	r.raw = append(r.raw, '\n')
	exact := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	r.side.Argv = s.argv(st.Load, s.plan.Seed)
	r.side.Conditions = map[string]string{"seed": strconv.FormatUint(s.plan.Seed, 10)}
	r.side.Client = map[string]string{
		schema.ClientSettled: digit(f.answer.settled), schema.ClientHolds: exact(holds),
	}
	r.note = fmt.Sprintf("holds at %.4g", holds)
	if f.answer.fails > 0 {
		r.side.Client[schema.ClientFails] = exact(fails)
		r.note += fmt.Sprintf(", not at %.4g", fails)
	}
	if st.Load.FindRate {
		r.note += " req/s"
	}
	if !f.answer.settled {
		r.note += "; measurements near the limit contradict each other"
	}
	return r, nil
}

// knownBy says what a search knows that did not end: "; by then 41.5 req/s held, and 43.8 did not".
func knownBy(holds, fails float64, unit string) string {
	switch {
	case holds > 0 && fails > 0:
		return fmt.Sprintf("; by then %.4g %s held, and %.4g did not", holds, unit, fails)
	case holds > 0:
		return fmt.Sprintf("; by then %.4g %s held, and no larger one was measured", holds, unit)
	case fails > 0:
		return fmt.Sprintf("; by then %.4g %s did not hold", fails, unit)
	}
	return ""
}

// noneHolds is the error of an objective that one request at a time breaks; why says what failed, "" for nothing.
func noneHolds(st *step, why string) error {
	if why != "" {
		why = ": " + why
	}
	return unmeasured{errors.New("not even one request at a time meets " + st.Load.SLO.String() + why)}
}

// findRate finds the largest rate of an open loop. A rate that the server cannot keep up with is noticed within seconds
// and given up.
func (s *session) findRate(ctx context.Context, st *step, f *found) error {
	single, measured := f.again(0, 0)
	alone := single.Alone // what one request takes by itself, ms
	if !measured {
		single, err := s.alone(ctx, st, singleRequests)
		if err != nil {
			return err
		}
		set := single.Set()
		if alone = set.E2EL.Mean; !(st.Load.SLO.Worst(set) <= 1) || !(alone > 0) {
			why := ""
			if set.OK < singleRequests {
				why = firstError(single)
			}
			return noneHolds(st, why)
		}
		if err := s.keepProbe(st, probed{Alone: alone}); err != nil {
			return err
		}
	}
	f.unit = 1000 / alone / stepsOfFirst
	const together = 8 // what servers do at least: else the search goes down
	var err error
	f.answer, err = findLargest(together*stepsOfFirst, mostFirst*stepsOfFirst, func(c int) (float64, bool, error) {
		w := st.Load
		w.Rate = f.exact(c)
		again := slices.ContainsFunc(f.probes, func(p probed) bool { return p.Rate == w.Rate })
		near := again || slices.ContainsFunc(f.probes, func(p probed) bool { return p.share() > 1 })
		w.Requests = requestsOfRate(w.Rate, alone/1000, st.Load.SLO.Needs(), near)
		if again { // it decides, and twice the time has less noise: so more answers are exact than by more measurements
			w.Requests = min(2*w.Requests, requestsOfProbe)
		}
		p, err := s.probe(ctx, st, f, w)
		if p.Overload && err == nil {
			err = s.recovered(ctx, st, alone)
		}
		return p.share(), !near, err
	})
	if err == nil && f.answer.holds == 0 {
		return unmeasured{fmt.Errorf("no rate of %.3g req/s or more meets %s", f.unit, st.Load.SLO)}
	}
	return err
}

// keepProbe journals a measurement of a search, which an interrupted one goes on with.
func (s *session) keepProbe(st *step, p probed) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("writing a measurement of a search: %w", err)
	}
	if s.probes == nil {
		s.probes = searched{}
	}
	s.probes[st.Name] = append(s.probes[st.Name], p)
	return s.log(eventProbe, st.Name, "", string(text))
}

// alone measures so many requests, one at a time.
func (s *session) alone(ctx context.Context, st *step, requests int) (builtin.Outcome, error) {
	w := st.Load
	w.Concurrency, w.Requests = 1, requests
	w.Arrivals, w.Burstiness = traffic.Arrivals{}, 0
	load, err := s.loadOf(w, s.plan.Seed+uint64(st.index)+1<<31)
	if err != nil {
		return builtin.Outcome{}, err
	}
	load.Warmups = min(2, requests-1)
	return s.load(ctx, load)
}

// recovered waits until a server has let go of the requests of a load that was given up: until one request takes at
// most twice as long as it did alone. Else the next rate would be measured on top of them, and near the limit a server
// takes minutes to get rid of a queue: each rate seemed too large down to half of what it could do. A server that does
// not get there in a minute is measured as it is.
func (s *session) recovered(ctx context.Context, st *step, alone float64) error {
	for began := s.now(); ; {
		out, err := s.alone(ctx, st, 1)
		if err != nil {
			return err
		}
		set := out.Set()
		idle := set.OK == 1 && set.E2EL.Mean <= 2*alone
		if idle || s.virtual != nil || s.now().Sub(began) > time.Minute {
			return nil
		}
		if err := process.Sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// requestsOfRate is how many requests measure a rate, at least so many as the objective needs. While the rate doubles
// each time, a look is enough; near is where some rate was too large. alone is what one request takes by itself, s.
func requestsOfRate(rate, alone float64, needs int, near bool) int {
	n := max(needs, int(math.Ceil(rate*plan.SecondsOfLook(alone))))
	if near {
		n = max(needs, int(math.Ceil(rate*plan.SecondsOfRate(alone, rate))))
		n = max(n, min(leastOfRate, int(math.Ceil(rate*longestOfRate))))
	}
	return min(requestsOfProbe, n*4/3) // a quarter is warm-up
}

// probe measures one concurrency or one rate of a search, and tells what it found: a search takes minutes, and its
// result comes last.
func (s *session) probe(ctx context.Context, st *step, f *found, w plan.Workload) (probed, error) {
	if p, ok := f.again(w.Concurrency, w.Rate); ok {
		f.probes = append(f.probes, p)
		return p, nil
	}
	p, what, began := probed{Concurrency: w.Concurrency}, fmt.Sprintf("concurrency %d", w.Concurrency), s.now()
	if w.FindRate {
		p, what = probed{Rate: w.Rate}, fmt.Sprintf("%.4g req/s", w.Rate)
	}
	e := s.event(st)
	e.Text = st.String() + ": " + what
	_, out, busy, err := s.inTime(ctx, func(try uint64) (builtin.Load, error) {
		load, err := s.loadOf(w, s.plan.Seed+uint64(st.index)+uint64(len(f.probes))<<32+try<<56)
		if e.Total = load.Requests; err == nil && w.FindRate {
			load.CutOverload = true
			// over so many seconds as the rate says for as many requests, and no more by luck
			last, seconds := float64(load.Each[len(load.Each)-1].At), float64(w.Requests-1)/w.Rate
			for i := range load.Each {
				load.Each[i].At = time.Duration(float64(load.Each[i].At) / last * seconds * 1e9)
			}
		}
		load.Progress = s.progress(e)
		return load, err
	})
	if err != nil {
		return p, err
	}
	if busy != "" {
		return p, unmeasured{errors.New(busy)}
	}
	counts := out
	if w.FindRate {
		counts.Requests, counts.Duration = filled(out.Requests)
	} else {
		counts.Requests, counts.Duration = steady(out.Requests, w.Concurrency)
	}
	p.fill(w.SLO, out, counts)
	if p.Overload = out.Overload || w.FindRate && backlogGrew(out.Requests, counts.Requests); p.Overload {
		p.Worst = nil // an objective that does not see the queue would hold for as long as one likes
	}
	f.probes = append(f.probes, p)
	e = Event{Run: s.id, Step: "probe", Text: fmt.Sprintf("%-3d %-16s", len(f.probes), what), TTFT: p.TTFT, TPOT: p.TPOT,
		Took: s.now().Sub(began), Note: p.found(), Final: true}
	s.report(e)
	return p, s.keepProbe(st, p)
}

// found says what a probe found.
func (p *probed) found() (said string) {
	switch {
	case p.Overload:
		return "too many: requests arrive faster than the server completes them"
	case math.IsInf(p.share(), 1):
		said = "too many"
	case p.share() > 1:
		said = fmt.Sprintf("too many: %.0f %% of the limit", 100*p.share())
	default:
		said = fmt.Sprintf("holds: %.0f %% of the limit", 100*p.share())
	}
	if p.Failed > 0 {
		said += fmt.Sprintf("; %d failed: %s", p.Failed, p.Error)
	}
	return said
}

// fill sets the numbers of a measurement of which a part counts; failures do wherever they were. Goodput is of the
// requests that met every limit themselves.
func (p *probed) fill(slo traffic.SLO, out, counts builtin.Outcome) {
	set, all := counts.Set(), out.Set()
	p.Requests, p.TTFT, p.TPOT, p.OutputTPS = len(counts.Requests), set.TTFT.Mean, set.TPOT.Mean, set.OutputTPS()
	if p.Failed = all.Failed + all.Hollow; p.Failed > 0 {
		p.Error = firstError(out)
	}
	set.Failed, set.Hollow = all.Failed, all.Hollow
	if worst := slo.Worst(set); !math.IsInf(worst, 1) {
		p.Worst = &worst
	}
	for _, t := range counts.Requests {
		if slo.Meets(t.Request) {
			p.Goodput++
		}
	}
	p.Goodput /= max(counts.Duration.Seconds(), 1e-9)
}

// steady returns the part of a closed loop in which all streams were busy, and how long it is: without the first
// request of each stream, which the server began together with all others, and without those that ended after the last
// one was sent.
func steady(all []builtin.Timeline, streams int) (kept []builtin.Timeline, length time.Duration) {
	first, last := time.Duration(math.MaxInt64), time.Duration(0)
	for _, t := range all {
		last = max(last, t.Sent)
	}
	for _, t := range all[min(streams, len(all)):] {
		if t.End() <= last {
			kept, first = append(kept, t), min(first, t.Sent)
		}
	}
	return kept, max(last-first, 0)
}

// filled returns the part of an open loop behind its beginning, while requests still come, and how long it is.
func filled(all []builtin.Timeline) (kept []builtin.Timeline, length time.Duration) {
	if len(all) == 0 {
		return nil, 0
	}
	kept = all[int(warmupOfRate*float64(len(all))):]
	return kept, max(kept[len(kept)-1].Sent-kept[0].Sent, 0)
}

// backlogGrew reports that the requests that are not answered became more over the part that counts. In a server that
// keeps up their change is less than the noise of that many arrivals, also near its limit.
func backlogGrew(all, counts []builtin.Timeline) bool {
	if len(counts) == 0 {
		return false
	}
	waiting := func(at time.Duration) (n float64) {
		for _, t := range all {
			if t.Sent <= at && t.End() > at {
				n++
			}
		}
		return n
	}
	grown := waiting(counts[len(counts)-1].Sent) - waiting(counts[0].Sent)
	return grown > math.Sqrt(float64(len(counts)))
}

// bracket is the result of a search.
type bracket struct {
	holds   int  // largest load that holds; 0: not even one
	fails   int  // smallest load that does not; 0: every one up to the most held
	settled bool // two measurements of each end agree
}

// votes are the measurements of one load.
type votes struct {
	held, failed int
	worst        float64 // mean of the finite ones
	looks        bool    // they are looks
}

// decided reports whether two of them agree, as two of three do: most of five or of seven took a sixth longer and was
// no nearer. nil is the end below the first load, which is not measured.
func (v *votes) decided() bool { return v == nil || !v.looks && max(v.held, v.failed) >= 2 }

// findLargest doubles the load from the first, which most likely holds, until the objective fails, then closes in on
// the last one that holds, until both ends are within 2 % or one of each other. Both are then measured again, and the
// search goes on where they do not say the same twice: a single measurement near the limit is as good as a coin. most
// is the largest load to try. The answer with an error has the ends that were known by then.
//
// A load is a concurrency, or a rate in steps. measure returns its largest share of a limit, of which at most 1 holds,
// and whether it was a look: so short that it says where to go on, and any other one of the same load replaces it.
func findLargest(first, most int, measure func(load int) (worst float64, look bool, err error)) (b bracket, err error) {
	const mostTried = 40 // a doubling to 1024, a dozen steps between and the second looks are about 20
	of := map[int]*votes{}
	next := first
	for tries := 0; tries < mostTried && !b.settled; tries++ {
		worst, look, err := measure(next)
		if err != nil {
			return b, err
		}
		v := of[next]
		if v == nil || v.looks {
			v = &votes{looks: look}
			of[next] = v
		}
		if worst <= 1 {
			v.held++
		} else {
			v.failed++
		}
		v.worst += (min(worst, 100) - v.worst) / float64(v.held+v.failed)
		b.holds, b.fails = 0, 0 // the largest that mostly holds below the smallest that mostly fails
		for _, load := range slices.Sorted(maps.Keys(of)) {
			v := of[load] // most decide; of as many the mean
			if v.held < v.failed || v.held == v.failed && !(v.worst <= 1) {
				b.fails = load
				break
			}
			b.holds = load
		}
		next, b.settled = b.next(of, most)
	}
	return b, nil
}

// next returns the load to measure next; done where both ends are settled.
func (b *bracket) next(of map[int]*votes, most int) (load int, done bool) {
	switch {
	case b.fails == 0 && b.holds < most:
		return min(2*max(b.holds, 1), most), false
	case b.fails > 0 && b.fails-b.holds > max(1, b.holds*2/100):
		// where the share of the limit becomes one, guessed from that of both ends, away from the ends themselves
		at := .5
		if low, high := of[b.holds], of[b.fails]; low != nil && high.worst > low.worst && high.worst < 100 {
			at = (1 - low.worst) / (high.worst - low.worst)
		}
		load := b.holds + int(math.Round(max(.1, min(.9, at))*float64(b.fails-b.holds)))
		return max(b.holds+1, min(load, b.fails-1)), false
	case !of[b.holds].decided():
		return b.holds, false
	}
	return b.fails, b.fails == 0 || of[b.fails].decided()
}
