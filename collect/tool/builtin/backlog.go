package builtin

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// backlog watches whether the requests of an open loop arrive faster than they leave: those that are due and not
// answered grow without an end then, and what they take says only for how long it was measured.
//
// In a server that keeps up, the growth over a time is noise of about the root of the arrivals in it. It is an overload
// where the growth since the loop has filled is four times that noise and goes on in each quarter of the time.
type backlog struct {
	due   []time.Duration // of each request, after the beginning
	noise float64         // of the arrivals in a time, as a multiple of a Poisson process'
	over  atomic.Bool

	mu    sync.Mutex
	ended int
	seen  []depth
	fill  time.Duration // when the loop has filled: twice the time of the first answer
	look  int           // answers at the next look
}

// depth is how many requests were due and not answered at a time.
type depth struct {
	at time.Duration
	n  int
}

// givenUp is the error of a request that waits for its answer when an overload ends the load.
const givenUp = "given up with the load: requests arrive faster than they leave"

const (
	backlogNoise = 4 // times the noise
	backlogLeast = 2 * time.Second
	backlogLooks = 20 // answers between two looks
)

// newBacklog returns nil for loads in which waiting requests say nothing: closed loops, rates that change, what several
// clients share, conversations, and requests that wait for answers.
func newBacklog(l Load) *backlog {
	if l.Rate <= 0 || l.Changing || l.turns() > 1 || l.Part.Of > 1 || l.Ordered() {
		return nil
	}
	b := &backlog{due: l.due(), noise: 1, look: backlogLooks}
	if l.Burstiness > 0 && l.Burstiness < 1 { // a gamma process has more
		b.noise = 1 / math.Sqrt(l.Burstiness)
	}
	return b
}

// answered notes that a request ended, some time after the beginning.
func (b *backlog) answered(at time.Duration) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended++
	arrived, _ := slices.BinarySearch(b.due, at)
	if b.fill == 0 {
		b.fill = 2 * at
	}
	if at < b.fill || arrived >= len(b.due) { // at the end nothing more arrives
		return
	}
	if b.seen = append(b.seen, depth{at, arrived - b.ended}); b.ended >= b.look && b.grows() {
		b.over.Store(true)
	}
	if b.ended >= b.look {
		b.look = b.ended + backlogLooks
	}
}

// grows reports an overload.
func (b *backlog) grows() bool {
	first, last := b.seen[0], b.seen[len(b.seen)-1]
	passed := last.at - first.at
	if passed < backlogLeast || last.n < 2*max(first.n, 1) {
		return false
	}
	arrivals := float64(passed) / float64(b.due[len(b.due)-1]) * float64(len(b.due))
	if float64(last.n-first.n) < backlogNoise*b.noise*math.Sqrt(arrivals) {
		return false
	}
	before := first.n
	for q := 1; q <= 4; q++ {
		at := first.at + passed*time.Duration(q)/4
		i, _ := slices.BinarySearchFunc(b.seen, at, func(d depth, t time.Duration) int { return int(d.at - t) })
		n := b.seen[min(i, len(b.seen)-1)].n
		if n <= before {
			return false
		}
		before = n
	}
	return true
}

// patience is how long the answers to the last requests may take where an overload ends the load: twice the time of the
// load, which is a dozen times what one request takes by itself.
func (b *backlog) patience() time.Duration { return max(backlogLeast, 2*b.due[len(b.due)-1]) }

// stopped reports that nothing more is to be sent.
func (b *backlog) stopped() bool { return b != nil && b.over.Load() }
