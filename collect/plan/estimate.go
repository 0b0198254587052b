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
	Total    time.Duration
}

// Speed that is assumed for a server that was never measured, in tokens a second.
const (
	AssumedDecode  = 20. // that one user sees
	assumedPrefill = 2000.
)

// What a search for a capacity is assumed to need: measurements, and requests one after the other in each.
const (
	probesAssumed = 16
	wavesAssumed  = 6
)

// toolStart is what a tool takes before its first request: Python's imports and a tokenizer.
const toolStart = 30 * time.Second

// EstimateOf estimates from the history of the same workload on the same model and device, else from an assumed
// speed. past may be nil.
func EstimateOf(p Plan, past *columns.Columns) Estimate {
	var e Estimate
	var once, searches time.Duration // of all workloads, one after the other
	for _, w := range p.Workloads {
		if p.Until.Set() { // twice the least, by experience with quiet and noisy workloads
			w.Requests = 2 * p.Until.Least(w.Concurrency)
		}
		one := float64(w.ISL)/assumedPrefill + float64(w.OSL)/AssumedDecode // seconds of a request
		if ms, ok := pastE2EL(past, p, w); ok {
			one = ms / 1000
			e.Measured++
		}
		took := one * max(1, float64(w.Requests)/float64(max(1, w.Concurrency)))
		if w.SLO.Set() {
			took = one * probesAssumed * wavesAssumed
		}
		if w.Rate > 0 {
			took = float64(w.Requests)/w.Rate + one
		}
		d := time.Duration(took * float64(time.Second))
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

// pastE2EL returns the newest mean E2EL of a workload, ms.
func pastE2EL(c *columns.Columns, p Plan, w Workload) (float64, bool) {
	if c == nil {
		return 0, false
	}
	found, newest := 0., time.Time{}
	is := func(a *float64, b int) bool { return a != nil && *a == float64(b) }
	for i := range c.Runs {
		h := &c.Runs[i]
		if h.Model.Name != p.Model.Name || h.Device != p.Device || h.Start.Before(newest) {
			continue
		}
		for at := h.FirstPoint; at < h.PointsEnd; at++ {
			pt := &c.Points[at]
			if k := c.Keys[pt.Key]; !is(k.ISL, w.ISL) || !is(k.OSL, w.OSL) || !is(k.Concurrency, w.Concurrency) {
				continue
			}
			n, _ := c.Value(pt, "e2el", "mean")
			if v, ok := n.Get(); ok {
				found, newest = v, h.Start
			}
		}
	}
	return found, found > 0
}
