package sim

import (
	"container/list"
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ttreport/ttreport/collect/process"
)

// scheduler runs a batch on the machine's clock.
type scheduler struct {
	batch
	mu    sync.Mutex // of the queue and the running sequences, which /metrics shows
	queue []*sequence
	wake  chan struct{}

	finished int // requests
}

// submit queues a sequence; false when the queue is full.
func (s *scheduler) submit(q *sequence) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) >= s.cfg.MaxQueue {
		return false
	}
	q.queued = time.Now()
	s.queue = append(s.queue, q)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return true
}

// loop runs steps on an absolute schedule: a late step does not delay the ones after it.
func (s *scheduler) loop(ctx context.Context) {
	var due time.Time
	for {
		s.mu.Lock()
		s.queue = s.admit(s.queue)
		s.mu.Unlock()
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
		// Go's timers wake up to a millisecond late on an idle machine, so the last part is left to the operating system.
		const coarse = 1500 * time.Microsecond
		if d := time.Until(due) - coarse; d > 0 && process.Sleep(ctx, d) != nil {
			return
		}
		if d := time.Until(due); d > 0 {
			nap(d)
		}
		if ctx.Err() != nil {
			return
		}
		s.mu.Lock()
		s.finished += s.emit()
		s.mu.Unlock()
	}
}

// sequence is one request in the batch.
type sequence struct {
	prompt, want int
	keys         []uint64 // of the blocks of the prompt, for the prefix cache
	cached       int      // tokens of the prompt that it had
	prefilled    int
	produced     int
	queued       time.Time     // on the machine's clock; zero on a virtual one
	token        func(n int)   // called with each token's number when its step has ended
	end          func()        // called after the last token, or when the client disconnected
	gone         func() bool   // whether the client disconnected
	arrives      time.Duration // on the virtual clock
}

// batch is continuous batching without a clock: the running sequences, what a step does, and how long it takes.
type batch struct {
	cfg     Config
	rng     *rand.Rand
	drift   float64
	running []*sequence
	cache   *prefixCache

	queued           int           // requests that left the queue
	waited           time.Duration // these, in it
	drafts, accepted int           // of speculative decoding: drafts, and tokens of them
	byPlace          []int         // tokens, by their place in a draft
}

func newBatch(cfg Config) batch {
	b := batch{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x7474)), byPlace: make([]int, len(cfg.Acceptance))}
	if cfg.CacheTokens >= cfg.CacheBlock {
		b.cache = &prefixCache{size: cfg.CacheBlock, most: cfg.CacheTokens / cfg.CacheBlock, used: list.New(),
			at: map[uint64]*list.Element{}}
	}
	b.drift = math.Exp(b.rng.NormFloat64() * cfg.Drift)
	return b
}

// tokens returns the tokens that running sequences hold, or will hold, in the KV cache.
func (b *batch) tokens() int {
	n := 0
	for _, q := range b.running {
		n += q.prompt + q.want
	}
	return n
}

// admit moves requests from the front of a queue into the batch while batch and KV limits allow, and returns the rest
// of the queue.
func (b *batch) admit(queue []*sequence) []*sequence {
	kv := b.tokens()
	for len(queue) > 0 && len(b.running) < b.cfg.MaxBatch {
		q := queue[0]
		if kv+q.prompt+q.want > b.cfg.KVTokens && len(b.running) > 0 {
			break
		}
		kv += q.prompt + q.want
		queue = queue[1:]
		q.cached = b.cache.find(q.prompt, q.keys)
		q.prefilled = q.cached
		if b.queued++; !q.queued.IsZero() {
			b.waited += time.Since(q.queued)
		}
		b.running = append(b.running, q)
	}
	return queue
}

// step gives each decoding sequence one token, with a draft to verify where there are drafts, and what is left of the
// budget to prefill, first come first served; it returns how long that takes. A token of a draft takes as long as one
// of a prompt.
func (b *batch) step() time.Duration {
	decoding, prefill, left := 0, 0, b.cfg.ChunkTokens
	for _, q := range b.running {
		if q.prefilled >= q.prompt {
			decoding++
			continue
		}
		n := min(left, q.prompt-q.prefilled)
		q.prefilled += n
		left -= n
		prefill += n
	}
	prefill += decoding * len(b.cfg.Acceptance)
	d := b.cfg.StepBase + time.Duration(decoding)*b.cfg.PerSequence + time.Duration(prefill)*b.cfg.PerPrefill
	return time.Duration(float64(d) * b.drift * math.Exp(b.rng.NormFloat64()*b.cfg.Noise))
}

// emit delivers the tokens of a completed step and drops sequences that are complete or whose client disconnected; it
// returns how many tokens.
func (b *batch) emit() int {
	keep := b.running[:0]
	for _, q := range b.running {
		if q.prefilled >= q.prompt {
			for yields := b.yields(q); yields > 0 && q.produced < q.want; yields-- {
				q.token(q.produced)
				q.produced++
			}
		}
		if q.produced >= q.want || q.gone() {
			q.end()
			continue
		}
		keep = append(keep, q)
	}
	dropped := len(b.running) - len(keep)
	clear(b.running[len(keep):])
	b.running = keep
	return dropped
}

// yields is how many tokens a step gives a sequence: its own, and those of a draft that the model accepts. Behind a
// prompt there is no draft yet.
func (b *batch) yields(q *sequence) int {
	if len(b.cfg.Acceptance) == 0 || q.produced == 0 {
		return 1
	}
	n, draw := 0, b.rng.Float64()
	for n < len(b.byPlace) && draw < b.cfg.Acceptance[n] {
		b.byPlace[n]++
		n++
	}
	b.drafts, b.accepted = b.drafts+1, b.accepted+n
	return 1 + n
}

// Virtual is the simulator on a clock of its own: requests are submitted for a time, steps take no real time, and the
// result depends only on the configuration and the requests. It serves one caller; there is no network and no queue
// limit.
type Virtual struct {
	batch
	begin time.Time
	now   time.Duration // after begin: the end of the last step
	queue []*sequence   // by time of arrival
	token func(number int, at time.Duration, last bool)
}

// NewVirtual starts a simulator whose clock begins at a moment; zero: now.
func NewVirtual(cfg Config, begin time.Time) *Virtual {
	if begin.IsZero() {
		begin = time.Now()
	}
	return &Virtual{batch: newBatch(withDefaults(cfg)), begin: begin}
}

// Config returns the configuration, with defaults.
func (v *Virtual) Config() Config { return v.cfg }

// Time returns the time of the clock.
func (v *Virtual) Time() time.Time { return v.begin.Add(v.now) }

// Elapsed returns how long the clock has run.
func (v *Virtual) Elapsed() time.Duration { return v.now }

// Submit queues a request of a prompt length that arrives at a time. Its tokens carry the number that the caller gives
// it.
func (v *Virtual) Submit(number int, at time.Duration, prompt, want int) {
	q := &sequence{prompt: prompt, want: want, arrives: at, end: func() {}, gone: func() bool { return false }}
	q.token = func(n int) { v.token(number, v.now, n+1 == want) }
	i := len(v.queue)
	for i > 0 && v.queue[i-1].arrives > at {
		i--
	}
	v.queue = slices.Insert(v.queue, i, q)
}

// Step runs the next step and calls token for each token: the request's number, the time, and whether it was its last
// one. It returns false when there is nothing left to do. A request must be submitted before the step that begins at
// or after its time.
func (v *Virtual) Step(token func(number int, at time.Duration, last bool)) bool {
	if len(v.running) == 0 {
		if len(v.queue) == 0 {
			return false
		}
		v.now = max(v.now, v.queue[0].arrives)
	}
	here := 0
	for here < len(v.queue) && v.queue[here].arrives <= v.now {
		here++
	}
	waiting := v.admit(v.queue[:here])
	v.queue = v.queue[here-len(waiting):]
	v.now += v.step()
	v.token = token
	v.emit()
	return true
}

// Answer returns the answer to a question; the clock advances by the time that it takes.
func (v *Virtual) Answer(question string) string {
	v.Submit(0, v.now, max(1, len(strings.Fields(question))), 1)
	v.Drain()
	return v.cfg.answer(question)
}

// Drain answers what was submitted, unseen.
func (v *Virtual) Drain() {
	for v.Step(func(int, time.Duration, bool) {}) {
		continue
	}
}

// prefixCache knows the beginnings of prompts in blocks of tokens, as vLLM's does: a block is found where all before it
// are, never the last token of a prompt, and what was used longest ago makes room, of a prompt its end first. Answers
// are not kept. nil finds nothing.
type prefixCache struct {
	size, most    int        // tokens of a block; blocks
	used          *list.List // of keys, the newest first
	at            map[uint64]*list.Element
	queried, hits int // tokens
}

// keys are those of the whole blocks of a prompt, each of all tokens up to its end.
func (c *prefixCache) keys(tokens []string) (out []uint64) {
	if c == nil {
		return nil
	}
	h := fnv.New64a()
	for i, token := range tokens {
		_, _ = h.Write(append([]byte(token), ' ')) // never fails
		if (i+1)%c.size == 0 {
			out = append(out, h.Sum64())
		}
	}
	return out
}

// find returns how many tokens of a prompt are known, and takes it in.
func (c *prefixCache) find(prompt int, keys []uint64) (tokens int) {
	if c == nil {
		return 0
	}
	for _, key := range keys {
		if c.at[key] == nil || tokens+c.size >= prompt {
			break
		}
		tokens += c.size
	}
	for i := len(keys) - 1; i >= 0; i-- {
		if known := c.at[keys[i]]; known != nil {
			c.used.MoveToFront(known)
		} else {
			c.at[keys[i]] = c.used.PushFront(keys[i])
		}
	}
	for c.used.Len() > c.most {
		oldest := c.used.Back()
		key, _ := c.used.Remove(oldest).(uint64)
		delete(c.at, key)
	}
	c.queried, c.hits = c.queried+prompt, c.hits+tokens
	return tokens
}
