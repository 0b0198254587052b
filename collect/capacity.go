package collect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ttreport/ttreport/collect/capacity"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
	"github.com/ttreport/ttreport/ingest/schema/manifest"
)

// requestsOfProbe bounds one measurement of a search for the largest rate.
const requestsOfProbe = 6000

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
}

// share is the largest share of a limit, infinite where requests failed.
func (p probed) share() float64 {
	if p.Worst == nil {
		return math.Inf(1)
	}
	return *p.Worst
}

// capacity finds the largest concurrency at which the server holds the objective of a workload. Its measurements are
// kept in the result and are no points: which concurrencies are tried differs from run to run.
func (s *session) capacity(ctx context.Context, st step) error {
	if err := s.log("point-start", st.Name, "", ""); err != nil {
		return err
	}
	limited, done := context.WithTimeout(ctx, s.limit(st))
	defer done()
	if st.Load.FindRate {
		return s.rateCapacity(ctx, limited, st)
	}
	var list []probed
	var last builtin.Outcome
	answer, err := capacity.Find(st.Load.MostConcurrency(), func(c int) (capacity.Probe, error) {
		began := s.now()
		p, out, err := s.probe(limited, st, c, uint64(len(list)))
		if list, last = append(list, p), out; err == nil {
			s.tell(p, len(list), began)
		}
		return capacity.Probe{Concurrency: c, Worst: p.share()}, err
	})
	if err != nil {
		return s.searchFailed(ctx, limited, st, found{answer: answer, unit: 1}, err)
	}
	if answer.Holds == 0 {
		why := "not even one request at a time holds " + st.Load.SLO.String()
		if list[0].Failed > 0 {
			why += ": " + firstError(last)
		}
		return s.failed(st, errors.New(why))
	}
	return s.capacityDone(st, found{answer: answer, probes: list, unit: 1})
}

// probe measures one concurrency.
func (s *session) probe(ctx context.Context, st step, c int, number uint64) (probed, builtin.Outcome, error) {
	w := st.Load
	w.Concurrency = c
	w.Requests = w.RequestsOfProbe(c)
	seed := s.plan.Seed + uint64(st.index) + number<<32
	load, err := s.loadOf(w, seed)
	if err != nil {
		return probed{}, builtin.Outcome{}, err
	}
	out, err := s.attempt(ctx, st, load, fmt.Sprintf("concurrency %d", c))
	if err != nil {
		return probed{}, out, err
	}
	p := probedOf(w.SLO, steady(out, c), out)
	p.Concurrency = c
	return p, out, nil
}

// attempt sends a load of a search and shows its progress; what says which load it is.
func (s *session) attempt(ctx context.Context, st step, load builtin.Load, what string) (builtin.Outcome, error) {
	e := s.event(st)
	e.Text, e.Total = st.String()+": "+what, load.Requests
	load.Progress = s.progress(e)
	return s.load(ctx, load)
}

// tell shows what one measurement of a search found: a search takes minutes, and its result comes last.
func (s *session) tell(p probed, number int, began time.Time) {
	what := fmt.Sprintf("concurrency %d", p.Concurrency)
	if p.Rate > 0 {
		what = fmt.Sprintf("%.4g req/s", p.Rate)
	}
	e := Event{Run: s.id, Step: "probe", Text: fmt.Sprintf("%-3d %-16s", number, what), TTFT: p.TTFT, TPOT: p.TPOT,
		Took: s.now().Sub(began), Final: true}
	switch {
	case p.Overload:
		e.Note = "too many: requests arrive faster than they leave"
	case math.IsInf(p.share(), 1):
		e.Note = "too many"
	case p.share() > 1:
		e.Note = fmt.Sprintf("too many: %.0f %% of the limit", 100*p.share())
	default:
		e.Note = fmt.Sprintf("holds: %.0f %% of the limit", 100*p.share())
	}
	if p.Failed > 0 && !p.Overload {
		e.Note += fmt.Sprintf("; %d failed: %s", p.Failed, p.Error)
	}
	s.report(e)
}

// probedOf is a measurement of which a part counts.
func probedOf(slo traffic.SLO, counts, out builtin.Outcome) probed {
	set, all := counts.Set(), out.Set()
	p := probed{Requests: len(counts.Requests), Failed: all.Failed + all.Hollow, TTFT: set.TTFT.Mean,
		TPOT: set.TPOT.Mean, OutputTPS: set.OutputTPS(), Goodput: goodput(slo, counts), Overload: out.Overload}
	if p.Failed > 0 {
		p.Error = firstError(out)
	}
	// failures count wherever in the measurement they were
	set.Failed, set.Hollow = all.Failed, all.Hollow
	if worst := slo.Worst(set); !p.Overload && !math.IsInf(worst, 1) {
		p.Worst = &worst
	}
	return p
}

// steady returns the part of a closed loop in which all streams were busy: without the first request of each stream,
// which the server began together with all others, and without those that ended after the last one was sent.
func steady(out builtin.Outcome, streams int) builtin.Outcome {
	first, last := time.Duration(math.MaxInt64), time.Duration(0)
	for _, t := range out.Requests {
		last = max(last, t.Sent)
	}
	var kept []builtin.Timeline
	for _, t := range out.Requests[min(streams, len(out.Requests)):] {
		if t.End() <= last {
			kept, first = append(kept, t), min(first, t.Sent)
		}
	}
	out.Requests, out.Duration = kept, max(last-first, 0)
	return out
}

// goodput returns the requests a second that met every limit themselves.
func goodput(slo traffic.SLO, out builtin.Outcome) float64 {
	good := 0
	for _, t := range out.Requests {
		if slo.Meets(t.Request) {
			good++
		}
	}
	return float64(good) / max(out.Duration.Seconds(), 1e-9)
}

// found is the result of a search, whose steps are of a unit: one request at a time, or a part of a rate.
type found struct {
	answer capacity.Answer
	probes []probed
	unit   float64
}

// holds is the largest concurrency or rate that held, fails the smallest that did not, 0 for none.
func (f found) holds() float64 { return f.exact(f.answer.Holds) }
func (f found) fails() float64 { return f.exact(f.answer.Fails) }

func (f found) exact(steps int) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(float64(steps)*f.unit, 'g', 5, 64), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// searchFailed ends a search without a result. Where its time ended first, what is known is said; it is no capacity,
// which history would compare with those of whole searches.
func (s *session) searchFailed(ctx, limited context.Context, st step, f found, err error) error {
	if ctx.Err() == nil && limited.Err() != nil {
		return s.failed(st, fmt.Errorf("%w (%s)%s", process.ErrLimit, s.limit(st), f.known(st.Load)))
	}
	return s.loadFailed(ctx, limited, st, err)
}

// known says what a search knows that did not end: "; by then 41.5 req/s held, and 43.8 did not".
func (f found) known(w plan.Workload) string {
	_, unit := metricOf(w)
	switch holds, fails := f.holds(), f.fails(); {
	case holds > 0 && fails > 0:
		return fmt.Sprintf("; by then %.4g %s held, and %.4g did not", holds, unit, fails)
	case holds > 0:
		return fmt.Sprintf("; by then %.4g %s held, and no larger one was measured", holds, unit)
	case fails > 0:
		return fmt.Sprintf("; by then %.4g %s did not hold", fails, unit)
	}
	return ""
}

// capacityDone writes the result of a search: metrics of our own, and every measurement behind them.
func (s *session) capacityDone(st step, f found) error {
	type metric struct {
		Value  float64 `json:"value"`
		Unit   string  `json:"unit"`
		Better string  `json:"better,omitempty"`
	}
	var at probed // the slowest of the measurements of the answer
	for i, p := range f.probes {
		if f.answer.Probes[i].Concurrency == f.answer.Holds && (at.Requests == 0 || p.OutputTPS < at.OutputTPS) {
			at = p
		}
	}
	name, unit := metricOf(st.Load)
	raw, err := json.MarshalIndent(map[string]any{
		"metrics": map[string]metric{
			name:         {f.holds(), unit, "higher"},
			"duration_s": {s.now().Sub(st.began).Seconds(), "s", ""},
			"output_tps": {at.OutputTPS, "tok/s", ""}, "goodput_rps": {at.Goodput, "req/s", ""},
		},
		"slo": st.Load.SLO.String(), "holds": f.holds(), "fails": f.fails(), "settled": f.answer.Settled, "probes": f.probes,
	}, "", " ")
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	side := manifest.Sidecar{
		Result: st.Name + ".json", Tool: builtin.Name, ToolVersion: builtin.Version, Workload: st.Load.Manifest(),
		Argv: s.argv(st.Load, s.plan.Seed), Start: st.began.UTC(), End: s.now().UTC(),
		Conditions: map[string]string{"seed": strconv.FormatUint(s.plan.Seed, 10)}, Client: f.client(),
	}
	if err := s.store(side.Result, append(raw, '\n'), side); err != nil {
		return err
	}
	s.out.Points = append(s.out.Points, PointOutcome{Workload: st.Load, TTFT: at.TTFT, TPOT: at.TPOT})
	e := s.event(st)
	e.Took, e.Final, e.TTFT, e.TPOT = s.now().Sub(st.began), true, at.TTFT, at.TPOT
	e.Note = fmt.Sprintf("holds at %.4g", f.holds())
	if f.answer.Fails > 0 {
		e.Note += fmt.Sprintf(", not at %.4g", f.fails())
	}
	if st.Load.FindRate {
		e.Note += " req/s"
	}
	if !f.answer.Settled {
		e.Note += "; measurements near the limit contradict each other"
	}
	s.report(e)
	return s.log("point-done", st.Name, "raw/"+side.Result, "")
}

// client is what a search says about its answer.
func (f found) client() map[string]string {
	exact := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	out := map[string]string{schema.ClientSettled: "0", schema.ClientHolds: exact(f.holds())}
	if f.answer.Settled {
		out[schema.ClientSettled] = "1"
	}
	if f.answer.Fails > 0 {
		out[schema.ClientFails] = exact(f.fails())
	}
	return out
}

// metricOf is the name and the unit of what a search finds.
func metricOf(w plan.Workload) (name, unit string) {
	if w.FindRate {
		return schema.RateMetric, "req/s"
	}
	return schema.CapacityMetric, "requests"
}

// Bounds of a search for a rate.
const (
	stepsOfFirst   = 64   // of the rate that one request at a time makes: a step is at most 1.6 % of what is found
	mostFirst      = 4096 // times that rate at most
	warmupOfRate   = .25  // of the requests of a measurement
	leastOfRate    = 200  // requests of a measurement between a rate that holds and one that does not,
	longestOfRate  = 240  // unless so many seconds pass meanwhile
	singleRequests = 8
)

// Bounds of the wait for a server that a rate was too much for.
const (
	betweenLooks    = 200 * time.Millisecond
	longestRecovery = time.Minute
)

// rateCapacity finds the largest rate of an open loop at which the server holds the objective of a workload. A rate
// that the server cannot keep up with is noticed within seconds and given up.
func (s *session) rateCapacity(ctx, limited context.Context, st step) error {
	alone, err := s.alone(limited, st, singleRequests)
	if err != nil {
		return s.loadFailed(ctx, limited, st, err)
	}
	set := alone.Set()
	if worst := st.Load.SLO.Worst(set); !(worst <= 1) || !(set.E2EL.Mean > 0) {
		why := "not even one request at a time holds " + st.Load.SLO.String()
		if set.OK < singleRequests {
			why += ": " + firstError(alone)
		}
		return s.failed(st, errors.New(why))
	}
	f := found{unit: 1000 / set.E2EL.Mean / stepsOfFirst}
	f.answer, err = capacity.FindFrom(stepsOfFirst, mostFirst*stepsOfFirst, func(c int) (capacity.Probe, error) {
		rate := f.exact(c) // as the result states it
		again := slices.ContainsFunc(f.probes, func(p probed) bool { return p.Rate == rate })
		near := again || slices.ContainsFunc(f.probes, func(p probed) bool { return p.share() > 1 })
		n := requestsOfRate(rate, set.E2EL.Mean/1000, st.Load.SLO.Needs(), near)
		if again { // it decides, and twice the time has less noise: so more answers are exact than by more measurements
			n = min(2*n, requestsOfProbe)
		}
		began := s.now()
		p, err := s.probeRate(limited, st, rate, n, uint64(len(f.probes)))
		if f.probes = append(f.probes, p); err == nil {
			s.tell(p, len(f.probes), began)
		}
		if p.Overload && err == nil {
			err = s.recovered(limited, st, set.E2EL.Mean)
		}
		return capacity.Probe{Concurrency: c, Worst: p.share(), Look: !near}, err
	})
	if err != nil {
		return s.searchFailed(ctx, limited, st, f, err)
	}
	if f.answer.Holds == 0 {
		return s.failed(st, fmt.Errorf("no rate from %.3g req/s on holds %s", f.unit, st.Load.SLO))
	}
	return s.capacityDone(st, f)
}

// alone measures so many requests, one at a time.
func (s *session) alone(ctx context.Context, st step, requests int) (builtin.Outcome, error) {
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
// not get there in time is measured as it is.
func (s *session) recovered(ctx context.Context, st step, alone float64) error {
	for began := s.now(); ; {
		out, err := s.alone(ctx, st, 1)
		if err != nil {
			return err
		}
		set := out.Set()
		idle := set.OK == 1 && set.E2EL.Mean <= 2*alone
		if idle || s.virtual != nil || s.now().Sub(began) > longestRecovery {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(betweenLooks):
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

// probeRate measures one rate with so many requests.
func (s *session) probeRate(ctx context.Context, st step, rate float64, requests int, number uint64) (probed, error) {
	w := st.Load
	w.Rate, w.Requests = rate, requests
	load, err := s.loadOf(w, s.plan.Seed+uint64(st.index)+number<<32)
	if err != nil {
		return probed{}, err
	}
	last := load.Each[len(load.Each)-1].At
	for i := range load.Each { // as many as the rate says in this time, no more by luck
		load.Each[i].At = time.Duration(float64(load.Each[i].At) / float64(last) * float64(w.Requests-1) / rate * 1e9)
	}
	load.CutOverload = true
	out, err := s.attempt(ctx, st, load, fmt.Sprintf("%.4g req/s", rate))
	if err != nil {
		return probed{}, err
	}
	counts := filled(out)
	p := probedOf(w.SLO, counts, out)
	p.Rate = rate
	if grown := grownBacklog(out, counts); grown > math.Sqrt(float64(len(counts.Requests))) {
		p.Overload, p.Worst = true, nil // an objective that does not see the queue would hold for as long as one likes
	}
	return p, nil
}

// grownBacklog is by how much the requests that are not answered became more over the part that counts. In a server
// that keeps up it is less than the noise of that many arrivals, also near its limit.
func grownBacklog(out, counts builtin.Outcome) float64 {
	if len(counts.Requests) == 0 {
		return 0
	}
	from, to := counts.Requests[0].Sent, counts.Requests[len(counts.Requests)-1].Sent
	waiting := func(at time.Duration) (n float64) {
		for _, t := range out.Requests {
			if t.Sent <= at && t.End() > at {
				n++
			}
		}
		return n
	}
	return waiting(to) - waiting(from)
}

// filled is the part of an open loop behind its beginning, while requests still come.
func filled(out builtin.Outcome) builtin.Outcome {
	if n := len(out.Requests); n > 0 {
		first := int(warmupOfRate * float64(n))
		from, to := out.Requests[first].Sent, out.Requests[n-1].Sent
		out.Requests, out.Duration = out.Requests[first:], max(to-from, 0)
	}
	return out
}
