package sim

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// sequence is one request on its way through the scheduler.
type sequence struct {
	prompt, want int
	prefilled    int
	produced     int
	tokens       chan int // closed when the last token was produced; capacity is want
	gone         <-chan struct{}
}

// scheduler is the continuous-batching loop.
type scheduler struct {
	cfg     Config
	rng     *rand.Rand
	drift   float64
	mu      sync.Mutex
	queue   []*sequence
	wake    chan struct{}
	running []*sequence
	stats   stats
}

// stats are the gauges that /metrics shows.
type stats struct {
	Running, Waiting, KV int
	Finished             int
}

func newScheduler(cfg Config) *scheduler {
	s := &scheduler{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x7474)), wake: make(chan struct{}, 1)}
	s.drift = math.Exp(s.rng.NormFloat64() * cfg.Drift)
	return s
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

// loop runs steps on an absolute schedule: a step that wakes late does not delay the ones after it.
func (s *scheduler) loop(ctx context.Context) {
	var due time.Time
	for {
		s.admit()
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
		decoding, prefill := s.plan()
		due = due.Add(s.duration(decoding, prefill))
		if !sleepUntil(ctx, due) {
			return
		}
		s.emit()
	}
}

// admit moves requests from the queue into the batch while batch and KV limits allow.
func (s *scheduler) admit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	kv := 0
	for _, q := range s.running {
		kv += q.prompt + q.want
	}
	for len(s.queue) > 0 && len(s.running) < s.cfg.MaxBatch {
		q := s.queue[0]
		if kv+q.prompt+q.want > s.cfg.KVTokens && len(s.running) > 0 {
			break
		}
		kv += q.prompt + q.want
		s.queue = s.queue[1:]
		s.running = append(s.running, q)
	}
	s.stats.Running, s.stats.KV = len(s.running), kv
}

// plan gives each decoding sequence one token and what is left of the budget to prefill, first come first served.
func (s *scheduler) plan() (decoding, prefill int) {
	left := s.cfg.ChunkTokens
	for _, q := range s.running {
		if q.prefilled >= q.prompt {
			decoding++
			continue
		}
		n := min(left, q.prompt-q.prefilled)
		q.prefilled += n
		left -= n
		prefill += n
	}
	return decoding, prefill
}

func (s *scheduler) duration(decoding, prefill int) time.Duration {
	d := s.cfg.StepBase + time.Duration(decoding)*s.cfg.PerSequence + time.Duration(prefill)*s.cfg.PerPrefill
	return time.Duration(float64(d) * s.drift * math.Exp(s.rng.NormFloat64()*s.cfg.Noise))
}

// emit hands out the tokens of a finished step and drops sequences that are complete or whose client has gone.
func (s *scheduler) emit() {
	keep := s.running[:0]
	for _, q := range s.running {
		if q.prefilled >= q.prompt {
			q.tokens <- q.produced // never blocks: the channel holds all tokens of the sequence
			q.produced++
		}
		gone := false
		select {
		case <-q.gone:
			gone = true
		default:
		}
		if q.produced >= q.want || gone {
			close(q.tokens)
			continue
		}
		keep = append(keep, q)
	}
	s.mu.Lock()
	s.stats.Finished += len(s.running) - len(keep)
	s.mu.Unlock()
	clear(s.running[len(keep):])
	s.running = keep
}

// sleepUntil waits for a moment; false when the server stops. Go's timers wake up to a millisecond late on an idle
// machine, so the last stretch is left to the operating system.
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
