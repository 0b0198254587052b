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
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ttreport/ttreport/ingest/redact"
)

// Part is what one of several clients does of a load: of every Of-th stream and request one, from Client on. The zero
// value is the whole load.
type Part struct {
	Client, Of int // Client is from 0
}

// has reports whether a stream or a request with this number is in the part.
func (p Part) has(i int) bool { return p.Of <= 1 || i%p.Of == p.Client }

// count returns how many of n are in the part.
func (p Part) count(n int) int {
	if p.Of <= 1 {
		return n
	}
	return (n - p.Client + p.Of - 1) / p.Of
}

// nth returns the number of the j-th request of the part.
func (p Part) nth(j int) int {
	if p.Of <= 1 {
		return j
	}
	return p.Client + p.Of*j
}

// Lines that a client and the one who started it exchange, each a JSON object: the load; that the client is ready, with
// its host; its clock, as often as it is asked for; the instant at which all begin; progress; the outcome.
type (
	ready struct {
		Ready time.Time `json:"ready"` // by the client's clock
		Error string    `json:"error,omitempty"`
	}
	begin struct {
		Clock bool      `json:"clock,omitempty"` // not yet: what time is it?
		Begin time.Time `json:"begin"`           // by the client's clock
	}
	report struct {
		SoFar   *SoFar   `json:"so_far,omitempty"`
		Outcome *partial `json:"outcome,omitempty"`
		Error   string   `json:"error,omitempty"`
	}
	// partial is the outcome of a part: its requests in the order of their numbers.
	partial struct {
		Requests []Timeline
		Late     []time.Duration
		CPU      time.Duration
		Counted  bool
		Refused  []string
	}
)

// Serve is a client of several: it takes its part of a load from in, says when it is ready, begins when it is told, and
// writes its outcome. It ends when in does, so that it does not outlive the one who started it.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := json.NewDecoder(bufio.NewReader(in))
	var l Load
	if err := lines.Decode(&l); err != nil {
		return fmt.Errorf("the load: %w", err)
	}
	redact.Know(l.APIKey)
	to := json.NewEncoder(out)
	r, err := newRunner(l)
	if err == nil {
		defer r.close()
		err = r.prepare(ctx)
	}
	if err != nil {
		return errors.Join(err, to.Encode(ready{Error: err.Error()}))
	}
	b := begin{Clock: true}
	for b.Clock {
		if err := to.Encode(ready{Ready: time.Now()}); err != nil {
			return err
		}
		b = begin{}
		if err := lines.Decode(&b); err != nil {
			return fmt.Errorf("the beginning: %w", err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_ = lines.Decode(&b) // nothing more comes but the end
		cancel()
	}()
	progress := &latest{}
	r.load.Progress = progress.put
	now := time.Now()
	return r.serve(ctx, now.Add(b.Begin.Sub(now)), progress, to) // on the monotonic clock from here on
}

// serve runs a part and writes what it did.
func (r *runner) serve(ctx context.Context, at time.Time, progress *latest, to *json.Encoder) error {
	done := make(chan error, 1)
	go func() { done <- r.run(ctx, at) }()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	tell := func() error {
		if s := progress.take(); s != nil {
			return to.Encode(report{SoFar: s})
		}
		return nil
	}
	for {
		select {
		case err := <-done:
			if err != nil {
				return errors.Join(err, to.Encode(report{Error: err.Error()}))
			}
			return errors.Join(tell(), to.Encode(report{Outcome: r.partial()}))
		case <-tick.C:
			if err := tell(); err != nil {
				return err
			}
		}
	}
}

// latest is how far a load is; streams of it tell at any time.
type latest struct {
	mu    sync.Mutex
	most  int // requests that are known of
	soFar *SoFar
}

func (l *latest) put(s SoFar) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Done > l.most {
		l.most, l.soFar = s.Done, &s
	}
}

// take returns what has not been taken yet, or nil.
func (l *latest) take() *SoFar {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.soFar
	l.soFar = nil
	return s
}

// partial returns the requests of the runner's part.
func (r *runner) partial() *partial {
	p := &partial{CPU: r.out.CPU, Counted: r.out.Counted, Refused: r.out.Refused}
	for i := range r.out.Requests {
		if r.load.Part.has(i) {
			p.Requests = append(p.Requests, r.out.Requests[i])
			if len(r.out.Late) > 0 {
				p.Late = append(p.Late, r.out.Late[i])
			}
		}
	}
	return p
}

// message is a report of a client, or the error of reading it.
type message struct {
	client int
	report
	err error
}

// last reports that no message of the client follows.
func (m message) last() bool { return m.err != nil || m.Outcome != nil || m.Error != "" }

// messages reads what clients report as it comes.
func messages(ctx context.Context, from []*json.Decoder) <-chan message {
	out := make(chan message)
	for i, d := range from {
		go func() {
			for m := (message{client: i}); !m.last(); {
				m = message{client: i}
				m.err = d.Decode(&m.report)
				select {
				case out <- m:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return out
}

// join reads the outcomes of clients as they come.
func join(ctx context.Context, l Load, out *Outcome, from []*json.Decoder) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reports := messages(ctx, from)
	if l.Rate > 0 {
		out.Late = make([]time.Duration, l.Requests)
	}
	soFar := make([]SoFar, len(from))
	for left := len(from); left > 0; {
		var m message
		select {
		case m = <-reports:
		case <-ctx.Done():
			return ctx.Err()
		}
		switch {
		case m.err != nil || m.Error != "":
			return fmt.Errorf("client %d of %d: %w", m.client+1, len(from), cmp.Or(m.err, errors.New(m.Error)))
		case m.SoFar != nil:
			soFar[m.client] = *m.SoFar
			if l.Progress != nil {
				l.Progress(total(soFar))
			}
		case m.Outcome != nil:
			left--
			if err := out.add(Part{m.client, len(from)}, m.Outcome); err != nil {
				return err
			}
		}
	}
	out.finish()
	out.leave()
	return nil
}

// add puts the requests of a part into their places.
func (o *Outcome) add(p Part, from *partial) error {
	if len(from.Requests) != p.count(len(o.Requests)) {
		return fmt.Errorf("client %d of %d has %d requests of %d", p.Client+1, p.Of, len(from.Requests),
			p.count(len(o.Requests)))
	}
	for j, t := range from.Requests {
		o.Requests[p.nth(j)] = t
	}
	for j, d := range from.Late {
		o.Late[p.nth(j)] = d
	}
	o.CPU += from.CPU
	o.Counted = o.Counted && from.Counted
	for _, field := range from.Refused {
		if !slices.Contains(o.Refused, field) {
			o.Refused = append(o.Refused, field)
		}
	}
	return nil
}

// finish computes what holds of all requests: the duration, and how many were in flight at most.
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
}

// total is the progress of all clients: means by how many requests completed of each.
func total(list []SoFar) SoFar {
	var sum SoFar
	for _, s := range list {
		n := float64(s.OK)
		sum.Done, sum.Failed, sum.OK = sum.Done+s.Done, sum.Failed+s.Failed, sum.OK+s.OK
		sum.TTFT, sum.TPOT = sum.TTFT+n*s.TTFT, sum.TPOT+n*s.TPOT
	}
	if n := float64(sum.OK); n > 0 {
		sum.TTFT, sum.TPOT = sum.TTFT/n, sum.TPOT/n
	}
	return sum
}

// newRunner checks a load and makes its prompts.
func newRunner(l Load) (*runner, error) {
	u, err := url.Parse(l.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("server address %q: expected something like http://127.0.0.1:8000", l.URL)
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	if l.Timeout == 0 {
		l.Timeout = time.Hour
	}
	l = l.filled()
	made, err := newPrompts(l)
	if err != nil {
		return nil, err
	}
	return &runner{load: l, url: u, prompts: made}, nil
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
	if l.Rate <= 0 || l.Changing() || l.turns() > 1 || l.Part.Of > 1 || l.Ordered() {
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
