package plan

import (
	"time"

	"github.com/ttreport/ttreport/ingest/schema/columns"
)

// Estimate is how long a plan may take, not counting the start of the server and evals.
type Estimate struct {
	Each     []time.Duration // of one measurement, by workload
	Measured int             // workloads that are in the history
	Starts   time.Duration   // of tools that are programs of their own, part of the total
	Servers  time.Duration   // starts of servers, part of the total; 0: unknown, or none is started
	Total    time.Duration
}

// Speed that is assumed for a server that was never measured, in tokens a second.
const (
	AssumedDecode  = 20. // that one user sees
	assumedPrefill = 2000.
)

// What a search for a capacity is assumed to need: measurements, of which the first only look, and requests one after
// the other in each.
const (
	probesAssumed = 16
	looksAssumed  = 5
	againAssumed  = 4 // of a rate that was measured before, which take twice as long
	wavesAssumed  = 6
)

// SecondsOfRate is for how long a search sends requests at one rate: ten seconds, or a dozen times what one request
// takes by itself, s. It is shorter where the rate makes fifteen hundred requests sooner: so many tell it from a rate
// that is 3 % larger, whose excess is then beyond the noise of as many arrivals. A rate of 0 is unknown.
func SecondsOfRate(alone, rate float64) float64 {
	const usual, least, enough = 10, 3, 1500
	s := float64(usual)
	if rate > 0 {
		s = max(least, min(s, enough/rate))
	}
	return max(s, 12*alone)
}

// SecondsOfLook is SecondsOfRate while the rate doubles each time: an overload shows within two seconds.
func SecondsOfLook(alone float64) float64 { return max(3, 12*alone) }

// toolStart is what a tool takes before its first request: Python's imports and a tokenizer.
const toolStart = 30 * time.Second

// EstimateOf estimates from the history of the same workloads on the same model and device, else from those that are
// most like them, else from an assumed speed. history may be nil.
func EstimateOf(p Plan, history *columns.Columns) Estimate {
	var e Estimate
	var once, searches time.Duration // of all workloads, one after the other
	known := pastOf(history, p)
	for _, w := range p.Workloads {
		took, measured := known.takes(p, w)
		if measured {
			e.Measured++
		}
		d := time.Duration((took + known.extra) * float64(time.Second))
		if p.Until.Set() && !w.SLO.Set() {
			d = min(d, p.Until.Limit())
		}
		if e.Each = append(e.Each, d); w.SLO.Set() {
			searches += d
		} else {
			once += d
		}
	}
	repeats := time.Duration(max(1, p.Repeat) * p.Turns.count()) // both servers measure every block
	for _, t := range p.Tools {
		if t.Path != "" {
			e.Starts += repeats * toolStart * time.Duration(len(p.Workloads))
		}
	}
	times := repeats * time.Duration(max(1, len(p.Tools)))
	e.Total = times * once
	if p.Budget > 0 { // it is of what ends by the rule: searches and starts come to it
		e.Total = min(e.Total, p.Budget)
	}
	e.Total += times*searches + e.Starts
	return e
}

// WithServers adds the starts of so many servers, each as often as the plan starts it: as long as those of the newest
// runs of the same model and device took, their median. Where none says how long, the estimate stays as it is.
func (e Estimate) WithServers(servers int, p Plan, history *columns.Columns) Estimate {
	took := startsOf(history, p)
	if len(took) == 0 {
		return e
	}
	if !p.Turns.Kept {
		servers *= max(1, p.Turns.Blocks)
	}
	e.Servers = time.Duration(float64(servers) * median(took) * float64(time.Second))
	e.Total += e.Servers
	return e
}

// takes returns the seconds of one measurement, and whether the history has the workload.
func (h past) takes(p Plan, w Workload) (s float64, measured bool) {
	least := p.Until.Set() && !w.SLO.Set()
	if least { // as many as it took
		w.Requests = 0
	}
	if list := h.same(w); len(list) > 0 {
		return median(list), true
	}
	one, known := h.request(w)
	if !known {
		one = float64(w.ISL)/assumedPrefill + float64(w.OSL)/AssumedDecode
	}
	if least { // twice the least, by experience with quiet and noisy workloads
		w.Requests = 2 * p.Until.Least(w.Concurrency)
	}
	switch {
	case w.FindRate:
		const long = probesAssumed - looksAssumed + againAssumed
		return (SecondsOfLook(one)*looksAssumed + SecondsOfRate(one, 0)*long) * 4 / 3, false // a quarter is warm-up
	case w.SLO.Set():
		return one * probesAssumed * wavesAssumed, false
	case w.Rate > 0:
		return float64(w.Requests)/w.Rate + one, false
	}
	return one * max(1, float64(w.Requests)/float64(max(1, w.Concurrency))), false
}
