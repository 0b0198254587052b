package builtin

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ttreport/ttreport/collect/process"
	"github.com/ttreport/ttreport/collect/traffic"
	"github.com/ttreport/ttreport/ingest/schema/latency"
	"golang.org/x/sync/errgroup"
)

// Load describes the load to measure: with a rate it is an open loop, which a concurrency may limit, else a closed one.
type Load struct {
	traffic.Workload
	URL         string            // of the server: "http://127.0.0.1:8000"
	Model       string            // served name
	APIKey      string            // sent as a bearer token; never stored
	Each        []traffic.Request // what the requests are, as many; nil: drawn by Seed
	CutOverload bool              // an overload ends the load at once; else what was sent is waited for
	Fits        Fits              `json:"-"` // what earlier loads counted; nil keeps nothing
	Fit         bool              // count tokens with the server first, so that prompts are as long as asked
	Warmups     int               // requests before the measurement, not counted
	Simulated   bool              // the server is a simulator, which this machine makes late as it does the client
	Enough      *Enough           `json:"-"` // ends it before the last of Requests; nil: nothing does
	Seed        uint64
	Text        uint64      // fixes the words and pictures of prompts; 0: Seed does
	Part        Part        // of it that this client does; the zero value is all
	Ready       func()      `json:"-"` // called when the first request is about to be sent; may be nil
	Progress    func(SoFar) `json:"-"` // called after each request, from many goroutines; may be nil
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
	Duration time.Duration // first send to last chunk
	Requests []Timeline    // those that were sent
	Whole    int           // of them, up to the first that was in flight when enough was known
	Pools    bool          // answers are vectors or scores: there is no TTFT
	Peak     int           // most requests in flight at once
	CPU      time.Duration // of this process during the load; 0: unknown
	Counted  bool          // the lengths of prompts are the server's own count
	Overload bool          // open loop: requests arrived faster than they left, and nothing more was sent
	Gone     int           // requests whose client went away, which are not among Requests
	goneBusy float64       // seconds that these were in flight
	Refused  []string      // fields of a request that the server does not know, and that were left out
	Clients  int           // that made the load; 0: one
}

// Timeline is one request.
type Timeline struct {
	latency.Request
	Sent   time.Duration // after Began
	Late   time.Duration // open loop: how late it was sent
	Answer float64       // ms to the first token behind the reasoning; 0 where there was none
	Gone   bool          // the client went away in the middle, as it was to
	Called bool          // the answer has a call of a tool
	Cached *int          // tokens of the prompt that the server found in its cache; nil where it does not say
	// Drafted are tokens of drafts that the server states, of which so many were Accepted.
	Drafted, Accepted int

	Resent int // how often it was sent again, each time because an idle connection was found closed
	Error  string
}

// End is when the request was over, after Began.
func (t Timeline) End() time.Duration {
	return t.Sent + time.Duration(t.E2EL*float64(time.Millisecond))
}

// Run sends the load. The error is the context's or a mistake in the load; failed requests are in the outcome.
func Run(ctx context.Context, l Load) (Outcome, error) {
	r, err := newRunner(ctx, l)
	if err != nil {
		return Outcome{}, err
	}
	defer r.close()
	if l.Ready != nil {
		l.Ready()
	}
	if err := r.run(ctx, time.Now()); err != nil {
		return Outcome{}, err
	}
	return r.outcome(), nil
}

// newRunner checks a load and makes its prompts, fits them and warms the server up.
func newRunner(ctx context.Context, l Load) (*runner, error) {
	u, err := url.Parse(l.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("server address %q: expected something like http://127.0.0.1:8000", l.URL)
	}
	if l, err = l.complete(); err != nil {
		return nil, err
	}
	l.Timeout = cmp.Or(l.Timeout, time.Hour)
	made, err := newPrompts(l)
	if err != nil {
		return nil, err
	}
	r := &runner{load: l, url: u, prompts: made}
	if l.Fit {
		r.fitPrompts(ctx)
	}
	for i := range l.Warmups {
		if r.turn(ctx, -1-i, nil); ctx.Err() != nil {
			r.close()
			return nil, ctx.Err()
		}
	}
	return r, nil
}

// complete checks a load, and draws its requests where none are stated.
func (l Load) complete() (Load, error) {
	if l.Each != nil && len(l.Each) != l.Requests {
		return l, fmt.Errorf("a load of %d requests states %d", l.Requests, len(l.Each))
	}
	if l.Requests <= 0 || (l.Concurrency <= 0 && l.Rate <= 0) {
		return l, fmt.Errorf("a load needs a number of requests and a concurrency or a rate")
	}
	if l.Part.Of = max(1, l.Part.Of); l.Each == nil {
		l.Each = l.Random(l.Requests, l.Seed)
	}
	return l, nil
}

// run sends the requests of the runner's part, from an instant on.
func (r *runner) run(ctx context.Context, began time.Time) error {
	r.out = Outcome{Pools: r.load.Endpoint.Pools(), Requests: make([]Timeline, r.load.Requests), Began: began,
		Counted: r.prompts.fit.counted, Refused: r.out.Refused}
	r.watcher, r.backlog, r.answers = newWatcher(r.load), newBacklog(r.load), newAnswers(r.load)
	r.pulse = newPulse()
	defer close(r.pulse.stopped)
	spent := cpu()
	if r.load.Rate > 0 {
		r.open(ctx)
	} else {
		r.closed(ctx)
	}
	r.out.CPU = cpu() - spent
	return ctx.Err()
}

// outcome returns the outcome of the completed requests.
func (r *runner) outcome() Outcome {
	if r.out.Overload = r.backlog.stopped(); r.watcher != nil || r.out.Overload {
		r.out.Requests = r.out.Requests[:r.sent.Load()]
	}
	if r.out.Whole = len(r.out.Requests); r.watcher != nil {
		r.watcher.mu.Lock()
		r.out.Whole = r.watcher.prefix
		r.watcher.mu.Unlock()
	}
	r.out.finish()
	return r.out
}

type runner struct {
	load     Load
	url      *url.URL
	taking   sync.Mutex // of the next request, by a stream
	prompts  *prompts
	counts   int // requests that counted tokens
	out      Outcome
	pulse    *pulse
	inFlight atomic.Int64
	answers  answers      // that other requests wait for
	backlog  *backlog     // nil where an overload cannot be told
	watcher  *watcher     // nil where a number of requests decides
	sent     atomic.Int64 // requests
	progress struct {
		sync.Mutex
		SoFar // its means are sums
		gaps  float64
	}
	idle struct {
		sync.Mutex
		conns []*conn
	}
	watched sync.Once   // whether the server keeps a connection
	closes  atomic.Bool // it closes each one soon after an answer
}

// stagger is the interval at which the streams of a closed loop begin. Started at once, hundreds of requests leave in
// one burst, end in one burst on a server of constant speed, and leave in one burst again; they then measure how fast
// this machine sends and the server accepts: with 256 streams on two cores, 4 ms of every TTFT. The start takes a
// quarter of a second then, which is short compared with such a measurement.
const stagger = time.Millisecond

// closed keeps a fixed number of requests in flight: as many streams, each with one request after the other.
func (r *runner) closed(ctx context.Context) {
	var streams sync.WaitGroup
	for k := range min(r.load.Concurrency, r.load.Requests) {
		if !r.load.Part.has(k) {
			continue
		}
		streams.Go(func() {
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
				r.out.Requests[i] = r.turn(ctx, i, nil)
				r.answers.ended(i)
				r.watcher.completed(i, r.out.Requests)
			}
		})
	}
	streams.Wait()
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
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	for i := range r.load.Requests {
		if !r.load.Part.has(i) {
			continue
		}
		due := r.load.Each[i].At
		if process.Sleep(ctx, due-time.Since(r.out.Began)) != nil {
			_ = requests.Wait()
			return
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
			late := time.Since(ready)
			t := r.turn(ctx, i, nil)
			t.Late = late
			r.out.Requests[i] = t
			if r.answered(i, time.Since(r.out.Began)); r.load.CutOverload && r.backlog.stopped() {
				cut()
			}
			return nil
		})
	}
	if r.load.CutOverload && r.backlog != nil {
		// A server that stalls under a load answers nothing by which the backlog could be seen.
		// They may take twice the time of the load, which is a dozen times what one request takes by itself.
		defer time.AfterFunc(max(backlogLeast, 2*r.backlog.due[len(r.backlog.due)-1]), func() {
			if r.inFlight.Load() > 0 {
				r.backlog.over.Store(true)
				cut()
			}
		}).Stop()
	}
	_ = requests.Wait()
}

// answered notes that a request of an open loop ended, some time after the beginning. An overload ends the load.
func (r *runner) answered(i int, at time.Duration) {
	r.watcher.completed(i, r.out.Requests)
	if r.backlog.answered(at); r.backlog.stopped() && r.watcher != nil {
		r.watcher.ended.Store(true) // what is in flight has less and less beside it
	}
}

// over reports that no further request is sent, some time after the beginning.
func (r *runner) over(passed time.Duration) bool {
	return r.watcher.over(passed) || r.backlog.stopped()
}

// turn sends request i, which may be a turn of a conversation, and reads its answer; negative numbers are warm-up
// requests.
func (r *runner) turn(ctx context.Context, i int, said *talk) Timeline {
	r.inFlight.Add(1)
	defer r.inFlight.Add(-1)
	q := r.load.Each[max(i, -1-i)%len(r.load.Each)]
	if i < 0 {
		q.Blocks, q.BlockTokens = nil, 0 // a prefix cache is to know nothing of the load yet
		if q.Fresh > 0 {
			q.ISL, q.Fresh = q.Fresh, 0 // a warm-up has nothing before it
		}
	}
	t := r.attempt(ctx, i, q, said)
	if i >= 0 {
		r.report(t)
	}
	return t
}

// report counts a request and reports progress.
func (r *runner) report(t Timeline) {
	p := &r.progress
	p.Lock()
	p.Done++
	switch {
	case t.Error != "":
		p.Failed++
	case !t.Gone:
		p.OK++
		p.TTFT += t.TTFT
		if t.Out > 1 {
			p.TPOT += t.E2EL - t.TTFT
			p.gaps += float64(t.Out - 1)
		}
	}
	s := p.SoFar
	s.TTFT, s.TPOT = s.TTFT/float64(max(1, s.OK)), s.TPOT/max(1, p.gaps)
	p.Unlock()
	if r.load.Progress != nil {
		r.load.Progress(s)
	}
}

// attempt sends a request, on an idle connection where there is one. Where that turns out to be closed before anything
// was written, as servers and proxies do with idle ones, the request goes to another one and keeps its clock.
func (r *runner) attempt(ctx context.Context, i int, q traffic.Request, said *talk) Timeline {
	message := r.message(i, q, said)
	var began time.Time
	for resent := 0; ; resent++ {
		c, reused, err := r.conn(ctx)
		if began.IsZero() {
			began = time.Now()
		}
		if err != nil {
			return Timeline{Sent: began.Sub(r.out.Began), Resent: resent, Error: err.Error()}
		}
		if reused && c.raw.Closed() {
			_ = c.raw.Close()
			if time.Since(c.idle) < soon {
				r.closes.Store(true)
			}
			continue
		}
		stop := context.AfterFunc(ctx, func() { _ = c.raw.SetDeadline(time.Unix(1, 0)) }) // wakes a blocked read
		t, unsent := c.ask(r, message, q, said, began)
		stop()
		if unsent && reused && ctx.Err() == nil {
			continue
		}
		if t.Error != "" && ctx.Err() != nil && r.backlog.stopped() {
			t.Error = "abandoned with the load: requests arrive faster than the server completes them"
		}
		t.Resent = resent
		return t
	}
}

// fit says how many words a prompt needs for a number of tokens as the server counts them: tokens = base + perWord ×
// words. The base is what the server adds, such as a token for the beginning; a tokenizer of bytes has four tokens a
// word.
type fit struct {
	base, perWord float64
	counted       bool // by the server; else a word is taken for a token
}

var unfitted = fit{perWord: 1}

// words returns the number of words of a prompt, and of letters behind the last one where a word is several tokens.
func (f fit) words(isl int) (words, pad int) {
	exact := (float64(isl) - f.base) / f.perWord
	if f.perWord < 1.5 {
		return max(1, int(math.Round(exact))), 0
	}
	words = max(1, int(math.Floor(exact+1e-9)))
	return words, max(0, isl-int(math.Round(f.base+f.perWord*float64(words))))
}

// share returns the number of words of a part of a prompt.
func (f fit) share(tokens int) int { return int(math.Round(float64(tokens) / f.perWord)) }

// Prompts that are counted first. The short ones cost the server next to nothing.
const (
	fewWords, someWords = 8, 72
	mostCounts          = 4 // of the longest prompt
)

// optional are the fields that some servers refuse.
var optional = [...]string{"ignore_eos", "stream_options", "temperature"}

// fitPrompts asks the server how many tokens it counts in prompts of a few lengths, so that prompts are as long as they
// are meant to be. Failures are left to the measurement, which has them as well.
func (r *runner) fitPrompts(ctx context.Context) {
	if r.prompts.longest == 0 || r.knownFit(ctx) {
		return
	}
	words := func(n int) int { return r.count(ctx, traffic.Request{ISL: n}) }
	high := words(someWords)
	if high == 0 {
		return
	}
	if other := words(someWords); other > 0 && other != high { // words differ in tokens
		if !r.alikeWords(ctx) {
			return
		}
		high = words(someWords)
	}
	if low := words(fewWords); low > 0 && high > low {
		r.fitLongest(ctx, through(fewWords, low, someWords, high), high)
	}
}

// through returns the fit of two counts.
func through(words1, tokens1, words2, tokens2 int) fit {
	f := fit{counted: true, perWord: float64(tokens2-tokens1) / float64(words2-words1)}
	f.base = float64(tokens2) - f.perWord*float64(words2)
	return f
}

// fitLongest corrects a fit of short prompts with the longest one, where an error would be largest, and keeps it unless
// the server did not count it.
func (r *runner) fitLongest(ctx context.Context, f fit, high int) {
	isl := r.prompts.longest
	r.prompts.fit = f
	for range mostCounts {
		words, pad := f.words(isl)
		got := r.count(ctx, traffic.Request{ISL: isl})
		if got == 0 {
			return
		}
		if got == isl || words <= someWords {
			break
		}
		if f = through(someWords, high, words, got-pad); !(f.perWord > 0) {
			break
		}
		r.prompts.fit = f
	}
	if r.load.Fits != nil {
		r.load.Fits[r.load.counts()] = fitted{r.prompts.fit, high, isl, r.prompts.vocab, slices.Clone(r.out.Refused)}
	}
}

// alikeWords keeps the words that have the same number of tokens, of those numbers the one that most words have.
// Tokenizers of real models take three common letters for one token, each of them; small ones do not.
func (r *runner) alikeWords(ctx context.Context) bool {
	byTokens := map[int][]string{}
	most := 0
	for _, word := range r.prompts.vocab {
		n := r.count(ctx, traffic.Request{Text: strings.TrimSpace(strings.Repeat(" "+word, 2*fewWords))})
		if n == 0 {
			return false
		}
		if byTokens[n] = append(byTokens[n], word); len(byTokens[n]) > len(byTokens[most]) {
			most = n
		}
	}
	const enough = 4 // for heads that differ: 4 to the 8th
	if len(byTokens[most]) >= enough {
		r.prompts.vocab = byTokens[most]
		r.prompts.makeTails()
	}
	return true
}

// count returns how many tokens the server counts in a prompt, 0 where it does not say. A field that the server refuses
// is left out from then on. An answer of one token without text has its count, too.
func (r *runner) count(ctx context.Context, q traffic.Request) int {
	for q.OSL = 1; ; {
		r.counts++
		t := r.attempt(ctx, -1000-r.counts, q, nil)
		if t.In > 0 || ctx.Err() != nil || !strings.HasPrefix(t.Error, "HTTP 4") {
			return t.In
		}
		at := slices.IndexFunc(optional[:], func(name string) bool {
			return strings.Contains(t.Error, name) && !slices.Contains(r.out.Refused, name)
		})
		if at < 0 {
			return 0
		}
		r.out.Refused = append(r.out.Refused, optional[at])
		r.prompts.without = r.out.Refused
	}
}

// Fits are how servers count tokens, kept from load to load: a search sends twenty loads to one server, and each would
// ask it half a dozen times.
type Fits map[string]fitted

// counts names what counts tokens: a model at an address, by an endpoint with its template.
func (l *Load) counts() string {
	return fmt.Sprintf("%q %q %q %v %v", l.URL, l.Model, l.Endpoint, l.Image, l.Tools)
}

// fitted is what is known of how it counts.
type fitted struct {
	fit     fit
	high    int      // tokens of someWords words
	upTo    int      // tokens of the longest prompt that was counted
	vocab   []string // words of as many tokens each
	refused []string // fields
}

// knownFit takes the fit of an earlier load; false where there is none. Only a prompt that is longer than all that were
// counted is counted again.
func (r *runner) knownFit(ctx context.Context) bool {
	k, ok := r.load.Fits[r.load.counts()]
	if !ok {
		return false
	}
	r.out.Refused, r.prompts.vocab, r.prompts.fit = slices.Clone(k.refused), k.vocab, k.fit
	r.prompts.without = r.out.Refused
	r.prompts.makeTails()
	if r.prompts.longest > k.upTo {
		r.fitLongest(ctx, k.fit, k.high)
	}
	return true
}

// Enough ends a load before its last request: nothing more is sent once it is known well enough.
type Enough struct {
	// Known is called, one call at a time, with the requests up to the first one in flight, when there are a quarter
	// more of them than at the last call, at least Least: each look at the data is a chance to end by luck.
	Known func(completed []Timeline) bool
	Least int
	// Most ends it too, this long after the beginning, but not before Window requests are complete and none before them
	// is in flight: the rate of fewer would be chance. 0: no limit.
	Most   time.Duration
	Window int
}

// watcher counts the requests that have completed without a gap, and asks whether they are enough.
type watcher struct {
	enough *Enough
	ended  atomic.Bool
	stayed atomic.Int64 // complete requests before the first in flight, without those whose client went away

	mu     sync.Mutex
	done   []bool
	prefix int // requests before the first one in flight
	next   int // of them, at which Known is asked
}

func newWatcher(l Load) *watcher {
	if l.Enough == nil {
		return nil
	}
	return &watcher{enough: l.Enough, done: make([]bool, l.Requests), next: max(1, l.Enough.Least)}
}

// over reports that nothing more is to be sent, some time after the beginning.
func (w *watcher) over(passed time.Duration) bool {
	if w == nil {
		return false
	}
	if w.enough.Most > 0 && passed >= w.enough.Most && int(w.stayed.Load()) >= w.enough.Window {
		w.ended.Store(true)
	}
	return w.ended.Load()
}

// completed notes that a request is complete.
func (w *watcher) completed(i int, all []Timeline) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done[i] = true
	if w.ended.Load() {
		return // the others in flight end with less and less beside them
	}
	for w.prefix < len(w.done) && w.done[w.prefix] {
		if !all[w.prefix].Gone {
			w.stayed.Add(1)
		}
		w.prefix++
	}
	if w.prefix >= w.next {
		w.next = w.prefix + max(1, w.prefix/4)
		if w.enough.Known(all[:w.prefix]) {
			w.ended.Store(true)
		}
	}
}

// Ordered reports whether requests of a load wait for the answers to others.
func (l Load) Ordered() bool {
	return slices.ContainsFunc(l.Each, func(q traffic.Request) bool { return len(q.After) > 0 })
}

// answer is the end of a request that others wait for.
type answer struct {
	there chan struct{} // closed when it has ended
	at    time.Time
}

// answers are those of requests that others wait for, nil for the others; nil where none is waited for.
type answers []*answer

func newAnswers(l Load) answers {
	if !l.Ordered() {
		return nil
	}
	out := make(answers, len(l.Each))
	for _, q := range l.Each {
		for _, j := range q.After {
			if out[j] == nil {
				out[j] = &answer{there: make(chan struct{})}
			}
		}
	}
	return out
}

// ended says that a request has ended, with an answer or without.
func (a answers) ended(i int) {
	if a != nil && a[i] != nil {
		a[i].at = time.Now()
		close(a[i].there)
	}
}

// wait waits until the requests that one waits for have ended, and for a pause behind the last of them. It returns when
// the request is due, which is not before a time; ok is false where the context ends first.
func (a answers) wait(
	ctx context.Context, q traffic.Request, due time.Time, pause time.Duration,
) (_ time.Time, ok bool) {
	if a == nil || len(q.After) == 0 {
		return due, true
	}
	for _, j := range q.After {
		select {
		case <-ctx.Done():
			return due, false
		case <-a[j].there:
		}
		if ready := a[j].at.Add(pause); ready.After(due) {
			due = ready
		}
	}
	return due, process.Sleep(ctx, time.Until(due)) == nil
}
