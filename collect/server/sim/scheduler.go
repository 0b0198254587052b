package sim

import (
	"context"
	"sync"
	"time"
)

// scheduler runs a batch on the machine's clock.
type scheduler struct {
	batch
	mu    sync.Mutex
	queue []*sequence
	wake  chan struct{}
	stats stats
}

// stats are the gauges that /metrics shows.
type stats struct {
	Running, Waiting, KV int
	Finished             int
}

func newScheduler(cfg Config) *scheduler {
	return &scheduler{batch: newBatch(cfg), wake: make(chan struct{}, 1)}
}

// newSequence returns a request whose tokens go to a channel, closed after the last one. The channel has room for all
// of them, so nothing blocks.
func newSequence(prompt, want int, gone <-chan struct{}) (*sequence, <-chan int) {
	tokens := make(chan int, want)
	q := &sequence{prompt: prompt, want: want, token: func(n int) { tokens <- n }, end: func() { close(tokens) }}
	q.gone = func() bool {
		select {
		case <-gone:
			return true
		default:
			return false
		}
	}
	return q, tokens
}

// submit queues a sequence; false when the queue is full.
func (s *scheduler) submit(q *sequence) bool {
	s.mu.Lock()
	full := len(s.queue) >= s.cfg.MaxQueue
	if !full {
		s.queue = append(s.queue, q)
	}
	s.mu.Unlock()
	if full {
		return false
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return true
}

// snapshot returns the gauges.
func (s *scheduler) snapshot() stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Waiting = len(s.queue)
	return st
}

// loop runs steps on an absolute schedule: a late step does not delay the ones after it.
func (s *scheduler) loop(ctx context.Context) {
	var due time.Time
	for {
		s.admitQueued()
		if len(s.running) == 0 {
			due = time.Time{}
			select {
			case <-ctx.Done():
				return
			case <-s.wake:
				continue
			}
		}
		if now := time.Now(); due.IsZero() || now.Sub(due) > 100*time.Millisecond {
			due = now
		}
		due = due.Add(s.step())
		if !sleepUntil(ctx, due) {
			return
		}
		dropped := s.emit()
		s.mu.Lock()
		s.stats.Finished += dropped
		s.mu.Unlock()
	}
}

func (s *scheduler) admitQueued() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = s.admit(s.queue)
	s.stats.Running, s.stats.KV = len(s.running), s.tokens()
}

// sleepUntil waits until a time; false when the server stops. Go's timers wake up to a millisecond late on an idle
// machine, so the last part is left to the operating system.
func sleepUntil(ctx context.Context, t time.Time) bool {
	const coarse = 1500 * time.Microsecond
	if d := time.Until(t) - coarse; d > 0 {
		timer := time.NewTimer(d)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-timer.C:
		}
	}
	if d := time.Until(t); d > 0 {
		nap(d)
	}
	return ctx.Err() == nil
}
