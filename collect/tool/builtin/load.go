package builtin

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// Load describes the load to measure.
type Load struct {
	URL         string // of the server: "http://127.0.0.1:8000"
	Model       string // served name
	APIKey      string // sent as a bearer token; never stored
	ISL, OSL    int
	Concurrency int     // closed loop; also the limit of an open loop when both are given
	Rate        float64 // requests a second; 0: closed loop
	Requests    int
	Each        []traffic.Request // what the requests are, as many; nil: all of ISL and OSL, a Poisson process of Rate
	Burstiness  float64           // of Each, for the record; 0: 1
	Changing    bool              // the rate of Each changes: requests that pile up say nothing
	CutOverload bool              // an overload ends the load at once; else what was sent is waited for
	Endpoint    traffic.Endpoint
	Image       traffic.Image // of each request of a chat
	Tools       traffic.Tools // that each request offers
	Turns       int           // of a conversation, one request each; 0: 1
	Think       time.Duration // between an answer and the next turn
	Fits        *Fits         `json:"-"` // what earlier loads counted; nil keeps nothing
	Fit         bool          // count tokens with the server first, so that prompts are as long as asked
	Warmups     int           // requests before the measurement, not counted
	Enough      *Enough       `json:"-"` // ends it before the last of Requests; nil: nothing does
	Seed        uint64
	Text        uint64             // fixes the words and pictures of prompts; 0: Seed does
	Part        Part               // of it that this client does; the zero value is all
	Timeout     time.Duration      // of one request; 0: an hour
	Progress    func(SoFar)        `json:"-"` // called after each request, from many goroutines; may be nil
	RequestID   func(i int) string `json:"-"` // header X-Request-Id, for checking against a server's log; may be nil
}

// SoFar is the progress of a load.
type SoFar struct {
	Done, Failed int
	OK           int     // completed: not those whose client went away
	TTFT, TPOT   float64 // ms, mean of these; 0 before the first
}

// Outcome is the result of a load.
type Outcome struct {
	Began    time.Time
	Duration time.Duration   // first send to last chunk
	Requests []Timeline      // those that were sent
	Whole    int             // of them, up to the first that was in flight when enough was known
	Pools    bool            // answers are vectors or scores: there is no TTFT
	Peak     int             // most requests in flight at once
	Late     []time.Duration // open loop: how late each request was sent
	CPU      time.Duration   // of this process during the load; 0: unknown
	Counted  bool            // the lengths of prompts are the server's own count
	Overload bool            // open loop: requests arrived faster than they left, and nothing more was sent
	Gone     int             // requests whose client went away, which are not among Requests
	goneBusy float64         // seconds that these were in flight
	Refused  []string        // fields of a request that the server does not know, and that were left out

	Clients     int           // that made the load; 0: one
	Hosts       []string      // of several clients
	ClockOffset time.Duration // by which the clock of one of them differs from ours, at most; corrected
	ClockError  time.Duration // by which that can be wrong, at most: half of a round trip
}

// Timeline is one request.
type Timeline struct {
	latency.Request
	Sent   time.Duration // after Began
	Answer float64       // ms to the first token behind the reasoning; 0 where there was none
	Gone   bool          // the client went away in the middle, as it was to
	Called bool          // the answer has a call of a tool
	Cached *int          // tokens of the prompt that the server found in its cache; nil where it does not say
	Error  string
}

// End is when the request was over, after Began.
func (t Timeline) End() time.Duration {
	return t.Sent + time.Duration(t.E2EL*float64(time.Millisecond))
}

// Run sends the load. The error is the context's or a mistake in the load; failed requests are in the outcome.
func Run(ctx context.Context, l Load) (Outcome, error) {
	r, err := newRunner(l)
	if err != nil {
		return Outcome{}, err
	}
	defer r.close()
	if err := r.prepare(ctx); err != nil {
		return Outcome{}, err
	}
	if err := r.run(ctx, time.Now()); err != nil {
		return Outcome{}, err
	}
	return r.outcome(), nil
}

// prepare fits prompts and warms the server up.
func (r *runner) prepare(ctx context.Context) error {
	if r.load.Fit {
		r.fitPrompts(ctx)
	}
	for i := range r.load.Warmups {
		if r.one(ctx, -1-i); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// run sends the requests of the runner's part, from an instant on.
func (r *runner) run(ctx context.Context, began time.Time) error {
	r.out = Outcome{Pools: r.load.Endpoint.Pools(), Requests: make([]Timeline, r.load.Requests), Began: began,
		Counted: r.prompts.fit.counted, Refused: r.out.Refused}
	r.watcher, r.backlog, r.answers = newWatcher(r.load), newBacklog(r.load), newAnswers(r.load)
	spent := cpu()
	if r.load.Rate > 0 {
		r.open(ctx)
	} else {
		r.closed(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.out.CPU = cpu() - spent
	return nil
}

// outcome returns the outcome of the completed requests.
func (r *runner) outcome() Outcome {
	if r.out.Overload = r.backlog.stopped(); r.watcher != nil || r.out.Overload {
		r.out.Requests = r.out.Requests[:r.sent.Load()]
		r.out.Late = r.out.Late[:min(len(r.out.Late), len(r.out.Requests))]
	}
	r.out.Whole = r.watcher.whole(len(r.out.Requests))
	for i := range r.out.Requests {
		t := &r.out.Requests[i]
		r.out.Duration = max(r.out.Duration, t.End())
	}
	r.out.Peak = int(r.peak.Load())
	r.out.leave()
	return r.out
}

// enter counts a request that is sent.
func (r *runner) enter() {
	if n := r.inFlight.Add(1); n > r.peak.Load() {
		r.peak.Store(n)
	}
}

// filled returns the load with its requests, where they are all alike.
func (l Load) filled() Load {
	if l.Each == nil {
		l.Each = traffic.Shape{}.Requests(traffic.Base{ISL: l.ISL, OSL: l.OSL, Rate: l.Rate}, l.Requests, l.Seed)
	}
	return l
}

func (l Load) check() error {
	if l.Each != nil && len(l.Each) != l.Requests {
		return fmt.Errorf("a load of %d requests states %d", l.Requests, len(l.Each))
	}
	if l.Requests <= 0 || (l.Concurrency <= 0 && l.Rate <= 0) {
		return fmt.Errorf("a load needs a number of requests and a concurrency or a rate")
	}
	return nil
}

type runner struct {
	load     Load
	url      *url.URL
	taking   sync.Mutex // of the next request, by a stream
	prompts  *prompts
	counts   int // requests that counted tokens
	out      Outcome
	inFlight atomic.Int64
	peak     atomic.Int64
	answers  answers      // that other requests wait for
	backlog  *backlog     // nil where an overload cannot be told
	watcher  *watcher     // nil where a number of requests decides
	sent     atomic.Int64 // requests
	done     atomic.Int64
	failed   atomic.Int64
	ok       atomic.Int64
	ttft     atomic.Int64 // sums of what has completed, in microseconds
	gaps     atomic.Int64
	tokens   atomic.Int64
	idle     struct {
		sync.Mutex
		conns []*conn
	}
}

// stagger is the interval at which the streams of a closed loop begin. Started at once, hundreds of requests leave in
// one burst, end in one burst on a server of constant speed, and leave in one burst again; they then measure how fast
// this machine sends and the server accepts: with 256 streams on two cores, 4 ms of every TTFT. The start takes a
// quarter of a second then, which is short compared with such a measurement.
const stagger = time.Millisecond

// closed keeps a fixed number of requests in flight: as many streams, each with one request after the other.
func (r *runner) closed(ctx context.Context) {
	var streams errgroup.Group
	for k := range min(r.load.Concurrency, r.load.Requests) {
		if !r.load.Part.has(k) {
			continue
		}
		streams.Go(func() error {
			time.Sleep(time.Until(r.out.Began.Add(time.Duration(k) * stagger)))
			for ctx.Err() == nil {
				i, more := r.take()
				if !more {
					break
				}
				if r.load.turns() > 1 {
					r.converse(ctx, i*r.load.turns())
					continue
				}
				if _, ok := r.answers.wait(ctx, r.load.Each[i], time.Time{}, 0); !ok {
					break
				}
				r.out.Requests[i] = r.one(ctx, i)
				r.answers.ended(i)
				r.watcher.completed(i, r.out.Requests)
			}
			return nil
		})
	}
	_ = streams.Wait() // failed requests are in the outcome
}

// take returns the next request to send, or the next conversation; more is false where none is.
func (r *runner) take() (i int, more bool) {
	r.taking.Lock()
	defer r.taking.Unlock()
	i = r.load.Part.nth(int(r.sent.Load()))
	if i*r.load.turns() >= r.load.Requests || r.watcher.over(time.Since(r.out.Began)) {
		return 0, false
	}
	r.sent.Add(1)
	return i, true
}

// open sends each request at its own time, or later where a concurrency limits it.
func (r *runner) open(ctx context.Context) {
	var requests errgroup.Group
	if r.load.Concurrency > 0 {
		requests.SetLimit(max(1, r.load.Part.count(r.load.Concurrency)))
	}
	r.out.Late = make([]time.Duration, r.load.Requests)
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	for i := range r.load.Requests {
		if !r.load.Part.has(i) {
			continue
		}
		due := r.load.Each[i].At
		timer := time.NewTimer(due - time.Since(r.out.Began))
		select {
		case <-ctx.Done():
			timer.Stop()
			_ = requests.Wait()
			return
		case <-timer.C:
		}
		if r.over(time.Since(r.out.Began)) {
			break
		}
		r.sent.Add(1)
		requests.Go(func() error {
			defer r.answers.ended(i)
			q := r.load.Each[i]
			ready, ok := r.answers.wait(ctx, q, r.out.Began.Add(due), q.Pause)
			if !ok {
				return nil
			}
			r.out.Late[i] = time.Since(ready)
			r.out.Requests[i] = r.one(ctx, i)
			if r.answered(i, time.Since(r.out.Began)); r.load.CutOverload && r.backlog.stopped() {
				cut()
			}
			return nil
		})
	}
	if r.load.CutOverload && r.backlog != nil {
		defer time.AfterFunc(r.backlog.patience(), func() { r.abandon(cut) }).Stop()
	}
	_ = requests.Wait()
}

// abandon ends an open loop that nothing is added to any more and that is not answered: a server that stalls under a
// load answers nothing by which the backlog could be seen.
func (r *runner) abandon(cut func()) {
	if r.inFlight.Load() > 0 {
		r.backlog.over.Store(true)
		cut()
	}
}

// answered notes that a request of an open loop ended, some time after the beginning. An overload ends the load.
func (r *runner) answered(i int, at time.Duration) {
	r.watcher.completed(i, r.out.Requests)
	if r.backlog.answered(at); r.backlog.stopped() {
		r.watcher.end()
	}
}

// over reports that no further request is sent, some time after the beginning.
func (r *runner) over(passed time.Duration) bool {
	return r.watcher.over(passed) || r.backlog.stopped()
}

// one sends request i and reads its answer; negative numbers are warm-up requests.
func (r *runner) one(ctx context.Context, i int) Timeline { return r.turn(ctx, i, nil) }

// turn is one as a turn of a conversation.
func (r *runner) turn(ctx context.Context, i int, said *talk) Timeline {
	r.enter()
	defer r.inFlight.Add(-1)
	q := r.load.Each[max(i, -1-i)%len(r.load.Each)]
	if i < 0 {
		q.Blocks, q.BlockTokens = nil, 0 // a prefix cache is to know nothing of the load yet
		if q.Fresh > 0 {
			q.ISL, q.Fresh = q.Fresh, 0 // a warm-up has nothing before it
		}
	}
	t := r.attemptIn(ctx, i, q, said)
	if i >= 0 {
		r.report(t)
	}
	return t
}

// report counts a request and reports progress.
func (r *runner) report(t Timeline) {
	switch {
	case t.Error != "":
		r.failed.Add(1)
	case t.Gone:
	default:
		r.ok.Add(1)
		r.ttft.Add(int64(1e3 * t.TTFT)) // microseconds
		if t.Out > 1 {
			r.gaps.Add(int64(1e3 * (t.E2EL - t.TTFT)))
			r.tokens.Add(int64(t.Out - 1))
		}
	}
	done := r.done.Add(1)
	if r.load.Progress == nil {
		return
	}
	s := SoFar{Done: int(done), Failed: int(r.failed.Load()), OK: int(r.ok.Load())}
	if s.OK > 0 {
		s.TTFT = float64(r.ttft.Load()) / float64(s.OK) / 1e3
	}
	if n := r.tokens.Load(); n > 0 {
		s.TPOT = float64(r.gaps.Load()) / float64(n) / 1e3
	}
	r.load.Progress(s)
}

// attempt sends a request, and sends it again if the server had closed the idle connection.
func (r *runner) attempt(ctx context.Context, i int, q traffic.Request) Timeline {
	return r.attemptIn(ctx, i, q, nil)
}

func (r *runner) attemptIn(ctx context.Context, i int, q traffic.Request, said *talk) Timeline {
	for {
		c, reused, err := r.conn(ctx)
		if err != nil {
			return Timeline{Sent: time.Since(r.out.Began), Error: err.Error()}
		}
		stop := context.AfterFunc(ctx, func() { _ = c.raw.SetDeadline(time.Unix(1, 0)) }) // wakes a blocked read
		t, stale := c.ask(r, i, q, said)
		stop()
		if t.Error != "" && ctx.Err() != nil && r.backlog.stopped() {
			t.Error = givenUp
		}
		if !stale || !reused || ctx.Err() != nil {
			return t
		}
	}
}
