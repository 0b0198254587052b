package collect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ttreport/ttreport/collect/capacity"
	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/tool/builtin"
	"github.com/ttreport/ttreport/collect/traffic"
)

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
	w.Shape.Arrivals, w.Shape.Burstiness = traffic.Arrivals{}, 0
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
