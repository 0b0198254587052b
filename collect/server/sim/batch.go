package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// sequence is one request in the batch.
type sequence struct {
	prompt, want int
	prefilled    int
	produced     int
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
}

func newBatch(cfg Config) batch {
	b := batch{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x7474))}
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
		b.running = append(b.running, q)
	}
	return queue
}

// step gives each decoding sequence one token and what is left of the budget to prefill, first come first served; it
// returns how long that takes.
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
	d := b.cfg.StepBase + time.Duration(decoding)*b.cfg.PerSequence + time.Duration(prefill)*b.cfg.PerPrefill
	return time.Duration(float64(d) * b.drift * math.Exp(b.rng.NormFloat64()*b.cfg.Noise))
}

// emit delivers the tokens of a completed step and drops sequences that are complete or whose client disconnected; it
// returns how many tokens.
func (b *batch) emit() int {
	keep := b.running[:0]
	for _, q := range b.running {
		if q.prefilled >= q.prompt {
			q.token(q.produced)
			q.produced++
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
