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
func probedOf(slo capacity.SLO, counts, out builtin.Outcome) probed {
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
func goodput(slo capacity.SLO, out builtin.Outcome) float64 {
	good := 0
	for _, t := range out.Requests {
		if slo.Meets(t.Request) {
			good++
		}
	}
	return float64(good) / max(out.Duration.Seconds(), 1e-9)
}
