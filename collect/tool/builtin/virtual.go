package builtin

import (
	"slices"
	"time"

	"github.com/ttreport/ttreport/collect/server/sim"
	"github.com/ttreport/ttreport/ingest/schema/latency"
)

// network is the time that a request or a token takes each way, like that of a laptop's loopback interface. It
// matters mainly because a request that follows another one must miss the step that begins when that one ends.
const network = 200 * time.Microsecond

// virtualRun is a load in progress on a virtual server.
type virtualRun struct {
	runner
	srv   *sim.Virtual
	base  time.Duration         // of the server's clock, when the load began
	due   []time.Duration       // when each request is to be sent, after base
	limit int                   // requests in flight; 0: any number
	next  int                   // request to send
	last  []time.Duration       // when each request's newest token arrived, after base
	ends  []time.Duration       // when each request was answered, after base; 0: not yet
	after [][]int               // the requests that wait for each one
	held  map[int]time.Duration // when requests were due that wait
}

// RunVirtual runs the load on a simulator with a clock of its own, which advances only when that takes a step. It
// measures what Run would, without the noise of this machine.
func RunVirtual(l Load, srv *sim.Virtual) (Outcome, error) {
	l, err := l.complete()
	if err != nil {
		return Outcome{}, err
	}
	for i := range l.Warmups {
		q := l.Each[i%len(l.Each)]
		srv.Submit(0, srv.Elapsed()+2*network, q.ISL, max(1, q.OSL))
		srv.Drain()
	}
	v := &virtualRun{srv: srv, base: srv.Elapsed(), due: l.due(), limit: l.Concurrency, held: map[int]time.Duration{},
		last: make([]time.Duration, l.Requests), ends: make([]time.Duration, l.Requests), after: make([][]int, l.Requests),
		runner: runner{load: l, watcher: newWatcher(l), backlog: newBacklog(l)}}
	v.out = Outcome{Pools: l.Endpoint.Pools(), Requests: make([]Timeline, l.Requests), Began: srv.Time(), Counted: true}
	for i := range l.Requests {
		for _, j := range l.Each[i].After {
			v.after[j] = append(v.after[j], i)
		}
	}
	for v.next < l.Requests && (v.limit == 0 && !v.mayEnd() || v.next < v.limit*l.turns()) {
		v.send(0)
	}
	v.sendDue()
	for srv.Step(v.token) {
		if v.sendDue(); l.CutOverload && v.backlog.stopped() {
			srv.Drain() // the next load finds it idle
		}
	}
	return v.outcome(), nil
}

// mayEnd reports that the load may end before its last request.
func (v *virtualRun) mayEnd() bool { return v.watcher != nil || v.backlog != nil }

// sendDue sends what of an open loop that may end early is due before the next step, and one more, to which an idle
// server's clock advances.
func (v *virtualRun) sendDue() {
	if !v.mayEnd() || v.limit > 0 {
		return
	}
	for v.next < v.load.Requests && !v.over(v.due[v.next]) {
		ahead := v.next > 0 && v.base+v.due[v.next-1]+network > v.srv.Elapsed()
		if ahead && v.due[v.next] > v.due[v.next-1] {
			return
		}
		v.send(0)
	}
}

// due returns when each request is to be sent, after the beginning: in a closed loop the streams begin one after the
// other, and every later request follows an earlier one.
func (l Load) due() []time.Duration {
	out := make([]time.Duration, l.Requests)
	if l.Rate <= 0 {
		for k := range min(l.Concurrency, l.Requests) {
			out[k] = time.Duration(k) * stagger
		}
		return out
	}
	for i := range out {
		out[i] = l.Each[i].At
	}
	return out
}

// send sends the next request, not before a given time.
func (v *virtualRun) send(earliest time.Duration) {
	i := v.next
	v.next += v.load.turns()
	due := max(v.due[i/v.load.turns()], earliest)
	if at, ok := v.ready(i, due); ok {
		v.sendAs(i, at)
	} else {
		v.held[i] = due
	}
}

// ready is when a request can be sent that is due at a time; false while what it waits for is not answered.
func (v *virtualRun) ready(i int, due time.Duration) (time.Duration, bool) {
	q := &v.load.Each[i]
	for _, j := range q.After {
		if v.ends[j] == 0 {
			return 0, false
		}
		at := v.ends[j]
		if v.load.Rate > 0 {
			at += q.Pause
		}
		due = max(due, at)
	}
	return due, true
}

// sendAs sends a request at a time.
func (v *virtualRun) sendAs(i int, at time.Duration) {
	v.sent.Add(1)
	t, q := &v.out.Requests[i], v.load.Each[i]
	t.Sent, t.In = at, q.ISL
	if v.load.Rate > 0 {
		due, _ := v.ready(i, v.due[i])
		t.Late = at - due
	}
	want := max(1, q.OSL) // a pooled answer is ready when its prompt is read
	if q.GiveUp > 0 {
		want = min(want, q.GiveUp)
	}
	v.srv.Submit(i, v.base+at+network, q.ISL, want)
}

// token records a token of a request.
func (v *virtualRun) token(i int, at time.Duration, last bool) {
	at += network - v.base
	t := &v.out.Requests[i]
	if t.Out++; t.Out == 1 {
		t.TTFT = ms(at - t.Sent)
		t.ITL = slices.Grow(t.ITL, v.load.Each[i].OSL)
	} else {
		t.ITL = append(t.ITL, ms(at-v.last[i]))
	}
	v.last[i] = at
	if !last {
		return
	}
	t.E2EL, t.OK, t.Answer = ms(at-t.Sent), true, t.TTFT
	if v.load.Each[i].GiveUp > 0 {
		*t = Timeline{Sent: t.Sent, Gone: true, Request: latency.Request{E2EL: t.E2EL}}
	}
	if limit := v.load.Timeout; limit > 0 && t.E2EL > ms(limit) {
		*t = Timeline{Sent: t.Sent, Late: t.Late, Error: "not answered within " + limit.String()}
	}
	if v.out.Pools {
		t.TTFT, t.Out = 0, 0
	}
	v.report(*t)
	v.answered(i, at)
	v.ends[i] = at
	for _, j := range v.after[i] {
		due, held := v.held[j]
		if ready, ok := v.ready(j, due); held && ok {
			delete(v.held, j)
			v.sendAs(j, ready)
		}
	}
	switch turns := v.load.turns(); {
	case (i+1)%turns > 0:
		v.sendAs(i+1, at+v.load.Think)
	case v.limit == 0 && v.mayEnd(): // an open loop, whose requests follow nothing
	case v.next < v.load.Requests && !v.over(max(at, v.due[v.next/turns])):
		v.send(at)
	}
}
