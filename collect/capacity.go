package collect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ttreport/ttreport/collect/capacity"
	"github.com/ttreport/ttreport/collect/tool/builtin"
)

// Bounds of one measurement of a search for a capacity.
const (
	wavesOfProbe    = 4    // requests per stream that count
	requestsOfProbe = 6000 // at most
)

// probed is a measurement of a search, as the result file keeps it.
type probed struct {
	Concurrency int      `json:"concurrency,omitempty"`
	Rate        float64  `json:"rate,omitempty"`                 // requests a second, of an open loop
	Overload    bool     `json:"overload,omitempty"`             // it was stopped: requests arrived faster than they left
	Requests    int      `json:"requests"`                       // that count
	Worst       *float64 `json:"worst_share_of_limit,omitempty"` // nil: requests failed
	Failed      int      `json:"failed"`
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
		p, out, err := s.probe(limited, st, c, uint64(len(list)))
		list, last = append(list, p), out
		return capacity.Probe{Concurrency: c, Worst: p.share()}, err
	})
	if err != nil {
		return s.loadFailed(ctx, limited, st, err)
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
	w.Requests = min(requestsOfProbe, 2*c+max(w.SLO.Needs(), wavesOfProbe*c))
	seed := s.plan.Seed + uint64(st.index) + number<<32
	load, err := s.loadOf(w, seed)
	if err != nil {
		return probed{}, builtin.Outcome{}, err
	}
	e := s.event(st)
	e.Text, e.Total = fmt.Sprintf("%s: concurrency %d", st.String(), c), w.Requests
	load.Progress = s.progress(e)
	out, err := s.load(ctx, load)
	if err != nil {
		return probed{}, out, err
	}
	p := probedOf(w.SLO, steady(out, c), out)
	p.Concurrency = c
	return p, out, nil
}

// probedOf is a measurement of which a part counts.
func probedOf(slo capacity.SLO, counts, out builtin.Outcome) probed {
	set, all := counts.Set(), out.Set()
	p := probed{Requests: len(counts.Requests), Failed: all.Failed + all.Hollow, TTFT: set.TTFT.Mean,
		TPOT: set.TPOT.Mean, OutputTPS: set.OutputTPS(), Goodput: goodput(slo, counts), Overload: out.Overload}
	if worst := slo.Worst(set); p.Failed == 0 && !p.Overload && !math.IsInf(worst, 1) {
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
		if end := t.Sent + time.Duration(t.E2EL*float64(time.Millisecond)); end <= last {
			kept, first = append(kept, t), min(first, t.Sent)
		}
	}
	out.Requests, out.Duration = kept, max(last-first, 0)
	return out
}

// goodput returns the requests a second that met every limit themselves.
func goodput(slo capacity.SLO, out builtin.Outcome) float64 {
	good := 0
	for _, t := range out.Requests {
		if slo.Meets(t.Request) {
			good++
		}
	}
	return float64(good) / max(out.Duration.Seconds(), 1e-9)
}
