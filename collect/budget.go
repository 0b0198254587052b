package collect

import (
	"context"
	"math"
	"time"

	"github.com/ttreport/ttreport/collect/plan"
	"github.com/ttreport/ttreport/collect/server"
	"github.com/ttreport/ttreport/collect/tool/builtin"
)

// budget divides the time of a plan among its points: first each gets a short visit, then the time that is left goes to
// those that are not known yet, by how much each still needs. Points that are known early leave their time to others.
type budget struct {
	s    *session
	ends time.Time
	open []*openPoint // visited and not known yet
	left int          // points of the first round that are not visited yet
}

// openPoint is a point that may be visited again.
type openPoint struct {
	st     step
	visits uint64
	load   builtin.Load // of the last visit, without its requests
	known  knownPoint
}

// Parts of a budget.
const (
	firstPart  = .4 // of the time that is left for a point, in its first visit
	mostRounds = 6
	leastVisit = 2 * time.Second // shorter ones are warm-up
)

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

// first is a point's first visit.
func (b *budget) first(ctx context.Context, st step, load builtin.Load) error {
	share := time.Duration(firstPart * float64(b.remaining()) / float64(max(1, b.left)))
	b.left--
	p := &openPoint{st: st, known: knownPoint{rule: b.s.plan.Until}}
	limited, done := context.WithTimeout(ctx, b.s.limit(st))
	defer done()
	if err := b.visit(limited, p, load, max(share, leastVisit)); err != nil {
		return b.s.loadFailed(ctx, limited, st, err)
	}
	if p.known.known.Reached || len(p.known.out.Requests) == 0 {
		return b.keep(p)
	}
	b.open = append(b.open, p)
	return nil
}

// again visits a point that was visited before.
func (b *budget) again(ctx context.Context, p *openPoint, most time.Duration) error {
	load, err := b.s.pointLoad(p.st, p.visits) // other prompts each time, so that no cache knows them
	if err != nil {
		return err
	}
	return b.visit(ctx, p, load, most)
}

func (b *budget) visit(ctx context.Context, p *openPoint, load builtin.Load, most time.Duration) error {
	p.visits++
	if err := b.s.visit(ctx, load, &p.known, most); err != nil {
		return err
	}
	p.load = load
	p.load.Each = nil
	return nil
}

func (b *budget) keep(p *openPoint) error {
	return b.s.keepPoint(p.st, p.load, p.known.out, p.known.beside, &p.known)
}

// needs returns how much longer a point must be measured: the width of an interval falls with the root of the time.
func (p *openPoint) needs() float64 {
	worst := p.known.known.Worst / p.known.rule.CI
	if math.IsInf(worst, 1) || !(worst > 1.2) {
		worst = 1.5 // unknown, or not settled
	}
	return p.known.took.Seconds() * (worst*worst - 1)
}

// rest visits the points that are not known yet until the time is over, and keeps what was measured, also where the
// server dies meanwhile: what was measured before is whole.
func (b *budget) rest(ctx context.Context, srv server.Server) error {
	if b == nil || len(b.open) == 0 {
		return nil
	}
	alive, stop := b.s.watch(ctx, srv)
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
	open := b.open
	b.open = nil
	for _, p := range open {
		if err := b.keep(p); err != nil {
			return err
		}
	}
	return nil
}

// round visits every open point once.
func (b *budget) round(ctx context.Context) error {
	sum := 0.
	for _, p := range b.open {
		sum += p.needs()
	}
	remaining := b.remaining()
	var open []*openPoint
	for i, p := range b.open {
		part := min(1, remaining.Seconds()/sum) * p.needs() * 1.1 // a little more, so that most need no third visit
		limit := min(time.Duration(part*float64(time.Second)), b.remaining())
		if limit < leastVisit {
			open = append(open, p)
			continue
		}
		if err := b.again(ctx, p, limit); err != nil {
			b.open = append(open, b.open[i:]...)
			return err
		}
		if p.known.known.Reached {
			if err := b.keep(p); err != nil {
				b.open = append(open, b.open[i+1:]...)
				return err
			}
			continue
		}
		open = append(open, p)
	}
	b.open = open
	return nil
}
