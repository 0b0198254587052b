package builtin

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/redact"
)

// Part is what one of several clients does of a load: of every Of-th stream and request one, from Client on. The zero
// value is the whole load.
type Part struct {
	Client, Of int // Client is from 0
}

// has reports whether a stream or a request with this number is in the part.
func (p Part) has(i int) bool { return i%p.Of == p.Client }

// count returns how many of n are in the part.
func (p Part) count(n int) int { return (n - p.Client + p.Of - 1) / p.Of }

// nth returns the number of the j-th request of the part.
func (p Part) nth(j int) int { return p.Client + p.Of*j }

// message is a line that a client and the one who started it exchange behind the load: that the client is ready, the
// instant at which all begin, progress, the outcome.
type message struct {
	Begin   time.Time `json:"begin,omitzero"`
	SoFar   *SoFar    `json:"so_far,omitempty"`
	Outcome *Outcome  `json:"outcome,omitempty"` // of its part: requests in the order of their numbers
	Error   string    `json:"error,omitempty"`
}

// Serve is a client of several: it takes its part of a load from in, says when it is ready, begins when it is told, and
// writes its outcome. It ends when in does, so that it does not outlive the one who started it.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines, to := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	var l Load
	if err := lines.Decode(&l); err != nil {
		return fmt.Errorf("the load: %w", err)
	}
	redact.Know(l.APIKey)
	r, err := newRunner(ctx, l)
	if err != nil {
		return errors.Join(err, to.Encode(message{Error: err.Error()}))
	}
	defer r.close()
	if err := to.Encode(message{}); err != nil {
		return err
	}
	var told message
	if err := lines.Decode(&told); err != nil {
		return fmt.Errorf("the beginning: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_ = lines.Decode(new(message)) // nothing more comes but the end
		cancel()
	}()
	var telling sync.Mutex
	var last time.Time
	r.load.Progress = func(s SoFar) { // streams tell at any time
		telling.Lock()
		defer telling.Unlock()
		if now := time.Now(); now.Sub(last) > 100*time.Millisecond || s.Done == r.load.Part.count(r.load.Requests) {
			last = now
			_ = to.Encode(message{SoFar: &s}) // where nobody reads, the load is ended
		}
	}
	now := time.Now()
	if err := r.run(ctx, now.Add(told.Begin.Sub(now))); err != nil { // on the monotonic clock from here on
		return errors.Join(err, to.Encode(message{Error: err.Error()}))
	}
	own := &Outcome{CPU: r.out.CPU, Counted: r.out.Counted, Refused: r.out.Refused}
	for j := range r.load.Part.count(r.load.Requests) {
		i := r.load.Part.nth(j)
		own.Requests = append(own.Requests, r.out.Requests[i])
	}
	return to.Encode(message{Outcome: own})
}

// Client is a client of several that was started: what it reads and what it writes.
type Client struct {
	In  io.Writer
	Out io.Reader
}

// RunClients runs a load on several clients of this host, which begin at one instant, and joins what they did as if one
// had run.
func RunClients(ctx context.Context, l Load, clients []Client) (Outcome, error) {
	n := len(clients)
	from := make([]*json.Decoder, n)
	for i, c := range clients {
		part := l
		part.Part = Part{i, n}
		if i > 0 {
			part.Warmups = 0 // the server is warm when the first has done them
		}
		if err := json.NewEncoder(c.In).Encode(part); err != nil {
			return Outcome{}, fmt.Errorf("client %d of %d: %w", i+1, n, err)
		}
		from[i] = json.NewDecoder(bufio.NewReader(c.Out))
		var m message // one after the other, so that no client measures the others' preparations
		if err := from[i].Decode(&m); err != nil || m.Error != "" {
			return Outcome{}, fmt.Errorf("client %d of %d is not ready: %w", i+1, n, cmp.Or(err, errors.New(m.Error)))
		}
	}
	if l.Ready != nil {
		l.Ready()
	}
	const settling = 300 * time.Millisecond // after which all begin: each learns of it meanwhile
	out := Outcome{Requests: make([]Timeline, l.Requests), Clients: n, Counted: true, Pools: l.Endpoint.Pools(),
		Began: time.Now().Add(settling)}
	for i, c := range clients {
		if err := json.NewEncoder(c.In).Encode(message{Begin: out.Began}); err != nil {
			return Outcome{}, fmt.Errorf("client %d of %d: %w", i+1, n, err)
		}
	}
	if err := out.join(ctx, l.Progress, from); err != nil {
		return Outcome{}, err
	}
	out.finish()
	return out, nil
}

// join reads the outcomes of clients as they come. A client that is not heard of any more has an error.
func (o *Outcome) join(ctx context.Context, progress func(SoFar), from []*json.Decoder) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var one sync.Mutex
	soFar, ended := make([]SoFar, len(from)), make(chan error, len(from))
	hear := func(client int) (over bool, err error) {
		var m message
		if err := from[client].Decode(&m); err != nil || m.Error != "" {
			return true, fmt.Errorf("client %d of %d: %w", client+1, len(from), cmp.Or(err, errors.New(m.Error)))
		}
		one.Lock()
		defer one.Unlock()
		switch {
		case ctx.Err() != nil: // a load that is ended ends its clients
			return true, ctx.Err()
		case m.Outcome != nil:
			return true, o.add(Part{client, len(from)}, m.Outcome)
		case m.SoFar != nil && progress != nil:
			soFar[client] = *m.SoFar
			progress(total(soFar))
		}
		return false, nil
	}
	for client := range from {
		go func() {
			over, err := false, error(nil)
			for !over {
				over, err = hear(client)
			}
			ended <- err
		}()
	}
	for range from {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			if err != nil {
				return cmp.Or(ctx.Err(), err)
			}
		}
	}
	return nil
}

// add puts the requests of a part into their places.
func (o *Outcome) add(p Part, from *Outcome) error {
	if n := p.count(len(o.Requests)); len(from.Requests) != n {
		return fmt.Errorf("client %d of %d has %d requests of %d", p.Client+1, p.Of, len(from.Requests), n)
	}
	for j, t := range from.Requests {
		o.Requests[p.nth(j)] = t
	}
	o.CPU += from.CPU
	o.Counted = o.Counted && from.Counted
	o.Refused = append(o.Refused, from.Refused...)
	return nil
}

// finish computes what holds of all requests, the duration and how many were in flight at most, and takes out those
// whose clients went away: they neither completed nor failed.
func (o *Outcome) finish() {
	type change struct {
		at time.Duration
		by int
	}
	var changes []change
	for _, t := range o.Requests {
		o.Duration = max(o.Duration, t.End())
		changes = append(changes, change{t.Sent, 1}, change{t.End(), -1})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	now := 0
	for _, c := range changes {
		now += c.by
		o.Peak = max(o.Peak, now)
	}
	kept, whole := o.Requests[:0], 0
	for i, t := range o.Requests {
		if t.Gone {
			o.Gone++
			o.goneBusy += t.E2EL / 1000
			continue
		}
		if kept = append(kept, t); i < o.Whole {
			whole++
		}
	}
	o.Requests, o.Whole = kept, whole
}

// total is the progress of all clients: means by how many requests completed of each.
func total(list []SoFar) SoFar {
	var sum SoFar
	for _, s := range list {
		n := float64(s.OK)
		sum.Done, sum.Failed, sum.OK = sum.Done+s.Done, sum.Failed+s.Failed, sum.OK+s.OK
		sum.TTFT, sum.TPOT = sum.TTFT+n*s.TTFT, sum.TPOT+n*s.TPOT
	}
	n := float64(max(1, sum.OK))
	sum.TTFT, sum.TPOT = sum.TTFT/n, sum.TPOT/n
	return sum
}

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

const (
	backlogNoise = 4 // times the noise
	backlogLeast = 2 * time.Second
	backlogLooks = 20 // answers between two looks
)

// newBacklog returns nil for loads in which waiting requests say nothing: closed loops, rates that change, what several
// clients share, conversations, and requests that wait for answers.
func newBacklog(l Load) *backlog {
	changes := l.Dataset == traffic.DatasetTrace || l.Arrivals.Changes() // requests arrive at no one mean rate
	if l.Rate <= 0 || changes || l.turns() > 1 || l.Part.Of > 1 || l.Ordered() {
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

// stopped reports that nothing more is to be sent.
func (b *backlog) stopped() bool { return b != nil && b.over.Load() }
