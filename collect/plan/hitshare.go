package plan

import (
	"fmt"
	"math"

	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema"
)

const (
	mostOff    = .02 // between the share that is stated and the one that is made; of small shares a fifth
	hitDraws   = 12  // that are looked at: the seed decides who begins like whom, and how long prompts are
	mostUnsaid = 1000
	mostForHit = 20_000 // requests that are proposed so that a share is reached; unasked, mostUnsaid
)

// hitShare returns which share of all prompt tokens a prefix cache without limit finds in n requests of a workload, and
// how far a draw is from the share that is stated, at most.
func (w Workload) hitShare(n int) (mean, off float64) {
	base := traffic.Base{ISL: w.ISL, OSL: w.OSL, Context: w.Context}
	for seed := range uint64(hitDraws) {
		share := traffic.HitShare(w.Shape.Requests(base, n, seed))
		mean += share / hitDraws
		off = max(off, math.Abs(share-w.Shape.Hit))
	}
	return mean, off
}

// DrawnHit is the share of all prompt tokens that a prefix cache without limit finds in the requests of a workload that
// states one, number i of the plan; ok is false for others, and where the number of requests is not known.
func (p Plan) DrawnHit(i int) (share float64, ok bool) {
	w := p.Workloads[i]
	if w.Shape.Hit == 0 || w.SLO.Set() || p.Until.Set() {
		return 0, false
	}
	list, err := w.Draw(p.Seed + uint64(i))
	return traffic.HitShare(list), err == nil
}

// hits reports whether n requests have the share of hits that the workload states.
func (w Workload) hits(n int) bool {
	if w.Shape.Hit == 0 {
		return true
	}
	_, off := w.hitShare(n)
	return off <= min(mostOff, w.Shape.Hit/5)
}

// requestsToHit returns a number of requests, at least n, that have the stated share of hits; n and false where that
// takes more than most.
func (w Workload) requestsToHit(n, most int) (enough int, ok bool) {
	for m := n; m <= max(n, most); m += 1 + m/4 {
		if w.hits(m) {
			return m, true
		}
	}
	return n, false
}

// hitShares refuses workloads whose requests cannot have the share of hits that is stated: their results would be
// called what they are not.
func (p *Plan) hitShares() error {
	for _, w := range p.Workloads {
		n := w.Requests
		switch {
		case w.SLO.Set():
			n = w.RequestsOfProbe(1)
		case p.Until.Set():
			n = p.Until.Least(w.Concurrency)
		}
		if w.hits(n) {
			continue
		}
		fix := "fewer prefixes, a smaller share, or prompts that differ less in length"
		if m, ok := w.requestsToHit(n, mostForHit); ok && !w.SLO.Set() && !p.Until.Set() {
			fix = fmt.Sprintf("n=%d is enough; or %s", m, fix)
		}
		mean, _ := w.hitShare(n)
		return usage(fix, "collect: %s: %s=%s cannot be reached: a prefix cache without limit would find about %.1f%% in "+
			"%d requests", w, schema.DimHit, w.Shape.Dims()[schema.DimHit], 100*mean, n)
	}
	return nil
}
